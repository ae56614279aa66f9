package fault

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"time"

	"github.com/rin-network/rin/sandbox/devtls"
)

// transportDeviations break TLS, or offer plain HTTP beside it. They need a node with TLS.
func transportDeviations() []Deviation {
	const day = 24 * time.Hour
	return []Deviation{
		{Name: "certificate-expired", Breaks: []string{"TLS-03"},
			Why:       "The certificate expired three days ago, because it was not renewed.",
			Transport: func(s *devtls.Settings) { s.Age = devtls.DefaultLifetime + 3*day }},
		{Name: "certificate-not-yet-valid", Breaks: []string{"TLS-03"},
			Why:       "The certificate becomes valid tomorrow, because a clock was wrong when it was made.",
			Transport: func(s *devtls.Settings) { s.Age = -day }},
		{Name: "certificate-of-another-host", Breaks: []string{"TLS-03"},
			Why:       "The certificate names another host, that of the provider's default site.",
			Transport: func(s *devtls.Settings) { s.Hosts = []string{"www.provider.invalid"} }},
		{Name: "certificate-chain-incomplete", Breaks: []string{"TLS-03"},
			Why:       "The intermediate certificate is not sent: browsers fetch or remember it, programs do not.",
			Transport: func(s *devtls.Settings) { s.WithoutIntermediate = true }},
		{Name: "certificate-self-signed", Breaks: []string{"TLS-03"},
			Why:       "The certificate is self-signed, like those that servers are installed with.",
			Transport: func(s *devtls.Settings) { s.SelfSigned = true }},
		{Name: "certificate-of-unknown-authority", Breaks: []string{"TLS-03"},
			Why:       "The certificate was issued by the institution's own authority, which clients elsewhere do not know.",
			Transport: func(s *devtls.Settings) { s.UnknownAuthority = true }},
		{Name: "certificate-ends-soon", Breaks: []string{"TLS-03"},
			Why:       "The certificate expires in four days: its renewal does not work.",
			Transport: func(s *devtls.Settings) { s.Age = devtls.DefaultLifetime - 4*day }},
		{Name: "tls11-only", Breaks: []string{"TLS-04", "TLS-05"},
			Why:       "The server offers TLS 1.1 and nothing newer, like an old load balancer.",
			Transport: func(s *devtls.Settings) { s.Oldest, s.Newest = tls.VersionTLS11, tls.VersionTLS11 }},
		{Name: "tls11-accepted", Breaks: []string{"TLS-05"},
			Why:       "The server accepts TLS 1.1 from clients that offer nothing newer.",
			Transport: func(s *devtls.Settings) { s.Oldest = tls.VersionTLS11 }},
		{Name: "tls10-accepted", Breaks: []string{"TLS-05"},
			Why:       "The server accepts TLS 1.0 from clients that offer nothing newer.",
			Transport: func(s *devtls.Settings) { s.Oldest = tls.VersionTLS10 }},
		{Name: "cleartext-token-endpoint", Breaks: []string{"TLS-01"},
			Why:       "The token endpoint also answers over plain HTTP.",
			Transport: offerCleartext,
			Wrap:      serveInCleartext(Token)},
		{Name: "cleartext-info", Breaks: []string{"TLS-02"},
			Why:       "The info resource also asks for a token over plain HTTP.",
			Transport: offerCleartext,
			Wrap:      serveInCleartext(Info)},
		{Name: "cleartext-list", Breaks: []string{"TLS-02"},
			Why:       "The funding list is also served over plain HTTP; the info resource is not.",
			Transport: offerCleartext,
			Wrap:      serveInCleartext(List)},
		{Name: "cleartext-page-repeats-request", Breaks: []string{"SEC-04"},
			Why:       "Plain HTTP is answered with a page that asks for https and shows the request, with the secret in it.",
			Transport: offerCleartext,
			Wrap:      showInCleartext},
	}
}

// offerCleartext makes the node also serve plain HTTP.
func offerCleartext(s *devtls.Settings) { s.Cleartext = true }

// serveInCleartext makes a wrap that serves only one kind over plain HTTP.
func serveInCleartext(kind Kind) wrap {
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

// showInCleartext answers requests over plain HTTP with a text that repeats their bodies.
func showInCleartext(next http.Handler, _ Env) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS != nil {
			next.ServeHTTP(w, r)
			return
		}
		body, _ := io.ReadAll(io.LimitReader(r.Body, maxForm)) // on an error, body is what was read before it
		http.Error(w, "use https, not: "+string(body), http.StatusBadRequest)
	})
}

// framingDeviations send bodies that contradict the header of the answer.
func framingDeviations() []Deviation {
	return []Deviation{
		{Name: "length-too-large", Breaks: []string{"ROB-06"},
			Why: "The refusal of a missing role announces more bytes than it sends: a filter shortened the body and left Content-Length alone.",
			Wrap: intercept(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
				a := capture(next, r)
				if !isRoleRefusal(a) || isHead(r) {
					a.send(w, r)
					return
				}
				a.set("Content-Length", strconv.Itoa(len(a.Body)+7))
				a.start(w)
				_, _ = w.Write(a.Body) // the server ends the connection, because the body is not complete
			}, protectedKinds()...)},
		{Name: "head-with-body", Breaks: []string{"ROB-06"},
			Why: "HEAD is answered with the body of GET: a script writes its output for every method.",
			Wrap: interceptIf(isHead, func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
				capture(next, withMethod(r, http.MethodGet)).sendWithBody(w)
			}, protectedKinds()...)},
		{Name: "gzip-checksum-wrong", Breaks: []string{"ROB-06"},
			Why: "Compressed refusals end with a wrong checksum: two filters compress, and one writes the trailer of the other.",
			Wrap: rewrite(when(isAnonymousRefusal, func(a *answer) {
				if !isHead(a.request) && a.compress() {
					a.Body[len(a.Body)-8] ^= 0xff // CRC-32 and length end the stream (RFC 1952 §2.3.1)
				}
			}), protectedKinds()...)},
		{Name: "identity-encoded", Breaks: []string{"ROB-06"},
			Why:  "The info answer is also compressed for clients that accept no coding: the cache stores one form only.",
			Wrap: rewriteSuccess(when(func(a *answer) bool { return !isHead(a.request) }, func(a *answer) { a.compress() }), Info)},
		{Name: "head-length-zero", Breaks: []string{"ROB-06", "ROB-08"},
			Why:  "HEAD says Content-Length: 0, the length of its own body, instead of that of the answer to GET.",
			Wrap: rewriteSuccess(whenRequest(isHead, setHeader("Content-Length", "0")), protectedKinds()...)},
	}
}

// sendWithBody writes the answer with its body to the connection of a HEAD request, and closes it.
func (a *answer) sendWithBody(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil { // over HTTP/2, and in tests without a connection
		a.start(w)
		_, _ = w.Write(a.Body)
		return
	}
	defer conn.Close()
	var text bytes.Buffer
	fmt.Fprintf(&text, "HTTP/1.1 %d %s\r\n", a.Status, http.StatusText(a.Status))
	head := w.Header().Clone()
	maps.Copy(head, a.Header)
	head.Set("Content-Length", strconv.Itoa(len(a.Body)))
	head.Set("Connection", "close")
	_ = head.Write(&text) // cannot fail
	text.WriteString("\r\n")
	text.Write(a.Body)
	_, _ = conn.Write(text.Bytes()) // fails only if the caller is gone
}

// compress encodes the body with gzip, whatever the client accepts. It returns false without a body.
func (a *answer) compress() bool {
	if len(a.Body) == 0 {
		return false
	}
	var encoded bytes.Buffer
	z := gzip.NewWriter(&encoded)
	_, _ = z.Write(a.Body) // a buffer cannot fail
	_ = z.Close()
	a.Body = encoded.Bytes()
	a.set("Content-Encoding", "gzip")
	return true
}

// delayDeviations answer late, or with a wrong Date header.
func delayDeviations() []Deviation {
	return []Deviation{
		{Name: "date-hour-ahead", Breaks: []string{"ROB-07"},
			Why:  "The Date of the info resource is an hour ahead: the clock of its host is set to local time, which is treated as UTC.",
			Wrap: setDate(func(now time.Time) []string { return []string{now.Add(time.Hour).Format(http.TimeFormat)} }, Info)},
		{Name: "date-minutes-behind", Breaks: []string{"ROB-07"},
			Why:  "The clock of the info resource's host is two minutes behind, because nothing sets it.",
			Wrap: setDate(func(now time.Time) []string { return []string{now.Add(-2 * time.Minute).Format(http.TimeFormat)} }, Info)},
		{Name: "date-missing", Breaks: []string{"ROB-07"},
			Why:  "The info answer has no Date: a filter removes header fields that it does not know.",
			Wrap: setDate(func(time.Time) []string { return nil }, Info)},
		{Name: "document-slow", Breaks: []string{"ROB-05"},
			Why:  "The document is generated for each request, which takes eleven seconds.",
			Wrap: sendSlowly(1)},
		{Name: "document-in-drops", Breaks: []string{"ROB-05"},
			Why:  "The document begins at once and arrives in pieces for eleven seconds, through a proxy with low bandwidth.",
			Wrap: sendSlowly(11)},
		{Name: "date-hour-ahead-on-detail", Breaks: []string{"ROB-07"},
			Why:  "Only the Date of the detail is an hour ahead: it is served by another host, whose clock is set to local time.",
			Wrap: setDate(func(now time.Time) []string { return []string{now.Add(time.Hour).Format(http.TimeFormat)} }, Detail)},
	}
}

// setDate makes a wrap that replaces the Date of answers, or removes it if date returns nil.
func setDate(date func(now time.Time) []string, kinds ...Kind) wrap {
	return rewrite(func(a *answer) { a.Header["Date"] = date(a.env.Now().UTC()) }, kinds...)
}

// slowTime is longer than ROB-05 allows.
const slowTime = 11 * time.Second

// sendSlowly makes a wrap that sends the document in parts, each after a pause.
func sendSlowly(parts int) wrap {
	return intercept(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, r)
		for i := range parts {
			if env.Pause(r.Context(), slowTime/time.Duration(parts)) != nil {
				return // the caller is gone
			}
			if i == 0 {
				a.start(w)
			}
			if isHead(r) {
				return
			}
			if _, err := w.Write(a.Body[len(a.Body)*i/parts : len(a.Body)*(i+1)/parts]); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush() // a writer that cannot flush sends the parts together
		}
	}, Document)
}
