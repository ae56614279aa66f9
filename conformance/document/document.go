package document

import "encoding/json"

// Document is what rin needs to know of an OpenAPI 3 or Swagger 2.0 document.
type Document struct {
	Version    string // the value of "openapi" or "swagger"; empty when missing
	Title      string
	APIVersion string // info.version
	Servers    []string
	// Operations of all methods, in the order of paths as they stand in the document, then of methods.
	Operations []Operation
	// Schemes are the names under securitySchemes (or securityDefinitions), with their types.
	Schemes map[string]string
	// Security is the default requirement; nil when not declared.
	Security *Security

	root    map[string]any
	anchors map[string]string // $anchor name to pointer
	refs    []Ref
	budget  int // schema nodes that may still be read
}

// Operation is one method on one path.
type Operation struct {
	Key        string // safe in a label: Slug of operationId, or of method and path; unique in the document
	ID         string // operationId as declared, may be empty
	Method     string // upper case
	Path       string // template as declared
	Pointer    string // RFC 6901 pointer to the operation object
	Tags       []string
	Parameters []Parameter // path-item and operation level merged, $ref resolved
	Responses  map[string]Response
	HasBody    bool      // a required request body
	Security   *Security // effective: the operation's own, else the document's; nil when neither declares one
	Deprecated bool
}

// Security is a declared security requirement; Open is true for an empty list or an empty alternative.
type Security struct {
	Open    bool
	Schemes []string
}

// Parameter is one declared parameter.
type Parameter struct {
	Name, In string // In: query, path, header, cookie
	Required bool
	Schema   Schema
}

// Response is one declared answer: media type to schema.
type Response struct {
	Content map[string]Schema
}

// Schema is the little of a schema that planning needs, $ref and single allOf resolved to bounded depth.
type Schema struct {
	Declared bool   // false when there is no schema at all
	Dangling string // the $ref that does not resolve
	Type     string // array, object, string, integer, number, boolean; empty when not said
	Format   string
	Enum     []string
	Minimum  *float64
	Maximum  *float64
	// ExclusiveMinimum and ExclusiveMaximum say that the bound itself is not allowed, whichever way the version writes it.
	ExclusiveMinimum, ExclusiveMaximum bool
	MultipleOf                         *float64
	MinLength, MaxLength               *int
	Pattern                            string
	Default                            json.RawMessage
	// Items is the schema of array members; Properties those of an object.
	Items      *Schema
	Properties map[string]Schema
	Required   []string
}
