package main

type m = map[string]any

func ref(n string) m { return m{"$ref": "#/components/schemas/" + n} }
func object(required []string, props m) m {
	return m{"type": "object", "required": required, "properties": props}
}
func array(of m) m { return m{"type": "array", "items": of} }

// document is the OpenAPI document of the funding API.
func document() m {
	str := m{"type": "string"}
	head := func(text string) m { return m{"description": text, "schema": str} }
	failed := func(text string, heads m) m {
		x := m{"description": text, "content": m{"application/json": m{"schema": ref("Error")}}}
		if heads != nil {
			x["headers"] = heads
		}
		return x
	}
	good := func(schema m, heads m) m {
		heads["ETag"], heads["Vary"] = head("The validator of the answer."), head("The request headers that select it.")
		return m{"description": "The answer.", "headers": heads, "content": m{"application/json": m{"schema": schema}}}
	}
	with := func(ok m, more ...m) m {
		all := m{"200": ok, "304": m{"description": "Not modified."}, "405": failed("Only GET, HEAD and OPTIONS.", m{"Allow": head("The methods.")})}
		for _, x := range more {
			for k, v := range x {
				all[k] = v
			}
		}
		return all
	}
	www := m{"WWW-Authenticate": head("The challenge.")}
	guarded := m{"400": failed("The request or its credentials are malformed.", nil), "401": failed("No access token, or one that is not active.", www),
		"503": failed("The token cannot be checked now.", m{"Retry-After": head("Seconds to wait.")})}
	noRole := m{"403": failed("The service account lacks the role.", www)}
	if is("right-hide") {
		noRole = m{"404": failed("There is no such resource, or the service account lacks the role: which one is not told.", nil)}
	}
	none := m{"404": failed("There is no funding with this id.", nil)}
	idType := m{"type": "string", "pattern": "^VTF-[0-9]{4}$"}
	if is("right-bigid") {
		idType = m{"type": "integer", "format": "int64", "minimum": 1}
	}
	unknown := "Unknown parameters are ignored."
	if is("right-strict") {
		unknown = "Unknown parameters are refused with 400. Paths are redirected to their canonical form with 308."
	}
	query := func(name, text string, schema m) m {
		return m{"name": name, "in": "query", "required": false, "description": text, "schema": schema}
	}
	params := []m{
		query("type", "Fundings of this type.", ref("FundingType")),
		query("funderId", "Fundings of the funder with this id.", str),
		query("minAmount", "Fundings whose maxProjectVolume.amount is this number or more.", m{"type": "integer", "minimum": 0, "maximum": 1000000000}),
		query("page", "The number of the page; the first is 1. A page past the end is empty.", m{"type": "integer", "minimum": 1, "maximum": 1000000, "default": 1}),
		query("perPage", "The largest number of fundings on a page.", m{"type": "integer", "minimum": 1, "maximum": 50, "default": 20}),
	}
	id := []m{{"name": "id", "in": "path", "required": true, "description": "The id, as listed.", "schema": idType}}
	listHeads := func() m {
		return m{"Link": head("first, last, prev and next page with the same filters (RFC 8288)."), "X-Total-Count": m{"description": "How many fundings the filters leave, on all pages.", "schema": m{"type": "integer"}}}
	}
	text := "Ordered by id. Filters hold together (AND). " + unknown
	get := func(id, summary, text string, params []m, responses m, open bool) m {
		o := m{"operationId": id, "summary": summary, "description": text, "parameters": params, "responses": responses}
		if open {
			o["security"] = []any{}
		}
		return m{"get": o}
	}
	bad := m{"400": failed("A parameter has a value that is not allowed.", nil)}
	props := m{
		"id": idType, "type": ref("FundingType"), "name": array(ref("Text")), "funder": array(ref("Funder")),
		"maxProjectVolume": object([]string{"currency", "amount"}, m{"currency": str, "amount": m{"type": "number", "minimum": 0}}),
		"deadline":         m{"type": "string", "format": "date-time"}, "updatedAt": m{"type": "string", "format": "date-time"},
	}
	members := []string{"id", "type", "name", "funder", "maxProjectVolume", "deadline", "updatedAt"}
	return m{
		"openapi": "3.0.3", "info": m{"title": "Vest funding API", "version": "3.0"},
		"servers":  []m{{"url": origin + prefix}},
		"security": []m{{"bearer": []string{}}},
		"paths": m{
			"/info/v1/oauth/info/":              get("info", "Whether a token works", "Any valid token of this node will do.", []m{}, with(good(ref("Info"), m{}), guarded), false),
			"/funding/v3/api-docs":              get("apiDocs", "This document", "", []m{}, with(good(m{"type": "object"}, m{})), true),
			"/funding/v3/fundings":              get("listFundings", "Fundings", text, params, with(good(array(ref("Funding")), listHeads()), guarded, noRole), false),
			"/funding/v3/fundings/{id}":         get("getFunding", "One funding", "The members of the list have the same values here.", id, with(good(ref("FundingDetail"), m{}), guarded, noRole, none), false),
			"/try-out/funding/v3/fundings":      get("tryFundings", "Try-out: fundings without a token", text, params, with(good(array(ref("Funding")), listHeads()), bad), true),
			"/try-out/funding/v3/fundings/{id}": get("tryFunding", "Try-out: one funding without a token", "", id, with(good(ref("FundingDetail"), m{}), none), true),
		},
		"components": m{
			"securitySchemes": m{"bearer": m{"type": "http", "scheme": "bearer", "description": "An access token of the node's authorization server at " + origin + realm + " (client credentials)."}},
			"schemas": m{
				"FundingType":   m{"type": "string", "enum": types},
				"Text":          object([]string{"lang", "trans", "text"}, m{"lang": str, "trans": m{"type": "string", "enum": []string{"O", "H", "M"}}, "text": str}),
				"OrgUnit":       object([]string{"id", "name", "website"}, m{"id": str, "name": array(ref("Text")), "website": str}),
				"Funder":        object([]string{"funderType"}, m{"funderType": m{"type": "string", "enum": []string{"EXECUTIVE_ORGANISATION", "JOINT_CALL_PARTNER"}}, "funder": ref("OrgUnit")}),
				"Funding":       object(members, props),
				"FundingDetail": m{"allOf": []m{ref("Funding"), object([]string{"description", "contacts"}, m{"description": array(ref("Text")), "contacts": array(object([]string{"email"}, m{"email": str}))})}},
				"Error":         object([]string{"error"}, m{"error": object([]string{"code", "message"}, m{"code": str, "message": str})}),
				"Info": object([]string{"endpoints"}, m{"endpoints": m{"type": "object", "additionalProperties": array(object([]string{"name", "majorVersion", "minorVersion", "url"},
					m{"name": str, "majorVersion": m{"type": "integer"}, "minorVersion": m{"type": "integer"}, "url": str}))}}),
			},
		},
	}
}
