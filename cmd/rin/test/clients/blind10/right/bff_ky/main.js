// Back-end for a mobile app, with ky and its retries as they come. GET /feed?cursor=... gives the app its next screen; the
// cursor is opaque for the app, the token never leaves this process. At the end an "app" scrolls through the whole feed.
import http from 'node:http';
import ky, { HTTPError } from 'ky';

const E = process.env, home = new URL(E.RIN_FUNDINGS_URL), SCREEN = 40;
const api = ky.create({ timeout: 30000, redirect: 'manual', retry: { limit: 4, methods: ['get', 'post'] } });
let token = null;
const screens = new Map();     // what an app has seen is not asked for again within a minute

async function login() {
  const res = await api.post(E.RIN_TOKEN_URL, { body: new URLSearchParams({ grant_type: 'client_credentials',
    client_id: E.RIN_CLIENT_ID, client_secret: E.RIN_CLIENT_SECRET }) }).json();
  token = res.access_token;
}
async function upstream(url) {
  if (!token) await login();
  const ask = () => api.get(url, { headers: { authorization: `Bearer ${token}` } });
  try { return await ask(); } catch (e) {
    if (!(e instanceof HTTPError) || e.response.status !== 401) throw e;
    await login();
    return await ask();
  }
}
async function screen(cursor) {
  const hit = screens.get(cursor);
  if (hit && hit.until > Date.now()) return hit.data;
  const url = new URL(cursor ? Buffer.from(cursor, 'base64url').toString() : home);
  if (!cursor) url.searchParams.set('page[size]', SCREEN);
  if (url.origin !== home.origin || url.pathname.replace(/\/$/, '') !== home.pathname.replace(/\/$/, '')) throw new Error('bad cursor');
  const res = await upstream(url);
  const rows = await res.json(), link = res.headers.get('link');
  let next = /<([^>]*)>\s*;\s*rel="?next\b/.exec(link ?? '')?.[1];
  if (next) next = new URL(next, url).href;
  else if (!link && rows.length) { url.searchParams.set('page[page]', Number(url.searchParams.get('page[page]') ?? 0) + SCREEN); next = url.href; }
  const data = { items: rows.map(r => ({ id: r.id, title: r.name[0].text })), cursor: next ? Buffer.from(next).toString('base64url') : null };
  screens.set(cursor, { data, until: Date.now() + 60000 });
  return data;
}
const server = http.createServer(async (req, res) => {
  try {
    const data = await screen(new URL(req.url, 'http://app').searchParams.get('cursor') ?? '');
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(data));
  } catch (e) {
    res.writeHead(502, { 'content-type': 'text/plain' }).end(String(e.message));
  }
});
await new Promise(r => server.listen(0, '127.0.0.1', r));
const at = `http://127.0.0.1:${server.address().port}/feed`;
const items = new Map(), been = new Set();
try {
  for (let cursor = ''; cursor !== null;) {
    if (been.has(cursor)) throw new Error('the feed goes in a circle');
    been.add(cursor);
    const res = await fetch(`${at}?cursor=${cursor}`);
    if (!res.ok) throw new Error(`feed: ${res.status} ${await res.text()}`);
    const s = await res.json();
    for (const i of s.items) items.set(i.id, i);
    cursor = s.cursor;
  }
  await (await fetch(`${at}?cursor=`)).json();       // pull to refresh: from memory
  console.log(items.size, 'items on', been.size, 'screens');
} catch (e) { console.error(e.message); process.exitCode = 1; }
server.close();
server.closeAllConnections();
