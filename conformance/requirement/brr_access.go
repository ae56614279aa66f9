package requirement

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// anonymousAccess is BRR-01: calls without a token.
func anonymousAccess() []Requirement {
	return []Requirement{{
		ID: "BRR-01", Title: "A call without a token is refused",
		Level: StandardMust, Gate: Gating, Profile: Auth,
		Source:   RFC(6749, "7").And(NET("R12")),
		Quote:    validateToken,
		Probe:    "A GET of the info endpoint and of each operation without Authorization, before the first authorized call. Every other request of the run without a credential that got protected data counts as well.",
		Forgives: "400, 403, 404 or any other 4xx without data instead of 401; an open info endpoint if another operation refuses anonymous calls (a warning; not under an /oauth/ path, where it is declared to be the authorization test); operations declared with security: [] and try-out bases, which never earn a certificate. A login page, or a 500 each time while a good token works, is not a refusal.",
		Fix:      "Refuse requests without a valid token on every protected path: Spring Security authorizeHttpRequests(a -> a.anyRequest().authenticated()) with oauth2ResourceServer(); nginx auth_request on the location; Flask: fail at start when the identity provider is not configured, instead of leaving the check out.",
		Breaks:   "A node that answers anonymous calls with 200 everywhere; wrong tokens are still refused.",
		Reads: slices.Concat(onTarget(evidence.NoToken, evidence.OK), []evidence.Label{
			evidence.Info.With(evidence.NoToken), evidence.Info.With(evidence.OK),
			evidence.EveryOperation.With(evidence.NoToken), evidence.EveryOperation.With(evidence.OK),
		}),
		After: []ID{"TOK-01"}, Breach: unclaimed("BRR-01"), Check: anonymousRefused,
	}}
}

// missingScope is BRR-20: a token that was granted another scope than an operation needs.
func missingScope() []Requirement {
	return []Requirement{{
		ID: "BRR-20", Title: "A token without the scope that the document asks for gets no data",
		Level: StandardMust, Gate: Gating, Profile: API,
		Source:   RFC(6749, "7").And(RFC(6750, "3.1")).And(OAS("Security Requirement Object", "security-requirement-object")),
		Quote:    validateToken,
		Probe:    "The list and the detail with a token of the first client that was issued for another scope than the document asks for there. The scope is drawn from those that the server or the document names.",
		Forgives: "A document that asks for no scope, or takes a bearer token without one; a server that issues no such token, grants the scope all the same, or does not say what it granted; an operation that the good token opens without the scope (a warning: the document is wrong).",
		Fix:      "Check the scope on each operation, as the document says: Spring Security hasAuthority(\"SCOPE_…\"), FastAPI Security(…, scopes=[…]), Express requiredScopes(…); answer 403 with error=\"insufficient_scope\". Or take the scope out of the document, if it means nothing.",
		Breaks:   "A token for the scope of the statistics reads the fundings.",
		Reads:    []evidence.Label{narrowScopeLabel(), evidence.TokenEndpoint.With(evidence.OK), evidence.EveryOperation.With("narrow-scope"), evidence.EveryOperation.With(evidence.OK)},
		After:    []ID{"TOK-01", "SPC-01", "SPC-03"}, Check: scopeNeeded,
	}}
}

// narrowScopeLabel is the token request for another scope than the operations need.
func narrowScopeLabel() evidence.Label { return evidence.TokenEndpoint.With("scope-narrow") }

func scopeNeeded(e Evidence) Judgement {
	if j, ok := e.unanswered(narrowScopeLabel()); ok {
		return j
	}
	token := e.exchange(narrowScopeLabel())
	granted, scope := grantedScopes(token)
	switch {
	case !issued(token):
		return Missing("the server issues no token for another scope than the operations need").Seen(token.Label)
	case scope == "":
		return Missing("the server does not say which scope it granted").Seen(token.Label)
	}
	good, goodScope := grantedScopes(e.exchange(evidence.TokenEndpoint.With(evidence.OK)))
	var parts []Judgement
	for _, r := range e.Roles.Operations {
		o, described := operation(e, r)
		x, sent := e.Get(r.With("narrow-scope"))
		if !described || o.Security == nil || !sent || !x.Answered() {
			continue
		}
		lacks := func(granted []string) func(string) bool {
			return func(scope string) bool { return !slices.Contains(granted, scope) }
		}
		if !slices.ContainsFunc(o.Security.Scopes, lacks(granted)) {
			continue
		}
		ok := e.exchange(r.With(evidence.OK))
		what := "a call of " + resourceName(e, r) + " with a token for the scope " + quote(scope)
		if goodScope != "" && slices.ContainsFunc(o.Security.Scopes, lacks(good)) && success(ok) {
			parts = append(parts, expect(x, "a scope that the tokens of the node have").warned("the document asks for the scope "+quote(strings.Join(o.Security.Scopes, " "))+
				", which the token in use does not have and does not need", describe(x)).Blaming(NodeDocument))
			continue
		}
		parts = append(parts, refusal(what, x, ok).named(what))
	}
	if len(parts) == 0 {
		return Missing("the server granted every scope that the document asks for").Seen(token.Label)
	}
	return gather(parts...)
}

// grantedScopes are the words of the scope that a token answer names, and those of all claims of its token: servers call the scope scp, permissions
// or authorities as well. scope is what the answer, or else the token, calls the scope; empty if neither does.
func grantedScopes(x evidence.Exchange) (granted []string, scope string) {
	o, _ := jsonObject(x)
	scope, _ = o["scope"].(string)
	granted = strings.Fields(scope)
	facts, known := tokenFacts(x)
	if !known || facts.JWT == nil {
		return granted, scope
	}
	for _, name := range slices.Sorted(maps.Keys(facts.JWT.Claims)) {
		var words []string
		switch claim := facts.JWT.Claims[name].(type) {
		case string:
			words = strings.Fields(claim)
		case []any:
			for _, one := range claim {
				if text, ok := one.(string); ok {
					words = append(words, text)
				}
			}
		}
		granted = append(granted, words...)
		if scope == "" && (name == "scope" || name == "scp") {
			scope = strings.Join(words, " ")
		}
	}
	return granted, scope
}

// missingRole are BRR-18 and BRR-19: a client whose account lacks the role EXTERNAL_API_CLIENT.
func missingRole() []Requirement {
	labels := []evidence.Label{
		evidence.SecondClient.With(evidence.OK), evidence.ListOperation.With("no-role"), evidence.ListOperation.With(evidence.OK),
	}
	everywhere := append(slices.Clone(labels), evidence.EveryOperation.With("no-role"), evidence.EveryOperation.With(evidence.OK))
	return []Requirement{
		{
			ID: "BRR-18", Title: "A client without the role gets no data",
			Level: Network, Gate: Gating, Profile: API,
			Source:   NET("R17").AsDerived(),
			Quote:    "In the funding service, the service account is granted the role EXTERNAL_API_CLIENT and the correct affiliation ID.",
			Probe:    "The list and the detail operation with the token of a second client whose account lacks the role; every other operation as well; with each query parameter, for other records and pages, and by some kinds of other paths, headers, methods and traits. Other operations are called at one URL before and after a good call of it. The info endpoint with the same token, which must be accepted there: the refusal of a token that is bad everywhere proves nothing.",
			Forgives: "403, 401 or 404; 200 with an empty list (a warning); an operation below the list other than the detail, which may be public vocabulary (a warning). Where the info endpoint is public or needs the role, 403 instead of the 401 for a garbage token shows that the token is good. Without a second client it does not apply, and the report says that role separation was not tested; the profile full needs one.",
			Fix:      "Check the role in the funding service, not only the token: Spring Security hasAuthority(\"EXTERNAL_API_CLIENT\") with a JwtAuthenticationConverter that reads the roles (for Keycloak: realm_access.roles), or look the service account up in the funding service's own books.",
			Breaks:   "The role is not checked.",
			Reads:    append(everywhere, secondClientControls()...), After: []ID{"TOK-01"}, Check: roleNeeded,
		},
		{
			ID: "BRR-19", Title: "Missing role is reported as 403 with a challenge",
			Level: StandardShould, Gate: Advice, Profile: API,
			Source:   RFC(6750, "3.1").And(RFC(6750, "3")).And(RFC(9110, "15.5.4")),
			Quote:    "The resource server SHOULD respond with the HTTP 403 (Forbidden) status code and MAY include the \"scope\" attribute with the scope necessary to access the protected resource.",
			Probe:    "Every refusal of the client without the role. It depends on BRR-18.",
			Forgives: "403 without a challenge, since a missing role is not a missing scope; 404 or 401 without invalid_token (warnings).",
			Fix:      "Answer 403 with WWW-Authenticate: Bearer error=\"insufficient_scope\". Spring Security: BearerTokenAccessDeniedHandler. A 401 with invalid_token makes clients fetch new tokens in a loop.",
			Breaks:   "401 invalid_token for a client without the role.",
			Reads:    append(everywhere, secondClientControls()...), After: []ID{"TOK-01"}, Check: roleRefusal,
		},
	}
}

func anonymousRefused(e Evidence) Judgement {
	target := e.Roles.ProbeTarget
	if target == "" {
		return withoutProbeTarget(e)
	}
	if j, ok := e.unanswered(target.With(evidence.NoToken)); ok {
		return j
	}
	j := anonymousRefusal(e, target)
	if c, ok := badControl(e, target); j.Outcome == Pass && ok {
		return c
	}
	if j.Outcome != Pass || target == evidence.Info {
		return j
	}
	return gather(publicInfo(e), j)
}

// badControl says why the positive control of the anonymous call does not hold; ok is false when it does.
func badControl(e Evidence, r evidence.Resource) (j Judgement, ok bool) {
	if r == evidence.Info && e.judge("INF-01").Outcome == Fail {
		return Judgement{Outcome: Blocked, BlockedBy: "INF-01", Reason: "a refusal proves nothing here: the info endpoint refuses good tokens as well"}, true
	}
	return e.uncontrolled(r.With(evidence.OK))
}

// anonymousCall judges the call of one resource without a token.
func anonymousCall(e Evidence, r evidence.Resource) Judgement {
	return refusal("the call without a token", e.exchange(r.With(evidence.NoToken)), e.exchange(r.With(evidence.OK)))
}

// anonymousRefusal is [anonymousCall] for a resource that answers the good token.
func anonymousRefusal(e Evidence, r evidence.Resource) Judgement {
	return clearRefusal("the call without a token", e.exchange(r.With(evidence.NoToken)), e.exchange(r.With(evidence.OK)))
}

// clearRefusal is [refusal] for a resource that answers the good token: a login page, or a 500 each time, does not tell callers that a good token is
// missing.
func clearRefusal(what string, x, good evidence.Exchange) Judgement {
	want := expect(x, "401, or another 4xx without data")
	switch {
	case !success(good):
		return refusal(what, x, good)
	case redirected(x) && !sameRedirect(x, good), success(x) && isHTML(x) && !isHTML(good):
		return want.failed(what+" is sent to a web page, most likely a login, which no API client understands", describe(x)).Hinting(loginHint)
	case x.Status() == 500 && x.Attempts > 1:
		return want.failed(what+" breaks the node, also when repeated, while a good token works", describe(x)).
			Hinting("check that there is an Authorization header with a good token before it is read, and answer 401 without one")
	}
	return refusal(what, x, good)
}

// publicInfo looks at the info endpoint when an operation is the probe target.
func publicInfo(e Evidence) Judgement {
	x, sent := e.Get(evidence.Info.With(evidence.NoToken))
	want := expect(x, "401 without a token")
	if sent && x.Answered() && (redirected(x) || success(x) && isHTML(x)) && success(e.exchange(evidence.Info.With(evidence.OK))) {
		return want.warned("the info endpoint sends callers without a token to a web page, most likely a login, which no API client understands", describe(x)).
			Hinting(loginHint)
	}
	if j := anonymousRefusal(e, evidence.Info); x.Status() == 500 && j.Outcome == Fail {
		return j
	}
	if !sent || anonymousCall(e, evidence.Info).Outcome != Fail {
		return Judgement{Outcome: Pass}
	}
	if isAuthorizationTest(x) {
		return openAuthorizationTest(x)
	}
	return want.warned("the info endpoint answers without a token, so it proves nothing about the authorization", describe(x)).
		Hinting("let the info endpoint require a token as the operations do; they refuse anonymous calls, so this alone does not cost the certificate")
}

// isAuthorizationTest reports whether a URL has the segment "oauth" of the interface document's info path (NET-R13).
func isAuthorizationTest(x evidence.Exchange) bool {
	return slices.Contains(segments(x.Request.URL), "oauth")
}

func openAuthorizationTest(x evidence.Exchange) Judgement {
	return expect(x, "401 without a token").failed("the info endpoint is under /oauth/, which declares it the authorization test, and answers without a token", describe(x))
}

// segments are the path segments of a URL in lower case.
func segments(raw string) []string {
	u, err := url.Parse(raw)
	if err != nil {
		return nil
	}
	return strings.Split(strings.ToLower(u.Path), "/")
}

// withoutProbeTarget judges a run in which discovery found no resource that refuses anonymous calls.
func withoutProbeTarget(e Evidence) Judgement {
	info := e.exchange(evidence.Info.With(evidence.NoToken))
	infoCall := openToAll(e, evidence.Info)
	openInfo := infoCall.Outcome == Fail
	var open, misled, doubtful []Judgement
	guarded, public := guardedOperations(e)
	for _, r := range guarded {
		if j := openToAll(e, r); j.Outcome == Fail {
			open = append(open, j)
		} else if lost := anonymousRefusal(e, r); lost.Outcome == Fail {
			misled = append(misled, lost)
		} else {
			doubtful = append(doubtful, j)
		}
	}
	if j := anonymousRefusal(e, evidence.Info); !openInfo && j.Outcome == Fail {
		misled = append([]Judgement{j}, misled...)
	}
	onlyPublic := len(guarded) == 0 && public > 0
	switch {
	case (openInfo || len(open) > 0) && tryOut(e):
		return Missing("the given base is a try-out mode, which answers without a token by design (NET-R4); no certificate can be issued for it").Seen(info.Label)
	case openInfo && onlyPublic:
		return Missing("every operation is declared with security: []; no certificate can be issued for such a base").Seen(info.Label)
	case openInfo && isAuthorizationTest(info):
		return gather(append([]Judgement{openAuthorizationTest(info)}, open...)...)
	case len(open) > 0:
		return gather(open...).Hinting("if this base is a try-out mode, give the production base; otherwise put the token check in front of every path, also when no identity provider is configured")
	case len(misled) > 0:
		return gather(misled...)
	case len(doubtful) > 0:
		return gather(doubtful...)
	case openInfo:
		return expect(info, "401").unclear("only the info endpoint is known, and it answers without a token: nothing shows that tokens are checked", describe(info)).
			Hinting("protect the info endpoint, or let the run know the operations with --spec-url")
	}
	return infoCall
}

// guardedOperations returns the executed operations that the document does not declare public, and the number of those that it does.
func guardedOperations(e Evidence) (guarded []evidence.Resource, public int) {
	for _, r := range e.Roles.Operations {
		if declaredPublic(e, r) {
			public++
			continue
		}
		guarded = append(guarded, r)
	}
	return guarded, public
}

// openToAll judges the anonymous call of a resource that is not the probe target. If the resource refuses it, it refuses the good token as
// well, or else discovery would have chosen it: that proves nothing.
func openToAll(e Evidence, r evidence.Resource) Judgement {
	if j, ok := e.unanswered(r.With(evidence.NoToken)); ok {
		return j
	}
	j := anonymousCall(e, r)
	if good := e.exchange(r.With(evidence.OK)); j.Outcome == Pass && !success(good) {
		return expect(good, "2xx").unclear("a call without a token is refused, but so is the call with a good token", describe(good))
	}
	return j
}

// tryOut reports whether the given URLs name a try-out mode.
func tryOut(e Evidence) bool {
	return slices.ContainsFunc([]string{e.Run.InfoURL, e.Run.BaseURL, e.Roles.OperationBase}, inTryOut)
}

// inTryOut reports a URL of a try-out mode, which answers without a token by design (NET-R4).
func inTryOut(raw string) bool {
	return slices.ContainsFunc(segments(raw), func(s string) bool {
		return slices.Contains([]string{"try-out", "tryout", "try_out", "tryitout"}, s)
	})
}

// operation returns the described operation of a resource "op/<key>".
func operation(e Evidence, r evidence.Resource) (openapi.Operation, bool) {
	key, ok := strings.CutPrefix(string(r), "op/")
	if !ok || e.Spec == nil {
		return openapi.Operation{}, false
	}
	return e.Spec.Operation(key)
}

// declaredPublic reports whether the document declares an operation public, or whether it is one of a try-out mode.
func declaredPublic(e Evidence, r evidence.Resource) bool {
	o, ok := operation(e, r)
	return ok && (e.Spec.Public(o) || inTryOut(e.exchange(r.With(evidence.NoToken)).Request.URL))
}

// withoutRole returns the answer to the client without the role, or the judgement that follows from its absence.
func withoutRole(e Evidence) (x evidence.Exchange, j Judgement, ok bool) {
	if !e.Run.Second {
		return x, Missing("no second client was given: role separation not tested"), false
	}
	if e.Roles.List == "" {
		return x, Missing("this run has no " + roleName(evidence.ListOperation.With(evidence.OK))), false
	}
	token := e.exchange(evidence.SecondClient.With(evidence.OK))
	if j, ok := e.unanswered(evidence.SecondClient.With(evidence.OK)); ok {
		return x, j, false
	}
	if !success(token) || len(token.Tokens) == 0 {
		return x, expect(token, "an access token").unclear("the second client got no token, so its rights cannot be tested", describe(token)).
			Hinting("check id and secret of the second client: it needs a token; only the role must be missing"), false
	}
	for _, c := range []evidence.Case{evidence.OK, "no-role"} {
		if j, ok := e.unanswered(e.Roles.List.With(c)); ok {
			return x, j, false
		}
	}
	if good := e.exchange(e.Roles.List.With(evidence.OK)); !success(good) {
		return x, expect(good, "2xx").unclear("a refusal proves nothing here: the list was refused to the client with the role as well", describe(good)), false
	}
	return e.exchange(e.Roles.List.With("no-role")), j, true
}

func roleNeeded(e Evidence) Judgement {
	x, j, ok := withoutRole(e)
	if !ok {
		return j
	}
	parts := []Judgement{roleOnList(e, x)}
	for _, r := range e.Roles.Operations {
		if x, sent := e.Get(r.With("no-role")); sent && r != e.Roles.List {
			parts = append(parts, roleBelow(e, x)...)
		}
	}
	if j = gather(parts...); j.Outcome != Fail {
		j = gather(append(parts, roleDetoured(e)...)...)
	}
	if j.Outcome != Pass && j.Outcome != Warn {
		return j
	}
	if doubt, ok := unknownSecondClient(e, x); ok {
		return doubt
	}
	return j
}

// secondClientControls are the calls that show whether the second client's token is good.
func secondClientControls() []evidence.Label {
	return []evidence.Label{evidence.Info.With("second-client"), evidence.Info.With(evidence.NoToken), evidence.ListOperation.With("garbage")}
}

// unknownSecondClient says why the second client's token is not known to be good, so that its refusal, x, proves nothing; ok is false if it is known.
func unknownSecondClient(e Evidence, x evidence.Exchange) (j Judgement, ok bool) {
	info, sent := e.Get(evidence.Info.With("second-client"))
	public := success(e.exchange(evidence.Info.With(evidence.NoToken)))
	hint := "let the info endpoint accept the second client: it needs a good token, and no role; check the audience of its tokens"
	switch {
	case sent && success(info) && !public:
		return j, false
	case sent && info.Status() == 403 && x.Status() == 403 && e.exchange(evidence.ListOperation.With("garbage")).Status() == 401:
		return j, false // info needs the role, too; the node knows the token, which it refuses in another way than garbage
	case sent && info.Answered() && !public:
		return expect(info, "2xx").unclear("a refusal proves nothing here: the info endpoint refuses the token of the second client as well", describe(info)).Hinting(hint), true
	case x.Status() == 403 && e.exchange(evidence.ListOperation.With("garbage")).Status() == 401:
		return j, false // the node knows the token, and refuses it for another reason than garbage
	case public:
		return expect(x, "403").unclear("a refusal proves nothing here: the info endpoint is public, so nothing shows that the token of the second client is good", describe(x)).Hinting(hint), true
	}
	if sent {
		return e.unanswered(info.Label)
	}
	return Unclear("a refusal proves nothing here: the token of the second client was not tried at the info endpoint").Seen(x.Label), true
}

// sendsRoleless reports a call of an operation with the token of the client without the role.
func sendsRoleless(x evidence.Exchange) bool {
	return strings.HasPrefix(string(x.Label.Resource()), string(evidence.OperationResource(""))) &&
		strings.Contains(strings.Join(evidence.Values(x.Request.Header, "Authorization"), ","), "[["+secondToken)
}

// secondToken is the name of the second client's token in evidence.
const secondToken = "access_token2"

// roleDetoured judges whatever else the client without the role was answered: with other parameters, headers and paths, on every operation.
func roleDetoured(e Evidence) []Judgement {
	var parts []Judgement
	overlooked := slices.ContainsFunc([]ID{"BRR-15", "BRR-16", "SEC-02"}, func(id ID) bool { return e.judge(id).Outcome == Fail })
	shared := e.judge("BRR-17").Outcome == Fail
	for _, x := range e.Exchanges {
		r := x.Label.Resource()
		if x.Family == evidence.RoleDetours && overlooked {
			continue // the same detour works without a token
		}
		if shared && slices.Contains(keptURLs(e), x.Request.URL) {
			continue // a cache hands the answer out to everybody
		}
		if x.Label.Case() == "no-role" || !sendsRoleless(x) || declaredPublic(e, r) {
			continue
		}
		if x.Status() == 304 && isConditional(x) && turnedAway(e.exchange(r.With("no-role"))) {
			parts = append(parts, expect(x, "403").failed(resourceName(e, r)+" "+disclosureInWords(x)+" to the client without the role", describe(x)))
		}
		if !success(x) {
			continue
		}
		if refused := e.exchange(r.With("no-role")); x.Label.Case() == evidence.RolelessHead && turnedAway(refused) {
			parts = append(parts, expect(x, "403 as for GET, or 405").failed("HEAD is answered to the client without the role, and GET is refused", describe(x)))
		}
		if x.Request.Method == "HEAD" {
			continue
		}
		if good := e.exchange(r.With(evidence.OK)); r == e.Roles.List && (carriesData(x, good) || hasDataOfVariant(e, x)) {
			parts = append(parts, expect(x, "403, or no items").failed("the client without the role gets data of the list: the call "+variantInWords(x), describe(x)))
		} else if before, refused := refusedBefore(e, x); refused && e.carriesData(x, good) && x.Family == "" {
			parts = append(parts, expect(x, fmt.Sprintf("%d, as before", before.Status())).failed(resourceName(e, r)+
				" gives its data to the client without the role, which was refused at the same URL before another client read it", describe(x)).
				Hinting("check the role before the cache, or put the client into the key of the cache").Seen(before.Label))
		} else if r != e.Roles.List {
			parts = append(parts, roleBelow(e, x)...)
		}
	}
	return parts
}

// refusedBefore finds an earlier call of the same URL that was refused to the client without the role.
func refusedBefore(e Evidence, x evidence.Exchange) (evidence.Exchange, bool) {
	for _, y := range e.Exchanges {
		if (y.Status() == 403 || y.Status() == 401) && y.Label.Resource() == x.Label.Resource() && !y.Started.After(x.Started) && sendsRoleless(y) && y.Family == "" &&
			y.Request.Method == x.Request.Method && y.Request.URL == x.Request.URL {
			return y, true
		}
	}
	return evidence.Exchange{}, false
}

// roleBelow judges a call of the detail operation, or of another one below the list: the role is often checked on one route only. Whether other
// operations need the role is not known.
func roleBelow(e Evidence, x evidence.Exchange) []Judgement {
	r := x.Label.Resource()
	good := e.exchange(r.With(evidence.OK))
	if !success(x) || !success(good) || !carriesData(x, good) && !hasDataOfVariant(e, x) {
		return nil
	}
	o, _ := operation(e, r)
	list, known := operation(e, e.Roles.List)
	reason := resourceName(e, r) + " gives its data to the client without the role"
	if x.Label.Case() != "no-role" {
		reason += ": the call " + variantInWords(x)
	}
	listed := records{}
	listed.add(e, e.exchange(e.Roles.List.With(evidence.OK)))
	switch {
	case declaredPublic(e, r):
	case r == e.Roles.Detail:
		return []Judgement{expect(x, "403").failed(reason, describe(x))}
	case listed.countIn(e, x) > 0:
		return []Judgement{expect(x, "403").failed(reason+", and that is "+evidence.Count(listed.countIn(e, x), "record")+" of the list", describe(x))}
	case known && below(o.Path, list.Path) && x.Label.Case() == "no-role":
		return []Judgement{expect(x, "403").warned(reason+"; it is below the list, so it may need the role too", describe(x))}
	}
	return nil
}

// roleOnList judges the list call of the client without the role.
func roleOnList(e Evidence, x evidence.Exchange) Judgement {
	if !success(x) {
		return refusal("the list call of a client without the role", x, e.exchange(e.Roles.List.With(evidence.OK)))
	}
	count, isList := itemCount(e, x)
	good, listed := itemCount(e, e.exchange(e.Roles.List.With(evidence.OK)))
	switch {
	case !isList && isHTML(x):
		return expect(x, "403").unclear("the client without the role got a web page instead of data", describe(x))
	case !listed && !isList:
		return Missing("the list operation of this run does not return a list, so whether it needs the role is not known").Seen(x.Label)
	case isList && count == 0 && good == 0:
		return expect(x, "403").unclear("the list is empty for the client with the role as well, so nothing shows that the role is checked", "an empty list").
			Hinting("put at least one funding call into the tested system, then repeat the run")
	case isList && count == 0:
		return expect(x, "403").warned("the client without the role gets an empty list, so it does not learn that a permission is missing", "200 with an empty list")
	case isList:
		return expect(x, "403, or no items").failed(fmt.Sprintf("the client without the role gets %s", evidence.Count(count, "item")), fmt.Sprintf("%d with %s", x.Status(), evidence.Count(count, "item")))
	}
	return expect(x, "403").unclear("the client without the role got neither a list nor a refusal", describe(x))
}

// itemCount counts the items of a list answer; an answer without content is an empty list.
func itemCount(e Evidence, x evidence.Exchange) (count int, isList bool) {
	if x.Response != nil && success(x) && len(x.Response.Body) == 0 {
		return 0, true
	}
	items, err := e.itemsOf(x)
	return len(items), err == nil
}

func roleRefusal(e Evidence) Judgement {
	x, j, ok := withoutRole(e)
	if !ok {
		return j
	}
	parts := []Judgement{roleRefused(e, x)}
	for _, r := range e.Roles.Operations {
		if other, sent := e.Get(r.With("no-role")); sent && r != e.Roles.List && turnedAway(other) && success(e.exchange(r.With(evidence.OK))) {
			parts = append(parts, roleRefused(e, other))
		}
	}
	return gather(distinct(parts)...)
}

// roleRefused judges one answer to the client without the role.
func roleRefused(e Evidence, x evidence.Exchange) Judgement {
	want := expect(x, "403 with WWW-Authenticate: Bearer error=\"insufficient_scope\"")
	challenges := bearerChallenges(x)
	code, got := attribute(challenges, "error"), describe(x)+", "+headerText(x, "WWW-Authenticate")
	if serverError(x) {
		return want.failed("a missing role breaks the node", got)
	}
	if j, ok := inconclusiveRefusal(x); ok {
		return j
	}
	if j, ok := e.passes("BRR-18"); !ok && !success(x) {
		return j
	}
	switch {
	case success(x):
		if role := roleOnList(e, x); role.Outcome != Warn {
			return Judgement{Outcome: Blocked, BlockedBy: "BRR-18", Reason: "the client without the role was not refused"}
		}
		return want.warned("a missing role is answered with an empty list instead of a refusal", got)
	case !turnedAway(x):
		return expect(x, "403").unclear("the client without the role was redirected elsewhere", describe(x)).Hinting(loginHint)
	case x.Status() == 401 && code == "invalid_token":
		return want.failed("a missing role is reported as an invalid token, so clients fetch new ones in a loop", got)
	case x.Status() != 403:
		return want.warned("a missing role is refused, but not with 403", got)
	case code != "insufficient_scope":
		return want.warned("the 403 does not say in a challenge what is missing", got)
	}
	return Passed(x.Label)
}
