'use strict';
// The authorization server of one environment: clients, opaque tokens, lock-out.
const crypto = require('node:crypto');
const {Fault, formFields, unescapeField} = require('./http');

const NODE = process.env.NODE || 'loopback-base';
const ROLE = 'EXTERNAL_API_CLIENT';
const SCOPES = ['funding', 'info'];
const LIFE = 70;
const FAILURES = 12;
const LOCK_MS = 20000;

const sha = text => crypto.createHash('sha256').update(text).digest();

class OAuthError extends Error {
  constructor(status, code, description, headers = {}) {
    super(description);
    Object.assign(this, {status, code, headers});
  }
}
const invalidClient = () => new OAuthError(401, 'invalid_client', 'Client authentication failed.', {'WWW-Authenticate': 'Basic realm="thw-clients"'});
const invalidRequest = text => new OAuthError(400, 'invalid_request', text);

class AuthServer {
  constructor(environment, clients) {
    this.environment = environment;
    this.clients = new Map(clients.map(c => [c.id, c]));
    this.tokens = new Map();
    this.failures = new Map();
  }

  /** Answers a token request; `body` is the raw form, null if it is too long. */
  grant(request, body) {
    if (body === null) throw new OAuthError(413, 'invalid_request', 'The body is too long.');
    const type = String(request.headers['content-type'] || '').split(';')[0].trim().toLowerCase();
    if (type !== 'application/x-www-form-urlencoded') throw invalidRequest('The body must be application/x-www-form-urlencoded.');
    const address = formFields(request.originalUrl.split('?').slice(1).join('?'));
    if (!address || address.some(([name]) => name === 'client_id' || name === 'client_secret')) throw invalidRequest('Credentials must not be in the address.');
    const pairs = formFields(body.toString('latin1'));
    if (!pairs) throw invalidRequest('The body is not well-formed.');
    const form = new Map();
    for (const [name, value] of pairs) {
      if (value === '') continue; // without a value means omitted (RFC 6749, 3.2)
      if (form.has(name)) throw invalidRequest('A parameter is repeated.');
      form.set(name, value);
    }
    const client = this.authenticate(request, form);
    if (!form.has('grant_type')) throw invalidRequest('grant_type is missing.');
    if (form.get('grant_type') !== 'client_credentials') throw new OAuthError(400, 'unsupported_grant_type', 'Only client_credentials is supported.');
    const scopes = form.has('scope') ? [...new Set(form.get('scope').split(' '))] : SCOPES;
    const known = NODE === 'loopback-ybbs' ? [...SCOPES, ...client.roles, ROLE] : SCOPES;
    if (!scopes.every(s => known.includes(s))) throw new OAuthError(400, 'invalid_scope', `Available: ${SCOPES.join(' ')}`);
    return {access_token: this.issue(client, scopes), token_type: 'Bearer', expires_in: LIFE, scope: scopes.join(' ')};
  }

  issue(client, scopes) {
    const now = Date.now();
    for (const [key, t] of this.tokens) if (t.expires <= now) this.tokens.delete(key);
    let token = `thw_${crypto.randomBytes(32).toString('base64url')}`;
    if (NODE === 'loopback-wacholder') token = `v2.${crypto.randomBytes(700).toString('base64').replace(/=/g, '')}~${crypto.randomBytes(20).toString('base64url')}==`;
    this.tokens.set(this.key(token), {client, scopes, expires: now + LIFE * 1000, audience: client.audience});
    return token;
  }

  /** Tokens are kept as digests. */
  key(token) {
    return sha(NODE === 'loopback-enns' ? token.toLowerCase() : token).toString('base64');
  }

  authenticate(request, form) {
    const fields = request.headersDistinct.authorization || [];
    if (fields.length > 1) throw invalidRequest('More than one Authorization field.');
    let id = form.get('client_id');
    let secret = form.get('client_secret');
    if (fields.length === 1) {
      if (secret !== undefined) throw invalidRequest('The client authenticates in more than one way.');
      const m = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(fields[0]);
      const [, user, password] = (m && /^([^:]*):(.*)$/s.exec(Buffer.from(m[1], 'base64').toString('utf8'))) || [];
      const [user2, password2] = [user, password].map(text => (text === undefined ? null : unescapeField(text)));
      if (user2 === null || password2 === null) throw invalidClient();
      if (id !== undefined && id !== user2) throw invalidRequest('client_id is not the client that authenticates.');
      [id, secret] = [user2, password2];
    }
    if (id === undefined || secret === undefined) throw invalidClient();
    return this.check(id, secret);
  }

  check(id, secret) {
    const failed = this.failures.get(id) || {count: 0, until: 0};
    if (failed.until > Date.now()) {
      throw new OAuthError(429, 'temporarily_unavailable', 'Too many failed attempts for this client.', {'Retry-After': String(Math.ceil((failed.until - Date.now()) / 1000))});
    }
    const client = this.clients.get(id);
    const good = crypto.timingSafeEqual(sha(secret), sha(client ? client.secret : crypto.randomBytes(16)));
    this.failures.delete(id);
    if (good) return client;
    const count = failed.until ? 1 : failed.count + 1;
    this.failures.set(id, {count, until: count >= FAILURES ? Date.now() + LOCK_MS : 0});
    if (this.failures.size > 1000) this.failures.delete(this.failures.keys().next().value);
    throw invalidClient();
  }

  /** The bearer of a request to the API (RFC 6750). */
  caller(request) {
    const fields = request.headersDistinct.authorization || [];
    const challenge = (error, more = '') => ({'WWW-Authenticate': `Bearer realm="thw"${error ? `, error="${error}"` : ''}${more}`});
    if (fields.length > 1) throw new Fault(400, 'invalid_request', 'More than one Authorization field.', {headers: challenge('invalid_request')});
    const m = /^bearer(?: +(.*))?$/i.exec((fields[0] || '').trimEnd());
    if (!m) throw new Fault(401, 'token_missing', 'An access token is needed.', {headers: challenge()});
    const query = formFields(request.originalUrl.split('?').slice(1).join('?'));
    if (query && query.some(([name]) => name === 'access_token')) throw new Fault(400, 'invalid_request', 'The token is sent in more than one way.', {headers: challenge('invalid_request')});
    const token = this.tokens.get(this.key(m[1] || ''));
    if (!token || token.expires <= Date.now() || token.audience !== this.environment) {
      throw new Fault(401, 'token_invalid', 'The access token is invalid or has expired.', {headers: challenge('invalid_token')});
    }
    return {
      id: token.client.id, account: token.client.account, affiliation: token.client.affiliation, roles: token.client.roles, scopes: token.scopes,
      expires: new Date(token.expires).toISOString(),
    };
  }

  static require(caller, scope, role) {
    const authorities = NODE === 'loopback-ybbs' ? [...caller.roles, ...caller.scopes] : caller.roles;
    const scoped = caller.scopes.includes(scope) || (NODE === 'loopback-ybbs' && authorities.includes(ROLE));
    if (!scoped || (role && !authorities.includes(role))) {
      throw new Fault(403, 'forbidden', scoped ? `The account lacks the role ${role}.` : `The token lacks the scope ${scope}.`,
        {headers: {'WWW-Authenticate': `Bearer realm="thw", error="insufficient_scope", scope="${scope}"`}});
    }
  }
}

module.exports = {AuthServer, OAuthError, NODE, ROLE};
