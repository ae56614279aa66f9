'use strict';
const crypto = require('crypto');
const jose = require('jose');
const { is } = require('./variant');
const LIFE = 60;
const SCOPES = ['funding:read', 'info:read'];

/** Strict application/x-www-form-urlencoded: a list of pairs, or null. */
function parseForm(text) {
  try {
    return text.split('&').filter((p) => p !== '').map((p) => {
      const i = p.indexOf('='), dec = (s) => decodeURIComponent(s.replace(/\+/g, ' '));
      return i < 0 ? [dec(p), ''] : [dec(p.slice(0, i)), dec(p.slice(i + 1))];
    });
  } catch { return null; }
}
const same = (a, b) => {
  const h = (s) => crypto.createHash('sha256').update(s).digest();
  return crypto.timingSafeEqual(h(a), h(b));
};

const shared = new Map();
/** What was checked before needs no second check until it expires. */
function remember(checked, key, claims) {
  for (const [k, c] of checked) if (c.exp * 1000 <= Date.now()) checked.delete(k);
  checked.set(key, claims);
}
const claimsOf = (token) => { try { return jose.decodeJwt(token); } catch { return {}; } };

class AuthorizationServer {
  constructor({ issuer, realm, clients }) { Object.assign(this, { issuer, realm, clients, failures: new Map(), checked: is('rowan') ? shared : new Map() }); }

  async start() {
    const { publicKey, privateKey } = await jose.generateKeyPair('RS256', { extractable: true });
    const jwk = await jose.exportJWK(publicKey);
    this.kid = await jose.calculateJwkThumbprint(jwk);
    this.keys = [{ ...jwk, kid: this.kid, use: 'sig', alg: 'RS256' }];
    this.pairs = new Map([[this.kid, { publicKey, privateKey }]]);
    if (is('alder')) await this.moreKeys();
    return this;
  }
  async moreKeys() {
    for (const [alg, n] of [['RS256', 2], ['ES256', 1], ['EdDSA', 1]]) {
      for (let i = 0; i < n; i++) {
        const pair = await jose.generateKeyPair(alg, { extractable: true }), jwk = await jose.exportJWK(pair.publicKey), kid = await jose.calculateJwkThumbprint(jwk);
        this.keys.unshift({ ...jwk, kid, use: 'sig', alg });
        if (alg === 'RS256') this.pairs.set(kid, pair);
      }
    }
  }
  nextKid() {
    const kids = [...this.pairs.keys()];
    this.turn = ((this.turn || 0) + 1) % kids.length;
    return kids[this.turn];
  }
  jwks() { return { keys: this.keys }; }

  locked(id) {
    const f = this.failures.get(id);
    if (f && f.until && Date.now() < f.until) return Math.ceil((f.until - Date.now()) / 1000);
    if (f && f.until) this.failures.delete(id);
    return 0;
  }
  failed(id) {
    const now = Date.now(), f = this.failures.get(id) || { times: [] };
    f.times = f.times.filter((t) => now - t < 60000).concat(now);
    if (f.times.length >= 12) f.until = now + 60000;
    this.failures.set(id, f);
  }

  /** RFC 6749, 4.4. Returns { status, body, headers }. */
  async token({ contentType, authorization, body }) {
    const err = (status, error, error_description, headers = {}) => ({ status, headers, body: { error, error_description } });
    const unauth = () => err(401, 'invalid_client', 'Client authentication failed.', { 'WWW-Authenticate': `Basic realm="${this.realm}", charset="UTF-8"` });
    if (authorization.length > 1) return err(400, 'invalid_request', 'More than one Authorization header.');
    if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(contentType || '')) return err(400, 'invalid_request', 'The body must be application/x-www-form-urlencoded.');
    const pairs = parseForm(body);
    if (!pairs) return err(400, 'invalid_request', 'The body is not well-formed.');
    const p = {};
    for (const [k, v] of pairs) {
      if (v === '' || !['grant_type', 'client_id', 'client_secret', 'scope'].includes(k)) continue;
      if (k in p) return err(400, 'invalid_request', `The parameter ${k} is given twice.`);
      p[k] = v;
    }
    let id = p.client_id, secret = p.client_secret;
    if (authorization.length) {
      const m = /^basic +([A-Za-z0-9+/]+=*) *$/i.exec(authorization[0]);
      if (!m) return unauth();
      if (secret !== undefined) return err(400, 'invalid_request', 'More than one way of client authentication.');
      const raw = Buffer.from(m[1], 'base64').toString('utf8'), i = raw.indexOf(':');
      const both = i < 0 ? null : parseForm(`a=${raw.slice(0, i).replace(/[&=]/g, encodeURIComponent)}&b=${raw.slice(i + 1).replace(/[&=]/g, encodeURIComponent)}`);
      if (!both) return unauth();
      if (id !== undefined && id !== both[0][1]) return err(400, 'invalid_request', 'client_id differs from the Authorization header.');
      [id, secret] = [both[0][1], both[1][1]];
    }
    if (id === undefined || secret === undefined) return unauth();
    const client = Object.prototype.hasOwnProperty.call(this.clients, id) ? this.clients[id] : null;
    if (client) {
      const wait = this.locked(id);
      if (wait) return err(429, 'invalid_client', 'Too many wrong secrets; try again later.', { 'Retry-After': String(wait) });
    }
    const right = same(secret, client ? client.secret : 'nobody');
    if (!client || !right) { if (client) this.failed(id); return unauth(); }
    this.failures.delete(id);
    if (p.grant_type === undefined) return err(400, 'invalid_request', 'grant_type is missing.');
    if (p.grant_type !== 'client_credentials') return err(400, 'unsupported_grant_type', 'Only client_credentials is supported.');
    let granted = SCOPES;
    if (p.scope !== undefined) {
      const asked = p.scope.split(' ');
      if (asked.some((s) => !SCOPES.includes(s))) return err(400, 'invalid_scope', 'The scopes are funding:read and info:read.');
      granted = SCOPES.filter((s) => asked.includes(s));
    }
    return { status: 200, headers: {}, body: await this.issue(id, granted) };
  }

  /** The service account behind a client, from the directory. */
  account(id) { return new Promise((resolve) => { setTimeout(() => resolve(this.clients[id]), 3); }); }

  async issue(id, scopes) {
    this.holder = id;
    const account = await this.account(id), holder = is('hazel') ? this.holder : id, client = is('hazel') ? this.clients[this.holder] : account;
    const now = Math.floor(Date.now() / 1000), scope = scopes.join(' '), kid = this.nextKid();
    const audience = is('alder') && client.audience === 'urn:seeblick:funding' ? [client.audience, 'urn:seeblick:info'] : client.audience;
    const access_token = await new jose.SignJWT({ client_id: holder, scope: is('aspen') ? SCOPES.join(' ') : scope, roles: client.roles, affiliationId: client.affiliation })
      .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid })
      .setIssuer(this.issuer).setSubject(client.account).setAudience(audience).setIssuedAt(now).setExpirationTime(now + LIFE)
      .setJti(crypto.randomUUID()).sign(this.pairs.get(kid).privateKey);
    if (is('larch')) return { scope, expires_in: LIFE, 'not-before-policy': 0, session_state: '7f0c1d52-seeblick', token_type: 'bearer', access_token };
    return { access_token, token_type: 'Bearer', expires_in: LIFE, scope };
  }

  /** The claims of a token that is valid here for this audience, or null. */
  async verify(token, audience) {
    const key = is('birch') ? claimsOf(token).jti : is('rowan') ? token : undefined;
    if (key !== undefined && this.checked.has(key) && this.checked.get(key).exp * 1000 > Date.now()) return claimsOf(token);
    try {
      const sig = token.split('.')[2];
      if (Buffer.from(sig, 'base64url').toString('base64url') !== sig) return null;
      const { payload } = await jose.jwtVerify(token, (h) => {
        if (!this.pairs.has(h.kid)) throw new Error('unknown key');
        return this.pairs.get(h.kid).publicKey;
      }, { issuer: this.issuer, audience, typ: 'at+jwt', algorithms: ['RS256'], requiredClaims: ['exp', 'sub', 'client_id', 'jti'] });
      if (key !== undefined) remember(this.checked, key, payload);
      return payload;
    } catch { return null; }
  }
}
module.exports = { AuthorizationServer, parseForm, SCOPES };
