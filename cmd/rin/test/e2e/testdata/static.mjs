// Puts several servers under one origin, as a gateway does: the document on a static path, two mocks behind prefixes.
// argv: document file, then PREFIX=TARGET pairs.
import { createServer, request } from 'node:http';
import { readFileSync } from 'node:fs';

const [file, ...routes] = process.argv.slice(2);
const document = readFileSync(file);
const table = routes.map((r) => r.split('='));
const server = createServer((req, res) => {
  if (req.url === '/ris-synergy/funding/v3/api-docs') {
    res.writeHead(200, { 'Content-Type': 'application/json' }).end(document);
    return;
  }
  const route = table.find(([prefix]) => req.url.startsWith(prefix));
  if (!route) {
    res.writeHead(404, { 'Content-Type': 'application/json' }).end('{"error":"no such path"}');
    return;
  }
  const [prefix, target] = route;
  const to = new URL(target + req.url.slice(prefix.length));
  const out = request(to, { method: req.method, headers: { ...req.headers, host: to.host } }, (answer) => {
    res.writeHead(answer.statusCode, answer.headers);
    answer.pipe(res);
  });
  out.on('error', () => res.writeHead(502).end());
  req.pipe(out);
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
process.stdin.on('end', () => process.exit(0)).resume();
