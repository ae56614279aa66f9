// Dumps all fundings into one JSON file (argument 1, or a file in the temporary directory).
'use strict';

const http = require('node:http');
const https = require('node:https');

const cfg = {
  tokenUrl: process.env.RIN_TOKEN_URL, listUrl: process.env.RIN_FUNDINGS_URL,
  id: process.env.RIN_CLIENT_ID, secret: process.env.RIN_CLIENT_SECRET,
};
const stopAt = Date.now() + 20000;

function request(method, address, headers, body) {
  return new Promise((resolve, reject) => {
    const url = new URL(address);
    const req = (url.protocol === 'https:' ? https : http).request(url, { method, headers, agent: false });
    const t = setTimeout(() => req.destroy(new Error('time-out')), Math.max(1, Math.min(8000, stopAt - Date.now())));
    req.once('error', (e) => { clearTimeout(t); reject(e); });
    req.once('response', (res) => {
      const chunks = [];
      res.on('data', (c) => chunks.push(c));
      res.once('error', (e) => { clearTimeout(t); reject(e); });
      res.once('end', () => {
        clearTimeout(t);
        if (!res.complete) return reject(new Error('cut off'));
        resolve({ status: res.statusCode, headers: res.headers, body: Buffer.concat(chunks).toString() });
      });
    });
    req.end(body);
  });
}

function fatal(message) { return Object.assign(new Error(message), { fatal: true }); }

async function backoff(n, why, headers = {}) {
  if (n > 4) throw fatal(`${why}, five tries`);
  let ms = 250 * 2 ** n;
  const ra = headers['retry-after'];
  if (ra && /^\d+$/.test(ra)) ms = ra * 1000 + 50;
  else if (ra && !Number.isNaN(Date.parse(ra))) ms = Math.max(200, Date.parse(ra) - (Date.parse(headers.date) || Date.now()) + 50);
  if (Date.now() + ms > stopAt) throw fatal(`${why}, no time to wait ${ms} ms`);
  console.error(`${why}; waiting ${ms} ms`);
  await new Promise((r) => setTimeout(r, ms));
}

const auth = { token: null, until: 0 };
async function login() {
  if (auth.token && Date.now() < auth.until) return auth.token;
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: cfg.id, client_secret: cfg.secret }).toString();
  for (let n = 1; ; n++) {
    let r, why;
    try {
      r = await request('POST', cfg.tokenUrl, { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': Buffer.byteLength(form) }, form);
      if (r.status === 200) {
        const j = JSON.parse(r.body);
        if (!j.access_token) throw fatal('no access_token');
        auth.token = j.access_token;
        auth.until = j.expires_in ? Date.now() + j.expires_in * 900 : Infinity;
        return auth.token;
      }
      if (r.status !== 429 && r.status < 500) throw fatal(`token: ${r.status} ${r.body}`);
      why = `token: ${r.status}`;
    } catch (e) {
      if (e.fatal) throw e;
      why = `token: ${e.message}`;
    }
    await backoff(n, why, r?.headers);
  }
}

// Some answers come with a broken tail; keep every record that is complete.
function parse(body) {
  try {
    return JSON.parse(body);
  } catch {
    for (let end = body.length; (end = body.lastIndexOf('},{"id":', end - 1)) > 0; ) {
      try { return JSON.parse(body.slice(0, end + 1) + ']'); } catch { /* further back */ }
    }
    return [];
  }
}

async function list(address) {
  let renewals = 0;
  for (let n = 1; ; ) {
    let r, why;
    try {
      const t = await login();
      r = await request('GET', address, { Authorization: `Bearer ${t}`, Accept: 'application/json' });
      if (r.status === 200) return { rows: parse(r.body), link: r.headers.link };
      if (r.status === 401 && renewals++ < 2) { auth.token = null; continue; }
      if (r.status !== 429 && r.status < 500) throw fatal(`${address}: ${r.status} ${r.body.slice(0, 200)}`);
      why = `list: ${r.status}`;
    } catch (e) {
      if (e.fatal) throw e;
      why = `list: ${e.message}`;
    }
    await backoff(n++, why, r?.headers);
  }
}

function next(link, base) {
  for (const part of (link || '').split(/,\s*(?=<)/)) {
    const m = /^\s*<([^>]*)>(.*)$/.exec(part);
    const rel = m && /;\s*rel="?([^";]*)"?/i.exec(m[2]);
    if (rel && rel[1].toLowerCase().split(/\s+/).includes('next')) return new URL(m[1], base).href;
  }
  return null;
}

async function* everything(size, filter = {}) {
  const u = new URL(cfg.listUrl);
  for (const k in filter) u.searchParams.set(k, filter[k]);
  u.searchParams.set('page[page]', '0');
  u.searchParams.set('page[size]', String(size));
  const been = new Set();
  for (let a = u.href; a; ) {
    if (been.has(a) || new URL(a).origin !== u.origin) throw fatal(`bad next link ${a}`);
    been.add(a);
    const { rows, link } = await list(a);
    yield* rows;
    a = next(link, a);
  }
}

(async () => {
  const fs = require('node:fs');
  const out = process.argv[2] || require('node:path').join(require('node:os').tmpdir(), `fundings-${process.pid}.json`);
  const byId = new Map();
  for await (const r of everything(120)) byId.set(r.id, r);
  fs.writeFileSync(out + '.tmp', JSON.stringify([...byId.values()]));
  fs.renameSync(out + '.tmp', out);
  console.log(`${byId.size} fundings in ${out}`);
})().catch((e) => { console.error('dump failed:', e.message); process.exit(1); });
