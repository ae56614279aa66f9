'use strict';
// OpenAPI document of the funding API.
module.exports = ({ base, tokenUrl, KINDS, REGIONS }) => {
  const ref = (name) => ({ $ref: `#/components/schemas/${name}` });
  const json = (schema) => ({ 'application/json': { schema } });
  const text = { type: 'string' };
  const answers = (schema, headers, ...more) => ({
    200: { description: 'OK', headers, content: json(schema) },
    ...Object.fromEntries(['401', '403', ...more].map((status) => [status, {
      description: { 400: 'Bad parameter', 401: 'Token missing or not valid', 403: 'Role missing', 404: 'Unknown id' }[status],
      content: json(ref('Error')),
      ...(['401', '403'].includes(status) ? { headers: { 'WWW-Authenticate': { required: true, schema: text } } } : {}),
    }])),
  });
  const query = (name, description, schema, extra) => ({ name, in: 'query', required: false, description, schema, ...extra });
  const id = { name: 'id', in: 'path', required: true, schema: text };
  const language = {
    name: 'Accept-Language', in: 'header', required: false, schema: text,
    description: 'Language of title and abstract: de (default) or en. The answer is in the language that Content-Language names.',
  };
  const tags = { ETag: { schema: text }, 'Content-Language': { schema: { type: 'string', enum: ['de', 'en'] } } };
  const summary = {
    id: text,
    kind: ref('Kind'),
    title: text,
    funderId: text,
    regions: { type: 'array', minItems: 1, items: ref('Region') },
    deadline: { type: 'string', format: 'date' },
    volume: { type: 'integer', format: 'int64', minimum: 0, description: 'Whole euros' },
    updatedAt: { type: 'string', format: 'date-time' },
  };
  const detail = {
    ...summary,
    abstract: text,
    quota: { type: 'number', minimum: 0, maximum: 100, description: 'Share of costs that is funded, per cent' },
    stages: { type: 'array', items: ref('Stage') },
  };
  const object = (properties) => ({ type: 'object', required: Object.keys(properties), properties });
  return {
    openapi: '3.0.3',
    info: { title: 'Förderangebote Nord', version: '3.0.4', description: 'Funding calls for external API clients.' },
    servers: [{ url: base }],
    security: [{ clientCredentials: [] }],
    paths: {
      '/funding-calls': {
        get: {
          operationId: 'listFundingCalls',
          summary: 'List of the funding calls',
          description: 'All calls that match the filters, in the order that sort names; equal ones by id. The Link header '
            + 'field with rel="next" leads to the next part; who follows it to the end has seen every call once.',
          parameters: [
            query('limit', 'Most items in one answer', { type: 'integer', minimum: 1, maximum: 50, default: 20 }),
            query('after', 'Opaque cursor from the link to the next part', text),
            query('sort', 'deadline or volume, smallest first; with - largest first. Volumes are compared as numbers.',
              { type: 'string', enum: ['deadline', '-deadline', 'volume', '-volume'], default: 'deadline' }),
            query('kind', 'Only this kind', ref('Kind')),
            query('region', 'Only for one of these regions; may be repeated', { type: 'array', items: ref('Region') },
              { style: 'form', explode: true }),
            query('funderId', 'Only of this funder', text),
            query('deadlineFrom', 'Only with this deadline or a later one', { type: 'string', format: 'date' }),
            query('minVolume', 'Only with at least this volume', { type: 'integer', minimum: 0 }),
            language,
          ],
          responses: answers({ type: 'array', items: ref('FundingCall') }, {
            ...tags, Link: { schema: text, description: 'rel="next", if there is more' },
            'X-Total-Count': { schema: { type: 'integer' }, description: 'Number of all items that match' },
          }, '400'),
        },
      },
      '/funding-calls/{id}': {
        get: {
          operationId: 'getFundingCall', summary: 'One funding call', parameters: [id, language],
          responses: answers(ref('FundingCallDetail'), tags, '404'),
        },
      },
      '/funders': {
        get: { operationId: 'listFunders', summary: 'All funders', responses: answers({ type: 'array', items: ref('Funder') }, {}) },
      },
      '/funders/{id}': {
        get: { operationId: 'getFunder', summary: 'One funder', parameters: [id], responses: answers(ref('Funder'), {}, '404') },
      },
    },
    components: {
      securitySchemes: {
        clientCredentials: { type: 'oauth2', flows: { clientCredentials: { tokenUrl, scopes: {} } } },
      },
      schemas: {
        Kind: { type: 'string', enum: KINDS },
        Region: { type: 'string', enum: REGIONS },
        FundingCall: object(summary),
        FundingCallDetail: object(detail),
        Stage: object({
          number: { type: 'integer' }, opens: { type: 'string', format: 'date-time' }, closes: { type: 'string', format: 'date-time' },
        }),
        Funder: object({ id: text, name: text, country: text, homepage: { type: 'string', format: 'uri' } }),
        Error: object({ error: object({ code: text, message: text, requestId: text }) }),
      },
    },
  };
};
