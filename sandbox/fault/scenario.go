package fault

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Scenario is a sequence of faults.
type Scenario struct {
	// Name is what users type, in kebab case.
	Name string
	// Does says in one sentence what the node answers.
	Does string
	// Why says where such answers occur.
	Why string
	// Client says what a good client does. MayStop allows the client to end with an error.
	Client  string
	MayStop bool
	// Times is the number of faults for each client. A play can change it.
	Times int
	// Wait is the duration that Does calls "the wait"; 0 if the scenario has no wait. A play can change it.
	Wait time.Duration
	// Strikes lists the kinds of requests that get the fault if the play names no path.
	Strikes []Kind
	// Also lists the kinds that get the fault only if the play names them.
	Also []Kind
	// ByHand marks a scenario that needs options to be useful. Runs through all scenarios leave it out.
	ByHand bool

	// begin makes the act of a play; each play has its own state.
	begin func() act
}

// Scenarios lists every scenario.
func Scenarios() []Scenario {
	return slices.Concat(refusalScenarios(), redirectScenarios(), tokenScenarios(), deliveryScenarios(), contentScenarios(), handScenarios())
}

// ScenarioNames lists the names of all scenarios.
func ScenarioNames() []string {
	var names []string
	for _, s := range Scenarios() {
		names = append(names, s.Name)
	}
	return names
}

// FindScenario returns the scenario with the name. Its error suggests similar names.
func FindScenario(name string) (Scenario, error) {
	all := Scenarios()
	if i := slices.IndexFunc(all, func(s Scenario) bool { return s.Name == name }); i >= 0 {
		return all[i], nil
	}
	return Scenario{}, fmt.Errorf("scenario %q is unknown: %s", name, Suggest(name, ScenarioNames()))
}

// allowedKinds lists all kinds that a play may name.
func (s Scenario) allowedKinds() []Kind { return slices.Concat(s.Strikes, s.Also) }

// Kinds says in words which requests get the fault.
func (s Scenario) Kinds() string {
	text := joinKinds(s.Strikes)
	if len(s.Also) > 0 {
		text += "; if named: " + joinKinds(s.Also)
	}
	return text
}

func joinKinds(kinds []Kind) string {
	var words []string
	for _, k := range kinds {
		words = append(words, string(k))
	}
	return strings.Join(words, ", ")
}

// dataKinds lists the kinds of requests for info, fundings, and everything else below the service prefix.
func dataKinds() []Kind { return []Kind{Info, List, Detail, API} }

// openKinds lists the kinds of requests that need no access token.
func openKinds() []Kind { return []Kind{Token, Keys, Metadata, Registry, Document, TryOut} }
