// A node of the research-information network: authorization server, info endpoint, funding API. Polka, opaque tokens.
import polka from 'polka';
import { createHash, createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { AuthorizationServer } from './auth.mjs';
import { PRODUCTION, STAGING } from './clients.mjs';
import { FUNDERS, REGIONS, TARGETS, makeCall, makeCalls } from './data.mjs';
import { spec } from './spec.mjs';

const PORT = Number(process.env.PORT || 8080);
const NODE = process.env.NODE || 'polka-base';
const is = (name) => NODE === 'polka-' + name;
const BASE = `http://127.0.0.1:${PORT}`;
const MAX_LIMIT = 50;

const options = { bcrypt: is('bcrypt'), odd: is('plain') };
const auth = new AuthorizationServer({ issuer: `${BASE}/realms/ris`, realm: 'ris', clients: PRODUCTION, lifetime: is('plain') ? 601 : 900, options });
const staging = new AuthorizationServer({ issuer: `${BASE}/staging`, realm: 'ris staging', clients: STAGING, lifetime: 600, options });
auth.tokenUrl = `${BASE}/realms/ris/protocol/openid-connect/token`;
staging.tokenUrl = `${BASE}/staging/oauth/token`;

// ---------------------------------------------------------------- data

let calls = is('one') ? makeCalls(1) : makeCalls(96);
const funders = is('one') ? FUNDERS.filter((f) => f.id === calls[0].funderId) : FUNDERS;
const byUpdate = (a, b) => b.updated - a.updated || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
calls.sort(byUpdate);
if (is('live')) {
  // New calls are published all the time, at most 60 of them.
  let next = 96;
  setInterval(() => {
    if (next >= 156) return;
    calls = [...calls, makeCall(next++, 156, Date.now())].sort(byUpdate);
  }, 4000).unref();
}

const iso = (t) => new Date(t).toISOString().replace('.000Z', 'Z');
const isOpen = (c, now) => c.opens <= now && now < c.closes;

function summary(c, now) {
  return {
    id: c.id, acronym: c.acronym, names: c.names, funderId: c.funderId, open: isOpen(c, now),
    opens: iso(c.opens), closes: iso(c.closes), budget: c.budget, updatedAt: iso(c.updated),
  };
}
// The rows of the list come from a view whose columns are cast to whole numbers.
function row(c, now) {
  const s = summary(c, now);
  if (is('budget') && s.budget) s.budget = { ...s.budget, amount: s.budget.amount | 0 };
  return s;
}
function detail(c, now) {
  return {
    ...summary(c, now), descriptions: c.descriptions, fundingRate: c.fundingRate, targetGroups: c.targetGroups, regions: c.regions,
    stages: c.stages.map((s) => ({ number: s.number, opens: iso(s.opens), closes: iso(s.closes) })), contact: c.contact, website: c.website,
  };
}
const funder = (f) => ({ id: f.id, names: f.names, country: f.country, website: f.website });
function funderDetail(f) {
  const own = calls.filter((c) => c.funderId === f.id);
  const totalBudget = own.reduce((sum, c) => sum + (c.budget ? c.budget.amount : 0), 0);
  return { ...funder(f), callCount: own.length, totalBudget };
}

// ---------------------------------------------------------------- answers

// Quality of a content coding in an Accept-Encoding header (RFC 9110, 12.5.3).
function accepts(header, coding) {
  let any = null;
  for (const part of (header || '').toLowerCase().split(',')) {
    const [name, ...params] = part.split(';').map((s) => s.trim());
    let q = 1;
    for (const p of params) { const m = /^q=([01](\.\d{0,3})?)$/.exec(p); if (m) q = Number(m[1]); }
    if (name === coding || name === 'x-' + coding) return q > 0;
    if (name === '*') any = q > 0;
  }
  return any === true;
}

function stringify(value) {
  if (!is('plain')) return JSON.stringify(value);
  // Escapes for all other letters, white space, and rates with an exponent.
  return JSON.stringify(value, null, 2)
    .replace(/[\u007f-\uffff]/g, (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'))
    .replace(/("fundingRate": )0\.(\d)(\d*)/g, (m, k, a, b) => `${k}${a}${b ? '.' + b : ''}e-1`).replace(/\//g, '\\/') + '\n';
}

function sendJson(req, res, status, value, headers = {}) {
  let body = Buffer.from(stringify(value), 'utf8');
  const h = { 'Content-Type': is('plain') ? 'application/json;charset=UTF-8' : 'application/json', 'X-Content-Type-Options': 'nosniff', ...headers };
  if (status === 200) {
    const gzip = body.length > 1000 && accepts(req.headers['accept-encoding'], 'gzip');
    let tag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}${gzip ? '-gz' : ''}"`;
    if (is('plain')) tag = 'W/' + tag.replace('-gz', '');
    h.Vary = 'Accept-Encoding';
    h.ETag = tag;
    const match = req.headers['if-none-match'];
    if (match !== undefined) {
      const plain = (t) => t.trim().replace(/^W\//, '');
      if (match.trim() === '*' || match.split(',').some((t) => plain(t) === plain(tag))) {
        delete h['Content-Type'];
        res.writeHead(304, h);
        return res.end();
      }
    }
    if (gzip) { body = gzipSync(body); h['Content-Encoding'] = 'gzip'; }
  }
  if (!is('plain')) h['Content-Length'] = body.length;
  res.writeHead(status, h);
  res.end(req.method === 'HEAD' ? undefined : body);
}

const PRIVATE = { 'Cache-Control': 'private, no-cache' };
const NEVER = { 'Cache-Control': 'no-store' };

function sendError(req, res, status, code, message, headers = {}, parameter = undefined) {
  sendJson(req, res, status, { error: { code, message, parameter, requestId: randomUUID() } }, { ...NEVER, ...headers });
}

// ---------------------------------------------------------------- bearer tokens

function challenge(realm, params = {}) {
  const text = 'Bearer ' + Object.entries({ realm, ...params }).map(([k, v]) => `${k}="${v}"`).join(', ');
  return { 'WWW-Authenticate': is('plain') ? ['Negotiate', text] : text };
}

// Checks the token of the request; sets req.token.
function authenticate(server) {
  return (req, res, next) => {
    if (req.method === 'OPTIONS') return next();
    const count = req.rawHeaders.filter((h, i) => i % 2 === 0 && h.toLowerCase() === 'authorization').length;
    if (count > 1) return sendError(req, res, 400, 'INVALID_REQUEST', 'More than one Authorization header', challenge(server.realm, { error: 'invalid_request' }));
    const header = req.headers.authorization;
    if (header === undefined || !/^bearer( |$)/i.test(header)) return sendError(req, res, 401, 'UNAUTHORIZED', 'A bearer token is needed', challenge(server.realm));
    const m = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(header);
    const token = m && server.lookup(m[1]);
    if (!token || token.client.audience !== 'ris') {
      return sendError(req, res, 401, 'INVALID_TOKEN', 'The token is not valid here', challenge(server.realm, { error: 'invalid_token', error_description: 'The token is unknown, expired or made for another API' }));
    }
    req.token = token;
    next();
  };
}

function authorize(req, res, next) {
  if (req.method === 'OPTIONS') return next();
  if (!req.token.scopes.includes('funding') || req.token.client.role !== 'EXTERNAL_API_CLIENT') {
    return sendError(req, res, 403, 'FORBIDDEN', 'The token does not give access to the funding API', challenge(auth.realm, { error: 'insufficient_scope', scope: 'funding' }));
  }
  next();
}

// ---------------------------------------------------------------- parameters of the list

class BadParameter extends Error {
  constructor(name, message, code = 'BAD_PARAMETER') { super(message); Object.assign(this, { parameter: name, errorCode: code }); }
}

const DATE_TIME = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;
function dateTime(name, text) {
  const m = DATE_TIME.exec(text);
  const t = m ? Date.parse(text.toUpperCase()) : NaN;
  const days = m ? new Date(Date.UTC(Number(m[1]), Number(m[2]), 0)).getUTCDate() : 0;
  if (Number.isNaN(t) || Number(m[3]) > days) throw new BadParameter(name, 'not a date-time of RFC 3339');
  return t;
}

function listParameters(query) {
  const one = (name) => {
    const v = query[name];
    if (v === undefined) return undefined;
    if (Array.isArray(v)) throw new BadParameter(name, 'given more than once');
    if (v === '') throw new BadParameter(name, 'empty');
    return v;
  };
  const from = (name, list) => {
    const v = one(name);
    if (v !== undefined && !list.includes(v)) throw new BadParameter(name, 'not one of the known values');
    return v;
  };
  const p = { limit: 20, cursor: one('cursor') };
  const limit = one('limit');
  if (limit !== undefined) {
    if (!/^\d{1,6}$/.test(limit) || Number(limit) < 1 || Number(limit) > MAX_LIMIT) throw new BadParameter('limit', `not an integer from 1 to ${MAX_LIMIT}`);
    p.limit = Number(limit);
  }
  const open = from('open', ['true', 'false']);
  if (open !== undefined) p.open = is('boolean') ? Boolean(open) : open === 'true';
  p.funder = one('funder');
  if (p.funder !== undefined && !/^[a-z]{2}-[a-z]+$/.test(p.funder)) throw new BadParameter('funder', 'not the id of a funder');
  p.region = from('region', REGIONS);
  p.targetGroup = from('targetGroup', TARGETS);
  for (const n of ['closesFrom', 'closesUntil']) { const v = one(n); if (v !== undefined) p[n] = dateTime(n, v); }
  p.search = one('search');
  if (p.search !== undefined && [...p.search].length > 100) throw new BadParameter('search', 'longer than 100 characters');
  return p;
}

function matches(c, p, now) {
  if (p.open !== undefined && isOpen(c, now) !== p.open) return false;
  if (p.funder !== undefined && c.funderId !== p.funder) return false;
  if (p.region !== undefined && !c.regions.includes(p.region)) return false;
  if (p.targetGroup !== undefined && !c.targetGroups.includes(p.targetGroup)) return false;
  if (p.closesFrom !== undefined && c.closes < p.closesFrom) return false;
  if (p.closesUntil !== undefined && c.closes > p.closesUntil) return false;
  if (p.search !== undefined) {
    const s = p.search.toLowerCase();
    if (![c.acronym, ...c.names.map((n) => n.text)].some((t) => t.toLowerCase().includes(s))) return false;
  }
  return true;
}

// A cursor names the last call of a page and the filters; a signature keeps it from being made up.
const cursorKey = randomBytes(32);
const sign = (text) => createHmac('sha256', cursorKey).update(text).digest().subarray(0, 12);
function filterHash(p) {
  const { limit, cursor, ...filters } = p;
  return createHash('sha256').update(JSON.stringify(filters)).digest('base64url').slice(0, 12);
}
function encodeCursor(c, p) {
  const text = Buffer.from(JSON.stringify([c.updated, c.id, filterHash(p)]));
  return Buffer.concat([sign(text), text]).toString('base64url');
}
function decodeCursor(p) {
  try {
    if (!/^[A-Za-z0-9_-]+$/.test(p.cursor)) throw new Error('letters');
    const raw = Buffer.from(p.cursor, 'base64url');
    const text = raw.subarray(12);
    if (raw.toString('base64url') !== p.cursor || !timingSafeEqual(sign(text), raw.subarray(0, 12))) throw new Error('signature');
    const [updated, id, hash] = JSON.parse(text.toString());
    if (hash !== filterHash(p)) throw new Error('filters');
    return { updated, id };
  } catch {
    if (is('badcursor')) return null;
    throw new BadParameter('cursor', 'not a cursor of this list and these filters', 'CURSOR_INVALID');
  }
}

function listFundings(req, res) {
  const now = Date.now();
  const p = listParameters(req.query);
  const after = p.cursor === undefined ? null : decodeCursor(p);
  const all = calls.filter((c) => matches(c, p, now));
  let rest = all;
  if (after) {
    rest = is('cursor')
      ? all.filter((c) => c.updated < after.updated)
      : all.filter((c) => byUpdate(after, c) < 0);
  }
  const page = rest.slice(0, p.limit);
  const link = (cursor) => {
    const q = new URLSearchParams();
    for (const [k, v] of Object.entries(req.query)) if (k !== 'cursor') for (const x of [].concat(v)) q.append(k, x);
    if (cursor) q.append('cursor', cursor);
    const s = q.toString();
    return `<${BASE}/ris/funding/v3/fundings${s ? '?' + s : ''}>`;
  };
  const links = [`${link()}; rel="first"`];
  if (rest.length > page.length) links.push(`${link(encodeCursor(page[page.length - 1], p))}; rel="next"`);
  sendJson(req, res, 200, page.map((c) => row(c, now)), { ...PRIVATE, Link: links.join(', '), 'X-Total-Count': String(all.length) });
}

function getFunding(req, res) {
  const c = calls.find((x) => x.id === req.params.id);
  if (!c) return sendError(req, res, 404, 'NOT_FOUND', 'There is no such funding call');
  sendJson(req, res, 200, detail(c, Date.now()), PRIVATE);
}

function listFunders(req, res) {
  sendJson(req, res, 200, [...funders].sort((a, b) => (a.id < b.id ? -1 : 1)).map(funder), PRIVATE);
}

function getFunder(req, res) {
  const f = funders.find((x) => x.id === req.params.id);
  if (!f) return sendError(req, res, 404, 'NOT_FOUND', 'There is no such funder');
  sendJson(req, res, 200, funderDetail(f), PRIVATE);
}

function info(server, test) {
  return (req, res) => sendJson(req, res, 200, {
    node: 'RIS Mitte', environment: test ? 'staging' : 'production',
    client: { clientId: req.token.client.id, serviceAccountUserId: req.token.client.account, affiliationId: req.token.client.affiliation },
    scope: req.token.scopes.join(' '), tokenExpiresAt: iso(req.token.expires),
    endpoints: { funding: [{ name: 'FUNDINGS', majorVersion: 3, minorVersion: 2, url: `${BASE}/ris/funding/v3/fundings` }] },
  }, PRIVATE);
}

// ---------------------------------------------------------------- middleware

// Keeps answers of the API for a minute, by address; only whole answers of status 200.
const kept = new Map();
function cache(req, res, next) {
  const key = req.method + ' ' + req.originalUrl + ' ' + (req.headers['accept-encoding'] || '') + ' ' + (req.headers['if-none-match'] || '');
  const hit = kept.get(key);
  if (hit && hit.until > Date.now()) { res.writeHead(200, hit.headers); return res.end(hit.body); }
  const { writeHead, end } = res;
  let headers;
  res.writeHead = function (status, h) { if (status === 200) headers = h; return writeHead.call(this, status, h); };
  res.end = function (body) { if (headers) kept.set(key, { until: Date.now() + 60000, headers, body }); return end.call(this, body); };
  next();
}

function decodePath(req, res, next) {
  try {
    for (const k of Object.keys(req.params || {})) req.params[k] = decodeURIComponent(req.params[k]);
    decodeURIComponent((req.search || '').replace(/\+/g, ' '));
  } catch { return sendError(req, res, 400, 'MALFORMED_URL', 'The address has a broken percent-encoding'); }
  next();
}

function noMatch(req, res) {
  const allowed = ['GET', 'POST'].filter((m) => app.find(m, req.path));
  if (!allowed.length) return sendError(req, res, 404, 'NOT_FOUND', 'There is nothing at this address');
  const allow = [...(allowed.includes('GET') ? ['GET', 'HEAD'] : []), ...(allowed.includes('POST') ? ['POST'] : []), 'OPTIONS'].join(', ');
  if (req.method === 'OPTIONS') { res.writeHead(204, { Allow: allow }); return res.end(); }
  sendError(req, res, 405, 'METHOD_NOT_ALLOWED', 'The method is not allowed here', { Allow: allow });
}

function onError(err, req, res) {
  if (err instanceof BadParameter) return sendError(req, res, 400, err.errorCode, `${err.parameter}: ${err.message}`, {}, err.parameter);
  console.error(err);
  if (!res.headersSent) sendError(req, res, 500, 'INTERNAL', 'Something went wrong');
}
const run = (fn) => (req, res, next) => { try { fn(req, res, next); } catch (e) { next(e); } };

const app = polka({ onError, onNoMatch: noMatch });
const read = (path, ...fns) => { app.get(path, ...fns); app.head(path, ...fns); };

const guard = authenticate(auth);
const guardStaging = authenticate(staging);
app.use((req, res, next) => {
  const path = req.path.replace(/\/+$/, '');
  if (path === '/ris/funding/v3/api-docs') return next();
  // The load balancer looks with HEAD whether the API is alive; it has no token.
  if (is('head') && req.method === 'HEAD' && path.startsWith('/ris/funding/')) return next();
  if (path.startsWith('/staging/ris')) return guardStaging(req, res, next);
  if (!/^\/ris(\/|$)/.test(path)) return next();
  guard(req, res, (err) => {
    if (err || !path.startsWith('/ris/funding')) return next(err);
    if (is('cache')) return cache(req, res, () => authorize(req, res, next));
    return authorize(req, res, next);
  });
});
app.use(decodePath);

read('/ris/funding/v3/fundings', run(listFundings));
read('/ris/funding/v3/fundings/:id', run(getFunding));
read('/ris/funding/v3/funders', run(listFunders));
read('/ris/funding/v3/funders/:id', run(getFunder));
read('/ris/funding/v3/api-docs', (req, res) => sendJson(req, res, 200, spec(BASE, auth.tokenUrl, MAX_LIMIT), { 'Cache-Control': 'public, max-age=60' }));
read('/ris/info/v1/oauth/info', run(info(auth, false)));
read('/staging/ris/info/v1/oauth/info', run(info(staging, true)));
app.post('/realms/ris/protocol/openid-connect/token', (req, res) => auth.token(req, res));
app.post('/staging/oauth/token', (req, res) => staging.token(req, res));
read('/.well-known/oauth-authorization-server/realms/ris', (req, res) => sendJson(req, res, 200, auth.metadata(), { 'Cache-Control': 'public, max-age=60' }));
read('/.well-known/oauth-authorization-server/staging', (req, res) => sendJson(req, res, 200, staging.metadata(), { 'Cache-Control': 'public, max-age=60' }));
read('/registry.json', (req, res) => sendJson(req, res, 200, {
  member: [{ id: 'RIS-MITTE', acronym: 'RISM', name: 'RIS Mitte', contact: 'betrieb@ris-mitte.example', oauth2: auth.tokenUrl, info: `${BASE}/ris/info/v1/oauth/info/` }],
}, { 'Cache-Control': 'public, max-age=60' }));

app.listen(PORT, '127.0.0.1');
