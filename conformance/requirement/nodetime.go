package requirement

import (
	"time"

	"github.com/rin-network/rin/conformance/exchange"
)

// nodeTime is the node's own time when it answered (T6): its Date, else the time of the test machine, of which exact is false.
func nodeTime(x exchange.Exchange) (at time.Time, exact bool) {
	if dates := header(x, "Date"); len(dates) == 1 {
		if at, form := exchange.HTTPDate(dates[0]); form != exchange.NoDate {
			return at, true
		}
	}
	return x.Started, false
}

// answeredAt is that time, exact or not.
func answeredAt(x exchange.Exchange) time.Time {
	at, _ := nodeTime(x)
	return at
}
