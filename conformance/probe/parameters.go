package probe

import (
	"cmp"
	"context"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/recorder"
)

// These bound the values that are tried in a run.
const (
	maxTrials            = 400
	maxTrialsOfOperation = 60
)

// parameterPlan plans calls with the parameters of all operations (API-01, PAG-06): values at the bounds that the document allows and beyond them, and a valid
// value of each query parameter. [filterCases] plans those of the list. The calls that are most likely to find a fault come first.
func parameterPlan(n Node) Plan {
	var p Plan
	type candidate struct {
		at   evidence.Resource
		row  row
		rank int
	}
	var all []candidate
	for _, o := range n.Sample() {
		at := evidence.OperationResource(o.Key)
		if !n.isList(o) {
			for _, q := range queryParameters(o) {
				all = append(all, candidate{at, validCase(q), 3})
			}
		}
		for _, t := range trialsOn(n, o) {
			all = append(all, candidate{at, t.row(), t.rank()})
		}
		if len(all) > maxOperationsTried*maxTrialsOfOperation {
			break
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(a.rank, b.rank) })
	for _, one := range all[:min(len(all), maxTrials)] {
		p.add(n, one.at, one.row)
	}
	return p
}

// validCase returns the row for the call of an operation with a valid value of one query parameter.
func validCase(p openapi.Parameter) row {
	return row{
		Label: evidence.EveryOperation.With(evidence.ParameterCase(p.Name)), Plan: in(stageRest, stageAuthorized),
		Send: choose(func(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
			name, value, ok := valueOfParameter(p, r.Clock())
			if given, named := r.Target.Values[p.Name]; named {
				value, ok = given, true
			}
			if !ok {
				value, ok = r.seenValue(res.Name, p.Name)
			}
			if openapi.RoleOf(p) == openapi.CursorRole {
				return chosen{}, notApplicable("only the node makes values of %.80q; they are taken from its pages", p.Name)
			}
			if !ok {
				return chosen{}, notApplicable("neither the document nor the data has a valid value of %.80q", p.Name)
			}
			address := r.sized(o, withQuery(res.URL, pair{name, value}), name, sizeOfParameter)
			return chosen{address, map[string]string{"parameter": name, "value": value}}, nil
		}),
	}
}

// row returns the row for the call of an operation with one parameter tried.
func (t trial) row() row {
	return row{
		Label: evidence.EveryOperation.With(t.label()), Plan: in(stageRest, stageAuthorized),
		Send: func(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
			if good := at.With(evidence.OK); !r.facts.good(good) {
				return recorder.Request{}, unmet("the good call %s was not answered with 2xx", good)
			}
			o, _ := r.operation(at)
			res, reason := r.fill(o, map[string]*string{parameterKey(t.parameter): t.value})
			if reason != nil {
				return recorder.Request{}, reason
			}
			if r.node.isList(o) {
				res.URL = r.sized(o, res.URL, t.parameter.Name, sizeOfParameter)
			}
			q, reason := r.authorized(ctx, res)
			q.Given, q.Annotate = t.given(), r.annotate(at)
			return q, reason
		},
	}
}

// maxOperationsTried bounds the work of planning for a very large document.
const maxOperationsTried = 500

func (t trial) label() evidence.Case {
	return evidence.TryCase(t.try, t.parameter.In, t.parameter.Name)
}

// rank orders trials by the faults that they find in practice, the most useful first: code for invalid input that never ran, then lengths of database
// columns, then the last values of vocabularies.
func (t trial) rank() int {
	switch t.try {
	case evidence.Absent, evidence.WrongType, evidence.OutsideEnum:
		return 1
	case evidence.BelowMinimum, evidence.TooLong:
		return 2
	case evidence.AtMinimum, evidence.Longest:
		return 4
	}
	return 5
}

// unknownWord returns a value that no vocabulary contains and that is not a number, date or UUID.
func (n Node) unknownWord() string {
	s := n.Target.Seed.Source("unknown word")
	return s.Word() + "-" + s.Word()
}

// trialsOn returns the trials of one operation. It leaves out paging and filters of the list, because other cases try them more thoroughly.
func trialsOn(n Node, o openapi.Operation) []trial {
	var out []trial
	seen := map[evidence.Case]bool{}
	for _, p := range o.Parameters {
		for _, t := range trialsOf(p, n.unknownWord()) {
			if c := t.label(); !seen[c] && len(out) < maxTrialsOfOperation && !(n.isList(o) && isPagingTrial(o, t)) {
				seen[c] = true
				out = append(out, t)
			}
		}
	}
	return out
}

// isPagingTrial reports whether the cases of paging and filters make a trial of the list: every trial of a page parameter, and the values of a
// filter.
func isPagingTrial(o openapi.Operation, t trial) bool {
	switch openapi.RoleOf(t.parameter) {
	case openapi.SizeRole, openapi.PageRole, openapi.SkipRole:
		return true
	}
	filter := slices.ContainsFunc(filtersOf(o), func(f describedFilter) bool { return f.parameter == t.parameter.Name })
	return filter && t.legal && len(t.parameter.Schema.Enum) > 0
}

// given returns the inputs of a trial for the evidence.
func (t trial) given() map[string]string {
	given := map[string]string{
		"parameter": t.parameter.Name, "in": t.parameter.In, "try": string(t.try), "legal": strconv.FormatBool(t.legal),
	}
	if t.value != nil {
		given["value"] = *t.value
	}
	return given
}

// trial is one value of one described parameter; legal reports whether the document allows it.
type trial struct {
	parameter openapi.Parameter
	try       evidence.Try
	value     *string // nil leaves the parameter out
	legal     bool
}

const (
	// smallVocabulary is the size up to which each value of a vocabulary is tried.
	smallVocabulary = 8
	// maxValueLength bounds the values that are made for a parameter, in characters.
	maxValueLength = 2000
	// maxPageAsked bounds the items of a requested page: larger pages are a load for the node.
	maxPageAsked = 1000
	// maxExactNumber is the bound below which a float64 holds every whole number exactly.
	maxExactNumber = 1 << 53
)

// trialsOf returns the trials of a parameter: values at the bounds of its schema, and values just beyond them. [validCase] tries the plain valid value of a query
// parameter.
func trialsOf(p openapi.Parameter, unknown string) []trial {
	s := p.Schema
	if s.Type == "array" && s.Items != nil {
		s = *s.Items
	}
	t := trials{parameter: p, unknown: unknown}
	switch {
	case p.In == "cookie" || isClientHeader(p) || s.Type == "object":
		return nil
	case openapi.RoleOf(p) == openapi.CursorRole: // only the node makes valid cursors
		t.addIllegal(evidence.WrongType, t.unknown)
	case len(s.Enum) > 0:
		t.vocabulary(s)
	case s.Type == "integer" || s.Type == "number":
		t.numbers(s)
	case s.Type == "boolean":
		t.addLegal(evidence.NthValue(2), "false")
		t.addIllegal(evidence.WrongType, t.unknown)
	case s.Type == "string" && (s.Format == "date" || s.Format == "date-time" || s.Format == "uuid"):
		t.addIllegal(evidence.WrongType, t.unknown)
	case s.Type == "string" && p.In != "path": // any text in a path is an id, which PAG-09 and ROB-03 try
		t.texts(s)
	}
	if p.Required && p.In != "path" {
		t.found = append(t.found, trial{parameter: p, try: evidence.Absent})
	}
	return t.found
}

// trials gathers the trials of one parameter.
type trials struct {
	parameter openapi.Parameter
	unknown   string // a word that no vocabulary contains
	found     []trial
}

func (t *trials) addLegal(try evidence.Try, value string) {
	if !needsSeveral(t.parameter.Schema) {
		t.add(try, value, true)
	}
}

func (t *trials) addIllegal(try evidence.Try, value string) { t.add(try, value, false) }

func (t *trials) add(try evidence.Try, value string, legal bool) {
	if sendsAs(t.parameter, value) {
		t.found = append(t.found, trial{t.parameter, try, &value, legal})
	}
}

// vocabulary tries each value after the first in a small vocabulary, the last value of a large vocabulary, and a value outside it.
func (t *trials) vocabulary(s openapi.Schema) {
	from := 2
	if len(s.Enum) > smallVocabulary {
		from = len(s.Enum)
	}
	if t.parameter.In != "query" {
		from = 1 // no other case tries the first value
	}
	for n := from; n <= len(s.Enum); n++ {
		if len(s.Enum[n-1]) <= maxScalar {
			t.addLegal(evidence.NthValue(n), s.Enum[n-1])
		}
	}
	if other := t.unknown; !slices.Contains(s.Enum, other) {
		t.addIllegal(evidence.OutsideEnum, other)
	}
}

// numbers tries the bounds of a number and the values just beyond them.
func (t *trials) numbers(s openapi.Schema) {
	defer t.addIllegal(evidence.WrongType, t.unknown)
	if t.parameter.In == "path" {
		return // the parameter is an id
	}
	if s.Minimum != nil && math.Abs(*s.Minimum) < maxExactNumber {
		t.bound(s, *s.Minimum, s.ExclusiveMinimum, -1, evidence.AtMinimum, evidence.BelowMinimum)
	}
	switch {
	case s.Maximum != nil && math.Abs(*s.Maximum) < maxExactNumber:
		t.bound(s, *s.Maximum, s.ExclusiveMaximum, 1, evidence.AtMaximum, evidence.AboveMaximum)
	case s.Type == "integer" && s.Format == "int32":
		t.addIllegal(evidence.AboveMaximum, numeral(math.MaxInt32+1))
	}
}

// bound tries a bound of a number and the value just beyond it. outward is the direction out of the range: -1 at a minimum, 1 at a maximum.
func (t *trials) bound(s openapi.Schema, limit float64, exclusive bool, outward float64, at, beyond evidence.Try) {
	integer, value := s.Type == "integer", limit
	if integer {
		value = outward * math.Floor(outward*limit)
		if exclusive && value == limit {
			value -= outward
		}
	}
	tooLarge := outward > 0 && value > maxPageAsked && isSizeName(t.parameter.Name)
	if s.MultipleOf == nil && (integer || !exclusive) && !tooLarge {
		t.addLegal(at, numeral(value))
	}
	t.addIllegal(beyond, numeral(value+outward))
}

// isSizeName reports whether the name of a parameter suggests that it sets the number of items in an answer.
func isSizeName(name string) bool {
	name = strings.ToLower(name)
	return openapi.RoleOf(openapi.Parameter{Name: name, Schema: openapi.Schema{Type: "integer"}}) == openapi.SizeRole ||
		slices.ContainsFunc([]string{"size", "limit", "count", "per_page", "perpage", "top", "rows"}, func(s string) bool { return strings.Contains(name, s) })
}

// numeral writes a number without an exponent.
func numeral(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// texts tries texts of the least and greatest length, texts just beyond, and one that the pattern does not allow. It skips a pattern that Go
// cannot compile (ECMA 262 has look-arounds), and a valid length if the text made for it does not match the pattern.
func (t *trials) texts(s openapi.Schema) {
	allowed := func(string) bool { return s.Format == "" }
	if s.Pattern != "" {
		pattern, err := regexp.Compile(s.Pattern)
		allowed = func(text string) bool { return err == nil && s.Format == "" && pattern.MatchString(text) }
		if err == nil {
			for _, text := range []string{t.unknown, "0", "~", strings.ToUpper(t.unknown)} {
				if !pattern.MatchString(text) {
					t.addIllegal(evidence.AgainstPattern, text)
					break
				}
			}
		}
	}
	repeated := func(length int) string { // one letter repeated; the letter differs between runs
		if text := strings.Repeat(t.unknown[:1], length); s.Pattern == "" || allowed(text) {
			return text
		}
		return strings.Repeat("a", length)
	}
	if s.MinLength != nil && *s.MinLength > 0 && *s.MinLength <= maxValueLength {
		if text := repeated(*s.MinLength); allowed(text) {
			t.addLegal(evidence.Shortest, text)
		}
		if *s.MinLength > 1 { // an empty value often means that the parameter is absent
			t.addIllegal(evidence.TooShort, repeated(*s.MinLength-1))
		}
	}
	if s.MaxLength != nil && *s.MaxLength > 0 && *s.MaxLength <= maxValueLength {
		if text := repeated(*s.MaxLength); allowed(text) {
			t.addLegal(evidence.Longest, text)
		}
		t.addIllegal(evidence.TooLong, repeated(*s.MaxLength+1))
	}
}
