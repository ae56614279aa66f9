package requirement

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// errorShapes returns ERR-01 to ERR-03.
func errorShapes() []Requirement {
	return []Requirement{
		{
			ID: "ERR-01", Title: "Unknown path is a client error",
			Level: Recommended, Gate: Advice, Profile: API,
			Source:   RFC(9110, "15.5.5"),
			Quote:    "The 404 (Not Found) status code indicates that the origin server did not find a current representation for the target resource or is not willing to disclose that one exists.",
			Probe:    "A GET with a token of a path below the base of the operations that no operation has.",
			Forgives: "401 and 403 of nodes that deny by default; a web page or a redirect (a warning).",
			Fix:      "Let the router answer 404 for what it does not know. nginx: try_files … =404 for the API's location instead of /index.html; Spring: no catch-all @RequestMapping(\"/**\"); Express: a last handler that sends 404.",
			Breaks:   "200 with {} for any path.",
			Needs:    []evidence.Label{evidence.API.With("unknown-path")}, After: []ID{"TOK-01"}, Check: onAnswer(evidence.API.With("unknown-path"), judgeUnknownPath),
		},
		{
			ID: "ERR-02", Title: "API errors are JSON (ideally problem+json)",
			Level: Recommended, Gate: Gating, Profile: API,
			Source:   RFC(9457, "3"),
			Quote:    "The canonical model for problem details is a JSON [JSON] object.",
			Probe:    "Every 4xx of the info endpoint and of the operations to a request with Accept: application/json, as other requirements provoke them, and any 4xx in JSON. JSON is in UTF-8, and no object repeats a member name.",
			Forgives: "Empty bodies; pages of a firewall or web server in front; answers to odd input and to odd paths; HTML and text are a warning, and so is a 200 whose JSON has a member error.",
			Fix:      "Write errors as application/problem+json with type, title, status and detail. Spring Boot: spring.mvc.problemdetails.enabled=true; Flask: @app.errorhandler(HTTPException) that returns JSON; Express: an error handler with res.status(…).json(…).",
			Breaks:   "Errors are declared as application/json and hold a web page.",
			Reads:    []evidence.Label{evidence.WholeRun}, After: []ID{"TOK-01"}, Check: judgeErrorsAsJSON,
		},
		{
			ID: "ERR-03", Title: "problem+json answers use the standard members correctly",
			Level: StandardMust, Gate: Gating, Profile: API,
			Source:   RFC(9457, "3.1.2"),
			Quote:    "Generators MUST use the same status code in the actual HTTP response, to assure that generic HTTP software that does not understand this format still behaves correctly.",
			Probe:    "Every body of the run with application/problem+json: status is a number and that of the answer, type and instance are URI references, title and detail strings.",
			Forgives: "Missing members; further members.",
			Fix:      "Write status as a number, and set it from the status of the answer; leave out what you have no value for. Libraries that do so: Spring's ProblemDetail, Zalando's Problem, Hellang.Middleware.ProblemDetails.",
			Breaks:   "status is the text \"404\".",
			Reads:    []evidence.Label{evidence.WholeRun}, After: []ID{"TOK-01"}, Check: judgeProblems,
		},
	}
}

// judgeUnknownPath is the check of ERR-01.
func judgeUnknownPath(x evidence.Exchange) Judgement {
	want := expect(x, "404")
	if serverError(x) {
		return want.failed("an unknown path breaks the node", describe(x))
	}
	if j, unclear := inconclusiveRefusal(x); unclear {
		return j
	}
	switch {
	case success(x) && isHTML(x):
		return want.warned("an unknown path is answered with a web page, as single-page applications answer every path", describe(x))
	case success(x):
		return want.failed("an unknown path is answered as if it existed", describe(x))
	case redirected(x):
		return want.warned("an unknown path is redirected elsewhere", describe(x))
	case clientError(x):
		return Passed(x.Label)
	}
	return want.unclear(fmt.Sprintf("an unknown path was answered %s", clip(x.StatusText())), describe(x))
}

// shouldBeJSON reports whether an answer of info or of an operation should be JSON: the request accepts JSON, or the answer is a refusal in JSON anyway.
func shouldBeJSON(x evidence.Exchange) bool {
	r := x.Label.Resource()
	return (r == evidence.Info || r == evidence.API || strings.HasPrefix(string(r), string(evidence.OperationResource("")))) && x.Response != nil && x.Request.Method != "HEAD" &&
		(slices.Contains(evidence.Values(x.Request.Header, "Accept"), "application/json") || clientError(x) && jsonMedia(mediaType(x)))
}

// mayFailBeforeRouting reports whether a server may refuse the request before the application sees it: odd input, odd paths, methods and headers.
func mayFailBeforeRouting(x evidence.Exchange) bool {
	c := x.Label.Case()
	odd := []string{"bearer-", "id-", "query-", "odd-"}
	return x.Family.IsDetour() || callsOtherVersion(x) || c == "good-forwarded" || c == otherSlash || slices.Contains(pathVariants(), c) || slices.ContainsFunc(odd, func(group string) bool { return strings.HasPrefix(string(c), group) })
}

// judgeErrorsAsJSON is the check of ERR-02.
func judgeErrorsAsJSON(e Evidence) Judgement {
	var s survey
	judged, inFront := 0, 0
	for _, x := range e.Exchanges {
		if !shouldBeJSON(x) {
			continue
		}
		if clientError(x) {
			judged++
		}
		if answeredInFront(x) || clientError(x) && mayFailBeforeRouting(x) && !jsonMedia(mediaType(x)) {
			inFront++
			continue
		}
		s.add(string(x.Label.Resource())+describe(x), judgeRefusalBody(e, x))
	}
	switch {
	case judged == 0 && len(s.faults) == 0:
		return Inapplicable("no call of the API was refused")
	case judged == inFront && len(s.faults) == 0:
		return Inapplicable("every refusal came from something in front of the node")
	}
	return s.judge()
}

// answeredInFront reports whether a firewall, gateway or web server in front of the node answered instead of it.
func answeredInFront(x evidence.Exchange) bool {
	return wafPage(x) || rateLimited(x) || deniedByServer(x) || clientError(x) && isHTML(x) &&
		bodyHas(x, "<center>nginx", "<center>openresty", "<center>cloudflare", "<h3>HTTP Status 400", "<title>HTTP Status 400", "Apache/", "Your browser sent an invalid request")
}

// judgeRefusalBody judges the body of a refusal, or of a success that reports an error inside.
func judgeRefusalBody(e Evidence, x evidence.Exchange) Judgement {
	want := expect(x, "a JSON body, or none")
	if success(x) {
		if text, err := e.jsonText(x); err == nil && textType(text) == "object" && meansError(openapi.Object(text)["error"]) {
			return expect(x, "the status of the error").warned("the status reports success, but the body has a member error", describe(x)+" with the member error")
		}
		return Passed(x.Label)
	}
	if !clientError(x) || len(bytes.TrimSpace(x.Response.Body)) == 0 || x.Response.Truncated {
		return Passed(x.Label)
	}
	_, err := e.jsonText(x)
	switch {
	case err == nil && jsonMedia(mediaType(x)):
		return judgeRefusalJSON(x, e.jsonFault(x))
	case err == nil:
		return Passed(x.Label)
	case jsonMedia(mediaType(x)):
		return want.failed("a refusal is declared as JSON, but it is not: "+clip(err.Error()), describe(x))
	}
	return want.warned("a refusal is not JSON although the request accepts JSON", describe(x))
}

// judgeRefusalJSON judges a refusal in JSON: parsers must not disagree on it. fault is the result of [jsonFault].
func judgeRefusalJSON(x evidence.Exchange, fault string) Judgement {
	got, small := encodingFault(x)
	switch {
	case fault != "":
		return expect(x, "each member once, and texts in Unicode (RFC 8259 §4, §8.2)").failed("parsers disagree on a refusal: "+fault, fault).
			Hinting("let a JSON library write the whole refusal, and each member once")
	case small:
		return expect(x, "UTF-8").warned("the charset of a refusal is not that of its JSON", got).Hinting(charsetHint)
	case got != "":
		return expect(x, "UTF-8 without a byte order mark").failed("a refusal is JSON, but not in plain UTF-8", got)
	}
	return Passed(x.Label)
}

// meansError reports whether the value of a member error says that there is an error.
func meansError(value []byte) bool {
	switch textType(value) {
	case "nothing", "null":
		return false
	case "array", "object":
		return !isHollow(value)
	}
	text := string(bytes.TrimSpace(value[:min(len(value), maxTinyBody)]))
	return text != `""` && text != "false"
}

// judgeProblems is the check of ERR-03.
func judgeProblems(e Evidence) Judgement {
	var s survey
	read := 0
	for _, x := range e.Exchanges {
		if x.Response == nil || mediaType(x) != "application/problem+json" || len(x.Response.Body) == 0 || x.Response.Truncated {
			continue
		}
		text, err := jsonText(x)
		if err != nil {
			continue // ERR-02 judges that
		}
		read++
		fault, small := problemFault(text, x.Status())
		if fault == "" {
			continue
		}
		j := expect(x, "members as RFC 9457 defines them").failed("a problem document is malformed: "+fault, fault)
		if small {
			j.Outcome, j.Hint = Warn, "leave out members without a value: null is not a string (RFC 9457 §3.1). Jackson: @JsonInclude(NON_NULL); FastAPI and Pydantic: exclude_none"
		}
		s.add(string(x.Label.Resource())+fault, j)
	}
	if read == 0 {
		return Inapplicable("the node does not use application/problem+json")
	}
	return s.judge()
}

// problemFault returns the fault of a problem document that came with a status, or "". The fault is small if members without a value are null, because
// consumers ignore those.
func problemFault(text []byte, status int) (fault string, small bool) {
	if kind := textType(text); kind != "object" {
		return "it has the type " + kind + " instead of object", false
	}
	members := openapi.Object(text)
	for _, m := range []struct{ name, kind string }{{"type", "string"}, {"title", "string"}, {"status", "number"}, {"detail", "string"}, {"instance", "string"}} {
		value, has := members[m.name]
		if !has {
			continue
		}
		switch kind := textType(value); kind {
		case m.kind:
		case "null":
			fault, small = m.name+" is null", true
		default:
			return fmt.Sprintf("%s has the type %s instead of %s", m.name, kind, m.kind), false
		}
	}
	if value, has := members["status"]; has && textType(value) == "number" {
		if n, err := strconv.ParseFloat(strings.TrimSpace(string(value)), 64); err != nil || n != float64(status) {
			return clip(fmt.Sprintf("status is %s, but that of the answer is %d", bytes.TrimSpace(value), status)), false
		}
	}
	for _, name := range []string{"type", "instance"} {
		var text string
		if json.Unmarshal(members[name], &text) == nil && !isURIReference(text) {
			return name + " is not a URI reference: " + quote(text), false
		}
	}
	return fault, small
}

// isURIReference reports whether a text is a URI or a relative reference (RFC 3986 §4.1). Brackets in a query are allowed.
func isURIReference(text string) bool {
	_, err := url.Parse(text)
	return err == nil && !strings.ContainsAny(text, " <>\"{}|\\^`")
}
