'use strict';
const { TYPES, REGIONS, GROUPS, SORTS } = require('./data');
const { is } = require('./variant');

const ref = (name) => ({ $ref: `#/components/schemas/${name}` });
const text = (description, extra = {}) => ({ type: 'string', description, ...extra });
const date = (description, extra = {}) => ({ type: 'string', format: 'date', description, ...extra });
const object = (properties, description) => ({ type: 'object', description, required: Object.keys(properties), additionalProperties: false, properties });
const list = (items, description) => ({ type: 'array', items, description });
const query = (name, schema, description) => ({ name, in: 'query', required: false, description, schema });

const amount = (description) => object({ amount: { type: 'integer', minimum: 0, description: 'Whole euros.' }, currency: { type: 'string', enum: ['EUR'] } }, description);

module.exports = function document(origin) {
  const page = (item) => object({
    items: { ...list(item, 'What is on this page, at most perPage entries.') },
    page: { type: 'integer', minimum: 1, description: 'The number of this page.' },
    perPage: { type: 'integer', minimum: 1, maximum: 50, description: 'The size of the pages.' },
    pages: { type: 'integer', minimum: 0, description: 'How many pages there are: total divided by perPage, rounded up.' },
    total: { type: 'integer', minimum: 0, description: 'How many entries there are on all pages together.' },
    links: ref('PageLinks'),
  });
  const pageParameters = [
    query('page', { type: 'integer', minimum: 1, maximum: 10000, default: 1 }, 'Number of the page, from 1. A page after the last one is answered with 200 and no items.'),
    query('perPage', { type: 'integer', minimum: 1, maximum: 50, default: 20 }, 'Size of the pages.'),
  ];
  const problem = (description, headers = {}) => ({ description, headers, content: { 'application/problem+json': { schema: ref('Problem') } } });
  const header = (description, schema = { type: 'string' }) => ({ description, schema });
  const ok = (schema, description, lastModified) => ({
    description,
    headers: {
      ETag: header('A weak entity tag of the representation.'),
      'Cache-Control': header('private, no-cache'),
      Vary: header('Accept, Accept-Encoding'),
      ...(lastModified ? { 'Last-Modified': header('The member updatedAt of the call.') } : {}),
    },
    content: { 'application/json': { schema } },
  });
  const operation = (id, summary, description, parameters, schema, { notFound, lastModified } = {}) => ({
    get: {
      operationId: id,
      summary,
      description,
      tags: ['Funding'],
      security: [{ network: ['funding.read'] }],
      parameters,
      responses: {
        200: ok(schema, 'The representation asked for.', lastModified),
        304: { description: 'If-None-Match or If-Modified-Since: the client has the current representation.' },
        400: problem('A parameter is not acceptable, is not known, or is sent twice.'),
        401: problem('No token, or one that is not valid or has expired.', { 'WWW-Authenticate': header('A challenge of the scheme Bearer (RFC 6750, 3).') }),
        403: problem('The account lacks the role EXTERNAL_API_CLIENT.', { 'WWW-Authenticate': header('A challenge of the scheme Bearer with error="insufficient_scope".') }),
        ...(notFound ? { 404: problem(notFound) } : {}),
        406: problem('The field Accept of the request excludes application/json.'),
        412: problem('If-Match or If-Unmodified-Since does not hold. As the tags are weak, If-Match holds for * only.'),
      },
    },
  });

  return {
    openapi: '3.0.3',
    info: {
      title: 'Donau-Forschungsverbund: Funding API',
      version: '3.2.0',
      description: [
        'Funding calls of the Donau research association, for import into the tools of the members of the network.',
        '',
        '**Access.** Tokens come from `/realms/forschung/protocol/openid-connect/token` (client credentials; the client authenticates with HTTP Basic or with client_id and client_secret in the form). They are JWTs (RFC 9068), signed with RS256 by a key of `/realms/forschung/protocol/openid-connect/certs`, and live 75 seconds. The only scope is `funding.read`; it is granted if none is asked for, any other one is refused as invalid_scope. All operations of this document need the role EXTERNAL_API_CLIENT; the info endpoint needs a valid token only. Tokens of the staging environment and tokens for another audience are not accepted.',
        '',
        '**Wrong secrets.** After 20 wrong secrets in a row for one client within a minute the token endpoint answers 429 for that client during 30 seconds; the field Retry-After says how many seconds are left. No other client notices.',
        '',
        '**Parameters.** A query parameter that an operation does not declare, one that is sent twice, and one without a value are answered with 400. Numbers are written in decimal digits without sign and without leading zeros. Query strings are encoded as application/x-www-form-urlencoded in UTF-8: a plus sign is a space. Filters are combined with "and".',
        '',
        '**Pages.** Lists are cut into pages. The members of `links` are references relative to the address of the request; they keep all other parameters. An empty list has 0 pages, its `last` is page 1.',
        '',
        '**Conditions.** Every representation that an operation of this document answers with 200 carries a weak ETag; the detail of a call carries Last-Modified, too. Answers may be compressed with gzip, br or deflate, as the field Accept-Encoding asks for. HEAD is answered wherever GET is; OPTIONS is answered with 204 and the field Allow, without a token; other methods of the IANA registry get 405 (CONNECT and made-up ones: 501).',
        '',
        '**Errors** are problem details (RFC 9457); where a request cannot be read, their `instance` is `/`.',
        ...(is('rc-salzach') ? ['', '**One token at a time.** A client that asks for a token while its last one has more than 25 seconds left is given that one again; `expires_in` says how many seconds are left.'] : []),
        ...(is('rc-drau') ? ['', '**Same value, other bytes.** The order of members, blanks and escapes of a JSON text may differ from one answer to the next; entity tags do not tell such differences, which is why they are weak.'] : []),
        ...(is('rc-kamp') ? ['', '**Token first.** Whatever the method (other than OPTIONS) and whether or not there is something at an address below `/v3/`: without a valid token the answer is 401. `/v3/api-docs` is public.'] : []),
      ].join('\n'),
    },
    servers: [{ url: `${origin}/donau/funding` }],
    tags: [{ name: 'Funding', description: 'Calls, funders, deadlines' }],
    paths: {
      '/v3/calls': operation('listCalls', 'Calls, page by page', 'All calls that all given filters let through, in the order that `sort` asks for.', [
        query('q', { type: 'string', minLength: 1, maxLength: 100 }, 'Calls that have this text in one of their titles (in any language). Capital and small letters are the same; umlauts are letters of their own.'),
        query('funder', { type: 'string', pattern: '^[a-z]{1,20}$' }, 'Calls of the funder with this id; none if there is no such funder.'),
        query('type', ref('CallType'), 'Calls of this type.'),
        query('region', ref('Region'), 'Calls that have this region among their `regions`. Calls without regions are left out.'),
        query('deadlineFrom', { type: 'string', format: 'date' }, 'Calls with a deadline on this day or later. Calls without a deadline are left out.'),
        query('deadlineTo', { type: 'string', format: 'date' }, 'Calls with a deadline on this day or earlier. Calls without a deadline are left out.'),
        query('ongoing', { type: 'boolean' }, 'true: calls without a deadline; false: calls with one.'),
        query('minBudget', { type: 'integer', minimum: 0, maximum: 1000000000 }, 'Calls with a budget of this amount or more. Calls without a budget are left out.'),
        query('sort', { type: 'string', enum: SORTS, default: 'deadline' }, 'The order: by the member deadline, publishedOn or budget.amount, upwards, or downwards with a minus sign. Calls for which the member is null come last in both directions. Calls with the same value are ordered by id, upwards, in both directions; ids are compared character by character.'),
        ...pageParameters,
      ], ref('CallPage')),
      '/v3/calls/{callId}': operation('readCall', 'One call', 'One call with all its members.', [
        { name: 'callId', in: 'path', required: true, description: 'The member id of the call.', schema: { type: 'string' } },
      ], ref('CallDetail'), { notFound: 'There is no call with this id.', lastModified: true }),
      '/v3/funders': operation('listFunders', 'Funders, page by page', 'All funders, ordered by id.', pageParameters, ref('FunderPage')),
      '/v3/funders/{funderId}': operation('readFunder', 'One funder', 'One funder.', [
        { name: 'funderId', in: 'path', required: true, description: 'The member id of the funder.', schema: { type: 'string' } },
      ], ref('Funder'), { notFound: 'There is no funder with this id.' }),
      '/v3/deadlines': operation('listDeadlines', 'Deadlines, page by page', 'The stages of all calls, ordered by closesOn, then by callId, then by stage.', [
        query('from', { type: 'string', format: 'date' }, 'Stages that close on this day or later.'),
        query('to', { type: 'string', format: 'date' }, 'Stages that close on this day or earlier.'),
        ...pageParameters,
      ], ref('DeadlinePage')),
      '/v3/statistics': operation('readStatistics', 'Numbers of calls', 'How many calls this node lists, in all, by type and by region, and the sum of their budgets.', [], ref('Statistics')),
    },
    components: {
      securitySchemes: {
        network: { type: 'oauth2', description: 'Client credentials; the account needs the role EXTERNAL_API_CLIENT.', flows: { clientCredentials: { tokenUrl: `${origin}/realms/forschung/protocol/openid-connect/token`, scopes: { 'funding.read': 'read funding calls' } } } },
      },
      schemas: {
        CallType: { type: 'string', enum: TYPES },
        Region: { type: 'string', enum: REGIONS },
        TargetGroup: { type: 'string', enum: GROUPS },
        Text: object({ lang: { type: 'string', enum: ['de', 'en'] }, text: text('The text in this language.', { minLength: 1 }) }, 'A text in one language'),
        Texts: { type: 'array', items: ref('Text'), minItems: 2, maxItems: 2, description: 'First the German, then the English text.' },
        Amount: amount('An amount of money'),
        FunderReference: object({ id: text('Id of the funder.'), name: ref('Texts') }, 'The funder of a call'),
        Stage: object({ number: { type: 'integer', minimum: 1, description: 'Counted from 1 within the call.' }, label: ref('Texts'), closesOn: date('The last day on which applications are taken.') }, 'A stage of a call'),
        Call: object(summary(), 'A call as lists show it'),
        CallDetail: object({
          ...summary(),
          description: ref('Texts'),
          targetGroups: { type: 'array', items: ref('TargetGroup'), minItems: 1, uniqueItems: true, description: 'Who may apply.' },
          keywords: { type: 'array', items: { type: 'string' }, uniqueItems: true, description: 'German keywords.' },
          stages: list(ref('Stage'), 'The stages in their order; none for calls without a deadline.'),
          contact: object({ name: text('A person.'), email: { type: 'string', format: 'email' }, phone: { type: 'string', nullable: true } }, 'Whom to ask'),
          website: { type: 'string', format: 'uri' },
          updatedAt: { type: 'string', format: 'date-time', description: 'When this call was changed last, in UTC.' },
        }, 'A call with all its members; the members that lists show have the same values there'),
        Funder: object({ id: text('Id of the funder.', { pattern: '^[a-z]{1,20}$' }), name: ref('Texts'), website: { type: 'string', format: 'uri' }, foundedOn: date('The day on which the funder was founded.'), calls: { type: 'integer', minimum: 0, description: 'How many calls of this funder there are.' } }, 'A funder'),
        Deadline: object({ closesOn: date('The member closesOn of the stage.'), callId: text('Id of the call.'), stage: { type: 'integer', minimum: 1, description: 'Number of the stage.' }, label: ref('Texts') }, 'A stage of a call, seen from the calendar'),
        Statistics: object({
          calls: { type: 'integer', minimum: 0, description: 'All calls.' },
          byType: list(object({ type: ref('CallType'), calls: { type: 'integer', minimum: 0 } }), 'One entry for each type.'),
          byRegion: list(object({ region: ref('Region'), calls: { type: 'integer', minimum: 0 } }), 'One entry for each region; a call counts in each of its regions.'),
          budget: ref('Amount'),
        }, 'Numbers over all calls; budget is the sum of all budgets'),
        PageLinks: object({
          self: { type: 'string', format: 'uri-reference' },
          first: { type: 'string', format: 'uri-reference' },
          prev: { type: 'string', format: 'uri-reference', nullable: true, description: 'null on the first page; after the last page, the last one.' },
          next: { type: 'string', format: 'uri-reference', nullable: true, description: 'null on the last page and after it.' },
          last: { type: 'string', format: 'uri-reference' },
        }, 'Links to pages of the same list'),
        CallPage: page(ref('Call')),
        FunderPage: page(ref('Funder')),
        DeadlinePage: page(ref('Deadline')),
        Problem: {
          type: 'object',
          description: 'RFC 9457',
          required: ['type', 'title', 'status', 'detail', 'instance'],
          additionalProperties: false,
          properties: {
            type: { type: 'string', format: 'uri-reference' },
            title: { type: 'string' },
            status: { type: 'integer', description: 'The status code of the answer.' },
            detail: { type: 'string' },
            instance: { type: 'string', format: 'uri-reference', description: 'The path of the request, / if it cannot be read.' },
            errors: { type: 'array', description: 'Which parameters are not acceptable.', items: { type: 'object', required: ['parameter', 'reason'], additionalProperties: false, properties: { parameter: { type: 'string' }, reason: { type: 'string' } } } },
          },
        },
      },
    },
  };

  function summary() {
    return {
      id: text('Id of the call.'),
      type: ref('CallType'),
      title: ref('Texts'),
      acronym: { type: 'string', nullable: true, description: 'A short name.' },
      funder: ref('FunderReference'),
      regions: { type: 'array', items: ref('Region'), uniqueItems: true, description: 'The regions in which applicants must be; none: no restriction.' },
      publishedOn: date('The day on which the call was published.'),
      opensOn: date('The first day on which applications are taken.'),
      deadline: date('The day on which the last stage closes; null for calls without stages.', { nullable: true }),
      budget: { ...amount('What is to be given away; null if that is not fixed.'), nullable: true },
    };
  }
};
