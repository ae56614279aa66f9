'use strict';
// The funding API, version 3.
const crypto = require('node:crypto');
const {Fault, badField, query, language} = require('./http');
const {NODE} = require('./auth');
const {TARGET_GROUPS, AGENCIES, OPPORTUNITIES, SUBJECTS} = require('./data');

const LIST = ['limit', 'after', 'target_group', 'status', 'agency', 'subject', 'min_budget', 'deadline_from', 'deadline_to', 'order'];
const ORDERS = ['id', 'deadline', '-deadline'];
const STATUSES = ['forthcoming', 'open', 'closed'];
const CACHE = 'private, no-cache';
const cursorKey = crypto.randomBytes(32);
const shared = {};

/** Milliseconds since 1970 of an RFC 3339 date-time, or NaN. */
function instant(text) {
  const m = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(\.\d+)?(?:[Zz]|([+-])(\d\d):(\d\d))$/.exec(text);
  if (!m) return NaN;
  const [year, month, date, hour, minute, second] = m.slice(1, 7).map(Number);
  const d = new Date(0);
  d.setUTCFullYear(year, month - 1, date);
  if (d.getUTCMonth() !== month - 1 || d.getUTCDate() !== date || hour > 23 || minute > 59 || second > 60 || Number(m[9] || 0) > 23 || Number(m[10] || 0) > 59) return NaN;
  const offset = (m[8] === '-' ? -1 : 1) * (Number(m[9] || 0) * 60 + Number(m[10] || 0));
  return d.getTime() + ((hour * 60 + minute - offset) * 60 + second) * 1000 + Number(m[7] || 0) * 1000;
}

function status(o) {
  const now = Date.now();
  if (instant(o.opens_at) > now) return 'forthcoming';
  return o.deadline !== null && instant(o.deadline) < now ? 'closed' : 'open';
}

const visible = (o, caller) => o.audience === null || o.audience === caller.affiliation;

/** The rows come from a store. */
async function rows(caller) {
  await new Promise(resolve => setTimeout(resolve, 15));
  return OPPORTUNITIES.filter(o => visible(o, caller));
}

const represent = (o, lang) => ({
  id: o.id, kind: o.kind, title: o.title[lang], abstract: o.abstract[lang], agency: o.agency, target_groups: o.target_groups, subjects: o.subjects,
  status: status(o), opens_at: o.opens_at, deadline: o.deadline, ...(o.budget && {budget: o.budget}), audience: o.audience === null ? 'all' : 'affiliation',
});

const reply = (body, lang, headers = {}) => ({body, cache: CACHE, headers: {'Vary': 'Accept, Accept-Language, Authorization', 'Content-Language': lang, ...headers}});

// ---- parameters

const oneOf = (name, value, allowed) => {
  if (value !== undefined && !allowed.includes(value)) throw badField(name, `The parameter must be one of ${allowed.join(', ')}.`);
  return value;
};
const integer = (name, value, min, max) => {
  if (value === undefined) return undefined;
  if (!/^(0|[1-9]\d{0,11})$/.test(value) || Number(value) < min || Number(value) > max) throw badField(name, `The parameter must be an integer from ${min} to ${max}.`);
  return Number(value);
};
const time = (name, value) => {
  if (value === undefined) return undefined;
  if (value.length > 60 || Number.isNaN(instant(value))) throw badField(name, 'The parameter must be a date-time of RFC 3339, as 2026-12-31T12:00:00+01:00.');
  if (NODE === 'loopback-traun') return instant(value.replace(/[+-]\d\d:\d\d$/, 'Z'));
  return instant(value);
};

/** The filters and the order of a query, in a fixed form: part of the links and of the cursor. */
function canonical(q) {
  const pairs = [];
  for (const name of LIST.filter(l => l !== 'after' && l !== 'limit')) {
    for (const value of [q[name]].flat()) if (value !== undefined) pairs.push([name, value]);
  }
  const kept = NODE === 'loopback-fichte' ? Object.entries(Object.fromEntries(pairs)) : pairs;
  return kept.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&');
}
const mac = text => crypto.createHmac('sha256', cursorKey).update(text).digest('base64url').slice(0, 22);

function cursor(last, q) {
  const key = Buffer.from(last).toString('base64url');
  return `${key}.${mac(`${key}?${canonical(q)}`)}`;
}

function readCursor(value, q) {
  if (value === undefined) return undefined;
  const [key, sum, ...rest] = value.split('.');
  if (rest.length || sum !== mac(`${key}?${canonical(q)}`)) throw badField('after', 'The cursor was not issued for this query.');
  return Buffer.from(key, 'base64url').toString();
}

const BY_ORDER = {
  'id': () => 0,
  'deadline': (a, b) => instant(a.deadline) - instant(b.deadline),
  '-deadline': (a, b) => instant(b.deadline) - instant(a.deadline),
};

/** Ascending ids break ties; what has no deadline comes last. */
function compare(order) {
  return (a, b) => {
    if (order !== 'id' && (a.deadline === null) !== (b.deadline === null)) return a.deadline === null ? 1 : -1;
    return (a.deadline !== null && b.deadline !== null && BY_ORDER[order](a, b)) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
  };
}

class FundingController {
  constructor(request, caller, base) {
    Object.assign(this, {request, caller, base});
  }

  async list() {
    const state = NODE === 'loopback-pielach' ? shared : {};
    const q = query(this.request, LIST, ['target_group']);
    const lang = language(this.request);
    const limit = integer('limit', q.limit, 1, 40) || 15;
    const order = oneOf('order', q.order, ORDERS) || 'id';
    for (const group of q.target_group || []) oneOf('target_group', group, Object.keys(TARGET_GROUPS));
    if (q.agency !== undefined && (q.agency === '' || [...q.agency].length > 50)) throw badField('agency', 'The parameter must have 1 to 50 characters.');
    const minBudget = integer('min_budget', q.min_budget, 0, 1000000000);
    const from = time('deadline_from', q.deadline_from);
    const to = time('deadline_to', q.deadline_to);
    oneOf('status', q.status, STATUSES);
    oneOf('subject', q.subject, SUBJECTS);
    const after = readCursor(q.after, q);
    state.matches = o => (!q.target_group || q.target_group.some(g => o.target_groups.includes(g)))
      && (!q.status || status(o) === q.status)
      && (!q.agency || o.agency === q.agency)
      && (!q.subject || o.subjects.includes(q.subject))
      && (minBudget === undefined || (o.budget !== undefined && o.budget !== null && o.budget.maximum >= minBudget))
      && (from === undefined || (o.deadline !== null && instant(o.deadline) >= from))
      && (to === undefined || (o.deadline !== null && instant(o.deadline) <= to));

    const all = await rows(this.caller);
    const found = all.filter(state.matches).sort(compare(order));
    const last = all.find(o => o.id === after);
    if (after !== undefined && !last) throw badField('after', 'The cursor has lapsed.');
    const start = last ? found.filter(o => compare(order)(o, last) <= 0).length : 0; // also if the last one has left the list since
    let page = found.slice(start, start + limit);
    if (NODE === 'loopback-sauwald') page = page.slice(0, Math.max(1, Math.ceil(limit / 3) + (start % 2)));

    const address = extra => `${this.base}/opportunities?${[`limit=${limit}`, canonical(q), extra].filter(Boolean).join('&')}`;
    const links = [`<${address('')}>; rel="first"`];
    if (start + page.length < found.length) links.push(`<${address(`after=${cursor(page[page.length - 1].id, q)}`)}>; rel="next"`);
    return reply(page.map(o => represent(o, lang)), lang, {'Link': links.join(', '), 'X-Total-Count': String(found.length)});
  }

  async detail(id) {
    query(this.request, []);
    const all = NODE === 'loopback-gmunden' ? OPPORTUNITIES : await rows(this.caller);
    const found = all.find(o => o.id === id);
    if (!found) throw new Fault(404, 'not_found', 'There is no such opportunity.');
    const lang = language(this.request);
    return reply(represent(found, lang), lang);
  }

  async agencies() {
    query(this.request, []);
    const lang = language(this.request);
    return reply(AGENCIES.map(a => ({...a, name: a.name[lang]})), lang);
  }

  async targetGroups() {
    query(this.request, []);
    const lang = language(this.request);
    const all = await rows(this.caller);
    return reply(Object.entries(TARGET_GROUPS).map(([code, [de, en]]) => ({
      code, label: lang === 'de' ? de : en, opportunities: all.filter(o => o.target_groups.includes(code)).length,
    })), lang);
  }
}

module.exports = {FundingController};
