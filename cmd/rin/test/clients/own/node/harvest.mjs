// Clients that keep the rules, with fetch alone. Usage: node harvest.mjs NAME
const env = process.env;
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
let token, notBefore = 0;

async function persist(url, init) {
  for (let attempt = 0; attempt < 5; attempt++) {
    await sleep(Math.max(0, notBefore - Date.now()));
    try {
      const answer = await fetch(url, { redirect: "manual", ...(await init()) });
      const told = answer.headers.get("retry-after");
      if (answer.status === 429 || answer.status === 503) {
        const wait = /^\d+$/.test(told ?? "") ? told * 1000 : told ? Date.parse(told) - Date.parse(answer.headers.get("date")) : 500 * 2 ** attempt;
        notBefore = Math.max(notBefore, Date.now() + wait + 200);
        continue;
      }
      if (answer.status < 500) {
        return { status: answer.status, headers: answer.headers, body: answer.status === 200 ? await answer.json() : await answer.text() };
      }
    } catch (reason) {
      if (!(reason instanceof TypeError || reason instanceof SyntaxError)) throw reason;
    }
    await sleep(300 * 2 ** attempt);
  }
  throw new Error("too many attempts at " + url);
}

function fetchToken() {
  if (!token) {
    const form = new URLSearchParams({ grant_type: "client_credentials", client_id: env.RIN_CLIENT_ID, client_secret: env.RIN_CLIENT_SECRET });
    token = persist(env.RIN_TOKEN_URL, () => ({ method: "POST", body: form, headers: { Accept: "application/json" } })).then((answer) => answer.body.access_token);
  }
  return token;
}

async function get(url) {
  for (let turn = 0, refusals = 0; turn < 4; turn++) {
    const used = fetchToken();
    const value = await used;
    const answer = await persist(url, () => ({ headers: { Authorization: "Bearer " + value, Accept: "application/json", "User-Agent": "harvest-node/1.0" } }));
    if (answer.status === 401) {
      if (++refusals === 2) throw new Error(`${url}: two tokens in a row are refused`);
      if (token === used) token = undefined; // the first worker that hears of it asks for another one
      continue;
    }
    if (answer.status >= 300 && answer.status < 400) {
      const target = new URL(answer.headers.get("location"), url);
      if (target.origin !== new URL(url).origin) throw new Error("redirected to another host: " + target.origin);
      url = target.href;
      continue;
    }
    if (answer.status !== 200) throw new Error(`${url}: ${answer.status}`);
    return answer;
  }
  throw new Error("refused again");
}

const clients = {
  // Reads page by page along the links.
  async pages() {
    const ids = new Set();
    for (let url = env.RIN_FUNDINGS_URL + "?page[page]=0&page[size]=40"; url; ) {
      const answer = await get(url);
      answer.body.forEach((item) => ids.add(item.id));
      const next = /<([^>]*)>;\s*rel="?next"?/.exec(answer.headers.get("link") ?? "");
      url = next && new URL(next[1], url).href;
    }
    return ids.size;
  },
  // Looks at the info resource six times while it reads the list.
  async together() {
    const looks = Array.from({ length: 6 }, () => get(env.RIN_INFO_URL));
    const [count] = await Promise.all([clients.pages(), ...looks]);
    return count;
  },
};

clients[process.argv[2]]().then((count) => console.log(count, "funding calls"), (reason) => { console.error(String(reason)); process.exitCode = 1; });
