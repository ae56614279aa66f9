// A resource server of another maker: funding calls behind JWTs that jose verifies, with a document, errors and paging of its own.
// Nothing of it is the sandbox's. It learns the keys from the issuer's metadata, and who may read calls from a role in the token or
// from a list of clients. Environment: ISSUER, AUDIENCE, and ROLE or CLIENTS (comma-separated).
import { createServer } from 'node:http';
import { createRemoteJWKSet, errors, jwtVerify } from 'jose';
import { calls, kinds } from './calls.mjs';
import { describe } from './description.mjs';

const { ISSUER, AUDIENCE, ROLE, CLIENTS } = process.env;
const metadata = await (await fetch(`${ISSUER}/.well-known/openid-configuration`)).json();
const keys = createRemoteJWKSet(new URL(metadata.jwks_uri));

/** A refusal: what the server says instead of an answer. */
class Fault extends Error {
  constructor(status, code, message, headers = {}) {
    super(message);
    Object.assign(this, { status, code, headers });
  }

  static challenge(status, code, message) {
    const parameters = [`realm="calls"`, ...(code ? [`error="${code}"`, `error_description="${message}"`] : [])];
    return new Fault(status, code ?? 'no_token', message, { 'WWW-Authenticate': `Bearer ${parameters.join(', ')}` });
  }
}

/** The claims of a caller's token; a refusal by RFC 6750 section 3.1 otherwise. */
async function caller(req) {
  const field = req.headers.authorization ?? '';
  if (!/^bearer($| )/i.test(field)) throw Fault.challenge(401, null, 'a bearer token is needed');
  const token = field.slice('bearer'.length).trim();
  if (!/^[\w~+/.-]+=*$/.test(token)) throw Fault.challenge(400, 'invalid_request', 'this is no bearer token');
  try {
    const { payload } = await jwtVerify(token, keys, {
      issuer: metadata.issuer,
      audience: AUDIENCE,
      algorithms: ['RS256', 'PS256', 'ES256'],
      requiredClaims: ['exp'],
      clockTolerance: 5,
    });
    return payload;
  } catch (error) {
    if (error instanceof errors.JWKSTimeout || !(error instanceof errors.JOSEError)) {
      throw new Fault(503, 'no_keys', 'the keys of the authorization server are out of reach');
    }
    throw Fault.challenge(401, 'invalid_token', 'the token is expired, forged or meant for others');
  }
}

/** Only clients of the funding service read calls. */
function permit(claims) {
  const allowed = ROLE
    ? claims.realm_access?.roles?.includes(ROLE)
    : CLIENTS.split(',').includes(claims.client_id ?? claims.azp);
  if (!allowed) throw Fault.challenge(403, 'insufficient_scope', 'this client may not read funding calls');
}

/** A whole number of the query within its bounds. */
function whole(query, name, least, most, otherwise) {
  const text = query.get(name);
  if (text === null || text === '') return otherwise;
  const value = Number(text);
  if (!/^\d{1,9}$/.test(text) || value < least || value > most) {
    throw new Fault(400, 'bad_parameter', `${name} is a whole number from ${least} to ${most}`);
  }
  return value;
}

/** A value of the query out of a few. */
function choice(query, name, values) {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (!values.includes(text)) throw new Fault(400, 'bad_parameter', `${name} is one of ${values.join(', ')}`);
  return text;
}

function list({ query, base }) {
  const kind = choice(query, 'kind', kinds);
  const open = choice(query, 'open', ['true', 'false']);
  const funder = query.get('funder') || undefined;
  const limit = whole(query, 'limit', 1, 50, 20);
  const offset = whole(query, 'offset', 0, 1_000_000, 0);
  const today = new Date().toISOString().slice(0, 10);
  const found = calls.filter((c) => (!kind || c.kind === kind)
    && (!funder || c.funder.id === funder)
    && (!open || (open === 'true') === (c.opens <= today && (c.closes === null || today <= c.closes))));
  const items = found.slice(offset, offset + limit);
  const more = new URLSearchParams(query);
  more.set('limit', limit);
  more.set('offset', offset + limit);
  const next = offset + limit < found.length ? `${base}/funding/v1/calls?${more}` : null;
  return { items, total: found.length, next };
}

function detail({ id }) {
  const call = calls.find((c) => c.id === id);
  if (!call) throw new Fault(404, 'no_such_call', 'no call has this id');
  return call;
}

function info({ base }) {
  const endpoint = (name, url) => ({ name, majorVersion: 1, minorVersion: 0, url: `${base}/funding/v1/${url}` });
  return { endpoints: { funding: [endpoint('CALLS', 'calls'), endpoint('CALL', 'calls/{id}')] } };
}

const routes = [
  { path: /^\/campus\/funding\/v1\/api-docs$/, open: true, answer: ({ base }) => describe(base, metadata.token_endpoint) },
  { path: /^\/campus\/info\/v1\/oauth\/info\/?$/, answer: info },
  { path: /^\/campus\/funding\/v1\/calls$/, permit, answer: list },
  { path: /^\/campus\/funding\/v1\/calls\/(?<id>[^/]+)$/, permit, answer: detail },
];

async function answer(req) {
  const [path, search = ''] = req.url.split(/\?(.*)/s);
  const route = routes.find((r) => r.path.test(path));
  if (!route?.open) {
    const claims = await caller(req);
    if (!route) throw new Fault(404, 'no_such_path', 'nothing is here');
    route.permit?.(claims);
  }
  if (!['GET', 'HEAD'].includes(req.method)) throw new Fault(405, 'bad_method', 'this is only read', { Allow: 'GET, HEAD' });
  let id;
  try {
    id = decodeURIComponent(path.match(route.path).groups?.id ?? '');
  } catch {
    throw new Fault(400, 'bad_path', 'the path is not percent-encoded UTF-8');
  }
  return route.answer({ id, query: new URLSearchParams(search), base });
}

function send(req, res, status, body, headers = {}) {
  const text = Buffer.from(JSON.stringify(body));
  res.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': text.length,
    'Cache-Control': 'private, no-store',
    'X-Content-Type-Options': 'nosniff',
    ...headers,
  });
  res.end(req.method === 'HEAD' ? undefined : text);
}

const server = createServer(async (req, res) => {
  try {
    send(req, res, 200, await answer(req));
  } catch (fault) {
    if (!(fault instanceof Fault)) console.error(fault);
    const { status, code, message, headers } = fault instanceof Fault ? fault : new Fault(500, 'defect', 'this server has a defect');
    send(req, res, status, { fault: { code, message } }, headers);
  }
});
let base;
server.listen(0, '127.0.0.1', () => {
  base = `http://127.0.0.1:${server.address().port}/campus`;
  console.log(base);
});
process.stdin.on('end', () => process.exit(0)).resume();
