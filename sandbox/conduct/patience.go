package conduct

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/rin-network/rin/sandbox/journal"
)

const (
	// early is how much before its time a request may come: timers and clocks are not exact.
	early = 50 * time.Millisecond
	// storm is the number of repetitions within a second that no growing pause makes.
	storm = 6
)

func patienceRules() []Rule {
	return []Rule{
		{
			ID: "CLT-17", Level: Fault, Title: "After 429 or 503 the client waits for as long as Retry-After says",
			Sources: []Source{rfc(9110, "10.2.3"), rfc(6585, "4")},
			Why:     "A server that says when to come back refuses everybody who comes before, and often starts its count anew.",
			Fix:     "read Retry-After, which is a number of seconds or a date, and repeat the call not before that",
			check:   impatient,
		},
		{
			ID: "CLT-18", Level: Fault, Title: "A call that failed is repeated with growing pauses",
			Sources: []Source{rfc(6585, "4"), rfc(9110, "15.6.4")},
			Why:     "Repetitions without a pause keep an overloaded node down, and turn one failure into an outage.",
			Fix:     "wait before each repetition, twice as long as before it and by chance a little more or less, and give up after a few",
			check:   storms,
		},
	}
}

// busy tells whether an answer asks to come back later.
func busy(e *journal.Entry) bool {
	return e.Status == http.StatusTooManyRequests || e.Status == http.StatusServiceUnavailable
}

// due is when a request may be repeated; ok is false when the answer did not say.
func due(e *journal.Entry) (at time.Time, ok bool) {
	if seconds, err := strconv.Atoi(strings.TrimSpace(e.RetryAfter)); err == nil && seconds >= 0 {
		return e.Ended.Add(time.Duration(min(seconds, 1<<30)) * time.Second), true
	}
	at, err := http.ParseTime(e.RetryAfter)
	return at, err == nil
}

func impatient(all requests) []Sighting {
	var seen []Sighting
	waiting := map[string]*journal.Entry{} // what was asked for and has to wait
	for _, e := range all {
		key := subject(e)
		if before, waits := waiting[key]; waits && after(before, e) {
			delete(waiting, key)
			if at, _ := due(before); e.Time.Before(at.Add(-early)) {
				seen = append(seen, Sighting{fmt.Sprintf("%s was answered %d with Retry-After: %s and came again after %s", call(before), before.Status, before.RetryAfter,
					took(before.Ended, e.Time)), []*journal.Entry{before, e}})
			}
		}
		if _, told := due(e); busy(e) && told {
			waiting[key] = e
		}
	}
	return seen
}

func storms(all requests) []Sighting {
	var seen []Sighting
	failed := func(e *journal.Entry) bool { return e.Status == http.StatusTooManyRequests || e.Status >= 500 }
	for _, one := range all.by(subject) {
		for _, row := range one.runs(failed, after) {
			if most := densest(row); len(most) > storm {
				seen = append(seen, Sighting{fmt.Sprintf("%s failed with %d and was repeated %d times within %s", call(row[0]), row[0].Status, len(most)-1,
					took(most[0].Ended, most[len(most)-1].Time)), most})
			}
		}
	}
	return seen
}

// densest is the longest part of a row within a second.
func densest(row requests) requests {
	var most requests
	first := 0
	for last := range row {
		for row[last].Time.Sub(row[first].Ended) > time.Second {
			first++
		}
		if last-first+1 > len(most) {
			most = row[first : last+1]
		}
	}
	return most
}
