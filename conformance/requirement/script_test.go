package requirement_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
)

// A script is evidence in writing; testdata/README.md describes the language. Scripts are read onto a stage, one after the
// other: a later one replaces labels of an earlier one, so that a case only tells how it differs from the good node.
type stage struct {
	order      []evidence.Label
	exchanges  map[evidence.Label]evidence.Exchange
	handshakes map[evidence.Label]evidence.Handshake
	cause      string // why the run ended early
	log        evidence.Log
	document   evidence.Document
	findings   map[evidence.Label]*evidence.SchemaFindings
	files      map[string]string // attachments by name
	want       wanted
}

// wanted is what a case expects of the judgement of its requirement.
type wanted struct {
	reason, got, hint, blockedBy, subject, note string
	unlisted                                    int
}

func newStage() *stage {
	return &stage{
		exchanges:  map[evidence.Label]evidence.Exchange{},
		handshakes: map[evidence.Label]evidence.Handshake{},
		findings:   map[evidence.Label]*evidence.SchemaFindings{},
		files:      map[string]string{},
	}
}

// read performs a script.
func (s *stage) read(name, script string) error {
	blocks := strings.Split("\n"+script, "\n@ ")
	for i, line := range strings.Split(blocks[0], "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := s.directive(line); err != nil {
			return fmt.Errorf("%s line %d: %w", name, i, err)
		}
	}
	for _, block := range blocks[1:] {
		if err := s.exchange(block); err != nil {
			return fmt.Errorf("%s, exchange %q: %w", name, strings.SplitN(block, "\n", 2)[0], err)
		}
	}
	return nil
}

func (s *stage) directive(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "because":
		s.want.reason = rest
	case "got":
		s.want.got = rest
	case "hint":
		s.want.hint = rest
	case "note":
		s.want.note = rest
	case "unlisted":
		n, err := strconv.Atoi(rest)
		s.want.unlisted = n
		return err
	case "subject":
		s.want.subject = rest
	case "blocked-by":
		s.want.blockedBy = rest
	case "roles":
		return s.roles(fields(rest))
	case "run":
		return s.run(fields(rest))
	case "registry":
		return s.registry(rest)
	case "registry-facts":
		s.log.RegistryFacts = &evidence.RegistryFacts{}
		return json.Unmarshal([]byte(rest), s.log.RegistryFacts)
	case "handshake":
		return s.handshake(rest)
	case "ended":
		s.cause = rest
	case "remove":
		for _, l := range strings.Fields(rest) {
			s.remove(evidence.Label(l))
		}
	case "skip":
		return s.skip(rest)
	case "document":
		return s.describe(rest)
	case "removed":
		f := strings.SplitN(rest, " ", 3)
		if len(f) != 3 {
			return fmt.Errorf("removed wants <pointer> <keyword> <value>")
		}
		s.document.Removed = append(s.document.Removed, evidence.Removed{Pointer: f[0], Keyword: f[1], Value: f[2]})
	case "invalid":
		s.document.Invalid = append(s.document.Invalid, rest)
	case "uncompared":
		s.document.Uncompared = rest
	case "judged", "unjudged", "finding":
		return s.finding(word, rest)
	default:
		return fmt.Errorf("unknown directive %q", word)
	}
	return nil
}

// exchange reads one block: the label with its inputs, edits, the request, redirects, the answer or the failure.
func (s *stage) exchange(block string) error {
	lines := strings.Split(strings.TrimRight(block, "\n"), "\n")
	label, given, _ := strings.Cut(lines[0], " ")
	if label == "*" {
		return s.changeAll(lines[1:])
	}
	x, known := s.exchanges[evidence.Label(label)]
	if !known {
		s.order = append(s.order, evidence.Label(label))
		x = evidence.Exchange{Label: evidence.Label(label), Attempts: 1, Duration: 12 * time.Millisecond,
			Started: time.Date(2027, 1, 15, 8, 0, len(s.order), 0, time.UTC)}
	}
	if f := fields(given); len(f) > 0 {
		x.Given = f
	}
	s.unskip(x.Label)

	lines = lines[1:]
	for len(lines) > 0 && (strings.HasPrefix(lines[0], "~ ") || strings.HasPrefix(lines[0], "#")) {
		if edit, ok := strings.CutPrefix(lines[0], "~ "); ok {
			if err := change(&x, edit); err != nil {
				return err
			}
		}
		lines = lines[1:]
	}
	request, answers := split(lines)
	if len(request) > 0 {
		if err := ask(&x, request); err != nil {
			return err
		}
	}
	if len(answers) > 0 {
		if err := answer(&x, answers); err != nil {
			return err
		}
	}
	if x.Request.Method == "" || x.Response == nil && x.Failure == nil {
		return fmt.Errorf("there is no request, or neither answer nor failure")
	}
	if !known && x.Response != nil {
		setClock(&x)
	}
	s.exchanges[x.Label] = x
	return nil
}

// setClock lets a new exchange start at the Date of its answer; an answer without Date gets that of its start, as from a good node.
func setClock(x *evidence.Exchange) {
	dates := evidence.Values(x.Response.Header, "Date")
	if len(dates) == 0 {
		x.Response.Header = append(x.Response.Header, evidence.Field{Name: "Date", Value: x.Started.Format(http.TimeFormat)})
		return
	}
	if at, form := evidence.HTTPDate(dates[0]); form != evidence.NoDate {
		x.Started = at
	}
}

// changeAll makes changes to every exchange that has an answer.
func (s *stage) changeAll(changes []string) error {
	for label, x := range s.exchanges {
		if x.Response == nil {
			continue
		}
		for _, line := range changes {
			if err := change(&x, strings.TrimPrefix(line, "~ ")); err != nil {
				return fmt.Errorf("%s: %w", label, err)
			}
		}
		s.exchanges[label] = x
	}
	return nil
}

// split separates the request from the answers; each answer begins with its ">>> " or "!!! " line.
func split(lines []string) (request []string, answers [][]string) {
	for _, line := range lines {
		switch {
		case strings.HasPrefix(line, ">>> "), strings.HasPrefix(line, "!!! "):
			answers = append(answers, []string{line})
		case len(answers) > 0:
			answers[len(answers)-1] = append(answers[len(answers)-1], line)
		default:
			request = append(request, line)
		}
	}
	return request, answers
}

func ask(x *evidence.Exchange, lines []string) error {
	f := strings.Fields(lines[0])
	if len(f) != 3 {
		return fmt.Errorf("a request line has method, URL and protocol, not %q", lines[0])
	}
	header, body, err := message(lines[1:])
	x.Request = evidence.Request{Method: f[0], URL: f[1], Header: header, Body: body}
	return err
}

func answer(x *evidence.Exchange, answers [][]string) error {
	x.Redirects, x.Response, x.Failure = nil, nil, nil
	at := x.Request.URL
	for i, lines := range answers {
		if failure, ok := strings.CutPrefix(lines[0], "!!! "); ok {
			kind, message, _ := strings.Cut(failure, " ")
			x.Failure = &evidence.Failure{Kind: evidence.FailureKind(kind), Message: message}
			return nil
		}
		f := strings.SplitN(strings.TrimPrefix(lines[0], ">>> "), " ", 3)
		if len(f) < 2 {
			return fmt.Errorf("a status line has protocol and status, not %q", lines[0])
		}
		status, err := strconv.Atoi(f[1])
		if err != nil {
			return fmt.Errorf("status: %w", err)
		}
		header, body, err := message(lines[1:])
		if err != nil {
			return err
		}
		if i < len(answers)-1 {
			location := strings.Join(evidence.Values(header, "Location"), "")
			x.Redirects = append(x.Redirects, evidence.Hop{URL: at, Status: status, Header: header, Location: location})
			at = location
			continue
		}
		x.Response = &evidence.Response{Proto: f[0], Status: status, Header: header, Body: body, Size: int64(len(body))}
	}
	return nil
}

// message reads header lines, an empty line and the body.
func message(lines []string) ([]evidence.Field, evidence.Body, error) {
	var header []evidence.Field
	for i, line := range lines {
		if line == "" {
			body := strings.Join(lines[i+1:], "\n")
			return header, evidence.Body(strings.TrimRight(body, "\n")), nil
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, nil, fmt.Errorf("a header line has a colon, not %q", line)
		}
		header = append(header, evidence.Field{Name: name, Value: strings.TrimLeft(value, " ")})
	}
	return header, nil, nil
}

// change performs one "~" edit on an exchange that the base script holds.
func change(x *evidence.Exchange, edit string) error {
	word, rest, _ := strings.Cut(edit, " ")
	if x.Response != nil {
		copied := *x.Response // the base keeps its own
		x.Response = &copied
	}
	switch word {
	case "attempts":
		_, err := fmt.Sscan(rest, &x.Attempts)
		return err
	case "took":
		d, err := time.ParseDuration(rest)
		x.Duration = d
		return err
	case "started":
		at, err := time.Parse(time.RFC3339, rest)
		x.Started = at
		return err
	case "raw":
		x.Request.Raw = true
		return nil
	case "family":
		x.Family = evidence.Family(rest)
		return nil
	case "url":
		x.Request.URL = rest
		return nil
	case "token", "tokens":
		x.Tokens = nil
		return json.Unmarshal([]byte(rest), &x.Tokens)
	case "presented":
		x.Presented = nil
		return json.Unmarshal([]byte(rest), &x.Presented)
	case "verification":
		x.Verification = nil
		return json.Unmarshal([]byte(rest), &x.Verification)
	}
	if x.Response == nil {
		return fmt.Errorf("%q needs an answer to edit", edit)
	}
	switch r := x.Response; word {
	case "status":
		code, _, _ := strings.Cut(rest, " ")
		_, err := fmt.Sscan(code, &r.Status)
		return err
	case "without":
		r.Header = without(r.Header, rest)
	case "header":
		name, value, _ := strings.Cut(rest, ":")
		r.Header = append(without(r.Header, name), evidence.Field{Name: name, Value: strings.TrimLeft(value, " ")})
	case "add":
		name, value, _ := strings.Cut(rest, ":")
		r.Header = append(slices.Clone(r.Header), evidence.Field{Name: name, Value: strings.TrimLeft(value, " ")})
	case "body":
		r.Body, r.Size = evidence.Body(rest), int64(len(rest))
	case "body-quoted":
		text, err := strconv.Unquote(rest)
		r.Body, r.Size = evidence.Body(text), int64(len(text))
		return err
	case "truncated":
		r.Truncated = true
	case "body-error":
		r.BodyError = rest
	case "withheld":
		r.Body, r.BodyError, r.Withheld = nil, rest, true
	case "surplus":
		_, err := fmt.Sscan(rest, &r.Surplus)
		return err
	default:
		return fmt.Errorf("unknown edit %q", word)
	}
	return nil
}

func without(header []evidence.Field, name string) []evidence.Field {
	var out []evidence.Field
	for _, f := range header {
		if !strings.EqualFold(f.Name, name) {
			out = append(out, f)
		}
	}
	return out
}

// fields reads key=value pairs; a value with blanks is in double quotes.
func fields(s string) map[string]string {
	out := map[string]string{}
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		key, rest, ok := strings.Cut(s, "=")
		if !ok {
			return out
		}
		if quoted, err := strconv.QuotedPrefix(rest); err == nil {
			out[key], _ = strconv.Unquote(quoted)
			s = rest[len(quoted):]
			continue
		}
		out[key], s, _ = strings.Cut(rest, " ")
	}
	return out
}
