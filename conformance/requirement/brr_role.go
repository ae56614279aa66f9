package requirement

import (
	"fmt"
	"slices"

	"github.com/rin-network/rin/conformance/exchange"
)

// missingRole are BRR-18 and BRR-19: a client whose account lacks the role EXTERNAL_API_CLIENT.
func missingRole() []Requirement {
	labels := []exchange.Label{
		exchange.SecondClient.With(exchange.OK), exchange.ListOperation.With(exchange.NoRole), exchange.ListOperation.With(exchange.OK),
	}
	everywhere := append(slices.Clone(labels), exchange.EveryOperation.With(exchange.NoRole), exchange.EveryOperation.With(exchange.OK))
	return []Requirement{
		{
			ID: "BRR-18", Title: "A client without the role gets no data",
			Level: Network, Gate: Gating, Profile: Funding,
			Source:   NET("R17").AsDerived(),
			Quote:    "In the funding service, the service account is granted the role EXTERNAL_API_CLIENT and the correct affiliation ID.",
			Probe:    "The list and the detail operation with the token of a second client whose account lacks the role; on this machine and with --thorough every operation.",
			Forgives: "403, 401 or 404; 200 with an empty list (a warning); an operation below the list other than the detail, which may be public vocabulary (a warning). Without a second client it does not apply, and the report says that role separation was not tested.",
			Fix:      "Check the role in the funding service, not only the token: Spring Security hasAuthority(\"EXTERNAL_API_CLIENT\") with a JwtAuthenticationConverter that reads the roles (for Keycloak: realm_access.roles), or look the service account up in the funding service's own books.",
			Breaks:   "The role is not checked.",
			Reads:    everywhere, After: []ID{"TOK-01"}, Check: roleNeeded,
		},
		{
			ID: "BRR-19", Title: "Missing role is reported as 403 with a challenge",
			Level: StandardShould, Gate: Advice, Profile: Funding,
			Source:   RFC(6750, "3.1").And(RFC(6750, "3")).And(RFC(9110, "15.5.4")),
			Quote:    "The resource server SHOULD respond with the HTTP 403 (Forbidden) status code and MAY include the \"scope\" attribute with the scope necessary to access the protected resource.",
			Probe:    "The answer to the client without the role.",
			Forgives: "403 without a challenge, since a missing role is not a missing scope; 404 or 401 without invalid_token (warnings).",
			Fix:      "Answer 403 with WWW-Authenticate: Bearer error=\"insufficient_scope\". Spring Security: BearerTokenAccessDeniedHandler. A 401 with invalid_token makes clients fetch new tokens in a loop.",
			Breaks:   "401 invalid_token for a client without the role.",
			Reads:    labels, After: []ID{"TOK-01"}, Check: roleRefusal,
		},
	}
}

// withoutRole finds the answer to the client without the role, or says why there is nothing to judge.
func withoutRole(e Evidence) (x exchange.Exchange, j Judgement, ok bool) {
	if !e.Run.Second {
		return x, Missing("no second client was given: role separation not tested"), false
	}
	if e.Roles.List == "" {
		return x, Missing("this run has no " + roleName(exchange.ListOperation.With(exchange.OK))), false
	}
	token := e.The(exchange.SecondClient.With(exchange.OK))
	if j, lacks := e.lacking(exchange.SecondClient.With(exchange.OK)); lacks {
		return x, j, false
	}
	if !success(token) || len(token.Tokens) == 0 {
		return x, Unclear("the second client got no token, so its rights can't be tried").
			Hinting("check id and secret of the second client: it needs a token, only the role must be missing").about(token, "an access token", describe(token)), false
	}
	for _, c := range []exchange.Case{exchange.OK, exchange.NoRole} {
		if j, lacks := e.lacking(e.Roles.List.With(c)); lacks {
			return x, j, false
		}
	}
	if good := e.The(e.Roles.List.With(exchange.OK)); !success(good) {
		return x, Unclear("a refusal proves nothing here: the list was refused to the client with the role as well").about(good, "2xx", describe(good)), false
	}
	return e.The(e.Roles.List.With(exchange.NoRole)), j, true
}

func roleNeeded(e Evidence) Judgement {
	x, j, ok := withoutRole(e)
	if !ok {
		return j
	}
	parts := []Judgement{roleOnList(e, x)}
	for _, r := range e.Roles.Operations {
		if r != e.Roles.List {
			parts = append(parts, roleBelow(e, r)...)
		}
	}
	return gather(parts...)
}

// roleBelow looks at the detail operation and at what else stands below the list: the role is often checked on the one route that somebody
// thought of. Other operations need no role as far as is known.
func roleBelow(e Evidence, r exchange.Resource) []Judgement {
	x, asked := e.Get(r.With(exchange.NoRole))
	good := e.The(r.With(exchange.OK))
	if !asked || !x.Answered() || !success(x) || !success(good) || !carriesData(x, good) {
		return nil // what refuses the role's owner too, or says nothing, is no hole
	}
	o, _ := operation(e, r)
	list, known := operation(e, e.Roles.List)
	reason := resourceName(e, r) + " gives its data to the client without the role"
	switch {
	case declaredPublic(e, r):
	case r == e.Roles.Detail:
		return []Judgement{Failed(reason, "403", describe(x)).about(x, "403", describe(x))}
	case known && below(o.Path, list.Path):
		return []Judgement{Warned(reason+"; it stands below the list, which may mean that it needs the role too", "403", describe(x)).about(x, "403", describe(x))}
	}
	return nil
}

// roleOnList judges the list call of the client without the role.
func roleOnList(e Evidence, x exchange.Exchange) Judgement {
	if !success(x) {
		return refusal("the list call of a client without the role", x, e.The(e.Roles.List.With(exchange.OK)))
	}
	count, isList := itemCount(e, x)
	good, listed := itemCount(e, e.The(e.Roles.List.With(exchange.OK)))
	switch {
	case !isList && html(x):
		return Unclear("the client without the role got a web page in place of data").about(x, "403", describe(x))
	case !listed && !isList:
		return Missing("the list operation of this run gives no list, so no role is known to be needed for it").Seen(x.Label)
	case isList && count == 0 && good == 0:
		return Unclear("the list is empty for the client with the role as well, so nothing shows that the role is checked").
			Hinting("put at least one funding call into the tested system, then repeat the run").about(x, "403", "an empty list")
	case isList && count == 0:
		return Warned("the client without the role gets an empty list, so it can't tell that a permission is missing", "403", "200 with an empty list").about(x, "403", "an empty list")
	case isList:
		return Failed(fmt.Sprintf("the client without the role gets %d items", count), "403, or no items", fmt.Sprintf("%d with %d items", x.Status(), count)).about(x, "403", fmt.Sprintf("%d items", count))
	}
	return Unclear("the client without the role got neither a list nor a refusal").about(x, "403", describe(x))
}

// itemCount counts the items of a list answer; an answer without content is an empty list.
func itemCount(e Evidence, x exchange.Exchange) (count int, isList bool) {
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
	const expected = "403 with WWW-Authenticate: Bearer error=\"insufficient_scope\""
	challenges := bearerChallenges(x)
	code, got := attribute(challenges, "error"), describe(x)+", "+headerText(x, "WWW-Authenticate")
	if serverError(x) {
		return Failed("a missing role breaks the node", expected, got).about(x, "403", describe(x))
	}
	if j, unclear := noVerdict(x); unclear {
		return j
	}
	switch {
	case success(x):
		if role := roleOnList(e, x); role.Outcome != Warn {
			return Judgement{Outcome: Blocked, BlockedBy: "BRR-18", Reason: "the client without the role was not refused"}
		}
		return Warned("a missing role is answered with an empty list in place of a refusal", expected, got).about(x, "403", "an empty list")
	case !turnedAway(x):
		return Unclear("the client without the role was sent on to another place").Hinting(loginHint).about(x, "403", describe(x))
	case x.Status() == 401 && code == "invalid_token":
		return Failed("a missing role is reported as an invalid token, so clients fetch new ones in a loop", expected, got).about(x, "403", got)
	case x.Status() != 403:
		return Warned("a missing role is refused, but not with 403", expected, got).about(x, "403", describe(x))
	case code != "insufficient_scope":
		return Warned("the 403 does not say in a challenge what is missing", expected, got).about(x, "error=\"insufficient_scope\"", headerText(x, "WWW-Authenticate"))
	}
	return Passed(x.Label)
}
