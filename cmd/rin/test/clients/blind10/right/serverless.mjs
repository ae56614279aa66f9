// A serverless function and its local runner. The container stays warm: token and ETags live in module scope. An invocation
// that fails answers 503/502, and the event goes to the failure destination; the runner ends with 1 if there is one.
const E = process.env, ORIGIN = new URL(E.RIN_FUNDINGS_URL).origin;
const warm = { token: null, etags: new Map() };
const nap = ms => new Promise(r => setTimeout(r, ms));

async function http(url, init = {}) {
  for (let attempt = 1; ; attempt++) {
    const res = await fetch(url, { ...init, redirect: 'manual' });
    if (![429, 503].includes(res.status)) return res;
    const ra = res.headers.get('retry-after') ?? '3';
    const ms = /^\d+$/.test(ra) ? ra * 1000 : new Date(ra) - new Date(res.headers.get('date'));
    await res.body?.cancel();
    if (attempt > 4 || !(ms < 15000)) throw Object.assign(new Error(`upstream ${res.status}`), { code: 503 });
    await nap(Math.max(ms, 500) + 40);
  }
}
async function authorize() {
  const res = await http(E.RIN_TOKEN_URL, { method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `grant_type=client_credentials&client_id=${encodeURIComponent(E.RIN_CLIENT_ID)}&client_secret=${encodeURIComponent(E.RIN_CLIENT_SECRET)}` });
  if (res.status !== 200) throw Object.assign(new Error(`login ${res.status}`), { code: 502, fatal: true });
  warm.token = (await res.json()).access_token;
}
async function read(path) {
  const url = E.RIN_FUNDINGS_URL.replace(/\/$/, '') + path;
  if (new URL(url).origin !== ORIGIN) throw new Error('no');
  if (!warm.token) await authorize();
  const had = warm.etags.get(url);
  const go = () => http(url, { headers: { authorization: 'Bearer ' + warm.token, ...(had && { 'if-none-match': had.etag }) } });
  let res = await go();
  if (res.status === 401) {
    await authorize();
    res = await go();
    if (res.status === 401) throw Object.assign(new Error('401 twice'), { code: 502, fatal: true });
  }
  if (res.status === 304 && had) return had.body;
  if (res.status !== 200) throw Object.assign(new Error(`${res.status} for ${path}`), { code: 502 });
  const body = await res.json();          // throws before the ETag is kept
  if (/rel="?next/.test(res.headers.get('link') ?? '')) throw Object.assign(new Error('more than one page'), { code: 502 });
  if (res.headers.get('etag') && [body].flat().length) warm.etags.set(url, { etag: res.headers.get('etag'), body });
  return body;
}
export async function handler(event) {
  try {
    switch (event.op) {
      case 'count': {
        const out = {};
        for (const t of event.types) out[t] = new Set((await read(`?fundingType=${t}`)).map(r => r.id)).size;
        return { statusCode: 200, body: out };
      }
      case 'one': {
        const r = await read('/' + encodeURIComponent(event.id));
        return { statusCode: 200, body: { id: r.id, name: r.name[0].text } };
      }
      case 'grants': return { statusCode: 200, body: (await read('?fundingType=GRANT')).map(r => r.id) };
    }
    return { statusCode: 400 };
  } catch (e) {
    return { statusCode: e.code ?? 502, body: e.message, fatal: !!e.fatal };
  }
}
const events = [{ op: 'count', types: ['AWARD', 'GRANT', 'PROGRAMME'] }, { op: 'one', id: 'XF-00000002' }, { op: 'grants' },
  { op: 'count', types: ['AWARD'] }, { op: 'one', id: 'XF-00000002' }];
const failed = [];
for (const ev of events) {
  const r = await handler(ev);
  console.log(r.statusCode, JSON.stringify(r.body));
  if (r.statusCode !== 200) failed.push(ev);
  if (r.fatal) break;
  await nap(250);
}
process.exitCode = failed.length ? 1 : 0;
