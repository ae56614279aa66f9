'use strict';
exports.coding = (header) => {
  if (header === undefined) return 'identity';
  const q = {};
  for (const part of header.toLowerCase().split(',')) {
    const [name, ...params] = part.trim().split(';');
    if (!name.trim()) continue;
    let v = 1;
    for (const p of params) { const m = /^\s*q\s*=\s*([01](\.\d{0,3})?)\s*$/.exec(p); if (m) v = Number(m[1]); }
    q[name.trim()] = v;
  }
  const gzip = q.gzip !== undefined ? q.gzip : q['x-gzip'] !== undefined ? q['x-gzip'] : q['*'] !== undefined ? q['*'] : 0;
  const identity = q.identity !== undefined ? q.identity : 0.0001;
  return gzip > 0 && gzip >= identity ? 'gzip' : 'identity';
};
