package representation

import (
	"strconv"
	"strings"
)

// AcceptsGzip reads the Accept-Encoding fields of a request and tells whether gzip is acceptable (RFC 9110 §12.5.3).
// An entry for gzip decides; without one, "*" does; a weight of 0 means "not acceptable".
func AcceptsGzip(fields []string) bool {
	star, named := -1.0, -1.0
	for _, field := range fields {
		for item := range strings.SplitSeq(field, ",") {
			coding, parameters, _ := strings.Cut(item, ";")
			switch strings.ToLower(strings.TrimSpace(coding)) {
			case "gzip", "x-gzip":
				named = weight(parameters)
			case "*":
				star = weight(parameters)
			}
		}
	}
	if named >= 0 {
		return named > 0
	}
	return star > 0
}

// weight reads "q=0.5"; absent is 1, malformed is 0, so that a doubtful wish gets the plain form.
func weight(parameters string) float64 {
	for parameter := range strings.SplitSeq(parameters, ";") {
		name, value, found := strings.Cut(strings.TrimSpace(parameter), "=")
		if !found || !strings.EqualFold(strings.TrimSpace(name), "q") {
			continue
		}
		q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		if err != nil || !(q >= 0 && q <= 1) {
			return 0
		}
		return q
	}
	return 1
}

// matches compares the entity tags of If-None-Match with etag by the weak comparison (RFC 9110 §13.1.2).
func matches(fields []string, etag string) bool {
	for _, field := range fields {
		for candidate := range strings.SplitSeq(field, ",") {
			candidate = strings.TrimSpace(candidate)
			if candidate == "*" || strings.TrimPrefix(candidate, "W/") == etag {
				return true
			}
		}
	}
	return false
}
