// Newsletter: titles of calls with a deadline, read from the list page by page.
// Answers 429 and 503 are repeated after the pause that the node asks for.
const SIZE = 40;
const ATTEMPTS = 6;
const endOfRun = Date.now() + 50_000;

class Incomplete extends Error {}

const need = (name) => process.env[name] ?? (() => { throw new Incomplete(`${name} is not set`); })();
const nap = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** The pause before the next attempt. */
function pauseFor(response, attempt) {
  const header = response?.headers.get('retry-after')?.trim();
  if (header && /^\d+$/.test(header)) return Number(header);
  if (header) {
    const gap = Date.parse(header) - Date.parse(response.headers.get('date') ?? '');
    return Number.isNaN(gap) ? 10_000 : Math.max(gap, 500);
  }
  return 500 * 2 ** attempt;
}

async function request(address, options) {
  let url = new URL(address);
  let hops = 0;
  let why = '';
  for (let attempt = 0; attempt < ATTEMPTS;) {
    let response = null;
    try {
      response = await fetch(url, { ...options, redirect: 'manual', signal: AbortSignal.timeout(12_000) });
      const text = await response.text();
      if (response.status === 200) {
        if (!response.headers.get('content-type')?.includes('json')) throw new SyntaxError('not JSON');
        return { response, data: JSON.parse(text) };
      }
    } catch (error) {
      why = `broken answer (${error.name})`;
    }
    if (response && response.status !== 200) {
      if (response.status === 307 || response.status === 308) {
        const target = new URL(response.headers.get('location') ?? '', url);
        if (target.origin !== url.origin) throw new Incomplete(`redirected to ${target.host}: not followed`);
        if (++hops > 3) throw new Incomplete('too many redirects');
        url = target;
        continue;
      }
      if (response.status !== 429 && response.status < 500) return { response, data: null };
      why = `status ${response.status}`;
    }
    const ms = pauseFor(response, attempt);
    attempt++;
    if (Date.now() + ms > endOfRun) break;
    if (attempt < ATTEMPTS) {
      console.error(`${why}, next attempt after the pause`);
      await nap(ms);
    }
  }
  throw new Incomplete(`gave up: ${why}`);
}

let token = null;
let tokenUntil = 0;

async function bearer() {
  if (token !== null && Date.now() < tokenUntil) return token;
  const { response, data } = await request(need('RIN_TOKEN_URL'), {
    method: 'POST',
    headers: { accept: 'application/json' },
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: need('RIN_CLIENT_ID'),
      client_secret: need('RIN_CLIENT_SECRET'),
    }),
  });
  if (!data?.access_token) throw new Incomplete(`no token, status ${response.status}`);
  token = data.access_token;
  tokenUntil = Date.now() + ((data.expires_in ?? 60) - 20) * 1000;
  return token;
}

async function page(url) {
  for (let renewed = false; ; renewed = true) {
    const headers = { accept: 'application/json', authorization: `Bearer ${await bearer()}` };
    const { response, data } = await request(url, { headers });
    if (data !== null) {
      if (!Array.isArray(data)) throw new Incomplete('a page is not an array');
      return { response, data };
    }
    token = null;
    if (response.status !== 401 || renewed) {
      throw new Incomplete(`${response.status} ${response.headers.get('www-authenticate') ?? ''}`);
    }
  }
}

async function* fundings() {
  const home = new URL(need('RIN_FUNDINGS_URL'));
  home.searchParams.set('page[size]', SIZE);
  const asked = new Set();
  for (let url = home; url !== null;) {
    if (asked.has(url.href)) throw new Incomplete('the links run in a circle');
    asked.add(url.href);
    const { response, data } = await page(url);
    yield* data;
    const next = /<([^>]*)>\s*;[^,]*\brel="?next"?/.exec(response.headers.get('link') ?? '');
    url = next ? new URL(next[1], url) : null;
    if (url && url.origin !== home.origin) throw new Incomplete(`next page at ${url.host}: token stays here`);
  }
}

try {
  const all = new Map();
  for await (const funding of fundings()) all.set(funding.id, funding);
  if (all.size === 0) throw new Incomplete('no records');
  const dated = [...all.values()]
    .map((f) => ({ id: f.id, end: f.callStages?.at(-1)?.callStageEnd ?? null }))
    .filter((f) => f.end !== null)
    .sort((a, b) => Date.parse(a.end) - Date.parse(b.end));
  console.log(`newsletter: ${dated.length} of ${all.size} fundings have a deadline`);
} catch (error) {
  console.error(`newsletter not written: ${error.message}`);
  process.exitCode = 1;
}
