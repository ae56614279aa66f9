"use strict";
const crypto = require("crypto");
const { ServiceBroker, Errors } = require("moleculer");
const ApiGateway = require("moleculer-web");
const jwt = require("jsonwebtoken");
const { calls, funders, tagNames } = require("./data");
const buildSpec = require("./spec");

const PORT = Number(process.env.PORT || 20400);
const NODE = process.env.NODE || "moleculer-base";
const BASE = `http://127.0.0.1:${PORT}`;
const is = name => NODE === `moleculer-${name}`;
const traits = { noExpiresIn: is("terse"), clamp: is("lenient"), strictQuery: is("lenient"), twoKeys: is("twokeys") };

const LIFE = 70;
const AUDIENCE = "urn:campus:funding";
const ROLE = "EXTERNAL_API_CLIENT";
const spec = Buffer.from(JSON.stringify(buildSpec(BASE, traits)));

// ---- realms ---------------------------------------------------------------------------------------------------------
function keyOf(alg, kid) {
	const pair = alg === "ES256" ? crypto.generateKeyPairSync("ec", { namedCurve: "P-256" }) : crypto.generateKeyPairSync("rsa", { modulusLength: 2048 });
	return { alg, kid, ...pair, jwk: { ...pair.publicKey.export({ format: "jwk" }), kid, alg, use: "sig" } };
}
const client = (id, secret, account, roles, audience) => ({ id, secret, account, roles, audience, failures: [] });
const realms = {
	campus: {
		issuer: `${BASE}/sso/realms/campus`,
		keys: traits.twoKeys ? [keyOf("RS256", "campus-2026-10"), keyOf("ES256", "campus-2026-11")] : [keyOf("RS256", "campus-2026-10")],
		clients: [
			client("campus-crm-41c7e2", "Vb8/rT+2qN%5eW=k&7yL:zD0~pX4uM9s", "svc-7a01", [ROLE], AUDIENCE),
			client("campus-kiosk-8f09bd", "gH3%2FmK+9xQ=/Jw4&tR;vB1?nY6@cE", "svc-7a02", [], AUDIENCE),
			client("campus-theses-2d65aa", "Zk7&fP0+sU%8dC/3=nL:rA5!iWx-oT1q", "svc-7a03", [ROLE], "urn:campus:theses"),
			client("campus-standby-c3e190", "M4=yG6/jD+9bS1%hV&2wK:xE8*tNz_Rf", "svc-7a04", [ROLE], AUDIENCE)
		]
	},
	staging: {
		issuer: `${BASE}/staging`,
		keys: [keyOf("RS256", "staging-1")],
		clients: [client("trial-campus-90ab17", "uT5/eB9+dH2%kY=8&qZ1:nW0~lG7mCv", "trial-1", [ROLE], AUDIENCE)]
	}
};
const issued = { campus: 0, staging: 0 };

// ---- answers --------------------------------------------------------------------------------------------------------
class Answer extends Errors.MoleculerError {
	constructor(code, body, headers) {
		super("answer", code, "ANSWER");
		this.body = body;
		this.headers = headers || {};
	}
}
const titles = { 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 413: "Content Too Large", 500: "Internal Server Error" };
const problem = (status, detail, headers, more) =>
	new Answer(status, { type: "about:blank", title: titles[status] || "Error", status, detail, ...more }, { "Content-Type": "application/problem+json", ...headers });
const oauthError = (status, error, description, headers) =>
	new Answer(status, { error, error_description: description }, { "Content-Type": "application/json", "Cache-Control": "no-store", Pragma: "no-cache", ...headers });

function send(ctx, value, headers) {
	ctx.meta.$responseType = "application/json";
	ctx.meta.$responseHeaders = headers;
	return Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value));
}
function guardedAnswer(ctx, value) {
	const body = Buffer.from(JSON.stringify(value));
	const tag = crypto.createHash("sha256").update(body).digest("base64url").slice(0, 27);
	return send(ctx, body, { ETag: `"${tag}"`, "Cache-Control": "private, no-cache" });
}

// ---- token endpoint -------------------------------------------------------------------------------------------------
const formDecode = text => decodeURIComponent(text.replace(/\+/g, " "));
const same = (a, b) => crypto.timingSafeEqual(crypto.createHash("sha256").update(a).digest(), crypto.createHash("sha256").update(b).digest());

function readForm(http) {
	if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(http.headers["content-type"] || ""))
		throw oauthError(400, "invalid_request", "The body must be application/x-www-form-urlencoded.");
	const form = new Map();
	for (const [name, value] of new URLSearchParams(http.body)) {
		if (form.has(name)) throw oauthError(400, "invalid_request", "A parameter is repeated.");
		if (value !== "") form.set(name, value);
	}
	return form;
}

function authenticateClient(realm, http, form) {
	const header = http.headers.authorization;
	const challenge = header === undefined ? {} : { "WWW-Authenticate": `Basic realm="campus token endpoint", charset="UTF-8"` };
	let id = form.get("client_id"), secret = form.get("client_secret");
	if (header !== undefined) {
		const m = /^basic +([A-Za-z0-9+/]+=*) *$/i.exec(header);
		const pair = m ? Buffer.from(m[1], "base64").toString("utf8") : "";
		if (!pair.includes(":")) throw oauthError(401, "invalid_client", "The Authorization header cannot be read.", challenge);
		if (secret !== undefined) throw oauthError(400, "invalid_request", "Use one way of authentication only.");
		const cut = pair.indexOf(":");
		let basicId;
		try { basicId = formDecode(pair.slice(0, cut)); secret = formDecode(pair.slice(cut + 1)); }
		catch { throw oauthError(401, "invalid_client", "Client authentication failed.", challenge); }
		if (id !== undefined && id !== basicId) throw oauthError(400, "invalid_request", "client_id contradicts the Authorization header.");
		id = basicId;
	}
	const found = realm.clients.find(c => c.id === id);
	if (found) {
		const now = Date.now();
		found.failures = found.failures.filter(t => now - t < 30000);
		if (found.failures.length >= 12)
			throw oauthError(429, "invalid_client", "Too many failed attempts.", { "Retry-After": String(Math.max(1, Math.ceil((30000 - (now - found.failures[0])) / 1000))) });
		if (secret !== undefined && same(secret, found.secret)) return found;
		if (secret !== undefined) found.failures.push(now);
	}
	throw oauthError(401, "invalid_client", "Client authentication failed.", challenge);
}

function issueToken(name, http) {
	const realm = realms[name];
	const form = readForm(http);
	const who = authenticateClient(realm, http, form);
	if (!form.has("grant_type")) throw oauthError(400, "invalid_request", "grant_type is missing.");
	if (form.get("grant_type") !== "client_credentials") throw oauthError(400, "unsupported_grant_type", "Only client_credentials is offered.");
	const allowed = who.roles.includes(ROLE) ? ["info.read", "funding.read"] : ["info.read"];
	const wanted = form.has("scope") ? [...new Set(form.get("scope").split(" "))] : allowed;
	if (!wanted.every(s => allowed.includes(s))) throw oauthError(400, "invalid_scope", "The client may not have this scope.");
	let audience = who.audience;
	if (form.has("resource")) {
		const known = is("resource") ? realm.clients.map(c => c.audience) : [who.audience];
		if (!known.includes(form.get("resource"))) throw oauthError(400, "invalid_target", "The client has no such audience.");
		audience = form.get("resource");
	}
	const now = Math.floor(Date.now() / 1000);
	const key = realm.keys[issued[name]++ % realm.keys.length];
	const token = jwt.sign({
		iss: realm.issuer, sub: who.account, client_id: who.id, aud: traits.twoKeys ? [audience] : audience,
		iat: now, exp: now + LIFE, jti: crypto.randomUUID(), scope: wanted.join(" "), roles: who.roles
	}, key.privateKey, { algorithm: key.alg, header: { typ: "at+jwt", kid: key.kid } });
	const answer = { access_token: token, token_type: traits.noExpiresIn ? "bearer" : "Bearer", expires_in: LIFE, scope: wanted.join(" ") };
	if (traits.noExpiresIn) delete answer.expires_in;
	return answer;
}

// ---- bearer tokens --------------------------------------------------------------------------------------------------
const verified = new Map();
setInterval(() => { for (const [k, v] of verified) if (v.until < Date.now()) verified.delete(k); }, 30000).unref();

function verify(name, token) {
	const head = jwt.decode(token, { complete: true });
	const key = head && realms[name].keys.find(k => k.kid === head.header.kid);
	if (!key || !/^(application\/)?at\+jwt$/i.test(head.header.typ || "")) throw new Error("unknown key");
	return jwt.verify(token, key.publicKey, { algorithms: [key.alg], issuer: realms[name].issuer, audience: AUDIENCE });
}

function bearer(name, headers) {
	const realmText = `Bearer realm="${name}"`;
	const header = headers.authorization;
	if (header === undefined || !/^bearer( |$)/i.test(header))
		throw problem(401, "A bearer token is needed.", { "WWW-Authenticate": realmText });
	const token = header.slice(6).trim();
	const digest = name + crypto.createHash("sha256").update(token).digest("hex");
	const seen = verified.get(digest);
	if (seen && seen.until > Date.now()) return seen.claims;
	try {
		const claims = verify(name, token);
		if (is("quarry")) verified.set(digest, { claims, until: Date.now() + 300000 });
		return claims;
	} catch {
		throw problem(401, "The token is not valid here.", { "WWW-Authenticate": `${realmText}, error="invalid_token", error_description="The token is not valid here"` });
	}
}

function checkRole(claims) {
	if (!claims.roles.includes(ROLE) || !claims.scope.split(" ").includes("funding.read"))
		throw problem(403, `The role ${ROLE} is needed.`, { "WWW-Authenticate": `Bearer realm="campus", error="insufficient_scope", scope="funding.read"` });
}

// ---- query ----------------------------------------------------------------------------------------------------------
const bad = (parameter, detail) => problem(400, detail, {}, { parameter });
const LIST = ["limit", "offset", "sort", "status", "funderId", "tag", "q", "deadlineFrom", "deadlineTo", "minBudget"];

function checkNames(query, names) {
	if (traits.strictQuery) for (const name of query.keys()) if (!names.includes(name)) throw bad(name, "This operation has no such parameter.");
}
function one(query, name) {
	const all = query.getAll(name);
	if (all.length > 1) throw bad(name, "The parameter may be sent once only.");
	return all[0];
}
function integer(query, name, low, high, otherwise) {
	const text = one(query, name);
	if (text === undefined) return otherwise;
	if (!/^-?[0-9]{1,400}$/.test(text) || Number(text) < low || Number(text) > high) throw bad(name, `An integer from ${low} to ${high} is expected.`);
	return Number(text);
}
function date(query, name) {
	const text = one(query, name);
	if (text === undefined) return undefined;
	const at = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(text) ? new Date(text + "T00:00:00Z") : new Date(NaN);
	if (isNaN(at) || at.toISOString().slice(0, 10) !== text) throw bad(name, "A date (YYYY-MM-DD) is expected.");
	return text;
}
function text(query, name, max) {
	const value = one(query, name);
	if (value !== undefined && (value === "" || [...value].length > max)) throw bad(name, `1 to ${max} characters are expected.`);
	return value;
}
function choice(query, name, values, otherwise) {
	const value = one(query, name);
	if (value !== undefined && !values.includes(value)) throw bad(name, "The value is not one of the declared ones.");
	return value === undefined ? otherwise : value;
}

// ---- records --------------------------------------------------------------------------------------------------------
const summary = c => ({ id: c.id, title: c.title, funderId: c.funderId, status: c.status,
	deadline: is("meridian") ? `${c.local}+01:00` : c.deadline, publishedOn: c.publishedOn, budget: c.budget, tags: c.tags });
const compact = o => is("compact") ? Object.fromEntries(Object.entries(o).filter(([, v]) => v)) : o;
const detail = c => compact({ ...summary(c), deadline: c.deadline, description: c.description, overheadPercent: c.overheadPercent, durationMonths: c.durationMonths,
	targetGroups: c.targetGroups, contact: c.contact, funder: funders.find(f => f.id === c.funderId) });
const byCodePoint = (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b));
const orders = {
	deadline: (a, b) => a.instant - b.instant,
	title: (a, b) => byCodePoint(a.title, b.title),
	budget: (a, b) => a.budget.amount - b.budget.amount
};

function listCalls(query) {
	checkNames(query, LIST);
	const cap = 40;
	const limit = Math.min(cap, integer(query, "limit", 1, traits.clamp ? Infinity : cap, 15));
	const offset = integer(query, "offset", 0, 100000, 0);
	const sort = choice(query, "sort", ["deadline", "-deadline", "title", "-title", "budget", "-budget"], "deadline");
	const states = query.getAll("status");
	if (!states.every(s => ["ANNOUNCED", "OPEN", "CLOSED"].includes(s))) throw bad("status", "The value is not one of the declared ones.");
	const funder = text(query, "funderId", 40), tag = choice(query, "tag", tagNames), q = text(query, "q", 80);
	const from = date(query, "deadlineFrom"), to = date(query, "deadlineTo"), least = integer(query, "minBudget", 0, 1000000000, 0);
	const upto = c => is("midnight") ? c.local <= `${to}T00:00:00` : c.day <= to;
	const hits = calls.filter(c => (!states.length || states.includes(c.status)) && (funder === undefined || c.funderId === funder) &&
		(tag === undefined || c.tags.includes(tag)) && (q === undefined || c.title.toLowerCase().includes(q.toLowerCase())) &&
		(from === undefined || c.day >= from) && (to === undefined || upto(c)) && c.budget.amount >= least);
	const order = orders[sort.replace("-", "")], sign = sort.startsWith("-") ? -1 : 1;
	hits.sort((a, b) => sign * order(a, b) || byCodePoint(a.id, b.id));
	return { total: hits.length, limit, offset, items: hits.slice(offset, offset + limit).map(summary) };
}

// ---- services -------------------------------------------------------------------------------------------------------
const broker = new ServiceBroker({ nodeID: "campus", logger: false, errorHandler: null });
const lookup = () => new Promise(done => setTimeout(done, 12));
const asking = {};

broker.createService({
	name: "sso",
	actions: {
		token: ctx => send(ctx, issueToken("campus", ctx.meta.http), { "Cache-Control": "no-store", Pragma: "no-cache" }),
		stagingToken: ctx => send(ctx, issueToken("staging", ctx.meta.http), { "Cache-Control": "no-store", Pragma: "no-cache" }),
		keys: ctx => send(ctx, { keys: realms.campus.keys.map(k => k.jwk) }, { "Cache-Control": "public, max-age=60" }),
		stagingKeys: ctx => send(ctx, { keys: realms.staging.keys.map(k => k.jwk) }, { "Cache-Control": "public, max-age=60" }),
		metadata: ctx => send(ctx, {
			issuer: realms.campus.issuer, token_endpoint: `${realms.campus.issuer}/protocol/openid-connect/token`,
			jwks_uri: `${realms.campus.issuer}/protocol/openid-connect/certs`, response_types_supported: [],
			grant_types_supported: ["client_credentials"], token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post"],
			scopes_supported: ["info.read", "funding.read"]
		}, {})
	}
});

async function info(ctx, name) {
	const claims = bearer(name, ctx.meta.http.headers);
	asking.account = claims;
	await lookup();
	const account = is("turnstile") ? asking.account : claims;
	return send(ctx, { node: "campus", environment: name === "campus" ? "production" : "staging", client_id: account.client_id, service_account: account.sub,
		roles: account.roles, expires_at: new Date(account.exp * 1000).toISOString() }, { "Cache-Control": "no-store" });
}
broker.createService({ name: "info", actions: { show: ctx => info(ctx, "campus"), staging: ctx => info(ctx, "staging") } });

const shelf = new Map();
function guarded(produce) {
	return function (ctx) {
		const { claims, url, query } = ctx.meta.http;
		const kept = shelf.get(url);
		if (is("shelf") && kept && kept.until > Date.now()) return guardedAnswer(ctx, kept.value);
		checkRole(claims);
		const value = produce(ctx.params.params || {}, query);
		if (is("shelf")) {
			if (shelf.size > 500) shelf.clear();
			shelf.set(url, { value, until: Date.now() + 60000 });
		}
		return guardedAnswer(ctx, value);
	};
}
broker.createService({
	name: "funding",
	actions: {
		list: guarded((params, query) => listCalls(query)),
		get: guarded((params, query) => {
			checkNames(query, []);
			const found = calls.find(c => c.id === params.callId);
			if (!found) throw problem(404, "There is no such call.");
			return detail(found);
		}),
		funders: guarded((params, query) => { checkNames(query, []); return { funders: [...funders].sort((a, b) => byCodePoint(a.id, b.id)) }; }),
		funder: guarded((params, query) => {
			checkNames(query, []);
			const found = funders.find(f => f.id === params.funderId);
			if (!found) throw problem(404, "There is no such funder.");
			return found;
		}),
		spec: ctx => send(ctx, spec, { ETag: `"${crypto.createHash("sha256").update(spec).digest("hex").slice(0, 20)}"`, "Cache-Control": "public, max-age=60" }),
		registry: ctx => send(ctx, { member: [{ id: "campus", name: "Campus Funding Node", oauth2: `${realms.campus.issuer}/protocol/openid-connect/token`,
			info: `${BASE}/campus/info/v1/oauth/info/` }] }, {})
	}
});

const gets = pairs => Object.fromEntries(pairs.flatMap(([path, action]) => [[`GET ${path}`, action], [`HEAD ${path}`, action]]));
const table = [
	[/^\/sso\/realms\/campus\/protocol\/openid-connect\/token$/, "POST"], [/^\/staging\/oauth\/token$/, "POST"],
	[/^\/(registry\.json|sso\/realms\/campus\/protocol\/openid-connect\/certs|staging\/oauth\/certs|\.well-known\/oauth-authorization-server\/sso\/realms\/campus)$/, "GET, HEAD"],
	[/^\/(staging\/)?campus\/info\/v1\/oauth\/info\/?$/, "GET, HEAD"], [/^\/campus\/funding\/v3\/api-docs$/, "GET, HEAD"],
	[/^\/campus\/funding\/v3\/(calls|funders)(\/[^/]+)?$/, "GET, HEAD"]
];
function keepRequest(ctx, route, req) {
	const cut = req.url0.indexOf("?");
	ctx.meta.http = { headers: req.headers, body: typeof req.body === "string" ? req.body : "", url: req.url0,
		query: new URLSearchParams(cut < 0 ? "" : req.url0.slice(cut + 1)) };
}
const remember = (req, res, next) => { req.url0 = req.originalUrl || req.url; next(); };
const common = { use: [remember], mappingPolicy: "restrict", mergeParams: false, onBeforeCall: keepRequest, etag: false,
	bodyParsers: { text: { type: () => true, limit: "64kb" } } };

broker.createService({
	name: "api", mixins: [ApiGateway],
	settings: {
		port: PORT, ip: "127.0.0.1", path: "", etag: false, optimizeOrder: true, logRequest: null, logResponse: null, log4XXResponses: false,
		routes: [
			{ ...common, path: "/campus/funding/v3", name: "guarded", authentication: true, bodyParsers: false,
				aliases: gets([["calls", "funding.list"], ["calls/:callId", "funding.get"], ["funders", "funding.funders"], ["funders/:funderId", "funding.funder"]]) },
			{ ...common, path: "/campus/funding/v3/api-docs", name: "docs", bodyParsers: false, aliases: gets([["/", "funding.spec"]]) },
			{ ...common, path: "/", name: "rest",
				aliases: {
					"POST sso/realms/campus/protocol/openid-connect/token": "sso.token",
					"POST staging/oauth/token": "sso.stagingToken",
					...gets([["registry.json", "funding.registry"], ["sso/realms/campus/protocol/openid-connect/certs", "sso.keys"], ["staging/oauth/certs", "sso.stagingKeys"],
						[".well-known/oauth-authorization-server/sso/realms/campus", "sso.metadata"], ["campus/info/v1/oauth/info", "info.show"],
						["staging/campus/info/v1/oauth/info", "info.staging"]])
				} }
		],
		onError(req, res, err) {
			let answer = err;
			const path = (req.originalUrl || req.url).split("?")[0];
			if (!(err instanceof Answer)) {
				const status = err.code >= 400 && err.code < 500 ? err.code : err.status >= 400 && err.status < 500 ? err.status : err instanceof URIError ? 400 : 500;
				const entry = table.find(([re]) => re.test(path));
				if (status === 404 && entry && !entry[1].split(", ").includes(req.method))
					answer = problem(405, "The resource has no such method.", { Allow: entry[1] });
				else answer = problem(status, status === 404 ? "There is no such resource." : status === 500 ? "The node failed." : "The request cannot be read.");
			}
			const body = Buffer.from(JSON.stringify(answer.body));
			res.writeHead(answer.code, { ...answer.headers, "Content-Length": body.length });
			res.end(req.method === "HEAD" ? undefined : body);
		}
	},
	methods: {
		async authenticate(ctx, route, req) {
			ctx.meta.http.claims = bearer("campus", req.headers);
			return null;
		}
	}
});
broker.start().catch(e => { console.error(e); process.exit(1); });
