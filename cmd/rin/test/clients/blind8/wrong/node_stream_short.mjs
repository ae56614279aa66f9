// Exports the list as NDJSON, through async generators: pages -> fundings -> lines.
import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const env = process.env;
const wait = (ms) => new Promise((r) => setTimeout(r, ms));

class ExportError extends Error {}

class Api {
  #token; #until = 0;

  static pause(res) {
    const h = res.headers.get('retry-after');
    if (h === null) return undefined;
    if (/^\s*\d+\s*$/.test(h)) return Number(h) * 1000;
    const until = new Date(h).getTime(), since = new Date(res.headers.get('date') ?? Date.now()).getTime();
    return Number.isFinite(until - since) ? Math.max(0, until - since) : undefined;
  }

  async #send(input, init) {
    const home = new URL(input).origin;
    let url = input, faults = 0, pauses = 0, hops = 0;
    while (true) {
      let res, body, note;
      try {
        res = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(20000) });
        body = await res.text();
        if (res.ok) return { res, json: JSON.parse(body), url };
        note = `HTTP ${res.status}`;
      } catch (error) {
        note = error.name === 'SyntaxError' ? 'incomplete JSON' : String(error.cause ?? error);
        res = null;
      }
      if (res && [429, 503].includes(res.status) && Api.pause(res) !== undefined) {
        if (++pauses > 6 || Api.pause(res) > 600_000) throw new ExportError(`${note}, and again`);
        await wait(Api.pause(res) + 100);
      } else if (res && res.status >= 300 && res.status < 400 && res.headers.has('location')) {
        url = new URL(res.headers.get('location'), url).href;
        if (++hops > 4 || new URL(url).origin !== home) throw new ExportError(`redirect to ${url}`);
      } else if (!res || res.status === 429 || res.status >= 500) {
        if (++faults > 3) throw new ExportError(`${url}: ${note}`);
        await wait([400, 1200, 3000][faults - 1]);
      } else return { res, url };
    }
  }

  async #renew() {
    const basic = [env.RIN_CLIENT_ID, env.RIN_CLIENT_SECRET].map((s) => encodeURIComponent(s).replace(/%20/g, '+')).join(':');
    const { res, json } = await this.#send(env.RIN_TOKEN_URL, {
      method: 'POST',
      headers: { authorization: 'Basic ' + Buffer.from(basic).toString('base64'), 'content-type': 'application/x-www-form-urlencoded' },
      body: 'grant_type=client_credentials',
    });
    if (!json?.access_token) throw new ExportError(`token endpoint: HTTP ${res.status}`);
    this.#token = json.access_token;
    this.#until = Date.now() + (Number(json.expires_in) || 1e7) * 900;
  }

  async get(url) {
    if (!this.#token || Date.now() >= this.#until) await this.#renew();
    const ask = () => this.#send(url, { headers: { Authorization: `Bearer ${this.#token}`, Accept: 'application/json' } });
    let answer = await ask();
    if (answer.res.status === 401) {
      await this.#renew();
      answer = await ask();
    }
    if (!answer.json) throw new ExportError(`${url}: HTTP ${answer.res.status}`);
    return answer;
  }
}

function nextOf(link) {
  for (const m of (link ?? '').matchAll(/<([^>]*)>([^<]*)/g)) if (/\brel\s*=\s*"?[^";]*\bnext\b/i.test(m[2])) return m[1];
  return null;
}

async function* pages(api, list, size) {
  const at = (n) => { const u = new URL(list); u.searchParams.set('page[page]', n); u.searchParams.set('page[size]', size); return u.href; };
  const asked = new Set();
  let url = at(0), read = 0;
  while (url) {
    if (asked.has(url) || asked.size >= 250) throw new ExportError(`no end after ${asked.size} pages`);
    asked.add(url);
    const { res, json, url: here } = await api.get(url);
    if (!Array.isArray(json)) throw new ExportError('the list is no array');
    yield json;
    read += json.length;
    const link = res.headers.get('link');
    if (json.length < size) url = null;
    else if (link) {
      const next = nextOf(link);
      url = next && new URL(next, here).href;
      if (url && new URL(url).origin !== new URL(list).origin) throw new ExportError(`the next page is at ${url}`);
    } else url = json.length ? at(read) : null;
  }
}

async function* fundings(source) {
  const ids = new Set();
  let same = 0;
  for await (const page of source) {
    const fresh = page.filter((f) => !ids.has(f.id) && ids.add(f.id));
    same = page.length && !fresh.length ? same + 1 : 0;
    if (same > 2) throw new ExportError('the same fundings page after page');
    yield* fresh;
  }
}

async function* lines(source) {
  for await (const f of source) yield JSON.stringify(f) + '\n';
}

const folder = env.EXPORT_DIR ?? (await mkdtemp(join(tmpdir(), 'export-')));
const file = join(folder, 'fundings.ndjson');
try {
  await pipeline(Readable.from(lines(fundings(pages(new Api(), env.RIN_FUNDINGS_URL, 35)))), createWriteStream(file));
  console.log(`${(await stat(file)).size} bytes`);
} catch (e) {
  await rm(file, { force: true });
  console.error(`export: ${e.message}`);
  process.exitCode = 1;
} finally {
  if (!env.EXPORT_DIR) await rm(folder, { recursive: true, force: true });
}
