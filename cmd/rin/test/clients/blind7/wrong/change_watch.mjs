// Watcher: three rounds, four seconds apart, over the calls that run now. It
// tells which ones are new or gone since the round before, and asks with
// If-None-Match so that an unchanged list costs nothing.
const { RIN_TOKEN_URL, RIN_FUNDINGS_URL, RIN_CLIENT_ID, RIN_CLIENT_SECRET } = process.env;
const ROUNDS = 3, BETWEEN = 4000, ATTEMPTS = 5;
const end = Date.now() + 52_000;
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

class Passing extends Error {
  constructor(message, pause) {
    super(message);
    this.pause = pause;
  }
}

function retryAfter(headers) {
  const value = headers.get('retry-after')?.trim();
  if (!value) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const gap = Date.parse(value) - Date.parse(headers.get('date'));
  return Number.isNaN(gap) ? undefined : Math.max(gap, 1000);
}

async function patiently(task) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await task();
    } catch (error) {
      const passing = error instanceof Passing || error instanceof SyntaxError
        || error instanceof TypeError || error.name === 'TimeoutError';
      const pause = error.pause ?? 1000 * 2 ** (attempt - 1);
      if (!passing || attempt === ATTEMPTS || Date.now() + pause > end) throw error;
      console.error(`${error.message}: again in ${pause / 1000} s`);
      await sleep(pause);
    }
  }
}

async function request(url, options) {
  const response = await fetch(url, { ...options, redirect: 'manual', signal: AbortSignal.timeout(10_000) });
  if (response.status === 429 || response.status >= 500) {
    await response.body?.cancel();
    throw new Passing(`status ${response.status}`, retryAfter(response.headers));
  }
  return response;
}

let token;
function login() {
  return patiently(async () => {
    const body = new URLSearchParams({
      grant_type: 'client_credentials', client_id: RIN_CLIENT_ID, client_secret: RIN_CLIENT_SECRET,
    });
    const response = await request(RIN_TOKEN_URL, { method: 'POST', body });
    if (response.status !== 200) throw new Error(`token endpoint: ${response.status}`);
    token = (await response.json()).access_token;
  });
}

class WatchedList {
  url = new URL(`${RIN_FUNDINGS_URL}?runningCalls=true`);
  etag = null;
  records = [];

  load(renewed = false, moved = false) {
    return patiently(async () => {
      const headers = { authorization: `Bearer ${token}`, accept: 'application/json' };
      if (this.etag) headers['if-none-match'] = this.etag;
      const response = await request(this.url, { headers });
      if (response.status === 304) return this.records;
      if (response.status === 401 && !renewed) {
        await login();
        return this.load(true, moved);
      }
      if ([301, 302, 307, 308].includes(response.status) && !moved) {
        const to = new URL(response.headers.get('location'), this.url);
        if (to.origin !== this.url.origin) throw new Error(`redirected to ${to.origin}, not followed`);
        this.url = to;
        return this.load(renewed, true);
      }
      if (response.status !== 200) {
        throw new Error(`status ${response.status}: ${(await response.text()).slice(0, 200)}`);
      }
      this.etag = response.headers.get('etag');
      this.records = JSON.parse(await response.text());
      return this.records;
    });
  }
}

try {
  await login();
  const list = new WatchedList();
  let before = new Set();
  for (let round = 1; round <= ROUNDS; round++) {
    if (round > 1) await sleep(BETWEEN);
    const now = new Set((await list.load()).map((record) => record.id));
    const fresh = [...now].filter((id) => !before.has(id));
    const gone = [...before].filter((id) => !now.has(id));
    console.log(`round ${round}: ${now.size} calls run, ${fresh.length} new, ${gone.length} gone`);
    before = now;
  }
} catch (error) {
  console.error(`watch: ${error.message}`);
  process.exitCode = 1;
}
