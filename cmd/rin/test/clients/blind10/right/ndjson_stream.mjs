// Data pipeline: pages -> records -> rows, as streams with back-pressure, into an NDJSON file that gets its name only at the end.
import http from 'node:http';
import https from 'node:https';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rename, rm, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGzip, gunzipSync } from 'node:zlib';

const E = process.env, home = new URL(E.RIN_FUNDINGS_URL), SIZE = 100;
const mod = u => (u.protocol === 'https:' ? https : http);
const agents = { 'http:': new http.Agent({ keepAlive: true }), 'https:': new https.Agent({ keepAlive: true }) };

const raw = (url, { method = 'GET', headers = {}, body } = {}) => new Promise((ok, fail) => {
  const u = new URL(url);
  const q = mod(u).request(u, { method, headers, agent: agents[u.protocol], timeout: 30000 }, res => {
    const parts = [];
    res.on('data', d => parts.push(d));
    res.on('end', () => res.complete ? ok({ status: res.statusCode, headers: res.headers, body: Buffer.concat(parts) }) : fail(new Error('cut')));
    res.on('aborted', () => fail(new Error('answer cut')));
    res.on('error', fail);
  });
  q.on('timeout', () => q.destroy(new Error('timeout')));
  q.on('error', fail);
  q.end(body);
});
async function send(url, o) {
  for (let n = 0; n < 6; n++) {
    const r = await raw(url, o);
    if (r.status !== 429 && r.status !== 503) return r;
    const v = r.headers['retry-after'] ?? '2';
    const ms = /^\d+$/.test(v) ? v * 1000 : Math.max(500, Date.parse(v) - Date.parse(r.headers.date));
    if (!(ms <= 20000)) throw new Error(`pause of ${ms} ms`);
    await sleep(ms + 50);
  }
  throw new Error('busy six times');
}
let token;
async function login() {
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: E.RIN_CLIENT_ID, client_secret: E.RIN_CLIENT_SECRET }).toString();
  const r = await send(E.RIN_TOKEN_URL, { method: 'POST', body,
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'content-length': Buffer.byteLength(body) } });
  if (r.status !== 200) throw new Error(`token: ${r.status}`);
  token = JSON.parse(r.body).access_token;
}
async function get(url, hops = 0, renewed = false) {
  if (new URL(url).host !== home.host || new URL(url).protocol !== home.protocol) throw new Error(`foreign address ${url}`);
  const r = await send(url, { headers: { authorization: `Bearer ${token}`, accept: 'application/json' } });
  if (r.status === 401 && !renewed) { await login(); return get(url, hops, true); }
  if ([301, 302, 307, 308].includes(r.status) && hops < 2) return get(new URL(r.headers.location, url).href, hops + 1, renewed);
  if (r.status !== 200) throw new Error(`${r.status} for ${url}`);
  return r;
}
async function* pages() {
  await login();
  const u = new URL(home), seen = new Set();
  u.searchParams.set('page[size]', SIZE);
  let url = u.href, skip = 0;
  while (url) {
    if (seen.has(url)) throw new Error('circle of pages');
    seen.add(url);
    const r = await get(url), rows = JSON.parse(r.body);
    yield rows;
    const m = /<([^>]*)>\s*;\s*rel="?next\b/.exec(r.headers.link ?? '');
    if (m) url = new URL(m[1], url).href;
    else if (r.headers.link === undefined && rows.length) { u.searchParams.set('page[page]', skip += SIZE); url = u.href; }
    else url = null;
  }
}
const ids = new Set();
const flatten = new Transform({ objectMode: true, transform(rows, _, cb) {
  for (const r of rows) if (!ids.has(r.id)) { ids.add(r.id); this.push(r); }
  cb();
} });
const lines = new Transform({ writableObjectMode: true, transform(r, _, cb) {
  cb(null, JSON.stringify({ id: r.id, type: r.type, name: r.name, subjects: r.subjects }) + '\n');
} });
const dir = await mkdtemp(join(tmpdir(), 'pipe-'));
try {
  await pipeline(Readable.from(pages(), { highWaterMark: 1 }), flatten, lines, createGzip(), createWriteStream(join(dir, 'part')));
  await rename(join(dir, 'part'), join(dir, 'fundings.ndjson.gz'));
  console.log(gunzipSync(await readFile(join(dir, 'fundings.ndjson.gz'))).toString().trim().split('\n').length, 'lines');
} catch (e) {
  console.error('pipeline failed:', e.message);
  process.exitCode = 1;
} finally {
  await rm(dir, { recursive: true });
  Object.values(agents).forEach(a => a.destroy());
}
