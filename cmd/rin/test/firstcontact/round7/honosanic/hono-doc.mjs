// The OpenAPI document of the Hono node.
export function document (origin, { tokenUrl, pattern }) {
  const ref = name => ({ $ref: `#/components/schemas/${name}` })
  const json = schema => ({ 'application/json': { schema } })
  const problem = description => ({ description, content: { 'application/problem+json': { schema: ref('Problem') } } })
  const guarded = {
    401: { ...problem('The token is missing or not valid.'), headers: { 'WWW-Authenticate': { schema: { type: 'string' } } } },
    403: { ...problem('The client does not have the role EXTERNAL_API_CLIENT.'), headers: { 'WWW-Authenticate': { schema: { type: 'string' } } } }
  }
  const cached = {
    ETag: { description: 'Validator of the answer.', schema: { type: 'string' } },
    'Last-Modified': { description: 'When the data was last changed.', schema: { type: 'string' } }
  }
  const notModified = { description: 'The copy that the client names in If-None-Match or If-Modified-Since is current.' }
  const query = (name, description, schema) => ({ name, in: 'query', required: false, description, schema })
  return {
    openapi: '3.0.3',
    info: {
      title: 'Funding calls',
      version: '3.0.0',
      description: 'Annotated funding calls for external API clients. Every operation needs an access token (client credentials) ' +
        'of a client that has the role EXTERNAL_API_CLIENT. Tokens of the staging environment are not accepted here.'
    },
    servers: [{ url: `${origin}/ris/funding/v3` }],
    security: [{ oauth: [] }],
    paths: {
      '/calls': {
        get: {
          operationId: 'listCalls',
          summary: 'List funding calls',
          description: 'Returns one page of the calls that match all the given filters. A page after the last one is empty.',
          parameters: [
            query('page', 'Number of the page, from 1.', { type: 'integer', minimum: 1, maximum: 10000, default: 1 }),
            query('size', 'Calls on a page.', { type: 'integer', minimum: 1, maximum: 50, default: 20 }),
            query('funderId', 'Only calls of this funder.', { type: 'string' }),
            query('region', 'Only calls for this region.', ref('Region')),
            query('deadlineFrom', 'Only calls whose deadline is on this day (UTC) or later.', { type: 'string', format: 'date' }),
            query('deadlineUntil', 'Only calls whose deadline is on this day (UTC) or earlier.', { type: 'string', format: 'date' }),
            query('sort', 'Order of the calls: by deadline, ascending or (with a minus sign) descending, equal deadlines by id ascending. Without it by id ascending.',
              { type: 'string', enum: ['deadline', '-deadline'] })
          ],
          responses: {
            200: {
              description: 'A page of calls.',
              headers: {
                ...cached,
                Link: { description: 'RFC 8288 links to the first, prev, next and last page of the same list, with the same filters, order and size.', schema: { type: 'string' } }
              },
              content: json(ref('CallPage'))
            },
            304: notModified,
            400: problem('A parameter is not valid.'),
            ...guarded
          }
        }
      },
      '/calls/{id}': {
        get: {
          operationId: 'getCall',
          summary: 'Read one funding call',
          parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
          responses: {
            200: { description: 'The call.', headers: cached, content: json(ref('Call')) },
            304: notModified,
            404: problem('There is no call with this id.'),
            ...guarded
          }
        }
      },
      '/funders': {
        get: {
          operationId: 'listFunders',
          summary: 'List all funders',
          responses: {
            200: { description: 'All funders.', headers: cached, content: json(ref('FunderList')) },
            304: notModified,
            ...guarded
          }
        }
      },
      '/export/calls': {
        get: {
          operationId: 'exportCalls',
          summary: 'All calls as a table',
          description: 'All calls as CSV (RFC 4180, UTF-8, with a header line), ordered by id.',
          responses: {
            200: { description: 'The table.', headers: cached, content: { 'text/csv': { schema: { type: 'string' } } } },
            304: notModified,
            ...guarded
          }
        }
      }
    },
    components: {
      securitySchemes: {
        oauth: { type: 'oauth2', flows: { clientCredentials: { tokenUrl, scopes: {} } } }
      },
      schemas: {
        CallPage: {
          type: 'object',
          required: ['total', 'page', 'size', 'items'],
          properties: {
            total: { type: 'integer', minimum: 0, description: 'How many calls match the filters.' },
            page: { type: 'integer', minimum: 1 },
            size: { type: 'integer', minimum: 1, maximum: 50 },
            items: { type: 'array', maxItems: 50, items: ref('Call') }
          }
        },
        Call: {
          type: 'object',
          required: ['id', 'type', 'title', 'funderId', 'regions', 'opens', 'deadline', 'budget', 'website', 'modified'],
          properties: {
            id: { type: 'string', pattern },
            type: { type: 'string', enum: ['CALL', 'PROGRAMME', 'GRANT'] },
            title: { type: 'array', minItems: 1, items: ref('Text') },
            funderId: { type: 'string', description: 'Id of a funder in the list of funders.' },
            regions: { type: 'array', uniqueItems: true, items: ref('Region') },
            opens: { type: 'string', format: 'date' },
            deadline: { type: 'string', format: 'date-time' },
            budget: ref('Money'),
            website: { type: 'string', format: 'uri' },
            modified: { type: 'string', format: 'date-time' }
          }
        },
        FunderList: {
          type: 'object',
          required: ['items'],
          properties: { items: { type: 'array', items: ref('Funder') } }
        },
        Funder: {
          type: 'object',
          required: ['id', 'name', 'website'],
          properties: {
            id: { type: 'string' },
            name: { type: 'array', minItems: 1, items: ref('Text') },
            website: { type: 'string', format: 'uri' }
          }
        },
        Money: {
          type: 'object',
          required: ['currency', 'amount'],
          properties: { currency: { type: 'string', enum: ['EUR'] }, amount: { type: 'number', minimum: 0 } }
        },
        Text: {
          type: 'object',
          required: ['lang', 'trans', 'text'],
          properties: {
            lang: { type: 'string', enum: ['de', 'en'] },
            trans: { type: 'string', enum: ['O', 'H', 'M'], description: 'O = original, H = translated by a person, M = by a machine.' },
            text: { type: 'string' }
          }
        },
        Region: {
          type: 'string',
          enum: ['VIENNA', 'BURGENLAND', 'LOWER_AUSTRIA', 'CARINTHIA', 'UPPER_AUSTRIA', 'SALZBURG', 'STYRIA', 'TYROL', 'VORARLBERG']
        },
        Problem: {
          type: 'object',
          required: ['type', 'title', 'status'],
          properties: {
            type: { type: 'string' },
            title: { type: 'string' },
            status: { type: 'integer' },
            detail: { type: 'string' }
          }
        }
      }
    }
  }
}
