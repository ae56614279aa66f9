package requirement

import (
	"github.com/rin-network/rin/conformance/exchange"
)

// robustness lists group ROB in catalogue order.
func robustness() []Requirement { return append(oddInput(), soundAnswers()...) }

// clientFault is the source of what odd input must get: an error of the client, not of the server.
func clientFault() Source { return RFC(9110, "15.6.1").And(RFC(9110, "15.5.1")).AsDerived() }

const (
	unexpectedCondition = "The 500 (Internal Server Error) status code indicates that the server encountered an unexpected condition that prevented it from fulfilling the request."
	forgivenOddity      = "Any answer but a 5xx, a firewall's page too. A 5xx counts when it came twice and the normal request worked within a minute of it."
)

// oddInput are ROB-01 to ROB-04: requests that no client means, and that some client sends one day.
func oddInput() []Requirement {
	list, detail := exchange.ListOperation, exchange.DetailOperation
	return []Requirement{
		{
			ID: "ROB-01", Title: "Odd bearer values",
			Level: Recommended, Gate: Advice, Profile: Auth,
			Source:   clientFault().And(RFC(6750, "3.1")).And(RFC(6585, "5")),
			Quote:    unexpectedCondition,
			Probe:    "A GET of the probe target with six bearer values: 6 kB of A; a.b.c; two dots; a JWT whose header is {; the bytes E4 F6; three JWTs joined by dots.",
			Forgives: forgivenOddity + " 400 and 431 of web servers for long headers are fine.",
			Fix:      "Catch whatever the token library raises and answer 401: PyJWT jwt.exceptions.PyJWTError and UnicodeDecodeError, jsonwebtoken's callback error, nimbus-jose-jwt ParseException; decode the header of a token inside the same try.",
			Breaks:   "A JWT whose header can't be decoded gives 500.",
			Reads:    append(onTarget(oddBearers()...), exchange.ProbeTarget.With(exchange.OK), exchange.ProbeTarget.With(exchange.OKAfterBearers)),
			After:    []ID{"TOK-01"}, Check: oddBearersBorne,
		},
		{
			ID: "ROB-02", Title: "Odd token requests",
			Level: Recommended, Gate: Advice, Profile: Auth,
			Source:   clientFault().And(RFC(6749, "5.2")),
			Quote:    unexpectedCondition,
			Probe:    "Seven POST requests to the token endpoint by a client that nobody knows: no content; JSON; %zz and %FF in a value; a value of 64 kB; multipart/form-data; text/plain. With --polite two: JSON and %FF. The first 403, 429 or refused connection ends the group.",
			Forgives: forgivenOddity + " 400, 401, 413 and 415 are all fine, and so is reading JSON. 500 for %zz alone, as Keycloak answers it: a warning.",
			Fix:      "Check the media type before the body is parsed (415 or 400 invalid_request), and answer 400 when parsing fails: Flask: request.get_json(silent=True) or a handler for BadRequest; Express: an error handler after body-parser; Spring: @ExceptionHandler(HttpMessageNotReadableException). Keycloak (seen with 26.4) answers 500 to %zz and can't be configured otherwise, which stays a warning.",
			Breaks:   "JSON in place of a form gives 500.",
			Reads:    append(with(exchange.TokenEndpoint, oddForms()...), exchange.TokenEndpoint.With(exchange.OKAfterForm)),
			After:    []ID{"TOK-01"}, Check: oddFormsBorne,
		},
		{
			ID: "ROB-03", Title: "Odd ids in the detail path",
			Level: Recommended, Gate: Advice, Profile: Funding,
			Source:   clientFault().And(RFC(3986, "2.1")),
			Quote:    unexpectedCondition,
			Probe:    "The detail operation with seven ids: O'Brien, %00, %FF, ..%2F..%2Fconformance, 2 kB of a, umlauts, {id}.",
			Forgives: forgivenOddity + " 400 of Tomcat and nginx for %00 and %2F. A node that fails on every unknown id is judged by PAG-09.",
			Fix:      "Bind ids as parameters of the query, never by joining text; refuse what is not UTF-8 or holds a NUL with 400 before the database sees it (PostgreSQL raises on \\x00), and answer 404 for the rest.",
			Breaks:   "A quote in the id gives 500.",
			Reads:    append(with(detail, oddIDs()...), detail.With(exchange.OK), detail.With(exchange.UnknownID), detail.With(exchange.OKAfterIDs)),
			After:    []ID{"TOK-01"}, Check: oddIDsBorne,
		},
		{
			ID: "ROB-04", Title: "Odd query strings",
			Level: Recommended, Gate: Advice, Profile: Funding,
			Source:   clientFault().And(RFC(9110, "15.5.15")),
			Quote:    unexpectedCondition,
			Probe:    "The list operation with ?a=%FF, ?=, ?&&, a value of 6 kB, 200 parameters of one name, %00 as the page size, and with Accept: application/x-conformance.",
			Forgives: forgivenOddity + " 406, 414 and JSON in spite of the Accept header are all fine.",
			Fix:      "Catch errors of decoding and of converting parameters and answer 400: Python errors='strict' raises UnicodeDecodeError, Integer.parseInt NumberFormatException; Spring: @ExceptionHandler(MethodArgumentTypeMismatchException.class).",
			Breaks:   "An escape in the query that is not UTF-8 gives 500.",
			Reads:    append(with(list, oddQueries()...), list.With(exchange.OK), list.With(exchange.OKAfterQueries)),
			After:    []ID{"TOK-01"}, Check: oddQueriesBorne,
		},
	}
}

// soundAnswers are ROB-05 to ROB-07: what every answer must be.
func soundAnswers() []Requirement {
	return []Requirement{
		{
			ID: "ROB-05", Title: "Answers come in time",
			Level: Recommended, Gate: Advice, Profile: Auth,
			Source:   cite("Interface document, Limits", "").AsDerived(),
			Quote:    "Rate limits, size limits and time-outs: not shown.",
			Probe:    "How long the good token request, the good calls of info endpoint and list, and the request for the specification took to their last byte.",
			Forgives: "A cold start: of the good calls of a resource the fastest counts. Up to 10 s pass, up to 30 s are a warning.",
			Fix:      "Bound the list (paging), leave the cache of the generated document on (springdoc.cache.disabled stays false), set time-outs towards databases and the authorization server; keep one instance warm where the platform puts it to sleep.",
			Breaks:   "The specification takes 11 s each time.",
			Reads:    append(exampleDurations(), exchange.WholeRun), Check: answersInTime,
		},
		{
			ID: "ROB-06", Title: "Body framing and compression are honest",
			Level: StandardMust, Gate: Advice, Profile: Auth,
			Source:   RFC(9110, "8.6").And(RFC(9112, "6")).And(RFC(9110, "8.4")),
			Quote:    "a sender MUST NOT forward a message with a Content-Length header field value that is known to be incorrect",
			Probe:    "The bodies of all answers: read to the end that Content-Length or chunks announce, and decoded. One GET and one HEAD of the probe target ask for Accept-Encoding: identity, written to the connection as they are, and read until the node closes it.",
			Forgives: "Chunks, bodies that end with the connection, any content coding that was asked for; a coding in spite of identity is a warning.",
			Fix:      "Let the server compute Content-Length from the encoded bytes, not from characters; drop it where a filter or proxy changes or compresses the body afterwards; leave compression to one place (nginx gzip or the application).",
			Breaks:   "Content-Length is larger than the body.",
			Reads:    append(onTarget(exchange.Strict, exchange.StrictHead), exchange.WholeRun), Check: framingHonest,
		},
		{
			ID: "ROB-07", Title: "The node's clock is right",
			Level: StandardMust, Gate: Advice, Profile: Auth,
			Source:   RFC(9110, "6.6.1"),
			Quote:    "An origin server with a clock (as defined in Section 5.6.7) MUST generate a Date header field in all 2xx (Successful), 3xx (Redirection), and 4xx (Client Error) responses",
			Probe:    "The Date of the good token and info answers against the clock of this machine, and the claim iat of the token against the Date of its answer.",
			Forgives: "60 s either way; up to 300 s, or no Date, is a warning; a token that was issued earlier and is handed out again. Where authorization server and API agree with each other and not with this machine, its clock may be the wrong one: inconclusive.",
			Fix:      "Keep time with NTP on every host and in every virtual machine (chronyc tracking, timedatectl), the hosts of caches and gateways too: tokens of a clock that is ahead are refused elsewhere.",
			Breaks:   "Date is one hour ahead.",
			Reads:    []exchange.Label{exchange.TokenEndpoint.With(exchange.OK), exchange.Info.With(exchange.OK)}, Check: clockRight,
		},
	}
}

func oddBearers() []exchange.Case {
	return []exchange.Case{exchange.BearerLong, exchange.BearerThree, exchange.BearerDots, exchange.BearerBadHeader, exchange.BearerBytes, exchange.BearerJoined}
}

func oddForms() []exchange.Case {
	return []exchange.Case{exchange.FormEmpty, exchange.FormJSON, exchange.FormPercent, exchange.FormBytes, exchange.FormLong, exchange.FormParts, exchange.FormText}
}

func oddIDs() []exchange.Case {
	return []exchange.Case{exchange.IDQuote, exchange.IDNul, exchange.IDBytes, exchange.IDParent, exchange.IDLong, exchange.IDUmlauts, exchange.IDBraces}
}

func oddQueries() []exchange.Case {
	return []exchange.Case{exchange.QueryBytes, exchange.QueryNameless, exchange.QueryBlank, exchange.QueryLong, exchange.QueryRepeated, exchange.QuerySizeNul, exchange.OddAccept}
}

// with makes the labels of several cases of a resource or role.
func with(r exchange.Resource, cases ...exchange.Case) []exchange.Label {
	var out []exchange.Label
	for _, c := range cases {
		out = append(out, r.With(c))
	}
	return out
}
