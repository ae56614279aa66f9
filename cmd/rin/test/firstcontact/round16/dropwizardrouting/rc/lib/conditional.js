'use strict';
const crypto = require('crypto');
const { Problem } = require('./problems');
const { is } = require('./variant');

/** RFC 9110, 5.6.7: all three forms, undefined for anything else */
function httpDate(s) {
  const MON = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
  let m = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (\d\d) ([A-Z][a-z]{2}) (\d{4}) (\d\d):(\d\d):(\d\d) GMT$/.exec(s);
  let parts;
  if (m) parts = [m[3], m[2], m[1], m[4], m[5], m[6]];
  else if ((m = /^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (\d\d)-([A-Z][a-z]{2})-(\d\d) (\d\d):(\d\d):(\d\d) GMT$/.exec(s))) {
    const now = new Date().getUTCFullYear();
    let year = Math.floor(now / 100) * 100 + +m[3];
    if (year > now + 50) year -= 100;
    parts = [year, m[2], m[1], m[4], m[5], m[6]];
  } else if ((m = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ([A-Z][a-z]{2}) ([ \d]\d) (\d\d):(\d\d):(\d\d) (\d{4})$/.exec(s))) {
    parts = [m[6], m[1], m[2], m[3], m[4], m[5]];
  } else return undefined;
  const month = MON.indexOf(parts[1]);
  if (month < 0) return undefined;
  const d = new Date(0);
  d.setUTCFullYear(+parts[0], month, +parts[2]);
  d.setUTCHours(+parts[3], +parts[4], +parts[5]);
  return d.getUTCDate() === +parts[2] ? d.getTime() : undefined;
}

const tags = (field) => field.match(/(?:W\/)?"[^"]*"/g) || [];
const opaque = (tag) => tag.replace(/^W\//, '');

/** the same value, written differently each time */
function otherwise(v) {
  const blank = () => ' '.repeat(crypto.randomInt(2));
  if (Array.isArray(v)) return `[${blank()}${v.map(otherwise).join(`,${blank()}`)}]`;
  if (v === null || typeof v !== 'object') {
    const s = JSON.stringify(v);
    return crypto.randomInt(2) ? s : s.replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
  }
  const members = Object.entries(v).filter(([, w]) => w !== undefined);
  for (let i = members.length - 1; i > 0; i--) {
    const j = crypto.randomInt(i + 1);
    [members[i], members[j]] = [members[j], members[i]];
  }
  return `{${blank()}${members.map(([k, w]) => `${JSON.stringify(k)}:${blank()}${otherwise(w)}`).join(`,${blank()}`)}}`;
}

/** Sends a representation, or what the conditions of the request make of it (RFC 9110, 13.2.2). */
function sendRepresentation(req, res, content, { lastModified, vary = 'Accept, Accept-Encoding' } = {}) {
  let body = Buffer.from(JSON.stringify(content));
  const etag = `W/"${crypto.createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  if (is('rc-drau')) body = Buffer.from(otherwise(content));
  const changed = lastModified && Math.floor(Date.parse(lastModified) / 1000) * 1000;
  const h = req.headers;

  if (h['if-match'] !== undefined) {
    // the tags of this API are weak, so none matches strongly
    if (h['if-match'].trim() !== '*') throw new Problem(412, 'If-Match does not hold');
  } else if (h['if-unmodified-since'] !== undefined && changed) {
    const t = httpDate(h['if-unmodified-since']);
    if (t !== undefined && changed > t) throw new Problem(412, 'If-Unmodified-Since does not hold');
  }
  res.set({ ETag: etag, 'Cache-Control': 'private, no-cache', Vary: vary });
  if (changed) res.set('Last-Modified', new Date(changed).toUTCString());

  let notModified = false;
  if (h['if-none-match'] !== undefined) {
    const field = h['if-none-match'].trim();
    notModified = field === '*' || tags(field).some((t) => opaque(t) === opaque(etag));
  } else if (h['if-modified-since'] !== undefined && changed) {
    const t = httpDate(h['if-modified-since']);
    notModified = t !== undefined && changed <= t;
  }
  if (notModified) {
    res.status(304).end();
    return res;
  }
  res.status(200);
  res.set('Content-Type', 'application/json');
  res.send(body);
  return res;
}

module.exports = { sendRepresentation };
