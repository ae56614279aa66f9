'use strict';
const crypto = require('crypto');
const { promisify } = require('util');
const jose = require('jose');
const { OAuthError, Problem } = require('./problems');
const { is } = require('./variant');

const LIFETIME = 75;
const SCOPE = 'funding.read';

/** One authorization server: its clients, its key, its issuer. */
class AuthorizationServer {
  constructor({ issuer, clients, realm }) {
    this.issuer = issuer;
    this.clients = clients;
    this.realm = realm;
    this.failures = new Map();
    this.kept = new Map();
  }

  async start() {
    const { publicKey, privateKey } = await promisify(crypto.generateKeyPair)('rsa', { modulusLength: 2048 });
    this.publicKey = publicKey;
    this.privateKey = privateKey;
    const jwk = await jose.exportJWK(publicKey);
    this.kid = await jose.calculateJwkThumbprint(jwk);
    this.jwks = { keys: [{ ...jwk, kid: this.kid, use: 'sig', alg: 'RS256' }] };
  }

  /** RFC 6749, 4.4: the answer to a token request. */
  async grant(req) {
    const form = parseForm(req);
    const client = this.authenticate(req, form);
    if (!form.has('grant_type')) throw new OAuthError(400, 'invalid_request', 'grant_type is missing');
    if (form.get('grant_type') !== 'client_credentials') {
      throw new OAuthError(400, 'unsupported_grant_type', 'only client_credentials is offered');
    }
    const scope = (form.get('scope') || SCOPE).split(' ');
    if (scope.some((s) => s !== SCOPE)) throw new OAuthError(400, 'invalid_scope', `the only scope is ${SCOPE}`);
    const now = Math.floor(Date.now() / 1000);
    if (is('rc-salzach')) {
      const kept = this.kept.get(client.id);
      if (kept && kept.until - now > 25) return { access_token: kept.token, token_type: 'Bearer', expires_in: kept.until - now, scope: SCOPE };
    }
    const token = await new jose.SignJWT({
      client_id: client.id,
      scope: SCOPE,
      realm_access: { roles: client.roles },
      affiliation_id: client.affiliation,
    })
      .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid: this.kid })
      .setIssuer(this.issuer).setSubject(client.user).setAudience(client.audience)
      .setIssuedAt(now).setExpirationTime(now + LIFETIME).setJti(crypto.randomUUID())
      .sign(this.privateKey);
    this.kept.set(client.id, { token, until: now + LIFETIME });
    return { access_token: token, token_type: 'Bearer', expires_in: LIFETIME, scope: SCOPE };
  }

  authenticate(req, form) {
    const headers = authorizationHeaders(req);
    const challenge = { 'WWW-Authenticate': `Basic realm="${this.realm}", charset="UTF-8"` };
    const refuse = () => new OAuthError(401, 'invalid_client', 'client authentication failed', challenge);
    let id; let secret;
    if (headers.length > 1) throw new OAuthError(400, 'invalid_request', 'more than one Authorization field');
    if (headers.length === 1) {
      const m = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(headers[0]);
      if (!m) throw refuse();
      const pair = Buffer.from(m[1], 'base64').toString('utf8');
      const colon = pair.indexOf(':');
      if (colon < 0) throw refuse();
      id = formDecode(pair.slice(0, colon));
      secret = formDecode(pair.slice(colon + 1));
      if (id === undefined || secret === undefined) throw refuse();
      if (form.has('client_secret')) {
        throw new OAuthError(400, 'invalid_request', 'more than one way of client authentication');
      }
      if (form.has('client_id') && form.get('client_id') !== id) {
        throw new OAuthError(400, 'invalid_request', 'client_id differs from the Authorization field');
      }
    } else {
      id = form.get('client_id');
      secret = form.get('client_secret');
      if (id === undefined || secret === undefined) throw refuse();
    }
    const counted = is('rc-thaya') ? req.socket.remoteAddress : id;
    this.checkLock(counted);
    const client = this.clients.get(id);
    if (!same(secret, client ? client.secret : crypto.randomUUID())) {
      this.countFailure(counted);
      throw refuse();
    }
    this.failures.delete(counted);
    return client;
  }

  checkLock(id) {
    const f = this.failures.get(id);
    if (f && f.lockedUntil > Date.now()) {
      throw new OAuthError(429, 'temporarily_unavailable', 'too many wrong secrets for this client',
        { 'Retry-After': String(Math.ceil((f.lockedUntil - Date.now()) / 1000)) });
    }
  }

  /** 20 wrong secrets in a row within a minute lock the client for 30 seconds */
  countFailure(id) {
    const now = Date.now();
    let f = this.failures.get(id);
    if (!f || f.lockedUntil) {
      if (this.failures.size > 1000) this.failures.delete(this.failures.keys().next().value);
      f = { times: [], lockedUntil: 0 };
      this.failures.set(id, f);
    }
    f.times = [...f.times, now].filter((t) => now - t <= 60000);
    if (f.times.length >= 20) f.lockedUntil = now + 30000;
  }

  /** RFC 9068, 4: what the resource server makes of a bearer token. */
  async verify(req, audience) {
    const headers = authorizationHeaders(req);
    const bearer = (error, description) => ({
      'WWW-Authenticate': `Bearer realm="${this.realm}"` + (error ? `, error="${error}", error_description="${description}"` : ''),
    });
    if (headers.length > 1) {
      throw new Problem(400, 'more than one Authorization field', { headers: bearer('invalid_request', 'more than one Authorization field') });
    }
    const m = headers.length && /^Bearer(?: +(.*))?$/i.exec(headers[0]);
    if (!m) throw new Problem(401, 'an access token is needed', { headers: bearer() });
    try {
      const { payload } = await jose.jwtVerify(m[1] || '', (header, token) => (is('rc-enns') && header.jwk ? jose.EmbeddedJWK(header, token) : this.publicKey), {
        algorithms: ['RS256'],
        issuer: this.issuer,
        audience,
        typ: 'at+jwt',
        clockTolerance: 0,
        requiredClaims: ['exp', 'iat', 'sub', 'client_id', 'jti'],
      });
      return {
        client: payload.client_id,
        user: payload.sub,
        roles: payload.realm_access.roles,
        affiliation: payload.affiliation_id,
        expires: payload.exp,
        forbidden: bearer('insufficient_scope', 'the role EXTERNAL_API_CLIENT is needed'),
      };
    } catch (e) {
      if (!(e instanceof jose.errors.JOSEError) && !(e instanceof TypeError)) throw e;
      throw new Problem(401, 'the access token is not valid or has expired', { headers: bearer('invalid_token', 'not valid or expired') });
    }
  }
}

const isForm = (req) => (req.headers['content-type'] || '').split(';')[0].trim().toLowerCase() === 'application/x-www-form-urlencoded';

function authorizationHeaders(req) {
  const out = [];
  for (let i = 0; i < req.rawHeaders.length; i += 2) {
    if (req.rawHeaders[i].toLowerCase() === 'authorization') out.push(req.rawHeaders[i + 1].trim());
  }
  return out;
}

function formDecode(s) {
  try { return decodeURIComponent(s.replace(/\+/g, ' ')); } catch { return undefined; }
}

/** application/x-www-form-urlencoded; no value means not sent (RFC 6749, 3.2) */
function parseForm(req) {
  if (typeof req.body !== 'string') {
    if (isForm(req) || req.headers['content-type'] === undefined) return new Map();
    throw new OAuthError(400, 'invalid_request', 'the body must be application/x-www-form-urlencoded');
  }
  const form = new Map();
  for (const piece of req.body.split('&')) {
    if (piece === '') continue;
    const eq = piece.indexOf('=');
    const name = formDecode(eq < 0 ? piece : piece.slice(0, eq));
    const value = eq < 0 ? '' : formDecode(piece.slice(eq + 1));
    if (name === undefined || value === undefined) throw new OAuthError(400, 'invalid_request', 'the body is not well encoded');
    if (form.has(name)) throw new OAuthError(400, 'invalid_request', 'a parameter is sent twice');
    form.set(name, value);
  }
  for (const [k, v] of form) if (v === '') form.delete(k);
  return form;
}

function same(a, b) {
  const h = (s) => crypto.createHash('sha256').update(s, 'utf8').digest();
  return crypto.timingSafeEqual(h(a), h(b));
}

module.exports = { isForm, AuthorizationServer, LIFETIME, SCOPE };
