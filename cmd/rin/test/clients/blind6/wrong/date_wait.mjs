// Harvests all fundings page by page and writes them as JSON lines; Retry-After
// of the node is obeyed.
import { setTimeout as sleep } from 'node:timers/promises';

const env = process.env;
const end = Date.now() + 50_000;
const MAX_TRIES = 8;
const SIZE = 90;

class NodeError extends Error {}

let token = null;
let unproven = 0; // new tokens in a row of which none was good

async function login() {
  const res = await fetch(env.RIN_TOKEN_URL, {
    method: 'POST',
    redirect: 'manual',
    signal: AbortSignal.timeout(12_000),
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: env.RIN_CLIENT_ID,
      client_secret: env.RIN_CLIENT_SECRET,
    }),
  });
  if (res.status !== 200) throw new NodeError(`token endpoint: ${res.status}`);
  return (await res.json()).access_token;
}

async function rest(ms) {
  if (Date.now() + ms > end) throw new NodeError('the node needs more time than there is');
  await sleep(ms);
}

// The wait in milliseconds.
function pauseOf(res, attempt) {
  const value = res?.headers.get('retry-after');
  if (value) return parseInt(value, 10) * 1000;
  return Math.min(500 * 2 ** attempt, 8000);
}

function sameHost(here, target) {
  const there = new URL(target, here);
  if (there.origin !== new URL(here).origin) {
    throw new NodeError(`not followed with a token: ${there}`);
  }
  return there;
}

function nextOf(url, res) {
  for (const link of (res.headers.get('link') ?? '').split(/,\s*(?=<)/)) {
    const match = /^<([^>]*)>(.*)$/.exec(link.trim());
    if (match && /;\s*rel="?next"?/.test(match[2])) return sameHost(url, match[1]);
  }
  return null;
}

// Returns the records of a page and the address of the next one.
async function page(start) {
  let url = start;
  let why = '';
  let emptyBefore = false;
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
    token ??= await login();
    let res = null;
    try {
      res = await fetch(url, {
        headers: { Authorization: `Bearer ${token}`, Accept: 'application/json' },
        redirect: 'manual',
        signal: AbortSignal.timeout(12_000),
      });
      const text = await res.text();
      if (res.status === 200) {
        unproven = 0;
        const records = JSON.parse(text);
        if (!Array.isArray(records)) throw new NodeError('the answer is not a list');
        const next = nextOf(url, res);
        if (records.length > 0 || !next || emptyBefore) return { records, next };
        emptyBefore = true;
        why = 'an empty page before the end';
      } else if (res.status === 401 && unproven < 1) {
        unproven++;
        token = null;
        continue;
      } else if (res.status === 307 || res.status === 308) {
        url = sameHost(url, res.headers.get('location') ?? '');
        continue;
      } else if (res.status === 429 || res.status >= 500) {
        why = `${res.status}`;
      } else {
        throw new NodeError(`${res.status}: ${text.slice(0, 200)}`);
      }
    } catch (error) {
      if (error instanceof NodeError) throw error;
      why = String(error);
    }
    console.error(`${url.search}: ${why}`);
    await rest(pauseOf(res, attempt));
  }
  throw new NodeError(`${url.search}: ${why}, ${MAX_TRIES} times`);
}

try {
  const found = new Map();
  let url = new URL(env.RIN_FUNDINGS_URL);
  url.search = new URLSearchParams({ 'page[page]': '0', 'page[size]': String(SIZE) });
  while (url) {
    const { records, next } = await page(url);
    for (const record of records) found.set(record.id, record);
    url = next;
  }
  for (const record of found.values()) process.stdout.write(`${JSON.stringify(record)}\n`);
  console.error(`${found.size} fundings`);
} catch (error) {
  console.error(`incomplete: ${error.message}`);
  process.exitCode = 1;
}
