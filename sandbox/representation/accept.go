package representation

import (
	"slices"
	"strings"
)

// Preferred chooses among media types on offer the one that the Accept fields of a request want most (RFC 9110 §12.5.1); empty when they
// want none. Of equally wanted ones, that which is named wins over that which a wildcard lets in, then the earlier one. Without
// fields, all are wanted alike.
func Preferred(fields []string, offers ...string) string {
	if len(fields) == 0 {
		fields = []string{"*/*"}
	}
	wishes := mediaRanges(fields)
	best, chosen := wish{}, ""
	for _, offer := range offers {
		w := wishFor(offer, wishes)
		if w.weight > best.weight || w.weight == best.weight && w.weight > 0 && w.precision > best.precision {
			best, chosen = w, offer
		}
	}
	return chosen
}

// wish is one media range with its weight; the precision is 2 for a type, 1 for "type/*" and 0 for "*/*".
type wish struct {
	kind      string
	weight    float64
	precision int
}

func mediaRanges(fields []string) []wish {
	var all []wish
	for _, field := range fields {
		for item := range strings.SplitSeq(field, ",") {
			kind, parameters, _ := strings.Cut(item, ";")
			w := wish{kind: strings.ToLower(strings.TrimSpace(kind)), weight: weight(parameters), precision: 2}
			switch {
			case w.kind == "*/*":
				w.precision = 0
			case strings.HasSuffix(w.kind, "/*"):
				w.precision = 1
			}
			all = append(all, w)
		}
	}
	return all
}

// wishFor is the most precise wish that an offer meets; none weighs nothing.
func wishFor(offer string, wishes []wish) wish {
	family, _, _ := strings.Cut(offer, "/")
	met := slices.DeleteFunc(slices.Clone(wishes), func(w wish) bool {
		return w.kind != offer && w.kind != family+"/*" && w.kind != "*/*"
	})
	if len(met) == 0 {
		return wish{}
	}
	return slices.MaxFunc(met, func(a, b wish) int { return a.precision - b.precision })
}
