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
	"unicode/utf8"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file is the vocabulary of the checks: what an answer is, in words that the rows of the catalogue use.

// success is a 2xx answer.
func success(x evidence.Exchange) bool { return x.Status() >= 200 && x.Status() <= 299 }

// redirected is a 3xx as final answer: one that was not followed.
func redirected(x evidence.Exchange) bool { return x.Status() >= 300 && x.Status() <= 399 }

// clientError is any 4xx, whoever sent it.
func clientError(x evidence.Exchange) bool { return x.Status() >= 400 && x.Status() <= 499 }

// serverError is any 5xx that is no block page of something in front of the node.
func serverError(x evidence.Exchange) bool {
	return x.Status() >= 500 && x.Status() <= 599 && !wafPage(x)
}

// rateLimited is 429 (RFC 6585 §4), however the body looks.
func rateLimited(x evidence.Exchange) bool { return x.Status() == 429 }

// refused is a 4xx by the node itself: neither a rate limit nor a block page. Whether it proves anything is up to the
// positive control.
func refused(x evidence.Exchange) bool { return clientError(x) && !rateLimited(x) && !wafPage(x) }

// wafPage is an HTML page with 403, 406, 429 or 503, as web application firewalls and gateways send it in place of the node.
// A challenge, or the error page of an application framework, shows that the node itself has answered.
func wafPage(x evidence.Exchange) bool {
	switch x.Status() {
	case 403, 406, 429, 503:
	default:
		return false
	}
	if !html(x) || len(header(x, "WWW-Authenticate")) > 0 {
		return false
	}
	for _, own := range []string{"Whitelabel Error Page", "<title>HTTP Status ", "<h2>HTTP ERROR ", "ORDS"} {
		if bytes.Contains(x.Response.Body, []byte(own)) {
			return false // Spring Boot, Tomcat, Jetty, Oracle REST Data Services
		}
	}
	return true
}

// html is an answer with HTML, by its media type or, without one, by its first bytes.
func html(x evidence.Exchange) bool {
	if x.Response == nil {
		return false
	}
	if m := mediaType(x); m != "" {
		return m == "text/html" || m == "application/xhtml+xml"
	}
	start := bytes.ToLower(bytes.TrimSpace(x.Response.Body[:min(len(x.Response.Body), 256)]))
	return bytes.HasPrefix(start, []byte("<!doctype html")) || bytes.HasPrefix(start, []byte("<html"))
}

// unclearIfNoVerdict is the judgement of an answer that says nothing about the node: none at all, a rate limit, a block page, a 5xx.
// Rows that do judge a 5xx look at it before they ask this.
func unclearIfNoVerdict(x evidence.Exchange) (Judgement, bool) {
	switch {
	case x.Failure != nil:
		return Unclear(fmt.Sprintf("no answer: %s", clip(x.Failure.Message))).Seen(x.Label), true
	case x.Response == nil:
		return Unclear("the recording holds no answer").Blaming(Suite).Seen(x.Label), true
	case wafPage(x):
		return Unclear(fmt.Sprintf("something in front of the node, such as a firewall, answered with a %d page", x.Status())).
			Hinting("let the address of the test machine pass the firewall or gateway, then repeat the run").Seen(x.Label), true
	case rateLimited(x):
		return Unclear("the node limits the rate of requests (429)").
			Hinting("lower --rate or raise the limit for this client, then repeat the run").Seen(x.Label), true
	case serverError(x):
		again := ""
		if x.Attempts > 1 {
			again = ", also when asked again"
		}
		return Unclear(fmt.Sprintf("the node answered %d%s", x.Status(), again)).
			Hinting("look into the node's log for the cause, then repeat the run").Blaming(Node).Seen(x.Label), true
	}
	return Judgement{}, false
}

// header lists the values of a header of the final answer, one for each line.
func header(x evidence.Exchange, name string) []string {
	if x.Response == nil {
		return nil
	}
	return evidence.Values(x.Response.Header, name)
}

// headerText is what Got says of a header: its lines joined, or that there is none.
func headerText(x evidence.Exchange, name string) string {
	values := header(x, name)
	if len(values) == 0 {
		return "no " + name
	}
	return clip(name + ": " + strings.Join(values, ", "))
}

// mediaType is the media type without parameters in lower case; empty when there is none or it cannot be read. Faulty parameters
// are forgiven, as clients do.
func mediaType(x evidence.Exchange) string {
	values := header(x, "Content-Type")
	if len(values) == 0 {
		return ""
	}
	media, _, err := evidence.MediaType(values[0])
	if err != nil && media == "" {
		return ""
	}
	return media
}

// jsonMedia is application/json or a media type built on it (RFC 6839 §3.1).
func jsonMedia(media string) bool {
	return media == "application/json" || strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json")
}

// cacheDirectives lists the directives of all Cache-Control lines by lower-case name (RFC 9111 §5.2); a directive without
// an argument has an empty value.
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

// maxValues bounds the values of an answer that is decoded as a whole: each costs many times its bytes. Lists, which may be longer,
// are read item by item.
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
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("the body is not JSON: %w", err)
	}
	return v, nil
}

// jsonText is the whole body if it is one JSON value, without a byte order mark.
func jsonText(x evidence.Exchange) ([]byte, error) {
	switch {
	case x.Response == nil:
		return nil, fmt.Errorf("no answer")
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
	return nil, fmt.Errorf("the body goes on after its JSON value")
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

// textType names the JSON type of a value by its text.
func textType(text []byte) string {
	text = bytes.TrimLeft(text, " \t\r\n")
	if len(text) == 0 {
		return "nothing"
	}
	switch text[0] {
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

// jsonType names the JSON type of a decoded value.
func jsonType(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number, float64:
		return "number"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "nothing"
}

// describe is a short text of an answer for Got: "401 application/json", "302 to https://…", "no answer (timeout)".
func describe(x evidence.Exchange) string {
	switch {
	case x.Failure != nil:
		return fmt.Sprintf("no answer (%s)", x.Failure.Kind)
	case x.Response == nil:
		return "no answer"
	case redirected(x) && len(header(x, "Location")) > 0:
		return clip(fmt.Sprintf("%d to %s", x.Status(), header(x, "Location")[0]))
	case mediaType(x) != "":
		return clip(fmt.Sprintf("%d %s", x.Status(), mediaType(x)))
	case len(x.Response.Body) == 0:
		return fmt.Sprintf("%d without a body", x.Status())
	}
	return fmt.Sprintf("%d without a media type", x.Status())
}

// clip bounds a text of the node for reasons and Got; the middle of longer ones is of no use to a reader.
func clip(s string) string {
	const most = 160
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}

// quote shows a text of the node inside a sentence.
func quote(s string) string { return strconv.Quote(clip(s)) }

// origin is scheme, host and port of a URL in lower case, with the port spelled out; empty when it is no absolute URL.
func origin(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return ""
	}
	scheme, port := strings.ToLower(u.Scheme), u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[scheme]
	}
	return scheme + "://" + strings.ToLower(u.Hostname()) + ":" + port
}

// itemsOf reads the items of a list answer; of a list that was cut off at the read limit, those before the cut.
func itemsOf(x evidence.Exchange) ([][]byte, error) {
	if x.Response != nil && x.Response.Truncated {
		if list, ok := openapi.ReadList(x.Response.Body); ok && len(list.Items) > 0 {
			return list.Items, nil
		}
	}
	return itemsIn(jsonText(x))
}

// itemsIn reads the items of a list from what was read as JSON.
func itemsIn(text []byte, err error) ([][]byte, error) {
	if err != nil {
		return nil, err
	}
	list, ok := openapi.ListIn(text)
	if !ok {
		return nil, fmt.Errorf("the answer is not a list but one %s", textType(text))
	}
	return list.Items, nil
}

// holds reports whether one of the values is the wanted one; vocabularies are compared without case.
func holds(values []string, want string) bool {
	return slices.ContainsFunc(values, func(v string) bool { return strings.EqualFold(v, want) })
}

// nodeTime is the node's own time when it answered (T6): its Date, else the time of the test machine, of which exact is false.
func nodeTime(x evidence.Exchange) (at time.Time, exact bool) {
	if dates := header(x, "Date"); len(dates) == 1 {
		if at, form := evidence.HTTPDate(dates[0]); form != evidence.NoDate {
			return at, true
		}
	}
	return x.Started, false
}

// answeredAt is that time, exact or not.
func answeredAt(x evidence.Exchange) time.Time {
	at, _ := nodeTime(x)
	return at
}
