// A dashboard that polls the whole list, unpaged, with the validator of the last answer.
const { RIN_TOKEN_URL, RIN_FUNDINGS_URL, RIN_CLIENT_ID, RIN_CLIENT_SECRET } = process.env;
const ROUNDS = Number(process.env.ROUNDS ?? 4), EVERY = Number(process.env.EVERY ?? 1.5);
const sleep = (s) => new Promise((done) => setTimeout(done, Math.ceil(s * 1000) + 60));

class Trouble extends Error {}

function askedPause(headers) {
  const v = headers.get('retry-after')?.trim();
  if (!v) return null;
  if (/^\d+$/.test(v)) return Number(v);
  const at = Date.parse(v);
  if (Number.isNaN(at)) return null;
  const sent = Date.parse(headers.get('date') ?? '');
  return Math.max(0, (at - (Number.isNaN(sent) ? Date.now() : sent)) / 1000);
}

async function through(url, options) {
  let broken = 0, told = 0, hops = 0;
  for (;;) {
    let res, text, why;
    try {
      res = await fetch(url, { ...(await options()), redirect: 'manual', signal: AbortSignal.timeout(20_000) });
      text = await res.text();
      if (res.status === 200) return { res, doc: JSON.parse(text) };
      why = `${res.status} ${text.slice(0, 80)}`;
    } catch (e) {
      if (e instanceof Trouble) throw e;
      res = undefined;
      why = e.cause?.message ?? e.message;
    }
    const pause = res && (res.status === 429 || res.status === 503) ? askedPause(res.headers) : null;
    if (pause !== null) {
      if (++told > 5 || pause > 900) throw new Trouble(`${url}: ${why}`);
      await sleep(pause);
    } else if (!res || res.status === 429 || res.status >= 500) {
      if (++broken > 3) throw new Trouble(`${url}: ${why}`);
      await sleep(0.5 * 2 ** (broken - 1));
    } else if ([301, 302, 307, 308].includes(res.status)) {
      const to = new URL(res.headers.get('location') ?? '', url);
      if (++hops > 3 || to.origin !== new URL(url).origin) throw new Trouble(`redirected to ${to}`);
      url = to.href;
    } else return { res, doc: null, why };
  }
}

let token = null, staleAt = 0;

async function login() {
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: RIN_CLIENT_ID, client_secret: RIN_CLIENT_SECRET });
  const { res, doc } = await through(RIN_TOKEN_URL, () => ({ method: 'POST', body }));
  if (!doc?.access_token) throw new Trouble(`no token: ${res.status}`);
  token = doc.access_token;
  staleAt = doc.expires_in > 0 ? Date.now() + doc.expires_in * 850 : Infinity;
}

let board = null; // { etag, fundings }

async function poll() {
  const options = async () => {
    if (!token || Date.now() > staleAt) await login();
    const headers = { authorization: `Bearer ${token}`, accept: 'application/json' };
    if (board?.etag) headers['if-none-match'] = board.etag;
    return { headers };
  };
  for (let empty = 0, refused = 0; ; ) {
    const { res, doc, why } = await through(RIN_FUNDINGS_URL, options);
    if (res.status === 401 && !refused++) { await login(); continue; }
    if (res.status === 304 && board) return false;
    if (!Array.isArray(doc)) throw new Trouble(`the list: ${why ?? 'no array'}`);
    if (/rel="?next/.test(res.headers.get('link') ?? '')) throw new Trouble('the node pages a list that was asked for as a whole');
    if (doc.length === 0) { // a node without a single funding is not believed at once
      if (empty++) throw new Trouble('the list is empty, twice');
      await sleep(2);
      continue;
    }
    board = { etag: res.headers.get('etag'), fundings: new Map(doc.map((f) => [f.id, f])) };
    return true;
  }
}

try {
  for (let i = 0; i < ROUNDS; i++) {
    if (i) await sleep(EVERY);
    const changed = await poll();
    const kinds = {};
    for (const f of board.fundings.values()) kinds[f.type] = (kinds[f.type] ?? 0) + 1;
    console.log(changed ? 'new' : 'same', board.fundings.size, JSON.stringify(kinds));
  }
} catch (e) {
  console.error(`dashboard: ${e.message}`);
  process.exitCode = 1;
}
