// Prints the running calls for one province (default VIENNA) as a table.

const { RIN_TOKEN_URL: TOKEN_URL, RIN_FUNDINGS_URL: LIST_URL, RIN_CLIENT_ID: ID, RIN_CLIENT_SECRET: SECRET } = process.env;
const until = Date.now() + 20000;
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
class Abort extends Error {}

async function http(url, init = {}) {
  const budget = Math.min(8000, until - Date.now());
  if (budget <= 0) throw new Abort('out of time');
  const res = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(budget) });
  const text = await res.text();
  if (res.status >= 300 && res.status < 400 && res.status !== 304) throw new Abort(`redirected (${res.status}), not followed`);
  return { status: res.status, headers: res.headers, text };
}

function waitFor(headers, attempt) {
  const ra = headers?.get('retry-after');
  if (ra && /^\d+$/.test(ra)) return Number(ra) + 50;
  if (ra && Date.parse(ra)) return Math.max(200, Date.parse(ra) - (Date.parse(headers.get('date')) || Date.now()) + 50);
  return 300 * 2 ** attempt + Math.random() * 100;
}

async function repeat(name, once) {
  for (let attempt = 1; ; attempt++) {
    let why, headers;
    try {
      const out = await once();
      if (!out.retry) return out;
      ({ retry: why, headers } = out);
    } catch (e) {
      if (e instanceof Abort) throw e;
      why = e.cause?.message || e.message;
    }
    const ms = waitFor(headers, attempt);
    if (attempt === 5 || Date.now() + ms > until) throw new Abort(`${name}: ${why} (${attempt} tries)`);
    console.error(`${name}: ${why} - retry in ${Math.round(ms)} ms`);
    await sleep(ms);
  }
}

let cached, validTo = 0;
async function token() {
  if (cached && Date.now() < validTo) return cached;
  const { json } = await repeat('token', async () => {
    const r = await http(TOKEN_URL, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'client_credentials', client_id: ID, client_secret: SECRET }),
    });
    if (r.status === 200) return { json: JSON.parse(r.text) };
    if (temporary(r.status)) return { retry: `status ${r.status}`, headers: r.headers };
    throw new Abort(`token: ${r.status} ${r.text}`);
  });
  if (!json.access_token) throw new Abort('token: none in the answer');
  validTo = json.expires_in ? Date.now() + json.expires_in * 1000 * 0.9 : Infinity;
  return (cached = json.access_token);
}

const temporary = (s) => s === 429 || s >= 500;

async function getList(url) {
  let renewed = 0;
  return repeat(new URL(url).search || 'list', async () => {
    for (;;) {
      const t = await token();
      const r = await http(url, { headers: { Authorization: `Bearer ${t}`, Accept: 'application/json' } });
      if (r.status === 200) {
        const rows = JSON.parse(r.text);
        if (!Array.isArray(rows)) throw new Error('no list');
        return { rows, link: r.headers.get('link') };
      }
      if (r.status === 401 && renewed++ < 2) {
        if (cached === t) cached = undefined;
        continue;
      }
      if (temporary(r.status)) return { retry: `status ${r.status}`, headers: r.headers };
      throw new Abort(`${url}: ${r.status} ${r.text.slice(0, 200)}`);
    }
  });
}

function nextOf(link, base) {
  for (const m of (link ?? '').matchAll(/<([^>]*)>([^<]*)/g)) {
    const rel = /;\s*rel\s*=\s*"?([^";,]*)"?/i.exec(m[2]);
    if (rel && rel[1].toLowerCase().split(/\s+/).includes('next')) return new URL(m[1], base).href;
  }
  return null;
}

async function main(region = 'VIENNA') {
  const first = new URL(LIST_URL);
  first.searchParams.set('region', region);
  first.searchParams.set('runningCalls', 'true');
  first.searchParams.set('page[page]', 0);
  first.searchParams.set('page[size]', 25);
  const rows = new Map(), visited = new Set();
  for (let url = first.href; url; ) {
    if (visited.has(url) || new URL(url).origin !== first.origin) throw new Abort(`bad next link ${url}`);
    visited.add(url);
    const page = await getList(url);
    for (const r of page.rows) rows.set(r.id, r);
    url = nextOf(page.link, url);
  }
  for (const r of rows.values())
    console.log(`${r.id}  ${(r.callStages?.at(-1)?.callStageEnd ?? 'open').slice(0, 10).padEnd(10)}  ${r.name[0].text}`);
  console.error(`${rows.size} calls`);
}
main(process.argv[2]).catch((e) => { console.error('error:', e.message); process.exit(1); });
