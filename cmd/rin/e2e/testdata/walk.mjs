// A client with fetch that keeps the rules: registry, one token for each node, info, and the list of fundings page by page. The file of
// rin sandbox --credentials is its first argument; it prints how many fundings each node has.
import { readFile } from 'node:fs/promises';

const size = 30;

async function json(url, options = {}) {
  const answer = await fetch(url, {
    redirect: 'error', signal: AbortSignal.timeout(10_000), ...options,
    headers: { Accept: 'application/json', 'User-Agent': 'ris-import/1.0', ...options.headers }
  });
  const body = await answer.text();
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${body}`);
  return JSON.parse(body);
}

async function walk(entry, client) {
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: client.clientId, client_secret: client.clientSecret });
  const granted = await json(entry.oauth2, { method: 'POST', body: form });
  const headers = { Authorization: `Bearer ${granted.access_token}`, 'Content-Type': 'application/json' };
  const info = await json(entry.info, { headers });
  const list = info.endpoints.funding.find(endpoint => endpoint.name === 'FUNDINGS').url;
  const ids = new Set();
  for (let offset = 0; ; offset += size) {
    const page = await json(`${list}?${new URLSearchParams({ 'page[page]': offset, 'page[size]': size })}`, { headers });
    for (const funding of page) ids.add(funding.id);
    if (page.length < size) return ids.size;
  }
}

const issued = JSON.parse(await readFile(process.argv[2], 'utf8'));
const registry = await json(issued.registry);
for (const node of issued.nodes) {
  const entry = registry.member.find(entry => entry.id === node.id);
  console.log(node.id, await walk(entry, node.clients[0]));
}
