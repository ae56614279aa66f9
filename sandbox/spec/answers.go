package spec

import (
	"strings"

	"github.com/rin-network/rin/sandbox/problem"
)

// jsonAnswer is a success with a JSON body.
func jsonAnswer(description string, schema, examples node) node {
	media := node{"schema": schema}
	if examples != nil {
		media["examples"] = examples
	}
	return node{
		"description": description,
		"headers": node{
			"ETag":          unpromised(header("The validator of the answer, for If-None-Match.", `"bS9Sxmyq2sHwSx4u"`)),
			"Cache-Control": unpromised(header("How long caches may keep the answer; guarded data is private.", "private, no-cache")),
			"Vary":          unpromised(header("The request headers that select the answer.", "Accept-Encoding, Authorization")),
		},
		"content": node{"application/json": media},
	}
}

// linked adds the links between pages to an answer, which only requests with paging parameters get.
func linked(answer node) node {
	link := header("With paging parameters, the links to the first, the previous and the next page (RFC 8288); the last page has no next one.",
		`</ris-synergy/funding/v3/fundings?page%5Bpage%5D=2&page%5Bsize%5D=2>; rel="next"`)
	link["required"] = false
	if headers, ok := answer["headers"].(node); ok {
		headers["Link"] = link
	}
	return answer
}

// problemAnswer is an error with a body in the shape of the node's errors, such as the example.
func (d Description) problemAnswer(description string, example problem.Problem, headers node) node {
	schema := "Problem"
	if d.Errors == problem.ShapeText {
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

// methodNotAllowed describes what other methods get at the path of an operation.
func (d Description) methodNotAllowed() node {
	allowed := []string{"GET", "HEAD", "OPTIONS"}
	return d.problemAnswer("The method is not GET, HEAD or OPTIONS.", problem.MethodNotAllowed("POST", allowed),
		node{"Allow": header("The methods that the resource takes.", strings.Join(allowed, ", "))})
}

// header describes a header that the answer always has.
func header(description, example string) node {
	return node{"description": description, "required": true, "schema": text(), "example": example}
}

// unpromised lets a described header be missing: proxies on the way drop and change it, and clients do without.
func unpromised(header node) node {
	header["required"] = false
	return header
}
