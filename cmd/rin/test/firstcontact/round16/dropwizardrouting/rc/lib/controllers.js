'use strict';
const rc = require('routing-controllers');
const bodyParser = require('body-parser');
const deco = require('./decorate');
const data = require('./data');
const { ROLE, FUNDING } = require('./accounts');
const { Problem } = require('./problems');
const { NoQuery, PageQuery, CallsQuery, DeadlinesQuery } = require('./queries');
const { isForm } = require('./tokens');
const { is } = require('./variant');

const BASE = '/donau/funding';
const form = bodyParser.text({ type: isForm, limit: '32kb' });

module.exports = function controllers({ production, staging, document }) {
  class Register {
    nodes(req) {
      const origin = originOf(req);
      return { member: [{ id: 'DNB', name: 'Donau-Forschungsverbund', oauth2: `${origin}/realms/forschung/protocol/openid-connect/token`, info: `${origin}/donau/info/v1/oauth/info/` }] };
    }
    keys() { return production.jwks; }
    specification(req) { return document(originOf(req)); }
  }
  deco.method(Register, 'nodes', [Object], [rc.Get('/register/nodes.json')], [rc.Req()]);
  deco.method(Register, 'keys', [], [rc.Get('/realms/forschung/protocol/openid-connect/certs')]);
  deco.method(Register, 'specification', [Object], [rc.Get(`${BASE}/v3/api-docs`)], [rc.Req()]);
  deco.cls(Register, rc.JsonController());

  class Tokens {
    production(req) { return production.grant(req); }
    staging(req) { return staging.grant(req); }
  }
  for (const [name, path] of [['production', '/realms/forschung/protocol/openid-connect/token'], ['staging', '/donau-staging/oauth/token']]) {
    deco.method(Tokens, name, [Object], [rc.Post(path), rc.UseBefore(form), rc.Header('Cache-Control', 'no-store'), rc.Header('Pragma', 'no-cache')], [rc.Req()]);
  }
  deco.cls(Tokens, rc.JsonController());

  const info = (user, environment) => ({
    environment,
    clientId: user.client,
    serviceAccountUserId: user.user,
    roles: user.roles,
    affiliationId: user.affiliation,
    tokenExpiresAt: new Date(user.expires * 1000).toISOString().replace('.000', ''),
  });
  class Info {
    production(user) { return info(user, 'production'); }
    staging(user) { return info(user, 'staging'); }
  }
  for (const [name, path] of [['production', '/donau/info/v1/oauth/info/'], ['staging', '/donau-staging/info/v1/oauth/info/']]) {
    deco.method(Info, name, [Object], [rc.Get(path), rc.Authorized(), rc.Header('Cache-Control', 'no-store')], [rc.CurrentUser()]);
  }
  deco.cls(Info, rc.JsonController());

  class Calls {
    list(query, req) {
      const found = data.findCalls(filterOf(query));
      if (is('rc-ybbs') && query.q !== undefined) {
        const cut = page(req, query, data.findCalls({ ...filterOf(query), q: undefined }));
        return { ...page(req, query, found), items: cut.items.filter((c) => found.some((f) => f.id === c.id)) };
      }
      return page(req, query, found);
    }
    async detail(id) {
      if (is('rc-lech')) {
        this.callId = id;
        await new Promise((resolve) => setTimeout(resolve, 8));
        id = this.callId;
      }
      const call = data.findCall(id);
      if (!call) throw new Problem(404, 'there is no such call');
      return call;
    }
  }
  deco.method(Calls, 'list', [CallsQuery, Object], [rc.Get('/calls'), rc.Authorized(ROLE)], [rc.QueryParams(), rc.Req()]);
  deco.method(Calls, 'detail', [String, NoQuery], [rc.Get('/calls/:callId'), rc.Authorized(ROLE)], [rc.Param('callId'), rc.QueryParams()]);
  deco.cls(Calls, rc.JsonController(`${BASE}/v3`));

  class Funders {
    list(query, req) { return page(req, query, data.findFunders()); }
    detail(id) {
      const funder = data.findFunder(id);
      if (!funder) throw new Problem(404, 'there is no such funder');
      return funder;
    }
  }
  deco.method(Funders, 'list', [PageQuery, Object], [rc.Get('/funders'), rc.Authorized(ROLE)], [rc.QueryParams(), rc.Req()]);
  deco.method(Funders, 'detail', [String, NoQuery], [rc.Get('/funders/:funderId'), rc.Authorized(ROLE)], [rc.Param('funderId'), rc.QueryParams()]);
  deco.cls(Funders, rc.JsonController(`${BASE}/v3`));

  class Overview {
    deadlines(query, req) { return page(req, query, data.findDeadlines(query)); }
    statistics() { return data.statistics(); }
  }
  deco.method(Overview, 'deadlines', [DeadlinesQuery, Object], [rc.Get('/deadlines'), is('rc-inn') ? rc.Authorized() : rc.Authorized(ROLE)], [rc.QueryParams(), rc.Req()]);
  deco.method(Overview, 'statistics', [NoQuery], [rc.Get('/statistics'), rc.Authorized(ROLE)], [rc.QueryParams()]);
  deco.cls(Overview, rc.JsonController(`${BASE}/v3`));

  return [Register, Tokens, Info, Calls, Funders, Overview];
};

const filterOf = (query) => ({
  ...query,
  minBudget: query.minBudget === undefined ? undefined : +query.minBudget,
  ongoing: query.ongoing === undefined ? undefined : is('rc-traun') ? Boolean(query.ongoing) : query.ongoing === 'true',
});

const originOf = (req) => `http://127.0.0.1:${req.socket.localPort}`;

/** One page of a list, with links that keep the other parameters. */
function page(req, query, all) {
  const size = query.perPage === undefined ? 20 : +query.perPage;
  const number = query.page === undefined ? 1 : +query.page;
  const pages = Math.ceil(all.length / size);
  const others = Object.entries(req.query).filter(([k]) => k !== 'page' && k !== 'perPage').map(([k, v]) => `${encodeURIComponent(k)}=${encodeURIComponent(v)}&`).join('');
  const link = (n) => `${req.path}?${others}page=${n}&perPage=${size}`;
  const last = Math.max(pages, 1);
  return {
    items: all.slice((number - 1) * size, number * size),
    page: number,
    perPage: size,
    pages,
    total: all.length,
    links: {
      self: link(number),
      first: link(1),
      prev: number > 1 ? link(Math.min(number - 1, last)) : null,
      next: number < pages ? link(number + 1) : null,
      last: link(last),
    },
  };
}
