// got: finds the node in the registry, asks its info resource where the list is, and reads the list in one answer,
// which the interface offers to requests without paging parameters.
import got from "got";
const env = process.env;
setTimeout(() => { console.error("out of time"); process.exit(1); }, 18500).unref();
const begin = Date.now();

const http = got.extend({
  followRedirect: false, timeout: { request: 9000 }, headers: { accept: "application/json", "user-agent": "ris-import/2" },
  retry: {
    limit: 3, methods: ["GET", "POST"], statusCodes: [429, 500, 502, 503, 504], maxRetryAfter: 12000, enforceRetryRules: true,
    calculateDelay: ({ computedValue, retryAfter }) => {
      if (!computedValue) return 0;
      const ms = retryAfter ? computedValue + 100 : Math.max(computedValue, 500);
      return Date.now() - begin + ms > 16000 ? 0 : ms;
    },
  },
});

let token = null;
async function login() {
  const t = await http.post(env.RIN_TOKEN_URL, {
    form: { grant_type: "client_credentials", client_id: env.RIN_CLIENT_ID, client_secret: env.RIN_CLIENT_SECRET },
  }).json();
  if (t.token_type?.toLowerCase() !== "bearer") throw new Error("no bearer token");
  token = t.access_token;
}
async function get(url) {
  for (let i = 0; ; i++) {
    if (!token) await login();
    try {
      return await http(url, { headers: { authorization: `Bearer ${token}` } }).json();
    } catch (e) {
      if (e.response?.statusCode !== 401 || i > 0) throw e;
      token = null;
    }
  }
}
async function main() {
  const registry = await get(env.RIN_REGISTRY_URL);
  const node = registry.member.find(m => m.id === env.RIN_NODE_ID);
  const info = await get(node.info);
  const url = info.endpoints.funding.find(e => e.name === "FUNDINGS")?.url;
  if (!url || new URL(url).origin !== new URL(env.RIN_INFO_URL).origin) throw new Error("no list at this node");
  const list = await get(url);
  if (!Array.isArray(list)) throw new Error("not a list");
  console.log(new Set(list.map(f => f.id)).size, "fundings");
}
main().catch(e => { console.error("import failed:", e.message); process.exitCode = 1; });
