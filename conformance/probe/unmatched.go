package probe

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file tries filters without a member of the same name in the items, such as country for location.country. Their answers cannot be compared with the
// items one by one, but all of them together must leave out something.

// maxUnmatched bounds the filters that are tried in this way.
const maxUnmatched = 6

// unmatchedCases returns the requests with values of each described filter. A request is not sent if a member has the name of its filter.
func unmatchedCases(o openapi.Operation) []row {
	var out []row
	for _, p := range o.QueryParameters() {
		words := filterWords(p)
		if !mayFilter(p) || len(out) >= 3*maxUnmatched {
			continue
		}
		tries := 2
		if len(words) > 0 {
			tries = len(words)
		}
		for n := range tries {
			out = append(out, row{
				Label: evidence.ListOperation.With(evidence.UnmatchedCase(p.Name, n+1)),
				Plan:  in(stageRest, stageRead, stagePages).onlyIf(notQuick).onDemand(), Send: choose(unmatchedValue(p, n)),
			})
		}
	}
	return out
}

// mayFilter reports whether a parameter may be a filter of texts whose effect can be tried: the document describes it, and any text or one of several
// words is allowed.
func mayFilter(p openapi.Parameter) bool {
	s := p.Schema
	if s.Type == "array" && s.Items != nil {
		s = *s.Items
	}
	o := openapi.Operation{Parameters: []openapi.Parameter{p}}
	switch {
	case p.Required || p.Description == "" || isSearch(p) || isAboutCall(p.Name) || len(filtersOf(o)) == 0:
		return false
	case len(s.Enum) > 0:
		return len(filterWords(p)) > 1
	}
	return s.Type == "string" && s.Format == "" && s.Pattern == "" && (s.MinLength == nil || *s.MinLength <= maxMadeUp) && (s.MaxLength == nil || *s.MaxLength >= leastMadeUp)
}

// isAboutCall reports whether the name of a parameter suggests that it says who calls, or in which form numbers and times are written.
func isAboutCall(name string) bool {
	return slices.Contains([]string{"caller", "client", "clientid", "user", "userid", "tenant", "session", "sessionid", "requestid", "traceid", "correlationid", "apikey", "key", "token",
		"nonce", "purpose", "reason", "currency", "unit", "units", "timezone", "tz", "zone", "version", "mode", "operator", "match", "matchmode", "detail", "details", "layout", "style", "profile"}, openapi.Joined(name))
}

// filterWords returns the first, the middle and the last word of a vocabulary, without those that stand for every value.
func filterWords(p openapi.Parameter) []string {
	words := slices.DeleteFunc(slices.Clone(vocabulary(p.Schema)), func(word string) bool {
		return word == "" || openapi.MeansAll(word) || slices.Contains([]string{"none", "null", "default", "unknown", "keine"}, strings.ToLower(word))
	})
	if len(words) > 3 {
		words = []string{words[0], words[len(words)/2], words[len(words)-1]}
	}
	return words
}

// leastMadeUp and maxMadeUp bound the length of a word that no item has.
const (
	leastMadeUp = 8
	maxMadeUp   = 20
)

// unmatchedValue chooses the nth value of a filter: a word of its vocabulary or, without one, first a word that no item has, then a value of the only member
// whose path ends in the name of the parameter, or else another made-up word.
func unmatchedValue(p openapi.Parameter, n int) chooser {
	return func(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
		if slices.ContainsFunc(r.filtersAt(res.Name), func(f describedFilter) bool { return f.parameter == p.Name }) {
			return chosen{}, notApplicable("%.80q filters by a member of the items", p.Name)
		}
		s := r.source(res.Name, "unmatched "+p.Name)
		length := maxMadeUp
		if p.Schema.MaxLength != nil {
			length = min(length, *p.Schema.MaxLength)
		}
		value, kind := s.Text(draw.Letters, length), "made-up"
		switch words := filterWords(p); {
		case len(words) > 0:
			value, kind = words[n], "listed"
		case n > 0:
			if seen := r.columnsAt(res.Name).endingIn(p.Name); seen != "" {
				value, kind = seen, "seen"
			} else {
				value = s.Text(draw.Letters, length)
			}
		}
		given := map[string]string{"parameter": p.Name, "value": value, "unmatched": kind}
		return chosen{r.sized(o, withQuery(res.URL, pair{p.Name, value}), p.Name, maxWalkSize), given}, nil
	}
}

// endingIn returns a short value of the only member whose path ends in the name, or "".
func (c columns) endingIn(name string) string {
	path, ok := openapi.Members(slices.Sorted(maps.Keys(c))).Ending(name)
	if !ok {
		return ""
	}
	for _, value := range c[path] {
		if value != "" && !isProse(value) && isPrintable(value) {
			return value
		}
	}
	return ""
}

// maxDefaults bounds the parameters whose default is sent.
const maxDefaults = 4

// defaultCases returns the requests with the documented default of each parameter that may select items: it must not change the list.
func defaultCases(o openapi.Operation) []row {
	var out []row
	for _, p := range o.QueryParameters() {
		if value, ok := writtenDefault(p); ok && len(out) < maxDefaults {
			out = append(out, row{Label: evidence.ListOperation.With(evidence.DefaultCase(p.Name)), Plan: in(stageRest, stageRead, stagePages).onlyIf(notQuick).onDemand(),
				Send: choose(func(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
					return chosen{r.sized(o, withQuery(res.URL, pair{p.Name, value}), p.Name, maxWalkSize), map[string]string{"parameter": p.Name, "value": value, "default": "true"}}, nil
				})})
		}
	}
	return out
}

// writtenDefault returns the documented default of an optional boolean or text of the query. It leaves out pages, orders, dates and numbers: a bound of 0 may leave out
// items without the number.
func writtenDefault(p openapi.Parameter) (value string, ok bool) {
	s := p.Schema
	if p.In != "query" || p.Required || openapi.RoleOf(p) != "" || isAboutAnswer(p.Name) || s.Format != "" || len(s.Default) == 0 {
		return "", false
	}
	switch s.Type {
	case "boolean":
		var flag bool
		ok = json.Unmarshal(s.Default, &flag) == nil && string(s.Default) != "null"
		return strconv.FormatBool(flag), ok
	case "string":
		ok = json.Unmarshal(s.Default, &value) == nil && value != "" && len(value) <= maxScalar && (len(s.Enum) == 0 || slices.Contains(s.Enum, value))
	}
	return value, ok
}
