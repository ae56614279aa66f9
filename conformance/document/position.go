package document

import "strings"

// HoldsNames reports whether the members of the object under this keyword carry names chosen by the document's author, such as
// properties or schemas. A member called "example" or "$ref" in there is a name, not a keyword (OAS 3.0.3 §4.7, Swagger 2.0).
func HoldsNames(keyword string) bool {
	switch keyword {
	case "properties", "patternProperties", "dependentSchemas", "$defs", "definitions",
		"schemas", "responses", "parameters", "requestBodies", "headers", "securitySchemes", "securityDefinitions",
		"links", "callbacks", "pathItems", "paths", "webhooks", "content", "encoding", "variables", "mapping", "scopes":
		return true
	}
	return false
}

// HoldsData reports whether the value under this keyword is plain data, in which a "$ref" is a string like any other.
func HoldsData(keyword string) bool {
	switch keyword {
	case "example", "examples", "enum", "const", "default":
		return true
	}
	return strings.HasPrefix(keyword, "x-")
}
