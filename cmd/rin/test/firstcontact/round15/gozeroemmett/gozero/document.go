package main

import "strings"

type object = map[string]any

func ref(kind, name string) object { return object{"$ref": "#/components/" + kind + "/" + name} }

func objectOf(props object, optional ...string) object {
	req := []string{}
	for k := range props {
		skip := false
		for _, o := range optional {
			skip = skip || o == k
		}
		if !skip {
			req = append(req, k)
		}
	}
	sortStrings(req)
	return object{"type": "object", "required": req, "properties": props, "additionalProperties": false}
}

func sortStrings(s []string) {
	for i := range s {
		for j := i; j > 0 && s[j] < s[j-1]; j-- {
			s[j], s[j-1] = s[j-1], s[j]
		}
	}
}

func str(extra ...any) object {
	o := object{"type": "string"}
	for i := 0; i+1 < len(extra); i += 2 {
		o[extra[i].(string)] = extra[i+1]
	}
	return o
}

func arrayOf(items object) object { return object{"type": "array", "items": items} }

func (a *app) operation(id, summary, descr, schema string, params []param, path ...object) object {
	list := []any{}
	for _, p := range path {
		list = append(list, p)
	}
	for _, p := range params {
		o := object{"name": p.name, "in": "query", "required": false, "description": p.descr, "schema": p.schema()}
		if p.kind == "list" {
			o["style"], o["explode"] = "form", false
		}
		list = append(list, o)
	}
	list = append(list, ref("parameters", "IfNoneMatch"), ref("parameters", "IfMatch"))
	responses := object{
		"200": object{"description": "OK", "headers": object{"ETag": ref("headers", "ETag")},
			"content": object{"application/json": object{"schema": ref("schemas", schema)}}},
		"304": object{"description": "The representation is the one that the client has (If-None-Match).", "headers": object{"ETag": ref("headers", "ETag")}},
		"400": ref("responses", "BadRequest"),
		"401": ref("responses", "Unauthorized"),
		"403": ref("responses", "Forbidden"),
		"412": ref("responses", "PreconditionFailed"),
	}
	if len(path) > 0 {
		responses["404"] = ref("responses", "NotFound")
	}
	return object{"get": object{"operationId": id, "summary": summary, "description": descr, "tags": []string{"funding"},
		"parameters": list, "responses": responses, "security": []any{object{"oauth": []string{"funding"}}}}}
}

func (a *app) document() object {
	problemOf := func(descr string, headers object) object {
		o := object{"description": descr, "content": object{"application/problem+json": object{"schema": ref("schemas", "Problem")}}}
		if headers != nil {
			o["headers"] = headers
		}
		return o
	}
	www := object{"WWW-Authenticate": object{"description": "RFC 6750", "required": true, "schema": str()}}
	idParam := func(what, pattern string) object {
		return object{"name": "id", "in": "path", "required": true, "description": "The id of a " + what + ". Any other id is answered by 404.", "schema": str("example", pattern)}
	}
	date := str("format", "date")
	pageOf := func(item string) object {
		return objectOf(object{
			"total":  object{"type": "integer", "minimum": 0, "description": "How many results there are on all pages."},
			"offset": object{"type": "integer", "minimum": 0},
			"limit":  object{"type": "integer", "minimum": 1, "maximum": 100},
			"next":   str("nullable", true, "format", "uri-reference", "description", "Where the next page is, with the same filters and order; null on the last page and beyond it."),
			"items":  object{"type": "array", "maxItems": 100, "items": ref("schemas", item)},
		})
	}
	callID := "^AUS-[0-9]{4}$"
	funderID := "^FG-[0-9]{2}$"
	counts := func(names []string) object {
		props := object{}
		for _, n := range names {
			props[n] = object{"type": "integer", "minimum": 0}
		}
		return objectOf(props)
	}
	budget := objectOf(object{"amount": object{"type": "number", "minimum": 0}, "currency": str("enum", []string{"EUR"})})
	budget["nullable"] = true
	doc := object{
		"openapi": "3.0.3",
		"info": object{"title": "Förderausschreibungen ALP", "version": "3.4.0",
			"description": "Funding calls of the node ALP. Tokens come from the token endpoint by client credentials, live for 75 seconds and need the role EXTERNAL_API_CLIENT. " +
				"A query parameter that an operation does not name, that is repeated, or whose value is not one of its schema is answered by 400. " +
				"Twelve wrong secrets for one client within a minute lock this client out of the token endpoint, and no other: 429 with Retry-After, after which the right secret is accepted. " +
				"Each operation answers HEAD as GET, without the content; OPTIONS names the methods, and any other method is answered by 405. " +
				"Answers of 200 have a strong entity tag and may be coded with gzip (Accept-Encoding). " +
				"Pages: offset and limit; total, the items and the address of the next page are in the answer."},
		"servers": []any{object{"url": apiRoot}},
		"tags":    []any{object{"name": "funding"}},
		"paths": object{
			"/v3/calls":              a.operation("listCalls", "Lists the calls", "All filters that are given must hold. Without sort the order is by deadline.", "CallPage", callParams),
			"/v3/calls/{id}":         a.operation("getCall", "Reads a call", "The call as in the list.", "Call", nil, idParam("call", "AUS-1003")),
			"/v3/funders":            a.operation("listFunders", "Lists the funders", "In the order of their ids.", "FunderPage", pageParams),
			"/v3/funders/{id}":       a.operation("getFunder", "Reads a funder", "The funder as in the list.", "Funder", nil, idParam("funder", "FG-01")),
			"/v3/funders/{id}/calls": a.operation("listFunderCalls", "Lists the calls of a funder", "In the order of their ids.", "CallPage", pageParams, idParam("funder", "FG-01")),
			"/v3/deadlines":          a.operation("listDeadlines", "Lists the deadlines", "Every day on which at least one call has its deadline, in ascending order, on one page.", "Deadlines", dateRange),
			"/v3/statistics":         a.operation("getStatistics", "Counts the calls", "Counts over all calls of the node. A call counts for each of its topics. The budget is the sum of the budgets of all calls.", "Statistics", nil),
		},
		"components": object{
			"securitySchemes": object{"oauth": object{"type": "oauth2", "flows": object{"clientCredentials": object{
				"tokenUrl": a.origin + "/realms/foerderung/protocol/openid-connect/token", "scopes": object{"funding": "Read funding calls"}}}}},
			"headers": object{"ETag": object{"description": "The strong entity tag of the representation.", "required": true, "schema": str()}},
			"parameters": object{
				"IfNoneMatch": object{"name": "If-None-Match", "in": "header", "required": false, "description": "Entity tags that the client has, or *.", "schema": str()},
				"IfMatch":     object{"name": "If-Match", "in": "header", "required": false, "description": "Entity tags of which one must be the current one, or *.", "schema": str()},
			},
			"responses": object{
				"BadRequest":         problemOf("The query breaks a rule of this document.", nil),
				"Unauthorized":       problemOf("The token is missing, malformed, expired, or meant for another service.", www),
				"Forbidden":          problemOf("The account lacks the role EXTERNAL_API_CLIENT.", www),
				"NotFound":           problemOf("There is no such resource.", nil),
				"PreconditionFailed": problemOf("If-Match names no current entity tag.", nil),
			},
			"schemas": object{
				"Problem": objectOf(object{"type": str("format", "uri-reference"), "title": str(), "status": object{"type": "integer", "minimum": 400, "maximum": 599},
					"detail": str(), "parameter": str("description", "The name of the query parameter.")}, "parameter"),
				"Money":     objectOf(object{"amount": object{"type": "number", "minimum": 0}, "currency": str("enum", []string{"EUR"})}),
				"Reference": objectOf(object{"id": str("pattern", funderID), "name": str("minLength", 1)}),
				"Call": objectOf(object{
					"id": str("pattern", callID), "title": str("minLength", 1), "summary": str("minLength", 1), "status": str("enum", statuses),
					"funder": ref("schemas", "Reference"), "opens": date,
					"deadline":  str("format", "date", "nullable", true, "description", "null: applications are possible at any time."),
					"budget":    budget,
					"topics":    object{"type": "array", "minItems": 1, "uniqueItems": true, "items": str("enum", topicPool)},
					"updatedAt": str("format", "date-time")}),
				"Funder": objectOf(object{"id": str("pattern", funderID), "name": str("minLength", 1), "city": str("minLength", 1), "website": str("format", "uri"),
					"calls": object{"type": "integer", "minimum": 0, "description": "How many calls the funder has."}}),
				"CallPage":   pageOf("Call"),
				"FunderPage": pageOf("Funder"),
				"Deadlines": objectOf(object{"deadlines": arrayOf(objectOf(object{"date": date,
					"calls": object{"type": "array", "minItems": 1, "description": "The ids of the calls, in ascending order.", "items": str("pattern", callID)}}))}),
				"Statistics": objectOf(object{"calls": object{"type": "integer", "minimum": 0}, "byStatus": counts(statuses), "byTopic": counts(topicPool), "budget": ref("schemas", "Money")}),
			},
		},
	}
	if node == "gozero-mosel" {
		info := doc["info"].(object)
		info["description"] = strings.Replace(info["description"].(string), "live for 75 seconds", "live for 75 seconds (for half a minute the token endpoint gives a client the same token again; expires_in says how many seconds are left of it)", 1)
	}
	return doc
}
