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

// LineKind says what a line is, for whoever gives lines colours.
type LineKind int

// The kinds of lines.
const (
	StartLine  LineKind = iota // request line or status line
	HeaderLine                 // one field
	BlankLine                  // between head and content
	BodyLine                   // bodyLines
	NoteLine                   // a word of rin's own
)

// Line is one line of a message. Its text is plain: it holds no control characters.
type Line struct {
	Kind LineKind
	Text string
}

// MaskFunc says how a text with markers is shown: [redact.Mask], or a walk's Reveal.
type MaskFunc func(text string) string

// RequestLines is what was sent.
func RequestLines(x evidence.Exchange, show MaskFunc) []Line {
	lines := RequestHead(x, show)
	if len(x.Request.Body) > 0 {
		lines = append(lines, Line{Kind: BlankLine})
		lines = append(lines, bodyLines(x.Request.Body, false, show)...)
	}
	return lines
}

// RequestHead is a request without its content.
func RequestHead(x evidence.Exchange, show MaskFunc) []Line {
	q := x.Request
	target, host := q.URL, ""
	if u, err := url.Parse(q.URL); err == nil && u.Host != "" {
		target, host = u.RequestURI(), u.Host
	}
	if at := strings.Index(q.URL, "://"); at >= 0 && host != "" { // as it is spelled, brackets and all
		if path := strings.IndexAny(q.URL[at+3:], "/?"); path >= 0 {
			target = q.URL[at+3+path:]
		}
	}
	lines := []Line{{StartLine, report.Plain(q.Method + " " + show(target) + " HTTP/1.1")}, {HeaderLine, report.Plain("Host: " + host)}}
	return append(lines, headerLines(q.Header, show)...)
}

// ResponseLines is what came back, or why nothing did.
func ResponseLines(x evidence.Exchange, show MaskFunc) []Line {
	lines := ResponseHead(x, show)
	if x.Response == nil {
		return lines
	}
	lines = append(lines, Line{Kind: BlankLine})
	lines = append(lines, bodyLines(x.Response.Body, true, show)...)
	return append(lines, NoteLines(x)...)
}

// ResponseHead is a response without its content, or why there is none.
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

// NoteLines are words of rin's own on the content of a response: that there is none, or not all of it.
func NoteLines(x evidence.Exchange) []Line {
	a := x.Response
	if a == nil {
		return nil
	}
	var lines []Line
	if len(a.Body) == 0 {
		lines = append(lines, Line{NoteLine, "(no content)"})
	}
	if a.Truncated {
		lines = append(lines, Line{NoteLine, fmt.Sprintf("(cut: the content is longer than %d bytes)", a.Size)})
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

// bodyLines is a body in lines; JSON is indented.
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

// RevealSecrets is an exchange with the values of secrets in its request. It is for the person who knows them anyway, and never kept.
func RevealSecrets(x evidence.Exchange, reveal func(text string) string) evidence.Exchange {
	q := &x.Request
	q.URL = reveal(q.URL)
	q.Body = evidence.Body(reveal(string(q.Body)))
	q.Header = slices.Clone(q.Header)
	for i := range q.Header {
		q.Header[i].Value = reveal(q.Header[i].Value)
	}
	return x
}
