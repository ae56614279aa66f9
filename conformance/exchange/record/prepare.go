package record

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/exchange"
)

// prepared is a request that may be sent.
type prepared struct {
	limit   int64 // bytes of the answer's body
	timeout time.Duration
	request exchange.Request // as it goes out, unredacted
	url     *url.URL
	carries bool // a token or secret
	toEnd   bool // read what follows the answer
}

// prepare checks the request against rin's own rules. The request is filled as far as it goes, also with an error.
func (r *Recorder) prepare(ask Ask) (prepared, error) {
	p := prepared{request: exchange.Request{
		Method: ask.Method, URL: ask.URL, Header: r.header(ask), Body: ask.Body, Raw: ask.Raw,
	}, limit: cmp.Or(ask.Limit, r.options.ReadLimit), toEnd: ask.ToEnd, timeout: r.timeout(ask.Timeout)}
	if p.request.Method == "" {
		p.request.Method = http.MethodGet
	}
	if !token(p.request.Method) {
		return p, fmt.Errorf("expected a method, got %.40q", ask.Method)
	}
	for _, f := range p.request.Header {
		if !token(f.Name) || strings.ContainsAny(f.Value, "\r\n\x00") {
			return p, fmt.Errorf("header %.40q cannot be sent: it breaks the form of a header line", f.Name)
		}
	}
	u, err := url.Parse(ask.URL)
	if err != nil {
		return p, errors.New("expected an absolute URL, got one that cannot be read")
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return p, fmt.Errorf("expected an http or https URL, got scheme %.20q", u.Scheme)
	case u.Hostname() == "":
		return p, errors.New("expected a URL with a host")
	case u.User != nil:
		return p, errors.New("the URL holds a user name: credentials do not belong into a URL")
	}
	p.url = u
	p.carries = ask.Credential != "" || r.precious(p.request)
	if ask.Recipient != "" {
		return p, r.onlyFor(ask, p)
	}
	if origin := exchange.Origin(u); p.carries && !r.allowed[origin] {
		return p, fmt.Errorf("%s may not receive %s: allow the origin (--allow-origin) if it belongs to the node", origin, credentialName(ask))
	}
	return p, nil
}

// timeout is what is left to one request: its own time, which is never longer than that of the run's requests.
func (r *Recorder) timeout(own time.Duration) time.Duration {
	return min(cmp.Or(own, r.options.Timeout), r.options.Timeout)
}

// onlyFor checks a request whose credential belongs to one origin: nothing else that is secret may go there.
func (r *Recorder) onlyFor(ask Ask, p prepared) error {
	if origin := exchange.Origin(p.url); origin != ask.Recipient {
		return fmt.Errorf("%s may not receive %s, which belongs to %s", origin, credentialName(ask), ask.Recipient)
	}
	q := r.options.Redactor.Exchange(exchange.Exchange{Request: p.request}).Request
	text := q.URL + " " + string(q.Body)
	for _, f := range q.Header {
		text += " " + f.Value
	}
	for _, name := range exchange.Marked(text) {
		if name != ask.Credential {
			return fmt.Errorf("%s may not receive the %s", ask.Recipient, name)
		}
	}
	return nil
}

func credentialName(ask Ask) string {
	if ask.Credential == "" {
		return "a credential"
	}
	return "the " + ask.Credential
}

// precious reports that the redactor finds a secret in the request.
func (r *Recorder) precious(q exchange.Request) bool {
	if r.options.Redactor.Text(q.URL) != q.URL || string(r.options.Redactor.Bytes(q.Body)) != string(q.Body) {
		return true
	}
	return slices.ContainsFunc(q.Header, func(f exchange.Field) bool { return r.options.Redactor.Text(f.Value) != f.Value })
}

// header adds the lines that net/http would add unseen.
func (r *Recorder) header(ask Ask) []exchange.Field {
	out := slices.Clone(ask.Header)
	if len(exchange.Values(out, "User-Agent")) == 0 {
		out = append(out, exchange.Field{Name: "User-Agent", Value: r.options.UserAgent})
	}
	if len(exchange.Values(out, "Accept-Encoding")) == 0 {
		out = append(out, exchange.Field{Name: "Accept-Encoding", Value: "gzip"})
	}
	if ask.Raw && len(exchange.Values(out, "Connection")) == 0 {
		out = append(out, exchange.Field{Name: "Connection", Value: "close"})
	}
	return out
}

// token reports a token of RFC 9110 §5.6.2.
func token(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return s != ""
}
