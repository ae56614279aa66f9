package report

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/requirement"
)

// Limits of the page. Evidence and HAR hold everything.
const (
	citedBody    = 16 << 10 // bytes of a body that a finding rests on
	otherBody    = 4 << 10  // bytes of any other body
	pageBodies   = 1 << 20  // bytes of all bodies and headers together
	headerLines  = 60       // of one message
	headerValue  = 1000     // bytes
	maxExchanges = 2000     // on one page
)

// exchangeView is one exchange as the page shows it.
type exchangeView struct {
	Label   exchange.Label
	Anchor  string
	Method  string
	URL     string
	Status  string // "200", or "no answer"
	Class   string // "ok", "refused", "broken": a hint for the eye
	Took    string
	Given   []exchange.Field
	Sent    message
	Hops    []hopView
	Answer  *message
	Failure string
	// CitedBy are the requirements that rest on it and say something.
	CitedBy []requirement.ID
}

type hopView struct {
	Status        int
	URL, Location string
}

// message is a request or an answer.
type message struct {
	Line   string
	Header []exchange.Field
	Body   string
	Note   string // what was left out, and why
}

// exchangeViews shows every exchange in the order of the run. Those that findings rest on get their room first.
func exchangeViews(r Report, log *exchange.Log) []exchangeView {
	cited := citations(r)
	room := pageBodies
	list := log.Exchanges[:min(len(log.Exchanges), maxExchanges)]
	out := make([]exchangeView, len(list))
	for _, first := range []bool{true, false} {
		for i, x := range list {
			if by := cited[x.Label]; (len(by) > 0) == first {
				out[i] = exchangeOf(x, by, &room)
				out[i].Anchor = fmt.Sprintf("exchange-%d", i+1)
			}
		}
	}
	return out
}

// citations maps exchanges to the requirements that somebody has to look at because of them.
func citations(r Report) map[exchange.Label][]requirement.ID {
	out := map[exchange.Label][]requirement.ID{}
	for _, q := range r.Requirements {
		if !tells(q.Outcome) {
			continue
		}
		seen := map[exchange.Label]bool{}
		for _, s := range q.Subjects {
			if s.Label != "" && !seen[s.Label] {
				seen[s.Label] = true
				out[s.Label] = append(out[s.Label], q.ID)
			}
		}
	}
	return out
}

func exchangeOf(x exchange.Exchange, by []requirement.ID, room *int) exchangeView {
	limit := otherBody
	if len(by) > 0 {
		limit = citedBody
	}
	v := exchangeView{
		Label: x.Label, Method: x.Request.Method, URL: x.Request.URL, CitedBy: by,
		Took: x.Duration.Round(time.Millisecond / 10).String(),
		Sent: message{Line: x.Request.Method + " " + cut(x.Request.URL, headerValue)},
	}
	if x.Attempts > 1 {
		v.Took += fmt.Sprintf(", attempt %d", x.Attempts)
	}
	for _, name := range sortedNames(x.Given) {
		v.Given = append(v.Given, exchange.Field{Name: name, Value: x.Given[name]})
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

func class(status int) string {
	switch {
	case status >= 200 && status < 300:
		return "ok"
	case status >= 500:
		return "broken"
	}
	return "refused"
}

// fill takes header and body as far as there is room.
func (m *message) fill(header []exchange.Field, body exchange.Body, limit int, room *int) {
	for i, f := range header {
		if i == headerLines || *room <= 0 {
			m.note(fmt.Sprintf("%d header lines left out", len(header)-i))
			break
		}
		f.Name, f.Value = cut(f.Name, headerValue), cut(f.Value, headerValue)
		m.Header = append(m.Header, f)
		*room -= len(f.Name) + len(f.Value)
	}
	if len(body) == 0 {
		return
	}
	if limit = min(limit, *room); limit <= 0 {
		m.note(fmt.Sprintf("body of %d bytes left out: this page is full", len(body)))
		return
	}
	text, whole := pretty(body, limit)
	m.Body = PlainLines(text)
	*room -= len(text)
	if !whole {
		m.note(fmt.Sprintf("only the beginning of a body of %d bytes", len(body)))
	}
}

func (m *message) note(s string) {
	m.Note = strings.TrimPrefix(m.Note+"; "+s, "; ")
}
