package probe

import (
	"slices"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file writes one instant with several offsets from UTC (RFC 3339 §4.2): whatever a
// parameter for instants means, the answers are the same. Code that drops the offset
// takes the local time for UTC.

const (
	// instantWays is the number of ways to write an instant: in UTC, with an offset to the east, and with one to the west.
	instantWays = 3
	maxInstants = 2 // parameters
)

// instant is a date with a time of a member of an item.
type instant struct {
	member string
	at     time.Time
}

// isInstant reports whether a parameter is a date with a time.
func isInstant(p openapi.Parameter) bool {
	return p.In == "query" && p.Schema.Type == "string" && p.Schema.Format == "date-time" && p.Schema.Pattern == ""
}

// instantCases are the calls of a list with one instant written in several ways.
func instantCases(o openapi.Operation) []row {
	var out []row
	for _, p := range o.QueryParameters() {
		if !isInstant(p) || len(out) == maxInstants*instantWays {
			continue
		}
		for n := range instantWays {
			out = append(out, row{
				Label: evidence.ListOperation.With(evidence.InstantCase(p.Name, n+1)),
				Plan:  in(stageRest, stageRead, stagePages).inLane("instant " + p.Name).onlyIf(notQuick).onDemand(), Send: choose(instantValue(p, n)),
			})
		}
	}
	return out
}

// instantValue requests the items for an instant of the data. Offsets are about half a day, so that an item of that instant is on the wrong side if the node
// ignores the offset.
func instantValue(p openapi.Parameter, n int) chooser {
	return func(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
		at, ok := r.instantFor(p, res.Name, r.source(res.Name, "instant "+p.Name))
		if !ok {
			return chosen{}, notApplicable("the items have no instant for %.80q", p.Name)
		}
		s := r.source(res.Name, "offset "+p.Name)
		zone := []*time.Location{time.UTC, time.FixedZone("", s.Between(21, 26)*1800), time.FixedZone("", -s.Between(20, 23)*1800)}[n]
		value := at.In(zone).Format(time.RFC3339)
		return chosen{r.sized(o, withQuery(res.URL, pair{p.Name, value}), p.Name, maxWalkSize), map[string]string{"parameter": p.Name, "value": value}}, nil
	}
}

// instantFor draws an instant of the items for a parameter. It prefers members that the description names, then members that share a word with the parameter.
// It draws no instant of a beginning for a parameter about an end, and the reverse.
func (r *run) instantFor(p openapi.Parameter, list evidence.Resource, s draw.Source) (time.Time, bool) {
	about := strings.ToLower(strings.Join(openapi.Words(p.Name), " ") + " " + p.Description)
	terms := slices.DeleteFunc(append(openapi.Words(p.Name), openapi.Words(p.Description)...), func(word string) bool { return directionOf(strings.ToLower(word)) != "" })
	var exact, named, all []time.Time
	r.facts.with(func(f *facts) {
		for _, i := range f.instants[list] {
			if words := openapi.Words(i.member); namesBeginning(terms) != namesEnd(terms) && namesBeginning(words) != namesEnd(words) && namesEnd(terms) != namesEnd(words) {
				continue
			}
			all = append(all, i.at)
			if strings.Contains(p.Description, i.member) {
				exact = append(exact, i.at)
			}
			if slices.ContainsFunc(openapi.Words(i.member), func(word string) bool { return len(word) > 3 && strings.Contains(about, strings.ToLower(word)) }) {
				named = append(named, i.at)
			}
		}
	})
	for _, instants := range [][]time.Time{exact, named, all} {
		if len(instants) > 2 {
			slices.SortFunc(instants, time.Time.Compare)
			return instants[len(instants)/4+s.Below(len(instants)/2)], true
		}
	}
	return time.Time{}, false
}

// instantsOf reads the instants of the first items.
func instantsOf(items [][]byte) []instant {
	var out []instant
	for _, item := range items[:min(len(items), maxRows)] {
		openapi.EachMember(item, func(_, name string, value []byte) {
			if at, ok := instantOf(value); ok && len(out) < 4*maxRows {
				out = append(out, instant{name, at})
			}
		})
	}
	return out
}

// instantOf reads a JSON string with a date-time. It ignores days without a time, because the node may choose their time zone.
func instantOf(value []byte) (time.Time, bool) {
	if openapi.FirstByte(value) != '"' || len(value) > len(time.RFC3339Nano)+2 {
		return time.Time{}, false
	}
	text := strings.Trim(string(value), "\" \t\r\n")
	at, err := time.Parse(time.RFC3339, text)
	return at, err == nil
}
