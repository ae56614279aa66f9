package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/requirement"
)

// unusedInputs lists what the operator gave and the run did not use, one sentence each. A run that was restricted to requirements needs few of
// its inputs, so the list is empty then.
func unusedInputs(e requirement.Evidence) []string {
	log, run := e.Log, e.Run
	if len(run.Only) > 0 || log.Ended == nil {
		return nil
	}
	var out []string
	say := func(input, because string) {
		out = append(out, fmt.Sprintf("%s was given and not used: %s.", evidence.Clip(input, 160), strings.TrimSuffix(evidence.Clip(because, 300), ".")))
	}
	api := requirement.Profile(run.Profile).Includes(requirement.API)
	byProfile := "the profile " + run.Profile + " has no use for it"
	byDocument := byProfile // the reason for inputs about operations
	if api && e.Spec == nil {
		byDocument = "the node's document was not read"
	}
	for _, input := range []struct {
		name    string
		given   bool
		matches func(evidence.Label) bool // the labels of the requests that need the input
	}{
		{"--client-id2", run.Second, hasResource(evidence.SecondClient)},
		{"--other-client-id", run.Other, hasResource(evidence.OtherClient)},
		{"--spare-client-id", run.Spare, hasResource(evidence.SpareClient)},
		{"--staging-token-url", run.StagingTokenURL != "", hasResource(evidence.StagingEndpoint)},
		{"--expired-token", run.ExpiredToken, hasCase("expired")},
		// Without an expired token, the profile full waits by itself.
		{"--wait " + run.Wait.String(), run.Wait > 0 && (run.ExpiredToken || requirement.Profile(run.Profile) != requirement.Full), hasCase("expired-in-use")},
		{"--allow-token-in-url", run.TokenInURL, hasCase("token-in-query")},
		{"--allow-secret-in-url", run.SecretInURL, hasCase("secret-in-url")},
		// Older evidence does not say where the URL came from.
		{"--spec-url", run.SpecURL != "" && !run.SpecDerived && run.Schema == evidence.Schema && !api, hasResource(evidence.Specification)},
	} {
		if because, unused := findUnsent(log, input.matches); input.given && unused {
			say(input.name, cmp.Or(because, byProfile))
		}
	}
	for _, role := range []struct {
		flag, name string
		found      evidence.Resource
	}{{"--list-operation", run.ListOperation, log.Roles.List}, {"--detail-operation", run.DetailOperation, log.Roles.Detail}} {
		switch {
		case role.name == "" || role.found != "":
		case e.Spec == nil || !api:
			say(role.flag, byDocument)
		default:
			say(role.flag+" "+role.name, "the node's document has no GET operation of that name")
		}
	}
	for _, origin := range run.AllowedOrigins {
		if !wasContacted(log, origin) {
			say("--allow-origin "+origin, "nothing of the node is there")
		}
	}
	if run.Authorities && !usedTLS(log) {
		say("--cacert", "no request was sent by https")
	}
	sayUnusedPlace(e, byDocument, say)
	sayUnusedNames(e, byDocument, say)
	return out
}

// sayUnusedPlace says that the base URL of the operations, or the source of their document, had no use. byDocument is the reason if no operation was
// called.
func sayUnusedPlace(e requirement.Evidence, byDocument string, say func(input, because string)) {
	run := e.Run
	called := slices.ContainsFunc(e.Exchanges, func(x evidence.Exchange) bool { return isOperation(x.Label) })
	calledThere := slices.ContainsFunc(e.Exchanges, func(x evidence.Exchange) bool {
		return isOperation(x.Label) && strings.HasPrefix(x.Request.URL, strings.TrimRight(run.BaseURL, "/"))
	})
	switch {
	case !run.BaseGiven || calledThere:
	case called && e.Roles.OperationBase != "":
		say("--base-url "+run.BaseURL, "the operations answer under "+e.Roles.OperationBase)
	case e.Spec == nil || !requirement.Profile(run.Profile).Includes(requirement.API):
		say("--base-url "+run.BaseURL, byDocument)
	default:
		say("--base-url "+run.BaseURL, "no operation was called")
	}
	if run.DocumentFile != nil && !requirement.Profile(run.Profile).Includes(requirement.API) {
		say("--document", byDocument)
	}
}

// isOperation reports whether a label is that of a described operation.
func isOperation(l evidence.Label) bool {
	return strings.HasPrefix(string(l.Resource()), string(evidence.OperationResource("")))
}

// usedTLS reports whether the run used TLS.
func usedTLS(log *evidence.Log) bool {
	return len(log.Handshakes) > 0 || slices.ContainsFunc(log.Exchanges, func(x evidence.Exchange) bool {
		return strings.HasPrefix(x.Request.URL, "https:") || slices.ContainsFunc(x.Redirects, func(h evidence.Hop) bool { return strings.HasPrefix(h.Location, "https:") })
	})
}

// sayUnusedNames says which values and gaps the node's document does not have, and which gaps were called. byDocument is the reason if no
// document was read.
func sayUnusedNames(e requirement.Evidence, byDocument string, say func(input, because string)) {
	var operations []openapi.Operation
	noParameter, noOperation := byDocument, byDocument
	if e.Spec != nil {
		operations = e.Spec.Operations
		noParameter, noOperation = "the node's document has no parameter of that name", "the node's document has no operation of that name"
	}
	for _, name := range e.Run.Values {
		if !slices.ContainsFunc(operations, func(o openapi.Operation) bool {
			return slices.ContainsFunc(o.Parameters, func(p openapi.Parameter) bool { return p.Name == name })
		}) {
			say("--value "+name, noParameter)
		}
	}
	accepted := requirement.AcceptedGaps(e)
	for _, gap := range e.Run.Gaps {
		i := slices.IndexFunc(operations, func(o openapi.Operation) bool { return o.Named(gap.Operation) })
		if i < 0 {
			say("--gap "+gap.Operation, noOperation)
		} else if !slices.Contains(accepted, gap) {
			say("--gap "+gap.Operation, refusedGap(e, operations[i]))
		}
	}
}

// refusedGap says why the gap of an operation was not accepted.
func refusedGap(e requirement.Evidence, o openapi.Operation) string {
	r := evidence.OperationResource(o.Key)
	switch {
	case slices.ContainsFunc(e.Exchanges, func(x evidence.Exchange) bool { return x.Label.Resource() == r && x.Answered() }):
		return "the operation was called"
	case o.Method != "GET":
		return "only GET operations are called, so that there is no gap"
	case r == e.Roles.List, r == e.Roles.Detail:
		return "the profile needs the list and the detail operation"
	}
	return "it says nothing that another --gap or the run does not say"
}

// hasResource matches the labels of a resource.
func hasResource(r evidence.Resource) func(evidence.Label) bool {
	return func(l evidence.Label) bool { return l.Resource() == r }
}

// hasCase matches the labels of a case.
func hasCase(c evidence.Case) func(evidence.Label) bool {
	return func(l evidence.Label) bool { return l.Case() == c }
}

// findUnsent reports whether no request with a matching label was sent, and the reason that the run recorded, if any.
func findUnsent(log *evidence.Log, matches func(evidence.Label) bool) (because string, unused bool) {
	if slices.ContainsFunc(log.Exchanges, func(x evidence.Exchange) bool { return matches(x.Label) }) {
		return "", false
	}
	for _, n := range log.NotSent {
		if matches(n.Label) {
			return n.Because, true
		}
	}
	return "", true
}

// wasContacted reports whether a request went to the origin.
func wasContacted(log *evidence.Log, origin string) bool {
	return slices.ContainsFunc(log.Exchanges, func(x evidence.Exchange) bool {
		return evidence.SameOrigin(x.Request.URL, origin) || slices.ContainsFunc(x.Redirects, func(h evidence.Hop) bool { return evidence.SameOrigin(h.URL, origin) })
	})
}
