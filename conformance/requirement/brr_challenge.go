package requirement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
)

// challenges returns BRR-02 to BRR-05, about the WWW-Authenticate header of refusals.
func challenges() []Requirement {
	return []Requirement{
		{
			ID: "BRR-02", Title: "401 without token carries a Bearer challenge",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6750, "3").And(RFC(9110, "15.5.2")),
			Quote:    "If the protected resource request does not include authentication credentials or does not contain an access token that enables access to the protected resource, the resource server MUST include the HTTP \"WWW-Authenticate\" response header field",
			Probe:    "The headers of the answer to the call without a token, and of every other 401 of the API to a request without credentials, whatever other headers and methods it has.",
			Forgives: "The page of a server in front of the node; another spelling of the path, unless its answer is like the plain refusal. Several challenges in one or several header lines; any case of the scheme; a bare Bearer, as Spring Security sends it (BRR-05); 400, 403 or 404 instead of 401 (a warning).",
			Fix:      "Add WWW-Authenticate: Bearer realm=\"…\" to the 401. Spring Security: BearerTokenAuthenticationEntryPoint; Flask: abort(401, www_authenticate=WWWAuthenticate(\"bearer\", {\"realm\": …})) and let the JSON error handler copy the headers of the exception (e.get_response().headers); Authlib: a ResourceProtector whose raise_error_response adds the header, which MissingAuthorizationError lacks; nginx: error_page 401 @challenge, and there add_header WWW-Authenticate 'Bearer realm=\"…\"' always and return 401.",
			Breaks:   "A 401 with a JSON body and without WWW-Authenticate, only when no token was sent.",
			Needs:    onTarget(evidence.NoToken), After: []ID{"BRR-01"}, Control: withToken(), Reads: []evidence.Label{evidence.WholeRun},
			Check: withForbiddenOperations(evidence.NoToken, onEvery401(evidence.NoToken, sendsNoCredentials, judgeAnonymousChallenge, judgeChallengePresence)),
		},
		{
			ID: "BRR-03", Title: "Without authentication information the challenge has no error code",
			Level: StandardShould, Gate: Advice, Profile: Auth,
			Source:   RFC(6750, "3.1"),
			Quote:    "If the request lacks any authentication information (e.g., the client was unaware that authentication is necessary or attempted using an unsupported authentication method), the resource server SHOULD NOT include an error code or other error information.",
			Probe:    "The Bearer challenge of the answer to the call without a token, and of every other 401 of the API to a request without credentials.",
			Forgives: "realm, scope, resource_metadata and other attributes; cookies and the headers of a proxy may be authentication information.",
			Fix:      "Leave error out of the challenge when no Authorization header came; clients that see invalid_token fetch tokens in a loop.",
			Breaks:   "Anonymous calls are answered with Bearer error=\"invalid_token\".",
			Needs:    onTarget(evidence.NoToken), After: []ID{"BRR-01"}, Control: withToken(), Reads: []evidence.Label{evidence.WholeRun},
			Check: onEvery401(evidence.NoToken, withoutOddInput(sendsNoAuthentication), judgeAnonymousErrorCode, withoutEvidence(judgeAnonymousErrorCode)),
		},
		{
			ID: "BRR-04", Title: "Challenge is well-formed and repeats no attribute",
			Level: StandardMust, Gate: Advice, Profile: Auth,
			Source:   RFC(9110, "11.2").And(RFC(9110, "11.6.1")).And(RFC(6750, "3")),
			Quote:    "Authentication parameters are name/value pairs, where the name token is matched case-insensitively and each parameter name MUST only occur once per challenge.",
			Probe:    "Every WWW-Authenticate header of the run is read with a parser for lists of challenges.",
			Forgives: "Values without quotes, several challenges in one line, empty list members, any order of attributes.",
			Fix:      "Write one challenge as Bearer realm=\"…\", error=\"…\", error_description=\"…\": each attribute once, values in double quotes, in ASCII without quotes or backslashes inside (put localised text into the body).",
			Breaks:   "Refused tokens are answered with Bearer error=\"invalid_token\", error=\"invalid_token\".",
			Reads:    []evidence.Label{evidence.WholeRun}, After: []ID{"BRR-01"}, Check: judgeChallengeForms,
		},
		{
			ID: "BRR-05", Title: "Bearer challenge carries at least one auth-param",
			Level: StandardMust, Gate: Information, Profile: Auth,
			Source:   RFC(6750, "3"),
			Quote:    "All challenges defined by this specification MUST use the auth-scheme value \"Bearer\". This scheme MUST be followed by one or more auth-param values.",
			Probe:    "The Bearer challenge of the answer to the call without a token, and of every other 401 of the API.",
			Forgives: "A bare Bearer is a warning, and never gates: RFC 9110 alone allows a bare scheme, and Spring Security sends one by default.",
			Fix:      "Name a realm: Spring Security's BearerTokenAuthenticationEntryPoint has setRealmName(\"…\").",
			Breaks:   "Anonymous calls are answered with a bare Bearer.",
			Needs:    onTarget(evidence.NoToken), After: []ID{"BRR-01"}, Control: withToken(), Reads: []evidence.Label{evidence.WholeRun},
			Check: onEvery401(evidence.NoToken, withoutOddInput(anyRequest), judgeChallengeAttributes, withoutEvidence(judgeChallengeAttributes)),
		},
	}
}

// validateToken is the sentence of RFC 6749 §7 that requirements about the check of tokens quote.
const validateToken = "The resource server MUST validate the access token and ensure that it has not expired and that its scope covers the requested resource."

// judgeAnonymousChallenge is the check of BRR-02.
func judgeAnonymousChallenge(x evidence.Exchange) Judgement {
	if j, unclear := inconclusiveRefusal(x); unclear {
		return j
	}
	switch {
	case !isRefusal(x):
		return expect(x, "401").unclear("the call without a token was not refused in a way that can be judged", describe(x))
	case x.Status() != 401:
		return expect(x, "401 with WWW-Authenticate: Bearer").warned("the call without a token is refused, but not with 401, so clients cannot tell what is missing", describe(x)+", "+headerText(x, "WWW-Authenticate")).
			Hinting("answer 401 with WWW-Authenticate: Bearer realm=\"…\" when the Authorization header is missing")
	case len(bearerChallenges(x)) > 0:
		return Passed(x.Label)
	}
	return expect(x, "WWW-Authenticate: Bearer …").failed("the 401 does not say that a bearer token is needed", headerText(x, "WWW-Authenticate"))
}

// judgeChallengePresence finds a 401 without a challenge; BRR-04 judges the form of a challenge.
func judgeChallengePresence(e Evidence, x evidence.Exchange) Judgement {
	if len(header(x, "WWW-Authenticate")) > 0 {
		return Passed(x.Label)
	}
	return expect(x, "WWW-Authenticate: Bearer …").failed("a 401 of "+resourceName(e, x.Label.Resource())+" does not say that a bearer token is needed", headerText(x, "WWW-Authenticate"))
}

// withForbiddenOperations extends a check: if the probe target answers 401, operations that answer the case with 403 and no challenge fail. A node must ask
// for a token if a call has no good one, and 403 says that no token would help (RFC 6750 §3). A 404 is allowed, because a node may hide what it has.
func withForbiddenOperations(c evidence.Case, check func(Evidence) Judgement) func(Evidence) Judgement {
	return func(e Evidence) Judgement {
		j := check(e)
		if j.Outcome != Pass && j.Outcome != Warn || e.exchange(evidence.ProbeTarget.With(c)).Status() != 401 {
			return j
		}
		parts := []Judgement{j}
		for _, r := range e.Roles.Operations {
			x, sent := e.Get(r.With(c))
			if sent && x.Status() == 403 && refusedByNode(x) && len(header(x, "WWW-Authenticate")) == 0 && !declaredPublic(e, r) && success(e.exchange(r.With(evidence.OK))) {
				name := resourceName(e, r) + " " + x.Words
				parts = append(parts, expect(x, "401 with WWW-Authenticate: Bearer …").failed(name+" is answered 403 and without a challenge, as if no token would help", describe(x)+", "+headerText(x, "WWW-Authenticate")).
					Hinting("Django REST framework answers 403 instead of 401 if the first authentication class has no authenticate_header; Spring Security if the entry point is Http403ForbiddenEntryPoint"))
			}
		}
		return gather(parts...)
	}
}

// judgeAnonymousErrorCode is the check of BRR-03.
func judgeAnonymousErrorCode(x evidence.Exchange) Judgement {
	challenges := bearerChallenges(x)
	if len(challenges) == 0 {
		return Inapplicable("the answer to the call without a token has no Bearer challenge")
	}
	if code := attribute(challenges, "error"); code != "" {
		return expect(x, "a challenge without error").failed("the challenge names an error although no token was sent", "error="+quote(code))
	}
	for _, name := range []string{"error_description", "error_uri"} {
		if text := attribute(challenges, name); text != "" {
			return expect(x, "a challenge without error information").warned("the challenge explains an error although no token was sent", name+"="+quote(text))
		}
	}
	return Passed(x.Label)
}

// judgeChallengeForms is the check of BRR-04.
func judgeChallengeForms(e Evidence) Judgement {
	var faulty []Subject
	seen, read := map[string]bool{}, 0
	for _, x := range e.Exchanges {
		for _, line := range header(x, "WWW-Authenticate") {
			read++
			faults := challengeFaults(line)
			if len(faults) == 0 || seen[line] {
				continue
			}
			seen[line] = true
			faulty = append(faulty, Subject{Name: callName(x), Label: x.Label, Expected: "a well-formed challenge", Got: faults[0] + ": " + clip(line)})
		}
	}
	switch {
	case read == 0:
		return Inapplicable("no answer of the run has a WWW-Authenticate header")
	case len(faulty) > 0:
		return Failed("a challenge is malformed: "+faulty[0].Got, "a list of challenges in which no attribute is repeated", faulty[0].Got).
			About(faulty...).bounded()
	}
	return Passed()
}

// judgeChallengeAttributes is the check of BRR-05.
func judgeChallengeAttributes(x evidence.Exchange) Judgement {
	challenges := bearerChallenges(x)
	if len(challenges) == 0 {
		return Inapplicable("the answer to the call without a token has no Bearer challenge")
	}
	if slices.ContainsFunc(challenges, func(c map[string]string) bool { return len(c) == 0 }) {
		return expect(x, "Bearer with at least one attribute, such as realm").warned("the Bearer challenge has no attribute, as Spring Security sends it by default", headerText(x, "WWW-Authenticate")).Habit(springSecurity)
	}
	return Passed(x.Label)
}

// bearerChallenges reads the Bearer challenges of an answer as attributes by lower-case name. Header lines are read one by one, so that a
// malformed line does not hide a good one; what can be read of it counts, because BRR-04 judges its form.
func bearerChallenges(x evidence.Exchange) []map[string]string {
	var out []map[string]string
	for _, line := range header(x, "WWW-Authenticate") {
		challenges, err := evidence.ParseChallenges([]string{line})
		if err != nil {
			if attributes, ok := malformedAttributes(line); ok {
				out = append(out, attributes)
			}
			continue
		}
		for _, c := range challenges {
			if strings.EqualFold(c.Scheme, "Bearer") {
				out = append(out, attributesOf(c))
			}
		}
	}
	return out
}

// attributesOf returns the attributes of a challenge by lower-case name. Of a repeated attribute it keeps the first value.
func attributesOf(c evidence.Challenge) map[string]string {
	attributes := map[string]string{}
	for _, p := range c.Params {
		if name := strings.ToLower(p.Name); attributes[name] == "" {
			attributes[name] = p.Value
		}
	}
	return attributes
}

// malformedAttributes reads the attributes of a malformed line. isBearer is false if the line has no Bearer challenge.
func malformedAttributes(line string) (attributes map[string]string, isBearer bool) {
	words := strings.FieldsFunc(strings.ToLower(line), func(r rune) bool { return r == ' ' || r == '\t' || r == ',' })
	if !slices.Contains(words, "bearer") {
		return nil, false
	}
	attributes = map[string]string{}
	for _, w := range words {
		if name, value, ok := strings.Cut(w, "="); ok && attributes[name] == "" {
			attributes[name] = strings.Trim(value, `"`)
		}
	}
	return attributes, true
}

// attribute returns the value of an attribute in the first Bearer challenge that has it.
func attribute(challenges []map[string]string, name string) string {
	for _, c := range challenges {
		if c[name] != "" {
			return c[name]
		}
	}
	return ""
}

// hasOnlyBasic reports whether an answer has a Basic challenge and no Bearer challenge.
func hasOnlyBasic(x evidence.Exchange) bool {
	if len(bearerChallenges(x)) > 0 {
		return false
	}
	return slices.ContainsFunc(header(x, "WWW-Authenticate"), func(line string) bool {
		return len(line) >= 5 && strings.EqualFold(line[:5], "Basic")
	})
}

// challengeFaults lists the faults of one WWW-Authenticate line (RFC 9110 §11.2 and §11.6.1, RFC 6750 §3).
func challengeFaults(line string) []string {
	challenges, err := evidence.ParseChallenges([]string{line})
	if err != nil {
		return []string{clip(err.Error())}
	}
	var faults []string
	for _, c := range challenges {
		seen := map[string]bool{}
		for _, p := range c.Params {
			name := strings.ToLower(p.Name)
			if seen[name] {
				faults = append(faults, fmt.Sprintf("%s appears more than once in the %s challenge", clip(name), clip(c.Scheme)))
			}
			seen[name] = true
			if bad, ok := outsideAlphabet(name, p.Value); ok && strings.EqualFold(c.Scheme, "Bearer") {
				faults = append(faults, fmt.Sprintf("%s has the character %q, which RFC 6750 §3 does not allow there", name, bad))
			}
		}
	}
	return faults
}

// outsideAlphabet finds the first character that RFC 6750 §3 does not allow in the value of an attribute it defines.
func outsideAlphabet(name, value string) (character rune, found bool) {
	blank := true
	switch name {
	case "scope", "error", "error_description":
	case "error_uri":
		blank = false
	default:
		return 0, false
	}
	for _, r := range value {
		allowed := r == 0x21 || r >= 0x23 && r <= 0x5B || r >= 0x5D && r <= 0x7E || r == ' ' && blank
		if !allowed {
			return r, true
		}
	}
	return 0, false
}
