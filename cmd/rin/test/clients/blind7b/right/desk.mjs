// A lookup desk: a session of somebody who searches and opens records, as typed:
//   funder XO-10      the fundings of a funder (all of its pages)
//   show ID           one funding, asked for by its id; opened again, it is revalidated
//   head ID           does it still exist? (HEAD)
// The session comes from the command line ("show XF-00000002" …) or is the built-in one.
// Ends with 0 if each command got its answer; "there is no such funding" is an answer.
import { setTimeout as sleep } from 'node:timers/promises';

const { RIN_TOKEN_URL, RIN_FUNDINGS_URL, RIN_CLIENT_ID, RIN_CLIENT_SECRET } = process.env;
if (!RIN_TOKEN_URL || !RIN_FUNDINGS_URL || !RIN_CLIENT_ID || !RIN_CLIENT_SECRET) {
  console.error('desk: RIN_TOKEN_URL, RIN_FUNDINGS_URL, RIN_CLIENT_ID and RIN_CLIENT_SECRET are needed');
  process.exit(64);
}
const HOME = new URL(RIN_FUNDINGS_URL).origin;
const session = process.argv.length > 2 ? process.argv.slice(2) : [
  'show XF-00000002', 'show XF-00000004', 'funder XO-10', 'show XF-00000002', 'head XF-00000003', 'show XF-00000004'];
const end = Date.now() + 48_000;

const giveUp = (message) => { throw Object.assign(new Error(message), { final: true }); };

/** The pause before the next attempt: what Retry-After says, else growing ones. */
function pauseAfter(res, attempt) {
  const header = res?.headers.get('retry-after');
  if (header && /^\s*\d+\s*$/.test(header)) return Number(header) * 1000;
  const until = header ? Date.parse(header) : NaN;
  if (!Number.isNaN(until)) return Math.max(0, until - (Date.parse(res.headers.get('date')) || Date.now()));
  return 400 * 2 ** attempt;
}

/** Sends until there is an answer that can be used; accept(res, text) says what it is worth, or throws. */
async function persist(what, send, accept) {
  for (let attempt = 0; ; attempt++) {
    let res = null, trouble;
    try {
      const left = Math.min(12_000, end - Date.now());
      if (left < 1) giveUp(`${what}: no time left`);
      res = await send(AbortSignal.timeout(left));
      const text = await res.text();
      if (res.status !== 429 && res.status < 500) return await accept(res, text);
      trouble = `status ${res.status}`;
    } catch (e) {
      if (e.final) throw e;
      trouble = e.message;
      res = null;
    }
    if (attempt === 4) giveUp(`${what}: ${trouble}, after ${attempt + 1} attempts`);
    const pause = pauseAfter(res, attempt);
    if (Date.now() + pause > end) giveUp(`${what}: ${trouble}, and a pause of ${pause} ms`);
    console.error(`desk: ${what}: ${trouble}; one moment, ${pause} ms`);
    await sleep(pause);
  }
}

let bearer = null;
async function signIn() {
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: RIN_CLIENT_ID, client_secret: RIN_CLIENT_SECRET });
  bearer = await persist('sign in',
    (signal) => fetch(RIN_TOKEN_URL, { method: 'POST', body, signal, redirect: 'error', headers: { accept: 'application/json' } }),
    (res, text) => {
      if (res.status !== 200) giveUp(`sign in: status ${res.status}`);
      return JSON.parse(text).access_token ?? giveUp('sign in: no access_token');
    });
}

const shelf = new Map();   // what was read completely: href -> { etag, value, next }
async function ask(href, method = 'GET') {
  let refused = false, target = href, empty = 0;
  for (let hop = 0; hop < 5; hop++) {
    if (!bearer) await signIn();
    const have = method === 'GET' ? shelf.get(href) : undefined;
    const headers = { accept: 'application/json', authorization: `Bearer ${bearer}`, ...(have?.etag && { 'if-none-match': have.etag }) };
    const got = await persist(`${method} ${new URL(href).pathname}`,
      (signal) => fetch(target, { method, headers, signal, redirect: 'manual' }),
      (res, text) => {
        if (res.status === 304 && have) return { answer: have };
        if (res.status === 404) return { answer: { value: null } };
        if (res.status === 401 && !refused) return { again: (refused = true) };
        if (res.status >= 300 && res.status < 400) {
          const to = new URL(res.headers.get('location') ?? '/', target);
          if (to.origin !== HOME) giveUp(`the node sends us to ${to.origin}; the token stays here`);
          return { to: to.href };
        }
        if (res.status !== 200) giveUp(`status ${res.status} ${res.headers.get('www-authenticate') ?? ''} ${text.slice(0, 120)}`);
        if (method === 'HEAD') return { answer: { value: true } };
        const next = /<([^>]+)>;\s*rel="next"/.exec(res.headers.get('link') ?? '')?.[1];
        const read = { etag: res.headers.get('etag'), value: JSON.parse(text), next: next && new URL(next, target) };
        if (next && !read.value.length && empty++ < 2) throw new Error('an empty page before the end');   // ask again
        shelf.set(href, read);
        return { answer: read };
      });
    if (got.answer) return got.answer;
    if (got.again) bearer = null; else target = got.to;
  }
  return giveUp(`too many redirects from ${href}`);
}

const detail = (id) => `${RIN_FUNDINGS_URL.replace(/\/$/, '')}/${encodeURIComponent(id)}`;
const title = (f) => f.name?.find((t) => t.lang === 'en')?.text ?? f.name?.[0]?.text ?? '(no name)';

async function funder(id) {
  const url = new URL(RIN_FUNDINGS_URL);
  url.search = new URLSearchParams({ funderId: id, 'page[page]': '0', 'page[size]': '20' }).toString();
  const hits = new Map(), been = new Set();
  for (let at = url; at;) {
    if (been.has(at.href)) giveUp('a page names itself as the next');
    been.add(at.href);
    const page = await ask(at.href);
    if (!Array.isArray(page.value)) giveUp('the list is not an array');
    page.value.forEach((f) => hits.set(f.id, f));
    at = page.next ?? null;
    if (at && at.origin !== HOME) at = new URL(at.pathname + at.search, HOME);   // our host, its path
  }
  console.log(`${hits.size} fundings of ${id}: ${[...hits.keys()].join(' ')}`);
}

try {
  for (const command of session) {
    const [verb, id] = command.split(' ');
    console.log(`> ${command}`);
    if (verb === 'funder') await funder(id);
    else if (verb === 'head') console.log((await ask(detail(id), 'HEAD')).value ? 'it exists' : 'there is no such funding');
    else if (verb === 'show') {
      const { value } = await ask(detail(id));
      console.log(value ? `${value.type} ${title(value)}, stages: ${(value.callStages ?? []).map((s) => s.callStageEnd).join(', ')}` : 'there is no such funding');
    } else giveUp(`unknown command ${verb}`);
    await sleep(700);   // they read
  }
} catch (e) {
  console.error(`desk: ${e.message}`);
  process.exitCode = 1;
}
