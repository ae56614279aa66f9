package validate

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// difference is a finding, with what is needed to sort and group findings.
type difference struct {
	evidence.Finding
	// at is the path of the value in the answer, in parts.
	at []string
	// format is the format that the finding is about, if any.
	format string
	// place is the path to show if the value is not in the body; else "".
	place string
}

// describe turns the library's error at one value into differences.
func (c *compiledSchema) describe(err *jsonschema.ValidationError) []difference {
	at := append([]string{}, err.InstanceLocation...)
	single := func(k evidence.FindingKind, expected, got string) []difference {
		return []difference{{Finding: evidence.Finding{Kind: k, Expected: expected, Got: got, Keyword: c.keyword(err)}, at: at}}
	}
	switch k := err.ErrorKind.(type) {
	case *kind.Type:
		return single(evidence.FindingType, strings.Join(k.Want, " or "), k.Got)
	case *kind.Required:
		return c.missingMembers(err, k.Missing)
	case *kind.DependentRequired:
		return c.missingMembers(err, k.Missing)
	case *kind.Enum:
		if k.Got == nil {
			return single(evidence.FindingType, vocabulary(k.Want), "null")
		}
		return single(evidence.FindingEnum, vocabulary(k.Want), scalar(k.Got))
	case *kind.Const:
		return single(evidence.FindingEnum, vocabulary([]any{k.Want}), scalar(k.Got))
	case *kind.Format:
		return c.formatDifference(err, k)
	case *kind.AdditionalProperties:
		var out []difference
		for _, name := range k.Properties {
			d := single(evidence.FindingOther, "no member beside the declared ones", "a member that is not declared")[0]
			d.at = append(append([]string{}, at...), name)
			out = append(out, d)
		}
		return out
	}
	expected, got := describeOther(err.ErrorKind)
	return single(evidence.FindingOther, expected, got)
}

// missingMembers returns a difference for each missing member.
func (c *compiledSchema) missingMembers(err *jsonschema.ValidationError, names []string) []difference {
	var out []difference
	for _, name := range names {
		out = append(out, difference{
			Finding: evidence.Finding{Kind: evidence.FindingRequired, Expected: "a required member", Got: "nothing", Keyword: c.keyword(err)},
			at:      append(append([]string{}, err.InstanceLocation...), name),
		})
	}
	return out
}

// formatDifference describes a value of a wrong format. It shows only dates, which are not personal and reveal their cause. API-07 fails for dates and warns about
// other formats, except that an integer out of its range and a malformed UUID belong to API-05.
func (c *compiledSchema) formatDifference(err *jsonschema.ValidationError, k *kind.Format) []difference {
	d := difference{at: append([]string{}, err.InstanceLocation...), format: k.Want}
	d.Kind, d.Expected, d.Got, d.Keyword = evidence.FindingFormat, k.Want, "a malformed "+k.Want, c.keyword(err)
	switch k.Want {
	case "date":
		d.Expected, d.Got = "date (RFC 3339 full-date, a day that exists)", scalar(k.Got)
	case "date-time":
		d.Expected, d.Got = "date-time (RFC 3339 with offset, a day that exists)", scalar(k.Got)
	case "int32", "int64":
		d.Kind, d.Got = evidence.FindingOther, "a number out of its range"
	case "uuid":
		d.Kind = evidence.FindingOther
	}
	return []difference{d}
}

// describeOther describes the rarer keywords by lengths and counts, not by values.
func describeOther(k jsonschema.ErrorKind) (expected, got string) {
	switch k := k.(type) {
	case *kind.MinLength:
		return "at least " + evidence.Count(k.Want, "character"), evidence.Count(k.Got, "character")
	case *kind.MaxLength:
		return "at most " + evidence.Count(k.Want, "character"), evidence.Count(k.Got, "character")
	case *kind.MinItems:
		return "at least " + evidence.Count(k.Want, "item"), evidence.Count(k.Got, "item")
	case *kind.MaxItems:
		return "at most " + evidence.Count(k.Want, "item"), evidence.Count(k.Got, "item")
	case *kind.MinProperties:
		return "at least " + evidence.Count(k.Want, "member"), evidence.Count(k.Got, "member")
	case *kind.MaxProperties:
		return "at most " + evidence.Count(k.Want, "member"), evidence.Count(k.Got, "member")
	case *kind.Minimum:
		return "at least " + ratText(k.Want), "a smaller number"
	case *kind.Maximum:
		return "at most " + ratText(k.Want), "a larger number"
	case *kind.ExclusiveMinimum:
		return "more than " + ratText(k.Want), "a number that is not more"
	case *kind.ExclusiveMaximum:
		return "less than " + ratText(k.Want), "a number that is not less"
	case *kind.MultipleOf:
		return "a multiple of " + ratText(k.Want), "another number"
	case *kind.Pattern:
		return "text that matches " + evidence.Clip(k.Want, 80), "text that does not"
	case *kind.UniqueItems:
		return "items that all differ", fmt.Sprintf("items %d and %d are equal", k.Duplicates[0], k.Duplicates[1])
	case *kind.OneOf:
		if len(k.Subschemas) == 2 {
			return "exactly one of the alternatives", fmt.Sprintf("alternatives %d and %d both match", k.Subschemas[0], k.Subschemas[1])
		}
		return "exactly one of the alternatives", "none matches"
	case *kind.AnyOf:
		return "one of the alternatives", "none matches"
	case *kind.Not:
		return "anything but the excluded schema", "a value that it matches"
	case *kind.FalseSchema:
		return "no value here", "a value"
	case *kind.PropertyNames:
		return "member names as declared", "another member name"
	case *kind.Contains, *kind.MinContains:
		return "a list that contains a declared item", "too few of them"
	case *kind.MaxContains:
		return "a list that contains a declared item", "too many of them"
	}
	return "a value as the schema says", "another value"
}

// keyword returns the place in the document that the error is about.
func (c *compiledSchema) keyword(err *jsonschema.ValidationError) string {
	_, fragment, _ := strings.Cut(err.SchemaURL, "#")
	pointer, _ := openapi.Fragment("#" + fragment)
	return evidence.Clip(c.Origin(pointer, err.ErrorKind.KeywordPath()), 300)
}

// vocabulary lists the allowed values, bounded.
func vocabulary(values []any) string {
	list := make([]string, 0, len(values))
	for _, v := range values {
		list = append(list, scalar(v))
	}
	return "one of " + enumerate(list, "no value")
}

// scalar shows a value of an enumeration or a malformed date in at most 40 characters; of objects and lists only the type.
func scalar(value any) string {
	switch v := value.(type) {
	case string:
		return strconv.Quote(evidence.Clip(v, 40))
	case map[string]any, []any:
		return openapi.JSONType(value)
	case nil:
		return "null"
	default:
		return evidence.Clip(fmt.Sprint(v), 40)
	}
}

// differences collects the causes of an error. If all alternatives fail, only the one that comes closest to the value counts: the others do
// not help.
func (c *compiledSchema) differences(err *jsonschema.ValidationError) []difference {
	if len(err.Causes) == 0 {
		return c.describe(err)
	}
	switch err.ErrorKind.(type) {
	case *kind.OneOf, *kind.AnyOf:
		return c.closest(err)
	case *kind.Contains, *kind.MinContains, *kind.PropertyNames:
		return c.describe(err)
	}
	var out []difference
	for _, cause := range err.Causes {
		out = append(out, c.differences(cause)...)
	}
	return out
}

// closest returns the differences of the alternative with the smallest [distance]. If all alternatives fail by the type of the value itself, it returns one
// difference that names all the types.
func (c *compiledSchema) closest(err *jsonschema.ValidationError) []difference {
	var best []difference
	bestScore := [3]int{}
	var wanted []string
	onlyTypes := true
	for _, cause := range err.Causes {
		found := c.differences(cause)
		if len(found) == 0 {
			continue
		}
		score := distance(found, len(err.InstanceLocation))
		if score[0] == 0 { // the value has the type of the alternative
			onlyTypes = false
		}
		for _, d := range found {
			if d.Kind == evidence.FindingType && len(d.at) == len(err.InstanceLocation) && !slices.Contains(wanted, d.Expected) {
				wanted = append(wanted, d.Expected)
			}
		}
		if best == nil || slices.Compare(score[:], bestScore[:]) < 0 {
			best, bestScore = found, score
		}
	}
	switch {
	case best == nil:
		return c.describe(err)
	case onlyTypes && len(wanted) > 1:
		i := slices.IndexFunc(best, func(d difference) bool { return d.Kind == evidence.FindingType })
		merged := best[i]
		merged.Expected = strings.Join(wanted, " or ")
		merged.Keyword = c.keyword(err)
		return []difference{merged}
	}
	return best
}

// distance rates an alternative: a wrong type of the value itself counts most, then what distinguishes subtypes one level below (a missing
// member, a value outside its enumeration), then the number of differences.
func distance(found []difference, level int) (score [3]int) {
	for _, d := range found {
		switch {
		case d.Kind == evidence.FindingType && len(d.at) == level:
			score[0]++
		case (d.Kind == evidence.FindingEnum || d.Kind == evidence.FindingRequired) && len(d.at) <= level+1:
			score[1]++
		}
	}
	score[2] = len(found)
	return score
}

func ratText(r *big.Rat) string {
	return evidence.Clip(strings.TrimSuffix(r.FloatString(6), ".000000"), 40)
}

// maxFindings bounds the findings of one answer.
const maxFindings = 200

// collector keeps the first findings of each class, so that thousands of one class do not hide a single one of another.
type collector struct {
	total   int
	classes map[class][]difference
}

// class identifies findings that a requirement treats alike.
type class struct {
	kind            evidence.FindingKind
	erratum, format string
}

// add adds the differences of one value; prefix is its place in the answer.
func (c *collector) add(found []difference, prefix ...string) {
	for i := range found {
		found[i].at = append(slices.Clone(prefix), found[i].at...)
		found[i].Path = cmp.Or(found[i].place, path(found[i].at))
	}
	slices.SortStableFunc(found, compareDifferences)
	found = slices.CompactFunc(found, func(a, b difference) bool {
		return a.Kind == b.Kind && a.Path == b.Path && a.Expected == b.Expected && a.Got == b.Got
	})
	c.total += len(found)
	if c.classes == nil {
		c.classes = map[class][]difference{}
	}
	for _, d := range found {
		key := class{d.Kind, d.Erratum, d.format}
		if len(c.classes[key]) < maxFindings {
			c.classes[key] = append(c.classes[key], d)
		}
	}
}

// join adds the findings of a later collector, which stays unchanged.
func (c *collector) join(later collector) {
	c.total += later.total
	if c.classes == nil {
		c.classes = map[class][]difference{}
	}
	for key, list := range later.classes {
		c.classes[key] = append(c.classes[key], list[:min(len(list), maxFindings-len(c.classes[key]))]...)
	}
}

// findings returns at most maxFindings, ordered by place and keyword. Each class has an equal share; larger classes also get what smaller ones do not need.
func (c *collector) findings() []evidence.Finding {
	var queues [][]difference
	for _, list := range c.classes {
		queues = append(queues, list)
	}
	slices.SortFunc(queues, func(a, b []difference) int { return cmp.Or(len(a)-len(b), compareDifferences(a[0], b[0])) })
	var kept []difference
	for i, list := range queues {
		share := (maxFindings - len(kept)) / (len(queues) - i)
		kept = append(kept, list[:min(len(list), share)]...)
	}
	slices.SortStableFunc(kept, compareDifferences)
	out := make([]evidence.Finding, len(kept))
	for i, d := range kept {
		out[i] = d.Finding
	}
	return out
}

// compareDifferences orders by place, with list positions as numbers, then by content.
func compareDifferences(a, b difference) int {
	for i := range min(len(a.at), len(b.at)) {
		if a.at[i] == b.at[i] {
			continue
		}
		x, errX := strconv.Atoi(a.at[i])
		y, errY := strconv.Atoi(b.at[i])
		if errX == nil && errY == nil && x != y {
			return cmp.Compare(x, y)
		}
		return cmp.Compare(a.at[i], b.at[i])
	}
	return cmp.Or(
		cmp.Compare(len(a.at), len(b.at)),
		cmp.Compare(a.place, b.place),
		cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.Expected, b.Expected),
		cmp.Compare(a.Got, b.Got),
		cmp.Compare(len(a.Keyword), len(b.Keyword)),
		cmp.Compare(a.Keyword, b.Keyword),
	)
}

// path writes the place of a value as a JSON path: $[3].callStages[0].callStageEnd.
func path(at []string) string {
	const limit = 60 // parts
	var b strings.Builder
	b.WriteByte('$')
	for i, part := range at {
		switch {
		case i == limit:
			b.WriteString("…")
			return b.String()
		case isIndex(part):
			b.WriteString("[" + part + "]")
		case isName(part):
			b.WriteString("." + part)
		default:
			b.WriteString("[" + strconv.Quote(evidence.Clip(part, 64)) + "]")
		}
	}
	return b.String()
}

func isIndex(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n >= 0 && strconv.Itoa(n) == s
}

func isName(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return true
}
