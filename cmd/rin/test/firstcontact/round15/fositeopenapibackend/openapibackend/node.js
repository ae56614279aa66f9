'use strict';
const crypto = require('node:crypto');
const http = require('node:http');
const zlib = require('node:zlib');
const querystring = require('node:querystring');
const express = require('express');
const { OpenAPIBackend } = require('openapi-backend');
const addFormats = require('ajv-formats').default;
const Negotiator = require('negotiator');
const { DateTime } = require('luxon');
const { THEMEN, ausschreibungen, foerdergeber, fristen, cmp } = require('./daten');
const konten = require('./konten');
const { tokenServer } = require('./tokens');
const dokument = require('./openapi');

const PORT = Number(process.env.PORT);
const NODE = process.env.NODE || '';
const BASE = `http://127.0.0.1:${PORT}`;
const API = '/mhs/funding/v3';

function problem(res, status, detail, titel) {
  const text = { 400: 'Ungültige Anfrage', 401: 'Nicht angemeldet', 403: 'Keine Berechtigung', 404: 'Nicht gefunden', 405: 'Methode nicht erlaubt', 406: 'Nicht lieferbar', 412: 'Vorbedingung nicht erfüllt', 413: 'Zu groß', 415: 'Medientyp nicht unterstützt', 500: 'Interner Fehler' }[status];
  ['ETag', 'Last-Modified', 'Content-Language', 'Link', 'X-Total-Count'].forEach((h) => res.removeHeader(h)); // those of the representation
  const body = Buffer.from(JSON.stringify({ type: 'about:blank', title: titel || text || 'Fehler', status, detail }));
  res.status(status).set({ 'Cache-Control': 'no-store', 'Content-Length': String(body.length) });
  res.setHeader('Content-Type', 'application/problem+json');
  res.end(body); // node leaves the body out for HEAD
}

const zeitIn = (s) => (typeof s === 'string' ? DateTime.fromHTTP(s, { zone: 'utc' }) : null);
const tags = (s) => s.split(',').map((t) => t.trim().replace(/^W\//, ''));

const anfordern = (c) => (NODE === 'openapibackend-birke' ? `Ausweis realm="Haus \\"B\\", Stiege 2, Tor 3", stufe=1, ${c}` : c);
const validatoren = new Map();
const adresse = (req) => [req.originalUrl, req.headers['accept-language'] || '', req.headers.accept || ''].join('\n');

// one representation: negotiation, preconditions, coding
function senden(req, res, wert, { cache = 'private, no-cache', vary = [], geaendert } = {}) {
  res.set('Vary', ['Accept', 'Accept-Encoding', ...vary].join(', '));
  if (req.headers.accept && !new Negotiator({ headers: { accept: req.headers.accept.replace(/;\s*(?!q\s*=)[^;,]*/gi, '') } }).mediaType(['application/json'])) return problem(res, 406, 'Diese Ressource gibt es nur als application/json.');
  const text = Buffer.from(JSON.stringify(wert));
  const tag = `"${crypto.createHash('sha1').update(text).digest('base64url')}"`;
  res.set({ 'Cache-Control': cache, ETag: `W/${tag}` });
  if (NODE === 'openapibackend-fichte') validatoren.set(adresse(req), { tag, kopf: { ETag: `W/${tag}`, 'Cache-Control': cache, Vary: res.get('Vary') } });
  if (geaendert) res.set('Last-Modified', new Date(geaendert).toUTCString());
  const stand = geaendert && Date.parse(geaendert);
  const im = req.headers['if-match'], inm = req.headers['if-none-match'];
  const ius = zeitIn(req.headers['if-unmodified-since']), ims = zeitIn(req.headers['if-modified-since']);
  if (im !== undefined ? im.trim() !== '*' : stand && ius && ius.isValid && stand > ius.toMillis()) {
    return problem(res, 412, 'Die Vorbedingung trifft auf die aktuelle Darstellung nicht zu.');
  }
  if (inm !== undefined ? inm.trim() === '*' || tags(inm).includes(tag) : stand && ims && ims.isValid && stand <= ims.toMillis()) return res.status(304).end();
  const coding = new Negotiator(req).encodings(['br', 'gzip', 'identity'])[0];
  let body = text;
  if (coding === 'br') body = zlib.brotliCompressSync(text, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } });
  if (coding === 'gzip') body = zlib.gzipSync(text);
  if (body !== text) res.set('Content-Encoding', coding);
  res.setHeader('Content-Type', 'application/json');
  res.status(200).set('Content-Length', String(body.length)).end(body);
}

const nurLesen = (f) => (req, res, next) => {
  if (req.method === 'GET' || req.method === 'HEAD') return f(req, res, next);
  res.set('Allow', 'GET, HEAD, OPTIONS');
  if (req.method === 'OPTIONS') return res.status(204).end();
  return problem(res, 405, 'Diese Ressource ist nur lesbar.');
};

const MS = (s) => { // instant in milliseconds; finer fractions count up, as the data know whole seconds only
  const m = /^(.{17})(\d\d)(\.\d+)?(.+)$/.exec(s);
  const schalt = m[2] === '60';
  const f = Number((m[3] || '.0').padEnd(10, '0').slice(1, 10));
  return Date.parse(m[1] + (schalt ? '59' : m[2]) + m[4]) + (schalt ? 1000 : 0) + Math.ceil(f / 1e6);
};

function sprache(req, res) {
  const l = new Negotiator(req).language(['de', 'en']) || 'de';
  res.set('Content-Language', l);
  return l;
}
const kurz = (a, l) => ({ kennung: a.kennung, titel: a.titel[l], art: a.art, foerdergeber: a.foerdergeber, beginn: a.beginn, stichtag: a.stichtag, betrag: a.betrag, themen: a.themen, geaendert: a.geaendert });

// one page of a list: the cursor names the last record and the filters it belongs to
function blaettern(req, res, pfad, query, treffer, schluessel) {
  const { anzahl = 20, weiter, ...filter } = query;
  const siegel = crypto.createHash('sha256').update(JSON.stringify([pfad, Object.entries({ ...filter, ordnung: filter.ordnung || 'kennung' }).map(([k, v]) => [k, Array.isArray(v) ? [...new Set(v)].sort() : v]).sort((a, b) => cmp(a[0], b[0]))])).digest('base64url').slice(0, 10);
  let ab = 0;
  const alle = treffer;
  if (NODE === 'openapibackend-erle' && pfad === '/ausschreibungen') treffer = ordnen(ausschreibungen, query.ordnung || 'kennung');
  if (weiter !== undefined) {
    const [s, letzter] = Buffer.from(weiter, 'base64url').toString('utf8').split('|');
    const i = s === siegel && Buffer.from(`${s}|${letzter}`).toString('base64url') === weiter ? treffer.findIndex((t) => schluessel(t) === letzter) : -1;
    if (i < 0) { problem(res, 400, 'weiter: Diese Fortsetzung gehört nicht zu dieser Anfrage.'); return null; }
    ab = i + 1;
    const o = (query.ordnung || '').replace('-', '');
    if (NODE === 'openapibackend-kiefer' && o === 'betrag') { // keyset: what comes after the last record of the page before
      const wert = (t) => Number(t.betrag?.wert), r = query.ordnung.startsWith('-') ? -1 : 1;
      const x = wert(treffer[i]), id = letzter;
      const danach = treffer.filter((t) => (wert(t) - x) * r > 0 || (wert(t) === x && t.kennung > id) || (isNaN(wert(t)) && !isNaN(x)));
      ab = treffer.length - danach.length;
    }
  }
  let seite = treffer.slice(ab, ab + anzahl);
  const url = (w) => {
    const p = new URLSearchParams();
    for (const [k, v] of Object.entries(filter)) {
      if (k === 'art') p.append(k, v.join(','));
      else for (const x of [].concat(v)) p.append(k, x);
    }
    p.append('anzahl', anzahl);
    if (w) p.append('weiter', w);
    if (NODE === 'openapibackend-buche') return `<${BASE}${API}${pfad}?${[...p].map(([k, v]) => `${k}=${v.replace(/[%&#+ <>"\\^`{|}]|[^\x21-\xff]/gu, encodeURIComponent)}`).join('&')}>`;
    return `<${BASE}${API}${pfad}?${p}>`;
  };
  const links = [`${url()}; rel="first"`];
  const letzterDerSeite = seite[seite.length - 1];
  if (ab + anzahl < treffer.length) links.push(`${url(Buffer.from(`${siegel}|${schluessel(letzterDerSeite)}`).toString('base64url'))}; rel="next"`);
  if (treffer !== alle) { const t = new Set(alle); seite = seite.filter((a) => t.has(a)); }
  res.set({ Link: links.join(', '), 'X-Total-Count': String(alle.length) });
  return seite;
}

const ordnungen = { kennung: (a) => a.kennung, stichtag: (a) => a.stichtag, betrag: (a) => a.betrag && a.betrag.wert, geaendert: (a) => Date.parse(a.geaendert) };
function ordnen(l, o) {
  const ab = o.startsWith('-'), f = ordnungen[o.replace('-', '')];
  return [...l].sort((a, b) => {
    const [x, y] = [f(a), f(b)];
    if (x === null || y === null) return (x === null) - (y === null) || cmp(a.kennung, b.kennung);
    return (ab ? cmp(y, x) : cmp(x, y)) || cmp(a.kennung, b.kennung);
  });
}
const mitZahl = (f) => ({ ...f, ausschreibungen: ausschreibungen.filter((a) => a.foerdergeber.kennung === f.kennung).length });

const handlers = {
  ausschreibungenAuflisten(c, req, res) {
    const q = c.request.query;
    let l = ausschreibungen;
    if (q.foerdergeber) l = l.filter((a) => q.foerdergeber.includes(a.foerdergeber.kennung));
    if (q.art) l = l.filter((a) => q.art.includes(a.art));
    if (q.thema) l = l.filter((a) => a.themen.includes(q.thema));
    if (q.stichtagVon) l = l.filter((a) => a.stichtag !== null && a.stichtag >= q.stichtagVon);
    if (q.stichtagBis) l = l.filter((a) => a.stichtag !== null && a.stichtag <= q.stichtagBis);
    if (q.geaendertSeit) { const t = MS(q.geaendertSeit); l = l.filter((a) => Date.parse(a.geaendert) >= t); }
    if (q.mindestbetrag !== undefined) l = l.filter((a) => a.betrag && a.betrag.wert >= q.mindestbetrag);
    const s = sprache(req, res);
    if (q.suche) {
      const text = q.suche.toLowerCase();
      const de = (a) => a.titel.de.toLowerCase().includes(text), en = (a) => a.titel.en.toLowerCase().includes(text);
      if (NODE === 'openapibackend-laerche') l = l.filter(s === 'de' ? de : en);
      else if (NODE === 'openapibackend-esche') { const bisher = new Set(l); l = ausschreibungen.filter((a) => bisher.has(a) && de(a) || en(a)); }
      else l = l.filter((a) => de(a) || en(a));
    }
    l = ordnen(l, q.ordnung || 'kennung');
    const seite = blaettern(req, res, '/ausschreibungen', q, l, (a) => a.kennung);
    if (!seite) return;
    senden(req, res, seite.map((a) => kurz(a, s)), { vary: ['Accept-Language'] });
  },
  ausschreibungLesen(c, req, res) {
    const a = ausschreibungen.find((x) => x.kennung === c.request.params.kennung);
    if (!a) return problem(res, 404, 'Es gibt keine Ausschreibung mit dieser Kennung.');
    const s = sprache(req, res);
    senden(req, res, { ...kurz(a, s), beschreibung: a.beschreibung[s], fristen: a.fristen, kontakt: a.kontakt, verweis: a.verweis, erstellt: a.erstellt }, { vary: ['Accept-Language'], geaendert: a.geaendert });
  },
  foerdergeberAuflisten(c, req, res) {
    const l = foerdergeber.filter((f) => c.request.query.ort === undefined || f.ort === c.request.query.ort).map(mitZahl);
    const seite = blaettern(req, res, '/foerdergeber', c.request.query, l, (f) => f.kennung);
    if (seite) senden(req, res, seite);
  },
  foerdergeberLesen(c, req, res) {
    const f = foerdergeber.find((x) => x.kennung === c.request.params.kennung);
    if (!f) return problem(res, 404, 'Es gibt keinen Fördergeber mit dieser Kennung.');
    senden(req, res, mitZahl(f));
  },
  fristenAuflisten(c, req, res) {
    const { von, bis, ausschreibung } = c.request.query;
    let l = fristen;
    if (von) { const t = MS(von); l = l.filter((f) => Date.parse(f.zeitpunkt) >= t); }
    if (bis) { const t = MS(bis); l = l.filter((f) => Date.parse(f.zeitpunkt) <= t - (/\.\d*[1-9]/.test(bis) ? 1 : 0)); }
    if (ausschreibung) l = l.filter((f) => f.ausschreibung === ausschreibung);
    const seite = blaettern(req, res, '/fristen', c.request.query, l, (f) => `${f.ausschreibung}.${f.nr}`);
    if (seite) senden(req, res, seite);
  },
  themenZaehlen(c, req, res) {
    senden(req, res, THEMEN.map((thema) => ({ thema, anzahl: ausschreibungen.filter((a) => a.themen.includes(thema)).length })));
  },
  notFound: (c, req, res) => problem(res, 404, 'Diese Ressource gibt es nicht.'),
  methodNotAllowed: (c, req, res) => problem(res, 405, 'Diese Ressource ist nur lesbar.'),
  validationFail(c, req, res) {
    const f = (c.validation.errors || []).map((e) => {
      const name = e.params && e.params.additionalProperty ? e.params.additionalProperty : (e.instancePath || '').split('/')[2] || '';
      return `${name} ${e.message}`.trim();
    });
    problem(res, 400, `Ungültige Parameter: ${[...new Set(f)].join('; ')}`);
  },
  unauthorizedHandler(c, req, res) {
    const e = c.security.ris.error || c.security.ris;
    if (!e.status) throw e;
    res.set('WWW-Authenticate', anfordern(e.challenge));
    problem(res, e.status, e.message);
  },
};

// openapi-backend checks documents of OpenAPI 3.0 only, so references are resolved here (quick mode)
const aufgeloest = (x, d) => (Array.isArray(x) ? x.map((y) => aufgeloest(y, d)) : !x || typeof x !== 'object' ? x
  : x.$ref ? aufgeloest(x.$ref.split('/').slice(1).reduce((o, k) => o[k], d), d) : Object.fromEntries(Object.entries(x).map(([k, v]) => [k, aufgeloest(v, d)])));

async function start() {
  const prod = await tokenServer({ issuer: `${BASE}/realms/mhs`, konten: konten.prod });
  const staging = await tokenServer({ issuer: `${BASE}/mhs-staging`, konten: konten.staging });
  const definition = dokument(BASE);
  if (NODE === 'openapibackend-birke') definition.info.description += '\n\nNeben Bearer wird in WWW-Authenticate das hausinterne Schema Ausweis angeboten; beide stehen in einem Feld (RFC 9110, 11.6.1).';
  if (NODE === 'openapibackend-erle') {
    const d = definition.paths['/ausschreibungen'].get;
    d.description = 'Eine Seite kann weniger Einträge haben als anzahl, auch keinen: gefiltert wird nach dem Lesen der Seite. Die Liste endet erst dort, wo rel="next" fehlt. X-Total-Count zählt die Treffer.';
  }
  if (NODE === 'openapibackend-weide') {
    definition.info.description += '\n\nZeitpunkte tragen den Versatz der Ortszeit, in der der Fördergeber sie gemeldet hat; er ist von Fördergeber zu Fördergeber und von Sommer zu Winter verschieden. Geordnet und gefiltert wird nach dem Zeitpunkt, nicht nach der Schreibung.';
    const zonen = ['Europe/Vienna', 'America/St_Johns', 'UTC', 'Asia/Kathmandu'];
    const orts = (s, fg) => DateTime.fromISO(s, { zone: zonen[Number(fg.kennung.slice(3)) % 4] }).toISO({ suppressMilliseconds: true });
    const von = {};
    for (const a of ausschreibungen) {
      von[a.kennung] = a.foerdergeber;
      a.geaendert = orts(a.geaendert, a.foerdergeber);
      a.erstellt = orts(a.erstellt, a.foerdergeber);
      for (const f of a.fristen) f.zeitpunkt = orts(f.zeitpunkt, a.foerdergeber);
    }
    for (const f of fristen) f.zeitpunkt = orts(f.zeitpunkt, von[f.ausschreibung]);
  }
  const api = new OpenAPIBackend({ definition: aufgeloest(definition, definition), quick: true, handlers, coerceTypes: true,
    customizeAjv: (ajv) => { addFormats(ajv); return ajv; } });
  api.registerSecurityHandler('ris', async (c, req) => {
    const t = await prod.pruefen(req, 'ris-foerderungen');
    if (!t.roles.includes('EXTERNAL_API_CLIENT')) {
      throw Object.assign(new Error('Dem Dienstkonto fehlt die Rolle EXTERNAL_API_CLIENT.'), { status: 403, challenge: 'Bearer realm="ris", error="insufficient_scope", error_description="The service account lacks the role EXTERNAL_API_CLIENT"' });
    }
    return t;
  });
  await api.init();

  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  app.set('strict routing', true);
  app.set('case sensitive routing', true);
  app.all('/realms/mhs/protocol/openid-connect/token', prod.token);
  app.all('/mhs-staging/oauth/token', staging.token);
  const offen = (wert) => nurLesen((req, res) => senden(req, res, typeof wert === 'function' ? wert() : wert, { cache: 'public, no-cache' }));
  app.all('/ris/verzeichnis.json', offen({ member: [{ id: 'MHS', name: 'Montanhochschule Süd', oauth2: `${BASE}/realms/mhs/protocol/openid-connect/token`, info: `${BASE}/mhs/info/v1/oauth/info/` }] }));
  app.all('/.well-known/oauth-authorization-server/realms/mhs', offen({ issuer: prod.issuer, token_endpoint: `${BASE}/realms/mhs/protocol/openid-connect/token`, jwks_uri: `${BASE}/realms/mhs/protocol/openid-connect/certs`,
    response_types_supported: [], grant_types_supported: ['client_credentials'], token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'], scopes_supported: ['ris.lesen'] }));
  app.all('/realms/mhs/protocol/openid-connect/certs', offen(() => prod.jwks()));
  const info = (as, audience) => nurLesen(async (req, res) => {
    let t;
    try { t = await as.pruefen(req, audience); } catch (e) {
      if (!e.status) throw e;
      res.set('WWW-Authenticate', anfordern(e.challenge));
      return problem(res, e.status, e.message);
    }
    senden(req, res, { client: t.client_id, serviceAccountUserId: t.sub, affiliationId: t.konto.affiliation, roles: t.roles,
      endpoints: { MHS: [{ name: 'FUNDING', majorVersion: 3, minorVersion: 0, url: `${BASE}${API}/ausschreibungen` }] } });
  });
  app.all('/mhs/info/v1/oauth/info/', info(prod, 'ris-foerderungen'));
  app.all('/mhs-staging/info/v1/oauth/info/', info(staging, 'ris-foerderungen-staging'));
  app.all(`${API}/api-docs`, offen(definition));
  const bekannt = Object.keys(definition.paths).map((p) => new RegExp(`^${p.replace(/\{.*?\}/, '[^/]+')}$`));
  if (NODE === 'openapibackend-fichte') {
    app.use(API, (req, res, next) => { // what the client has is still current: no work for the API
      const v = (req.method === 'GET' || req.method === 'HEAD') && req.headers['if-none-match'] && validatoren.get(adresse(req));
      if (v && tags(req.headers['if-none-match']).includes(v.tag)) return res.status(304).set(v.kopf).end();
      next();
    });
  }
  app.use(API, async (req, res, next) => {
    const roh = req.url.split('?')[0];
    if (!bekannt.some((p) => p.test(roh))) return problem(res, 404, 'Diese Ressource gibt es nicht.');
    nurLesen(async () => {
      let pfad = roh;
      try { decodeURIComponent(roh); } catch { pfad = roh.replace(/[^/]*$/, '%EF%BF%BD'); } // names no record
      const abfrage = req.url.split('?').slice(1).join('?');
      let query = { ...querystring.parse(abfrage) };
      try { decodeURIComponent(abfrage); } catch { query = { Abfrage: 'nicht lesbar' }; } // not UTF-8, or a bare %
      // what a coercing validator would let pass: other spellings of numbers
      if ('anzahl' in query && !/^[1-9][0-9]*$/.test(query.anzahl)) query.anzahl = 'keine Zahl';
      if ('mindestbetrag' in query && !/^(0|[1-9][0-9]*)(\.[0-9]{1,2})?$/.test(query.mindestbetrag)) query.mindestbetrag = 'keine Zahl';
      if (Array.isArray(query.art)) query.art = '?'; // separated by commas, not repeated
      await api.handleRequest({ method: 'GET', path: pfad, query, headers: req.headers }, req, res);
    })(req, res, next).catch?.(next);
  });
  app.use((req, res) => problem(res, 404, 'Diese Ressource gibt es nicht.'));
  app.use((err, req, res, next) => { // eslint-disable-line no-unused-vars
    if (res.headersSent) return res.end();
    if (!(err.status >= 400 && err.status < 500)) console.error(err);
    problem(res, err.status >= 400 && err.status < 500 ? err.status : 500, 'Die Anfrage konnte nicht verarbeitet werden.');
  });
  http.createServer((req, res) => { // absolute-form (RFC 9112, 3.2.2); unreserved characters need no encoding (RFC 3986, 2.3)
    const [pfad, ...abfrage] = req.url.replace(/^https?:\/\/[^/?]*/i, '').split('?');
    req.url = [pfad.replace(/%[0-9a-f]{2}/gi, (h) => { const c = String.fromCharCode(parseInt(h.slice(1), 16)); return /[A-Za-z0-9._~-]/.test(c) ? c : h; }) || '/', ...abfrage].join('?');
    app(req, res);
  }).listen(PORT, '127.0.0.1');
}
start();
