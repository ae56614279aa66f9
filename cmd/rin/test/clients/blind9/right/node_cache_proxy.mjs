// A cache in front of a web page: visitors ask this server, it asks the node. An entry is fresh for
// one second, then it is revalidated with its ETag; visitors at the same time share one request.
// Started without further arguments it serves nine visitors of its own and ends.
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

const env = process.env;
const node = new URL(env.RIN_FUNDINGS_URL).origin;

let restUntil = 0; // the node wants no requests before that, of no visitor
async function node429(send) {
  for (let i = 0; ; i++) {
    while (Date.now() < restUntil) await sleep(restUntil - Date.now() + 5);
    const r = await send();
    if ((r.status !== 429 && r.status !== 503) || i === 6) return r;
    const v = r.headers.get('retry-after')?.trim() ?? '';
    const ms = /^\d+$/.test(v) ? Math.max(1, v) * 1000 : v && !isNaN(Date.parse(v)) ? Math.max(1000, Date.parse(v) - Date.now()) : 1000 * (i + 1);
    restUntil = Math.max(restUntil, Date.now() + ms + 40);
    await r.body?.cancel();
  }
}

let grant = null;
const logIn = () => (grant ??= (async () => {
  const r = await node429(() => fetch(env.RIN_TOKEN_URL, {
    method: 'POST', redirect: 'error', signal: AbortSignal.timeout(20000),
    body: new URLSearchParams({ grant_type: 'client_credentials', client_id: env.RIN_CLIENT_ID, client_secret: env.RIN_CLIENT_SECRET }),
  }));
  if (r.status !== 200) throw new Error(`login ${r.status}`);
  const { access_token: t } = await r.json();
  if (!t) throw new Error('login without a token');
  return t;
})());

async function ask(url, etag) {
  for (let renewed = false; ; renewed = true) {
    const used = logIn();
    const headers = { authorization: 'Bearer ' + await used };
    if (etag) headers['if-none-match'] = etag;
    const r = await node429(() => fetch(url, { headers, signal: AbortSignal.timeout(20000) }));
    if (r.status !== 401 || renewed || new URL(r.url).origin !== node) return r;
    if (grant === used) grant = null;
  }
}

const entries = new Map(); // path -> {etag, body, at, pending}
async function lookup(path) {
  let e = entries.get(path);
  if (!e) entries.set(path, (e = {}));
  if (e.body && Date.now() - e.at < 1000) return e;
  e.pending ??= (async () => {
    try {
      const r = await ask(node + path, e.etag);
      if (r.status === 304 && e.body) e.at = Date.now();
      else if (r.status === 200) {
        const text = await r.text();
        const body = JSON.parse(text); // a page that cannot be read is not kept
        const next = /<([^>]*)>[^<]*?;\s*rel\s*=\s*"?(?:[^"<]*\s)?next\b/i.exec(r.headers.get('link') ?? '')?.[1];
        const to = next && new URL(next, r.url);
        if (to && to.origin !== node) throw new Error(`next page is not on the node: ${to}`);
        Object.assign(e, { etag: r.headers.get('etag') ?? undefined, body, next: to && to.pathname + to.search, at: Date.now() });
      } else throw new Error(`node answers ${r.status}`);
      return e;
    } finally {
      e.pending = null;
    }
  })();
  return e.pending;
}

// The list as a visitor wants it: whole, also when the node hands it out in pages.
async function whole(path) {
  const all = new Map();
  const been = new Set();
  while (path) {
    if (been.has(path)) throw new Error('pages in a circle');
    been.add(path);
    const e = await lookup(path);
    if (!Array.isArray(e.body)) throw new Error('no list');
    for (const f of e.body) all.set(f.id, f);
    path = e.next;
  }
  return [...all.values()];
}

const server = http.createServer(async (req, res) => {
  try {
    const list = new URL(env.RIN_FUNDINGS_URL).pathname;
    const body = req.url.startsWith('/calls/')
      ? (await lookup(`${list}/${req.url.slice(7)}`)).body
      : await whole(`${list}?fundingType=ONGOING_CALL`);
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  } catch (e) {
    console.error(e.message);
    res.writeHead(502).end();
  }
});
server.listen(0, '127.0.0.1', async () => {
  const site = `http://127.0.0.1:${server.address().port}`;
  let failed = 0;
  const visit = async (path) => {
    const r = await fetch(site + path);
    const body = await r.text();
    if (r.status !== 200) failed++;
    return r.status === 200 ? JSON.parse(body) : null;
  };
  const lists = await Promise.all([visit('/'), visit('/'), visit('/')]);
  if (!failed) {
    const ids = lists[0].map((f) => f.id);
    await Promise.all([visit('/calls/' + ids[0]), visit('/calls/' + ids[0]), visit('/calls/' + ids[1])]);
    if (!failed) await sleep(1100);
    if (!failed) await Promise.all([visit('/'), visit('/')]);
    if (!failed) await visit('/');
    if (!failed) console.log(`${ids.length} ongoing calls, ${entries.size} entries`);
  }
  server.close();
  server.closeAllConnections();
  process.exitCode = failed ? 1 : 0;
});
