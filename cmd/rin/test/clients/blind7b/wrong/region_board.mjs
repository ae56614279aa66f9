// Board in the foyer: the running calls of each province, two provinces at a time, two drawings.
// Every panel follows the pages of its own filter. Ends with 0 if the board was always complete.
import { setTimeout as sleep } from 'node:timers/promises';

const settings = ['RIN_TOKEN_URL', 'RIN_FUNDINGS_URL', 'RIN_CLIENT_ID', 'RIN_CLIENT_SECRET'].map((name) => process.env[name]);
if (settings.some((value) => !value)) { console.error('board: the RIN_ variables are not set'); process.exit(64); }
const [TOKEN_URL, LIST_URL, CLIENT_ID, CLIENT_SECRET] = settings;
const PROVINCES = ['VIENNA', 'BURGENLAND', 'LOWER_AUSTRIA', 'CARINTHIA', 'UPPER_AUSTRIA', 'SALZBURG', 'STYRIA', 'TYROL', 'VORARLBERG'];
const PAGE_SIZE = 100, MAX_TRIES = 5;
const home = new URL(LIST_URL).origin;
const curtain = Date.now() + 50_000;

class Hopeless extends Error {}
const say = (text) => console.error(`board: ${text}`);

let quietUntil = 0;                  // both readers keep still until then
async function exchange(url, init) {
  while (quietUntil > Date.now()) await sleep(quietUntil - Date.now());
  const left = curtain - Date.now();
  if (left < 1) throw new Hopeless('the time is up');
  const res = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(Math.min(left, 15_000)) });
  return [res, await res.text()];
}

async function hold(tries, reason, res) {
  if (tries >= MAX_TRIES) throw new Hopeless(`${reason}, tried ${tries} times`);
  let ms = 500 * 2 ** (tries - 1);
  const retryAfter = res?.headers.get('retry-after');
  if (retryAfter) ms = parseInt(retryAfter, 10) * 1000;
  if (Date.now() + ms > curtain) throw new Hopeless(`${reason}, and ${ms} ms to wait`);
  say(`${reason}; waiting ${ms} ms`);
  if (res) quietUntil = Math.max(quietUntil, Date.now() + ms);
  await sleep(ms);
}

let ticket = null;
const signedIn = () => (ticket ??= signIn());
async function signIn() {
  for (let tries = 1; ; tries++) {
    let reason, busy = null;
    try {
      const [res, text] = await exchange(TOKEN_URL, {
        method: 'POST', headers: { accept: 'application/json' },
        body: new URLSearchParams({ grant_type: 'client_credentials', client_id: CLIENT_ID, client_secret: CLIENT_SECRET }),
      });
      reason = `token endpoint answered ${res.status}`;
      if (res.status === 200) {
        const { access_token: token } = JSON.parse(text);
        if (token) return token;
      } else if (res.status === 429 || res.status >= 500) busy = res;
      else throw new Hopeless(reason);
    } catch (e) {
      if (e instanceof Hopeless) throw e;
      reason = `token endpoint: ${e.message}`;
    }
    await hold(tries, reason, busy);
  }
}

const cache = new Map();             // complete pages by address
async function read(address) {
  let fresh = false, empty = 0, at = address, moves = 0;
  for (let tries = 1; ;) {
    const mine = signedIn(), old = cache.get(address);
    const headers = { accept: 'application/json', authorization: `Bearer ${await mine}` };
    if (old?.etag) headers['if-none-match'] = old.etag;
    let reason, busy = null;
    try {
      const [res, text] = await exchange(at, { headers });
      reason = `status ${res.status}`;
      if (res.status === 304 && old) return old;
      if (res.status === 200) {
        const calls = JSON.parse(text);
        if (!Array.isArray(calls)) throw new Hopeless('the list is not an array');
        const link = /<([^>]*)>\s*;\s*rel="?next/.exec(res.headers.get('link') ?? '');
        const next = link ? new URL(link[1], at) : null;
        if (next && next.origin !== home) throw new Hopeless(`the next page is at ${next.origin}`);
        if (calls.length || !next || ++empty > 2) {
          const page = { etag: next && calls.length < PAGE_SIZE ? null : res.headers.get('etag'), calls, next: next?.href };
          cache.set(address, page);
          return page;
        }
        reason = 'an empty page before the end';
      } else if (res.status === 401 && !fresh) {
        fresh = true;
        if (ticket === mine) ticket = null;
        continue;
      } else if ([301, 302, 307, 308].includes(res.status)) {
        const to = new URL(res.headers.get('location') ?? '', at);
        if (to.origin !== home || ++moves > 3) throw new Hopeless(`moved to ${to}`);
        at = to.href;
        continue;
      } else if (res.status === 429 || res.status >= 500) busy = res.headers.has('retry-after') ? res : null;
      else throw new Hopeless(`${reason} ${res.headers.get('www-authenticate') ?? ''}`);
    } catch (e) {
      if (e instanceof Hopeless) throw e;
      reason = e.message;
    }
    await hold(tries++, reason, busy);
  }
}

async function province(region) {
  const first = new URL(LIST_URL);
  first.search = new URLSearchParams({ runningCalls: 'true', region, 'page[page]': '0', 'page[size]': String(PAGE_SIZE) }).toString();
  const calls = new Map(), visited = new Set();
  for (let at = first.href; at;) {
    if (visited.has(at)) throw new Hopeless('the pages form a circle');
    visited.add(at);
    const page = await read(at);
    for (const call of page.calls) calls.set(call.id, call);
    at = page.next;
  }
  return calls.size;
}

try {
  for (const drawing of [1, 2]) {
    if (drawing > 1) await sleep(6000);
    const waiting = [...PROVINCES], counts = {};
    const reader = async () => { while (waiting.length) { const region = waiting.shift(); counts[region] = await province(region); } };
    await Promise.all([reader(), reader()]);
    console.log(`drawing ${drawing}: ` + PROVINCES.map((region) => `${region} ${counts[region]}`).join(', '));
  }
} catch (e) {
  say(`not complete: ${e.message}`);
  process.exit(1);
}
