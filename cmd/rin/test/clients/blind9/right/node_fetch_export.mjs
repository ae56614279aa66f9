#!/usr/bin/env node
// CSV export with the built-in fetch: an async generator over the pages, no dependencies.
const { RIN_TOKEN_URL, RIN_FUNDINGS_URL, RIN_CLIENT_ID, RIN_CLIENT_SECRET } = process.env;
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
const home = new URL(RIN_FUNDINGS_URL).origin;

function retryAfterMs(res, attempt) {
  const v = (res.headers.get('retry-after') ?? '').trim();
  if (/^\d+$/.test(v)) return Math.max(1, Number(v)) * 1000 + 50;
  const t = Date.parse(v);
  if (v && !Number.isNaN(t)) return Math.max(1000, t - Date.now() + 100);
  return 1000 * 2 ** attempt;
}

async function patiently(send, tries = 7) {
  for (let attempt = 0; ; attempt++) {
    const res = await send();
    if (![429, 503].includes(res.status) || attempt === tries - 1) return res;
    await res.arrayBuffer();
    await sleep(retryAfterMs(res, attempt));
  }
}

let token;
async function login() {
  const res = await patiently(() => fetch(RIN_TOKEN_URL, {
    method: 'POST',
    redirect: 'error', // the secret goes nowhere else
    signal: AbortSignal.timeout(20000),
    body: new URLSearchParams({
      grant_type: 'client_credentials', client_id: RIN_CLIENT_ID, client_secret: RIN_CLIENT_SECRET,
    }),
  }));
  if (!res.ok) throw new Error(`token endpoint: ${res.status}`);
  token = (await res.json()).access_token;
  if (!token) throw new Error('token endpoint: no access_token');
}

async function get(url) {
  if (new URL(url).origin !== home) throw new Error(`not our node: ${url}`);
  const send = () => patiently(() => fetch(url, {
    headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
    signal: AbortSignal.timeout(20000), // fetch drops the header when a redirect leaves the origin
  }));
  if (!token) await login();
  let res = await send();
  if (res.status === 401 && new URL(res.url).origin === home) {
    await login();
    res = await send();
  }
  if (res.status !== 200) throw new Error(`${res.status} ${url}`);
  const page = await res.json();
  if (!Array.isArray(page)) throw new Error(`no array at ${url}`);
  return { page, link: res.headers.get('link'), at: res.url };
}

function next(link) {
  for (const m of (link ?? '').matchAll(/<([^>]*)>((?:\s*;\s*[\w*]+\s*=\s*(?:"[^"]*"|[^\s",;]+))*)/g)) {
    const rel = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s";,]+))/i.exec(m[2]);
    if (rel && (rel[1] ?? rel[2]).toLowerCase().split(/\s+/).includes('next')) return m[1];
  }
}

async function* fundings(size = 120) {
  const address = (skip) => `${RIN_FUNDINGS_URL}?page[page]=${skip}&page[size]=${size}`;
  const visited = new Set();
  let url = address(0);
  let count = 0;
  while (url) {
    if (visited.has(url)) throw new Error('circle of next links');
    visited.add(url);
    const { page, link, at } = await get(url);
    yield* page;
    count += page.length;
    const n = next(link);
    url = n ? new URL(n, at).href : page.length && link === null ? address(count) : null;
  }
}

const quote = (s) => `"${String(s ?? '').replaceAll('"', '""')}"`;
try {
  const rows = new Map();
  for await (const f of fundings()) {
    rows.set(f.id, [f.id, f.type, f.acronym, f.name.find((n) => n.lang === 'en')?.text ?? f.name[0]?.text]);
  }
  console.log('id,type,acronym,name');
  for (const r of rows.values()) console.log(r.map(quote).join(','));
} catch (e) {
  console.error(`export failed: ${e.message}`, e.cause?.message ?? '');
  process.exitCode = 1;
}
