package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rin-network/rin/sandbox/spelling"
)

// Header is the field of an answer that a scenario spoilt: "429-then-ok 1/2" is the first of two.
const Header = "Rin-Scenario"

// Scenario is one sequence of faults.
type Scenario struct {
	// Name is what an operator types, in kebab case.
	Name string
	// Does says in one sentence what is answered.
	Does string
	// Why says where that is met in the field.
	Why string
	// Client says what a good client does.
	Client string
	// Times is the number of faults for each client, unless a play says otherwise.
	Times int
	// Wait is how long something takes, unless a play says otherwise: what Does means by it. It is 0 where nothing does.
	Wait time.Duration
	// Strikes lists the kinds of requests that are struck when a play names no path.
	Strikes []Kind
	// Also lists further kinds that are struck when a play names them.
	Also []Kind

	// begin makes what strikes, with a memory of its own.
	begin func() act
}

// All lists every scenario, group by group.
func All() []Scenario {
	return slices.Concat(refusals(), redirects(), tokens(), deliveries(), contents())
}

// Names lists the names of all scenarios.
func Names() []string {
	var names []string
	for _, s := range All() {
		names = append(names, s.Name)
	}
	return names
}

// Find returns the scenario with the name. Its error names those that are spelled nearly so.
func Find(name string) (Scenario, error) {
	for _, s := range All() {
		if s.Name == name {
			return s, nil
		}
	}
	return Scenario{}, fmt.Errorf("scenario %q is unknown: %s", name, spelling.Suggest(name, Names()))
}

// kinds lists all kinds that a play may name.
func (s Scenario) kinds() []Kind { return slices.Concat(s.Strikes, s.Also) }

// Kinds tells which requests are struck, in words.
func (s Scenario) Kinds() string {
	text := joined(s.Strikes)
	if len(s.Also) > 0 {
		text += "; if named: " + joined(s.Also)
	}
	return text
}

func joined(kinds []Kind) string {
	var words []string
	for _, k := range kinds {
		words = append(words, string(k))
	}
	return strings.Join(words, ", ")
}
