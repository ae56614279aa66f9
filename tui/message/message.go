// Package message is the text of a request and of a response as a person reads them: as they went over the wire, secrets masked or
// revealed, and harmless on a terminal whatever a node wrote.
package message

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/report"
)

// Kind says what a line is, for whoever gives lines colours.
type Kind int

// The kinds of lines.
const (
	Start  Kind = iota // request line or status line
	Header             // one field
	Blank              // between head and content
	Body               // content
	Note               // a word of rin's own
)

// Line is one line of a message. Its text is plain: it holds no control characters.
type Line struct {
	Kind Kind
	Text string
}

// Show says how a text with markers is shown: [exchange.Masked], or a walk's Reveal.
type Show func(text string) string

// Request is what was sent.
func Request(x exchange.Exchange, show Show) []Line {
	lines := RequestHead(x, show)
	if len(x.Request.Body) > 0 {
		lines = append(lines, Line{Kind: Blank})
		lines = append(lines, content(x.Request.Body, false, show)...)
	}
	return lines
}

// RequestHead is a request without its content.
func RequestHead(x exchange.Exchange, show Show) []Line {
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
	lines := []Line{{Start, report.Plain(q.Method + " " + show(target) + " HTTP/1.1")}, {Header, report.Plain("Host: " + host)}}
	return append(lines, fields(q.Header, show)...)
}

// Response is what came back, or why nothing did.
func Response(x exchange.Exchange, show Show) []Line {
	lines := ResponseHead(x, show)
	if x.Response == nil {
		return lines
	}
	lines = append(lines, Line{Kind: Blank})
	lines = append(lines, content(x.Response.Body, true, show)...)
	return append(lines, Notes(x)...)
}

// ResponseHead is a response without its content, or why there is none.
func ResponseHead(x exchange.Exchange, show Show) []Line {
	var lines []Line
	for _, hop := range x.Redirects {
		lines = append(lines, Line{Note, report.Plain(fmt.Sprintf("redirected with status %d to %s", hop.Status, hop.Location))})
	}
	if x.Response == nil {
		cause := "no answer"
		if x.Failure != nil {
			cause = x.Failure.Message
		}
		return append(lines, Line{Note, report.Plain(cause)})
	}
	a := x.Response
	lines = append(lines, Line{Start, report.Plain(fmt.Sprintf("%s %d %s", a.Proto, a.Status, http.StatusText(a.Status)))})
	return append(lines, fields(a.Header, show)...)
}

// Notes are words of rin's own on the content of a response: that there is none, or not all of it.
func Notes(x exchange.Exchange) []Line {
	a := x.Response
	if a == nil {
		return nil
	}
	var lines []Line
	if len(a.Body) == 0 {
		lines = append(lines, Line{Note, "(no content)"})
	}
	if a.Truncated {
		lines = append(lines, Line{Note, fmt.Sprintf("(cut: the content is longer than %d bytes)", a.Size)})
	}
	if a.BodyError != "" {
		lines = append(lines, Line{Note, report.Plain("(" + a.BodyError + ")")})
	}
	return lines
}

func fields(header []exchange.Field, show Show) []Line {
	out := make([]Line, 0, len(header))
	for _, f := range header {
		out = append(out, Line{Header, report.Plain(f.Name + ": " + show(f.Value))})
	}
	return out
}

// content is a body in lines; JSON is indented.
func content(body []byte, pretty bool, show Show) []Line {
	text := string(body)
	if pretty {
		var indented bytes.Buffer
		if json.Indent(&indented, body, "", "  ") == nil {
			text = indented.String()
		}
	}
	var out []Line
	for line := range strings.Lines(report.PlainLines(show(text))) {
		out = append(out, Line{Body, strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "\t", "    ")})
	}
	return out
}
