// Package fault is the catalogue of faults that a sandbox can show. Its [Injector] puts them before a node.
//
// A deviation breaks named requirements, so that tests can show that a conformance suite notices it. A habit is a deviation that breaks
// nothing: unusual but correct behaviour that occurs in the field, so that tests can show that a suite raises no false alarm. Both last until
// they are switched off.
//
// A scenario shows a client a fixed sequence of faults, and then good answers. It strikes the first fitting requests of each client. Random choices, if
// options ask for them, follow from the seed, so that a test of the client always has the same result.
//
// Faults wrap the handler of the node: they see requests before the node and answers after it. A few deviations change the TLS connection instead.
// What faults know about the node is in [Env]. Each fault is one row in a table: deviations are in files that are named after what they break, habits
// in habits_*.go, scenarios in scenarios_*.go. The rows use the builders in answer.go, wrap.go and credential.go; the rows of scenarios also use those
// in strike.go.
package fault

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/rin-network/rin/sandbox/devtls"
)

// Deviation is one way to misbehave, or a habit: an unusual way to behave well.
type Deviation struct {
	// Name is what users type, in kebab case.
	Name string
	// Why says in one sentence what is wrong or unusual, and where it occurs in the field.
	Why string
	// Breaks lists the ids of the requirements whose verdict gets worse. A habit breaks none.
	Breaks []string
	// Opens lists the ids of Breaks that become inconclusive and do not fail, because they can no longer be judged.
	Opens []string
	// May lists further requirements that break in some runs, depending on the random requests.
	May []string
	// Rare reports that few of the requests among which a run chooses show the deviation, so that a run of standard effort may miss it. A deep run finds
	// it, and so do several runs, because each chooses other requests.
	Rare bool
	// Warns lists the ids of the requirements for which a habit gets a warning, and nothing worse.
	Warns []string
	// Example turns a good request to the info endpoint into one that shows the deviation. It is nil if plain requests show it.
	Example func(good *http.Request)
	// Wrap puts the deviation before the node's handler. It is nil if the deviation changes connections only.
	Wrap func(next http.Handler, env Env) http.Handler
	// Transport changes how the node offers TLS. It is nil if the deviation changes requests only. Nodes without TLS cannot have it.
	Transport func(*devtls.Settings)
}

// Deviations lists every deviation that breaks something. [Habits] lists the others.
func Deviations() []Deviation {
	return slices.Concat(
		tokenDeviations(), lifetimeDeviations(), tokenRequestDeviations(), refusalDeviations(), grantDeviations(),
		challengeDeviations(), bearerDeviations(), guardDeviations(), detourDeviations(), olderVersionDeviations(), roleDeviations(), callerDeviations(), representationDeviations(), negotiationDeviations(),
		infoDeviations(), documentDeviations(), operationDeviations(), recordDeviations(), detailDeviations(), hiddenDeviations(), versionDeviations(),
		registryDeviations(), transportDeviations(), claimDeviations(), publicationDeviations(), forgeryDeviations(), forgeryKindDeviations(), isolationDeviations(),
		hygieneDeviations(), errorDeviations(), inputDeviations(), framingDeviations(), delayDeviations(), parameterDeviations(),
		pageDeviations(), lastPageDeviations(), queryDeviations(), filterDeviations(), filterPairDeviations(), valueListDeviations(), promiseDeviations(), unmatchedDeviations(), tableRowDeviations(),
		deadlineDeviations(), identityDeviations(), listFormDeviations(), agreementDeviations(), linkDeviations(), itemLinkDeviations(), viewDeviations(), copyDeviations(), instanceDeviations(), headerFieldDeviations(),
		unreadableFilterDeviations(), lockDeviations(),
	)
}

// Habits lists the deviations that break nothing: behaviour of well-known software that is unusual and right. They are ordered
// by layer, from the connection to the records. A node with several habits lists them in this order, the outermost first.
func Habits() []Deviation {
	return slices.Concat(
		connectionHabits(), wireHabits(), gatewayHabits(), headerHabits(), notationHabits(), serverHabits(),
		tokenHabits(), claimHabits(), tokenErrorHabits(), lockHabits(), metadataHabits(),
		challengeHabits(), refusalHabits(), methodHabits(), detourHabits(), olderVersionHabits(), representationHabits(), negotiationHabits(), tableHabits(),
		infoHabits(), documentHabits(), operationHabits(), identityHabits(), listHabits(), itemLinkHabits(), viewHabits(), copyHabits(), instanceHabits(), listFormHabits(), promiseHabits(), unmatchedHabits(), deadlineHabits(),
		parameterHabits(), recordHabits(),
	)
}

// FindDeviation returns the deviation or habit with the name. Its error suggests similar names.
func FindDeviation(name string) (Deviation, error) {
	all := slices.Concat(Deviations(), Habits())
	if i := slices.IndexFunc(all, func(d Deviation) bool { return d.Name == name }); i >= 0 {
		return all[i], nil
	}
	return Deviation{}, fmt.Errorf("deviation %q is unknown: %s", name, Suggest(name, DeviationNames()))
}

// FindDeviations returns the deviations and habits with the names.
func FindDeviations(names []string) ([]Deviation, error) {
	found := make([]Deviation, 0, len(names))
	for _, name := range names {
		d, err := FindDeviation(name)
		if err != nil {
			return nil, err
		}
		found = append(found, d)
	}
	return found, nil
}

// DeviationNames lists the names of all deviations, with the habits last.
func DeviationNames() []string {
	var names []string
	for _, d := range slices.Concat(Deviations(), Habits()) {
		names = append(names, d.Name)
	}
	return names
}

// maxSuggestions is the largest number of names in a suggestion.
const maxSuggestions = 3

// Suggest says which known names are similar to name, or how many there are.
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

// Near returns up to three known names that are spelled similarly to name, the nearest first.
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

// editDistance returns the Levenshtein distance in bytes. A text of more than 64 bytes, longer than any name, counts as
// different from all of them.
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
