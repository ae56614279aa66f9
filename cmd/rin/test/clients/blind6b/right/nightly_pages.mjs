// Nightly job, played twice within one run: the first night reads all pages,
// the second asks for the same pages with If-None-Match and replaces only what
// changed. The state is a map of page address -> {etag, ids, next}; a page
// enters it only when its JSON was read completely.
const NIGHTS = 2;
const BETWEEN = 6_000;
const SIZE = 80;
const stopAt = Date.now() + 52_000;

const { RIN_FUNDINGS_URL, RIN_TOKEN_URL, RIN_CLIENT_ID, RIN_CLIENT_SECRET } = process.env;
const home = new URL(RIN_FUNDINGS_URL).origin;
const wait = (ms) => new Promise((r) => { setTimeout(r, ms); });

function fail(message) {
  throw Object.assign(new Error(message), { final: true });
}

async function patiently(ms, reason) {
  if (Date.now() + ms >= stopAt) fail(`${reason}; the pause of ${ms} ms does not fit this run`);
  console.error(`${reason}: pause of ${ms} ms`);
  await wait(ms);
}

function askedPause(res) {
  const value = res.headers.get('retry-after');
  if (value === null) return 0;
  if (/^\d+$/.test(value)) return 1000 * Number(value);
  const span = new Date(value) - new Date(res.headers.get('date') ?? Date.now());
  return Number.isFinite(span) ? Math.max(0, span) : 10_000;
}

// Returns {status, headers, data}; data only for a complete 200.
async function transfer(start, makeInit) {
  let address = start;
  let redirects = 0;
  for (let tries = 1; ; tries++) {
    let problem;
    let asked = 0;
    try {
      const res = await fetch(address, { ...makeInit(), redirect: 'manual', signal: AbortSignal.timeout(12_000) });
      if ([301, 302, 307, 308].includes(res.status)) {
        await res.body?.cancel();
        const to = new URL(res.headers.get('location') ?? '', address);
        if (to.origin !== new URL(address).origin) fail(`redirect to ${to.host} refused`);
        if (++redirects > 3) fail('redirected too often');
        address = to.href;
        tries--;
        continue;
      }
      const text = await res.text();
      if (res.status === 200) return { status: 200, headers: res.headers, data: JSON.parse(text) };
      if (res.status < 500 && res.status !== 429) return { status: res.status, headers: res.headers };
      problem = `${res.status} from ${new URL(address).pathname}`;
      asked = askedPause(res);
    } catch (err) {
      if (err.final) throw err;
      problem = `incomplete answer (${err.name})`;
    }
    if (tries >= 5) fail(`five attempts: ${problem}`);
    await patiently(Math.max(asked, 400 * 2 ** tries), problem);
  }
}

let bearer = null;
async function signIn() {
  const form = new URLSearchParams({ grant_type: 'client_credentials' });
  form.set('client_id', RIN_CLIENT_ID);
  form.set('client_secret', RIN_CLIENT_SECRET);
  const answer = await transfer(RIN_TOKEN_URL, () => ({ method: 'POST', body: form }));
  bearer = answer.data?.access_token ?? fail(`token endpoint: ${answer.status}`);
}

async function readPage(url, etag) {
  for (let fresh = false; ; fresh = true) {
    if (bearer === null) await signIn();
    const headers = { Authorization: `Bearer ${bearer}`, Accept: 'application/json' };
    if (etag) headers['If-None-Match'] = etag;
    const answer = await transfer(url, () => ({ headers }));
    if (answer.status === 200 || (answer.status === 304 && etag)) return answer;
    if (answer.status !== 401 || fresh) fail(`${answer.status} ${answer.headers.get('www-authenticate') ?? ''}`);
    bearer = null;
  }
}

function nextOf(headers, url) {
  for (const part of (headers.get('link') ?? '').split(/,\s*(?=<)/)) {
    const m = /^<([^>]*)>(.*)$/.exec(part.trim());
    if (!m || !/;\s*rel="?next"?/i.test(m[2])) continue;
    const next = new URL(m[1], url);
    if (next.origin !== home) fail(`next page at ${next.host}: the token stays here`);
    return next.href;
  }
  return null;
}

async function night(old) {
  const state = new Map();
  let unchanged = 0;
  let url = `${RIN_FUNDINGS_URL}?page%5Bsize%5D=${SIZE}`;
  while (url !== null) {
    if (state.has(url)) fail('the list leads back to a page already read');
    const before = old.get(url);
    const answer = await readPage(url, before?.etag);
    if (answer.status === 304) {
      state.set(url, before);
      unchanged++;
    } else {
      if (!Array.isArray(answer.data)) fail('a page is no array');
      // An empty page with a successor is suspicious: its ETag is not kept.
      const etag = answer.data.length > 0 ? answer.headers.get('etag') : null;
      state.set(url, { etag, ids: answer.data.map((r) => r.id), next: nextOf(answer.headers, url) });
    }
    url = state.get(url).next;
  }
  const ids = new Set([...state.values()].flatMap((page) => page.ids));
  if (ids.size === 0) fail('no records at all; the state of yesterday stays');
  console.log(`${ids.size} records, ${state.size} pages, ${unchanged} unchanged`);
  return state;
}

try {
  let state = new Map();
  for (let n = 1; n <= NIGHTS; n++) {
    state = await night(state);
    if (n < NIGHTS) await wait(BETWEEN);
  }
} catch (err) {
  console.error(`nightly job failed: ${err.message}`);
  process.exitCode = 1;
}
