package requirement

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// describedOperations returns API-01. The requirement also judges the calls with parameter values that the document allows; PAG-06 judges the other values.
func describedOperations() []Requirement {
	return []Requirement{{
		ID: "API-01", Title: "Described GET operations answer an authorized request",
		Level: Network, Gate: Gating, Profile: API,
		Source:   NET("R1").And(NET("R15")),
		Quote:    "Each node exposes endpoints described by a machine-readable API specification file.",
		Probe:    "Each GET operation of the document with a token and default parameters, and once more with each of several values that the document allows: from the enum of a parameter, at its bounds, of its shortest and longest length. Where the schema allows any text, also cursors that decode to something else, quotes, patterns and very long texts. The list is called with a token that was requested by HTTP Basic, or in another way. At the end two clients request tokens at the same time, and the list is called with each of them.",
		Forgives: "A documented status other than 2xx, such as 403 of an administrator's operation and 410 for a record that is gone, 404 and 501 with a warning; info, list and detail need a 2xx. 403 that is not documented, for a missing privilege (a warning); a documented refusal of an allowed value, since parameters may depend on each other (a warning); 404 for an id that nobody has; a refusal of a text that means nothing to the node; operations that need a value which nobody knows are left out; 401 for a token that was requested at the same time as others, since a server may accept only the newest token, unless an older token of the client is accepted, more tokens of a client lived at once before, or the published key does not verify the refused one. What the document does not allow is judged by PAG-06.",
		Fix:      "Route every path that the document describes, under the path of its servers entry, or take it out of the document. Behind a proxy check the prefix: Spring server.servlet.context-path or server.forward-headers-strategy; nginx: the URI part of proxy_pass.",
		Breaks:   "One described operation gives 404.",
		Reads:    []evidence.Label{evidence.EveryOperation.With(evidence.OK), evidence.WholeRun},
		After:    []ID{"TOK-01", "SPC-01", "SPC-03"}, Check: requireCalls("API-01", judgeOperations),
	}}
}

// definedByDocument is the sentence that API-02 to API-07 quote.
const definedByDocument = "Their documentation and specification files define them."

// operationAnswers returns the answers of the executed operations in the order of the log.
func operationAnswers(e Evidence) []evidence.Exchange {
	var out []evidence.Exchange
	for _, x := range e.Exchanges {
		if x.Answered() && slices.Contains(e.Roles.Operations, x.Label.Resource()) {
			out = append(out, x)
		}
	}
	return out
}

// resourceName names the described operation of a resource, or else the resource itself.
func resourceName(e Evidence, r evidence.Resource) string {
	if o, ok := operation(e, r); ok {
		return operationName(o)
	}
	return string(r)
}

// judgeOperations is the check of API-01.
func judgeOperations(e Evidence) Judgement {
	var parts []Judgement
	infoFailed := false
	for _, r := range e.Roles.Operations {
		label := r.With(evidence.OK)
		if o, known := operation(e, r); known && e.isInfo(o) && e.exchange(label).Answered() && !success(e.exchange(label)) && e.judge(infoRequirement).Outcome == Fail {
			infoFailed = true
			continue
		}
		if j, missing := e.missingAnswer(label); missing {
			if j.Outcome == NotApplicable || j.BlockedBy == callsRequirement {
				j = Judgement{Outcome: NotApplicable, Reason: j.Reason}.Noting(resourceName(e, r) + " was not called: " + j.Reason)
			}
			parts = append(parts, j)
			continue
		}
		parts = append(parts, judgePlainCall(e, r, e.exchange(label)))
	}
	if len(parts) == 0 && !infoFailed {
		return Inapplicable("no described GET operation could be called")
	}
	if e.tokenRefusedEverywhere() {
		return Judgement{Outcome: Blocked, BlockedBy: infoRequirement, Reason: "needs " + string(infoRequirement) + ", which is fail: every operation refuses the token, as the info resource does"}
	}
	parts = append(parts, judgeAllowedValues(e)...)
	parts = append(parts, ordinaryFailures(e)...)
	parts = append(parts, judgeParallelTokens(e)...)
	parts = append(parts, judgeLostParallelTokens(e)...)
	parts = append(parts, judgeOtherWay(e)...)
	j := gather(parts...)
	if infoFailed && (j.Outcome == Pass || len(parts) == 0) {
		j = Judgement{Outcome: Blocked, BlockedBy: infoRequirement, Reason: "needs " + string(infoRequirement) + ", which is fail, for the info resource; the other operations answer"}
	}
	// A base that was tried is recorded with the status of the answer: "https://node.example/api (servers): 404".
	if slices.ContainsFunc(e.Roles.BaseTried, func(tried string) bool { return !strings.Contains(tried, "): 2") }) {
		j = j.Noting("operations were looked for under " + clip(strings.Join(e.Roles.BaseTried, ", ")) + " and are called under " + clip(e.Roles.OperationBase))
	}
	return j
}

// tokenRefusedEverywhere reports whether the info resource and all called operations answer a good token with 401. Public operations do not count.
func (e Evidence) tokenRefusedEverywhere() bool {
	if e.exchange(evidence.Info.With(evidence.OK)).Status() != 401 || e.judge(infoRequirement).Outcome != Fail {
		return false
	}
	called := 0
	for _, r := range e.Roles.Operations {
		x, _ := e.Get(r.With(evidence.OK))
		if !x.Answered() || declaredPublic(e, r) || success(e.exchange(r.With(evidence.NoToken))) {
			continue // a public operation does not look at the token
		}
		if called++; x.Status() != 401 {
			return false
		}
	}
	return called > 0
}

// judgePlainCall judges the plain call of one operation.
func judgePlainCall(e Evidence, r evidence.Resource, x evidence.Exchange) Judgement {
	o, _ := operation(e, r)
	templated, exact := len(o.TemplateParameters()) > 0, documentedExactly(e, r, x.Status())
	subject := Subject{Name: resourceName(e, r), Label: x.Label, Expected: "2xx"}
	failed := func(reason, hint string) Judgement {
		return subject.failed(subject.Name+" "+reason, describe(x)).Hinting(hint)
	}
	warned := func(reason, hint string) Judgement {
		return subject.warned(subject.Name+" "+reason, describe(x)).Hinting(hint)
	}
	switch status := x.Status(); {
	case success(x):
		return Passed(x.Label)
	case wafPage(x), rateLimited(x):
		j, _ := inconclusiveAnswer(x)
		return j
	case exact && status == 501 && !e.needsData(r):
		return warned("is not implemented, as described, so nothing was retrieved", "leave operations out of the document until they exist")
	case serverError(x):
		return failed(brokenCall(status), "look into the node's log for the cause; the call had a good token and no optional parameters")
	case status == 304:
		return failed("is answered 304, although the call had no condition", "answer 304 only where If-None-Match or If-Modified-Since came and fits (RFC 9110 §15.4.5)")
	case exact && (status == 403 || status == 410) && !e.needsData(r):
		return Passed(x.Label).Noting(subject.Name + " answers " + describe(x) + ", as described: it was called, and its data was not seen")
	case status == 403 && success(e.exchange(r.With("new-token"))) && e.exchange(r.With("old-token")).Status() == 403:
		return failed("refuses one token of the client and answers with the next one", ownClientHint).
			Seen(r.With("new-token"), r.With("old-token"))
	case status == 403 && e.lacksData(r):
		return subject.unclear(subject.Name+" is refused to this client, so none of its data was judged", describe(x)).Hinting(roleHint)
	case status == 403:
		return warned("is refused to this client", roleHint)
	case status == 401:
		return failed("refuses a good token", "let the operation accept the same tokens as the info endpoint")
	case status == 404 && templated:
		if !idListed(e, o) {
			return Passed(x.Label).Noting("no id is known for " + subject.Name + ": a made-up one does not exist")
		}
		if e.lacksData(r) {
			return failed("does not find the id that was taken from the list, nor any other one", "list only records that the operation finds, under the same ids")
		}
		return warned("does not find the id that was taken from the list", "")
	case exact && status == 404 && r != e.Roles.List:
		return warned("answers 404, which is documented, so nothing was retrieved", "")
	case status == 404, status == 405:
		address, _, _ := strings.Cut(x.Request.URL, "?")
		return failed("is described but not served", "it was called at "+clip(address)+": route the path there, or correct the servers entry of the document")
	case exact && status == 410 && e.lacksData(r) && r != e.Roles.List:
		return failed("answers 410 for the id that was taken from the list, and for every other one", "leave records that are gone out of the list")
	case exact && e.lacksData(r) && r != e.Roles.List:
		return subject.unclear(subject.Name+" answers "+describe(x)+", which is documented, so none of its data was judged", describe(x)).
			Hinting("let the operation answer 2xx to this client")
	case exact && r != e.Roles.List:
		return Passed(x.Label).Noting(subject.Name + " answers " + describe(x) + ", which is documented")
	case redirected(x):
		return failed("redirects elsewhere, where clients do not send the token", "serve the operation at the path that the document names")
	case clientError(x) && needsInput(e, r):
		return warned("refuses the values that rin chose for its required parameters", "describe the values with enum, format, minimum, maximum or example, so that clients can choose good ones")
	}
	return failed("refuses a call that the document allows", "accept the call without optional parameters, or mark the ones that are needed with required: true")
}

// ownClientHint is the fix for an authorization server that confuses clients which request tokens at the same time.
const ownClientHint = "take the client, the role and the audience of a token from its own token request: a variable that all requests share holds those of another client if two clients request tokens at the same time"

// judgeParallelTokens finds tokens of the client that lack the role because another client requested a token at the same time. A token that was requested
// alone must have the role. [judgeLostParallelTokens] judges a 401.
func judgeParallelTokens(e Evidence) []Judgement {
	var parts []Judgement
	good := e.exchange(e.Roles.List.With("lone-token"))
	for _, x := range e.Exchanges {
		if x.Label.Resource() != e.Roles.List || !strings.HasPrefix(string(x.Label.Case()), "parallel-token-") || x.Status() != 403 || wafPage(x) || !success(good) {
			continue
		}
		parts = append(parts, Subject{Name: resourceName(e, e.Roles.List), Label: x.Label, Expected: "2xx, as with other tokens of the client"}.
			failed("a token that the client requested while another client requested one has no role", describe(x)).Hinting(ownClientHint).Seen(good.Label))
	}
	return withoutRepeats(parts)
}

// judgeOtherWay finds a token that the list refuses because the client requested it in another way, such as HTTP Basic. TOK-18 judges a server that ends tokens
// early, so a 401 of such a server does not count here.
func judgeOtherWay(e Evidence) []Judgement {
	x := e.exchange(e.Roles.List.With(evidence.OtherWay))
	issued := evidence.Label(x.Given["issued"])
	refused := x.Status() == 403 || x.Status() == 401 && !mayHaveExpired(e.exchange(issued), x) && e.judge("TOK-18").Outcome == Pass
	if e.Roles.List == "" || !refused || !refusedByNode(x) || !success(e.exchange(e.Roles.List.With(evidence.OK))) {
		return nil
	}
	return []Judgement{Subject{Name: resourceName(e, e.Roles.List), Label: x.Label, Expected: "2xx, as with other tokens of the client"}.
		failed("a token that the client got by "+e.RequestName(issued)+" is refused", describe(x)).
		Hinting("let one place fill in role, audience and lifetime of a token, however the client authenticates, and whatever else the request has").Seen(issued)}
}

// roleHint is the fix for an operation that refuses this client.
const roleHint = "give the client's service account the role and affiliation that the operation needs"

// needsData reports whether an operation must answer with data: info, list and detail. Others may be closed to this client.
func (e Evidence) needsData(r evidence.Resource) bool {
	o, known := operation(e, r)
	return r == e.Roles.List || r == e.Roles.Detail || known && e.isInfo(o)
}

// lacksData reports whether an operation must answer with data and never did.
func (e Evidence) lacksData(r evidence.Resource) bool {
	return e.needsData(r) && !slices.ContainsFunc(operationAnswers(e), func(x evidence.Exchange) bool {
		return x.Label.Resource() == r && success(x) && isOrdinaryCall(x)
	})
}

// brokenCall says in a reason that an operation answers its plain call with a 5xx.
func brokenCall(status int) string {
	if status == 501 {
		return "is described but not supported by the server"
	}
	return "breaks on a plain authorized call"
}

// needsInput reports whether the operation has required parameters, whose values rin had to choose.
func needsInput(e Evidence, r evidence.Resource) bool {
	o, ok := operation(e, r)
	return !ok || slices.ContainsFunc(o.Parameters, func(p openapi.Parameter) bool { return p.Required })
}

// documentedExactly reports whether the document lists the status itself, not only a range or default.
func documentedExactly(e Evidence, r evidence.Resource, status int) bool {
	o, _ := operation(e, r)
	_, listed := o.Responses[strconv.Itoa(status)]
	return listed
}

// trialOf reports whether a call tries a value of one described parameter, and whether that value is legal: the document allows it.
func trialOf(x evidence.Exchange) (legal, isTrial bool) {
	if parameterCall(x.Label.Case()) {
		return true, true
	}
	legal, err := strconv.ParseBool(x.Given["legal"])
	return legal, x.Given["try"] != "" && err == nil
}

// parameterCall reports whether [evidence.ParameterCase] made the case.
func parameterCall(c evidence.Case) bool {
	value, ok := strings.CutPrefix(string(c), string(evidence.ParameterCase("")))
	return ok && value != ""
}

// trialName names the operation and the value that was tried.
func trialName(e Evidence, x evidence.Exchange) string {
	name := resourceName(e, x.Label.Resource())
	if how := givenParameter(x); how != "" {
		return clip(name + ", " + how)
	}
	return name
}

// givenParameter names the parameter of a call and its value: "parameter status=open".
func givenParameter(x evidence.Exchange) string {
	name := x.Given["parameter"]
	switch {
	case name == "":
		return string(x.Label.Case())
	case x.Given["try"] == string(evidence.Absent):
		return clip("without the required parameter " + name)
	}
	in := ""
	if place := x.Given["in"]; place != "" && place != "query" {
		in = place + " "
	}
	value := strings.TrimPrefix(x.Given["value"], url.QueryEscape(name)+"=") // broken values are kept as fields of the query
	return clip(in + "parameter " + name + "=" + shorten(value))
}

// judgeAllowedValues judges the calls with values that the document allows and lists their faults.
func judgeAllowedValues(e Evidence) []Judgement {
	var parts []Judgement
	for _, x := range operationAnswers(e) {
		if j, broken := findFilterCrash(e, x); broken {
			parts = append(parts, j)
			continue
		}
		legal, isTrial := trialOf(x)
		if !isTrial || !legal {
			if isTrial && x.Given["try"] == string(evidence.Absent) && success(x) {
				parts = append(parts, Passed().Noting(trialName(e, x)+" is answered "+describe(x)+": the document declares it required, but the node does not need it"))
			}
			continue
		}
		if j, found := judgeAllowedValue(e, x); found {
			parts = append(parts, j)
		}
	}
	return parts
}

// findFilterCrash finds a declared filter or page size that breaks the list at each attempt. PAG-02 and PAG-07, for which the call is sent, judge only the
// items.
func findFilterCrash(e Evidence, x evidence.Exchange) (j Judgement, found bool) {
	c := x.Label.Case()
	oneFilter := strings.HasPrefix(string(c), "filter-") && !isJoint(c) && c != "filter-bad" && c != "filter-paged" && c != "filter-sorted" // the excluded cases have a second parameter, or a bad value
	callsList := x.Label.Resource() == e.Roles.List && (c == "size-2" || oneFilter)
	alwaysBroken := serverError(x) && x.Status() != 503 && x.Attempts >= 2
	if !callsList || !alwaysBroken || !declaresQuery(e, x.Given["parameter"]) {
		return Judgement{}, false
	}
	return allowedValueCrash(Subject{Name: trialName(e, x), Label: x.Label, Expected: "2xx, or a documented refusal", Got: describe(x)}), true
}

// allowedValueCrash returns the failure of an operation that breaks on a value that the document allows.
func allowedValueCrash(about Subject) Judgement {
	return Failed("a value that the document allows breaks the operation: "+about.Name, about.Expected, about.Got).
		Hinting("look into the node's log for the cause; if the value is wrong, correct the parameter's schema in the document").About(about)
}

// judgeAllowedValue judges a call with a value that the document allows. found is false if there is nothing to report.
func judgeAllowedValue(e Evidence, x evidence.Exchange) (j Judgement, found bool) {
	about := Subject{Name: trialName(e, x), Label: x.Label, Expected: "2xx, or a documented refusal", Got: describe(x)}
	switch status := x.Status(); {
	case success(x), redirected(x), wafPage(x), rateLimited(x), status == 401, status == 403:
		return Judgement{}, false // other requirements judge those
	case serverError(x):
		return allowedValueCrash(about), true
	case (status == 404 || status == 410) && x.Given["in"] == "path":
		return Judgement{}, false // an id that nobody has
	case clientError(x) && (x.Family == evidence.BrokenCursors || x.Family == evidence.BrokenValues):
		return Judgement{}, false // the schema allows any text, but the node may refuse one that means nothing to it
	case !clientError(x):
		return Judgement{}, false
	case !isDocumented(e, x.Label.Resource(), status):
		return Failed(fmt.Sprintf("a value that the document allows is refused with %d, which is not documented: %s", status, about.Name), about.Expected, about.Got).
			Hinting("accept the value, or describe what is allowed: enum, minimum, maximum, minLength, maxLength or pattern of the parameter").Blaming(NodeDocument).About(about), true
	case x.Label.Resource() == e.Roles.List:
		return Passed().Noting(about.Name + " is refused with " + describe(x) + "; PAG-02 and PAG-07 judge pages and filters"), true
	}
	return Warned("a value that the document allows is refused: "+about.Name, "2xx", about.Got).
		Hinting("accept the value, or describe in the document which values are allowed, and in which combinations").Blaming(NodeDocument).About(about), true
}

// isDocumented reports whether the document describes a status of the operation, by itself, by its range or as default.
func isDocumented(e Evidence, r evidence.Resource, status int) bool {
	o, _ := operation(e, r)
	_, described := o.ResponseTo(status)
	return described
}

// findForbiddenValueCrashes returns the failures of PAG-06: values that the document does not allow and that cause a 5xx.
func findForbiddenValueCrashes(e Evidence) []Judgement {
	var parts []Judgement
	for _, x := range operationAnswers(e) {
		if legal, isTrial := trialOf(x); !isTrial || legal || !serverError(x) {
			continue
		}
		want := Subject{Name: trialName(e, x), Label: x.Label, Expected: "4xx, or the value is ignored"}
		j := want.failed("a value that the document does not allow breaks the operation: "+want.Name, describe(x))
		if isOddValue(x) && Profile(e.Run.Profile) != Full {
			j.Outcome = Warn // libraries below the application fail on these values
		}
		parts = append(parts, j)
	}
	return parts
}
