// Dashboard: running calls of each province, all searches at the same time.
const env = process.env;
const home = new URL(env.RIN_FUNDINGS_URL);
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));

function pause(res, i) {
  const v = (res.headers.get('retry-after') ?? '').trim();
  if (/^\d+$/.test(v)) return Number(v) * 1000 + 50;
  return v && Date.parse(v) ? Math.max(1000, Date.parse(v) - Date.now()) : 1000 * 2 ** i;
}

async function patient(url, init) {
  for (let i = 0; ; i++) {
    const res = await fetch(url, { ...init, signal: AbortSignal.timeout(20000) });
    if ((res.status !== 429 && res.status !== 503) || i === 6) return res;
    await res.arrayBuffer();
    await sleep(pause(res, i));
  }
}

async function login() {
  const res = await patient(env.RIN_TOKEN_URL, { method: 'POST', redirect: 'error', body: new URLSearchParams({
    grant_type: 'client_credentials', client_id: env.RIN_CLIENT_ID, client_secret: env.RIN_CLIENT_SECRET }) });
  if (!res.ok) throw new Error(`login: ${res.status}`);
  return (await res.json()).access_token;
}

let token;
async function get(url) {
  if (new URL(url).origin !== home.origin) throw new Error(`other host: ${url}`);
  token ??= await login();
  let res = await patient(url, { headers: { authorization: `Bearer ${token}` } });
  if (res.status === 401) {
    token = await login();
    res = await patient(url, { headers: { authorization: `Bearer ${token}` } });
  }
  if (res.status !== 200) throw new Error(`${res.status} at ${url}`);
  const page = await res.json();
  if (!Array.isArray(page)) throw new Error('no list');
  return { page, link: res.headers.get('link'), at: res.url };
}

async function list(filter, size) {
  const address = (skip) => {
    const u = new URL(home);
    for (const [k, v] of Object.entries(filter)) u.searchParams.set(k, v);
    u.searchParams.set('page[size]', size);
    if (skip) u.searchParams.set('page[page]', skip);
    return u.href;
  };
  const records = new Map();
  const asked = new Set();
  let read = 0;
  for (let url = address(0); url;) {
    if (asked.has(url)) throw new Error('loop');
    asked.add(url);
    const { page, link, at } = await get(url);
    page.forEach((f) => records.set(f.id, f));
    read += page.length;
    const next = /<([^>]*)>\s*;\s*rel="?next\b/.exec(link ?? '')?.[1];
    url = next ? new URL(next, at).href : page.length && link === null ? address(read) : null;
  }
  return records;
}

const provinces = ['VIENNA', 'BURGENLAND', 'LOWER_AUSTRIA', 'CARINTHIA', 'UPPER_AUSTRIA', 'SALZBURG', 'STYRIA', 'TYROL', 'VORARLBERG'];
try {
  const found = await Promise.all(provinces.map((region) => list({ region, runningCalls: true }, 200)));
  provinces.forEach((p, i) => console.log(p, found[i].size));
} catch (e) {
  console.error('failed:', e.message);
  process.exit(1);
}
