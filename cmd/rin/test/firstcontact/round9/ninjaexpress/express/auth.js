'use strict';
// Authorization servers (oidc-provider) and the check of their JWTs (jose).
const { generateKeyPairSync } = require('node:crypto');
const { pathToFileURL } = require('node:url');
const express = require('express');

const load = (name) => import(pathToFileURL(require.resolve(name)).href); // packages that are ES modules

function newKeys(mode) {
  const jwk = (type, options, extra) => ({
    ...generateKeyPairSync(type, options).privateKey.export({ format: 'jwk' }), use: 'sig', ...extra,
  });
  const year = '2026';
  return [
    mode === 'eddsa' ? jwk('ed25519', {}, { kid: `${year}-ed`, alg: 'EdDSA' })
      : jwk('ec', { namedCurve: 'P-256' }, { kid: `${year}-ec`, alg: 'ES256' }),
    jwk('rsa', { modulusLength: 2048 }, { kid: `${year}-rsa`, alg: 'RS256' }),
  ];
}

const publicPart = ({ d, p, q, dp, dq, qi, ...rest }) => rest;

/** One authorization server: an Express router to be mounted at the issuer's path. */
async function authorizationServer({ origin, path, tokenPath, clients, mode }) {
  const { default: Provider } = await load('oidc-provider');
  const issuer = origin + path;
  const keys = newKeys(mode);
  const alg = keys[0].alg;
  const byId = new Map(clients.map((client) => [client.id, client]));
  const provider = new Provider(issuer, {
    clients: clients.map((client) => ({
      client_id: client.id, client_secret: client.secret, grant_types: ['client_credentials'], redirect_uris: [],
      response_types: [], token_endpoint_auth_method: 'client_secret_basic', scope: 'funding',
    })),
    jwks: { keys },
    ttl: { ClientCredentials: 600 },
    scopes: ['funding'],
    routes: { token: tokenPath, jwks: '/jwks' },
    cookies: { keys: [Buffer.from(JSON.stringify(keys)).toString('base64url').slice(0, 60)] },
    enabledJWA: { idTokenSigningAlgValues: ['RS256', alg] },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: (ctx, client) => {
          ctx.oidc.params.scope ??= 'funding'; // the default scope, RFC 6749 section 3.3
          return byId.get(client.clientId).audience;
        },
        getResourceServerInfo: (ctx, resource, client) => {
          const { audience } = byId.get(client.clientId);
          const asked = (ctx.oidc.params.scope ?? '').split(' ').filter(Boolean);
          if (asked.some((scope) => scope !== 'funding')) throw new InvalidScope('the only scope is funding', asked.join(' '));
          if (resource !== audience) throw new InvalidTarget();
          return { scope: 'funding', audience, accessTokenFormat: 'jwt', accessTokenTTL: 600, jwt: { sign: { alg } } };
        },
      },
    },
    extraTokenClaims: (ctx, token) => {
      const client = byId.get(token.clientId);
      return { roles: client.roles, affiliation_id: client.affiliation };
    },
    formats: {
      customizers: {
        jwt: (ctx, token, parts) => {
          if (mode === 'eddsa') parts.payload.aud = ['urn:ris:nord:reports', parts.payload.aud];
        },
      },
    },
  });
  const { errors: { InvalidScope, InvalidTarget } } = await load('oidc-provider');

  const router = express.Router({ strict: true });
  const failures = [];
  router.all(tokenPath, (req, res, next) => {
    res.set({ 'Cache-Control': 'no-store', Pragma: 'no-cache' });
    if (req.method !== 'POST') {
      return res.status(405).set('Allow', 'POST').json({ error: 'invalid_request', error_description: 'use POST' });
    }
    if ('client_secret' in req.query || 'client_id' in req.query) {
      return res.status(400).json({ error: 'invalid_request', error_description: 'credentials do not belong in the URI' });
    }
    // Brute force: at most 100 failed authentications a minute.
    while (failures.length && failures[0] < Date.now() - 60000) failures.shift();
    if (failures.length >= 100) {
      return res.status(429).set('Retry-After', '30').json({ error: 'invalid_client', error_description: 'too many failures' });
    }
    res.on('finish', () => { if (res.statusCode === 401) failures.push(Date.now()); });
    return next();
  });
  if (mode === 'token-memo') router.post(tokenPath, express.urlencoded({ extended: false }), memo());
  if (mode === 'key-export') {
    router.get('/jwks', (req, res) => res.json({ keys: [publicPart(keys[0]), keys[1]] }));
  }
  const served = new Set([tokenPath, '/jwks']);
  const callback = provider.callback();
  router.use((req, res, next) => (served.has(req.path) ? callback(req, res) : next()));
  return {
    router,
    issuer,
    algs: [...new Set([alg, 'RS256'])],
    keys: keys.map(publicPart),
    metadata: {
      issuer,
      token_endpoint: issuer + tokenPath,
      jwks_uri: `${issuer}/jwks`,
      response_types_supported: [],
      grant_types_supported: ['client_credentials'],
      scopes_supported: ['funding'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    },
  };
}

/** Spares the provider work: the same request within 30 s is answered from memory. */
function memo() {
  const recent = new Map();
  return (req, res, next) => {
    const body = req.body;
    if (!body || typeof body.client_id !== 'string' || !body.client_secret || req.headers.authorization) return next();
    const { client_secret: _, ...rest } = body;
    const key = JSON.stringify(rest);
    const hit = recent.get(key);
    if (hit && hit.at > Date.now() - 30000) {
      const age = Math.ceil((Date.now() - hit.at) / 1000);
      return res.json({ ...hit.answer, expires_in: hit.answer.expires_in - age });
    }
    const end = res.end;
    res.end = function ended(chunk, ...more) {
      if (res.statusCode === 200) recent.set(key, { at: Date.now(), answer: JSON.parse(chunk) });
      return end.call(this, chunk, ...more);
    };
    return next();
  };
}

/** Middleware that asks for a bearer token of the given server (RFC 6750, RFC 9068). */
async function bearer({ server, audience, realm, role, anyAudience }) {
  const { jwtVerify, createLocalJWKSet } = await load('jose');
  const keySet = createLocalJWKSet({ keys: server.keys });
  const refuse = (res, status, message, challenge) => res.status(status)
    .set('WWW-Authenticate', `Bearer realm="${realm}"${challenge}`)
    .json({ error: { code: status === 403 ? 'forbidden' : 'unauthorized', message, requestId: res.locals.requestId } });
  return async (req, res, next) => {
    const match = /^bearer(?: +(.*))?$/is.exec(req.headers.authorization ?? '');
    if (!match) return refuse(res, 401, 'An access token is needed.', '');
    let payload;
    try {
      ({ payload } = await jwtVerify(match[1] ?? '', keySet, {
        issuer: server.issuer, algorithms: server.algs, typ: 'at+jwt', requiredClaims: ['exp', 'client_id'],
        ...(anyAudience ? {} : { audience }),
      }));
    } catch {
      return refuse(res, 401, 'The access token is not valid here.', ', error="invalid_token"');
    }
    if (role && !payload.roles?.includes(role)) {
      return refuse(res, 403, `The role ${role} is missing.`, ', error="insufficient_scope"');
    }
    req.token = payload;
    return next();
  };
}

module.exports = { authorizationServer, bearer };
