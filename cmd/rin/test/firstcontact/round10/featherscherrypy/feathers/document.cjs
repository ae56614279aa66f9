// The OpenAPI document of the node.
'use strict'
const data = require('./data.cjs')
const ref = (name) => ({ $ref: '#/components/schemas/' + name })
const list = (items, more) => ({ type: 'array', items, ...more })
const json = (schema, description, headers) => ({ description, ...(headers ? { headers } : {}), content: { 'application/json': { schema } } })

const specification = ({ origin, prefix, token, cursor, limited }) => {
  const failures = { 401: { $ref: '#/components/responses/Unauthorized' }, 403: { $ref: '#/components/responses/Forbidden' } }
  if (limited) failures[429] = { $ref: '#/components/responses/TooMany' }
  const query = (name, description, schema, more) => ({ name, in: 'query', required: false, description, schema, ...more })
  const id = (what) => ({ name: 'id', in: 'path', required: true, description: 'Id of the ' + what, schema: { type: 'string' } })
  const paging = [query('$limit', 'How many records a page holds at most', { type: 'integer', minimum: 1, maximum: 50, default: 25 })]
  if (cursor) paging.push(query('$after', 'Cursor of the page wanted: the value of `next` of the page before, with the same filters and sort', { type: 'string', minLength: 1, maxLength: 200 }))
  else paging.push(query('$skip', 'How many records of the list are skipped', { type: 'integer', minimum: 0, maximum: 100000000, default: 0 }))
  const page = (of) => cursor
    ? { type: 'object', required: ['data', 'next'], properties: { data: list(ref(of)), next: { type: 'string', nullable: true, description: 'Cursor of the next page; null on the last page' } } }
    : {
        type: 'object',
        required: ['total', 'limit', 'skip', 'data'],
        properties: {
          total: { type: 'integer', minimum: 0, description: 'Number of records in the whole list that the client can read with these filters' },
          limit: { type: 'integer', minimum: 1 },
          skip: { type: 'integer', minimum: 0 },
          data: list(ref(of))
        }
      }
  const link = { Link: { description: 'RFC 8288; rel="next" is the next page. The last page has none.', schema: { type: 'string' } }, ETag: { schema: { type: 'string' } } }
  const bad = { 400: { $ref: '#/components/responses/BadRequest' } }
  const missing = { 404: { $ref: '#/components/responses/NotFound' } }
  return {
    openapi: '3.0.3',
    info: {
      title: 'Nordkette Funding API',
      version: '3.1.0',
      description: 'Annotated fundings of the node Nordkette. Fundings with access RESTRICTED can be read only by clients of the affiliation that they belong to; to all other clients they do not exist. Unknown query parameters are refused with 400. All answers are in JSON (UTF-8). ' +
        'Tokens: client_id and client_secret are sent as form fields or with HTTP Basic (RFC 6749, 2.3.1).' +
        (limited ? ' A client can send 40 requests in 5 seconds; more are answered with 429 and Retry-After.' : '')
    },
    servers: [{ url: `${origin}/${prefix}/funding` }],
    tags: [{ name: 'Fundings' }, { name: 'Funders' }],
    security: [{ clientCredentials: ['funding.read'] }],
    paths: {
      '/v3/fundings': {
        get: {
          tags: ['Fundings'], operationId: 'findFundings', summary: 'Fundings, page by page. Several filters have to hold all.',
          parameters: [
            ...paging,
            query('fundingType', 'Only fundings of this type', ref('FundingType')),
            query('targetGroup', 'Only fundings for at least one of these target groups', list(ref('TargetGroup')), { style: 'form', explode: true }),
            query('region', 'Only fundings for applicants of this region', ref('EligibleApplicantsRegion')),
            query('funderId', 'Only fundings of the funder with this id', { type: 'string', minLength: 1, maxLength: 200 }),
            query('runningCalls', 'true: only fundings whose first call stage has begun and has not ended at the time of the request; false: only the others', { type: 'boolean' }),
            query('changedSince', 'Only fundings whose updatedAt is this instant or later', { type: 'string', format: 'date-time' }),
            query('minVolume', 'Only fundings whose amount is at least this (EUR)', { type: 'number', minimum: 0 }),
            query('sort', 'Order: by id, by the end of the first call stage, or by amount; with - descending. Equal values are in the order of the ids, so that no record is lost or doubled between pages', { type: 'string', enum: data.sorts, default: 'id' })
          ],
          responses: { 200: json(ref('FundingPage'), 'A page of fundings', link), ...bad, ...failures }
        }
      },
      '/v3/fundings/{id}': {
        get: { tags: ['Fundings'], operationId: 'getFunding', summary: 'One funding', parameters: [id('funding')], responses: { 200: json(ref('Funding'), 'The funding'), ...bad, ...failures, ...missing } }
      },
      '/v3/funders': {
        get: { tags: ['Funders'], operationId: 'findFunders', summary: 'Funders in the order of their ids, page by page', parameters: paging, responses: { 200: json(ref('FunderPage'), 'A page of funders', link), ...bad, ...failures } }
      },
      '/v3/funders/{id}': {
        get: { tags: ['Funders'], operationId: 'getFunder', summary: 'One funder', parameters: [id('funder')], responses: { 200: json(ref('OrgUnit'), 'The funder'), ...bad, ...failures, ...missing } }
      },
      '/v3/summary': {
        get: { tags: ['Fundings'], operationId: 'getSummary', summary: 'Number and volume of the fundings that the client can read', responses: { 200: json(ref('Summary'), 'The summary'), ...bad, ...failures } }
      }
    },
    components: {
      securitySchemes: {
        clientCredentials: {
          type: 'oauth2',
          description: `The service account needs the role EXTERNAL_API_CLIENT.`,
          flows: { clientCredentials: { tokenUrl: token, scopes: { 'funding.read': 'Read fundings' } } }
        }
      },
      responses: {
        BadRequest: json(ref('Error'), 'The query is not valid'),
        Unauthorized: json(ref('Error'), 'There is no valid access token', { 'WWW-Authenticate': { schema: { type: 'string' } } }),
        Forbidden: json(ref('Error'), 'The role is missing'),
        NotFound: json(ref('Error'), 'There is no such record'),
        ...(limited ? { TooMany: json(ref('Error'), 'Too many requests', { 'Retry-After': { schema: { type: 'integer' } } }) } : {})
      },
      schemas: {
        FundingPage: page('Funding'),
        FunderPage: page('OrgUnit'),
        Funding: {
          type: 'object',
          required: ['id', 'type', 'name', 'funder', 'characteristics', 'targetGroups', 'eligibleApplicantsRegions', 'subjects', 'fundingScheme', 'legalType', 'callStages', 'amount', 'updatedAt', 'access'],
          properties: {
            id: { type: 'string' },
            type: ref('FundingType'),
            name: list(ref('Text')),
            acronym: { type: 'string' },
            funder: list(ref('Funder')),
            characteristics: list({ type: 'string', enum: data.characteristics }),
            targetGroups: list(ref('TargetGroup')),
            eligibleApplicantsRegions: list(ref('EligibleApplicantsRegion')),
            subjects: list(ref('Subject')),
            fundingScheme: ref('FundingType'),
            legalType: { type: 'string', enum: ['PROJECT26', 'PROJECT27'] },
            callStages: list(ref('CallStage'), { minItems: 1 }),
            amount: ref('Volume'),
            fullyFunded: { type: 'boolean' },
            applicationLanguages: list({ type: 'string' }),
            website: list({ type: 'string' }),
            updatedAt: { type: 'string', format: 'date-time' },
            access: { type: 'string', enum: ['OPEN', 'RESTRICTED'] },
            affiliationId: { type: 'string', description: 'Only with access RESTRICTED: the affiliation whose clients can read the funding' }
          }
        },
        FundingType: { type: 'string', enum: data.types },
        TargetGroup: { type: 'string', enum: data.targetGroups },
        EligibleApplicantsRegion: { type: 'string', enum: data.regions },
        Funder: { type: 'object', required: ['funderType', 'funder'], properties: { funderType: { type: 'string', enum: ['EXECUTIVE_ORGANISATION', 'JOINT_CALL_PARTNER'] }, funder: ref('OrgUnit') } },
        OrgUnit: { type: 'object', required: ['id', 'name', 'website'], properties: { id: { type: 'string' }, name: list(ref('Text')), website: { type: 'string' } } },
        Text: { type: 'object', required: ['lang', 'text', 'trans'], properties: { lang: { type: 'string' }, trans: { type: 'string', enum: ['O', 'H', 'M'] }, text: { type: 'string' } } },
        Subject: { type: 'object', properties: { fraction: { type: 'number' }, value: { type: 'string' } } },
        CallStage: { type: 'object', required: ['callStageStart', 'callStageEnd'], properties: { number: { type: 'string' }, callStageStart: { type: 'string', format: 'date-time' }, callStageEnd: { type: 'string', format: 'date-time' } } },
        Volume: { type: 'object', required: ['currency', 'amount'], properties: { currency: { type: 'string' }, amount: { type: 'number' } } },
        Summary: {
          type: 'object', required: ['fundings', 'types'],
          properties: { fundings: { type: 'integer' }, types: list({ type: 'object', required: ['type', 'count', 'volume'], properties: { type: ref('FundingType'), count: { type: 'integer' }, volume: ref('Volume') } }) }
        },
        Error: {
          type: 'object', required: ['name', 'message', 'code', 'className'],
          properties: {
            name: { type: 'string' }, message: { type: 'string' }, code: { type: 'integer' }, className: { type: 'string' },
            errors: list({ type: 'object', required: ['parameter', 'message'], properties: { parameter: { type: 'string' }, message: { type: 'string' } } })
          }
        }
      }
    }
  }
}
module.exports = { specification }
