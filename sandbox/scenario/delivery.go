package scenario

import (
	"net/http"
	"strconv"
	"time"

	"github.com/rin-network/rin/sandbox/answer"
)

// deliveries are good answers that arrive late, or in part.
func deliveries() []Scenario {
	return []Scenario{
		{
			Name: "slow", Times: 1, Wait: 5 * time.Second, Strikes: protected(), Also: open(),
			Does:   "The first request is answered after the wait.",
			Why:    "A node has slept, its caches are cold, or somebody else asks for everything.",
			Client: "Has a time limit, tells its user that it waits, and repeats a GET that took too long.",
			begin: before(func(t *turn, r *http.Request) {
				_ = t.env.Pause(r.Context(), t.play.Wait) // ends early when the caller is gone
			}),
		},
		{
			Name: "truncated-json", Times: 1, Strikes: protected(), Also: open(),
			Does:   "The first good answer ends in the middle of its JSON, with a Content-Length that agrees.",
			Why:    "A proxy keeps what fits its buffer, or a script dies while it writes.",
			Client: "Takes nothing of an answer that can't be parsed as a whole, and repeats the request.",
			begin: altered(func(a *answer.Answer) bool {
				if len(a.Body) < 2 {
					return false
				}
				a.Body = a.Body[:len(a.Body)/2]
				return true
			}),
		},
		{
			Name: "connection-cut", Times: 1, Strikes: protected(), Also: open(),
			Does:   "The connection ends in the middle of the first good answer, short of its Content-Length.",
			Why:    "Mobile networks, firewalls and restarts of a proxy end connections.",
			Client: "Notices that bytes are missing, takes nothing of the answer, and repeats the request.",
			begin:  delivered(func(a *answer.Answer) bool { return len(a.Body) >= 2 }, cut),
		},
	}
}

// cut sends half of an answer and ends the connection.
func cut(a *answer.Answer, w http.ResponseWriter, _ *http.Request) {
	header := w.Header()
	for name, values := range a.Header {
		header[name] = values
	}
	header.Set("Content-Length", strconv.Itoa(len(a.Body)))
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body[:len(a.Body)/2])    // a failed write means that the caller is gone
	_ = http.NewResponseController(w).Flush() // what can't be sent now is missing, too
	panic(http.ErrAbortHandler)               // net/http's own way to end a connection, which it does not log
}
