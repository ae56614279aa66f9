// Health monitor of one node: five rounds, four seconds apart. Each round looks, both at once, at
//   info      GET, conditional; the node must name its list of fundings
//   fundings  HEAD of a page of one record; the status is all that counts
// and the first one also at the registry (no token there): does our node have an entry?
// A check is repeated with pauses before it counts as down. 0: all checks of all rounds were up.
import { setTimeout as sleep } from 'node:timers/promises';

const env = Object.fromEntries(['TOKEN_URL', 'INFO_URL', 'FUNDINGS_URL', 'REGISTRY_URL', 'NODE_ID', 'CLIENT_ID', 'CLIENT_SECRET'].map((n) => {
  if (!process.env[`RIN_${n}`]) { console.error(`health: RIN_${n} is missing`); process.exit(64); }
  return [n, process.env[`RIN_${n}`]];
}));
const ROUNDS = 5, INTERVAL = 4000, TRIES = 4, LIMIT = 10_000;
const stopAt = Date.now() + 52_000;

class Down extends Error {}
class Refused extends Error {}       // our account is not accepted: no round will change that

async function request(url, options) {
  const left = stopAt - Date.now();
  if (left < 200) throw new Down('no time left for another request');
  const response = await fetch(url, { redirect: 'manual', ...options, signal: AbortSignal.timeout(Math.min(LIMIT, left)) });
  const body = await response.text();
  return { status: response.status, headers: response.headers, body };
}

function waitFor({ headers }, fallback) {
  const text = headers?.get('retry-after');
  if (text == null) return fallback;
  const seconds = Number(text);
  if (Number.isInteger(seconds) && seconds >= 0) return seconds * 1000;
  const at = Date.parse(text);
  if (Number.isNaN(at)) return fallback;
  const served = Date.parse(headers.get('date') ?? '');
  return Math.max(at - (Number.isNaN(served) ? Date.now() : served), 0);
}

/** Repeats attempt() after troubles that pass; attempt returns undefined for those, and sets last. */
async function withTries(name, attempt) {
  for (let n = 1; ; n++) {
    let seen = {}, trouble;
    try {
      seen = await attempt();
      if (seen.value !== undefined) return seen.value;
      trouble = seen.trouble;
    } catch (e) {
      if (e instanceof Down || e instanceof Refused) throw e;
      trouble = e.cause?.message ?? e.message;
    }
    if (n === TRIES) throw new Down(`${trouble} (${n} times)`);
    const pause = waitFor(seen, 600 * 2 ** (n - 1));
    if (Date.now() + pause > stopAt) throw new Down(`${trouble}; it asks for ${pause} ms`);
    console.error(`health: ${name}: ${trouble}, again in ${pause} ms`);
    await sleep(pause);
  }
}
const passing = (status) => status === 429 || status >= 500;

let current = null;
async function login() {
  return withTries('token', async () => {
    const answer = await request(env.TOKEN_URL, {
      method: 'POST', headers: { accept: 'application/json' },
      body: new URLSearchParams({ grant_type: 'client_credentials', client_id: env.CLIENT_ID, client_secret: env.CLIENT_SECRET }),
    });
    if (passing(answer.status)) return { ...answer, trouble: `status ${answer.status}` };
    if (answer.status !== 200) throw new Refused(`token endpoint: status ${answer.status}`);
    const { access_token: value } = JSON.parse(answer.body);
    return value ? { value } : { trouble: 'no access_token' };
  });
}
const token = () => (current ??= login());

async function check(name, url, { method = 'GET', auth = true, judge, etag }) {
  let renewed = false, target = new URL(url);
  return withTries(name, async function once() {
    const mine = auth ? token() : null;
    const headers = { accept: 'application/json', ...(auth && { authorization: `Bearer ${await mine}` }), ...(etag && { 'if-none-match': etag }) };
    const answer = await request(target, { method, headers });
    const { status } = answer;
    if (status === 401 && auth) {
      if (renewed) throw new Refused(`${name}: 401 with a new token: ${answer.headers.get('www-authenticate')}`);
      renewed = true;
      if (current === mine) current = null;
      return once();
    }
    if (status === 403) throw new Refused(`${name}: 403 ${answer.body.slice(0, 200)}`);
    if (passing(status)) return { ...answer, trouble: `status ${status}` };
    if (status >= 300 && status < 400 && status !== 304) {
      const to = new URL(answer.headers.get('location') ?? '', target);
      if (to.origin !== target.origin || to.href === target.href) throw new Down(`redirected to ${to.href}`);
      console.error(`health: ${name} moved to ${to.href}`);
      target = to;
      return once();
    }
    if (status !== 200 && status !== 304) throw new Down(`status ${status}`);
    return { value: judge(answer) ?? true };
  });
}

const info = { etag: null };
const probe = new URL(env.FUNDINGS_URL);
probe.searchParams.set('page[size]', '1');
const checks = {
  info: () => check('info', env.INFO_URL, {
    etag: info.etag,
    judge: ({ status, headers, body }) => {
      if (status === 304) return;
      const named = Object.values(JSON.parse(body).endpoints ?? {}).flat().some((e) => e.name === 'FUNDINGS');
      if (!named) throw new Down('names no list of fundings');
      info.etag = headers.get('etag');     // only of an answer that was good
    },
  }),
  fundings: () => check('fundings', probe, { method: 'HEAD', judge: () => {} }),
};
const registry = () => check('registry', env.REGISTRY_URL, {
  auth: false,
  judge: ({ body }) => { if (!JSON.parse(body).member?.some((m) => m.id === env.NODE_ID)) throw new Down(`no entry ${env.NODE_ID}`); },
});

let downs = 0;
for (let round = 1; round <= ROUNDS && Date.now() < stopAt; round++) {
  if (round > 1) await sleep(INTERVAL);
  const todo = Object.entries(round === 1 ? { ...checks, registry } : checks);
  const results = await Promise.allSettled(todo.map(([, run]) => run()));
  const lines = results.map((r, i) => `${todo[i][0]} ${r.status === 'fulfilled' ? 'up' : `DOWN (${r.reason.message})`}`);
  console.log(`${new Date().toISOString()} round ${round}: ${lines.join(', ')}`);
  downs += results.filter((r) => r.status === 'rejected').length;
  if (results.some((r) => r.reason instanceof Refused)) break;   // asking on would only cost the node
}
process.exitCode = downs ? 2 : 0;
