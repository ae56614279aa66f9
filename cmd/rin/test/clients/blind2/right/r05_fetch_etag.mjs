// Node's own fetch. Reads the list page by page (Link: rel=next), and looks again
// twice, a while later, with If-None-Match for each page.
const env = process.env;
const end = Date.now() + 16000;
setTimeout(() => { console.error("out of time"); process.exit(1); }, 19000).unref();
const sleep = ms => new Promise(f => setTimeout(f, ms));
class Stop extends Error {}

async function pause(ms) {
  if (Date.now() + ms > end) throw new Stop(`cannot wait ${ms} ms`);
  await sleep(ms);
}
function waitFor(n, res) {
  const h = res?.headers.get("retry-after");
  if (h) {
    if (/^\d+$/.test(h.trim())) return Number(h) * 1000 + 100;
    const t = Date.parse(h);
    if (!Number.isNaN(t)) return Math.max(0, t - Date.now()) + 1000;
  }
  return 500 * 2 ** n + Math.random() * 300;
}
const transient = s => s === 429 || s >= 500;

let token = null, tokenEnd = 0;
async function bearer() {
  if (token && Date.now() < tokenEnd) return token;
  const enc = s => encodeURIComponent(s).replace(/%20/g, "+");
  const basic = Buffer.from(`${enc(env.RIN_CLIENT_ID)}:${enc(env.RIN_CLIENT_SECRET)}`).toString("base64");
  for (let n = 0; n < 5; n++) {
    let res, body;
    try {
      res = await fetch(env.RIN_TOKEN_URL, {
        method: "POST", redirect: "error", signal: AbortSignal.timeout(8000),
        headers: { Authorization: `Basic ${basic}`, Accept: "application/json" },
        body: new URLSearchParams({ grant_type: "client_credentials" }),
      });
      body = await res.text();
    } catch { await pause(waitFor(n)); continue; }
    if (transient(res.status)) { await pause(waitFor(n, res)); continue; }
    if (res.status !== 200) throw new Stop(`token endpoint: ${res.status} ${body.slice(0, 200)}`);
    let t;
    try { t = JSON.parse(body); } catch { await pause(waitFor(n)); continue; }
    if (!t.access_token || String(t.token_type).toLowerCase() !== "bearer") throw new Stop("no bearer token");
    token = t.access_token;
    tokenEnd = Date.now() + Number(t.expires_in ?? 300) * 900;
    return token;
  }
  throw new Stop("no token");
}

const cache = new Map(); // url -> {etag, page, next}
async function load(url) {
  let renewed = false;
  for (let n = 0; n < 5; n++) {
    const known = cache.get(url);
    const headers = { Authorization: `Bearer ${await bearer()}`, Accept: "application/json" };
    if (known?.etag) headers["If-None-Match"] = known.etag;
    let res, body;
    try {
      res = await fetch(url, { headers, redirect: "error", signal: AbortSignal.timeout(8000) });
      body = await res.text();
    } catch { await pause(waitFor(n)); continue; }
    if (res.status === 304 && known) return known;
    if (res.status === 401 && !renewed) { renewed = true; token = null; continue; }
    if (transient(res.status)) { await pause(waitFor(n, res)); continue; }
    if (res.status !== 200) throw new Stop(`${url}: ${res.status}`);
    try {
      const page = JSON.parse(body);
      if (!Array.isArray(page)) throw new Error("no array");
      const m = /<([^>]*)>\s*;[^,]*rel="?next"?/.exec(res.headers.get("link") ?? "");
      const entry = { etag: res.headers.get("etag"), page, next: m && new URL(m[1], url).href };
      cache.set(url, entry);
      return entry;
    } catch { await pause(waitFor(n)); }
  }
  throw new Stop(`${url}: too many tries`);
}

async function harvest() {
  const start = new URL(env.RIN_FUNDINGS_URL);
  start.searchParams.set("page[page]", "0");
  start.searchParams.set("page[size]", "80");
  const records = new Map();
  const seen = new Set();
  for (let url = start.href; url;) {
    if (seen.has(url) || new URL(url).origin !== start.origin) throw new Stop("odd next link");
    seen.add(url);
    const { page, next } = await load(url);
    for (const r of page) records.set(r.id, r);
    url = next;
  }
  return records.size;
}

try {
  for (let i = 0; i < 3; i++) {
    if (i) await pause(1500);
    console.log(await harvest(), "fundings");
  }
} catch (e) {
  console.error("failed:", e.message);
  process.exitCode = 1;
}
