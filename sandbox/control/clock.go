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
	// Now is what its nodes take for the present.
	Now time.Time `json:"now"`
	// Offset is how far that is from the time that it was given, as Go writes durations: "1h30m0s".
	Offset string `json:"offset"`
}

// Move is a step of the clock, one of two.
type Move struct {
	// By is how far, as Go writes durations: "90s", "-24h".
	By string `json:"by,omitempty"`
	// Until is [Expiry].
	Until string `json:"until,omitempty"`
}

// Expiry is the moment at which every token that the nodes have issued until now is over.
const Expiry = "expiry"

func clockRoutes(network *sandbox.Network) []route {
	tell := func() Clock {
		return Clock{Now: network.Clock().Now().UTC(), Offset: network.Clock().Offset().String()}
	}
	return []route{
		{"GET /clock", func(*http.Request) (any, error) { return tell(), nil }},
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
			return tell(), nil
		}},
	}
}

// distance is how far a move goes.
func (m Move) distance(network *sandbox.Network) (time.Duration, error) {
	if m.Until == "" {
		by, err := time.ParseDuration(m.By)
		if err != nil {
			return 0, badRequest(fmt.Errorf("by is no duration: %w", err), "write a number and a unit: 90s, 5m, -24h")
		}
		return by, nil
	}
	if m.Until != Expiry || m.By != "" {
		return 0, badRequest(errors.New("the move has no length that is known"), `send {"by": "90s"} or {"until": "`+Expiry+`"}`)
	}
	var longest time.Duration
	for _, node := range network.Nodes() {
		longest = max(longest, node.TokenTTL())
	}
	return longest, nil
}

// Clock tells the time of the network.
func (c Client) Clock() (Clock, error) { return call[Clock](c, http.MethodGet, "/clock", nil) }

// Move moves the time of the network.
func (c Client) Move(by time.Duration) (Clock, error) {
	return call[Clock](c, http.MethodPost, "/clock", Move{By: by.String()})
}

// MoveUntilExpiry moves the time of the network to where every token issued until now is over.
func (c Client) MoveUntilExpiry() (Clock, error) {
	return call[Clock](c, http.MethodPost, "/clock", Move{Until: Expiry})
}
