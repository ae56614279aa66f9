package requirement

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
)

// The bounds of ROB-05.
const (
	maxGoodDuration = 10 * time.Second // above it, a warning
	maxDuration     = 30 * time.Second // above it, a failure
)

// timedResources returns the resources and roles whose good answers are timed.
func timedResources() []evidence.Resource {
	return []evidence.Resource{evidence.TokenEndpoint, evidence.Info, evidence.Specification, evidence.ListOperation}
}

// judgeDurations judges the duration of the fastest good answer of each timed resource, so that a cold start costs nothing.
func judgeDurations(e Evidence) Judgement {
	var parts []Judgement
	for _, role := range timedResources() {
		var best evidence.Exchange
		for _, label := range e.Resolve(role.With(evidence.OK)) { // one label, or none if no operation has the role
			best = fastest(e, label)
		}
		if best.Label != "" {
			parts = append(parts, judgeDuration(e, best))
		}
	}
	if len(parts) == 0 {
		return judgeUntimedRun(e)
	}
	return gather(parts...)
}

// judgeUntimedRun judges a run without a good answer to time. If the node limited the rate of requests, the judgement says so.
func judgeUntimedRun(e Evidence) Judgement {
	j := Unclear("no good call was answered, so nothing could be timed")
	for _, role := range timedResources() {
		if x := e.exchange(role.With(evidence.OK)); rateLimited(x) {
			limited, _ := inconclusiveAnswer(x)
			return j.Hinting(limited.Hint).Seen(x.Label)
		}
	}
	return j
}

// fastest returns the fastest good answer of a resource, or else the good call if it timed out.
func fastest(e Evidence, label evidence.Label) evidence.Exchange {
	var best evidence.Exchange
	for _, x := range e.Exchanges {
		isGood := x.Label.Resource() == label.Resource() && success(x) && x.Request.Method != "HEAD"
		if isGood && (best.Label == "" || x.Duration < best.Duration) {
			best = x
		}
	}
	if x, sent := e.Get(label); best.Label == "" && sent && x.Failure != nil && x.Failure.Kind == evidence.FailureTimeout {
		return x
	}
	return best
}

// judgeDuration judges how long one call took, or that it timed out.
func judgeDuration(e Evidence, x evidence.Exchange) Judgement {
	want := expect(x, "the whole answer within 10 s")
	got := durationText(x.Duration)
	switch {
	case x.Failure != nil && e.originStopped(x): // TOK-01 and INF-01 judge a server that answers nothing
		origin := evidence.OriginOf(x.Request.URL)
		return want.unclear(origin+" stopped answering", x.Failure.Message).Hinting(restart(origin))
	case x.Failure != nil:
		return want.failed(callName(x)+" is not answered in time", x.Failure.Message)
	case x.Duration > maxDuration:
		return want.failed(callName(x)+" takes longer than 30 s", got)
	case x.Duration > maxGoodDuration:
		return want.warned(callName(x)+" takes longer than 10 s", got)
	}
	return Passed(x.Label)
}

// judgeFramings is the check of ROB-06.
func judgeFramings(e Evidence) Judgement {
	var s survey
	read := 0
	for _, x := range e.Exchanges {
		if x.Response == nil || !isNodeAnswer(x) {
			continue
		}
		read++
		j := judgeFraming(x)
		s.add(string(x.Label.Resource())+j.Reason, j)
	}
	s.add("length of HEAD", judgeStrictHeadLength(e))
	if read == 0 {
		return Unclear("the run has no answer whose body could be judged")
	}
	return s.judge()
}

// judgeStrictHeadLength compares the Content-Length of HEAD with the content of GET (RFC 9110 §8.6). A difference is a warning, because data may have
// changed in between.
func judgeStrictHeadLength(e Evidence) Judgement {
	head, get := e.exchange(evidence.ProbeTarget.With("strict-head")), e.exchange(evidence.ProbeTarget.With("strict"))
	lengths := header(head, "Content-Length")
	isComplete := success(get) && !get.Response.Truncated && get.Response.BodyError == ""
	if !success(head) || !isComplete || len(lengths) != 1 || len(header(get, "Content-Encoding")) > 0 {
		return Passed()
	}
	expected, got := fmt.Sprintf("Content-Length: %d, the size of the answer to GET", get.Response.Size), "Content-Length: "+clip(lengths[0])
	if strings.TrimSpace(lengths[0]) == strconv.FormatInt(get.Response.Size, 10) {
		return Passed()
	}
	return expect(head, expected).warned("HEAD states another length than the content of GET has", got)
}

// judgeFraming judges whether one body has the length and the coding that its header announces.
func judgeFraming(x evidence.Exchange) Judgement {
	r := x.Response
	strict := x.Label.Case() == "strict" || x.Label.Case() == "strict-head"
	coding := strings.ToLower(strings.Join(header(x, "Content-Encoding"), ", "))
	want := expect(x, "a body of the length and the coding that the header announces")
	switch {
	case r.Truncated, r.Withheld:
		return Passed(x.Label) // rin stopped reading, or did not keep the body
	case asksForUnreadable(x, coding):
		return Passed(x.Label)
	case r.BodyError != "" && !strings.HasPrefix(r.BodyError, "connection ended"):
		return want.failed("a body cannot be decoded: "+clip(r.BodyError), "Content-Encoding: "+clip(coding))
	case r.BodyError != "":
		return want.failed("a body ends before it is complete: "+clip(r.BodyError), clip(fmt.Sprintf("%d bytes, %s", r.Size, headerText(x, "Content-Length"))))
	case r.Surplus > 0 && x.Request.Method == "HEAD":
		return expect(x, "no body").failed("the answer to HEAD has a body", fmt.Sprintf("%d bytes", r.Surplus))
	case r.Surplus > 0:
		return want.failed("a body goes on beyond its announced end", clip(fmt.Sprintf("%s, and %d bytes more", headerText(x, "Content-Length"), r.Surplus)))
	case strict && coding != "" && coding != "identity":
		return expect(x, "no content coding").warned("a body is encoded although Accept-Encoding: identity was sent", clip("Content-Encoding: "+coding))
	}
	return Passed(x.Label)
}

// asksForUnreadable reports whether a request named the content coding of its answer, as a browser does, although rin cannot decode it.
func asksForUnreadable(x evidence.Exchange, coding string) bool {
	return slices.Contains([]string{"br", "zstd"}, coding) && strings.Contains(strings.Join(evidence.Values(x.Request.Header, "Accept-Encoding"), ","), coding)
}

// The bounds of ROB-07.
const (
	clockAccuracy  = 60 * time.Second  // above it, a warning
	clockTolerance = 300 * time.Second // above it, a failure
)

// judgeClocks judges the clocks of the authorization server and the API by the good answers, and then by all others.
func judgeClocks(e Evidence) Judgement {
	var parts []Judgement
	var offsets []time.Duration
	origins := map[string]bool{}
	for _, label := range []evidence.Label{evidence.TokenEndpoint.With(evidence.OK), evidence.Info.With(evidence.OK)} {
		x, sent := e.Get(label)
		if !sent || x.Response == nil {
			continue
		}
		j, offset := judgeDate(x)
		parts = append(parts, j)
		if j.Outcome != Pass && offset != 0 {
			offsets = append(offsets, offset)
			origins[evidence.OriginOf(x.Request.URL)] = true
		}
		for _, t := range x.Tokens {
			parts = append(parts, judgeIssuedAt(x, t))
		}
	}
	if len(parts) == 0 {
		return Unclear("neither the token request nor the info request was answered")
	}
	// Servers that agree with each other, but not with this machine, are probably right.
	if len(origins) > 1 && (slices.Max(offsets)-slices.Min(offsets)) <= clockAccuracy {
		return Unclear("authorization server and API agree on a time that differs from this machine's by "+durationText(offsets[0])).
			Hinting("set the clock of this machine by NTP, then repeat the run").Seen(evidence.TokenEndpoint.With(evidence.OK), evidence.Info.With(evidence.OK))
	}
	return gather(withoutRepeats(append(parts, judgeOtherClocks(e)...))...)
}

// judgeOtherClocks finds wrong and missing dates in all other answers, because several hosts may be behind one URL. It reports each kind of fault once for a
// resource.
func judgeOtherClocks(e Evidence) []Judgement {
	var s survey
	for _, x := range e.sweep().dated {
		if c := x.Label.Case(); c == evidence.OK && (x.Label.Resource() == evidence.TokenEndpoint || x.Label.Resource() == evidence.Info) {
			continue
		}
		j, offset := judgeDate(x)
		s.add(fmt.Sprint(x.Label.Resource(), j.Outcome, offset.Round(clockAccuracy)), j)
	}
	return s.faults
}

// judgeDate compares the Date of an answer with the time of the call. offset says how far Date is ahead: negative if it is behind, 0 if it is within the
// call.
func judgeDate(x evidence.Exchange) (j Judgement, offset time.Duration) {
	want := expect(x, "Date within 60 s of the time")
	values := header(x, "Date")
	switch {
	case len(values) == 0 && x.Label.Resource() == evidence.TokenEndpoint:
		return want.warned("the token answer has no Date, as with Keycloak", "no Date").Habit(keycloak), 0
	case len(values) == 0:
		return want.warned("an answer has no Date", "no Date"), 0
	}
	at, form := evidence.HTTPDate(strings.Join(values, ", "))
	if form == evidence.NoDate {
		return want.failed("the Date of an answer cannot be read", headerText(x, "Date")), 0
	}
	at = at.Add(age(x))
	// Date has whole seconds, and a proxy may set it when the request comes.
	switch from, to := x.Started.Add(-time.Second), x.Started.Add(x.Duration); {
	case at.Before(from):
		offset = at.Sub(from)
	case at.After(to):
		offset = at.Sub(to)
	}
	direction := "ahead of"
	if offset < 0 {
		direction = "behind"
	}
	got := durationText(offset) + " " + direction + " this machine"
	reason := "the node's clock is " + durationText(offset) + " " + direction + " that of this machine"
	switch {
	case offset.Abs() <= clockAccuracy:
		return Passed(x.Label), offset
	case offset.Abs() <= clockTolerance:
		return want.warned(reason, got), offset
	}
	return want.failed(reason, got), offset
}

// age returns how long a cache has kept an answer, whose Date does not change meanwhile (RFC 9111 §5.1); 0 if it comes from the node itself.
func age(x evidence.Exchange) time.Duration {
	seconds, err := strconv.ParseUint(strings.Join(header(x, "Age"), ","), 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// judgeIssuedAt compares iat of a token with the Date of its answer. An earlier time is fine: some servers return the same token until it expires.
func judgeIssuedAt(x evidence.Exchange, t evidence.TokenFacts) Judgement {
	if t.JWT == nil {
		return Passed()
	}
	number, ok := t.JWT.Claims["iat"].(json.Number)
	if !ok {
		return Passed() // JWT-03 judges its form
	}
	seconds, err := number.Float64()
	if err != nil || math.Abs(seconds) > millisecondLike { // not seconds since 1970; a duration could overflow
		return Passed()
	}
	ahead := time.Unix(int64(seconds), 0).Sub(answeredAt(x))
	want := expect(x, "iat not later than the Date of the answer")
	got := "iat " + durationText(ahead) + " ahead of Date"
	switch {
	case ahead <= clockAccuracy:
		return Passed()
	case ahead <= clockTolerance:
		return want.warned("a token is issued "+durationText(ahead)+" in the future", got)
	}
	return want.failed("a token is issued "+durationText(ahead)+" in the future", got)
}

// soundAnswers returns ROB-05 to ROB-07, rules for every answer.
func soundAnswers() []Requirement {
	return []Requirement{
		{
			ID: "ROB-05", Title: "Answers come in time",
			Level: Recommended, Gate: Advice, Profile: Auth,
			Source:   cite("Interface document, Limits", "").AsDerived(),
			Quote:    "Rate limits, size limits and time-outs: not shown.",
			Probe:    "How long the good token request, the good calls of info endpoint and list, and the request for the specification took to their last byte.",
			Forgives: "A cold start: of the good calls of a resource the fastest counts. Up to 10 s pass, up to 30 s are a warning.",
			Fix:      "Bound the list (paging), leave the cache of the generated document on (springdoc.cache.disabled stays false), set time-outs towards databases and the authorization server; keep one instance warm where the platform puts it to sleep.",
			Breaks:   "The specification takes 11 s each time.",
			Reads:    append(labelsOf(timedResources(), evidence.OK), evidence.WholeRun), Check: judgeDurations,
		},
		{
			ID: "ROB-06", Title: "Body framing and compression are honest",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(9110, "8.6").And(RFC(9112, "6")).And(RFC(9110, "8.4")),
			Quote:    "a sender MUST NOT forward a message with a Content-Length header field value that is known to be incorrect",
			Probe:    "The bodies of all answers: read to the end that Content-Length or chunks announce, and decoded. One GET and one HEAD of the probe target ask for Accept-Encoding: identity, written to the connection as they are, and read until the node closes it.",
			Forgives: "Chunks, bodies that end with the connection, any content coding that was requested; a coding in spite of identity is a warning.",
			Fix:      "Let the server compute Content-Length from the encoded bytes, not from characters; drop it where a filter or proxy changes or compresses the body afterwards; leave compression to one place (nginx gzip or the application).",
			Breaks:   "Content-Length is larger than the body.",
			Reads:    append(onTarget("strict", "strict-head"), evidence.WholeRun), Check: judgeFramings,
		},
		{
			ID: "ROB-07", Title: "The node's clock is right",
			Level: StandardMust, Gate: Advice, Profile: Auth,
			Source:   RFC(9110, "6.6.1"),
			Quote:    "An origin server with a clock (as defined in Section 5.6.7) MUST generate a Date header field in all 2xx (Successful), 3xx (Redirection), and 4xx (Client Error) responses",
			Probe:    "The Date of the good token and info answers, and of every other answer of the node, against the clock of this machine; the claim iat of the token against the Date of its answer.",
			Forgives: "60 s either way; up to 300 s, or no Date, is a warning (Keycloak sends none); a token that was issued earlier and is handed out again; the older Date of a copy whose Age says so; a missing Date in an answer to odd input or in a 5xx. Where authorization server and API agree with each other and not with this machine, its clock may be the wrong one: inconclusive.",
			Fix:      "Keep time with NTP on every host and in every virtual machine (chronyc tracking, timedatectl), the hosts of caches and gateways too: tokens of a clock that is ahead are refused elsewhere.",
			Breaks:   "Date is one hour ahead.",
			Reads:    []evidence.Label{evidence.TokenEndpoint.With(evidence.OK), evidence.Info.With(evidence.OK), evidence.WholeRun}, Check: judgeClocks,
		},
	}
}
