// Counts and stores what is not a call: one list per type, three workers, one shared
// token and one shared brake (a Retry-After that one worker gets holds all of them).
import { mkdtemp, writeFile, rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

const TYPES = ['AWARD', 'GRANT', 'SCHOLARSHIP', 'RESEARCH_CONTRACT', 'PROGRAMME', 'ONGOING_CALL'];

class GiveUp extends Error {}

class Node {
  #token; #goodUntil = 0; #pending; #brake = Promise.resolve(); #end = Date.now() + 20_000;
  constructor(e) {
    this.tokenUrl = e.RIN_TOKEN_URL; this.listUrl = e.RIN_FUNDINGS_URL;
    this.id = e.RIN_CLIENT_ID; this.secret = e.RIN_CLIENT_SECRET;
    if (!this.tokenUrl || !this.listUrl || !this.id || !this.secret) throw new GiveUp('environment incomplete');
  }

  async #raw(url, init) {
    await this.#waitForBrake();
    const remaining = this.#end - Date.now();
    if (remaining < 1) throw new GiveUp('time is up');
    const r = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(Math.min(remaining, 8000)) });
    return { code: r.status, h: r.headers, body: await r.text() };
  }
  async #waitForBrake() {
    let b;
    do { b = this.#brake; await b; } while (b !== this.#brake);
  }
  #hold(ms) {
    const before = this.#brake;
    this.#brake = Promise.all([before, new Promise((ok) => setTimeout(ok, ms))]);
  }
  static #seconds(h) {
    const v = h.get('retry-after');
    if (v === null) return null;
    if (/^\s*\d+\s*$/.test(v)) return +v;
    const d = Date.parse(v), base = Date.parse(h.get('date')) || Date.now();
    return Number.isNaN(d) ? null : Math.max(0, (d - base) / 1000);
  }

  async #stubborn(label, attempt) {
    for (let n = 1; ; n++) {
      let reason;
      try {
        const r = await attempt();
        if ('value' in r) return r.value;
        reason = `HTTP ${r.code}`;
        const s = Node.#seconds(r.h);
        if (s !== null && n < 5) {
          if (Date.now() + s * 1000 > this.#end) throw new GiveUp(`${label}: ${reason}, asked to wait ${s} s`);
          console.error(`${label}: ${reason}, all wait ${s} s`);
          this.#hold(s * 1000 + 80);
          if (s > 0) continue;
        }
      } catch (err) {
        if (err instanceof GiveUp) throw err;
        reason = err.cause?.code ?? err.message;
      }
      if (n >= 5) throw new GiveUp(`${label}: ${reason}, tried ${n} times`);
      const ms = 250 * 2 ** n + Math.random() * 200;
      if (Date.now() + ms > this.#end) throw new GiveUp(`${label}: ${reason}, no time left`);
      console.error(`${label}: ${reason}, retry in ${ms | 0} ms`);
      await new Promise((ok) => setTimeout(ok, ms));
    }
  }

  token() {
    if (this.#token && Date.now() < this.#goodUntil) return this.#token;
    this.#pending ??= this.#stubborn('token', async () => {
      const r = await this.#raw(this.tokenUrl, {
        method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: `grant_type=client_credentials&${new URLSearchParams({ client_id: this.id, client_secret: this.secret })}`,
      });
      if (r.code === 429 || r.code >= 500) return r;
      if (r.code !== 200) throw new GiveUp(`token: HTTP ${r.code} ${r.body.slice(0, 200)}`);
      const t = JSON.parse(r.body);
      if (!t.access_token) throw new GiveUp('token: no access_token');
      this.#token = t.access_token;
      this.#goodUntil = t.expires_in ? Date.now() + t.expires_in * 920 : Infinity;
      return { value: this.#token };
    }).finally(() => { this.#pending = undefined; });
    return this.#pending;
  }

  list(query) {
    const u = new URL(this.listUrl);
    for (const [k, v] of Object.entries(query)) u.searchParams.set(k, v);
    let renewals = 0;
    return this.#stubborn(u.search, async () => {
      for (;;) {
        const tok = await this.token();
        const r = await this.#raw(u, { headers: { Authorization: 'Bearer ' + tok, Accept: 'application/json' } });
        if (r.code === 200) {
          const a = JSON.parse(r.body);
          if (!Array.isArray(a)) throw new Error('no array');
          return { value: a };
        }
        if (r.code === 401 && renewals < 2) {
          renewals++;
          if (this.#token === tok) this.#token = undefined;   // another worker may have renewed it already
          continue;
        }
        if (r.code === 429 || r.code >= 500) return r;
        throw new GiveUp(`${u.search}: HTTP ${r.code} ${r.body.slice(0, 200)}`);
      }
    });
  }
}

const queue = [...TYPES];
const result = {};
async function worker(node) {
  for (let t; (t = queue.shift()); ) {
    try { result[t] = await node.list({ fundingType: t }); }
    catch (e) { queue.length = 0; throw e; }
  }
}

try {
  const node = new Node(process.env);
  await node.token();
  const ends = await Promise.allSettled([worker(node), worker(node), worker(node)]);
  const bad = ends.find((e) => e.status === 'rejected');
  if (bad) throw bad.reason;
  const dir = await mkdtemp(path.join(tmpdir(), 'rin-types-'));
  for (const t of TYPES) {
    const f = path.join(dir, t.toLowerCase() + '.json');
    await writeFile(f + '.part', JSON.stringify(result[t]));
    await rename(f + '.part', f);
    console.log(`${t.padEnd(18)} ${String(result[t].length).padStart(4)}  ${f}`);
  }
} catch (e) {
  console.error('failed:', e.message);
  process.exitCode = 1;
}
