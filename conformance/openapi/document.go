// Package openapi holds a node's OpenAPI document as data.
// [Guard] reduces the text that a node serves to a copy of bounded size and depth, without examples, extensions and references to other documents.
// [Parse] reads its operations for planning, discovery and the requirements on the document. [Document.Translate] turns a schema into JSON
// Schema, which openapi/validate applies to answers. The package also reads lists, pages and links out of answers, so that probes and
// requirements see the same items. All work is bounded, and nothing is fetched.
package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
)

// Document is the content of an OpenAPI 3 or Swagger 2.0 document that rin uses.
type Document struct {
	Version    string // the value of "openapi" or "swagger"; empty when missing
	Title      string
	APIVersion string   // info.version
	Servers    []string // URLs with the defaults of their variables; nil if the document names none
	// Operations has one entry for each method of each path, in the order of the paths in the document.
	Operations []Operation
	// Schemes are the names under securitySchemes (or securityDefinitions), with their types.
	Schemes map[string]string
	// Security is the default requirement; nil if not declared.
	Security *Security
	// Scopes are those that a client can have for its own credentials.
	Scopes []string

	root    map[string]any
	anchors map[string]string // $anchor name to pointer
	refs    []Ref
	// subtypes lists the named schemas that extend a schema by allOf, by the pointer of that schema.
	subtypes map[string][]string
	budget   int // schema nodes that may still be read
}

// Operation is one method on one path.
type Operation struct {
	Key          string // safe in a label: Slug of operationId, or of method and path; unique in the document
	ID           string // operationId as declared, may be empty
	Method       string // upper case
	Path         string // template as declared
	Pointer      string // RFC 6901
	Tags         []string
	Description  string      // summary and description, up to a bound
	Parameters   []Parameter // path-item and operation level merged, $ref resolved
	Responses    map[string]Response
	RequiresBody bool      // a required request body
	Security     *Security // the operation's own, else the document's; nil if neither declares one
	Deprecated   bool
	// Servers are those of the operation, else of its path, else of the document (OAS 3.0.3 Server Object); nil if no server is declared.
	Servers []string
	// OwnServers reports whether the operation or its path names the servers.
	OwnServers bool
}

// Security is a declared security requirement; Open is true for an empty list or an empty alternative.
type Security struct {
	Open    bool
	Schemes []string
	// Scopes are those of OAuth 2.0 or OpenID Connect that each alternative asks for.
	Scopes []string
}

// Parameter is one declared parameter.
type Parameter struct {
	Name, In string // In: query, path, header, cookie
	Required bool
	Schema   Schema
	// Description is what the document says of it in prose, up to a bound.
	Description string
	// Separator separates the values of an array in a query; "" repeats the parameter for each value (OAS 3.0.3 Parameter Object, style and explode;
	// collectionFormat of Swagger 2.0).
	Separator string
}

// Response is one declared answer: media type to schema.
type Response struct {
	Content map[string]Schema
	// Description is what the document says of it in prose, up to a bound.
	Description string
}

// Schema is the part of a schema that planning uses, with $ref and allOf resolved to a bounded depth.
type Schema struct {
	Declared bool   // false without a schema
	Dangling string // the $ref that does not resolve
	Type     string // array, object, string, integer, number, boolean; "" if not declared
	Format   string
	Enum     []string
	Minimum  *float64
	Maximum  *float64
	// ExclusiveMinimum and ExclusiveMaximum report whether the bound itself is excluded.
	ExclusiveMinimum, ExclusiveMaximum bool
	MultipleOf                         *float64
	MinLength, MaxLength               *int
	MinItems, MaxItems                 *int
	Pattern                            string
	Default                            json.RawMessage
	// Examples are the scalar values that the document gives as examples.
	Examples []string
	// Items is the schema of the members of an array; Properties are those of the members of an object.
	Items      *Schema
	Properties map[string]Schema
	Required   []string
	// Subtypes reports whether a value follows one of several schemas, by oneOf, anyOf or a discriminator.
	Subtypes bool
	// Partial reports that the schema restricts values in ways that the other fields do not hold, such as not, if or a second pattern.
	Partial bool
}

// schemaBudget bounds the schema nodes of one document: with references a short text can describe a huge tree.
const schemaBudget = 200_000

// ErrNoObject reports JSON that is not an object.
var ErrNoObject = errors.New("an API document must be one JSON object")

// Parse reads a document, even an invalid one: missing or mistyped parts stay empty. It fails only if the text is not a JSON object. If a
// member name is repeated, the last member counts, as in [Guard].
func Parse(reduced []byte) (*Document, error) {
	var value any
	if err := evidence.DecodeJSON(reduced, &value); err != nil {
		return nil, fmt.Errorf("read API document: %w", err)
	}
	root, ok := value.(map[string]any)
	if !ok {
		return nil, ErrNoObject
	}
	d := &Document{root: root, budget: schemaBudget}
	d.index()
	d.subtypes = d.indexSubtypes()
	d.readHead()
	d.readServers()
	d.readSecurity()
	d.readOperations(pathOrder(reduced))
	return d, nil
}

// readHead reads the version of the format, and title and version of the API.
func (d *Document) readHead() {
	d.Version = stringValue(d.root["openapi"])
	if d.Version == "" {
		d.Version = stringValue(d.root["swagger"])
	}
	info, _ := d.root["info"].(map[string]any)
	d.Title, d.APIVersion = stringValue(info["title"]), stringValue(info["version"])
}

// isSwagger reports whether the document is Swagger 2.0.
func (d *Document) isSwagger() bool {
	return d.root["openapi"] == nil && strings.HasPrefix(stringValue(d.root["swagger"]), "2")
}

// pathOrder lists the keys of "paths" in the order of the text. If "paths" is repeated, the last one counts.
func pathOrder(reduced []byte) []string {
	var order []string
	for name, paths := range members(reduced) {
		if name != "paths" {
			continue
		}
		order = nil
		for path := range members(paths) {
			order = append(order, path)
		}
	}
	return order
}

// stringValue returns a string, or a number as text, since some documents write versions as numbers; "" for other values.
func stringValue(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

func isTrue(value any) bool { b, ok := value.(bool); return ok && b }

func stringValues(value any) []string {
	list, _ := value.([]any)
	var out []string
	for _, v := range list {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// readServers reads the servers of the document, or schemes, host and basePath of Swagger 2.0: without schemes the URL begins with "//", without
// host it is a path.
func (d *Document) readServers() {
	if d.isSwagger() {
		d.Servers = d.swaggerServers()
		return
	}
	d.Servers = servers(d.root["servers"])
}

// servers reads a list of servers: each URL with the defaults of its variables (OAS 3.0.3 Server Object); nil without a usable one.
func servers(value any) []string {
	var out []string
	list, _ := value.([]any)
	for _, item := range list {
		server, _ := item.(map[string]any)
		address, ok := server["url"].(string)
		if !ok {
			continue
		}
		variables, _ := server["variables"].(map[string]any)
		for _, name := range sortedKeys(variables) {
			variable, _ := variables[name].(map[string]any)
			if value := stringValue(variable["default"]); value != "" && len(address) < 4096 {
				address = strings.ReplaceAll(address, "{"+name+"}", value)
			}
		}
		out = append(out, address)
	}
	return out
}

func (d *Document) swaggerServers() []string {
	host, base := stringValue(d.root["host"]), stringValue(d.root["basePath"])
	switch {
	case host == "" && base == "":
		return nil
	case host == "":
		return []string{base}
	}
	schemes := stringValues(d.root["schemes"])
	if len(schemes) == 0 {
		return []string{"//" + host + base}
	}
	var out []string
	for _, scheme := range schemes {
		out = append(out, scheme+"://"+host+base)
	}
	return out
}

func (d *Document) readSecurity() {
	d.Schemes = map[string]string{}
	components, _ := d.root["components"].(map[string]any)
	declared := components["securitySchemes"]
	if d.isSwagger() {
		declared = d.root["securityDefinitions"]
	}
	schemes, _ := declared.(map[string]any)
	for name, value := range schemes {
		scheme, _ := d.resolve(value)
		d.Schemes[name] = stringValue(scheme["type"])
		flows, _ := scheme["flows"].(map[string]any)
		granted, _ := flows["clientCredentials"].(map[string]any)
		if d.isSwagger() {
			granted = scheme
		}
		scopes, _ := granted["scopes"].(map[string]any)
		d.Scopes = append(d.Scopes, slices.Collect(maps.Keys(scopes))...)
	}
	slices.Sort(d.Scopes)
	d.Scopes = slices.Compact(d.Scopes)
	d.Security = d.security(d.root["security"])
}

// security reads a list of alternatives; nil if the value is not a list. An empty alternative makes the whole requirement optional.
func (d *Document) security(value any) *Security {
	list, ok := value.([]any)
	if !ok {
		return nil
	}
	s := &Security{Open: len(list) == 0}
	first := true
	for _, item := range list {
		alternative, ok := item.(map[string]any)
		if !ok {
			continue
		}
		if len(alternative) == 0 {
			s.Open = true
		}
		var scopes []string
		for name, wanted := range alternative {
			if !slices.Contains(s.Schemes, name) {
				s.Schemes = append(s.Schemes, name)
			}
			if kind := d.Schemes[name]; kind == "oauth2" || kind == "openIdConnect" {
				scopes = append(scopes, stringValues(wanted)...)
			}
		}
		if first {
			s.Scopes, first = scopes, false
		} else {
			s.Scopes = slices.DeleteFunc(s.Scopes, func(scope string) bool { return !slices.Contains(scopes, scope) })
		}
	}
	slices.Sort(s.Schemes)
	slices.Sort(s.Scopes)
	s.Scopes = slices.Compact(s.Scopes)
	return s
}
