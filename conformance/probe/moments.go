package probe

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file tries parameters that select the items that are valid on a day, such as openOn: the day is between two dates of an item.

// describedMoment is a parameter that takes a day, with the two members of the items between which the day must lie.
type describedMoment struct{ parameter, begin, end string }

// momentTries is how many days are tried: one on which an item begins, and one on which an item ends.
const momentTries = 2

// isMoment reports whether a parameter is a day and, by its name, not a bound.
func isMoment(p openapi.Parameter) bool {
	_, bounds := boundOf(p)
	return p.In == "query" && openapi.RoleOf(p) == "" && !bounds && p.Schema.Type == "string" && p.Schema.Format == "date"
}

// momentCases returns the calls of the list with such parameters, [momentTries] for each.
func momentCases(o openapi.Operation) []row {
	var out []row
	for _, p := range o.QueryParameters() {
		if !isMoment(p) {
			continue
		}
		for n := range momentTries {
			out = append(out, row{
				Label: evidence.ListOperation.With(evidence.MomentCase(p.Name, n+1)),
				Plan:  in(stageRest, stageRead, stagePages).onlyIf(notQuick), Send: choose(momentValue(p, n)),
			})
		}
	}
	return out
}

// momentOf finds the two members for a parameter: one whose name means a beginning and one whose name means an end. The name or the description of the
// parameter must mention the state between them.
func momentOf(p openapi.Parameter, members openapi.Members) (describedMoment, bool) {
	m := describedMoment{parameter: p.Name}
	if _, own := members.Named(p.Name); own || !asksForState(p) {
		return m, false
	}
	for _, member := range members {
		words := openapi.Words(member)
		switch {
		case strings.Contains(member, "[]"): // an array has several values
		case namesBeginning(words):
			if m.begin != "" {
				return m, false
			}
			m.begin = member
		case namesEnd(words):
			if m.end != "" {
				return m, false
			}
			m.end = member
		}
	}
	return m, m.begin != "" && m.end != ""
}

// namesBeginning reports whether a word means the beginning of something.
func namesBeginning(words []string) bool {
	return slices.ContainsFunc(words, oneOf("open", "opens", "opening", "start", "starts", "begin", "begins", "from"))
}

// namesEnd reports whether a word means the end of something.
func namesEnd(words []string) bool {
	return slices.ContainsFunc(words, oneOf("close", "closes", "closing", "end", "ends", "deadline", "until", "to"))
}

// asksForState reports whether a parameter has a name such as openOn, or a description such as "open on this day".
func asksForState(p openapi.Parameter) bool {
	words := openapi.Words(p.Name)
	if len(words) == 2 && slices.Contains([]string{"open", "running", "active", "valid", "ongoing", "effective"}, words[0]) && slices.Contains([]string{"on", "at"}, words[1]) {
		return true
	}
	return regexp.MustCompile(`(?i)\b(open|running|run|active|valid|ongoing|effective)\b[^.]{0,20}\b(on|at) (this|that|the|the given) (day|date)\b`).MatchString(p.Description)
}

// oneOf returns a function that reports whether a word, in any case, is one of the words.
func oneOf(words ...string) func(string) bool {
	return func(word string) bool { return slices.Contains(words, strings.ToLower(word)) }
}

// momentValue chooses a day on which an item begins, or ends if n is not 0. Its inputs tell the check what must hold for each item of the answer: the first
// member is at most that day, and the second at least.
func momentValue(p openapi.Parameter, n int) chooser {
	return func(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
		columns := r.columnsAt(res.Name)
		m, ok := momentOf(p, slices.Sorted(maps.Keys(columns)))
		if !ok {
			return chosen{}, notApplicable("the items have no two members between which %.80q lies", p.Name)
		}
		edge := m.begin
		if n > 0 {
			edge = m.end
		}
		days := daysOf(columns[edge])
		if len(days) < 3 {
			return chosen{}, notApplicable("the items have too few days of %s", edge)
		}
		// A day in the middle half selects some items and leaves out others.
		value := days[len(days)/4+r.source(res.Name, p.Name).Below(len(days)/2)]
		given := map[string]string{
			"parameter": p.Name, "member": m.begin, "value": value, "bound": string(atMostBound),
			"andParameter": p.Name, "andMember": m.end, "andValue": value, "andBound": string(atLeastBound),
		}
		return chosen{r.sized(o, withQuery(res.URL, pair{p.Name, value}), p.Name, maxWalkSize), given}, nil
	}
}

// daysOf returns the days of dates and times, in order, each once. It ignores other texts.
func daysOf(values []string) []string {
	var out []string
	for _, v := range values {
		if _, err := time.Parse(time.DateOnly, v[:min(len(v), len(time.DateOnly))]); err == nil {
			out = append(out, v[:len(time.DateOnly)])
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// The functions below read the names of parameters that bound a number or a date, in the languages of the network: a name gives the direction, and the
// member of the items.

// directionOf returns the direction that a word means, or "".
func directionOf(word string) bound {
	switch word {
	case "min", "minimum", "from", "after", "since", "gte", "ge", "gt", "least", "above",
		"von", "ab", "seit", "nach", "mindestens", "depuis", "desde", "dal", "vanaf":
		return atLeastBound
	case "max", "maximum", "to", "until", "till", "before", "lte", "le", "lt", "most", "below",
		"bis", "vor", "höchstens", "hoechstens", "maximal", "jusque", "hasta", "fino", "tot":
		return atMostBound
	}
	return ""
}

// timeWords are words that only say that a member is a date, and may be missing in the name of a bound: closesFrom bounds closesAt, and deadlineTo bounds
// deadlineDate.
func timeWords() []string {
	return []string{"at", "on", "date", "time", "day", "am", "datum", "tag", "utc"}
}

// boundMember finds the only member of the items that fits the name of a bound. For a date the member may be a longer word: fristBis bounds Einreichfrist.
func boundMember(name string, date bool, members openapi.Members) (path string, found bool) {
	for _, n := range []string{name, strings.TrimSuffix(name, "date")} {
		if path, found = members.Ending(n); found {
			return path, true
		}
	}
	if !date {
		return "", false
	}
	if path, found = onlyMember(members, func(own string) bool { return withoutTimeWords(own) == name }); found {
		return path, true
	}
	const shortest = 4 // many words have a shorter ending
	if utf8.RuneCountInString(name) < shortest {
		return "", false
	}
	if path, found = onlyMember(members, func(own string) bool { return strings.HasSuffix(openapi.Joined(own), name) }); found {
		return path, true
	}
	stem, inflected := strings.CutSuffix(name, "ing") // closing bounds closesAt
	return onlyMember(members, func(own string) bool {
		rest, begins := strings.CutPrefix(withoutTimeWords(own), stem)
		return inflected && begins && slices.Contains([]string{"", "s", "e", "es"}, rest)
	})
}

// memberInText returns the only member that a description names as code does: by its path, or by a name of several words, such as maximumGrant.
func memberInText(text string, members openapi.Members) (path string, ok bool) {
	tokens := strings.FieldsFunc(text, func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("_.[]", c)
	})
	for _, token := range tokens {
		token = strings.Trim(token, ".")
		for _, m := range members {
			_, own, _ := cutLast(m, ".")
			isPath := strings.Contains(token, ".") && strings.ReplaceAll(token, "[]", "") == strings.ReplaceAll(m, "[]", "")
			if !isPath && (token != own || len(openapi.Words(token)) < 2) || m == path {
				continue
			}
			if ok {
				return "", false
			}
			path, ok = m, true
		}
	}
	return path, ok
}

// numberOf returns the only number in the objects that a name means, such as budget.amount for budget. Amounts in several currencies are left out, because
// a node may convert them.
func numberOf(name string, members openapi.Members, items [][]byte) (path string, ok bool) {
	items = items[:min(len(items), maxRows)]
	valuesOf := func(m string) []string {
		var out []string
		for _, item := range items {
			out = append(out, openapi.MemberValues(item, m)...)
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	for _, m := range members {
		object, own, below := cutLast(m, ".")
		if !below || name == "" || strings.Contains(m, "[]") || !slices.Contains(strings.Split(strings.ToLower(object), "."), name) {
			continue
		}
		if slices.ContainsFunc(openapi.Words(own), oneOf("id", "code", "key", "year", "jahr", "rate", "percent", "percentage", "quota", "quote", "share", "version", "count", "number", "order", "position", "type")) {
			continue
		}
		values := valuesOf(m)
		if strings.Contains(strings.ToLower(own), "currency") && len(values) > 1 {
			return "", false
		}
		if len(values) == 0 || slices.ContainsFunc(values, func(v string) bool { _, err := strconv.ParseFloat(v, 64); return err != nil }) {
			continue
		}
		if ok {
			return "", false
		}
		path, ok = m, true
	}
	return path, ok
}

// withoutTimeWords joins the words of a name without the [timeWords].
func withoutTimeWords(name string) string {
	return strings.Join(slices.DeleteFunc(openapi.Words(name), func(word string) bool { return slices.Contains(timeWords(), word) }), "")
}

// onlyMember returns the only member whose last name fits. It skips members inside arrays, because they have several values.
func onlyMember(members openapi.Members, fits func(own string) bool) (path string, ok bool) {
	for _, m := range members {
		if _, own, _ := cutLast(m, "."); strings.Contains(m, "[]") || !fits(own) {
			continue
		}
		if ok {
			return "", false
		}
		path, ok = m, true
	}
	return path, ok
}
