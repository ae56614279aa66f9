// Looks up some fundings by their ids, one after the other: the newest running
// calls, and one id from an old bookmark, of which it tells whether it still is.
import { setTimeout as sleep } from 'node:timers/promises';

const env = process.env;
const end = Date.now() + 50_000;
const MAX_TRIES = 5;
let token = null;

class NodeError extends Error {}

async function login() {
  for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
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
    if (res.status === 200) return (await res.json()).access_token;
    await res.body?.cancel();
    if (res.status !== 429 && res.status < 500) throw new NodeError(`token: ${res.status}`);
    await rest(pauseOf(res, attempt));
  }
  throw new NodeError('no token');
}

// Retry-After in seconds, or as a date that is compared with the answer's Date.
function pauseOf(res, attempt) {
  const own = Math.min(600 * 2 ** attempt, 8000);
  const value = res?.headers.get('retry-after') ?? '';
  if (/^\d+$/.test(value)) return Math.max(Number(value) * 1000, 100);
  const wait = Date.parse(value) - Date.parse(res?.headers.get('date'));
  return Number.isFinite(wait) ? Math.max(wait + 500, own) : own;
}

async function rest(ms) {
  if (Date.now() + ms > end) throw new NodeError('the node needs more time than there is');
  await sleep(ms);
}

// Returns the parsed answer, or null for 404.
async function get(address) {
  const origin = new URL(address).origin;
  let renewed = false;
  let url = new URL(address);
  let why = '';
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
      if (res.status === 200) return JSON.parse(text);
      if (res.status === 404) return null;
      if (res.status === 401 && !renewed) {
        renewed = true;
        token = null;
        continue;
      }
      if (res.status === 307 || res.status === 308) {
        const target = new URL(res.headers.get('location') ?? '', url);
        if (target.origin !== origin) throw new NodeError(`moved to ${target}; not followed`);
        url = target;
        continue;
      }
      if (res.status !== 429 && res.status < 500) {
        throw new NodeError(`${res.status}: ${text.slice(0, 200)}`);
      }
      why = `${res.status}`;
    } catch (error) {
      if (error instanceof NodeError) throw error;
      why = String(error); // no connection, too late, bytes missing, no JSON
    }
    console.error(`${url.pathname}: ${why}`);
    await rest(pauseOf(res, attempt));
  }
  throw new NodeError(`${url.pathname}: ${why}`);
}

function title(funding) {
  const names = funding.name ?? [];
  return (names.find((n) => n.lang === 'en') ?? names[0])?.text ?? '(no name)';
}

try {
  // The info resource names the template of the address of one funding.
  const info = await get(env.RIN_INFO_URL);
  const template = info?.endpoints?.funding?.find((e) => e.name === 'FUNDING')?.url;
  if (!template) throw new NodeError('the info resource names no address of a funding');
  const address = (id) => {
    const url = new URL(template.replace('{id}', encodeURIComponent(id)));
    if (url.origin !== new URL(env.RIN_INFO_URL).origin) throw new NodeError(`elsewhere: ${url}`);
    return url;
  };

  const list = new URL(env.RIN_FUNDINGS_URL);
  list.search = new URLSearchParams({
    fundingType: 'CALL', runningCalls: 'true', 'page[page]': '0', 'page[size]': '6',
  });
  let found = await get(list);
  if (found?.length === 0) { // can hardly be: ask a second time before it is believed
    await rest(2000);
    found = await get(list);
  }
  if (!Array.isArray(found)) throw new NodeError('the list is no list');

  for (const { id } of found) {
    const funding = await get(address(id));
    if (funding === null) throw new NodeError(`${id} is in the list, but not there`);
    console.log(`${id}  ${title(funding)}  ${(funding.website ?? []).join(' ')}`);
  }
  const bookmark = 'XF-00999999';
  const old = await get(address(bookmark));
  console.log(old ? `${bookmark}  ${title(old)}` : `${bookmark}  does not exist any more`);
} catch (error) {
  console.error(`lookup failed: ${error.message}`);
  process.exitCode = 1;
}
