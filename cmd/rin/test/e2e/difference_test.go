//go:build e2e

package e2e_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// difference is a known difference between the judgements of rin and kin-openapi, with the reason why rin is not wrong.
type difference struct {
	between, why string
	// explains reports whether the validator by alone objects to a place for this reason.
	explains func(o opinions, by, place string) bool
}

// The validators that alone object to a place.
const rinAlone, kinAlone = "rin", "kin-openapi"

func differences() []difference {
	return []difference{
		{
			between: "redirects",
			why:     "kin-openapi judges no answer with 301, 304, 307 or 308, whatever is described; OAS 3.0.3 knows no such exception.",
			explains: func(o opinions, by, place string) bool {
				return by == rinAlone && slices.Contains([]int{301, 304, 307, 308}, o.answer.Response.Status)
			},
		},
		{
			between: "bodies that are not JSON",
			why:     "kin-openapi objects to the body as it does to a fault of the schema; rin's judge leaves what cannot be read, a byte order mark included, to API-03 and INF-02, which name it.",
			explains: func(o opinions, by, place string) bool {
				return by == kinAlone && place == "answer" && !json.Valid(o.answer.Response.Body)
			},
		},
		{
			between: "days that do not exist",
			why:     "kin-openapi compares dates with a pattern, which knows days 1 to 31 of every month; RFC 3339 section 5.7 has a table of them.",
			explains: func(o opinions, by, place string) bool {
				return by == rinAlone && regexp.MustCompile(`a day that exists\), got "\d{4}-(02-(29|3\d)|(04|06|09|11)-31)`).MatchString(o.rin[place])
			},
		},
		{
			between:  "the place of a fault in oneOf",
			why:      "kin-openapi says that no alternative fits; rin follows the discriminator, and names the member that keeps the chosen one from fitting.",
			explains: func(o opinions, by, place string) bool { return isPlacedBelow(o, by, place, isAboutAlternatives) },
		},
		{
			between: "the place of a fault in allOf",
			why:     "kin-openapi says that not all parts of the schema fit; rin names the member that keeps one of them from fitting.",
			explains: func(o opinions, by, place string) bool {
				return isPlacedBelow(o, by, place, func(said string) bool { return strings.HasSuffix(said, `from "allOf"`) })
			},
		},
	}
}

// isPlacedBelow reports whether kin-openapi objects to a value because of a combination of schemas, and rin to a member of that value.
func isPlacedBelow(o opinions, by, place string, combined func(objection string) bool) bool {
	values, members := keys(o.kin), []string{place}
	if by == kinAlone {
		values, members = []string{place}, keys(o.rin)
	}
	return slices.ContainsFunc(values, func(value string) bool {
		return combined(o.kin[value]) && slices.ContainsFunc(members, func(below string) bool { return strings.HasPrefix(below, value+"/") })
	})
}

// isAboutAlternatives reports whether kin-openapi objects that no alternative of oneOf fits.
func isAboutAlternatives(said string) bool {
	return strings.HasSuffix(said, `from "oneOf"`) || strings.HasPrefix(said, "discriminator property") ||
		strings.HasPrefix(said, "input does not contain the discriminator property")
}

// expectExplained fails on a difference that is not known. It returns the known differences that it saw.
func expectExplained(all []opinions) (seen map[string]bool) {
	GinkgoHelper()
	Expect(all).NotTo(BeEmpty(), "nothing was judged twice")
	seen = map[string]bool{}
	var unknown []string
	for _, o := range all {
		for by, objections := range map[string][2]map[string]string{rinAlone: {o.rin, o.kin}, kinAlone: {o.kin, o.rin}} {
			for _, place := range keys(objections[0]) {
				if _, both := objections[1][place]; both {
					continue
				}
				i := slices.IndexFunc(differences(), func(d difference) bool { return d.explains(o, by, place) })
				if i < 0 {
					unknown = append(unknown, fmt.Sprintf("%s: %s alone objects to %q: %s", o.answer.Label, by, place, objections[0][place]))
					continue
				}
				seen[differences()[i].between] = true
				fmt.Fprintf(GinkgoWriter, "%s: %s alone objects to %q: %s\n    %s\n", o.answer.Label, by, place, objections[0][place], differences()[i].why)
			}
		}
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		Fail("one of the two is wrong: mend rin, or name the difference:\n" + strings.Join(unknown, "\n"))
	}
	return seen
}

// keys returns the places in order.
func keys(said map[string]string) []string { return slices.Sorted(maps.Keys(said)) }
