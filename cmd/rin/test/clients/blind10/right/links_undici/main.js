// Link checker inside the data: does every programme that a call names as partOf exist? Calls are read page by page, each
// programme that no page has shown is asked for by HEAD, once, one after the other. undici's RetryAgent does the waiting.
import { Agent, RetryAgent, request } from 'undici';

const E = process.env, home = new URL(E.RIN_FUNDINGS_URL);
const dispatcher = new RetryAgent(new Agent({ headersTimeout: 30000, bodyTimeout: 30000 }),
  { maxRetries: 5, minTimeout: 1000, methods: ['GET', 'HEAD', 'POST'], maxTimeout: 60000 });
let token, rounds = 0;

async function login() {
  const r = await request(E.RIN_TOKEN_URL, { dispatcher, method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ grant_type: 'client_credentials', client_id: E.RIN_CLIENT_ID, client_secret: E.RIN_CLIENT_SECRET }).toString() });
  if (r.statusCode !== 200) throw new Error(`token ${r.statusCode}`);
  token = (await r.body.json()).access_token;
}
let renewing = null;
async function ask(method, url) {
  if (new URL(url).origin !== home.origin) throw new Error(`other host: ${url}`);
  const used = token;
  let r = await request(url, { dispatcher, method, headers: { authorization: `Bearer ${used}` } });
  if (r.statusCode === 401) {
    await r.body.dump();
    if (token === used) await (renewing ??= login().finally(() => { renewing = null; }));
    r = await request(url, { dispatcher, method, headers: { authorization: `Bearer ${token}` } });
  }
  return r;
}
async function main() {
  await login();
  const known = new Set(), wanted = new Map(), seen = new Set();
  const u = new URL(home);
  u.searchParams.set('fundingType', 'ONGOING_CALL');
  u.searchParams.set('page[size]', 10);
  for (let url = u.href, skip = 0; url;) {
    if (seen.has(url)) throw new Error('circle');
    seen.add(url);
    const r = await ask('GET', url);
    if (r.statusCode !== 200) throw new Error(`${r.statusCode} for ${url}`);
    const rows = await r.body.json();
    for (const x of rows) {
      known.add(x.id);
      if (x.partOf) wanted.set(x.partOf.id, x.id);
    }
    const m = /<([^>]*)>\s*;\s*rel="?next\b/.exec(r.headers.link ?? '');
    if (m) url = new URL(m[1], url).href;
    else if (!r.headers.link && rows.length) { u.searchParams.set('page[page]', skip += 10); url = u.href; }
    else url = null;
  }
  const todo = [...wanted.keys()].filter(id => !known.has(id));
  const broken = [];
  for (const id of todo) {
    const r = await ask('HEAD', `${home.href.replace(/\/$/, '')}/${encodeURIComponent(id)}`);
    await r.body.dump();
    rounds++;
    if (r.statusCode === 404 || r.statusCode === 410) broken.push(`${wanted.get(id)} -> ${id}`);
    else if (r.statusCode !== 200) throw new Error(`${r.statusCode} for ${id}`);
  }
  console.log(known.size, 'calls,', rounds, 'programmes asked for,', broken.length, 'broken', broken);
}
main().catch(e => { console.error('check stopped:', e.message); process.exitCode = 1; }).finally(() => dispatcher.close());
