package requirement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file finds the described GET operations that no request of the run reached. Their guard and their data are unknown, so the
// requirements about both are inconclusive, unless the operator accepts the gap.

// requireCalls returns a check that is inconclusive if some operations were not called, or blocked if the call of the list that would name their ids failed.
func requireCalls(row ID, check func(Evidence) Judgement) func(Evidence) Judgement {
	return func(e Evidence) Judgement {
		j := check(e)
		open, accepted := uncalledOperations(e)
		open = slices.DeleteFunc(open, func(o Judgement) bool { return o.BlockedBy == row }) // the row judges that call itself
		if j.Outcome == Blocked || len(open) == 0 {
			return j.Noting(accepted...)
		}
		return gather(append([]Judgement{j}, open...)...).Noting(accepted...)
	}
}

// uncalledOperations judges the described GET operations without an answer. accepted are notes on those that the operator accepts as gaps.
func uncalledOperations(e Evidence) (open []Judgement, accepted []string) {
	if e.Spec == nil || len(e.Roles.Operations) == 0 && e.Roles.List == "" {
		return nil, nil
	}
	answered := map[evidence.Resource]bool{}
	for _, x := range e.Exchanges {
		answered[x.Label.Resource()] = answered[x.Label.Resource()] || x.Answered()
	}
	for _, o := range e.Spec.Operations {
		r := evidence.OperationResource(o.Key)
		unanswered := slices.Contains(e.Roles.Operations, r) && !notCalled(e, r) // API-01 judges it
		if o.Method != "GET" || answered[r] || unanswered {
			continue
		}
		why, kind := reasonNotCalled(e, o)
		if gap, ok := e.gap(r); ok {
			accepted = append(accepted, operationName(o)+" was not called, which the operator accepts: "+clip(gap.Reason))
			continue
		}
		if cause, failed := failedList(e, o); failed {
			open = append(open, cause.About(Subject{Name: operationName(o), Expected: "an answer", Got: why}))
			continue
		}
		reason := operationName(o) + " was not called, so nothing is known of its guard and its data: " + why
		open = append(open, Unclear(reason).Hinting(inputFor(e, o, why, kind)).
			About(Subject{Name: operationName(o), Expected: "an answer", Got: why}))
	}
	return open, accepted
}

// AcceptedGaps lists the gaps that the operator accepts and that the run has, each once.
func AcceptedGaps(e Evidence) []evidence.Gap {
	var out []evidence.Gap
	if e.Spec == nil {
		return nil
	}
	for _, o := range e.Spec.Operations {
		r := evidence.OperationResource(o.Key)
		gap, ok := e.gap(r)
		called := slices.ContainsFunc(e.Exchanges, func(x evidence.Exchange) bool { return x.Label.Resource() == r && x.Answered() })
		if ok && o.Method == "GET" && !called && !slices.Contains(out, gap) {
			out = append(out, gap)
		}
	}
	return out
}

// failedList returns a judgement if an operation was not called because the call of the list that would name its ids failed.
func failedList(e Evidence, o openapi.Operation) (j Judgement, failed bool) {
	list, ok := e.Spec.Collection(o)
	r := evidence.OperationResource(list.Key)
	if evidence.OperationResource(o.Key) == e.Roles.Detail && e.Roles.List != "" {
		list, ok = operation(e, e.Roles.List)
		r = e.Roles.List
	}
	if !ok || list.Key == o.Key {
		return Judgement{}, false
	}
	if _, sent := e.Get(r.With(evidence.OK)); !sent && strings.Count(list.Path, "/") < strings.Count(o.Path, "/") {
		return failedList(e, list) // the list needs an id itself
	}
	return e.failedCall(r)
}

// failedCall returns the judgement for checks that need the good call of an operation, if it was not answered with 2xx. API-01 judges the call itself, or
// INF-01 if the info resource refuses the token as well.
func (e Evidence) failedCall(r evidence.Resource) (j Judgement, failed bool) {
	x, sent := e.Get(r.With(evidence.OK))
	if !sent || success(x) {
		return Judgement{}, false
	}
	o, known := operation(e, r)
	info := e.exchange(evidence.Info.With(evidence.OK))
	refused := x.Status() == 401 && info.Status() == 401
	if (refused || known && e.isInfo(o) && !success(info)) && e.judge(infoRequirement).Outcome == Fail {
		return Judgement{Outcome: Blocked, BlockedBy: infoRequirement, Reason: fmt.Sprintf("needs %s, which is fail: %s with a good token gets %s", infoRequirement, resourceName(e, r), describe(x))}, true
	}
	j = Judgement{Outcome: Inconclusive}
	if x.Answered() {
		j = judgePlainCall(e, r, x)
	} else {
		j.Hint = e.reachHint(x)
	}
	if j.Outcome != Fail && j.Outcome != Inconclusive {
		return Judgement{}, false
	}
	return Judgement{Outcome: Blocked, BlockedBy: callsRequirement, Hint: j.Hint,
		Reason: fmt.Sprintf("needs %s, which is %s: %s with a good token gets %s", callsRequirement, j.Outcome, resourceName(e, r), describe(x))}, true
}

// unmetCause finds the requirement about the failed call because of which a request was not sent. Without one it returns the zero judgement.
func (e Evidence) unmetCause(label evidence.Label, because string) Judgement {
	if o, ok := operation(e, label.Resource()); ok {
		if cause, failed := failedList(e, o); failed {
			return cause
		}
	}
	_, good, found := strings.Cut(because, "the good call ")
	good, _, _ = strings.Cut(good, " ")
	control := evidence.Label(good)
	switch {
	case !found || control.Case() != evidence.OK || control == label:
		return Judgement{}
	case control.Resource() == evidence.Info:
		j, _ := e.passes(infoRequirement)
		return j
	}
	cause, _ := e.failedCall(control.Resource())
	return cause
}

// callsRequirement judges the good calls of the operations.
const callsRequirement = ID("API-01")

// gap returns the gap that the operator accepts for an operation. It returns none for the list, the detail operation and the info resource.
func (e Evidence) gap(r evidence.Resource) (evidence.Gap, bool) {
	o, ok := operation(e, r)
	if !ok || r == e.Roles.List || r == e.Roles.Detail || e.isInfo(o) {
		return evidence.Gap{}, false
	}
	i := slices.IndexFunc(e.Run.Gaps, func(g evidence.Gap) bool { return o.Named(g.Operation) })
	if i < 0 {
		return evidence.Gap{}, false
	}
	return e.Run.Gaps[i], true
}

// isInfo reports whether an operation is the info resource, which documents may describe as well.
func (e Evidence) isInfo(o openapi.Operation) bool {
	return strings.HasSuffix(strings.TrimRight(e.Run.InfoURL, "/"), strings.TrimRight(o.Path, "/"))
}

// saysNothing caches [openapi.Document.SaysNothing], which is needed for each answer of an operation.
func (e Evidence) saysNothing(o openapi.Operation) bool {
	return remember(e.judged, "vague "+o.Key, func() bool { return e.Spec.SaysNothing(o) })
}

// UncomparedOperations lists the operations whose good answers were compared with a schema that allows any answer, or without a schema.
func UncomparedOperations(e Evidence) []string {
	var out []string
	for _, r := range e.Roles.Operations {
		if o, ok := operation(e, r); ok && success(e.exchange(r.With(evidence.OK))) && e.saysNothing(o) {
			out = append(out, operationName(o))
		}
	}
	return out
}

// reasonNotCalled says why an operation was not called.
func reasonNotCalled(e Evidence, o openapi.Operation) (why string, kind evidence.NotSentKind) {
	for _, c := range []evidence.Case{evidence.OK, evidence.NoToken} {
		if skipped, planned := e.Skipped(evidence.OperationResource(o.Key).With(c)); planned {
			return clip(skipped.Because), skipped.Kind
		}
	}
	if o.RequiresBody {
		return "it requires a request body", evidence.NotApplicable
	}
	return "the run did not plan it", evidence.OverBudget
}

// inputFor names the input with which rin can call an operation.
func inputFor(e Evidence, o openapi.Operation, why string, kind evidence.NotSentKind) string {
	accept := fmt.Sprintf("accept the gap with --gap '%s=REASON'", clip(o.Path))
	var values []string
	for _, p := range o.Parameters {
		if (p.Required || p.In == "path") && len(p.Schema.Enum) == 0 {
			values = append(values, "--value "+clip(p.Name)+"=VALUE")
		}
	}
	r := evidence.OperationResource(o.Key)
	origin, isForbidden := "", false // the origin that the reason names
	if _, after, found := strings.Cut(why, "--allow-origin "); found {
		origin, _, isForbidden = strings.Cut(after, ", ")
	}
	switch {
	case isForbidden:
		return "allow its origin with --allow-origin " + origin + " if it belongs to the node, name the place of the operations with --base-url, or " + accept
	case kind == evidence.OverBudget:
		return "let the run send more requests with --effort deep, or " + accept
	case r == e.Roles.Detail:
		return "publish one test call, then repeat the run"
	case o.RequiresBody || len(values) == 0:
		return accept
	case kind == evidence.Unmet:
		return "put an item into the list above it, or give what exists with " + strings.Join(values, " ") + ", or " + accept
	}
	return "give values that exist with " + strings.Join(values, " ") + ", or " + accept
}
