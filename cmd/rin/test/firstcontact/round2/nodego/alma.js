'use strict';
// A node on Fastify: JWT (RS256) from its own authorization server, offset paging in an envelope, errors {code, message}.
const crypto = require('node:crypto');
const fastify = require('fastify');

const NODE = process.env.NODE || 'alma';
const is = (name) => NODE === name;
const PORT = Number(process.env.PORT || 3100);
const BASE = `http://127.0.0.1:${PORT}`;
const API = '/alma/funding/v3';
const INFO = '/alma/info/v1/oauth/info/';
const TOKEN = '/auth/oauth/token';
const ISSUER = `${BASE}/auth`;
const AUDIENCE = 'https://api.alma.example/funding';
const SCOPES = ['info.read', 'funding.read'];
const TTL = 900;

// ---- clients and keys ------------------------------------------------------------------------------------------
const ROLE = 'EXTERNAL_API_CLIENT';
const client = (secret, roles, aud, affiliation) => ({ secret, roles, aud, affiliation });
const CLIENTS = {
  'alma-main': client('Zw8-main.4hT_qLr2', [ROLE], AUDIENCE, 'AFF-ALMA-1'),
  'alma-second': client('Jd5-second.9sVmKp0', [ROLE], AUDIENCE, 'AFF-ALMA-2'),
  'alma-norole': client('Ux3-norole.1yBnRc7', [], AUDIENCE, 'AFF-ALMA-3'),
  'alma-other': client('Pm6-other.0kEzWt3', [ROLE], ['https://projects.alma.example/api', 'https://orgunits.alma.example/api'], 'AFF-ALMA-1'),
};
const STAGING = { 'alma-staging': client('Hc2-staging.7gXfNd5', [ROLE], AUDIENCE, 'AFF-ALMA-1') };
const makeKey = (kid) => ({ kid, alg: 'ES256', ...crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' }) });
// the key is a fixed sample, so that the node starts quickly
const ALMA_KEY = crypto.createPrivateKey({ format: 'der', type: 'pkcs8', key: Buffer.from('MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQCVPay0gzPkNVV2IK7Yoq1emX8V8w7mXsOOMEHtSPhms0GRLcqeDoUcLwSUvsKhtbdVxYc1+uaUPRLQe4UbPZs51zQhGq/29XzDhJZKywV2dB17sLsX7MlfIP34IlP/8qDOpI272znzf9Uo1Y/SD6xo6PBzlyofn7tyiMPSF4VHTfvpqQ+V1iezKCD4q2hAZ74shfQfoShaQlC1zOflv+nR8+JS9ysYQN6JOeQcMxh5+aFI0523Tqliq+srgkQspoRHU+b8eQCmrFe0YSxv7MeyoOpVkhYuncI/s+pOjyMp620+vYnSwzBCdTIak43VR0PnhM0ov9rTpZY71xjX5I43AgMBAAECggEAOVuu2OHkO71Tz0bYbGJ5h3YvJdx4yYl6V1esvungrngOpyGWUhD6j85yUEjQvR3+DHUSdmir3iVq6b3PdpzC4AQaAO8k2iGXhf2bVbuZqeEOw8802Qkki+8+LPPknOY/b6xG3QBw0Wk8H6mU0QM9HEUKxSJACk9115tAx6pKixCThEXLcqv0UWebRbKvskj0m+913uI3SjdxDmMSnk4E2GD1sOQLwefy0UZNOWnB10tfQQP4m0ztPW2rKobU8MS5fTbJahtHZo4YnNLOFS/SePGzdj6lKQaehbM9nk1xeM6ybGVDMxTYY1Sl9ZIl5oR89ihfzTbzi8nLovVwfgosAQKBgQDJd3ZpjuFIj5qu5ky+jchZCvx74azQXO2n+OKFIRiqfRdfGrNU87MvH6NP0xWNVHoarGo2tn0RkCmrkZy2g4bSFbymubAYdmSXATYZS+dLZ0cfSm861eC4KGw1PAWG17Eqn1ayYp0Pu0DWXpH0xr/YqgdfuvcPuI19XLj1K4K8gQKBgQC9o0EVakfwR/rCEO1N+MkJSK+0/w+4/H1m8NRsGssSi/hhYGnsR49N1GqQ36C+E1qgYcFnArbBeBBpEQi5h9oIR59lVBiyLlq0wiz0uzxptSGlPE5xuuu3ElfQNrq5KbGMN1R4Tbbcl9JT5/46nC9TjXF+70fpXYzcsg/VqcDOtwKBgQCAj8A7ehbe8+y0oXflvZpU4ALgltFtoW9y2grLA6S23t50LRi1JFJ6xsizXrMJHhhRPycERQ2okINW3bPQcDwvgfmBt0rdQWfNSNOZ7urpHj2vhRNXyzX8rqbmjafFNYzz8vwjF3S8njSw12ZyegXgoBfWifuwx4dasTnCEgL6gQKBgAS8oDKNvhBFbAEO9S5+aV8e/qyRtm3TeLpqh5PPs4TaFDEyfFLXkr/J74OA4n3888WPy4nsKm54tkg5kbM4rnyIdXXNfPRubfuX4hGW37JwQM/kyrzSg3LGNYVQ6KcZYIL1GtoKbufhrvJDmDkUj6YRoWUfSveMS6lzlSusGtHPAoGBAL2JbNVqEZEVqQolr+C1XS37/7RFAvZECiKST/xQc0qXcyUTIOI4Uj93u09GdYBdJ5ZXFSJrKz3Nk/jGtcLpI7x6WFW57d3TUX64pbd7CWxhTouh11kb2Xb+ZvZ8KvooPv6/1zDSrSyGxkB/GMy2iJ3VpRi7/yGVfLk+0lnPA+z7', 'base64') });
const KEYS = [{ kid: 'alma-2026-1', alg: 'RS256', privateKey: ALMA_KEY, publicKey: crypto.createPublicKey(ALMA_KEY) }];
if (is('r-key-rotation')) KEYS.push(makeKey('alma-2026-2'));
const STAGING_KEY = makeKey('alma-staging-1');
const b64 = (x) => Buffer.from(typeof x === 'string' ? x : JSON.stringify(x)).toString('base64url');
const jwkOf = (k) => ({ ...k.publicKey.export({ format: 'jwk' }), kid: k.kid, alg: k.alg, use: 'sig' });
function signJwt(claims, key) {
  const head = b64({ alg: key.alg, typ: 'at+jwt', kid: key.kid }) + '.' + b64(claims);
  return head + '.' + crypto.sign('sha256', Buffer.from(head), { key: key.privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url');
}

// ---- token endpoint --------------------------------------------------------------------------------------------
class OAuthError extends Error {
  constructor(status, error, description) { super(description); Object.assign(this, { status, error }); }
}
const formDecode = (s) => decodeURIComponent(s.replace(/\+/g, ' '));
function basicCredentials(header) {
  const m = /^basic +([A-Za-z0-9+/]+=*)$/i.exec(header);
  const text = m && Buffer.from(m[1], 'base64').toString('utf8');
  const at = m ? text.indexOf(':') : -1;
  if (at < 0) throw new OAuthError(401, 'invalid_client', 'the Authorization header holds no Basic credentials');
  try { return { id: formDecode(text.slice(0, at)), secret: formDecode(text.slice(at + 1)) }; } catch {
    throw new OAuthError(401, 'invalid_client', 'the credentials are not form-urlencoded');
  }
}
const sameText = (a, b) => crypto.timingSafeEqual(crypto.createHash('sha256').update(a).digest(), crypto.createHash('sha256').update(b).digest());

function authenticate(clients, form, header) {
  let { client_id: id, client_secret: secret } = form;
  if (header !== undefined) {
    const basic = basicCredentials(header);
    if (secret !== undefined) throw new OAuthError(400, 'invalid_request', 'one way of client authentication only');
    if (id !== undefined && id !== basic.id && !is('f-token-for-body-client')) throw new OAuthError(400, 'invalid_request', 'client_id differs from the Authorization header');
    ({ id, secret } = basic);
  }
  if (id === undefined || secret === undefined) throw new OAuthError(401, 'invalid_client', 'client authentication is missing');
  const known = Object.hasOwn(clients, id) ? clients[id] : undefined;
  if (!sameText(secret, known ? known.secret : '') || !known) throw new OAuthError(401, 'invalid_client', 'unknown client or wrong secret');
  return id;
}

let issued = 0;
function tokenAnswer(clients, issuer, key, body, header) {
  const form = {};
  for (const [name, value] of new URLSearchParams(body)) {
    if (Object.hasOwn(form, name)) throw new OAuthError(400, 'invalid_request', 'a parameter is given more than once');
    form[name] = value;
  }
  for (const name of Object.keys(form)) if (form[name] === '') delete form[name];
  let id = authenticate(clients, form, header);
  if (form.grant_type === undefined) throw new OAuthError(400, 'invalid_request', 'grant_type is missing');
  if (form.grant_type !== 'client_credentials') throw new OAuthError(400, 'unsupported_grant_type', 'only client_credentials');
  let scopes = SCOPES;
  if (form.scope !== undefined) {
    scopes = form.scope.split(' ');
    if (is('f-scope-narrowed-silently')) scopes = scopes.filter((s) => SCOPES.includes(s)); // drop what the catalogue does not know
    if (!scopes.length || scopes.some((s) => !SCOPES.includes(s))) throw new OAuthError(400, 'invalid_scope', 'unknown scope');
  }
  if (is('f-token-for-body-client') && Object.hasOwn(clients, form.client_id ?? '')) id = form.client_id;
  const c = clients[id];
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: issuer, sub: `service-account-${id}`, aud: c.aud, client_id: id, azp: id, iat: now, nbf: now, exp: now + TTL, jti: crypto.randomUUID(), scope: [...new Set(scopes)].join(' '), roles: c.roles, affiliation_id: c.affiliation };
  if (is('r-long-token')) Object.assign(claims, { groups: Array.from({ length: 90 }, (_, i) => `/Universität Alma/Fakultät ${i}/外部クライアント`), 'https://alma.example/crit': { '✓': null } });
  const answer = { access_token: signJwt(claims, key ?? KEYS[issued++ % KEYS.length]), token_type: 'Bearer', expires_in: TTL, scope: claims.scope };
  if (is('f-scope-narrowed-silently')) delete answer.scope;
  if (is('r-long-token')) Object.assign(answer, { 'not-before-policy': 0, session_state: null, issued_at: new Date().toISOString(), details: { realm: 'alma', länder: ['AT', 'DE'] } });
  if (is('r-lower-case-scheme')) answer.token_type = 'bearer';
  return answer;
}

function tokenEndpoint(app, path, clients, issuer, key) {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'string', bodyLimit: 16384 }, (req, body, done) => done(null, body));
    scope.addHook('onRequest', async (req, reply) => { reply.header('cache-control', 'no-store').header('pragma', 'no-cache'); });
    scope.setErrorHandler((err, req, reply) => {
      const status = err instanceof OAuthError ? err.status : 400;
      if (status === 401) reply.header('www-authenticate', 'Basic realm="alma", charset="UTF-8"');
      return reply.code(status).send({ error: err.error || 'invalid_request', error_description: err instanceof OAuthError ? err.message : 'the body cannot be read' });
    });
    scope.route({ method: 'POST', url: path, handler: async (req) => {
      const type = (req.headers['content-type'] || '').split(';')[0].trim().toLowerCase();
      if (type !== 'application/x-www-form-urlencoded') throw new OAuthError(400, 'invalid_request', 'the body must be application/x-www-form-urlencoded');
      return tokenAnswer(clients, issuer, key, req.body || '', req.headers.authorization);
    } });
    scope.route({ method: ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'], url: path, exposeHeadRoute: false, handler: async (req, reply) => {
      reply.header('allow', 'POST, OPTIONS');
      return req.method === 'OPTIONS' ? reply.code(204).send() : reply.code(405).send({ error: 'invalid_request', error_description: 'use POST' });
    } });
  });
}

// ---- bearer tokens ---------------------------------------------------------------------------------------------
const fail = (status, code, message, challenge) => Object.assign(new Error(message), { apiStatus: status, code, challenge });
const badToken = (why) => fail(401, 'TOKEN_INVALID', why, `error="invalid_token", error_description="${why}"`);
const parsePart = (part) => {
  try {
    const text = Buffer.from(part, 'base64url');
    const value = JSON.parse(text.toString('utf8'));
    if (text.toString('base64url') === part && value && typeof value === 'object') return value;
  } catch { /* below */ }
  throw badToken('not a token of this node');
};
const verified = new Map();
function verifyJwt(token) {
  const parts = token.split('.');
  if (parts.length !== 3) throw badToken('not a token of this node');
  const head = parsePart(parts[0]);
  const claims = parsePart(parts[1]);
  const now = Date.now() / 1000;
  const cacheKey = is('f-cache-key-without-signature') ? parts[0] + '.' + parts[1] : token;
  if (!verified.has(cacheKey)) {
    let key = KEYS.find((k) => k.kid === head.kid && k.alg === head.alg);
    if (is('f-jwk-in-header') && head.alg === 'RS256' && head.jwk) key = { publicKey: crypto.createPublicKey({ key: head.jwk, format: 'jwk' }) };
    const sig = Buffer.from(parts[2], 'base64url');
    if (!key || head.crit !== undefined || sig.toString('base64url') !== parts[2]) throw badToken('not signed by this node');
    if (!crypto.verify('sha256', Buffer.from(parts[0] + '.' + parts[1]), { key: key.publicKey, dsaEncoding: 'ieee-p1363' }, sig)) throw badToken('not signed by this node');
    if (verified.size > 500) verified.clear();
    verified.set(cacheKey, true);
  }
  if (claims.iss !== ISSUER) throw badToken('another issuer');
  const forUs = is('f-audience-only-as-string')
    ? typeof claims.aud !== 'string' || claims.aud === AUDIENCE
    : [].concat(claims.aud).includes(AUDIENCE);
  if (!forUs) throw badToken('meant for another audience');
  if (typeof claims.exp !== 'number' || claims.exp <= now) throw badToken('expired');
  if (claims.nbf !== undefined && claims.nbf > now + 5) throw badToken('not valid yet');
  return claims;
}
function bearer(req) {
  const header = req.headers.authorization;
  if (header === undefined || !/^bearer( |$)/i.test(header)) throw fail(401, 'TOKEN_MISSING', 'an access token is needed', '');
  const m = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(header);
  if (!m) throw badToken('not a bearer token');
  return verifyJwt(m[1]);
}
const PUBLIC = new Set([`${API}/api-docs`, '/registry.json', '/auth/jwks', '/auth/.well-known/openid-configuration', TOKEN, '/staging/oauth/token']);
async function guard(req) {
  const path = req.url.split('?')[0];
  if (is('f-public-by-suffix') ? PUBLIC.has(path) || (path.startsWith(API) && req.url.endsWith('/api-docs')) : PUBLIC.has(path)) return;
  const claims = bearer(req);
  const scope = path.startsWith('/alma/info/') ? 'info.read' : 'funding.read';
  if (!claims.scope.split(' ').includes(scope)) throw fail(403, 'SCOPE_MISSING', `the scope ${scope} is needed`, `error="insufficient_scope", scope="${scope}"`);
  if (scope === 'funding.read' && !claims.roles.includes(ROLE)) throw fail(403, 'ROLE_MISSING', `the role ${ROLE} is needed`, `error="insufficient_scope", error_description="the role ${ROLE} is needed"`);
  req.claims = claims;
}

// ---- data ------------------------------------------------------------------------------------------------------
const FUNDERS = [['FWA', 'Fonds für Wissenschaft Alma', 'Alma Science Fund'], ['KLIMA', 'Klimastiftung Süd', 'Southern Climate Trust'], ['MED', 'Forschungsförderung Medizin', 'Medical Research Fund'], ['STADT', 'Stadt Alma, Kulturreferat', 'City of Alma, Arts Office']];
const TOPICS = [['Wärme und Strom', 'Heat and Power'], ['Alte Handschriften', 'Ancient Manuscripts'], ['Böden im Wandel', 'Changing Soils'], ['Quantensensoren', 'Quantum Sensors'], ['Zelltherapie', 'Cell Therapy'], ['Musik für alle', 'Music for All'], ['Eis & Schnee', 'Ice & Snow']];
const SUBJECTS = ['101', '102', '205', '301', '504', '605'];
const STATUS = ['OPEN', 'CLOSED', 'FORTHCOMING'];
const day = (n) => new Date(Date.UTC(2026, 0, 5) + n * 86400e3).toISOString().slice(0, 10);
const CALLS = Array.from({ length: 60 }, (_, i) => {
  const f = FUNDERS[(i * 7 + (i >> 3)) % 4];
  const t = TOPICS[(i * 5) % 7];
  return {
    id: 1001 + i, title: { de: `${t[0]} ${1 + (i % 9)}`, en: `${t[1]} ${1 + (i % 9)}` }, status: STATUS[(i * i + i) % 5 === 0 ? 0 : (i % 2) + 1],
    funder: { id: f[0], name: { de: f[1], en: f[2] } }, deadline: i % 11 === 4 ? null : day((i * 37) % 400), amount: { currency: i % 6 ? 'EUR' : 'CHF', value: 25000 + ((i * 7919) % 97) * 12500.5 },
    subjects: SUBJECTS.filter((_, k) => (i + k * k) % 3 === 0), website: `https://www.alma.example/calls/${1001 + i}`, updatedAt: `${day(i)}T08:${String(i).padStart(2, '0')}:00+01:00`,
  };
});
const byText = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
const SORT = {
  id: (a, b) => a.id - b.id, '-id': (a, b) => b.id - a.id,
  deadline: (a, b) => byText(a.deadline ?? '9999', b.deadline ?? '9999') || a.id - b.id,
  '-deadline': (a, b) => byText(b.deadline ?? '', a.deadline ?? '') || a.id - b.id,
};
const bad = (name, what) => fail(400, 'PARAMETER_INVALID', `${name} ${what}`);
function isDate(s) { return /^\d{4}-\d\d-\d\d$/.test(s) && !Number.isNaN(Date.parse(s)) && new Date(s).toISOString().startsWith(s); }
function readQuery(q) {
  for (const name of ['status', 'funderId', 'subject', 'deadlineFrom', 'deadlineTo', 'sort', 'limit', 'offset']) if (Array.isArray(q[name])) throw bad(name, 'is given more than once');
  const whole = (name, low, high, fallback) => {
    if (q[name] === undefined) return fallback;
    if (!/^\d{1,9}$/.test(q[name]) || Number(q[name]) < low || Number(q[name]) > high) throw bad(name, `must be a whole number from ${low} to ${high}`);
    return Number(q[name]);
  };
  const among = (name, values) => { if (q[name] !== undefined && !values.includes(q[name])) throw bad(name, `must be one of ${values.join(', ')}`); return q[name]; };
  const date = (name) => { if (q[name] !== undefined && !isDate(q[name])) throw bad(name, 'must be a date such as 2026-03-01'); return q[name]; };
  return { status: among('status', STATUS), funderId: q.funderId, subject: among('subject', SUBJECTS), from: date('deadlineFrom'), to: date('deadlineTo'), sort: among('sort', Object.keys(SORT)) ?? 'id', limit: whole('limit', 1, 50, 20), offset: whole('offset', 0, 100000, 0) };
}
function listCalls(query) {
  const q = readQuery(query);
  let found = CALLS.filter((c) => (q.status === undefined || c.status === q.status) && (q.funderId === undefined || c.funder.id === q.funderId) && (q.subject === undefined || c.subjects.includes(q.subject))
    && (q.from === undefined || (c.deadline !== null && c.deadline >= q.from)) && (q.to === undefined || (c.deadline !== null && c.deadline <= q.to)));
  const total = found.length;
  if (is('f-sorted-after-the-page')) found = found.slice(q.offset, q.offset + q.limit).sort(SORT[q.sort]);
  else found = found.sort(SORT[q.sort]).slice(q.offset, q.offset + q.limit);
  return { total, offset: q.offset, limit: q.limit, items: found };
}
function oneCall(id) {
  const call = is('f-id-by-parseint') ? CALLS.find((c) => c.id === parseInt(id, 10)) : CALLS.find((c) => String(c.id) === id);
  if (!call) throw fail(404, 'NOT_FOUND', 'no such call');
  return call;
}

// ---- the document ----------------------------------------------------------------------------------------------
function openapi() {
  const ref = (name) => ({ $ref: `#/components/schemas/${name}` });
  const json = (schema, description, extra) => ({ description, content: { 'application/json': { schema } }, ...extra });
  const error = (description, extra) => json(ref('Error'), description, extra);
  const challenge = { headers: { 'WWW-Authenticate': { required: true, schema: { type: 'string' } } } };
  const refused = { 401: error('No token, or a token that is not good.', challenge), 403: error('The scope or the role is missing.', challenge), 405: error('Only GET, HEAD and OPTIONS.') };
  const query = (name, description, schema) => ({ name, in: 'query', required: false, description, schema });
  const text = { type: 'object', required: ['de', 'en'], properties: { de: { type: 'string' }, en: { type: 'string' } } };
  const unavailable = is('r-busy-now-and-then') ? { 503: error('Busy; ask again after Retry-After.', { headers: { 'Retry-After': { required: true, schema: { type: 'integer' } } } }) } : {};
  const list = {
    operationId: 'listCalls', summary: 'Funding calls', security: [{ oauth: ['funding.read'] }],
    description: 'Filters hold together (AND). A repeated or invalid parameter is answered 400, an unknown parameter is ignored. An offset past the end is answered with no items.',
    parameters: [
      query('status', 'Calls with this status.', ref('Status')), query('funderId', 'Calls of the funder with this id.', { type: 'string', example: 'KLIMA' }), query('subject', 'Calls that name this subject.', { type: 'string', enum: SUBJECTS }),
      query('deadlineFrom', 'Calls whose deadline is on this day or later; calls without a deadline are left out.', { type: 'string', format: 'date', example: '2026-03-01' }), query('deadlineTo', 'Calls whose deadline is on this day or earlier; calls without a deadline are left out.', { type: 'string', format: 'date', example: '2026-12-31' }),
      query('sort', 'The order of the whole list. Calls without a deadline come last for deadline and for -deadline; equal deadlines are ordered by id.', { type: 'string', enum: Object.keys(SORT), default: 'id' }),
      query('limit', 'The largest number of items in the answer.', { type: 'integer', minimum: 1, maximum: 50, default: 20 }), query('offset', 'The number of calls to skip.', { type: 'integer', minimum: 0, maximum: 100000, default: 0 })],
    responses: { 200: json(ref('CallPage'), 'A page of calls.'), 400: error('A parameter is not valid.'), ...refused, ...unavailable },
  };
  const detail = { operationId: 'getCall', summary: 'One funding call', security: [{ oauth: ['funding.read'] }], parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer', format: 'int64' }, example: 1001 }], responses: { 200: json(ref('Call'), 'The call, as in the list.'), 404: error('There is no such call.'), ...refused, ...unavailable } };
  const info = { operationId: 'authorizationInfo', summary: 'Who am I', security: [{ oauth: ['info.read'] }], responses: { 200: json(ref('Info'), 'What the token is good for.'), 401: refused[401], 403: refused[403], 405: refused[405], ...unavailable } };
  const doc = {
    openapi: '3.0.3', info: { title: 'Alma funding API', version: '3.4.0', description: 'Funding calls of the node Alma.' }, servers: [{ url: '/alma' }],
    paths: { '/funding/v3/calls': { get: list }, '/funding/v3/calls/{id}': { get: detail }, '/info/v1/oauth/info/': { get: info } },
    components: {
      securitySchemes: { oauth: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: BASE + TOKEN, scopes: { 'info.read': 'ask who the client is', 'funding.read': 'read funding calls (with the role EXTERNAL_API_CLIENT)' } } } } },
      schemas: {
        Status: { type: 'string', enum: STATUS }, Text: text,
        Call: { type: 'object', additionalProperties: false, required: ['id', 'title', 'status', 'funder', 'deadline', 'amount', 'subjects', 'website', 'updatedAt'], properties: {
          id: { type: 'integer', format: 'int64' }, title: ref('Text'), status: ref('Status'), funder: { type: 'object', required: ['id', 'name'], properties: { id: { type: 'string' }, name: ref('Text') } }, deadline: { type: 'string', format: 'date', nullable: true, description: 'Null for calls that stay open.' },
          amount: { type: 'object', required: ['currency', 'value'], properties: { currency: { type: 'string', pattern: '^[A-Z]{3}$' }, value: { type: 'number', minimum: 0 } } }, subjects: { type: 'array', items: { type: 'string', enum: SUBJECTS }, uniqueItems: true }, website: { type: 'string', format: 'uri' }, updatedAt: { type: 'string', format: 'date-time' } } },
        CallPage: { type: 'object', required: ['total', 'offset', 'limit', 'items'], properties: { total: { type: 'integer', description: 'The number of calls that match, on all pages.' }, offset: { type: 'integer' }, limit: { type: 'integer' }, items: { type: 'array', maxItems: 50, items: ref('Call') } } },
        Info: { type: 'object', required: ['endpoints', 'client', 'scope', 'roles', 'affiliationId'], properties: { endpoints: { type: 'object', additionalProperties: { type: 'array', items: { type: 'object', required: ['name', 'majorVersion', 'minorVersion', 'url'], properties: { name: { type: 'string' }, majorVersion: { type: 'integer' }, minorVersion: { type: 'integer' }, url: { type: 'string' } } } } }, client: { type: 'string' }, scope: { type: 'string' }, roles: { type: 'array', items: { type: 'string' } }, affiliationId: { type: 'string' } } },
        Error: { type: 'object', required: ['code', 'message'], properties: { code: { type: 'string' }, message: { type: 'string' } } },
      },
    },
  };
  if (is('r-servers-per-path')) {
    delete doc.servers; // the default is /; each path names its own
    const paths = {};
    paths['/calls'] = { servers: [{ url: '{host}/alma/funding/{version}', variables: { host: { default: BASE }, version: { default: 'v3', enum: ['v3'] } } }], summary: 'Calls', get: { ...list, parameters: list.parameters.map((p) => ({ $ref: `#/components/parameters/${p.name}` })) } };
    paths['/calls/{id}'] = { servers: [{ url: '../v3' }], parameters: detail.parameters, get: { ...detail, parameters: undefined } };
    paths['/oauth/info/'] = { get: { ...info, servers: [{ url: '/alma/info/v1' }] } };
    doc.paths = paths;
    doc.components.parameters = Object.fromEntries(list.parameters.map((p) => [p.name, p]));
  }
  return doc;
}

// ---- the server ------------------------------------------------------------------------------------------------
const app = fastify({ logger: false, routerOptions: { maxParamLength: 500 } });
const etags = new Map();
let served = 0;
app.addHook('onRequest', async (req, reply) => {
  if (!is('f-not-modified-before-the-token') || req.method !== 'GET') return;
  const seen = etags.get(req.url); // the edge answers revalidations itself
  if (seen && req.headers['if-none-match'] === seen) return reply.code(304).header('etag', seen).send();
});
app.addHook('onRequest', guard);
app.addHook('onRequest', async (req, reply) => {
  if (is('r-busy-now-and-then') && req.claims && ++served % 40 === 7) return reply.code(503).header('retry-after', '1').send({ code: 'BUSY', message: 'ask again in a second' });
});
app.addHook('onSend', async (req, reply, payload) => {
  if (reply.statusCode >= 400 && !reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
  if (reply.statusCode !== 200 || !req.url.startsWith('/alma/') || (typeof payload !== 'string' && !Buffer.isBuffer(payload))) return payload;
  const tag = `"${crypto.createHash('sha256').update(payload).digest('base64url').slice(0, 22)}"`;
  etags.set(req.url, tag);
  reply.header('etag', tag).header('vary', 'Authorization').header('cache-control', req.claims ? 'private, no-cache' : 'public, max-age=60');
  const known = req.headers['if-none-match'];
  if (known !== undefined && known.split(',').some((t) => t.trim() === '*' || t.trim().replace(/^W\//, '') === tag)) {
    reply.code(304).removeHeader('content-type').removeHeader('content-length');
    return null;
  }
  return payload;
});
app.setErrorHandler((err, req, reply) => {
  const status = err.apiStatus || (err.statusCode >= 400 && err.statusCode < 500 ? err.statusCode : 500);
  if (err.challenge !== undefined) {
    const params = 'realm="alma"' + (err.challenge && ', ' + err.challenge);
    reply.header('www-authenticate', is('r-lower-case-scheme') ? `bearer ${(err.challenge && err.challenge + ' ,  ') + 'Realm="alma"'}` : `Bearer ${params}`);
  }
  return reply.code(status).send({ code: err.apiStatus ? err.code : status < 500 ? 'REQUEST_INVALID' : 'INTERNAL', message: err.apiStatus ? err.message : status < 500 ? 'the request cannot be read' : 'an internal error' });
});
app.setNotFoundHandler(async () => { throw fail(404, 'NOT_FOUND', 'no such resource'); });
function resource(url, handler) {
  app.route({ method: 'GET', url, handler });
  app.route({ method: ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'], url, handler: async (req, reply) => {
    reply.header('allow', 'GET, HEAD, OPTIONS');
    if (req.method === 'OPTIONS') return reply.code(204).send();
    throw fail(405, 'METHOD_NOT_ALLOWED', 'use GET');
  } });
}
app.removeAllContentTypeParsers();
app.addContentTypeParser('*', (req, body, done) => { body.resume(); body.on('end', () => done(null)); });
resource(`${API}/api-docs`, async () => openapi());
resource(`${API}/calls`, async (req) => listCalls(req.query));
resource(`${API}/calls/:id`, async (req, reply) => {
  const call = oneCall(req.params.id);
  if (!is('f-length-in-characters')) return call;
  const body = JSON.stringify(call);
  return reply.header('content-type', 'application/json; charset=utf-8').send(Buffer.from(body).subarray(0, body.length)); // as many bytes as characters
});
resource(INFO, async (req) => ({ endpoints: { funding: [{ name: 'FUNDINGS', majorVersion: 3, minorVersion: 4, url: `${BASE}${API}/calls` }, { name: 'FUNDING', majorVersion: 3, minorVersion: 4, url: `${BASE}${API}/calls/{id}` }] }, client: req.claims.client_id, scope: req.claims.scope, roles: req.claims.roles, affiliationId: req.claims.affiliation_id }));
resource('/registry.json', async () => ({ member: [{ id: 'ALMA', acronym: 'UALMA', name: 'Universität Alma', contact: 'ris@alma.example', oauth2: BASE + TOKEN, info: BASE + INFO }] }));
resource('/auth/jwks', async () => ({ keys: KEYS.map(jwkOf) }));
resource('/auth/.well-known/openid-configuration', async () => ({ issuer: ISSUER, token_endpoint: BASE + TOKEN, jwks_uri: `${ISSUER}/jwks`, response_types_supported: [], grant_types_supported: ['client_credentials'], token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'] }));
tokenEndpoint(app, TOKEN, CLIENTS, ISSUER, null);
tokenEndpoint(app, '/staging/oauth/token', STAGING, `${BASE}/staging`, STAGING_KEY);
app.listen({ host: '127.0.0.1', port: PORT }).catch((err) => { console.error(err); process.exit(1); });
