// Dashboard of funding calls: four panels, each a filter of the list, drawn three times.
// A redraw asks conditionally (If-None-Match), two panels are read at a time.
// Ends with 0 if every panel was complete in every drawing.
import { setTimeout as sleep } from 'node:timers/promises';

const need = (name) => {
  const value = process.env[name];
  if (!value) { console.error(`${name} is not set`); process.exit(64); }
  return value;
};
const TOKEN_URL = need('RIN_TOKEN_URL');
const LIST = new URL(need('RIN_FUNDINGS_URL'));
const CLIENT_ID = need('RIN_CLIENT_ID');
const SECRET = need('RIN_CLIENT_SECRET');
const DRAWINGS = 3, EVERY = 4000, ATTEMPTS = 5, PAGE = 50;
const deadline = Date.now() + 50_000;

const PANELS = {
  'running in Vienna': { runningCalls: 'true', region: 'VIENNA' },
  'running, for companies': { runningCalls: 'true', targetGroup: 'COMPANY' },
  'programmes': { fundingType: 'PROGRAMME' },
  'open all year': { fundingType: 'ONGOING_CALL' },
};

class Final extends Error {}          // repeating does not help
const log = (...words) => console.error('dashboard:', ...words);
let notBefore = 0;                    // the node's wish, for both readers

function wish(res) {                  // Retry-After in ms, both forms
  const value = res.headers.get('retry-after')?.trim();
  if (!value) return null;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const then = Date.parse(value);
  const now = Date.parse(res.headers.get('date') ?? '') || Date.now();
  return Number.isNaN(then) ? null : Math.max(0, then - now);
}

async function raw(url, init) {       // one request, the body read to its end
  while (Date.now() < notBefore) await sleep(notBefore - Date.now());
  const left = deadline - Date.now();
  if (left <= 0) throw new Final('out of time');
  const res = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(Math.min(left, 15_000)) });
  return { res, text: await res.text() };
}

async function backOff(attempt, res, why) {
  if (attempt >= ATTEMPTS) throw new Final(`${why}, ${attempt} times`);
  const asked = res ? wish(res) : null;
  const pause = asked ?? 500 * 2 ** (attempt - 1) + Math.random() * 200;
  if (Date.now() + pause > deadline) throw new Final(`${why}; a pause of ${pause} ms is too long`);
  log(`${why}; waiting ${Math.round(pause)} ms`);
  if (asked !== null) notBefore = Math.max(notBefore, Date.now() + pause);
  await sleep(pause);
}

let fetching = null;                  // one token for both readers
function token() { return (fetching ??= newToken().catch((e) => { fetching = null; throw e; })); }
async function newToken() {
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: CLIENT_ID, client_secret: SECRET });
  for (let attempt = 1; ; attempt++) {
    let res, text;
    try { ({ res, text } = await raw(TOKEN_URL, { method: 'POST', body, headers: { accept: 'application/json' } })); } catch (e) {
      if (e instanceof Final) throw e;
      await backOff(attempt, null, `token endpoint: ${e.message}`);
      continue;
    }
    if (res.status === 200) {
      let answer = null;
      try { answer = JSON.parse(text); } catch { /* below */ }
      if (typeof answer?.access_token === 'string') return answer.access_token;
      await backOff(attempt, null, 'token endpoint: unreadable answer');
    } else if (res.status === 429 || res.status >= 500) await backOff(attempt, res, `token endpoint: ${res.status}`);
    else throw new Final(`token endpoint: ${res.status}`);
  }
}

const known = new Map();              // url -> { etag, items, next } of complete answers
async function page(url) {
  let hops = 0, renewed = false, empties = 0;
  for (let attempt = 1, target = url; ;) {
    const used = token(), have = known.get(url.href);
    const headers = { accept: 'application/json', authorization: `Bearer ${await used}` };
    if (have?.etag) headers['if-none-match'] = have.etag;
    let res, text;
    try { ({ res, text } = await raw(target, { headers })); } catch (e) {
      if (e instanceof Final) throw e;
      await backOff(attempt++, null, e.message);
      continue;
    }
    if (res.status === 304 && have) return have;
    if (res.status === 200) {
      let items = null;
      try { items = JSON.parse(text); } catch { /* below */ }
      if (Array.isArray(items)) {
        const link = /<([^>]*)>\s*;\s*rel="?next"?/.exec(res.headers.get('link') ?? '');
        const next = link ? new URL(link[1], target) : null;
        if (next && next.origin !== LIST.origin) throw new Final(`the next page is on another host: ${next.origin}`);
        if (next && items.length === 0 && empties++ < 2) {   // an index being built? ask once more
          await backOff(attempt++, res, 'an empty page that has a next one');
          continue;
        }
        const whole = !next || items.length === PAGE;         // revalidate only what looked complete
        const read = { etag: whole ? res.headers.get('etag') : null, items, next };
        known.set(url.href, read);
        return read;
      }
      await backOff(attempt++, null, 'the answer is not a complete JSON array');
    } else if (res.status === 401 && !renewed) {
      renewed = true;
      if (fetching === used) fetching = null;   // the other reader may have a new one already
    } else if ([301, 302, 307, 308].includes(res.status)) {
      const to = new URL(res.headers.get('location') ?? '', target);
      if (to.origin !== LIST.origin || ++hops > 3) throw new Final(`redirected to ${to.href}`);
      target = to;
    } else if (res.status === 429 || res.status >= 500) await backOff(attempt++, res, `status ${res.status}`);
    else throw new Final(`status ${res.status}: ${res.headers.get('www-authenticate') ?? text.slice(0, 200)}`);
  }
}

async function panel(filter) {
  const first = new URL(LIST);
  for (const [name, value] of Object.entries({ ...filter, 'page[page]': 0, 'page[size]': PAGE })) first.searchParams.set(name, value);
  const rows = new Map(), seen = new Set();
  for (let url = first; url;) {
    if (seen.has(url.href)) throw new Final('the pages go round in a circle');
    seen.add(url.href);
    const read = await page(url);
    for (const item of read.items) rows.set(item.id, item);
    url = read.next;
  }
  return rows;
}

try {
  for (let drawing = 1; drawing <= DRAWINGS; drawing++) {
    if (drawing > 1) await sleep(EVERY);
    const todo = Object.entries(PANELS), done = new Map();
    const reader = async () => { for (let job; (job = todo.shift());) done.set(job[0], await panel(job[1])); };
    await Promise.all([reader(), reader()]);
    console.log(`drawing ${drawing}: ` + Object.keys(PANELS).map((name) => `${name} ${done.get(name).size}`).join(' | '));
  }
} catch (e) {
  log(`incomplete: ${e.message}`);
  process.exit(1);
}
