// Funding node "Nordkette": Feathers 5 on Koa, one process, records in @feathersjs/memory, tokens with jsonwebtoken.
'use strict'
const crypto = require('crypto')
const { feathers } = require('@feathersjs/feathers')
const { koa, rest, bodyParser, errorHandler } = require('@feathersjs/koa')
const { MemoryService } = require('@feathersjs/memory')
const errors = require('@feathersjs/errors')
const jwt = require('jsonwebtoken')
const data = require('./data.cjs')
const { specification } = require('./document.cjs')

const NODE = process.env.NODE || 'feathers-base'
const PORT = Number(process.env.PORT || 20000)
const is = (name) => NODE === 'feathers-' + name
const ORIGIN = `http://127.0.0.1:${PORT}`
const PREFIX = 'nordkette'
const FUNDING = `/${PREFIX}/funding/v3`
const INFO = `/${PREFIX}/info/v1/oauth/info`
const STAGING_INFO = `/staging/${PREFIX}/info/v1/oauth/info`
const ROLE = 'EXTERNAL_API_CLIENT'
const LIFETIME = is('opaque-tokens') ? 60 : 75
const DEFAULT_LIMIT = 25
const MAX_LIMIT = 50

// ---------------------------------------------------------------- authorization servers (production and staging)

const realm = (name, audience, clients) => ({
  name,
  audience,
  clients,
  issuer: `${ORIGIN}/realms/${name}`,
  path: `/realms/${name}/protocol/openid-connect/token`,
  kid: name + '-2026-01',
  keys: crypto.generateKeyPairSync('rsa', { modulusLength: 2048 }),
  reference: new Map(), // opaque tokens
  issued: new Map(),
  verified: new Map() // tokens that were found to be good
})
const production = realm('nordkette', 'nordkette-funding', data.clients)
const staging = realm('nordkette-staging', 'nordkette-funding-staging', data.stagingClients)

const same = (a, b) => {
  const h = (s) => crypto.createHash('sha256').update(s, 'utf8').digest()
  return crypto.timingSafeEqual(h(a), h(b))
}

class OAuthError extends Error {
  constructor(status, error, description) {
    super(description)
    Object.assign(this, { status, error, description })
  }
}

const formDecode = (s) => {
  try {
    return decodeURIComponent(s.replace(/\+/g, ' '))
  } catch (e) {
    throw new OAuthError(401, 'invalid_client', 'The client credentials in the Authorization header are not form-encoded.')
  }
}

const basicCredentials = (header) => {
  const match = /^basic +([A-Za-z0-9+/=_-]+) *$/i.exec(header)
  if (!match) throw new OAuthError(401, 'invalid_client', 'Only the Basic scheme can be used in the Authorization header.')
  const pair = Buffer.from(match[1], 'base64').toString('utf8')
  const colon = pair.indexOf(':')
  if (colon < 0) throw new OAuthError(401, 'invalid_client', 'Malformed Basic credentials.')
  const parts = [pair.slice(0, colon), pair.slice(colon + 1)]
  return is('plain-basic') ? parts : parts.map(formDecode)
}

const readForm = async (ctx) => {
  const type = String(ctx.get('content-type')).split(';')[0].trim().toLowerCase()
  if (type !== 'application/x-www-form-urlencoded') throw new OAuthError(400, 'invalid_request', 'The body has to be application/x-www-form-urlencoded.')
  let text = ''
  for await (const chunk of ctx.req) {
    text += chunk.toString('utf8')
    if (text.length > 16384) throw new OAuthError(400, 'invalid_request', 'The body is too large.')
  }
  const form = {}
  for (const [key, value] of new URLSearchParams(text)) {
    if (key in form) throw new OAuthError(400, 'invalid_request', `The parameter ${JSON.stringify(key.replace(/[^\x20-\x7e]/g, '?')).slice(1, -1)} is repeated.`)
    if (value !== '') form[key] = value // RFC 6749, 3.2: empty is as if it were left out
  }
  return form
}

const authenticateClient = (server, ctx, form) => {
  const header = ctx.get('authorization')
  let id = form.client_id
  let secret = form.client_secret
  if (header) {
    if (secret !== undefined) throw new OAuthError(400, 'invalid_request', 'Use one way of client authentication only.')
    const [basicId, basicSecret] = basicCredentials(header)
    if (id !== undefined && id !== basicId) throw new OAuthError(400, 'invalid_request', 'Two different client identifiers.')
    id = basicId
    secret = basicSecret
  }
  if (id === undefined || secret === undefined) throw new OAuthError(401, 'invalid_client', 'Client authentication is missing.')
  const client = server.clients.find((c) => c.id === id)
  const ok = same(secret, client ? client.secret : crypto.randomUUID())
  if (!client || !ok) throw new OAuthError(401, 'invalid_client', 'Unknown client or wrong secret.')
  return client
}

const issueToken = (server, client) => {
  const now = Math.floor(Date.now() / 1000)
  const claims = {
    iss: server.issuer,
    sub: client.serviceAccount,
    aud: client.audience || server.audience,
    azp: client.id,
    client_id: client.id,
    iat: now,
    exp: now + LIFETIME,
    jti: crypto.randomUUID(),
    scope: 'funding.read',
    affiliation: client.affiliation,
    realm_access: { roles: client.roles }
  }
  if (is('opaque-tokens')) {
    const token = crypto.randomBytes(30).toString('base64url')
    server.reference.set(token, claims)
    return token
  }
  return jwt.sign(claims, server.keys.privateKey, { algorithm: 'RS256', keyid: server.kid, header: { typ: 'at+jwt' } })
}

const tokenEndpoint = (server) => async (ctx) => {
  ctx.set('Cache-Control', 'no-store')
  ctx.set('Pragma', 'no-cache')
  try {
    const form = await readForm(ctx)
    if (ctx.search.includes('client_secret')) throw new OAuthError(400, 'invalid_request', 'Credentials do not belong in the address.')
    const client = authenticateClient(server, ctx, form)
    if (!form.grant_type) throw new OAuthError(400, 'invalid_request', 'The parameter grant_type is missing.')
    if (form.grant_type !== 'client_credentials') throw new OAuthError(400, 'unsupported_grant_type', 'Only client_credentials is offered.')
    if (form.scope && form.scope.split(' ').some((s) => s !== 'funding.read')) throw new OAuthError(400, 'invalid_scope', 'The only scope is funding.read.')
    let token
    if (is('stale-lifetime')) {
      // tokens are kept per client so that busy clients do not make us sign all day
      const kept = server.issued.get(client.id)
      if (kept && kept.until > Date.now()) token = kept.token
      else {
        token = issueToken(server, client)
        server.issued.set(client.id, { token, until: Date.now() + (LIFETIME - 8) * 1000 })
      }
    } else token = issueToken(server, client)
    ctx.body = { access_token: token, token_type: is('opaque-tokens') ? 'bearer' : 'Bearer', expires_in: LIFETIME, scope: 'funding.read' }
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    ctx.status = error.status
    if (error.status === 401) ctx.set('WWW-Authenticate', `Basic realm="${server.name}", charset="UTF-8"`)
    ctx.body = { error: error.error, error_description: error.description }
  }
}

// ---------------------------------------------------------------- hooks of the services

const challenge = (more) => ({ challenge: `Bearer realm="${PREFIX}"` + (more || '') })
const denied = (description) => new errors.NotAuthenticated(description, challenge(`, error="invalid_token", error_description="${description}"`))

const verifyToken = (server, token) => {
  if (is('opaque-tokens')) {
    const claims = server.reference.get(token)
    if (!claims || claims.exp * 1000 <= Date.now()) throw denied('The access token is unknown or has expired')
    if (claims.aud !== server.audience) throw denied('The access token is not valid')
    return claims
  }
  if (is('cached-verdict') && server.verified.has(token)) return server.verified.get(token)
  let claims
  try {
    claims = jwt.verify(token, server.keys.publicKey, { algorithms: ['RS256'], issuer: server.issuer, audience: server.audience })
  } catch (error) {
    throw denied(error.name === 'TokenExpiredError' ? 'The access token has expired' : 'The access token is not valid')
  }
  if (is('cached-verdict')) {
    if (server.verified.size > 1000) server.verified.clear()
    server.verified.set(token, claims)
  }
  return claims
}

const authenticate = (server) => async (context) => {
  if (!context.params.provider) return
  const header = (context.params.headers || {}).authorization
  if (!header) throw new errors.NotAuthenticated('An access token is needed', challenge())
  const match = /^bearer +([A-Za-z0-9\-._~+/]+=*) *$/i.exec(header)
  if (!match) throw denied('The Authorization header does not hold a bearer token')
  const claims = verifyToken(server, match[1])
  context.params.account = { client: claims.client_id, subject: claims.sub, affiliation: claims.affiliation, roles: claims.realm_access.roles }
}

const authorize = async (context) => {
  if (!context.params.provider) return
  if (!context.params.account.roles.includes(ROLE)) {
    throw new errors.Forbidden(`The service account needs the role ${ROLE}`, challenge(', error="insufficient_scope", scope="funding.read"'))
  }
}

const windows = new Map()
const rateLimit = async (context) => {
  if (!is('rate-limited') || !context.params.provider) return
  const key = context.params.account.client
  const now = Date.now()
  const recent = (windows.get(key) || []).filter((t) => t > now - 5000)
  if (recent.length >= 40) {
    const wait = Math.max(1, Math.ceil((recent[0] + 5000 - now) / 1000))
    throw new errors.TooManyRequests('At most 40 requests in 5 seconds', { retryAfter: wait })
  }
  recent.push(now)
  windows.set(key, recent)
}

// Query parameters arrive as strings; the rules below check and convert them.
const bad = (name, message) => new errors.BadRequest('The query is not valid', { errors: [{ parameter: name, message }] })
const rules = {
  oneOf: (list) => (name, v) => {
    if (typeof v !== 'string' || !list.includes(v)) throw bad(name, 'must be one of ' + list.join(', '))
    return v
  },
  someOf: (list) => (name, v) => {
    const values = Array.isArray(v) ? v : [v]
    return values.map((x) => rules.oneOf(list)(name, x))
  },
  integer: (min, max) => (name, v) => {
    if (typeof v !== 'string' || !/^[0-9]{1,9}$/.test(v) || Number(v) < min || Number(v) > max) throw bad(name, `must be an integer from ${min} to ${max}`)
    return Number(v)
  },
  amount: (name, v) => {
    if (typeof v !== 'string' || !/^[0-9]{1,12}(\.[0-9]{1,2})?$/.test(v)) throw bad(name, 'must be an amount of at least 0 with at most two decimals')
    return Number(v)
  },
  boolean: (name, v) => {
    if (v !== 'true' && v !== 'false') throw bad(name, 'must be true or false')
    return is('truthy-false') ? v : v === 'true'
  },
  instant: (name, v) => {
    const m = typeof v === 'string' && /^(\d{4})-(\d\d)-(\d\d)[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/.exec(v)
    const day = m && new Date(Date.UTC(+m[1], +m[2] - 1, +m[3]))
    if (!m || day.getUTCMonth() !== +m[2] - 1 || day.getUTCDate() !== +m[3]) throw bad(name, 'must be a date-time of RFC 3339 with its offset')
    return Date.parse(v)
  },
  text: (name, v) => {
    if (typeof v !== 'string' || v === '' || v.length > 200) throw bad(name, 'must be a text of 1 to 200 characters')
    return v
  }
}
const paging = { $limit: rules.integer(1, MAX_LIMIT), $skip: rules.integer(0, 100000000) }
if (is('cursor-pages')) {
  delete paging.$skip
  paging.$after = rules.text
}
const queryRules = {
  fundings: {
    ...paging,
    fundingType: rules.oneOf(data.types),
    targetGroup: rules.someOf(data.targetGroups),
    region: rules.oneOf(data.regions),
    funderId: rules.text,
    runningCalls: rules.boolean,
    changedSince: rules.instant,
    minVolume: rules.amount,
    sort: rules.oneOf(data.sorts)
  },
  funders: { ...paging },
  none: {}
}
const validate = (table) => async (context) => {
  const query = {}
  for (const [name, value] of Object.entries(context.params.query || {})) {
    if (!Object.hasOwn(table, name)) throw bad(name, 'is not a parameter of this operation')
    query[name] = table[name](name, value)
  }
  context.params.query = query
}

// ---------------------------------------------------------------- services

const records = new MemoryService({ id: 'id', startId: 0, multi: true })
const funderRecords = new MemoryService({ id: 'id', startId: 0, multi: true })

const visibleTo = (account) => ({ $or: [{ access: 'OPEN' }, { affiliationId: account.affiliation }] })
const publicForm = ({ sortKeys, ...record }) => record
const cursorOf = (key) => Buffer.from(JSON.stringify(key)).toString('base64url')
const readCursor = (name, text, sort) => {
  try {
    const key = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'))
    if (Number.isInteger(key.n) && key.n >= 0 && key.s === sort) return key
  } catch (e) { /* told below */ }
  throw bad(name, 'is not a cursor of this list')
}

let turn = 0
class Fundings {
  conditions(query) {
    const all = []
    if (query.fundingType) all.push({ type: query.fundingType })
    if (query.targetGroup) all.push({ targetGroups: { $in: query.targetGroup } })
    if (query.region) all.push({ eligibleApplicantsRegions: query.region })
    if (query.funderId) all.push({ 'sortKeys.funder': query.funderId })
    if (query.minVolume !== undefined) all.push({ 'amount.amount': { $gte: query.minVolume } })
    if (query.changedSince !== undefined) all.push({ 'sortKeys.changed': { $gte: query.changedSince } })
    if (query.runningCalls !== undefined) {
      const now = Date.now()
      if (query.runningCalls) all.push({ 'sortKeys.start': { $lte: now }, 'sortKeys.end': { $gt: now } })
      else all.push({ $or: [{ 'sortKeys.start': { $gt: now } }, { 'sortKeys.end': { $lte: now } }] })
    }
    return all
  }

  async find(params) {
    const { $limit = DEFAULT_LIMIT, sort = 'id' } = params.query
    const own = visibleTo(params.account)
    const where = this.conditions(params.query)
    const down = sort.startsWith('-') ? -1 : 1
    const key = { id: 'sortKeys.id', deadline: 'sortKeys.end', volume: 'amount.amount' }[sort.replace('-', '')]
    let $sort = key === 'sortKeys.id' ? { [key]: down } : { [key]: down, 'sortKeys.id': 1 }
    // reads go to the primary and to its replica in turn; the order of equal keys is left to each of them
    if (is('tie-shuffle') && key !== 'sortKeys.id' && turn++ % 2) $sort = { [key]: down, 'sortKeys.id': -1 }
    const list = await records._find({ paginate: false, query: { $and: [own, ...where], $sort } })
    if (is('cursor-pages')) {
      const from = params.query.$after === undefined ? 0 : readCursor('$after', params.query.$after, sort).n
      const next = from + $limit < list.length ? cursorOf({ n: from + $limit, s: sort }) : null
      return { data: list.slice(from, from + $limit).map(publicForm), next }
    }
    const { $skip = 0 } = params.query
    let total = list.length
    if (is('foreign-totals')) total = (await records._find({ paginate: false, query: { $and: [{}, ...where] } })).length
    return { total, limit: $limit, skip: $skip, data: list.slice($skip, $skip + $limit).map(publicForm) }
  }

  async get(id, params) {
    const [record] = await records._find({ paginate: false, query: { $and: [visibleTo(params.account), { id }] } })
    if (!record) throw new errors.NotFound('There is no funding with this id')
    return publicForm(record)
  }
}

class Funders {
  async find(params) {
    const { $limit = DEFAULT_LIMIT, $skip = 0, $after } = params.query
    const list = await funderRecords._find({ paginate: false, query: { $sort: { id: 1 } } })
    if (is('cursor-pages')) {
      const from = $after === undefined ? 0 : readCursor('$after', $after, 'id').n
      return { data: list.slice(from, from + $limit), next: from + $limit < list.length ? cursorOf({ n: from + $limit, s: 'id' }) : null }
    }
    return { total: list.length, limit: $limit, skip: $skip, data: list.slice($skip, $skip + $limit) }
  }

  async get(id) {
    const [record] = await funderRecords._find({ paginate: false, query: { id } })
    if (!record) throw new errors.NotFound('There is no funder with this id')
    return record
  }
}

class Summary {
  async find(params) {
    const list = await records._find({ paginate: false, query: { $and: [visibleTo(params.account)] } })
    const types = data.types.map((type) => {
      const some = list.filter((r) => r.type === type)
      const cents = some.reduce((sum, r) => sum + Math.round(r.amount.amount * 100), 0)
      return { type, count: some.length, volume: { currency: 'EUR', amount: cents / 100 } }
    }).filter((t) => t.count > 0)
    return { fundings: list.length, types }
  }
}

class Info {
  constructor(base) { this.base = base }
  async find(params) {
    return {
      endpoints: this.base ? { FUNDING: [{ name: 'FUNDINGS', majorVersion: 3, minorVersion: 1, url: this.base }] } : {},
      client: { id: params.account.client, serviceAccountUserId: params.account.subject, affiliationId: params.account.affiliation, roles: params.account.roles }
    }
  }
}

// ---------------------------------------------------------------- application

const app = koa(feathers())
const document = () => specification({ origin: ORIGIN, prefix: PREFIX, token: ORIGIN + production.path, cursor: is('cursor-pages'), limited: is('rate-limited') })

const fixed = {
  '/': () => ({ node: 'Nordkette', registry: ORIGIN + '/registry.json' }),
  '/registry.json': () => ({
    member: [{
      id: 'nordkette', acronym: 'NK', name: 'Forschungsknoten Nordkette', contact: 'ris@nordkette.example', base_url: ORIGIN, service_prefix: PREFIX,
      oauth2: ORIGIN + production.path, info: `${ORIGIN}${INFO}/`,
      spec_url: `${ORIGIN}${FUNDING}/api-docs`
    }]
  }),
  [`${FUNDING}/api-docs`]: document,
  [`/realms/${production.name}/protocol/openid-connect/certs`]: () => ({ keys: [{ ...production.keys.publicKey.export({ format: 'jwk' }), kid: production.kid, use: 'sig', alg: 'RS256' }] })
}

const describeError = (ctx, error) => {
  const known = error instanceof errors.FeathersError || (error && error.type === 'FeathersError')
  if (!known) console.error(error)
  const e = known ? error : new errors.GeneralError('Something went wrong')
  ctx.status = e.code
  ctx.set('Cache-Control', 'no-store')
  if (e.data && e.data.challenge) ctx.set('WWW-Authenticate', e.data.challenge)
  if (e.data && e.data.retryAfter) ctx.set('Retry-After', String(e.data.retryAfter))
  if (e.code === 405) ctx.set('Allow', 'GET, HEAD')
  const body = { name: e.name, message: e.message, code: e.code, className: e.className }
  if (e.errors && Array.isArray(e.errors) && e.errors.length) body.errors = e.errors
  ctx.body = body
}

// errors, HEAD, validators
app.use(async (ctx, next) => {
  const head = ctx.method === 'HEAD'
  if (head) ctx.method = 'GET'
  try {
    await next()
    if (ctx.status === 404 && ctx.body === undefined) throw new errors.NotFound('Nothing is served here')
  } catch (error) {
    describeError(ctx, error)
  }
  if (ctx.body !== null && typeof ctx.body === 'object') {
    const text = JSON.stringify(ctx.body)
    ctx.type = 'application/json'
    ctx.body = text
    if (ctx.method === 'GET' && ctx.status === 200) {
      const tag = 'W/"' + crypto.createHash('sha1').update(text).digest('base64url') + '"'
      ctx.set('ETag', tag)
      if (!ctx.response.get('Cache-Control')) ctx.set('Cache-Control', 'private, no-cache')
      const wanted = ctx.get('if-none-match')
      const opaque = (t) => t.trim().replace(/^W\//, '')
      if (wanted && (wanted.trim() === '*' || wanted.split(',').some((t) => opaque(t) === opaque(tag)))) {
        ctx.status = 304
        ctx.body = null
      }
    }
  }
  if (ctx.path.startsWith(`/${PREFIX}/`) || ctx.path.startsWith('/staging/')) ctx.vary('Authorization')
  if (head) ctx.method = 'HEAD'
})

// fixed documents and token endpoints
app.use(async (ctx, next) => {
  for (const server of [production, staging]) {
    if (ctx.path === server.path) {
      if (ctx.method !== 'POST') {
        describeError(ctx, new errors.MethodNotAllowed('Tokens are requested with POST'))
        ctx.set('Allow', 'POST')
        return
      }
      return tokenEndpoint(server)(ctx)
    }
  }
  if (Object.hasOwn(fixed, ctx.path)) {
    if (ctx.method !== 'GET') throw new errors.MethodNotAllowed('Read only')
    ctx.set('Cache-Control', 'no-cache')
    ctx.body = fixed[ctx.path]()
    return
  }
  // services with find only have nothing under their name
  if (new RegExp(`^${FUNDING}/summary/.|/oauth/info/.`).test(ctx.path)) throw new errors.NotFound('Nothing is served here')
  await next()
})

// the page after this one as a link (RFC 8288)
app.use(async (ctx, next) => {
  await next()
  const page = ctx.body
  if (ctx.status !== 200 || !page || !Array.isArray(page.data)) return
  const target = new URL(ORIGIN + ctx.url)
  if (is('cursor-pages')) {
    if (!page.next) return
    target.searchParams.set('$after', page.next)
  } else {
    if (page.skip + page.limit >= page.total) return
    target.searchParams.set('$skip', String(page.skip + page.limit))
    target.searchParams.set('$limit', String(page.limit))
  }
  ctx.append('Link', `<${target.href}>; rel="next"`)
})

app.configure(rest())

const readOnly = { methods: ['find', 'get'] }
const findOnly = { methods: ['find'] }
app.use(`${FUNDING}/fundings`.slice(1), new Fundings(), readOnly)
app.use(`${FUNDING}/funders`.slice(1), new Funders(), readOnly)
app.use(`${FUNDING}/summary`.slice(1), new Summary(), findOnly)
app.use(INFO.slice(1), new Info(`${ORIGIN}${FUNDING}/fundings`), findOnly)
app.use(STAGING_INFO.slice(1), new Info(null), findOnly)

const guard = [authenticate(production), rateLimit]
app.service(`${FUNDING}/fundings`.slice(1)).hooks({
  before: { all: [...guard, authorize], find: [validate(queryRules.fundings)], get: [validate(queryRules.none)] }
})
app.service(`${FUNDING}/funders`.slice(1)).hooks({
  before: is('find-role')
    ? { all: guard, find: [authorize, validate(queryRules.funders)], get: [validate(queryRules.none)] }
    : { all: [...guard, authorize], find: [validate(queryRules.funders)], get: [validate(queryRules.none)] }
})
app.service(`${FUNDING}/summary`.slice(1)).hooks({ before: { all: [...guard, authorize], find: [validate(queryRules.none)] } })
app.service(INFO.slice(1)).hooks({ before: { all: guard } })
app.service(STAGING_INFO.slice(1)).hooks({ before: { all: [authenticate(staging)] } })

let server
const start = async () => {
  await records._create(data.fundings)
  await funderRecords._create(data.funders)
  if (is('rate-limited')) await new Promise((r) => setTimeout(r, 4000))
  await app.setup()
  server = require('http').createServer(app.callback())
  server.keepAliveTimeout = 30000
  server.listen(PORT, '127.0.0.1', () => console.log(NODE + ' on ' + PORT))
}
process.on('SIGTERM', () => { if (server) { server.closeAllConnections(); server.close(() => process.exit(0)) } else process.exit(0) })
start()
