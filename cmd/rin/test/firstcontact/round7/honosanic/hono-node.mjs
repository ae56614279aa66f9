// A network node on Hono: registry, authorization server, info, funding API and staging.
// NODE names the variant; without it this is the base.
import { Hono } from 'hono'
import { serve } from '@hono/node-server'
import crypto from 'node:crypto'
import fs from 'node:fs'
import zlib from 'node:zlib'
import { document } from './hono-doc.mjs'

const NODE = process.env.NODE || 'hono-base'
const PORT = Number(process.env.PORT)
const ORIGIN = `http://127.0.0.1:${PORT}`
const read = name => JSON.parse(fs.readFileSync(new URL(name, import.meta.url), 'utf8'))
const other = NODE === 'hono-other-data'
const data = read(other ? './data-hono-other.json' : './data-hono.json')
const clients = read('./clients.json').hono
const keys = read('./keys-hono.json')
const byId = new Map(data.calls.map(c => [c.id, c]))
const LAST_MODIFIED = new Date(Math.max(...data.calls.map(c => Date.parse(c.modified)))).toUTCString()
const LIFETIME = NODE === 'hono-short-life' ? 25 : 300

// ---- environments -------------------------------------------------------

const AUDIENCE = `${ORIGIN}/ris`
function environment (path, tokenPath, members, audience) {
  const name = path === '' ? 'production' : 'staging'
  const privateKey = crypto.createPrivateKey({ key: keys[name], format: 'jwk' })
  const env = {
    name,
    issuer: ORIGIN + path + '/auth',
    tokenPath: path + tokenPath,
    infoPath: path + '/ris/info/v1/oauth/info/',
    audience,
    privateKey,
    publicKey: crypto.createPublicKey(privateKey),
    clients: new Map(),
    failures: new Map()
  }
  for (const kind of members) env.clients.set(clients[kind].id, { ...clients[kind], kind })
  return env
}
const production = environment('', '/auth/realms/ris/protocol/openid-connect/token', ['main', 'without_role', 'other_audience', 'spare'], AUDIENCE)
const staging = environment('/staging', '/auth/oauth/token', ['staging'], `${ORIGIN}/staging/ris`)

// ---- answers ------------------------------------------------------------

function encode (value) {
  const s = JSON.stringify(value)
  if (NODE !== 'hono-spelling') return s
  return s.replace(/[\u0080-\uffff]/g, ch => '\\u' + ch.charCodeAt(0).toString(16).padStart(4, '0'))
}

function acceptsGzip (header) {
  let any = false
  for (const part of (header || '').toLowerCase().split(',')) {
    const [coding, ...params] = part.split(';').map(s => s.trim())
    const q = params.find(p => p.startsWith('q='))
    const ok = !q || Number(q.slice(2)) > 0
    if (coding === 'gzip' || coding === 'x-gzip') return ok
    if (coding === '*') any = ok
  }
  return any
}

function answer (c, status, text, type, headers = {}) {
  const h = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff', ...headers, 'Content-Type': type }
  let body = Buffer.from(text)
  h.Vary = (h.Vary ? h.Vary + ', ' : '') + 'Accept-Encoding'
  if (body.length > 600 && h['Cache-Control'] !== 'no-store' && acceptsGzip(c.req.header('accept-encoding'))) {
    body = zlib.gzipSync(body)
    h['Content-Encoding'] = 'gzip'
  }
  h['Content-Length'] = String(body.length)
  return new Response(body, { status, headers: h })
}

function json (c, status, value, headers) {
  return answer(c, status, encode(value), 'application/json', headers)
}

function problem (c, status, detail, headers) {
  const titles = { 400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found', 405: 'Method Not Allowed', 500: 'Internal Server Error' }
  return answer(c, status, encode({ type: 'about:blank', title: titles[status], status, detail }), 'application/problem+json', headers)
}

// The three forms of an HTTP date (RFC 9110 5.6.7); anything else is NaN.
function httpDate (s) {
  if (/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(s)) return Date.parse(s)
  if (/^[A-Z][a-z]+day, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/.test(s)) return Date.parse(s)
  if (/^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/.test(s)) return Date.parse(s + ' GMT')
  return NaN
}

// An answer of the API with validators, or 304.
function fresh (c, text, type, headers = {}) {
  const etag = 'W/"' + crypto.createHash('sha256').update(text).digest('base64url').slice(0, 22) + '"'
  const h = { ...headers, ETag: etag, 'Last-Modified': LAST_MODIFIED, 'Cache-Control': 'private, no-cache', Vary: 'Authorization' }
  const inm = c.req.header('if-none-match')
  const since = httpDate(c.req.header('if-modified-since') || '')
  const notSince = !Number.isNaN(since) && Date.parse(LAST_MODIFIED) <= since
  let same
  if (inm !== undefined) {
    const opaque = etag.slice(2)
    same = inm.trim() === '*' || (inm.match(/(W\/)?"[^"]*"/g) || []).some(t => t.replace(/^W\//, '') === opaque)
    if (NODE === 'hono-ims-wins' && notSince) same = true
  } else {
    same = notSince
  }
  if (same) {
    h.Vary += ', Accept-Encoding'
    return new Response(null, { status: 304, headers: h })
  }
  return answer(c, 200, text, type, h)
}

// ---- tokens -------------------------------------------------------------

const b64 = value => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

function issue (env, client) {
  const now = Math.floor(Date.now() / 1000)
  const head = b64({ alg: 'RS256', typ: 'at+jwt' })
  const body = b64({
    iss: env.issuer,
    sub: 'service-account-' + client.id,
    client_id: client.id,
    aud: client.kind === 'other_audience' ? `${ORIGIN}/statistics` : env.audience,
    iat: now,
    exp: now + LIFETIME,
    jti: crypto.randomUUID()
  })
  const sig = crypto.sign('sha256', Buffer.from(head + '.' + body), env.privateKey).toString('base64url')
  return `${head}.${body}.${sig}`
}

// The client behind a token, or undefined.
function verify (env, token, signed = true) {
  const parts = token.split('.')
  if (parts.length !== 3) return
  const [head, body, sig] = parts
  // only the canonical spelling: base64url has spare bits at the end
  if (parts.some(p => Buffer.from(p, 'base64url').toString('base64url') !== p)) return
  let h, b
  try {
    h = JSON.parse(Buffer.from(head, 'base64url').toString())
    b = JSON.parse(Buffer.from(body, 'base64url').toString())
  } catch { return }
  if (!h || !b) return
  if (signed) {
    if (h.alg !== 'RS256' || h.typ !== 'at+jwt') return
    if (!crypto.verify('sha256', Buffer.from(head + '.' + body), env.publicKey, Buffer.from(sig, 'base64url'))) return
  }
  if (b.iss !== env.issuer || b.aud !== env.audience || !(b.exp > Date.now() / 1000)) return
  return env.clients.get(b.client_id)
}

function challenge (env, error) {
  if (NODE === 'hono-spelling') return `bearer realm="${env.name}"` + (error ? `, error=${error}` : '')
  return `Bearer realm="${env.name}"` + (error ? `, error="${error}"` : '')
}

// Checks the token; returns the client or an answer.
function authenticate (c, env, { signed = true } = {}) {
  const raw = c.env.incoming.rawHeaders
  const sent = raw.filter((v, i) => i % 2 === 1 && raw[i - 1].toLowerCase() === 'authorization')
  const inQuery = c.req.queries('access_token') !== undefined
  if (sent.length > 1 || (sent.length === 1 && inQuery)) {
    return problem(c, 400, 'Send one token, in one Authorization header.', { 'WWW-Authenticate': challenge(env, 'invalid_request') })
  }
  const given = sent[0] || ''
  if (!/^bearer( |$)/i.test(given)) {
    return problem(c, 401, 'An access token is needed.', { 'WWW-Authenticate': challenge(env) })
  }
  const m = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(given)
  const client = m && verify(env, m[1], signed)
  if (!client) return problem(c, 401, 'The access token is not valid.', { 'WWW-Authenticate': challenge(env, 'invalid_token') })
  return client
}

// Wraps a handler of the API: token and role.
function guard (handler, options) {
  return c => {
    const client = authenticate(c, production, options)
    if (client instanceof Response) return client
    if (!client.role) {
      return problem(c, 403, 'The client does not have the role EXTERNAL_API_CLIENT.', { 'WWW-Authenticate': challenge(production, 'insufficient_scope') })
    }
    return handler(c)
  }
}

// ---- token endpoint -----------------------------------------------------

function sameSecret (given, right) {
  if (NODE === 'hono-secret-case') {
    given = given.toLowerCase()
    right = right.toLowerCase()
  }
  const hash = s => crypto.createHash('sha256').update(s).digest()
  return crypto.timingSafeEqual(hash(given), hash(right))
}

// After 20 wrong secrets within a minute a client must wait for the rest of it.
function locked (env, id) {
  const f = env.failures.get(id)
  return f && Date.now() - f.since < 60000 && f.count >= 20 ? Math.ceil((f.since + 60000 - Date.now()) / 1000) : 0
}
function failed (env, id) {
  if (!env.clients.has(id)) return
  const f = env.failures.get(id)
  if (!f || Date.now() - f.since >= 60000) env.failures.set(id, { since: Date.now(), count: 1 })
  else f.count++
}

function formDecode (s) {
  return decodeURIComponent(s.replace(/\+/g, ' '))
}

async function token (c, env) {
  const no = (status, error, error_description, headers = {}) =>
    json(c, status, { error, error_description }, { Pragma: 'no-cache', ...headers })
  const type = (c.req.header('content-type') || '').split(';')[0].trim().toLowerCase()
  if (type !== 'application/x-www-form-urlencoded') return no(400, 'invalid_request', 'The body must be application/x-www-form-urlencoded.')
  const text = await c.req.text()
  if (text.length > 16384) return no(400, 'invalid_request', 'The body is too long.')
  const asked = new URL(c.req.url).searchParams
  if (asked.has('client_secret') || asked.has('client_id')) return no(400, 'invalid_request', 'Credentials do not belong in the URL.')
  const form = {}
  for (const [k, v] of new URLSearchParams(text)) {
    if (Object.hasOwn(form, k)) return no(400, 'invalid_request', 'A parameter is repeated.')
    form[k] = v
  }
  const has = k => Object.hasOwn(form, k) && form[k] !== ''
  // client authentication: HTTP Basic or form fields, not both
  const header = c.req.header('authorization')
  let id, secret
  if (header !== undefined) {
    if (has('client_secret')) return no(400, 'invalid_request', 'Use one method of client authentication.')
    const m = /^basic +([A-Za-z0-9+/]+=*)$/i.exec(header)
    try {
      const pair = Buffer.from(m[1], 'base64').toString()
      const colon = pair.indexOf(':')
      id = formDecode(pair.slice(0, colon))
      secret = formDecode(pair.slice(colon + 1))
    } catch { /* no usable credentials */ }
    if (id !== undefined && has('client_id') && form.client_id !== id) return no(400, 'invalid_request', 'Two different clients are named.')
  } else {
    id = form.client_id
    secret = form.client_secret
  }
  const wait = locked(env, id)
  if (wait) return no(429, 'invalid_client', 'Too many wrong secrets.', { 'Retry-After': String(wait) })
  const client = env.clients.get(id)
  if (!client || !sameSecret(secret || '', client.secret)) {
    failed(env, id)
    return no(401, 'invalid_client', 'Client authentication failed.', { 'WWW-Authenticate': `Basic realm="${env.name}"` })
  }
  env.failures.delete(id)
  if (!has('grant_type')) return no(400, 'invalid_request', 'grant_type is missing.')
  if (form.grant_type !== 'client_credentials') return no(400, 'unsupported_grant_type', 'Only client_credentials is supported.')
  if (has('scope')) return no(400, 'invalid_scope', 'This server has no scopes.')
  return json(c, 200, {
    access_token: issue(env, client),
    token_type: NODE === 'hono-spelling' ? 'bearer' : 'Bearer',
    expires_in: NODE === 'hono-expires-ms' ? LIFETIME * 1000 : LIFETIME
  }, { Pragma: 'no-cache' })
}

// ---- info ---------------------------------------------------------------

async function info (c, env) {
  const client = authenticate(c, env)
  if (client instanceof Response) return client
  if (NODE === 'hono-info-body' && /json/.test(c.req.header('content-type') || '')) {
    try {
      await c.req.json()
    } catch {
      return problem(c, 400, 'Unexpected end of JSON input')
    }
  }
  const prefix = env.audience
  const endpoints = { info: [{ name: 'INFO', majorVersion: 1, minorVersion: 0, url: `${prefix}/info/v1/oauth/info/` }] }
  if (env === production) {
    endpoints.funding = [{ name: 'FUNDINGS', majorVersion: 3, minorVersion: 0, url: `${prefix}/funding/v3/calls` }]
  }
  return json(c, 200, {
    environment: env.name,
    clientId: client.id,
    affiliationId: client.affiliationId,
    roles: client.role ? ['EXTERNAL_API_CLIENT'] : [],
    endpoints
  })
}

// ---- funding API --------------------------------------------------------

const REGIONS = ['VIENNA', 'BURGENLAND', 'LOWER_AUSTRIA', 'CARINTHIA', 'UPPER_AUSTRIA', 'SALZBURG', 'STYRIA', 'TYROL', 'VORARLBERG']
class Bad extends Error {}

function listCalls (c) {
  const one = name => {
    const all = c.req.queries(name)
    if (all === undefined) return undefined
    if (all.length > 1) throw new Bad(`${name} is given more than once.`)
    return all[0]
  }
  const integer = (name, max, byDefault) => {
    const v = one(name)
    if (v === undefined) return byDefault
    if (!/^[1-9][0-9]{0,9}$/.test(v) || Number(v) > max) throw new Bad(`${name} must be an integer from 1 to ${max}.`)
    return Number(v)
  }
  const choice = (name, values) => {
    const v = one(name)
    if (v !== undefined && !values.includes(v)) throw new Bad(`${name} must be one of ${values.join(', ')}.`)
    return v
  }
  const date = name => {
    const v = one(name)
    if (v === undefined) return v
    const t = /^\d{4}-\d{2}-\d{2}$/.test(v) ? new Date(v + 'T00:00:00Z') : new Date(NaN)
    if (Number.isNaN(t.getTime()) || t.toISOString().slice(0, 10) !== v) throw new Bad(`${name} must be a date, YYYY-MM-DD.`)
    return v
  }
  let page, size, funderId, region, from, until, sort
  try {
    page = integer('page', 10000, 1)
    size = integer('size', 50, 20)
    funderId = one('funderId')
    region = choice('region', REGIONS)
    from = date('deadlineFrom')
    until = date('deadlineUntil')
    sort = choice('sort', ['deadline', '-deadline'])
  } catch (e) {
    if (e instanceof Bad) return problem(c, 400, e.message)
    throw e
  }
  const found = data.calls.filter(x =>
    (funderId === undefined || x.funderId === funderId) &&
    (region === undefined || x.regions.includes(region)) &&
    (from === undefined || x.deadline.slice(0, 10) >= from) &&
    (until === undefined || x.deadline.slice(0, 10) <= until))
  const cmp = (a, b) => (a < b ? -1 : a > b ? 1 : 0)
  const sign = sort === '-deadline' ? -1 : 1
  found.sort((a, b) => (sort ? sign * cmp(a.deadline, b.deadline) : 0) || cmp(a.id, b.id))

  const last = Math.max(1, Math.ceil(found.length / size))
  const link = (rel, n) => {
    const q = new URLSearchParams()
    const filters = { funderId, region, deadlineFrom: from, deadlineUntil: until, sort }
    const lost = NODE === 'hono-next-drops-filter' && rel === 'next' ? ['deadlineFrom', 'deadlineUntil'] : []
    for (const [k, v] of Object.entries(filters)) if (v !== undefined && !lost.includes(k)) q.set(k, v)
    q.set('page', n)
    q.set('size', size)
    return `<${ORIGIN}/ris/funding/v3/calls?${q}>; rel="${rel}"`
  }
  const links = [link('first', 1)]
  if (page > 1) links.push(link('prev', Math.min(page - 1, last)))
  if (page < last) links.push(link('next', page + 1))
  links.push(link('last', last))
  const body = { total: found.length, page, size, items: found.slice((page - 1) * size, page * size) }
  return fresh(c, encode(body), 'application/json', { Link: links.join(', ') })
}

function getCall (c) {
  const call = byId.get(c.req.param('id'))
  if (!call) return problem(c, 404, 'There is no call with this id.')
  return fresh(c, encode(call), 'application/json')
}

function listFunders (c) {
  return fresh(c, encode({ items: data.funders }), 'application/json')
}

function exportCalls (c) {
  const cell = v => (/[",\r\n]/.test(String(v)) ? '"' + String(v).replace(/"/g, '""') + '"' : String(v))
  const in_ = (x, lang) => x.title.find(t => t.lang === lang)?.text ?? ''
  const rows = [['id', 'type', 'title_de', 'title_en', 'funder_id', 'opens', 'deadline', 'budget', 'currency']]
  for (const x of data.calls) {
    rows.push([x.id, x.type, in_(x, 'de'), in_(x, 'en'), x.funderId, x.opens, x.deadline, x.budget.amount, x.budget.currency])
  }
  return fresh(c, rows.map(r => r.map(cell).join(',')).join('\r\n') + '\r\n', 'text/csv; charset=utf-8; header=present')
}

// ---- routes -------------------------------------------------------------

const app = new Hono({ strict: true })

// A path with one method; HEAD goes with GET, everything else is refused with the list of what is allowed.
function route (method, path, handler) {
  const allow = method === 'GET' ? 'GET, HEAD, OPTIONS' : method + ', OPTIONS'
  app.on(method, path, handler)
  app.all(path, c => {
    if (c.req.method === 'OPTIONS') return new Response(null, { status: 204, headers: { Allow: allow } })
    return problem(c, 405, 'The method is not allowed here.', { Allow: allow })
  })
}

const PROD_TOKEN = ORIGIN + production.tokenPath
const openapi = document(ORIGIN, {
  tokenUrl: NODE === 'hono-tokenurl' ? ORIGIN + staging.tokenPath : PROD_TOKEN,
  pattern: other ? '^NC-[0-9]{4}-B$' : '^NC-[0-9]{4}$'
})
route('GET', '/registry.json', c => json(c, 200, {
  member: [{
    id: 'HN',
    acronym: 'HONO',
    name: 'Hono University',
    contact: 'ris@hono-university.example',
    oauth2: PROD_TOKEN,
    info: ORIGIN + production.infoPath
  }]
}, { 'Cache-Control': 'no-cache' }))
for (const env of [production, staging]) {
  route('POST', env.tokenPath, c => token(c, env))
  route('GET', env.infoPath, c => info(c, env))
}
route('GET', '/ris/funding/v3/api-docs', c => json(c, 200, openapi, { 'Cache-Control': 'no-cache' }))
route('GET', '/ris/funding/v3/calls', guard(listCalls))
route('GET', '/ris/funding/v3/calls/:id', guard(getCall))
route('GET', '/ris/funding/v3/funders', guard(listFunders))
route('GET', '/ris/funding/v3/export/calls', guard(exportCalls, { signed: NODE !== 'hono-export-unsigned' }))
app.notFound(c => problem(c, 404, 'There is nothing at this address.'))
app.onError((e, c) => {
  console.error(e)
  return problem(c, 500, 'The server failed.')
})

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: PORT })
