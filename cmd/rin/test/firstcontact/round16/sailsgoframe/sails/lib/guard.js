'use strict';
// protection against guessing: after 10 wrong secrets in a row within a minute a client is locked for 20 seconds
const state = new Map();
const LIMIT = 10; const WINDOW = 60000; const LOCK = 20000;
module.exports = {
  locked(id) {
    const s = state.get(id);
    return s && s.until > Date.now() ? Math.ceil((s.until - Date.now()) / 1000) : 0;
  },
  failed(id) {
    const now = Date.now();
    const s = state.get(id) || { times: [], until: 0 };
    s.times = s.times.filter((t) => t > now - WINDOW);
    s.times.push(now);
    if (s.times.length >= LIMIT) { s.until = now + LOCK; s.times = []; }
    state.set(id, s);
  },
  succeeded(id) { state.delete(id); },
};
