// Dashboard: how many calls run, by province and by target group. axios with interceptors; the
// searches run two at a time. Each answer counts once, a filter is asked for once.
import axios from 'axios';

const env = process.env;
const HOME = new URL(env.RIN_FUNDINGS_URL).origin;
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
let restUntil = 0;
const rest = async () => {
  while (Date.now() < restUntil) await sleep(restUntil - Date.now() + 5);
};

function pauseOf(response, n) {
  const v = String(response.headers['retry-after'] ?? '').trim();
  if (/^\d+$/.test(v)) return Math.max(1, v) * 1000 + 30;
  const at = v ? Date.parse(v) : NaN;
  return Number.isNaN(at) ? 1500 * (n + 1) : Math.max(1000, at - Date.now() + 30);
}

const common = { timeout: 20000, proxy: false, maxRedirects: 0 };

function withPatience(client) {
  client.interceptors.request.use(async (config) => {
    await rest();
    return config;
  });
  client.interceptors.response.use(undefined, async (error) => {
    const { response, config } = error;
    if (!response || ![429, 503].includes(response.status)) throw error;
    config.tries = (config.tries ?? 0) + 1;
    if (config.tries > 6) throw error;
    restUntil = Math.max(restUntil, Date.now() + pauseOf(response, config.tries - 1));
    return client(config);
  });
  return client;
}

const auth = withPatience(axios.create(common));
let current = null; // promise of the token, one for all
function token() {
  current ??= auth.post(env.RIN_TOKEN_URL, new URLSearchParams({
    grant_type: 'client_credentials', client_id: env.RIN_CLIENT_ID, client_secret: env.RIN_CLIENT_SECRET,
  })).then((r) => {
    if (typeof r.data.access_token !== 'string') throw new Error('no access_token');
    return r.data.access_token;
  });
  return current;
}

const api = axios.create(common);
api.interceptors.request.use(async (config) => {
  if (new URL(api.getUri(config)).origin !== HOME) throw new Error(`other host: ${config.url}`);
  config.grant = token();
  config.headers.Authorization = `Bearer ${await config.grant}`;
  return config;
});
api.interceptors.response.use(undefined, async (error) => {
  const { response, config } = error;
  if (response?.status === 401 && !config.renewed) {
    if (current === config.grant) current = null;
    return api({ ...config, renewed: true });
  }
  if ([301, 302, 307, 308].includes(response?.status) && (config.hops ?? 0) < 5) {
    return api({ ...config, params: undefined, hops: (config.hops ?? 0) + 1,
      url: new URL(response.headers.location, api.getUri(config)).href });
  }
  throw error;
});
withPatience(api);

async function count(filter) {
  const ids = new Set();
  const size = 40;
  let read = 0;
  let url = env.RIN_FUNDINGS_URL;
  let params = { ...filter, 'page[size]': size };
  const asked = new Set();
  for (;;) {
    const address = api.getUri({ url, params });
    if (asked.has(address)) throw new Error('the next links go in a circle');
    asked.add(address);
    const r = await api.get(url, { params });
    if (!Array.isArray(r.data)) throw new Error('no list');
    for (const f of r.data) ids.add(f.id);
    read += r.data.length;
    const link = /<([^>]*)>[^<]*?;\s*rel\s*=\s*"?(?:[^"<]*\s)?next\b/i.exec(r.headers.link ?? '');
    if (link) {
      url = new URL(link[1], r.config.url).href;
      params = undefined;
    } else if (r.data.length && !r.headers.link) {
      url = env.RIN_FUNDINGS_URL;
      params = { ...filter, 'page[size]': size, 'page[page]': read };
    } else {
      return ids.size;
    }
  }
}

const filters = [
  ...['VIENNA', 'TYROL', 'STYRIA'].map((region) => ({ region, runningCalls: true })),
  ...['COMPANY', 'GOVERNMENT'].map((targetGroup) => ({ targetGroup, runningCalls: true })),
  { applicantsScope: 'REGIONAL', runningCalls: true },
];
try {
  const todo = [...filters];
  const shown = [];
  await Promise.all([1, 2].map(async () => {
    for (let f; (f = todo.shift());) shown.push([Object.values(f)[0], await count(f)]);
  }));
  for (const [name, n] of shown) console.log(name.padEnd(12), String(n).padStart(4), '#'.repeat(n / 4));
} catch (e) {
  console.error('dashboard is incomplete:', e.message);
  process.exit(1);
}
