package deviation

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/rin-network/rin/sandbox/transport"
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
	Transport func(*transport.Settings)
}

// All lists every deviation that breaks something, group by group. [Benign] lists the others.
func All() []Deviation {
	return slices.Concat(
		tokenDeviations(), lifetimeDeviations(), tokenRequestDeviations(), refusalDeviations(), grantDeviations(),
		challengeDeviations(), bearerDeviations(), detourDeviations(), roleDeviations(),
		infoDeviations(), specDeviations(), operationDeviations(), recordDeviations(), listDeviations(), versionDeviations(),
		registryDeviations(), transportDeviations(), claimDeviations(), publicationDeviations(), forgeryDeviations(), isolationDeviations(), hygieneDeviations(),
		errorDeviations(), robustnessDeviations(), parameterDeviations(), pagingDeviations(),
	)
}

// Find returns the deviation with the name. Its error names the deviations that are spelled nearly so.
func Find(name string) (Deviation, error) {
	all := slices.Concat(All(), Benign())
	for _, d := range all {
		if d.Name == name {
			return d, nil
		}
	}
	return Deviation{}, fmt.Errorf("deviation %q is unknown: %s", name, suggestion(name, all))
}

// suggestion names up to three deviations with the smallest edit distance to name, or tells that none is near.
func suggestion(name string, all []Deviation) string {
	type candidate struct {
		name     string
		distance int
	}
	var near []candidate
	for _, d := range all {
		distance := editDistance(name, d.Name)
		if distance <= max(len(name), len(d.Name))/2 || strings.Contains(d.Name, name) {
			near = append(near, candidate{d.Name, distance})
		}
	}
	if len(near) == 0 {
		return fmt.Sprintf("there are %d, from %q to %q", len(all), all[0].Name, all[len(all)-1].Name)
	}
	slices.SortStableFunc(near, func(a, b candidate) int { return a.distance - b.distance })
	names := make([]string, 0, 3)
	for _, c := range near[:min(3, len(near))] {
		names = append(names, c.name)
	}
	return "did you mean " + strings.Join(names, " or ") + "?"
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
