// A loader as GraphQL servers have it: fields ask for fundings by id, the loader collects the ids of
// one tick, asks for each only once, and for a few at a time.
const { RIN_TOKEN_URL: TOKEN, RIN_FUNDINGS_URL: LIST, RIN_CLIENT_ID: ID, RIN_CLIENT_SECRET: SECRET } = process.env;
const delay = (ms) => new Promise((r) => setTimeout(r, ms));

class Gate {
  opens = 0; gap = 0; tail = Promise.resolve();
  enter() {
    const turn = this.tail.then(async () => {
      for (let rest; (rest = this.opens - Date.now()) > 0; ) await delay(rest + 1);
      if (this.gap) await delay(this.gap);
      for (let rest; (rest = this.opens - Date.now()) > 0; ) await delay(rest + 1);
    });
    this.tail = turn;
    return turn;
  }
  close(ms) { this.opens = Math.max(this.opens, Date.now() + ms + 100); this.gap = 120; }
}

const gate = new Gate();
let dead = null;

function retryAfter(headers) {
  const v = headers.get('retry-after');
  if (v && /^\d+$/.test(v.trim())) return 1000 * v;
  const t = Date.parse(v ?? ''), d = Date.parse(headers.get('date') ?? '');
  return Number.isNaN(t) ? null : Math.max(0, t - (Number.isNaN(d) ? Date.now() : d));
}

async function request(url, init) {
  let faults = 0, waits = 0, hops = 0;
  for (;;) {
    await gate.enter();
    if (dead) throw dead;
    let res = null, json, note;
    try {
      res = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(18000) });
      const text = await res.text();
      json = res.status === 200 ? JSON.parse(text) : undefined;
      note = `status ${res.status}`;
    } catch (e) {
      note = `${e.name}: ${e.message}`;
      res = null;
    }
    const pause = res && (res.status === 429 || res.status === 503) ? retryAfter(res.headers) : null;
    if (pause !== null) {
      if (++waits > 6 || pause > 600000) throw new Error(`${url}: ${note}`);
      gate.close(pause);
    } else if (!res || res.status === 429 || res.status >= 500) {
      if (++faults > 3) throw new Error(`${url}: ${note}`);
      await delay(350 * 2 ** faults);
    } else if ([301, 302, 303, 307, 308].includes(res.status)) {
      const to = new URL(res.headers.get('location') ?? '', url);
      if (++hops > 3 || to.origin !== new URL(url).origin) throw new Error(`redirect to ${to}`);
      url = to.href;
    } else return { res, json, url };
  }
}

let token = null; // a promise of { value, until }

function login() {
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: ID, client_secret: SECRET });
  return request(TOKEN, { method: 'POST', body }).then(({ res, json }) => {
    if (!json?.access_token) throw new Error(`no token: ${res.status}`);
    return { value: json.access_token, until: Date.now() + (json.expires_in ?? 1e6) * 850 };
  });
}

async function bearer(refused) {
  token ??= login();
  const mine = token;
  const t = await mine;
  if (t.value === refused || Date.now() > t.until) {
    if (token === mine) token = login();
    return token;
  }
  return t;
}

async function get(url) {
  let t = await bearer();
  const ask = () => request(url, { headers: { authorization: `Bearer ${t.value}`, accept: 'application/json' } });
  let answer = await ask();
  if (answer.res.status === 401) {
    t = await bearer(t.value);
    answer = await ask();
  }
  if (answer.res.status !== 200) throw new Error(`${url}: status ${answer.res.status}`);
  return answer;
}

class Loader {
  #cache = new Map(); #queue = []; #running = 0;
  constructor(fetchOne, width) { this.fetchOne = fetchOne; this.width = width; }
  load(key) {
    if (!this.#cache.has(key)) {
      this.#cache.set(key, new Promise((resolve, reject) => {
        if (!this.#queue.length) setImmediate(() => this.#pump());
        this.#queue.push({ key, resolve, reject });
      }));
    }
    return this.#cache.get(key);
  }
  #pump() {
    while (this.#running < this.width && this.#queue.length) {
      const { key, resolve, reject } = this.#queue.shift();
      this.#running++;
      this.fetchOne(key).then(resolve, reject).finally(() => { this.#running--; this.#pump(); });
    }
  }
}

const fundings = new Loader(async (id) => (await get(`${LIST.replace(/\/$/, '')}/${encodeURIComponent(id)}`)).json, 4);

async function ids(limit) {
  const address = (n) => `${LIST}?${new URLSearchParams({ fundingType: 'CALL', 'page[page]': n, 'page[size]': limit })}`;
  const found = new Set(), asked = new Set();
  let skip = 0;
  for (let url = address(0); url && found.size < limit; ) {
    if (asked.has(url) || asked.size > 60) throw new Error('the list has no end');
    asked.add(url);
    const { res, json, url: at } = await get(url);
    if (!Array.isArray(json)) throw new Error('the list is no array');
    json.forEach((f) => found.add(f.id));
    skip += json.length;
    const link = res.headers.get('link');
    if (link) {
      const next = /<([^>]*)>\s*;\s*rel="?next"?/.exec(link)?.[1];
      url = next ? new URL(next, at).href : null;
      if (url && new URL(url).origin !== new URL(LIST).origin) throw new Error(`the list goes on at ${url}`);
    } else url = json.length ? address(skip) : null;
  }
  return [...found].slice(0, limit);
}

// Two resolvers that want the same fundings, as fields of a query do.
const title = async (id) => (await fundings.load(id)).name?.[0]?.text ?? '';
const deadline = async (id) => (await fundings.load(id)).callStages?.at(-1)?.callStageEnd ?? 'open';

try {
  const rows = (await ids(14)).map((id) => Promise.all([id, title(id), deadline(id)]).catch((e) => { dead ??= e; throw e; }));
  const settled = await Promise.allSettled(rows);
  const bad = settled.find((s) => s.status === 'rejected');
  if (bad) throw dead ?? bad.reason;
  for (const { value } of settled) console.log(value.join('\t'));
} catch (e) {
  console.error(`loader: ${e.message}`);
  process.exitCode = 1;
}
