'use strict';
// A node of the network on Hapi: JWT access tokens (ES256), page/size paging in an envelope.
const Hapi = require('@hapi/hapi');
const crypto = require('crypto');

const V = process.env.NODE || 'hapi-base';
const is = (name) => V === name;
const PORT = Number(process.env.PORT || 18501);
const ORIGIN = `http://127.0.0.1:${PORT}`;
const BASE = `${ORIGIN}/kranich`;
const ISSUER = `${ORIGIN}/oauth`;
const STAGING = `${ORIGIN}/staging/oauth`;
const REALM = 'Bearer realm="kranich"';

// ---- keys (of a demonstration; they open nothing)
const jwk = (kid, d, x, y) => ({ kid, priv: crypto.createPrivateKey({ key: { kty: 'EC', crv: 'P-256', d, x, y }, format: 'jwk' }), pub: { kty: 'EC', crv: 'P-256', x, y, kid, use: 'sig', alg: 'ES256' } });
const KEYS = [
  jwk('kranich-1', 'tBKqAh4c0mMhJWEO47nqGBW_PlmEjPAN7esWi-mPbnM', 'weLPgD5OiTxJjlIcBdMf1ebcWdrnq-tJPDOzzEAEqkE', 'xTKwM35yGWyIMRtKKoXpEUfivZ0hAne-eIfTVuFJcEI'),
  jwk('kranich-2', 'h_dJRZY4VLTeadRViSPhtooaZ1agniQCe-T48UamvM4', 'aWfr7I21kWRReWr9859cLBp2b46FwPRhEz9jvvHhNP4', '1QzZb0ICEiDOlxGmP0UE3GXUTsqJVtQnysXcvEAT1fU'),
  jwk('probe-1', 'JD1vActAtUvp-Mg4fKHTG0OLSfdLmkCFbS-EELAN4yE', 'LOaf89Sq_BrrOpPm400TMnekprSoHvVR6OVXwe9_wHs', 'xYHtUrcs5ps-wtaJ4nC-IdjzXkvq0tpIYR4s2UwGuVM'),
];
const STAGING_KEY = KEYS.pop();
const ring = (keys) => new Map(keys.map((k) => [k.kid, crypto.createPublicKey({ key: k.pub, format: 'jwk' })]));

// ---- clients
const CLIENTS = {
  'kranich-app': { secret: 'Zugvogel+2026/50%_Auftrieb~ueber.der-Ostsee:rastet', sub: 'sa-7001', roles: ['EXTERNAL_API_CLIENT'], affiliation: 'AFF-ROSTOCK-1' },
  'kranich-bibliothek': { secret: 'p4cYqkq8ZzTnR0bVt9WmS3xLh6JfUeGd1oXa7CiN', sub: 'sa-7002', roles: ['EXTERNAL_API_CLIENT'], affiliation: 'AFF-KIEL-2' },
  'kranich-gast': { secret: 'u8RrT2yQz5LwEo0PkVb3NcXm7HsJdGf4aZiC6qWt', sub: 'sa-7003', roles: [], affiliation: 'AFF-KIEL-2' },
  'kranich-projekte': { secret: 'c1VxB9mNq4WzKs7RtYu2PoLi5JhGf8DdEa3SxZv6', sub: 'sa-7004', roles: ['EXTERNAL_API_CLIENT'], affiliation: 'AFF-KIEL-2', aud: `${ORIGIN}/kranich-projekte` },
  'kranich-ersatz': { secret: 'h5TgB2nMq8WzLs7RtYc1PoKi4JxGf6DdUa9SvZe3', sub: 'sa-7005', roles: ['EXTERNAL_API_CLIENT'], affiliation: 'AFF-KIEL-2' },
};
const STAGING_CLIENTS = { 'probe-app': { secret: 'm6NbV3cXz9LkJh8GfDs2QwErTy5UiOpA7sKd4FgH', sub: 'sa-9001', roles: ['EXTERNAL_API_CLIENT'], affiliation: 'AFF-PROBE' } };
const SCOPES = ['funding:read'];
const TTL = 300;

// ---- data
const day = 86400000;
const pad = (n, w = 2) => String(n).padStart(w, '0');
const iso = (ms, off) => {
  const d = new Date(ms + off * 3600000).toISOString().slice(0, 19);
  return off === 0 ? `${d}Z` : `${d}${off < 0 ? '-' : '+'}${pad(Math.abs(off))}:00`;
};
const TOPICS = [['Moorschutz', 'Peatland Protection'], ['Künstliche Intelligenz in der Lehre', 'Artificial Intelligence in Teaching'], ['Ostseefischerei', 'Baltic Fisheries'],
  ['Wärmewende', 'Heat Transition'], ['Niederdeutsche Sprache', 'Low German Language'], ['Offene Wissenschaft', 'Open Science'], ['Pflegeforschung', 'Nursing Research'], ['Schiffbau', 'Shipbuilding']];
const GROUPS = ['UNIVERSITY', 'RESEARCH_INSTITUTE', 'COMPANY', 'NON_PROFIT', 'INDIVIDUAL'];
const STATUS = ['OPEN', 'UPCOMING', 'CLOSED'];
const REGIONS = ['ROSTOCK', 'KIEL', 'GREIFSWALD', 'LUEBECK'];
const FUNDERS = [['F-01', 'Stiftung Küste', 'Coast Foundation'], ['F-02', 'Landesfonds Bildung', 'State Fund for Education'], ['F-03', 'Hanse-Akademie', 'Hanseatic Academy'],
  ['F-04', 'Förderkreis Meer & Mensch', 'Friends of Sea and People'], ['F-05', 'Donau-Alap', 'Danube Fund']]
  .map(([id, de, en], i) => ({ id, name: [{ lang: 'de', text: de }, { lang: 'en', text: en }], website: `https://funder${i + 1}.example/`, countryCode: i === 4 ? 'HU' : 'DE' }));
const callId = (n) => (is('unicode-ids') ? `KÜ 2026/${pad(n, 3)}+Ä` : `KR-2026-${pad(n, 3)}`);
const CALLS = Array.from({ length: 60 }, (_, i) => {
  const n = i + 1;
  const g = (Math.floor(i / 3) * 7) % 20;
  const t = TOPICS[i % 8];
  const end = Date.UTC(2027, 0, 10, 22, 40) + g * 5 * day + (i % 3) * 1200000;
  const off = g % 4 === 2 ? [2, 0, -3][i % 3] : 0;
  const f = FUNDERS[(i * 3) % 5];
  const c = {
    id: callId(n), kind: i % 11 === 5 ? 'ONGOING_CALL' : 'CALL',
    title: [{ lang: 'de', text: `${t[0]} – Ausschreibung ${n}` }, { lang: 'en', text: `${t[1]}, call ${n}` }],
    funder: { id: f.id, name: f.name }, status: STATUS[(i * 2 + Math.floor(i / 5)) % 3], region: REGIONS[(i + Math.floor(i / 7)) % 4],
    targetGroups: GROUPS.filter((_, k) => (n * [2, 3, 4, 6, 7][k] + k) % 5 < 2), opens: iso(end - 90 * day, 0),
    budget: f.id === 'F-05' || i % 4 === 1 ? { currency: 'HUF', amount: 2400000000 + n * 25000000 } : { currency: 'EUR', amount: 100000 + n * 12500 },
    website: `https://funder.example/calls/${n}`, updated: iso(Date.UTC(2026, 8, 1, 8, n), 0),
  };
  if (c.kind === 'CALL') c.deadline = iso(end, off);
  if (c.targetGroups.length === 0) c.targetGroups = ['UNIVERSITY'];
  if (n % 4 === 0) c.note = [{ lang: 'de', text: `Hinweis für Antragstellende Nr. ${n}` }];
  return c;
});

// ---- the OpenAPI document
const S = (type, extra) => ({ type, ...extra });
const ref = (n) => ({ $ref: `#/components/schemas/${n}` });
const texts = S('array', { items: ref('Text') });
const content = (schema) => ({ 'application/json': { schema } });
const failure = (description, headers) => ({ description, content: content(ref('Error')), ...(headers ? { headers } : {}) });
const challenge = { 'WWW-Authenticate': { description: 'The challenge (RFC 6750).', required: true, schema: S('string') } };
const answers = (schema, { open, param, id } = {}) => ({
  200: { description: 'The answer.', content: content(schema), headers: { ETag: { schema: S('string'), description: 'Validator for If-None-Match.' } } },
  304: { description: 'Not modified (If-None-Match).' },
  ...(param || !open ? { 400: failure('The request is malformed.') } : {}),
  ...(open ? {} : { 401: failure('No access token, or not a good one.', challenge) }),
  ...(open === 'norole' || open ? {} : { 403: failure('The client lacks the role EXTERNAL_API_CLIENT.', challenge) }),
  ...(id ? { 404: failure('There is nothing with this id.') } : {}),
  405: failure('Only GET and HEAD are offered.', { Allow: { required: true, schema: S('string'), description: 'What is offered.' } }),
});
const q = (name, schema, description) => ({ name, in: 'query', required: false, description, schema });
const PAGE = [q('page', S('integer', { minimum: 1, maximum: 100000, default: 1 }), 'Number of the page; the first is 1. A page past the end has no items.'),
  q('size', S('integer', { minimum: 1, maximum: 50, default: 10 }), 'Items of a page.')];
const FILTERS = [q('status', S('string', { enum: STATUS }), 'Only calls with this status.'), q('region', S('string', { enum: REGIONS }), 'Only calls for this region.'),
  q('targetGroup', S('string', { enum: GROUPS }), 'Only calls that name this group among their targetGroups.'), q('funderId', S('string', { minLength: 1, maxLength: 40 }), 'Only calls of the funder with exactly this id.'),
  q('deadlineFrom', S('string', { format: 'date' }), 'Only calls whose deadline is on this day (UTC) or later.'), q('deadlineTo', S('string', { format: 'date' }), 'Only calls whose deadline is on this day (UTC) or earlier.'),
  q('q', S('string', { minLength: 1, maxLength: 100 }), 'Only calls with a title, in any language, that contains this text; upper and lower case are the same.')];
const SORT = q('sort', S('string', { enum: ['id', 'deadline', '-deadline'], default: 'id' }), 'Order of the items: by id, by the instant of the deadline, or by it backwards; calls without a deadline come last.');
const envelope = (n) => S('object', { required: ['items', 'page', 'size', 'totalItems', 'totalPages'], properties: {
  items: S('array', { items: ref(n) }), page: S('integer'), size: S('integer'), totalItems: S('integer', { description: 'Items of all pages together, after the filters.' }), totalPages: S('integer'),
  next: S('string', { format: 'uri', description: 'The next page, absent on the last one.' }), previous: S('string', { format: 'uri' }) } });
const callSchema = S('object', { required: ['id', 'kind', 'title', 'funder', 'status', 'region', 'targetGroups', 'opens', 'budget', 'website', 'updated'], properties: {
  id: S('string'), kind: S('string', { enum: ['CALL', 'ONGOING_CALL'] }), title: texts, funder: ref('FunderRef'), status: S('string', { enum: STATUS }), region: S('string', { enum: REGIONS }),
  targetGroups: S('array', { items: S('string', { enum: GROUPS }), minItems: 1 }), opens: S('string', { format: 'date-time' }), deadline: S('string', { format: 'date-time', description: 'Absent for ongoing calls.' }),
  budget: ref('Money'), website: S('string', { format: 'uri' }), updated: S('string', { format: 'date-time' }), note: texts } });
const get = (operationId, summary, extra, responses) => ({ get: { operationId, summary, ...extra, responses } });
const idParam = { name: 'id', in: 'path', required: true, schema: S('string', { minLength: 1 }), description: 'The id, as listed.' };
const rightServers = is('servers-per-path');
const DOC = {
  openapi: rightServers ? '3.1.0' : '3.0.3',
  info: { title: 'Kranich funding API', version: '3.2.0', description: 'Get a token with the client credentials grant; send it as `Authorization: Bearer`. Unknown parameters are ignored; a bad value, or a parameter given twice, is 400. The order of a list is stable. A detail is the same object as in the list.' },
  servers: rightServers ? [{ url: `${ORIGIN}/{prefix}`, variables: { prefix: { default: 'kranich' } } }] : [{ url: BASE }],
  security: [{ clientCredentials: ['funding:read'] }],
  paths: {
    '/info/v1/oauth/info/': get('info', 'Where the APIs are; tells whether a token works', { description: 'Any good token opens it; no role is needed.', security: [{ clientCredentials: [] }] }, answers(ref('Info'))),
    '/funding/v3/api-docs': get('apiDocs', 'This document', { security: [] }, answers(S('object'), { open: true })),
    '/funding/v3/calls': get('listCalls', 'Funding calls', { parameters: [...PAGE, ...FILTERS, SORT] }, answers(envelope('Call'), { param: true })),
    '/funding/v3/calls/{id}': get('readCall', 'One funding call', { parameters: [idParam] }, answers(ref('Call'), { id: true })),
    '/funding/v3/funders': { ...get('listFunders', 'Funders', { parameters: PAGE }, answers(envelope('Funder'), { param: true })), ...(rightServers ? { servers: [{ url: `${ORIGIN}/orgs` }] } : {}) },
    '/funding/v3/funders/{id}': { ...get('readFunder', 'One funder', { parameters: [idParam] }, answers(ref('Funder'), { id: true })), ...(rightServers ? { servers: [{ url: '/orgs' }] } : {}) },
    '/try-out/funding/v3/calls': get('tryOutCalls', 'Sample calls, without a token', { security: [], parameters: [...PAGE, ...FILTERS, SORT] }, answers(envelope('Call'), { open: true, param: true })),
  },
  components: {
    securitySchemes: { clientCredentials: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: `${ORIGIN}/oauth/token`, scopes: { 'funding:read': 'Read funding calls; the default.' } } } } },
    schemas: {
      Text: S('object', { required: ['lang', 'text'], properties: { lang: S('string', { pattern: '^[a-z]{2}$' }), text: S('string') } }),
      Money: S('object', { required: ['currency', 'amount'], properties: { currency: S('string', { pattern: '^[A-Z]{3}$' }), amount: S('integer', { format: 'int64', minimum: 0 }) } }),
      FunderRef: S('object', { required: ['id', 'name'], properties: { id: S('string'), name: texts } }),
      Funder: S('object', { required: ['id', 'name', 'website', 'countryCode'], properties: { id: S('string'), name: texts, website: S('string', { format: 'uri' }), countryCode: S('string', { pattern: '^[A-Z]{2}$' }) } }),
      Call: callSchema,
      Info: S('object', { required: ['endpoints'], properties: { endpoints: S('object', { additionalProperties: S('array', { items: S('object', { required: ['name', 'majorVersion', 'minorVersion', 'url'], properties: { name: S('string'), majorVersion: S('integer'), minorVersion: S('integer'), url: S('string') } }) }) }) } }),
      Error: S('object', { required: ['error'], properties: { error: S('object', { required: ['code', 'message'], properties: { code: S('string'), message: S('string') } }) } }),
    },
  },
};
if (rightServers) for (const [p, item] of Object.entries(DOC.paths)) if (p.startsWith('/info')) item.get.servers = [{ url: BASE }];

// ---- tokens
const b64 = (v) => Buffer.from(v).toString('base64url');
let issued = 0;
function sign(claims, key) {
  const head = `${b64(JSON.stringify({ alg: 'ES256', typ: 'at+jwt', kid: key.kid }))}.${b64(JSON.stringify(claims))}`;
  return `${head}.${crypto.sign('sha256', Buffer.from(head), { key: key.priv, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}
function issue(id, client, issuer) {
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: issuer, sub: client.sub, aud: client.aud || (issuer === STAGING ? `${ORIGIN}/staging/kranich` : BASE), client_id: id, iat: now, exp: now + TTL, jti: crypto.randomUUID(), scope: SCOPES.join(' '), roles: client.roles, affiliation: client.affiliation };
  if (is('long-token')) claims.groups = Array.from({ length: 150 }, (_, k) => `/hochschulverbund/nord/einrichtung-${k}`);
  const key = issuer === STAGING ? STAGING_KEY : is('key-rotation') ? KEYS[issued++ % 2] : KEYS[0];
  return sign(claims, key);
}
const OWN = ring(is('key-rotation') ? KEYS : [KEYS[0]]);
const FOREIGN = ring([STAGING_KEY]);
const ANY = new Map([...OWN, ...FOREIGN]);
const seen = new Map(); // for sig-cache
function verify(token, { keys, iss, aud }) {
  const parts = token.split('.');
  if (parts.length !== 3) return null;
  const cached = is('sig-cache') && seen.get(`${parts[0]}.${parts[1]}`);
  if (cached && cached.exp * 1000 > Date.now()) return cached;
  let head, claims;
  try {
    [head, claims] = parts.slice(0, 2).map((p) => JSON.parse(Buffer.from(p, 'base64url').toString()));
  } catch { return null; }
  if (!head || !claims || head.alg !== 'ES256' || head.typ !== 'at+jwt' || head.crit !== undefined) return null;
  const key = keys.get(head.kid);
  const sig = Buffer.from(parts[2], 'base64url');
  if (!key || sig.toString('base64url') !== parts[2]) return null;
  if (!crypto.verify('sha256', Buffer.from(`${parts[0]}.${parts[1]}`), { key, dsaEncoding: 'ieee-p1363' }, sig)) return null;
  const now = Date.now() / 1000;
  if (typeof claims.exp !== 'number' || claims.exp <= now || (claims.nbf !== undefined && !(claims.nbf <= now))) return null;
  if ((iss && claims.iss !== iss) || (aud && ![].concat(claims.aud).includes(aud))) return null;
  if (is('sig-cache')) seen.set(`${parts[0]}.${parts[1]}`, claims);
  return claims;
}

// ---- errors
class Fault extends Error {
  constructor(status, code, message, headers = {}) { super(message); Object.assign(this, { status, code, headers, isFault: true }); }
}
const send = (h, status, body, headers = {}) => {
  const r = h.response(JSON.stringify(body)).code(status).type('application/json').charset('');
  for (const [k, v] of Object.entries(headers)) r.header(k, v);
  return r;
};
const sendFault = (h, f) => send(h, f.status, { error: { code: f.code, message: f.message } }, { 'Cache-Control': 'no-store', ...f.headers });
const chal = (error, text) => ({ 'WWW-Authenticate': `${REALM}${error ? `, error="${error}", error_description="${text}"` : ''}` });

function principal(request, env) {
  const raw = request.raw.req.rawHeaders.filter((v, i) => i % 2 === 0 && v.toLowerCase() === 'authorization').length;
  const value = request.headers.authorization;
  if (value === undefined) throw new Fault(401, 'no_token', 'The request has no access token.', chal());
  if (raw > 1) throw new Fault(400, 'invalid_request', 'More than one Authorization header.', chal('invalid_request', 'more than one Authorization header'));
  if (!/^bearer(\s|$)/i.test(value)) throw new Fault(401, 'no_token', 'Use the scheme Bearer.', chal());
  const m = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(value);
  if (!m) throw new Fault(400, 'invalid_request', 'The credentials are malformed.', chal('invalid_request', 'malformed credentials'));
  const claims = verify(m[1], env);
  if (!claims) throw new Fault(401, 'invalid_token', 'The access token is not valid here.', chal('invalid_token', 'the access token is not valid here'));
  return claims;
}
const PROD = { keys: OWN, iss: ISSUER, aud: BASE };
const etags = new Set(); // for cond-before-auth
const guarded = (handler, { role = true, env = PROD } = {}) => (request, h) => {
  const inm = request.headers['if-none-match'];
  if (is('cond-before-auth') && inm && etags.has(`${request.url.pathname}${request.url.search} ${inm.replace(/-gzip"$/, '"')}`)) return h.response().code(304).header('ETag', inm);
  const who = principal(request, env);
  if (role && (!who.roles.includes('EXTERNAL_API_CLIENT') || !who.affiliation)) throw new Fault(403, 'forbidden', 'The client lacks the role EXTERNAL_API_CLIENT.', chal('insufficient_scope', 'the role EXTERNAL_API_CLIENT is missing'));
  return handler(request, h);
};
const json = (request, h, body, pub) => {
  const tag = crypto.createHash('sha256').update(JSON.stringify(body)).digest('base64url').slice(0, 20);
  if (is('cond-before-auth')) etags.add(`${request.url.pathname}${request.url.search} "${tag}"`);
  // Hapi knows neither "*" nor each form of the weak comparison (RFC 9110 13.1.2)
  const inm = request.headers['if-none-match'];
  if (inm && inm.split(/\s*,\s*/).some((e) => e === '*' || e.replace(/^W\//, '').replace(/-(gzip|deflate)"$/, '"') === `"${tag}"`)) request.headers['if-none-match'] = `${is('weak-etag') ? 'W/' : ''}"${tag}"`;
  return send(h, 200, body, { 'Cache-Control': pub ? 'no-cache' : 'private, no-cache', Vary: pub ? 'Accept-Encoding' : 'Authorization' })
    .etag(tag, is('weak-etag') ? { weak: true } : {});
};

// ---- lists
const bad = (name, text) => new Fault(400, 'bad_parameter', `${name}: ${text}`);
function params(request, known) {
  const out = {};
  const sp = request.url.searchParams;
  for (const p of known) {
    const all = sp.getAll(p.name);
    if (all.length > 1) throw bad(p.name, 'given more than once');
    if (all.length === 0) { if (p.schema.default !== undefined) out[p.name] = p.schema.default; continue; }
    const [v] = all; const s = p.schema;
    if (s.type === 'integer') {
      if (!/^\d{1,9}$/.test(v) || Number(v) < s.minimum || Number(v) > s.maximum) throw bad(p.name, `not a whole number from ${s.minimum} to ${s.maximum}`);
      out[p.name] = Number(v);
    } else {
      if (s.enum && !s.enum.includes(v)) throw bad(p.name, `not one of ${s.enum.join(', ')}`);
      if (s.format === 'date' && (!/^\d{4}-\d\d-\d\d$/.test(v) || Number.isNaN(Date.parse(v)) || new Date(v).toISOString().slice(0, 10) !== v)) throw bad(p.name, 'not a date such as 2027-01-31');
      if (s.minLength !== undefined && ([...v].length < s.minLength || [...v].length > s.maxLength)) throw bad(p.name, 'too short or too long');
      out[p.name] = v;
    }
  }
  return out;
}
const utcDay = (c) => (c.deadline ? new Date(c.deadline).toISOString().slice(0, 10) : null);
const TESTS = {
  status: (c, v) => c.status === v, region: (c, v) => c.region === v, targetGroup: (c, v) => c.targetGroups.includes(v), funderId: (c, v) => c.funder.id === v,
  deadlineFrom: (c, v) => utcDay(c) !== null && utcDay(c) >= v, deadlineTo: (c, v) => utcDay(c) !== null && utcDay(c) <= v,
  q: (c, v) => c.title.some((t) => t.text.toLowerCase().includes(v.toLowerCase())),
};
const key = (c) => (is('sort-string') ? c.deadline : Date.parse(c.deadline));
function page(request, list, p, total = list.length) {
  const from = (p.page - 1) * p.size;
  const link = (n) => { const u = new URL(ORIGIN + request.url.pathname + request.url.search); u.searchParams.set('page', n); return u.href; };
  const out = { items: list.slice(from, from + p.size), page: p.page, size: p.size, totalItems: total, totalPages: Math.ceil(total / p.size) };
  if (p.page < out.totalPages) out.next = link(p.page + 1);
  if (p.page > 1) out.previous = link(Math.min(p.page - 1, Math.max(1, out.totalPages)));
  return out;
}
function calls(request, h) {
  const p = params(request, [...PAGE, ...FILTERS, SORT]);
  const used = Object.keys(TESTS).filter((n) => p[n] !== undefined);
  const list = CALLS.filter((c) => used.every((n) => TESTS[n](c, p[n])));
  if (p.sort !== 'id') {
    const dir = p.sort === 'deadline' ? 1 : -1;
    list.sort((a, b) => (!a.deadline - !b.deadline) || (a.deadline && (key(a) < key(b) ? -dir : key(a) > key(b) ? dir : 0)) || 0);
  }
  const total = is('total-two-filters') && used.length > 1 ? CALLS.filter((c) => TESTS[used[0]](c, p[used[0]])).length : list.length;
  return json(request, h, page(request, list, p, total), request.path.includes('/try-out/'));
}
const byId = (list) => (request, h) => {
  const found = list.find((c) => c.id === request.params.id);
  if (!found) throw new Fault(404, 'not_found', 'There is nothing with this id.');
  return json(request, h, is('amount-int32') && found.budget ? { ...found, budget: { ...found.budget, amount: found.budget.amount | 0 } } : found);
};
const info = (request, h) => json(request, h, { endpoints: { funding: [['FUNDINGS', ''], ['FUNDING', '/{id}']].map(([name, tail]) => ({ name, majorVersion: 3, minorVersion: 2, url: `${BASE}/funding/v3/calls${tail}` })) } });

// ---- token endpoint
const same = (a, b) => crypto.timingSafeEqual(crypto.createHash('sha256').update(a).digest(), crypto.createHash('sha256').update(b).digest());
const formDecode = (s) => { try { return decodeURIComponent(s.replace(/\+/g, ' ')); } catch { return null; } };
const failures = new Map();
const issuedFor = new Map(); // for cached-expires
const tokenRoute = (clients, issuer) => (request, h) => {
  const no = { 'Cache-Control': 'no-store', Pragma: 'no-cache' };
  const fail = (status, error, text) => send(h, status, { error, error_description: text }, { ...no, ...(status === 401 ? { 'WWW-Authenticate': 'Basic realm="kranich-clients"' } : {}) });
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(request.headers['content-type'] || '')) return fail(400, 'invalid_request', 'the body must be application/x-www-form-urlencoded');
  const form = new URLSearchParams((request.payload || '').toString());
  const names = [...form.keys()];
  if (new Set(names).size !== names.length) return fail(400, 'invalid_request', 'a parameter is given more than once');
  const field = (n) => form.get(n) || undefined;
  let id = field('client_id'); let secret = field('client_secret');
  const auth = request.headers.authorization;
  if (auth !== undefined) {
    const m = /^basic +([A-Za-z0-9+/]+=*)$/i.exec(auth);
    if (!m) return fail(401, 'invalid_client', 'the Authorization header is not Basic credentials');
    if (secret !== undefined) return fail(400, 'invalid_request', 'two ways of client authentication in one request');
    const [u, ...rest] = Buffer.from(m[1], 'base64').toString().split(':');
    const user = formDecode(u); secret = formDecode(rest.join(':'));
    if (id !== undefined && id !== user && !is('deputy')) return fail(400, 'invalid_request', 'client_id differs from the Authorization header');
    const body = id; id = user;
    if (is('deputy') && body && Object.hasOwn(clients, body) && Object.hasOwn(clients, id) && same(clients[id].secret, secret || '')) { id = body; secret = clients[body].secret; }
  }
  const client = id && Object.hasOwn(clients, id) ? clients[id] : null;
  const f = failures.get(id) || { n: 0, at: 0 };
  if (client && f.n >= 100 && Date.now() - f.at < 30000) return send(h, 429, { error: 'temporarily_unavailable', error_description: 'too many wrong secrets' }, { ...no, 'Retry-After': '30' });
  const cut = (s) => (is('secret-truncated') ? s.slice(0, 32) : s);
  if (!client || secret === undefined || secret === null || !same(cut(client.secret), cut(secret))) {
    if (client) failures.set(id, { n: Date.now() - f.at < 30000 ? f.n + 1 : 1, at: Date.now() });
    return fail(401, 'invalid_client', 'client authentication failed');
  }
  failures.delete(id);
  if (!field('grant_type')) return fail(400, 'invalid_request', 'grant_type is missing');
  if (field('grant_type') !== 'client_credentials') return fail(400, 'unsupported_grant_type', 'only client_credentials is supported');
  if (field('scope') && !field('scope').split(' ').every((s) => SCOPES.includes(s))) return fail(400, 'invalid_scope', 'the only scope is funding:read');
  let token;
  if (is('cached-expires')) {
    const c = issuedFor.get(id);
    token = c && Date.now() - c.at < 120000 ? c.token : issue(id, client, issuer);
    if (!c || c.token !== token) issuedFor.set(id, { token, at: Date.now() });
  } else token = issue(id, client, issuer);
  const extra = is('long-token') ? { 'not-before-policy': 0, refresh_expires_in: 0, session: null } : {};
  return send(h, 200, { access_token: token, token_type: is('long-token') ? 'bearer' : 'Bearer', expires_in: TTL, scope: SCOPES.join(' '), ...extra }, no);
};

// ---- routes
async function main() {
  const server = Hapi.server({ host: '127.0.0.1', port: PORT, routes: { state: { parse: false, failAction: 'ignore' } }, compression: { minBytes: 512 } });
  const route = (path, handler, { methods = ['GET'], options = {}, allow = 'GET, HEAD' } = {}) => {
    for (const method of methods) server.route({ method, path, handler, options });
    server.route({ method: '*', path, options: { payload: { parse: false, output: 'stream' } }, handler: (_, h) => sendFault(h, new Fault(405, 'method_not_allowed', `Only ${allow} is offered.`, is('405-no-allow') && path.endsWith('{id}') ? {} : { Allow: allow })) });
  };
  const post = { methods: ['POST'], allow: 'POST', options: { payload: { parse: false, output: 'data', maxBytes: 65536 } } };
  route('/oauth/token', tokenRoute(CLIENTS, ISSUER), post);
  route('/staging/oauth/token', tokenRoute(STAGING_CLIENTS, STAGING), post);
  route('/staging/kranich/info/v1/oauth/info/', guarded(info, { role: false, env: { keys: FOREIGN, iss: STAGING, aud: `${ORIGIN}/staging/kranich` } }));
  const orgs = rightServers ? '/orgs' : '/kranich';
  route('/kranich/info/v1/oauth/info/', guarded(info, { role: false }));
  route('/kranich/funding/v3/api-docs', (r, h) => json(r, h, DOC, true));
  route('/kranich/funding/v3/calls', guarded(calls));
  route('/kranich/funding/v3/calls/{id}', guarded(byId(CALLS)));
  route(`${orgs}/funding/v3/funders`, guarded((r, h) => json(r, h, page(r, FUNDERS, params(r, PAGE)))));
  route(`${orgs}/funding/v3/funders/{id}`, guarded(byId(FUNDERS), { env: is('staging-one-route') ? { keys: ANY } : PROD }));
  route('/kranich/try-out/funding/v3/calls', calls);
  route('/oauth/jwks', (r, h) => json(r, h, { keys: (is('key-rotation') ? KEYS : [KEYS[0]]).map((k) => k.pub) }, true));
  route('/.well-known/oauth-authorization-server/oauth', (r, h) => json(r, h, { issuer: ISSUER, token_endpoint: `${ORIGIN}/oauth/token`, jwks_uri: `${ORIGIN}/oauth/jwks`, grant_types_supported: ['client_credentials'],
    response_types_supported: [], token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'], scopes_supported: SCOPES }, true));
  route('/registry.json', (r, h) => json(r, h, { member: [{ id: 'KRANICH', acronym: 'KRA', name: 'Hochschulverbund Kranich', contact: 'ris@kranich.example', oauth2: `${ORIGIN}/oauth/token`, info: `${BASE}/info/v1/oauth/info/` }] }, true));
  server.ext('onPreResponse', (request, h) => {
    const r = request.response;
    if (r.isFault || (r.isBoom && r.data && r.data.isFault)) return sendFault(h, r.isFault ? r : r.data);
    if (r instanceof Error) {
      const s = (r.output && r.output.statusCode) || 500;
      const code = { 400: 'bad_request', 404: 'not_found', 413: 'too_large' }[s] || (s < 500 ? 'refused' : 'internal_error');
      return sendFault(h, new Fault(s, code, s === 404 ? 'There is nothing here.' : s < 500 ? 'The request is malformed.' : 'Something went wrong.'));
    }
    r.header('X-Content-Type-Options', 'nosniff');
    return h.continue;
  });
  await server.start();
}
main().catch((e) => { console.error(e); process.exit(1); });
