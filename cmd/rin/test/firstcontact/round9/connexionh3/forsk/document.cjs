'use strict';
// The OpenAPI document of the funding API.
const ref = (kind, name) => ({ $ref: `#/components/${kind}/${name}` });
const json = (schema) => ({ 'application/json': { schema } });
const query = (name, description, schema) => ({ name, in: 'query', description, schema });
const failures = (...codes) => Object.fromEntries(codes.map((code) => [code, ref('responses', `E${code}`)]));

module.exports = function makeDocument(origin, tokenUrl, pageSize, idName) {
  const language = ref('parameters', 'Language');
  const good = (description, schema, headers = {}) => ({
    200: {
      description,
      headers: { ETag: { schema: { type: 'string' } },
        'Content-Language': { schema: { type: 'string' } }, ...headers },
      content: json(schema),
    },
    304: { description: 'The copy that the client has is current' },
  });
  const error = (description) => ({ description, content: json(ref('schemas', 'Error')) });
  return {
    openapi: '3.0.3',
    info: {
      title: 'Funding calls of the Nordic research council',
      version: '3.1.4',
      description: 'Open, planned and closed calls. Texts come in Norwegian (nb) or English (en), as '
        + 'Accept-Language asks. Every operation needs a bearer token of a client with the role '
        + 'EXTERNAL_API_CLIENT. Unknown query parameters are ignored.',
    },
    servers: [{ url: `${origin}/cris/funding` }],
    security: [{ oauth: [] }],
    paths: {
      '/v3/calls': {
        get: {
          operationId: 'listCalls',
          summary: 'List calls',
          description: 'Calls that match all filters, ordered as `order` says and, where that is equal, '
            + 'by the id of the call. Whoever follows the next links sees every matching call exactly once.',
          parameters: [
            query('page_size', 'Calls on a page',
              { type: 'integer', minimum: 1, maximum: pageSize.max, default: pageSize.usual }),
            query('cursor', 'Where to go on: taken from a next link, never made by hand',
              { type: 'string' }),
            query('order', 'Ascending, or descending with a minus',
              { type: 'string', enum: ['deadline', '-deadline', idName.call], default: 'deadline' }),
            query('provider', 'Only calls of the provider with this id', { type: 'string' }),
            query('state', 'Only calls in this state', ref('schemas', 'State')),
            query('tag', 'Only calls with at least one of these tags',
              { type: 'array', items: { type: 'string' } }),
            query('deadline_from', 'Only calls whose deadline is this day or later',
              { type: 'string', format: 'date' }),
            query('deadline_to', 'Only calls whose deadline is this day or earlier',
              { type: 'string', format: 'date' }),
            query('min_budget', 'Only calls whose budget_nok is at least this',
              { type: 'integer', format: 'int64', minimum: 0 }),
            language,
          ],
          responses: {
            ...good('A page of calls', { type: 'array', items: ref('schemas', 'Call') }, {
              Link: { description: 'rel="next" where there are more calls (RFC 8288)',
                schema: { type: 'string' } },
              'X-Total-Count': { description: 'Number of all matching calls',
                schema: { type: 'integer' } },
            }),
            ...failures(400, 401, 403),
          },
        },
      },
      '/v3/calls/{call_id}': {
        get: {
          operationId: 'getCall',
          summary: 'Read one call',
          parameters: [ref('parameters', 'CallId'), language],
          responses: { ...good('The call', ref('schemas', 'CallDetail')), ...failures(400, 401, 403, 404) },
        },
      },
      '/v3/calls/{call_id}/documents': {
        get: {
          operationId: 'listDocuments',
          summary: 'The documents of one call',
          parameters: [ref('parameters', 'CallId')],
          responses: {
            ...good('The documents', { type: 'array', items: ref('schemas', 'Document') }),
            ...failures(400, 401, 403, 404),
          },
        },
      },
      '/v3/providers': {
        get: {
          operationId: 'listProviders',
          summary: 'All providers',
          responses: {
            ...good('The providers', { type: 'array', items: ref('schemas', 'Provider') }),
            ...failures(400, 401, 403),
          },
        },
      },
      '/v3/providers/{provider_id}': {
        get: {
          operationId: 'getProvider',
          summary: 'Read one provider',
          parameters: [{ name: 'provider_id', in: 'path', required: true, schema: { type: 'string' } }],
          responses: { ...good('The provider', ref('schemas', 'Provider')), ...failures(400, 401, 403, 404) },
        },
      },
    },
    components: {
      securitySchemes: {
        oauth: { type: 'oauth2', flows: { clientCredentials: { tokenUrl, scopes: {} } } },
      },
      parameters: {
        Language: { name: 'Accept-Language', in: 'header', description: 'nb or en; nb where neither fits',
          schema: { type: 'string' } },
        CallId: { name: 'call_id', in: 'path', required: true,
          schema: { type: 'integer', format: 'int32', minimum: 1 } },
      },
      responses: {
        E400: error('A parameter has a wrong value, or the request is malformed'),
        E401: { ...error('No valid token'),
          headers: { 'WWW-Authenticate': { schema: { type: 'string' } } } },
        E403: { ...error('The client lacks the role'),
          headers: { 'WWW-Authenticate': { schema: { type: 'string' } } } },
        E404: error('There is no such thing'),
      },
      schemas: {
        State: { type: 'string', enum: ['planned', 'open', 'closed'],
          description: 'By the date in Oslo: planned before opens_on, closed after deadline' },
        Call: {
          type: 'object',
          required: [idName.call, 'title', 'language', 'provider_id', 'state', 'opens_on', 'deadline',
            'tags', 'budget_nok', 'success_rate', 'updated'],
          properties: {
            [idName.call]: { type: 'integer', format: 'int32' },
            title: { type: 'string' },
            language: { type: 'string', enum: ['nb', 'en'] },
            provider_id: { type: 'string' },
            state: ref('schemas', 'State'),
            opens_on: { type: 'string', format: 'date' },
            deadline: { type: 'string', format: 'date' },
            tags: { type: 'array', items: { type: 'string' } },
            budget_nok: { type: 'integer', format: 'int64' },
            success_rate: { type: 'number', minimum: 0, maximum: 1, nullable: true },
            updated: { type: 'string', format: 'date-time' },
          },
        },
        CallDetail: {
          allOf: [ref('schemas', 'Call'), {
            type: 'object',
            required: ['summary', 'contact_email', 'eligibility', 'documents_url'],
            properties: {
              summary: { type: 'string' },
              contact_email: { type: 'string', format: 'email' },
              eligibility: { type: 'array',
                items: { type: 'string', enum: ['university', 'institute', 'company'] } },
              documents_url: { type: 'string', format: 'uri' },
            },
          }],
        },
        Document: {
          type: 'object',
          required: ['document_id', 'filename', 'bytes'],
          properties: { document_id: { type: 'string' }, filename: { type: 'string' },
            bytes: { type: 'integer' } },
        },
        Provider: {
          type: 'object',
          required: [idName.provider, 'name', 'country', 'founded', 'homepage'],
          properties: { [idName.provider]: { type: 'string' }, name: { type: 'string' },
            country: { type: 'string', pattern: '^[A-Z]{2}$' }, founded: { type: 'integer' },
            homepage: { type: 'string', format: 'uri' } },
        },
        Error: {
          type: 'object',
          required: ['error'],
          properties: {
            error: {
              type: 'object',
              required: ['code', 'message'],
              properties: { code: { type: 'string' }, message: { type: 'string' },
                parameter: { type: 'string' } },
            },
          },
        },
      },
    },
  };
};
