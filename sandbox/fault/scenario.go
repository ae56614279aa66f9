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

// ScenarioHeader is the field of an answer that a scenario spoilt: "429-then-ok 1/2" is the first of two.
const ScenarioHeader = "Rin-Scenario"

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

// Scenarios lists every scenario, group by group.
func Scenarios() []Scenario {
	return slices.Concat(refusals(), redirects(), tokens(), deliveries(), contents())
}

// ScenarioNames lists the names of all scenarios.
func ScenarioNames() []string {
	var names []string
	for _, s := range Scenarios() {
		names = append(names, s.Name)
	}
	return names
}

// FindScenario returns the scenario with the name. Its error names those that are spelled nearly so.
func FindScenario(name string) (Scenario, error) {
	for _, s := range Scenarios() {
		if s.Name == name {
			return s, nil
		}
	}
	return Scenario{}, fmt.Errorf("scenario %q is unknown: %s", name, Suggest(name, ScenarioNames()))
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

// The bounds of a play.
const (
	MaxTimes = 1000
	MaxWait  = time.Hour
)

// Play is a scenario as it was asked for. The zero value of each field but the name is the scenario's own.
type Play struct {
	// Name is that of the scenario.
	Name string
	// Client is the id of the one client that is struck; all are when it is empty, each in a sequence of its own.
	Client string
	// Path narrows the requests: a path with all below it, or the name of a [Kind].
	Path string
	// Times is the number of faults for each client, at most [MaxTimes].
	Times int
	// Wait is how long something takes, in the sense of the scenario, at most [MaxWait].
	Wait time.Duration
}

// ParsePlay reads a play as an operator types it: NAME[:client=ID][:path=PATH][:times=N][:wait=DURATION].
func ParsePlay(text string) (Play, error) {
	name, options, more := strings.Cut(text, ":")
	p := Play{Name: name}
	if _, err := FindScenario(name); err != nil {
		return p, err
	}
	if !more {
		return p, nil
	}
	given := map[string]string{}
	var last string
	for part := range strings.SplitSeq(options, ":") {
		option := regexp.MustCompile(`^[a-z]+=`).FindString(part)
		switch {
		case option != "":
			last = strings.TrimSuffix(option, "=")
			if _, twice := given[last]; twice {
				return p, fmt.Errorf("scenario %s: option %s is given twice: expected it once", name, last)
			}
			given[last] = strings.TrimPrefix(part, option)
		case last == "":
			return p, fmt.Errorf("scenario %s: %q is no option: expected client=, path=, times= or wait=", name, part)
		default: // a colon in a value
			given[last] += ":" + part
		}
	}
	return p, p.set(given)
}

// set reads the options of a play.
func (p *Play) set(given map[string]string) error {
	for option, value := range given {
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
			return fmt.Errorf("scenario %s: %s=%s: expected %s", p.Name, option, value,
				map[string]string{"client": "a client id", "path": "a path or kind", "times": "a number", "wait": "a duration such as 1s"}[option])
		}
	}
	return nil
}

// complete fills in what the scenario says itself, and refuses what it can't play.
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
		return p, s, fmt.Errorf("scenario %s: no request that it strikes is at %q: expected a path of the node, or one of %s", p.Name, p.Path, joined(s.kinds()))
	}
	return p, s, nil
}

// meets tells whether any request that the scenario may strike is at the path.
func (p Play) meets(s Scenario, places address.Map) bool {
	kinds := s.kinds()
	if !strings.HasPrefix(p.Path, "/") {
		return slices.Contains(kinds, Kind(p.Path))
	}
	if slices.Contains(kinds, kindOf(places, p.Path)) {
		return true
	}
	for _, at := range []string{places.Token(), places.RealmToken(), places.Certs(), places.Registry(), places.Info(), places.Spec(), places.Fundings(), places.TryOut().API()} {
		if isBelow(at, strings.TrimSuffix(p.Path, "/")) && slices.Contains(kinds, kindOf(places, at)) {
			return true
		}
	}
	return false
}

// fits tells whether a request of a kind is one that the play strikes.
func (p Play) fits(s Scenario, kind Kind, path string) bool {
	switch {
	case kind == Other:
		return false
	case p.Path == "":
		return slices.Contains(s.Strikes, kind)
	case !strings.HasPrefix(p.Path, "/"):
		return kind == Kind(p.Path)
	}
	return slices.Contains(s.kinds(), kind) && isBelow(path, strings.TrimSuffix(p.Path, "/"))
}
