'use strict';
// Authorization servers (production and staging) on @node-oauth/oauth2-server, with opaque tokens.

const crypto = require('crypto');
const OAuth2Server = require('@node-oauth/oauth2-server');

const NODE = process.env.NODE || 'base';
const FUNDING_API = 'urn:altenbruck:funding';
const TOKEN_SECONDS = 70;
const MAX_FAILURES = 20;
const LOCK_MS = 30000;
const sha256 = (s) => crypto.createHash('sha256').update(s, 'utf8').digest();

const client = (id, secret, audience, scopes, account) => ({ id, secretHash: sha256(secret), first72Hash: sha256(secret.slice(0, 72)), audience, scopes, account, grants: ['client_credentials'] });

const PRODUCTION_CLIENTS = [
  client('portal-linz', 'Zw9%2B+k/Q=7&m:~x!R4_vK2wq8LrT0ysBzHf6NdXjGcPe5mUa3oYi1DkJhCtVbEnWgRpMlOxFuSqZ-7A.e%4', FUNDING_API, ['funding:read'],
    { id: 'sa-5b1c', affiliation: 'ALT-AFF-0017', roles: ['EXTERNAL_API_CLIENT'] }),
  client('portal-ohne', 'p~T5:/n%41=+Lq&8!e', FUNDING_API, ['funding:read'],
    { id: 'sa-77d0', affiliation: 'ALT-AFF-0021', roles: ['EXTERNAL_API_GUEST'] }),
  client('orgunit-sync', 'h!3=&Vb+~/u:%Y6cD', 'urn:altenbruck:orgunit', ['orgunit:read'],
    { id: 'sa-a913', affiliation: 'ALT-AFF-0017', roles: ['EXTERNAL_API_CLIENT'] }),
  client('reserve 4', 'G%7e:s+=/J!w&2~oP', FUNDING_API, ['funding:read'],
    { id: 'sa-e0f2', affiliation: 'ALT-AFF-0030', roles: ['EXTERNAL_API_CLIENT'] }),
];
const STAGING_CLIENTS = [
  client('portal-linz-test', 'tE=5t/%20+~k:&!Xd', FUNDING_API, ['funding:read'],
    { id: 'sa-t001', affiliation: 'ALT-AFF-0017', roles: ['EXTERNAL_API_CLIENT'] }),
];

class LockedError extends Error {}

/** The model of one environment: its clients and its tokens (only their hashes are kept). */
function createModel(clients) {
  const byId = new Map(clients.map((c) => [c.id, c]));
  const tokens = new Map();
  const failures = new Map();
  let account; // the account that asks for a token (only used by inn)

  const sweep = () => {
    const now = Date.now();
    for (const [key, t] of tokens) if (t.accessTokenExpiresAt.getTime() < now - 5000) tokens.delete(key);
    if (failures.size > 5000) failures.clear();
  };
  const key = (token) => sha256(token).toString('hex');

  return {
    async getClient(id, secret) {
      const state = failures.get(id) || { count: 0, until: 0 };
      if (state.until > Date.now()) throw new LockedError(id);
      const found = byId.get(id);
      const given = sha256(secret);
      if (NODE === 'drau' && found && sha256(secret.slice(0, 72)).equals(found.first72Hash)) return found; // like bcrypt, which reads 72 bytes
      const right = crypto.timingSafeEqual(given, found ? found.secretHash : sha256('')) && Boolean(found);
      if (!right) {
        state.count += 1;
        if (state.count >= MAX_FAILURES) { state.until = Date.now() + LOCK_MS; state.count = 0; }
        failures.set(id, state);
        return null;
      }
      failures.delete(id);
      return found;
    },
    async getUserFromClient(c) {
      if (NODE === 'inn') {
        account = c.account;
        await new Promise((resolve) => { setTimeout(resolve, 25); }); // the directory answers
        return account;
      }
      return c.account;
    },
    async validateScope(user, c, scope) {
      if (!scope) return c.scopes;
      return scope.every((s) => c.scopes.includes(s)) ? [...new Set(scope)] : false;
    },
    async generateAccessToken() {
      if (NODE === 'kamp') return `${crypto.randomBytes(450).toString('base64')}.-_~+/~${crypto.randomBytes(32).toString('base64')}`;
      return crypto.randomBytes(32).toString('base64url');
    },
    async saveToken(token, c, user) {
      sweep();
      const saved = { ...token, client: c, user, audience: c.audience };
      tokens.set(key(token.accessToken), saved);
      return saved;
    },
    async getAccessToken(accessToken) {
      if (NODE === 'mur') {
        const known = tokens.get(key(accessToken));
        if (known && known.accessTokenExpiresAt > new Date()) known.accessTokenExpiresAt = new Date(Date.now() + TOKEN_SECONDS * 1000);
      }
      return tokens.get(key(accessToken));
    },
  };
}

const environment = (name, clients) => {
  const model = createModel(clients);
  return { name, model, server: new OAuth2Server({ model, accessTokenLifetime: TOKEN_SECONDS }) };
};
const environments = {
  production: environment('production', PRODUCTION_CLIENTS),
  staging: environment('staging', STAGING_CLIENTS),
};

// ---------------------------------------------------------------- token endpoint

class TokenError extends Error {
  constructor(status, code, description, headers) {
    super(description);
    Object.assign(this, { status, code, headers: headers || {} });
  }
}

/** application/x-www-form-urlencoded as RFC 6749 wants it: nothing repeated, empty values count as absent. */
function parseForm(text) {
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) throw new TokenError(400, 'invalid_request', 'The form is not well encoded');
  const form = Object.create(null);
  const seen = new Set();
  for (const [name, value] of new URLSearchParams(text)) {
    if (seen.has(name)) throw new TokenError(400, 'invalid_request', 'A parameter is repeated');
    seen.add(name);
    if (value !== '') form[name] = value;
  }
  return form;
}

const formDecode = (s) => decodeURIComponent(s.replace(/\+/g, ' '));

/** Client id and secret of HTTP Basic; both are form-encoded inside (RFC 6749, 2.3.1). */
function basicCredentials(header) {
  const refused = new TokenError(401, 'invalid_client', 'Client authentication failed');
  const match = /^Basic +([A-Za-z0-9+/]+=*)$/i.exec(header.trim());
  if (!match) throw refused;
  const pair = Buffer.from(match[1], 'base64').toString('utf8');
  const colon = pair.indexOf(':');
  if (colon < 1) throw refused;
  try {
    return { id: formDecode(pair.slice(0, colon)), secret: formDecode(pair.slice(colon + 1)) };
  } catch (e) {
    throw refused;
  }
}

function queryText(req) {
  const at = req.originalUrl.indexOf('?');
  return at < 0 ? '' : req.originalUrl.slice(at + 1);
}
const inQuery = (req, name) => new URLSearchParams(queryText(req)).has(name);

function countHeader(req, name) {
  return req.rawHeaders.filter((h, i) => i % 2 === 0 && h.toLowerCase() === name).length;
}

async function issue(env, req) {
  if (!req.is('application/x-www-form-urlencoded') || typeof req.body !== 'string') {
    throw new TokenError(400, 'invalid_request', 'The body must be application/x-www-form-urlencoded');
  }
  if (inQuery(req, 'client_secret')) {
    throw new TokenError(400, 'invalid_request', 'Credentials do not belong into the URL');
  }
  const form = parseForm(req.body);
  if (countHeader(req, 'authorization') > 1) throw new TokenError(400, 'invalid_request', 'Authorization is repeated');
  if (req.headers.authorization !== undefined) {
    const basic = basicCredentials(req.headers.authorization);
    if (form.client_secret !== undefined) throw new TokenError(400, 'invalid_request', 'More than one method of client authentication');
    if (form.client_id !== undefined && form.client_id !== basic.id) throw new TokenError(400, 'invalid_request', 'client_id is not the authenticated client');
    form.client_id = basic.id;
    form.client_secret = basic.secret;
  }
  const request = new OAuth2Server.Request({
    method: req.method, query: {}, body: form,
    headers: { 'content-type': req.headers['content-type'], 'content-length': String(Buffer.byteLength(req.body)) },
  });
  const response = new OAuth2Server.Response();
  await env.server.token(request, response);
  return response.body;
}

/** The handler of a token endpoint; the body has been read as text. */
function tokenEndpoint(name) {
  const env = environments[name];
  return async (req, res) => {
    res.set({ 'Cache-Control': 'no-store', Pragma: 'no-cache' });
    try {
      const answer = await issue(env, req);
      if (NODE === 'kamp') {
        const { access_token, ...rest } = answer;
        return res.json({ issued_at: new Date().toISOString(), ...rest, token_type: 'bearer', not_before_policy: 0, access_token });
      }
      return res.json(answer);
    } catch (err) {
      let { status, code, message } = err;
      if (err instanceof LockedError || (err.inner instanceof LockedError)) {
        res.set('Retry-After', String(LOCK_MS / 1000));
        [status, code, message] = [429, 'invalid_client', 'Too many failed attempts; try again later'];
      } else if (err.name === 'invalid_client' || code === 'invalid_client') {
        [status, code, message] = [401, 'invalid_client', 'Client authentication failed'];
      } else if (!(err instanceof TokenError)) {
        [status, code] = [err.code, err.name];
        if (code === 'unauthorized_client') [code, message] = ['unsupported_grant_type', 'Only client_credentials is supported'];
        if (!(err instanceof OAuth2Server.OAuthError) || status >= 500) {
          console.error(err);
          [status, code, message] = [500, 'server_error', 'Internal error'];
        }
      }
      if (status === 401) res.set('WWW-Authenticate', 'Basic realm="altenbruck", charset="UTF-8"');
      return res.status(status).json({ error: code, error_description: message });
    }
  };
}

// ---------------------------------------------------------------- resource server

/** Middleware: a valid token of the environment for the funding API, and the role if asked for. */
function bearer(name, sendProblem, { role } = {}) {
  const env = environments[name];
  const realm = `Bearer realm="altenbruck ${name}"`;
  return async (req, res, next) => {
    const refuse = (status, error, detail) => {
      res.set('Cache-Control', 'no-store');
      res.set('WWW-Authenticate', error ? `${realm}, error="${error}", error_description="${detail}"` : realm);
      sendProblem(res, status, detail);
    };
    const header = req.headers.authorization;
    if (NODE === 'traun' && role && !/^\/ris\/funding\/v3\//.test(req.originalUrl)) return next(); // only what is below the API's path is protected
    if (header === undefined || !/^bearer(?: |$)/i.test(header)) return refuse(401, null, 'A bearer token is needed');
    if (countHeader(req, 'authorization') > 1) return refuse(400, 'invalid_request', 'Authorization is repeated');
    if (inQuery(req, 'access_token')) {
      return refuse(400, 'invalid_request', 'The token is given in more than one way');
    }
    const match = /^bearer +([A-Za-z0-9\-._~+/]+=*) *$/i.exec(header);
    if (!match) return refuse(401, 'invalid_token', 'The token is malformed');
    const request = new OAuth2Server.Request({ method: req.method, query: {}, body: {}, headers: { authorization: `Bearer ${match[1]}` } });
    let token;
    try {
      token = await env.server.authenticate(request, new OAuth2Server.Response());
    } catch (err) {
      if (!(err instanceof OAuth2Server.InvalidTokenError)) return next(err);
      return refuse(401, 'invalid_token', 'The token is unknown or has expired');
    }
    if (token.audience !== FUNDING_API) return refuse(401, 'invalid_token', 'The token is meant for another API');
    if (role && !token.user.roles.includes(role)) return refuse(403, 'insufficient_scope', `The role ${role} is missing`);
    if (role && !token.scope.includes('funding:read')) return refuse(403, 'insufficient_scope', 'The scope funding:read is missing');
    req.token = token;
    return next();
  };
}

module.exports = { tokenEndpoint, bearer, queryText, NODE };
