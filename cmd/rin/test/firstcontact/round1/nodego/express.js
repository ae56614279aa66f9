'use strict';
// Node "XN": Express 5, JWT ES256, cursor paging. NODE chooses a variant (see nodes.json).
const express = require('express');
const crypto = require('node:crypto');
const PORT = Number(process.env.PORT || 3000);
const NODE = process.env.NODE || '';
const is = (...n) => n.includes(NODE);
const ORIGIN = `http://127.0.0.1:${PORT}`;
const P = '/uni-nord';
const ISS = 'https://sso.uni-nord.example';
const AUD = 'https://api.uni-nord.example/ris';
const TTL = 60;
const ROLE = 'EXTERNAL_API_CLIENT';
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
const now = () => Math.floor(Date.now() / 1000);

// ---------------------------------------------------------------- keys and clients
const key = (jwk) => {
  const priv = crypto.createPrivateKey({ key: jwk, format: 'jwk' });
  const pub = crypto.createPublicKey(priv);
  const { x, y } = jwk;
  const kid = crypto.createHash('sha256').update(JSON.stringify({ crv: 'P-256', kty: 'EC', x, y })).digest('base64url');
  return { priv, pub, kid, jwk: { kty: 'EC', crv: 'P-256', x, y, kid, alg: 'ES256', use: 'sig' } };
};
const PROD = key({ kty: 'EC', crv: 'P-256', x: '2KaFQ9zkinc79QncHJ4gQhkavsHlvL3nNX2i9ehxYhA', y: '_tFFUXUVMeZLXupw4oLoOb5x4PIsJizsMShYPl1IEd4', d: '3P8uLsVAH4VDQhAkqhM2H6hDGQ8JT0wxyCuerrB7tms' });
const STAGING = key({ kty: 'EC', crv: 'P-256', x: '5sQFnPH-k7hpBb7ehPiInhM53BfrYYvh_MqKfunimkE', y: 'FAtppfzDThZfwCAQMU5KFat1nO_TaFTFHo1JoCwn9K8', d: '2wmBs0AmbvXh8hriz1cjJSey-TOSlvMJaT1md65Nr70' });
const CLIENTS = {
  'nord-main': { secret: 'zw+2/te%r:Kj9q=Lw7&pQ', roles: [ROLE], aff: 'AFF-100', sub: 'sa-7001' },
  'nord-second': { secret: 'Wm3xR8vTq2LbN6yH4sKd', roles: [ROLE], aff: 'AFF-200', sub: 'sa-7002' },
  'nord-norole': { secret: 'Hf5cJ9pZa7UeD1gM8tXo', roles: ['NEWSLETTER'], aff: 'AFF-300', sub: 'sa-7003' },
  'nord-projects': { secret: 'Qd2wE6rTb4YiK8oL0zVn', roles: [ROLE], aff: 'AFF-100', sub: 'sa-7004', aud: AUD + '-projects' },
};
const STAGING_CLIENTS = { 'nord-staging': { secret: 'Sg7nB3kYh5RcV9mT1xWq', roles: [ROLE], aff: 'AFF-100', sub: 'sa-9001' } };

// ---------------------------------------------------------------- data
const FUNDERS = ['FWN', 'Stiftung Ærø', 'City Fund', 'Nordbank'];
const REGIONS = ['COAST', 'HILLS', 'CITY', 'ISLES'];
const STATUS = ['planned', 'open', 'closed'];
const TOPIC = [['Meeresforschung', 'Ocean research'], ['Bildung', 'Education'], ['Energie', 'Energy'], ['Gesundheit', 'Health'], ['Sprachen', 'Languages'], ['Städte', 'Cities']];
const makeCall = (id, i) => ({
  id, title: { de: `Förderung ${TOPIC[i % 6][0]} ${i}`, en: `Funding for ${TOPIC[i % 6][1]} ${i}` },
  status: STATUS[i % 3], funder: { id: `F${i % 4}`, name: FUNDERS[i % 4] },
  regions: REGIONS.filter((_, r) => (i + r) % 3 !== 0 || r === i % 4),
  deadline: `2027-${String(1 + ((i * 5) % 12)).padStart(2, '0')}-15`,
  budget: { amount: 10000 + 7500 * ((i * 11) % 40), currency: i % 9 ? 'EUR' : 'DKK' },
  updatedAt: `2026-0${1 + (i % 9)}-0${1 + (i % 8)}T10:${String(i % 60).padStart(2, '0')}:00Z`,
  description: { de: `Beschreibung für ${TOPIC[i % 6][0]} – Nr. ${i}.`, en: `About ${TOPIC[i % 6][1]}, no. ${i}.` },
  contact: `call${i}@uni-nord.example`,
});
const CALLS = Array.from({ length: 60 }, (_, i) => makeCall(`N-${1001 + i}`, i));
const started = Date.now();
const calls = () => {
  if (!is('right-moving')) return CALLS;
  const extra = Math.min(30, Math.floor((Date.now() - started) / 5000));
  return [...Array.from({ length: extra }, (_, k) => makeCall(`N-0${900 - k}`, 60 + k)), ...CALLS];
};
const view = (c, lang, aff, detail) => ({
  id: c.id, title: c.title[lang], status: c.status, funder: c.funder, regions: c.regions, deadline: c.deadline,
  budget: c.budget, updatedAt: c.updatedAt,
  annotations: Number(c.id.slice(2)) % 2 ? [{ affiliationId: aff, note: `${lang === 'de' ? 'Notiz für' : 'Note for'} ${aff}: ${c.id}` }] : [],
  ...(detail ? { description: c.description[lang], contact: c.contact } : {}),
});

// ---------------------------------------------------------------- authorization server
const b64 = (o) => Buffer.from(JSON.stringify(o)).toString('base64url');
function sign(k, iss, id, c) {
  const t = now();
  const claims = { iss, sub: c.sub, aud: c.aud || AUD, client_id: id, iat: t, exp: t + TTL, jti: crypto.randomUUID(), scope: 'funding.read', roles: c.roles, affiliation: c.aff };
  const head = { alg: 'ES256', typ: 'at+jwt', kid: k.kid };
  if (is('right-long-token')) {
    head.jku = ORIGIN + '/oauth/jwks';
    claims.aud = [claims.aud, 'https://reports.uni-nord.example', 'account'];
    claims.entitlements = Array.from({ length: 130 }, (_, i) => `urn:uni-nord:group:${i}:Mitglied-Ö`);
    claims.nbf = t;
  }
  const input = b64(head) + '.' + b64(claims);
  return input + '.' + crypto.sign('sha256', Buffer.from(input), { key: k.priv, dsaEncoding: 'ieee-p1363' }).toString('base64url');
}
const same = (a, b) => crypto.timingSafeEqual(crypto.createHash('sha256').update(a).digest(), crypto.createHash('sha256').update(b).digest());
const unform = (s) => decodeURIComponent(s.replace(/\+/g, ' '));
const rawAll = (req, name) => req.rawHeaders.filter((_, i, a) => i % 2 === 1 && a[i - 1].toLowerCase() === name);
const tokenCache = new Map();

function tokenEndpoint(store, k, iss) {
  const r = express.Router({ caseSensitive: true, strict: true });
  const fail = (res, status, error, text) => {
    res.set({ 'Cache-Control': 'no-store', Pragma: 'no-cache' });
    if (status === 401) res.set('WWW-Authenticate', 'Basic realm="uni-nord"');
    res.status(status).json({ error, error_description: text });
  };
  r.all('/token', (req, res, next) => {
    if (req.method === 'POST') return next();
    res.set('Allow', 'POST');
    fail(res, 405, 'invalid_request', 'the token endpoint takes POST only');
  });
  r.post('/token', express.raw({ type: () => true, limit: '16kb', inflate: false }), (req, res) => {
    if (!req.is('application/x-www-form-urlencoded')) return fail(res, 400, 'invalid_request', 'the body has to be a form');
    const form = new Map();
    try {
      for (const pair of (req.body || '').toString('utf8').split('&')) {
        if (!pair) continue;
        const at = pair.indexOf('=');
        const name = unform(at < 0 ? pair : pair.slice(0, at));
        const value = at < 0 ? '' : unform(pair.slice(at + 1));
        if (form.has(name)) return fail(res, 400, 'invalid_request', 'a parameter is repeated');
        form.set(name, value);
      }
    } catch { return fail(res, 400, 'invalid_request', 'the form is malformed'); }
    const get = (n) => form.get(n) || undefined;
    let id = get('client_id'); let secret = get('client_secret');
    const auth = rawAll(req, 'authorization');
    if (auth.length > 1) return fail(res, 400, 'invalid_request', 'more than one Authorization header');
    if (auth.length) {
      const m = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(auth[0]);
      const plain = m ? Buffer.from(m[1], 'base64').toString('utf8') : '';
      const at = plain.indexOf(':');
      if (at < 1) return fail(res, 401, 'invalid_client', 'the Authorization header is no Basic credentials');
      if (secret !== undefined) return fail(res, 400, 'invalid_request', 'two ways of client authentication');
      let user; let pass;
      const decode = is('basic-not-decoded') ? (s) => s : unform;
      try { user = decode(plain.slice(0, at)); pass = decode(plain.slice(at + 1)); } catch { return fail(res, 401, 'invalid_client', 'client authentication failed'); }
      if (id !== undefined && id !== user) return fail(res, 400, 'invalid_request', 'client_id differs from the Authorization header');
      id = user; secret = pass;
    }
    const c = id !== undefined && Object.hasOwn(store, id) ? store[id] : undefined;
    if (!same(secret || '', c ? c.secret : '\0') || !c) return fail(res, 401, 'invalid_client', 'client authentication failed');
    if (!get('grant_type')) return fail(res, 400, 'invalid_request', 'grant_type is missing');
    if (get('grant_type') !== 'client_credentials') return fail(res, 400, 'unsupported_grant_type', 'only client_credentials is offered');
    const scope = get('scope');
    if (scope && scope !== 'funding.read') return fail(res, 400, 'invalid_scope', 'the only scope is funding.read');
    res.set({ 'Cache-Control': 'no-store', Pragma: 'no-cache' });
    const answer = { access_token: sign(k, iss, id, c), token_type: 'Bearer', expires_in: TTL, scope: 'funding.read' };
    if (is('token-cache-expiry')) { // tokens are reused, expires_in is not counted down
      const hit = tokenCache.get(iss + id);
      if (hit && hit.until > now() + 15) return res.json(hit.answer);
      tokenCache.set(iss + id, { answer, until: now() + TTL });
    }
    if (is('right-bearer-lower')) Object.assign(answer, { token_type: 'bearer', 'not-before-policy': 0, session_state: null, id: { client: id, roles: c.roles } });
    res.json(answer);
  });
  r.use('/token', (err, req, res, next) => fail(res, err.status === 413 ? 413 : 400, 'invalid_request', 'the body cannot be read'));
  return r;
}

// ---------------------------------------------------------------- bearer tokens
const strictB64 = (s) => { const b = Buffer.from(s, 'base64url'); return b.toString('base64url') === s ? b : null; };
const verified = new Map();
function verify(token) {
  if (is('verify-cache') && verified.has(token)) return verified.get(token);
  try {
    const parts = token.split('.');
    if (parts.length !== 3) return null;
    const [h, p, s] = parts.map(strictB64);
    if (!h || !p || !s || s.length !== 64) return null;
    const head = JSON.parse(h.toString('utf8')); const c = JSON.parse(p.toString('utf8'));
    if (head.alg !== 'ES256' || head.kid !== PROD.kid || head.crit !== undefined || !/^(application\/)?at\+jwt$/i.test(head.typ)) return null;
    if (!crypto.verify('sha256', Buffer.from(parts[0] + '.' + parts[1]), { key: PROD.pub, dsaEncoding: 'ieee-p1363' }, s)) return null;
    const auds = Array.isArray(c.aud) ? c.aud : [c.aud];
    const wanted = is('aud-prefix') ? (a) => new RegExp('^' + AUD).test(a) : (a) => a === AUD;
    if (c.iss !== ISS || !auds.some(wanted)) return null;
    if (typeof c.exp !== 'number' || c.exp <= now() || (c.nbf !== undefined && !(c.nbf <= now() + 5))) return null;
    verified.set(token, c);
    if (verified.size > 1000) verified.delete(verified.keys().next().value);
    return c;
  } catch { return null; }
}
const problem = (res, status, detail, challenge) => {
  res.set('Cache-Control', 'no-store');
  if (challenge) res.set('WWW-Authenticate', 'Bearer realm="uni-nord"' + (challenge === true ? '' : ', ' + challenge));
  const title = { 400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found', 405: 'Method Not Allowed', 406: 'Not Acceptable', 500: 'Internal Server Error', 503: 'Service Unavailable' }[status] || 'Error';
  res.status(status).type('application/problem+json').send(JSON.stringify({ type: 'about:blank', title, status, detail }));
};
let current = null; let asked = 0;
const guard = (needRole) => async (req, res, next) => {
  const auth = rawAll(req, 'authorization');
  if (auth.length > 1) return problem(res, 400, 'more than one Authorization header', 'error="invalid_request"');
  if (!auth.length || !/^bearer( |$)/i.test(auth[0])) return problem(res, 401, 'an access token is needed', true);
  const m = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(auth[0]);
  if (!m) return problem(res, 400, 'the credentials are malformed', 'error="invalid_request"');
  if (req.query.access_token !== undefined) return problem(res, 400, 'the token was sent in more than one way', 'error="invalid_request"');
  req.client = verify(m[1]);
  if (!req.client) return problem(res, 401, 'the access token is not valid', 'error="invalid_token", error_description="invalid or expired"');
  current = req.client;
  await sleep(4); // the affiliation's settings come from another service
  if (is('shared-client')) req.client = current; // the "current user" lives in the module
  const exempt = is('cursor-no-role') && req.query.cursor !== undefined; // "they had the first page, so they may"
  if (needRole && !exempt && !req.client.roles.includes(ROLE)) return problem(res, 403, 'the service account lacks the role ' + ROLE, 'error="insufficient_scope"');
  if (is('right-busy') && ++asked % 7 === 0) { res.set('Retry-After', '1'); return problem(res, 503, 'maintenance of the index, try again in a second'); }
  next();
};

// ---------------------------------------------------------------- the API
const app = express();
app.set('x-powered-by', false);
app.set('case sensitive routing', !is('case-path'));
app.set('strict routing', true);
app.set('query parser', (s) => { // one value each; a repeated parameter is an array
  const q = Object.create(null);
  for (const [k, v] of new URLSearchParams(s || '')) q[k] = k in q ? [].concat(q[k], v) : v;
  return q;
});
app.use('/oauth', tokenEndpoint(CLIENTS, PROD, ISS));
app.use('/staging/oauth', tokenEndpoint(STAGING_CLIENTS, STAGING, ISS + '/staging'));
app.use((req, res, next) => { res.set('X-Content-Type-Options', 'nosniff'); next(); });
const apiGuard = guard(true); const infoGuard = guard(false);
app.use((req, res, next) => {
  if (['GET', 'HEAD'].includes(req.method)) {
    if (req.path === `${P}/info/v1/oauth/info/`) return infoGuard(req, res, next);
    if (req.path === `${P}/funding/v3/calls` || req.path.startsWith(`${P}/funding/v3/calls/`)) return apiGuard(req, res, next);
  }
  next();
});
const answer = (req, res, body, opt = {}) => {
  if (!req.accepts('json')) return problem(res, 406, 'only application/json is offered');
  const text = JSON.stringify(body);
  const basis = is('etag-no-language') && opt.version ? opt.version : text;
  res.set({ 'Cache-Control': opt.public ? 'public, max-age=60' : 'private, no-cache', ETag: '"' + crypto.createHash('sha256').update(basis).digest('base64url').slice(0, 22) + '"' });
  res.vary('Accept');
  if (!opt.public) res.vary('Authorization');
  if (opt.lang) { res.set('Content-Language', opt.lang); res.vary('Accept-Language'); }
  res.type('application/json').send(text);
};
const language = (req) => (req.headers['accept-language'] ? req.acceptsLanguages('en', 'de') || 'en' : 'en');
const one = (q, name, ok) => {
  if (q[name] === undefined) return undefined;
  if (typeof q[name] !== 'string' || !ok(q[name])) throw Object.assign(new Error('the parameter ' + name + ' has a value that is not allowed'), { status: 400 });
  return q[name];
};
const isDate = (s) => /^\d{4}-\d\d-\d\d$/.test(s) && !Number.isNaN(Date.parse(s)) && new Date(s).toISOString().slice(0, 10) === s;
const cursorOf = (c, sort) => Buffer.from(JSON.stringify({ s: sort, d: c.deadline, i: c.id })).toString('base64url');
function readCursor(s, sort) {
  if (is('cursor-stack') && /^[\w-]+$/.test(s)) { const c = JSON.parse(Buffer.from(s, 'base64url').toString()); if (c.s === sort) return c; }
  try { const c = JSON.parse(strictB64(s).toString('utf8')); if (c.s === sort && typeof c.d === 'string' && typeof c.i === 'string') return c; } catch { /* below */ }
  throw Object.assign(new Error('the parameter cursor is not one of this list'), { status: 400 });
}
const str = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
const pages = new Map();
function list(req, res, aff, open) {
  const q = req.query; const lang = language(req);
  const status = one(q, 'status', (v) => STATUS.includes(v));
  const region = one(q, 'region', (v) => REGIONS.includes(v));
  const funder = one(q, 'funder', (v) => /^[A-Z0-9]{1,20}$/.test(v));
  const from = one(q, 'deadlineFrom', isDate);
  const sort = one(q, 'sort', (v) => ['id', 'deadline', '-deadline'].includes(v)) || 'id';
  const limit = Number(one(q, 'limit', (v) => /^[1-9]\d?$|^100$/.test(v)) || 25);
  const after = one(q, 'cursor', (v) => v !== '') && readCursor(q.cursor, sort);
  const cacheKey = req.originalUrl + ' ' + lang;
  const hit = is('cache-no-token') && !open && pages.get(cacheKey);
  if (hit && hit.until > Date.now()) return answer(req, res, hit.body, { lang });
  let all = calls().filter((c) => (!status || c.status === status) && (!region || c.regions.includes(region)) && (!funder || c.funder.id === funder) && (!from || c.deadline >= from));
  const total = all.length;
  const dir = sort === '-deadline' ? -1 : 1;
  const order = (a, b) => (sort === 'id' ? 0 : dir * str(a.deadline, b.deadline)) || str(a.id, b.id);
  all = all.sort(order);
  if (after) {
    if (is('cursor-ties') && sort !== 'id') all = all.filter((c) => dir * str(c.deadline, after.d) > 0);
    else all = all.filter((c) => order(c, { deadline: after.d, id: after.i }) > 0);
  }
  const page = all.slice(0, limit);
  const body = { total, items: page.map((c) => view(c, lang, aff, false)), ...(all.length > limit ? { nextCursor: cursorOf(page[page.length - 1], sort) } : {}) };
  pages.set(cacheKey, { body, until: Date.now() + 20000 });
  if (pages.size > 500) pages.clear();
  answer(req, res, body, { lang, public: open, version: page.map((c) => c.id + c.updatedAt).join() + total + aff + req.originalUrl });
}
function detail(req, res, aff, open) {
  const lang = language(req); const c = calls().find((x) => x.id === req.params.id);
  if (!c) return problem(res, 404, 'there is no call with this id');
  answer(req, res, view(c, lang, aff, true), { lang, public: open, version: c.id + c.updatedAt + aff });
}
const aff = (req) => (req.client ? req.client.affiliation : 'AFF-000');
const get = (path, f) => {
  app.get(path, f);
  app.options(path, (req, res) => res.set('Allow', 'GET, HEAD, OPTIONS').status(204).end());
  app.all(path, (req, res) => { res.set('Allow', 'GET, HEAD, OPTIONS'); problem(res, 405, 'this resource is read with GET'); });
};
get('/', (req, res) => res.type('text').send('Research information node of Universität Nord\n'));
get('/oauth/jwks', (req, res) => answer(req, res, { keys: [PROD.jwk] }, { public: true }));
get('/registry.json', (req, res) => answer(req, res, { member: [{ id: 'XN', acronym: 'UNORD', name: 'Universität Nord', contact: 'ris@uni-nord.example', oauth2: ORIGIN + '/oauth/token', info: `${ORIGIN}${P}/info/v1/oauth/info/` }] }, { public: true }));
get(`${P}/info/v1/oauth/info/`, (req, res) => answer(req, res, {
  endpoints: { funding: [{ name: 'FUNDINGS', majorVersion: 3, minorVersion: 0, url: `${ORIGIN}${P}/funding/v3/calls` }, { name: 'FUNDING', majorVersion: 3, minorVersion: 0, url: `${ORIGIN}${P}/funding/v3/calls/{id}` }] },
  client: { id: req.client?.client_id, serviceAccount: req.client?.sub, roles: req.client?.roles },
}));
get(`${P}/funding/v3/api-docs`, (req, res) => answer(req, res, document(), { public: true }));
get(`${P}/funding/v3/calls`, (req, res) => list(req, res, aff(req), false));
get(`${P}/funding/v3/calls/:id`, (req, res) => detail(req, res, aff(req), false));
get(`${P}/try-out/funding/v3/calls`, (req, res) => list(req, res, 'AFF-000', true));
get(`${P}/try-out/funding/v3/calls/:id`, (req, res) => detail(req, res, 'AFF-000', true));
app.use((req, res) => problem(res, 404, 'there is nothing at this path'));
app.use((err, req, res, next) => {
  if (res.headersSent || (is('cursor-stack') && !err.status)) return next(err);
  const status = err.status >= 400 && err.status < 500 ? err.status : 500;
  problem(res, status, status === 400 ? String(err.message).slice(0, 200) : 'the request cannot be answered');
});

// ---------------------------------------------------------------- its document
function document() {
  const ref = (n) => ({ $ref: '#/components/schemas/' + n });
  const s = (more) => ({ type: 'string', ...more });
  const heads = (...n) => Object.fromEntries(n.map((x) => [x, { schema: { type: 'string' }, required: x !== 'Retry-After' }]));
  const err = (description, ...h) => ({ description, ...(h.length ? { headers: heads(...h) } : {}), content: { 'application/problem+json': { schema: ref('Problem') } } });
  const ok = (schema, ...h) => ({ description: 'The answer.', headers: heads('ETag', 'Vary', 'Cache-Control', ...h), content: { 'application/json': { schema } } });
  const common = { 304: { description: 'Not modified (If-None-Match).' }, 400: err('The request or its credentials are malformed.'), 405: err('Only GET, HEAD and OPTIONS.', 'Allow'), 406: err('Only application/json is offered.') };
  const guarded = { ...common, 401: err('No access token, or not a valid one.', 'WWW-Authenticate'), ...(is('right-busy') ? { 503: err('Busy: ask again after Retry-After.', 'Retry-After') } : {}) };
  const role = { ...guarded, 403: err('The service account lacks the role.', 'WWW-Authenticate') };
  const lang = { name: 'Accept-Language', in: 'header', schema: s(), description: 'de or en (default); title, description and notes are in this language.' };
  const query = (name, schema, description) => ({ name, in: 'query', schema, description });
  const listParams = [
    query('status', s({ enum: STATUS }), 'Calls with this status.'), query('region', s({ enum: REGIONS }), 'Calls whose regions contain this one.'),
    query('funder', s({ pattern: '^[A-Z0-9]{1,20}$' }), 'Calls of the funder with this id.'), query('deadlineFrom', s({ format: 'date' }), 'Calls with a deadline on this day or later.'),
    query('sort', s({ enum: ['id', 'deadline', '-deadline'], default: 'id' }), 'The order; equal deadlines are ordered by id.'),
    query('limit', { type: 'integer', minimum: 1, maximum: 100, default: 25 }, 'The largest number of items on a page.'),
    query('cursor', s({ minLength: 1 }), 'The nextCursor of the page before, with the same filters, sort and limit as there.'), lang];
  const idParam = { name: 'id', in: 'path', required: true, schema: s(), description: 'The id, as in the list.' };
  const styled = is('right-doc-style');
  const op = (operationId, summary, parameters, responses, more) => ({ get: { ...(styled ? {} : { operationId }), summary, parameters, responses, ...more } });
  const listText = { description: 'Filters hold together (AND); unknown parameters are ignored, repeated ones refused. Pages follow nextCursor; the last page has none. total counts what the filters leave.' };
  const props = {
    id: s({ pattern: '^N-[0-9]{4}$' }), title: s(), status: s({ enum: STATUS }), funder: { type: 'object', required: ['id', 'name'], properties: { id: s(), name: s() } },
    regions: { type: 'array', minItems: 1, items: s({ enum: REGIONS }) }, deadline: s({ format: 'date' }),
    budget: { type: 'object', required: ['amount', 'currency'], properties: { amount: { type: 'integer', minimum: 0 }, currency: s({ enum: ['EUR', 'DKK'] }) } },
    updatedAt: s({ format: 'date-time' }),
    annotations: { type: 'array', description: "Notes for the affiliation of the caller's service account, and for no other.", items: { type: 'object', required: ['affiliationId', 'note'], properties: { affiliationId: s(), note: s() } } },
  };
  const call = { type: 'object', required: Object.keys(props), properties: props };
  const paths = {
    '/info/v1/oauth/info/': op('info', 'Whether a token works, and where the APIs are', [], { 200: ok(ref('Info')), ...guarded }),
    '/funding/v3/api-docs': op('apiDocs', 'This document', [], { 200: ok({ type: 'object' }), 304: common[304], 405: common[405], 406: common[406] }, { security: [] }),
    '/funding/v3/calls': op('listCalls', 'Funding calls', listParams, { 200: ok(ref('CallPage'), 'Content-Language'), ...role }, listText),
    '/funding/v3/calls/{id}': op('getCall', 'One funding call', [idParam, lang], { 200: ok(ref('CallDetail'), 'Content-Language'), ...role, 404: err('No call has this id.') }),
    '/try-out/funding/v3/calls': op('tryListCalls', 'Try-out: the list without a token, with sample notes', listParams, { 200: ok(ref('CallPage'), 'Content-Language'), ...common }, { ...listText, security: [] }),
    '/try-out/funding/v3/calls/{id}': op('tryGetCall', 'Try-out: one call without a token', [idParam, lang], { 200: ok(ref('CallDetail'), 'Content-Language'), ...common, 404: err('No call has this id.') }, { security: [] }),
  };
  if (styled) for (const [p, item] of Object.entries(paths)) { // servers per path, parameters at the path
    delete paths[p];
    const cut = p.split('/').slice(0, 3).join('/');
    item.servers = [{ url: '{base}' + cut, variables: { base: { default: ORIGIN + P, enum: [ORIGIN + P, 'https://api.uni-nord.example/uni-nord'] } } }];
    item.parameters = item.get.parameters; delete item.get.parameters;
    paths[p.slice(cut.length)] = item;
  }
  return {
    openapi: '3.1.0', info: { title: 'Funding calls of Universität Nord', version: '3.0.0' }, servers: styled ? [{ url: 'https://docs.uni-nord.example/mock' }] : [{ url: ORIGIN + P }],
    security: [{ oauth: ['funding.read'] }], paths,
    components: {
      securitySchemes: { oauth: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: ORIGIN + '/oauth/token', scopes: { 'funding.read': 'Read funding calls; every token has it.' } } } } },
      schemas: {
        Call: call, CallDetail: { allOf: [ref('Call'), { type: 'object', required: ['description', 'contact'], properties: { description: s(), contact: s({ format: 'email' }) } }], description: 'The members of the list have the same values here.' },
        CallPage: { type: 'object', required: ['total', 'items'], properties: { total: { type: 'integer', minimum: 0 }, items: { type: 'array', items: ref('Call') }, nextCursor: s() } },
        Problem: { type: 'object', required: ['type', 'title', 'status', 'detail'], properties: { type: s(), title: s(), status: { type: 'integer' }, detail: s() } },
        Info: { type: 'object', required: ['endpoints', 'client'], properties: { endpoints: { type: 'object', additionalProperties: { type: 'array', items: { type: 'object', required: ['name', 'url'], properties: { name: s(), majorVersion: { type: 'integer' }, minorVersion: { type: 'integer' }, url: s() } } } }, client: { type: 'object', properties: { id: s(), serviceAccount: s(), roles: { type: 'array', items: s() } } } } },
      },
    },
  };
}
app.listen(PORT, '127.0.0.1', () => console.log('XN ' + (NODE || 'base') + ' on ' + ORIGIN));
