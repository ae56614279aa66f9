"use strict";
// The OpenAPI document of the campus funding API.
const { tagNames, targets, funders } = require("./data");

module.exports = function spec(base, traits) {
	const ref = name => ({ $ref: `#/components/schemas/${name}` });
	const resp = name => ({ $ref: `#/components/responses/${name}` });
	const json = schema => ({ "application/json": { schema } });
	const headers = {
		ETag: { description: "Strong entity tag of this representation.", schema: { type: "string" } },
		"Cache-Control": { description: "Always `private, no-cache`.", schema: { type: "string" } }
	};
	const ok = (description, schema) => ({ description, headers, content: json(schema) });
	const ifNone = { $ref: "#/components/parameters/IfNoneMatch" };
	const problems = { 401: resp("Unauthorized"), 403: resp("Forbidden"), 405: resp("MethodNotAllowed") };
	const summary = {
		id: { type: "string", pattern: "^cmp-[0-9]{4}$", example: "cmp-1007" },
		title: { type: "string", minLength: 1 },
		funderId: { type: "string", enum: funders.map(f => f.id) },
		status: ref("CallStatus"),
		deadline: { type: "string", format: "date-time", description: "End of submission, with the offset of Europe/Vienna on that day." },
		publishedOn: { type: "string", format: "date" },
		budget: ref("Budget"),
		tags: { type: "array", items: { type: "string", enum: tagNames }, minItems: 1, uniqueItems: true }
	};
	const detail = {
		...summary,
		description: { type: "string" },
		overheadPercent: { type: "integer", minimum: 0, maximum: 25 },
		durationMonths: { type: "integer", minimum: 6, maximum: 48 },
		targetGroups: { type: "array", items: { type: "string", enum: targets }, minItems: 1 },
		contact: ref("Contact"),
		funder: ref("Funder")
	};
	const query = (name, description, schema, more) => ({ name, in: "query", required: false, description, schema, ...more });
	return {
		openapi: "3.0.3",
		info: {
			title: "Campus funding calls",
			version: "3.2.0",
			description: [
				"Annotated funding calls of the campus node.",
				"**Access.** Tokens come from the token endpoint below (client credentials, by HTTP Basic or in the form body). " +
				(traits.noExpiresIn
					? "Every access token lives exactly 70 seconds from its `iat`; the token response does not repeat this in `expires_in`."
					: "Every access token lives exactly 70 seconds; `expires_in` is the number of seconds that remain to it."),
				"An expired token is refused with 401 by every operation, without leeway, whether it was used before or not.",
				"Only clients with the role EXTERNAL_API_CLIENT may read calls and funders; every other client gets 403, whatever was asked before by whom. " +
				"The role comes with the scope `funding.read`.",
				"A token is meant for one audience: that which is registered for the client. The parameter `resource` (RFC 8707) may be sent to the token " +
				"endpoint; any other audience than the client's own is answered with `invalid_target`. The funding API accepts tokens for " +
				"`urn:campus:funding` only.",
				"**Single values.** A parameter that is not declared as an array may be sent once only, otherwise 400. " +
				(traits.strictQuery ? "Parameters that an operation does not declare are refused with 400, too." : "Parameters that an operation does not declare are ignored."),
				"**Consistency.** What the list says of a call, the single record says, too, with the same values.",
				"**Errors** are problem details (RFC 9457)."
			].join("\n\n")
		},
		servers: [{ url: `${base}/campus/funding/v3` }],
		security: [{ campus: ["funding.read"] }],
		tags: [{ name: "Calls" }, { name: "Funders" }],
		paths: {
			"/calls": {
				get: {
					tags: ["Calls"], operationId: "listCalls", summary: "List funding calls",
					description: "One page of the calls that fulfil all filters. `total` is the number of calls that fulfil them, whatever the page. " +
						"Reading on with `offset` grown by `limit` visits every call once. An offset beyond the end gives an empty page.",
					parameters: [
						query("limit", traits.clamp
							? "Size of the page. A value above 40 is treated as 40; the member `limit` of the answer tells the size that was used."
							: "Size of the page.", traits.clamp ? { type: "integer", minimum: 1, default: 15 } : { type: "integer", minimum: 1, maximum: 40, default: 15 }),
						query("offset", "Number of calls to skip.", { type: "integer", minimum: 0, maximum: 100000, default: 0 }),
						query("sort", "Order; a leading minus sign reverses it. `deadline` compares instants, `title` compares code points, `budget` the amount. " +
							"Equal calls are in the ascending order of their ids.",
							{ type: "string", enum: ["deadline", "-deadline", "title", "-title", "budget", "-budget"], default: "deadline" }),
						query("status", "Calls in one of these states; repeat the parameter for several.", { type: "array", items: ref("CallStatus"), minItems: 1 },
							{ style: "form", explode: true }),
						query("funderId", "Calls of this funder. An unknown funder gives an empty list.", { type: "string", minLength: 1, maxLength: 40 }),
						query("tag", "Calls that carry this tag.", { type: "string", enum: tagNames }),
						query("q", "Text that is found anywhere in the title, without regard to case.", { type: "string", minLength: 1, maxLength: 80 }),
						query("deadlineFrom", "Calls whose deadline (date in Vienna) is this day or later.", { type: "string", format: "date" }),
						query("deadlineTo", "Calls whose deadline (date in Vienna) is this day or earlier; the whole day counts.", { type: "string", format: "date" }),
						query("minBudget", "Calls with a budget of at least this amount.", { type: "integer", minimum: 0, maximum: 1000000000 }),
						ifNone
					],
					responses: { 200: ok("A page of calls.", ref("CallPage")), 304: resp("NotModified"), 400: resp("BadRequest"), ...problems }
				}
			},
			"/calls/{callId}": {
				get: {
					tags: ["Calls"], operationId: "getCall", summary: "Read one funding call",
					parameters: [{ name: "callId", in: "path", required: true, schema: { type: "string", minLength: 1 }, example: "cmp-1007" }, ifNone],
					responses: { 200: ok("The call.", ref("Call")), 304: resp("NotModified"),
						...(traits.strictQuery ? { 400: resp("BadRequest") } : {}), ...problems, 404: resp("NotFound") }
				}
			},
			"/funders": {
				get: {
					tags: ["Funders"], operationId: "listFunders", summary: "List all funders", description: "All funders, by id. Not paged.",
					parameters: [ifNone],
					responses: { 200: ok("The funders.", { type: "object", required: ["funders"], additionalProperties: false,
						properties: { funders: { type: "array", items: ref("Funder") } } }), 304: resp("NotModified"),
					...(traits.strictQuery ? { 400: resp("BadRequest") } : {}), ...problems }
				}
			},
			"/funders/{funderId}": {
				get: {
					tags: ["Funders"], operationId: "getFunder", summary: "Read one funder",
					parameters: [{ name: "funderId", in: "path", required: true, schema: { type: "string", minLength: 1 }, example: "fwf" }, ifNone],
					responses: { 200: ok("The funder.", ref("Funder")), 304: resp("NotModified"),
						...(traits.strictQuery ? { 400: resp("BadRequest") } : {}), ...problems, 404: resp("NotFound") }
				}
			}
		},
		components: {
			securitySchemes: {
				campus: { type: "oauth2", description: "Client credentials.", flows: { clientCredentials: {
					tokenUrl: `${base}/sso/realms/campus/protocol/openid-connect/token`, scopes: { "funding.read": "Read calls and funders." } } } }
			},
			parameters: { IfNoneMatch: { name: "If-None-Match", in: "header", required: false, description: "Entity tags that the client holds.", schema: { type: "string" } } },
			responses: {
				NotModified: { description: "The client's copy is still right.", headers },
				BadRequest: { description: "A parameter is not as declared.", content: { "application/problem+json": { schema: ref("Problem") } } },
				Unauthorized: { description: "No token, or one that is not valid here.",
					headers: { "WWW-Authenticate": { description: "A Bearer challenge (RFC 6750).", schema: { type: "string" } } },
					content: { "application/problem+json": { schema: ref("Problem") } } },
				Forbidden: { description: "The client lacks the role.",
					headers: { "WWW-Authenticate": { description: "A Bearer challenge with insufficient_scope.", schema: { type: "string" } } },
					content: { "application/problem+json": { schema: ref("Problem") } } },
				NotFound: { description: "There is no such record.", content: { "application/problem+json": { schema: ref("Problem") } } },
				MethodNotAllowed: { description: "The resource has no such method.", headers: { Allow: { description: "The methods it has.", schema: { type: "string" } } },
					content: { "application/problem+json": { schema: ref("Problem") } } }
			},
			schemas: {
				CallStatus: { type: "string", enum: ["ANNOUNCED", "OPEN", "CLOSED"] },
				Budget: { type: "object", required: ["amount", "currency"], additionalProperties: false,
					properties: { amount: { type: "integer", minimum: 0 }, currency: { type: "string", enum: ["EUR", "CHF"] } } },
				Contact: { type: "object", required: ["name", "email"], additionalProperties: false,
					properties: { name: { type: "string" }, email: { type: "string", format: "email" } } },
				Funder: { type: "object", required: ["id", "name", "country", "website"], additionalProperties: false,
					properties: { id: { type: "string" }, name: { type: "string" }, country: { type: "string", pattern: "^[A-Z]{2}$" }, website: { type: "string", format: "uri" } } },
				CallSummary: { type: "object", required: Object.keys(summary), additionalProperties: false, properties: summary },
				Call: { type: "object", required: Object.keys(detail), additionalProperties: false, properties: detail },
				CallPage: { type: "object", required: ["total", "limit", "offset", "items"], additionalProperties: false, properties: {
					total: { type: "integer", minimum: 0 }, limit: { type: "integer", minimum: 1, maximum: 40 }, offset: { type: "integer", minimum: 0 },
					items: { type: "array", items: ref("CallSummary"), maxItems: 40 } } },
				Problem: { type: "object", required: ["type", "title", "status"], properties: {
					type: { type: "string", format: "uri-reference" }, title: { type: "string" }, status: { type: "integer" }, detail: { type: "string" },
					parameter: { type: "string", description: "Name of the parameter at fault." } } }
			}
		}
	};
};
