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

// errorShapes are ERR-01 to ERR-03.
func errorShapes() []Requirement {
	return []Requirement{
		{
			ID: "ERR-01", Title: "Unknown path is a client error",
			Level: Recommended, Gate: Advice, Profile: Funding,
			Source:   RFC(9110, "15.5.5"),
			Quote:    "The 404 (Not Found) status code indicates that the origin server did not find a current representation for the target resource or is not willing to disclose that one exists.",
			Probe:    "A GET with a token of a path below the base of the operations that no operation has.",
			Forgives: "401 and 403 of nodes that deny by default; a web page or a redirect (a warning).",
			Fix:      "Let the router answer 404 for what it does not know. nginx: try_files … =404 for the API's location in place of /index.html; Spring: no catch-all @RequestMapping(\"/**\"); Express: a last handler that sends 404.",
			Breaks:   "200 with {} for any path.",
			Needs:    []evidence.Label{evidence.API.With("unknown-path")}, After: []ID{"TOK-01"}, Check: unknownPathRefused,
		},
		{
			ID: "ERR-02", Title: "API errors are JSON (ideally problem+json)",
			Level: Recommended, Gate: Advice, Profile: Funding,
			Source:   RFC(9457, "3"),
			Quote:    "The canonical model for problem details is a JSON [JSON] object.",
			Probe:    "Every 4xx of the info endpoint and of the operations to a request with Accept: application/json, as other requirements provoke them.",
			Forgives: "Empty bodies; pages of a firewall or web server in front; what odd input and odd paths are answered; HTML and text are a warning, and so is a 200 whose JSON has a member error.",
			Fix:      "Write errors as application/problem+json with type, title, status and detail. Spring Boot: spring.mvc.problemdetails.enabled=true; Flask: @app.errorhandler(HTTPException) that returns JSON; Express: an error handler with res.status(…).json(…).",
			Breaks:   "Errors are declared as application/json and hold a web page.",
			Reads:    []evidence.Label{evidence.WholeRun}, After: []ID{"TOK-01"}, Check: errorsAreJSON,
		},
		{
			ID: "ERR-03", Title: "problem+json answers use the standard members correctly",
			Level: StandardMust, Gate: Advice, Profile: Funding,
			Source:   RFC(9457, "3.1.2"),
			Quote:    "Generators MUST use the same status code in the actual HTTP response, to assure that generic HTTP software that does not understand this format still behaves correctly.",
			Probe:    "Every body of the run with application/problem+json: status is a number and that of the answer, type and instance are URI references, title and detail strings.",
			Forgives: "Any member left out; further members.",
			Fix:      "Write status as a number, and set it from the status of the answer; leave out what you have no value for. Libraries that do so: Spring's ProblemDetail, Zalando's Problem, Hellang.Middleware.ProblemDetails.",
			Breaks:   "status is the text \"404\".",
			Reads:    []evidence.Label{evidence.WholeRun}, After: []ID{"TOK-01"}, Check: problemsWellFormed,
		},
	}
}

func unknownPathRefused(e Evidence) Judgement {
	x := e.exchange(evidence.API.With("unknown-path"))
	want := expect(x, "404")
	if serverError(x) {
		return want.failed("an unknown path breaks the node", describe(x))
	}
	if j, ok := inconclusiveRefusal(x); ok {
		return j
	}
	switch {
	case success(x) && html(x):
		return want.warned("an unknown path is answered with a web page, as single-page applications answer every path", describe(x))
	case success(x):
		return want.failed("an unknown path is answered as if it existed", describe(x))
	case redirected(x):
		return want.warned("an unknown path is redirected elsewhere", describe(x))
	case clientError(x):
		return Passed(x.Label)
	}
	return want.unclear(fmt.Sprintf("an unknown path was answered %d", x.Status()), describe(x))
}

// ofAPI reports the answers of the info endpoint and of operations, to requests that asked for JSON.
func ofAPI(x evidence.Exchange) bool {
	r := x.Label.Resource()
	return (r == evidence.Info || r == evidence.API || strings.HasPrefix(string(r), string(evidence.OperationResource("")))) && x.Response != nil &&
		slices.Contains(evidence.Values(x.Request.Header, "Accept"), "application/json") && x.Request.Method != "HEAD"
}

// beforeRouting reports the cases that servers refuse before the application sees them: odd input and odd paths.
func beforeRouting(c evidence.Case) bool {
	odd := []string{"bearer-", "id-", "query-", "odd-"}
	return slices.Contains(pathVariants(), c) || slices.ContainsFunc(odd, func(group string) bool { return strings.HasPrefix(string(c), group) })
}

func errorsAreJSON(e Evidence) Judgement {
	var parts []Judgement
	seen := map[string]bool{}
	judged, others := 0, 0
	for _, x := range e.Exchanges {
		if !ofAPI(x) {
			continue
		}
		if clientError(x) {
			judged++
		}
		if inFront(x) || clientError(x) && beforeRouting(x.Label.Case()) && !jsonMedia(mediaType(x)) {
			others++
			continue
		}
		j := refusalBody(e, x)
		if key := string(x.Label.Resource()) + describe(x); j.Outcome != Pass && !seen[key] {
			seen[key] = true
			parts = append(parts, j)
		}
	}
	switch {
	case judged == 0 && len(parts) == 0:
		return Missing("no call of the API was refused")
	case len(parts) == 0 && judged == others:
		return Missing("every refusal came from something in front of the node")
	case len(parts) == 0:
		return Passed()
	}
	return gather(parts...)
}

// inFront reports the page of a firewall, gateway or web server that answered in the node's place (T3).
func inFront(x evidence.Exchange) bool {
	if wafPage(x) || rateLimited(x) || deniedByServer(x) {
		return true
	}
	if !clientError(x) || !html(x) {
		return false
	}
	for _, server := range []string{"<center>nginx", "<center>openresty", "<center>cloudflare", "<h3>HTTP Status 400", "<title>HTTP Status 400", "Apache/", "Your browser sent an invalid request"} {
		if bytes.Contains(x.Response.Body, []byte(server)) {
			return true
		}
	}
	return false
}

// refusalBody judges the form of one refusal, or of a success that says inside that it is none.
func refusalBody(e Evidence, x evidence.Exchange) Judgement {
	want := expect(x, "a JSON body, or none")
	if success(x) {
		if text, err := e.jsonText(x); err == nil && textType(text) == "object" && meansError(openapi.Object(text)["error"]) {
			return expect(x, "the status of the error").warned("a success status with a member error says two things at once", describe(x)+" with the member error")
		}
		return Passed(x.Label)
	}
	if !clientError(x) || len(bytes.TrimSpace(x.Response.Body)) == 0 || x.Response.Truncated {
		return Passed(x.Label)
	}
	_, err := e.jsonText(x)
	switch {
	case err == nil:
		return Passed(x.Label)
	case jsonMedia(mediaType(x)):
		return want.failed("a refusal is declared as JSON, but it is not: "+clip(err.Error()), describe(x))
	}
	return want.warned("a refusal is not JSON although JSON was asked for", describe(x))
}

// meansError reports a member error that is there and says something.
func meansError(value []byte) bool {
	switch textType(value) {
	case "nothing", "null":
		return false
	case "array", "object":
		return !hollow(value)
	}
	text := string(bytes.TrimSpace(value[:min(len(value), tiny)]))
	return text != `""` && text != "false"
}

func problemsWellFormed(e Evidence) Judgement {
	var parts []Judgement
	read := 0
	seen := map[string]bool{}
	for _, x := range e.Exchanges {
		if x.Response == nil || mediaType(x) != "application/problem+json" || len(x.Response.Body) == 0 || x.Response.Truncated {
			continue
		}
		text, err := jsonText(x)
		if err != nil {
			continue // ERR-02 says so
		}
		read++
		fault, small := problemFault(text, x.Status())
		key := string(x.Label.Resource()) + fault
		if fault == "" || seen[key] {
			continue
		}
		seen[key] = true
		j := expect(x, "members as RFC 9457 defines them").failed("a problem document is not what it should be: "+fault, fault)
		if small {
			j.Outcome, j.Hint = Warn, "leave members without a value out (Jackson: @JsonInclude(NON_NULL))"
		}
		parts = append(parts, j)
	}
	switch {
	case read == 0:
		return Missing("the node uses no application/problem+json")
	case len(parts) == 0:
		return Passed()
	}
	return gather(parts...)
}

// problemFault says what is wrong with a problem document that came with a status; empty for nothing. It is small when members that
// have no value are null: consumers ignore those.
func problemFault(text []byte, status int) (fault string, small bool) {
	if kind := textType(text); kind != "object" {
		return "it is one " + kind, false
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
			return fmt.Sprintf("%s is one %s, not one %s", m.name, kind, m.kind), false
		}
	}
	if value, has := members["status"]; has && textType(value) == "number" {
		if n, err := strconv.ParseFloat(strings.TrimSpace(string(value)), 64); err != nil || n != float64(status) {
			return clip(fmt.Sprintf("status is %s, and the answer's is %d", bytes.TrimSpace(value), status)), false
		}
	}
	for _, name := range []string{"type", "instance"} {
		var text string
		if json.Unmarshal(members[name], &text) == nil && !uriReference(text) {
			return name + " is not a URI reference: " + quote(text), false
		}
	}
	return fault, small
}

// uriReference reports a text that can stand for a URI or a relative reference (RFC 3986 §4.1). Brackets in a query are forgiven.
func uriReference(text string) bool {
	_, err := url.Parse(text)
	return err == nil && !strings.ContainsAny(text, " <>\"{}|\\^`")
}
