package control

import (
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

// Move is a step of the clock, as Go writes durations: "90s", "-24h".
type Move struct {
	By string `json:"by"`
}

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
			by, err := time.ParseDuration(move.By)
			if err != nil {
				return nil, badRequest(fmt.Errorf("by is no duration: %w", err), "write a number and a unit: 90s, 5m, -24h")
			}
			if err := network.Clock().Move(by); err != nil {
				return nil, badRequest(err, "move it back, or reset")
			}
			return tell(), nil
		}},
	}
}

// Clock tells the time of the network.
func (c Client) Clock() (Clock, error) { return call[Clock](c, http.MethodGet, "/clock", nil) }

// Move moves the time of the network.
func (c Client) Move(by time.Duration) (Clock, error) {
	return call[Clock](c, http.MethodPost, "/clock", Move{By: by.String()})
}
