package fault

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rin-network/rin/sandbox/auth"
	"github.com/rin-network/rin/sandbox/content"
	"github.com/rin-network/rin/sandbox/journal"
)

// Injector is the plays of one node. It is safe for concurrent use; a request that has begun goes its way to the end.
type Injector struct {
	env        ScenarioEnv
	configured []Play
	changing   sync.Mutex
	plays      atomic.Pointer[[]*running]
	named      atomic.Pointer[map[string]*running] // for requests that ask for them
}

// NewInjector makes a stage with the plays that a node is configured with.
func NewInjector(env ScenarioEnv, configured []Play) (*Injector, error) {
	s := &Injector{env: env}
	s.plays.Store(&[]*running{})
	for _, p := range configured {
		if err := s.Play(p); err != nil {
			return nil, err
		}
	}
	s.configured = slices.Clone(configured)
	s.forget()
	return s, nil
}

// Play begins a play, or begins it anew when one of this name for the same client and path is on. It comes after those that are on.
func (s *Injector) Play(p Play) error {
	p, scenario, err := p.complete(s.env.Places)
	if err != nil {
		return err
	}
	s.change(func(on []*running) []*running {
		on = slices.DeleteFunc(on, func(r *running) bool {
			return r.play.Name == p.Name && r.play.Client == p.Client && r.play.Path == p.Path
		})
		return append(on, begin(p, scenario))
	})
	return nil
}

// Stop ends the plays of the names, or all when none is given. It refuses names of scenarios that are not on, and then ends nothing.
func (s *Injector) Stop(names ...string) error {
	var on []string
	for _, p := range *s.plays.Load() {
		on = append(on, p.play.Name)
	}
	for _, name := range names {
		if !slices.Contains(on, name) {
			return fmt.Errorf("scenario %q is not on: %s", name, Suggest(name, on))
		}
	}
	s.change(func(on []*running) []*running {
		return slices.DeleteFunc(on, func(r *running) bool { return len(names) == 0 || slices.Contains(names, r.play.Name) })
	})
	return nil
}

// Reset begins the plays that the node was configured with anew, and ends all others.
func (s *Injector) Reset() {
	s.forget()
	s.change(func([]*running) []*running { return nil })
	for _, p := range s.configured {
		_ = s.Play(p) // was good when the node was made
	}
}

// Playing lists the plays in the order in which they see requests.
func (s *Injector) Playing() []PlayStatus {
	all := []PlayStatus{}
	for _, p := range *s.plays.Load() {
		all = append(all, p.status())
	}
	return all
}

func (s *Injector) change(to func(on []*running) []*running) {
	s.changing.Lock()
	defer s.changing.Unlock()
	on := to(slices.Clone(*s.plays.Load()))
	s.plays.Store(&on)
}

// Before puts the stage before a node.
func (s *Injector) Before(node http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		on := *s.plays.Load()
		if len(on) == 0 {
			node.ServeHTTP(w, r)
			return
		}
		s.enter(on, node, w, r)
	})
}

// enter lets a request meet the plays that it fits.
func (s *Injector) enter(on []*running, node http.Handler, w http.ResponseWriter, r *http.Request) {
	kind := kindOf(s.env.Places, r.URL.Path)
	var fit []*running
	for _, p := range on {
		if p.play.fits(p.scenario, kind, r.URL.Path) {
			fit = append(fit, p)
		}
	}
	s.strike(fit, kind, node, w, r)
}

// strike puts plays before a node for one request, the first of them outermost. OPTIONS is asked by browsers, not by clients.
func (s *Injector) strike(plays []*running, kind Kind, node http.Handler, w http.ResponseWriter, r *http.Request) {
	if len(plays) == 0 || r.Method == http.MethodOptions {
		node.ServeHTTP(w, r)
		return
	}
	client, r := s.client(kind, r)
	note := journal.Of(r.Context())
	next := node
	for _, p := range slices.Backward(plays) {
		if p.play.Client == "" || p.play.Client == client {
			after := next
			next = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				p.act(&turn{running: p, env: s.env, kind: kind, note: note, client: client}, after, w, r)
			})
		}
	}
	next.ServeHTTP(w, r)
}

// client tells which client a request comes from.
func (s *Injector) client(kind Kind, r *http.Request) (string, *http.Request) {
	if kind == Token {
		return auth.ClaimedClient(r)
	}
	return s.env.Caller(r)
}

// maxClients is the number of clients that a play keeps apart; further ones share a sequence.
const maxClients = 1024

// running is a play on a stage: how often it has struck whom.
type running struct {
	play     Play
	scenario Scenario
	act      act

	mu     sync.Mutex
	struck map[string]int // by client id; "" are callers without a good token, and those beyond maxClients
}

// begin puts a complete play on a stage.
func begin(p Play, s Scenario) *running {
	return &running{play: p, scenario: s, act: s.begin(), struck: map[string]int{}}
}

// count finds the sequence of a client.
func (p *running) count(client string) string {
	if _, known := p.struck[client]; !known && len(p.struck) >= maxClients {
		return ""
	}
	return client
}

// take claims the next fault of the sequence for a client: mark tells its number. There is none when the sequence is over.
func (p *running) take(client string) (mark string, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	client = p.count(client)
	n := p.struck[client]
	if p.play.Times > 0 && n >= p.play.Times {
		return "", false
	}
	p.struck[client] = n + 1
	if p.play.Times == 0 { // without an end
		return p.play.Name, true
	}
	return fmt.Sprintf("%s %d/%d", p.play.Name, n+1, p.play.Times), true
}

// giveBack takes back a claim: the fault could not be shown.
func (p *running) giveBack(client string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.struck[p.count(client)]--
}

// over tells whether the sequence is over for a client.
func (p *running) over(client string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.play.Times > 0 && p.struck[p.count(client)] >= p.play.Times
}

// PlayStatus is a play on a stage.
type PlayStatus struct {
	// Play has nothing left out but a client and a path that it does not have.
	Play
	// Struck is the number of faults by client id; "" is callers without a good token.
	Struck map[string]int
}

func (p *running) status() PlayStatus {
	p.mu.Lock()
	defer p.mu.Unlock()
	return PlayStatus{Play: p.play, Struck: maps.Clone(p.struck)}
}

// act answers a request that a play may strike, or lets next do so.
type act func(t *turn, next http.Handler, w http.ResponseWriter, r *http.Request)

// turn is one request before one play.
type turn struct {
	*running
	env    ScenarioEnv
	kind   Kind
	note   *journal.Note
	client string // with a good token, or claimed in a token request; "" otherwise
}

func (t *turn) take() (mark string, ok bool) { return t.running.take(t.client) }

// struck says in the answer and in the journal that a fault is on purpose. It may not be the only one.
func (t *turn) struck(answer http.Header, mark string) {
	t.note.Deviate(mark)
	if others := answer.Get(ScenarioHeader); others != "" {
		mark = others + ", " + mark
	}
	answer.Set(ScenarioHeader, mark)
}

// same makes the begin of an act that remembers nothing.
func same(a act) func() act { return func() act { return a } }

// instead makes the begin of an act that answers in the node's place.
func instead(reply func(t *turn, w http.ResponseWriter, r *http.Request)) func() act {
	return same(func(t *turn, next http.Handler, w http.ResponseWriter, r *http.Request) {
		mark, ok := t.take()
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		t.struck(w.Header(), mark)
		reply(t, w, r)
	})
}

// letNodeAnswer makes the begin of an act that does something and lets the node answer.
func letNodeAnswer(do func(t *turn, r *http.Request)) func() act {
	return same(func(t *turn, next http.Handler, w http.ResponseWriter, r *http.Request) {
		if mark, ok := t.take(); ok {
			t.struck(w.Header(), mark)
			do(t, r)
		}
		next.ServeHTTP(w, r)
	})
}

// ofCaller makes the begin of an act out of one that concerns requests with a good access token alone.
func ofCaller(begin func() act) func() act {
	return func() act {
		inner := begin()
		return func(t *turn, next http.Handler, w http.ResponseWriter, r *http.Request) {
			if t.client == "" {
				next.ServeHTTP(w, r)
				return
			}
			inner(t, next, w, r)
		}
	}
}

// altered makes the begin of an act that spoils good answers with a body. An answer in which there is nothing to spoil is no fault.
func altered(spoil func(a *Answer) bool) func() act {
	return delivered(spoil, (*Answer).Send)
}

// delivered is altered with a way to send what was spoilt.
func delivered(spoil func(a *Answer) bool, send func(a *Answer, w http.ResponseWriter, r *http.Request)) func() act {
	return same(func(t *turn, next http.Handler, w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead || t.over(t.client) {
			next.ServeHTTP(w, r)
			return
		}
		good := Capture(next, r)
		spoilt := good.Clone()
		if !good.OK() || !spoil(spoilt) {
			good.Send(w, r)
			return
		}
		mark, ok := t.take()
		if !ok { // another request was faster
			good.Send(w, r)
			return
		}
		t.struck(spoilt.Header, mark)
		send(spoilt, w, r)
	})
}

// maxAsked is the number of scenarios that one request may ask for.
const maxAsked = 8

// Asked puts before a node whatever scenarios a request asks for itself, in the field [ScenarioHeader]: each such request is struck, without an
// end. Other requests pass. A name that is unknown, or of a scenario that does not strike such a request, is answered 400.
func (s *Injector) Asked(node http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fields := r.Header.Values(ScenarioHeader)
		if len(fields) == 0 {
			node.ServeHTTP(w, r)
			return
		}
		kind := kindOf(s.env.Places, r.URL.Path)
		wanted, err := asked(*s.named.Load(), fields, kind)
		if err != nil {
			content.BadRequest(err.Error(), "rin sandbox --scenarios lists them, and what each strikes").Write(w, r)
			return
		}
		s.strike(wanted, kind, node, w, r)
	})
}

// forget begins anew what requests may ask for.
func (s *Injector) forget() {
	named := map[string]*running{}
	for _, scenario := range Scenarios() {
		named[scenario.Name] = begin(Play{Name: scenario.Name, Wait: scenario.Wait}, scenario)
	}
	s.named.Store(&named)
}

// asked finds the plays that a request of a kind asks for.
func asked(named map[string]*running, fields []string, kind Kind) ([]*running, error) {
	names := strings.FieldsFunc(strings.Join(fields, ","), func(c rune) bool { return c == ',' || c == ' ' || c == '\t' })
	if len(names) > maxAsked {
		return nil, fmt.Errorf("%s asks for %d scenarios: expected %d at most", ScenarioHeader, len(names), maxAsked)
	}
	var wanted []*running
	for _, name := range names {
		if _, err := FindScenario(name); err != nil {
			return nil, fmt.Errorf("%s: %w", ScenarioHeader, err)
		}
		p := named[name]
		if !slices.Contains(p.scenario.kinds(), kind) {
			return nil, fmt.Errorf("%s: scenario %s does not strike such a request: expected one of %s", ScenarioHeader, name, joined(p.scenario.kinds()))
		}
		wanted = append(wanted, p)
	}
	return wanted, nil
}
