'use strict';
// Univerzita Vltava: funding node (express). The environment variable NODE chooses the variant, PORT the port.
const express = require('express');
const crypto = require('crypto');
const zlib = require('zlib');

const NODE = process.env.NODE || 'express-base';
const PORT = Number(process.env.PORT || 8080);
const ORIGIN = `http://127.0.0.1:${PORT}`;
const is = (n) => NODE === n;
const API = '/vltava/funding/v3';
const LIFETIME = 600;

// ------------------------------------------------------------------ data

const REGIONS = ['PRAHA', 'STREDNI_CECHY', 'JIZNI_CECHY', 'MORAVA', 'SEVERNI_MORAVA', 'SLEZSKO'];
const TYPES = ['CALL', 'ONGOING_CALL', 'GRANT', 'SCHOLARSHIP'];
const FUNDERS = [
  ['F-100', 'Grantový fond Vltavy', 'Vltava Grant Fund', 'CZ'],
  ['F-101', 'Nadace Říp', 'Říp Foundation', 'CZ'],
  ['F-102', 'Visegrádská výzkumná rada', 'Visegrad Research Council', 'SK'],
  ['F-103', 'Moravský zemský fond', 'Moravian Provincial Fund', 'CZ'],
  ['F-104', 'Evropská síť řek', 'European River Network', 'AT'],
].map(([id, cs, en, country]) => ({ id, name: [{ lang: 'cs', text: cs }, { lang: 'en', text: en }], country }));
const TOPICS = [['Čistá voda', 'Clean water'], ['Žulové masivy', 'Granite massifs'], ['Dějiny mostů', 'History of bridges'], ['Umělá inteligence', 'Artificial intelligence'],
  ['Šlechtění chmele', 'Hop breeding'], ['Městská mobilita', 'Urban mobility'], ['Řeč a sluch', 'Speech and hearing'], ['Baterie', 'Batteries']];
const AMOUNTS = [90000, 250000, 1500000, 40000, 250000, 760000, 1200000, 99999.5, 8000];
const CALLS = [];
for (let i = 0; i < 48; i++) {
  const n = (i * 29) % 48;
  const [cs, en] = TOPICS[(i * 3 + (i >> 3)) % 8];
  const round = (i % 4) + 1;
  const day = new Date(Date.UTC(2026, (i * 7) % 12, [10, 10, 20, 30, 25][i % 5] - ((i * 7) % 12 === 1 ? 5 : 0)));
  CALLS.push({
    id: `VL-${String(1001 + n)}`,
    type: TYPES[(i * 5 + (i >> 2)) % 4],
    title: [{ lang: 'cs', text: `${cs} – ${round}. kolo` }, { lang: 'en', text: `${en} – round ${round}` }],
    region: REGIONS[(i * 5 + (i >> 3)) % 6],
    funder: FUNDERS[(i * 2 + (i >> 4)) % 5].id,
    deadline: day.toISOString().slice(0, 10),
    open: i % 3 !== 1,
    amount: AMOUNTS[(i * 4) % 9],
    currency: 'CZK',
    description: [{ lang: 'cs', text: `Výzva v oblasti „${cs}“.` }, { lang: 'en', text: `A call in the field of “${en}”.` }],
    minDurationMonths: i % 4 === 0 ? 0 : (i % 4) * 6,
    contacts: i % 5 === 3 ? [] : [{ name: 'Jana Dvořáková', email: `vyzvy+${n}@vltava.example` }],
    publishedAt: new Date(Date.UTC(2026, 0, 5 + (i % 20), 7, i, 0)).toISOString(),
  });
}
CALLS.sort((a, b) => (a.id < b.id ? -1 : 1));
const summary = ({ description, minDurationMonths, contacts, publishedAt, ...rest }) => rest;

// ------------------------------------------------------------------ authorization servers

const EXT = ['EXTERNAL_API_CLIENT'];
const client = (id, secret, audience, roles, affiliationId) => ({ id, secret, audience, roles, affiliationId });
function server(realm, audience, clients) {
  return { realm, audience, clients: new Map(clients.map((c) => [c.id, c])), tokens: new Map(), fails: new Map(), locked: new Map() };
}
const production = server('vltava', 'funding', [
  client('vltava-portal', 'Vysehrad+nad/77%_Reky~a.pod-Mostem:Karlovym_kde-tece-voda-k-Melniku-a-dal-do-Labe.7qX2', 'funding', EXT, 'ror:05v1tava0'),
  client('vltava-knihovna', 'b3Qz8XwT6rLm1KpYs9VnHc4JdGf7EaUo2IiRtWq5ZxCvBnM0lKjHgFdSaPoIuYtReWqLkJhGfDsAzXcV8e1', 'funding', EXT, 'ror:05kn1h0vn'),
  client('vltava-host', 'p9OiU7yTr5EwQ3lKjH1gFdS8aMnB6vCx4ZqWeRtYuIoPaSdFgHjKlZxCvBnM2q4W6e8R0t1Y3u5I7o9PqA', 'funding', [], 'ror:05h0st000'),
  client('vltava-projekty', 'h2Gf4Ds6Ap8Oi0Uy1Tr3Ew5Qz7Xc9VbNmLkJhGfDsApOiUyTrEwQzXcVbNm1L2k3J4h5G6f7D8s9A0pO1iU', 'projects', EXT, 'ror:05pr0jek7'),
  client('vltava-rezerva', 'z6Xc8Vb0Nm2Lk4Jh6Gf8Ds0Ap2Oi4Uy6Tr8Ew0QqWeRtYuIoPaSdFgHjKlZxCvBnMqWeRtYuIoP3a5S7d9F1', 'funding', EXT, 'ror:05rezerva'),
]);
const test = server('vltava-test', 'funding', [
  client('test-portal', 'c4Vb6Nm8Lk0Jh2Gf4Ds6Ap8Oi0Uy2Tr4Ew6QzXcVbNmLkJhGfDsApOiUyTrEwQqWeRtYuIoPaS1dF3gH5jK7l', 'funding', EXT, 'ror:05v1tava0'),
]);

const digest = (s) => crypto.createHash('sha256').update(s).digest();
// the column of the password hash
function fingerprint(secret) {
  const bytes = Buffer.from(secret, 'utf8');
  return digest(is('express-hash-input') ? bytes.subarray(0, 72) : bytes);
}
const tokenKey = (t) => (is('express-token-collation') ? t.toLowerCase() : t);

function oauthError(res, status, error, description) {
  if (status === 401) res.set('WWW-Authenticate', 'Basic realm="Univerzita Vltava", charset="UTF-8"');
  res.set({ 'Cache-Control': 'no-store', Pragma: 'no-cache', 'Content-Type': 'application/json' });
  return res.status(status).end(JSON.stringify({ error, error_description: description }));
}

const formDecode = (s) => decodeURIComponent(s.replace(/\+/g, ' '));

function tokenEndpoint(srv) {
  return (req, res) => {
    if (!req.is('application/x-www-form-urlencoded') || typeof req.body !== 'string') return oauthError(res, 400, 'invalid_request', 'a form is expected');
    const form = new URLSearchParams(req.body);
    if (new Set(form.keys()).size !== [...form.keys()].length) return oauthError(res, 400, 'invalid_request', 'a parameter was repeated');
    const query = new URLSearchParams(req.originalUrl.split('?')[1] || '');
    if (['grant_type', 'client_id', 'client_secret', 'scope'].some((k) => query.has(k))) return oauthError(res, 400, 'invalid_request', 'parameters belong into the body');
    let id = form.get('client_id') || '';
    let secret = form.get('client_secret') || '';
    const headers = req.headersDistinct.authorization || [];
    if (headers.length > 1) return oauthError(res, 400, 'invalid_request', 'more than one Authorization header');
    if (headers.length === 1) {
      if (form.has('client_secret')) return oauthError(res, 400, 'invalid_request', 'more than one way of client authentication');
      const m = /^basic +([A-Za-z0-9+/]+=*) *$/i.exec(headers[0]);
      const pair = m ? Buffer.from(m[1], 'base64').toString('utf8') : '';
      const colon = pair.indexOf(':');
      if (colon < 1) return oauthError(res, 401, 'invalid_client', 'client authentication failed');
      let u, p;
      try { u = formDecode(pair.slice(0, colon)); p = formDecode(pair.slice(colon + 1)); } catch { return oauthError(res, 401, 'invalid_client', 'client authentication failed'); }
      if (form.has('client_id') && id !== u) return oauthError(res, 400, 'invalid_request', 'two different client ids');
      id = u; secret = p;
    }
    const grant = form.get('grant_type');
    if (!grant) return oauthError(res, 400, 'invalid_request', 'grant_type is missing');
    if (!id || !secret) return oauthError(res, 401, 'invalid_client', 'client authentication failed');
    const now = Date.now();
    if ((srv.locked.get(id) || 0) > now) {
      res.set('Retry-After', String(Math.ceil((srv.locked.get(id) - now) / 1000)));
      return oauthError(res, 429, 'invalid_request', 'too many wrong secrets');
    }
    const c = srv.clients.get(id);
    const match = crypto.timingSafeEqual(fingerprint(secret), c ? fingerprint(c.secret) : digest('?'));
    if (!c || !match) {
      const recent = (srv.fails.get(id) || []).filter((t) => now - t < 30000).concat(now);
      srv.fails.set(id, recent);
      if (recent.length >= 100) { srv.locked.set(id, now + 30000); srv.fails.delete(id); }
      return oauthError(res, 401, 'invalid_client', 'client authentication failed');
    }
    if (grant !== 'client_credentials') return oauthError(res, 400, 'unsupported_grant_type', 'only client_credentials');
    const own = c.audience === 'funding' ? 'vltava.funding' : 'vltava.projects';
    const asked = form.get('scope');
    if (asked && asked !== own) return oauthError(res, 400, 'invalid_scope', 'unknown scope');
    const token = crypto.randomBytes(32).toString('base64url');
    srv.tokens.set(tokenKey(token), { client: c, scope: own, until: now + LIFETIME * 1000 });
    res.set({ 'Cache-Control': 'no-store', Pragma: 'no-cache', 'Content-Type': 'application/json' });
    return res.status(200).end(JSON.stringify({ access_token: token, token_type: 'Bearer', expires_in: LIFETIME, scope: own }));
  };
}

// ------------------------------------------------------------------ answers

function acceptsGzip(req) {
  const header = req.get('accept-encoding') || '';
  if (is('express-gzip-test')) return /\bgzip\b/.test(header);
  let star = 0, own;
  for (const part of header.split(',')) {
    const [name, ...params] = part.split(';').map((s) => s.trim().toLowerCase());
    let q = 1;
    for (const p of params) if (/^q\s*=/.test(p)) q = Number(p.split('=')[1]);
    if (name === 'gzip' || name === 'x-gzip') own = q;
    if (name === '*') star = q;
  }
  return (own === undefined ? star : own) > 0;
}

const order = (v) => {
  if (Array.isArray(v)) return v.map(order);
  if (v && typeof v === 'object') {
    const keys = Object.keys(v).map((k) => [Math.random(), k]).sort((a, b) => a[0] - b[0]);
    return Object.fromEntries(keys.map(([, k]) => [k, order(v[k])]));
  }
  return v;
};
function plainJson(v) {
  return JSON.stringify(order(v), null, 1)
    .replace(/[^\x00-\x7f]/g, (ch) => '\\u' + ch.charCodeAt(0).toString(16).padStart(4, '0'))
    .replace(/("amount": )([0-9.]+)/g, (_, k, n) => k + Number(n).toExponential().replace('e', 'E'))
    .replace(/("(?:email|url)": ")([^"]*)"/g, (_, k, s) => k + s.replace(/\//g, '\\/').replace(/@/g, '\\u0040') + '"');
}

function reply(req, res, value, extra) {
  const text = is('express-plain-json') ? plainJson(value) : JSON.stringify(value);
  const tagOf = is('express-plain-json') ? JSON.stringify(value) : text;
  let body = Buffer.from(text, 'utf8');
  const gzip = body.length > 512 && acceptsGzip(req);
  if (gzip) body = zlib.gzipSync(body);
  const opaque = digest(tagOf).toString('hex').slice(0, 24);
  const etag = is('express-plain-json') ? `W/"${opaque}"` : `"${opaque}${gzip ? '-gz' : ''}"`;
  res.set({ Vary: 'Accept-Encoding', 'Cache-Control': 'private, no-cache', ETag: etag, ...extra });
  const bare = (t) => t.trim().replace(/^W\//, '');
  const im = req.get('if-match');
  if (im !== undefined && !im.split(',').some((t) => t.trim() === '*' || (t.trim() === etag && !etag.startsWith('W/')))) return fail(req, res, 412, 'PRECONDITION_FAILED', 'The representation has changed.');
  const inm = req.get('if-none-match');
  if (inm !== undefined && inm.split(',').some((t) => t.trim() === '*' || bare(t) === bare(etag))) return res.status(304).end();
  if (gzip) res.set('Content-Encoding', 'gzip');
  res.set({ 'Content-Type': 'application/json', 'Content-Length': String(body.length) });
  res.status(200);
  return req.method === 'HEAD' ? res.end() : res.end(body);
}

function fail(req, res, status, code, message) {
  for (const h of ['ETag', 'Content-Encoding']) res.removeHeader(h);
  const body = Buffer.from(JSON.stringify({ error: { code, message, requestId: crypto.randomUUID() } }));
  res.set({ 'Content-Type': 'application/json', 'Cache-Control': 'no-store', 'Content-Length': String(body.length) });
  res.status(status);
  return req.method === 'HEAD' ? res.end() : res.end(body);
}

// ------------------------------------------------------------------ guards

function challenge(req, res, status, code, error, message) {
  const bearer = error ? `Bearer realm="vltava", error="${error}"` : 'Bearer realm="vltava"';
  if (is('express-challenges')) {
    const params = (error ? `, error="${error}", error_description="viz odpoved, pole error"` : '');
    res.set('WWW-Authenticate', [`Negotiate, bearer realm="Univerzita Vltava, \\"API\\"; Basic"${params}`, 'DPoP algs="ES256 PS256", NewAuth abc123==']);
  } else res.set('WWW-Authenticate', bearer);
  return fail(req, res, status, code, message);
}

function authenticate(srv) {
  return (req, res, next) => {
    const headers = req.headersDistinct.authorization || [];
    if (headers.length > 1) return challenge(req, res, 400, 'BAD_REQUEST', 'invalid_request', 'More than one Authorization header.');
    if (!headers.length || !/^bearer( |$)/i.test(headers[0])) return challenge(req, res, 401, 'UNAUTHENTICATED', '', 'A token is needed.');
    const m = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(headers[0]);
    const t = m && srv.tokens.get(tokenKey(m[1]));
    if (!t || t.until <= Date.now() || t.client.audience !== srv.audience) return challenge(req, res, 401, 'UNAUTHENTICATED', 'invalid_token', 'The token is not valid.');
    req.grant = t;
    return next();
  };
}

function requireRole(req, res, next) {
  if (req.grant.client.roles.includes('EXTERNAL_API_CLIENT')) return next();
  return challenge(req, res, 403, 'FORBIDDEN', 'insufficient_scope', 'The role EXTERNAL_API_CLIENT is missing.');
}

// networks of the campus
const campus = /^(?:127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.)/;
const guards = [authenticate(production), requireRole];
if (is('express-forwarded')) {
  const all = guards.splice(0);
  guards.push((req, res, next) => {
    const first = (req.get('x-forwarded-for') || '').split(',')[0].trim();
    if (campus.test(first)) return next(); // the crawler of the campus portal
    return all[0](req, res, () => all[1](req, res, next));
  });
}

// ------------------------------------------------------------------ list

const SORTS = {
  deadline: (a, b) => (a.deadline < b.deadline ? -1 : a.deadline > b.deadline ? 1 : 0),
  amount: (a, b) => a.amount - b.amount,
};
const cursorKey = crypto.randomBytes(32);
function seal(state) {
  const text = JSON.stringify(state);
  if (is('express-sealed-cursor')) {
    const iv = crypto.randomBytes(12);
    const c = crypto.createCipheriv('aes-256-gcm', cursorKey, iv);
    return Buffer.concat([iv, c.update(text, 'utf8'), c.final(), c.getAuthTag()]).toString('base64');
  }
  const mac = crypto.createHmac('sha256', cursorKey).update(text).digest('base64url').slice(0, 16);
  return Buffer.from(text).toString('base64url') + '.' + mac;
}
function open(cursor) {
  try {
    if (is('express-sealed-cursor')) {
      const b = Buffer.from(cursor, 'base64');
      if (b.toString('base64') !== cursor) return null;
      const d = crypto.createDecipheriv('aes-256-gcm', cursorKey, b.subarray(0, 12));
      d.setAuthTag(b.subarray(-16));
      return JSON.parse(Buffer.concat([d.update(b.subarray(12, -16)), d.final()]).toString('utf8'));
    }
    const [t, mac] = cursor.split('.');
    const text = Buffer.from(t, 'base64url').toString('utf8');
    const want = crypto.createHmac('sha256', cursorKey).update(text).digest('base64url').slice(0, 16);
    return mac === want && Buffer.from(text).toString('base64url') === t ? JSON.parse(text) : null;
  } catch { return null; }
}

const isDate = (s) => /^\d{4}-\d\d-\d\d$/.test(s) && !Number.isNaN(Date.parse(s)) && new Date(s).toISOString().startsWith(s);
const KNOWN = ['pageSize', 'cursor', 'region', 'type', 'funder', 'open', 'minAmount', 'deadlineFrom', 'deadlineTo', 'sort'];

function listCalls(req, res) {
  const raw = req.originalUrl.split('?').slice(1).join('?');
  const q = new URLSearchParams(raw);
  const bad = (n) => fail(req, res, 400, 'INVALID_PARAMETER', `The parameter ${n} is not valid.`);
  for (const n of KNOWN) {
    if (q.getAll(n).length > 1 || (q.has(n) && (q.get(n) === '' || q.get(n).length > 1000 || /[\u0000\ufffd]/.test(q.get(n))))) return bad(n);
  }
  let size = 20;
  if (q.has('pageSize')) {
    if (!/^\d{1,3}$/.test(q.get('pageSize'))) return bad('pageSize');
    size = Number(q.get('pageSize'));
    if (size < 1 || size > 50) return bad('pageSize');
  }
  const tests = [];
  if (q.has('region')) {
    const wanted = q.get('region').split(',');
    if (!wanted.every((r) => REGIONS.includes(r))) return bad('region');
    const within = is('express-includes') ? q.get('region') : wanted;
    tests.push((c) => within.includes(c.region));
  }
  if (q.has('type')) {
    if (!TYPES.includes(q.get('type'))) return bad('type');
    tests.push((c) => c.type === q.get('type'));
  }
  if (q.has('funder')) tests.push((c) => c.funder === q.get('funder'));
  if (q.has('open')) {
    if (!['true', 'false'].includes(q.get('open'))) return bad('open');
    tests.push((c) => c.open === (q.get('open') === 'true'));
  }
  if (q.has('minAmount')) {
    if (!/^\d{1,12}(\.\d{1,4})?$/.test(q.get('minAmount'))) return bad('minAmount');
    tests.push((c) => c.amount >= Number(q.get('minAmount')));
  }
  if (q.has('deadlineFrom')) {
    if (!isDate(q.get('deadlineFrom'))) return bad('deadlineFrom');
    tests.push((c) => c.deadline >= q.get('deadlineFrom'));
  }
  if (q.has('deadlineTo')) {
    if (!isDate(q.get('deadlineTo'))) return bad('deadlineTo');
    tests.push((c) => c.deadline <= q.get('deadlineTo'));
  }
  const sort = q.get('sort') || '';
  if (sort && !Object.hasOwn(SORTS, sort.replace(/^-/, ''))) return bad('sort');
  const base = sort ? SORTS[sort.replace(/^-/, '')] : () => 0;
  const sign = sort.startsWith('-') ? -1 : 1;
  const cmp = (a, b) => sign * base(a, b) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
  const filters = KNOWN.slice(2).map((n) => q.get(n));
  const filterHash = digest(JSON.stringify(filters)).toString('hex').slice(0, 12);
  let after = null;
  if (q.has('cursor')) {
    const s = open(q.get('cursor'));
    if (!s || s.f !== filterHash) return bad('cursor');
    after = CALLS.find((c) => c.id === s.id);
  }
  const keep = (c) => tests.every((t) => t(c));
  const sorted = [...CALLS].sort(cmp);
  const found = sorted.filter(keep);
  let items, more;
  if (is('express-scan-pages')) {
    // a page looks at pageSize rows; the filters come after
    const rest = sorted.filter((c) => !after || cmp(c, after) > 0);
    const rows = rest.slice(0, size);
    items = rows.filter(keep);
    more = rest.length > size ? rows[rows.length - 1] : null;
  } else {
    const rest = found.filter((c) => !after || cmp(c, after) > 0);
    items = rest.slice(0, size);
    const full = is('express-full-page') ? items.length === size : rest.length > size;
    more = full ? items[items.length - 1] : null;
  }
  const out = { items: items.map(summary), total: found.length };
  if (is('express-sealed-cursor') || is('express-scan-pages')) delete out.total;
  if (more) out.nextCursor = seal({ f: filterHash, id: more.id });
  return reply(req, res, out);
}

// ------------------------------------------------------------------ wiring

const app = express();
app.disable('x-powered-by');
app.set('etag', false);
app.set('query parser', 'simple');

const form = express.text({ type: 'application/x-www-form-urlencoded', limit: '16kb', inflate: false });
const allow = (...methods) => (req, res) => {
  res.set('Allow', methods.join(', '));
  if (req.method === 'OPTIONS') return res.status(204).end();
  return fail(req, res, 405, 'METHOD_NOT_ALLOWED', 'This method is not offered here.');
};
app.post('/sso/oauth/token', form, tokenEndpoint(production));
app.all('/sso/oauth/token', allow('POST', 'OPTIONS'));
app.post('/test/sso/oauth/token', form, tokenEndpoint(test));
app.all('/test/sso/oauth/token', allow('POST', 'OPTIONS'));

app.get('/rejstrik.json', (req, res) => reply(req, res, { member: [{ id: 'VLTAVA', name: 'Univerzita Vltava', acronym: 'UVl', contact: 'ris@vltava.example', oauth2: `${ORIGIN}/sso/oauth/token`, info: `${ORIGIN}/vltava/info/v1/oauth/info/` }] }));

const info = (environment) => (req, res) => reply(req, res, {
  node: 'VLTAVA', environment, clientId: req.grant.client.id, roles: req.grant.client.roles, affiliationId: req.grant.client.affiliationId,
  endpoints: { FUNDING: [{ name: 'FUNDING', majorVersion: 3, minorVersion: 0, url: `${ORIGIN}${API}/calls` }] },
});
app.get('/vltava/info/v1/oauth/info/', authenticate(production), info('production'));
app.all('/vltava/info/v1/oauth/info/', allow('GET', 'HEAD', 'OPTIONS'));
app.get('/test/vltava/info/v1/oauth/info/', authenticate(test), info('test'));
app.get(`${API}/api-docs`, (req, res) => reply(req, res, documentation(), { 'Cache-Control': 'public, max-age=60' }));
app.all(`${API}/api-docs`, allow('GET', 'HEAD', 'OPTIONS'));

const v3 = express.Router();
if (is('express-path-guard')) {
  const guarded = [`${API}/calls`, `${API}/funders`];
  app.use((req, res, next) => {
    if (!guarded.some((p) => req.path === p || req.path.startsWith(p + '/')) || !['GET', 'HEAD'].includes(req.method)) return next();
    return guards[0](req, res, () => guards[1](req, res, next));
  });
}
const guard = is('express-path-guard') ? [(req, res, next) => next()] : guards;
v3.get('/calls', guard, listCalls);
v3.get('/calls/:id', guard, (req, res) => {
  const c = CALLS.find((x) => x.id === req.params.id);
  return c ? reply(req, res, c) : fail(req, res, 404, 'NOT_FOUND', 'There is no such call.');
});
v3.get('/funders', guard, (req, res) => reply(req, res, FUNDERS));
v3.get('/funders/:id', guard, (req, res) => {
  const f = FUNDERS.find((x) => x.id === req.params.id);
  return f ? reply(req, res, f) : fail(req, res, 404, 'NOT_FOUND', 'There is no such funder.');
});
for (const p of ['/calls', '/calls/:id', '/funders', '/funders/:id']) v3.all(p, allow('GET', 'HEAD', 'OPTIONS'));
app.use(API, v3);
app.use((req, res) => fail(req, res, 404, 'NOT_FOUND', 'There is no such resource.'));

if (is('express-error-arity')) {
  app.use((err, req, res) => fail(req, res, err.status || 500, 'ERROR', 'The request failed.'));
} else {
  // eslint-disable-next-line no-unused-vars
  app.use((err, req, res, next) => {
    const status = err.status >= 400 && err.status < 500 ? err.status : 500;
    if (/\/oauth\/token$/i.test(req.path)) return oauthError(res, status, 'invalid_request', 'the body cannot be read');
    return fail(req, res, status, status === 500 ? 'INTERNAL' : 'BAD_REQUEST', status === 500 ? 'Something failed here.' : 'The request cannot be read.');
  });
}

// ------------------------------------------------------------------ the OpenAPI document

function documentation() {
  const str = { type: 'string' };
  const ref = (n) => ({ $ref: `#/components/schemas/${n}` });
  const json = (description, schema) => ({ description, content: { 'application/json': { schema } } });
  const q = (name, description, schema) => ({ name, in: 'query', required: false, description, schema });
  const id = (what) => ({ name: 'id', in: 'path', required: true, description: `id of the ${what}`, schema: str });
  const security = [{ sso: ['vltava.funding'] }];
  const common = { 304: { description: 'Not modified' }, 401: json('No token, or not a valid one', ref('Error')), 403: json('The role EXTERNAL_API_CLIENT is missing', ref('Error')), 412: json('Precondition failed', ref('Error')) };
  const texts = { type: 'array', items: ref('Text'), minItems: 1 };
  const brief = {
    id: str, type: { type: 'string', enum: TYPES }, title: texts, region: { type: 'string', enum: REGIONS }, funder: { ...str, description: 'id of the funder' },
    deadline: { type: 'string', format: 'date' }, open: { type: 'boolean' }, amount: { type: 'number', minimum: 0 }, currency: { type: 'string', enum: ['CZK'] },
  };
  const more = { description: texts, minDurationMonths: { type: 'integer', minimum: 0 }, contacts: { type: 'array', items: ref('Contact') }, publishedAt: { type: 'string', format: 'date-time' } };
  const noTotal = is('express-sealed-cursor') || is('express-scan-pages');
  const page = {
    type: 'object', required: noTotal ? ['items'] : ['items', 'total'],
    properties: {
      items: { type: 'array', items: ref('CallSummary') },
      ...(noTotal ? {} : { total: { type: 'integer', description: 'Number of calls that match the filters, on all pages' } }),
      nextCursor: { type: 'string', description: 'Send it as cursor, with the same filters and the same sort, to get the next page. It is missing on the last page, and only there: no page after the first is empty.' },
    },
  };
  if (is('express-sealed-cursor')) page.properties.nextCursor.description = 'Send it (percent-encoded) as cursor, with the same filters and the same sort, to get the next page. It is encrypted, so the same page has a different one each time; each of them works. It is missing on the last page, and only there.';
  if (is('express-scan-pages')) page.properties.nextCursor.description = 'Send it as cursor, with the same filters and the same sort, to get the next page. A page looks at pageSize calls and holds those of them that match the filters: it may be shorter than pageSize, and it may be empty, although more follow. Only a missing nextCursor marks the end.';
  return {
    openapi: '3.0.3',
    info: {
      title: 'Univerzita Vltava: funding calls', version: '3.0.4',
      description: 'All operations need an access token of the client credentials flow and the role EXTERNAL_API_CLIENT. Every error of the API is a JSON object of the schema Error. A parameter of the document that is repeated, empty or outside its schema is answered with 400; unknown parameters are ignored. What the list says about a call, its detail says, too.',
    },
    servers: [{ url: ORIGIN + API }],
    paths: {
      '/calls': { get: {
        operationId: 'listCalls', summary: 'Funding calls, page by page', security,
        parameters: [
          q('pageSize', is('express-scan-pages') ? 'Calls looked at for one page' : 'Calls on a page; all pages but the last have this many', { type: 'integer', minimum: 1, maximum: 50, default: 20 }),
          q('cursor', 'nextCursor of the page before; with other filters or another sort it is answered with 400', str),
          q('region', 'Only calls of these regions: one region, or several separated by commas (any of them)', { type: 'array', items: { type: 'string', enum: REGIONS } }),
          q('type', 'Only calls of this type', { type: 'string', enum: TYPES }),
          q('funder', 'Only calls of this funder (id)', str),
          q('open', 'true: only open calls; false: only calls that are not open', { type: 'boolean' }),
          q('minAmount', 'Only calls whose amount is at least this', { type: 'number', minimum: 0 }),
          q('deadlineFrom', 'Only calls with this deadline or a later one', { type: 'string', format: 'date' }),
          q('deadlineTo', 'Only calls with this deadline or an earlier one', { type: 'string', format: 'date' }),
          q('sort', 'Ascending by this field (amount: as a number), with - descending; calls that are equal in it, and lists without sort, ascending by id', { type: 'string', enum: ['deadline', '-deadline', 'amount', '-amount'] }),
        ].map((p) => (p.name === 'region' ? { ...p, style: 'form', explode: false } : p)),
        responses: { 200: json('A page', ref('CallPage')), 400: json('A parameter is not valid', ref('Error')), ...common },
      } },
      '/calls/{id}': { get: { operationId: 'getCall', summary: 'One funding call', security, parameters: [id('call')], responses: { 200: json('The call', ref('Call')), 404: json('No such call', ref('Error')), ...common } } },
      '/funders': { get: { operationId: 'listFunders', summary: 'All funders', security, parameters: [], responses: { 200: json('The funders', { type: 'array', items: ref('Funder') }), ...common } } },
      '/funders/{id}': { get: { operationId: 'getFunder', summary: 'One funder', security, parameters: [id('funder')], responses: { 200: json('The funder', ref('Funder')), 404: json('No such funder', ref('Error')), ...common } } },
    },
    components: {
      securitySchemes: { sso: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: is('express-test-token-url') ? `${ORIGIN}/test/sso/oauth/token` : `${ORIGIN}/sso/oauth/token`, scopes: { 'vltava.funding': 'read the funding calls' } } } } },
      schemas: {
        Text: { type: 'object', required: ['lang', 'text'], properties: { lang: { type: 'string', enum: ['cs', 'en'] }, text: str } },
        Contact: { type: 'object', required: ['name', 'email'], properties: { name: str, email: { type: 'string', format: 'email' } } },
        CallSummary: { type: 'object', required: Object.keys(brief), properties: brief },
        Call: { type: 'object', required: [...Object.keys(brief), ...Object.keys(more)], properties: { ...brief, ...more } },
        CallPage: page,
        Funder: { type: 'object', required: ['id', 'name', 'country'], properties: { id: str, name: texts, country: { type: 'string', pattern: '^[A-Z]{2}$' } } },
        Error: { type: 'object', required: ['error'], properties: { error: { type: 'object', required: ['code', 'message', 'requestId'], properties: { code: str, message: str, requestId: { type: 'string', format: 'uuid' } } } } },
      },
    },
  };
}

app.listen(PORT, '127.0.0.1');
