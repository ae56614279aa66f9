// Deadline monitor: keeps an eye on the calls that run, three rounds, and prints those whose
// stage ends soonest; a changed deadline is shown. Ends with 0 if each round was complete.
import { setTimeout as sleep } from 'node:timers/promises';

const { RIN_TOKEN_URL: tokenUrl, RIN_FUNDINGS_URL: listUrl, RIN_CLIENT_ID: id, RIN_CLIENT_SECRET: secret } = process.env;
for (const [name, value] of Object.entries({ tokenUrl, listUrl, id, secret })) {
  if (!value) { console.error(`deadlines: ${name} is not in the environment`); process.exit(64); }
}
const ROUNDS = 3, PAUSE = 5000, PAGE = 40;
const alarm = AbortSignal.timeout(45_000);          // the program as a whole
const here = new URL(listUrl);

class Unrecoverable extends Error {}

function delay(response, attempt) {
  const header = response?.headers.get('retry-after') ?? '';
  if (/^\d+$/.test(header)) return +header * 1000;
  const date = Date.parse(header);
  if (!Number.isNaN(date)) {
    const sent = Date.parse(response.headers.get('date') ?? '');
    return Math.max(0, date - (Number.isNaN(sent) ? Date.now() : sent));
  }
  return 300 * 2 ** attempt;
}

async function again(what, call) {                  // call → { response, text }, repeated while it may help
  for (let attempt = 1; ; attempt++) {
    let response = null, reason;
    try {
      const result = await call(AbortSignal.any([alarm, AbortSignal.timeout(12_000)]));
      if (result.response.status !== 429 && result.response.status < 500) return result;
      response = result.response;
      reason = `status ${response.status}`;
    } catch (e) {
      if (alarm.aborted) throw new Unrecoverable(`${what}: out of time`);
      reason = e.message;
    }
    if (attempt === 5) throw new Unrecoverable(`${what}: ${reason}, five times`);
    const ms = delay(response, attempt);
    if (ms > 30_000) throw new Unrecoverable(`${what}: ${reason}, a pause of ${ms} ms`);
    console.error(`deadlines: ${what}: ${reason}, waiting ${ms} ms`);
    await sleep(ms, undefined, { signal: alarm });
  }
}

let token = null;
async function login() {
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: id, client_secret: secret });
  const { response, body } = await again('token', async (signal) => {
    const response = await fetch(tokenUrl, { method: 'POST', body: form, signal, redirect: 'error' });
    const text = await response.text();
    return { response, body: response.status === 200 ? JSON.parse(text) : null };
  });
  if (!body?.access_token) throw new Unrecoverable(`token endpoint: ${response.status}`);
  token = body.access_token;
}

const pages = new Map();
async function getPage(url, hops = 0) {
  if (!token) await login();
  const known = pages.get(url.href);
  const headers = { accept: 'application/json', authorization: `Bearer ${token}` };
  if (known?.etag) headers['if-none-match'] = known.etag;
  const { response, text, items } = await again(url.pathname, async (signal) => {
    const response = await fetch(url, { headers, signal, redirect: 'manual' });
    const text = await response.text();
    return { response, text, items: response.status === 200 ? JSON.parse(text) : null };
  });
  if (response.status === 304 && known) return known;
  if (response.status === 401) {                    // expired: a new token, and once more
    console.error('deadlines: the token is not accepted any more, fetching a new one');
    token = null;
    await sleep(250, undefined, { signal: alarm });
    return getPage(url, hops);
  }
  if ([301, 302, 307, 308].includes(response.status)) {
    const to = new URL(response.headers.get('location') ?? '', url);
    if (to.origin !== here.origin || hops > 2) throw new Unrecoverable(`redirected to ${to.href}`);
    return getPage(to, hops + 1);
  }
  if (response.status !== 200 || !Array.isArray(items)) throw new Unrecoverable(`status ${response.status}: ${text.slice(0, 150)}`);
  const match = /<([^>]+)>;\s*rel="next"/.exec(response.headers.get('link') ?? '');
  const next = match && new URL(match[1], url);
  if (next && next.origin !== here.origin) throw new Unrecoverable(`a next page at ${next.origin}`);
  const page = { items, next, etag: next && items.length < PAGE ? null : response.headers.get('etag') };
  pages.set(url.href, page);
  return page;
}

async function readAll() {
  const found = new Map();
  const first = new URL(here);
  first.search = String(new URLSearchParams({ runningCalls: 'true', 'page[page]': '0', 'page[size]': String(PAGE) }));
  const seen = new Set();
  for (let url = first; url && !seen.has(url.href);) {
    seen.add(url.href);
    let page = await getPage(url);
    for (let n = 1; page.items.length === 0 && page.next && n < 3; n++) {   // an index being built?
      await sleep(700 * n, undefined, { signal: alarm });
      page = await getPage(url);
    }
    for (const item of page.items) found.set(item.id, item);
    url = page.next;
  }
  return found;
}

const ends = (call) => (call.callStages ?? []).map((s) => s.callStageEnd).filter(Boolean).sort()[0] ?? 'open end';
let before = null;
try {
  for (let round = 1; round <= ROUNDS; round++) {
    if (round > 1) await sleep(PAUSE, undefined, { signal: alarm });
    const now = await readAll();
    const soonest = [...now.values()].sort((a, b) => ends(a).localeCompare(ends(b))).slice(0, 3);
    console.log(`round ${round}: ${now.size} calls run; next: ` + soonest.map((c) => `${c.id} ${ends(c).slice(0, 10)}`).join(', '));
    for (const [key, call] of now) {
      const old = before?.get(key);
      if (before && (!old || ends(old) !== ends(call))) console.log(`  ${old ? 'moved' : 'new'}: ${key} ${ends(call)}`);
    }
    before = now;
  }
} catch (e) {
  console.error(`deadlines: ${alarm.aborted ? 'out of time' : e.message}`);
  process.exit(1);
}
