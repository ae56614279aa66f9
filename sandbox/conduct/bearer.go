package conduct

import (
	"fmt"
	"strings"
	"time"

	"github.com/rin-network/rin/sandbox/journal"
)

func bearerRules() []Rule {
	return []Rule{
		{
			ID: "CLT-14", Level: Fault, Title: "The token is sent as Authorization: Bearer <token>",
			Sources: []Source{network(12), rfc(6750, "2.1")},
			Why:     "Without the word Bearer, with quotes, or with the word twice, a good token is no token.",
			Fix:     "send one header: the word Bearer, one blank, and the value of access_token as it was received",
			check: each(func(e *journal.Entry) bool {
				return e.Refusal != nil && e.Refusal.Unreadable && !strings.EqualFold(e.Authorization.Scheme, "Basic")
			}, func(e *journal.Entry) string { return call(e) + ": " + detail(e) }),
		},
		{
			ID: "CLT-15", Level: Fault, Title: "A guarded resource is called with a token",
			Sources: []Source{network(12), network(13)},
			Why:     "The call is refused. That an API answers without a token in its try-out mode does not make it open.",
			Fix:     "fetch a token first; for calls without one use the try-out base URL",
			check:   anonymous,
		},
		{
			ID: "CLT-16", Level: Fault, Title: "A call that lacks a permission is not repeated",
			Sources: []Source{rfc(9110, "15.5.4"), rfc(6750, "3.1"), network(17)},
			Why:     "Neither time nor a new token adds a role: the account has to be granted one in the funding service.",
			Fix:     "stop at 403 with insufficient_scope and tell the operator which role and affiliation the account needs",
			check:   forbidden,
		},
	}
}

// anonymous finds calls without a token that the client did not make good: some ask first and authenticate when told to. A person
// who looks around in a browser is no client.
func anonymous(all requests) []Sighting {
	bare := func(e *journal.Entry) bool {
		return api(e) && e.Status == 401 && e.Authorization.Fields == 0 && len(e.Exposed) == 0 && !strings.Contains(e.Accept, "text/html")
	}
	mended := map[string]int{} // where a resource was last called with credentials
	for i, e := range all {
		if e.Authorization.Fields > 0 {
			mended[e.Node+" "+e.Path] = i
		}
	}
	var seen []Sighting
	for i, e := range all {
		if bare(e) && mended[e.Node+" "+e.Path] <= i {
			seen = append(seen, Sighting{call(e) + " had no token", []*journal.Entry{e}})
		}
	}
	return seen
}

func forbidden(all requests) []Sighting {
	var seen []Sighting
	for _, path := range all.where(api).by(func(e *journal.Entry) string { return e.Node + " " + e.Method + " " + e.Path }) {
		for _, row := range path.runs(
			func(e *journal.Entry) bool { return e.Status == 403 && code(e) == "insufficient_scope" },
			func(before, e *journal.Entry) bool { return e.Time.Sub(before.Ended) < time.Minute },
		) {
			if len(row) >= enough {
				seen = append(seen, Sighting{fmt.Sprintf("%s was refused %d times in a row: %s", call(row[0]), len(row), detail(row[0])), row})
			}
		}
	}
	return seen
}
