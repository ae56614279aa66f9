'use strict';
// Operations of the funding API.
const { getQuery, getRequestHeader, getRouterParam, setResponseHeader,
  appendResponseHeader } = require('h3');
const { calls, makeCall, providers } = require('./data.cjs');

class ApiError extends Error {
  constructor(status, code, message, extra = {}) {
    super(message);
    Object.assign(this, { status, code, parameter: extra.parameter, headers: extra.headers || {} });
  }
}
const wrongValue = (parameter) =>
  new ApiError(400, 'wrong_value', 'The parameter has a wrong value', { parameter });
const notFound = () => new ApiError(404, 'not_found', 'There is no such thing');

const OSLO = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Oslo' });

function stateOf(call) {
  const today = OSLO.format(new Date());
  if (today < call.opens_on) return 'planned';
  return today > call.deadline ? 'closed' : 'open';
}

// RFC 9110, section 12.5.4; Norwegian where nothing fits.
function negotiate(event) {
  const header = getRequestHeader(event, 'accept-language') || '';
  let best = 'nb', weight = 0;
  for (const part of header.split(',')) {
    const [range, ...params] = part.trim().toLowerCase().split(/\s*;\s*/);
    const q = params.map((p) => /^q=([01](?:\.\d{0,3})?)$/.exec(p)).find(Boolean);
    const value = q ? Number(q[1]) : 1;
    const primary = range.split('-')[0];
    const tag = primary === 'en' ? 'en' : ['nb', 'no', 'nn', '*'].includes(primary) ? 'nb' : undefined;
    if (tag && value > weight) [best, weight] = [tag, value];
  }
  return best;
}

// Names of the id members in the answers.
const idName = process.env.NODE === 'h3-naming' ? { call: 'call_id', provider: 'provider_id' }
  : { call: 'id', provider: 'id' };

function callJson(call, language) {
  return {
    [idName.call]: call.call_id, title: call.title[language], language, provider_id: call.provider_id,
    state: stateOf(call), opens_on: call.opens_on, deadline: call.deadline, tags: call.tags,
    budget_nok: call.budget_nok, success_rate: call.success_rate, updated: call.updated,
  };
}

function providerJson({ provider_id, ...others }) {
  return { [idName.provider]: provider_id, ...others };
}

function single(query, name) {
  const value = query[name];
  if (value === undefined) return undefined;
  if (typeof value !== 'string' || value === '') throw wrongValue(name);
  return value;
}

function integer(query, name, min, max) {
  const text = single(query, name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!/^-?\d{1,16}$/.test(text) || value < min || value > max) throw wrongValue(name);
  return value;
}

function oneOf(query, name, values) {
  const text = single(query, name);
  if (text !== undefined && !values.includes(text)) throw wrongValue(name);
  return text;
}

function date(query, name) {
  const text = single(query, name);
  if (text === undefined) return undefined;
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : NaN;
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== text) throw wrongValue(name);
  return text;
}

function readCursor(query) {
  const text = single(query, 'cursor');
  if (text === undefined) return undefined;
  try {
    const [order, deadline, id] = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    if (typeof order === 'string' && typeof deadline === 'string' && Number.isInteger(id)) {
      return { order, deadline, call_id: id };
    }
  } catch {
    // Falls through to the refusal.
  }
  throw wrongValue('cursor');
}

const compareText = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
const ORDERS = {
  deadline: (a, b) => compareText(a.deadline, b.deadline) || a.call_id - b.call_id,
  '-deadline': (a, b) => compareText(b.deadline, a.deadline) || a.call_id - b.call_id,
  [idName.call]: (a, b) => a.call_id - b.call_id,
};

const FILTERS = ['page_size', 'order', 'provider', 'state', 'tag', 'deadline_from', 'deadline_to',
  'min_budget'];

module.exports = function createFunding({ node, base, pageSize }) {
  const started = Date.now();

  function allCalls() {
    if (node !== 'h3-living') return calls;
    // A new call is published every twenty seconds.
    while (calls.length < 96 + Math.floor((Date.now() - started) / 20000)) {
      calls.push({ ...makeCall(calls.length), updated: new Date().toISOString() });
    }
    return calls;
  }

  function findCall(event) {
    const text = getRouterParam(event, 'call_id');
    const call = /^[1-9]\d{0,9}$/.test(text) && allCalls().find((c) => c.call_id === Number(text));
    if (!call) throw notFound();
    return call;
  }

  function listCalls(event) {
    const query = getQuery(event);
    const size = integer(query, 'page_size', 1, pageSize.max) ?? pageSize.usual;
    const order = oneOf(query, 'order', Object.keys(ORDERS)) ?? 'deadline';
    const provider = single(query, 'provider');
    const state = oneOf(query, 'state', ['planned', 'open', 'closed']);
    const tags = query.tag === undefined ? undefined : [query.tag].flat();
    if (tags && tags.some((tag) => typeof tag !== 'string' || tag === '')) throw wrongValue('tag');
    const from = date(query, 'deadline_from');
    const to = node === 'h3-deadline' ? date(query, 'deadline_until') : date(query, 'deadline_to');
    const minBudget = integer(query, 'min_budget', 0, Number.MAX_SAFE_INTEGER);
    const cursor = readCursor(query);
    if (cursor && cursor.order !== order) throw wrongValue('cursor');

    const matching = allCalls().filter((call) =>
      (provider === undefined || call.provider_id === provider)
      && (state === undefined || stateOf(call) === state)
      && (tags === undefined || tags.some((tag) => call.tags.includes(tag)))
      && (from === undefined || call.deadline >= from)
      && (to === undefined || call.deadline <= to)
      && (minBudget === undefined || call.budget_nok >= minBudget));
    matching.sort(ORDERS[order]);
    let rest = matching;
    if (cursor) {
      rest = node === 'h3-cursor' && order === '-deadline'
        ? matching.filter((call) => call.deadline < cursor.deadline)
        : matching.filter((call) => ORDERS[order](call, cursor) > 0);
    }
    const page = rest.slice(0, size);
    setResponseHeader(event, 'x-total-count', String(matching.length));
    if (rest.length > size) {
      const last = page[page.length - 1];
      const next = new URLSearchParams();
      for (const name of FILTERS) {
        for (const one of [query[name] ?? []].flat()) next.append(name, one);
      }
      next.set('cursor', Buffer.from(JSON.stringify([order, last.deadline, last.call_id]))
        .toString('base64url'));
      if (node === 'h3-oneitem') {
        appendResponseHeader(event, 'link', `<${base}/v3/providers>; title="a, b; rel=next"; rel=related`);
        appendResponseHeader(event, 'link', ` , <?${next}> ; REL=next; title*=UTF-8''neste%20side`);
      } else {
        setResponseHeader(event, 'link', `<${base}/v3/calls?${next}>; rel="next"`);
      }
    }
    const language = negotiate(event);
    return { body: page.map((call) => callJson(call, language)), language,
      version: page.map((call) => `${call.call_id} ${call.updated} ${stateOf(call)}`).join() };
  }

  function getCall(event) {
    const call = findCall(event);
    const language = negotiate(event);
    return {
      language,
      version: `${call.call_id} ${call.updated} ${stateOf(call)}`,
      body: {
        ...callJson(call, language),
        summary: call.summary[language],
        contact_email: call.contact_email,
        eligibility: call.eligibility,
        documents_url: `${base}/v3/calls/${call.call_id}/documents`,
      },
    };
  }

  function getProvider(event) {
    const provider = providers.find((p) => p.provider_id === getRouterParam(event, 'provider_id'));
    if (!provider) throw notFound();
    return { body: providerJson(provider) };
  }

  return {
    '/v3/calls': listCalls,
    '/v3/calls/:call_id': getCall,
    '/v3/calls/:call_id/documents': (event) => ({ body: findCall(event).documents }),
    '/v3/providers': () => ({ body: providers.map(providerJson) }),
    '/v3/providers/:provider_id': getProvider,
  };
};
module.exports.ApiError = ApiError;
module.exports.idName = idName;
