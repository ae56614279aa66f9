package content

import (
	"slices"
	"strconv"
	"strings"
)

// AcceptsGzip reports whether the Accept-Encoding fields of a request accept gzip (RFC 9110 §12.5.3). An entry for
// gzip takes precedence over "*"; a weight of 0 means "not acceptable".
func AcceptsGzip(fields []string) bool {
	const absent = -1.0
	star, named := absent, absent
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
	if named != absent {
		return named > 0
	}
	return star > 0
}

// weight returns the weight among parameters, such as "q=0.5": 1 if it is absent, 0 if it is malformed.
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

// matchesETag reports whether the If-None-Match fields list etag or "*", by the weak comparison (RFC 9110 §13.1.2).
func matchesETag(fields []string, etag string) bool {
	for _, field := range fields {
		for candidate := range strings.SplitSeq(field, ",") {
			candidate = strings.TrimSpace(candidate)
			if candidate == "*" || strings.TrimPrefix(candidate, "W/") == strings.TrimPrefix(etag, "W/") {
				return true
			}
		}
	}
	return false
}

// Preferred returns the offered media type that the Accept headers of a request prefer (RFC 9110 §12.5.1); "" when they accept none of the offers. Of equal
// weights, the named type takes precedence over a wildcard, then the earlier offer. Without headers, all offers are equal.
func Preferred(fields []string, offers ...string) string {
	if len(fields) == 0 {
		fields = []string{"*/*"}
	}
	ranges := mediaRanges(fields)
	best, chosen := mediaRange{}, ""
	for _, offer := range offers {
		r := matchingRange(offer, ranges)
		isMorePrecise := r.weight == best.weight && r.weight > 0 && r.precision > best.precision
		if r.weight > best.weight || isMorePrecise {
			best, chosen = r, offer
		}
	}
	return chosen
}

// mediaRange is one media range with its weight; the precision is 2 for a type, 1 for "type/*" and 0 for "*/*".
type mediaRange struct {
	kind      string
	weight    float64
	precision int
}

// mediaRanges reads the media ranges of Accept fields.
func mediaRanges(fields []string) []mediaRange {
	var all []mediaRange
	for _, field := range fields {
		for item := range strings.SplitSeq(field, ",") {
			kind, parameters, _ := strings.Cut(item, ";")
			r := mediaRange{kind: strings.ToLower(strings.TrimSpace(kind)), weight: weight(parameters), precision: 2}
			switch {
			case r.kind == "*/*":
				r.precision = 0
			case strings.HasSuffix(r.kind, "/*"):
				r.precision = 1
			}
			all = append(all, r)
		}
	}
	return all
}

// matchingRange returns the most precise range that includes an offer; without one the weight is 0.
func matchingRange(offer string, ranges []mediaRange) mediaRange {
	family, _, _ := strings.Cut(offer, "/")
	matching := slices.DeleteFunc(slices.Clone(ranges), func(r mediaRange) bool {
		return r.kind != offer && r.kind != family+"/*" && r.kind != "*/*"
	})
	if len(matching) == 0 {
		return mediaRange{}
	}
	return slices.MaxFunc(matching, func(a, b mediaRange) int { return a.precision - b.precision })
}
