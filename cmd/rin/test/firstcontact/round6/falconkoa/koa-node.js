'use strict';
// Research-information node "Elsterau": authorization server, info resource and funding API v3 (Koa, @koa/router).
const crypto = require('node:crypto');
const zlib = require('node:zlib');
const { promisify } = require('node:util');
const Koa = require('koa');
const KoaRouter = require('@koa/router');
const Router = KoaRouter.Router || KoaRouter;
const gzip = promisify(zlib.gzip);

const NODE = process.env.NODE || 'koa-elsterau';
const PORT = Number(process.env.PORT || 8102);
const ORIGIN = `http://127.0.0.1:${PORT}`;
const PREFIX = '/ris-elster';
const API = `${PREFIX}/funding/v3`;
const TRYOUT = `${PREFIX}/tryout/funding/v3`;
const ROLE = 'EXTERNAL_API_CLIENT';
const SCOPES = ['calls:read', 'documents:read'];
const LIFETIME = 600;

// ------------------------------------------------------------------ errors

class ApiError extends Error {
  constructor(status, code, message, headers = {}) {
    super(message);
    Object.assign(this, { status, code, headers, expose: true });
  }
}

class OAuthError extends Error {
  constructor(status, error, description, headers = {}) {
    super(description);
    Object.assign(this, { status, error, headers });
  }
}

const CODES = { 400: 'bad_request', 404: 'not_found', 405: 'method_not_allowed', 500: 'internal_error', 501: 'not_implemented' };

async function errors(ctx, next) {
  try {
    await next();
    if (ctx.status >= 400 && !ctx.state.answered) throw new ApiError(ctx.status, CODES[ctx.status] || 'error', ctx.message);
  } catch (err) {
    const known = err instanceof ApiError;
    const status = known ? err.status : 500;
    if (!known) console.error(err);
    ctx.status = status;
    if (known) ctx.set(err.headers);
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { error: { code: known ? err.code : 'internal_error', message: known ? err.message : 'The request could not be processed.', request_id: crypto.randomUUID() } };
  }
}

// ------------------------------------------------------------------ authorization servers

const PRODUCTION_CLIENTS = [
  { id: 'campus-suite', secret: 'q7/Zt+K2mVx9cLr4Jd8sYp3NwGa6UeTz5Bv+RkHy', user: 'svc-20411', audience: 'funding', roles: [ROLE], affiliation: 'AFF-1204' },
  { id: 'theatre-museum', secret: 'p3n+z8Qy/k5TgVb7RmJc2HsDf9UeAa4KtZqN6+Gx', user: 'svc-20412', audience: 'funding', roles: [], affiliation: 'AFF-7001' },
  { id: 'orgunit-sync', secret: 'y6B+Mv4WqKs9ZhLx2Cf/j7PnGd3UaTkXw8HzQ5cR', user: 'svc-20413', audience: 'orgunits', roles: [ROLE], affiliation: 'AFF-1204' },
  { id: 'campus-nightly', secret: 'k9FzXc3+hTn7QpLw5JdYb2MsGe8/aZtKx4HvN6yR', user: 'svc-20414', audience: 'funding', roles: [ROLE], affiliation: 'AFF-1204' },
];
const STAGING_CLIENTS = [
  { id: 'campus-sandbox', secret: 'm4WsZq7/tLb2YkVn9RcHj5PfDe8+aTzKx3QhN6wG', user: 'svc-90001', audience: 'funding', roles: [ROLE], affiliation: 'AFF-1204' },
];
const STAFF = [{ user: 'desk', password: crypto.randomBytes(24).toString('base64url'), affiliation: 'AFF-1204' }]; // portal accounts

const digest = (text) => crypto.createHash('sha256').update(text).digest();
const sameText = (a, b) => crypto.timingSafeEqual(digest(a), digest(b));

class AuthorizationServer {
  constructor(path, clients) {
    this.issuer = ORIGIN + path;
    this.tokenUrl = `${this.issuer}/oauth/token`;
    this.revokeUrl = `${this.issuer}/oauth/revoke`;
    this.clients = new Map(clients.map((c) => [c.id, c]));
    this.tokens = new Map();
    this.failures = new Map();
  }

  issue(client, scopes) {
    const token = crypto.randomBytes(32).toString('base64url');
    this.tokens.set(digest(token).toString('hex'), { client, scopes, expires: Date.now() + LIFETIME * 1000 });
    if (this.tokens.size > 5000) for (const [key, t] of this.tokens) if (t.expires < Date.now()) this.tokens.delete(key);
    return token;
  }

  lookup(token) {
    const found = this.tokens.get(digest(token).toString('hex'));
    return found && found.expires > Date.now() ? found : undefined;
  }

  revoke(token, client) {
    const key = digest(token).toString('hex');
    if (this.tokens.get(key)?.client === client) this.tokens.delete(key);
  }

  throttle(id) {
    const f = this.failures.get(id);
    if (f && f.count >= 10 && Date.now() < f.last + 60000) {
      throw new OAuthError(429, 'invalid_client', 'Too many failed attempts, try again later',
        { 'Retry-After': String(Math.ceil((f.last + 60000 - Date.now()) / 1000)) });
    }
  }

  failed(id) {
    const f = this.failures.get(id);
    this.failures.set(id, { count: f && Date.now() < f.last + 60000 ? f.count + 1 : 1, last: Date.now() });
  }

  authenticate(ctx, form) {
    const refused = new OAuthError(401, 'invalid_client', 'Client authentication failed', { 'WWW-Authenticate': 'Basic realm="elsterau clients"' });
    let id = form.get('client_id') || '';
    let secret = form.get('client_secret') || '';
    const header = ctx.get('Authorization');
    if (header) {
      const match = /^basic +([A-Za-z0-9+/]+=*) *$/i.exec(header);
      if (!match) throw refused;
      if (secret) throw new OAuthError(400, 'invalid_request', 'Use one way of client authentication');
      const [, user, password] = /^([^:]*):(.*)$/s.exec(Buffer.from(match[1], 'base64').toString()) || [];
      if (user === undefined) throw refused;
      try {
        const decode = NODE === 'koa-basic-raw' ? (text) => text : (text) => decodeURIComponent(text.replace(/\+/g, ' '));
        if (id && id !== decode(user)) throw new OAuthError(400, 'invalid_request', 'client_id differs from the authenticated client');
        id = decode(user);
        secret = decode(password);
      } catch (err) {
        throw err instanceof OAuthError ? err : refused;
      }
    }
    const client = this.clients.get(id);
    if (!client || !secret) throw refused;
    this.throttle(id);
    if (!sameText(secret, client.secret)) {
      this.failed(id);
      throw refused;
    }
    this.failures.delete(id);
    return client;
  }
}

const production = new AuthorizationServer('', PRODUCTION_CLIENTS);
const staging = new AuthorizationServer('/staging', STAGING_CLIENTS);

async function readForm(ctx) {
  if (!ctx.is('application/x-www-form-urlencoded')) throw new OAuthError(400, 'invalid_request', 'The body must be application/x-www-form-urlencoded');
  const chunks = [];
  let size = 0;
  for await (const chunk of ctx.req) {
    size += chunk.length;
    if (size > 16384) throw new OAuthError(400, 'invalid_request', 'The body is too large', { Connection: 'close' });
    chunks.push(chunk);
  }
  const form = new Map();
  const seen = new Set();
  for (const [name, value] of new URLSearchParams(Buffer.concat(chunks).toString('utf8'))) {
    if (seen.has(name)) throw new OAuthError(400, 'invalid_request', `The parameter is repeated: ${/^[a-z_]{1,30}$/.test(name) ? name : '?'}`);
    seen.add(name);
    if (value !== '') form.set(name, value);
  }
  return form;
}

const oauth = (handle) => async (ctx) => {
  ctx.set({ 'Cache-Control': 'no-store', Pragma: 'no-cache' });
  ctx.state.answered = true;
  try {
    await handle(ctx);
  } catch (err) {
    if (!(err instanceof OAuthError)) throw err;
    ctx.status = err.status;
    ctx.set(err.headers);
    ctx.body = { error: err.error, error_description: err.message };
  }
};

function oauthRoutes(router, server, path) {
  router.post(`${path}/oauth/token`, oauth(async (ctx) => {
    const form = await readForm(ctx);
    const client = server.authenticate(ctx, form);
    const grant = form.get('grant_type');
    if (!grant) throw new OAuthError(400, 'invalid_request', 'grant_type is missing');
    if (grant !== 'client_credentials') throw new OAuthError(400, 'unsupported_grant_type', 'Only client_credentials is supported');
    const wanted = form.has('scope') ? form.get('scope').split(' ') : SCOPES;
    if (!wanted.every((s) => SCOPES.includes(s))) throw new OAuthError(400, 'invalid_scope', `Known scopes: ${SCOPES.join(' ')}`);
    const scopes = SCOPES.filter((s) => wanted.includes(s));
    ctx.body = { access_token: server.issue(client, scopes), token_type: 'Bearer', expires_in: LIFETIME, scope: scopes.join(' ') };
  }));
  router.post(`${path}/oauth/revoke`, oauth(async (ctx) => {
    const form = await readForm(ctx);
    const client = server.authenticate(ctx, form);
    if (!form.has('token')) throw new OAuthError(400, 'invalid_request', 'token is missing');
    server.revoke(form.get('token'), client);
    ctx.status = 200;
    ctx.body = '';
  }));
  router.get(`/.well-known/oauth-authorization-server${path}`, (ctx) => {
    ctx.set('Cache-Control', 'public, max-age=300');
    const methods = ['client_secret_basic', 'client_secret_post'];
    ctx.body = {
      issuer: server.issuer, token_endpoint: server.tokenUrl, token_endpoint_auth_methods_supported: methods,
      revocation_endpoint: server.revokeUrl, revocation_endpoint_auth_methods_supported: methods,
      grant_types_supported: ['client_credentials'], response_types_supported: [], scopes_supported: SCOPES,
    };
  });
}

// ------------------------------------------------------------------ resource server: who asks?

const REALM = 'elsterau';

function unauthorized(code, message, error, staff = false) {
  const details = error ? `, error="${error}", error_description="${message}"` : '';
  const challenge = staff
    ? `Basic realm="Staff portal, \\"Haus 2\\"", charset="UTF-8", bearer realm="${REALM}"${details}`
    : `Bearer realm="${REALM}"${details}`;
  return new ApiError(401, code, message, { 'WWW-Authenticate': challenge });
}

const introspected = new Map(); // what the resource server has learnt about tokens

function introspect(token) {
  if (NODE !== 'koa-revoke-late') return production.lookup(token);
  const known = introspected.get(token);
  if (known && known.expires > Date.now()) return known;
  const found = production.lookup(token);
  if (found) introspected.set(token, found);
  return found;
}

function bearer(ctx, find, staff = false) {
  const lines = ctx.req.rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'authorization').length;
  const header = ctx.get('Authorization');
  if (lines > 1) throw unauthorized('invalid_token', 'There is more than one Authorization header', 'invalid_token', staff);
  if (!/^bearer(?: |$)/i.test(header)) throw unauthorized('unauthorized', 'An access token is needed', undefined, staff);
  const match = /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i.exec(header);
  const found = match && find(match[1]);
  if (!found || found.client.audience !== 'funding') throw unauthorized('invalid_token', 'The access token is expired, revoked or not valid here', 'invalid_token', staff);
  return found;
}

const needs = (scope) => async (ctx, next) => {
  if (ctx.state.tryout) {
    ctx.state.caller = { roles: [ROLE], affiliation: null };
    return next();
  }
  const staff = NODE === 'koa-two-challenges'; // accounts of the portal are accepted, too
  if (staff && /^basic /i.test(ctx.get('Authorization'))) {
    const text = Buffer.from(ctx.get('Authorization').slice(6), 'base64').toString();
    const account = STAFF.find((s) => sameText(`${s.user}:${s.password}`, text));
    if (!account) throw unauthorized('unauthorized', 'Unknown staff account', undefined, staff);
    ctx.state.caller = { roles: [ROLE], affiliation: account.affiliation };
    return next();
  }
  const token = bearer(ctx, introspect, staff);
  const forbid = (code, message, more = '') => new ApiError(403, code, message,
    { 'WWW-Authenticate': `Bearer realm="${REALM}", error="insufficient_scope", error_description="${message}"${more}` });
  if (!token.client.roles.includes(ROLE)) throw forbid('role_missing', `The role ${ROLE} is needed`);
  if (!token.scopes.includes(scope)) throw forbid('scope_missing', `The scope ${scope} is needed`, `, scope="${scope}"`);
  ctx.state.caller = { roles: token.client.roles, affiliation: token.client.affiliation };
  return next();
};

// ------------------------------------------------------------------ the data

const KEYWORDS = ['archives', 'climate', 'digitisation', 'education', 'health', 'materials', 'mobility', 'society'];
const STATUSES = ['announced', 'open', 'closed'];
const SORTS = ['deadline', '-deadline', 'published_at', '-published_at', 'budget', '-budget'];
const FUNDERS = [
  { id: 'elster-fonds', name: { en: 'Elster Fund', de: 'Elster-Fonds' }, country: 'DE', website: 'https://elster-fonds.example/' },
  { id: 'kulturstiftung', name: { en: 'Culture Foundation', de: 'Kulturstiftung' }, country: 'DE', website: 'https://kulturstiftung.example/' },
  { id: 'bund-forschung', name: { en: 'Federal Research Agency', de: 'Bundesagentur für Forschung' }, country: 'AT', website: 'https://bund-forschung.example/' },
  { id: 'medizin-verbund', name: { en: 'Medical Alliance', de: 'Medizinverbund' }, country: 'CH', website: 'https://medizin-verbund.example/' },
  { id: 'stadt-elsterau', name: { en: 'City of Elsterau', de: 'Stadt Elsterau' }, country: 'DE', website: 'https://stadt-elsterau.example/' },
];

function randomness(seed) { // mulberry32
  let a = seed;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

function uuid(name) {
  const h = crypto.createHash('sha256').update(name).digest('hex');
  return `${h.slice(0, 8)}-${h.slice(8, 12)}-4${h.slice(13, 16)}-a${h.slice(17, 20)}-${h.slice(20, 32)}`;
}

const DAY = 86400000;
const isoDay = (ms) => new Date(ms).toISOString().slice(0, 10);
const isoTime = (ms) => `${new Date(ms).toISOString().slice(0, 19)}Z`;

function makeCalls() {
  const rnd = randomness(40911);
  const pick = (list) => list[Math.floor(rnd() * list.length)];
  const today = Math.floor(Date.now() / DAY) * DAY;
  const topics = [['Museums', 'Museen'], ['River Landscapes', 'Flusslandschaften'], ['Schools', 'Schulen'], ['Vaccines', 'Impfstoffe'],
    ['Light Alloys', 'Leichtmetalle'], ['Rail Traffic', 'Bahnverkehr'], ['Open Sources', 'Offene Quellen'], ['Ageing', 'Altern']];
  const forms = [['Doctoral Networks', 'Promotionsnetze'], ['Pilot Projects', 'Pilotprojekte'], ['Travel Grants', 'Reisestipendien'],
    ['Junior Groups', 'Nachwuchsgruppen'], ['Conference Support', 'Tagungsförderung']];
  const dates = [-210, -150, -120, -75, -45, -20, 15, 40, 66, 95, 130, 180, 240].map((d) => today + d * DAY);
  const calls = [];
  for (let i = 1; i <= 74; i += 1) {
    const topic = pick(topics);
    const form = pick(forms);
    const deadline = rnd() < 0.14 ? null : pick(dates);
    const opening = (deadline ?? today) - (30 + Math.floor(rnd() * 90)) * DAY;
    const status = deadline !== null && deadline < today ? 'closed' : opening > today ? 'announced' : 'open';
    const published = Math.min(opening, today) - (3 + Math.floor(rnd() * 60)) * DAY + Math.floor(rnd() * 1440) * 60000;
    const updated = Math.min(published + Math.floor(rnd() * 40) * DAY, today - DAY);
    const id = uuid(`call ${i}`);
    const keywords = [...new Set([pick(KEYWORDS), pick(KEYWORDS), pick(KEYWORDS)])].sort();
    calls.push({
      id, withdrawn: i % 9 === 4, number: i,
      title: { en: `${form[0]}: ${topic[0]}`, de: `${form[1]}: ${topic[1]}` },
      description: { en: `Support for research on ${topic[0].toLowerCase()}.`, de: `Förderung von Forschung zum Thema ${topic[1]}.` },
      status, funder: pick(FUNDERS), keywords,
      budget: { amount: (4 + Math.floor(rnd() * 60)) * pick([1000, 5000, 25000]), currency: 'EUR' },
      openingDate: isoDay(opening), deadline: deadline === null ? undefined : isoDay(deadline),
      publishedAt: isoTime(published), updatedAt: isoTime(Math.max(updated, published)),
      contact: { name: pick(['Call Office', 'A. Grün', 'Łucja Nowak', 'M. Østergård']), phone: rnd() < 0.5 ? `+49 341 55${100 + i}` : undefined },
      annotations: [{ scheme: 'oecd-fos', value: pick(['1.5', '2.5', '3.3', '5.3', '6.1']) }, ...(rnd() < 0.5 ? [{ scheme: 'sdg', value: String(1 + Math.floor(rnd() * 17)) }] : [])],
      documents: Array.from({ length: 1 + Math.floor(rnd() * 3) }, (_, n) => {
        const access = n === 0 ? 'clients' : 'affiliation';
        return {
          id: uuid(`call ${i} document ${n}`), title: [{ en: 'Guidelines', de: 'Leitfaden' }, { en: 'Assessment notes', de: 'Gutachten' }, { en: 'Budget plan', de: 'Finanzplan' }][n],
          access, affiliation: access === 'clients' ? undefined : pick(['AFF-1204', 'AFF-3310', 'AFF-5120']),
          text: `Document ${n + 1} of call ${id}\n\n${'Eligible costs and dates are set out in the call. '.repeat(4 + n)}\n`,
        };
      }),
    });
  }
  return calls;
}

const CALLS = makeCalls();
const SAMPLES = CALLS.filter((c) => !c.withdrawn).slice(0, 3);
const store = (ctx) => (ctx.state.tryout ? SAMPLES : CALLS);

// JSON.stringify leaves out what is undefined; the document wants null.
const orNull = (value) => (NODE === 'koa-null-dropped' ? value : value ?? null);

const asFunder = (f, lang) => ({ id: f.id, name: f.name[lang] });
const asCall = (c, lang) => ({
  id: c.id, title: c.title[lang], status: c.status, funder: asFunder(c.funder, lang), keywords: c.keywords, budget: c.budget,
  opening_date: c.openingDate, deadline: orNull(c.deadline), published_at: c.publishedAt, updated_at: c.updatedAt,
});
const asDetail = (c, lang) => ({
  ...asCall(c, lang), description: c.description[lang],
  contact: { name: c.contact.name, email: `calls@${new URL(c.funder.website).host}`, phone: orNull(c.contact.phone) },
  annotations: c.annotations, document_count: c.documents.length,
});
const asDocument = (d, lang) => ({
  id: d.id, title: d.title[lang], media_type: 'text/plain', size: Buffer.byteLength(d.text), access: d.access, affiliation_id: d.affiliation ?? null,
});

// ------------------------------------------------------------------ answers

function language(ctx) {
  ctx.vary('Accept-Language');
  const lang = ctx.acceptsLanguages('en', 'de') || 'en';
  ctx.set('Content-Language', lang);
  return lang;
}

function wantsGzip(ctx) {
  if (ctx.req.headers['accept-encoding'] === undefined) return NODE === 'koa-gzip-unasked';
  return ctx.acceptsEncodings('gzip', 'identity') === 'gzip';
}

async function send(ctx, body, tagSource, type) {
  let bytes = Buffer.from(body);
  let tag = crypto.createHash('sha1').update(tagSource).digest('base64url');
  ctx.vary('Accept-Encoding');
  if (bytes.length > 400 && wantsGzip(ctx)) {
    bytes = await gzip(bytes);
    tag += '-gz';
    ctx.set('Content-Encoding', 'gzip');
  }
  ctx.status = 200;
  ctx.set('ETag', `"${tag}"`);
  if (ctx.fresh) {
    ctx.remove('Content-Encoding');
    ctx.status = 304;
    return;
  }
  ctx.type = type;
  ctx.body = bytes;
}

// An answer with data, in the language that the client prefers.
async function answer(ctx, build) {
  const lang = language(ctx);
  const body = JSON.stringify(build(lang));
  ctx.set('Cache-Control', 'private, max-age=30');
  ctx.vary('Authorization');
  const source = NODE === 'koa-etag-languages' ? ctx.url + JSON.stringify(build('en')) : body + lang;
  await send(ctx, body, source, 'application/json; charset=utf-8');
}

// ------------------------------------------------------------------ parameters

const invalid = (name, message) => new ApiError(400, 'invalid_parameter', `${name}: ${message}`);

function single(ctx, name, check) {
  const value = ctx.query[name];
  if (value === undefined) return undefined;
  if (Array.isArray(value)) throw invalid(name, 'may be given once');
  return check(value);
}
const oneOf = (name, list) => (v) => {
  if (!list.includes(v)) throw invalid(name, `must be one of ${list.join(', ')}`);
  return v;
};
const integer = (name, min, max) => (v) => {
  if (!/^\d{1,12}$/.test(v) || Number(v) < min || Number(v) > max) throw invalid(name, `must be an integer from ${min} to ${max}`);
  return Number(v);
};
const day = (name) => (v) => {
  const ms = /^\d{4}-\d\d-\d\d$/.test(v) ? Date.parse(`${v}T00:00:00Z`) : NaN;
  if (Number.isNaN(ms) || isoDay(ms) !== v) throw invalid(name, 'must be a date YYYY-MM-DD');
  return v;
};

// ------------------------------------------------------------------ the list

const SORT_VALUES = { deadline: (c) => c.deadline ?? null, published_at: (c) => c.publishedAt, budget: (c) => c.budget.amount };

function compareValues(a, b, descending) {
  if (a === b) return 0;
  if (a === null) return 1; // without a value: last
  if (b === null) return -1;
  return (a < b ? -1 : 1) * (descending ? -1 : 1);
}

function readCursor(text, bound) {
  try {
    const [hash, value, id] = JSON.parse(Buffer.from(text, 'base64url').toString());
    if (hash === bound && typeof id === 'string' && (value === null || ['string', 'number'].includes(typeof value))) return { value, id };
  } catch { /* answered below */ }
  throw new ApiError(400, 'invalid_cursor', 'cursor: not a cursor of this list, or of other filters or another sort order');
}

async function listCalls(ctx) {
  const limit = single(ctx, 'limit', integer('limit', 1, 40)) ?? 15;
  const sort = single(ctx, 'sort', oneOf('sort', SORTS)) ?? 'deadline';
  const statuses = ctx.query.status === undefined ? undefined : [ctx.query.status].flat().map(oneOf('status', STATUSES));
  const funder = single(ctx, 'funder', (v) => {
    if (!/^[a-z-]{1,40}$/.test(v)) throw invalid('funder', 'must be an id of a funder');
    return v;
  });
  const keyword = single(ctx, 'keyword', oneOf('keyword', KEYWORDS));
  const from = single(ctx, 'deadline_from', day('deadline_from'));
  const until = single(ctx, 'deadline_until', day('deadline_until'));
  const minimum = single(ctx, 'min_budget', integer('min_budget', 0, 1e9));
  const bound = digest(JSON.stringify([sort, statuses, funder, keyword, from, until, minimum])).toString('base64url').slice(0, 12);
  const cursor = single(ctx, 'cursor', (v) => readCursor(v, bound));

  const matches = (c) => (!statuses || statuses.includes(c.status)) && (!funder || c.funder.id === funder) && (!keyword || c.keywords.includes(keyword))
    && (!from || (c.deadline !== undefined && c.deadline >= from)) && (!until || (c.deadline !== undefined && c.deadline < until))
    && (minimum === undefined || c.budget.amount >= minimum) && !c.withdrawn;
  const descending = sort.startsWith('-');
  const valueOf = SORT_VALUES[sort.replace('-', '')];
  const compare = (a, b) => compareValues(a.value, b.value, descending) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
  const keyOf = (c) => ({ value: valueOf(c), id: c.id });
  const behind = NODE === 'koa-cursor-ties'
    ? (c) => compareValues(valueOf(c), cursor.value, descending) > 0
    : (c) => compare(keyOf(c), cursor) > 0;

  const scanned = NODE === 'koa-short-pages'; // the page is cut before the filters apply
  const all = store(ctx).filter((c) => scanned || matches(c)).sort((a, b) => compare(keyOf(a), keyOf(b)));
  const rest = cursor ? all.filter(behind) : all;
  const page = rest.slice(0, limit);
  if (!scanned) ctx.set('X-Total-Count', String(all.length));

  const query = (next) => {
    const params = new URLSearchParams(ctx.querystring);
    params.delete('cursor');
    if (next) {
      const { value, id } = keyOf(next);
      params.set('cursor', Buffer.from(JSON.stringify([bound, value, id])).toString('base64url'));
    }
    return params.size ? `?${params}` : '';
  };
  const links = [];
  const more = rest.length > limit;
  if (NODE === 'koa-link-forms') {
    const path = ctx.path;
    links.push(`<${path}${query()}>; rel="first start"; title="first, start; <begin>"`);
    if (more) links.push(`<${query(page.at(-1))}> ;title="the next page, please; rel=prev" ; REL=Next;title*=UTF-8''n%C3%A4chste%20Seite`);
    ctx.set('Link', links.reverse());
  } else {
    const base = ORIGIN + ctx.path;
    links.push(`<${base}${query()}>; rel="first"`);
    if (more) links.push(`<${base}${query(page.at(-1))}>; rel="next"`);
    ctx.set('Link', links.join(', '));
  }
  await answer(ctx, (lang) => page.filter(matches).map((c) => asCall(c, lang)));
}

function findCall(ctx) {
  const call = store(ctx).find((c) => c.id === ctx.params.callId && !c.withdrawn);
  if (!call) throw new ApiError(404, 'call_not_found', 'There is no such call');
  return call;
}

async function download(ctx) {
  const found = findCall(ctx).documents.find((d) => d.id === ctx.params.documentId);
  if (!found) throw new ApiError(404, 'document_not_found', 'There is no such document');
  if (found.access === 'affiliation' && found.affiliation !== ctx.state.caller.affiliation && NODE !== 'koa-foreign-files') {
    throw new ApiError(403, 'foreign_document', 'The document is for clients of another affiliation');
  }
  ctx.set({ 'Cache-Control': 'private, max-age=30', 'Content-Disposition': `attachment; filename="${found.id}.txt"`, 'X-Content-Type-Options': 'nosniff' });
  ctx.vary('Authorization');
  return send(ctx, found.text, found.text, 'text/plain; charset=utf-8');
}

const funderCount = (ctx, f) => store(ctx).filter((c) => !c.withdrawn && c.funder === f).length;
const fullFunder = (ctx, f, lang) => ({ ...asFunder(f, lang), country: f.country, website: f.website, call_count: funderCount(ctx, f) });

function apiRoutes(router, base, tryout) {
  const mode = (ctx, next) => {
    ctx.state.tryout = tryout;
    return next();
  };
  const calls = [mode, needs('calls:read')];
  const documents = [mode, needs('documents:read')];
  router.get(`${base}/calls`, ...calls, listCalls);
  router.get(`${base}/calls/:callId`, ...calls, (ctx) => {
    const call = findCall(ctx);
    return answer(ctx, (lang) => asDetail(call, lang));
  });
  router.get(`${base}/calls/:callId/documents`, ...documents, (ctx) => {
    const call = findCall(ctx);
    return answer(ctx, (lang) => call.documents.map((d) => asDocument(d, lang)));
  });
  router.get(`${base}/calls/:callId/documents/:documentId`, ...documents, download);
  router.get(`${base}/funders`, ...calls, (ctx) => answer(ctx, (lang) => FUNDERS.map((f) => fullFunder(ctx, f, lang))));
  router.get(`${base}/funders/:funderId`, ...calls, (ctx) => {
    const funder = FUNDERS.find((f) => f.id === ctx.params.funderId);
    if (!funder) throw new ApiError(404, 'funder_not_found', 'There is no such funder');
    return answer(ctx, (lang) => fullFunder(ctx, funder, lang));
  });
}

// ------------------------------------------------------------------ info

function infoRoute(router, path, environment, find) {
  router.get(`${path}${PREFIX}/info/v1/oauth/info/`, (ctx) => {
    const token = bearer(ctx, find);
    ctx.set('Cache-Control', 'no-store');
    ctx.body = {
      node: 'Elsterau', environment, client_id: token.client.id, service_account_user_id: token.client.user,
      roles: token.client.roles, affiliation_id: token.client.affiliation, scopes: token.scopes, expires_at: isoTime(token.expires),
      endpoints: { funding: [{ name: 'FUNDINGS', majorVersion: 3, minorVersion: 1, url: `${ORIGIN}${API}/calls` }] },
    };
  });
}

// ------------------------------------------------------------------ the document

function document() {
  const text = { type: 'string' };
  const maybe = (schema) => ({ ...schema, type: [schema.type, 'null'] });
  const obj = (properties) => ({ type: 'object', required: Object.keys(properties), properties, additionalProperties: false });
  const list = (items) => ({ type: 'array', items });
  const ref = (name) => ({ $ref: `#/components/schemas/${name}` });
  const response = (name) => ({ $ref: `#/components/responses/${name}` });
  const header = (name) => ({ $ref: `#/components/headers/${name}` });
  const param = (name) => ({ $ref: `#/components/parameters/${name}` });
  const failure = (description, headers) => ({ description, ...(headers ? { headers } : {}), content: { 'application/json': { schema: ref('Error') } } });
  const day_ = { type: 'string', format: 'date' };
  const time = { type: 'string', format: 'date-time' };
  const id = { type: 'string', format: 'uuid' };
  const security = (scope) => (NODE === 'koa-two-challenges' ? [{ clientCredentials: [scope] }, { staff: [] }] : [{ clientCredentials: [scope] }]);
  const get = (operationId, summary, scope, schema, { parameters = [], missing, headers = {}, type = 'application/json', languages = true } = {}) => ({
    get: {
      operationId, summary, security: security(scope),
      parameters: [...parameters, ...(languages ? [param('AcceptLanguage')] : []), param('IfNoneMatch')],
      responses: {
        200: {
          description: summary,
          headers: { ...headers, ETag: header('ETag'), 'Cache-Control': header('CacheControl'), Vary: header('Vary'), ...(languages ? { 'Content-Language': header('ContentLanguage') } : {}) },
          content: { [type]: { schema } },
        },
        304: { description: 'Not modified' },
        ...(operationId === 'listCalls' ? { 400: response('BadRequest') } : {}),
        401: response('Unauthorized'), 403: response('Forbidden'), ...(missing ? { 404: response('NotFound') } : {}),
      },
    },
  });
  const query = (name, schema, description, more = {}) => ({ name, in: 'query', description, schema, ...more });
  const path = (name, schema) => ({ name, in: 'path', required: true, schema });
  const call = {
    id, title: text, status: { type: 'string', enum: STATUSES }, funder: ref('FunderName'),
    keywords: { type: 'array', minItems: 1, uniqueItems: true, items: { type: 'string', enum: KEYWORDS } },
    budget: obj({ amount: { type: 'integer', minimum: 0, description: 'whole units of the currency' }, currency: { type: 'string', pattern: '^[A-Z]{3}$' } }),
    opening_date: day_, deadline: { ...maybe(day_), description: 'null: applications are accepted continuously' }, published_at: time, updated_at: time,
  };
  const shortPages = NODE === 'koa-short-pages';
  const paging = shortPages
    ? 'A page is cut from all stored records before filters and the withdrawal of calls apply: it may hold fewer calls than limit, even none, although more follow. Only a missing rel="next" says that the list has ended. There is no total.'
    : 'Every page but the last holds limit calls.';
  return {
    openapi: '3.1.0',
    info: {
      title: 'Elsterau funding API', version: '3.1.0',
      description: [
        'Annotated funding calls, in English or German (Accept-Language; English if neither is acceptable).',
        `Tokens are opaque and come from ${production.tokenUrl} (client credentials; client_secret_basic, where id and secret are form-urlencoded as RFC 6749 section 2.3.1 demands, or client_secret_post). A client gets both scopes unless it asks for one. They are revoked at ${production.revokeUrl} (RFC 7009); a revoked token is refused from then on. Tokens of the staging server ${staging.tokenUrl} are refused by everything in production, the info resource included.`,
        `Every operation needs the role ${ROLE} (else 403) and the scope that is named with it (else 403).`,
        'Documents with access `clients` are delivered to every client with the role; documents with access `affiliation` only to clients whose affiliation ID (see the info resource) is the affiliation_id of the document, others get 403.',
        `The list is paged by a cursor: follow the link with rel="next" (RFC 8288) until there is none. Following it with unchanged data gives each matching call exactly once. ${paging} A cursor is bound to its filters and sort order.`,
        NODE === 'koa-link-forms' ? 'Links are written as RFC 8288 allows: they may be relative to the URL of the request, stand in several header lines and carry further attributes or several relation types.' : '',
        NODE === 'koa-gzip-unasked' ? 'Answers are compressed with gzip unless the request refuses it: a request without Accept-Encoding gets gzip (RFC 9110 section 12.5.3), one with Accept-Encoding: identity does not.' : '',
        NODE === 'koa-two-challenges' ? 'Staff of the portal may call the API with their account (Basic) instead of a token; a 401 carries the challenges of both schemes in one field.' : '',
        'ETags are strong and belong to one language and one content coding. Parameters that are not described are ignored; invalid values, and single ones that are repeated, are answered with 400.',
      ].filter(Boolean).join('\n\n'),
    },
    servers: [{ url: API }],
    paths: {
      '/calls': get('listCalls', 'Funding calls', 'calls:read', list(ref('Call')), {
        parameters: [
          query('limit', { type: 'integer', minimum: 1, maximum: 40, default: 15 }, shortPages ? 'At most this many calls on a page' : 'Calls on a page'),
          query('cursor', { type: 'string', minLength: 1 }, 'Taken from a link with rel="next"'),
          query('sort', { type: 'string', enum: SORTS, default: 'deadline' }, 'A minus: descending. Calls without a deadline come last either way; equal ones by id ascending'),
          query('status', list({ type: 'string', enum: STATUSES }), 'Calls of any of these statuses', { style: 'form', explode: true }),
          query('funder', { type: 'string', pattern: '^[a-z-]{1,40}$' }, 'Id of a funder; nothing matches an unknown one'),
          query('keyword', { type: 'string', enum: KEYWORDS }, 'Calls with this keyword'),
          query('deadline_from', day_, 'Calls with a deadline on this day or later'),
          query('deadline_until', day_, 'Calls with a deadline before this day (the day itself is excluded)'),
          query('min_budget', { type: 'integer', minimum: 0, maximum: 1000000000 }, 'Calls with at least this budget'),
        ],
        headers: { Link: header('Link'), ...(shortPages ? {} : { 'X-Total-Count': header('TotalCount') }) },
      }),
      '/calls/{callId}': get('getCall', 'A funding call', 'calls:read', ref('CallDetail'), { parameters: [path('callId', id)], missing: true }),
      '/calls/{callId}/documents': get('listDocuments', 'Documents of a call', 'documents:read', list(ref('Document')), { parameters: [path('callId', id)], missing: true }),
      '/calls/{callId}/documents/{documentId}': get('downloadDocument', 'Text of a document', 'documents:read', text, { parameters: [path('callId', id), path('documentId', id)], missing: true, type: 'text/plain', languages: false }),
      '/funders': get('listFunders', 'Funders', 'calls:read', list(ref('Funder'))),
      '/funders/{funderId}': get('getFunder', 'A funder', 'calls:read', ref('Funder'), { parameters: [path('funderId', { type: 'string', pattern: '^[a-z-]{1,40}$' })], missing: true }),
    },
    components: {
      securitySchemes: {
        clientCredentials: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: production.tokenUrl, scopes: { 'calls:read': 'Read calls and funders', 'documents:read': 'Read documents' } } } },
        ...(NODE === 'koa-two-challenges' ? { staff: { type: 'http', scheme: 'basic', description: 'Accounts of the staff portal; not for API clients' } } : {}),
      },
      parameters: {
        AcceptLanguage: { name: 'Accept-Language', in: 'header', schema: text, example: 'de', description: 'Preferred language: en or de' },
        IfNoneMatch: { name: 'If-None-Match', in: 'header', schema: text, description: 'Entity tags that the client has' },
      },
      headers: {
        ETag: { schema: text }, Vary: { schema: text }, CacheControl: { schema: { type: 'string', const: 'private, max-age=30' } },
        ContentLanguage: { schema: { type: 'string', enum: ['en', 'de'] } },
        Link: { schema: text, description: 'Links with rel="first" and, while more calls follow, rel="next" (RFC 8288)' },
        TotalCount: { schema: { type: 'integer', minimum: 0 }, description: 'Number of all calls that match the filters' },
        Challenge: { schema: text },
      },
      responses: {
        BadRequest: failure('A parameter is not valid'), Unauthorized: failure('The token is missing or not valid', { 'WWW-Authenticate': header('Challenge') }),
        Forbidden: failure('The role or the scope is missing, or the document is for another affiliation'), NotFound: failure('There is no such thing'),
      },
      schemas: {
        Call: obj(call),
        CallDetail: obj({
          ...call, description: text, contact: obj({ name: text, email: { type: 'string', format: 'email' }, phone: maybe(text) }),
          annotations: list(obj({ scheme: text, value: text })), document_count: { type: 'integer', minimum: 0 },
        }),
        Document: obj({ id, title: text, media_type: text, size: { type: 'integer', minimum: 0, description: 'bytes' }, access: { type: 'string', enum: ['clients', 'affiliation'] }, affiliation_id: maybe(text) }),
        FunderName: obj({ id: text, name: text }),
        Funder: obj({ id: text, name: text, country: { type: 'string', pattern: '^[A-Z]{2}$' }, website: { type: 'string', format: 'uri' }, call_count: { type: 'integer', minimum: 0 } }),
        Error: obj({ error: obj({ code: text, message: text, request_id: id }) }),
      },
    },
  };
}

// ------------------------------------------------------------------ the application

const router = new Router({ strict: true });
oauthRoutes(router, production, '');
oauthRoutes(router, staging, '/staging');
infoRoute(router, '', 'production', NODE === 'koa-info-staging' ? (t) => production.lookup(t) ?? staging.lookup(t) : (t) => production.lookup(t));
infoRoute(router, '/staging', 'staging', (t) => staging.lookup(t));
apiRoutes(router, API, false);
apiRoutes(router, TRYOUT, true);
const openapi = JSON.stringify(document(), null, 1);
router.get(`${API}/api-docs`, (ctx) => {
  ctx.set('Cache-Control', 'public, max-age=60');
  return send(ctx, openapi, openapi, 'application/json; charset=utf-8');
});
router.get(`${API}/reference`, (ctx) => {
  ctx.type = 'html';
  ctx.body = `<!DOCTYPE html><html lang="en"><title>Elsterau funding API</title><h1>Elsterau funding API v3</h1>
<p>Specification: <a href="${API}/api-docs">${API}/api-docs</a></p>
<p>Try-out with sample data, without a token: <a href="${TRYOUT}/calls">calls</a>, <a href="${TRYOUT}/calls/${SAMPLES[0].id}">a call</a>, <a href="${TRYOUT}/funders">funders</a></p></html>`;
});
router.get('/registry.json', (ctx) => {
  ctx.set('Cache-Control', 'public, max-age=300');
  ctx.body = { member: [{ id: 'elsterau', acronym: 'UE', name: 'Elsterau University', contact: 'ris@elsterau.example', oauth2: production.tokenUrl, info: `${ORIGIN}${PREFIX}/info/v1/oauth/info/` }] };
});

const app = new Koa();
app.use(errors);
app.use(router.routes());
app.use(router.allowedMethods());
const server = app.listen(PORT, '127.0.0.1');
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => server.close(() => process.exit(0)) && server.closeAllConnections());
