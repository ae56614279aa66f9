package control

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/rin-network/rin/sandbox"
)

// Clock is the time of the network.
type Clock struct {
	// Now is the time of its nodes.
	Now time.Time `json:"now"`
	// Offset is how far the clock is ahead of the real time, as a Go duration: "1h30m0s".
	Offset string `json:"offset"`
}

// Move is a change of the clock. Exactly one field must be set.
type Move struct {
	// By is the distance, as a Go duration: "90s", "-24h".
	By string `json:"by,omitempty"`
	// To is the new time.
	To time.Time `json:"to,omitzero"`
	// Until is [Expiry] or [Closing].
	Until string `json:"until,omitempty"`
}

// The values of [Move.Until].
const (
	// Expiry is the moment when every token that the nodes have issued so far has expired.
	Expiry = "expiry"
	// Closing is the moment when the first running funding call of the nodes closes.
	Closing = "closing"
)

func clockRoutes(network *sandbox.Network) []route {
	now := func() Clock {
		return Clock{Now: network.Clock().Now().UTC(), Offset: network.Clock().Offset().String()}
	}
	return []route{
		{"GET /clock", func(*http.Request) (any, error) { return now(), nil }},
		{"POST /clock", func(r *http.Request) (any, error) {
			move, err := read[Move](r)
			if err != nil {
				return nil, err
			}
			by, err := move.distance(network)
			if err != nil {
				return nil, err
			}
			if err := network.Clock().Move(by); err != nil {
				return nil, badRequest(err, "move it back, or reset")
			}
			return now(), nil
		}},
	}
}

// distance returns how far a move goes.
func (m Move) distance(network *sandbox.Network) (time.Duration, error) {
	switch {
	case m.Until == "" && m.To.IsZero():
		by, err := time.ParseDuration(m.By)
		if err != nil {
			return 0, badRequest(fmt.Errorf("by is not a duration: %w", err), "write a number and a unit: 90s, 5m, -24h")
		}
		return by, nil
	case m == Move{To: m.To}:
		return m.To.Sub(network.Clock().Now()), nil
	case m == Move{Until: Expiry}:
		return untilExpiry(network), nil
	case m == Move{Until: Closing}:
		return untilClosing(network)
	}
	return 0, badRequest(errors.New("the move is unknown"),
		`send {"by": "90s"}, {"to": "2027-01-01T00:00:00Z"}, {"until": "`+Expiry+`"} or {"until": "`+Closing+`"}`)
}

// untilExpiry returns the time until every token that was issued so far has expired: the longest lifetime of tokens.
func untilExpiry(network *sandbox.Network) (longest time.Duration) {
	for _, node := range network.Nodes() {
		longest = max(longest, node.TokenTTL())
	}
	return longest
}

// untilClosing returns the time until the first running funding call of any node closes.
func untilClosing(network *sandbox.Network) (time.Duration, error) {
	var first time.Duration
	found := false
	for _, node := range network.Nodes() {
		if d, ok := node.UntilClosing(); ok && (!found || d < first) {
			first, found = d, true
		}
	}
	if !found {
		return 0, badRequest(errors.New("no running funding call has a closing date"), "move the clock back, or reset")
	}
	return first, nil
}

// Clock returns the time of the network.
func (c Client) Clock() (Clock, error) { return call[Clock](c, http.MethodGet, "/clock", nil) }

// Move moves the time of the network.
func (c Client) Move(m Move) (Clock, error) { return call[Clock](c, http.MethodPost, "/clock", m) }
