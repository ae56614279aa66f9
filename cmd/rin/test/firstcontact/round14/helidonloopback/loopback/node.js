'use strict';
// The node of the Technische Hochschule Wallsee on LoopBack 4: authorization servers, info and funding API on one port.
const {RestApplication, RestBindings, api, HttpErrors} = require('@loopback/rest');
const {inject} = require('@loopback/core');
const {Fault, send, readBody} = require('./http');
const {AuthServer, OAuthError, NODE, ROLE} = require('./auth');
const {FundingController} = require('./funding');
const apiDocs = require('./api-docs');

const port = Number(process.env.PORT || 8080);
const base = `http://127.0.0.1:${port}`;
const API = `${base}/api/thw/funding/v3`;
const PUBLIC = 'public, max-age=60';

const client = (id, secret, account, affiliation, roles, audience) => ({id, secret, account, affiliation, roles, audience});
const production = new AuthServer('thw', [
  client('ernte:dienst', 'w+7%2F~Kiesel=&!:/%Bach0', 'sa-40c1', 'ror.org/04thw0a1', [ROLE], 'thw'),
  client('zaungast', '!no&role=+~%:41/Ast', 'sa-40c2', 'ror.org/04thw0a1', [], 'thw'),
  client('mensa-app', 'Su%ppe&=1/+~:!Topf=', 'sa-40c3', 'ror.org/04thw0a1', [ROLE], 'thw-mensa'),
  client('ersatz%20dienst', '~%e:r/s=a&t+z!Zwei2', 'sa-40c4', 'ror.org/05don0b2', [ROLE], 'thw'),
]);
const staging = new AuthServer('thw-staging', [
  client('probe/1', 'pr0b&e=%3A+~:/!stage', 'sa-test', 'ror.org/00test', [ROLE], 'thw-staging'),
]);

// ---- the authorization servers and the open documents

class TokenController {
  constructor(request) {
    this.request = request;
  }

  production() {
    return this.token(production);
  }

  staging() {
    return this.token(staging);
  }

  async token(server) {
    const headers = {'Cache-Control': 'no-store', 'Pragma': 'no-cache'};
    try {
      return {headers, body: server.grant(this.request, await readBody(this.request, 16384))};
    } catch (e) {
      if (!(e instanceof OAuthError)) throw e;
      return {status: e.status, headers: {...headers, ...e.headers}, body: {error: e.code, error_description: e.message}};
    }
  }
}

const infoCache = new Map();

class InfoController {
  constructor(request, caller) {
    Object.assign(this, {request, caller});
  }

  info() {
    const {id, account, affiliation, roles, scopes, expires} = this.caller;
    const answer = {
      node: 'THW', environment: this.request.path.startsWith('/staging/') ? 'staging' : 'production',
      client_id: id, service_account_user_id: account, affiliation_id: affiliation, roles, scope: scopes.join(' '), token_expires_at: expires,
    };
    if (NODE === 'loopback-haslach') {
      const kept = infoCache.get(this.request.path);
      if (kept && kept.until > Date.now()) return {body: kept.answer};
      infoCache.set(this.request.path, {answer, until: Date.now() + 5000});
    }
    return {body: answer};
  }
}

class OpenController {
  registry() {
    return {cache: PUBLIC, body: {member: [{id: 'THW', acronym: 'THW', name: 'Technische Hochschule Wallsee', contact: 'ris@thw.example', oauth2: `${base}/sso/oauth/token`, info: `${base}/api/thw/info/v1/oauth/info/`}]}};
  }

  document() {
    return {cache: PUBLIC, body: apiDocs(base)};
  }

  reference() {
    const body = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>TH Wallsee: funding API, reference</title></head>
<body><h1>Funding API of the TH Wallsee</h1>
<p>Specification file: <a href="${API}/api-docs">${API}/api-docs</a></p>
<h2>Try-out</h2><p>Without a token, with sample data: <a href="${base}/try-out/thw/funding/v3/opportunities">opportunities</a>,
<a href="${base}/try-out/thw/funding/v3/opportunities/sample">one opportunity</a>.</p></body></html>
`;
    return {cache: PUBLIC, type: 'text/html; charset=utf-8', body};
  }

  samples() {
    return {body: [this.sample().body]};
  }

  sample() {
    return {
      body: {
        id: 'sample', kind: 'grant', title: 'Beispiel', abstract: 'Ein Beispiel.', agency: 'sample', target_groups: ['senior'], subjects: ['culture'], status: 'open',
        opens_at: '2026-01-01T00:00:00+01:00', deadline: null, audience: 'all',
      },
    };
  }
}

/** GET and HEAD of one method of a controller; `access` names who may call it. */
const read = (method, access, pathParameter) => {
  const operation = {
    'x-operation-name': method, 'x-access': access, 'responses': {},
    'parameters': pathParameter ? [{name: pathParameter, in: 'path', required: true, schema: {type: 'string'}}] : [],
  };
  return {get: operation, head: operation};
};
const post = method => ({post: {'x-operation-name': method, 'responses': {}}});

api({basePath: '/', paths: {'/sso/oauth/token': post('production'), '/staging/sso/oauth/token': post('staging')}})(TokenController);
inject(RestBindings.Http.REQUEST)(TokenController, undefined, 0);

api({basePath: '/', paths: {'/api/thw/info/v1/oauth/info': read('info', 'info'), '/staging/api/thw/info/v1/oauth/info': read('info', 'staging-info')}})(InfoController);
inject(RestBindings.Http.REQUEST)(InfoController, undefined, 0);
inject('caller')(InfoController, undefined, 1);

api({
  basePath: '/',
  paths: {
    '/registry': read('registry'), '/docs/thw': read('reference'), '/api/thw/funding/v3/api-docs': read('document'),
    '/try-out/thw/funding/v3/opportunities': read('samples'), '/try-out/thw/funding/v3/opportunities/sample': read('sample'),
  },
})(OpenController);

api({
  basePath: '/api/thw/funding/v3',
  paths: {
    '/opportunities': read('list', 'funding'), '/opportunities/{opportunity_id}': read('detail', 'funding', 'opportunity_id'),
    '/agencies': read('agencies', 'funding'), '/target-groups': read('targetGroups', 'funding'),
  },
})(FundingController);
inject(RestBindings.Http.REQUEST)(FundingController, undefined, 0);
inject('caller')(FundingController, undefined, 1);
inject('base')(FundingController, undefined, 2);

// ---- what happens to a request

const recent = new Map();

/** Ten requests of an account in a second are enough. */
function throttle(caller) {
  const now = Date.now();
  const times = (recent.get(caller.id) || []).filter(t => t > now - 1000);
  if (times.length >= 10) throw new Fault(429, 'too_many_requests', 'Too many requests of this account.', {headers: {'Retry-After': '1'}});
  recent.set(caller.id, [...times, now]);
}

class NodeSequence {
  constructor(handler, parseParams, invoke) {
    Object.assign(this, {handler, parseParams, invoke});
  }

  async handle(context) {
    const {request, response} = context;
    try {
      if ((request.headersDistinct.host || []).length > 1) throw new Fault(400, 'bad_request', 'A request has one Host field.');
      const route = this.find(request);
      route.updateBindings(context);
      this.authorize(context, request, route.spec['x-access']);
      const args = await this.parseParams(request, route);
      send(request, response, await this.invoke(route, args));
    } catch (error) {
      this.reject(request, response, error);
    }
  }

  find(request) {
    const lookup = method => {
      try {
        const found = this.handler.findRoute(Object.create(request, {method: {value: method}}));
        return found.spec['x-operation-name'] ? found : undefined;
      } catch (e) {
        if (e instanceof URIError || HttpErrors.isHttpError(e)) return undefined;
        throw e;
      }
    };
    // the router would find a template by its own name
    if (/[{}]/.test(request.path)) throw new Fault(404, 'not_found', 'There is nothing at this address.');
    const route = lookup(request.method);
    if (route) return route;
    const allowed = ['GET', 'HEAD', 'POST'].filter(lookup);
    if (allowed.length) throw new Fault(405, 'method_not_allowed', `Possible here: ${allowed.join(', ')}.`, {headers: {Allow: allowed.join(', ')}});
    throw new Fault(404, 'not_found', 'There is nothing at this address.');
  }

  authorize(context, request, access) {
    if (!access) return;
    const caller = (access === 'staging-info' ? staging : production).caller(request);
    AuthServer.require(caller, access === 'funding' ? 'funding' : 'info', access === 'funding' ? ROLE : undefined);
    if (NODE === 'loopback-eberesche' && access === 'funding') throttle(caller);
    context.bind('caller').to(caller);
  }

  reject(request, response, error) {
    let fault = error;
    if (!(error instanceof Fault)) {
      console.error(error);
      fault = new Fault(500, 'internal', 'The node could not answer. The fault has been logged.');
    }
    send(request, response, {status: fault.status, headers: fault.headers, body: {error: {code: fault.code, message: fault.message, ...(fault.field && {field: fault.field})}}});
  }
}
inject(RestBindings.HANDLER)(NodeSequence, undefined, 0);
inject(RestBindings.SequenceActions.PARSE_PARAMS)(NodeSequence, undefined, 1);
inject(RestBindings.SequenceActions.INVOKE_METHOD)(NodeSequence, undefined, 2);

async function main() {
  const app = new RestApplication({
    rest: {
      host: '127.0.0.1', port, gracePeriodForClose: 1000, openApiSpec: {disabled: true}, apiExplorer: {disabled: true},
      expressSettings: {'x-powered-by': false, 'query parser': false, 'etag': false},
    },
  });
  app.bind('base').to(API);
  for (const c of [TokenController, InfoController, OpenController, FundingController]) app.controller(c);
  app.sequence(NodeSequence);
  await app.start();
}

main().catch(e => {
  console.error(e);
  process.exit(1);
});
