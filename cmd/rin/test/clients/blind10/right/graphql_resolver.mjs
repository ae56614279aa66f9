// Resolvers of a GraphQL gateway, without the GraphQL library: the query is walked by hand.
//   { openCalls(first: 25) { id title programme { id title tracks } } }
// programme goes through a data loader: each id is asked for once, whatever number of calls refer to it.
const E = process.env, home = new URL(E.RIN_FUNDINGS_URL);
const sleep = ms => new Promise(r => setTimeout(r, ms));
let token = null, login = null, notBefore = 0;

function pause(res) {
  const v = res.headers.get('retry-after') ?? '2';
  if (/^\d+$/.test(v)) return Number(v) * 1000;
  const d = Date.parse(v) - Date.parse(res.headers.get('date'));
  return Number.isFinite(d) ? Math.max(d, 500) : 2000;
}
async function send(url, init) {
  for (let n = 0; ; n++) {
    while (notBefore > Date.now()) await sleep(notBefore - Date.now() + 20);
    const res = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(30000), ...init });
    if (res.status !== 429 && res.status !== 503) return res;
    await res.arrayBuffer();
    const ms = pause(res);
    if (n === 4 || ms > 15000) throw new Error(`${res.status}: node asks for ${ms} ms`);
    notBefore = Math.max(notBefore, Date.now() + ms + 50);
  }
}
function bearer(bad) {
  if (token && token !== bad) return token;
  return login ??= (async () => {
    try {
      const res = await send(E.RIN_TOKEN_URL, { method: 'POST', body: new URLSearchParams({
        grant_type: 'client_credentials', client_id: E.RIN_CLIENT_ID, client_secret: E.RIN_CLIENT_SECRET }) });
      if (!res.ok) throw new Error(`token endpoint: ${res.status}`);
      return token = (await res.json()).access_token;
    } finally { login = null; }
  })();
}
const refused = new Set();
async function get(url) {
  if (new URL(url).origin !== home.origin) throw new Error(`not my node: ${url}`);
  let t = await bearer();
  let res = await send(url, { headers: { authorization: `Bearer ${t}` } });
  if (res.status === 401) {
    if (refused.has('new')) throw new Error('401 with a new token');
    t = await bearer(t);
    res = await send(url, { headers: { authorization: `Bearer ${t}` } });
    if (res.status === 401) refused.add('new');
  }
  if (res.status !== 200) throw new Error(`${res.status} for ${url}`);
  return { body: await res.json(), link: res.headers.get('link') };
}
const loader = (() => {
  const memo = new Map();
  return id => memo.get(id) ?? memo.set(id, get(`${E.RIN_FUNDINGS_URL.replace(/\/$/, '')}/${encodeURIComponent(id)}`).then(r => r.body)).get(id);
})();
const title = (r, lang = 'en') => (r.name.find(n => n.lang === lang) ?? r.name[0]).text;

async function openCalls(first) {
  const out = new Map(), u = new URL(home);
  u.searchParams.set('runningCalls', 'true');
  u.searchParams.set('page[size]', String(first));
  let skip = 0;
  for (let url = u.href, seen = new Set(); url && out.size < first;) {
    if (seen.has(url)) throw new Error('circle');
    seen.add(url);
    const { body, link } = await get(url);
    for (const r of body) if (out.size < first) out.set(r.id, r);
    const next = /<([^>]*)>\s*;[^,]*rel="?next"?/.exec(link ?? '');
    if (next) url = new URL(next[1], url).href;
    else if (!link && body.length) { u.searchParams.set('page[page]', String(skip += first)); url = u.href; }
    else url = null;
  }
  return [...out.values()];
}
try {
  const calls = await openCalls(25);
  const data = await Promise.all(calls.map(async c => ({ id: c.id, title: title(c),
    programme: c.partOf && await loader(c.partOf.id).then(p => ({ id: p.id, title: title(p), tracks: p.programmeTracks?.length ?? 0 })) })));
  console.log(JSON.stringify({ data: { openCalls: data } }).slice(0, 300), data.length);
} catch (e) {
  console.log(JSON.stringify({ data: null, errors: [{ message: String(e.message) }] }));
  process.exitCode = 1;
}
