package fault

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rin-network/rin/sandbox/content"
	"github.com/rin-network/rin/sandbox/journal"
)

// The header fields in which a request names the faults that it wants, separated by commas.
const (
	// DeviateHeader asks for deviations.
	DeviateHeader = "Rin-Deviate"
	// ScenarioHeader asks for scenarios. In an answer that a scenario changed, it names the fault: "429-then-ok 1/2" is the first of two.
	ScenarioHeader = "Rin-Scenario"
)

// maxNames limits the deviations, and the scenarios, that one request may ask for.
const maxNames = 8

// Setup is the initial state of an [Injector].
type Setup struct {
	// Habits are always in force. The journal does not name them.
	Habits []Deviation
	// Deviations are in force until they are replaced.
	Deviations []Deviation
	// Scenarios are played until they are stopped.
	Scenarios []Play
	// FaultHeaders allows requests to ask for faults in [DeviateHeader] and [ScenarioHeader].
	FaultHeaders bool
}

// Injector puts faults before a node. A request meets them in this order: deviations that it asks for, scenarios that it asks for, running
// scenarios, deviations in force, habits. Faults may change while the node serves; a request that has begun keeps its faults to the end.
type Injector struct {
	env   Env
	setup Setup
	node  http.Handler // with its habits

	inForce atomic.Pointer[faultyNode]
	mu      sync.Mutex // held by writers of running
	running atomic.Pointer[[]*runningPlay]

	// These are the faults that requests may ask for, by name. One instance serves all requests, because some faults remember earlier requests.
	deviations atomic.Pointer[map[string]func() http.Handler]
	scenarios  atomic.Pointer[map[string]*runningPlay]
}

// faultyNode is a node with the deviations in force before it.
type faultyNode struct {
	http.Handler
	names []string // the outermost first
}

// NewInjector makes an injector whose [Injector.Wrap] must be called once before the node serves.
func NewInjector(env Env, setup Setup) (*Injector, error) {
	i := &Injector{env: env, setup: setup}
	i.running.Store(&[]*runningPlay{})
	for _, p := range setup.Scenarios {
		if err := i.Play(p); err != nil {
			return nil, err
		}
	}
	i.resetRequested()
	return i, nil
}

// Wrap puts the faults before a node.
func (i *Injector) Wrap(node http.Handler) http.Handler {
	i.node = i.stack(node, i.setup.Habits)
	i.replaceDeviations(i.setup.Deviations)
	if i.setup.FaultHeaders {
		return http.HandlerFunc(i.serveRequestedDeviations)
	}
	return http.HandlerFunc(i.serveRunning)
}

// stack puts deviations before a node, the first outermost. It skips deviations of connections, which the listener applies.
func (i *Injector) stack(node http.Handler, deviations []Deviation) http.Handler {
	for _, d := range slices.Backward(deviations) {
		if d.Wrap != nil {
			node = d.Wrap(node, i.env)
		}
	}
	return node
}

// Deviate replaces the deviations in force from the next request on. The new deviations start without state. Deviate changes nothing if it returns an
// error: for an unknown name, or for a deviation of connections that was not in the setup.
func (i *Injector) Deviate(names ...string) error {
	deviations, err := FindDeviations(names)
	if err != nil {
		return err
	}
	for _, d := range deviations {
		if d.Transport != nil && !slices.ContainsFunc(i.setup.Deviations, func(s Deviation) bool { return s.Name == d.Name }) {
			return &NeedsStartError{Deviation: d.Name}
		}
	}
	i.replaceDeviations(deviations)
	return nil
}

func (i *Injector) replaceDeviations(deviations []Deviation) {
	var names []string
	for _, d := range deviations {
		names = append(names, d.Name)
	}
	i.inForce.Store(&faultyNode{i.stack(i.node, deviations), names})
}

// Deviations names the deviations in force, the outermost first.
func (i *Injector) Deviations() []string { return slices.Clone(i.inForce.Load().names) }

// serveInForce passes a request through the deviations in force.
func (i *Injector) serveInForce(w http.ResponseWriter, r *http.Request) {
	node := i.inForce.Load()
	journal.FromContext(r.Context()).Deviate(node.names...)
	node.ServeHTTP(w, r)
}

// Play begins a scenario after the running ones. A scenario that runs for the same client and path restarts.
func (i *Injector) Play(p Play) error {
	p, scenario, err := p.complete(i.env)
	if err != nil {
		return err
	}
	i.changeRunning(func(plays []*runningPlay) []*runningPlay {
		plays = slices.DeleteFunc(plays, func(r *runningPlay) bool {
			return r.play.Name == p.Name && r.play.Client == p.Client && r.play.Path == p.Path
		})
		return append(plays, newRunningPlay(p, scenario))
	})
	return nil
}

// Stop ends the named scenarios, or all if no name is given. If a named scenario is not running, Stop ends none and returns an error.
func (i *Injector) Stop(names ...string) error {
	var known []string
	for _, p := range *i.running.Load() {
		known = append(known, p.play.Name)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return fmt.Errorf("scenario %q is not running: %s", name, Suggest(name, known))
		}
	}
	i.changeRunning(func(plays []*runningPlay) []*runningPlay {
		return slices.DeleteFunc(plays, func(r *runningPlay) bool { return len(names) == 0 || slices.Contains(names, r.play.Name) })
	})
	return nil
}

// Reset returns to the setup. Deviations and scenarios forget earlier requests; habits keep their state.
func (i *Injector) Reset() {
	i.resetRequested()
	i.replaceDeviations(i.setup.Deviations)
	i.changeRunning(func([]*runningPlay) []*runningPlay { return nil })
	for _, p := range i.setup.Scenarios {
		_ = i.Play(p) // cannot fail: it succeeded in NewInjector
	}
}

// Plays lists the running scenarios in the order in which they see requests.
func (i *Injector) Plays() []PlayStatus {
	all := []PlayStatus{}
	for _, p := range *i.running.Load() {
		all = append(all, p.status())
	}
	return all
}

// changeRunning replaces the running plays by what change makes of a copy of them.
func (i *Injector) changeRunning(change func(plays []*runningPlay) []*runningPlay) {
	i.mu.Lock()
	defer i.mu.Unlock()
	plays := change(slices.Clone(*i.running.Load()))
	i.running.Store(&plays)
}

// serveRunning passes a request through the running scenarios that apply to it.
func (i *Injector) serveRunning(w http.ResponseWriter, r *http.Request) {
	kind := kindOf(i.env.Places, r.URL.Path)
	var fitting []*runningPlay
	for _, p := range *i.running.Load() {
		if p.play.fits(p.scenario, kind, r) {
			fitting = append(fitting, p)
		}
	}
	i.strike(fitting, kind, i.serveInForce, w, r)
}

// resetRequested replaces the faults that requests may ask for with new instances, which have no state.
func (i *Injector) resetRequested() {
	deviations := map[string]func() http.Handler{}
	for _, d := range slices.Concat(Deviations(), Habits()) {
		if d.Wrap != nil {
			deviations[d.Name] = sync.OnceValue(func() http.Handler { return d.Wrap(http.HandlerFunc(i.serveNextRequested), i.env) })
		}
	}
	i.deviations.Store(&deviations)
	scenarios := map[string]*runningPlay{}
	for _, s := range Scenarios() {
		scenarios[s.Name] = newRunningPlay(Play{Name: s.Name, Wait: s.Wait}, s)
	}
	i.scenarios.Store(&scenarios)
}

// serveRequestedDeviations passes a request through the deviations that it asks for, the first outermost.
func (i *Injector) serveRequestedDeviations(w http.ResponseWriter, r *http.Request) {
	names, deviations, err := i.requestedDeviations(r)
	if err != nil {
		content.BadRequest(DeviateHeader+": "+err.Error(), "rin sandbox --deviations lists them").Write(w, r)
		return
	}
	journal.FromContext(r.Context()).Deviate(names...)
	i.serveNextRequested(w, withRequested(r, deviations))
}

// requestedDeviations returns the deviations that a request asks for.
func (i *Injector) requestedDeviations(r *http.Request) (names []string, deviations []http.Handler, err error) {
	if names, err = requestedNames(r, DeviateHeader); err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		if _, err := FindDeviation(name); err != nil {
			return nil, nil, err
		}
		deviation, ok := (*i.deviations.Load())[name]
		if !ok {
			return nil, nil, &NeedsStartError{Deviation: name}
		}
		deviations = append(deviations, deviation())
	}
	return names, deviations, nil
}

// requestedKey is the key of the context value that [withRequested] sets.
type requestedKey struct{}

// withRequested returns r with the requested deviations that it must still pass.
func withRequested(r *http.Request, deviations []http.Handler) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), requestedKey{}, deviations))
}

// serveNextRequested passes a request to the next deviation that it asks for, and then to the scenarios that it asks for.
func (i *Injector) serveNextRequested(w http.ResponseWriter, r *http.Request) {
	if deviations, _ := r.Context().Value(requestedKey{}).([]http.Handler); len(deviations) > 0 {
		deviations[0].ServeHTTP(w, withRequested(r, deviations[1:]))
		return
	}
	kind := kindOf(i.env.Places, r.URL.Path)
	plays, err := i.requestedScenarios(r, kind)
	if err != nil {
		content.BadRequest(ScenarioHeader+": "+err.Error(), "rin sandbox --scenarios lists them, and what each strikes").Write(w, r)
		return
	}
	i.strike(plays, kind, i.serveRunning, w, r)
}

// requestedScenarios returns the scenarios that a request asks for. They never end, because each request asks for its own fault.
func (i *Injector) requestedScenarios(r *http.Request, kind Kind) ([]*runningPlay, error) {
	names, err := requestedNames(r, ScenarioHeader)
	if err != nil {
		return nil, err
	}
	var plays []*runningPlay
	for _, name := range names {
		p, err := ParsePlay(name)
		if err != nil {
			return nil, err
		}
		s, _ := FindScenario(p.Name) // ParsePlay has found it
		if !slices.Contains(s.allowedKinds(), kind) {
			return nil, fmt.Errorf("scenario %s does not strike such a request: expected one of %s", p.Name, joinKinds(s.allowedKinds()))
		}
		if p == (Play{Name: p.Name}) && !s.ByHand {
			plays = append(plays, (*i.scenarios.Load())[p.Name])
			continue
		}
		play, err := i.requestedPlay(p)
		if err != nil {
			return nil, err
		}
		plays = append(plays, play)
	}
	return plays, nil
}

// requestedPlay makes a play for one request that asks for it with options. It refuses options that select requests.
func (i *Injector) requestedPlay(p Play) (*runningPlay, error) {
	if p.Times != 0 || p.After != 0 || p.Every != 0 || p.Client != "" || p.Path != "" || p.Method != "" {
		return nil, fmt.Errorf("scenario %s: expected the options wait, jitter, rate, status and body only, because the others select requests", p.Name)
	}
	p, s, err := p.complete(i.env)
	p.Times = 0 // no end
	return newRunningPlay(p, s), err
}

// requestedNames reads the names in a header field.
func requestedNames(r *http.Request, header string) ([]string, error) {
	fields := strings.Join(r.Header.Values(header), ",")
	names := strings.FieldsFunc(fields, func(c rune) bool { return c == ',' || c == ' ' || c == '\t' })
	if len(names) > maxNames {
		return nil, fmt.Errorf("%d names for one request: expected %d at most", len(names), maxNames)
	}
	return names, nil
}

// NeedsStartError says that a deviation changes connections, so that only a start of the node can put it in force.
type NeedsStartError struct{ Deviation string }

// Error implements error.
func (e *NeedsStartError) Error() string {
	return fmt.Sprintf("deviation %q works on connections and can't be put in force while the node serves: name it at the start", e.Deviation)
}
