package fault

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/rin-network/rin/sandbox/auth"
	"github.com/rin-network/rin/sandbox/journal"
)

// maxClients is the number of clients that have their own sequence in a play. Further clients share one.
const maxClients = 1024

// runningPlay is a play in force, with its counts of requests.
type runningPlay struct {
	play     Play
	scenario Scenario
	act      act

	mu         sync.Mutex
	strikes    map[string]int // requests that were struck, by client id; "" is for callers without a good token and clients beyond maxClients
	encounters map[string]int // requests that the play applies to, by the same key; it has every key of strikes
}

// newRunningPlay starts a play whose options are filled in. A play with Times 0 never ends.
func newRunningPlay(p Play, s Scenario) *runningPlay {
	return &runningPlay{play: p, scenario: s, act: s.begin(), strikes: map[string]int{}, encounters: map[string]int{}}
}

// sequence returns the key of the client's sequence in strikes and encounters. Anyone can name a new client in a token request, so the number of keys is
// limited.
func (p *runningPlay) sequence(client string) string {
	if _, known := p.encounters[client]; !known && len(p.encounters) >= maxClients {
		return ""
	}
	return client
}

// strikesNext counts the next request of the client, and reports whether the play strikes it.
func (p *runningPlay) strikesNext(client string, seed uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	client = p.sequence(client)
	n := p.encounters[client]
	p.encounters[client] = n + 1
	return p.play.strikesNth(n, seed, client)
}

// wait returns the wait of the client's latest fault.
func (e *encounter) wait() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	client := e.sequence(e.client)
	return e.play.wait(e.strikes[client], e.env.Seed, client)
}

// claim takes the next fault of the client's sequence. mark is the fault's name and number; ok is false when the sequence is over.
func (p *runningPlay) claim(client string) (mark string, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	client = p.sequence(client)
	n := p.strikes[client]
	if p.play.Times > 0 && n >= p.play.Times {
		return "", false
	}
	p.strikes[client] = n + 1
	if p.play.Times == 0 { // no end: the request named the scenario in its header
		return p.play.Name, true
	}
	return fmt.Sprintf("%s %d/%d", p.play.Name, n+1, p.play.Times), true
}

// release returns a claimed fault to the client's sequence, because the answer could not show it.
func (p *runningPlay) release(client string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.strikes[p.sequence(client)]--
}

// isOver reports whether the client's sequence is over.
func (p *runningPlay) isOver(client string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.play.Times > 0 && p.strikes[p.sequence(client)] >= p.play.Times
}

// PlayStatus describes a running play.
type PlayStatus struct {
	// Play has the times and the wait that apply.
	Play
	// Strikes is the number of faults by client id; "" is for callers without a good token, and for clients beyond the first 1024.
	Strikes map[string]int
}

func (p *runningPlay) status() PlayStatus {
	p.mu.Lock()
	defer p.mu.Unlock()
	return PlayStatus{Play: p.play, Strikes: maps.Clone(p.strikes)}
}

// act answers a request that a play may strike, or calls next.
type act func(e *encounter, next http.Handler, w http.ResponseWriter, r *http.Request)

// encounter is a request that meets a play.
type encounter struct {
	*runningPlay
	env    Env
	kind   Kind
	note   *journal.Note
	client string // the client of a good token, or the client that a token request names; "" if there is neither
}

// claim is [runningPlay.claim] for the client of the request.
func (e *encounter) claim() (mark string, ok bool) { return e.runningPlay.claim(e.client) }

// announce names the fault in the header of the answer and in the journal. Several plays may mark the same answer.
func (e *encounter) announce(header http.Header, mark string) {
	e.note.Deviate(mark)
	if others := header.Get(ScenarioHeader); others != "" {
		mark = others + ", " + mark
	}
	header.Set(ScenarioHeader, mark)
}

// strike passes a request through plays to a node, the first play outermost. It does not strike OPTIONS, which browsers send on their own.
func (i *Injector) strike(plays []*runningPlay, kind Kind, node http.HandlerFunc, w http.ResponseWriter, r *http.Request) {
	if len(plays) == 0 || r.Method == http.MethodOptions {
		node(w, r)
		return
	}
	var client string
	if kind == Token {
		client, r = auth.ClaimedClient(r)
	} else {
		client, r = i.env.Caller(r)
	}
	note := journal.FromContext(r.Context())
	var next http.Handler = node
	for _, p := range slices.Backward(plays) {
		if (p.play.Client == "" || p.play.Client == client) && p.strikesNext(client, i.env.Seed) {
			inner := next
			next = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				p.act(&encounter{runningPlay: p, env: i.env, kind: kind, note: note, client: client}, inner, w, r)
			})
		}
	}
	next.ServeHTTP(w, r)
}

// stateless returns a Scenario.begin for an act that remembers nothing.
func stateless(a act) func() act { return func() act { return a } }

// answerInstead returns a Scenario.begin for an act that answers in place of the node.
func answerInstead(reply func(e *encounter, w http.ResponseWriter, r *http.Request)) func() act {
	return stateless(func(e *encounter, next http.Handler, w http.ResponseWriter, r *http.Request) {
		mark, ok := e.claim()
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		e.announce(w.Header(), mark)
		reply(e, w, r)
	})
}

// actBefore returns a Scenario.begin for an act that calls before, and then lets the node answer.
func actBefore(before func(e *encounter, r *http.Request)) func() act {
	return stateless(func(e *encounter, next http.Handler, w http.ResponseWriter, r *http.Request) {
		if mark, ok := e.claim(); ok {
			e.announce(w.Header(), mark)
			before(e, r)
		}
		next.ServeHTTP(w, r)
	})
}

// onlyIf limits an act to requests that fit.
func onlyIf(fits func(e *encounter, r *http.Request) bool, begin func() act) func() act {
	return func() act {
		inner := begin()
		return func(e *encounter, next http.Handler, w http.ResponseWriter, r *http.Request) {
			if !fits(e, r) {
				next.ServeHTTP(w, r)
				return
			}
			inner(e, next, w, r)
		}
	}
}

// isAuthorized holds for requests with a good access token. It is for scenarios that do not strike the token endpoint.
func isAuthorized(e *encounter, _ *http.Request) bool { return e.client != "" }

// spoil returns a Scenario.begin for an act that changes good answers with a body. If spoilBody returns false, the answer stays and does not count
// as a fault.
func spoil(spoilBody func(a *answer) bool) func() act {
	return spoilBySending(spoilBody, (*answer).send)
}

// spoilBySending is [spoil] with a function that sends the answer, for faults of the transfer.
func spoilBySending(spoilBody func(a *answer) bool, send func(a *answer, w http.ResponseWriter, r *http.Request)) func() act {
	return stateless(func(e *encounter, next http.Handler, w http.ResponseWriter, r *http.Request) {
		if isHead(r) || e.isOver(e.client) {
			next.ServeHTTP(w, r)
			return
		}
		good := capture(next, r)
		changed := good.clone()
		if !good.ok() || !spoilBody(changed) {
			good.send(w, r)
			return
		}
		mark, ok := e.claim()
		if !ok { // another request was faster
			good.send(w, r)
			return
		}
		e.announce(changed.Header, mark)
		if json.Valid(good.Body) && !json.Valid(changed.Body) {
			e.note.Spoil()
		}
		if left := len(changed.items()); left < len(good.items()) && json.Valid(changed.Body) {
			e.note.Shorten(left)
		}
		send(changed, w, r)
	})
}
