// Twenty detail records, five at a time (p-limit over fetch). The first failure stops the others.
import pLimit from 'p-limit';

const env = process.env;
const list = new URL(env.RIN_FUNDINGS_URL);
const stop = new AbortController();
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));

let brake = Promise.resolve();
let brakeEnd = 0;
function pull(ms) {
  const end = Date.now() + ms;
  if (end > brakeEnd) {
    brakeEnd = end;
    brake = sleep(ms);
  }
}
async function braked() {
  for (let b; b !== brake;) {
    b = brake;
    await b;
  }
}

function wait(res, i) {
  const h = res.headers.get('retry-after');
  if (h && /^\s*\d+\s*$/.test(h)) return Math.max(1, parseInt(h, 10)) * 1000 + 60;
  const t = h ? Date.parse(h) : NaN;
  return t ? Math.max(1000, t - Date.now() + 60) : 1200 * (i + 1);
}

async function request(url, init) {
  for (let i = 0; i < 7; i++) {
    await braked();
    stop.signal.throwIfAborted();
    const res = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.any([stop.signal, AbortSignal.timeout(20000)]) });
    if (res.status !== 429 && res.status !== 503) return res;
    pull(wait(res, i));
    await res.arrayBuffer();
  }
  throw new Error(`the node is still busy: ${url}`);
}

let session = null;
let logins = 0;
function signIn() {
  session ??= (async () => {
    logins++;
    const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: env.RIN_CLIENT_ID, client_secret: env.RIN_CLIENT_SECRET });
    const res = await request(env.RIN_TOKEN_URL, { method: 'POST', body });
    if (res.status !== 200) throw new Error(`sign in: ${res.status}`);
    const { access_token: token } = await res.json();
    if (!token) throw new Error('sign in: no token');
    return { token };
  })();
  return session;
}

async function get(url) {
  let renewed = false;
  for (let hops = 0; hops < 6;) {
    if (url.origin !== list.origin) throw new Error(`refusing ${url.origin}`);
    const mine = signIn();
    const { token } = await mine;
    const res = await request(url, { headers: { authorization: `Bearer ${token}` } });
    if (res.status === 401 && !renewed) {
      renewed = true;
      if (session === mine) session = null;
    } else if ([301, 302, 303, 307, 308].includes(res.status)) {
      hops++;
      url = new URL(res.headers.get('location'), url);
    } else if (res.status === 200) {
      return { data: await res.json(), links: res.headers.get('link') ?? '', url };
    } else throw new Error(`${res.status} for ${url}`);
  }
  throw new Error('too many redirects');
}

async function firstIds(n) {
  const ids = new Set();
  let url = new URL(list);
  url.searchParams.set('page[size]', n);
  const been = new Set();
  let read = 0;
  while (url && ids.size < n) {
    if (been.has(url.href)) throw new Error('loop of links');
    been.add(url.href);
    const { data, links, url: at } = await get(url);
    if (!Array.isArray(data)) throw new Error('no list');
    data.forEach((f) => ids.add(f.id));
    read += data.length;
    const next = /<([^>]*)>[^<]*?;\s*rel\s*=\s*"?(?:[^"<]*\s)?next\b/i.exec(links);
    if (next) url = new URL(next[1], at);
    else if (data.length && !links) {
      url = new URL(list);
      url.searchParams.set('page[size]', n);
      url.searchParams.set('page[page]', read);
    } else url = null;
  }
  return [...ids].slice(0, n);
}

const limit = pLimit(5);
try {
  const ids = await firstIds(20);
  const records = await Promise.all(ids.map((id) => limit(async () => {
    try {
      const { data } = await get(new URL(`${list.pathname}/${encodeURIComponent(id)}`, list));
      if (data?.id !== id) throw new Error(`not the record ${id}`);
      return data;
    } catch (e) {
      stop.abort(e);
      throw e;
    }
  })));
  for (const r of records) console.log(r.id, r.contacts?.map((c) => c.email).join(' ') ?? '-');
} catch (e) {
  console.error('details are incomplete:', e.message);
  process.exitCode = 1;
}
