'use strict';
// Representations, preconditions, negotiation, query strings.
const crypto = require('node:crypto');
const zlib = require('node:zlib');

/** An error in the form of this node: {"error": {"code", "message", "field"?}}. */
class Fault extends Error {
  constructor(status, code, message, {headers = {}, field} = {}) {
    super(message);
    Object.assign(this, {status, code, headers, field});
  }
}
const badField = (field, message) => new Fault(400, 'bad_parameter', message, {field});

/** One name or value of a form, or null if it is malformed. */
function unescapeField(text) {
  try {
    return decodeURIComponent(text.replace(/\+/g, ' '));
  } catch {
    return null;
  }
}

/** application/x-www-form-urlencoded, strictly: a list of [name, value], or null if it is malformed. */
function formFields(raw) {
  if (/[^\x20-\x7e]/.test(raw)) return null;
  const pairs = raw.split('&').filter(Boolean).map(pair => {
    const eq = pair.indexOf('=');
    return [eq < 0 ? pair : pair.slice(0, eq), eq < 0 ? '' : pair.slice(eq + 1)].map(unescapeField);
  });
  return pairs.flat().includes(null) ? null : pairs;
}

/** The query of an operation: only the parameters it has, each once unless it is `many`. */
function query(request, known, many = []) {
  const pairs = formFields(request.originalUrl.split('?').slice(1).join('?'));
  if (!pairs) throw new Fault(400, 'bad_parameter', 'The query is not well-formed percent-encoded UTF-8.');
  const values = {};
  for (const [name, value] of pairs) {
    if (!known.includes(name)) throw badField(name, 'This operation has no such parameter.');
    if (many.includes(name)) (values[name] = values[name] || []).push(value);
    else if (values[name] !== undefined) throw badField(name, 'The parameter is given more than once.');
    else values[name] = value;
  }
  return values;
}

/** [[value, q]] of a field like Accept-Language or Accept-Encoding, in lower case. */
function weighted(field) {
  return String(field || '').toLowerCase().split(',').map(part => {
    const [value, ...params] = part.split(';').map(p => p.trim());
    const q = params.map(p => /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.exec(p)).find(Boolean);
    return [value, q ? Number(q[1]) : params.some(p => p.startsWith('q=')) ? 0 : 1, params.filter(p => p && !p.startsWith('q='))];
  }).filter(([value]) => value);
}

/** de or en (RFC 4647, basic filtering); German if neither is preferred. */
function language(request) {
  const wanted = weighted(request.headers['accept-language']);
  const q = lang => {
    const exact = wanted.filter(([range]) => range === lang || range.startsWith(`${lang}-`));
    const best = exact.length ? Math.max(...exact.map(w => w[1])) : Math.max(-1, ...wanted.filter(([range]) => range === '*').map(w => w[1]));
    return best === -1 ? 0.0001 : best;
  };
  return q('en') > q('de') ? 'en' : 'de';
}

function acceptsGzip(request) {
  const wanted = weighted(request.headers['accept-encoding']);
  const of = (...names) => wanted.filter(([value]) => names.includes(value)).map(w => w[1]);
  const [gzip] = [...of('gzip', 'x-gzip'), ...of('*'), 0];
  const identity = of('identity').length ? of('identity')[0] : 0.0005;
  return gzip > 0 && gzip >= identity;
}

function acceptsJson(request, type) {
  const wanted = weighted(request.headers.accept);
  const ranges = [type, type.replace(/\/.*/, '/*'), '*/*'];
  const fits = wanted.filter(([value, , params]) => ranges.includes(value) && params.every(p => p === 'charset=utf-8'));
  if (!wanted.length) return true;
  fits.sort((a, b) => ranges.indexOf(a[0]) - ranges.indexOf(b[0]));
  return fits.length > 0 && fits[0][1] > 0;
}

const matches = (field, tag, weak) => field.split(/\s+/).join('') === '*'
  || [...field.matchAll(/(W\/)?("[^"]*")/g)].some(m => m[2] === tag && (weak || !m[1]));

/** Writes what an operation returned: {status?, type?, headers?, body, cache?}. */
function send(request, response, reply) {
  const type = reply.type || 'application/json';
  const headers = {'Content-Type': type, 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-store', ...reply.headers};
  let body = Buffer.from(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body), 'utf8');
  let status = reply.status || 200;
  if (reply.cache) {
    if (!acceptsJson(request, type.split(';')[0])) throw new Fault(406, 'not_acceptable', `Available here: ${type.split(';')[0]}.`);
    headers['Cache-Control'] = reply.cache;
    headers.Vary = [headers.Vary, 'Accept-Encoding'].filter(Boolean).join(', ');
    let tag = crypto.createHash('sha1').update(`${headers['Content-Language']}\n`).update(body).digest('hex').slice(0, 24);
    if (body.length > 700 && acceptsGzip(request)) {
      body = zlib.gzipSync(body);
      headers['Content-Encoding'] = 'gzip';
      tag += '-gzip';
    }
    headers.ETag = `"${tag}"`;
    const ifMatch = request.headers['if-match'];
    const ifNoneMatch = request.headers['if-none-match'];
    if (ifMatch !== undefined && !matches(ifMatch, headers.ETag, false)) throw new Fault(412, 'precondition_failed', 'The representation has another entity tag.');
    if (ifNoneMatch !== undefined && matches(ifNoneMatch, headers.ETag, true)) status = 304;
  }
  if (status === 304) {
    delete headers['Content-Type'];
    delete headers['Content-Encoding'];
    body = undefined;
  } else {
    headers['Content-Length'] = body.length;
  }
  response.writeHead(status, headers);
  response.end(request.method === 'HEAD' ? undefined : body);
}

/** The raw body, or null if it is longer than the limit. */
async function readBody(request, limit) {
  const parts = [];
  let size = 0;
  for await (const part of request) {
    size += part.length;
    if (size <= limit) parts.push(part);
  }
  return size > limit ? null : Buffer.concat(parts);
}

module.exports = {Fault, badField, formFields, unescapeField, query, language, send, readBody};
