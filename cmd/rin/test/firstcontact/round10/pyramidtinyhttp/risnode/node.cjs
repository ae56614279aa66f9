'use strict'
// Research-information node "RIS" - tinyhttp, jose.
//
//   env NODE=tinyhttp-base PORT=8080 node risnode/node.cjs
//
// NODE names the edition of the node; the base edition is tinyhttp-base.

const http = require('node:http')
const crypto = require('node:crypto')
const { App } = require('@tinyhttp/app')
const { Accepts } = require('@tinyhttp/accepts')
const jose = require('jose')
const build = require('./document.cjs')

const NODE = process.env.NODE || 'tinyhttp-base'
const PORT = Number(process.env.PORT || 8080)
const edition = (name) => NODE === `tinyhttp-${name}`

const ROOT = `http://127.0.0.1:${PORT}`
const PREFIX = '/ris'
const API = `${PREFIX}/funding/v3`
const SERVICE = `${ROOT}${PREFIX}/funding`
const TOKEN_PATH = '/auth/realms/ris/protocol/openid-connect/token'
const LIFETIME = 90
const ROLE = 'EXTERNAL_API_CLIENT'

// ------------------------------------------------------------------ data

const TYPES = ['PROGRAMME', 'CALL', 'ONGOING_CALL', 'AWARD', 'SCHOLARSHIP']
const GROUPS = ['UNIVERSITY', 'UNIVERSITY_OF_APPLIED_SCIENCES', 'RESEARCH_INSTITUTE', 'COMPANY', 'GOVERNMENT']
const REGIONS = ['VIENNA', 'BURGENLAND', 'LOWER_AUSTRIA', 'CARINTHIA', 'STYRIA', 'TYROL', 'VORARLBERG']
const SCOPES = ['NATIONAL', 'REGIONAL']
const FUNDER_IDS = ['ris-org-11', 'ris-org-23', 'ris-org-42', 'ris-org-57']
const TOPICS = [['Gletscherforschung', 'Glacier research'], ['Holzbau', 'Timber construction'],
  ['Sprachtechnologie', 'Language technology'], ['Photonik', 'Photonics'], ['Bildungsforschung', 'Education research'],
  ['Wasserstoff', 'Hydrogen'], ['Seltene Erkrankungen', 'Rare diseases']]
const ORDERS = ['id', '-id', 'deadline', '-deadline', 'amount', '-amount']

function fundingId (n) {
  const code = crypto.createHash('sha256').update(`ris-${n}`).digest('hex').slice(0, 8).toUpperCase()
  if (edition('odd-ids')) return ['Förd/', 'call:', 'a b+', '100%-', '¿', "q'&;"][n % 6] + code
  return `RIS${code}`
}

function makeFunding (n) {
  const [de, en] = TOPICS[(n * 3) % TOPICS.length]
  const regional = n % 3 === 1
  // Deadlines are at noon of the last day of a month: many fundings share one.
  const deadline = new Date(Date.UTC(2025, (n * 5) % 36 + 1, 0, 11, 0, 0)).toISOString().replace('.000', '')
  return {
    id: fundingId(n),
    type: TYPES[(n * 7) % 5],
    name: [{ lang: 'de', trans: 'O', text: `${de} ${2024 + n % 4}` }, { lang: 'en', trans: 'M', text: `${en} ${2024 + n % 4}` }],
    acronym: n % 7 === 0 ? null : `${en.slice(0, 4).toUpperCase()}-${n}`,
    funderId: FUNDER_IDS[(n * 11) % 4],
    amount: { currency: 'EUR', amount: 5000 * (1 + (n * 29) % 83) * (n % 5 === 0 ? 20 : 1) },
    deadline,
    targetGroups: [...new Set([n % 5, (n * 2 + 1) % 5, n * n % 5])].map((g) => GROUPS[g]),
    applicantsScope: regional ? 'REGIONAL' : 'NATIONAL',
    regions: regional ? [REGIONS[n % 7], REGIONS[(n + 3) % 7]] : [],
    fullyFunded: n % 4 === 0
  }
}

const compareText = (a, b) => (a < b ? -1 : a > b ? 1 : 0)
const FUNDINGS = Array.from({ length: 96 }, (_, i) => makeFunding(i + 1)).sort((a, b) => compareText(a.id, b.id))

function stagesOf (funding) {
  const end = Date.parse(funding.deadline)
  const day = 86400000
  const at = (ms) => new Date(ms).toISOString().replace('.000', '')
  const stages = [{ number: 1, callStageStart: at(end - 120 * day), callStageEnd: at(end) }]
  if (funding.type === 'CALL') stages.push({ number: 2, callStageStart: at(end + day), callStageEnd: at(end + 60 * day) })
  return stages
}

// ------------------------------------------------------------------ answers

class Refusal extends Error {
  constructor (status, code, message, { headers = {}, parameter } = {}) {
    super(message)
    Object.assign(this, { status, code, headers, parameter })
  }
}

function send (res, status, body, headers = {}) {
  const bytes = Buffer.from(JSON.stringify(body))
  res.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': bytes.length, ...headers })
  res.end(bytes)
}

function refuse (res, refusal) {
  const { status, code, message, parameter } = refusal
  send(res, status, { code, message, ...(parameter && { parameter }) }, { 'Cache-Control': 'no-store', ...refusal.headers })
}

const sameTag = (header, etag) => header.trim() === '*' ||
  header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)

const knownTags = new Map() // address -> entity tag

function sendEntity (req, res, body) {
  const text = JSON.stringify(body)
  const etag = `"${crypto.createHash('sha1').update(text).digest('base64url')}"`
  const headers = { ETag: etag, 'Cache-Control': 'private, max-age=0, must-revalidate', Vary: 'Authorization, Accept' }
  knownTags.set(req.fullUrl, etag)
  const condition = req.headers['if-none-match']
  if (condition !== undefined && sameTag(condition, etag)) {
    res.writeHead(304, headers)
    return res.end()
  }
  send(res, 200, body, headers)
}

// ------------------------------------------------------------------ authorization servers

class AuthorizationServer {
  constructor (issuer, audience, clients) {
    Object.assign(this, { issuer, audience, clients, opaque: new Map(), issued: new Map() })
  }

  async start () {
    const { privateKey, publicKey } = await jose.generateKeyPair('ES256')
    Object.assign(this, { privateKey, publicKey })
    this.kid = await jose.calculateJwkThumbprint(await jose.exportJWK(publicKey))
  }

  authenticate (id, secret) {
    const client = Object.hasOwn(this.clients, id) ? this.clients[id] : null
    const digest = (text) => crypto.createHash('sha256').update(text).digest()
    const equal = crypto.timingSafeEqual(digest(secret), digest(client ? client.secret : 'none'))
    return client && equal ? { id, ...client } : null
  }

  async create (client) {
    const now = Math.floor(Date.now() / 1000)
    const claims = {
      iss: this.issuer,
      sub: client.account,
      aud: client.audience || this.audience,
      client_id: client.id,
      jti: crypto.randomUUID(),
      scope: 'fundings',
      roles: client.roles,
      affiliationId: client.affiliation,
      iat: now,
      exp: now + LIFETIME
    }
    if (edition('opaque-tokens')) {
      const token = crypto.randomBytes(36).toString('base64url')
      this.opaque.set(token, claims)
      return token
    }
    return new jose.SignJWT(claims).setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: this.kid }).sign(this.privateKey)
  }

  async issue (client) {
    if (edition('stale-lifetime')) {
      const kept = this.issued.get(client.id)
      if (kept && kept.until - 20000 > Date.now()) return kept.token
      const token = await this.create(client)
      this.issued.set(client.id, { token, until: Date.now() + LIFETIME * 1000 })
      return token
    }
    return this.create(client)
  }

  async verify (token) {
    if (edition('opaque-tokens')) {
      const claims = this.opaque.get(token)
      if (!claims || claims.exp * 1000 <= Date.now() || claims.aud !== this.audience) throw new Error('unknown token')
      return claims
    }
    const { payload } = await jose.jwtVerify(token, this.publicKey, {
      issuer: this.issuer,
      audience: this.audience,
      algorithms: ['ES256'],
      typ: 'at+jwt',
      requiredClaims: ['sub', 'exp', 'iat', 'jti', 'client_id']
    })
    return payload
  }
}

const PRODUCTION = new AuthorizationServer(`${ROOT}/auth/realms/ris`, SERVICE, {
  '5f1c2b7e-90d4-4a63-8c1e-27b6f0d9e415': { secret: 'w8%+K/r3Vx=Qm&6tZ:u2Lp?9Yd~bHs0Nf', account: 'svc-20417', roles: [ROLE], affiliation: 'AFF-118' },
  'c03e8d16-4b7a-4f29-a5d0-6e91b2fc7738': { secret: 'B4=nS%2F9+cT&yW/1kG:eR7;qJ?x5Mzov', account: 'svc-20563', roles: ['PORTAL_READER'], affiliation: 'AFF-164' },
  '91a7f4d2-0c6e-4e85-b3f8-d5429c1e60ab': { secret: 'Lf6:/hU+2zC%a8&Xp=D0t?Vs4~Jw9GkEi', account: 'svc-20791', roles: [ROLE], affiliation: 'AFF-203', audience: `${ROOT}${PREFIX}/projects` },
  'e86b5c39-7d21-4098-9fa4-13c7d0a2b5f6': { secret: 'Yt1&+oM5/jP=7qB%vE:3gN?z8Ka*Rd6Ux', account: 'svc-20992', roles: [ROLE], affiliation: 'AFF-118' }
})
const STAGING = new AuthorizationServer(`${ROOT}/test/auth`, `${ROOT}/test${PREFIX}`, {
  'test-2d90b84f-63ea-4c17': { secret: 'Qs3+/fD%8uH=b2&Wk:6Cy?n0Ze~Tj5Lpa', account: 'svc-test-1', roles: [ROLE], affiliation: 'AFF-000' }
})

function readBody (req) {
  return new Promise((resolve, reject) => {
    const parts = []
    let size = 0
    req.on('data', (part) => {
      size += part.length
      if (size <= 65536) parts.push(part)
    })
    req.on('end', () => resolve(size > 65536 ? null : Buffer.concat(parts).toString('utf8')))
    req.on('error', reject)
  })
}

const formDecode = (text) => decodeURIComponent(text.replace(/\+/g, ' '))

function basicCredentials (header) {
  const match = /^basic +([A-Za-z0-9+/]+=*)$/i.exec(header.trim())
  if (!match) return null
  const pair = Buffer.from(match[1], 'base64').toString('utf8')
  const colon = pair.indexOf(':')
  if (colon < 0) return null
  const parts = [pair.slice(0, colon), pair.slice(colon + 1)]
  if (edition('raw-basic')) return parts
  try {
    return parts.map(formDecode)
  } catch {
    return null
  }
}

function tokenEndpoint (server) {
  return async (req, res) => {
    const store = { 'Cache-Control': 'no-store', Pragma: 'no-cache' }
    const fail = (status, error, description, headers = {}) =>
      send(res, status, { error, error_description: description }, { ...store, ...headers })
    const denied = () => fail(401, 'invalid_client', 'Unknown client or wrong secret',
      { 'WWW-Authenticate': 'Basic realm="ris", charset="UTF-8"' })
    const body = await readBody(req)
    if (body === null) return fail(413, 'invalid_request', 'The request is too large', { Connection: 'close' })
    const type = (req.headers['content-type'] || '').split(';')[0].trim().toLowerCase()
    if (type !== 'application/x-www-form-urlencoded') return fail(400, 'invalid_request', 'Send application/x-www-form-urlencoded')
    const form = new Map()
    for (const [name, value] of new URLSearchParams(body)) {
      if (form.has(name)) return fail(400, 'invalid_request', 'A parameter is repeated')
      form.set(name, value)
    }
    let id = form.get('client_id') || ''
    let secret = form.get('client_secret') || ''
    const header = req.headers.authorization
    if (header !== undefined) {
      if (form.has('client_secret')) return fail(400, 'invalid_request', 'More than one way of client authentication')
      const credentials = basicCredentials(header)
      if (!credentials) return denied()
      if (form.has('client_id') && id !== credentials[0]) return fail(400, 'invalid_request', 'Two different clients')
      ;[id, secret] = credentials
    }
    const client = server.authenticate(id, secret)
    if (!form.get('grant_type')) return fail(400, 'invalid_request', 'grant_type is missing')
    if (!client) return denied()
    if (form.get('grant_type') !== 'client_credentials') return fail(400, 'unsupported_grant_type', 'Use client_credentials')
    const scope = (form.get('scope') || '').split(' ').filter(Boolean)
    if (scope.some((s) => s !== 'fundings')) return fail(400, 'invalid_scope', 'The only scope is fundings')
    const token = await server.issue(client)
    send(res, 200, { access_token: token, token_type: 'Bearer', expires_in: LIFETIME, scope: 'fundings' }, store)
  }
}

// ------------------------------------------------------------------ guards

async function bearer (req, server) {
  const header = req.headers.authorization || ''
  if (!/^bearer( |$)/i.test(header)) {
    throw new Refusal(401, 'NO_TOKEN', 'An access token is needed', { headers: { 'WWW-Authenticate': 'Bearer realm="ris"' } })
  }
  const match = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(header.trim())
  try {
    return await server.verify(match[1])
  } catch {
    throw new Refusal(401, 'INVALID_TOKEN', 'The access token is not valid here',
      { headers: { 'WWW-Authenticate': 'Bearer realm="ris", error="invalid_token", error_description="The access token is not valid here"' } })
  }
}

// The access log writes a line for each caller before the request goes on.
const log = []
function accessLog (claims) {
  log.push([Date.now(), claims.client_id])
  if (log.length > 1000) log.shift()
  return new Promise((resolve) => setTimeout(resolve, 2))
}

let caller = null // the caller of the request
async function authorize (req) {
  const claims = await bearer(req, PRODUCTION)
  caller = claims
  await accessLog(claims)
  req.caller = edition('global-caller') ? caller : claims
  if (!(req.caller.roles || []).includes(ROLE)) {
    throw new Refusal(403, 'ROLE_MISSING', `The service account does not have the role ${ROLE}`,
      { headers: { 'WWW-Authenticate': 'Bearer realm="ris", error="insufficient_scope"' } })
  }
}

const buckets = new Map()
function rateLimit (req) {
  const now = Date.now()
  const bucket = buckets.get(req.caller.client_id) || { level: 60, at: now }
  bucket.level = Math.min(60, bucket.level + (now - bucket.at) * 30 / 1000)
  bucket.at = now
  buckets.set(req.caller.client_id, bucket)
  if (bucket.level < 1) {
    throw new Refusal(429, 'TOO_MANY_REQUESTS', 'This client asks too fast', { headers: { 'Retry-After': '1' } })
  }
  bucket.level -= 1
}

function negotiate (req) {
  if (req.headers.accept && !new Accepts(req).types(['application/json'])) {
    throw new Refusal(406, 'NOT_ACCEPTABLE', 'Answers are application/json')
  }
}

// ------------------------------------------------------------------ parameters

const invalid = (name, message) => new Refusal(400, 'INVALID_PARAMETER', `${name} ${message}`, { parameter: name })

function readQuery (req) {
  const text = req.fullUrl.includes('?') ? req.fullUrl.slice(req.fullUrl.indexOf('?') + 1) : ''
  const query = new URLSearchParams(text)
  return (name, parse) => {
    const values = query.getAll(name)
    if (values.length > 1) throw invalid(name, 'is repeated')
    return values.length ? parse(name, values[0]) : undefined
  }
}

const oneOf = (values) => (name, text) => {
  if (!values.includes(text)) throw invalid(name, `must be one of ${values.join(', ')}`)
  return text
}
const anyText = (name, text) => text
const integerFrom = (least, most) => (name, text) => {
  const value = Number(text)
  if (!/^[0-9]{1,9}$/.test(text) || value < least || value > most) throw invalid(name, `must be an integer from ${least} to ${most}`)
  return value
}
const amount = (name, text) => {
  if (!/^[0-9]+(\.[0-9]+)?([eE]\+?[0-9]{1,3})?$/.test(text) || text.length > 100) throw invalid(name, 'must be a number of 0 or more')
  return Number(text)
}

// ------------------------------------------------------------------ handlers

const sortKeys = { id: (f) => f.id, deadline: (f) => f.deadline, amount: (f) => f.amount.amount }

function position (order) {
  const field = order.replace('-', '')
  const sign = order.startsWith('-') ? -1 : 1
  const key = sortKeys[field]
  const compare = (a, b) => sign * compareText(a[0], b[0]) || compareText(a[1], b[1])
  return { of: (f) => [key(f), f.id], compare }
}

const encodeCursor = (order, place) => Buffer.from(JSON.stringify([order, ...place])).toString('base64url')

const cursorOf = (order) => (name, text) => {
  try {
    const [kind, key, id, ...rest] = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    const keyType = order.endsWith('amount') ? 'number' : 'string'
    if (kind === order && typeof key === keyType && typeof id === 'string' && !rest.length) return [key, id]
  } catch {}
  throw invalid(name, 'is not a cursor of this list')
}

async function listFundings (req, res) {
  const take = readQuery(req)
  const limit = take('limit', integerFrom(1, 40)) ?? 12
  const order = take('order', oneOf(ORDERS)) ?? 'id'
  const after = take('cursor', cursorOf(order))
  const type = take('fundingType', oneOf(TYPES))
  const group = take('targetGroup', oneOf(GROUPS))
  const region = take('region', oneOf(REGIONS))
  const scope = take('applicantsScope', oneOf(SCOPES))
  const funder = take('funderId', anyText)
  const least = take('minAmount', amount)
  const running = take('runningCalls', oneOf(['true', 'false']))
  const now = Date.now()
  const { of, compare } = position(order)

  let rows = FUNDINGS
  if (order !== 'id') {
    const byOrder = (a, b) => compare(of(a), of(b))
    rows = edition('sorted-in-place') ? FUNDINGS.sort(byOrder) : [...FUNDINGS].sort(byOrder)
  }
  rows = rows.filter((f) =>
    (!type || f.type === type) &&
    (!group || f.targetGroups.includes(group)) &&
    (!region || f.regions.includes(region)) &&
    (!scope || f.applicantsScope === scope) &&
    (funder === undefined || f.funderId === funder) &&
    (least === undefined || f.amount.amount >= least) &&
    (!running || (Date.parse(f.deadline) > now) === (running === 'true')))
  const total = rows.length
  if (after) {
    const later = edition('lost-ties') && order !== 'id'
      ? (f) => compare([of(f)[0], ''], [after[0], '']) > 0
      : (f) => compare(of(f), after) > 0
    rows = rows.filter(later)
  }
  const items = rows.slice(0, limit)
  const nextCursor = rows.length > limit ? encodeCursor(order, of(items[items.length - 1])) : null
  sendEntity(req, res, { items, total, nextCursor })
}

function lookUp (req) {
  const funding = FUNDINGS.find((f) => f.id === req.params.id)
  if (!funding) throw new Refusal(404, 'NO_SUCH_FUNDING', 'There is no funding with this id')
  return funding
}

const getFunding = async (req, res) => sendEntity(req, res, lookUp(req))
const getStages = async (req, res) => sendEntity(req, res, stagesOf(lookUp(req)))

const info = (server, base) => async (req, res) => {
  await bearer(req, server)
  send(res, 200, { endpoints: { FUNDING: [{ name: 'FUNDINGS', majorVersion: 3, minorVersion: 0, url: `${base}${API}/fundings` }] } },
    { 'Cache-Control': 'no-store' })
}

// Entity tags of addresses without a query are checked without a look at the data.
function quickCheck (req, res) {
  const tag = knownTags.get(req.fullUrl)
  const condition = req.headers['if-none-match']
  if (!tag || !condition || req.fullUrl.includes('?') || !sameTag(condition, tag)) return false
  res.writeHead(304, { ETag: tag, 'Cache-Control': 'private, max-age=0, must-revalidate', Vary: 'Authorization, Accept' })
  res.end()
  return true
}

const guarded = (handler) => async (req, res) => {
  if (edition('early-304') && quickCheck(req, res)) return
  await authorize(req)
  if (edition('rate-limit')) rateLimit(req)
  negotiate(req)
  await handler(req, res)
}

// ------------------------------------------------------------------ application

const app = new App({
  settings: { xPoweredBy: false },
  onError: (error, req, res) => {
    if (res.headersSent) return res.destroy()
    if (error instanceof Refusal) return refuse(res, error)
    refuse(res, new Refusal(500, 'INTERNAL', 'The request could not be answered'))
  }
})

function resource (path, methods) {
  const allowed = Object.keys(methods).concat(methods.GET ? ['HEAD'] : []).join(', ')
  app.all(path, async (req, res) => {
    const handler = methods[req.method === 'HEAD' ? 'GET' : req.method]
    if (!handler) throw new Refusal(405, 'METHOD_NOT_ALLOWED', `Use ${allowed}`, { headers: { Allow: allowed } })
    await handler(req, res)
  })
}

const fixed = (body, headers = {}) => async (req, res) => send(res, 200, body, headers)
const DOCUMENT = build({
  root: ROOT,
  service: SERVICE,
  tokenPath: TOKEN_PATH,
  types: TYPES,
  groups: GROUPS,
  regions: REGIONS,
  scopes: SCOPES,
  orders: ORDERS,
  idParameter: edition('renamed-parameter') ? 'fundingId' : 'id',
  limited: edition('rate-limit')
})

resource('/', { GET: fixed({ node: 'ris', ready: true }) })
resource('/registry.json', {
  GET: fixed([{
    id: 'ris',
    acronym: 'RIS',
    name: 'RIS node',
    contact: 'ris@ris-node.example',
    oauth2: ROOT + TOKEN_PATH,
    info: `${ROOT}${PREFIX}/info/v1/oauth/info/`
  }])
})
resource(TOKEN_PATH, { POST: tokenEndpoint(PRODUCTION) })
resource('/test/auth/oauth/token', { POST: tokenEndpoint(STAGING) })
resource(`${PREFIX}/info/v1/oauth/info/`, { GET: info(PRODUCTION, ROOT) })
resource(`/test${PREFIX}/info/v1/oauth/info/`, { GET: info(STAGING, `${ROOT}/test`) })
resource(`${API}/api-docs`, { GET: fixed(DOCUMENT, { 'Cache-Control': 'public, max-age=30' }) })
resource(`${API}/fundings`, { GET: guarded(listFundings) })
resource(`${API}/fundings/:id`, { GET: guarded(getFunding) })
resource(`${API}/fundings/:id/stages`, { GET: guarded(getStages) })
app.all('*', async () => { throw new Refusal(404, 'NOT_FOUND', 'There is nothing at this address') })

const server = http.createServer((req, res) => {
  req.fullUrl = req.url
  try {
    decodeURIComponent(req.url.split('?')[0])
  } catch {
    return refuse(res, new Refusal(400, 'BAD_ADDRESS', 'The address is not UTF-8'))
  }
  app.handler(req, res)
})

async function main () {
  await Promise.all([PRODUCTION.start(), STAGING.start()])
  server.listen(PORT, '127.0.0.1')
}

process.on('SIGTERM', () => {
  server.close(() => process.exit(0))
  server.closeAllConnections()
})
main()
