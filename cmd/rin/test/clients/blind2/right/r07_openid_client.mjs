// openid-client 6 with its fetchProtectedResource; whole list by Link headers.
import * as oidc from "openid-client";
const env = process.env;
const deadline = Date.now() + 16000;
setTimeout(() => process.exit(1), 19000).unref();

// fetch that waits and repeats as the server asks
async function politeFetch(url, options) {
  for (let n = 0; ; n++) {
    let res = null, failure = null;
    try {
      const r = await fetch(url, { ...options, signal: AbortSignal.timeout(8000) });
      const body = await r.arrayBuffer(); // a cut body fails here
      res = new Response(r.status === 304 || r.status === 204 ? null : body, { status: r.status, headers: r.headers });
      if (r.status !== 429 && r.status < 500) return res;
    } catch (e) { failure = e; }
    let ms = 500 * 2 ** n + Math.random() * 250;
    const ra = res?.headers.get("retry-after");
    if (ra && /^\d+$/.test(ra)) ms = ra * 1000 + 100;
    else if (ra && Date.parse(ra)) ms = Math.max(0, Date.parse(ra) - Date.now()) + 1000;
    if (n >= 4 || Date.now() + ms > deadline) {
      if (failure) throw failure;
      return res;
    }
    await new Promise(f => setTimeout(f, ms));
  }
}

const config = new oidc.Configuration(
  { issuer: new URL(env.RIN_TOKEN_URL).origin, token_endpoint: env.RIN_TOKEN_URL },
  env.RIN_CLIENT_ID, {}, oidc.ClientSecretBasic(env.RIN_CLIENT_SECRET));
oidc.allowInsecureRequests(config); // loopback
config[oidc.customFetch] = politeFetch;
config.timeout = 18;

let tokens, end = 0;
async function accessToken() {
  if (!tokens || Date.now() > end) {
    tokens = await oidc.clientCredentialsGrant(config, {});
    end = Date.now() + (tokens.expiresIn() ?? 60) * 900;
  }
  return tokens.access_token;
}

async function get(url) {
  const headers = new Headers({ accept: "application/json" });
  let bad = 0;
  for (let second = false; ;) {
    let res;
    try {
      res = await oidc.fetchProtectedResource(config, await accessToken(), new URL(url), "GET", null, headers);
    } catch (e) {
      if (e instanceof oidc.WWWAuthenticateChallengeError && e.status === 401 && !second) {
        second = true;
        tokens = undefined;
        continue;
      }
      throw e;
    }
    if (res.status === 401 && !second) { second = true; tokens = undefined; continue; }
    if (res.status !== 200) throw new Error(`${res.status} for ${url}`);
    try {
      return { data: await res.json(), link: res.headers.get("link") ?? "" };
    } catch (e) {
      if (++bad > 2) throw e;
      await new Promise(f => setTimeout(f, 1000 * bad));
    }
  }
}

try {
  const first = new URL(env.RIN_FUNDINGS_URL);
  first.search = new URLSearchParams({ "page[page]": 0, "page[size]": 40 });
  const ids = new Set();
  let url = first.href;
  for (let pages = 0; url; pages++) {
    if (pages > 1000) throw new Error("the list does not end");
    const { data, link } = await get(url);
    if (!Array.isArray(data)) throw new Error("not a list");
    data.forEach(f => ids.add(f.id));
    const next = link.split(/,\s*(?=<)/).find(l => /;\s*rel="?next"?/.test(l));
    url = next ? new URL(next.slice(1, next.indexOf(">")), url).href : null;
    if (url && new URL(url).origin !== first.origin) throw new Error("next link leads away");
  }
  console.log(ids.size);
} catch (e) {
  console.error(String(e));
  process.exit(1);
}
