// Feed for the intranet: calls for universities, by pages of 20, as a JSON feed on stdout.

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
  if (ra && /^\d+$/.test(ra)) return Number(ra) * 1000 + 50;
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

async function* pages(filter) {
  const address = (offset) => {
    const u = new URL(LIST_URL);
    if (offset === 0) for (const [k, v] of Object.entries(filter)) u.searchParams.set(k, v);
    u.searchParams.set('page[page]', String(offset));
    u.searchParams.set('page[size]', '20');
    return u.href;
  };
  let offset = 0, url = address(0);
  for (;;) {
    const { rows, link } = await getList(url);
    yield rows;
    const next = nextOf(link, url);
    if (!next) return;
    const to = Number(new URL(next).searchParams.get('page[page]'));
    if (!(to > offset)) throw new Abort('the next link does not go on');
    offset = to;
    url = address(offset);
  }
}

const items = new Map();
try {
  for await (const rows of pages({ fundingType: 'CALL', targetGroup: 'UNIVERSITY', runningCalls: 'true' }))
    for (const r of rows)
      items.set(r.id, { id: r.id, url: r.website?.[0], title: (r.name.find((n) => n.lang === 'en') ?? r.name[0]).text });
  console.log(JSON.stringify({ version: 'https://jsonfeed.org/version/1.1', title: 'Calls', items: [...items.values()] }, null, 1));
  console.error(`${items.size} items`);
} catch (e) {
  console.error('feed:', e.message);
  process.exitCode = 1;
}
