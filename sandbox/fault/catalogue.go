// Package fault is the catalogue of ways in which the sandbox can misbehave: each breaks named requirements, so
// that a conformance suite can be shown to notice. There is one seam: a deviation wraps the handler of the whole
// node. It sees requests before the node and answers after it, and never touches the node's insides; what it needs
// to know is in its Env. Each table of deviations has a file of its own; what tables are written with is in answer.go, edit.go,
// wrap.go, form.go and credential.go.
//
// Benign deviations break nothing: they are unusual ways to be right, each with a name in the field, so that a conformance suite can be
// shown not to cry wolf. Their tables are in the files benign_*.go.
package fault

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/rin-network/rin/sandbox/devtls"
)

// Deviation is one way to misbehave, or a benign one: an unusual way to behave well.
type Deviation struct {
	// Name is what an operator types, in kebab case.
	Name string
	// Why says in one sentence what goes wrong, or what is unusual, and where it is seen in the field.
	Why string
	// Breaks lists the ids of the requirements that get worse; none for a benign deviation.
	Breaks []string
	// Warns lists the ids of the requirements that a benign deviation earns a warning from, and nothing worse.
	Warns []string
	// Wrap puts the deviation before the node's handler; nil for one of connections alone.
	Wrap func(next http.Handler, env Env) http.Handler
	// Transport changes how the node offers TLS; nil for a deviation of requests. A node without TLS cannot have one.
	Transport func(*devtls.Settings)
}

// Deviations lists every deviation that breaks something, group by group. [Habits] lists the others.
func Deviations() []Deviation {
	return slices.Concat(
		tokenDeviations(), lifetimeDeviations(), tokenRequestDeviations(), refusalDeviations(), grantDeviations(),
		challengeDeviations(), bearerDeviations(), detourDeviations(), roleDeviations(),
		infoDeviations(), specDeviations(), operationDeviations(), recordDeviations(), listDeviations(), versionDeviations(),
		registryDeviations(), transportDeviations(), claimDeviations(), publicationDeviations(), forgeryDeviations(), isolationDeviations(), hygieneDeviations(),
		errorDeviations(), robustnessDeviations(), parameterDeviations(), pagingDeviations(),
	)
}

// FindDeviation returns the deviation with the name. Its error names the deviations that are spelled nearly so.
func FindDeviation(name string) (Deviation, error) {
	for _, d := range slices.Concat(Deviations(), Habits()) {
		if d.Name == name {
			return d, nil
		}
	}
	return Deviation{}, fmt.Errorf("deviation %q is unknown: %s", name, Suggest(name, DeviationNames()))
}

// DeviationNames lists the names of all deviations, the benign ones last.
func DeviationNames() []string {
	var names []string
	for _, d := range slices.Concat(Deviations(), Habits()) {
		names = append(names, d.Name)
	}
	return names
}

// Habits lists the deviations that break nothing: unusual behaviour that a correct node may have, as well-known software does. They
// stand in the order of the layers that they belong to, from the wire to the records; a node that has several has them in this order.
func Habits() []Deviation {
	return slices.Concat(
		connectionHabits(), wireHabits(), gatewayHabits(), headerHabits(), notationHabits(),
		tokenHabits(), claimHabits(), tokenErrorHabits(), metadataHabits(),
		challengeHabits(), refusalHabits(), methodHabits(),
		infoHabits(), documentHabits(), listHabits(), recordHabits(),
	)
}

// everywhere lists the kinds of everything that a run looks at; the try-out space is not among them.
func everywhere() []Kind { return []Kind{Token, Info, Spec, FundingList, FundingDetail, Registry} }

// outside makes a Wrap that hands requests to do that have no kind of their own: paths that lead nowhere, metadata and keys.
// The try-out space is left alone.
func outside(do handle) wrap {
	return func(next http.Handler, env Env) http.Handler {
		return around(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
			if below(r.URL.Path, env.Places.TryOut().API()) {
				next.ServeHTTP(w, r)
				return
			}
			do(next, env, w, r)
		}, Other)(next, env)
	}
}

// both makes a Wrap of two, the first before the second.
func both(outer, inner wrap) wrap {
	return func(next http.Handler, env Env) http.Handler { return outer(inner(next, env), env) }
}

// list adds a member to a header field that is a list.
func (a *editableAnswer) list(name string, member string) {
	if have := strings.Join(a.Header.Values(name), ", "); have != "" {
		member = have + ", " + member
	}
	a.set(name, member)
}

// maxSuggestions is the number of names that a suggestion has: more would have to be searched by eye.
const maxSuggestions = 3

// Suggest names up to three of the known names with the smallest edit distance to name, or tells that none is near.
func Suggest(name string, known []string) string {
	near := Near(name, known)
	switch {
	case len(near) > 0:
		return "did you mean " + strings.Join(near, " or ") + "?"
	case len(known) == 0:
		return "there are none"
	}
	return fmt.Sprintf("there are %d, from %q to %q", len(known), known[0], known[len(known)-1])
}

// Near lists up to three of the known names that are spelled nearly as name is, the nearest first.
func Near(name string, known []string) []string {
	type candidate struct {
		name     string
		distance int
	}
	var near []candidate
	for _, k := range known {
		distance := editDistance(name, k)
		if distance <= max(len(name), len(k))/2 || name != "" && strings.Contains(k, name) {
			near = append(near, candidate{k, distance})
		}
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return a.distance - b.distance })
	names := make([]string, 0, maxSuggestions)
	for _, c := range near[:min(maxSuggestions, len(near))] {
		names = append(names, c.name)
	}
	return names
}

// editDistance is the Levenshtein distance in bytes. Names are short; a longer text is far from each of them.
func editDistance(a, b string) int {
	if len(a) > 64 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
