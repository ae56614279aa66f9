package fault

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rin-network/rin/sandbox/address"
)

// Scenario is a sequence of faults.
type Scenario struct {
	// Name is what users type, in kebab case.
	Name string
	// Does says in one sentence what is answered.
	Does string
	// Why says where that occurs in the field.
	Why string
	// Client says what a good client does. MayStop reports that it may end with an error.
	Client  string
	MayStop bool
	// Times is the number of faults for each client, unless a play says otherwise.
	Times int
	// Wait is a duration, unless a play says otherwise; Does says what happens in it. It is 0 for a scenario in which nothing takes time.
	Wait time.Duration
	// Strikes lists the kinds of requests that are struck when a play names no path.
	Strikes []Kind
	// Also lists the kinds that are struck only when a play names them.
	Also []Kind

	// begin makes the act of a play, with its own memory.
	begin func() act
}

// Scenarios lists every scenario.
func Scenarios() []Scenario {
	return slices.Concat(refusalScenarios(), redirectScenarios(), tokenScenarios(), deliveryScenarios(), contentScenarios())
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

// kinds lists all kinds that a play may name.
func (s Scenario) kinds() []Kind { return slices.Concat(s.Strikes, s.Also) }

// Kinds says which requests are struck.
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

// dataKinds lists the kinds of requests for info, fundings, and what else is below the service prefix.
func dataKinds() []Kind { return []Kind{Info, List, Detail, API} }

// openKinds lists the kinds of requests that need no access token.
func openKinds() []Kind { return []Kind{Token, Keys, Metadata, Registry, Document, TryOut} }

// The bounds of a play.
const (
	MaxTimes = 1000
	MaxWait  = time.Hour
)

// Play is a scenario with options. Where an option is zero, the scenario's own value applies.
type Play struct {
	// Name is that of the scenario.
	Name string
	// Client is the id of the only client that is struck. Without it all clients are struck, each by its own sequence.
	Client string
	// Path limits the requests to a path and all below it, or to a [Kind] by its name.
	Path string
	// Times is the number of faults for each client, at most [MaxTimes].
	Times int
	// Wait is how long something takes, at most [MaxWait].
	Wait time.Duration
}

// ParsePlay reads a play as users type it: NAME[:client=ID][:path=PATH][:times=N][:wait=DURATION].
func ParsePlay(text string) (Play, error) {
	name, options, more := strings.Cut(text, ":")
	p := Play{Name: name}
	if _, err := FindScenario(name); err != nil {
		return p, err
	}
	if !more {
		return p, nil
	}
	values := map[string]string{}
	var last string
	for part := range strings.SplitSeq(options, ":") {
		option := regexp.MustCompile(`^[a-z]+=`).FindString(part)
		switch {
		case option != "":
			last = strings.TrimSuffix(option, "=")
			if _, twice := values[last]; twice {
				return p, fmt.Errorf("scenario %s: option %s is given twice: expected it once", name, last)
			}
			values[last] = strings.TrimPrefix(part, option)
		case last == "":
			return p, fmt.Errorf("scenario %s: %q is not an option: expected client=, path=, times= or wait=", name, part)
		default: // a colon in a value
			values[last] += ":" + part
		}
	}
	return p, p.set(values)
}

// set reads the options of a play.
func (p *Play) set(values map[string]string) error {
	expected := map[string]string{"client": "a client id", "path": "a path or kind", "times": "a number", "wait": "a duration such as 1s"}
	for option, value := range values {
		var err error
		switch option {
		case "client":
			p.Client = value
		case "path":
			p.Path = value
		case "times":
			p.Times, err = strconv.Atoi(value)
		case "wait":
			p.Wait, err = time.ParseDuration(value)
		default:
			return fmt.Errorf("scenario %s: option %q is unknown: %s", p.Name, option, Suggest(option, []string{"client", "path", "times", "wait"}))
		}
		if err != nil || value == "" {
			return fmt.Errorf("scenario %s: %s=%s: expected %s", p.Name, option, value, expected[option])
		}
	}
	return nil
}

// complete fills in the scenario's own values, and refuses a play that is impossible.
func (p Play) complete(places address.Map) (Play, Scenario, error) {
	s, err := FindScenario(p.Name)
	if err != nil {
		return p, s, err
	}
	if p.Times == 0 {
		p.Times = s.Times
	}
	if p.Wait == 0 {
		p.Wait = s.Wait
	}
	switch {
	case p.Times < 1 || p.Times > MaxTimes:
		return p, s, fmt.Errorf("scenario %s: expected 1 to %d times, got %d", p.Name, MaxTimes, p.Times)
	case p.Wait < 0 || p.Wait > MaxWait:
		return p, s, fmt.Errorf("scenario %s: expected a wait of at most %s, got %s", p.Name, MaxWait, p.Wait)
	case p.Path != "" && !p.meets(s, places):
		return p, s, fmt.Errorf("scenario %s strikes no request at %q: expected a path of the node, or one of %s", p.Name, p.Path, joinKinds(s.kinds()))
	}
	return p, s, nil
}

// meets tells whether the scenario may strike any request at the path.
func (p Play) meets(s Scenario, places address.Map) bool {
	kinds := s.kinds()
	if !strings.HasPrefix(p.Path, "/") {
		return slices.Contains(kinds, Kind(p.Path))
	}
	if slices.Contains(kinds, kindOf(places, p.Path)) {
		return true
	}
	known := []string{
		places.Token(), places.RealmToken(), places.Certs(), places.Registry(), places.Info(), places.Spec(), places.Fundings(), places.TryOut().API(),
	}
	return slices.ContainsFunc(known, func(path string) bool {
		return isBelow(path, p.Path) && slices.Contains(kinds, kindOf(places, path))
	})
}

// fits tells whether the play strikes requests of a kind to a path.
func (p Play) fits(s Scenario, kind Kind, path string) bool {
	switch {
	case kind == Other:
		return false
	case p.Path == "":
		return slices.Contains(s.Strikes, kind)
	case !strings.HasPrefix(p.Path, "/"):
		return kind == Kind(p.Path)
	}
	return slices.Contains(s.kinds(), kind) && isBelow(path, p.Path)
}
