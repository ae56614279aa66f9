// Resumable harvester on node:http streams. Each page goes to disk, then the checkpoint. When a run
// breaks (500, cut, unreadable), the next run begins at the checkpoint after a pause; at most four runs.
import http from 'node:http';
import https from 'node:https';
import { mkdtempSync, readFileSync, rmSync, writeFileSync, appendFileSync, existsSync, renameSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';

const env = process.env;
const LIST = new URL(env.RIN_FUNDINGS_URL);
const dir = mkdtempSync(join(tmpdir(), 'harvest-'));
const files = { mark: join(dir, 'checkpoint.json'), data: join(dir, 'fundings.ndjson') };

class Final extends Error {} // repeating would not help

function exchange(method, url, headers, body) {
  return new Promise((resolve, reject) => {
    const req = (url.protocol === 'https:' ? https : http).request(url, { method, headers, timeout: 20000 }, (res) => {
      const chunks = [];
      res.on('data', (c) => chunks.push(c));
      res.on('error', reject);
      res.on('close', () => (res.complete ? resolve({ status: res.statusCode, headers: res.headers, text: Buffer.concat(chunks).toString() }) : reject(new Error('cut'))));
    });
    req.on('timeout', () => req.destroy(new Error('timeout')));
    req.on('error', reject);
    req.end(body);
  });
}

async function patient(...args) {
  for (let i = 1; ; i++) {
    const a = await exchange(...args);
    if (a.status !== 429 && a.status !== 503) return a;
    if (i === 7) throw new Final(`${a.status} seven times`);
    const v = (a.headers['retry-after'] ?? '').trim();
    const t = Date.parse(v);
    await pause(/^\d+$/.test(v) ? Math.max(1, v) * 1000 + 20 : v && t ? Math.max(1000, t - Date.now() + 20) : i * 1000);
  }
}

let token = null;
async function logIn() {
  const a = await patient('POST', new URL(env.RIN_TOKEN_URL), { 'content-type': 'application/x-www-form-urlencoded' },
    new URLSearchParams({ grant_type: 'client_credentials', client_id: env.RIN_CLIENT_ID, client_secret: env.RIN_CLIENT_SECRET }).toString());
  if (a.status >= 400 && a.status < 500) throw new Final(`no token: ${a.status}`);
  if (a.status !== 200) throw new Error(`no token: ${a.status}`);
  token = JSON.parse(a.text).access_token;
  if (!token) throw new Final('no token in the answer');
}

async function get(url) {
  let renewed = false;
  for (let hops = 0; hops < 5;) {
    if (url.origin !== LIST.origin) throw new Final(`leads away from the node: ${url}`);
    if (!token) await logIn();
    const a = await patient('GET', url, { authorization: `Bearer ${token}` });
    if (a.status === 401 && !renewed) {
      renewed = true;
      token = null;
    } else if ([301, 302, 303, 307, 308].includes(a.status)) {
      hops++;
      url = new URL(a.headers.location, url);
    } else if (a.status >= 400 && a.status < 500) {
      throw new Final(`${a.status} ${url}`);
    } else if (a.status !== 200) {
      throw new Error(`${a.status} ${url}`);
    } else {
      const page = JSON.parse(a.text);
      if (!Array.isArray(page)) throw new Final('no list');
      return { page, link: a.headers.link, url };
    }
  }
  throw new Final('redirects');
}

const load = () => (existsSync(files.mark) ? JSON.parse(readFileSync(files.mark)) : { next: null, read: 0, asked: [] });

async function* pages() {
  const mark = load();
  const at = (skip) => `${LIST.href}?page%5Bpage%5D=${skip}&page%5Bsize%5D=60`;
  let next = mark.next ?? at(0);
  while (next) {
    if (mark.asked.includes(next)) throw new Final('circle');
    const { page, link, url } = await get(new URL(next));
    mark.asked.push(next);
    mark.read += page.length;
    const m = /<([^>]*)>[^<]*?;\s*rel\s*=\s*"?(?:[^"<]*\s)?next\b/i.exec(link ?? '');
    next = m ? new URL(m[1], url).href : page.length && !link ? at(mark.read) : null;
    yield { page, mark: { ...mark, next } };
  }
}

async function run() {
  const seen = new Set(existsSync(files.data) ? readFileSync(files.data, 'utf8').split('\n').filter(Boolean).map((l) => JSON.parse(l).id) : []);
  await pipeline(
    Readable.from(pages(), { highWaterMark: 1 }),
    new Transform({
      objectMode: true,
      highWaterMark: 1,
      transform({ page, mark }, _, done) {
        const fresh = page.filter((f) => !seen.has(f.id) && seen.add(f.id));
        done(null, { lines: fresh.map((f) => JSON.stringify(f) + '\n').join(''), mark });
      },
    }),
    new Writable({
      objectMode: true,
      highWaterMark: 1,
      write({ lines, mark }, _, done) {
        try {
          appendFileSync(files.data, lines);
          writeFileSync(files.mark + '~', JSON.stringify(mark));
          renameSync(files.mark + '~', files.mark);
          done();
        } catch (e) {
          done(e);
        }
      },
    }),
  );
  return seen.size;
}

process.exitCode = 1;
try {
  for (let i = 1; i <= 4; i++) {
    try {
      console.log(`${await run()} fundings after ${i} run(s)`);
      process.exitCode = 0;
      break;
    } catch (e) {
      console.error(`run ${i}: ${e.message}`);
      if (e instanceof Final) break;
      if (i < 4) await pause(i * 1000);
    }
  }
} finally {
  rmSync(dir, { recursive: true });
}
