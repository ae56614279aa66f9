package fault

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/rin-network/rin/sandbox/devtls"
)

// transportDeviations break TLS. They work on the connections of a node that has it.
func transportDeviations() []Deviation {
	const day = 24 * time.Hour
	return []Deviation{
		{
			Name: "certificate-expired", Breaks: []string{"TLS-03"},
			Why:       "The certificate expired three days ago, because nobody renewed it.",
			Transport: func(s *devtls.Settings) { s.Issued = devtls.DefaultLifetime + 3*day },
		},
		{
			Name: "certificate-not-yet-valid", Breaks: []string{"TLS-03"},
			Why:       "The certificate becomes valid tomorrow, because a clock was wrong when it was made.",
			Transport: func(s *devtls.Settings) { s.Issued = -day },
		},
		{
			Name: "certificate-of-another-host", Breaks: []string{"TLS-03"},
			Why:       "The certificate names another host, that of the provider's default site.",
			Transport: func(s *devtls.Settings) { s.Hosts = []string{"www.provider.invalid"} },
		},
		{
			Name: "certificate-chain-incomplete", Breaks: []string{"TLS-03"},
			Why:       "The intermediate certificate is not sent: browsers fetch or remember it, programs do not.",
			Transport: func(s *devtls.Settings) { s.WithoutIntermediate = true },
		},
		{
			Name: "certificate-self-signed", Breaks: []string{"TLS-03"},
			Why:       "The certificate is signed by itself, as the ones that servers are installed with.",
			Transport: func(s *devtls.Settings) { s.SelfSigned = true },
		},
		{
			Name: "certificate-of-unknown-authority", Breaks: []string{"TLS-03"},
			Why:       "The certificate was issued by an authority of the institution's own that clients elsewhere do not know.",
			Transport: func(s *devtls.Settings) { s.Stranger = true },
		},
		{
			Name: "certificate-ends-soon", Breaks: []string{"TLS-03"},
			Why:       "The certificate expires in four days: its renewal does not work.",
			Transport: func(s *devtls.Settings) { s.Issued = devtls.DefaultLifetime - 4*day },
		},
		{
			Name: "tls11-only", Breaks: []string{"TLS-04", "TLS-05"},
			Why:       "The server speaks TLS 1.1 and nothing newer, as an old load balancer does.",
			Transport: func(s *devtls.Settings) { s.Oldest, s.Newest = tls.VersionTLS11, tls.VersionTLS11 },
		},
		{
			Name: "tls11-accepted", Breaks: []string{"TLS-05"},
			Why:       "The server speaks TLS 1.1 with clients that know nothing newer.",
			Transport: func(s *devtls.Settings) { s.Oldest = tls.VersionTLS11 },
		},
		{
			Name: "tls10-accepted", Breaks: []string{"TLS-05"},
			Why:       "The server speaks TLS 1.0 with clients that know nothing newer.",
			Transport: func(s *devtls.Settings) { s.Oldest = tls.VersionTLS10 },
		},
		{
			Name: "cleartext-token-endpoint", Breaks: []string{"TLS-01"},
			Why:       "The token endpoint answers over plain HTTP as well.",
			Transport: func(s *devtls.Settings) { s.Cleartext = true },
			Wrap:      inCleartextOnly(Token),
		},
		{
			Name: "cleartext-info", Breaks: []string{"TLS-02"},
			Why:       "The info resource asks for a token over plain HTTP as well.",
			Transport: func(s *devtls.Settings) { s.Cleartext = true },
			Wrap:      inCleartextOnly(Info),
		},
		{
			Name: "cleartext-list", Breaks: []string{"TLS-02"},
			Why:       "The funding list is served over plain HTTP as well; the info resource is not.",
			Transport: func(s *devtls.Settings) { s.Cleartext = true },
			Wrap:      inCleartextOnly(FundingList),
		},
	}
}

// inCleartextOnly makes a Wrap that answers nothing but the kind over plain HTTP.
func inCleartextOnly(kind Kind) wrap {
	return func(next http.Handler, env Env) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.TLS == nil && env.Classify(r) != kind {
				http.Error(w, "use https", http.StatusNotFound)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// framingDeviations send bodies that are not what the header says of them.
func framingDeviations() []Deviation {
	return []Deviation{
		{
			Name: "length-too-large", Breaks: []string{"ROB-06"},
			Why: "The refusal of a missing role announces more bytes than come: a filter shortened the body and left Content-Length alone.",
			Wrap: around(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
				a := capture(next, r)
				if a.Status != http.StatusForbidden || r.Method == http.MethodHead {
					a.send(w, r)
					return
				}
				a.set("Content-Length", strconv.Itoa(len(a.Body)+7))
				a.start(w, r)
				// The server ends the connection, because the body is not complete; nobody is left to tell.
				_, _ = w.Write(a.Body)
			}, protected()...),
		},
		{
			Name: "head-with-body", Breaks: []string{"ROB-06"},
			Why: "HEAD is answered with the body of GET: a script writes its output, whatever the method.",
			Wrap: around(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodHead {
					next.ServeHTTP(w, r)
					return
				}
				whole := r.Clone(r.Context())
				whole.Method = http.MethodGet
				capture(next, whole).sendAll(w)
			}, protected()...),
		},
		{
			Name: "gzip-checksum-wrong", Breaks: []string{"ROB-06"},
			Why:  "Compressed refusals end with a wrong checksum: two filters compress, one of them the other's trailer.",
			Wrap: rewrite(when(refusedAnonymous, compress(true)), protected()...),
		},
		{
			Name: "identity-encoded", Breaks: []string{"ROB-06"},
			Why:  "The info answer is compressed for everybody, also for clients that accept no coding: the cache holds one form only.",
			Wrap: rewrite(when(succeeded, compress(false)), Info),
		},
		{
			Name: "head-length-zero", Breaks: []string{"ROB-06"},
			Why: "HEAD says Content-Length: 0, the length of what it sends, where that of the answer to GET belongs.",
			Wrap: rewrite(when(succeeded, func(r *http.Request, a *editableAnswer) {
				if r.Method == http.MethodHead {
					a.set("Content-Length", "0")
				}
			}), protected()...),
		},
	}
}

// start sends status and header.
func (a *editableAnswer) start(w http.ResponseWriter, _ *http.Request) {
	for name, values := range a.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.Status)
}

// sendAll writes the answer, its body too, to the connection of a HEAD request, and ends it.
func (a *editableAnswer) sendAll(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil { // HTTP/2, and tests
		a.start(w, nil)
		_, _ = w.Write(a.Body) // as far as the writer lets it
		return
	}
	defer conn.Close()
	var text bytes.Buffer
	fmt.Fprintf(&text, "HTTP/1.1 %d %s\r\n", a.Status, http.StatusText(a.Status))
	head := w.Header().Clone()
	for name, values := range a.Header {
		head[name] = values
	}
	head.Set("Content-Length", strconv.Itoa(len(a.Body)))
	head.Set("Connection", "close")
	_ = head.Write(&text) // a buffer takes everything
	text.WriteString("\r\n")
	text.Write(a.Body)
	_, _ = conn.Write(text.Bytes()) // a failed write means that the caller is gone
}

// compress encodes bodies with gzip, whatever the client accepts; spoilt ends them with another checksum.
func compress(spoilt bool) change {
	return func(r *http.Request, a *editableAnswer) {
		if len(a.Body) == 0 || r.Method == http.MethodHead {
			return
		}
		var encoded bytes.Buffer
		z := gzip.NewWriter(&encoded)
		_, _ = z.Write(a.Body) // a buffer takes everything
		_ = z.Close()
		a.Body = encoded.Bytes()
		if spoilt {
			a.Body[len(a.Body)-8] ^= 0xff // CRC-32 and length end the stream (RFC 1952 §2.3.1)
		}
		a.set("Content-Encoding", "gzip")
	}
}

// clockDeviations answer with a Date that is none of now.
func clockDeviations() []Deviation {
	return []Deviation{
		{
			Name: "date-hour-ahead", Breaks: []string{"ROB-07"},
			Why:  "The Date of the info resource is an hour ahead: the clock of its host is set to local time and called UTC.",
			Wrap: around(dated(func(now time.Time) []string { return []string{now.Add(time.Hour).Format(http.TimeFormat)} }), Info),
		},
		{
			Name: "date-minutes-behind", Breaks: []string{"ROB-07"},
			Why:  "The clock of the info resource's host is two minutes behind: nothing sets it.",
			Wrap: around(dated(func(now time.Time) []string { return []string{now.Add(-2 * time.Minute).Format(http.TimeFormat)} }), Info),
		},
		{
			Name: "date-missing", Breaks: []string{"ROB-07"},
			Why:  "The info answer has no Date, cut off by a filter that hides what it does not know.",
			Wrap: around(dated(func(time.Time) []string { return nil }), Info),
		},
	}
}

// dated sets the Date of answers; no value leaves the field out.
func dated(date func(now time.Time) []string) handle {
	return func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, r)
		a.Header["Date"] = date(env.Now().UTC())
		a.send(w, r)
	}
}
