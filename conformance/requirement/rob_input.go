package requirement

import (
	"fmt"
	"time"

	"github.com/rin-network/rin/conformance/exchange"
)

// This file judges the answers to odd input (ROB-01 to ROB-04).

func oddBearersBorne(e Evidence) Judgement {
	return borne(e, onTarget(oddBearers()...), exchange.ProbeTarget.With(exchange.OKAfterBearers), nil)
}

func oddFormsBorne(e Evidence) Judgement {
	after := exchange.TokenEndpoint.With(exchange.OKAfterForm)
	return borne(e, with(exchange.TokenEndpoint, oddForms()...), after, func(x exchange.Exchange) (Judgement, bool) {
		if issued(x) {
			const expected = "401, or another 4xx, without a token"
			return Failed("a request "+mannerOf(x)+" of a client that nobody registered gets a token", expected, describeError(x)).about(x, expected, describeError(x)), true
		}
		j := bears(e, x, after)
		if j.Outcome != Fail || x.Label.Case() != exchange.FormPercent || x.Status() != 500 {
			return Judgement{}, false
		}
		return Warned(j.Reason+", as with Keycloak", j.Expected, j.Got).about(x, j.Expected, j.Got), true
	})
}

func oddQueriesBorne(e Evidence) Judgement {
	return borne(e, with(exchange.ListOperation, oddQueries()...), exchange.ListOperation.With(exchange.OKAfterQueries), nil)
}

func oddIDsBorne(e Evidence) Judgement {
	good := e.The(exchange.DetailOperation.With(exchange.OK))
	unknown := e.The(exchange.DetailOperation.With(exchange.UnknownID))
	if serverError(unknown) || unknown.Failure != nil || success(unknown) && carriesData(unknown, good) {
		return Judgement{Outcome: Blocked, BlockedBy: "PAG-09", Reason: "any unknown id is answered " + describe(unknown) + ", so odd ones show nothing more"}.Seen(unknown.Label)
	}
	return borne(e, with(exchange.DetailOperation, oddIDs()...), exchange.DetailOperation.With(exchange.OKAfterIDs), func(x exchange.Exchange) (Judgement, bool) {
		if !success(x) || !(carriesData(x, good) || len(x.Response.Body) > tiny && !html(x) && !jsonMedia(mediaType(x))) {
			return Judgement{}, false
		}
		const expected = "404, or another 4xx"
		return Failed("an id that no item has gets an item or a file", expected, describe(x)).about(x, expected, describe(x)), true
	})
}

// borne judges the answers to odd requests, and by more, which may be nil, those that came. control is the normal request after them.
func borne(e Evidence, odd []exchange.Label, control exchange.Label, more func(exchange.Exchange) (Judgement, bool)) Judgement {
	var parts, unsent []Judgement
	for _, role := range odd {
		labels := e.Resolve(role)
		if len(labels) == 0 {
			return Missing("this run has no " + roleName(role))
		}
		for _, label := range labels {
			x, sent := e.Get(label)
			if !sent {
				j, _ := e.lacking(label)
				unsent = append(unsent, j)
				continue
			}
			if more != nil {
				if j, found := more(x); found {
					parts = append(parts, j)
					continue
				}
			}
			parts = append(parts, bears(e, x, control))
		}
	}
	// A group that was cut short, or that a polite run has less of, is judged by what was sent.
	for _, j := range unsent {
		if j.Outcome == Inconclusive && planned(e, odd) {
			parts = append(parts, j)
		}
	}
	if len(parts) == 0 {
		return gather(unsent...)
	}
	return gather(parts...)
}

// planned reports that all of the requests were meant to be sent.
func planned(e Evidence, odd []exchange.Label) bool {
	for _, role := range odd {
		for _, l := range e.Resolve(role) {
			_, sent := e.Get(l)
			if _, skipped := e.Skipped(l); !sent && !skipped {
				return false
			}
		}
	}
	return true
}

// slowest is what a node may take for an answer, however odd the request.
const slowest = 30 * time.Second

// bears judges one answer to an odd request.
func bears(e Evidence, x exchange.Exchange, control exchange.Label) Judgement {
	const expected = "any answer but a 5xx, best a 4xx"
	var fault string
	switch {
	case x.Failure != nil:
		switch x.Failure.Kind {
		case exchange.FailureTimeout:
			fault = "is never answered"
		case exchange.FailureReset, exchange.FailureProtocol:
			fault = "ends the connection without an answer"
		default:
			return Unclear(fmt.Sprintf("no answer to %s: %s", e.asked(x.Label), clip(x.Failure.Message))).Seen(x.Label)
		}
	case x.Response == nil:
		return Unclear("the recording holds no answer").Blaming(Suite).Seen(x.Label)
	case serverError(x):
		fault = "breaks the node"
	case x.Duration > slowest:
		return Failed("a request "+mannerOf(x)+" takes longer than 30 s", expected, within(x.Duration)).about(x, expected, within(x.Duration))
	default:
		return Passed(x.Label)
	}
	got := describe(x)
	if x.Attempts < 2 {
		return Unclear("a request "+mannerOf(x)+" "+fault+", and it was not repeated").about(x, expected, got)
	}
	if !worksBeside(e, x, control) {
		return Unclear("a request "+mannerOf(x)+" "+fault+", but the normal one is not seen to work in the same minute").
			Hinting("look into the node's log for the cause, then repeat the run").about(x, expected, got)
	}
	return Failed("a request "+mannerOf(x)+" "+fault+" while the normal one works", expected, got).about(x, expected, got)
}

// worksBeside reports a good answer of the same resource within a minute of an odd one, and that the normal request after the odd
// ones, where it was sent, was one.
func worksBeside(e Evidence, x exchange.Exchange, control exchange.Label) bool {
	for _, label := range e.Resolve(control) {
		if after, sent := e.Get(label); sent && !success(after) {
			return false
		}
	}
	for _, good := range e.All(exchange.WholeRun) {
		if good.Label.Resource() == x.Label.Resource() && success(good) && good.Started.Sub(x.Started).Abs() <= time.Minute {
			return true
		}
	}
	return false
}
