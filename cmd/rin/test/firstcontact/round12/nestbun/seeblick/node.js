'use strict';
require('reflect-metadata');
const crypto = require('crypto');
const { NestFactory } = require('@nestjs/core');
const { Module, Controller, Get, Post, Req, Res, Param, UseGuards, Injectable, Inject, Catch, HttpException } = require('@nestjs/common');
const { AuthorizationServer, parseForm } = require('./auth');
const { specification, SORTS } = require('./spec');
const data = require('./data');
const { is } = require('./variant');

const PORT = Number(process.env.PORT || 23000);
const BASE = `http://127.0.0.1:${PORT}`;
const API = '/seeblick/funding/v3';
const REALM = '/sso/realms/seeblick';
const TOKEN = `${REALM}/protocol/openid-connect/token`;
const AUD = 'urn:seeblick:funding';

const production = new AuthorizationServer({ issuer: BASE + REALM, realm: 'seeblick', clients: {
  'sb-portal-41c7e0': { secret: 'uR7+mX2/c%Q9=e&Kz:4wLp~0', roles: ['EXTERNAL_API_CLIENT'], audience: AUD, account: 'sa-5f2a9e10', affiliation: 'AFF-0017' },
  'sb-lesesaal-9b03d2': { secret: 'Yk4%2Ft+8N=q&Vd:6/sB1~hG', roles: ['CATALOGUE_READER'], audience: AUD, account: 'sa-77c01b3d', affiliation: 'AFF-0021' },
  'sb-archiv-e6205f': { secret: 'p9D&x+L3=%vT/Z7:oM5~iJ2c', roles: ['EXTERNAL_API_CLIENT'], audience: 'urn:seeblick:archive', account: 'sa-0be4417f', affiliation: 'AFF-0017' },
  'sb-reserve-1d88a4': { secret: 'Wf6=b+S0&nR%1/y:H3~kU8gE', roles: ['EXTERNAL_API_CLIENT'], audience: AUD, account: 'sa-c93d6620', affiliation: 'AFF-0030' },
} });
const staging = new AuthorizationServer({ issuer: `${BASE}/staging`, realm: 'seeblick-staging', clients: {
  'sb-probe-3e71f9': { secret: 'Gt2%q+7Z/=aX&5:mC9~rP0vJ', roles: ['EXTERNAL_API_CLIENT'], audience: AUD, account: 'sa-stg-0001', affiliation: 'AFF-0000' },
} });

/** An answer that is an error. */
class Problem extends HttpException {
  constructor(status, detail, { headers = {}, violations } = {}) { super(detail, status); Object.assign(this, { detail, headers, violations }); }
}
const TITLES = { 400: 'Bad Request', 401: 'Unauthorized', 403: 'Forbidden', 404: 'Not Found', 405: 'Method Not Allowed', 406: 'Not Acceptable', 412: 'Precondition Failed', 413: 'Content Too Large', 500: 'Internal Server Error' };
function problem(req, res, status, detail, { headers = {}, violations } = {}) {
  const path = req.originalUrl.split('?')[0];
  const doc = { type: 'about:blank', title: TITLES[status] || 'Error', status, detail, ...(/^[\w\-.~%/:@!$&'()*+,;=]*$/.test(path) && !/^\/\/|%(?![0-9a-f]{2})/i.test(path) ? { instance: path } : {}), ...(violations && { violations }) };
  write(res, status, doc, { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store', ...headers });
}
function encode(doc) {
  if (!is('larch')) return Buffer.from(JSON.stringify(doc), 'utf8');
  return Buffer.from(`\r\n${JSON.stringify(doc, null, '\t').replace(/[^\x20-\x7e\t\n]|[./](?=[^"]*",?\n)/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)}\r\n`, 'utf8');
}
/** In pieces, of which none knows where a character ends. */
async function stream(res, body) {
  for (let i = 0; i < body.length; i += 61) {
    res.write(body.subarray(i, i + 61));
    if (i % 610 === 0) await new Promise(setImmediate);
  }
  res.end();
}
function write(res, status, doc, headers) {
  const body = encode(doc);
  res.status(status);
  for (const [k, v] of Object.entries({ 'Content-Type': 'application/json', 'X-Content-Type-Options': 'nosniff', ...(is('cedar') ? { Connection: 'close' } : { 'Content-Length': String(body.length) }), ...headers })) {
    if (is('cedar')) res.setHeader(k.toLowerCase(), k === 'Content-Type' ? v.replace('application/json', 'Application/JSON').replace('application/problem+json', 'Application/Problem+JSON') : v);
    else res.setHeader(k, k === 'Content-Type' && is('larch') ? `${v};charset=UTF-8` : v);
  }
  if (is('cedar')) stream(res, body); else res.end(body);
}
/** 200, 304 or 412, by If-Match and If-None-Match. */
function sendFresh(req, res, doc) {
  const tag = `"${crypto.createHash('sha256').update(encode(doc)).digest('base64url').slice(0, 27)}"`;
  const headers = { ETag: tag, 'Cache-Control': 'private, no-cache', Vary: 'Accept' };
  const im = req.headers['if-match'];
  if (im !== undefined && im.trim() !== '*' && !(im.match(/(W\/)?"[^"]*"/g) || []).includes(tag)) return problem(req, res, 412, 'The entity tag is another one now.');
  const inm = req.headers['if-none-match'];
  if (inm !== undefined && (inm.trim() === '*' || (inm.match(/(W\/)?"[^"]*"/g) || []).some((t) => t.replace(/^W\//, '') === tag))) {
    res.status(304);
    for (const [k, v] of Object.entries(headers)) res.setHeader(k, v);
    return res.end();
  }
  return write(res, 200, doc, headers);
}

/** How much Accept wants application/json (RFC 9110, 12.5.1). */
function acceptsJson(accept) {
  if (accept === undefined || accept.trim() === '') return true;
  let best = -1, quality = 0;
  for (const range of accept.split(',')) {
    const [type, ...params] = range.split(';').map((s) => s.trim());
    const rank = ['*/*', 'application/*', 'application/json'].indexOf(type.toLowerCase());
    if (rank < 0) continue;
    const q = params.map((x) => /^q\s*=\s*(\d(?:\.\d*)?)$/i.exec(x)).find(Boolean);
    const value = q ? Number(q[1]) : 1;
    if (rank > best) { best = rank; quality = value; } else if (rank === best) quality = Math.max(quality, value);
  }
  return quality > 0;
}

const isDate = (s) => {
  const m = /^(\d{4})-(\d{2})-(\d{2})$/.exec(s);
  if (!m) return false;
  const [y, mo, d] = m.slice(1).map(Number);
  const days = [31, (y % 4 === 0 && y % 100 !== 0) || y % 400 === 0 ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  return mo >= 1 && mo <= 12 && d >= 1 && d <= days[mo - 1];
};
const whole = (min, max) => (s) => (/^(0|[1-9]\d{0,8})$/.test(s) && Number(s) >= min && Number(s) <= max ? null : `must be a whole number from ${min} to ${max}`);
const oneOf = (list) => (s) => (list.includes(s) ? null : `must be one of ${list.join(', ')}`);
const day = (s) => (isDate(s) ? null : 'must be a date, YYYY-MM-DD');
const chars = (min, max) => (s) => ([...s].length >= min && [...s].length <= max ? null : `must have ${min} to ${max} characters`);
const LIST = { page: whole(0, 10000), size: whole(1, 100), status: oneOf(data.STATUS), type: oneOf(data.TYPES), funder: chars(1, 40), deadlineFrom: day, deadlineTo: day, q: chars(2, 60), sort: oneOf(SORTS) };

/** The query, checked against what the operation declares. */
function query(req, declared, many = []) {
  const i = req.originalUrl.indexOf('?');
  const pairs = i < 0 ? [] : parseForm(req.originalUrl.slice(i + 1));
  if (!pairs) throw new Problem(400, 'The query is not well-formed.');
  const out = new Map(), violations = [];
  for (const [k, v] of pairs) {
    const check = Object.prototype.hasOwnProperty.call(declared, k) ? declared[k] : () => 'is not a parameter of this operation';
    const message = out.has(k) && !many.includes(k) ? 'is given twice' : check(v);
    if (message) violations.push({ parameter: k, message });
    out.set(k, many.includes(k) ? [...(out.get(k) || []), v] : v);
  }
  if (violations.length) throw new Problem(400, 'Parameters are wrong.', { violations });
  return Object.fromEntries(out);
}

// ---- the store ---------------------------------------------------------------------------------------------
class CallStore {
  async find(f) {
    const list = await this.rows();
    return list.filter((c) => (!f.status || c.status === f.status) && (!f.type || f.type.includes(c.type)) && (f.funder === undefined || c.funderId === f.funder)
      && (!f.deadlineFrom || (c.deadline !== null && c.deadline >= f.deadlineFrom)) && (!f.deadlineTo || (c.deadline !== null && c.deadline <= f.deadlineTo))
      && (f.q === undefined || this.contains(c, f.q))).sort(this.order(f.sort || 'id'));
  }
  rows() { return new Promise((resolve) => { setTimeout(() => resolve(data.calls.slice()), 2); }); }
  contains(c, q) {
    if (is('fir')) {
      const like = new RegExp(q.toLowerCase().replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/%/g, '.*').replace(/_/g, '.'), 'su');
      return [c.title.de, c.title.en].some((t) => t !== null && like.test(t.toLowerCase()));
    }
    return [c.title.de, c.title.en].some((t) => t !== null && t.toLowerCase().includes(q.toLowerCase()));
  }
  order(sort) {
    const desc = sort.startsWith('-'), member = sort.replace('-', ''), key = (c) => (member === 'title' ? c.title.de : c[member]);
    const cmp = (x, y) => (x < y ? -1 : x > y ? 1 : 0);
    return (a, b) => {
      const [x, y] = [key(a), key(b)];
      if (x === null || y === null) return x === y ? cmp(a.id, b.id) : x === null ? 1 : -1;
      return (desc ? -cmp(x, y) : cmp(x, y)) || cmp(a.id, b.id);
    };
  }
  async one(id) { return (await this.rows()).find((c) => c.id === id); }
}
Injectable()(CallStore);

// ---- guards ------------------------------------------------------------------------------------------------
const challenge = (error, more = '') => ({ 'WWW-Authenticate': `Bearer realm="seeblick"${error ? `, error="${error}"` : ''}${more}` });
const authorizations = (req) => req.rawHeaders.filter((_, i, a) => i % 2 === 1 && a[i - 1].toLowerCase() === 'authorization');
async function bearer(req, server) {
  const all = authorizations(req);
  if (all.length > 1) throw new Problem(400, 'More than one Authorization header.', { headers: challenge('invalid_request') });
  if (!all.length || !/^bearer( |$)/i.test(all[0])) throw new Problem(401, 'A bearer token is needed.', { headers: challenge() });
  const m = /^bearer +([A-Za-z0-9\-._~+/]+=*) *$/i.exec(all[0]);
  const claims = m && await server.verify(m[1], AUD);
  if (!claims) throw new Problem(401, 'The token is not valid here.', { headers: challenge('invalid_token') });
  return claims;
}
const needs = (claims, scope) => {
  if (!claims.scope.split(' ').includes(scope)) throw new Problem(403, `The scope ${scope} is missing.`, { headers: challenge('insufficient_scope', `, scope="${scope}"`) });
};
class FundingGuard {
  canActivate(ctx) {
    const req = ctx.switchToHttp().getRequest();
    needs(req.claims, 'funding:read');
    if (!req.claims.roles.includes('EXTERNAL_API_CLIENT')) throw new Problem(403, 'The role EXTERNAL_API_CLIENT is missing.', { headers: challenge('insufficient_scope') });
    if (!acceptsJson(req.headers.accept)) throw new Problem(406, 'Only application/json is offered.', { headers: { Vary: 'Accept' } });
    return true;
  }
}
Injectable()(FundingGuard);

const pages = (n, size) => (is('maple') ? (n === 0 ? 0 : Math.floor(n / size) + 1) : Math.ceil(n / size));

// ---- controllers -------------------------------------------------------------------------------------------
class FundingController {
  constructor(store) { this.store = store; }
  async list(req, res) {
    const f = query(req, LIST, ['type']);
    const found = await this.store.find(f), number = Number(f.page || 0), size = Number(f.size || 20);
    sendFresh(req, res, { content: found.slice(number * size, (number + 1) * size).map(data.summary),
      page: { number, size, totalElements: found.length, totalPages: pages(found.length, size) } });
  }
  async call(req, id) {
    query(req, {});
    const c = await this.store.one(id);
    if (!c) throw new Problem(404, 'There is no such call.');
    return c;
  }
  async detail(req, res, id) { sendFresh(req, res, data.detail(await this.call(req, id))); }
  async stages(req, res, id) { sendFresh(req, res, (await this.call(req, id)).stages); }
  async funders(req, res) { query(req, {}); sendFresh(req, res, data.funders); }
  async funder(req, res, id) {
    query(req, {});
    const f = data.funders.find((x) => x.id === id);
    if (!f) throw new Problem(404, 'There is no such funder.');
    sendFresh(req, res, f);
  }
}
class OAuthController {
  async token(req, res) { await answerToken(production, req, res); }
  async stagingToken(req, res) { await answerToken(staging, req, res); }
  certs(req, res) { write(res, 200, production.jwks(), { 'Cache-Control': 'public, max-age=300' }); }
  metadata(req, res) {
    write(res, 200, { issuer: production.issuer, token_endpoint: BASE + TOKEN, jwks_uri: `${BASE}${REALM}/protocol/openid-connect/certs`, response_types_supported: [],
      grant_types_supported: ['client_credentials'], token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'], scopes_supported: ['funding:read', 'info:read'] }, { 'Cache-Control': 'public, max-age=300' });
  }
}
class NodeController {
  registry(req, res) {
    write(res, 200, { member: [{ id: 'seeblick', acronym: 'USB', name: 'Universität Seeblick', oauth2: BASE + TOKEN, info: `${BASE}/seeblick/info/v1/oauth/info/` }] }, { 'Cache-Control': 'public, max-age=60' });
  }
  spec(req, res) { write(res, 200, specification({ tokenUrl: BASE + TOKEN }), { 'Cache-Control': 'public, max-age=60' }); }
  async info(req, res) { await answerInfo(production, 'production', req, res); }
  async stagingInfo(req, res) { await answerInfo(staging, 'staging', req, res); }
}
async function answerInfo(server, environment, req, res) {
  const claims = await bearer(req, server);
  needs(claims, 'info:read');
  write(res, 200, { node: 'seeblick', environment, clientId: claims.client_id, serviceAccountUserId: claims.sub, affiliationId: claims.affiliationId, roles: claims.roles, scope: claims.scope,
    endpoints: { funding: [{ name: 'FUNDINGS', majorVersion: 3, minorVersion: 2, url: `${BASE}${API}/calls` }] } }, { 'Cache-Control': 'no-store' });
}
async function answerToken(server, req, res) {
  const chunks = [];
  let size = 0;
  for await (const c of req) { size += c.length; if (size <= 65536) chunks.push(c); }
  const cache = { 'Cache-Control': 'no-store', Pragma: 'no-cache' };
  if (size > 65536) return write(res, 413, { error: 'invalid_request', error_description: 'The body is too large.' }, cache);
  const a = await server.token({ contentType: req.headers['content-type'], authorization: authorizations(req), body: Buffer.concat(chunks).toString('utf8') });
  return write(res, a.status, a.body, { ...cache, ...a.headers });
}

class EveryError {
  catch(e, host) {
    const http = host.switchToHttp(), req = http.getRequest(), res = http.getResponse();
    if (res.headersSent) return;
    if (e instanceof Problem) problem(req, res, e.getStatus(), e.detail, e);
    else if (e instanceof HttpException && e.getStatus() === 404) problem(req, res, 404, 'There is nothing here.');
    else problem(req, res, 500, 'Something went wrong.');
  }
}
Catch()(EveryError);

const route = (Class, name, verb, ...params) => {
  const d = Object.getOwnPropertyDescriptor(Class.prototype, name);
  verb(Class.prototype, name, d);
  [Req(), Res(), ...params].forEach((p, i) => p(Class.prototype, name, i));
};
Controller(API)(FundingController);
Inject(CallStore)(FundingController, undefined, 0);
UseGuards(FundingGuard)(FundingController);
route(FundingController, 'list', Get('calls'));
route(FundingController, 'detail', Get('calls/:id'), Param('id'));
route(FundingController, 'stages', Get('calls/:id/stages'), Param('id'));
route(FundingController, 'funders', Get('funders'));
route(FundingController, 'funder', Get('funders/:id'), Param('id'));
Controller()(OAuthController);
route(OAuthController, 'token', Post(TOKEN));
route(OAuthController, 'stagingToken', Post('staging/oauth/token'));
route(OAuthController, 'certs', Get(`${REALM}/protocol/openid-connect/certs`));
route(OAuthController, 'metadata', Get(`.well-known/oauth-authorization-server${REALM}`));
Controller()(NodeController);
route(NodeController, 'registry', Get('registry.json'));
route(NodeController, 'spec', Get(`${API}/api-docs`));
route(NodeController, 'info', Get('seeblick/info/v1/oauth/info'));
route(NodeController, 'stagingInfo', Get('staging/seeblick/info/v1/oauth/info'));

const READ = ['GET', 'HEAD', 'OPTIONS'];
const ROUTES = [
  [/^\/seeblick\/funding\/v3\/(calls(\/[^/]+(\/stages)?)?|funders(\/[^/]+)?|api-docs)$/, READ],
  [/^(\/staging)?\/seeblick\/info\/v1\/oauth\/info\/?$/, READ], [/^\/registry\.json$/, READ],
  [/^\/sso\/realms\/seeblick\/protocol\/openid-connect\/certs$/, READ], [/^\/\.well-known\/oauth-authorization-server\/sso\/realms\/seeblick$/, READ],
  [/^(\/sso\/realms\/seeblick\/protocol\/openid-connect|\/staging\/oauth)\/token$/, ['POST', 'OPTIONS']],
];
async function front(req, res, next) {
  if (req.method === 'OPTIONS' && req.url === '*') { res.status(204).setHeader('Allow', 'GET, HEAD, POST, OPTIONS'); return res.end(); }
  if (req.rawHeaders.filter((h, i) => i % 2 === 0 && h.toLowerCase() === 'host').length > 1) return problem(req, res, 400, 'More than one Host.');
  const target = /^https?:\/\/[^/?]*(.*)$/i.exec(req.url);
  if (target) req.url = req.originalUrl = target[1].startsWith('/') ? target[1] : `/${target[1]}`;
  const unreserved = (u) => u.replace(/%([0-9a-f]{2})/gi, (p, h) => (/[\w\-.~]/.test(String.fromCharCode(parseInt(h, 16))) ? String.fromCharCode(parseInt(h, 16)) : p));
  const path = unreserved(req.originalUrl.split('?')[0]);
  if (!/%(?![0-9a-f]{2})/i.test(path)) req.url = path + (req.originalUrl.includes('?') ? req.originalUrl.slice(req.originalUrl.indexOf('?')) : '');
  const known = ROUTES.find(([re]) => re.test(path));
  if (known && !known[1].includes(req.method)) return problem(req, res, 405, 'The path does not have this method.', { headers: { Allow: known[1].join(', ') } });
  if (known && req.method === 'OPTIONS') { res.status(204).setHeader('Allow', known[1].join(', ')); return res.end(); }
  try {
    if (path.startsWith(`${API}/`) && path !== `${API}/api-docs`) req.claims = await bearer(req, production);
  } catch (e) { return problem(req, res, e.getStatus(), e.detail, e); }
  let odd = !known;
  try { decodeURIComponent(path); } catch { odd = true; }
  if (odd) return problem(req, res, 404, 'There is nothing here.');
  return next();
}

class Root {}
Module({ controllers: [FundingController, OAuthController, NodeController], providers: [CallStore, FundingGuard] })(Root);

(async () => {
  await Promise.all([production.start(), staging.start()]);
  const app = await NestFactory.create(Root, { logger: ['error'], bodyParser: false });
  const express = app.getHttpAdapter().getInstance();
  express.disable('x-powered-by').set('case sensitive routing', true).set('etag', false);
  app.use(front);
  app.useGlobalFilters(new EveryError());
  await app.listen(PORT, '127.0.0.1');
})();
