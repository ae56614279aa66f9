// Goes through the members of the registry and counts the fundings that each node offers.
const need = (name) => {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is missing from the environment`);
  return value;
};
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const DEADLINE = Date.now() + 100_000;
const TRIES = 6;
const TRANSIENT = new Set([408, 429, 500, 502, 503, 504]);

class Failed extends Error {}
let quietUntil = 0;

function askedPause(res) {
  const value = res.headers.get('retry-after')?.trim();
  if (!value) return null;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}

async function quiet() {
  while (quietUntil > Date.now()) await sleep(quietUntil - Date.now() + 20 + Math.random() * 150);
}

async function backOff(attempt, asked, why) {
  const own = Math.min(8000, 500 * 2 ** attempt) * (0.75 + Math.random() / 2);
  const ms = asked === null ? own : Math.max(asked + 60, own / 2);
  if (attempt + 1 >= TRIES) throw new Failed(`${why}; gave up after ${TRIES} tries`);
  if (Date.now() + ms > DEADLINE) throw new Failed(`${why}; no time left to repeat it`);
  if (asked !== null) quietUntil = Math.max(quietUntil, Date.now() + ms);
  await sleep(ms);
}

const tokens = new Map(); // token endpoint -> { value, renewAt }

async function requestToken(endpoint) {
  let url = endpoint;
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: need('RIN_CLIENT_ID'),
    client_secret: need('RIN_CLIENT_SECRET'),
  });
  for (let attempt = 0, hops = 0; ; ) {
    await quiet();
    let why, asked = null;
    try {
      const res = await fetch(url, { method: 'POST', body, redirect: 'manual', signal: AbortSignal.timeout(10_000) });
      const text = await res.text();
      if (res.status === 200) {
        const answer = JSON.parse(text);
        if (typeof answer.access_token !== 'string' || !answer.access_token) throw new Failed('token answer without access_token');
        const life = Number(answer.expires_in) > 0 ? Number(answer.expires_in) : 120;
        return { value: answer.access_token, renewAt: Date.now() + (life - Math.min(30, life / 5)) * 1000 };
      }
      if ((res.status === 307 || res.status === 308) && hops++ < 3) {
        const to = new URL(res.headers.get('location') ?? '', url);
        if (to.origin !== new URL(url).origin) throw new Failed('token endpoint redirects to another host');
        url = to.href;
        continue;
      }
      if (!TRANSIENT.has(res.status)) throw new Failed(`token endpoint answered ${res.status}`);
      why = `token endpoint answered ${res.status}`;
      asked = askedPause(res);
    } catch (err) {
      if (err instanceof Failed) throw err;
      why = `token request failed: ${err.message}`;
    }
    await backOff(attempt++, asked, why);
  }
}

async function bearer(endpoint) {
  const have = tokens.get(endpoint);
  if (have && Date.now() < have.renewAt) return have.value;
  const got = await requestToken(endpoint);
  tokens.set(endpoint, got);
  return got.value;
}

async function get(url, { endpoint = null, accept404 = false, headers = {}, method = 'GET' } = {}) {
  let renewed = false;
  for (let attempt = 0; ; ) {
    const value = endpoint === null ? null : await bearer(endpoint);
    await quiet();
    let why, asked = null;
    try {
      const res = await fetch(url, {
        method,
        headers: { accept: 'application/json', ...(value ? { authorization: `Bearer ${value}` } : {}), ...headers },
        signal: AbortSignal.timeout(10_000),
      });
      const text = await res.text();
      if (res.status === 304) return { status: 304, headers: res.headers };
      if (res.status === 200) return { status: 200, headers: res.headers, url: res.url, data: method === 'HEAD' ? null : JSON.parse(text) };
      if (res.status === 404 && accept404) return { status: 404 };
      const here = new URL(res.url).origin === new URL(url).origin;
      if (res.status === 401 && !renewed && here && value) {
        renewed = true;
        tokens.delete(endpoint);
        continue;
      }
      if (!TRANSIENT.has(res.status)) throw new Failed(`${new URL(url).pathname} answered ${res.status}`);
      why = `${new URL(url).pathname} answered ${res.status}`;
      asked = askedPause(res);
    } catch (err) {
      if (err instanceof Failed) throw err;
      why = `${new URL(url).pathname}: ${err.message}`;
    }
    await backOff(attempt++, asked, why);
  }
}

function nextLink(headers, base) {
  const m = /<([^>]*)>\s*;[^,<]*\brel="?next"?/i.exec(headers.get('link') ?? '');
  if (!m) return null;
  const to = new URL(m[1], base);
  if (to.origin !== new URL(base).origin) throw new Failed(`next page is on another host (${to.host})`);
  return to.href;
}


async function count(member) {
  const info = await get(member.info, { endpoint: member.oauth2 });
  const entry = info.data.endpoints?.funding?.find((e) => e.name === 'FUNDINGS');
  if (!entry) throw new Failed(`${member.id} offers no fundings`);
  const ids = new Set();
  const seen = new Set();
  for (let href = `${entry.url}?page%5Bsize%5D=80`; href !== null; ) {
    if (seen.has(href)) throw new Failed('the pages go in a circle');
    seen.add(href);
    const res = await get(href, { endpoint: member.oauth2 });
    if (!Array.isArray(res.data)) throw new Failed('the answer is no list');
    res.data.forEach((r) => ids.add(r.id));
    href = nextLink(res.headers, href);
  }
  return ids.size;
}

async function main() {
  const registry = await get(need('RIN_REGISTRY_URL'));
  for (const member of registry.data.member) {
    try {
      console.log(`${member.id}\t${member.name}\t${await count(member)}`);
    } catch (err) {
      console.error(`${member.id}: ${err.message}`);
      process.exitCode = 1;
    }
  }
}

main().catch((err) => {
  console.error(err.message);
  process.exit(1);
});
