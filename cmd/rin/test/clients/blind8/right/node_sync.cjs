// Incremental sync of the types that a CRM keeps: node:https and callbacks turned into promises, keep-alive agent,
// state in a JSON file with a fingerprint of each record, so that only changes are reported on.
'use strict';
const http = require('node:http'), https = require('node:https'), crypto = require('node:crypto');
const fs = require('node:fs'), os = require('node:os'), path = require('node:path');

const E = process.env;
const agents = { 'http:': new http.Agent({ keepAlive: true, maxSockets: 1 }), 'https:': new https.Agent({ keepAlive: true, maxSockets: 1 }) };
const rest = (ms) => new Promise((r) => setTimeout(r, ms));

function fail(message) {
  return Object.assign(new Error(message), { final: true });
}

function one(method, address, headers, body) {
  return new Promise((resolve, reject) => {
    const u = new URL(address), lib = u.protocol === 'https:' ? https : http;
    const req = lib.request(u, { method, headers, agent: agents[u.protocol] }, (res) => {
      const parts = [];
      res.on('data', (d) => parts.push(d));
      res.on('error', reject);
      res.on('aborted', () => reject(new Error('connection cut')));
      res.on('end', () => (res.complete ? resolve({ status: res.statusCode, headers: res.headers, text: Buffer.concat(parts).toString('utf8') }) : reject(new Error('incomplete'))));
    });
    const clock = setTimeout(() => req.destroy(new Error('no answer in 20 s')), 20000);
    req.on('close', () => clearTimeout(clock));
    req.on('error', reject);
    req.end(body);
  });
}

function waitMs(h) {
  const v = (h['retry-after'] || '').trim();
  if (/^\d+$/.test(v)) return parseInt(v, 10) * 1000;
  const a = Date.parse(v);
  if (isNaN(a)) return -1;
  const b = Date.parse(h.date || '');
  return Math.max(0, a - (isNaN(b) ? Date.now() : b));
}

async function carry(method, address, headersOf, body) {
  let errors = 0, waits = 0, moves = 0;
  for (;;) {
    let r, doc, note;
    try {
      r = await one(method, address, await headersOf(), body);
      note = String(r.status);
      if (r.status === 200) { doc = JSON.parse(r.text); return { ...r, doc, address }; }
    } catch (e) {
      if (e.final) throw e;
      r = null;
      note = e.message;
    }
    if (r && (r.status === 429 || r.status === 503) && waitMs(r.headers) >= 0) {
      const ms = waitMs(r.headers);
      if (++waits > 5 || ms > 900000) throw fail(`${address}: ${note}`);
      await rest(ms + 100);
    } else if (!r || r.status === 429 || r.status >= 500) {
      if (++errors > 3) throw fail(`${address}: ${note}`);
      await rest(600 * errors * errors);
    } else if ([301, 302, 307, 308].includes(r.status)) {
      const to = new URL(r.headers.location || '', address);
      if (++moves > 3 || to.origin !== new URL(address).origin) throw fail(`${address}: redirect to ${to.href}`);
      address = to.href;
    } else return { ...r, address };
  }
}

const session = {
  token: '', until: 0,
  async open() {
    const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: E.RIN_CLIENT_ID, client_secret: E.RIN_CLIENT_SECRET }).toString();
    const r = await carry('POST', E.RIN_TOKEN_URL, () => ({ 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': Buffer.byteLength(form) }), form);
    if (!r.doc || !r.doc.access_token) throw fail(`no token: ${r.status}`);
    this.token = r.doc.access_token;
    this.until = Date.now() + (r.doc.expires_in ? r.doc.expires_in * 800 : 1e9);
  },
  async get(address, etag) {
    const headers = async () => {
      if (!this.token || Date.now() > this.until) await this.open();
      return { Authorization: 'Bearer ' + this.token, Accept: 'application/json', ...(etag ? { 'If-None-Match': etag } : {}) };
    };
    let r = await carry('GET', address, headers);
    if (r.status === 401) { await this.open(); r = await carry('GET', address, headers); }
    if (r.status !== 200 && !(r.status === 304 && etag)) throw fail(`${address}: ${r.status} ${r.headers['www-authenticate'] || ''}`);
    return r;
  },
};

async function sync(state, type) {
  const list = E.RIN_FUNDINGS_URL, q = (skip) => `${list}?${new URLSearchParams({ fundingType: type, 'page[size]': '30', 'page[page]': String(skip) })}`;
  const seen = {}, asked = new Set();
  let skip = 0, vain = 0, report = { added: 0, changed: 0, same: 0 };
  for (let url = q(0); url; ) {
    if (asked.has(url) || asked.size > 150) throw fail(`${type}: pages without end`);
    asked.add(url);
    let page = state.pages[url];
    const r = await session.get(url, page && page.etag);
    if (r.status === 200) {
      if (!Array.isArray(r.doc)) throw fail(`${type}: no array`);
      const link = r.headers.link || '', m = /<([^>]*)>\s*;\s*rel="?next"?/.exec(link);
      page = { etag: r.headers.etag, links: link !== '', next: m ? new URL(m[1], r.address).href : null, prints: r.doc.map((f) => [f.id, crypto.createHash('sha1').update(JSON.stringify(f)).digest('base64')]) };
      delete state.pages[url];
      if (page.etag && page.prints.length) state.pages[url] = page;
    }
    const before = Object.keys(seen).length;
    for (const [id, print] of page.prints) if (!seen[id]) {
      seen[id] = print;
      report[!state.prints[id] ? 'added' : state.prints[id] === print ? 'same' : 'changed']++;
    }
    vain = page.prints.length && Object.keys(seen).length === before ? vain + 1 : 0;
    if (vain > 2) throw fail(`${type}: pages repeat`);
    skip += page.prints.length;
    url = page.links ? page.next : page.prints.length ? q(skip) : null;
    if (url && new URL(url).origin !== new URL(list).origin) throw fail(`${type}: next page at ${url}`);
  }
  Object.assign(state.prints, seen);
  return report;
}

async function main() {
  const folder = E.SYNC_DIR || fs.mkdtempSync(path.join(os.tmpdir(), 'sync-')), file = path.join(folder, 'state.json');
  try {
    for (let pass = 0; pass < 2; pass++) {
      const state = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : { pages: {}, prints: {} };
      for (const type of ['CALL', 'AWARD']) console.log(pass, type, JSON.stringify(await sync(state, type)));
      fs.writeFileSync(file + '.new', JSON.stringify(state));
      fs.renameSync(file + '.new', file);
      if (pass === 0) await rest(2000);
    }
  } finally {
    if (!E.SYNC_DIR) fs.rmSync(folder, { recursive: true, force: true });
  }
}

main().catch((e) => { console.error('sync:', e.message); process.exitCode = 1; }).finally(() => Object.values(agents).forEach((a) => a.destroy()));
