package clientrules

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rin-network/rin/sandbox/journal"
)

// requestRules returns the rules about the method, the URL and the parameters of requests.
func requestRules() []Rule {
	return []Rule{
		{
			ID: "CLT-19", Level: Fault, Title: "Parameters have values that the document allows",
			Sources: []Source{network(15), rfc(9110, "15.5.1")},
			Why:     "The node refuses the call; or, worse, another node ignores the value and answers something else.",
			Fix:     "take names and values of parameters from the node's OpenAPI document, and percent-encode them",
			check: each(func(e *request) bool {
				return e.Status == 400 && !isTokenRequest(e) && e.Refusal != nil && !e.Refusal.Unreadable && !hasDoubledValue(e) // CLT-43 has these
			}, func(e *request) string { return requestLine(e) + ": " + detail(e) }),
		},
		{
			ID: "CLT-20", Level: Note, Title: "Parameters are described in the document",
			Sources: []Source{network(15)},
			Why:     "A node ignores unknown parameters: a filter with a misspelled name has no effect, and nobody notices.",
			Fix:     "compare the names with the node's OpenAPI document; names are case-sensitive",
			check: each(func(e *request) bool { return len(e.Ignored) > len(doubledNames(e)) && e.Status < 300 }, func(e *request) string {
				return requestLine(e) + ": ignored " + strings.Join(e.Ignored, ", ")
			}),
		},
		{
			ID: "CLT-21", Level: Fault, Title: "The APIs of the network are read with GET",
			Sources: []Source{network(13), network(15), rfc(9110, "15.5.6")},
			Why:     "The APIs are read-only: other methods are refused.",
			Fix:     "use GET, or HEAD for the headers alone",
			check: each(func(e *request) bool {
				return !isTokenRequest(e) && e.Status == http.StatusMethodNotAllowed && e.Operation != journal.Other && !isDescribed(e)
			},
				func(e *request) string { return fmt.Sprintf("%s was answered 405", requestLine(e)) }),
		},
		{
			ID: "CLT-22", Level: Note, Title: "URLs come from the registry and the info resource",
			Sources: []Source{network(6), network(13)},
			Why:     "Prefixes and paths differ from node to node: a URL that is built into the client works at one node only.",
			Fix:     "start at the registry, read the info URL of the node, and take the URLs of its APIs from the info resource",
			check: each(func(e *request) bool {
				isPerson := strings.Contains(e.Accept, "text/html") || strings.HasPrefix(e.Path, "/favicon") || e.Path == "/robots.txt"
				isTokenPath := strings.Contains(e.Path, "/realms/") || strings.HasSuffix(strings.TrimSuffix(e.Path, "/"), "/token")
				return e.Operation == journal.Other && e.Status == 404 && !isPerson && !isTokenPath // CLT-13 has the token paths
			}, func(e *request) string { return requestLine(e) + " does not exist" }),
		},
	}
}

// headerRules returns the rules about header fields.
func headerRules() []Rule {
	return []Rule{
		{
			ID: "CLT-27", Level: Note, Title: "Accept admits JSON",
			Sources: []Source{rfc(9110, "12.5.1"), network(11)},
			Why:     "A node may answer 406, or an error page in HTML, to a client whose Accept excludes JSON.",
			Fix:     "send Accept: application/json, or no Accept header",
			check: each(func(e *request) bool {
				return (isAPI(e) || isTokenRequest(e)) && e.Accept != "" && !admitsJSON(e.Accept)
			},
				func(e *request) string { return requestLine(e) + " had Accept: " + e.Accept }),
		},
		{
			ID: "CLT-28", Level: Note, Title: "The call of the info resource has Content-Type: application/json",
			Sources: []Source{network(13)},
			Why:     "The interface document lists the header for this call, although a GET has no body. A strict node refuses calls without it.",
			Fix:     "send Content-Type: application/json with the GET of the info resource, and no body",
			check: each(func(e *request) bool {
				mediaType, _, _ := strings.Cut(e.ContentType, ";")
				return e.Operation == journal.Info && isAPI(e) && e.Status == 200 && !strings.EqualFold(strings.TrimSpace(mediaType), "application/json")
			}, func(e *request) string {
				if e.ContentType == "" {
					return requestLine(e) + " had no Content-Type"
				}
				return requestLine(e) + " had Content-Type: " + e.ContentType
			}),
		},
		{
			ID: "CLT-29", Level: Note, Title: "A client names itself",
			Sources: []Source{rfc(9110, "10.1.5")},
			Why:     "An operator can find the owner of a failing client by its name only, and blocks unknown clients first.",
			Fix:     "send User-Agent with the name and version of the program and a way to reach you",
			check: each(func(e *request) bool { return (isAPI(e) || isTokenRequest(e)) && e.Agent == "" },
				func(e *request) string { return requestLine(e) + " had no User-Agent" }),
		},
	}
}

// admitsJSON reports whether the ranges of Accept include a JSON answer.
func admitsJSON(accept string) bool {
	for media := range strings.SplitSeq(accept, ",") {
		name, weight, _ := strings.Cut(media, ";")
		switch name = strings.ToLower(strings.TrimSpace(name)); {
		case strings.HasPrefix(strings.ReplaceAll(weight, " ", ""), "q=0") && strings.Trim(strings.ReplaceAll(weight, " ", "")[3:], ".0") == "":
		case name == "*/*", name == "*", name == "application/*", name == "application/json", strings.HasSuffix(name, "+json"):
			return true
		}
	}
	return false
}

const (
	// tolerance is how much too soon a request may come, because timers and clocks are not exact.
	tolerance = 50 * time.Millisecond
	// maxBurst limits the requests of a run within a second; more of them cannot have growing pauses.
	maxBurst = 6
)

// patienceRules returns the rules about the pauses before a client repeats a request.
func patienceRules() []Rule {
	return []Rule{
		{
			ID: "CLT-17", Level: Fault, Title: "After 429 or 503 the client waits as long as Retry-After says",
			Sources: []Source{rfc(9110, "10.2.3"), rfc(6585, "4")},
			Why:     "A server that says when to come back refuses earlier requests, and often restarts its count.",
			Fix:     "read Retry-After, which is a number of seconds or a date, and do not repeat the call earlier",
			check:   earlyRetries,
		},
		{
			ID: "CLT-18", Level: Fault, Title: "A call that failed is repeated with growing pauses",
			Sources: []Source{rfc(6585, "4"), rfc(9110, "15.6.4")},
			Why:     "Repetitions without a pause keep an overloaded node down, and turn one failure into an outage.",
			Fix:     "wait before each repetition, each time twice as long, with some random variation, and give up after a few",
			check:   rapidRetries,
		},
	}
}

// isThrottled reports whether an answer asks the client to come back later.
func isThrottled(e *request) bool {
	return e.Status == http.StatusTooManyRequests || e.Status == http.StatusServiceUnavailable
}

// retryTime returns when a request may be repeated; ok is false if the answer does not say
// when.
func retryTime(e *request) (at time.Time, ok bool) {
	if e.RetryAfter == "" {
		return time.Time{}, false
	}
	if seconds, err := strconv.Atoi(strings.TrimSpace(e.RetryAfter)); err == nil && seconds >= 0 {
		return e.Ended.Add(time.Duration(min(seconds, 1<<30)) * time.Second), true
	}
	at, err := http.ParseTime(e.RetryAfter)
	return at, err == nil
}

// earlyRetries finds requests that a client sent to the same service before the time in Retry-After. Any request counts, because a service limits all calls
// together.
func earlyRetries(all history) []Sighting {
	if !all.has(isThrottled) {
		return nil
	}
	var seen []Sighting
	type service struct {
		node             string
		isToken          bool
		program, subject int
	}
	waiting := map[service]*request{} // the answer with Retry-After, after which the client should wait
	served := map[int]int{}           // by subject
	for _, e := range all.requests {
		if isServed(e) {
			served[e.subject]++
		}
	}
	for _, e := range all.requests {
		key := service{node: e.Node, isToken: isTokenRequest(e), program: e.program}
		if e.Client == "" && e.Authorization.Print == "" { // such requests may come from several clients
			key.subject = e.subject
		}
		before := waiting[key]
		if before != nil {
			at, _ := retryTime(before)
			switch early := e.Time.Before(at.Add(-tolerance)); {
			case !early:
				before = nil
			case mayReact(before, e) && mayKnow(before, e) || follows(before, e) && before.subject == e.subject && (served[e.subject] == 1 || all.isOnlyRepeat(before, e, at)): // only one worker sends this request
				came := "was repeated"
				if before.subject != e.subject {
					came = "was followed by " + requestLine(e)
				}
				seen = append(seen, Sighting{fmt.Sprintf("%s was answered %d with Retry-After: %s and %s after %s", requestLine(before), before.Status, before.RetryAfter,
					came, elapsed(before.Ended, e.Time)), []*request{before, e}})
				before = nil
			}
		}
		if _, ok := retryTime(e); before == nil && isThrottled(e) && ok && !isDescribed(e) {
			before = e
		}
		waiting[key] = before
	}
	return seen
}

// isOnlyRepeat reports whether e was the only repetition of a request that had to wait until due. If another worker had sent e, the worker
// that knew of the pause would have repeated its request soon after the pause.
func (all history) isOnlyRepeat(before, e *request, due time.Time) bool {
	const soon = 2 * time.Second
	return isServed(e) && !slices.ContainsFunc(all.requests, func(other *request) bool {
		return other != before && other != e && other.subject == e.subject && !other.Time.Before(before.Time) && other.Time.Before(due.Add(soon))
	})
}

// mayKnow reports whether the sender of e may have heard of the answer to before. The workers of a program that opens a connection for each request
// may look like one worker.
func mayKnow(before, e *request) bool {
	const hearingTime = 250 * time.Millisecond
	return before.subject == e.subject || before.Peer == e.Peer || e.Time.Sub(before.Ended) >= hearingTime
}

// immediate is the time after a failure within which a request counts as sent without a
// pause.
const immediate = 100 * time.Millisecond

// rapidRetries finds failed requests that were repeated without growing pauses.
func rapidRetries(all history) []Sighting {
	var seen []Sighting
	failed := func(e *request) bool {
		if isDescribed(e) {
			return false
		}
		_, known := retryTime(e) // earlyRetries judges what comes after Retry-After
		return e.Status == http.StatusTooManyRequests && !known || e.Status >= 500 && !(known && isThrottled(e)) || e.Cut
	}
	for _, group := range all.repeats {
		for run := range group.runs(failed, func(before, e *request) bool { return true }) {
			workers := run.inFlight() // each of them may repeat the request once
			run = run.chain()
			if most := densestPart(run, time.Second); len(most) > maxBurst*workers {
				seen = append(seen, newRapidRetry(run[0], most))
			} else if quick := quickestPart(run); len(quick) > 2*workers {
				seen = append(seen, newRapidRetry(run[0], quick))
			}
		}
	}
	return seen
}

// newRapidRetry describes the repetitions of a failed request.
func newRapidRetry(first *request, repeated requests) Sighting {
	why := fmt.Sprint(first.Status)
	if first.Cut {
		why = "a cut answer"
	}
	return Sighting{fmt.Sprintf("%s failed with %s and was repeated %s within %s", requestLine(first), why, Times(len(repeated)-1),
		elapsed(repeated[0].Ended, repeated[len(repeated)-1].Time)), repeated}
}

// chain returns the requests of a run that came one after another. It leaves out those that were sent side by side.
func (all requests) chain() requests {
	chain := all[:1:1]
	for _, e := range all[1:] {
		last := chain[len(chain)-1]
		if mayReact(last, e) || last.Peer == e.Peer && follows(last, e) {
			chain = append(chain, e)
		}
	}
	return chain
}

// quickestPart returns the longest part of a run in which each request came at once after the failure before.
func quickestPart(run requests) requests {
	var most requests
	first := 0
	for last := range run {
		if last > 0 && run[last].Time.Sub(run[last-1].Ended) >= immediate {
			first = last
		}
		if last-first+1 > len(most) {
			most = run[first : last+1]
		}
	}
	return most
}

// densestPart returns the part of a run with the most requests within a time.
func densestPart(run requests, within time.Duration) requests {
	var most requests
	first := 0
	for last := range run {
		for run[last].Time.Sub(run[first].Ended) > within {
			first++
		}
		if last-first+1 > len(most) {
			most = run[first : last+1]
		}
	}
	return most
}
