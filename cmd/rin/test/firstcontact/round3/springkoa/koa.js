'use strict'
// A node on Koa: opaque tokens, introspection with a cache, cursor paging by Link, titles in the language that is asked for.
const Koa = require('koa')
const { Router } = require('@koa/router')
const crypto = require('crypto')
const zlib = require('zlib')

const PORT = +process.env.PORT || 8091
const NODE = process.env.NODE || ''
const is = (n) => NODE === n
const ORIGIN = `http://127.0.0.1:${PORT}`
const PREFIX = '/ris-west'
const TTL = 600

// ---- the authorization servers (production, staging) and the accounts of the funding service
const realm = (clients) => ({ clients, tokens: new Map(), last: new Map() })
const production = realm({
  'west-portal': { secret: 'tW5+kq%7Eb:/9=Zr&uPm2', tag: 'a41f09c2', account: 'sa-1001', audience: 'funding' },
  'west-harvester': { secret: 'Qm81-hh2Lz_0v9dTnR4w', tag: '77be10d3', account: 'sa-1002', audience: 'funding' },
  'west-guest': { secret: 'g0-Ab3kP_zz81LmWq5Ry', tag: 'c9d00e5a', account: 'sa-1003', audience: 'funding' },
  'west-projects': { secret: 'Pj_44uTe-1Xs8rVb02Kd', tag: '5e6a7711', account: 'sa-1001', audience: 'projects' },
})
const staging = realm({
  'west-test': { secret: 'st-Zk29_nB6yHc3qLw7Vx', tag: 'e0e0e0e0', account: 'sa-1001', audience: 'funding' },
})
const accounts = {
  'sa-1001': { role: 'EXTERNAL_API_CLIENT', affiliation: 'AFF-WEST-01' },
  'sa-1002': { role: 'EXTERNAL_API_CLIENT', affiliation: 'AFF-WEST-07' },
  'sa-1003': { affiliation: 'AFF-WEST-09' },
}
const same = (a, b) => crypto.timingSafeEqual(crypto.createHash('sha256').update(a).digest(), crypto.createHash('sha256').update(b).digest())

async function readBody (req) {
  const parts = []
  let n = 0
  for await (const p of req) { n += p.length; if (n > 65536) break; parts.push(p) }
  return Buffer.concat(parts).toString('utf8')
}

function tokenError (ctx, status, error, description) {
  ctx.status = status
  ctx.set('Cache-Control', 'no-store')
  ctx.set('Pragma', 'no-cache')
  if (status === 401) ctx.set('WWW-Authenticate', 'Basic realm="west", charset="UTF-8"')
  ctx.body = { error, error_description: description }
}

const formDecode = (s) => decodeURIComponent(s.replace(/\+/g, ' '))

function tokenEndpoint (rlm) {
  return async (ctx) => {
    const type = (ctx.get('content-type').split(';')[0] || '').trim().toLowerCase()
    const raw = await readBody(ctx.req)
    if (type !== 'application/x-www-form-urlencoded') return tokenError(ctx, 400, 'invalid_request', 'send the parameters as application/x-www-form-urlencoded')
    const form = new URLSearchParams(raw)
    for (const k of new Set(form.keys())) if (form.getAll(k).length > 1) return tokenError(ctx, 400, 'invalid_request', 'a parameter is repeated')
    const get = (k) => form.get(k) || undefined // an empty value counts as absent (section 3.2)
    let id = get('client_id')
    let secret = get('client_secret')
    const header = ctx.get('authorization')
    if (header) {
      const m = /^basic +([A-Za-z0-9+/=_-]+) *$/i.exec(header)
      if (!m) return tokenError(ctx, 401, 'invalid_client', 'the client could not be authenticated')
      if (secret !== undefined) return tokenError(ctx, 400, 'invalid_request', 'more than one way of client authentication')
      const text = Buffer.from(m[1], 'base64').toString('utf8')
      const colon = text.indexOf(':')
      let user, pass
      try {
        user = is('k-basic-raw') ? text.slice(0, colon) : formDecode(text.slice(0, colon))
        pass = is('k-basic-raw') ? text.slice(colon + 1) : formDecode(text.slice(colon + 1))
      } catch { user = pass = '' }
      if (colon < 0) user = pass = ''
      if (id !== undefined && id !== user && !is('k-mixed-client')) return tokenError(ctx, 400, 'invalid_request', 'client_id is not the client that the header names')
      const who = Object.hasOwn(rlm.clients, user) ? rlm.clients[user] : undefined
      if (!who || !same(who.secret, pass)) return tokenError(ctx, 401, 'invalid_client', 'the client could not be authenticated')
      id = id && is('k-mixed-client') && Object.hasOwn(rlm.clients, id) ? id : user
    } else {
      const who = id !== undefined && Object.hasOwn(rlm.clients, id) ? rlm.clients[id] : undefined
      if (!who || secret === undefined || !same(who.secret, secret)) return tokenError(ctx, 401, 'invalid_client', 'the client could not be authenticated')
    }
    const grant = get('grant_type')
    if (grant === undefined) return tokenError(ctx, 400, 'invalid_request', 'grant_type is missing')
    if (grant !== 'client_credentials') return tokenError(ctx, 400, 'unsupported_grant_type', 'the only grant is client_credentials')
    const scope = get('scope')
    if (scope !== undefined && scope.split(' ').some((s) => s !== 'ris')) return tokenError(ctx, 400, 'invalid_scope', 'the only scope is ris')
    const client = rlm.clients[id]
    const now = Date.now() / 1000
    const last = rlm.last.get(id)
    ctx.status = 200
    if (is('k-token-again') && last && last.until - now > TTL - 60) {
      ctx.body = { access_token: last.token, token_type: 'Bearer', expires_in: Math.floor(last.until - now), scope: 'ris' }
      return
    }
    ctx.set('Cache-Control', 'no-store')
    ctx.set('Pragma', 'no-cache')
    if (is('kr-one-token') && last && last.until - now > 120) {
      ctx.body = { access_token: last.token, token_type: 'BEARER', expires_in: Math.floor(last.until - now), scope: 'ris', issued_for: id }
      return
    }
    const token = `wst.${client.tag}.${crypto.randomBytes(27).toString('base64url')}`
    const entry = { client: id, account: client.account, audience: client.audience, until: now + TTL }
    rlm.tokens.set(token, entry)
    rlm.last.set(id, { token, until: entry.until })
    ctx.body = { access_token: token, token_type: is('kr-one-token') ? 'BEARER' : 'Bearer', expires_in: TTL, scope: 'ris' }
  }
}

// ---- bearer tokens: introspection at the authorization server, answers kept for half a minute
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
const introspected = new Map()
async function introspect (rlm, token) {
  const key = is('k-cache-prefix') ? token.slice(0, 24) : token
  const now = Date.now() / 1000
  const hit = introspected.get(key)
  if (rlm === production && hit && hit.keptUntil > now && hit.entry.until > now) return hit.entry
  await pause(2)
  const entry = rlm.tokens.get(token)
  if (!entry || entry.until <= now || entry.audience !== 'funding') return undefined
  if (rlm === production) introspected.set(key, { entry, keptUntil: now + 30 })
  return entry
}

function fail (ctx, status, error, message, challenge) {
  ctx.status = status
  ctx.set('Cache-Control', 'no-store')
  ctx.remove('Content-Language')
  if (challenge) ctx.set('WWW-Authenticate', (is('kr-one-token') ? 'DPoP algs="ES256 EdDSA", ' : '') + challenge)
  ctx.body = { error, message }
}

const sessions = new Map()
const guard = (rlm, role) => async (ctx, next) => {
  const header = ctx.get('authorization')
  let entry
  if (is('k-session-cookie') && !header && sessions.has(ctx.cookies.get('west.sid'))) entry = sessions.get(ctx.cookies.get('west.sid'))
  else {
    if (!header || !/^bearer( |$)/i.test(header)) return fail(ctx, 401, 'unauthorized', 'An access token is needed.', 'Bearer realm="west"')
    const m = /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i.exec(header)
    if (!m) return fail(ctx, 400, 'invalid_request', 'The Authorization header is malformed.', 'Bearer realm="west", error="invalid_request"')
    entry = await introspect(rlm, m[1])
    if (!entry) return fail(ctx, 401, 'invalid_token', 'The access token is unknown or has expired.', 'Bearer realm="west", error="invalid_token", error_description="unknown or expired"')
    if (is('k-session-cookie')) {
      const sid = crypto.randomBytes(12).toString('hex')
      sessions.set(sid, entry)
      ctx.set('Set-Cookie', `west.sid=${sid}; Path=/; HttpOnly; SameSite=Lax`)
    }
  }
  ctx.state.account = accounts[entry.account]
  if (role && !(ctx.state.account.role === 'EXTERNAL_API_CLIENT' && ctx.state.account.affiliation)) {
    return fail(ctx, 403, 'forbidden', 'The service account lacks the role EXTERNAL_API_CLIENT.', 'Bearer realm="west", error="insufficient_scope"')
  }
  if (is('kr-strict') && ctx.accepts('application/json') === false) return fail(ctx, 406, 'not_acceptable', 'The node answers application/json.')
  return next()
}

// ---- the data
const REGIONS = ['VIENNA', 'LOWER_AUSTRIA', 'TYROL', 'STYRIA', 'SALZBURG']
const THEMES = [['Quantenoptik', 'Quantum Optics'], ['Alpine Ökologie', 'Alpine Ecology'], ['Straßenverkehr der Zukunft', 'Road Traffic of the Future'], ['Kulturerbe', 'Cultural Heritage'],
  ['Seltene Krankheiten', 'Rare Diseases'], ['Grüner Wasserstoff', 'Green Hydrogen'], ['Digitale Geisteswissenschaften', 'Digital Humanities'], ['Bodenschutz', 'Soil Protection'],
  ['Maschinelles Übersetzen', 'Machine Translation'], ['Höhenforschung', 'High-Altitude Research']]
const KINDS = [['CALL', 'Ausschreibung', 'Call'], ['GRANT', 'Stipendium', 'Grant'], ['AWARD', 'Preis', 'Award'], ['ONGOING_CALL', 'Laufende Ausschreibung', 'Ongoing Call']]
const day = (n) => new Date(Date.UTC(2027, 0, 4) + n * 86400000).toISOString().slice(0, 10)
const calls = []
for (let i = 0; i < 62; i++) {
  const kind = KINDS[[0, 0, 1, 0, 2, 0, 3, 1][i % 8]]
  const theme = THEMES[(i * 7 + 3) % THEMES.length]
  const ongoing = kind[0] === 'ONGOING_CALL'
  const j = i - Math.floor((i + 1) / 8)
  let id = i % 10 === 3 ? `W+${2027 + (i % 2)}-${String(i + 1).padStart(4, '0')}` : `W-2027-${String((i * 37) % 62 + 1).padStart(4, '0')}`
  if (is('kr-ids')) id = ['Förderung ', 'a/b/', '100%-', 'ΔΕΛΤΑ:', "it's;", '😀', '..', '~tilde?'][i % 8] + (i + 1) + (i % 9 === 0 ? '-' + 'x'.repeat(180) : '')
  calls.push({
    id,
    type: kind[0],
    title: { de: `${kind[1]} ${theme[0]} ${i + 1}`, en: `${kind[2]} ${theme[1]} ${i + 1}` },
    summary: { de: `Gefördert werden Vorhaben zum Thema „${theme[0]}“.`, en: `Projects on “${theme[1]}” are funded.` },
    status: ongoing ? 'OPEN' : ['OPEN', 'CLOSED', 'FORECAST', 'OPEN'][i % 4],
    regions: REGIONS.filter((_, k) => (i + k * 2) % 3 === 0 || i % 5 === k),
    amount: kind[0] === 'AWARD' && i % 16 === 4 ? 0 : 5000 * ((i * 11) % 23 + 1),
    currency: 'EUR',
    opens: day(-90 + i),
    ...(ongoing ? {} : { deadline: day(j >= 22 && j < 30 ? 22 * 5 : j * 5) }),
    funder: { id: `F${i % 6 + 1}`, name: ['Fonds West', 'Land Tirol', 'Stiftung Ährenfeld', 'Nationalfonds', 'Stadt Musterstadt', 'Bank für Forschung'][i % 6] },
    updated: `2026-1${i % 2}-${String(i % 28 + 1).padStart(2, '0')}T08:${String(i % 60).padStart(2, '0')}:00Z`,
  })
}
const due = (c) => c.deadline || '9999-12-31'
const ORDERS = {
  deadline: (a, b) => due(a) < due(b) ? -1 : due(a) > due(b) ? 1 : a.id < b.id ? -1 : 1,
  '-deadline': (a, b) => due(a) > due(b) ? -1 : due(a) < due(b) ? 1 : a.id < b.id ? -1 : 1,
  id: (a, b) => a.id < b.id ? -1 : 1,
}
const BORN = Date.now()
function current () {
  if (!is('kr-moving')) return calls
  // the editors publish one call and withdraw another every twenty seconds
  const n = Math.floor((Date.now() - BORN) / 20000)
  return calls.filter((c, i) => (i < 40 ? i !== n % 40 : i < 50 + n % 12))
}
const language = (ctx) => ctx.acceptsLanguages('en', 'de') || 'en'
const shown = (c, lang) => ({ ...c, title: c.title[lang], summary: c.summary[lang] })

async function send (ctx, body, stamp, more = {}) {
  const text = JSON.stringify(body)
  const lang = language(ctx)
  ctx.status = 200
  ctx.set({ 'Cache-Control': 'private, no-cache', Vary: 'Authorization, Accept-Language, Accept-Encoding', 'Content-Language': lang, ...more })
  const gzip = is('k-gzip-q0') ? ctx.get('accept-encoding').includes('gzip') : ctx.get('accept-encoding') && ctx.acceptsEncodings('identity', 'gzip') === 'gzip'
  let etag = crypto.createHash('sha256').update(is('k-etag-lang') ? JSON.stringify(stamp) : text).digest('base64url').slice(0, 18)
  if (gzip) etag += '-gz'
  ctx.set('ETag', is('kr-weak-chunked') ? `W/"${etag}"` : `"${etag}"`)
  if (ctx.fresh) { ctx.status = 304; return }
  ctx.type = is('kr-weak-chunked') ? 'application/json; charset="UTF-8"; profile="west"' : 'application/json; charset=utf-8'
  if (gzip) { ctx.set('Content-Encoding', 'gzip'); ctx.body = zlib.gzipSync(text) } else ctx.body = text
  if (is('kr-weak-chunked') && ctx.method === 'GET') {
    const whole = Buffer.from(ctx.body)
    const type = ctx.response.get('Content-Type')
    ctx.body = require('stream').Readable.from((function * () { for (let i = 0; i < whole.length; i += 700) yield whole.subarray(i, i + 700) })())
    ctx.set('Content-Type', type)
  }
}

const one = (q, k) => Array.isArray(q[k]) ? q[k][0] : q[k]
const DATE = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/
async function list (ctx) {
  const q = ctx.query
  const bad = (name) => fail(ctx, 400, 'bad_parameter', `The value of ${name} is not allowed.`)
  const known = ['status', 'region', 'maxAmount', 'deadlineBefore', 'sort', 'limit', 'cursor']
  for (const k of Object.keys(q)) {
    if (k !== 'region' && known.includes(k) && Array.isArray(q[k])) return bad(k)
    if (is('kr-strict') && !known.includes(k)) return fail(ctx, 400, 'unknown_parameter', 'There is no such parameter.')
  }
  const status = one(q, 'status')
  const regions = [].concat(q.region === undefined ? [] : q.region)
  const sort = one(q, 'sort') ?? 'deadline'
  const limit = one(q, 'limit') ?? '20'
  const max = one(q, 'maxAmount')
  const before = one(q, 'deadlineBefore')
  if (status !== undefined && !['OPEN', 'CLOSED', 'FORECAST'].includes(status)) return bad('status')
  if (regions.some((r) => !REGIONS.includes(r))) return bad('region')
  if (!Object.hasOwn(ORDERS, sort)) return bad('sort')
  if (!/^[0-9]{1,9}$/.test(limit) || +limit < 1 || +limit > 100) return bad('limit')
  if (max !== undefined && !/^[0-9]{1,15}$/.test(max)) return bad('maxAmount')
  if (before !== undefined && (!DATE.test(before) || isNaN(Date.parse(before)) || new Date(before).toISOString().slice(0, 10) !== before)) return bad('deadlineBefore')
  let from
  if (q.cursor !== undefined) {
    try { from = JSON.parse(Buffer.from(q.cursor, 'base64url').toString('utf8')) } catch { return bad('cursor') }
    if (!from || typeof from.id !== 'string' || typeof from.d !== 'string' || from.s !== sort) return bad('cursor')
  }
  let hits = current().slice().sort(ORDERS[sort])
  if (status) hits = hits.filter((c) => c.status === status)
  if (regions.length) hits = hits.filter((c) => c.regions.some((r) => regions.includes(r)))
  if (is('k-zero-filter') ? Number(max) : max !== undefined) hits = hits.filter((c) => c.amount <= Number(max))
  if (before) hits = hits.filter((c) => c.deadline !== undefined && c.deadline < before)
  const total = hits.length
  if (from) {
    const mark = { id: from.id, ...(from.d ? { deadline: from.d } : {}) }
    hits = hits.filter((c) => is('k-keyset-tie') && sort === 'deadline' ? due(c) > due(mark) || (!c.deadline && c.id > from.id) : ORDERS[sort](mark, c) < 0 && c.id !== from.id)
  }
  const page = hits.slice(0, +limit)
  const more = { 'X-Total-Count': String(total) }
  if (hits.length > page.length) {
    const end = page[page.length - 1]
    const p = new URLSearchParams(ctx.querystring)
    p.set('cursor', Buffer.from(JSON.stringify({ s: sort, d: end.deadline || '', id: end.id })).toString('base64url'))
    more.Link = `<${ORIGIN}${ctx.path}?${p}>; rel="next"`
  }
  const lang = language(ctx)
  return send(ctx, page.map((c) => shown(c, lang)), [page.map((c) => [c.id, c.updated]), total], more)
}

async function detail (ctx) {
  const wanted = is('k-plus-id') ? ctx.params.id.replace(/\+/g, ' ') : ctx.params.id
  const c = current().find((x) => x.id === wanted)
  if (!c) return fail(ctx, 404, 'not_found', 'There is no call with this id.')
  return send(ctx, shown(c, language(ctx)), [c.id, c.updated])
}

async function info (ctx) {
  return send(ctx, {
    node: { id: 'WEST', name: 'Universität West' },
    affiliation: ctx.state.account.affiliation,
    endpoints: { funding: [{ name: 'FUNDINGS', majorVersion: 3, minorVersion: 1, url: `${ORIGIN}${PREFIX}/funding/v3/calls` }, { name: 'FUNDING', majorVersion: 3, minorVersion: 1, url: `${ORIGIN}${PREFIX}/funding/v3/calls/{id}` }] },
  }, ctx.state.account.affiliation)
}

const registry = () => ({
  updated: '2026-11-01',
  member: [{ id: 'WEST', acronym: 'UWEST', name: 'Universität West', contact: 'ris@west.example', oauth2: `${ORIGIN}/oauth/token`, info: `${ORIGIN}${PREFIX}/info/v1/oauth/info/` },
    { id: 'WEST-TEST', name: 'Universität West (Staging)', oauth2: `${ORIGIN}/staging/oauth/token`, info: `${ORIGIN}/staging${PREFIX}/info/v1/oauth/info/` }],
})

const doc = JSON.stringify(require('./koa-doc.json')).replaceAll('{ORIGIN}', ORIGIN)
  .replace('"summary":"Calls",', is('kr-strict') ? '"summary":"Calls; parameters that are not described here are answered with 400",' : '"summary":"Calls",')
const router = new Router()
router.get('/registry/ris.json', (ctx) => { ctx.body = registry() })
router.post('/oauth/token', tokenEndpoint(production))
router.post('/staging/oauth/token', tokenEndpoint(staging))
router.get(`${PREFIX}/funding/v3/api-docs`, (ctx) => { ctx.type = 'application/json'; ctx.set('Cache-Control', 'public, max-age=60'); ctx.body = doc })
router.get(`${PREFIX}/info/v1/oauth/info/`, guard(production, false), info)
router.get(`/staging${PREFIX}/info/v1/oauth/info/`, guard(staging, false), info)
router.get(`${PREFIX}/funding/v3/calls`, guard(production, true), list)
router.get(`${PREFIX}/funding/v3/calls/:id`, guard(production, true), detail)
router.get(`${PREFIX}/try-out/v3/calls`, list)

const app = new Koa()
app.silent = true
app.use(async (ctx, next) => {
  try {
    ctx.set('X-Content-Type-Options', 'nosniff')
    await next()
    if (ctx.status === 404 && !ctx.body) fail(ctx, 404, 'not_found', 'There is nothing here.')
    if (ctx.status === 405 && !ctx.body) fail(ctx, 405, 'method_not_allowed', 'The method is not allowed here.')
    if (ctx.status === 501 && !ctx.body) fail(ctx, 501, 'not_implemented', 'The method is not known.')
  } catch (e) {
    if (e.status === 400) return fail(ctx, 400, 'bad_request', 'The request is malformed.')
    console.error(e)
    fail(ctx, 500, 'internal', 'Something went wrong.')
  }
})
// protected paths ask for the token before anything else, whatever the method
app.use(async (ctx, next) => {
  const known = router.match(ctx.path, ctx.method)
  if (known.path.length && !known.route && /\/(calls|oauth\/info)(\/|$)/.test(ctx.path) && !ctx.path.includes('try-out') && ctx.method !== 'OPTIONS') {
    return guard(ctx.path.startsWith('/staging') ? staging : production, ctx.path.includes('/calls'))(ctx, next)
  }
  return next()
})
app.use(router.routes())
app.use(router.allowedMethods())
app.listen(PORT, '127.0.0.1', () => console.log(`listening on ${ORIGIN}`))
