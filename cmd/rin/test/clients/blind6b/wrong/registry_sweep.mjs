// Overview of the network: walks through the registry, tries to sign in at
// each node, and counts the fundings of the own one. Nodes that do not know
// this client are listed as closed.
const STOP = Date.now() + 50_000;
const SIZE = 120;
const own = process.env.RIN_NODE_ID;

class Failure extends Error {}

function retryMs(response, n) {
  const least = 500 * 2 ** n;
  const value = response?.headers.get('retry-after');
  if (!value) return least;
  if (/^\d+$/.test(value)) return Math.max(least, 1000 * Number(value));
  const gap = Date.parse(value) - Date.parse(response.headers.get('date') ?? '');
  return Number.isNaN(gap) ? Math.max(least, 10_000) : Math.max(least, gap);
}

async function exchange(address, init = {}) {
  let url = new URL(address);
  let hops = 0;
  for (let n = 0; ;) {
    let response = null;
    let why;
    try {
      response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(12_000) });
      const text = await response.text();
      if (response.status === 200) return { response, data: JSON.parse(text) };
      why = `status ${response.status}`;
    } catch (error) {
      why = `no complete answer (${error.name})`;
    }
    const status = response?.status ?? 0;
    if (status === 307 || status === 308) {
      const target = new URL(response.headers.get('location') ?? '', url);
      if (target.origin !== url.origin) throw new Failure(`${url.pathname} has moved to ${target.host}`);
      if (++hops > 3) throw new Failure('too many redirects');
      url = target;
      continue;
    }
    if (status > 200 && status < 500 && status !== 429) return { response, data: null };
    const ms = retryMs(response, n);
    if (++n === 5 || Date.now() + ms > STOP) throw new Failure(`${url.pathname}: gave up, ${why}`);
    await new Promise((go) => setTimeout(go, ms));
  }
}

class NodeClient {
  constructor(entry) {
    this.entry = entry;
    this.token = null;
  }

  /** Signs in; false if this node does not know us. */
  async signIn() {
    const { response, data } = await exchange(this.entry.oauth2, {
      method: 'POST',
      headers: { accept: 'application/json' },
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: process.env.RIN_CLIENT_ID,
        client_secret: process.env.RIN_CLIENT_SECRET,
      }),
    });
    if (response.status === 400 || response.status === 401) return false;
    if (!data?.access_token) throw new Failure(`${this.entry.id}: no token (${response.status})`);
    this.token = data.access_token;
    return true;
  }

  async get(url) {
    for (let renewed = false; ; renewed = true) {
      if (this.token === null && !(await this.signIn())) throw new Failure('our credentials are not accepted');
      const headers = { accept: 'application/json', authorization: `Bearer ${this.token}` };
      const { response, data } = await exchange(url, { headers });
      if (data !== null) return { response, data };
      this.token = null;
      if (response.status !== 401 || renewed) {
        throw new Failure(`${response.status} ${response.headers.get('www-authenticate') ?? ''}`);
      }
    }
  }

  async count() {
    const home = new URL(process.env.RIN_FUNDINGS_URL);
    home.searchParams.set('page[size]', SIZE);
    const ids = new Set();
    const asked = new Set();
    for (let url = home; url;) {
      if (asked.has(url.href)) throw new Failure('links in a circle');
      asked.add(url.href);
      const { response, data } = await this.get(url);
      if (!Array.isArray(data)) throw new Failure('not a list');
      data.forEach((record) => ids.add(record.id));
      const link = /<([^>]*)>\s*;[^,]*rel="?next"?/.exec(response.headers.get('link') ?? '');
      url = link ? new URL(link[1], url) : null;
      if (url && url.origin !== home.origin) throw new Failure(`next page at ${url.host}`);
    }
    if (ids.size === 0) throw new Failure('an empty list');
    return ids.size;
  }
}

try {
  // The registry is public: no token is sent for it.
  const { data } = await exchange(process.env.RIN_REGISTRY_URL, { headers: { accept: 'application/json' } });
  if (!Array.isArray(data?.member)) throw new Failure('the registry has no members');
  let found = false;
  for (const entry of data.member) {
    const node = new NodeClient(entry);
    const open = await node.signIn().catch((error) => {
      if (entry.id === own) throw error;
      return false; // a neighbour in trouble is not our trouble
    });
    if (entry.id === own) {
      if (!open) throw new Failure(`${own} does not accept our credentials`);
      console.log(`${entry.id}: ${await node.count()} fundings`);
      found = true;
    } else {
      console.log(`${entry.id}: ${open ? 'open to us' : 'closed'}, contact ${entry.contact}`);
    }
  }
  if (!found) throw new Failure(`${own} is not in the registry`);
} catch (error) {
  console.error(`overview incomplete: ${error.message}`);
  process.exitCode = 1;
}
