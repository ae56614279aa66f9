// axios with interceptors: the usual design of a service in Node.
import axios from "axios";
const env = process.env;
const limit = Date.now() + 16000;
setTimeout(() => process.exit(1), 19000).unref();
const sleep = ms => new Promise(r => setTimeout(r, ms));

function retryMs(n, headers) {
  const v = headers?.["retry-after"];
  if (v !== undefined) {
    if (/^\d+$/.test(v)) return v * 1000 + 50;
    const at = Date.parse(v);
    if (at) return Math.max(at - Date.now(), 0) + 1000;
  }
  return 400 * 2 ** n + Math.random() * 200;
}
const temporary = e => !e.response || [200, 429].includes(e.response.status) || e.response.status >= 500; // 200: a cut or broken body

// Requests that failed for a while are repeated, up to four times.
function withRetry(instance) {
  instance.interceptors.response.use(undefined, async e => {
    const c = e.config;
    if (!c || !temporary(e)) throw e;
    c.tries = (c.tries ?? 0) + 1;
    if (c.tries > 4) throw e;
    const ms = retryMs(c.tries - 1, e.response?.headers);
    if (Date.now() + ms > limit) throw e;
    await sleep(ms);
    return instance(c);
  });
}
const json = { transitional: { silentJSONParsing: false, forcedJSONParsing: true }, responseType: "json" };

const auth = axios.create({ timeout: 8000, maxRedirects: 0, ...json });
withRetry(auth);
let pending = null, current = null;
function login() {
  pending ??= auth.post(env.RIN_TOKEN_URL, new URLSearchParams({
    grant_type: "client_credentials", client_id: env.RIN_CLIENT_ID, client_secret: env.RIN_CLIENT_SECRET,
  })).then(({ data }) => {
    if (!data.access_token || data.token_type.toLowerCase() !== "bearer") throw new Error("no bearer token");
    current = { value: data.access_token, end: Date.now() + (data.expires_in ?? 60) * 1000 * 0.9 };
    return current;
  }).finally(() => { pending = null; });
  return pending;
}

const api = axios.create({ timeout: 8000, maxRedirects: 0, headers: { Accept: "application/json" }, ...json });
api.interceptors.request.use(async c => {
  const t = current && Date.now() < current.end ? current : await login();
  c.headers.Authorization = `Bearer ${t.value}`;
  c.usedToken = t;
  return c;
});
api.interceptors.response.use(undefined, async e => {
  const c = e.config;
  if (e.response?.status !== 401 || c.renewed) throw e;
  c.renewed = true;
  if (current === c.usedToken) current = null;
  return api(c);
});
withRetry(api);

const SIZE = 100;
async function list() {
  const all = new Map();
  for (let offset = 0; ; offset += SIZE) {
    const { data } = await api.get(env.RIN_FUNDINGS_URL, { params: { "page[page]": offset, "page[size]": SIZE } });
    if (!Array.isArray(data)) throw new Error("not a list");
    data.forEach(f => all.set(f.id, f));
    if (data.length < SIZE) return all;
  }
}
try {
  console.log((await list()).size, "fundings");
} catch (e) {
  console.error("harvest failed:", e.message);
  process.exit(1);
}
