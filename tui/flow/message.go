package flow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
)

// LineKind is the role of a line in a message.
type LineKind int

const (
	StartLine  LineKind = iota // request line or status line
	HeaderLine                 // a header field
	BlankLine                  // between header and body
	BodyLine
	NoteLine // a remark by rin
)

// Line is one line of a message, safe to print on a terminal.
type Line struct {
	Kind LineKind
	Text string
}

// MaskFunc replaces the markers of secrets in a text, by their names or by their values.
type MaskFunc func(text string) string

// RequestLines formats a request.
func RequestLines(x evidence.Exchange, show MaskFunc) []Line {
	lines := RequestHead(x, show)
	if len(x.Request.Body) > 0 {
		lines = append(lines, Line{Kind: BlankLine})
		lines = append(lines, bodyLines(x.Request.Body, false, show)...)
	}
	return lines
}

// RequestHead formats a request line and its header.
func RequestHead(x evidence.Exchange, show MaskFunc) []Line {
	request := x.Request
	target, host := request.URL, ""
	if u, err := url.Parse(request.URL); err == nil && u.Host != "" {
		target, host = u.RequestURI(), u.Host
	}
	if at := strings.Index(request.URL, "://"); at >= 0 && host != "" { // keep the spelling of the path
		if path := strings.IndexAny(request.URL[at+3:], "/?"); path >= 0 {
			target = request.URL[at+3+path:]
		}
	}
	lines := []Line{{StartLine, report.Plain(request.Method + " " + show(target) + " HTTP/1.1")}, {HeaderLine, report.Plain("Host: " + host)}}
	return append(lines, headerLines(request.Header, show)...)
}

// ResponseLines formats a response, or the reason why no response came. A JSON body is indented.
func ResponseLines(x evidence.Exchange, show MaskFunc) []Line {
	lines := ResponseHead(x, show)
	if x.Response == nil {
		return lines
	}
	lines = append(lines, Line{Kind: BlankLine})
	lines = append(lines, bodyLines(x.Response.Body, true, show)...)
	return append(lines, NoteLines(x)...)
}

// ResponseHead formats a status line and its header, or the reason why there is no response.
func ResponseHead(x evidence.Exchange, show MaskFunc) []Line {
	var lines []Line
	for _, hop := range x.Redirects {
		lines = append(lines, Line{NoteLine, report.Plain(fmt.Sprintf("redirected with status %d to %s", hop.Status, hop.Location))})
	}
	if x.Response == nil {
		cause := "no answer"
		if x.Failure != nil {
			cause = x.Failure.Message
		}
		return append(lines, Line{NoteLine, report.Plain(cause)})
	}
	a := x.Response
	lines = append(lines, Line{StartLine, report.Plain(fmt.Sprintf("%s %d %s", a.Proto, a.Status, http.StatusText(a.Status)))})
	return append(lines, headerLines(a.Header, show)...)
}

// NoteLines returns a remark if the body of a response is empty or incomplete.
func NoteLines(x evidence.Exchange) []Line {
	a := x.Response
	if a == nil {
		return nil
	}
	var lines []Line
	if len(a.Body) == 0 {
		lines = append(lines, Line{NoteLine, "(empty body)"})
	}
	if a.Truncated {
		lines = append(lines, Line{NoteLine, fmt.Sprintf("(truncated: the body is longer than %d bytes)", a.Size)})
	}
	if a.BodyError != "" {
		lines = append(lines, Line{NoteLine, report.Plain("(" + a.BodyError + ")")})
	}
	return lines
}

func headerLines(header []evidence.Field, show MaskFunc) []Line {
	out := make([]Line, 0, len(header))
	for _, f := range header {
		out = append(out, Line{HeaderLine, report.Plain(f.Name + ": " + show(f.Value))})
	}
	return out
}

func bodyLines(body []byte, pretty bool, show MaskFunc) []Line {
	text := string(body)
	if pretty {
		var indented bytes.Buffer
		if json.Indent(&indented, body, "", "  ") == nil {
			text = indented.String()
		}
	}
	var out []Line
	for line := range strings.Lines(report.PlainLines(show(text))) {
		out = append(out, Line{BodyLine, strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "    ")})
	}
	return out
}

// RevealSecrets replaces the markers in a request by the secrets. The result must not be stored.
func RevealSecrets(x evidence.Exchange, reveal func(text string) string) evidence.Exchange {
	request := &x.Request
	request.URL = reveal(request.URL)
	request.Body = evidence.Body(reveal(string(request.Body)))
	request.Header = slices.Clone(request.Header)
	for i := range request.Header {
		request.Header[i].Value = reveal(request.Header[i].Value)
	}
	return x
}
