// Dashboard: how many calls run in each of four provinces, three at a time at
// most. The page for the intranet is printed at the end.
const REGIONS = ['VIENNA', 'STYRIA', 'TYROL', 'SALZBURG'];
const PAGE = 30;
const lastMoment = Date.now() + 50_000;
const env = process.env;

class Trouble extends Error {}

let hush = 0;
async function quiet() {
  for (let ms; (ms = hush - Date.now()) > 0;) await new Promise((go) => setTimeout(go, ms));
}

function waitMs(response, attempt) {
  const own = 600 * 2 ** attempt;
  const asked = response?.headers.get('retry-after');
  if (!asked) return own;
  if (/^\d+$/.test(asked)) return Math.max(own, asked * 1000);
  const gap = Date.parse(asked) - Date.parse(response.headers.get('date'));
  return Number.isNaN(gap) ? Math.max(own, 10_000) : Math.max(own, gap);
}

async function exchange(start, init) {
  let url = new URL(start);
  for (let attempt = 0, hops = 0; ;) {
    await quiet();
    let response = null;
    let why;
    try {
      response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(12_000) });
      const text = await response.text();
      if (response.status === 200) return { response, data: JSON.parse(text) };
      why = `status ${response.status}`;
    } catch (error) {
      why = `broken answer (${error.name})`;
    }
    if (response && [307, 308].includes(response.status)) {
      const to = new URL(response.headers.get('location') ?? '', url);
      if (to.origin !== url.origin || ++hops > 3) throw new Trouble(`redirected to ${to.host}`);
      url = to;
      continue;
    }
    if (response && response.status !== 200 && response.status !== 429 && response.status < 500) {
      return { response, data: null };
    }
    const ms = waitMs(response, attempt);
    if (++attempt === 5 || Date.now() + ms > lastMoment) throw new Trouble(`gave up: ${why}`);
    hush = Math.max(hush, Date.now() + ms);
  }
}

let session = null; // promise of a token, shared by all panels
function signIn() {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: env.RIN_CLIENT_ID,
    client_secret: env.RIN_CLIENT_SECRET,
  });
  return exchange(env.RIN_TOKEN_URL, { method: 'POST', body }).then(({ response, data }) => {
    if (!data?.access_token) throw new Trouble(`no token: ${response.status}`);
    return data.access_token;
  });
}

async function get(url) {
  for (let tries = 0; tries < 2; tries++) {
    const mine = (session ??= signIn());
    const headers = { accept: 'application/json', authorization: `Bearer ${await mine}` };
    const { response, data } = await exchange(url, { headers });
    if (data) return { response, data };
    if (response.status !== 401) throw new Trouble(`status ${response.status}`);
    if (session === mine) session = null;
  }
  throw new Trouble('the node refuses our tokens');
}

async function panel(region) {
  const home = new URL(env.RIN_FUNDINGS_URL);
  home.search = new URLSearchParams({ runningCalls: 'true', region, 'page[size]': PAGE });
  const calls = new Map();
  const seen = new Set();
  for (let url = home; url;) {
    if (seen.has(url.href)) throw new Trouble('links in a circle');
    seen.add(url.href);
    const { response, data } = await get(url);
    if (!Array.isArray(data)) throw new Trouble('not a list');
    for (const call of data) calls.set(call.id, call.acronym);
    const next = /<([^>]*)>\s*;\s*rel="next"/.exec(response.headers.get('link') ?? '');
    url = next ? new URL(next[1], url) : null;
    if (url && url.origin !== home.origin) throw new Trouble(`next page at ${url.host}`);
  }
  return calls;
}

async function dashboard() {
  const waiting = [...REGIONS];
  const results = {};
  const lane = async () => {
    for (let region; (region = waiting.shift());) {
      [results[region]] = await Promise.allSettled([panel(region)]);
    }
  };
  await Promise.all([lane(), lane(), lane()]);
  for (const region of REGIONS) {
    const { status, value } = results[region];
    console.log(`${region.padEnd(10)} ${status === 'fulfilled' ? value.size : 'n/a'}`);
  }
}

try {
  session = signIn();
  await session; // without a token there is no page at all
  await dashboard();
  console.log('dashboard written');
} catch (error) {
  console.error(`no dashboard: ${error.message}`);
  process.exitCode = 1;
}
