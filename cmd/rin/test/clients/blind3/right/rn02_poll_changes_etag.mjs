// Watches the running calls for a short while and prints what came, went or changed.
// node:http(s) only, conditional requests, no packages.
import http from 'node:http';
import https from 'node:https';
import { createHash } from 'node:crypto';

const env = (k) => process.env[k] || die(`missing ${k}`);
function die(msg) { console.error(`poll: ${msg}`); process.exit(2); }

const TOKEN_URL = env('RIN_TOKEN_URL');
const LIST = new URL(env('RIN_FUNDINGS_URL'));
LIST.searchParams.set('runningCalls', 'true');
const ROUNDS = Number(process.argv[2] ?? 3);
const GAP_MS = 800;
const started = Date.now();
const BUDGET = 21000;
const left = () => BUDGET - (Date.now() - started);
const wait = (ms) => new Promise((ok) => setTimeout(ok, ms));

class Stop extends Error {}

function once(url, { method = 'GET', headers = {}, body } = {}) {
  return new Promise((ok, no) => {
    const lib = url.protocol === 'https:' ? https : http;
    const budget = Math.min(7000, left());
    if (budget <= 0) return no(new Stop('out of time'));
    const req = lib.request(url, { method, headers });
    const timer = setTimeout(() => req.destroy(new Error('timed out')), budget);
    const done = (f, v) => { clearTimeout(timer); f(v); };
    req.on('error', (e) => done(no, e));
    req.on('response', (res) => {
      const parts = [];
      res.on('data', (c) => parts.push(c));
      res.on('error', (e) => done(no, e));
      res.on('aborted', () => done(no, new Error('connection cut')));
      res.on('end', () => {
        if (!res.complete) return done(no, new Error('answer incomplete'));
        done(ok, { status: res.statusCode, headers: res.headers, body: Buffer.concat(parts).toString('utf8') });
      });
    });
    req.end(body);
  });
}

async function send(url, opts) {
  let u = new URL(url);
  for (let hops = 0; hops <= 3; hops++) {
    const res = await once(u, opts);
    const moved = opts?.method === 'POST' ? [307, 308] : [301, 302, 303, 307, 308];
    if (!moved.includes(res.status) || !res.headers.location) return res;
    const to = new URL(res.headers.location, u);
    if (to.origin !== u.origin) throw new Stop(`will not follow to ${to.origin}`);
    u = to;
  }
  throw new Stop('redirected too often');
}

function asked(res) {
  const ra = (res.headers['retry-after'] ?? '').trim();
  if (/^[0-9]+$/.test(ra)) return parseInt(ra, 10) * 1000 + 100;
  const t = Date.parse(ra);
  if (Number.isNaN(t)) return undefined;
  return Math.max(0, t - (Date.parse(res.headers.date) || Date.now())) + 100;
}

// Runs step() until it gives something other than {again}; pauses grow, four repeats at most.
async function persist(what, step) {
  for (let n = 0; ; n++) {
    let out;
    try { out = await step(); } catch (e) {
      if (e instanceof Stop) throw e;
      out = { again: e.message };
    }
    if (!out.again) return out;
    if (n === 4) throw new Stop(`${what}: ${out.again} (five tries)`);
    const ms = Math.max(out.after ?? 400 * 2 ** n, 150);
    if (ms >= left()) throw new Stop(`${what}: ${out.again}; the pause of ${ms} ms is beyond this run`);
    console.error(`poll: ${what}: ${out.again}, pause ${ms} ms`);
    await wait(ms);
  }
}

let bearer, expires = 0;
async function token() {
  if (bearer && Date.now() < expires) return bearer;
  const form = new URLSearchParams();
  form.set('grant_type', 'client_credentials');
  form.set('client_id', env('RIN_CLIENT_ID'));
  form.set('client_secret', env('RIN_CLIENT_SECRET'));
  const body = form.toString();
  const { doc } = await persist('token', async () => {
    const r = await send(TOKEN_URL, { method: 'POST', body, headers: {
      'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': Buffer.byteLength(body), Accept: 'application/json' } });
    if (r.status === 200) return { doc: JSON.parse(r.body) };
    if (r.status === 429 || r.status >= 500) return { again: `status ${r.status}`, after: asked(r) };
    throw new Stop(`token refused, ${r.status}: ${r.body.slice(0, 200)}`);
  });
  if (!doc || typeof doc.access_token !== 'string') throw new Stop('no access_token in the answer');
  bearer = doc.access_token;
  expires = doc.expires_in > 0 ? Date.now() + doc.expires_in * 1000 * 0.9 : Infinity;
  return bearer;
}

let etag;                       // validator of the list that `known` was made from
let known = new Map();          // id -> fingerprint

async function round() {
  let fresh = 0;
  return persist('list', async () => {
    for (;;) {
      const h = { Authorization: `Bearer ${await token()}`, Accept: 'application/json' };
      if (etag) h['If-None-Match'] = etag;
      const r = await send(LIST, { headers: h });
      if (r.status === 304 && etag) return { same: true };
      if (r.status === 200) {
        const list = JSON.parse(r.body);
        if (!Array.isArray(list)) return { again: 'not a list' };
        return { list, etag: r.headers.etag };
      }
      if (r.status === 401 && fresh++ === 0) { bearer = undefined; continue; }
      if (r.status === 429 || r.status >= 500) return { again: `status ${r.status}`, after: asked(r) };
      throw new Stop(`list: ${r.status} ${r.body.slice(0, 200)}`);
    }
  });
}

try {
  for (let i = 0; i < ROUNDS; i++) {
    if (i) await wait(GAP_MS);
    const r = await round();
    if (r.same) { console.log(`round ${i + 1}: unchanged (${known.size})`); continue; }
    const now = new Map(r.list.map((x) => [x.id, createHash('sha1').update(JSON.stringify(x)).digest('hex')]));
    let plus = 0, changed = 0, minus = 0;
    for (const [id, fp] of now) if (!known.has(id)) plus++; else if (known.get(id) !== fp) { changed++; console.log(`~ ${id}`); }
    for (const id of known.keys()) if (!now.has(id)) { minus++; console.log(`- ${id}`); }
    console.log(`round ${i + 1}: ${now.size} running calls, +${plus} ~${changed} -${minus}`);
    known = now;
    etag = r.etag;
  }
  process.exit(0);
} catch (e) {
  die(e.message);
}
