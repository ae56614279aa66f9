// Export of all fundings by two readers at a time (Node 20, fetch).
// The specification says that page[page] is the number of records to skip, so
// pages can be asked for by offset; a page without rel="next" is the last one.
// A pause that the node asks for holds up both readers.
const SIZE = 50;
const READERS = 2;
const ATTEMPTS = 5;
const deadline = Date.now() + 50_000;
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
class Failed extends Error {}

const env = (name) => {
  if (!process.env[name]) throw new Failed(`${name} is not set`);
  return process.env[name];
};

let quietUntil = 0; // no reader sends anything before this moment
async function gate() {
  while (quietUntil > Date.now()) await sleep(quietUntil - Date.now());
}
function hold(ms, why) {
  if (Date.now() + ms > deadline) throw new Failed(`${why}; no time left to wait ${ms} ms`);
  console.error(`${why}; all readers pause ${Math.round(ms)} ms`);
  quietUntil = Math.max(quietUntil, Date.now() + ms);
}

function pauseFor(response, attempt) {
  const own = 500 * 2 ** attempt;
  const value = response?.headers.get('retry-after')?.trim();
  if (!value) return own;
  if (/^\d+$/.test(value)) return Math.max(Number(value) * 1000, own);
  const gap = Date.parse(value) - Date.parse(response.headers.get('date'));
  return Number.isNaN(gap) ? 10_000 : Math.max(gap, own);
}

let pending = null; // one login for both readers
let token = null;
function login(refused) {
  if (token && token !== refused) return Promise.resolve(token);
  pending ??= send(env('RIN_TOKEN_URL'), {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: env('RIN_CLIENT_ID'),
      client_secret: env('RIN_CLIENT_SECRET'),
    }),
  }, false).then(({ body }) => {
    if (typeof body?.access_token !== 'string') throw new Failed('no access_token in the answer');
    token = body.access_token;
    return token;
  }).finally(() => { pending = null; });
  return pending;
}

async function send(address, options, withToken) {
  let url = new URL(address);
  let refused = null;
  let hops = 0;
  for (let attempt = 0; ;) {
    const headers = { accept: 'application/json' };
    let mine = null;
    if (withToken) {
      mine = await login(refused);
      headers.authorization = `Bearer ${mine}`;
    }
    await gate();
    let response = null;
    let why;
    try {
      response = await fetch(url, { ...options, headers, redirect: 'manual', signal: AbortSignal.timeout(12_000) });
      const text = await response.text();
      if (response.status === 200) return { response, body: JSON.parse(text) };
      why = `${url.pathname} answered ${response.status}`;
    } catch (err) {
      why = `${url.pathname}: broken answer (${err.name})`;
    }
    if (response?.status === 307 || response?.status === 308) {
      const target = new URL(response.headers.get('location') ?? '', url);
      if (target.origin !== url.origin) throw new Failed(`redirected to ${target.host}: not followed`);
      if (++hops > 3) throw new Failed('too many redirects');
      url = target;
      continue;
    }
    if (response?.status === 401 && withToken && refused === null) {
      refused = mine;
      continue;
    }
    const again = !response || response.status === 200 || response.status === 429 || response.status >= 500;
    if (!again || ++attempt >= ATTEMPTS) {
      throw new Failed(`${why} ${response?.headers.get('www-authenticate') ?? ''}`);
    }
    hold(pauseFor(response, attempt - 1), why);
  }
}

const records = new Map();
const done = new Set();
let nextOffset = 0;
let end = Infinity; // offset of the last page, once it is known
let stopped = false;

async function reader() {
  while (!stopped && nextOffset <= end) {
    const offset = nextOffset;
    nextOffset += SIZE;
    const url = new URL(env('RIN_FUNDINGS_URL'));
    url.searchParams.set('page[page]', offset);
    url.searchParams.set('page[size]', SIZE);
    const { response, body } = await send(url, {}, true);
    if (!Array.isArray(body)) throw new Failed('a page is not an array');
    for (const record of body) records.set(record.id, record);
    done.add(offset);
    if (!/rel="?next"?/.test(response.headers.get('link') ?? '')) end = Math.min(end, offset);
  }
}

try {
  await Promise.all(Array.from({ length: READERS }, () => reader().catch((err) => {
    stopped = true;
    throw err;
  })));
  for (let offset = 0; offset <= end; offset += SIZE) {
    if (!done.has(offset)) throw new Failed(`the page at ${offset} is missing`);
  }
  if (records.size === 0) throw new Failed('the list is empty');
  console.log(`${records.size} records in ${done.size} pages`);
} catch (err) {
  console.error(`export incomplete: ${err.message}`);
  process.exitCode = 1;
}
