package requirement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// guardedRoutes returns API-08: each operation refuses calls without a good token.
func guardedRoutes() []Requirement {
	return []Requirement{{
		ID: "API-08", Title: "Every operation refuses calls without a token or with a garbage one",
		Level: StandardMust, Gate: Gating, Profile: API,
		Source:   RFC(6749, "7").And(NET("R12")),
		Quote:    validateToken,
		Probe:    "Each operation without a token and with a garbage one, compared with the same call with a good token; the list and the detail operation with all odd credentials too, such as the client's own id and secret where the token endpoint is at the same origin, and a page of the list without a token. The list and the detail in an older version of the API, and without a version, if their path has one. Every other request without a good token counts as well if it got the data of an operation.",
		Forgives: "Any 4xx of the node; HTTP Basic with the client's own credentials where the document or the challenge offers it; operations that are public by the document (security: [], an empty alternative, or none while others declare it) and those of a try-out mode, unless their answers without a token hold records that a guarded operation returns; other content in another version of the API, and a version that info lists, or that shows a small part of the records (warnings); a good call that finds nothing under a made-up id, or is answered 403 or 410 as described; the operation that is the probe target, which BRR-01 and BRR-06 judge. A login page, or a 500 each time while a good token works, is not a refusal.",
		Fix:      "Put the token check in front of all routes and open the public ones by name, not the other way round. Spring Security: anyRequest().authenticated() as the last rule; Flask: before_request instead of a decorator on each view; Kong: the plugin on the service, not on single routes; nginx: auth_request on the outer location.",
		Breaks:   "The detail operation is unprotected.",
		Reads: slices.Concat(onTarget(evidence.OK, evidence.NoToken, "garbage"), []evidence.Label{
			evidence.Info.With(evidence.OK), evidence.Info.With(evidence.NoToken),
			evidence.EveryOperation.With(evidence.OK), evidence.EveryOperation.With(evidence.NoToken), evidence.EveryOperation.With("garbage"),
			evidence.ListOperation.With("version-before"), evidence.ListOperation.With("version-first"), evidence.ListOperation.With("version-none"), evidence.DetailOperation.With("version-before"),
			evidence.WholeRun,
		}),
		After: []ID{"TOK-01", "SPC-01", "SPC-03"}, Check: requireCalls("API-08", judgeGuards),
	}}
}

// judgeGuards is the check of API-08.
func judgeGuards(e Evidence) Judgement {
	for _, id := range []ID{"BRR-01", "BRR-06"} {
		if j, ok := e.passes(id); !ok {
			return j
		}
	}
	var parts []Judgement
	var notes []string
	_, public := guardedOperations(e)
	for _, r := range e.Roles.Operations {
		switch {
		case declaredPublic(e, r):
			notes = append(notes, resourceName(e, r)+" is public by the document: it is declared with security: [], with an empty alternative, or without security")
		case r == e.Roles.ProbeTarget:
			parts = append(parts, Passed(r.With(evidence.NoToken), r.With("garbage")))
			notes = append(notes, resourceName(e, r)+" is the probe target, judged by BRR-01 and BRR-06")
		case notCalled(e, r):
			notes = append(notes, resourceName(e, r)+" was not called")
		default:
			parts = append(parts, judgeGuard(e, r))
		}
	}
	parts = append(append(parts, findPublishedRecords(e)...), judgeOpenVersions(e)...)
	switch {
	case len(parts) == 0 && public > 0:
		return Inapplicable("every operation that could be called is declared with security: []").Noting(notes...)
	case len(parts) == 0:
		return Inapplicable("no described GET operation could be called").Noting(notes...)
	}
	return gather(parts...).Noting(notes...)
}

// notCalled reports whether the probe lacked values to call the operation.
func notCalled(e Evidence, r evidence.Resource) bool {
	j, missing := e.missingAnswer(r.With(evidence.OK))
	return missing && j.Outcome == NotApplicable
}

// idListed reports whether the probe took the ids in an operation's path from the answer of another operation. Otherwise it made them up.
func idListed(e Evidence, o openapi.Operation) bool {
	if e.Roles.Detail != "" && e.Roles.Detail == evidence.OperationResource(o.Key) {
		return true
	}
	if e.Spec == nil {
		return false
	}
	_, ok := e.Spec.Collection(o)
	return ok
}

// judgeGuard judges the calls of one operation. Data without a good token is always a failure; a refusal needs the good call as its positive
// control.
func judgeGuard(e Evidence, r evidence.Resource) Judgement {
	name, good := resourceName(e, r), e.exchange(r.With(evidence.OK))
	o, _ := operation(e, r)
	madeUp := good.Status() == 404 && len(o.TemplateParameters()) > 0 && !idListed(e, o)
	needsValue := slices.ContainsFunc(o.Parameters, func(p openapi.Parameter) bool { return p.Required }) // which rin may have chosen badly
	empty := (good.Status() == 404 || good.Status() == 409 || good.Status() == 501) && !needsValue
	// closed: the document describes that a client may get no data.
	closed := (good.Status() == 403 || good.Status() == 410 || empty) && documentedExactly(e, r, good.Status()) && !e.needsData(r)
	var parts []Judgement
	for _, c := range []evidence.Case{evidence.NoToken, "garbage"} {
		label := r.With(c)
		if j, missing := e.missingAnswer(label); missing {
			if !madeUp && !closed || j.Outcome != Blocked { // without a good call, a garbage token proves nothing and was not sent
				parts = append(parts, j)
			}
			continue
		}
		x := e.exchange(label)
		what := name + " " + x.Words
		parts = append(parts, judgeClearRefusal(what, x, good).named(what))
	}
	parts = append(parts, judgeOddCredentials(e, r, name)...)
	j := gather(parts...)
	if j.Outcome == Fail || success(good) {
		return j
	}
	if cause, failed := e.failedCall(r); failed {
		return cause
	}
	if e.judge("API-01").Outcome == Fail {
		return Judgement{Outcome: Blocked, BlockedBy: "API-01", Reason: name + ": a refusal proves nothing, because the same call with a good token failed"}
	}
	if closed {
		return j.Noting(name + ": a refusal proves little, because the same call with a good token was answered " + describe(good) + ", as described")
	}
	if madeUp {
		return j.Noting(name + ": a refusal proves nothing, because no existing id is known")
	}
	return Subject{Name: name, Label: r.With(evidence.OK), Expected: "2xx"}.
		unclear(name+": a refusal proves nothing, because the same call with a good token was answered "+describe(good), describe(good))
}

// findPublishedRecords judges the other answers without a good token, such as those of public operations: they must not hold the records of an operation
// that refuses such calls. A document that is generated from the code repeats its mistakes: a forgotten guard becomes security: [{}].
func findPublishedRecords(e Evidence) []Judgement {
	guarded, _ := guardedOperations(e)
	var known records
	var parts []Judgement
	for _, x := range e.Exchanges {
		r := x.Label.Resource()
		if r == evidence.Info || r == evidence.Specification || r == evidence.Registry || r == e.Roles.ProbeTarget || slices.Contains(guarded, r) || !isDisclosure(x) {
			continue
		}
		if known == nil {
			known = guardedRecords(e)
		}
		if n := known.countIn(e, x); n > 0 {
			name := resourceName(e, r)
			parts = append(parts, expect(x, "no record of an operation that needs a token").
				failed(fmt.Sprintf("%s gives %s of a guarded operation without a good token", name, evidence.Count(n, "record")), describe(x)).
				Hinting("require a token for the operation, or leave the records out of it; security: [] or [{}] in a generated document often means a forgotten guard"))
		}
	}
	return parts
}

// judgeOddCredentials judges the other calls without a good token: only data is a failure. If the probe target answers such a call as well, the
// requirement about that kind of call judges it.
func judgeOddCredentials(e Evidence, r evidence.Resource, name string) []Judgement {
	var out []Judgement
	answers, targetFamilies := disclosures(e, r), disclosedFamilies(e)
	for _, x := range answers {
		c := x.Label.Case()
		if c == "basic-scheme" && offersBasic(e, r) {
			continue // a node may take the client's own credentials beside tokens, if it says so
		}
		if x.Family != "" && targetFamilies[x.Family] || x.Family.IsDetour() && e.judge(disclosureRequirement(e, x)).Outcome == Fail {
			continue // the run may have drawn another kind of the family for the probe target
		}
		if targetAnswer, _ := target(e, counterpart(x)); c != evidence.NoToken && c != "garbage" && !success(targetAnswer) {
			out = append(out, expect(x, "a 4xx without data").failed(name+" "+disclosureInWords(x)+" to a call without a good token: "+variantInWords(x), describe(x)).named(name+", "+variantInWords(x)))
		}
	}
	targetHead, _ := target(e, "head")
	good := e.exchange(r.With(evidence.OK))
	// A warning, as in BRR-12: the caller has a good token.
	if x, sent := e.Get(r.With("token-scheme")); sent && success(x) && carriesData(x, good) {
		out = append(out, expect(x, "a 4xx").warned(name+" takes the good token under another scheme", describe(x)).
			Hinting("compare the scheme with Bearer, in any case, before the token is read (BRR-12)").named(name+", "+variantInWords(x)))
	}
	if x, ok := e.Get(r.With("head")); ok && success(x) && !success(targetHead) && (!isHTML(x) || isHTML(good)) {
		out = append(out, expect(x, "401 as for GET, or 405").failed(name+" accepts HEAD without a token", describe(x)).named(name+", HEAD without a token"))
	}
	return out
}

// offersBasic reports whether the document declares HTTP Basic, or the resource asks for it.
func offersBasic(e Evidence, r evidence.Resource) bool {
	challenged := slices.ContainsFunc(header(e.exchange(r.With(evidence.NoToken)), "WWW-Authenticate"), func(line string) bool {
		challenges, _ := evidence.ParseChallenges([]string{line})
		return slices.ContainsFunc(challenges, func(c evidence.Challenge) bool { return strings.EqualFold(c.Scheme, "Basic") })
	})
	return challenged || e.Spec != nil && slices.ContainsFunc(declaredSchemes(e.Spec), func(s scheme) bool { return s.basic })
}

// counterpart returns the same case on the probe target, or the nearest one, because the probe target has no pages, filters and records.
func counterpart(x evidence.Exchange) evidence.Case {
	c := x.Label.Case()
	before, _, _ := strings.Cut(string(c), "-")
	if c == "page-no-token" || before == "open" || before == "random" && x.Family == "" {
		return "cached-no-token"
	}
	return c
}

// variantInWords describes a call, with the path if a variant of it was tried.
func variantInWords(x evidence.Exchange) string {
	if c := x.Label.Case(); slices.Contains(pathVariants(), c) || x.Family == evidence.PathDetours {
		return x.Words + " as " + callName(x)
	}
	return x.Words
}
