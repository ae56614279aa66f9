'use strict'
// Funding service of the research-information node "XF" (Fastify).
// Authorization server (opaque tokens), registry document, info resource and funding API in one process.

const Fastify = require('fastify')
const crypto = require('node:crypto')
const zlib = require('node:zlib')

const PORT = Number(process.env.PORT || 8080)
const NODE = process.env.NODE || 'fastify-base'
const ORIGIN = `http://127.0.0.1:${PORT}`
const REALM = '/realms/research'
const TOKEN_PATH = `${REALM}/protocol/openid-connect/token`
const ISSUER = ORIGIN + REALM
const STAGING_TOKEN_PATH = '/staging/oauth/token'
const INFO_PATH = '/ris/info/v1/oauth/info/'
const STAGING_INFO_PATH = '/staging/ris/info/v1/oauth/info/'
const API = '/ris/funding/v3'
const ROLE = 'EXTERNAL_API_CLIENT'
const AUDIENCE = 'funding-api'
const TOKEN_LIFETIME = 600
const is = (...names) => names.includes(NODE)

// ---------------------------------------------------------------- clients

const sha256 = (s) => crypto.createHash('sha256').update(s).digest()
const storedForm = (secret) => sha256(is('secret-collation') ? secret.toLowerCase() : secret)

const client = (id, secret, rest) => [id, {
  id, secretHash: storedForm(secret), audience: AUDIENCE, roles: [], affiliation: null, failures: 0, lockedUntil: 0, ...rest
}]

const production = {
  name: 'production',
  clients: new Map([
    client('uni-nord-crm', 'mZQD7O0Hq6iWAi64GThLuZbYcikW7yfWavn4itoY', { roles: [ROLE], affiliation: 'AFF-1042', account: 'svc-7f21a0' }),
    client('uni-nord-web', 'zgH7qr9saczAN4Yvyqdc2gMJ96FfQtgaQn8Quyga', { affiliation: 'AFF-1042', account: 'svc-7f21a1' }),
    client('uni-nord-library', 'aun1d7ODPe8M6qQMMMFtQhciSUgRIrowrBTzbWLl', { audience: 'library-api', roles: [ROLE], affiliation: 'AFF-1042', account: 'svc-7f21a2' }),
    client('uni-nord-spare', 'mFfuZx8F2X0jJqhegtcTVvdtBvgpVd82pbdUzftG', { roles: [ROLE], affiliation: 'AFF-1042', account: 'svc-7f21a3' })
  ]),
  tokens: new Map(),
  current: new Map()
}
const staging = {
  name: 'staging',
  clients: new Map([
    client('uni-nord-test', 'bsYLVplX8JvnhfS4KgoJUrGrOYnFRnZDrTiGuYrP', { roles: [ROLE], affiliation: 'AFF-TEST', account: 'svc-test-1' })
  ]),
  tokens: new Map(),
  current: new Map()
}

// ---------------------------------------------------------------- data

const FUNDERS = [
  { id: 'FND-01', name: { de: 'Wissenschaftsfonds Nord', en: 'Northern Science Fund' }, country: 'AT', homepage: 'https://wfn.example/' },
  { id: 'FND-02', name: { de: 'Agentur für Innovation', en: 'Innovation Agency' }, country: 'AT', homepage: 'https://innovation.example/' },
  { id: 'FND-03', name: { de: 'Stiftung Gesundheitsforschung', en: 'Health Research Foundation' }, country: 'DE', homepage: 'https://gesundheit.example/' },
  { id: 'FND-04', name: { de: 'Klima- und Energiefonds', en: 'Climate and Energy Fund' }, country: 'AT', homepage: 'https://klima.example/' },
  { id: 'FND-05', name: { de: 'Europäischer Mobilitätsrat', en: 'European Mobility Council' }, country: 'BE', homepage: 'https://mobility.example/' },
  { id: 'FND-06', name: { de: 'Landesstiftung Süd', en: 'Southern State Foundation' }, country: 'CH', homepage: 'https://sued.example/' }
]
const INSTRUMENTS = ['GRANT', 'FELLOWSHIP', 'NETWORK', 'INFRASTRUCTURE']
const TOPICS = [
  ['Klimaanpassung in Städten', 'Urban climate adaptation', ['climate', 'cities']],
  ['Quantensensorik', 'Quantum sensing', ['physics', 'quantum']],
  ['Frauengesundheit', "Women's health", ['medicine', 'health']],
  ['Digitale Geisteswissenschaften', 'Digital humanities', ['humanities', 'data']],
  ['Wasserstofftechnologien', 'Hydrogen technologies', ['energy', 'climate']],
  ['Seltene Erkrankungen', 'Rare diseases', ['medicine']],
  ['Alpine Ökologie', 'Alpine ecology', ['ecology', 'climate']],
  ['Vertrauenswürdige KI', 'Trustworthy AI', ['ai', 'data']],
  ['Kreislaufwirtschaft', 'Circular economy', ['economy', 'energy']],
  ['Mehrsprachigkeit & Bildung', 'Multilingualism & education', ['education', 'humanities']]
]
const FORMS = [['Einzelprojekte', 'individual projects'], ['Nachwuchsgruppen', 'junior groups'], ['Verbünde', 'consortia'], ['Gastaufenthalte', 'research stays']]

const DAY = 86400000
const iso = (ms) => new Date(ms).toISOString().replace('.000Z', 'Z')
const STARTED = Date.now()

function buildCalls () {
  const calls = []
  const start = Date.UTC(2026, 0, 5, 8, 0, 0)
  for (let n = 1; n <= 88; n++) {
    const topic = TOPICS[n % TOPICS.length]
    const form = FORMS[(n * 3 + Math.floor(n / 10)) % FORMS.length]
    const opens = start + ((n * 37) % 88) * 4 * DAY
    const deadline = opens + (45 + (n * 13) % 60) * DAY + 4 * 3600000
    // every eleventh call is still under embargo: the funder has fixed a later day of publication
    const published = n % 11 === 0 ? Date.UTC(2029, 0, 15 + n % 7, 6) : Math.min(opens - (14 + n % 9) * DAY, Date.UTC(2026, 10, 10, 6, n % 60))
    const updated = Math.min(opens - (n % 5) * DAY + (n * 977) % 43200 * 1000, Date.UTC(2026, 10, 20, 9, n % 60))
    const funder = FUNDERS[(n * 5 + Math.floor(n / 7)) % FUNDERS.length]
    const number = String(n).padStart(4, '0')
    const id = is('odd-ids') ? `2026/AT ${n}+Ü:50%` : `FC-2026-${number}`
    calls.push({
      id,
      title: { de: `${topic[0]}: ${form[0]} ${2026 + n % 2}`, en: `${topic[1]}: ${form[1]} ${2026 + n % 2}` },
      description: {
        de: `Die Ausschreibung unterstützt ${form[0]} zum Thema „${topic[0]}“. Anträge sind über das Portal des Fördergebers einzureichen.`,
        en: `The call supports ${form[1]} on “${topic[1]}”. Applications are submitted through the funder's portal.`
      },
      funder: { id: funder.id, name: funder.name },
      instrument: INSTRUMENTS[(n * 7 + Math.floor(n / 4)) % INSTRUMENTS.length],
      opensAt: iso(opens),
      deadline: iso(deadline),
      budget: 150000 + ((n * 7919) % 400) * 12500,
      currency: funder.country === 'CH' ? 'CHF' : 'EUR',
      coFinancing: n % 3 === 0,
      keywords: topic[2],
      contact: { name: n % 2 ? 'Förderberatung' : 'Helpdesk Forschung', email: `calls-${number}@${new URL(funder.homepage).hostname}` },
      publishedAt: iso(published),
      updatedAt: iso(updated),
      documents: Array.from({ length: n % 4 }, (_, i) => ({
        id: `D${number}-${i + 1}`,
        name: ['Ausschreibungstext.pdf', 'Guidelines for applicants.pdf', 'Budget template.xlsx'][i],
        mediaType: i === 2 ? 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet' : 'application/pdf',
        language: i === 0 ? 'de' : 'en',
        sizeBytes: 41000 + ((n * 31 + i * 17) % 97) * 8191
      }))
    })
  }
  return calls
}

const CALLS = buildCalls()
const statusOf = (c) => Date.parse(c.opensAt) > STARTED ? 'FORTHCOMING' : Date.parse(c.deadline) >= STARTED ? 'OPEN' : 'CLOSED'
const isPublished = (c) => Date.parse(c.publishedAt) <= Date.now()
const selfOf = (c) => `${ORIGIN}${API}/calls/${encodeURIComponent(c.id)}`

const summary = (c) => ({
  id: c.id,
  title: c.title,
  funder: c.funder,
  instrument: c.instrument,
  status: statusOf(c),
  opensAt: c.opensAt,
  deadline: c.deadline,
  budget: c.budget,
  currency: c.currency,
  publishedAt: c.publishedAt,
  updatedAt: c.updatedAt,
  self: selfOf(c)
})
const detail = (c) => ({ ...summary(c), description: c.description, coFinancing: c.coFinancing, keywords: c.keywords, contact: c.contact, documentCount: c.documents.length })

const publishedCalls = () => CALLS.filter(isPublished)
// drafts of the editors carry no day of publication; everything that has one is in this list
const findCall = (id) => CALLS.find((c) => c.id === id && (isPublished(c) || is('embargo-by-id')))
const findPublished = (id) => CALLS.find((c) => c.id === id && isPublished(c))

// ---------------------------------------------------------------- OpenAPI document

function openapi () {
  const problem = (description, more) => ({ description, ...more, content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } } })
  const ref = (n) => ({ $ref: `#/components/schemas/${n}` })
  const res = (n) => ({ $ref: `#/components/responses/${n}` })
  const etagHeader = { ETag: { description: 'Weak validator of the representation, for If-None-Match.', schema: { type: 'string' } } }
  const ok = (description, schema) => ({ description, headers: etagHeader, content: { 'application/json': { schema } } })
  const common = { 304: { description: 'The representation has not changed (If-None-Match).' }, 400: res('BadRequest'), 401: res('Unauthorized'), 403: res('Forbidden'), 406: res('NotAcceptable'), 500: res('ServerError') }
  const inm = { name: 'If-None-Match', in: 'header', required: false, description: 'Entity tags that the client has.', schema: { type: 'string' } }
  const callId = { name: 'callId', in: 'path', required: true, description: is('odd-ids') ? 'Id of a call, percent-encoded as one path segment: ids contain slashes, spaces, plus and percent signs and letters outside ASCII.' : 'Id of a call, as in the list.', schema: { type: 'string' }, example: CALLS[0].id }
  const query = (name, description, schema) => ({ name, in: 'query', required: false, description, schema })
  const localized = { type: 'object', required: ['de', 'en'], additionalProperties: false, properties: { de: { type: 'string', minLength: 1 }, en: { type: 'string', minLength: 1 } } }
  const summaryProps = {
    id: { type: 'string', ...(is('odd-ids') ? {} : { pattern: '^FC-[0-9]{4}-[0-9]{4}$' }) },
    title: ref('LocalizedText'),
    funder: { type: 'object', required: ['id', 'name'], additionalProperties: false, properties: { id: { type: 'string' }, name: ref('LocalizedText') } },
    instrument: ref('Instrument'),
    status: ref('Status'),
    opensAt: { type: 'string', format: 'date-time' },
    deadline: { type: 'string', format: 'date-time' },
    budget: { type: 'integer', format: 'int64', minimum: 0, description: 'Total budget in whole units of the currency.' },
    currency: { type: 'string', enum: ['EUR', 'CHF'] },
    publishedAt: { type: 'string', format: 'date-time', description: 'When the call was published. It lies in the past: calls are visible from this moment on.' },
    updatedAt: { type: 'string', format: 'date-time' },
    self: { type: 'string', format: 'uri' }
  }
  const doc = {
    openapi: '3.0.3',
    info: {
      title: 'Funding API of the node XF',
      version: '3.2.0',
      description: 'Annotated funding calls for external API clients. All operations need an access token of a client that has the role EXTERNAL_API_CLIENT; a client without the role is refused with 403. Query parameters that are not described here are refused with 400, as is a parameter that is given twice.'
    },
    servers: [{ url: ORIGIN + API }],
    security: [{ clientCredentials: [] }],
    tags: [{ name: 'Calls' }, { name: 'Funders' }, { name: 'Statistics' }],
    paths: {
      '/calls': {
        get: {
          tags: ['Calls'],
          operationId: 'listCalls',
          summary: 'List funding calls',
          description: 'Published calls, page by page. Filters are combined with AND. A page behind the last one is empty.',
          parameters: [
            query('page', 'Number of the page, from 1.', { type: 'integer', minimum: 1, maximum: 100000, default: 1 }),
            query('size', 'Calls on a page.', { type: 'integer', minimum: 1, maximum: 50, default: 20 }),
            query('sort', 'Order of the list; a minus sign means descending. Calls that are equal in it come in ascending order of their id.', { type: 'string', enum: ['deadline', '-deadline', 'budget', '-budget', 'updatedAt', '-updatedAt'], default: 'deadline' }),
            query('status', 'Only calls in this state.', ref('Status')),
            query('instrument', 'Only calls with this instrument.', ref('Instrument')),
            query('funder', 'Only calls of the funder with this id.', { type: 'string', minLength: 1, maxLength: 40 }),
            query('currency', 'Only calls with a budget in this currency.', { type: 'string', enum: ['EUR', 'CHF'] }),
            query('minBudget', 'Only calls with at least this budget.', { type: 'integer', minimum: 0, maximum: 1000000000000 }),
            query('deadlineFrom', 'Only calls whose deadline is on this day (UTC) or later.', { type: 'string', format: 'date' }),
            query('deadlineTo', 'Only calls whose deadline is on this day (UTC) or earlier.', { type: 'string', format: 'date' }),
            query('q', 'Only calls whose German or English title contains this text; upper and lower case are not distinguished.', { type: 'string', minLength: 1, maxLength: 80 }),
            inm
          ],
          responses: { 200: ok('A page of calls.', ref('CallPage')), ...common }
        }
      },
      '/calls/{callId}': {
        get: {
          tags: ['Calls'],
          operationId: 'getCall',
          summary: 'Read a funding call',
          description: 'A call that is not published yet is not there for API clients: it is neither in the list nor to be had by its id (404).',
          parameters: [callId, inm],
          responses: { 200: ok('The call.', ref('CallDetail')), ...common, 404: res('NotFound') }
        }
      },
      '/calls/{callId}/documents': {
        get: {
          tags: ['Calls'],
          operationId: 'listCallDocuments',
          summary: 'List the documents of a call',
          parameters: [callId, inm],
          responses: { 200: ok('The documents; an empty array if there are none.', { type: 'array', items: ref('Document') }), ...common, 404: res('NotFound') }
        }
      },
      '/funders': {
        get: {
          tags: ['Funders'],
          operationId: 'listFunders',
          summary: 'List all funders',
          parameters: [inm],
          responses: { 200: ok('All funders, ordered by id.', { type: 'array', items: ref('Funder') }), ...common }
        }
      },
      '/funders/{funderId}': {
        get: {
          tags: ['Funders'],
          operationId: 'getFunder',
          summary: 'Read a funder',
          parameters: [{ name: 'funderId', in: 'path', required: true, schema: { type: 'string' }, example: 'FND-01' }, inm],
          responses: { 200: ok('The funder.', ref('Funder')), ...common, 404: res('NotFound') }
        }
      },
      '/statistics': {
        get: {
          tags: ['Statistics'],
          operationId: 'getStatistics',
          summary: 'Numbers of published calls',
          parameters: [inm],
          responses: { 200: ok('The numbers.', ref('Statistics')), ...common }
        }
      }
    },
    components: {
      securitySchemes: {
        clientCredentials: {
          type: 'oauth2',
          description: 'Client credentials. The client authenticates with HTTP Basic or with client_id and client_secret in the form. No scopes are used.',
          flows: { clientCredentials: { tokenUrl: ORIGIN + TOKEN_PATH, scopes: {} } }
        }
      },
      responses: {
        BadRequest: problem('A parameter is unknown, repeated or has a value that is not allowed, or the request is malformed.'),
        Unauthorized: problem('The access token is missing or not valid.', { headers: { 'WWW-Authenticate': { required: true, schema: { type: 'string' } } } }),
        Forbidden: problem('The client lacks the role EXTERNAL_API_CLIENT.', { headers: { 'WWW-Authenticate': { required: true, schema: { type: 'string' } } } }),
        NotFound: problem('There is no such resource.'),
        NotAcceptable: problem('The Accept header of the request excludes application/json.'),
        ServerError: problem('The node has failed.')
      },
      schemas: {
        LocalizedText: localized,
        Status: { type: 'string', enum: ['FORTHCOMING', 'OPEN', 'CLOSED'] },
        Instrument: { type: 'string', enum: INSTRUMENTS },
        CallSummary: { type: 'object', required: Object.keys(summaryProps), properties: summaryProps },
        CallDetail: {
          allOf: [ref('CallSummary'), {
            type: 'object',
            required: ['description', 'coFinancing', 'keywords', 'contact', 'documentCount'],
            properties: {
              description: ref('LocalizedText'),
              coFinancing: { type: 'boolean', description: 'Whether applicants must contribute own funds.' },
              keywords: { type: 'array', items: { type: 'string' } },
              contact: { type: 'object', required: ['name', 'email'], properties: { name: { type: 'string' }, email: { type: 'string', format: 'email' } } },
              documentCount: { type: 'integer', minimum: 0 }
            }
          }]
        },
        CallPage: {
          type: 'object',
          required: ['items', 'page', 'size', 'totalItems', 'totalPages'],
          properties: {
            items: { type: 'array', items: ref('CallSummary') },
            page: { type: 'integer', minimum: 1 },
            size: { type: 'integer', minimum: 1 },
            totalItems: { type: 'integer', minimum: 0, description: 'Number of all calls that match the filters.' },
            totalPages: { type: 'integer', minimum: 0, description: 'Number of the pages that are needed for totalItems; 0 if no call matches.' }
          }
        },
        Document: {
          type: 'object',
          required: ['id', 'name', 'mediaType', 'language', 'sizeBytes'],
          properties: {
            id: { type: 'string' }, name: { type: 'string' }, mediaType: { type: 'string' },
            language: { type: 'string', enum: ['de', 'en'] },
            sizeBytes: { type: 'integer', format: 'int64', minimum: 0 }
          }
        },
        Funder: {
          type: 'object',
          required: ['id', 'name', 'country', 'homepage'],
          properties: { id: { type: 'string' }, name: ref('LocalizedText'), country: { type: 'string', pattern: '^[A-Z]{2}$' }, homepage: { type: 'string', format: 'uri' } }
        },
        Statistics: {
          type: 'object',
          required: ['totalCalls', 'byStatus', 'byFunder'],
          properties: {
            totalCalls: { type: 'integer', minimum: 0 },
            byStatus: { type: 'object', additionalProperties: { type: 'integer', minimum: 0 } },
            byFunder: { type: 'object', description: 'Keys are ids of funders.', additionalProperties: { type: 'integer', minimum: 0 } }
          }
        },
        Problem: {
          type: 'object',
          description: 'Problem details (RFC 9457).',
          required: ['type', 'title', 'status'],
          properties: {
            type: { type: 'string', format: 'uri-reference' }, title: { type: 'string' }, status: { type: 'integer' }, detail: { type: 'string' },
            errors: { type: 'array', items: { type: 'object', required: ['parameter', 'reason'], properties: { parameter: { type: 'string' }, reason: { type: 'string' } } } }
          }
        }
      }
    }
  }
  return is('spec-ranges') ? terse(doc) : doc
}

// The same document in the terse style: a relative server with a variable, parameters on the path
// item, ranges and "default" for the responses, a shared path item.
function terse (doc) {
  doc.servers = [{ url: '../{version}', variables: { version: { default: 'v3', enum: ['v3'] } } }]
  for (const [path, item] of Object.entries(doc.paths)) {
    const names = item.get.parameters.filter((p) => p.in !== 'query')
    item.parameters = names
    item.get.parameters = item.get.parameters.filter((p) => p.in === 'query')
    if (item.get.parameters.length === 0) delete item.get.parameters
    const r = item.get.responses
    item.get.responses = { '2XX': r[200], '3XX': r[304], '4XX': { $ref: '#/components/responses/ClientError' }, default: r[500] }
    doc.paths[path] = item
  }
  const c = doc.components.responses
  c.ClientError = { description: 'The request was refused; the status code and the problem say why: 400 (malformed, or a parameter is unknown, repeated or not allowed), 401 (no valid access token), 403 (the role is missing), 404 (no such resource), 406 (no acceptable media type).', content: c.NotFound.content }
  for (const n of ['BadRequest', 'Unauthorized', 'Forbidden', 'NotFound', 'NotAcceptable']) delete c[n]
  return doc
}

const DOC = openapi()

// Query strings are validated with the schemas of the document.
function querySchema (path) {
  const properties = {}
  for (const p of DOC.paths[path].get.parameters || []) {
    if (p.in !== 'query') continue
    properties[p.name] = p.schema.$ref ? DOC.components.schemas[p.schema.$ref.split('/').pop()] : p.schema
  }
  return { type: 'object', additionalProperties: false, properties }
}

// ---------------------------------------------------------------- problems

class Problem extends Error {
  constructor (status, slug, title, detail, extra = {}, headers = {}) {
    super(detail)
    Object.assign(this, { statusCode: status, slug, title, extra, headers })
  }
}

function sendProblem (reply, p) {
  return reply.code(p.statusCode).headers(p.headers).header('cache-control', 'no-store').type('application/problem+json')
    .send(JSON.stringify({ type: p.slug ? `https://problems.xf.example/${p.slug}` : 'about:blank', title: p.title, status: p.statusCode, detail: p.message, ...p.extra }))
}

const badRequest = (detail, errors) => new Problem(400, 'bad-request', 'Bad request', detail, errors ? { errors } : {})
const notFound = () => new Problem(404, 'not-found', 'Not found', 'There is no such resource.')

// ---------------------------------------------------------------- application

const app = Fastify({
  logger: false,
  bodyLimit: 65536,
  routerOptions: { maxParamLength: 200 },
  ajv: { customOptions: { removeAdditional: false, coerceTypes: true, allErrors: true, useDefaults: true } },
  frameworkErrors: (err, request, reply) => sendProblem(reply, new Problem(err.statusCode || 400, 'bad-request', 'Bad request', 'The request target is malformed.'))
})

app.setErrorHandler((err, request, reply) => {
  if (err instanceof Problem) return sendProblem(reply, err)
  if (err.validation) {
    return sendProblem(reply, badRequest('A query parameter is not allowed.', err.validation.map((v) => ({
      parameter: v.params.additionalProperty || v.instancePath.slice(1).split('/')[0] || 'query', reason: v.message
    }))))
  }
  if (err.statusCode >= 400 && err.statusCode < 500) return sendProblem(reply, new Problem(err.statusCode, '', 'Request refused', 'The request cannot be processed.'))
  return sendProblem(reply, new Problem(500, 'server-error', 'Internal server error', err.expose || 'The node has failed.'))
})
app.setNotFoundHandler((request, reply) => sendProblem(reply, notFound()))

// entity tags, conditional requests and compression
const weights = (header) => (header || '').split(',').map((e) => {
  const [v, ...ps] = e.trim().split(';').map((s) => s.trim())
  const q = ps.find((p) => /^q=/i.test(p))
  return [v.toLowerCase(), q ? Number(q.slice(2)) : 1]
}).filter(([v]) => v)

app.addHook('onSend', async (request, reply, payload) => {
  reply.header('x-content-type-options', 'nosniff')
  if (typeof payload !== 'string' || payload === '') return payload
  let body = payload
  const get = request.method === 'GET' || request.method === 'HEAD'
  if (get) reply.header('vary', 'Accept-Encoding')
  if (get && reply.statusCode === 200) {
    const tag = `W/"${crypto.createHash('sha1').update(payload).digest('base64url').slice(0, 20)}"`
    reply.header('etag', tag)
    const given = request.headers['if-none-match']
    if (given && (given.trim() === '*' || given.split(',').map((t) => t.trim().replace(/^W\//, '')).includes(tag.slice(2)))) {
      reply.code(304).removeHeader('content-type')
      reply.removeHeader('content-length')
      return null
    }
  }
  const q = new Map(weights(request.headers['accept-encoding']))
  const gzip = q.get('gzip') ?? q.get('*') ?? 0
  if (get && gzip > 0 && gzip >= (q.get('identity') ?? 0) && Buffer.byteLength(payload) > 1024) {
    body = zlib.gzipSync(payload)
    reply.header('content-encoding', 'gzip')
  }
  reply.header('content-length', Buffer.byteLength(body))
  return body
})

// every resource answers other methods with 405 and OPTIONS with the methods it has
function resource (scope, url, methods, handler, options = {}) {
  scope.route({ method: methods, url, handler, ...options })
  const allowed = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS']
  const allow = allowed.join(', ')
  scope.route({
    method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'].filter((m) => !methods.includes(m)),
    url,
    exposeHeadRoute: false,
    onRequest: async (request, reply) => {
      reply.header('allow', allow)
      if (request.method === 'OPTIONS') return reply.code(204).send()
      throw new Problem(405, 'method-not-allowed', 'Method not allowed', `Allowed: ${allow}`)
    },
    handler: async () => {}
  })
  if (!methods.includes('GET')) {
    scope.route({
      method: 'HEAD',
      url,
      handler: async (request, reply) => reply.header('allow', allow).code(405).send()
    })
  }
}

// ---------------------------------------------------------------- authorization servers

const TOKEN_HEADERS = { 'cache-control': 'no-store', pragma: 'no-cache' }
class OAuthError extends Error {
  constructor (status, code, description, headers = {}) {
    super(description)
    Object.assign(this, { statusCode: status, code, headers })
  }
}

const formDecode = (s) => decodeURIComponent(s.replace(/\+/g, ' '))

function parseForm (text) {
  const form = new Map()
  for (const pair of text.split('&')) {
    if (pair === '') continue
    const i = pair.indexOf('=')
    let name, value
    try {
      name = formDecode(i < 0 ? pair : pair.slice(0, i))
      value = i < 0 ? '' : formDecode(pair.slice(i + 1))
    } catch {
      throw new OAuthError(400, 'invalid_request', 'the form is malformed')
    }
    if (form.has(name)) throw new OAuthError(400, 'invalid_request', 'a parameter is included more than once')
    form.set(name, value)
  }
  for (const [k, v] of form) if (v === '') form.delete(k) // sent without a value: treated as omitted
  return form
}

function clientCredentials (request, form) {
  const header = request.headers.authorization
  const basic = header && /^basic +(\S+)$/i.exec(header)
  if (header && !basic) throw new OAuthError(401, 'invalid_client', 'this authentication scheme is not supported', { 'www-authenticate': 'Basic realm="research", charset="UTF-8"' })
  if (basic) {
    if (form.has('client_secret')) throw new OAuthError(400, 'invalid_request', 'more than one method of client authentication')
    const pair = Buffer.from(basic[1], 'base64').toString('utf8')
    const i = pair.indexOf(':')
    try {
      if (i < 0) throw new Error('no colon')
      const id = formDecode(pair.slice(0, i))
      if (form.has('client_id') && form.get('client_id') !== id) throw new OAuthError(400, 'invalid_request', 'client_id differs from the authenticated client')
      return { id, secret: formDecode(pair.slice(i + 1)), basic: true }
    } catch (e) {
      if (e instanceof OAuthError) throw e
      return { id: '', secret: '', basic: true }
    }
  }
  return { id: form.get('client_id'), secret: form.get('client_secret'), basic: false }
}

function authenticate (server, request, form) {
  const { id, secret, basic } = clientCredentials(request, form)
  const c = id === undefined ? undefined : server.clients.get(id)
  // RFC 6749, 5.2: 401 is required for the Authorization header, and a choice otherwise
  const status = is('client-error-400') && !basic ? 400 : 401
  const refused = () => new OAuthError(status, 'invalid_client', 'client authentication failed', status === 401 ? { 'www-authenticate': 'Basic realm="research", charset="UTF-8"' } : {})
  if (c && c.lockedUntil > Date.now()) {
    throw new OAuthError(429, 'invalid_client', 'too many failed attempts, try again later', { 'retry-after': String(Math.ceil((c.lockedUntil - Date.now()) / 1000)) })
  }
  const expected = c ? c.secretHash : Buffer.alloc(32)
  const good = crypto.timingSafeEqual(storedForm(secret || ''), expected)
  if (!c || !secret || !good) {
    if (c && secret && ++c.failures >= 10) {
      c.failures = 0
      c.lockedUntil = Date.now() + 120000
    }
    throw refused()
  }
  c.failures = 0
  return c
}

// Tokens have a public part, the key of the store, and a secret part, of which only a hash is stored.
function issue (server, c) {
  if (is('token-reuse')) {
    const known = server.current.get(c.id)
    if (known && known.expires - Date.now() > 120000) return known
  }
  const selector = crypto.randomBytes(9).toString('base64url')
  const verifier = is('token-reuse')
    ? crypto.randomBytes(22).toString('base64') // alphabet of b64token, with "+", "/" and "=="
    : crypto.randomBytes(27).toString('base64url')
  const token = is('token-reuse') ? `~${selector}.${verifier}` : `${selector}.${verifier}`
  const entry = {
    token, selector, verifierHash: sha256(verifier), client: c, audience: c.audience, expires: Date.now() + TOKEN_LIFETIME * 1000
  }
  server.tokens.set(selector, entry)
  server.current.set(c.id, entry)
  return entry
}

setInterval(() => {
  for (const server of [production, staging]) for (const [k, t] of server.tokens) if (t.expires < Date.now()) server.tokens.delete(k)
}, 60000).unref()

function authorizationServer (server, path) {
  return async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'string' }, (request, body, done) => done(null, body))
    scope.setErrorHandler((err, request, reply) => {
      if (err instanceof Problem) return sendProblem(reply, err)
      const known = err instanceof OAuthError
      const status = known ? err.statusCode : err.statusCode >= 400 && err.statusCode < 500 ? err.statusCode : 500
      reply.code(status).headers(TOKEN_HEADERS).type('application/json')
      if (known) reply.headers(err.headers)
      return reply.send(JSON.stringify({ error: known ? err.code : status === 500 ? 'server_error' : 'invalid_request', error_description: known ? err.message : 'the request cannot be processed' }))
    })
    resource(scope, path, ['POST'], async (request, reply) => {
      const type = (request.headers['content-type'] || '').split(';')[0].trim().toLowerCase()
      if (type !== 'application/x-www-form-urlencoded') throw new OAuthError(400, 'invalid_request', 'the body must be application/x-www-form-urlencoded')
      if ('client_secret' in request.query) throw new OAuthError(400, 'invalid_request', 'credentials must not be part of the URI')
      const form = parseForm(request.body || '')
      const c = authenticate(server, request, form)
      const grant = form.get('grant_type')
      if (grant === undefined) throw new OAuthError(400, 'invalid_request', 'grant_type is missing')
      if (grant !== 'client_credentials') throw new OAuthError(400, 'unsupported_grant_type', 'only client_credentials is supported')
      if (form.has('scope')) throw new OAuthError(400, 'invalid_scope', 'this server knows no scopes')
      const t = issue(server, c)
      reply.headers(TOKEN_HEADERS).type('application/json')
      return JSON.stringify({
        access_token: t.token,
        token_type: is('token-reuse') ? 'bearer' : 'Bearer',
        expires_in: Math.round((t.expires - Date.now()) / 1000)
      })
    })
  }
}

// ---------------------------------------------------------------- bearer tokens

const REALM_PARAM = 'realm="xf"'
const unauthorized = (error, description, status = 401) => new Problem(status, status === 401 ? 'unauthorized' : 'bad-request', status === 401 ? 'Unauthorized' : 'Bad request',
  description || 'An access token is needed.', {},
  { 'www-authenticate': error ? `Bearer ${REALM_PARAM}, error="${error}", error_description="${description}"` : `Bearer ${REALM_PARAM}` })

function lookUp (token, servers) {
  const m = /^~?([A-Za-z0-9_-]{12})\.([A-Za-z0-9_\-+/]+={0,2})$/.exec(token)
  if (!m) return null
  for (const server of servers) {
    const t = server.tokens.get(m[1])
    if (t && (is('token-selector') || (t.token === token && crypto.timingSafeEqual(t.verifierHash, sha256(m[2]))))) return t
  }
  return null
}

const bearer = (...servers) => async (request) => {
  const values = request.raw.rawHeaders.filter((_, i, all) => i % 2 && all[i - 1].toLowerCase() === 'authorization')
  if (values.length === 0) throw unauthorized()
  if (values.length > 1) throw unauthorized('invalid_request', 'More than one access token was sent.', 400)
  if (!/^bearer( |$)/i.test(values[0])) throw unauthorized()
  const token = values[0].slice(6).trim()
  const t = lookUp(token, servers)
  if (!t || t.expires <= Date.now() || t.audience !== AUDIENCE) throw unauthorized('invalid_token', 'The access token is not valid.')
  request.token = t
}

const role = async (request) => {
  if (!request.token.client.roles.includes(ROLE)) {
    throw new Problem(403, 'forbidden', 'Forbidden', `The client lacks the role ${ROLE}.`, {},
      { 'www-authenticate': `Bearer ${REALM_PARAM}, error="insufficient_scope", error_description="The role ${ROLE} is needed."` })
  }
}

const acceptsJson = async (request) => {
  const header = request.headers.accept
  if (!header) return
  const q = new Map(weights(header))
  const weight = q.get('application/json') ?? q.get('application/*') ?? q.get('*/*') ?? 0
  if (!(weight > 0)) throw new Problem(406, 'not-acceptable', 'Not acceptable', 'This resource is available as application/json.')
}

app.decorateRequest('token', null)

const json = (reply, value) => reply.header('cache-control', 'private, no-cache').type('application/json').send(JSON.stringify(value))
const shared = (reply, value) => reply.header('cache-control', 'public, max-age=300').type('application/json').send(JSON.stringify(value))

const infoHandler = (environment) => async (request, reply) => json(reply, {
  node: 'XF',
  environment,
  clientId: request.token.client.id,
  serviceAccount: request.token.client.account,
  affiliationId: request.token.client.affiliation,
  roles: request.token.client.roles,
  tokenExpiresAt: new Date(request.token.expires).toISOString(),
  endpoints: { funding: [{ name: 'FUNDINGS', majorVersion: 3, minorVersion: 2, url: `${ORIGIN}${API}/calls` }] }
})

// ---------------------------------------------------------------- funding API

function compare (sort) {
  const sign = sort.startsWith('-') ? -1 : 1
  const field = sort.replace('-', '')
  return (a, b) => {
    if (a[field] !== b[field]) return a[field] < b[field] ? -sign : sign
    return a.id < b.id ? -1 : 1
  }
}

function search (f) {
  if (f.q !== undefined && is('quote-500') && f.q.includes("'")) {
    const e = new Error('query failed')
    e.expose = `error: unterminated quoted string at or near "'%${f.q}%' ORDER BY ${f.sort}" (SQLSTATE 42601) in SELECT * FROM funding.call WHERE title ILIKE '%${f.q}%'`
    throw e
  }
  return publishedCalls().filter((c) =>
    (!f.status || statusOf(c) === f.status) &&
    (!f.instrument || c.instrument === f.instrument) &&
    (!f.funder || c.funder.id === f.funder) &&
    (!f.currency || c.currency === f.currency) &&
    (f.minBudget === undefined || c.budget >= f.minBudget) &&
    (!f.deadlineFrom || c.deadline.slice(0, 10) >= f.deadlineFrom) &&
    (!f.deadlineTo || c.deadline.slice(0, 10) <= f.deadlineTo) &&
    (f.q === undefined || [c.title.de, c.title.en].some((t) => t.toLowerCase().includes(f.q.toLowerCase())))
  ).sort(compare(f.sort))
}

const count = (values) => values.reduce((n, v) => ({ ...n, [v]: (n[v] || 0) + 1 }), {})

async function fundingApi (scope) {
  const guard = (path) => ({ onRequest: [bearer(production), role, acceptsJson], schema: { querystring: querySchema(path) } })

  resource(scope, '/calls', ['GET'], async (request, reply) => {
    const { page, size } = request.query
    const found = search(request.query)
    return json(reply, {
      items: found.slice((page - 1) * size, page * size).map(summary),
      page,
      size,
      totalItems: found.length,
      totalPages: is('pages-off-by-one') ? Math.floor(found.length / size) + 1 : Math.ceil(found.length / size)
    })
  }, guard('/calls'))

  resource(scope, '/calls/:callId', ['GET'], async (request, reply) => {
    const c = findCall(request.params.callId)
    if (!c) throw notFound()
    return json(reply, detail(c))
  }, guard('/calls/{callId}'))

  resource(scope, '/calls/:callId/documents', ['GET'], async (request, reply) => {
    const c = findPublished(request.params.callId)
    if (!c) throw notFound()
    return json(reply, is('bigint-string') ? c.documents.map((d) => ({ ...d, sizeBytes: String(d.sizeBytes) })) : c.documents)
  }, guard('/calls/{callId}/documents'))

  resource(scope, '/funders', ['GET'], async (request, reply) => json(reply, FUNDERS), guard('/funders'))

  resource(scope, '/funders/:funderId', ['GET'], async (request, reply) => {
    const f = FUNDERS.find((x) => x.id === request.params.funderId)
    if (!f) throw notFound()
    return json(reply, f)
  }, guard('/funders/{funderId}'))

  resource(scope, '/statistics', ['GET'], async (request, reply) => {
    const calls = publishedCalls()
    return json(reply, {
      totalCalls: calls.length,
      byStatus: { FORTHCOMING: 0, OPEN: 0, CLOSED: 0, ...count(calls.map(statusOf)) },
      byFunder: { ...Object.fromEntries(FUNDERS.map((f) => [f.id, 0])), ...count(calls.map((c) => c.funder.id)) }
    })
  }, guard('/statistics'))

  resource(scope, '/api-docs', ['GET'], async (request, reply) => shared(reply, DOC))
}

const metadata = {
  issuer: ISSUER,
  token_endpoint: ORIGIN + TOKEN_PATH,
  token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
  grant_types_supported: ['client_credentials'],
  response_types_supported: []
}

app.register(authorizationServer(production, TOKEN_PATH))
app.register(authorizationServer(staging, STAGING_TOKEN_PATH))
app.register(fundingApi, { prefix: API })
app.register(async (scope) => {
  resource(scope, INFO_PATH, ['GET'], infoHandler('production'), { onRequest: [is('staging-token-info') ? bearer(production, staging) : bearer(production), acceptsJson] })
  resource(scope, STAGING_INFO_PATH, ['GET'], infoHandler('staging'), { onRequest: [bearer(staging), acceptsJson] })
  resource(scope, '/registry.json', ['GET'], async (request, reply) => shared(reply, { member: [{ id: 'XF', name: 'Universität Nord', acronym: 'UN', contact: 'ris@nord.example', oauth2: ORIGIN + TOKEN_PATH, info: ORIGIN + INFO_PATH }] }))
  resource(scope, `/.well-known/oauth-authorization-server${REALM}`, ['GET'], async (request, reply) => shared(reply, metadata))
})

app.listen({ port: PORT, host: '127.0.0.1' }).catch((e) => {
  console.error(e)
  process.exit(1)
})
for (const s of ['SIGTERM', 'SIGINT']) process.on(s, () => app.close().then(() => process.exit(0)))
