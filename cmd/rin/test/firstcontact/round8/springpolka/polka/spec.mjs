// The OpenAPI document of the funding API.
import { REGIONS, TARGETS } from './data.mjs';

const ref = (n) => ({ $ref: `#/components/schemas/${n}` });
const error = (n) => ({ $ref: `#/components/responses/${n}` });
const header = (n) => ({ $ref: `#/components/headers/${n}` });
const json = (schema) => ({ 'application/json': { schema } });
const query = (name, schema, description) => ({ name, in: 'query', required: false, description, schema });
const guarded = { 401: error('Unauthorized'), 403: error('Forbidden'), 405: error('MethodNotAllowed') };
const cond = { name: 'If-None-Match', in: 'header', required: false, schema: { type: 'string' }, description: 'Entity tags the client has; answered with 304 if one of them is current.' };

export function spec(base, tokenUrl, maxLimit) {
  return {
    openapi: '3.0.3',
    info: {
      title: 'Funding API', version: '3.2.0',
      description: 'Funding calls and funders. All operations need a bearer token of the role EXTERNAL_API_CLIENT. HEAD is answered like GET, without a body. Unknown query parameters are ignored; a known one with a wrong, empty or repeated value is refused with 400.',
    },
    servers: [{ url: `${base}/ris/funding/v3` }],
    security: [{ oauth: ['funding'] }],
    tags: [{ name: 'Fundings' }, { name: 'Funders' }],
    paths: {
      '/fundings': {
        get: {
          operationId: 'listFundings', tags: ['Fundings'], summary: 'List funding calls',
          description: 'Ordered by `updatedAt`, newest first, then by `id` ascending. A client that follows the links with rel="next" until there is none gets every call that matches exactly once; calls that are published meanwhile may be missing.',
          parameters: [
            query('limit', { type: 'integer', minimum: 1, maximum: maxLimit, default: 20 }, 'Most calls on one page.'),
            query('cursor', { type: 'string', minLength: 1 }, 'Where to go on; taken from the link with rel="next", to be used with the same filters. Any other value is refused with 400 and the code CURSOR_INVALID.'),
            query('open', { type: 'boolean' }, 'true: only calls that are open now; false: only calls that are not open now. Without it: both.'),
            query('funder', { type: 'string', pattern: '^[a-z]{2}-[a-z]+$' }, 'Only calls of the funder with this id. An unknown id gives an empty list.'),
            query('region', { type: 'string', enum: REGIONS }, 'Only calls whose `regions` contain this region.'),
            query('targetGroup', { type: 'string', enum: TARGETS }, 'Only calls whose `targetGroups` contain this group.'),
            query('closesFrom', { type: 'string', format: 'date-time' }, 'Only calls with `closes` at this time or later.'),
            query('closesUntil', { type: 'string', format: 'date-time' }, 'Only calls with `closes` at this time or earlier.'),
            query('search', { type: 'string', minLength: 1, maxLength: 100 }, 'Only calls with this text in one of their names or in the acronym; case does not matter.'),
          ],
          responses: {
            200: {
              description: 'One page of calls',
              headers: {
                Link: { description: 'RFC 8288; rel="first", and rel="next" unless this is the last page', schema: { type: 'string' } },
                'X-Total-Count': { required: true, description: 'Number of all calls that match the filters', schema: { type: 'integer', minimum: 0 } },
                ETag: header('ETag'),
              },
              content: json({ type: 'array', maxItems: maxLimit, items: ref('FundingSummary') }),
            },
            304: { description: 'Not modified' }, 400: error('BadRequest'), ...guarded,
          },
        },
      },
      '/fundings/{id}': {
        get: {
          operationId: 'getFunding', tags: ['Fundings'], summary: 'One funding call',
          parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }, cond],
          responses: { 200: { description: 'The call. The members it shares with the list have the same values.', headers: { ETag: header('ETag') }, content: json(ref('Funding')) }, 304: { description: 'Not modified' }, ...guarded, 404: error('NotFound') },
        },
      },
      '/funders': {
        get: {
          operationId: 'listFunders', tags: ['Funders'], summary: 'All funders, by id',
          responses: { 200: { description: 'All funders', headers: { ETag: header('ETag') }, content: json({ type: 'array', items: ref('Funder') }) }, 304: { description: 'Not modified' }, ...guarded },
        },
      },
      '/funders/{id}': {
        get: {
          operationId: 'getFunder', tags: ['Funders'], summary: 'One funder with its figures',
          parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }, cond],
          responses: { 200: { description: 'The funder', headers: { ETag: header('ETag') }, content: json(ref('FunderDetail')) }, 304: { description: 'Not modified' }, ...guarded, 404: error('NotFound') },
        },
      },
    },
    components: {
      securitySchemes: { oauth: { type: 'oauth2', flows: { clientCredentials: { tokenUrl, scopes: { funding: 'Read funding calls' } } } } },
      headers: { ETag: { description: 'Entity tag of the representation', schema: { type: 'string' } } },
      responses: {
        BadRequest: { description: 'A parameter has a wrong value', content: json(ref('Error')) },
        Unauthorized: { description: 'No token, or a token that is not valid here', headers: { 'WWW-Authenticate': { required: true, schema: { type: 'string' } } }, content: json(ref('Error')) },
        Forbidden: { description: 'The token does not give access to this API', headers: { 'WWW-Authenticate': { required: true, schema: { type: 'string' } } }, content: json(ref('Error')) },
        NotFound: { description: 'There is no such resource', content: json(ref('Error')) },
        MethodNotAllowed: { description: 'The method is not allowed here', headers: { Allow: { required: true, schema: { type: 'string' } } }, content: json(ref('Error')) },
      },
      schemas: {
        Text: { type: 'object', required: ['language', 'text'], properties: { language: { type: 'string', description: 'ISO 639-1', pattern: '^[a-z]{2}$' }, text: { type: 'string' } } },
        Texts: { type: 'array', minItems: 1, items: ref('Text') },
        Money: { type: 'object', required: ['amount', 'currency'], properties: { amount: { type: 'integer', format: 'int64', minimum: 0, description: 'Whole units' }, currency: { type: 'string', enum: ['EUR'] } } },
        Stage: { type: 'object', required: ['number', 'opens', 'closes'], properties: { number: { type: 'integer', minimum: 1 }, opens: { type: 'string', format: 'date-time' }, closes: { type: 'string', format: 'date-time' } } },
        FundingSummary: {
          type: 'object', required: ['id', 'acronym', 'names', 'funderId', 'open', 'opens', 'closes', 'budget', 'updatedAt'],
          properties: {
            id: { type: 'string' }, acronym: { type: 'string' }, names: ref('Texts'), funderId: { type: 'string' },
            open: { type: 'boolean', description: 'The call takes applications now: opens <= now < closes' },
            opens: { type: 'string', format: 'date-time' }, closes: { type: 'string', format: 'date-time' },
            budget: { nullable: true, description: 'null: not announced', allOf: [ref('Money')], type: 'object' },
            updatedAt: { type: 'string', format: 'date-time' },
          },
        },
        Funding: {
          allOf: [ref('FundingSummary'), {
            type: 'object', required: ['descriptions', 'fundingRate', 'targetGroups', 'regions', 'stages', 'contact', 'website'],
            properties: {
              descriptions: ref('Texts'), fundingRate: { type: 'number', minimum: 0, maximum: 1 },
              targetGroups: { type: 'array', minItems: 1, uniqueItems: true, items: { type: 'string', enum: TARGETS } },
              regions: { type: 'array', uniqueItems: true, items: { type: 'string', enum: REGIONS }, description: 'Empty: no regional limit' },
              stages: { type: 'array', minItems: 1, items: ref('Stage') },
              contact: { type: 'object', required: ['name', 'email'], properties: { name: { type: 'string' }, email: { type: 'string', format: 'email' } } },
              website: { type: 'string', format: 'uri' },
            },
          }],
        },
        Funder: { type: 'object', required: ['id', 'names', 'country', 'website'], properties: { id: { type: 'string' }, names: ref('Texts'), country: { type: 'string', pattern: '^[A-Z]{2}$' }, website: { type: 'string', format: 'uri' } } },
        FunderDetail: {
          allOf: [ref('Funder'), {
            type: 'object', required: ['callCount', 'totalBudget'],
            properties: {
              callCount: { type: 'integer', format: 'int32', minimum: 0, description: 'Number of calls of this funder in the list' },
              totalBudget: { type: 'integer', format: 'int64', minimum: 0, description: 'Sum of their announced budgets, in whole euros' },
            },
          }],
        },
        Error: {
          type: 'object', required: ['error'],
          properties: { error: { type: 'object', required: ['code', 'message', 'requestId'], properties: { code: { type: 'string' }, message: { type: 'string' }, parameter: { type: 'string' }, requestId: { type: 'string' } } } },
        },
      },
    },
  };
}
