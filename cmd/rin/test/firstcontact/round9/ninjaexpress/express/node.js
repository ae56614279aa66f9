'use strict';
// A research-information node: Express 5, oidc-provider with JWT access tokens, cursors in Link header fields.
const { randomUUID } = require('node:crypto');
const express = require('express');
const { authorizationServer, bearer } = require('./auth');
const { Store, KINDS, REGIONS } = require('./store');
const clients = require('./clients');
const describe = require('./document');

const port = Number(process.env.PORT || 8000);
const mode = (process.env.NODE || 'express-base').replace(/^[^-]*-/, '');
const origin = `http://127.0.0.1:${port}`;
const BASE = '/ris-synergy/funding/v3';
const INFO = '/ris-synergy/info/v1/oauth/info/';
const ROLE = 'EXTERNAL_API_CLIENT';

class BadRequest extends Error {
  constructor(message) { super(message); this.status = 400; }
}

// --- parameters of the list -----------------------------------------------------------------------------------------

const single = (query, name) => {
  const value = query[name];
  if (Array.isArray(value)) throw new BadRequest(`${name} may be given once only`);
  return value;
};
const integer = (query, name, { min, max, fallback }) => {
  const value = single(query, name);
  if (value === undefined) return fallback;
  const number = /^\d{1,12}$/.test(value) ? Number(value) : NaN;
  if (!(number >= min && number <= max)) throw new BadRequest(`${name} must be an integer from ${min} to ${max}`);
  return number;
};
const oneOf = (query, name, values, fallback) => {
  const value = single(query, name);
  if (value !== undefined && !values.includes(value)) throw new BadRequest(`${name} must be one of ${values.join(', ')}`);
  return value ?? fallback;
};
const date = (query, name) => {
  const value = single(query, name);
  if (value === undefined) return undefined;
  const day = /^\d{4}-\d\d-\d\d$/.test(value) ? new Date(`${value}T00:00:00Z`) : new Date(NaN);
  if (Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== value) throw new BadRequest(`${name} must be a date`);
  return value;
};

const encodeCursor = (parts) => Buffer.from(JSON.stringify(parts)).toString('base64url');
const decodeCursor = (text, sort) => {
  const parts = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  if (!Array.isArray(parts) || parts.length !== 3 || parts[0] !== sort || typeof parts[2] !== 'string'
      || typeof parts[1] !== (sort.endsWith('volume') ? 'number' : 'string')) throw new SyntaxError('cursor of another list');
  return parts;
};

const less = (a, b) => (a < b ? -1 : Number(a > b));
function comparator(sort) {
  const field = sort.replace('-', '');
  const sign = sort.startsWith('-') ? -1 : 1;
  const key = mode === 'sort-text' ? (call) => String(call[field]) : (call) => call[field];
  return (a, b) => sign * less(key(a), key(b)) || less(a.id, b.id);
}

// --- representations ------------------------------------------------------------------------------------------------

const summary = (call, lang) => ({
  id: call.id, kind: call.kind, title: call.title[lang], funderId: call.funderId, regions: call.regions,
  deadline: call.deadline, volume: call.volume, updatedAt: call.updatedAt,
});
const detail = (call, lang) => ({
  ...summary(call, lang), abstract: call.abstract[lang], quota: call.quota, stages: call.stages,
});
const negotiate = (req, res) => {
  const lang = req.acceptsLanguages('de', 'en') || 'de';
  res.vary('Accept-Language').set('Content-Language', lang);
  return lang;
};

const fail = (res, status, code, message, extra) => res.status(status)
  .json({ error: { code, message, requestId: res.locals.requestId, ...extra } });
const notAllowed = (req, res) => {
  res.set('Allow', 'GET, HEAD, OPTIONS');
  return req.method === 'OPTIONS' ? res.status(204).end() : fail(res, 405, 'method_not_allowed', 'The method is not allowed here.');
};
/** A resource that can only be read; the guards run for GET and HEAD. */
const readable = (router, path, ...handlers) => router.route(path).get(...handlers).all(notAllowed);

// --- routers --------------------------------------------------------------------------------------------------------

async function fundingRouter(store, server, realm) {
  const router = express.Router();
  const guard = await bearer({ server, audience: clients.FUNDING, realm, role: ROLE });
  const funderGuard = mode === 'funder-guard' ? await bearer({ server, realm, role: ROLE, anyAudience: true }) : guard;

  readable(router, '/funding-calls', guard, (req, res) => {
    const { query } = req;
    const limit = integer(query, 'limit', { min: 1, max: 50, fallback: 20 });
    const sort = oneOf(query, 'sort', ['deadline', '-deadline', 'volume', '-volume'], 'deadline');
    const kind = oneOf(query, 'kind', KINDS);
    const regions = [query.region ?? []].flat();
    if (regions.some((region) => !REGIONS.includes(region))) throw new BadRequest(`region must be one of ${REGIONS.join(', ')}`);
    const funderId = single(query, 'funderId');
    const from = date(query, 'deadlineFrom');
    const minVolume = integer(query, 'minVolume', { min: 0, max: 999999999999, fallback: 0 });
    const after = single(query, 'after');
    let cursor;
    if (after !== undefined) {
      try {
        cursor = decodeCursor(after, sort);
      } catch (cause) {
        throw Object.assign(new BadRequest('after is not a cursor of this list'), { cause });
      }
    }
    const lang = negotiate(req, res);
    const field = sort.replace('-', '');
    const order = comparator(sort);
    const all = [...store.calls.values()].filter((call) => (!kind || call.kind === kind)
      && (!regions.length || call.regions.some((region) => regions.includes(region)))
      && (funderId === undefined || call.funderId === funderId)
      && (!from || call.deadline >= from) && call.volume >= minVolume).sort(order);
    let rest = all;
    if (cursor) {
      const mark = { [field]: cursor[1], id: cursor[2] };
      rest = all.filter((call) => (mode === 'cursor-key'
        ? order({ ...call, id: '' }, { ...mark, id: '' }) > 0 : order(call, mark) > 0));
    }
    const page = rest.slice(0, limit);
    res.set('X-Total-Count', String(all.length));
    if (rest.length > limit) {
      const last = page[page.length - 1];
      const next = new URLSearchParams(Object.entries(query).flatMap(([name, value]) => (name === 'after' ? []
        : [value].flat().map((item) => [name, item]))));
      next.set('after', encodeCursor([sort, last[field], last.id]));
      res.set('Link', `<${origin}${BASE}/funding-calls?${next}>; rel="next"`);
    }
    res.json(page.map((call) => summary(call, lang)));
  });

  readable(router, '/funding-calls/:id', guard, (req, res) => {
    const call = store.calls.get(req.params.id);
    if (!call) return fail(res, 404, 'not_found', 'There is no such call.');
    const lang = negotiate(req, res);
    res.set('ETag', mode === 'version-tag' ? `"${call.id}.${call.version}"` : `"${call.id}.${call.version}.${lang}"`);
    return res.json(detail(call, lang));
  });

  readable(router, '/funders', funderGuard, (req, res) => res.json([...store.funders.values()]));
  readable(router, '/funders/:id', funderGuard, (req, res) => {
    const funder = store.funders.get(req.params.id);
    return funder ? res.json(funder) : fail(res, 404, 'not_found', 'There is no such funder.');
  });
  return router;
}

const infoHandler = (name) => (req, res) => res.json({
  node: name,
  clientId: req.token.client_id,
  affiliationId: req.token.affiliation_id,
  roles: req.token.roles,
  endpoints: { funding: [{ name: 'FUNDINGS', majorVersion: 3, minorVersion: 0, url: `${origin}${BASE}/funding-calls` }] },
});

// --- the application ------------------------------------------------------------------------------------------------

async function main() {
  const store = new Store(96);
  const production = await authorizationServer({
    origin, path: '/auth/realms/forschung', tokenPath: '/protocol/openid-connect/token', clients: clients.production, mode,
  });
  const staging = await authorizationServer({
    origin, path: '/staging', tokenPath: '/oauth/token', clients: clients.staging, mode: 'base',
  });
  const app = express();
  app.disable('x-powered-by');
  app.use((req, res, next) => {
    res.locals.requestId = randomUUID();
    res.set('X-Content-Type-Options', 'nosniff');
    if (req.path.startsWith('/ris-synergy/')) res.set('Cache-Control', 'private, no-cache');
    next();
  });

  readable(app, '/registry.json', (req, res) => res.json({
    member: [{
      id: 'NORD', acronym: 'FNN', name: 'Forschungsnetz Nord', contact: 'ris@nord.example',
      oauth2: production.metadata.token_endpoint, info: origin + INFO,
    }],
  }));
  for (const server of [production, staging]) {
    const place = `/.well-known/oauth-authorization-server${new URL(server.issuer).pathname}`;
    readable(app, place, (req, res) => res.json(server.metadata));
  }
  const document = describe({ base: origin + BASE, tokenUrl: production.metadata.token_endpoint, KINDS, REGIONS });
  readable(app, `${BASE}/api-docs`, (req, res) => res.json(document));
  app.use(BASE, await fundingRouter(store, production, 'forschung'));

  const audience = clients.FUNDING;
  readable(app, INFO, await bearer({ server: production, audience, realm: 'forschung' }), infoHandler('Forschungsnetz Nord'));
  readable(app, `/staging${INFO}`, await bearer({ server: staging, audience, realm: 'staging' }), infoHandler('Probe'));

  app.use('/auth/realms/forschung', production.router);
  app.use('/staging', staging.router);

  app.use((req, res) => fail(res, 404, 'not_found', 'There is nothing here.'));
  app.use((err, req, res, next) => { // eslint-disable-line no-unused-vars
    const status = err.status >= 400 && err.status < 500 ? err.status : 500;
    const reason = err.cause ?? (err instanceof BadRequest ? undefined : err);
    const debug = mode === 'debug-flag' && reason ? { cause: String(reason.stack).split('\n').map((line) => line.trim()) } : {};
    fail(res, status, status === 500 ? 'internal' : 'bad_request',
      err instanceof BadRequest ? err.message : 'The request cannot be served.', debug);
  });

  if (mode === 'moving') { // the list grows and its items change while clients read it
    let n = 96;
    setInterval(() => {
      const calls = [...store.calls.values()];
      const call = calls[(n * 7) % calls.length];
      call.version += 10;
      call.updatedAt = new Date().toISOString();
      if (n < 140) { n += 1; store.add(n); }
    }, 1500).unref();
  }
  app.listen(port, '127.0.0.1');
}

main();
