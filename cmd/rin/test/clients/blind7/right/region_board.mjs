// Dashboard of running calls: one figure for each province and one for each
// target group, from filtered lists. Two filters are read at a time; inside a
// filter the pages follow each other. A figure is shown only if it is complete.
const { RIN_TOKEN_URL, RIN_FUNDINGS_URL, RIN_CLIENT_ID, RIN_CLIENT_SECRET } = process.env;
const REGIONS = ['VIENNA', 'BURGENLAND', 'LOWER_AUSTRIA', 'CARINTHIA', 'UPPER_AUSTRIA', 'SALZBURG', 'STYRIA', 'TYROL', 'VORARLBERG'];
const GROUPS = ['UNIVERSITY', 'COMPANY', 'GOVERNMENT'];
const ATTEMPTS = 5;
const end = Date.now() + 52_000;
const home = new URL(RIN_FUNDINGS_URL);

let quietUntil = 0; // all readers keep still until then
let turn = Promise.resolve(); // after a trouble, requests go one by one
let careful = false;
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

function retryAfter(headers) {
  const value = headers.get('retry-after')?.trim();
  if (!value) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const gap = Date.parse(value) - Date.parse(headers.get('date'));
  return Number.isNaN(gap) ? undefined : Math.max(gap, 1000);
}

function oneByOne(task) {
  if (!careful) return task();
  const result = turn.then(task);
  turn = result.catch(() => {});
  return result;
}

async function once(url, options) {
  while (quietUntil > Date.now()) await sleep(quietUntil - Date.now());
  const response = await fetch(url, { ...options, redirect: 'manual', signal: AbortSignal.timeout(10_000) });
  const text = await response.text();
  const answer = { status: response.status, headers: response.headers, text };
  if (response.status === 200) answer.body = JSON.parse(text);
  return answer;
}

async function send(url, options = {}) {
  let trouble;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    let pause = 1000 * 2 ** attempt;
    try {
      const answer = await oneByOne(() => once(url, options));
      if (answer.status !== 429 && answer.status < 500) return answer;
      trouble = `status ${answer.status}`;
      pause = retryAfter(answer.headers) ?? pause;
    } catch (error) {
      trouble = error.cause?.code ?? error.name;
    }
    careful = true;
    quietUntil = Math.max(quietUntil, Date.now() + pause);
    if (quietUntil > end) break;
    console.error(`${trouble}: all wait ${Math.round(pause / 100) / 10} s`);
  }
  throw new Error(`${home.pathname}: ${trouble}, given up`);
}

let token; // a promise, so that several readers share one login
async function login() {
  const body = new URLSearchParams({
    grant_type: 'client_credentials', client_id: RIN_CLIENT_ID, client_secret: RIN_CLIENT_SECRET,
  });
  const answer = await send(RIN_TOKEN_URL, { method: 'POST', body });
  if (answer.status !== 200) throw new Error(`no token: status ${answer.status}`);
  return answer.body.access_token;
}

let place = home; // where the list is; a redirect within the node may change it
async function get(query) {
  let renewals = 0, hops = 0;
  for (;;) {
    token ??= login();
    const mine = token;
    const url = new URL(place);
    url.search = query;
    const answer = await send(url, { headers: { authorization: `Bearer ${await mine}`, accept: 'application/json' } });
    if (answer.status === 401 && renewals < 2) {
      renewals += token === mine ? 2 : 1; // a token that another reader fetched may be tried as well
      if (token === mine) token = undefined;
    } else if ([301, 302, 307, 308].includes(answer.status) && hops++ < 2) {
      const to = new URL(answer.headers.get('location'), url);
      if (to.origin !== home.origin) throw new Error(`redirected to ${to.origin}, not followed`);
      place = new URL(to.pathname, home);
    } else if (answer.status !== 200 || !Array.isArray(answer.body)) {
      throw new Error(`status ${answer.status}: ${answer.text.slice(0, 200)}`);
    } else {
      return answer;
    }
  }
}

async function count(filter) {
  const ids = new Set();
  let query = new URLSearchParams({ runningCalls: 'true', ...filter, 'page[page]': 0, 'page[size]': 30 }).toString();
  while (query) {
    let answer = await get(query);
    let next = answer.headers.get('link')?.match(/<([^>]*)>\s*;\s*rel="?next"?/)?.[1];
    if (answer.body.length === 0 && next) { // perhaps an index is being built: look once more
      await sleep(2000);
      answer = await get(query);
    }
    for (const record of answer.body) ids.add(record.id);
    const url = next && new URL(next, home);
    if (url && url.origin !== home.origin) throw new Error(`the next page is on ${url.origin}, not followed`);
    query = url?.search;
  }
  return ids.size;
}

const filters = [...REGIONS.map((region) => ({ region })), ...GROUPS.map((targetGroup) => ({ targetGroup }))];
const board = {};
async function reader() {
  for (let filter; (filter = filters.shift());) board[Object.values(filter)[0]] = await count(filter);
}

try {
  board.all = await count({}); // alone, so that troubles show before there are two readers
  await Promise.all([reader(), reader()]);
  console.log(JSON.stringify(board));
} catch (error) {
  console.error(`board: ${error.message}`);
  process.exit(1); // the other reader stops, too
}
