// Copies the whole list into a search index once a day: reads page after page
// until there is no further one, and builds the index from one record of each id.
const { RIN_TOKEN_URL, RIN_FUNDINGS_URL, RIN_CLIENT_ID, RIN_CLIENT_SECRET } = process.env;
const PAGE_SIZE = 150, ATTEMPTS = 5;
const end = Date.now() + 54_000;
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

function pauseFor(headers, fallback) {
  const value = headers?.get('retry-after')?.trim();
  if (!value) return fallback;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const gap = Date.parse(value) - Date.parse(headers.get('date'));
  return Number.isNaN(gap) ? fallback : Math.max(gap, 1000);
}

// An answer that is complete and no passing trouble: { status, headers, text, body }.
async function send(url, options) {
  for (let attempt = 1; ; attempt++) {
    let trouble, headers;
    try {
      const response = await fetch(url, { ...options, redirect: 'manual', signal: AbortSignal.timeout(10_000) });
      ({ headers } = response);
      const { status } = response;
      const text = await response.text();
      if (status !== 429 && status < 500) {
        return { status, headers, text, body: status === 200 ? JSON.parse(text) : undefined };
      }
      trouble = `status ${status}`;
    } catch (error) {
      trouble = error.cause?.code ?? error.message;
    }
    const pause = pauseFor(headers, 1000 * 2 ** (attempt - 1));
    if (attempt === ATTEMPTS || Date.now() + pause > end) throw new Error(`gave up: ${trouble}`);
    console.error(`${trouble}: again in ${pause / 1000} s`);
    await sleep(pause);
  }
}

class Node {
  #token;
  #list = new URL(RIN_FUNDINGS_URL);

  async #login() {
    const answer = await send(RIN_TOKEN_URL, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials', client_id: RIN_CLIENT_ID, client_secret: RIN_CLIENT_SECRET,
      }),
    });
    if (answer.status !== 200) throw new Error(`no token: ${answer.status}`);
    this.#token = answer.body.access_token;
  }

  async page(number) {
    let renewed = false, moved = false;
    for (;;) {
      if (!this.#token) await this.#login();
      const url = new URL(this.#list);
      url.searchParams.set('page[page]', number);
      url.searchParams.set('page[size]', PAGE_SIZE);
      const answer = await send(url, { headers: { authorization: `Bearer ${this.#token}` } });
      if (answer.status === 401 && !renewed) {
        this.#token = undefined;
        renewed = true;
      } else if ([301, 302, 307, 308].includes(answer.status) && !moved) {
        const to = new URL(answer.headers.get('location'), url);
        if (to.origin !== url.origin) throw new Error(`redirected to ${to.origin}, not followed`);
        to.search = '';
        this.#list = to;
        moved = true;
      } else if (answer.status !== 200 || !Array.isArray(answer.body)) {
        throw new Error(`status ${answer.status}: ${answer.text.slice(0, 200)}`);
      } else {
        const more = /rel="?next"?/.test(answer.headers.get('link') ?? '');
        return { records: answer.body, more };
      }
    }
  }
}

function words(record) {
  return record.name.flatMap(({ text }) => text.toLowerCase().match(/\p{L}{4,}/gu) ?? []);
}

try {
  const node = new Node();
  const byId = new Map();
  for (let number = 0, more = true; more; number++) {
    let page = await node.page(number);
    if (page.records.length === 0 && page.more) { // perhaps an index is being built: look once more
      await sleep(2000);
      page = await node.page(number);
    }
    for (const record of page.records) byId.set(record.id, record);
    ({ more } = page);
  }
  if (byId.size === 0) throw new Error('the list is empty; the index stays as it was');
  const index = new Map();
  for (const [id, record] of byId) {
    for (const word of words(record)) index.set(word, [...(index.get(word) ?? []), id]);
  }
  console.log(`${byId.size} fundings under ${index.size} words`);
} catch (error) {
  console.error(`index: ${error.message}`);
  process.exitCode = 1;
}
