package fault

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rin-network/rin/sandbox/content"
)

// Scenario is a sequence of faults.
type Scenario struct {
	// Name is what users type, in kebab case.
	Name string
	// Does says in one sentence what the node answers.
	Does string
	// Why says where such answers occur.
	Why string
	// Client says what a good client does. MayStop allows the client to end with an error. Lasts says that the fault never ends, so that a patient client may
	// repeat its request for a long time.
	Client         string
	MayStop, Lasts bool
	// Times is the number of faults for each client. A play can change it.
	Times int
	// Wait is the duration that Does calls "the wait"; 0 if the scenario has no wait. A play can change it.
	Wait time.Duration
	// Strikes lists the kinds of requests that get the fault if the play names no path.
	Strikes []Kind
	// Also lists the kinds that get the fault only if the play names them.
	Also []Kind
	// ByHand marks a scenario that needs options to be useful. Runs through all scenarios leave it out.
	ByHand bool

	// begin makes the function that answers the requests during one play ([Play]). Each play has its own state.
	begin func() act
}

// Scenarios lists every scenario.
func Scenarios() []Scenario {
	return slices.Concat(refusalScenarios(), redirectScenarios(), tokenScenarios(), deliveryScenarios(), contentScenarios(), pageScenario(), handScenarios())
}

// ScenarioNames lists the names of all scenarios.
func ScenarioNames() []string {
	var names []string
	for _, s := range Scenarios() {
		names = append(names, s.Name)
	}
	return names
}

// FindScenario returns the scenario with the name. Its error suggests similar names.
func FindScenario(name string) (Scenario, error) {
	all := Scenarios()
	if i := slices.IndexFunc(all, func(s Scenario) bool { return s.Name == name }); i >= 0 {
		return all[i], nil
	}
	return Scenario{}, fmt.Errorf("scenario %q is unknown: %s", name, Suggest(name, ScenarioNames()))
}

// allowedKinds lists all kinds that a play may name.
func (s Scenario) allowedKinds() []Kind { return slices.Concat(s.Strikes, s.Also) }

// Kinds says in words which requests get the fault.
func (s Scenario) Kinds() string {
	text := joinKinds(s.Strikes)
	if len(s.Also) > 0 {
		text += "; if named: " + joinKinds(s.Also)
	}
	return text
}

func joinKinds(kinds []Kind) string {
	var words []string
	for _, k := range kinds {
		words = append(words, string(k))
	}
	return strings.Join(words, ", ")
}

// dataKinds lists the kinds of requests for info, fundings, and everything else below the service prefix.
func dataKinds() []Kind { return []Kind{Info, List, Detail, API} }

// openKinds lists the kinds of requests that need no access token.
func openKinds() []Kind { return []Kind{Token, Keys, Metadata, Registry, Document, TryOut} }

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
