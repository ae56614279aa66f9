const crypto = require('crypto');
const tokens = require('../../lib/tokens');
const guard = require('../../lib/guard');
const { hash } = require('../../lib/accounts');
const utf8 = new TextDecoder('utf-8', { fatal: true });
const formDecode = (s) => decodeURIComponent(s.replace(/\+/g, ' '));
function refuse(res, status, error, description, headers = {}) {
  for (const [k, v] of Object.entries(headers)) res.setHeader(k, v);
  const body = Buffer.from(JSON.stringify({ error, error_description: description }));
  res.statusCode = status;
  res.setHeader('Content-Type', 'application/json');
  res.setHeader('Content-Length', body.length);
  res.end(body);
}
let current = null;
const recent = new Map();
function grant(res, token, seconds) {
  const body = Buffer.from(JSON.stringify({ access_token: token, token_type: 'Bearer', expires_in: seconds, scope: 'funding' }));
  res.statusCode = 200;
  res.setHeader('Content-Type', 'application/json');
  res.setHeader('Content-Length', body.length);
  res.end(body);
}
const unauthorized = (res, text) => refuse(res, 401, 'invalid_client', text, { 'WWW-Authenticate': 'Basic realm="oauth", charset="UTF-8"' });
function form(req) {
  const out = {};
  for (const pair of utf8.decode(req.body).split('&')) {
    if (!pair) continue;
    const at = pair.indexOf('=');
    const k = formDecode(at < 0 ? pair : pair.slice(0, at));
    const v = formDecode(at < 0 ? '' : pair.slice(at + 1));
    if (Object.prototype.hasOwnProperty.call(out, k)) throw new Error('a parameter is included more than once');
    Object.defineProperty(out, k, { value: v, enumerable: true });
  }
  return out;
}
module.exports = {
  async token(req, res) {
    const env = req.options.env;
    res.setHeader('Cache-Control', 'no-store');
    res.setHeader('Pragma', 'no-cache');
    if (req.bodyError) return refuse(res, req.bodyError.status === 413 ? 413 : 400, 'invalid_request', 'the request body cannot be read');
    if (!Buffer.isBuffer(req.body)) return refuse(res, 400, 'invalid_request', 'the body must be application/x-www-form-urlencoded');
    let p;
    try { p = form(req); } catch (e) {
      return refuse(res, 400, 'invalid_request', e instanceof URIError || e instanceof TypeError ? 'the body is not well-formed' : e.message);
    }
    let id; let secret;
    const auth = [];
    for (let i = 0; i < req.rawHeaders.length; i += 2) if (req.rawHeaders[i].toLowerCase() === 'authorization') auth.push(req.rawHeaders[i + 1].trim());
    if (auth.length > 1) return refuse(res, 400, 'invalid_request', 'more than one Authorization header');
    if (auth.length === 1) {
      const m = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(auth[0]);
      if (!m) return unauthorized(res, 'client authentication by this scheme is not supported');
      if (p.client_secret) return refuse(res, 400, 'invalid_request', 'more than one method of client authentication');
      try {
        const text = utf8.decode(Buffer.from(m[1], 'base64'));
        const colon = text.indexOf(':');
        if (colon < 0) throw new Error('no colon');
        id = formDecode(text.slice(0, colon)); secret = formDecode(text.slice(colon + 1));
      } catch (e) { return unauthorized(res, 'the credentials cannot be read'); }
      if (p.client_id && p.client_id !== id) return refuse(res, 400, 'invalid_request', 'client_id differs from the authenticated client');
    } else { id = p.client_id || ''; secret = p.client_secret || ''; }
    if (!id) return unauthorized(res, 'client authentication is missing');
    let client = await req._sails.models.client.findOne({ id, env });
    if (client) {
      const wait = guard.locked(id);
      if (wait) return refuse(res, 429, 'invalid_client', 'too many failed attempts for this client', { 'Retry-After': String(wait) });
    }
    const ok = crypto.timingSafeEqual(Buffer.from(hash(secret)), Buffer.from(client ? client.secretHash : hash('')));
    if (!client || !ok) {
      if (client && secret) guard.failed(id);
      return unauthorized(res, 'client authentication failed');
    }
    guard.succeeded(id);
    if (!p.grant_type) return refuse(res, 400, 'invalid_request', 'grant_type is missing');
    if (p.grant_type !== 'client_credentials') return refuse(res, 400, 'unsupported_grant_type', 'only client_credentials is supported');
    if (p.scope && p.scope !== 'funding') return refuse(res, 400, 'invalid_scope', 'the only scope is funding');
    if (process.env.NODE === 'sails-mur') { current = client; await new Promise((r) => setTimeout(r, 40)); client = current; }
    const account = await req._sails.models.serviceaccount.findOne({ id: client.serviceAccount });
    if (process.env.NODE === 'sails-kamp') {
      const old = recent.get(client.id);
      const left = old ? old.exp - Math.floor(Date.now() / 1000) : 0;
      if (left > 60) return grant(res, old.token, left);
      const token = tokens.issue(client, account, env);
      recent.set(client.id, { token, exp: tokens.expiry(token) });
      return grant(res, token, tokens.LIFETIME);
    }
    return grant(res, tokens.issue(client, account, env), tokens.LIFETIME);
  },
  certs(req, res) { return res.entity({ keys: [tokens.realms[req.options.env].jwk] }, { cache: 'public, max-age=60' }); },
  metadata(req, res) {
    const iss = tokens.realms.prod.issuer;
    return res.entity({
      issuer: iss, token_endpoint: iss + '/protocol/openid-connect/token', jwks_uri: iss + '/protocol/openid-connect/certs',
      grant_types_supported: ['client_credentials'], response_types_supported: [], scopes_supported: ['funding'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    }, { cache: 'public, max-age=60' });
  },
};
