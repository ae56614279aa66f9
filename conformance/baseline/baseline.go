package baseline

import (
	"time"

	"github.com/rin-network/rin/conformance/requirement"
)

// Version is the version of the file format.
const Version = "rin.baseline/v1"

// Baseline is a list of known failures.
type Baseline struct {
	Known []Entry
}

// Entry is one failure that its operator knows of.
type Entry struct {
	ID     requirement.ID
	Reason string
	// Until is the last day on which the failure is known and not new.
	Until Day
}

// Find returns the entry of a requirement.
func (b Baseline) Find(id requirement.ID) (Entry, bool) {
	for _, e := range b.Known {
		if e.ID == id {
			return e, true
		}
	}
	return Entry{}, false
}

// Day is a day of the calendar in UTC, "2026-12-31".
type Day string

// DayOf is the day of a moment.
func DayOf(t time.Time) Day { return Day(t.UTC().Format(time.DateOnly)) }

// Valid reports a day that the calendar has.
func (d Day) Valid() bool {
	_, err := time.Parse(time.DateOnly, string(d))
	return err == nil
}

// Before reports whether d is over when e begins.
func (d Day) Before(e Day) bool { return d < e } // ISO 8601 days sort as text
