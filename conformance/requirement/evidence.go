package requirement

import (
	"sync"

	"github.com/rin-network/rin/conformance/document"
	"github.com/rin-network/rin/conformance/exchange"
)

// Evidence is what a check may look at: the log of the run and the node's document read from it.
type Evidence struct {
	*exchange.Log
	// Spec is the node's document; nil when none was read or the guard refused it.
	Spec *document.Document
	// stood remembers how requirements stand on this evidence, by [ID]; without it they are judged each time they are asked for.
	stood *sync.Map
	// readings remember what was read of answers; without them they are read each time.
	readings *readings
}

// Read prepares a log for judging.
func Read(log *exchange.Log) Evidence {
	e := Evidence{Log: log, stood: &sync.Map{}, readings: newReadings()}
	if log.Document != nil && len(log.Document.Reduced) > 0 {
		if d, err := document.Parse(log.Document.Reduced); err == nil {
			e.Spec = d
		}
	}
	return e
}

// The returns the one exchange behind a label or role; an empty exchange when there is none.
func (e Evidence) The(label exchange.Label) exchange.Exchange {
	for _, l := range e.Resolve(label) {
		x, _ := e.Get(l)
		return x
	}
	return exchange.Exchange{}
}

// All returns the exchanges behind a label or role that were answered or failed, in order.
func (e Evidence) All(label exchange.Label) []exchange.Exchange {
	if label == exchange.WholeRun {
		return e.Exchanges
	}
	var out []exchange.Exchange
	for _, l := range e.Resolve(label) {
		if x, ok := e.Get(l); ok {
			out = append(out, x)
		}
	}
	return out
}
