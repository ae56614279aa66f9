'use strict';
require('reflect-metadata');
const http = require('http');
const express = require('express');
const compression = require('compression');
const onHeaders = require('on-headers');
const rc = require('routing-controllers');
const deco = require('./lib/decorate');
const accounts = require('./lib/accounts');
const { AuthorizationServer } = require('./lib/tokens');
const { Problem, OAuthError, sendProblem } = require('./lib/problems');
const { sendRepresentation } = require('./lib/conditional');
const { parseQuery } = require('./lib/queries');
const document = require('./lib/document');
const { is } = require('./lib/variant');

const PORT = Number(process.env.PORT || 8080);
const origin = `http://127.0.0.1:${PORT}`;

/** RFC 9110, 12.5.1: the most specific range that covers application/json decides */
function acceptsJson(field) {
  if (field === undefined || field.trim() === '') return true;
  let best = 0; let weight = 0;
  for (const range of field.toLowerCase().split(',')) {
    const [type, ...parameters] = range.split(';').map((s) => s.trim());
    const level = ['*/*', 'application/*', 'application/json'].indexOf(type) + 1;
    if (level > best) {
      best = level;
      const q = parameters.find((p) => p.startsWith('q='));
      weight = q === undefined ? 1 : Number(q.slice(2));
    }
  }
  return best > 0 && weight !== 0;
}

function sendPlain(res, status) {
  const body = JSON.stringify({ type: 'about:blank', title: http.STATUS_CODES[status], status, detail: 'the request could not be read', instance: '/' });
  res.writeHead(status, { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store', 'Content-Length': Buffer.byteLength(body) });
  res.end(body);
}

/** what Node would answer without a body */
function bareProblem(status, headers = '') {
  const title = http.STATUS_CODES[status];
  const body = JSON.stringify({ type: 'about:blank', title, status, detail: 'the request could not be read', instance: '/' });
  return `HTTP/1.1 ${status} ${title}\r\nDate: ${new Date().toUTCString()}\r\nContent-Type: application/problem+json\r\nCache-Control: no-store\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n${headers}\r\n${body}`;
}

async function main() {
  const production = new AuthorizationServer({ issuer: `${origin}/realms/forschung`, clients: accounts.production, realm: 'forschung' });
  const staging = new AuthorizationServer({ issuer: `${origin}/donau-staging`, clients: accounts.staging, realm: 'donau-staging' });
  await Promise.all([production.start(), staging.start()]);
  const controllers = require('./lib/controllers')({ production, staging, document });

  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.enable('strict routing');
  app.enable('case sensitive routing');
  app.set('query parser', parseQuery);
  app.use((req, res, next) => {
    if (req.headers.host === undefined && req.httpVersion === '1.1') return sendPlain(res, 400);
    res.set('X-Content-Type-Options', 'nosniff');
    // the length of a HEAD answer would be that of one coding only
    if (req.method === 'HEAD') onHeaders(res, () => res.removeHeader('Content-Length'));
    next();
  });
  app.use(compression({ threshold: 1024 }));

  // which methods a path has, taken from the decorators
  const routes = [];
  for (const action of rc.getMetadataArgsStorage().actions) {
    const base = rc.getMetadataArgsStorage().controllers.find((c) => c.target === action.target).route || '';
    const re = new RegExp('^' + (base + action.route).replace(/[.]/g, '\\.').replace(/:\w+/g, '[^/]+') + '$');
    routes.push({ re, methods: action.type === 'get' ? ['GET', 'HEAD', 'OPTIONS'] : ['POST', 'OPTIONS'] });
  }
  class Methods {
    async use(req, res, next) {
      if (is('rc-kamp') && req.path.startsWith('/donau/funding/v3/') && !req.path.endsWith('/api-docs') && req.method !== 'OPTIONS') {
        try {
          await production.verify(req, accounts.FUNDING);
        } catch (e) {
          return next(e);
        }
      }
      const route = routes.find((r) => r.re.test(req.path));
      if (!route) return sendProblem(req, res, 404, 'there is nothing at this address');
      const allow = { Allow: route.methods.join(', ') };
      if (req.method === 'OPTIONS') return res.set(allow).status(204).end();
      if (!route.methods.includes(req.method)) return sendProblem(req, res, 405, `${req.method} is not offered here`, { headers: allow });
      if (req.path.startsWith('/donau/funding/v3/') && !req.path.endsWith('/api-docs') && !acceptsJson(req.headers.accept)) return sendProblem(req, res, 406, 'only application/json is offered', { headers: { Vary: 'Accept, Accept-Encoding' } });
      next();
    }
  }
  deco.cls(Methods, rc.Middleware({ type: 'before' }));

  class Representations {
    intercept(action, content) {
      const { request: req, response: res } = action;
      if (req.path.startsWith('/donau/funding/v3/') || req.path.startsWith('/register/') || req.path.endsWith('/certs')) {
        return sendRepresentation(req, res, content, { lastModified: content.updatedAt });
      }
      return content;
    }
  }
  deco.cls(Representations, rc.Interceptor());

  class Errors {
    error(err, req, res, next) {
      if (res.headersSent) return;
      const tokens = req.path.endsWith('/token');
      if (tokens) {
        const e = err instanceof OAuthError ? err : err.status === 500 || (!err.status && !err.httpCode)
          ? new OAuthError(500, 'server_error', 'the request could not be served') : new OAuthError(err.status || err.httpCode, 'invalid_request', 'the request could not be read');
        if (e.httpCode === 415) e.httpCode = 400;
        if (e.httpCode === 500) console.error(err);
        res.status(e.httpCode).set({ 'Cache-Control': 'no-store', Pragma: 'no-cache', ...e.headers });
        return res.json({ error: e.error, error_description: e.message });
      }
      if (err instanceof Problem) return sendProblem(req, res, err.httpCode, err.detail, { headers: err.headers, errors: err.errors });
      if (err.errors && err.httpCode === 400) {
        const errors = err.errors.map((e) => ({ parameter: e.property.replace(/=$/, ''), reason: e.constraints && !e.constraints.whitelistValidation ? Object.values(e.constraints)[0] : 'this parameter is not known here' }));
        return sendProblem(req, res, 400, 'a parameter is not acceptable', { errors });
      }
      const status = err.httpCode || err.status || 500;
      if (status >= 500) console.error(err);
      sendProblem(req, res, status, status < 500 ? 'the request could not be read' : 'the request could not be served');
    }
  }
  deco.cls(Errors, rc.Middleware({ type: 'after' }));

  rc.useExpressServer(app, {
    controllers,
    middlewares: [Methods, Errors],
    interceptors: [Representations],
    defaultErrorHandler: false,
    classTransformer: true,
    validation: { whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: false, validationError: { target: false, value: false } },
    authorizationChecker: async ({ request }, roles) => {
      const staged = request.path.startsWith('/donau-staging/');
      const user = await (staged ? staging.verify(request, 'urn:donau:staging') : production.verify(request, accounts.FUNDING));
      if (!roles.every((r) => user.roles.includes(r))) throw new Problem(403, 'this account lacks the role EXTERNAL_API_CLIENT', { headers: user.forbidden });
      request.user = user;
      return true;
    },
    currentUserChecker: ({ request }) => request.user,
  });

  const server = http.createServer({ requireHostHeader: false }, app).listen(PORT, '127.0.0.1', () => console.log(`listening on ${origin}`));
  server.on('clientError', (err, socket) => {
    if (!socket.writable || err.code === 'ECONNRESET') return socket.destroy();
    const status = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408, HPE_INVALID_METHOD: 501 }[err.code] || 400;
    socket.end(bareProblem(status));
  });
  server.on('connect', (req, socket) => socket.end(bareProblem(501)));
  server.on('checkExpectation', (req, res) => sendPlain(res, 417));
  for (const s of ['SIGTERM', 'SIGINT']) process.on(s, () => { server.close(() => process.exit(0)); server.closeAllConnections(); });
}

main().catch((e) => { console.error(e); process.exit(1); });
