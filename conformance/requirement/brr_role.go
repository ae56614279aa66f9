package requirement

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// missingScope returns BRR-20, about a token whose scope is not the one that an operation needs.
func missingScope() []Requirement {
	return []Requirement{{
		ID: "BRR-20", Title: "A token without the scope that the document asks for gets no data",
		Level: StandardMust, Gate: Gating, Profile: API,
		Source:   RFC(6749, "7").And(RFC(6750, "3.1")).And(OAS("Security Requirement Object", "security-requirement-object")),
		Quote:    validateToken,
		Probe:    "Each operation with a token of the first client that was issued for another scope than the document asks for there. The scope is drawn from those that the server or the document names. Operations that need other scopes than the list also with a token for the scopes of the list.",
		Forgives: "A document that asks for no scope, or takes a bearer token without one; a server that issues no such token, grants the scope all the same, or knows no scopes and does not say what it granted; an operation that the good token opens without the scope (a warning: the document is wrong).",
		Fix:      "Check the scope on each operation, as the document says: Spring Security hasAuthority(\"SCOPE_…\"), FastAPI Security(…, scopes=[…]), Express requiredScopes(…); answer 403 with error=\"insufficient_scope\". Or take the scope out of the document, if it means nothing.",
		Breaks:   "A token for the scope of the statistics reads the fundings.",
		Reads:    append(everyTokenRequest(), evidence.EveryOperation.With("narrow-scope"), evidence.EveryOperation.With("list-scope"), evidence.EveryOperation.With(evidence.OK)),
		After:    []ID{"TOK-01", "SPC-01", "SPC-03"}, Check: judgeMissingScope,
	}}
}

// narrowScopeLabel returns the label of the token request for another scope than the operations need.
func narrowScopeLabel() evidence.Label { return evidence.TokenEndpoint.With("scope-narrow") }

// listScopeLabel returns the label of the token request for the scopes of the list, where other operations need others.
func listScopeLabel() evidence.Label { return evidence.TokenEndpoint.With("scope-list") }

// judgeMissingScope is the check of BRR-20.
func judgeMissingScope(e Evidence) Judgement {
	narrow := judgeScopeOf(e, narrowScopeLabel(), "narrow-scope")
	if x, sent := e.Get(listScopeLabel()); !sent || !x.Answered() {
		return narrow
	}
	return gatherApplicable(narrow, judgeScopeOf(e, listScopeLabel(), "list-scope"))
}

// judgeScopeOf judges the calls of a case, with the token that a request for a scope got.
func judgeScopeOf(e Evidence, request evidence.Label, c evidence.Case) Judgement {
	if j, missing := e.missingAnswer(request); missing {
		return j
	}
	token := e.exchange(request)
	granted, scope := grantedScopes(token)
	if scope == "" && hasScopes(e) { // an answer without a scope grants the requested one (RFC 6749 §5.1)
		scope = requestedScope(token)
		granted = append(granted, strings.Fields(scope)...)
	}
	switch {
	case !hasToken(token):
		return Inapplicable("the server issues no token for another scope than the operations need").Seen(token.Label)
	case scope == "":
		return Inapplicable("the server does not say which scope it granted").Seen(token.Label)
	}
	good, goodScope := grantedScopes(e.exchange(evidence.TokenEndpoint.With(evidence.OK)))
	var parts []Judgement
	for _, r := range e.Roles.Operations {
		o, described := operation(e, r)
		x, sent := e.Get(r.With(c))
		if !described || o.Security == nil || !sent || !x.Answered() {
			continue
		}
		missing := openapi.Missing(o.Security.Scopes, granted)
		if len(missing) == 0 {
			continue
		}
		control := e.exchange(r.With(evidence.OK))
		what := "a call of " + resourceName(e, r) + " with a token for the scope " + quote(scope)
		if goodScope != "" && len(openapi.Missing(o.Security.Scopes, good)) > 0 && success(control) {
			parts = append(parts, expect(x, "a scope that the tokens of the node have").warned("the document asks for the scope "+quote(strings.Join(o.Security.Scopes, " "))+
				", which the token in use does not have and does not need", describe(x)).Blaming(NodeDocument))
			continue
		}
		j := judgeRefusal(what, x, control).named(what)
		implied := func(scope string) bool {
			return slices.ContainsFunc(granted, func(wider string) bool {
				return strings.HasPrefix(scope, wider+":") || strings.HasPrefix(scope, wider+".")
			})
		}
		notImplied := func(scope string) bool { return !implied(scope) }
		if j.Outcome == Fail && c == "list-scope" && !slices.ContainsFunc(missing, notImplied) {
			j.Outcome = Warn // funding:read may imply funding:read:documents
		}
		parts = append(parts, j)
	}
	if len(parts) == 0 {
		return Inapplicable("the server granted every scope that the document asks for").Seen(token.Label)
	}
	return gather(parts...)
}

// grantedScopes returns the words of the scope that a token answer names, and those of all claims of its token: servers call the scope scp, permissions
// or authorities as well. scope is the scope by the answer, or else by the token, or "".
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

// missingRole returns BRR-18 and BRR-19, about a client whose account lacks the role EXTERNAL_API_CLIENT.
func missingRole() []Requirement {
	labels := []evidence.Label{
		evidence.SecondClient.With(evidence.OK), evidence.ListOperation.With("no-role"), evidence.ListOperation.With(evidence.OK),
	}
	everywhere := append(slices.Clone(labels), evidence.EveryOperation.With("no-role"), evidence.EveryOperation.With("roleless-*"), evidence.EveryOperation.With(evidence.OK), evidence.SecondClient.With("role-requested"))
	return []Requirement{
		{
			ID: "BRR-18", Title: "A client without the role gets no data",
			Level: Network, Gate: Gating, Profile: API,
			Source:   NET("R17").AsDerived(),
			Quote:    "In the funding service, the service account is granted the role EXTERNAL_API_CLIENT and the correct affiliation ID.",
			Probe:    "Every operation with the token of a second client whose account lacks the role: with each query parameter, for other records and pages, and with other paths, headers, methods and traits, of which some kinds are drawn. Operations beside the list and the detail are called at one URL before and after a good call of that URL. The list and the detail are also called while the first client calls them. The list is also called with a token for which the second client sent the role as a parameter, and with tokens that it requested while the first client requested tokens. The info endpoint with the same token, which must be accepted there: the refusal of a token that is bad everywhere proves nothing.",
			Forgives: "403, 401 or 404; 200 with an empty list (a warning); an operation other than the detail for which the document does not describe 403 in the same words as for the list, and which may be a vocabulary for everybody (a warning, if it is below the list). Where the info endpoint is public or needs the role, 403 instead of the 401 for a garbage token shows that the token is good. Without a second client it does not apply, and the report says that role separation was not tested; the profile full needs one.",
			Fix:      "Check the role in the funding service, not only the token: Spring Security hasAuthority(\"EXTERNAL_API_CLIENT\") with a JwtAuthenticationConverter that reads the roles (for Keycloak: realm_access.roles), or look the service account up in the funding service's own books.",
			Breaks:   "The role is not checked.",
			Reads:    append(everywhere, secondClientControls()...), After: []ID{"TOK-01"}, Check: judgeMissingRole,
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
			Reads:    append(everywhere, secondClientControls()...), After: []ID{"TOK-01"}, Check: judgeRoleRefusals,
		},
	}
}

// rolelessListCall returns the answer to the client without the role. Without such an answer ok is false, and j is the judgement.
func rolelessListCall(e Evidence) (x evidence.Exchange, j Judgement, ok bool) {
	if !e.Run.Second {
		return x, Inapplicable("no second client was given: role separation not tested"), false
	}
	if e.Roles.List == "" {
		return x, Inapplicable("this run has no " + roleName(evidence.ListOperation.With(evidence.OK))), false
	}
	token := e.exchange(evidence.SecondClient.With(evidence.OK))
	if j, missing := e.missingAnswer(evidence.SecondClient.With(evidence.OK)); missing {
		return x, j, false
	}
	if !success(token) || len(token.Tokens) == 0 {
		return x, expect(token, "an access token").unclear("the second client got no token, so its rights cannot be tested", describe(token)).
			Hinting("check id and secret of the second client: it must get a token, and lack only the role"), false
	}
	if j, failed := e.failedCall(e.Roles.List); failed {
		return x, j, false
	}
	for _, c := range []evidence.Case{evidence.OK, "no-role"} {
		if j, missing := e.missingAnswer(e.Roles.List.With(c)); missing {
			return x, j, false
		}
	}
	if good := e.exchange(e.Roles.List.With(evidence.OK)); !success(good) {
		return x, expect(good, "2xx").unclear("a refusal proves nothing here: the list was refused to the client with the role as well", describe(good)), false
	}
	return e.exchange(e.Roles.List.With("no-role")), j, true
}

// judgeMissingRole is the check of BRR-18.
func judgeMissingRole(e Evidence) Judgement {
	x, j, ok := rolelessListCall(e)
	if !ok {
		return j
	}
	parts := []Judgement{judgeRoleOnList(e, x)}
	for _, r := range e.Roles.Operations {
		if x, sent := e.Get(r.With("no-role")); sent && r != e.Roles.List {
			parts = append(parts, judgeRoleElsewhere(e, x)...)
		}
	}
	j = gather(parts...)
	if j.Outcome != Fail {
		j = gather(slices.Concat(parts, judgeRoleDetours(e), judgeRolelessVersions(e))...)
	}
	if j.Outcome != Pass && j.Outcome != Warn {
		return j
	}
	if doubt, found := findSecondClientDoubt(e, x); found {
		return doubt
	}
	return j
}

// secondClientControls returns the calls that show whether the second client's token is good.
func secondClientControls() []evidence.Label {
	return []evidence.Label{evidence.Info.With(evidence.OK), evidence.Info.With("second-client"), evidence.Info.With(evidence.NoToken), evidence.ListOperation.With("garbage")}
}

// findSecondClientDoubt returns a judgement if nothing shows that the second client's token is good, so that its refusal, x, proves nothing.
func findSecondClientDoubt(e Evidence, x evidence.Exchange) (j Judgement, found bool) {
	info, sent := e.Get(evidence.Info.With("second-client"))
	public := success(e.exchange(evidence.Info.With(evidence.NoToken)))
	hint := "let the info endpoint accept the second client, because info requires a good token and no role; check the audience of that client's tokens"
	switch {
	case sent && success(info) && !public:
		return j, false
	case sent && info.Status() == 403 && x.Status() == 403 && e.exchange(evidence.ListOperation.With("garbage")).Status() == 401:
		return j, false // info needs the role, too; the node knows the token, which it refuses in another way than garbage
	case sent && info.Answered() && !public && !success(e.exchange(evidence.Info.With(evidence.OK))) && e.judge(infoRequirement).Outcome == Fail:
		j, _ := e.passes(infoRequirement)
		return j, true
	case sent && info.Answered() && !public:
		return expect(info, "2xx").unclear("a refusal proves nothing here: the info endpoint refuses the token of the second client as well", describe(info)).Hinting(hint), true
	case x.Status() == 403 && e.exchange(evidence.ListOperation.With("garbage")).Status() == 401:
		return j, false // the node knows the token, and refuses it for another reason than garbage
	case public:
		return expect(x, "403").unclear("a refusal proves nothing here: the info endpoint is public, so nothing shows that the token of the second client is good", describe(x)).Hinting(hint), true
	}
	if sent {
		return e.missingAnswer(info.Label)
	}
	return Unclear("a refusal proves nothing here: the token of the second client was not tried at the info endpoint").Seen(x.Label), true
}

// sendsRolelessToken reports whether an operation was called with the token of the client without the role.
func sendsRolelessToken(x evidence.Exchange) bool {
	return strings.HasPrefix(string(x.Label.Resource()), string(evidence.OperationResource(""))) &&
		strings.Contains(strings.Join(evidence.Values(x.Request.Header, "Authorization"), ","), markerStart+secondToken)
}

// secondToken is the name of the second client's token in evidence.
const secondToken = "access_token2"

// judgeRoleDetours judges all other answers to the client without the role: to other parameters, headers and paths, of every operation.
func judgeRoleDetours(e Evidence) []Judgement {
	var parts []Judgement
	isOpenToAll := slices.ContainsFunc([]ID{"BRR-15", "BRR-16", "SEC-02"}, func(id ID) bool { return e.judge(id).Outcome == Fail })
	cacheFails := e.judge("BRR-17").Outcome == Fail
	for _, x := range e.Exchanges {
		switch {
		case x.Family == evidence.RoleDetours && isOpenToAll: // the same detour works without a token
		case cacheFails && slices.Contains(sharedURLs(e), x.Request.URL): // a cache hands the answer out to everybody
		case x.Label.Case() == "no-role" || callsOtherVersion(x) || !sendsRolelessToken(x) || declaredPublic(e, x.Label.Resource()):
		default:
			parts = append(parts, judgeRoleDetour(e, x)...)
		}
	}
	return parts
}

// judgeRoleDetour judges one of the answers for [judgeRoleDetours].
func judgeRoleDetour(e Evidence, x evidence.Exchange) []Judgement {
	r := x.Label.Resource()
	plain, good := e.exchange(r.With("no-role")), e.exchange(r.With(evidence.OK))
	switch {
	case x.Status() == 304 && isConditional(x) && isRefusal(plain):
		return []Judgement{expect(x, "403").failed(resourceName(e, r)+" "+disclosureInWords(x)+" to the client without the role", describe(x))}
	case !success(x):
		return nil
	}
	var parts []Judgement
	if x.Label.Case() == evidence.RolelessHead && isRefusal(plain) {
		parts = append(parts, expect(x, "403 as for GET, or 405").failed("HEAD is answered to the client without the role, and GET is refused", describe(x)))
	}
	if x.Request.Method == "HEAD" {
		return parts
	}
	if r == e.Roles.List && (carriesData(x, good) || hasDataOfVariant(e, x)) {
		part := expect(x, "403, or no items").failed("the client without the role gets data of the list: the call "+variantInWords(x), describe(x))
		if isRefusal(plain) {
			part = part.Hinting(fmt.Sprintf("the plain call of the list is refused (%d), so the role is checked, but not on this way to the data: check the role once, where every request passes, before paging, filters and caches", plain.Status()))
		}
		return append(parts, part)
	}
	if before, refused := refusedBefore(e, x); refused && e.carriesData(x, good) && x.Family == "" {
		return append(parts, expect(x, fmt.Sprintf("%d, as before", before.Status())).failed(resourceName(e, r)+
			" gives its data to the client without the role, which was refused at the same URL before another client read it", describe(x)).
			Hinting("check the role before the cache, or put the client into the key of the cache").Seen(before.Label))
	}
	if r != e.Roles.List {
		parts = append(parts, judgeRoleElsewhere(e, x)...)
	}
	return parts
}

// refusedBefore finds an earlier call of the same URL that was refused to the client without the role.
func refusedBefore(e Evidence, x evidence.Exchange) (evidence.Exchange, bool) {
	for _, y := range e.Exchanges {
		isSameCall := y.Label.Resource() == x.Label.Resource() && y.Request.Method == x.Request.Method && y.Request.URL == x.Request.URL
		isRefused := (y.Status() == 403 || y.Status() == 401) && sendsRolelessToken(y) && y.Family == ""
		if isSameCall && isRefused && !y.Started.After(x.Started) {
			return y, true
		}
	}
	return evidence.Exchange{}, false
}

// judgeRoleElsewhere judges a call of an operation other than the list: the role is often checked on one route only. The detail, an operation that shows records
// of the list, and one whose 403 is described like that of the list must refuse the client. Whether other operations need the role is not known.
func judgeRoleElsewhere(e Evidence, x evidence.Exchange) []Judgement {
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
		return []Judgement{expect(x, "403").failed(reason+", including "+evidence.Count(listed.countIn(e, x), "record")+" of the list", describe(x))}
	case known && describesRole(e, o, list):
		return []Judgement{expect(x, "403, as described").failed(reason+", and the document describes the same refusal (403) for this operation as for the list", describe(x))}
	case known && isBelow(o.Path, list.Path) && x.Label.Case() == "no-role":
		return []Judgement{expect(x, "403").warned(reason+"; the operation is below the list, so it may need the role, too", describe(x))}
	}
	return nil
}

// describesRole reports whether the document describes the 403 of an operation in the same words as that of the list, which the client without the role
// got. Many generators describe a 403 everywhere. So the words must name a role, or the operation must be below the list; and info, which needs no role,
// must have no 403.
func describesRole(e Evidence, o, list openapi.Operation) bool {
	own, described := o.Responses["403"]
	same, listed := list.Responses["403"]
	if !described || !listed || own.Description != same.Description || e.exchange(e.Roles.List.With("no-role")).Status() != 403 {
		return false
	}
	if !isBelow(o.Path, list.Path) && !strings.Contains(strings.ToLower(own.Description), "role") {
		return false
	}
	return !slices.ContainsFunc(e.Roles.Operations, func(r evidence.Resource) bool {
		info, ok := operation(e, r)
		_, forbidden := info.Responses["403"]
		return ok && forbidden && sameURL(e.exchange(r.With(evidence.OK)).Request.URL, e.Run.InfoURL)
	})
}

// judgeRoleOnList judges the list call of the client without the role.
func judgeRoleOnList(e Evidence, x evidence.Exchange) Judgement {
	if !success(x) {
		return judgeRefusal("the list call of a client without the role", x, e.exchange(e.Roles.List.With(evidence.OK)))
	}
	count, isList := itemCount(e, x)
	good, listed := itemCount(e, e.exchange(e.Roles.List.With(evidence.OK)))
	switch {
	case !isList && isHTML(x):
		return expect(x, "403").unclear("the client without the role got a web page instead of data", describe(x)).Hinting("answer a client without the role with 403 and without a page")
	case !listed && !isList:
		return Inapplicable("the list operation of this run does not return a list, so whether it needs the role is not known").Seen(x.Label)
	case isList && count == 0 && good == 0:
		return expect(x, "403").unclear("the list is empty for the client with the role as well, so nothing shows that the role is checked", "an empty list").
			Hinting("put at least one funding call into the tested system, then repeat the run")
	case isList && count == 0:
		return expect(x, "403").warned("the client without the role gets an empty list, so it does not learn that a permission is missing", "200 with an empty list")
	case isList:
		return expect(x, "403, or no items").failed(fmt.Sprintf("the client without the role gets %s", evidence.Count(count, "item")), fmt.Sprintf("%d with %s", x.Status(), evidence.Count(count, "item")))
	}
	return expect(x, "403").unclear("the client without the role got neither a list nor a refusal", describe(x)).Hinting("answer a client without the role with 403: the status must show that the role is missing")
}

// itemCount counts the items of a list answer; an answer without content is an empty list.
func itemCount(e Evidence, x evidence.Exchange) (count int, isList bool) {
	if x.Response != nil && success(x) && len(x.Response.Body) == 0 {
		return 0, true
	}
	items, err := e.itemsOf(x)
	return len(items), err == nil
}

// judgeRoleRefusals is the check of BRR-19.
func judgeRoleRefusals(e Evidence) Judgement {
	x, j, ok := rolelessListCall(e)
	if !ok {
		return j
	}
	parts := []Judgement{judgeRoleRefusal(e, x)}
	for _, r := range e.Roles.Operations {
		if other, sent := e.Get(r.With("no-role")); sent && r != e.Roles.List && isRefusal(other) && success(e.exchange(r.With(evidence.OK))) {
			parts = append(parts, judgeRoleRefusal(e, other))
		}
	}
	return gather(withoutRepeats(parts)...)
}

// judgeRoleRefusal judges one answer to the client without the role.
func judgeRoleRefusal(e Evidence, x evidence.Exchange) Judgement {
	want := expect(x, "403 with WWW-Authenticate: Bearer error=\"insufficient_scope\"")
	challenges := bearerChallenges(x)
	code, got := attribute(challenges, "error"), describe(x)+", "+headerText(x, "WWW-Authenticate")
	if serverError(x) {
		return want.failed("a missing role breaks the node", got)
	}
	if j, unclear := inconclusiveRefusal(x); unclear {
		return j
	}
	if j, ok := e.passes("BRR-18"); !ok && !success(x) {
		return j
	}
	switch {
	case success(x):
		if role := judgeRoleOnList(e, x); role.Outcome != Warn {
			return Judgement{Outcome: Blocked, BlockedBy: "BRR-18", Reason: "the client without the role was not refused"}
		}
		return want.warned("a missing role is answered with an empty list instead of a refusal", got)
	case !isRefusal(x):
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
