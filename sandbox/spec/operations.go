package spec

import (
	"maps"
	"strconv"
	"strings"

	"github.com/rin-network/rin/fixtures/model"
	"github.com/rin-network/rin/sandbox/content"
	"github.com/rin-network/rin/sandbox/funding"
)

// examplePageSize is the size of the page in examples.
const examplePageSize = 5

func (d Description) infoOperation() node {
	return d.operation(node{
		"operationId": "getInfo",
		"tags":        list{"Info"},
		"summary":     "The endpoints of the node, and the test whether a token works",
		"description": "Any good token opens it, no role is needed. A Content-Type on this request without a body is accepted.",
		"responses":   d.responses(jsonAnswer("The endpoints by family.", ref("Info"), d.infoExamples()), false, nil),
	})
}

func (d Description) specOperation() node {
	operation := node{
		"operationId": "getApiDocs",
		"tags":        list{"Documentation"},
		"summary":     "This document",
		"security":    list{},
		"responses": node{
			"200": jsonAnswer("The OpenAPI document.", object("An OpenAPI document.", []string{"openapi", "info", "paths"},
				node{"openapi": text(), "info": node{"type": "object"}, "paths": node{"type": "object"}}), nil),
			"304": notModified(),
			"405": d.methodNotAllowed(),
		},
	}
	if answers, ok := operation["responses"].(node); ok && d.Limited {
		answers["429"] = d.tooManyRequests()
	}
	return operation
}

func (d Description) listOperation() node {
	return d.operation(node{
		"operationId": "findAll",
		"tags":        list{"Fundings"},
		"summary":     "The fundings, filtered and paged",
		"description": "All fundings in the order of their ids. Filters hold together (AND); an empty value counts as absent, " +
			"an unknown parameter is ignored. Without paging parameters the whole list is answered. A page past the end is an empty array.",
		"parameters": d.listParameters(),
		"responses": d.responses(withLinks(jsonAnswer("The requested fundings.", arrayOf(ref("Funding")),
			d.listExamples())), true, node{
			"400": d.problemAnswer("A parameter has a value that is not allowed, or the credentials are malformed.",
				content.BadParameter(funding.ParamScope, "it is not in the vocabulary", []string{string(model.ScopeNational), string(model.ScopeRegional)}), nil),
		}),
	})
}

func (d Description) detailOperation() node {
	return d.operation(node{
		"operationId": "findByKey",
		"tags":        list{"Fundings"},
		"summary":     "One funding",
		"parameters":  list{parameter("id", "path", "The id of the funding, as listed.", node{"type": "string", "minLength": 1}, d.FundingID)},
		"responses": d.responses(jsonAnswer("The funding.", ref("Funding"), d.detailExamples()), true, node{
			"404": d.problemAnswer("There is no funding with this id.",
				content.NotFound("there is no funding with this id", "the list of fundings names the ids that exist"), nil),
		}),
	})
}

func (d Description) listParameters() list {
	filter := func(name, description string, schema node, example any) node {
		p := parameter(name, "query", description, schema, example)
		p["allowEmptyValue"] = true
		return p
	}
	page := "The number of records to skip: the first page is 0, the next one is as far on as page[size]."
	if d.Paging == funding.PagingNumber {
		page = "The number of the page, from 0."
	}
	return list{
		filter(funding.ParamType, "Fundings of this type.", ref("FundingType"), model.TypeCall),
		filter(funding.ParamGroup, "Fundings for this target group.", ref("TargetGroup"), model.GroupUniversity),
		filter(funding.ParamRunning, "true: calls whose first stage has begun and not ended; a call without an end runs. "+
			"false: the other calls. Any case is accepted.", node{"type": "boolean"}, true),
		filter(funding.ParamRegion, "Calls for applicants from this province.", ref("EligibleApplicantsRegion"), model.RegionVienna),
		filter(funding.ParamFunder, "Fundings of the funder with this id.", node{"type": "string", "maxLength": funding.MaxFunderLength}, d.FunderID),
		filter(funding.ParamScope, "Calls for applicants of this scope.", ref("EligibleApplicantsScope"), model.ScopeNational),
		filter(funding.ParamPage, page, node{"type": "integer", "format": "int32", "minimum": 0, "maximum": funding.MaxPage}, 0),
		filter(funding.ParamSize, "The largest number of records in the answer; "+strconv.Itoa(funding.DefaultPageSize)+" when only page[page] is given.",
			node{"type": "integer", "format": "int32", "minimum": 1, "maximum": funding.MaxPageSize}, examplePageSize),
	}
}

func parameter(name, in, description string, schema node, example any) node {
	p := node{"name": name, "in": in, "required": in == "path", "description": description, "schema": schema}
	if example != "" {
		p["example"] = example
	}
	return p
}

// operation adds the security of the space; the try-out space has none.
func (d Description) operation(o node) node {
	if d.TryOut {
		o["security"] = list{}
	}
	return o
}

// responses adds the answers of the guard, the permission check and HTTP to those of an operation.
func (d Description) responses(ok node, roleNeeded bool, others node) node {
	all := node{"200": ok, "304": notModified(), "405": d.methodNotAllowed()}
	if !d.TryOut {
		challenge := node{"WWW-Authenticate": header("The challenge (RFC 6750 §3).", `Bearer realm="`+d.Places.Realm+`"`)}
		all["400"] = d.problemAnswer("The credentials are malformed.",
			content.BadRequest("no access token follows the word Bearer", "send the header 'Authorization: Bearer <access token>'"), nil)
		all["401"] = d.problemAnswer("There is no access token, or it is not good.",
			content.Unauthorized("the request has no access token", "send the header 'Authorization: Bearer <access token>'"), challenge)
		if roleNeeded {
			all["403"] = d.problemAnswer("The service account lacks the role "+model.RoleExternalAPIClient+" or an affiliation ID.",
				content.Forbidden("the service account lacks the role "+model.RoleExternalAPIClient, "the operator of the funding service grants the role"), challenge)
		}
	}
	if d.Limited {
		all["429"] = d.tooManyRequests()
	}
	maps.Copy(all, others)
	return all
}

// tooManyRequests describes the answer to a request beyond the rate limit.
func (d Description) tooManyRequests() node {
	return d.problemAnswer("The caller sends more requests than the rate limit allows.",
		content.TooManyRequests("the client of this token sends more than 5 requests a minute", "wait 12 s, as Retry-After says, and repeat the request then"),
		node{"Retry-After": header("The seconds until the next request is admitted (RFC 9110 §10.2.3).", "12")})
}

// jsonAnswer describes a success with a JSON body.
func jsonAnswer(description string, schema, examples node) node {
	media := node{"schema": schema}
	if examples != nil {
		media["examples"] = examples
	}
	return node{
		"description": description,
		"headers": node{
			"ETag":          optional(header("The validator of the answer, for If-None-Match.", `"bS9Sxmyq2sHwSx4u"`)),
			"Cache-Control": optional(header("How long caches may keep the answer; protected data is private.", "private, no-cache")),
			"Vary":          optional(header("The request headers that select the answer.", "Accept-Encoding, Authorization")),
		},
		"content": node{"application/json": media},
	}
}

// withLinks adds the links between pages to an answer. They are optional: only requests with paging parameters get them.
func withLinks(answer node) node {
	link := header("With paging parameters, the links to the first, the previous and the next page (RFC 8288); the last page has no next one.",
		`</ris-synergy/funding/v3/fundings?page%5Bpage%5D=2&page%5Bsize%5D=2>; rel="next"`)
	link["required"] = false
	if headers, ok := answer["headers"].(node); ok {
		headers["Link"] = link
	}
	return answer
}

// problemAnswer describes an error in the shape of the node's errors, with an example.
func (d Description) problemAnswer(description string, example content.Problem, headers node) node {
	schema := "Problem"
	if d.Errors == content.ShapeText {
		schema = "Error"
	}
	answer := node{
		"description": description,
		"content":     node{d.Errors.MediaType(): node{"schema": ref(schema), "example": d.Errors.Body(example)}},
	}
	if headers != nil {
		answer["headers"] = headers
	}
	return answer
}

func notModified() node {
	return node{"description": "The caller has the answer already (If-None-Match)."}
}

// methodNotAllowed describes the answer to other methods at the path of an operation.
func (d Description) methodNotAllowed() node {
	allowed := []string{"GET", "HEAD", "OPTIONS"}
	return d.problemAnswer("The method is not GET, HEAD or OPTIONS.", content.MethodNotAllowed("POST", allowed),
		node{"Allow": header("The methods that the resource takes.", strings.Join(allowed, ", "))})
}

// header describes a header that the answer always has.
func header(description, example string) node {
	return node{"description": description, "required": true, "schema": text(), "example": example}
}

// optional makes a header optional in the document, because proxies drop and change it.
func optional(header node) node {
	header["required"] = false
	return header
}
