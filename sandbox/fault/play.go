package fault

import (
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rin-network/rin/sandbox/address"
)

// The bounds of a play.
const (
	MaxTimes = 1000
	MaxWait  = time.Hour
	MaxBody  = 64 << 10 // bytes
)

// Play is a scenario with options. Where an option is zero, the scenario's own value applies.
type Play struct {
	// Name is the name of the scenario.
	Name string
	// Client is the id of the only client that is struck. Without it all clients are struck, each by its own sequence.
	Client string
	// Path limits the requests to a path and all below it, or to a [Kind] by its name. Method limits them to a method.
	Path, Method string
	// Times is the number of faults for each client, at most [MaxTimes].
	Times int
	// Wait is the scenario's wait, at most [MaxWait]. Jitter is the largest random difference from it, up or down.
	Wait, Jitter time.Duration
	// After is the number of first requests of each client that are not struck. Of the later requests, Every strikes each nth, and Rate strikes a random
	// part: 0.1 is one in ten.
	After, Every int
	Rate         float64
	// Status and Body are the answer of the scenario [Answer].
	Status int
	Body   string
}

// playOption is an option of a play. Its name is the same in --scenario, in [ScenarioHeader], as a flag of rin sandbox play, in the configuration file
// and in the control API.
type playOption struct {
	name, expected string
	set            func(p *Play, text string) error
}

// playOptions lists the options of a play.
func playOptions() []playOption {
	number := func(least, most int, into func(*Play) *int) func(*Play, string) error {
		return func(p *Play, text string) error {
			n, err := strconv.Atoi(text)
			if err == nil && (n < least || n > most) {
				err = strconv.ErrRange
			}
			*into(p) = n
			return err
		}
	}
	duration := func(into func(*Play) *time.Duration) func(*Play, string) error {
		return func(p *Play, text string) (err error) {
			*into(p), err = time.ParseDuration(text)
			return err
		}
	}
	return []playOption{
		{"client", "a client id", func(p *Play, text string) error { p.Client = text; return nil }},
		{"path", "a path or kind", func(p *Play, text string) error { p.Path = text; return nil }},
		{"method", "a method such as GET", func(p *Play, text string) error { p.Method = strings.ToUpper(text); return nil }},
		{"times", fmt.Sprintf("a number from 1 to %d", MaxTimes), number(1, MaxTimes, func(p *Play) *int { return &p.Times })},
		{"wait", "a duration such as 1s", duration(func(p *Play) *time.Duration { return &p.Wait })},
		{"jitter", "a duration such as 50ms", duration(func(p *Play) *time.Duration { return &p.Jitter })},
		{"after", fmt.Sprintf("a number from 1 to %d", MaxTimes), number(1, MaxTimes, func(p *Play) *int { return &p.After })},
		{"every", fmt.Sprintf("a number from 1 to %d", MaxTimes), number(1, MaxTimes, func(p *Play) *int { return &p.Every })},
		{"rate", "a part such as 10% or 0.1", func(p *Play, text string) (err error) { p.Rate, err = parseRate(text); return err }},
		{"status", "a status from 200 to 599", number(200, 599, func(p *Play) *int { return &p.Status })},
		{"body", fmt.Sprintf("a text of at most %d bytes", MaxBody), func(p *Play, text string) error { p.Body = text; return nil }},
	}
}

// parseRate reads a rate as a number above 0 and up to 1: from "10%" or "0.1".
func parseRate(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	rate, err := strconv.ParseFloat(number, 64)
	if percent {
		rate /= 100
	}
	if err == nil && !(rate > 0 && rate <= 1) {
		err = strconv.ErrRange
	}
	return rate, err
}

// Set reads an option of a play.
func (p *Play) Set(option, text string) error {
	all := playOptions()
	i := slices.IndexFunc(all, func(o playOption) bool { return o.name == option })
	if i < 0 {
		names := make([]string, len(all))
		for i, o := range all {
			names[i] = o.name
		}
		return fmt.Errorf("scenario %s: option %q is unknown: %s", p.Name, option, Suggest(option, names))
	}
	if text == "" || all[i].set(p, text) != nil {
		return fmt.Errorf("scenario %s: %s=%s: expected %s", p.Name, option, text, all[i].expected)
	}
	return nil
}

// ParsePlay reads a play as users type it: NAME[:OPTION=VALUE]..., such as 503-twice:client=ID:times=3.
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
			return p, fmt.Errorf("scenario %s: %q is not an option: expected OPTION=VALUE, such as times=3", name, part)
		default: // a colon in a value
			values[last] += ":" + part
		}
	}
	for _, option := range slices.Sorted(maps.Keys(values)) {
		if err := p.Set(option, values[option]); err != nil {
			return p, err
		}
	}
	return p, nil
}

// complete fills in the scenario's own values, and refuses a play that the node cannot play.
func (p Play) complete(env Env) (Play, Scenario, error) {
	s, err := FindScenario(p.Name)
	if err != nil {
		return p, s, err
	}
	if p.Times == 0 && (p.Every > 0 || p.Rate > 0) {
		p.Times = MaxTimes
	}
	if p.Times == 0 {
		p.Times = s.Times
	}
	if p.Wait == 0 {
		p.Wait = s.Wait
	}
	if err := errors.Join(p.checkOptions(s), p.checkTarget(s, env)); err != nil {
		return p, s, fmt.Errorf("scenario %s %w", p.Name, err)
	}
	return p, s, nil
}

// checkOptions checks the options that do not depend on the node. The error continues the sentence "scenario NAME ...".
func (p Play) checkOptions(s Scenario) error {
	switch {
	case p.Times < 1 || p.Times > MaxTimes:
		return fmt.Errorf("is played %d times: expected 1 to %d times", p.Times, MaxTimes)
	case p.Wait < 0 || p.Wait > MaxWait:
		return fmt.Errorf("waits %s: expected a wait of at most %s", p.Wait, MaxWait)
	case p.Jitter < 0 || p.Jitter > p.Wait:
		return fmt.Errorf("has a jitter of %s: expected at most the wait, %s", p.Jitter, p.Wait)
	case p.After < 0 || p.Every < 0 || p.Rate < 0 || p.Rate > 1:
		return fmt.Errorf("has after %d, every %d, rate %g: expected numbers from 0, and a rate of at most 1", p.After, p.Every, p.Rate)
	case p.Every > 0 && p.Rate > 0:
		return errors.New("has every and rate: expected one of them")
	case s.Name == Answer && p.Status == 0:
		return errors.New("has no status: expected one, such as status=404")
	case s.Name != Answer && (p.Status != 0 || p.Body != ""):
		return fmt.Errorf("takes neither status nor body: expected the scenario %s", Answer)
	case p.Status != 0 && (p.Status < 200 || p.Status > 599):
		return fmt.Errorf("has the status %d: expected 200 to 599", p.Status)
	case len(p.Body) > MaxBody:
		return fmt.Errorf("has a body of %d bytes: expected at most %d", len(p.Body), MaxBody)
	}
	return nil
}

// checkTarget checks that the play can strike some request. The error continues the sentence "scenario NAME ...".
func (p Play) checkTarget(s Scenario, env Env) error {
	switch {
	case strings.ContainsAny(p.Path, "?#"):
		return fmt.Errorf("has the path %q: expected one without a query and a fragment, because plays compare paths only", p.Path)
	case p.Path != "" && !p.hasAllowedPath(s, env.Places):
		return fmt.Errorf("strikes no request at %q: expected a path of the node, or one of %s", p.Path, joinKinds(s.allowedKinds()))
	case strings.HasPrefix(p.Path, "/") && env.Serves != nil && !env.Serves(p.Path):
		return fmt.Errorf("strikes no request at %q: the node serves nothing there", p.Path)
	}
	if p.Client == "" || env.Clients == nil {
		return nil
	}
	var known []string
	for _, c := range env.Clients() {
		known = append(known, c.ID)
	}
	if !slices.Contains(known, p.Client) && !(env.IsForeign != nil && env.IsForeign(p.Client)) {
		return fmt.Errorf("strikes only the client %q, which is unknown: %s", p.Client, Suggest(p.Client, known))
	}
	return nil
}

// hasAllowedPath reports whether the scenario may strike requests to the path of the play.
func (p Play) hasAllowedPath(s Scenario, places address.Map) bool {
	kinds := s.allowedKinds()
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

// fits reports whether the play applies to a request of a kind, whatever its client.
func (p Play) fits(s Scenario, kind Kind, r *http.Request) bool {
	path := r.URL.Path
	switch {
	case kind == Other, p.Method != "" && p.Method != r.Method:
		return false
	case p.Path == "":
		return slices.Contains(s.Strikes, kind)
	case !strings.HasPrefix(p.Path, "/"):
		return kind == Kind(p.Path)
	}
	return slices.Contains(s.allowedKinds(), kind) && isBelow(path, p.Path)
}

// strikesNth reports whether the play strikes the nth request of a client; n counts from 0. The decision by a rate depends on the seed, the client and n
// only, so that a run can be repeated.
func (p Play) strikesNth(n int, seed uint64, client string) bool {
	n -= p.After
	switch {
	case n < 0:
		return false
	case p.Every > 0:
		return n%p.Every == p.Every-1
	case p.Rate > 0:
		return draw(seed, p.Name+" "+client, n) < p.Rate
	}
	return true
}

// wait returns the wait of the nth fault of a client, with its jitter.
func (p Play) wait(n int, seed uint64, client string) time.Duration {
	return p.Wait + time.Duration((2*draw(seed, "wait "+client, n)-1)*float64(p.Jitter))
}

// draw returns a pseudo-random number in [0, 1) that depends on its arguments only.
func draw(seed uint64, name string, n int) float64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return rand.New(rand.NewPCG(seed^h.Sum64(), uint64(n))).Float64()
}
