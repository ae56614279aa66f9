package openapi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// noJSON says what the text is instead, as far as its beginning tells, and what to do.
func noJSON(body []byte, cause error) string {
	head := bytes.TrimSpace(body[:min(len(body), 4096)])
	lower := strings.ToLower(string(head))
	switch {
	case len(head) == 0:
		return "the document is empty; serve the OpenAPI document as JSON at this URL"
	case strings.HasPrefix(string(body), "\xff\xfe"), strings.HasPrefix(string(body), "\xfe\xff"):
		return "the document is in UTF-16; JSON is exchanged in UTF-8 (RFC 8259 section 8.1)"
	case head[0] == '<' && strings.Contains(lower, "swagger-ui"):
		return "the URL serves the Swagger UI page, not the document; give the URL that the page loads (springdoc: /v3/api-docs)"
	case head[0] == '<':
		return "the URL serves an HTML or XML page, not a JSON document; give the URL of the document itself"
	case yamlLike(lower):
		return "the document is YAML; serve it as JSON too (the network's document is JSON), and answer Accept: application/json with it"
	case errors.Is(cause, io.ErrUnexpectedEOF), errors.Is(cause, io.EOF):
		return fmt.Sprintf("the JSON ends in the middle, after %d bytes; the answer was cut off or never complete", len(body))
	}
	return "the document is not JSON: " + clip(cause.Error(), 160)
}

func yamlLike(head string) bool {
	for line := range strings.Lines(head) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		for _, start := range []string{"%yaml", "---", "openapi:", "swagger:", "info:"} {
			if strings.HasPrefix(line, start) {
				return true
			}
		}
		return false
	}
	return false
}

func noObject(tree any) string {
	if text, ok := tree.(string); ok {
		if strings.HasPrefix(strings.TrimSpace(text), "{") {
			return "the document is a JSON string that holds JSON: it was encoded twice; serve the object itself"
		}
		return "the document is a JSON string, not an object (springdoc behind a changed message converter sends it in base64); serve the object itself"
	}
	return fmt.Sprintf("the document is JSON %s, not an object", map[string]string{
		"null": "null", "boolean": "true or false", "array": "with a list at the top", "number": "with a number at the top",
	}[jsonType(tree)])
}
