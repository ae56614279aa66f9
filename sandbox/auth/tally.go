package auth

import "sync/atomic"

// Tally is what became of the token requests to an authorization server since its start.
type Tally struct {
	Issued uint64
	// Refused counts the others by their error code.
	Refused map[string]uint64
}

// tally counts. The codes are all known beforehand, so that it takes no lock.
type tally struct {
	issued  atomic.Uint64
	refused map[string]*atomic.Uint64 // never changes
}

func newTally() *tally {
	t := &tally{refused: map[string]*atomic.Uint64{}}
	for _, code := range []string{"invalid_request", "invalid_client", "unsupported_grant_type", "invalid_scope", "server_error", "temporarily_unavailable"} {
		t.refused[code] = &atomic.Uint64{}
	}
	return t
}

// refuse counts a refusal; a code that was forgotten above is left out of the count, and a test names it.
func (t *tally) refuse(code string) {
	if n, known := t.refused[code]; known {
		n.Add(1)
	}
}

// Tally returns the present counts.
func (s *Server) Tally() Tally {
	now := Tally{Issued: s.tally.issued.Load(), Refused: map[string]uint64{}}
	for code, n := range s.tally.refused {
		now.Refused[code] = n.Load()
	}
	return now
}
