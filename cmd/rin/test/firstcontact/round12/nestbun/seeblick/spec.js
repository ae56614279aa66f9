'use strict';
const { TYPES, STATUS, GROUPS } = require('./data');
const json = (schema) => ({ 'application/json': { schema } });
const ref = (n) => ({ $ref: `#/components/schemas/${n}` });
const str = { type: 'string' };
const SORTS = ['id', '-id', 'deadline', '-deadline', 'title', '-title', 'lastModified', '-lastModified'];
const etag = { ETag: { description: 'A strong entity tag of this representation.', schema: str, required: true } };

function specification({ tokenUrl }) {
  const errors = (...codes) => Object.fromEntries(codes.map((c) => [String(c), { $ref: `#/components/responses/E${c}` }]));
  const okay = (description, schema) => ({
    200: { description, headers: etag, content: json(schema) },
    304: { description: 'The entity tag in If-None-Match still fits; there is no body.', headers: etag },
  });
  const cond = { $ref: '#/components/parameters/IfNoneMatch' };
  const callId = { name: 'callId', in: 'path', required: true, schema: str, description: 'The id of a call, letter by letter as in the list.' };
  const q = (name, description, schema, more = {}) => ({ name, in: 'query', required: false, description, schema, ...more });
  const problem = (description, headers) => ({ description, ...(headers && { headers }), content: { 'application/problem+json': { schema: ref('Problem') } } });
  const challenge = { 'WWW-Authenticate': { required: true, schema: str, description: 'A Bearer challenge (RFC 6750).' } };
  return {
    openapi: '3.0.3',
    info: {
      title: 'Förderausschreibungen der Universität Seeblick', version: '3.2.0',
      description: [
        'Annotated funding calls for clients with the role EXTERNAL_API_CLIENT.',
        '**Tokens.** Client credentials at the token endpoint, by HTTP Basic or form body. Access tokens are JWTs (RFC 9068) and live 60 seconds; a token is refused from the second in its `exp` on. The scopes are `funding:read` (this API) and `info:read` (the info endpoint); without a `scope` parameter a token gets both, with it just what was asked for. After twelve wrong secrets in a row within a minute a client is locked for a minute (status 429), whichever way the secrets were sent; a right one in between starts the count anew.',
        '**Refusals.** No or no valid token: 401. A token without the role or without the scope: 403. A token for another audience or from another issuer (staging, too) is no valid token here: 401.',
        '**Parameters.** Query parameters that an operation does not declare, values outside their schema, and a parameter given twice (`type` excepted) are answered with 400; the problem names each of them in `violations`. A query that is no percent-encoded UTF-8 is answered with 400, too, without `violations`.',
        '**Pages.** `page` counts from 0. `page.totalElements` counts all calls that fit the filters and `page.totalPages` is the smallest number of pages of that size that holds them, 0 if there are none. A page behind the last is an empty one. No call is on two pages, none is missing.',
        '**Filters** are joined by AND; the values of `type` by OR. Dates are inclusive at both ends. A call without a deadline never fits a filter on deadlines.',
        '**Lists and single calls** agree: each member of a list entry has the same value in the single call.',
        '**Caching.** 200 and 304 carry `ETag` and `Cache-Control: private, no-cache`. HEAD is answered like GET, without the body. If-None-Match leads to 304, an If-Match that does not fit to 412.',
        '**Errors** are problem details (RFC 9457), `application/problem+json`, whatever Accept says; `status` repeats the status of the answer. A method that a path does not have is answered with 405 and `Allow`. Only what the listener cannot read as a request (bytes beyond ASCII in the path, a method that HTTP does not know, headers beyond 16 KiB) it turns away itself, without a body.',
      ].join('\n\n'),
    },
    servers: [{ url: '/seeblick/funding/v3' }],
    security: [{ node: ['funding:read'] }],
    paths: {
      '/calls': { get: {
        operationId: 'listCalls', summary: 'Funding calls, page by page', tags: ['Calls'],
        parameters: [
          q('page', 'The number of the page, from 0 on.', { type: 'integer', format: 'int32', minimum: 0, maximum: 10000, default: 0 }),
          q('size', 'Calls on a page.', { type: 'integer', format: 'int32', minimum: 1, maximum: 100, default: 20 }),
          q('status', 'Only calls in this status.', { type: 'string', enum: STATUS }),
          q('type', 'Only calls of one of these types.', { type: 'array', items: { type: 'string', enum: TYPES }, minItems: 1 }, { style: 'form', explode: true }),
          q('funder', 'Only calls of the funder with this id. An unknown id fits no call.', { type: 'string', minLength: 1, maxLength: 40 }),
          q('deadlineFrom', 'Only calls whose deadline is this day or later.', { type: 'string', format: 'date' }),
          q('deadlineTo', 'Only calls whose deadline is this day or earlier.', { type: 'string', format: 'date' }),
          q('q', 'Only calls whose German or English title contains these characters, literally, compared in lower case.', { type: 'string', minLength: 2, maxLength: 60 }),
          q('sort', 'The order: a member, with a minus in front for descending. Titles are compared by the code points of the German title. Calls without a deadline come last in both directions. Equal calls are ordered by id, ascending.', { type: 'string', enum: SORTS, default: 'id' }),
          cond],
        responses: { ...okay('One page of calls.', ref('CallPage')), ...errors(400, 401, 403, 405, 406, 412) },
      } },
      '/calls/{callId}': { get: {
        operationId: 'getCall', summary: 'One funding call', tags: ['Calls'], parameters: [callId, cond],
        responses: { ...okay('The call.', ref('Call')), ...errors(400, 401, 403, 404, 405, 406, 412) },
      } },
      '/calls/{callId}/stages': { get: {
        operationId: 'listStages', summary: 'The stages of a call, by number', tags: ['Calls'], parameters: [callId, cond],
        responses: { ...okay('All stages; a call has at least one.', { type: 'array', minItems: 1, items: ref('Stage') }), ...errors(400, 401, 403, 404, 405, 406, 412) },
      } },
      '/funders': { get: {
        operationId: 'listFunders', summary: 'All funders, by id', tags: ['Funders'], parameters: [cond],
        responses: { ...okay('All funders.', { type: 'array', items: ref('Funder') }), ...errors(400, 401, 403, 405, 406, 412) },
      } },
      '/funders/{funderId}': { get: {
        operationId: 'getFunder', summary: 'One funder', tags: ['Funders'],
        parameters: [{ name: 'funderId', in: 'path', required: true, schema: str }, cond],
        responses: { ...okay('The funder.', ref('Funder')), ...errors(400, 401, 403, 404, 405, 406, 412) },
      } },
    },
    components: {
      securitySchemes: { node: { type: 'oauth2', flows: { clientCredentials: { tokenUrl, scopes: { 'funding:read': 'read funding calls', 'info:read': 'see the info endpoint' } } } } },
      parameters: { IfNoneMatch: { name: 'If-None-Match', in: 'header', required: false, schema: str, description: 'Entity tags (RFC 9110).' } },
      responses: {
        E400: problem('A parameter is wrong or unknown.'), E401: problem('No token, or no valid one.', challenge), E403: problem('The role or the scope is missing.', challenge),
        E404: problem('There is no such record.'), E405: problem('The path does not have this method.', { Allow: { required: true, schema: str } }),
        E406: problem('Accept rules application/json out.'), E412: problem('If-Match does not fit.'),
      },
      schemas: {
        CallSummary: {
          type: 'object', required: ['id', 'title', 'type', 'status', 'funderId', 'deadline', 'lastModified'],
          properties: {
            id: { type: 'string', pattern: '^SB-20[0-9]{2}-[0-9]{4}$' }, title: ref('Title'), type: { type: 'string', enum: TYPES }, status: { type: 'string', enum: STATUS },
            funderId: { type: 'string', pattern: '^F-[0-9]{3}$' }, deadline: { type: 'string', format: 'date', nullable: true, description: 'null for calls that never close.' },
            lastModified: { type: 'string', format: 'date-time' },
          },
        },
        Call: { allOf: [ref('CallSummary'), {
          type: 'object', required: ['description', 'amount', 'targetGroups', 'languages', 'website', 'stageCount'],
          properties: {
            description: str, amount: ref('Amount'), targetGroups: { type: 'array', minItems: 1, uniqueItems: true, items: { type: 'string', enum: GROUPS } },
            languages: { type: 'array', minItems: 1, items: { type: 'string', enum: ['de', 'en'] } }, website: { type: 'string', format: 'uri' },
            stageCount: { type: 'integer', minimum: 1, description: 'How many stages the call has.' },
          },
        }] },
        Title: { type: 'object', required: ['de', 'en'], properties: { de: str, en: { type: 'string', nullable: true } } },
        Amount: { type: 'object', required: ['currency', 'minimum', 'maximum'], properties: {
          currency: { type: 'string', enum: ['EUR', 'CHF'] }, minimum: { type: 'integer', minimum: 0 }, maximum: { type: 'integer', minimum: 0, nullable: true, description: 'null: no upper limit' } } },
        Stage: { type: 'object', required: ['number', 'label', 'opens', 'closes'], properties: {
          number: { type: 'integer', minimum: 1 }, label: str, opens: { type: 'string', format: 'date' }, closes: { type: 'string', format: 'date', nullable: true, description: 'The last stage closes on the deadline of the call.' } } },
        Funder: { type: 'object', required: ['id', 'name', 'kind', 'country'], properties: {
          id: { type: 'string', pattern: '^F-[0-9]{3}$' }, name: str, kind: { type: 'string', enum: ['PUBLIC', 'FOUNDATION', 'COMPANY'] }, country: { type: 'string', pattern: '^[A-Z]{2}$' } } },
        CallPage: { type: 'object', required: ['content', 'page'], properties: { content: { type: 'array', items: ref('CallSummary') }, page: ref('PageInfo') } },
        PageInfo: { type: 'object', required: ['number', 'size', 'totalElements', 'totalPages'], properties: {
          number: { type: 'integer', minimum: 0 }, size: { type: 'integer', minimum: 1, description: 'The size asked for.' }, totalElements: { type: 'integer', minimum: 0 }, totalPages: { type: 'integer', minimum: 0 } } },
        Problem: { type: 'object', required: ['type', 'title', 'status'], properties: {
          type: { type: 'string', format: 'uri-reference' }, title: str, status: { type: 'integer', minimum: 400, maximum: 599 }, detail: str, instance: { type: 'string', format: 'uri-reference' },
          violations: { type: 'array', items: { type: 'object', required: ['parameter', 'message'], properties: { parameter: str, message: str } } } } },
      },
    },
  };
}
module.exports = { specification, SORTS };
