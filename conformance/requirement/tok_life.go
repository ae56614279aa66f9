package requirement

import (
	"fmt"
	"strconv"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// tokenLife returns TOK-08 to TOK-12, about the lifetime and the form of the token.
func tokenLife() []Requirement {
	return []Requirement{
		{
			ID: "TOK-08", Title: "expires_in is present",
			Level: StandardShould, Gate: Advice, Profile: Auth,
			Source:   RFC(6749, "5.1"),
			Quote:    "RECOMMENDED. The lifetime in seconds of the access token.",
			Probe:    "The member expires_in of the answer to the good token request.",
			Forgives: "Its absence is a warning: the standard recommends it, and does not ask for it. In a JWT with exp the lifetime can be read.",
			Fix:      "Add expires_in, the lifetime in seconds, to the token answer: clients need it to fetch a new token in time.",
			Breaks:   "A token answer without expires_in.",
			Needs:    atToken(evidence.OK), Reads: everyTokenRequest(), After: []ID{tokenRequirement}, Check: onTokenAnswer(judgeLifetimePresence),
		},
		{
			ID: "TOK-09", Title: "expires_in, if present, is a positive JSON number",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "5.1"),
			Quote:    "Numerical values are included as JSON numbers.",
			Probe:    "The JSON type and value of expires_in in the answer to the good token request.",
			Forgives: "Its absence (TOK-08 judges that).",
			Fix:      "Send the remaining seconds as a JSON number: \"expires_in\": 300, neither a string nor a point in time.",
			Breaks:   "A token answer with \"expires_in\": \"3600\".",
			Needs:    atToken(evidence.OK), Reads: everyTokenRequest(), After: []ID{tokenRequirement}, Check: onTokenAnswer(judgeLifetimeForm),
		},
		{
			ID: "TOK-10", Title: "Lifetime is short (up to 1 h) and usable (60 s or more)",
			Level: StandardShould, Gate: Advice, Profile: Auth,
			Source:   RFC(6750, "5.3"),
			Quote:    "Token servers SHOULD issue short-lived (one hour or less) bearer tokens, particularly when issuing tokens to clients that run within a web browser or other environments where information leakage may occur.",
			Probe:    "expires_in of the answer to the good token request, or exp and iat of the token.",
			Forgives: "Up to a day is a warning; an unknown lifetime does not count.",
			Fix:      "Set the access token lifetime of the client to between 60 and 3600 seconds. Keycloak: Advanced, Access Token Lifespan; Spring Authorization Server: TokenSettings.accessTokenTimeToLive; node-oidc-provider: ttl.ClientCredentials.",
			Breaks:   "A token answer with \"expires_in\": 31536000.",
			Needs:    atToken(evidence.OK), Reads: everyTokenRequest(), After: []ID{tokenRequirement}, Check: onTokenAnswer(judgeLifetimeLength),
		},
		{
			ID: "TOK-11", Title: "No refresh token is issued for client credentials",
			Level: StandardShould, Gate: Advice, Profile: Auth,
			Source:   RFC(6749, "4.4.3"),
			Quote:    "A refresh token SHOULD NOT be included.",
			Probe:    "The members of the answer to the good token request.",
			Forgives: "refresh_expires_in: 0 without a token, as Keycloak sends it; an empty or null refresh_token.",
			Fix:      "Switch refresh tokens off for the client credentials grant. Keycloak: client, Advanced, Use refresh tokens for client credentials grant off.",
			Breaks:   "A token answer with a refresh_token.",
			Needs:    atToken(evidence.OK), Reads: everyTokenRequest(), After: []ID{tokenRequirement}, Check: onTokenAnswer(judgeRefreshToken),
		},
		{
			ID: "TOK-12", Title: "Access token fits the bearer syntax",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6750, "2.1").And(RFC(9110, "11.2")).And(RFC(6749, "10.10")),
			Quote:    "b64token = 1*( ALPHA / DIGIT / \"-\" / \".\" / \"_\" / \"~\" / \"+\" / \"/\" ) *\"=\"",
			Probe:    "The characters and the length of the access token; and, for an opaque token, how many of its bits can be random, by its length, its alphabet and what it shares with another token of the client.",
			Forgives: "Any kind of token, opaque or JWT; one longer than 8192 bytes is a warning, and so is one with 96 to 111 bits.",
			Fix:      "Draw opaque tokens with 128 random bits or more: secrets.token_urlsafe(), crypto.randomBytes(32), SecureRandom; neither counters nor times. Issue tokens of letters, digits and - . _ ~ + / (= at the end only); encode anything else as base64url.",
			Breaks:   "An access token with a blank in it; one that counts up.",
			Needs:    atToken(evidence.OK), Reads: everyTokenRequest(), After: []ID{tokenRequirement}, Check: onTokenAnswer(judgeTokenSyntax),
		},
	}
}

// Bounds of the lifetime in seconds, of random bits, and of the length of a token in bytes.
const (
	shortestLife = 60
	shortLife    = 3600
	longestLife  = 86400
	epochLike    = 1e9 // an expires_in above this is a point in time: 1e9 s are 31 years
	fewBits      = 96
	enoughBits   = 112  // RFC 6749 §10.10 asks for 128; a UUID has 122, and two tokens may share a few characters
	longToken    = 8192 // what nginx and Tomcat take in one header line by default
)

// tokenFacts returns the facts about the token of an answer.
func tokenFacts(x evidence.Exchange) (evidence.TokenFacts, bool) {
	if len(x.Tokens) == 0 {
		return evidence.TokenFacts{}, false
	}
	return x.Tokens[0], true
}

// expiryClaims reports whether the token is a JWT with exp, and its lifetime from iat to exp in seconds; 0 if that is unknown.
func expiryClaims(x evidence.Exchange) (hasExp bool, life float64) {
	facts, _ := tokenFacts(x)
	if facts.JWT == nil {
		return false, 0
	}
	exp, hasExp := number(facts.JWT.Claims["exp"])
	iat, hasIat := number(facts.JWT.Claims["iat"])
	if hasExp && hasIat {
		life = exp - iat
	}
	return hasExp, life
}

// lifetime returns how long the token of an answer lives: expires_in if it is usable, else exp - iat of a JWT.
func lifetime(x evidence.Exchange) (seconds float64, from string, known bool) {
	o, _ := jsonObject(x)
	if n, ok := number(o["expires_in"]); ok && n > 0 && n <= epochLike {
		return n, "expires_in", true
	}
	if _, life := expiryClaims(x); life > 0 && life <= epochLike {
		return life, "exp - iat", true
	}
	return 0, "", false
}

// judgeLifetimePresence is the check of TOK-08.
func judgeLifetimePresence(x evidence.Exchange) Judgement {
	o, _ := jsonObject(x)
	if o["expires_in"] != nil {
		return Passed(x.Label)
	}
	const expected, got = "expires_in: seconds", "no expires_in"
	if hasExp, _ := expiryClaims(x); hasExp {
		return expect(x, expected).warned("the lifetime can only be read from the exp claim inside the token", got)
	}
	return expect(x, expected).warned("clients cannot know how long the token lives", got)
}

// judgeLifetimeForm is the check of TOK-09.
func judgeLifetimeForm(x evidence.Exchange) Judgement {
	o, _ := jsonObject(x)
	value := o["expires_in"]
	if value == nil {
		return Inapplicable("there is no expires_in, which TOK-08 judges").Seen(x.Label)
	}
	want := expect(x, "expires_in: a JSON number above 0")
	n, isNumber := number(value)
	switch {
	case !isNumber:
		got := "expires_in: " + openapi.JSONType(value)
		if s, isString := value.(string); isString {
			got = "expires_in: string " + quote(s)
		}
		return want.failed("expires_in is not a JSON number", got)
	case n <= 0:
		got := fmt.Sprintf("expires_in: %v", value)
		return want.failed("expires_in is not above 0", clip(got))
	case n > epochLike:
		got := fmt.Sprintf("expires_in: %v", value)
		return want.failed("expires_in is a point in time, or a lifetime of decades; clients add it to the current time", clip(got))
	}
	return Passed(x.Label)
}

// judgeLifetimeLength is the check of TOK-10.
func judgeLifetimeLength(x evidence.Exchange) Judgement {
	seconds, from, known := lifetime(x)
	if !known {
		return Inapplicable("the lifetime of the token is not known").Seen(x.Label)
	}
	want := expect(x, "60 to 3600 seconds")
	got := fmt.Sprintf("%s: %.0f seconds", from, seconds)
	switch {
	case seconds < shortestLife:
		return want.failed("the token expires before a client can do much with it", got)
	case seconds > longestLife:
		return want.failed("a leaked token can be used for more than a day", got)
	case seconds > shortLife:
		return want.warned("the token lives longer than an hour", got)
	}
	return Passed(x.Label)
}

// judgeRefreshToken is the check of TOK-11.
func judgeRefreshToken(x evidence.Exchange) Judgement {
	o, _ := jsonObject(x)
	if value := o["refresh_token"]; value == nil || value == "" {
		return Passed(x.Label)
	}
	const expected, got = "no refresh_token", "a refresh_token"
	return expect(x, expected).failed("a refresh token was issued, which outlives the access token and is of no use to a client that holds its credentials", got)
}

// judgeTokenSyntax is the check of TOK-12.
func judgeTokenSyntax(x evidence.Exchange) Judgement {
	facts, known := tokenFacts(x)
	if !known {
		return Unclear("the recording has no facts about the token").Blaming(Suite).Seen(x.Label)
	}
	switch {
	case !facts.Alphabet:
		return expect(x, "letters, digits, - . _ ~ + / and = at the end").failed("the token has a character that is not allowed in an Authorization header", "a token with "+clip(facts.Offending))
	case facts.JWT == nil && facts.Chance > 0 && facts.Chance < fewBits:
		return expect(x, "128 random bits or more (RFC 6749 §10.10)").failed("the token can be guessed: most of it is the same in another token, or it is short", fmt.Sprintf("at most %d random bits", facts.Chance)).
			Hinting("draw tokens from a source of random bytes that is made for secrets; a counter, a time or the client's name is not a secret")
	case facts.JWT == nil && facts.Chance > 0 && facts.Chance < enoughBits:
		return expect(x, "128 random bits or more (RFC 6749 §10.10)").warned("the token has few random bits", fmt.Sprintf("at most %d random bits", facts.Chance))
	case facts.Length > longToken:
		return expect(x, "8192 bytes or less").warned("the token is longer than nginx and Tomcat take in one header line by default", fmt.Sprintf("%d bytes", facts.Length)).
			Hinting("leave out claims that the API does not need (Keycloak: client scopes roles and profile), or issue opaque tokens")
	}
	return Passed(x.Label)
}

// mayHaveExpired reports whether the token of an answer may have expired when another request was sent.
func mayHaveExpired(token, later evidence.Exchange) bool {
	seconds, _, known := lifetime(token)
	return known && later.Started.Sub(token.Started) >= time.Duration(seconds*float64(time.Second))
}

// lifetimeHint is the fix for a server that hands out a token again as if it were new.
const lifetimeHint = "where tokens are cached, compute expires_in when the answer is sent: exp minus the current time"

// roundingTolerance is the error in seconds of the difference between two statements about one token, because both are rounded. The clock of the node
// plays no part.
const roundingTolerance = 3

// repeatedStatement is a token that came twice, the second time with an expires_in that ends later than the first one.
type repeatedStatement struct {
	again        evidence.Exchange
	hasExp       bool          // the token says itself when it expires
	elapsed      time.Duration // between the two answers
	stated, left float64       // expires_in of the first and of the second answer
}

// repeatedStatements finds tokens that came again although expires_in is not smaller by the time between the two answers.
func repeatedStatements(e Evidence) []repeatedStatement {
	first := map[string]statement{}
	var out []repeatedStatement
	for _, x := range e.sweep().tokens {
		facts, _ := tokenFacts(x)
		before, known := first[facts.Fingerprint]
		if !known {
			before, known = renewalBefore(x, facts.Fingerprint)
		}
		stated, isStated := statedLife(x)
		if !known {
			first[facts.Fingerprint] = statement{at: x.Started.Add(x.Duration), life: stated, known: isStated}
			continue
		}
		r := repeatedStatement{again: x, elapsed: x.Started.Sub(before.at), stated: before.life, left: stated}
		r.hasExp, _ = expiryClaims(x)
		if before.known && isStated && r.elapsed.Seconds()-(r.stated-r.left) > roundingTolerance {
			out = append(out, r)
		}
	}
	return out
}

// statement is the lifetime that an answer states.
type statement struct {
	at    time.Time // when the answer came
	life  float64   // expires_in
	known bool
}

// renewalBefore returns what the run kept of the renewal that brought the token before; renewals are not recorded.
func renewalBefore(x evidence.Exchange, fingerprint string) (statement, bool) {
	at, err := time.Parse(time.RFC3339Nano, x.Given["obtained"])
	life, errLife := strconv.ParseFloat(x.Given["stated"], 64)
	ok := err == nil && errLife == nil && life > 0 && x.Given["token"] == fingerprint
	return statement{at, life, ok}, ok
}

// statedLife returns expires_in of an answer; ok is false if expires_in is not usable.
func statedLife(x evidence.Exchange) (seconds float64, ok bool) {
	o, _ := jsonObject(x)
	n, ok := number(o["expires_in"])
	return n, ok && n > 0 && n <= epochLike
}

// until returns the end of the lifetime that the second answer states.
func (r repeatedStatement) until() time.Time {
	return r.again.Started.Add(time.Duration(r.left * float64(time.Second)))
}

// want returns the second answer as a subject, with the lifetime that it should state; got is the one that it states.
func (r repeatedStatement) want() Subject {
	return expect(r.again, fmt.Sprintf("expires_in: about %.0f, the rest of %.0f after %.0f seconds", max(0, r.stated-r.elapsed.Seconds()), r.stated, r.elapsed.Seconds()))
}

func (r repeatedStatement) got() string { return fmt.Sprintf("expires_in: %.0f", r.left) }

// judgeRepeatedStatements judges opaque tokens that were handed out twice. A server may renew the lifetime of a token, so only an early end is a
// fault.
func judgeRepeatedStatements(e Evidence) []Judgement {
	var parts []Judgement
	for _, r := range repeatedStatements(e) {
		if r.hasExp {
			continue // JWT-03 judges the token
		}
		reason := "a token that is handed out again has an expires_in that ends later than before"
		call := e.exchange(evidence.ProbeTarget.With("handed-out-again"))
		switch {
		case success(call):
			continue // the server renewed its lifetime
		case refusedByNode(call) && call.Status() == 401 && call.Started.Before(r.until()):
			early := r.until().Sub(call.Started).Seconds()
			parts = append(parts, r.want().failed(reason+fmt.Sprintf(", and stops working %.0f seconds before that end", early), r.got()).Hinting(lifetimeHint).Seen(call.Label))
		default:
			parts = append(parts, r.want().warned(reason, r.got()).Hinting(lifetimeHint))
		}
	}
	return parts
}
