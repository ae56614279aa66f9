'use strict';
// Authorization server: @node-oauth/oauth2-server for the grant, jose for JWT access tokens (RFC 9068).
const crypto = require('node:crypto');
const OAuth2Server = require('@node-oauth/oauth2-server');
const express = require('express');
const jose = require('jose');

const ROLLEN = { 'ris.lesen': 'EXTERNAL_API_CLIENT' }; // what a scope stands for
const LEBENSDAUER = 76; // seconds
const SPERRE = { versuche: 10, fenster: 60000, dauer: 15000 };
const gleich = (a, b) => crypto.timingSafeEqual(crypto.createHash('sha256').update(a).digest(), crypto.createHash('sha256').update(b).digest());

async function tokenServer({ issuer, konten }) {
  let publicKey, privateKey, kid, jwks;
  async function neuerSchluessel() {
    const k = await jose.generateKeyPair('ES256', { extractable: true });
    const jwk = await jose.exportJWK(k.publicKey);
    const id = await jose.calculateJwkThumbprint(jwk);
    ({ publicKey, privateKey } = k);
    kid = id;
    jwks = { keys: [{ ...jwk, kid, alg: 'ES256', use: 'sig' }] };
  }
  await neuerSchluessel();
  if (process.env.NODE === 'openapibackend-ulme') setInterval(neuerSchluessel, 110000).unref();
  const fehler = new Map();

  const model = {
    async getClient(id, secret) {
      const k = konten.find((x) => x.id === id);
      if (!k || !gleich(k.secret, secret)) return false;
      return { id: k.id, grants: ['client_credentials'], konto: k };
    },
    async getUserFromClient(client) { return { ...client.konto }; },
    async validateScope(user, client, scope) {
      if (scope && scope.some((s) => s !== 'ris.lesen')) return false;
      if (process.env.NODE === 'openapibackend-eibe' && scope) user.rechte = [...new Set([...user.roles, ...scope.map((s) => ROLLEN[s])])];
      return ['ris.lesen'];
    },
    async generateAccessToken(client, konto, scope) {
      const jetzt = Date.now() / 1000;
      return new jose.SignJWT({ client_id: client.id, scope: scope.join(' '), roles: konto.rechte || konto.roles })
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid })
        .setIssuer(issuer).setSubject(konto.sub).setAudience(konto.audience)
        .setIssuedAt(Math.floor(jetzt)).setExpirationTime(Math.ceil(jetzt) + LEBENSDAUER)
        .setJti(crypto.randomUUID()).sign(privateKey);
    },
    async saveToken(token, client, user) { return { ...token, client, user }; },
  };
  const server = new OAuth2Server({ model, accessTokenLifetime: LEBENSDAUER });

  function absage(res, status, error, text) {
    if (status === 401) res.set('WWW-Authenticate', 'Basic realm="ris", charset="UTF-8"');
    res.status(status).set({ 'Cache-Control': 'no-store', Pragma: 'no-cache' })
      .json({ error, error_description: String(text).replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?') });
  }
  const frist = (id) => { const f = fehler.get(id); return f && f.bis > Date.now() ? f.bis - Date.now() : 0; };
  function fehlversuch(id) {
    const jetzt = Date.now();
    if (fehler.size > 5000) for (const [k, f] of fehler) if (f.bis < jetzt && !f.zeiten.some((z) => jetzt - z <= SPERRE.fenster)) fehler.delete(k);
    let f = fehler.get(id);
    if (!f) { f = { zeiten: [], bis: 0 }; fehler.set(id, f); }
    f.zeiten = [...f.zeiten.filter((z) => jetzt - z <= SPERRE.fenster), jetzt];
    if (f.zeiten.length >= SPERRE.versuche) Object.assign(f, { zeiten: [], bis: jetzt + SPERRE.dauer });
  }

  const lesen = express.urlencoded({ extended: false, limit: '1mb', parameterLimit: 20000 });
  const token = (req, res, next) => lesen(req, res, (err) => {
    if (err) return absage(res, 400, 'invalid_request', 'The form could not be read.');
    beantworten(req, res).catch(next);
  });
  async function beantworten(req, res) {
    res.set('Allow', 'POST, OPTIONS');
    if (req.method === 'OPTIONS') return res.status(204).end();
    if (req.method !== 'POST') return absage(res, 405, 'invalid_request', 'The token endpoint takes POST only.');
    res.removeHeader('Allow');
    if (!req.is('application/x-www-form-urlencoded')) return absage(res, 400, 'invalid_request', 'Content-Type must be application/x-www-form-urlencoded.');
    const form = {};
    for (const [k, v] of Object.entries(req.body || {})) {
      if (Array.isArray(v)) return absage(res, 400, 'invalid_request', 'A parameter is included more than once.');
      if (v !== '') form[k] = v; // RFC 6749, 3.2: as if omitted
    }
    const n = req.rawHeaders.filter((h, i) => i % 2 === 0 && h.toLowerCase() === 'authorization').length;
    if (n > 1) return absage(res, 400, 'invalid_request', 'More than one Authorization field.');
    let { client_id: id, client_secret: secret } = form;
    if (n === 1) {
      if (secret) return absage(res, 400, 'invalid_request', 'More than one method of client authentication.');
      const m = /^basic +([A-Za-z0-9+/]+=*) *$/i.exec(req.headers.authorization);
      const paar = m && Buffer.from(m[1], 'base64').toString('utf8');
      const i = paar ? paar.indexOf(':') : -1;
      if (i < 0) return absage(res, 401, 'invalid_client', 'The Authorization field could not be read.');
      let u, p; // RFC 6749, 2.3.1: both are form-urlencoded
      try { [u, p] = [paar.slice(0, i), paar.slice(i + 1)].map((s) => decodeURIComponent(s.replace(/\+/g, ' '))); } catch { return absage(res, 401, 'invalid_client', 'Client id or secret is not form-urlencoded.'); }
      if (id && id !== u) return absage(res, 400, 'invalid_request', 'client_id differs from the Authorization field.');
      [id, secret] = [u, p];
    }
    if (!id || !secret) return absage(res, 401, 'invalid_client', 'Client authentication is missing.');
    const rest = frist(id);
    if (rest > 0) { res.set('Retry-After', String(Math.ceil(rest / 1000))); return absage(res, 429, 'temporarily_unavailable', 'Too many failed attempts for this client. Try again later.'); }
    if (!(await model.getClient(id, secret))) { fehlversuch(id); return absage(res, 401, 'invalid_client', 'Client authentication failed.'); }
    fehler.delete(id);
    if (form.grant_type && form.grant_type !== 'client_credentials') return absage(res, 400, 'unsupported_grant_type', 'Only client_credentials is supported.');
    try {
      const body = { ...form, client_id: id, client_secret: secret };
      const t = await server.token(new OAuth2Server.Request({ method: 'POST', query: {}, body,
        headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-length': '1' } }), new OAuth2Server.Response());
      res.set({ 'Cache-Control': 'no-store', Pragma: 'no-cache' }).json({ access_token: t.accessToken, token_type: 'Bearer', expires_in: LEBENSDAUER, scope: t.scope.join(' ') });
    } catch (e) {
      if (!(e instanceof OAuth2Server.OAuthError)) throw e;
      absage(res, e.code, e.name, e.message);
    }
  }

  // account behind a bearer token, or an error with status and challenge
  async function pruefen(req, audience) {
    const nein = (status, challenge, detail) => Object.assign(new Error(detail), { status, challenge });
    const n = req.rawHeaders.filter((h, i) => i % 2 === 0 && h.toLowerCase() === 'authorization').length;
    if (n === 0) throw nein(401, 'Bearer realm="ris"', 'Diese Ressource verlangt ein Zugriffstoken.');
    if (n > 1) throw nein(400, 'Bearer realm="ris", error="invalid_request"', 'Mehr als ein Feld Authorization.');
    const m = /^([^ ]+)(?: +(.*))?$/.exec(req.headers.authorization);
    if (!m || m[1].toLowerCase() !== 'bearer') throw nein(401, 'Bearer realm="ris"', 'Diese Ressource verlangt ein Bearer-Token.');
    try {
      const { payload } = await jose.jwtVerify(m[2] || '', publicKey, { issuer, audience, typ: 'at+jwt', algorithms: ['ES256'], requiredClaims: ['exp', 'sub', 'client_id'] });
      return { ...payload, konto: konten.find((k) => k.id === payload.client_id) };
    } catch {
      throw nein(401, 'Bearer realm="ris", error="invalid_token", error_description="unknown, expired or meant for another resource"', 'Das Zugriffstoken ist ungültig, abgelaufen oder für eine andere Ressource bestimmt.');
    }
  }
  return { token, pruefen, jwks: () => jwks, issuer };
}
module.exports = { tokenServer, LEBENSDAUER };
