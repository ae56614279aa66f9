'use strict';
// OAuth 2.0 authorization servers with opaque tokens, one for production and one for tests.
const crypto = require('node:crypto');
const { defineEventHandler, getQuery, getRequestIP, readRawBody, setResponseHeaders,
  setResponseStatus } = require('h3');

const LIFETIME = 840;
const MAX_FAILURES = 10;
const WINDOW = 60_000;
const sha256 = (text) => crypto.createHash('sha256').update(text).digest('base64url');

class OAuthError extends Error {
  constructor(status, error, description, headers = {}) {
    super(description);
    Object.assign(this, { status, error, headers });
  }
}
const invalidRequest = (description) => new OAuthError(400, 'invalid_request', description);
const invalidClient = () => new OAuthError(401, 'invalid_client', 'Client authentication failed',
  { 'www-authenticate': 'Basic realm="authorization server"' });

function headerCount(event, name) {
  const raw = event.node.req.rawHeaders;
  let count = 0;
  for (let i = 0; i < raw.length; i += 2) if (raw[i].toLowerCase() === name) count++;
  return count;
}

function formDecode(text) {
  try {
    return decodeURIComponent(text.replace(/\+/g, ' '));
  } catch {
    throw invalidClient();
  }
}

function basicCredentials(header) {
  const match = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header);
  if (!match) throw invalidClient();
  const text = Buffer.from(match[1], 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon < 0) throw invalidClient();
  return [formDecode(text.slice(0, colon)), formDecode(text.slice(colon + 1))];
}

function createAuthorizationServer({ issuer, tokenUrl, clients, node }) {
  const tokens = new Map(); // hash of the token -> what it grants
  const perClient = new Map(); // client id -> hashes of its tokens
  const failures = new Map(); // client id -> times of failed attempts

  async function readForm(event) {
    const type = String(event.node.req.headers['content-type'] || '').split(';')[0].trim();
    if (type.toLowerCase() !== 'application/x-www-form-urlencoded') {
      throw invalidRequest('The body has to be application/x-www-form-urlencoded');
    }
    const raw = (await readRawBody(event)) || '';
    if (raw.length > 16384) throw invalidRequest('The body is too long');
    const form = new Map();
    const seen = new Set();
    for (const [name, value] of new URLSearchParams(raw)) {
      if (seen.has(name)) throw invalidRequest('A parameter is repeated');
      seen.add(name);
      if (value !== '') form.set(name, value);
    }
    return form;
  }

  function authenticate(event, form) {
    const query = getQuery(event);
    if ('client_id' in query || 'client_secret' in query) {
      throw invalidRequest('Credentials do not belong in the URL');
    }
    const header = event.node.req.headers.authorization;
    let id, secret;
    if (headerCount(event, 'authorization') > 1) throw invalidRequest('Two Authorization headers');
    if (header !== undefined) {
      if (form.has('client_secret')) throw invalidRequest('Two ways to authenticate');
      [id, secret] = basicCredentials(header);
      if (form.has('client_id') && form.get('client_id') !== id) {
        throw invalidRequest('client_id contradicts the Authorization header');
      }
    } else {
      id = form.get('client_id');
      secret = form.get('client_secret');
      if (id === undefined || secret === undefined) throw invalidClient();
    }
    const bucket = node === 'h3-lockout'
      ? `${id} ${getRequestIP(event, { xForwardedFor: true })}` : id;
    const now = Date.now();
    const recent = (failures.get(bucket) || []).filter((time) => now - time < WINDOW);
    if (recent.length >= MAX_FAILURES) {
      const wait = Math.ceil((recent[0] + WINDOW - now) / 1000);
      throw new OAuthError(429, 'invalid_client', 'Too many failed attempts',
        { 'retry-after': String(wait) });
    }
    const client = Object.hasOwn(clients, id) ? clients[id] : undefined;
    const same = crypto.timingSafeEqual(Buffer.from(sha256(client ? client.secret : '')),
      Buffer.from(sha256(secret)));
    if (!client || !same) {
      if (failures.size > 10000) failures.clear();
      failures.set(bucket, [...recent, now]);
      throw invalidClient();
    }
    failures.delete(bucket);
    return [id, client];
  }

  function issue(id, client) {
    const now = Date.now();
    for (const [hash, grant] of tokens) if (grant.expires <= now) tokens.delete(hash);
    let token = crypto.randomBytes(36).toString('base64url');
    if (node === 'h3-terse') token = `v1.~${crypto.randomBytes(600).toString('base64')}+/==`;
    const hash = sha256(token);
    tokens.set(hash, { client: id, audience: client.audience, roles: client.roles,
      expires: now + LIFETIME * 1000 });
    if (node === 'h3-tokens') {
      // Housekeeping of the session table: the newest five of a client.
      const own = [...(perClient.get(id) || []), hash];
      while (own.length > 5) tokens.delete(own.shift());
      perClient.set(id, own);
    }
    const body = { access_token: token, token_type: 'Bearer', expires_in: LIFETIME };
    if (node === 'h3-terse') {
      return { ext: { issued: [] }, expires_in: LIFETIME, token_type: 'bearer',
        access_token: token };
    }
    return body;
  }

  const tokenHandler = defineEventHandler(async (event) => {
    setResponseHeaders(event, { 'cache-control': 'no-store', pragma: 'no-cache',
      'content-type': 'application/json' });
    try {
      const form = await readForm(event);
      const [id, client] = authenticate(event, form);
      if (!form.has('grant_type')) throw invalidRequest('grant_type is missing');
      if (form.get('grant_type') !== 'client_credentials') {
        throw new OAuthError(400, 'unsupported_grant_type', 'Only client_credentials is supported');
      }
      if (form.has('scope')) {
        throw new OAuthError(400, 'invalid_scope', 'This server knows no scopes');
      }
      return JSON.stringify(issue(id, client));
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      setResponseStatus(event, error.status);
      setResponseHeaders(event, error.headers);
      return JSON.stringify({ error: error.error, error_description: error.message });
    }
  });

  const metadata = {
    issuer,
    token_endpoint: tokenUrl,
    response_types_supported: ['none'],
    grant_types_supported: ['client_credentials'],
    token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
  };

  return {
    tokenHandler,
    metadata,
    lookup(token) {
      const grant = tokens.get(sha256(token));
      return grant && grant.expires > Date.now() ? grant : undefined;
    },
  };
}

module.exports = { createAuthorizationServer, headerCount };
