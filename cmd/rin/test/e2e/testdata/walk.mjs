// A client with fetch that keeps the rules: registry, one token for each node, info, and the list of fundings page by page. The file of
// rin sandbox --credentials is its first argument; it prints how many fundings each node has.
import { readFile } from 'node:fs/promises';

async function json(url, options = {}) {
  const answer = await fetch(url, {
    redirect: 'error', signal: AbortSignal.timeout(10_000), ...options,
    headers: { Accept: 'application/json', 'User-Agent': 'ris-import/1.0', ...options.headers }
  });
  const body = await answer.text();
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${body}`);
  const next = /<([^>]+)>; *rel="?next"?/.exec(answer.headers.get('link') ?? '')?.[1];
  return { value: JSON.parse(body), next: next && new URL(next, url).href };
}

async function walk(entry, client) {
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: client.clientId, client_secret: client.clientSecret });
  const { value: granted } = await json(entry.oauth2, { method: 'POST', body: form });
  const headers = { Authorization: `Bearer ${granted.access_token}`, 'Content-Type': 'application/json' };
  const { value: info } = await json(entry.info, { headers });
  const list = info.endpoints.funding.find(endpoint => endpoint.name === 'FUNDINGS').url;
  const ids = new Set();
  for (let at = `${list}?${new URLSearchParams({ 'page[page]': 0, 'page[size]': 30 })}`; at;) {
    const page = await json(at, { headers });
    for (const funding of page.value) ids.add(funding.id);
    at = page.next;
  }
  return ids.size;
}

const issued = JSON.parse(await readFile(process.argv[2], 'utf8'));
const { value: registry } = await json(issued.registry);
for (const node of issued.nodes) {
  const entry = registry.member.find(entry => entry.id === node.id);
  console.log(node.id, await walk(entry, node.clients[0]));
}
