const { routes } = require('./routes');
const problem = require('../api/responses/problem');
const bodyParser = require('body-parser');
module.exports.http = {
  middleware: {
    order: ['entry', 'bodyParser', 'router'],
    entry(req, res, next) {
      res.removeHeader('X-Powered-By');
      try { decodeURIComponent(req.url.split('?')[0]); } catch (e) {
        const b = Buffer.from(JSON.stringify({ type: 'about:blank', title: 'Bad Request', status: 400, code: 'BAD_PATH', detail: 'Der Pfad ist nicht richtig prozentkodiert.' }));
        res.writeHead(400, { 'Content-Type': 'application/problem+json', 'Content-Language': 'de', 'Cache-Control': 'no-store', 'Content-Length': b.length });
        return res.end(req.method === 'HEAD' ? undefined : b);
      }
      // verbs that routes without a verb are not bound to
      if (!['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'].includes(req.method)) {
        if (req.method === 'OPTIONS' && req.url === '*') { res.statusCode = 204; res.setHeader('Allow', 'GET, HEAD, POST, OPTIONS'); return res.end(); }
        const parts = req.url.replace(/^https?:\/\/[^/?]*/i, '').split('?')[0].replace(/\/$/, '').split('/').map((s) => decodeURIComponent(s).toLowerCase());
        const kind = Object.keys(routes).find((r) => r.split('/').length === parts.length && r.split('/').every((s, i) => (s.startsWith(':') ? parts[i] !== '' : s === parts[i])));
        if (kind) {
          res.setHeader('Allow', /\/token$/.test(kind) ? 'POST, OPTIONS' : 'GET, HEAD, OPTIONS');
          res.setHeader('Cache-Control', 'no-store');
          if (req.method === 'OPTIONS') { res.statusCode = 204; return res.end(); }
          return problem.call({ req, res }, 405, 'METHOD_NOT_ALLOWED', 'Diese Methode ist hier nicht erlaubt.');
        }
        return problem.call({ req, res }, 404, 'NOT_FOUND', 'Unter dieser Adresse gibt es nichts.');
      }
      return next();
    },
    bodyParser: (() => {
      const raw = bodyParser.raw({ type: 'application/x-www-form-urlencoded', limit: 16384, inflate: true });
      if (process.env.NODE === 'sails-traun') {
        const json = bodyParser.json();
        return (req, res, next) => (req.method === 'PATCH' ? json : raw)(req, res, (err) => { if (err) req.bodyError = err; next(); });
      }
      return (req, res, next) => raw(req, res, (err) => { if (err) req.bodyError = err; next(); });
    })(),
  },
};
