// A dashboard of a research office: four filtered panels, one after the other.
// Each panel is a question to the node (filters of the specification), read
// page by page. A panel that cannot be read is shown as such, and the exit
// code says so; the other panels are still read, unless our account is refused.
const panels = [
  ['running calls for universities', { runningCalls: 'true', targetGroup: 'UNIVERSITY' }],
  ['running calls in Vienna', { runningCalls: 'true', region: 'VIENNA' }],
  ['programmes', { fundingType: 'PROGRAMME' }],
  ['scholarships', { fundingType: 'SCHOLARSHIP' }],
];
const PAGE = 25;
const until = Date.now() + 50_000;

class NodeError extends Error {}
class Refused extends NodeError {} // our account: no other panel will do better

class Client {
  #token = null;
  #goodUntil = 0;

  async #pause(ms, why) {
    if (Date.now() + ms > until) throw new NodeError(`${why}, and no time to wait`);
    console.error(`  (${why}, waiting ${(ms / 1000).toFixed(1)} s)`);
    await new Promise((go) => setTimeout(go, ms));
  }

  static #delay(response, attempt) {
    const grow = 700 * 2 ** attempt;
    const header = response?.headers.get('retry-after') ?? '';
    if (/^\s*\d+\s*$/.test(header)) return Math.max(Number(header) * 1000, grow);
    const date = Date.parse(header) - Date.parse(response?.headers.get('date') ?? '');
    if (!Number.isNaN(date)) return Math.max(date, grow);
    return header ? Math.max(10_000, grow) : grow;
  }

  async #exchange(address, init) {
    let url = address;
    let failure;
    for (let attempt = 0; attempt < 5; attempt++) {
      let response = null;
      try {
        response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(10_000) });
        const text = await response.text();
        if (response.status === 200) return { response, data: JSON.parse(text) };
        if (response.status === 307 || response.status === 308) {
          const target = new URL(response.headers.get('location') ?? '', url);
          if (target.origin !== new URL(url).origin) throw new NodeError(`moved to ${target.host}`);
          url = target.href;
          continue;
        }
        if (response.status !== 429 && response.status < 500) return { response, data: null };
        failure = `status ${response.status}`;
      } catch (error) {
        if (error instanceof NodeError) throw error;
        failure = `unusable answer, ${error.name}`;
      }
      if (attempt < 4) await this.#pause(Client.#delay(response, attempt), failure);
    }
    throw new NodeError(`gave up: ${failure}`);
  }

  async #bearer() {
    if (this.#token && Date.now() < this.#goodUntil) return this.#token;
    const { response, data } = await this.#exchange(process.env.RIN_TOKEN_URL, {
      method: 'POST',
      headers: { accept: 'application/json' },
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: process.env.RIN_CLIENT_ID,
        client_secret: process.env.RIN_CLIENT_SECRET,
      }),
    });
    if (!data?.access_token) throw new Refused(`no token (${response.status})`);
    this.#token = data.access_token;
    this.#goodUntil = Date.now() + ((data.expires_in ?? 60) - 15) * 1000;
    return this.#token;
  }

  async get(url) {
    for (const second of [false, true]) {
      const headers = { accept: 'application/json', authorization: `Bearer ${await this.#bearer()}` };
      const { response, data } = await this.#exchange(url, { headers });
      if (data !== null) return { response, data };
      this.#token = null;
      if (response.status !== 401 || second) {
        throw new (response.status === 401 ? Refused : NodeError)(`${response.status} ${response.headers.get('www-authenticate') ?? ''}`);
      }
    }
  }

  async list(filters) {
    const base = new URL(process.env.RIN_FUNDINGS_URL);
    for (const [name, value] of Object.entries({ ...filters, 'page[size]': PAGE })) base.searchParams.set(name, value);
    const found = new Map();
    const visited = new Set();
    let url = base.href;
    while (url) {
      if (visited.has(url)) throw new NodeError('links in a circle');
      visited.add(url);
      const { response, data } = await this.get(url);
      if (!Array.isArray(data)) throw new NodeError('not a list');
      for (const item of data) found.set(item.id, item);
      const link = /<([^>]*)>\s*;[^,]*rel="?next"?/.exec(response.headers.get('link') ?? '');
      // A link may carry the host that a proxy sees: only its path is used.
      const next = link && new URL(link[1], url);
      url = next && base.origin + next.pathname + next.search;
    }
    return found;
  }
}

const client = new Client();
for (const [title, filters] of panels) {
  try {
    const found = await client.list(filters);
    console.log(`${title}: ${found.size}`);
  } catch (error) {
    console.log(`${title}: NOT AVAILABLE (${error.message})`);
    process.exitCode = 1;
    if (error instanceof Refused) break;
  }
}
