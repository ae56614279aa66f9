package requirement

import (
	"fmt"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
)

// clientFault returns the source for odd input, which is an error of the client, not of the server.
func clientFault() Source { return RFC(9110, "15.6.1").And(RFC(9110, "15.5.1")).AsDerived() }

// Texts of several requirements.
const (
	unexpectedCondition = "The 500 (Internal Server Error) status code indicates that the server encountered an unexpected condition that prevented it from fulfilling the request."
	forgivenOddity      = "Any answer but a 5xx, a firewall's page too. A 5xx counts when it came twice and the normal request worked within a minute of it."
)

// oddInput returns ROB-01 to ROB-04, about malformed requests, which clients send by mistake.
func oddInput() []Requirement {
	list, detail := evidence.ListOperation, evidence.DetailOperation
	return []Requirement{
		{
			ID: "ROB-01", Title: "Odd bearer values",
			Level: Recommended, Gate: Advice, Profile: Auth,
			Source:   clientFault().And(RFC(6750, "3.1")).And(RFC(6585, "5")),
			Quote:    unexpectedCondition,
			Probe:    "A GET of the probe target with six bearer values: 6 kB of A; a.b.c; dots alone; a JWT whose header is {; the bytes E4 F6; three JWTs joined by dots.",
			Forgives: forgivenOddity + " 400 and 431 of web servers for long headers are fine.",
			Fix:      "Catch whatever the token library raises and answer 401: PyJWT jwt.exceptions.PyJWTError and UnicodeDecodeError, jsonwebtoken's callback error, nimbus-jose-jwt ParseException; decode the header of a token inside the same try.",
			Breaks:   "A JWT whose header cannot be decoded gives 500.",
			Reads:    append(onTarget(oddBearers()...), evidence.ProbeTarget.With(evidence.OK), evidence.ProbeTarget.With("ok-after-bearers")),
			After:    []ID{"TOK-01"}, Check: judgeOddBearers,
		},
		{
			ID: "ROB-02", Title: "Odd token requests",
			Level: Recommended, Gate: Advice, Profile: Auth,
			Source:   clientFault().And(RFC(6749, "5.2")),
			Quote:    unexpectedCondition,
			Probe:    "Seven POST requests to the token endpoint by an unknown client: no content; JSON; %zz and %FF in a value; a value of 64 kB; multipart/form-data; text/plain. With --polite two: JSON and %FF. The first 403, 429 or refused connection ends the group.",
			Forgives: forgivenOddity + " 400, 401, 413 and 415 are all fine, and so is reading JSON. 500 for %zz alone, as Keycloak answers it: a warning.",
			Fix:      "Check the media type before the body is parsed (415 or 400 invalid_request), and answer 400 when parsing fails: Flask: request.get_json(silent=True) or a handler for BadRequest; Express: an error handler after body-parser; Spring: @ExceptionHandler(HttpMessageNotReadableException). Keycloak (seen with 26.4) answers 500 to %zz and cannot be configured otherwise, which stays a warning.",
			Breaks:   "JSON instead of a form gives 500.",
			Reads:    append(labels(evidence.TokenEndpoint, oddForms()...), evidence.TokenEndpoint.With("ok-after-form")),
			After:    []ID{"TOK-01"}, Check: judgeOddForms,
		},
		{
			ID: "ROB-03", Title: "Odd ids in the detail path",
			Level: Recommended, Gate: Advice, Profile: API,
			Source:   clientFault().And(RFC(3986, "2.1")),
			Quote:    unexpectedCondition,
			Probe:    "The detail operation with seven ids: O'Brien, %00, %FF, ..%2F..%2Fconformance, 2 kB of a, umlauts, {id}.",
			Forgives: forgivenOddity + " 400 of Tomcat and nginx for %00 and %2F. A node that fails on every unknown id is judged by PAG-09.",
			Fix:      "Bind ids as parameters of the query, never by joining text; refuse what is not UTF-8 or holds a NUL with 400 before the database sees it (PostgreSQL raises on \\x00), and answer 404 for the rest.",
			Breaks:   "A quote in the id gives 500.",
			Reads:    append(labels(detail, oddIDs()...), detail.With(evidence.OK), detail.With("unknown-id"), detail.With("ok-after-ids")),
			After:    []ID{"TOK-01"}, Check: judgeOddIDs,
		},
		{
			ID: "ROB-04", Title: "Odd query strings",
			Level: Recommended, Gate: Advice, Profile: API,
			Source:   clientFault().And(RFC(9110, "15.5.15")),
			Quote:    unexpectedCondition,
			Probe:    "The list operation with a query that is not UTF-8, fields without a name, ?&&, a value of 6 kB, 200 parameters of one name, %00 as the page size, and with an Accept header that nothing matches.",
			Forgives: forgivenOddity + " 406, 414 and JSON in spite of the Accept header are all fine.",
			Fix:      "Catch errors of decoding and of converting parameters and answer 400: Python errors='strict' raises UnicodeDecodeError, Integer.parseInt NumberFormatException; Spring: @ExceptionHandler(MethodArgumentTypeMismatchException.class).",
			Breaks:   "An escape in the query that is not UTF-8 gives 500.",
			Reads:    append(labels(list, oddQueries()...), list.With(evidence.OK), list.With("ok-after-queries")),
			After:    []ID{"TOK-01"}, Check: judgeOddQueries,
		},
	}
}

func oddBearers() []evidence.Case {
	return []evidence.Case{"bearer-long", "bearer-three", "bearer-dots", "bearer-bad-header", "bearer-bytes", "bearer-joined"}
}

func oddForms() []evidence.Case {
	return []evidence.Case{"form-empty", "form-json", "form-percent", "form-bytes", "form-long", "form-parts", "form-text"}
}

func oddIDs() []evidence.Case {
	return []evidence.Case{"id-quote", "id-nul", "id-bytes", "id-parent", "id-long", "id-umlauts", "id-braces"}
}

func oddQueries() []evidence.Case {
	return []evidence.Case{"query-bytes", "query-nameless", "query-blank", "query-long", "query-repeated", "query-size-nul", "odd-accept"}
}

// judgeOddBearers is the check of ROB-01.
func judgeOddBearers(e Evidence) Judgement {
	return judgeOddAnswers(e, onTarget(oddBearers()...), evidence.ProbeTarget.With("ok-after-bearers"), nil)
}

// judgeOddForms is the check of ROB-02.
func judgeOddForms(e Evidence) Judgement {
	after := evidence.TokenEndpoint.With("ok-after-form")
	return judgeOddAnswers(e, labels(evidence.TokenEndpoint, oddForms()...), after, func(x evidence.Exchange) (Judgement, bool) {
		if hasToken(x) {
			return expect(x, "401, or another 4xx, without a token").failed("a request "+mannerOf(x)+" of an unregistered client gets a token", describeError(x)), true
		}
		j := judgeOddAnswer(e, x, after)
		if j.Outcome != Fail || x.Label.Case() != "form-percent" || x.Status() != 500 {
			return Judgement{}, false
		}
		return expect(x, j.Expected).warned(j.Reason+", as with Keycloak", j.Got).Habit(keycloak), true
	})
}

// judgeOddQueries is the check of ROB-04.
func judgeOddQueries(e Evidence) Judgement {
	return judgeOddAnswers(e, labels(evidence.ListOperation, oddQueries()...), evidence.ListOperation.With("ok-after-queries"), nil)
}

// judgeOddIDs is the check of ROB-03.
func judgeOddIDs(e Evidence) Judgement {
	good := e.exchange(evidence.DetailOperation.With(evidence.OK))
	unknown := e.exchange(evidence.DetailOperation.With("unknown-id"))
	if serverError(unknown) || unknown.Failure != nil || success(unknown) && carriesData(unknown, good) {
		return Judgement{Outcome: Blocked, BlockedBy: "PAG-09", Reason: "any unknown id is answered " + describe(unknown) + ", so odd ids prove nothing more"}.Seen(unknown.Label)
	}
	return judgeOddAnswers(e, labels(evidence.DetailOperation, oddIDs()...), evidence.DetailOperation.With("ok-after-ids"), func(x evidence.Exchange) (Judgement, bool) {
		if !success(x) || !(carriesData(x, good) || len(x.Response.Body) > maxTinyBody && !isHTML(x) && !jsonMedia(mediaType(x))) {
			return Judgement{}, false
		}
		return expect(x, "404, or another 4xx").failed("an id that does not exist gets an item or a file", describe(x)), true
	})
}

// judgeOddAnswers judges the answers to odd requests. control is the normal request after them. judgeFirst, if it is not nil, judges each answer first; if it
// finds something, its judgement counts.
func judgeOddAnswers(e Evidence, odd []evidence.Label, control evidence.Label, judgeFirst func(evidence.Exchange) (Judgement, bool)) Judgement {
	var parts, unsent []Judgement
	for _, role := range odd {
		labels := e.Resolve(role)
		if len(labels) == 0 {
			return Inapplicable("this run has no " + roleName(role))
		}
		for _, label := range labels {
			x, sent := e.Get(label)
			if !sent {
				j, _ := e.missingAnswer(label)
				unsent = append(unsent, j)
				continue
			}
			if judgeFirst != nil {
				if j, found := judgeFirst(x); found {
					parts = append(parts, j)
					continue
				}
			}
			parts = append(parts, judgeOddAnswer(e, x, control))
		}
	}
	// A group that ended early, or of which a polite run sends only a part, is judged by the requests that were sent.
	for _, j := range unsent {
		if j.Outcome == Inconclusive && allPlanned(e, odd) {
			parts = append(parts, j)
		}
	}
	if len(parts) == 0 {
		return gather(unsent...)
	}
	return gather(parts...)
}

// allPlanned reports whether all of the requests were planned.
func allPlanned(e Evidence, odd []evidence.Label) bool {
	for _, role := range odd {
		for _, l := range e.Resolve(role) {
			_, sent := e.Get(l)
			if _, skipped := e.Skipped(l); !sent && !skipped {
				return false
			}
		}
	}
	return true
}

// maxOddDuration is the longest time for an answer to an odd request.
const maxOddDuration = 30 * time.Second

// judgeOddAnswer judges one answer to an odd request.
func judgeOddAnswer(e Evidence, x evidence.Exchange, control evidence.Label) Judgement {
	want := expect(x, "any answer except a 5xx, preferably a 4xx")
	var fault string
	switch {
	case x.Failure != nil:
		switch x.Failure.Kind {
		case evidence.FailureTimeout:
			fault = "is never answered"
		case evidence.FailureReset, evidence.FailureProtocol:
			fault = "closes the connection without an answer"
		default:
			return Unclear(fmt.Sprintf("no answer to %s: %s", e.RequestName(x.Label), clip(x.Failure.Message))).Seen(x.Label)
		}
	case x.Response == nil:
		return Unclear("the recording has no answer").Blaming(Suite).Seen(x.Label)
	case serverError(x):
		fault = "breaks the node"
	case x.Duration > maxOddDuration:
		return want.failed("a request "+mannerOf(x)+" takes longer than 30 s", durationText(x.Duration))
	default:
		return Passed(x.Label)
	}
	got := describe(x)
	if x.Attempts < 2 {
		return want.unclear("a request "+mannerOf(x)+" "+fault+", and it was not repeated", got)
	}
	if !controlWorks(e, x, control) {
		return want.unclear("a request "+mannerOf(x)+" "+fault+", but no normal one was seen to work in the same minute", got).
			Hinting("look into the node's log for the cause, then repeat the run")
	}
	return want.failed("a request "+mannerOf(x)+" "+fault+" while the normal one works", got)
}

// controlWorks reports whether the resource gave a good answer within a minute of the odd one, and to the normal request after the odd ones, if
// that was sent.
func controlWorks(e Evidence, x evidence.Exchange, control evidence.Label) bool {
	for _, label := range e.Resolve(control) {
		if after, sent := e.Get(label); sent && !success(after) {
			return false
		}
	}
	for _, good := range e.Exchanges {
		if good.Label.Resource() == x.Label.Resource() && success(good) && good.Started.Sub(x.Started).Abs() <= time.Minute {
			return true
		}
	}
	return false
}
