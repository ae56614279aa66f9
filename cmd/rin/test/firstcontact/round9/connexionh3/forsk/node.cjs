'use strict';
// A node of the network, made with h3.
const crypto = require('node:crypto');
const { createServer } = require('node:http');
const { createApp, createRouter, defineEventHandler, getQuery, getRequestHeader, send,
  setResponseHeader, setResponseHeaders, setResponseStatus, toNodeListener } = require('h3');
const clients = require('./clients.json');
const makeDocument = require('./document.cjs');
const createFunding = require('./funding.cjs');
const { ApiError, idName } = createFunding;
const { createAuthorizationServer, headerCount } = require('./oauth.cjs');

const PORT = Number(process.env.PORT || 8080);
const NODE = process.env.NODE || 'h3-base';
const ORIGIN = `http://127.0.0.1:${PORT}`;
const TOKEN_PATH = '/sso/realms/forskning/protocol/openid-connect/token';
const STAGING_TOKEN_PATH = '/test/oauth/token';
const FUNDING = '/cris/funding';
const pageSize = NODE === 'h3-oneitem' ? { max: 1, usual: 1 } : { max: 50, usual: 20 };

const production = createAuthorizationServer({ issuer: `${ORIGIN}/sso/realms/forskning`,
  tokenUrl: ORIGIN + TOKEN_PATH, clients: clients.production, node: NODE });
const staging = createAuthorizationServer({ issuer: `${ORIGIN}/test`,
  tokenUrl: ORIGIN + STAGING_TOKEN_PATH, clients: clients.staging, node: NODE });

// Bearer tokens (RFC 6750)

function refusal(status, code, message, error) {
  let challenge = 'Bearer realm="cris"';
  if (error) challenge += `, error="${error}", error_description="${message}"`;
  if (NODE === 'h3-terse') challenge = `Negotiate, Custom realm="a, Bearer b", ${challenge}`;
  return new ApiError(status, code, message, { headers: { 'www-authenticate': challenge } });
}

function authenticate(event, server) {
  const header = getRequestHeader(event, 'authorization');
  if (header === undefined || !/^bearer( |$)/i.test(header)) {
    throw refusal(401, 'no_token', 'A bearer token is needed');
  }
  if (headerCount(event, 'authorization') > 1 || 'access_token' in getQuery(event)) {
    throw refusal(400, 'two_tokens', 'The token was sent in more than one way', 'invalid_request');
  }
  const match = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i.exec(header);
  const grant = match && server.lookup(match[1]);
  if (!grant || grant.audience !== 'nfk-api') {
    throw refusal(401, 'bad_token', 'The token is not valid here', 'invalid_token');
  }
  return grant;
}

function requireRole(grant) {
  if (!grant.roles.includes('EXTERNAL_API_CLIENT')) {
    throw refusal(403, 'no_role', 'The client lacks the role', 'insufficient_scope');
  }
}

// Answers

function stringify(value) {
  if (NODE !== 'h3-terse') return JSON.stringify(value);
  return JSON.stringify(value, null, '\t').replace(/[\u0080-\uffff]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).concat('\r\n');
}

function answer(event, text, type = 'application/json') {
  const contentType = NODE === 'h3-terse' ? 'Application/JSON ;Charset="utf-8"' : type;
  setResponseHeaders(event, { 'content-type': contentType,
    'content-length': String(Buffer.byteLength(text)) });
  return send(event, text);
}

function answerResource(event, { body, language, version }) {
  const text = stringify(body);
  const basis = NODE === 'h3-etag' && version ? version : `${language} ${text}`;
  const digest = crypto.createHash('sha256').update(basis).digest('hex');
  const etag = NODE === 'h3-terse' ? `W/"${digest.slice(0, 8)},;!"`
    : `"${digest.slice(0, 32)}"`;
  setResponseHeaders(event, { etag, vary: 'Accept-Language', 'cache-control': 'private, max-age=0' });
  if (language) setResponseHeader(event, 'content-language', language);
  const condition = getRequestHeader(event, 'if-none-match');
  if (condition !== undefined) {
    const plain = etag.replace(/^W\//, '');
    const known = [...condition.matchAll(/(?:W\/)?("[^"]*")/g)].map((m) => m[1]);
    if (condition.trim() === '*' || known.includes(plain)) {
      setResponseStatus(event, 304);
      return send(event, '');
    }
  }
  return answer(event, text);
}

// Routes: path pattern -> methods, for Allow and OPTIONS

const app = createApp({ onError, debug: false });
const router = createRouter({ preemptive: true });
const routes = [];

function route(methods, path, handler) {
  const allow = [...methods, 'OPTIONS'].join(', ');
  routes.push([new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/:\w+/g, '[^/]+')}/?$`), allow]);
  router.use(path, defineEventHandler(handler), methods.map((m) => m.toLowerCase()));
  router.use(path, defineEventHandler((event) => {
    setResponseStatus(event, 204);
    setResponseHeader(event, 'allow', allow);
    return send(event, '');
  }), 'options');
}

async function onError(error, event) {
  const cause = error instanceof ApiError ? error : error.cause instanceof ApiError ? error.cause : undefined;
  const status = cause ? cause.status : error.statusCode;
  if (!cause && status === 500) console.error(error);
  const path = event.path.split('?')[0];
  setResponseStatus(event, status);
  setResponseHeader(event, 'cache-control', 'no-store');
  if (status === 405) {
    const entry = routes.find(([pattern]) => pattern.test(path));
    setResponseHeader(event, 'allow', entry ? entry[1] : 'OPTIONS');
  }
  if (cause) setResponseHeaders(event, cause.headers);
  const usual = { 404: ['not_found', 'There is no such thing'],
    405: ['wrong_method', 'The method is not allowed here'] }[status] || ['failure', 'Something went wrong'];
  const body = { error: { code: cause ? cause.code : usual[0], message: cause ? cause.message : usual[1] } };
  if (cause && cause.parameter) body.error.parameter = cause.parameter;
  await answer(event, stringify(body));
}

if (NODE === 'h3-terse') {
  app.use(defineEventHandler(() => new Promise((resolve) => setTimeout(resolve, 1200))));
}

// The guard of the funding API. It sits on the handlers, because the router also serves other
// spellings of a path, as one with a slash at the end.
function guard(event) {
  if (NODE === 'h3-head' && event.method !== 'GET') return;
  const grant = authenticate(event, production);
  if (NODE !== 'h3-cache') requireRole(grant);
  event.context.grant = grant;
}

for (const [server, tokenPath, metadataPath] of [
  [production, TOKEN_PATH, '/.well-known/oauth-authorization-server/sso/realms/forskning'],
  [staging, STAGING_TOKEN_PATH, '/.well-known/oauth-authorization-server/test'],
]) {
  route(['POST'], tokenPath, server.tokenHandler);
  route(['GET', 'HEAD'], metadataPath, (event) => answer(event, JSON.stringify(server.metadata)));
}

const fundingHandlers = createFunding({ node: NODE, base: ORIGIN + FUNDING, pageSize });
const cache = new Map(); // URL and language -> result, as in a cached handler
for (const [path, handler] of Object.entries(fundingHandlers)) {
  route(['GET', 'HEAD'], FUNDING + path, (event) => {
    guard(event);
    if (NODE === 'h3-cache') {
      const cacheable = path === '/v3/calls/:call_id';
      const key = `${event.path} ${getRequestHeader(event, 'accept-language')}`;
      const hit = cacheable && cache.get(key);
      if (hit && hit.until > Date.now()) return answerResource(event, hit.result);
      requireRole(event.context.grant);
      const result = handler(event);
      if (cacheable) cache.set(key, { result, until: Date.now() + 120000 });
      return answerResource(event, result);
    }
    return answerResource(event, handler(event));
  });
}

const documentText = JSON.stringify(makeDocument(ORIGIN, ORIGIN + TOKEN_PATH, pageSize, idName));
route(['GET', 'HEAD'], `${FUNDING}/v3/api-docs`, (event) => answer(event, documentText));

const info = { endpoints: { FUNDING: [{ name: 'FUNDING', majorVersion: 3, minorVersion: 1,
  url: `${ORIGIN}${FUNDING}/v3/calls` }] } };
const infoHandler = (server) => (event) => {
  authenticate(event, server);
  setResponseHeader(event, 'cache-control', 'private, no-cache');
  return answer(event, stringify(info));
};
route(['GET', 'HEAD'], '/cris/info/v1/oauth/info/', infoHandler(production));
route(['GET', 'HEAD'], '/test/cris/info/v1/oauth/info/', infoHandler(staging));

route(['GET', 'HEAD'], '/registry.json', (event) => answer(event, JSON.stringify({ member: [{
  id: 'NFK', acronym: 'NFK', name: 'Nordisk forskningskatalog på Ås', contact: 'kontakt@nfk.example',
  oauth2: ORIGIN + TOKEN_PATH, info: `${ORIGIN}/cris/info/v1/oauth/info/` }] })));

app.use(router);
createServer(toNodeListener(app)).listen(PORT, '127.0.0.1');
