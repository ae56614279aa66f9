'use strict';
const { STATUS_CODES } = require('http');

class Problem extends Error {
  constructor(status, detail, extra = {}) {
    super(detail);
    this.httpCode = status;
    this.detail = detail;
    this.errors = extra.errors;
    this.headers = extra.headers || {};
  }
}

class OAuthError extends Error {
  constructor(status, error, description, headers = {}) {
    super(description);
    this.httpCode = status;
    this.error = error;
    this.headers = headers;
  }
}

function sendProblem(req, res, status, detail, { headers = {}, errors } = {}) {
  for (const h of ['ETag', 'Last-Modified', 'Content-Type', 'Content-Length']) res.removeHeader(h);
  res.status(status);
  res.set({ 'Cache-Control': 'no-store', ...headers });
  const body = { type: 'about:blank', title: STATUS_CODES[status], status, detail, instance: req.path };
  if (errors) body.errors = errors;
  res.set('Content-Type', 'application/problem+json');
  res.send(Buffer.from(JSON.stringify(body)));
}

module.exports = { Problem, OAuthError, sendProblem };
