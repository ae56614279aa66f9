package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/requirement"
)

// Limits of the page. The evidence has everything.
const (
	citedBody    = 16 << 10 // bytes of a body behind a finding
	otherBody    = 4 << 10  // bytes of any other body
	pageBodies   = 1 << 20  // bytes of all bodies and headers together
	headerLines  = 60       // of one message
	headerValue  = 1000     // bytes
	maxExchanges = 2000     // on one page
)

// exchangeView is one exchange on the page.
type exchangeView struct {
	Label   evidence.Label
	Anchor  string
	Method  string
	URL     string
	Status  string // "200", or "no answer"
	Class   string // "ok", "refused" or "broken", for the style
	Took    string
	Given   []evidence.Field
	Sent    message
	Hops    []hopView
	Answer  *message
	Failure string
	// CitedBy lists the requirements that need attention because of the exchange.
	CitedBy []requirement.ID
}

type hopView struct {
	Status        int
	URL, Location string
}

// message is a request or an answer.
type message struct {
	Line   string
	Header []evidence.Field // already plain, because most lines of the page are header lines
	Body   string
	Note   string // says what was left out, and why
}

// exchangeViews returns the first [maxExchanges] exchanges in the order of the run. Cited exchanges take their room on the page first.
func exchangeViews(r Report, log *evidence.Log) []exchangeView {
	cited := citations(r)
	room := pageBodies
	list := log.Exchanges[:min(len(log.Exchanges), maxExchanges)]
	out := make([]exchangeView, len(list))
	for _, isCited := range []bool{true, false} {
		for i, x := range list {
			if citedBy := cited[x.Label]; (len(citedBy) > 0) == isCited {
				out[i] = exchangeOf(x, citedBy, &room)
				out[i].Anchor = fmt.Sprintf("exchange-%d", i+1)
			}
		}
	}
	return out
}

// citations maps exchanges to the requirements that need attention because of them.
func citations(r Report) map[evidence.Label][]requirement.ID {
	out := map[evidence.Label][]requirement.ID{}
	for _, q := range r.Requirements {
		if !needsAttention(q.Outcome) {
			continue
		}
		seen := map[evidence.Label]bool{}
		for _, s := range q.Subjects {
			if s.Label != "" && !seen[s.Label] {
				seen[s.Label] = true
				out[s.Label] = append(out[s.Label], q.ID)
			}
		}
	}
	return out
}

// exchangeOf converts one exchange that the requirements in citedBy cite; room is what is left of [pageBodies].
func exchangeOf(x evidence.Exchange, citedBy []requirement.ID, room *int) exchangeView {
	limit := otherBody
	if len(citedBy) > 0 {
		limit = citedBody
	}
	v := exchangeView{
		Label: x.Label, Method: x.Request.Method, URL: x.Request.URL, CitedBy: citedBy,
		Took: x.Duration.Round(time.Millisecond / 10).String(),
		Sent: message{Line: x.Request.Method + " " + cut(x.Request.URL, headerValue)},
	}
	if x.Attempts > 1 {
		v.Took += fmt.Sprintf(", attempt %d", x.Attempts)
	}
	for _, name := range slices.Sorted(maps.Keys(x.Given)) {
		v.Given = append(v.Given, evidence.Field{Name: name, Value: x.Given[name]})
	}
	v.Sent.fill(x.Request.Header, x.Request.Body, limit, room)
	for _, h := range x.Redirects {
		v.Hops = append(v.Hops, hopView{h.Status, cut(h.URL, headerValue), cut(h.Location, headerValue)})
	}
	if x.Failure != nil {
		v.Status, v.Class = "no answer", "broken"
		v.Failure = string(x.Failure.Kind) + ": " + x.Failure.Message
	}
	if a := x.Response; a != nil {
		v.Status, v.Class = fmt.Sprint(a.Status), class(a.Status)
		v.Answer = &message{Line: fmt.Sprintf("%s %d", cmp.Or(a.Proto, "HTTP"), a.Status)}
		v.Answer.fill(a.Header, a.Body, limit, room)
		if a.Truncated {
			v.Answer.note(fmt.Sprintf("rin stopped reading after %d bytes", a.Size))
		}
		if a.BodyError != "" {
			v.Answer.note("the body could not be read: " + a.BodyError)
		}
	}
	return v
}

// class returns the style class of a status.
func class(status int) string {
	switch {
	case status >= 200 && status < 300:
		return "ok"
	case status >= 500:
		return "broken"
	}
	return "refused"
}

// fill adds header and body as long as the page has room.
func (m *message) fill(header []evidence.Field, body evidence.Body, limit int, room *int) {
	for i, f := range header {
		if i == headerLines || *room <= 0 {
			m.note(evidence.Count(len(header)-i, "header line") + " left out")
			break
		}
		f.Name, f.Value = cut(f.Name, headerValue), cut(f.Value, headerValue)
		m.Header = append(m.Header, evidence.Field{Name: Plain(f.Name), Value: Plain(f.Value)})
		*room -= len(f.Name) + len(f.Value)
	}
	if len(body) == 0 {
		return
	}
	if limit = min(limit, *room); limit <= 0 {
		m.note(fmt.Sprintf("body of %d bytes left out: this page is full", len(body)))
		return
	}
	text, complete := pretty(body, limit)
	m.Body = PlainLines(text)
	*room -= len(text)
	if !complete {
		m.note(fmt.Sprintf("only the beginning of a body of %d bytes", len(body)))
	}
}

func (m *message) note(s string) {
	m.Note = strings.TrimPrefix(m.Note+"; "+s, "; ")
}

// handshakeViews shows TLS handshakes as exchanges: what was offered, and what the server chose and presented.
func handshakeViews(r Report, log *evidence.Log) []exchangeView {
	cited := citations(r)
	var out []exchangeView
	for i, h := range log.Handshakes {
		v := handshakeOf(h, cited[h.Label])
		v.Anchor = fmt.Sprintf("handshake-%d", i+1)
		out = append(out, v)
	}
	return out
}

func handshakeOf(h evidence.Handshake, citedBy []requirement.ID) exchangeView {
	v := exchangeView{
		Label: h.Label, Method: "TLS", URL: h.Address, CitedBy: citedBy, Status: "refused", Class: "refused",
		Took: h.Duration.Round(time.Millisecond / 10).String(),
		Sent: message{Line: fmt.Sprintf("handshake for %s, offering %s", h.ServerName, strings.Join(h.Offered, ", "))},
	}
	if h.Attempts > 1 {
		v.Took += fmt.Sprintf(", attempt %d", h.Attempts)
	}
	if h.Failure != nil {
		v.Failure = string(h.Failure.Kind) + ": " + h.Failure.Message
	}
	switch {
	case h.Completed():
		v.Status, v.Class = h.Version, "ok"
	case h.Alert == "" && h.Selected == "":
		v.Status, v.Class = "no handshake", "broken"
	}
	if !h.Completed() && len(h.Chain) == 0 {
		return v
	}
	v.Answer = &message{Line: strings.TrimSpace(strings.Join([]string{h.Version, h.Cipher, h.Protocol}, " "))}
	for i, c := range h.Chain {
		v.Answer.Header = append(v.Answer.Header, evidence.Field{Name: fmt.Sprintf("Certificate %d", i+1), Value: Plain(certificateText(c))})
	}
	if h.Distrust != "" {
		v.Answer.note(fmt.Sprintf("the chain proves nothing (%s): %s", h.Distrust, cut(h.Message, headerValue)))
		v.Class = "broken"
	}
	return v
}

// certificateText describes a certificate in one line.
func certificateText(c evidence.Certificate) string {
	text := fmt.Sprintf("%s, issued by %s, valid %s to %s, %s", c.Subject, c.Issuer, c.NotBefore.UTC().Format(time.DateOnly), c.NotAfter.UTC().Format(time.DateOnly), c.Key)
	if len(c.Names) > 0 {
		text += ", for " + strings.Join(c.Names, ", ")
	}
	return cut(text, headerValue)
}

// maxIndent bounds the indentation of a printed JSON value. Deeper values stay on one line.
const maxIndent = 24

// pretty indents JSON and leaves other bodies unchanged. It returns at most limit bytes; complete says whether that is everything. Its work is
// bounded by limit, plus one pass over a body of blanks.
func pretty(body []byte, limit int) (text string, complete bool) {
	if beginsAsJSON(body, limit) {
		return indent(body, limit)
	}
	return head(body, limit)
}

// beginsAsJSON reports whether a body is JSON. Of a long body it reads only the part that is shown.
func beginsAsJSON(body []byte, limit int) bool {
	if len(body) <= 4*limit {
		return json.Valid(body)
	}
	if first := openapi.FirstByte(body); first != '{' && first != '[' {
		return false
	}
	var syntax *json.SyntaxError
	err := json.Unmarshal(body[:limit+1], new(json.RawMessage))
	return errors.As(err, &syntax) && syntax.Offset > int64(limit) // the only fault is the end of the part
}

// head returns the beginning of a text, up to a character boundary.
func head(text []byte, limit int) (string, bool) {
	if len(text) <= limit {
		return string(text), true
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return string(text[:limit]), false
}

// indent prints a JSON value on several lines until limit is reached.
func indent(doc []byte, limit int) (string, bool) {
	var b strings.Builder
	depth, inString := 0, false
	newline := func() {
		if depth <= maxIndent {
			b.WriteString("\n" + strings.Repeat("  ", max(0, depth)))
		}
	}
	for i := 0; i < len(doc); i++ {
		if b.Len() > limit {
			text, _ := head([]byte(b.String()), limit)
			return text, false
		}
		c := doc[i]
		if inString {
			b.WriteByte(c)
			if c == '\\' && i+1 < len(doc) {
				i++
				b.WriteByte(doc[i])
			}
			inString = c != '"'
			continue
		}
		switch c {
		case ' ', '\t', '\r', '\n':
		case '"':
			inString = true
			b.WriteByte(c)
		case '{', '[':
			b.WriteByte(c)
			if next := openapi.FirstByte(doc[i+1 : min(len(doc), i+64)]); next == '}' || next == ']' {
				i += bytes.IndexByte(doc[i:], next)
				b.WriteByte(next)
				continue
			}
			depth++
			newline()
		case '}', ']':
			depth--
			newline()
			b.WriteByte(c)
		case ',':
			b.WriteByte(c)
			newline()
		case ':':
			b.WriteString(": ")
		default:
			b.WriteByte(c)
		}
	}
	return head([]byte(b.String()), limit)
}
