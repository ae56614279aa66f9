package fault

import (
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/rin-network/rin/sandbox/content"
)

// refusalScenarios answer with an error in place of the node, as the node itself or a server in front of it does.
func refusalScenarios() []Scenario {
	return []Scenario{
		{
			Name: "429-then-ok", Times: 2, Wait: time.Second, Strikes: dataKinds(), Also: openKinds(),
			Does:   "The first requests are answered 429 with the wait in seconds as Retry-After.",
			Why:    "A gateway counts requests, and a client that polls or reads all pages at once exceeds the limit.",
			Client: "Waits as long as Retry-After says, then repeats the request; slows down.",
			begin: answerInstead(func(e *encounter, w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Retry-After", e.waitSeconds())
				e.refuse(w, r, content.TooManyRequests("too many requests, on purpose", "wait as many seconds as Retry-After says, and repeat the request"))
			}),
		},
		{
			Name: "503-twice", Times: 2, Wait: time.Second, Strikes: dataKinds(), Also: openKinds(),
			Does:   "The first requests are answered 503 with the wait in seconds as Retry-After.",
			Why:    "A node or its database restarts for an update.",
			Client: "Waits as long as Retry-After says, then repeats the request; gives up after some attempts.",
			begin: answerInstead(func(e *encounter, w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Retry-After", e.waitSeconds())
				e.refuse(w, r, unavailable())
			}),
		},
		{
			Name: "retry-after-date", Times: 1, Wait: 2 * time.Second, Strikes: dataKinds(), Also: openKinds(),
			Does:   "The first request is answered 503 with a date as Retry-After: the answer's Date plus the wait.",
			Why:    "Retry-After has two forms (RFC 9110 §10.2.3); maintenance pages of load balancers use the date.",
			Client: "Reads both forms, and compares the date with that of the answer; never takes it for 0 seconds.",
			begin: answerInstead(func(e *encounter, w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Retry-After", e.env.Now().Add(e.play.Wait).UTC().Format(http.TimeFormat))
				e.refuse(w, r, unavailable())
			}),
		},
		{
			Name: "html-error", Times: 1, Strikes: dataKinds(), Also: openKinds(),
			Does:   "The first request is answered 502 with an HTML page.",
			Why:    "The proxy in front answers while the node is down, and does not know JSON.",
			Client: "Checks status and media type before it parses; reports 502, not a syntax error; tries again later.", MayStop: true,
			begin: answerInstead(func(_ *encounter, w http.ResponseWriter, r *http.Request) {
				a := newAnswer(r)
				a.become(http.StatusBadGateway, "text/html; charset=utf-8",
					"<!doctype html><html><head><title>502 Bad Gateway</title></head>\n<body><h1>502 Bad Gateway</h1><hr>nginx</body></html>\n")
				a.send(w, r)
			}),
		},
		{
			Name: "500-once", Times: 1, Strikes: dataKinds(), Also: openKinds(),
			Does:   "The first request is answered 500, without a Retry-After.",
			Why:    "An exception is not caught, on one of several servers or for a moment.",
			Client: "Repeats a GET a few times after growing pauses of its own, or stops; then reports the text of the answer.", MayStop: true,
			begin: answerInstead(func(e *encounter, w http.ResponseWriter, r *http.Request) {
				e.refuse(w, r, content.Failed("the node failed, on purpose", "repeat the request after a pause that grows"))
			}),
		},
	}
}

// unavailable returns the refusal with status 503.
func unavailable() content.Problem {
	return content.Unavailable("the node is not available for a moment, on purpose", "wait as long as Retry-After says, and repeat the request")
}

// waitSeconds returns the wait in whole seconds, at least one (RFC 9110 §10.2.3).
func (e *encounter) waitSeconds() string {
	return strconv.FormatInt(max(1, int64((e.play.Wait+time.Second-1)/time.Second)), 10)
}

// refuse answers with p. The token endpoint answers in the form of RFC 6749 §5.2 instead.
func (e *encounter) refuse(w http.ResponseWriter, r *http.Request, p content.Problem) {
	if e.kind == Token {
		e.env.TokenUnavailable(w, r, p.Status, p.Detail+"; "+p.Hint)
		return
	}
	p.Write(w, r)
}

// redirectScenarios redirect clients to another URL of the same resource.
func redirectScenarios() []Scenario {
	return []Scenario{
		{
			Name: "moved-endpoint", Times: 1, Strikes: []Kind{Info, List, Detail}, Also: []Kind{Token, Document},
			Does:   "The first request is redirected with 307 to the same resource with the trailing slash added or removed.",
			Why:    "Frameworks redirect from one spelling of a path to the other, and proxies to the new place of a node.",
			Client: "Follows with the same method and body, and with its token as long as the host is the same; or stops and reports the redirect.", MayStop: true,
			begin: answerInstead(func(_ *encounter, w http.ResponseWriter, r *http.Request) {
				to := url.URL{Path: strings.TrimSuffix(r.URL.Path, "/"), RawQuery: r.URL.RawQuery}
				if to.Path == r.URL.Path {
					to.Path += "/"
				}
				redirect(w, to)
			}),
		},
		{
			Name: "moved-host", Times: 1, Strikes: dataKinds(), Also: []Kind{Document},
			Does: "The first request is redirected with 307 to the same resource under another name of this machine: localhost for 127.0.0.1, and the reverse. " +
				"Requests to other host names are never struck.",
			Why:    "A node moves to another host and leaves a redirect behind; or an attacker redirects to a host of his own.",
			Client: "Does not send its token to another host, port or scheme: it stops and reports the redirect.", MayStop: true,
			begin: onlyIf(hasOtherLoopback, answerInstead(func(_ *encounter, w http.ResponseWriter, r *http.Request) {
				to, _ := otherLoopback(r)
				redirect(w, to)
			})),
		},
	}
}

// redirect answers 307, which keeps method and body (RFC 9110 §15.4.8), and forbids caches to store it.
func redirect(w http.ResponseWriter, to url.URL) {
	w.Header().Set("Location", to.String())
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusTemporaryRedirect)
}

// hasOtherLoopback holds for requests whose host has another loopback name. It is false if the node has a public URL: clients may then be on other
// machines, where a loopback name is not this node.
func hasOtherLoopback(e *encounter, r *http.Request) bool {
	_, ok := otherLoopback(r)
	return ok && e.env.Places.PublicURL == ""
}

// otherLoopback returns the URL of a request with another loopback name: localhost for an address, and the reverse.
func otherLoopback(r *http.Request) (to url.URL, ok bool) {
	host, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = r.Host
	}
	other, ok := map[string]string{"127.0.0.1": "localhost", "::1": "localhost", "localhost": "127.0.0.1"}[host]
	if !ok {
		return to, false
	}
	if port != "" {
		other = net.JoinHostPort(other, port)
	}
	to = url.URL{Scheme: "http", Host: other, Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery}
	if r.TLS != nil {
		to.Scheme = "https"
	}
	return to, true
}

// deliveryScenarios send good answers late or incompletely.
func deliveryScenarios() []Scenario {
	return []Scenario{
		{
			Name: "slow", Times: 1, Wait: 5 * time.Second, Strikes: dataKinds(), Also: openKinds(),
			Does:   "The first request is answered after the wait.",
			Why:    "A node has been idle, its caches are cold, or another client asks for everything.",
			Client: "Has a time limit, tells its user that it is waiting, and repeats a GET that took too long.",
			begin: actBefore(func(e *encounter, r *http.Request) {
				_ = e.env.Pause(r.Context(), e.play.Wait) // ends early if the caller is gone
			}),
		},
		{
			Name: "truncated-json", Times: 1, Strikes: dataKinds(), Also: openKinds(),
			Does:   "The first good answer ends in the middle of its JSON, with a Content-Length that agrees and the ETag of the complete answer.",
			Why:    "A proxy keeps what fits its buffer, or a script dies while it writes.",
			Client: "Uses nothing of an answer that cannot be parsed completely, not even its ETag; repeats the request, or stops and reports it.", MayStop: true,
			begin: spoilBySending(func(a *answer) bool {
				if len(a.Body) < 2 {
					return false
				}
				a.Body = a.Body[:len(a.Body)/2]
				return true
			}, sendShortened),
		},
		{
			Name: "connection-cut", Times: 1, Strikes: dataKinds(), Also: openKinds(),
			Does:   "The connection ends in the middle of the first good answer, before its Content-Length is reached.",
			Why:    "Mobile networks, firewalls and restarts of a proxy end connections.",
			Client: "Notices that bytes are missing, uses nothing of the answer, not even its ETag, and repeats the request, or stops and reports it.", MayStop: true,
			begin: spoilBySending(func(a *answer) bool { return len(a.Body) >= 2 }, sendHalf),
		},
	}
}

// sendShortened sends a shortened answer with the ETag of the complete one.
func sendShortened(a *answer, w http.ResponseWriter, r *http.Request) {
	a.keepTag(r)
	a.set("Content-Length", strconv.Itoa(len(a.Body)))
	a.start(w)
	_, _ = w.Write(a.Body) // fails only if the caller is gone
}

// keepTag gives the answer the ETag that this client gets from the node: a compressed answer has another ETag than the answer that [capture] gets. A client
// that stores this ETag is answered 304 later.
func (a *answer) keepTag(r *http.Request) {
	if a.Header.Get("ETag") == "" || r.Method != http.MethodGet {
		return
	}
	unconditional := r.Clone(r.Context())
	unconditional.Header.Del("If-None-Match")
	w := &recorder{answer: newAnswer(r)}
	a.node.ServeHTTP(w, unconditional)
	w.finish()
	if tag := w.answer.Header.Get("ETag"); tag != "" {
		a.set("ETag", tag)
	}
}

// sendHalf sends half of an answer and ends the connection.
func sendHalf(a *answer, w http.ResponseWriter, r *http.Request) {
	a.keepTag(r)
	a.set("Content-Length", strconv.Itoa(len(a.Body)))
	a.start(w)
	_, _ = w.Write(a.Body[:len(a.Body)/2])    // fails only if the caller is gone
	_ = http.NewResponseController(w).Flush() // if w cannot flush, the caller gets nothing
	panic(http.ErrAbortHandler)               // makes net/http close the connection without logging a panic
}
