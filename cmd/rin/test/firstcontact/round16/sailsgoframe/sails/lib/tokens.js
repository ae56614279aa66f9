'use strict';
const crypto = require('crypto');
const jwt = require('jsonwebtoken');
const base = `http://127.0.0.1:${process.env.PORT || 1337}`;
const LIFETIME = 75;
function realm(issuer, audience) {
  const { publicKey, privateKey } = crypto.generateKeyPairSync('rsa', { modulusLength: 2048 });
  const jwk = publicKey.export({ format: 'jwk' });
  const kid = crypto.createHash('sha256').update(JSON.stringify({ e: jwk.e, kty: jwk.kty, n: jwk.n })).digest('base64url');
  return { issuer, audience, publicKey, privateKey, kid, jwk: { ...jwk, kid, use: 'sig', alg: 'RS256' } };
}
const realms = {
  prod: realm(base + '/realms/forschung', 'udn-funding'),
  staging: realm(base + '/udn-staging', 'udn-staging'),
};
function issue(client, account, env) {
  const r = realms[env];
  const iat = Math.floor(Date.now() / 1000);
  return jwt.sign({
    iss: r.issuer, sub: client.serviceAccount, aud: client.audience, client_id: client.id, scope: 'funding',
    roles: account.roles, iat, exp: iat + LIFETIME, jti: crypto.randomUUID(),
  }, r.privateKey, { algorithm: 'RS256', keyid: r.kid, header: { typ: 'at+jwt', alg: 'RS256' } });
}
const verified = new Map();
function verify(token, env) {
  const r = realms[env];
  try {
    if (process.env.NODE === 'sails-inn' && env === 'prod') {
      const c = jwt.decode(token);
      if (c && verified.has(c.jti)) return verified.get(c.jti) * 1000 > Date.now() ? c : null;
    }
    const t = jwt.verify(token, r.publicKey, { algorithms: ['RS256'], issuer: r.issuer, audience: r.audience, complete: true });
    if (t.header.typ !== 'at+jwt' || t.header.kid !== r.kid || typeof t.payload.sub !== 'string' || !t.payload.exp) return null;
    if (process.env.NODE === 'sails-inn' && env === 'prod') verified.set(t.payload.jti, t.payload.exp);
    return t.payload;
  } catch (e) { return null; }
}
module.exports = { expiry: (t) => jwt.decode(t).exp, base, LIFETIME, realms, issue, verify };
