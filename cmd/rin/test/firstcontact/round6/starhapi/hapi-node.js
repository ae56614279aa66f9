'use strict';

// Funding node "Fjord": authorization servers (production and staging), info and funding API on hapi.

const { createHash, randomBytes, timingSafeEqual } = require('node:crypto');
const Path = require('node:path');
const { gzipSync } = require('node:zlib');

const Boom = require('@hapi/boom');
const Hapi = require('@hapi/hapi');

const Data = require('./hapi-data');
const OpenApi = require('./hapi-openapi');

const NODE = process.env.NODE ?? 'hapi-base';
const PORT = Number(process.env.PORT ?? 8080);
const ORIGIN = `http://127.0.0.1:${PORT}`;
const API = '/ris/funding/v3';
const LIFETIME = 600;
const CLIENTS = Object.values(require(Path.join(__dirname, 'hapi-clients.json')));
const AUDIENCE = 'funding-api';

const { fundings, funders } = Data.load();
const document = OpenApi.build(ORIGIN, NODE);
const digest = (text) => createHash('sha256').update(text).digest('base64url').slice(0, 22);

// ------------------------------------------------------------------ tokens

const tokens = new Map();      // sha256 of the token -> record

const issue = (client, scope) => {

    const now = Date.now();
    for (const [key, record] of tokens) {
        if (record.expires <= now) {
            tokens.delete(key);
        }
    }

    if (NODE === 'hapi-same-token') {
        for (const record of tokens.values()) {
            if (record.client === client && record.scope.join(' ') === scope.join(' ') && record.expires - now > 60000) {
                return record;
            }
        }
    }

    const value = randomBytes(32).toString('base64url');
    const granted = NODE === 'hapi-downscope' ? client.scopes : scope;
    const record = { value, client, scope: granted, audience: client.audience, environment: client.environment, expires: now + LIFETIME * 1000 };
    tokens.set(digest(value), record);
    return record;
};

const failures = new Map();

const blocked = (id) => {

    const recent = (failures.get(id) ?? []).filter((time) => time > Date.now() - 60000);
    failures.set(id, recent);
    return recent.length >= 15;
};

const equal = (a, b) => timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest());

class OAuthError extends Error {
    constructor(code, message, status = 400, headers = {}) {

        super(message);
        Object.assign(this, { code, status, headers });
    }
}

const parseForm = (request) => {

    const type = (request.headers['content-type'] ?? '').split(';')[0].trim().toLowerCase();
    if (type !== 'application/x-www-form-urlencoded') {
        throw new OAuthError('invalid_request', 'The body must be application/x-www-form-urlencoded');
    }

    if (request.url.search.length > 1) {
        throw new OAuthError('invalid_request', 'Parameters belong into the body');
    }

    const form = {};
    const seen = new Set();
    for (const [name, value] of new URLSearchParams(request.payload?.toString('utf8') ?? '')) {
        if (seen.has(name)) {
            throw new OAuthError('invalid_request', `${/^[a-z_]+$/.test(name) ? name : 'A parameter'} is repeated`);
        }

        seen.add(name);
        if (value !== '') {
            form[name] = value;
        }
    }

    return form;
};

const formDecode = (text) => decodeURIComponent(text.replace(/\+/g, ' '));

const clientCredentials = (request, form) => {

    const authorization = request.headers.authorization;
    if (!authorization) {
        return { id: form.client_id, secret: form.client_secret };
    }

    if (form.client_secret) {
        throw new OAuthError('invalid_request', 'More than one method of client authentication');
    }

    const match = /^basic +([A-Za-z0-9+/=]+) *$/i.exec(authorization);
    const [, id, secret] = /^([^:]*):(.*)$/s.exec(match ? Buffer.from(match[1], 'base64').toString() : '') ?? [];
    try {
        const decoded = { id: formDecode(id ?? ''), secret: formDecode(secret ?? '') };
        if (form.client_id && form.client_id !== decoded.id) {
            throw new OAuthError('invalid_request', 'client_id differs from the authenticated client');
        }

        return decoded;
    }
    catch (err) {
        if (err instanceof OAuthError) {
            throw err;
        }

        return {};
    }
};

const authenticateClient = (request, form, environment) => {

    const { id, secret } = clientCredentials(request, form);
    const client = CLIENTS.find((candidate) => candidate.id === id && candidate.environment === environment);
    if (client && blocked(`${environment} ${id}`)) {
        throw new OAuthError('invalid_client', 'Too many failed attempts', 429, { 'Retry-After': '60' });
    }

    let valid = Boolean(client) && Boolean(secret) && equal(secret, client.secret);
    if (NODE === 'hapi-secret-optional') {
        valid = Boolean(client) && !(secret && !equal(secret, client.secret));
    }

    if (!valid) {
        if (client) {
            failures.get(`${environment} ${id}`).push(Date.now());
        }

        throw new OAuthError('invalid_client', 'Unknown client or wrong secret', 401, { 'WWW-Authenticate': 'Basic realm="fjord-token"' });
    }

    return client;
};

const tokenRoute = (path, environment) => ({
    method: 'POST',
    path,
    options: {
        auth: false,
        cache: false,
        payload: { output: 'data', parse: false, maxBytes: 8192, failAction: (request, h, err) => { throw err; } }
    },
    handler: (request, h) => {

        let body;
        let status = 200;
        let headers = {};
        try {
            const form = parseForm(request);
            const client = authenticateClient(request, form, environment);
            if (!form.grant_type) {
                throw new OAuthError('invalid_request', 'grant_type is missing');
            }

            if (form.grant_type !== 'client_credentials') {
                throw new OAuthError('unsupported_grant_type', 'The only grant is client_credentials');
            }

            const scope = form.scope ? [...new Set(form.scope.split(' '))].sort() : [...client.scopes].sort();
            if (!scope.every((item) => client.scopes.includes(item))) {
                throw new OAuthError('invalid_scope', 'The client cannot have this scope');
            }

            const record = issue(client, scope);
            body = { access_token: record.value, token_type: 'Bearer', expires_in: Math.floor((record.expires - Date.now()) / 1000), scope: scope.join(' ') };
            if (NODE !== 'hapi-same-token') {
                body.expires_in = LIFETIME;
            }
        }
        catch (err) {
            if (!(err instanceof OAuthError)) {
                throw err;
            }

            ({ status, headers } = err);
            body = { error: err.code, error_description: err.message };
        }

        const response = h.response(body).code(status).header('Cache-Control', 'no-store').header('Pragma', 'no-cache');
        for (const [name, value] of Object.entries(headers)) {
            response.header(name, value);
        }

        return response;
    }
});

const metadataRoute = (name, environment) => ({
    method: 'GET',
    path: `/.well-known/oauth-authorization-server/${name}`,
    options: { auth: false },
    handler: () => ({
        issuer: `${ORIGIN}/${name}`,
        token_endpoint: `${ORIGIN}/${name}/oauth/token`,
        scopes_supported: ['info', 'funding:read'],
        response_types_supported: [],
        grant_types_supported: ['client_credentials'],
        token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic']
    })
});

// ------------------------------------------------------------------ bearer authentication

const challenge = (attributes) => 'Bearer ' + Object.entries({ realm: 'fjord', ...attributes }).map(([key, value]) => `${key}="${value}"`).join(', ');

const unauthorized = (message, attributes) => {

    const err = Boom.unauthorized(message);
    err.output.headers['WWW-Authenticate'] = challenge(attributes);
    return err;
};

const bearer = (server, options) => ({
    authenticate: (request, h) => {

        const match = /^bearer +(.+?) *$/i.exec(request.headers.authorization ?? '');
        if (!match) {
            throw unauthorized('A bearer token is needed');
        }

        const record = tokens.get(digest(match[1]));
        const ours = record && (record.environment === options.environment || (NODE === 'hapi-staging-token' && options.environment === 'production'));
        if (!ours || record.expires <= Date.now() || record.audience !== AUDIENCE) {
            if (NODE === 'hapi-bare-401') {
                throw Boom.unauthorized('The token is unknown, expired or not meant for this API');
            }

            throw unauthorized('The token is unknown, expired or not meant for this API', { error: 'invalid_token' });
        }

        return h.authenticated({ credentials: { client: record.client, scope: record.scope, expires: record.expires } });
    }
});

// ------------------------------------------------------------------ queries

const WORDS = (...words) => (value) => (words.includes(value) ? value : undefined);
const INTEGER = (low, high) => (value) => (/^(0|[1-9][0-9]{0,15})$/.test(value) && Number(value) >= low && Number(value) <= high ? Number(value) : undefined);
const TEXT = (low, high) => (value) => ([...value].length >= low && [...value].length <= high ? value : undefined);
const schemas = document.components.schemas;

const query = (rules) => (values) => {

    const out = {};
    const wrong = [];
    for (const [name, value] of Object.entries(values)) {
        const rule = Object.hasOwn(rules, name) ? rules[name] : null;
        const read = rule && typeof value === 'string' ? rule(value) : undefined;
        if (read === undefined) {
            wrong.push(name);
        }

        out[name] = read;
    }

    if (wrong.length) {
        const err = Boom.badRequest('Query parameters are unknown, repeated or out of range');
        err.fields = wrong;
        throw err;
    }

    return out;
};

const reading = (rules = {}) => ({
    auth: { strategy: 'production', access: { scope: ['funding:read'] } },
    cache: { privacy: 'private', expiresIn: 60 * 1000 },
    validate: { query: query(rules), failAction: (request, h, err) => { throw err; } }
});

const identified = (list, value) => {

    const found = /^[1-9][0-9]{0,9}$/.test(value) ? list.find((item) => item.id === Number(value)) : undefined;
    if (!found) {
        throw Boom.notFound('There is no such resource');
    }

    return found;
};

// ------------------------------------------------------------------ representations

// Compressed here and not by the framework, so that HEAD has the fields of GET.
const send = (request, h, body) => {

    const text = JSON.stringify(body);
    const gzip = request.info.acceptEncoding === 'gzip' && Buffer.byteLength(text) > 1024;
    const tag = digest(text) + (gzip ? '-gzip' : '');
    const known = (request.headers['if-none-match'] ?? '').match(/"[^"]*"|^ *\*/g) ?? [];    // W/ or not: the comparison is weak
    const fresh = known.some((item) => item === `"${tag}"` || item.trim() === '*') && !request.headers['if-match'];
    const response = fresh
        ? h.response().code(304)
        : h.response(gzip ? gzipSync(text) : text).type('application/json').charset('utf-8');
    if (gzip && !fresh) {
        response.compressed('gzip');
    }

    return response.etag(tag, { vary: false }).vary('accept-encoding');
};

const brief = ({ id, titles, status, area, funderId, startDate, deadline, budget }) => {

    const { name } = funders.find((funder) => funder.id === funderId);
    return { id, titles, status, area, funder: { id: funderId, name }, startDate, deadline, budget };
};

const full = (funding) => {

    const { abstract, durationMonths, contact, keywords, modified } = funding;
    return { ...brief(funding), abstract, durationMonths, contact: NODE === 'hapi-contact' ? contact ?? undefined : contact, keywords, modified };
};

const KEYS = { deadline: (item) => item.deadline ?? '9999-99-99', budget: (item) => item.budget.max, id: (item) => item.id };

const listFundings = (request, h) => {

    const { limit = 25, cursor, sort = 'deadline', order = 'asc', ...filters } = request.query;
    const key = KEYS[sort];
    const sign = order === 'asc' ? 1 : -1;
    const compare = (a, b) => (a[0] < b[0] ? -sign : a[0] > b[0] ? sign : a[1] - b[1]);
    const selects = (item) => (!filters.status || item.status === filters.status)
        && (!filters.area || item.area === filters.area)
        && (!filters.country || funders.find((funder) => funder.id === item.funderId).country === filters.country)
        && (filters.minBudget === undefined || item.budget.max >= filters.minBudget)
        && (!filters.keyword || item.keywords.includes(filters.keyword));

    const selected = fundings.filter(selects);
    let rows = NODE === 'hapi-short-pages' ? [...fundings] : [...selected];
    rows.sort((a, b) => compare([key(a), a.id], [key(b), b.id]));

    const context = digest(JSON.stringify([sort, order, filters.status, filters.area, filters.country, filters.minBudget, filters.keyword]));
    if (cursor !== undefined) {
        let position;
        try {
            position = JSON.parse(Buffer.from(cursor, 'base64url').toString());
        }
        catch { }

        if (!Array.isArray(position) || position[0] !== context || position.length !== 3) {
            const err = Boom.badRequest('The cursor does not belong to this selection');
            err.fields = ['cursor'];
            throw err;
        }

        const [, value, id] = position;
        rows = NODE === 'hapi-cursor'
            ? rows.filter((item) => (sign > 0 ? key(item) > value : key(item) < value))
            : rows.filter((item) => compare([key(item), item.id], [value, id]) > 0);
    }

    const page = rows.slice(0, limit);
    const response = send(request, h, page.filter(selects).map(brief)).header('X-Total-Count', String(selected.length));
    if (rows.length > limit) {
        const last = page.at(-1);
        const next = new URLSearchParams(request.url.search);
        next.set('cursor', Buffer.from(JSON.stringify([context, key(last), last.id])).toString('base64url'));
        response.header('Link', `<${ORIGIN}${API}/fundings?${next}>; rel="next"`);
    }

    return response;
};

// ------------------------------------------------------------------ routes

const info = (environment) => ({
    options: {
        auth: { strategy: environment, access: { scope: ['info'] }, ...(NODE === 'hapi-info-try' && environment === 'production' ? { mode: 'try', access: undefined } : {}) },
        cache: false
    },
    handler: (request, h) => {

        const { client, scope, expires } = request.auth.credentials ?? {};
        if (scope && !scope.includes('info')) {
            throw Boom.forbidden();
        }

        return h.response({
            authenticated: request.auth.isAuthenticated,
            clientId: client?.id ?? null,
            serviceAccountUserId: client?.userId ?? null,
            affiliationId: client?.affiliationId ?? null,
            role: client?.role ?? null,
            scope: scope ?? [],
            tokenExpires: expires ? new Date(expires).toISOString() : null,
            endpoints: { FUNDING: [{ name: 'FUNDINGS', majorVersion: 3, minorVersion: 1, url: `${ORIGIN}${API}/fundings` }] }
        }).header('Cache-Control', 'no-store');
    }
});

const buckets = new Map();

const throttle = (request, h) => {

    if (!request.path.startsWith(`${API}/`) || !request.auth.isAuthenticated) {
        return h.continue;
    }

    const id = request.auth.credentials.client.id;
    const now = Date.now();
    const bucket = buckets.get(id) ?? { level: 20, time: now };
    bucket.level = Math.min(20, bucket.level + (now - bucket.time) / 100);
    bucket.time = now;
    buckets.set(id, bucket);
    if (bucket.level < 1) {
        const err = Boom.tooManyRequests('Too many requests');
        err.output.headers['Retry-After'] = '1';
        throw err;
    }

    bucket.level -= 1;
    return h.continue;
};

const codes = { 400: 'BAD_REQUEST', 401: 'UNAUTHORIZED', 403: 'FORBIDDEN', 404: 'NOT_FOUND', 405: 'METHOD_NOT_ALLOWED', 412: 'PRECONDITION_FAILED', 413: 'TOO_LARGE', 415: 'UNSUPPORTED_MEDIA_TYPE', 429: 'TOO_MANY_REQUESTS' };

const onPreResponse = (request, h) => {

    const response = request.response;
    if (response.isBoom) {
        const { statusCode, headers } = response.output;
        const scope = request.path.startsWith(`${API}/`) ? 'funding:read' : 'info';
        if (statusCode === 403) {
            headers['WWW-Authenticate'] = challenge({ error: 'insufficient_scope', scope });
        }

        const message = statusCode >= 500 ? 'Internal error' : statusCode === 403 ? `The token does not have the scope ${scope}` : response.message;
        const error = { code: codes[statusCode] ?? 'ERROR', message };
        if (response.fields) {
            error.fields = response.fields;
        }

        response.output.payload = { error };
        headers['Cache-Control'] = 'no-store';
        headers['X-Content-Type-Options'] = 'nosniff';
        return h.continue;
    }

    response.header('X-Content-Type-Options', 'nosniff');
    const tag = response.headers.etag;
    const wanted = request.headers['if-match'];
    if (tag && wanted && wanted.trim() !== '*' && !(wanted.match(/(W\/)?"[^"]*"/g) ?? []).includes(tag)) {
        throw Boom.preconditionFailed('The representation is another');
    }

    return h.continue;
};

const html = `<!doctype html><html lang="en"><title>Funding API</title><h1>Funding API</h1>
<p><a href="${API}/api-docs">Specification file</a> · <a href="/reference/try-out/fundings">try-out</a></p></html>`;

const main = async () => {

    const server = Hapi.server({ host: '127.0.0.1', port: PORT, compression: { minBytes: Number.MAX_SAFE_INTEGER }, routes: { security: false, response: { ranges: false } }, router: { stripTrailingSlash: false } });
    server.auth.scheme('bearer', bearer);
    server.auth.strategy('production', 'bearer', { environment: 'production' });
    server.auth.strategy('staging', 'bearer', { environment: 'staging' });
    server.ext('onPreResponse', onPreResponse);
    if (NODE === 'hapi-rate-limit') {
        server.ext('onPostAuth', throttle);
    }

    const routes = [
        tokenRoute('/auth/oauth/token', 'production'),
        tokenRoute('/staging-auth/oauth/token', 'staging'),
        metadataRoute('auth', 'production'),
        metadataRoute('staging-auth', 'staging'),
        { method: 'GET', path: '/ris/info/v1/oauth/info/', ...info('production') },
        { method: 'GET', path: '/staging-ris/info/v1/oauth/info/', ...info('staging') },
        {
            method: 'GET', path: '/registry.json', options: { cache: { privacy: 'public', expiresIn: 60 * 1000 } },
            handler: () => ({ member: [{ id: 'FJORD', name: 'Fjord node', acronym: 'FJD', contact: 'ris@fjord.example', oauth2: `${ORIGIN}/auth/oauth/token`, info: `${ORIGIN}/ris/info/v1/oauth/info/` }] })
        },
        { method: 'GET', path: '/reference', handler: () => html },
        { method: 'GET', path: '/reference/try-out/fundings', handler: () => [brief({ ...fundings[0], id: 1, titles: [{ lang: 'en', value: 'Sample' }] })] },
        { method: 'GET', path: `${API}/api-docs`, options: { cache: { privacy: 'public', expiresIn: 60 * 1000 } }, handler: (request, h) => send(request, h, document) },
        {
            method: 'GET', path: `${API}/fundings`, handler: listFundings,
            options: reading({
                limit: INTEGER(1, 50), cursor: TEXT(1, 400), status: WORDS(...schemas.Status.enum), area: WORDS(...schemas.Area.enum), keyword: TEXT(1, 60),
                country: (value) => (/^[A-Z]{2}$/.test(value) ? value : undefined), minBudget: INTEGER(0, 1000000000),
                sort: WORDS('deadline', 'budget', 'id'), order: WORDS('asc', 'desc')
            })
        },
        { method: 'GET', path: `${API}/fundings/{fundingId}`, options: reading(), handler: (request, h) => send(request, h, full(identified(fundings, request.params.fundingId))) },
        {
            method: 'GET', path: `${API}/fundings/{fundingId}/attachments`, options: reading(),
            handler: (request, h) => send(request, h, identified(fundings, request.params.fundingId).attachments)
        },
        {
            method: 'GET', path: `${API}/funders`, options: reading({ type: WORDS(...schemas.FunderType.enum) }),
            handler: (request, h) => send(request, h, funders.filter(({ type }) => !request.query.type || type === request.query.type))
        },
        { method: 'GET', path: `${API}/funders/{funderId}`, options: reading(), handler: (request, h) => send(request, h, identified(funders, request.params.funderId)) }
    ];
    server.route(routes);

    // hapi answers 404 to other methods of a path; say 405 with Allow
    for (const { method, path } of routes) {
        server.route({
            method: '*', path,
            options: { auth: false, payload: { parse: false, output: 'stream' } },
            handler: () => {

                const err = Boom.methodNotAllowed('The resource does not have this method');
                err.output.headers.Allow = method === 'GET' ? 'GET, HEAD' : method;
                throw err;
            }
        });
    }

    await server.start();
    process.on('SIGTERM', () => server.stop({ timeout: 200 }).then(() => process.exit(0)));
};

main();
