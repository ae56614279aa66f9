package requirement

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/exchange"
)

// This file judges what every answer must be (ROB-05 to ROB-07).

// The bounds of ROB-05.
const (
	quick   = 10 * time.Second
	patient = 30 * time.Second
)

// timed are the resources whose good answers are timed, by role.
func timed() []exchange.Resource {
	return []exchange.Resource{exchange.TokenEndpoint, exchange.Info, exchange.Specification, exchange.ListOperation}
}

func exampleDurations() []exchange.Label {
	var out []exchange.Label
	for _, r := range timed() {
		out = append(out, r.With(exchange.OK))
	}
	return out
}

func answersInTime(e Evidence) Judgement {
	var parts []Judgement
	for _, role := range timed() {
		var best exchange.Exchange
		for _, label := range e.Resolve(role.With(exchange.OK)) {
			best = fastest(e, label)
		}
		if best.Label != "" {
			parts = append(parts, inTime(best))
		}
	}
	if len(parts) == 0 {
		return Unclear("no good call was answered, so nothing could be timed")
	}
	return gather(parts...)
}

// fastest is the good answer of a resource that came soonest; without one, the good call if it was never answered in time.
func fastest(e Evidence, label exchange.Label) exchange.Exchange {
	var best exchange.Exchange
	for _, x := range e.All(exchange.WholeRun) {
		if x.Label.Resource() == label.Resource() && success(x) && x.Request.Method != "HEAD" && (best.Label == "" || x.Duration < best.Duration) {
			best = x
		}
	}
	if x, sent := e.Get(label); best.Label == "" && sent && x.Failure != nil && x.Failure.Kind == exchange.FailureTimeout {
		return x
	}
	return best
}

func inTime(x exchange.Exchange) Judgement {
	const expected = "the whole answer within 10 s"
	got := within(x.Duration)
	switch {
	case x.Failure != nil:
		return Failed(callName(x)+" is not answered in time", expected, x.Failure.Message).about(x, expected, clip(x.Failure.Message))
	case x.Duration > patient:
		return Failed(callName(x)+" takes longer than 30 s", expected, got).about(x, expected, got)
	case x.Duration > quick:
		return Warned(callName(x)+" takes longer than 10 s", expected, got).about(x, expected, got)
	}
	return Passed(x.Label)
}

func framingHonest(e Evidence) Judgement {
	var parts []Judgement
	seen := map[string]bool{}
	read := 0
	for _, x := range e.All(exchange.WholeRun) {
		if x.Response == nil || !ofNode(x) {
			continue
		}
		read++
		j := framed(x)
		if key := string(x.Label.Resource()) + j.Reason; j.Outcome != Pass && !seen[key] {
			seen[key] = true
			parts = append(parts, j)
		}
	}
	if j := lengthsAgree(e); j.Outcome != Pass {
		parts = append(parts, j)
	}
	switch {
	case read == 0:
		return Unclear("the run has no answer whose body could be looked at")
	case len(parts) == 0:
		return Passed()
	}
	return gather(parts...)
}

// lengthsAgree compares the length that HEAD tells with the content that GET sent (RFC 9110 §8.6). Data may have changed in between, so
// that a difference is a warning.
func lengthsAgree(e Evidence) Judgement {
	head, get := e.The(exchange.ProbeTarget.With(exchange.StrictHead)), e.The(exchange.ProbeTarget.With(exchange.Strict))
	lengths := header(head, "Content-Length")
	if !success(head) || !success(get) || len(lengths) != 1 || get.Response.Truncated || get.Response.BodyError != "" || len(header(get, "Content-Encoding")) > 0 {
		return Passed()
	}
	expected, got := fmt.Sprintf("Content-Length: %d, the size of the answer to GET", get.Response.Size), "Content-Length: "+clip(lengths[0])
	if strings.TrimSpace(lengths[0]) == strconv.FormatInt(get.Response.Size, 10) {
		return Passed()
	}
	return Warned("HEAD tells another length than the content of GET has", expected, got).about(head, expected, got)
}

// framed judges the body of one answer as a message.
func framed(x exchange.Exchange) Judgement {
	r := x.Response
	strict := x.Label.Case() == exchange.Strict || x.Label.Case() == exchange.StrictHead
	coding := strings.ToLower(strings.Join(header(x, "Content-Encoding"), ", "))
	const expected = "a body of the length and the coding that the header announces"
	switch {
	case r.Truncated, r.Withheld:
		return Passed(x.Label) // it was rin that stopped reading, or kept nothing
	case r.BodyError != "" && !strings.HasPrefix(r.BodyError, "connection ended"):
		return Failed("a body can't be decoded: "+clip(r.BodyError), expected, "Content-Encoding: "+clip(coding)).about(x, expected, clip(r.BodyError))
	case r.BodyError != "":
		got := clip(fmt.Sprintf("%d bytes, %s", r.Size, headerText(x, "Content-Length")))
		return Failed("a body ends before it is complete: "+clip(r.BodyError), expected, got).about(x, expected, got)
	case r.Surplus > 0 && x.Request.Method == "HEAD":
		got := fmt.Sprintf("%d bytes", r.Surplus)
		return Failed("the answer to HEAD has a body", "no body", got).about(x, "no body", got)
	case r.Surplus > 0:
		got := clip(fmt.Sprintf("%s, and %d bytes more", headerText(x, "Content-Length"), r.Surplus))
		return Failed("a body goes on beyond its announced end", expected, got).about(x, expected, got)
	case strict && coding != "" && coding != "identity":
		got := clip("Content-Encoding: " + coding)
		return Warned("a body is encoded although Accept-Encoding: identity was sent", "no content coding", got).about(x, "no content coding", got)
	}
	return Passed(x.Label)
}

// The bounds of ROB-07.
const (
	accurate  = 60 * time.Second
	tolerable = 300 * time.Second
)

func clockRight(e Evidence) Judgement {
	var parts []Judgement
	var offsets []time.Duration
	origins := map[string]bool{}
	for _, label := range []exchange.Label{exchange.TokenEndpoint.With(exchange.OK), exchange.Info.With(exchange.OK)} {
		x, sent := e.Get(label)
		if !sent || x.Response == nil {
			continue
		}
		j, offset := dated(x)
		parts = append(parts, j)
		if j.Outcome != Pass && offset != 0 {
			offsets = append(offsets, offset)
			origins[origin(x.Request.URL)] = true
		}
		for _, t := range x.Tokens {
			parts = append(parts, issuedNow(x, t))
		}
	}
	if len(parts) == 0 {
		return Unclear("neither the token request nor the info request was answered")
	}
	// Servers that agree with each other and not with this machine are more likely right than it.
	if len(origins) > 1 && (slices.Max(offsets)-slices.Min(offsets)) <= accurate {
		return Unclear("authorization server and API agree on a time that differs from this machine's by "+within(offsets[0])).
			Hinting("set the clock of this machine by NTP, then repeat the run").Seen(exchange.TokenEndpoint.With(exchange.OK), exchange.Info.With(exchange.OK))
	}
	return gather(parts...)
}

// dated compares the Date of an answer with the time in which it came; offset is by how much it is ahead, 0 within that time.
func dated(x exchange.Exchange) (j Judgement, offset time.Duration) {
	const expected = "Date within 60 s of the time"
	values := header(x, "Date")
	if len(values) == 0 {
		return Warned("an answer has no Date", expected, "no Date").about(x, expected, "no Date"), 0
	}
	at, form := exchange.HTTPDate(strings.Join(values, ", "))
	if form == exchange.NoDate {
		got := headerText(x, "Date")
		return Failed("the Date of an answer can't be read", expected, got).about(x, expected, got), 0
	}
	// Date has whole seconds, and a proxy may have kept it from when the request came.
	switch from, to := x.Started.Add(-time.Second), x.Started.Add(x.Duration); {
	case at.Before(from):
		offset = at.Sub(from)
	case at.After(to):
		offset = at.Sub(to)
	}
	way := "ahead of"
	if offset < 0 {
		way = "behind"
	}
	got := within(offset) + " " + way + " this machine"
	reason := "the node's clock is " + within(offset) + " " + way + " that of this machine"
	switch {
	case offset.Abs() <= accurate:
		return Passed(x.Label), offset
	case offset.Abs() <= tolerable:
		return Warned(reason, expected, got).about(x, expected, got), offset
	}
	return Failed(reason, expected, got).about(x, expected, got), offset
}

// issuedNow compares the time in a token with the Date of its answer. A time before that is no fault: some servers hand a token out
// again until it ends.
func issuedNow(x exchange.Exchange, t exchange.TokenFacts) Judgement {
	if t.JWT == nil {
		return Judgement{Outcome: Pass}
	}
	number, ok := t.JWT.Claims["iat"].(json.Number)
	if !ok {
		return Judgement{Outcome: Pass} // JWT-03 looks at its form
	}
	seconds, err := number.Float64()
	if err != nil || math.Abs(seconds) > 1e11 {
		return Judgement{Outcome: Pass}
	}
	ahead := time.Unix(int64(seconds), 0).Sub(answeredAt(x))
	const expected = "iat not later than the Date of the answer"
	got := "iat " + within(ahead) + " ahead of Date"
	switch {
	case ahead <= accurate:
		return Judgement{Outcome: Pass}
	case ahead <= tolerable:
		return Warned("a token is issued "+within(ahead)+" in the future", expected, got).about(x, expected, got)
	}
	return Failed("a token is issued "+within(ahead)+" in the future", expected, got).about(x, expected, got)
}
