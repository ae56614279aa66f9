package described

import (
	"strconv"
	"strings"

	"github.com/rin-network/rin/sandbox/described/content"
	"github.com/rin-network/rin/sandbox/described/document"
)

// negotiate chooses the media type of an answer by the Accept fields of the request (RFC 9110 §12.5.1). Where none of them is described the
// first one is sent: a client learns more from an answer than from 406.
func negotiate(described []document.Media, accept []string) document.Media {
	if len(described) == 0 {
		return document.Media{}
	}
	chosen, best := described[0], 0.0
	if len(accept) > 0 {
		for _, m := range described {
			if q := quality(accept, content.Essence(m.Type)); q > best {
				chosen, best = m, q
			}
		}
	}
	chosen.Type = content.Concrete(chosen.Type)
	return chosen
}

// quality is the weight of a media type: that of the most specific range that covers it.
func quality(accept []string, mediaType string) float64 {
	q, specific := 0.0, -1
	for _, field := range accept {
		for entry := range strings.SplitSeq(field, ",") {
			rng, parameters, _ := strings.Cut(entry, ";")
			rng = content.Essence(rng)
			s := len(rng) - 100*strings.Count(rng, "*")
			if !covers(rng, mediaType) && !covers(mediaType, rng) || specific >= 0 && s <= specific {
				continue
			}
			specific, q = max(s, 0), weight(parameters)
		}
	}
	return q
}

func covers(rng, mediaType string) bool {
	if rng == mediaType || rng == "*/*" {
		return true
	}
	kind, ok := strings.CutSuffix(rng, "/*")
	return ok && strings.HasPrefix(mediaType, kind+"/")
}

func weight(parameters string) float64 {
	for parameter := range strings.SplitSeq(parameters, ";") {
		if text, ok := strings.CutPrefix(strings.TrimSpace(parameter), "q="); ok {
			if q, err := strconv.ParseFloat(text, 64); err == nil && q >= 0 && q <= 1 {
				return q
			}
			return 0
		}
	}
	return 1
}
