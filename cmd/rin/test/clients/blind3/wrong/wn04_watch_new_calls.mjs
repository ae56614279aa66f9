// Looks for new calls every second for a few rounds, with conditional requests.

const { RIN_TOKEN_URL: TOKEN_URL, RIN_FUNDINGS_URL: LIST_URL, RIN_CLIENT_ID: ID, RIN_CLIENT_SECRET: SECRET } = process.env;
const until = Date.now() + 20000;
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
class Abort extends Error {}

async function http(url, init = {}) {
  const budget = Math.min(8000, until - Date.now());
  if (budget <= 0) throw new Abort('out of time');
  const res = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(budget) });
  const text = await res.text();
  if (res.status >= 300 && res.status < 400 && res.status !== 304) throw new Abort(`redirected (${res.status}), not followed`);
  return { status: res.status, headers: res.headers, text };
}

function waitFor(headers, attempt) {
  const ra = headers?.get('retry-after');
  if (ra && /^\d+$/.test(ra)) return Number(ra) * 1000 + 50;
  if (ra && Date.parse(ra)) return Math.max(200, Date.parse(ra) - (Date.parse(headers.get('date')) || Date.now()) + 50);
  return 300 * 2 ** attempt + Math.random() * 100;
}

async function repeat(name, once) {
  for (let attempt = 1; ; attempt++) {
    let why, headers;
    try {
      const out = await once();
      if (!out.retry) return out;
      ({ retry: why, headers } = out);
    } catch (e) {
      if (e instanceof Abort) throw e;
      why = e.cause?.message || e.message;
    }
    const ms = waitFor(headers, attempt);
    if (attempt === 5 || Date.now() + ms > until) throw new Abort(`${name}: ${why} (${attempt} tries)`);
    console.error(`${name}: ${why} - retry in ${Math.round(ms)} ms`);
    await sleep(ms);
  }
}

let cached, validTo = 0;
async function token() {
  if (cached && Date.now() < validTo) return cached;
  const { json } = await repeat('token', async () => {
    const r = await http(TOKEN_URL, {
      method: 'POST',
      body: new URLSearchParams({ grant_type: 'client_credentials', client_id: ID, client_secret: SECRET }),
    });
    if (r.status === 200) return { json: JSON.parse(r.text) };
    if (temporary(r.status)) return { retry: `status ${r.status}`, headers: r.headers };
    throw new Abort(`token: ${r.status} ${r.text}`);
  });
  if (!json.access_token) throw new Abort('token: none in the answer');
  validTo = json.expires_in ? Date.now() + json.expires_in * 1000 * 0.9 : Infinity;
  return (cached = json.access_token);
}

const temporary = (s) => s === 429 || s >= 500;

let validator = null, snapshot = null;

async function look(url) {
  let renewed = false;
  return repeat('poll', async () => {
    for (;;) {
      const headers = { Authorization: 'Bearer ' + (await token()), Accept: 'application/json' };
      if (validator) headers['If-None-Match'] = validator;
      const r = await http(url, { headers });
      if (r.status === 304 && snapshot) return { rows: snapshot, fresh: false };
      if (r.status === 200) {
        const rows = JSON.parse(r.text);
        if (!Array.isArray(rows)) throw new Error('no list');
        validator = (r.headers.get('etag') ?? '').replace(/^W\//, '').replaceAll('"', '');
        return { rows, fresh: true };
      }
      if (r.status === 401 && !renewed) { renewed = true; cached = null; continue; }
      if (temporary(r.status)) return { retry: `status ${r.status}`, headers: r.headers };
      throw new Abort(`poll: ${r.status} ${r.text.slice(0, 200)}`);
    }
  });
}

try {
  const url = `${LIST_URL}?fundingType=CALL`;
  for (let i = 0; i < 3; i++) {
    if (i > 0) await sleep(1000);
    const { rows, fresh } = await look(url);
    const before = new Set((snapshot ?? []).map((r) => r.id));
    const added = rows.filter((r) => !before.has(r.id));
    console.log(fresh ? `${rows.length} calls, ${added.length} new` : 'nothing new');
    snapshot = rows;
  }
} catch (e) {
  console.error('watch:', e.message);
  process.exitCode = 1;
}
