// The resource server's own OpenAPI document, of version 3.1.
import { kinds } from './calls.mjs';

const ref = (name) => ({ $ref: `#/components/schemas/${name}` });
const json = (description, schema) => ({ description, content: { 'application/json': { schema } } });
const refusals = Object.fromEntries([
  ['400', 'The request is malformed.'], ['401', 'A valid token is needed.'], ['403', 'The client may not read calls.'],
].map(([status, text]) => [status, json(text, ref('Fault'))]));
const query = (name, description, schema) => ({ name, in: 'query', description, schema });

export function describe(base, tokenUrl) {
  return {
    openapi: '3.1.0',
    info: { title: 'Funding calls of a campus', version: '1.0.0' },
    servers: [{ url: `${base}/funding` }],
    security: [{ clients: [] }],
    paths: {
      '/v1/calls': {
        get: {
          operationId: 'listCalls',
          summary: 'The funding calls, by id',
          parameters: [
            query('kind', 'only of this kind', ref('Kind')),
            query('open', 'only those that take applications today, or only the others', { type: 'boolean' }),
            query('funder', 'only of the funder with this id', { type: 'string' }),
            query('limit', 'how many at most', { type: 'integer', minimum: 1, maximum: 50, default: 20 }),
            query('offset', 'how many to pass over', { type: 'integer', minimum: 0, maximum: 1_000_000, default: 0 }),
          ],
          responses: { 200: json('A page of calls.', ref('Page')), ...refusals },
        },
      },
      '/v1/calls/{id}': {
        get: {
          operationId: 'readCall',
          summary: 'One funding call',
          parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
          responses: { 200: json('The call.', ref('Call')), ...refusals, 404: json('No call has this id.', ref('Fault')) },
        },
      },
    },
    components: {
      securitySchemes: { clients: { type: 'oauth2', flows: { clientCredentials: { tokenUrl, scopes: {} } } } },
      schemas: {
        Kind: { type: 'string', enum: kinds },
        Page: {
          type: 'object',
          required: ['items', 'total', 'next'],
          properties: {
            items: { type: 'array', items: ref('Call') },
            total: { type: 'integer', minimum: 0 },
            next: { type: ['string', 'null'], format: 'uri' },
          },
        },
        Call: {
          type: 'object',
          required: ['id', 'kind', 'title', 'opens', 'closes', 'funder', 'subjects'],
          properties: {
            id: { type: 'string', minLength: 1 },
            kind: ref('Kind'),
            title: { type: 'object', required: ['de', 'en'], properties: { de: { type: 'string' }, en: { type: 'string' } } },
            opens: { type: 'string', format: 'date' },
            closes: { type: ['string', 'null'], format: 'date' },
            budget: { type: ['number', 'null'], exclusiveMinimum: 0 },
            funder: { type: 'object', required: ['id', 'name'], properties: { id: { type: 'string' }, name: { type: 'string' } } },
            subjects: { type: 'array', items: { type: 'string', pattern: '^\\d{6}$' } },
            website: { type: 'string', format: 'uri' },
          },
        },
        Fault: {
          type: 'object',
          required: ['fault'],
          properties: {
            fault: { type: 'object', required: ['code', 'message'], properties: { code: { type: 'string' }, message: { type: 'string' } } },
          },
        },
      },
    },
  };
}
