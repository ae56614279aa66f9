package limit

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// maxRequests bounds a rate; more than a node can answer is no limit.
const maxRequests = 10_000

// Rate is a number of requests in a unit of time. The zero value is no limit.
type Rate struct {
	Requests int
	Per      time.Duration
}

// Parse reads a rate: "20/s", "60/m", or "20", which is 20 a second.
func Parse(text string) (Rate, error) {
	number, unit, given := strings.Cut(text, "/")
	if !given {
		unit = "s"
	}
	requests, err := strconv.Atoi(number)
	per := map[string]time.Duration{"s": time.Second, "m": time.Minute}[unit]
	rate := Rate{Requests: requests, Per: per}
	if err != nil || per == 0 {
		return Rate{}, fmt.Errorf("%q is no rate: want a number of requests a second or a minute, such as 20/s or 60/m", text)
	}
	return rate, rate.check()
}

func (r Rate) check() error {
	if r.Requests < 1 || r.Requests > maxRequests || r.Per < time.Millisecond || r.Per > time.Hour {
		return fmt.Errorf("rate %d in %s: want 1 to %d requests in a millisecond to an hour", r.Requests, r.Per, maxRequests)
	}
	return nil
}

// String is the rate in words: "20 requests in 1s".
func (r Rate) String() string { return fmt.Sprintf("%d requests in %s", r.Requests, r.Per) }
