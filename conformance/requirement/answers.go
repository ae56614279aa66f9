package requirement

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// labels makes the labels of several cases of a resource or role.
func labels(r evidence.Resource, cases ...evidence.Case) []evidence.Label {
	out := make([]evidence.Label, 0, len(cases))
	for _, c := range cases {
		out = append(out, r.With(c))
	}
	return out
}

// labelsOf makes the labels of the same cases of several resources or roles.
func labelsOf(resources []evidence.Resource, cases ...evidence.Case) []evidence.Label {
	var out []evidence.Label
	for _, r := range resources {
		out = append(out, labels(r, cases...)...)
	}
	return out
}

// atToken makes the labels of cases at the token endpoint.
func atToken(cases ...evidence.Case) []evidence.Label {
	return labels(evidence.TokenEndpoint, cases...)
}

// onTarget makes the labels of cases on the probe target.
func onTarget(cases ...evidence.Case) []evidence.Label { return labels(evidence.ProbeTarget, cases...) }

// success reports whether the answer is 2xx.
func success(x evidence.Exchange) bool { return x.Status() >= 200 && x.Status() <= 299 }

// redirected reports whether the answer is a 3xx that was not followed.
func redirected(x evidence.Exchange) bool { return x.Status() >= 300 && x.Status() <= 399 }

// clientError reports whether the node, or a gateway, answered 4xx.
func clientError(x evidence.Exchange) bool { return x.Status() >= 400 && x.Status() <= 499 }

// serverError reports whether the answer is a 5xx, but not the block page of a gateway or a refusal because of load.
func serverError(x evidence.Exchange) bool {
	return x.Status() >= 500 && x.Status() <= 599 && !wafPage(x) && !rateLimited(x)
}

// rateLimited reports whether the node refuses because of its load: 429 (RFC 6585 §4), or 503 with Retry-After (RFC 9110 §15.6.4), whatever the body.
func rateLimited(x evidence.Exchange) bool {
	return x.Status() == 429 || x.Status() == 503 && len(header(x, "Retry-After")) > 0
}

// refusedByNode reports whether the node itself answered 4xx: neither a rate limit nor a block page. Only the positive control shows whether the
// refusal proves anything.
func refusedByNode(x evidence.Exchange) bool { return clientError(x) && !rateLimited(x) && !wafPage(x) }

// wafPage reports whether the answer is an HTML page with 403, 406, 429 or 503, which firewalls and gateways send in place of the node. A
// challenge, or the error page of an application framework, shows that the node itself answered.
func wafPage(x evidence.Exchange) bool {
	switch x.Status() {
	case 403, 406, 429, 503:
	default:
		return false
	}
	if !isHTML(x) || len(header(x, "WWW-Authenticate")) > 0 {
		return false
	}
	// The error pages of Spring Boot, Tomcat, Jetty and Oracle REST Data Services.
	return !bodyHas(x, "Whitelabel Error Page", "<title>HTTP Status ", "<h2>HTTP ERROR ", "ORDS")
}

// bodyHas reports whether a body contains one of the texts.
func bodyHas(x evidence.Exchange, texts ...string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return bytes.Contains(x.Response.Body, []byte(text)) })
}

// isHTML reports whether the answer is HTML, by its media type or, without one, by its first bytes.
func isHTML(x evidence.Exchange) bool {
	if x.Response == nil {
		return false
	}
	if m := mediaType(x); m != "" {
		return m == "text/html" || m == "application/xhtml+xml"
	}
	start := bytes.ToLower(bytes.TrimSpace(x.Response.Body[:min(len(x.Response.Body), 256)]))
	return bytes.HasPrefix(start, []byte("<!doctype html")) || bytes.HasPrefix(start, []byte("<html"))
}

// inconclusiveAnswer returns the judgement of an answer that shows nothing about the node: no answer, a rate limit, a block page, a 5xx. Checks that
// judge a 5xx do so before they call it.
func inconclusiveAnswer(x evidence.Exchange) (j Judgement, unclear bool) {
	switch {
	case x.Failure != nil:
		return Unclear(fmt.Sprintf("no answer: %s", clip(x.Failure.Message))).Seen(x.Label), true
	case x.Response == nil:
		return Unclear("the recording has no answer").Blaming(Suite).Seen(x.Label), true
	case rateLimited(x):
		limit := "429"
		if x.Status() == 503 {
			limit = "503 with Retry-After"
		}
		return Unclear(fmt.Sprintf("the node limits the rate of requests (%s)", limit)).
			Hinting("lower --rate, or raise the limit that answers " + limit + " to this client, then repeat the run").Seen(x.Label), true
	case wafPage(x):
		return Unclear(fmt.Sprintf("something in front of the node, such as a firewall, answered with a %d page", x.Status())).
			Hinting("let the address of the test machine pass the firewall or gateway, then repeat the run").Seen(x.Label), true
	case serverError(x):
		suffix := ""
		if x.Attempts > 1 {
			suffix = ", also when asked again"
		}
		return Unclear(fmt.Sprintf("the node answered %s%s", clip(x.StatusText()), suffix)).
			Hinting("look into the log of " + answeringOrigin(x) + " for the cause, then repeat the run").Blaming(Node).Seen(x.Label), true
	}
	return Judgement{}, false
}

// answeringOrigin names who answered, for a hint: the origin of the URL, or the node.
func answeringOrigin(x evidence.Exchange) string {
	if origin := evidence.OriginOf(x.Request.URL); origin != "" {
		return clip(origin)
	}
	return "the node"
}

// header returns the values of a header of the final answer, one for each line.
func header(x evidence.Exchange, name string) []string {
	if x.Response == nil {
		return nil
	}
	return evidence.Values(x.Response.Header, name)
}

// headerText returns the lines of a header for [Judgement.Got], or says that the header is missing.
func headerText(x evidence.Exchange, name string) string {
	values := header(x, name)
	if len(values) == 0 {
		return "no " + name
	}
	return clip(name + ": " + strings.Join(values, ", "))
}

// mediaType returns the media type in lower case without parameters, or "" if it is missing or cannot be read. Like clients, it ignores faulty
// parameters.
func mediaType(x evidence.Exchange) string {
	values := header(x, "Content-Type")
	if len(values) == 0 {
		return ""
	}
	return evidence.MediaType(values[0])
}

// jsonMedia reports whether a media type is application/json or is built on it (RFC 6839 §3.1).
func jsonMedia(media string) bool {
	return media == "application/json" || strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")
}

// cacheDirectives returns the directives of all Cache-Control lines by lower-case name (RFC 9111 §5.2).
func cacheDirectives(x evidence.Exchange) map[string]string {
	out := map[string]string{}
	for _, part := range splitList(strings.Join(header(x, "Cache-Control"), ",")) {
		name, value, _ := strings.Cut(part, "=")
		out[strings.ToLower(strings.TrimSpace(name))] = strings.Trim(strings.TrimSpace(value), `"`)
	}
	return out
}

// splitList splits at commas outside of quoted strings and drops empty members (RFC 9110 §5.6.1).
func splitList(s string) []string {
	var out []string
	quoted, escaped := false, false
	for _, part := range strings.FieldsFunc(s, func(r rune) bool {
		switch {
		case escaped:
			escaped = false
		case quoted && r == '\\':
			escaped = true
		case r == '"':
			quoted = !quoted
		case r == ',' && !quoted:
			return true
		}
		return false
	}) {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// maxValues bounds the values of an answer that is decoded as a whole, because a decoded value takes many times the memory of its text. Lists may be longer:
// they are read item by item.
const maxValues = 100_000

// jsonValue reads the whole body as one JSON value. Numbers stay [json.Number]; a byte order mark is skipped.
func jsonValue(x evidence.Exchange) (any, error) {
	body, err := jsonText(x)
	if err != nil {
		return nil, err
	}
	if bytes.Count(body, []byte(",")) > maxValues || bytes.Count(body, []byte("[")) > maxValues || bytes.Count(body, []byte("{")) > maxValues {
		return nil, fmt.Errorf("the body holds more than %d values, which is too much to look at", maxValues)
	}
	var v any
	if err := evidence.DecodeJSON(body, &v); err != nil {
		return nil, fmt.Errorf("the body is not JSON: %w", err)
	}
	return v, nil
}

// jsonText returns the body without a byte order mark, if it is one JSON value.
func jsonText(x evidence.Exchange) ([]byte, error) {
	switch {
	case x.Response == nil:
		return nil, errors.New("no answer")
	case x.Response.Truncated:
		return nil, fmt.Errorf("the body is longer than the %d bytes that were read", x.Response.Size)
	case len(x.Response.Body) == 0 && x.Response.BodyError != "":
		return nil, errors.New(x.Response.BodyError)
	case len(x.Response.Body) == 0:
		return nil, errors.New("the body is empty")
	}
	body := bytes.TrimPrefix(x.Response.Body, byteOrderMark())
	if json.Valid(body) {
		return body, nil
	}
	d := json.NewDecoder(bytes.NewReader(body))
	var first json.RawMessage
	if err := d.Decode(&first); err != nil {
		return nil, fmt.Errorf("the body is not JSON: %w", err)
	}
	return nil, errors.New("the body goes on after its JSON value")
}

func byteOrderMark() []byte { return []byte("\uFEFF") }

// jsonObject reads the body as a JSON object.
func jsonObject(x evidence.Exchange) (map[string]any, bool) {
	v, err := jsonValue(x)
	if err != nil {
		return nil, false
	}
	o, ok := v.(map[string]any)
	return o, ok
}

// textType names the JSON type of an encoded value.
func textType(text []byte) string {
	switch openapi.FirstByte(text) {
	case 0:
		return "nothing"
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

// describe returns a short description of an answer for [Judgement.Got]: "401 application/json", "302 to https://…", "no answer (timeout)".
func describe(x evidence.Exchange) string {
	switch {
	case x.Failure != nil:
		return fmt.Sprintf("no answer (%s)", x.Failure.Kind)
	case x.Response == nil:
		return "no answer"
	case redirected(x) && len(header(x, "Location")) > 0:
		return clip(fmt.Sprintf("%d to %s", x.Status(), header(x, "Location")[0]))
	case mediaType(x) != "":
		return clip(x.StatusText() + " " + mediaType(x))
	case len(x.Response.Body) == 0:
		return clip(x.StatusText() + " without a body")
	}
	return clip(x.StatusText() + " without a media type")
}

// clip shortens a text of the node for a [Judgement]. It is not inlined, because its many calls would make the program larger.
//
//go:noinline
func clip(s string) string { return evidence.Clip(s, 160) }

// quote shortens a text of the node and puts it in quotation marks.
func quote(s string) string { return strconv.Quote(clip(s)) }

// resolve resolves a reference against a URL (RFC 3986 §5). It returns "" if one of them cannot be parsed.
func resolve(base, reference string) string {
	b, err := url.Parse(base)
	if err != nil {
		return ""
	}
	u, err := b.Parse(reference)
	if err != nil {
		return ""
	}
	return u.String()
}

// itemsOf reads the items of a list answer, up to the read limit.
func itemsOf(x evidence.Exchange) ([][]byte, error) {
	if x.Response != nil && x.Response.Truncated {
		if list, ok := openapi.ReadList(x.Response.Body); ok && len(list.Items) > 0 {
			return list.Items, nil
		}
	}
	return itemsIn(jsonText(x))
}

// itemsIn reads the items of a list from the result of [jsonText].
func itemsIn(text []byte, err error) ([][]byte, error) {
	if err != nil {
		return nil, err
	}
	list, ok := openapi.ReadValidList(text)
	if !ok {
		return nil, fmt.Errorf("the answer is not a list: it has the type %s", textType(text))
	}
	return list.Items, nil
}

// containsFold reports whether a value is among the values. It ignores the case of letters.
func containsFold(values []string, want string) bool {
	return slices.ContainsFunc(values, func(v string) bool { return strings.EqualFold(v, want) })
}

// nodeTime returns the node's own time when it answered: its Date, or else the time of the test machine, which is not exact.
func nodeTime(x evidence.Exchange) (at time.Time, exact bool) {
	if dates := header(x, "Date"); len(dates) == 1 {
		if at, form := evidence.HTTPDate(dates[0]); form != evidence.NoDate {
			return at, true
		}
	}
	return x.Started, false
}

// answeredAt returns the time of [nodeTime], exact or not.
func answeredAt(x evidence.Exchange) time.Time {
	at, _ := nodeTime(x)
	return at
}
