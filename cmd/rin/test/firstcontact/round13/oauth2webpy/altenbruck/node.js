'use strict';
// Universität Altenbruck: a node of the research-information network (Express 5).

const crypto = require('crypto');
const http = require('http');
const acceptsOf = require('accepts');
const express = require('express');
const { FUNDERS, TYPES, REGIONS, GROUPS, FUNDINGS } = require('./data.js');
const { tokenEndpoint, bearer, queryText, NODE } = require('./auth.js');
const openapi = require('./openapi.js');

const PORT = Number(process.env.PORT || 8080);
const BASE = `http://127.0.0.1:${PORT}`;
const TOKEN_PATH = '/idp/realms/foerderung/protocol/openid-connect/token';
const STAGING_TOKEN_PATH = '/idp-test/oauth/token';
const LIST_URL = `${BASE}/ris/funding/v3/fundings`;

const app = express();
Object.defineProperty(app.request, 'fresh', { get: () => false }); // preconditions are evaluated by send(), below
app.disable('x-powered-by');
app.set('etag', false);
app.set('case sensitive routing', NODE !== 'traun');
app.set('strict routing', true);
app.use((req, res, next) => {
  res.set('X-Content-Type-Options', 'nosniff');
  next();
});

// ---------------------------------------------------------------- answers

const STATUS = { 400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found', 405: 'Method Not Allowed', 406: 'Not Acceptable', 412: 'Precondition Failed', 500: 'Internal Server Error' };

function sendProblem(res, status, detail, parameter) {
  if (!res.get('Cache-Control')) res.set('Cache-Control', 'no-store');
  const body = { type: 'about:blank', title: STATUS[status] || 'Error', status, detail, ...(parameter ? { parameter } : {}) };
  res.status(status).set('Content-Type', 'application/problem+json').send(Buffer.from(JSON.stringify(body)));
}

const tags = (header) => header.match(/(?:W\/)?"[^"]*"/g) || [];
const httpDate = (s) => {
  if (!/^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(s || '')) return NaN;
  return Date.parse(s.endsWith('GMT') ? s : `${s} GMT`);
};

/** Sends a representation and evaluates the preconditions in the order of RFC 9110, 13.2.2. */
function send(req, res, { type, body, cache, modified }) {
  if (NODE === 'ybbs' && type === 'application/json') { // other white space, other escapes
    body = JSON.stringify(JSON.parse(body), null, 2).replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
  }
  const bytes = Buffer.from(body, 'utf8');
  let etag = `"${crypto.createHash('sha256').update(`${type}\n`).update(bytes).digest('base64url').slice(0, 27)}"`;
  if (NODE === 'ybbs') etag = `W/${etag}`;
  res.set({ ETag: etag, 'Cache-Control': cache || 'private, no-cache' });
  if (modified) res.set('Last-Modified', new Date(modified).toUTCString());
  const h = req.headers;
  if (h['if-match'] !== undefined) {
    if (h['if-match'].trim() !== '*' && (etag.startsWith('W/') || !tags(h['if-match']).includes(etag))) return sendProblem(res, 412, 'If-Match does not hold');
  } else if (modified && httpDate(h['if-unmodified-since']) < Date.parse(modified)) {
    return sendProblem(res, 412, 'If-Unmodified-Since does not hold');
  }
  if (h['if-none-match'] !== undefined) {
    if (h['if-none-match'].trim() === '*' || tags(h['if-none-match']).some((t) => t.replace(/^W\//, '') === etag.replace(/^W\//, ''))) return res.status(304).end();
  } else if (modified && httpDate(h['if-modified-since']) >= Date.parse(modified)) {
    return res.status(304).end();
  }
  if (NODE === 'ybbs') { // chunked
    res.status(200).set('Content-Type', type);
    if (req.method === 'HEAD') return res.end();
    res.write(bytes.subarray(0, bytes.length >> 1));
    return res.end(bytes.subarray(bytes.length >> 1));
  }
  return res.status(200).set('Content-Type', type).send(bytes);
}
const sendJson = (req, res, value, more) => send(req, res, { type: 'application/json', body: JSON.stringify(value), ...more });

const only = (...allowed) => (req, res) => {
  res.set('Allow', allowed.join(', '));
  if (req.method === 'OPTIONS') return res.status(204).end();
  return sendProblem(res, 405, `${req.method} is not offered here`);
};
const readOnly = only('GET', 'HEAD', 'OPTIONS');

// ---------------------------------------------------------------- parameters

class BadParameter extends Error {
  constructor(parameter, message) {
    super(message);
    this.parameter = parameter;
  }
}

const kinds = {
  integer: (min, max) => (name, v) => {
    if (!/^-?\d{1,15}$/.test(v) || Number(v) < min || Number(v) > max) throw new BadParameter(name, `${name} must be an integer from ${min} to ${max}`);
    return Number(v);
  },
  oneOf: (values) => (name, v) => {
    if (!values.includes(v)) throw new BadParameter(name, `${name} must be one of ${values.join(', ')}`);
    return v;
  },
  text: (max) => (name, v) => {
    const length = [...v].length;
    if (length < 1 || length > max) throw new BadParameter(name, `${name} must have 1 to ${max} characters`);
    return v;
  },
  flag: (name, v) => {
    if (v !== 'true' && v !== 'false') throw new BadParameter(name, `${name} must be true or false`);
    return v === 'true';
  },
  date: (name, v) => {
    const m = /^(\d{4})-(\d\d)-(\d\d)$/.exec(v);
    const [y, mo, d] = m ? m.slice(1).map(Number) : [0, 0, 0];
    const leap = (y % 4 === 0 && y % 100 !== 0) || y % 400 === 0;
    const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][mo - 1];
    if (!m || !days || d < 1 || d > days) throw new BadParameter(name, `${name} must be a date (YYYY-MM-DD)`);
    return v;
  },
};

/** Middleware: reads the query strictly into req.params_. */
const query = (spec) => (req, res, next) => {
  const text = queryText(req);
  const values = {};
  try {
    if (/%(?![0-9A-Fa-f]{2})/.test(text)) throw new BadParameter(undefined, 'The query is not well encoded');
    for (const [name, value] of new URLSearchParams(text)) {
      if (!Object.hasOwn(spec, name)) throw new BadParameter(name, 'There is no such parameter');
      if (Object.hasOwn(values, name)) throw new BadParameter(name, `${name} is repeated`);
      values[name] = spec[name](name, value);
    }
  } catch (err) {
    if (err instanceof BadParameter) return sendProblem(res, 400, err.message, err.parameter);
    return next(err);
  }
  req.values = values;
  return next();
};

const accepts = (...types) => (req, res, next) => {
  if (types.length > 1) res.vary('Accept');
  // parameters that the representations have do not make a media range fail (RFC 9110, 12.5.1)
  const accept = req.headers.accept?.replace(/;\s*(?:charset="?utf-8"?|header="?present"?)\s*(?=[;,]|$)/gi, '');
  req.chosen = acceptsOf({ headers: { accept } }).type(types);
  if (!req.chosen) return sendProblem(res, 406, `Offered: ${types.join(', ')}`);
  return next();
};

// ---------------------------------------------------------------- funding calls

const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
const SORT_KEYS = {
  id: (f) => f.id,
  deadline: (f) => f.deadline,
  amount: (f) => f.volume.amount,
  name: (f) => f.name[0].value,
  updated: (f) => f.updated,
};

function ordered(records, sort) {
  const descending = sort.startsWith('-');
  const key = SORT_KEYS[sort.replace('-', '')];
  return [...records].sort((a, b) => {
    const [x, y] = [key(a), key(b)];
    if (x === null || y === null) return (x === null) - (y === null) || compare(a.id, b.id);
    return (descending ? -compare(x, y) : compare(x, y)) || compare(a.id, b.id);
  });
}

function isRunning(f, today) {
  return f.opens <= today && (f.deadline === null || f.deadline >= today);
}

function matching(v) {
  const today = new Date().toISOString().slice(0, 10);
  const needle = v.q === undefined ? null : v.q.toLowerCase();
  return FUNDINGS.map(({ record }) => record).filter((f) => {
    if (v.type !== undefined && f.type !== v.type) return false;
    if (v.funderId !== undefined && f.funder.id !== v.funderId) return false;
    if (v.region !== undefined && !f.regions.includes(v.region)) return false;
    if (v.targetGroup !== undefined && !f.targetGroups.includes(v.targetGroup)) return false;
    if (v.runningCalls !== undefined && isRunning(f, today) !== v.runningCalls) return false;
    if (v.deadlineFrom !== undefined && (f.deadline === null || f.deadline < v.deadlineFrom)) return false;
    if (v.deadlineTo !== undefined && (f.deadline === null || f.deadline > v.deadlineTo)) return false;
    if (needle !== null && ![...f.name.map((n) => n.value), f.acronym || ''].some((t) => t.toLowerCase().includes(needle))) return false;
    return true;
  });
}

function pageLinks(values, page, perPage, total) {
  const last = Math.max(1, Math.ceil(total / perPage));
  const url = (n) => {
    if (NODE === 'raab') return encodeURI(`${LIST_URL}?${Object.entries({ ...values, page: n, perPage }).map((pair) => pair.join('=')).join('&')}`);
    return `${LIST_URL}?${new URLSearchParams({ ...values, page: n, perPage })}`;
  };
  const links = [[1, 'first']];
  if (page > 1) links.push([Math.min(page - 1, last), 'prev']);
  if (page < last) links.push([page + 1, 'next']);
  links.push([last, 'last']);
  if (NODE === 'thaya') { // several fields, relative targets, other parameters, tokens without quotes
    const last2 = links.pop();
    return [
      ...links.map(([n, rel]) => `<?${url(n).split('?')[1]}>;title="page ${n}, of ${last}" ; rel=${rel}`),
      `<?${url(last2[0]).split('?')[1]}>; REL="https://altenbruck.invalid/rel/end last"`,
    ];
  }
  return links.map(([n, rel]) => `<${url(n)}>; rel="${rel}"`).join(', ');
}

const field = (v) => (/[",\r\n]/.test(v) ? `"${v.replace(/"/g, '""')}"` : v);
const COLUMNS = {
  id: (f) => f.id,
  type: (f) => f.type,
  name_en: (f) => f.name[0].value,
  name_de: (f) => f.name[1].value,
  acronym: (f) => f.acronym || '',
  funder_id: (f) => f.funder.id,
  funder_name: (f) => f.funder.name,
  regions: (f) => f.regions.join('|'),
  target_groups: (f) => f.targetGroups.join('|'),
  opens: (f) => f.opens,
  deadline: (f) => f.deadline || '',
  amount: (f) => (NODE === 'salzach' ? f.volume.amount.toLocaleString('de-DE', { maximumFractionDigits: 2 }) : String(f.volume.amount)),
  currency: (f) => f.volume.currency,
  updated: (f) => f.updated,
};
function csv(records) {
  const lines = [Object.keys(COLUMNS), ...records.map((f) => Object.values(COLUMNS).map((read) => read(f)))];
  return lines.map((line) => `${line.map(field).join(',')}\r\n`).join('');
}

const api = express.Router({ caseSensitive: NODE !== 'traun', strict: true });
const client = bearer('production', sendProblem, { role: 'EXTERNAL_API_CLIENT' });

api.route('/fundings')
  .get(client, accepts('application/json', 'text/csv'), query({
    page: kinds.integer(1, 1000),
    perPage: kinds.integer(1, 25),
    sort: kinds.oneOf(Object.keys(SORT_KEYS).flatMap((k) => (k === 'id' ? [k] : [k, `-${k}`]))),
    type: kinds.oneOf(TYPES),
    funderId: kinds.text(40),
    region: kinds.oneOf(REGIONS),
    targetGroup: kinds.oneOf(GROUPS),
    runningCalls: kinds.flag,
    deadlineFrom: kinds.date,
    deadlineTo: kinds.date,
    q: kinds.text(60),
  }), (req, res) => {
    const { page = 1, perPage = 10, ...filters } = req.values;
    const found = ordered(matching(filters), filters.sort || 'id');
    const items = found.slice((page - 1) * perPage, page * perPage);
    res.set({ 'X-Total-Count': String(found.length), Link: pageLinks(filters, page, perPage, found.length) });
    if (req.chosen === 'text/csv') send(req, res, { type: 'text/csv; charset=utf-8; header=present', body: csv(items) });
    else sendJson(req, res, items);
  })
  .all(readOnly);

api.route('/fundings/:id')
  .get(client, accepts('application/json'), query({}), (req, res) => {
    let found = FUNDINGS.find(({ record }) => record.id === req.params.id);
    if (NODE === 'leitha') found = FUNDINGS.find(({ record }) => record.id.toLowerCase() === req.params.id.toLowerCase());
    if (!found) return sendProblem(res, 404, 'There is no call with this identifier');
    return sendJson(req, res, { ...found.record, ...found.detail }, { modified: found.record.updated });
  })
  .all(readOnly);

api.route('/funders')
  .get(client, accepts('application/json'), query({}), (req, res) => {
    const count = (id) => FUNDINGS.filter(({ record }) => record.funder.id === id).length;
    sendJson(req, res, [...FUNDERS].sort((a, b) => compare(a.id, b.id)).map((f) => ({ ...f, fundings: count(f.id) })));
  })
  .all(readOnly);

api.route('/deadlines')
  .get(client, accepts('application/json'), query({ from: kinds.date, to: kinds.date }), (req, res) => {
    const days = {};
    for (const f of matching({ deadlineFrom: req.values.from, deadlineTo: req.values.to })) {
      if (f.deadline) (days[f.deadline] ||= []).push(f.id);
    }
    sendJson(req, res, Object.keys(days).sort().map((date) => ({ date, fundings: days[date].sort(compare) })));
  })
  .all(readOnly);

// ---------------------------------------------------------------- documents

const DOCUMENT = openapi({ base: BASE, tokenUrl: BASE + TOKEN_PATH });
const REGISTRY = {
  member: [
    { id: 'ALTENBRUCK', acronym: 'UAB', name: 'Universität Altenbruck', contact: 'forschung@altenbruck.invalid', oauth2: BASE + TOKEN_PATH, info: `${BASE}/ris/info/v1/oauth/info/` },
  ],
};
const PUBLIC = { cache: 'public, max-age=120' };
const DOCS = `<!doctype html><html lang="en"><title>Altenbruck funding calls</title><h1>Altenbruck funding calls</h1>
<p>The specification file: <a href="/ris/funding/v3/api-docs">api-docs</a> (OpenAPI 3).</p></html>`;

api.route('/api-docs').get((req, res) => sendJson(req, res, DOCUMENT, PUBLIC)).all(readOnly);
api.route('/docs').get((req, res) => send(req, res, { type: 'text/html; charset=utf-8', body: DOCS, ...PUBLIC })).all(readOnly);
app.route('/network/ris.json').get((req, res) => sendJson(req, res, REGISTRY, PUBLIC)).all(readOnly);

const info = (env) => (req, res) => {
  const { user, client: c, scope, accessTokenExpiresAt } = req.token;
  res.set('Cache-Control', 'no-store').type('application/json').send(Buffer.from(JSON.stringify({
    node: 'ALTENBRUCK',
    environment: env,
    client: { id: c.id, serviceAccount: user.id, affiliation: user.affiliation, roles: user.roles, scope: scope.join(' ') },
    tokenExpires: accessTokenExpiresAt.toISOString(),
    endpoints: { FUNDING: [{ name: 'FUNDING', majorVersion: 3, minorVersion: 2, url: `${BASE}/ris/funding/v3/api-docs` }] },
  })));
};
app.route(['/ris/info/v1/oauth/info/', '/ris/info/v1/oauth/info']).get(bearer('production', sendProblem), info('production')).all(readOnly);
app.route(['/test/ris/info/v1/oauth/info/', '/test/ris/info/v1/oauth/info']).get(bearer('staging', sendProblem), info('staging')).all(readOnly);

const form = express.text({ type: 'application/x-www-form-urlencoded', limit: '16kb', inflate: false });
app.route(TOKEN_PATH).post(form, tokenEndpoint('production')).all(only('POST', 'OPTIONS'));
app.route(STAGING_TOKEN_PATH).post(form, tokenEndpoint('staging')).all(only('POST', 'OPTIONS'));

app.use('/ris/funding/v3', api);
app.use((req, res) => sendProblem(res, 404, 'There is nothing at this address'));
app.use((err, req, res, next) => { // eslint-disable-line no-unused-vars
  if (res.headersSent) return res.end();
  const status = err.status >= 400 && err.status < 500 ? err.status : 500;
  if (status === 500) console.error(err);
  if (req.path === TOKEN_PATH || req.path === STAGING_TOKEN_PATH) {
    return res.status(status).set({ 'Cache-Control': 'no-store', Pragma: 'no-cache' })
      .json({ error: status === 500 ? 'server_error' : 'invalid_request', error_description: 'The request cannot be read' });
  }
  return sendProblem(res, status, status === 500 ? 'Internal error' : 'The request is malformed');
});

const server = http.createServer((req, res) => {
  // a target in absolute form (RFC 9112, 3.2.2) is the same as its path; Host must be there once
  const target = req.url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '');
  req.url = /^[?#]/.test(target) || target === '' ? `/${target}` : target;
  if (!req.url.startsWith('/') || req.rawHeaders.filter((h, i) => i % 2 === 0 && h.toLowerCase() === 'host').length > 1) {
    res.writeHead(400, { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store' });
    return res.end(JSON.stringify({ type: 'about:blank', title: STATUS[400], status: 400, detail: 'The request is malformed' }));
  }
  return app(req, res);
});
server.listen(PORT, '127.0.0.1', () => console.log(`altenbruck (${NODE}) on ${BASE}`));
