package scenario

import (
	"fmt"
	"maps"
	"sync"
)

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

// Status is a play on a stage.
type Status struct {
	// Play has nothing left out but a client and a path that it does not have.
	Play
	// Struck is the number of faults by client id; "" is callers without a good token.
	Struck map[string]int
}

func (p *running) status() Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Status{Play: p.play, Struck: maps.Clone(p.struck)}
}
