'use strict'
// The OpenAPI 3.1 document of the node's funding API.

const ref = (name) => ({ $ref: `#/components/schemas/${name}` })
const json = (schema) => ({ 'application/json': { schema } })
const list = (items, more = {}) => ({ type: 'array', items, ...more })

module.exports = function build ({ root, service, tokenPath, types, groups, regions, scopes, orders, idParameter, limited }) {
  const failure = (description, headers) => ({ description, ...(headers && { headers }), content: json(ref('Failure')) })
  const challenge = { 'WWW-Authenticate': { required: true, schema: { type: 'string' } } }
  const etag = { ETag: { required: true, description: 'Strong entity tag', schema: { type: 'string' } } }
  const common = {
    304: { description: 'Not modified (If-None-Match)', headers: etag },
    401: failure('No valid access token', challenge),
    403: failure('The caller does not have the role EXTERNAL_API_CLIENT', challenge),
    406: failure('application/json is not acceptable')
  }
  if (limited) {
    common[429] = failure('Too many requests of one client; come back after Retry-After seconds',
      { 'Retry-After': { required: true, schema: { type: 'integer', minimum: 1 } } })
  }
  const query = (name, description, schema) => ({ name, in: 'query', required: false, description, schema })
  const id = { name: 'id', in: 'path', required: true, description: 'The id of a funding', schema: { type: 'string' } }
  const operation = (operationId, summary, parameters, schema, more) => ({
    operationId,
    summary,
    tags: ['Fundings'],
    parameters,
    responses: { 200: { description: 'Success', headers: etag, content: json(schema) }, ...common, ...more }
  })
  const missing = { 404: failure('There is no funding with this id') }
  return {
    openapi: '3.1.0',
    info: {
      title: 'RIS node: funding calls',
      version: '3.0.4',
      description: 'Funding calls for external API clients. Callers need an access token (client credentials) of a ' +
        'service account with the role EXTERNAL_API_CLIENT. Errors are objects with code and message. ' +
        'Unknown query parameters are ignored; parameters with invalid values are answered with 400.' +
        (limited ? ' A client that asks too fast is answered with 429 and Retry-After.' : '')
    },
    servers: [{ url: service }],
    tags: [{ name: 'Fundings' }],
    security: [{ networkLogin: ['fundings'] }],
    paths: {
      '/v3/fundings': {
        get: operation('findFundings', 'List of fundings', [
          query('limit', 'How many entries an answer has at most', { type: 'integer', minimum: 1, maximum: 40, default: 12 }),
          query('cursor', 'nextCursor of the answer before. Use it with the same order and the same filters.', { type: 'string' }),
          query('order', 'Order of the list, with a minus sign descending: by id, by deadline, or by amount (as a ' +
            'number). Equal entries come in ascending order of id. Following nextCursor shows every ' +
            'entry exactly once.', { type: 'string', enum: orders, default: 'id' }),
          query('fundingType', 'Only this type', ref('FundingType')),
          query('targetGroup', 'Only fundings for this target group', ref('TargetGroup')),
          query('region', 'Only fundings for this region', ref('Region')),
          query('applicantsScope', 'Only fundings with this scope', ref('Scope')),
          query('funderId', 'Only fundings of the funder with this id', { type: 'string' }),
          query('minAmount', 'Only fundings whose amount is at least this', { type: 'number', minimum: 0 }),
          query('runningCalls', 'true: only fundings whose deadline is in the future; false: only the others', { type: 'boolean' })
        ], ref('FundingPage'), { 400: failure('A parameter is invalid') })
      },
      [`/v3/fundings/{${idParameter}}`]: { get: operation('findFunding', 'One funding', [id], ref('Funding'), missing) },
      '/v3/fundings/{id}/stages': {
        get: operation('findStages', 'The stages of one funding, in order of number', [id], list(ref('CallStage')), missing)
      }
    },
    components: {
      securitySchemes: {
        networkLogin: {
          type: 'oauth2',
          flows: { clientCredentials: { tokenUrl: root + tokenPath, scopes: { fundings: 'Read fundings' } } }
        }
      },
      schemas: {
        Text: {
          type: 'object',
          required: ['lang', 'trans', 'text'],
          properties: { lang: { type: 'string', minLength: 2 }, trans: { enum: ['O', 'H', 'M'] }, text: { type: 'string' } }
        },
        FundingType: { type: 'string', enum: types },
        TargetGroup: { type: 'string', enum: groups },
        Region: { type: 'string', enum: regions },
        Scope: { type: 'string', enum: scopes },
        Volume: {
          type: 'object',
          required: ['currency', 'amount'],
          properties: { currency: { const: 'EUR' }, amount: { type: 'integer', minimum: 0 } }
        },
        CallStage: {
          type: 'object',
          required: ['number', 'callStageStart', 'callStageEnd'],
          properties: {
            number: { type: 'integer', minimum: 1 },
            callStageStart: { type: 'string', format: 'date-time' },
            callStageEnd: { type: 'string', format: 'date-time' }
          }
        },
        Funding: {
          type: 'object',
          required: ['id', 'type', 'name', 'funderId', 'amount', 'deadline', 'targetGroups', 'applicantsScope', 'acronym'],
          properties: {
            id: { type: 'string' },
            type: ref('FundingType'),
            name: list(ref('Text'), { minItems: 1 }),
            acronym: { type: ['string', 'null'] },
            funderId: { type: 'string' },
            amount: ref('Volume'),
            deadline: { type: 'string', format: 'date-time' },
            targetGroups: list(ref('TargetGroup'), { minItems: 1, uniqueItems: true }),
            applicantsScope: ref('Scope'),
            regions: list(ref('Region')),
            fullyFunded: { type: 'boolean' }
          }
        },
        FundingPage: {
          type: 'object',
          required: ['items', 'total', 'nextCursor'],
          properties: {
            items: list(ref('Funding')),
            total: { type: 'integer', minimum: 0, description: 'Number of entries of the whole list with these filters' },
            nextCursor: { type: ['string', 'null'], description: 'Where the list goes on; null at its end' }
          }
        },
        Failure: {
          type: 'object',
          required: ['code', 'message'],
          properties: { code: { type: 'string' }, message: { type: 'string' }, parameter: { type: 'string' } }
        }
      }
    }
  }
}
