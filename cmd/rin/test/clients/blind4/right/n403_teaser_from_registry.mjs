// Teaser for a start page: five running calls. The addresses come from the registry and the info resource.
const env = (name) => {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
};
const AGENT = "n403-teaser-from-registry/1.4";
const ATTEMPTS = 6;
const DEADLINE = Date.now() + 60_000;
const listUrl = env("RIN_FUNDINGS_URL");
const trusted = new Set([new URL(listUrl).origin, new URL(env("RIN_INFO_URL")).origin]);

class Fatal extends Error {}
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

async function pause(res, attempt) {
  let ms = Math.min(400 * 2 ** attempt, 5000) * (0.75 + Math.random() / 2);
  const asked = res?.headers.get("retry-after");
  if (asked) {
    const wait = /^\d+$/.test(asked.trim()) ? Number(asked) * 1000 : Date.parse(asked) - Date.now();
    if (wait > 0) ms = wait + Math.random() * 200;
  }
  if (Date.now() + ms > DEADLINE) throw new Fatal("no time left for another attempt");
  await sleep(ms);
}

async function send(url, options) {
  const left = DEADLINE - Date.now();
  if (left <= 0) throw new Fatal("out of time");
  const signal = AbortSignal.timeout(Math.min(12_000, left));
  const res = await fetch(url, { ...options, redirect: "manual", signal });
  return { url, status: res.status, headers: res.headers, text: await res.text() };
}

let token;
let pending;

async function fetchToken() {
  const form = new URLSearchParams({
    grant_type: "client_credentials",
    client_id: env("RIN_CLIENT_ID"),
    client_secret: env("RIN_CLIENT_SECRET"),
  });
  let url = env("RIN_TOKEN_URL");
  for (let attempt = 0, hops = 0; ; ) {
    let res;
    let problem;
    try {
      res = await send(url, { method: "POST", body: form, headers: { accept: "application/json", "user-agent": AGENT } });
      if (res.status === 200) {
        const answer = JSON.parse(res.text);
        if (answer.access_token) {
          const life = Number(answer.expires_in) > 0 ? Number(answer.expires_in) * 1000 : Infinity;
          token = { value: answer.access_token, renewAt: Date.now() + life - Math.min(30_000, life / 5) };
          return token;
        }
        problem = "token endpoint: no access_token";
      } else if ((res.status === 307 || res.status === 308) && res.headers.get("location")) {
        const target = new URL(res.headers.get("location"), url);
        if (target.origin !== new URL(url).origin || ++hops > 3) throw new Fatal("token endpoint: redirected away");
        url = target.href;
        continue;
      } else if (res.status === 429 || res.status >= 500) problem = `token endpoint: HTTP ${res.status}`;
      else throw new Fatal(`token endpoint: HTTP ${res.status}`);
    } catch (e) {
      if (e instanceof Fatal) throw e;
      problem = `token endpoint: ${e.message}`;
    }
    if (++attempt >= ATTEMPTS) throw new Fatal(problem);
    await pause(res, attempt);
  }
}

async function getToken() {
  if (token && Date.now() < token.renewAt) return token;
  pending ??= fetchToken().finally(() => { pending = undefined; });
  return pending;
}

async function get(start, extra = {}, open = false) {
  let url = start;
  let renewed = false;
  for (let attempt = 0, hops = 0; ; ) {
    const headers = { accept: "application/json", "user-agent": AGENT, ...extra };
    const known = !open && trusted.has(new URL(url).origin);
    const used = known ? await getToken() : undefined;
    if (used) headers.authorization = `Bearer ${used.value}`;
    let res;
    let problem;
    try {
      res = await send(url, { headers });
    } catch (e) {
      if (e instanceof Fatal) throw e;
      problem = `${e.message}`;
    }
    if (res) {
      const location = res.headers.get("location");
      if (res.status === 200) {
        try {
          return { ...res, data: JSON.parse(res.text) };
        } catch {
          problem = "the answer is not complete JSON";
        }
      } else if (res.status === 304 || res.status === 404) return res;
      else if (res.status === 401 && used && !renewed) {
        renewed = true;
        if (token === used) token = undefined;
        continue;
      } else if ([301, 302, 303, 307, 308].includes(res.status) && location) {
        if (++hops > 5) throw new Fatal("too many redirects");
        url = new URL(location, url).href;
        continue;
      } else if (res.status === 429 || res.status >= 500) problem = `HTTP ${res.status}`;
      else throw new Fatal(`HTTP ${res.status} from ${new URL(url).pathname}`);
    }
    if (++attempt >= ATTEMPTS) throw new Fatal(`${problem}, given up`);
    await pause(res, attempt);
  }
}

async function findList() {
  const registry = await get(env("RIN_REGISTRY_URL"), {}, true);
  const entry = registry.data?.member?.find((member) => member.id === env("RIN_NODE_ID"));
  if (!entry) throw new Fatal("the registry does not list this node");
  if (entry.oauth2 !== env("RIN_TOKEN_URL") || entry.info !== env("RIN_INFO_URL")) {
    console.error("note: the registry names other addresses than the configuration, which holds");
  }
  const info = await get(env("RIN_INFO_URL"), { "content-type": "application/json" });
  const families = Object.values(info.data?.endpoints ?? {}).flat();
  const found = families.find((e) => e.name === "FUNDINGS" && e.majorVersion === 3);
  if (!found) throw new Fatal("the node offers no list of fundings in version 3");
  if (!trusted.has(new URL(found.url).origin)) throw new Fatal("the info resource names a foreign host");
  return found.url;
}

async function main() {
  const url = new URL(await findList());
  url.searchParams.set("runningCalls", "true");
  url.searchParams.set("page[size]", "5");
  const res = await get(url.href);
  if (!Array.isArray(res.data)) throw new Fatal(`no list of records (HTTP ${res.status})`);
  for (const call of res.data) {
    const name = call.name?.find((t) => t.lang === "en") ?? call.name?.[0];
    console.log(`${call.id}\t${name?.text ?? ""}`);
  }
  console.log(`(the first ${res.data.length} running calls)`);
}

main().catch((e) => {
  console.error(`failed: ${e.message}`);
  process.exitCode = 1;
});
