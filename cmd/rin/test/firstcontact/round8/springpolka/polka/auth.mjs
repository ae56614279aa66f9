// OAuth 2.0 authorization server: client credentials, opaque tokens kept in memory as hashes.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const sha = (s) => createHash('sha256').update(s).digest();
const hex = (s) => createHash('sha256').update(s).digest('hex');

const MAX_BODY = 16384;
const MAX_FAILURES = 15;       // wrong secrets of one client ...
const FAILURE_WINDOW = 60000;  // ... within a minute
const LOCK = 30000;            // lock the client for half a minute

export function readBody(req) {
  return new Promise((resolve, reject) => {
    const parts = [];
    let size = 0, over = false;
    req.on('data', (c) => {
      size += c.length;
      if (size > MAX_BODY) over = true; else parts.push(c);
    });
    req.on('end', () => (over ? reject(Object.assign(new Error('too large'), { tooLarge: true })) : resolve(Buffer.concat(parts))));
    req.on('error', reject);
  });
}

// application/x-www-form-urlencoded, decoded once.
function formDecode(s) {
  return decodeURIComponent(s.replace(/\+/g, ' '));
}

export class AuthorizationServer {
  constructor({ issuer, realm, clients, lifetime, options }) {
    Object.assign(this, { issuer, realm, lifetime, options });
    this.clients = new Map(clients.map((c) => [c.id, { ...c, hash: sha(this.secretKey(c.secret)) }]));
    this.tokens = new Map();
    this.failures = new Map();
    setInterval(() => this.sweep(), 60000).unref();
  }

  secretKey(secret) {
    const bytes = Buffer.from(secret, 'utf8');
    // bcrypt reads the first 72 bytes of its input only.
    return this.options.bcrypt ? bytes.subarray(0, 72) : bytes;
  }

  sweep() {
    const now = Date.now();
    for (const [k, v] of this.tokens) if (v.expires <= now) this.tokens.delete(k);
  }

  metadata() {
    return {
      issuer: this.issuer,
      token_endpoint: this.tokenUrl,
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      grant_types_supported: ['client_credentials'],
      response_types_supported: ['none'],
      scopes_supported: [...new Set([...this.clients.values()].flatMap((c) => c.scopes))],
    };
  }

  // The record of a token that this server issued and that has not expired, or null.
  lookup(token) {
    const t = this.tokens.get(hex(token));
    return t && t.expires > Date.now() ? t : null;
  }

  async token(req, res) {
    const send = (status, body, headers = {}) => {
      const text = Buffer.from(JSON.stringify(body));
      res.writeHead(status, {
        'Content-Type': this.options.odd ? 'application/json;charset=UTF-8' : 'application/json', 'Content-Length': text.length,
        'Cache-Control': 'no-store', Pragma: 'no-cache', 'X-Content-Type-Options': 'nosniff', ...headers,
      });
      res.end(text);
    };
    const fail = (error, error_description) => send(400, { error, error_description });
    const unauthorized = (why) => send(401, { error: 'invalid_client', error_description: why }, { 'WWW-Authenticate': `Basic realm="${this.realm}", charset="UTF-8"` });

    let body;
    try { body = await readBody(req); } catch (e) {
      if (e.tooLarge) return send(413, { error: 'invalid_request', error_description: 'request body too large' }, { Connection: 'close' });
      return res.destroy();
    }
    const type = (req.headers['content-type'] || '').split(';')[0].trim().toLowerCase();
    if (type !== 'application/x-www-form-urlencoded') return fail('invalid_request', 'Content-Type must be application/x-www-form-urlencoded');
    if (req.search) return fail('invalid_request', 'parameters belong into the request body');

    // Decode the form by hand, so that a repeated parameter and a broken escape are seen.
    const form = new Map();
    try {
      for (const pair of body.toString('utf8').split('&')) {
        if (!pair) continue;
        const eq = pair.indexOf('=');
        const name = formDecode(eq < 0 ? pair : pair.slice(0, eq));
        const value = eq < 0 ? '' : formDecode(pair.slice(eq + 1));
        if (form.has(name)) return fail('invalid_request', 'a parameter is repeated');
        form.set(name, value);
      }
    } catch { return fail('invalid_request', 'malformed form'); }
    const param = (n) => form.get(n) || undefined; // sent without a value: treated as omitted

    let id, secret;
    const auths = req.rawHeaders.filter((h, i) => i % 2 === 0 && h.toLowerCase() === 'authorization');
    if (auths.length > 1) return fail('invalid_request', 'more than one Authorization header');
    const header = req.headers.authorization;
    if (header !== undefined) {
      const m = /^basic +([A-Za-z0-9+/=_-]*)$/i.exec(header.trim());
      if (!m) return unauthorized('unsupported authentication scheme');
      if (param('client_secret') !== undefined) return fail('invalid_request', 'more than one client authentication method');
      const plain = Buffer.from(m[1], 'base64').toString('utf8');
      const colon = plain.indexOf(':');
      if (colon < 0) return unauthorized('client authentication failed');
      try { id = formDecode(plain.slice(0, colon)); secret = formDecode(plain.slice(colon + 1)); } catch { return unauthorized('client authentication failed'); }
      if (param('client_id') !== undefined && param('client_id') !== id) return fail('invalid_request', 'client_id does not match the Authorization header');
    } else {
      id = param('client_id');
      secret = param('client_secret');
    }
    if (!param('grant_type')) return fail('invalid_request', 'grant_type is missing');
    if (id === undefined || secret === undefined) return unauthorized('client authentication is missing');

    const client = this.clients.get(id);
    if (client) {
      const f = this.failures.get(id);
      if (f && f.lockedUntil > Date.now()) {
        return send(429, { error: 'temporarily_unavailable', error_description: 'too many failed attempts' },
          { 'Retry-After': String(Math.ceil((f.lockedUntil - Date.now()) / 1000)) });
      }
    }
    const given = sha(this.secretKey(secret));
    if (!timingSafeEqual(given, client ? client.hash : sha('no such client')) || !client) {
      if (client) this.countFailure(id);
      return unauthorized('client authentication failed');
    }
    if (param('grant_type') !== 'client_credentials') return fail('unsupported_grant_type', 'only client_credentials is supported');

    let scopes = client.scopes;
    if (param('scope') !== undefined) {
      scopes = [...new Set(param('scope').split(' '))];
      if (scopes.some((s) => !client.scopes.includes(s))) return fail('invalid_scope', 'the scope is unknown or not allowed for this client');
    }
    const token = this.options.odd
      ? randomBytes(24).toString('base64').replace(/\//g, '.') + '~-_' + randomBytes(4).toString('base64')
      : randomBytes(32).toString('base64url');
    this.tokens.set(hex(token), { client, scopes, expires: Date.now() + this.lifetime * 1000 });
    const answer = { access_token: token, token_type: 'Bearer', expires_in: this.lifetime, scope: scopes.join(' ') };
    send(200, this.options.odd ? { scope: answer.scope, 'not-before-policy': 0, token_type: 'bearer', expires_in: this.lifetime, access_token: token } : answer);
  }

  countFailure(id) {
    const now = Date.now();
    let f = this.failures.get(id);
    if (!f || now - f.since > FAILURE_WINDOW) this.failures.set(id, (f = { since: now, count: 0, lockedUntil: 0 }));
    if (++f.count >= MAX_FAILURES) { f.lockedUntil = now + LOCK; f.since = now; f.count = 0; }
  }
}
