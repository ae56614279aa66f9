package probe

import (
	"context"
	"slices"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
)

// This file calls the list with a token that the client requested in another way than the one in use: by HTTP Basic, with encoded values, with parameters that
// a server must ignore. Other code issues such a token, and may leave out the role or the audience.

// otherWayCases is this call. It follows the first calls with the token in use.
func otherWayCases() []row {
	return []row{{Label: evidence.ListOperation.With(evidence.OtherWay), Words: "with a token that was requested in another way",
		Plan: in(stageRest, stageAuthorized, stageTokens).onlyIf(notQuick), Send: controlled(presentOtherWay)}}
}

// otherWays are these token requests.
func otherWays() []evidence.Label {
	return []evidence.Label{"token.basic", "token.basic-unencoded", "token.basic-percent-encoded", "token.percent-encoded", "token.unknown-parameter", "token.empty-scope"}
}

// keepOtherWay keeps the token of such a request under a name of its own: the run goes on with another one.
func keepOtherWay(l evidence.Label) learner {
	return func(r *run, _ evidence.Resource, a recorder.Answer) {
		if t, ok := ReadToken(a, r.Clock()); ok {
			r.facts.with(func(f *facts) { f.tokens[otherWay(l)] = t })
		}
	}
}

func otherWay(l evidence.Label) string { return "token of " + string(l) }

// presentOtherWay sends one of these tokens: every second time that of HTTP Basic, which clients use more often than the others.
func presentOtherWay(_ context.Context, r *run, res Resource) (recorder.Request, *unsent) {
	issued := slices.DeleteFunc(otherWays(), func(l evidence.Label) bool {
		t := r.facts.token(otherWay(l))
		return t.Value == "" || t.Value == r.current().Value || t.Stale(r.Clock())
	})
	if len(issued) == 0 {
		return recorder.Request{}, notApplicable("no token that was requested in another way lives long enough")
	}
	s := r.source(res.Name, "token of another way")
	way := draw.One(s, issued...)
	if s.Below(2) == 0 {
		way = issued[0]
	}
	q := res.Authorized(r.facts.token(otherWay(way)).Value)
	q.Given = map[string]string{"issued": string(way)}
	return q, nil
}
