'use strict';
// A funding node on Restify. One process: registry, authorization server (client
// credentials, signed tokens), info endpoint, OpenAPI document, funding API, staging.
// NODE chooses a variant; without it this is the plain base.
const crypto = require('crypto');
const zlib = require('zlib');
const restify = require('restify');

const PORT = Number(process.env.PORT || 8080);
const NODE = process.env.NODE || 'restify-base';
const is = (name) => NODE === name;
const ORIGIN = `http://127.0.0.1:${PORT}`;
const PREFIX = '/xr';
const API = `${PREFIX}/funding/v3`;
const BASE = ORIGIN + API;
const INFO_PATH = `${PREFIX}/info/v1/oauth/info/`;
const ROLE = 'EXTERNAL_API_CLIENT';

// ---------------------------------------------------------------- seeded draws
function rng(seed) {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = a;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

// ---------------------------------------------------------------- clients
const ALNUM = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const secretDraw = rng(30311);
const secret = () => Array.from({ length: 40 }, () => ALNUM[Math.floor(secretDraw() * ALNUM.length)]).join('');
const AUDIENCE = 'urn:xr:funding';
const clients = {
  'xr-main': { secret: secret(), account: 'sa-7101', aud: AUDIENCE },
  'xr-plain': { secret: secret(), account: 'sa-7102', aud: AUDIENCE },
  'xr-projects': { secret: secret(), account: 'sa-7103', aud: 'urn:xr:projects' },
  'xr-spare': { secret: secret(), account: 'sa-7104', aud: AUDIENCE },
};
const stagingClients = { 'xr-trial': { secret: secret(), account: 'sa-9001', aud: 'urn:xr:staging' } };
// The settings of the service accounts inside the funding service.
const accounts = {
  'sa-7101': { role: ROLE, affiliationId: 'AFF-11' },
  'sa-7103': { role: ROLE, affiliationId: 'AFF-13' },
  'sa-7104': { role: ROLE, affiliationId: 'AFF-14' },
};

// ---------------------------------------------------------------- data
const TYPES = ['CALL', 'ONGOING_CALL', 'PROGRAMME'];
const GROUPS = ['UNIVERSITY', 'RESEARCH_INSTITUTE', 'COMPANY', 'PRIVATE_NON_PROFIT', 'GOVERNMENT'];
function makeData(seed, count, idOf) {
  const draw = rng(seed);
  const pick = (list) => list[Math.floor(draw() * list.length)];
  const funders = [
    ['F-ALPEN', 'Alpenfonds für Forschung', 'AT'],
    ['F-DONAU', 'Donau Science Trust', 'AT'],
    ['F-KARST', 'Kärntner Wissenschaftsfonds', 'AT'],
    ['F-LEMAN', 'Fondation Léman', 'CH'],
    ['F-NORD', 'Nordlicht Stiftung', 'DE'],
    ['F-SAVA', 'Sklad Sava', 'SI'],
  ].map(([id, name, country]) => ({ id, name, country, website: `https://${id.toLowerCase()}.example/` }));
  const deWords = ['Gewässer', 'Künstliche Intelligenz', 'Gesundheit', 'Böden & Klima', 'Straßenverkehr', 'Werkstoffe', 'Sprachen', 'Bildung'];
  const enWords = ['Waters', 'Artificial Intelligence', 'Health', 'Soils & Climate', 'Road Traffic', 'Materials', 'Languages', 'Education'];
  const deadlines = ['2026-12-01', '2027-01-15', '2027-01-31', '2027-03-01', '2027-04-30', '2027-06-15', '2027-09-30', '2028-02-29'];
  const calls = [];
  for (let i = 1; i <= count; i++) {
    const type = i % 9 === 0 ? 'ONGOING_CALL' : i % 7 === 0 ? 'PROGRAMME' : 'CALL';
    const w = Math.floor(draw() * deWords.length);
    const year = 2026 + Math.floor(draw() * 2);
    const name = [{ lang: 'de', trans: 'O', text: `${deWords[w]}: Ausschreibung ${year}/${i}` }];
    if (draw() < 0.7) name.push({ lang: 'en', trans: draw() < 0.5 ? 'H' : 'M', text: `${enWords[w]}: call ${year}/${i}` });
    const groups = GROUPS.filter(() => draw() < 0.45);
    if (!groups.length) groups.push('UNIVERSITY');
    const day = String(1 + Math.floor(draw() * 28)).padStart(2, '0');
    const month = String(1 + Math.floor(draw() * 10)).padStart(2, '0');
    calls.push({
      id: idOf(i, year),
      type,
      name,
      funderId: pick(funders).id,
      deadline: type === 'ONGOING_CALL' ? null : `${pick(deadlines)}T${pick(['10:00:00', '12:00:00'])}Z`,
      amount: { value: Math.round(draw() * 250000000 + 5000000) / 100, currency: draw() < 0.85 ? 'EUR' : 'CHF' },
      targetGroups: groups,
      website: `https://calls.example/${year}/${i}`,
      updatedAt: `2026-${month}-${day}T0${Math.floor(draw() * 10)}:15:30Z`,
    });
  }
  calls.sort((a, b) => (a.id < b.id ? -1 : 1));
  return { funders, calls };
}
let data;
if (is('restify-other-data')) data = makeData(90210, 57, (i) => `K${String(1000 + i * 37)}`);
else if (is('restify-slash-ids')) data = makeData(4711, 74, (i, y) => `NÖ/${y}/Nr. ${String(i).padStart(3, '0')}`);
else data = makeData(4711, 74, (i) => `FC-${String(i).padStart(4, '0')}`);
const { calls, funders } = data;

// A date-time as the default settings of a common serializer write it.
const shown = (call) => {
  if (is('restify-offset-without-colon') && call.deadline) return { ...call, deadline: call.deadline.replace('Z', '.000+0000') };
  return call;
};

// ---------------------------------------------------------------- answers
function reply(req, res, status, body, headers) {
  const text = body === undefined ? null : Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
  const all = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff', ...headers };
  if (text) {
    all['Content-Type'] = all['Content-Type'] || 'application/json';
    all['Content-Length'] = text.length;
  }
  res.writeHead(status, all);
  res.end(req.method === 'HEAD' || !text ? undefined : text);
}
const TITLES = { 400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found', 405: 'Method Not Allowed', 412: 'Precondition Failed', 500: 'Internal Server Error' };
function problem(req, res, status, detail, headers) {
  reply(req, res, status, { type: 'about:blank', title: TITLES[status], status, detail }, { 'Content-Type': 'application/problem+json', ...headers });
}

// Does one entity tag of a list match? The list is * or quoted tags, weak ones marked W/.
function tagListed(field, etag, weakToo) {
  if (field.trim() === '*') return true;
  for (const m of field.matchAll(/(W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g)) {
    if (m[2] === etag && (weakToo || !m[1])) return true;
  }
  return false;
}
const etagOf = (buffer) => `"${crypto.createHash('sha256').update(buffer).digest('hex').slice(0, 24)}"`;

// A 200 of the API, with its entity tag and the conditions of the request.
function resource(req, res, body) {
  let buffer = Buffer.from(JSON.stringify(body));
  const etag = etagOf(buffer);
  const headers = { ETag: etag, 'Cache-Control': 'private, no-cache' };
  const match = req.headers['if-match'];
  const noneMatch = req.headers['if-none-match'];
  if (match !== undefined && !tagListed(match, etag, false)) return problem(req, res, 412, 'The record has another entity tag.');
  if (is('restify-gzip-same-etag')) headers.Vary = 'Accept-Encoding';
  if (noneMatch !== undefined && tagListed(noneMatch, etag, true)) return reply(req, res, 304, undefined, headers);
  if (is('restify-gzip-same-etag') && gzipWanted(req.headers['accept-encoding'])) {
    buffer = zlib.gzipSync(buffer);
    headers['Content-Encoding'] = 'gzip';
  }
  reply(req, res, 200, buffer, headers);
}
function gzipWanted(field) {
  const q = {};
  for (const part of String(field || '').toLowerCase().split(',')) {
    const [coding, ...params] = part.split(';').map((s) => s.trim());
    const weight = params.find((p) => p.startsWith('q='));
    q[coding] = weight ? Number(weight.slice(2)) : 1;
  }
  const of = (c) => (q[c] !== undefined ? q[c] : q['*'] || 0);
  return of('gzip') > 0 && of('gzip') >= (q.identity || 0);
}

// Names and values of a query or form: a map of lists, or null where it cannot be decoded.
function pairs(text) {
  const out = new Map();
  for (const part of text.split('&')) {
    if (part === '') continue;
    const at = part.indexOf('=');
    let name, value;
    try {
      name = decodeURIComponent((at < 0 ? part : part.slice(0, at)).replace(/\+/g, ' '));
      value = at < 0 ? '' : decodeURIComponent(part.slice(at + 1).replace(/\+/g, ' '));
    } catch (e) {
      return null;
    }
    out.set(name, [...(out.get(name) || []), value]);
  }
  return out;
}
const queryOf = (req) => {
  const at = req.url.indexOf('?');
  return pairs(at < 0 ? '' : req.url.slice(at + 1));
};
const headerCount = (req, name) => req.rawHeaders.filter((h, i) => i % 2 === 0 && h.toLowerCase() === name).length;

// ---------------------------------------------------------------- authorization server
const b64 = (x) => Buffer.from(x).toString('base64url');
function makeServer(tokenPath, issuer, known) {
  // The key pair is made when it is first needed, so that the start does not wait for it.
  let pair = null;
  const keys = () => (pair = pair || crypto.generateKeyPairSync('rsa', { modulusLength: 2048 }));
  const kid = crypto.randomBytes(6).toString('hex');
  return { tokenPath, issuer, known, keys, kid, failures: new Map() };
}
const production = makeServer('/auth/realms/funding/protocol/openid-connect/token', `${ORIGIN}/auth/realms/funding`, clients);
const staging = makeServer('/staging/auth/oauth/token', `${ORIGIN}/staging/auth`, stagingClients);
const LIFETIME = 300;

function issue(as, id) {
  const now = Math.floor(Date.now() / 1000);
  const client = as.known[id];
  const head = b64(JSON.stringify({ typ: 'at+jwt', alg: 'RS256', kid: as.kid }));
  const claims = b64(JSON.stringify({ iss: as.issuer, sub: client.account, aud: client.aud, client_id: id, iat: now, exp: now + LIFETIME, jti: crypto.randomUUID() }));
  return `${head}.${claims}.${crypto.sign('sha256', Buffer.from(`${head}.${claims}`), as.keys().privateKey).toString('base64url')}`;
}
// The claims of a good token of this server, or null.
function verify(as, token, audience) {
  const parts = token.split('.');
  if (parts.length !== 3) return null;
  const raw = parts.map((p) => Buffer.from(p, 'base64url'));
  if (raw.some((r, i) => r.toString('base64url') !== parts[i])) return null;
  try {
    const head = JSON.parse(raw[0]);
    if (head.alg !== 'RS256' || head.typ !== 'at+jwt' || head.kid !== as.kid) return null;
    if (!crypto.verify('sha256', Buffer.from(`${parts[0]}.${parts[1]}`), as.keys().publicKey, raw[2])) return null;
    const claims = JSON.parse(raw[1]);
    if (claims.iss !== as.issuer || !(claims.exp > Date.now() / 1000)) return null;
    if (audience && claims.aud !== audience) return null;
    return claims;
  } catch (e) {
    return null;
  }
}

const same = (a, b) => crypto.timingSafeEqual(crypto.createHash('sha256').update(a).digest(), crypto.createHash('sha256').update(b).digest());
const MAX_FAILURES = 10;
const LOCK_SECONDS = 60;

async function bodyOf(req) {
  const parts = [];
  let size = 0;
  for await (const part of req) {
    size += part.length;
    if (size <= 65536) parts.push(part);
  }
  return size > 65536 ? null : Buffer.concat(parts).toString('utf8');
}

async function tokenEndpoint(as, req, res) {
  const fail = (status, error, text, headers) => reply(req, res, status, { error, error_description: text }, { Pragma: 'no-cache', ...headers });
  const badClient = () => fail(401, 'invalid_client', 'Client authentication failed.', { 'WWW-Authenticate': 'Basic realm="xr"' });
  const body = await bodyOf(req);
  if (body === null) return fail(413, 'invalid_request', 'The body is too large.');
  const type = String(req.headers['content-type'] || '').split(';')[0].trim().toLowerCase();
  if (type !== 'application/x-www-form-urlencoded') return fail(400, 'invalid_request', 'The body must be application/x-www-form-urlencoded.');
  const form = pairs(body);
  const query = queryOf(req);
  if (!form || !query) return fail(400, 'invalid_request', 'The parameters cannot be decoded.');
  if (query.has('client_id') || query.has('client_secret')) return fail(400, 'invalid_request', 'Client credentials do not belong in the URL.');
  for (const [, values] of form) if (values.length > 1) return fail(400, 'invalid_request', 'A parameter is repeated.');
  // A parameter without a value counts as left out.
  const value = (name) => (form.get(name) || [''])[0];

  let id = value('client_id');
  let given = value('client_secret');
  const field = req.headers.authorization;
  if (headerCount(req, 'authorization') > 1) return fail(400, 'invalid_request', 'The Authorization header is repeated.');
  if (field !== undefined) {
    const m = /^basic +([A-Za-z0-9+/]+=*) *$/i.exec(field);
    if (!m) return badClient();
    if (given) return fail(400, 'invalid_request', 'Use one method of client authentication.');
    const [, user, pass] = /^([^:]*):([^]*)$/.exec(Buffer.from(m[1], 'base64').toString('utf8')) || [];
    if (user === undefined) return badClient();
    let basicId;
    try {
      basicId = decodeURIComponent(user.replace(/\+/g, ' '));
      given = decodeURIComponent(pass.replace(/\+/g, ' '));
    } catch (e) {
      return badClient();
    }
    if (id && id !== basicId) return fail(400, 'invalid_request', 'client_id differs from the Authorization header.');
    id = basicId;
  }
  const client = Object.prototype.hasOwnProperty.call(as.known, id) ? as.known[id] : null;
  const tries = client && as.failures.get(id);
  if (tries && tries.count >= MAX_FAILURES) {
    const left = Math.ceil((tries.until - Date.now()) / 1000);
    if (left > 0) return fail(429, 'invalid_client', 'Too many failed attempts.', { 'Retry-After': String(left) });
    as.failures.delete(id);
  }
  if (!client || !given || !same(given, client.secret)) {
    if (client && given) as.failures.set(id, { count: ((as.failures.get(id) || {}).count || 0) + 1, until: Date.now() + LOCK_SECONDS * 1000 });
    return badClient();
  }
  as.failures.delete(id);
  const grant = value('grant_type');
  if (!grant) return fail(400, 'invalid_request', 'grant_type is missing.');
  if (grant !== 'client_credentials') return fail(400, 'unsupported_grant_type', 'Only client_credentials is supported.');
  if (value('scope')) return fail(400, 'invalid_scope', 'This server has no scopes.');
  const expires = is('restify-lifetime-in-milliseconds') ? LIFETIME * 1000 : LIFETIME;
  reply(req, res, 200, { access_token: issue(as, id), token_type: 'Bearer', expires_in: expires }, { Pragma: 'no-cache' });
}

// ---------------------------------------------------------------- the guard
// Returns the query of a request that may go on; else it has been answered.
function guard(as, req, res, audience, needRole) {
  const challenge = (error) => ({ 'WWW-Authenticate': `Bearer realm="xr"${error ? `, error="${error}"` : ''}` });
  if (headerCount(req, 'authorization') > 1) return void problem(req, res, 400, 'The Authorization header is repeated.', challenge('invalid_request'));
  const m = /^bearer +(.+?) *$/i.exec(req.headers.authorization || '');
  if (!m) return void problem(req, res, 401, 'An access token is needed.', challenge());
  const claims = verify(as, m[1], audience);
  if (!claims) return void problem(req, res, 401, 'The access token is not valid.', challenge('invalid_token'));
  const query = queryOf(req);
  if (!query) return void problem(req, res, 400, 'The query cannot be decoded.');
  if (query.has('access_token')) return void problem(req, res, 400, 'The access token belongs in the Authorization header only.', challenge('invalid_request'));
  if (needRole && (accounts[claims.sub] || {}).role !== ROLE) return void problem(req, res, 403, `The role ${ROLE} is needed.`, challenge('insufficient_scope'));
  return query;
}

// ---------------------------------------------------------------- funding API
function listCalls(req, res) {
  const query = guard(production, req, res, AUDIENCE, true);
  if (!query) return;
  const given = {};
  for (const name of ['page', 'size', 'type', 'funder', 'sort']) {
    const values = query.get(name);
    if (!values) continue;
    if (values.length > 1) return problem(req, res, 400, `${name} is repeated.`);
    given[name] = values[0];
  }
  const whole = (name, fallback, max) => {
    if (given[name] === undefined) return fallback;
    return /^[1-9][0-9]{0,5}$/.test(given[name]) && Number(given[name]) <= max ? Number(given[name]) : null;
  };
  const page = whole('page', 1, 10000);
  const size = whole('size', 20, 50);
  if (page === null) return problem(req, res, 400, 'page must be a whole number from 1 to 10000.');
  if (size === null) return problem(req, res, 400, 'size must be a whole number from 1 to 50.');
  if (given.type !== undefined && !TYPES.includes(given.type)) return problem(req, res, 400, `type must be one of ${TYPES.join(', ')}.`);
  if (given.funder === '') return problem(req, res, 400, 'funder must not be empty.');
  const sort = given.sort === undefined ? 'id' : given.sort;
  if (!['id', 'deadline', '-deadline'].includes(sort)) return problem(req, res, 400, 'sort must be one of id, deadline, -deadline.');

  const found = calls.filter((c) => (given.type === undefined || c.type === given.type) && (given.funder === undefined || c.funderId === given.funder));
  // calls is in the order of the ids already
  if (sort !== 'id') {
    const sign = sort === 'deadline' ? 1 : -1;
    const tie = is('restify-ties-move') && page % 2 === 0 ? -1 : 1;
    found.sort((a, b) => {
      if ((a.deadline === null) !== (b.deadline === null)) return a.deadline === null ? 1 : -1;
      if (a.deadline !== b.deadline) return a.deadline < b.deadline ? -sign : sign;
      return a.id < b.id ? -tie : tie;
    });
  }
  const last = Math.max(1, Math.ceil(found.length / size));
  const address = (p, filters) => {
    const q = new URLSearchParams();
    q.set('page', p);
    q.set('size', size);
    for (const name of [...filters, 'sort']) if (given[name] !== undefined) q.set(name, given[name]);
    return `${BASE}/calls?${q}`;
  };
  const links = {};
  if (page > 1) links.prev = address(Math.min(page - 1, last), ['type', 'funder']);
  if (page < last) links.next = address(page + 1, is('restify-next-forgets-filter') ? [] : ['type', 'funder']);
  resource(req, res, { total: found.length, page, size, items: found.slice((page - 1) * size, page * size).map(shown), links });
}
function getCall(req, res) {
  const call = calls.find((c) => c.id === req.params.id);
  if (is('restify-condition-before-token') && call) {
    const field = req.headers['if-none-match'];
    const etag = etagOf(Buffer.from(JSON.stringify(call)));
    if (field !== undefined && tagListed(field, etag, true)) return reply(req, res, 304, undefined, { ETag: etag, 'Cache-Control': 'private, no-cache' });
  }
  if (!guard(production, req, res, AUDIENCE, true)) return;
  if (!call) return problem(req, res, 404, 'There is no such call.');
  resource(req, res, shown(call));
}
function listFunders(req, res) {
  if (!guard(production, req, res, AUDIENCE, true)) return;
  resource(req, res, funders);
}
function getFunder(req, res) {
  if (!guard(production, req, res, AUDIENCE, true)) return;
  const funder = funders.find((f) => f.id === req.params.id);
  if (!funder) return problem(req, res, 404, 'There is no such funder.');
  resource(req, res, funder);
}

// ---------------------------------------------------------------- info
function productionInfo(req, res) {
  const audience = is('restify-info-any-audience') ? null : AUDIENCE;
  if (!guard(production, req, res, audience, false)) return;
  reply(req, res, 200, { endpoints: { FUNDING: [{ name: 'FUNDING', majorVersion: 3, minorVersion: 0, url: `${BASE}/calls` }] } });
}
function stagingInfo(req, res) {
  if (!guard(staging, req, res, 'urn:xr:staging', false)) return;
  reply(req, res, 200, { endpoints: {} });
}

// ---------------------------------------------------------------- document
function openapi() {
  const modern = is('restify-document-3-1');
  const ref = (name) => ({ $ref: `#/components/schemas/${name}` });
  const etag = { ETag: { description: 'Entity tag of this answer, for If-None-Match and If-Match.', required: true, schema: { type: 'string' } } };
  const ok = (schema, description) => ({ description, headers: etag, content: { 'application/json': { schema } } });
  const use = (name) => ({ $ref: `#/components/responses/${name}` });
  const common = { 304: use('NotModified'), 400: use('BadRequest'), 401: use('Unauthorized'), 403: use('Forbidden'), 412: use('PreconditionFailed') };
  const error = (description, challenge) => ({
    description,
    ...(challenge ? { headers: { 'WWW-Authenticate': { description: 'Bearer challenge.', required: true, schema: { type: 'string' } } } } : {}),
    content: { 'application/problem+json': { schema: ref('Problem') } },
  });
  const idParam = (description) => ({ name: 'id', in: 'path', required: true, description, schema: { type: 'string' } });
  const deadlineText = 'When the call closes; null where it never closes.';
  const doc = {
    openapi: modern ? '3.1.0' : '3.0.3',
    info: {
      title: 'Funding API of node XR',
      version: '3.0',
      description: 'Annotated funding calls, read only. Every operation needs an access token of the client credentials flow for a service account with the role EXTERNAL_API_CLIENT. '
        + 'The staging environment is separate: its clients and tokens are not valid here. Query parameters that are not listed are ignored, except access_token, which is refused with 400; a listed one must not be repeated.',
    },
    servers: [{ url: modern ? API : BASE }],
    security: [{ oauth: [] }],
    tags: [{ name: 'Calls' }, { name: 'Funders' }],
    paths: {
      '/calls': {
        get: {
          operationId: 'listCalls',
          tags: ['Calls'],
          summary: 'List funding calls',
          description: 'The calls that match all given filters, page by page. An item is the same as the answer of getCall. A page past the last one is empty.',
          parameters: [
            { name: 'page', in: 'query', description: 'Number of the page.', schema: { type: 'integer', format: 'int32', minimum: 1, maximum: 10000, default: 1 } },
            { name: 'size', in: 'query', description: 'Calls on a page.', schema: { type: 'integer', format: 'int32', minimum: 1, maximum: 50, default: 20 } },
            { name: 'type', in: 'query', description: 'Only calls of this type.', schema: ref('CallType') },
            { name: 'funder', in: 'query', description: 'Only calls of the funder with this id. An unknown id gives an empty list.', schema: { type: 'string', minLength: 1 } },
            { name: 'sort', in: 'query', description: 'Order: by id, by deadline, or by deadline from late to early (-deadline). Calls without a deadline come last in both; calls with the same deadline are in the order of their ids.', schema: { type: 'string', enum: ['id', 'deadline', '-deadline'], default: 'id' } },
          ],
          responses: { 200: ok(ref('CallPage'), 'One page of calls.'), ...common },
        },
      },
      '/calls/{id}': { get: { operationId: 'getCall', tags: ['Calls'], summary: 'Read one funding call', parameters: [idParam('Id of the call.')], responses: { 200: ok(ref('Call'), 'The call.'), ...common, 404: use('NotFound') } } },
      '/funders': { get: { operationId: 'listFunders', tags: ['Funders'], summary: 'List all funders', responses: { 200: ok({ type: 'array', items: ref('Funder') }, 'All funders.'), ...common } } },
      '/funders/{id}': { get: { operationId: 'getFunder', tags: ['Funders'], summary: 'Read one funder', parameters: [idParam('Id of the funder.')], responses: { 200: ok(ref('Funder'), 'The funder.'), ...common, 404: use('NotFound') } } },
    },
    components: {
      securitySchemes: { oauth: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: ORIGIN + production.tokenPath, scopes: {} } } } },
      responses: {
        NotModified: { description: 'The entity tag in If-None-Match is current.', headers: etag },
        BadRequest: error('A parameter is not as described.'),
        Unauthorized: error('The access token is missing or not valid.', true),
        Forbidden: error('The service account lacks the role.', true),
        NotFound: error('No record has this id.'),
        PreconditionFailed: error('The entity tag in If-Match is not current.'),
      },
      schemas: {
        CallType: { type: 'string', enum: TYPES },
        Text: {
          type: 'object', required: ['lang', 'trans', 'text'], additionalProperties: false,
          properties: {
            lang: { type: 'string', description: 'Language tag.', enum: ['de', 'en'] },
            trans: { type: 'string', description: 'O original, H translated by a person, M by a machine.', enum: ['O', 'H', 'M'] },
            text: { type: 'string', minLength: 1 },
          },
        },
        Amount: { type: 'object', required: ['value', 'currency'], additionalProperties: false, properties: { value: { type: 'number', minimum: 0 }, currency: { type: 'string', enum: ['EUR', 'CHF'] } } },
        Call: {
          type: 'object', additionalProperties: false,
          required: ['id', 'type', 'name', 'funderId', 'deadline', 'amount', 'targetGroups', 'website', 'updatedAt'],
          properties: {
            id: { type: 'string', minLength: 1 },
            type: ref('CallType'),
            name: { type: 'array', minItems: 1, items: ref('Text') },
            funderId: { type: 'string', description: 'Id of a funder.' },
            deadline: modern ? { type: ['string', 'null'], format: 'date-time', description: deadlineText } : { type: 'string', format: 'date-time', nullable: true, description: deadlineText },
            amount: ref('Amount'),
            targetGroups: { type: 'array', minItems: 1, uniqueItems: true, items: { type: 'string', enum: GROUPS } },
            website: { type: 'string', format: 'uri' },
            updatedAt: { type: 'string', format: 'date-time' },
          },
        },
        CallPage: {
          type: 'object', additionalProperties: false, required: ['total', 'page', 'size', 'items', 'links'],
          properties: {
            total: { type: 'integer', minimum: 0, description: 'Number of calls that match, on all pages.' },
            page: { type: 'integer', minimum: 1 },
            size: { type: 'integer', minimum: 1 },
            items: { type: 'array', items: ref('Call') },
            links: {
              type: 'object', additionalProperties: false,
              properties: {
                prev: { type: 'string', format: 'uri', description: 'The page before, with the same filters, size and order; absent on the first page. Past the last page it is the last page.' },
                next: { type: 'string', format: 'uri', description: 'The page after, with the same filters, size and order; absent on the last page and past it.' },
              },
            },
          },
        },
        Funder: {
          type: 'object', additionalProperties: false, required: ['id', 'name', 'country', 'website'],
          properties: { id: { type: 'string' }, name: { type: 'string' }, country: { type: 'string', pattern: '^[A-Z]{2}$' }, website: { type: 'string', format: 'uri' } },
        },
        Problem: {
          type: 'object', required: ['type', 'title', 'status'],
          properties: { type: { type: 'string' }, title: { type: 'string' }, status: { type: 'integer' }, detail: { type: 'string' } },
        },
      },
    },
  };
  if (modern) {
    // Everything said once and pointed to; parameters of the path at the path.
    for (const item of Object.values(doc.paths)) {
      if (item.get.parameters && item.get.parameters[0].in === 'path') {
        item.parameters = item.get.parameters;
        delete item.get.parameters;
      }
    }
    doc.components.pathItems = { OneCall: doc.paths['/calls/{id}'], OneFunder: doc.paths['/funders/{id}'] };
    doc.paths['/calls/{id}'] = { $ref: '#/components/pathItems/OneCall' };
    doc.paths['/funders/{id}'] = { $ref: '#/components/pathItems/OneFunder' };
    doc.components.schemas.CallType = { type: 'string', oneOf: TYPES.map((t) => ({ const: t })) };
  }
  return doc;
}
const documentBody = Buffer.from(JSON.stringify(openapi()));

// ---------------------------------------------------------------- server
const server = restify.createServer({ name: 'xr', handleUncaughtExceptions: false });
const route = (path, handler) => {
  const run = async (req, res) => handler(req, res);
  server.get(path, run);
  server.head(path, run);
};
route('/registry.json', (req, res) => reply(req, res, 200, { member: [{ id: 'XR', acronym: 'XR', name: 'Example Research Node', contact: 'ris@xr.example', oauth2: ORIGIN + production.tokenPath, info: ORIGIN + INFO_PATH }] }));
server.post(production.tokenPath, async (req, res) => tokenEndpoint(production, req, res));
server.post(staging.tokenPath, async (req, res) => tokenEndpoint(staging, req, res));
route(INFO_PATH, productionInfo);
route(`/staging${INFO_PATH}`, stagingInfo);
route(`${API}/api-docs`, (req, res) => reply(req, res, 200, documentBody, { 'Cache-Control': 'no-cache' }));
route(`${API}/calls`, listCalls);
route(`${API}/calls/:id`, getCall);
route(`${API}/funders`, listFunders);
route(`${API}/funders/:id`, getFunder);

const allowed = (req) => (req.url.split('?')[0].endsWith('/token') ? 'POST' : 'GET, HEAD');
server.on('NotFound', (req, res, err, done) => { problem(req, res, 404, 'There is nothing at this path.'); });
server.on('MethodNotAllowed', (req, res, err, done) => { problem(req, res, 405, 'This method is not supported here.', { Allow: allowed(req) }); });
server.on('restifyError', (req, res, err, done) => {
  if (!res.headersSent) problem(req, res, 500, 'Something went wrong here.');
});
if (process.argv[2] === 'inputs') {
  console.log(JSON.stringify({ clients, stagingClients }));
  process.exit(0);
}
server.listen(PORT, '127.0.0.1');
