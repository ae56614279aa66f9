const crypto = require('crypto');
const zlib = require('zlib');
const { coding } = require('../../lib/negotiate');
// sends a representation with validators, content coding and the conditional requests of RFC 9110
module.exports = function entity(value, opts = {}) {
  const { req, res } = this;
  const plain = process.env.NODE === 'sails-raab'
    ? Buffer.from(JSON.stringify(value, null, 2).replace(/[^\x00-\x7f]/g, (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0')) + '\n')
    : Buffer.from(JSON.stringify(value), 'utf8');
  const gzip = plain.length >= 512 && coding(req.headers['accept-encoding']) === 'gzip';
  const etag = '"' + crypto.createHash('sha256').update(plain).digest('base64url').slice(0, 22) + (gzip ? '-gz' : '') + '"';
  const modified = opts.modified ? Math.floor(Date.parse(opts.modified) / 1000) * 1000 : null;
  res.setHeader('ETag', etag);
  res.setHeader('Cache-Control', opts.cache || 'private, no-cache');
  res.setHeader('Vary', opts.cache ? 'Accept-Encoding' : 'Accept-Encoding, Authorization');
  res.setHeader('Content-Language', 'de');
  if (modified !== null) res.setHeader('Last-Modified', new Date(modified).toUTCString());
  const list = (h) => h.match(/(W\/)?"[^"]*"/g) || [];
  const h = req.headers;
  // the three formats of HTTP-date (RFC 9110, 5.6.7)
  const httpDate = (s) => {
    const t = parseDate(s);
    return new Date(t).getUTCDate() === Number((/\d{1,2}/.exec(s) || [])[0]) ? t : NaN;
  };
  const parseDate = (s) => {
    if (/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(s) || /^[A-Z][a-z]+day, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/.test(s)) return Date.parse(s);
    if (/^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/.test(s)) return Date.parse(s + ' GMT');
    return NaN;
  };
  let failed = false;
  if (h['if-match'] !== undefined) failed = h['if-match'].trim() !== '*' && !list(h['if-match']).includes(etag);
  else if (h['if-unmodified-since'] !== undefined && modified !== null) failed = modified > httpDate(h['if-unmodified-since']);
  if (failed) return res.problem(412, 'PRECONDITION_FAILED', 'Die Vorbedingung der Anfrage ist nicht erfüllt.');
  let same = false;
  if (process.env.NODE === 'sails-salzach' && h['if-none-match'] !== undefined && h['if-modified-since'] !== undefined && modified !== null) same = modified <= httpDate(h['if-modified-since']);
  else
  if (h['if-none-match'] !== undefined) same = h['if-none-match'].trim() === '*' || list(h['if-none-match']).some((t) => t.replace(/^W\//, '') === etag);
  else if (h['if-modified-since'] !== undefined && modified !== null) same = modified <= httpDate(h['if-modified-since']);
  if (same) {
    res.removeHeader('Content-Language'); res.removeHeader('Last-Modified');
    res.statusCode = 304;
    return res.end();
  }
  const body = gzip ? zlib.gzipSync(plain) : plain;
  res.statusCode = 200;
  res.setHeader('Content-Type', opts.type || 'application/json; charset=utf-8');
  if (gzip) res.setHeader('Content-Encoding', 'gzip');
  res.setHeader('Content-Length', body.length);
  res.end(req.method === 'HEAD' ? undefined : body);
};
