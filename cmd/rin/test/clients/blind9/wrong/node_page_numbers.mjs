// Reads page after page by their numbers: page 0, page 1, page 2, until a page is empty.
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

const next = (link) => /<[^>]*>\s*;\s*rel="?next\b/.test(link ?? '');
try {
  const all = new Map();
  for (let number = 0; ; number++) {
    const url = new URL(home);
    url.searchParams.set('page[size]', 20);
    url.searchParams.set('page[page]', number);
    const { page, link } = await get(url.href);
    page.forEach((f) => all.set(f.id, f));
    if (page.length === 0 && !next(link)) break;
  }
  console.log(all.size, 'fundings');
} catch (e) {
  console.error('failed:', e.message);
  process.exit(1);
}
