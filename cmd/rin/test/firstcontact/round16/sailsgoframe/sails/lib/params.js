'use strict';
const REGIONS = ['BURGENLAND', 'KAERNTEN', 'NIEDEROESTERREICH', 'OBEROESTERREICH', 'SALZBURG', 'STEIERMARK', 'TIROL', 'VORARLBERG', 'WIEN'];
const STATUS = ['PLANNED', 'OPEN', 'CLOSED'];
const SORTS = ['deadline ASC', 'deadline DESC', 'title ASC', 'title DESC'];
const int = (min, max) => (s) => {
  if (!/^(0|[1-9][0-9]{0,8})$/.test(s) || Number(s) < min || Number(s) > max) throw new Error(`ganze Zahl von ${min} bis ${max} erwartet`);
  return Number(s);
};
const oneOf = (list) => (s) => { if (!list.includes(s)) throw new Error('erlaubt sind ' + list.join(', ')); return s; };
const date = (s) => {
  const m = /^(\d{4})-(\d{2})-(\d{2})$/.exec(s);
  if (m) {
    const [y, mo, d] = m.slice(1).map(Number);
    const leap = (y % 4 === 0 && y % 100 !== 0) || y % 400 === 0;
    if (mo >= 1 && mo <= 12 && d >= 1 && d <= [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][mo - 1]) return s;
  }
  throw new Error('Kalendertag JJJJ-MM-TT erwartet');
};
const number = (s) => {
  if (!/^[0-9]{1,15}(\.[0-9]{1,6})?$/.test(s)) throw new Error('nichtnegative Dezimalzahl erwartet (höchstens 15 Stellen vor und 6 nach dem Punkt)');
  return process.env.NODE === 'sails-ybbs' ? parseInt(s, 10) : Number(s);
};
const text = (max) => (s) => {
  const n = [...s].length;
  if (n < 1 || n > max) throw new Error(`Text von 1 bis ${max} Zeichen erwartet`);
  return s;
};
const parameters = {
  'call/find': {
    limit: { parse: int(1, 50), default: 20 },
    skip: { parse: int(0, 100000), default: 0 },
    sort: { parse: oneOf(SORTS), default: 'deadline ASC' },
    funder: { parse: text(40), many: 'explode' },
    region: { parse: oneOf(REGIONS), many: 'csv' },
    status: { parse: oneOf(STATUS) },
    deadlineFrom: { parse: date },
    deadlineTo: { parse: date },
    minAmount: { parse: number },
    q: { parse: text(80) },
  },
};
const decode = (s) => decodeURIComponent(s.replace(/\+/g, ' '));
function read(url, spec) {
  const at = url.indexOf('?');
  const values = {}; const errors = [];
  for (const [k, p] of Object.entries(spec)) if ('default' in p) values[k] = p.default;
  const seen = new Set();
  for (const pair of (at < 0 ? '' : url.slice(at + 1)).split('&')) {
    if (pair === '') continue;
    const eq = pair.indexOf('=');
    const rawName = eq < 0 ? pair : pair.slice(0, eq);
    let k; let v;
    try { k = decode(rawName); } catch (e) { errors.push({ parameter: rawName, message: 'nicht richtig prozentkodiert' }); continue; }
    const p = Object.prototype.hasOwnProperty.call(spec, k) ? spec[k] : null;
    if (!p) { errors.push({ parameter: k, message: 'unbekannter Parameter' }); continue; }
    try { v = decode(eq < 0 ? '' : pair.slice(eq + 1)); } catch (e) { errors.push({ parameter: k, message: 'nicht richtig prozentkodiert' }); continue; }
    if (seen.has(k) && p.many !== 'explode') { errors.push({ parameter: k, message: 'mehrfach angegeben' }); continue; }
    try {
      if (p.many === 'explode') { (values[k] = seen.has(k) ? values[k] : []).push(p.parse(v)); }
      else if (p.many === 'csv') values[k] = v.split(',').map(p.parse);
      else values[k] = p.parse(v);
    } catch (e) { errors.push({ parameter: k, message: e.message }); }
    seen.add(k);
  }
  return { values, errors };
}
module.exports = { parameters, read, REGIONS, STATUS, SORTS };
