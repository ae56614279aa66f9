package fault

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rin-network/rin/sandbox/content"
)

// Answer and Latency are the names of the scenarios that need options to be useful.
const (
	Answer  = "answer"
	Latency = "latency"
)

// handScenarios lists the scenarios that need options to be useful.
func handScenarios() []Scenario {
	every := slices.Concat(openKinds(), dataKinds())
	return []Scenario{
		{
			Name: Answer, Times: 1, Strikes: every, ByHand: true,
			Does:   "The first request is answered with the status and the body that the play names.",
			Why:    "A test wants an answer that no scenario has.",
			Client: "Does what the status asks for.",
			begin: answerInstead(func(e *encounter, w http.ResponseWriter, r *http.Request) {
				e.answerByHand(w, r)
			}),
		},
		{
			Name: Latency, Times: MaxTimes, Wait: 200 * time.Millisecond, Strikes: every, ByHand: true,
			Does:   "Each request is answered after the wait, longer or shorter by at most the jitter.",
			Why:    "A node is far away, or behind a slow gateway.",
			Client: "Works as usual, and asks for several things at once where that is allowed.",
			begin: actBefore(func(e *encounter, r *http.Request) {
				_ = e.env.Pause(r.Context(), e.wait()) // ends early if the caller is gone
			}),
		},
	}
}

// answerByHand answers with the status and the body of the play.
func (e *encounter) answerByHand(w http.ResponseWriter, r *http.Request) {
	status, body := e.play.Status, e.play.Body
	if e.play.Wait > 0 && (status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable) {
		w.Header().Set("Retry-After", strconv.Itoa(int((e.play.Wait+time.Second-1)/time.Second)))
	}
	if body == "" && status >= 400 {
		p := content.Failed("the node answers this on purpose", "end the scenario "+Answer+" for the usual answer")
		p.Status, p.Title = status, http.StatusText(status)
		p.Write(w, r)
		return
	}
	mediaType := "text/plain; charset=utf-8"
	switch {
	case json.Valid([]byte(body)):
		mediaType = "application/json"
	case strings.HasPrefix(strings.TrimSpace(body), "<"):
		mediaType = "text/html; charset=utf-8"
	}
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	if body != "" {
		h.Set("Content-Type", mediaType)
		h.Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.WriteHeader(status)
	if !isHead(r) && status != http.StatusNoContent && status != http.StatusNotModified {
		_, _ = w.Write([]byte(body)) // fails only if the caller is gone
	}
}
