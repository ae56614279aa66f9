#!/usr/bin/env node
// Nightly harvest: every funding of the node, page by page along rel="next",
// as NDJSON on stdout (one record a line). Progress goes to stderr.
import { setTimeout as sleep } from 'node:timers/promises';

const { RIN_TOKEN_URL, RIN_FUNDINGS_URL, RIN_CLIENT_ID, RIN_CLIENT_SECRET } = process.env;
const PAGE_SIZE = 100;
const MAX_TRIES = 5;
const DEADLINE = Date.now() + 21_000;

class Fatal extends Error {}

const log = (...a) => console.error(new Date().toISOString(), ...a);

/** Milliseconds that a Retry-After asks for, or null. */
function retryAfter(headers) {
  const v = headers.get('retry-after')?.trim();
  if (!v) return null;
  if (/^\d+$/.test(v)) return Number(v) * 1000 + 50;
  const at = Date.parse(v);
  if (Number.isNaN(at)) return null;
  const now = Date.parse(headers.get('date') ?? '') || Date.now();
  return Math.max(0, at - now) + 50;
}

async function pause(tries, asked, why) {
  if (tries >= MAX_TRIES) throw new Fatal(`giving up after ${tries} tries: ${why}`);
  const own = 300 * 2 ** (tries - 1) * (1 + Math.random() * 0.3);
  const ms = asked === null ? own : Math.max(asked, 200);
  if (Date.now() + ms > DEADLINE) throw new Fatal(`no time left to repeat (${Math.round(ms)} ms): ${why}`);
  log(`${why}; again in ${Math.round(ms)} ms`);
  await sleep(ms);
}

/** One HTTP exchange with body, bounded in time, redirects only inside the origin. */
async function exchange(url, init) {
  for (let hop = 0; hop < 4; hop++) {
    const left = DEADLINE - Date.now();
    if (left <= 0) throw new Fatal('out of time');
    const res = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(Math.min(8000, left)) });
    const keeps = init.method === 'POST' ? [307, 308] : [301, 302, 303, 307, 308];
    if (keeps.includes(res.status) && res.headers.has('location')) {
      const to = new URL(res.headers.get('location'), url);
      await res.body?.cancel();
      if (to.origin !== new URL(url).origin) throw new Fatal(`redirect to another origin refused: ${to.origin}`);
      url = to.href;
      continue;
    }
    return { status: res.status, headers: res.headers, url, text: await res.text() };
  }
  throw new Fatal('too many redirects');
}

let token = null;

async function fetchToken() {
  for (let tries = 1; ; tries++) {
    let why, asked = null;
    try {
      const r = await exchange(RIN_TOKEN_URL, {
        method: 'POST',
        headers: { accept: 'application/json' },
        body: new URLSearchParams({ grant_type: 'client_credentials', client_id: RIN_CLIENT_ID, client_secret: RIN_CLIENT_SECRET }),
      });
      if (r.status === 200) {
        const j = JSON.parse(r.text);
        if (typeof j?.access_token !== 'string' || !j.access_token) throw new Fatal('token answer without access_token');
        if (j.token_type && String(j.token_type).toLowerCase() !== 'bearer') throw new Fatal(`token type ${j.token_type}`);
        const ttl = Number(j.expires_in);
        token = { value: j.access_token, until: ttl > 0 ? Date.now() + ttl * 900 : Infinity };
        return;
      }
      if (r.status !== 429 && r.status < 500) throw new Fatal(`token endpoint: ${r.status} ${r.text.slice(0, 300)}`);
      why = `token endpoint: ${r.status}`;
      asked = retryAfter(r.headers);
    } catch (e) {
      if (e instanceof Fatal) throw e;
      why = `token endpoint: ${e.cause?.message ?? e.message}`;
    }
    await pause(tries, asked, why);
  }
}

async function getPage(url) {
  let renewed = 0;
  for (let tries = 1; ; ) {
    if (!token || Date.now() >= token.until) await fetchToken();
    let why, asked = null;
    try {
      const r = await exchange(url, { headers: { authorization: `Bearer ${token.value}`, accept: 'application/json' } });
      if (r.status === 200) {
        const list = JSON.parse(r.text);
        if (!Array.isArray(list)) throw new SyntaxError('not a JSON array');
        return { list, next: nextLink(r.headers.get('link'), r.url) };
      }
      if (r.status === 401 && renewed++ < 1) {
        log('401, fetching a new token');
        token = null;
        continue;
      }
      if (r.status !== 429 && r.status < 500) throw new Fatal(`${url}: ${r.status} ${r.text.slice(0, 300)}`);
      why = `${url}: ${r.status}`;
      asked = retryAfter(r.headers);
    } catch (e) {
      if (e instanceof Fatal) throw e;
      why = `${url}: ${e.cause?.message ?? e.message}`;
    }
    await pause(tries++, asked, why);
  }
}

/** Target of rel="next" in a Link field (RFC 8288), absolute, or null. */
function nextLink(field, base) {
  if (!field) return null;
  const re = /<([^>]*)>((?:\s*;\s*[\w!#$&+\-.^`|~*]+\s*(?:=\s*(?:"(?:[^"\\]|\\.)*"|[^\s",;]*))?)*)/g;
  for (const [, target, params] of field.matchAll(re)) {
    const rel = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,]+))/i.exec(params);
    if (rel && (rel[1] ?? rel[2]).toLowerCase().split(/\s+/).includes('next')) return new URL(target, base).href;
  }
  return null;
}

async function main() {
  for (const k of ['RIN_TOKEN_URL', 'RIN_FUNDINGS_URL', 'RIN_CLIENT_ID', 'RIN_CLIENT_SECRET'])
    if (!process.env[k]) throw new Fatal(`${k} is not set`);
  const first = new URL(RIN_FUNDINGS_URL);
  first.searchParams.set('page[page]', '0');
  first.searchParams.set('page[size]', String(PAGE_SIZE));
  const visited = new Set(), seen = new Set();
  let pages = 0;
  for (let url = first.href; url; ) {
    if (visited.has(url)) throw new Fatal(`the next links go round in a circle at ${url}`);
    if (new URL(url).origin !== first.origin) throw new Fatal(`next link leads to another origin: ${url}`);
    visited.add(url);
    const { list, next } = await getPage(url);
    pages++;
    for (const rec of list) {
      if (seen.has(rec.id)) continue;
      seen.add(rec.id);
      process.stdout.write(JSON.stringify(rec) + '\n');
    }
    url = next;
  }
  log(`${seen.size} fundings on ${pages} pages`);
}

main().catch((e) => {
  log('FAILED:', e.message);
  process.exitCode = 1;
});
