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

// refusals are answers in the node's place, by the node itself or what stands before it.
func refusals() []Scenario {
	return []Scenario{
		{
			Name: "429-then-ok", Times: 2, Wait: time.Second, Strikes: mayNeedToken(), Also: open(),
			Does:   "The first requests are answered 429 with Retry-After: the wait, in seconds.",
			Why:    "A gateway counts requests, and one that polls or reads all pages at once is over the limit.",
			Client: "Waits as long as Retry-After says, then repeats the request; slows down.",
			begin: instead(func(t *turn, w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Retry-After", t.seconds())
				t.refuse(w, r, content.TooManyRequests("too many requests, on purpose", "wait as many seconds as Retry-After says, and repeat the request"))
			}),
		},
		{
			Name: "503-twice", Times: 2, Wait: time.Second, Strikes: mayNeedToken(), Also: open(),
			Does:   "The first requests are answered 503 with Retry-After: the wait, in seconds.",
			Why:    "A node restarts for an update, or its database does.",
			Client: "Waits as long as Retry-After says, then repeats the request; gives up after some attempts.",
			begin: instead(func(t *turn, w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Retry-After", t.seconds())
				t.refuse(w, r, unavailable())
			}),
		},
		{
			Name: "retry-after-date", Times: 1, Wait: 2 * time.Second, Strikes: mayNeedToken(), Also: open(),
			Does:   "The first request is answered 503 with Retry-After as a date: now by the answer's Date, and the wait.",
			Why:    "Retry-After has two forms (RFC 9110 §10.2.3); maintenance pages of load balancers use the date.",
			Client: "Reads both forms, the date against that of the answer; never takes it for 0 seconds.",
			begin: instead(func(t *turn, w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Retry-After", t.env.Now().Add(t.play.Wait).UTC().Format(http.TimeFormat))
				t.refuse(w, r, unavailable())
			}),
		},
		{
			Name: "html-error", Times: 1, Strikes: mayNeedToken(), Also: open(),
			Does:   "The first request is answered 502 with a page in HTML.",
			Why:    "The proxy before the node answers while the node is away, and knows nothing of JSON.",
			Client: "Looks at status and media type before it parses; reports 502, not a syntax error; tries again later.",
			begin: instead(func(_ *turn, w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				w.Header().Set("Cache-Control", "no-store")
				w.WriteHeader(http.StatusBadGateway)
				if r.Method != http.MethodHead {
					_, _ = w.Write([]byte(badGateway)) // a failed write means that the caller is gone
				}
			}),
		},
		{
			Name: "500-once", Times: 1, Strikes: mayNeedToken(), Also: open(),
			Does:   "The first request is answered 500, without a Retry-After.",
			Why:    "An exception that nobody caught, on one of several servers or for one moment.",
			Client: "Repeats a GET after a pause of its own that grows, a few times; then reports the answer's own words.",
			begin: instead(func(t *turn, w http.ResponseWriter, r *http.Request) {
				t.refuse(w, r, content.Failed("the node failed, on purpose", "repeat the request after a pause that grows"))
			}),
		},
	}
}

const badGateway = `<!doctype html><html><head><title>502 Bad Gateway</title></head>
<body><h1>502 Bad Gateway</h1><hr>nginx</body></html>
`

func unavailable() content.Problem {
	return content.Unavailable("the node is not available for a moment, on purpose", "wait as long as Retry-After says, and repeat the request")
}

// seconds is the wait in whole seconds, one at least (RFC 9110 §10.2.3).
func (t *turn) seconds() string {
	return strconv.FormatInt(max(1, int64((t.play.Wait+time.Second-1)/time.Second)), 10)
}

// refuse sends p, at the token endpoint in the form of RFC 6749 §5.2.
func (t *turn) refuse(w http.ResponseWriter, r *http.Request, p content.Problem) {
	if t.kind == Token {
		t.env.Later(w, r, p.Status, p.Detail+"; "+p.Hint)
		return
	}
	p.Write(w, r)
}

// redirects send clients to where a resource is, too.
func redirects() []Scenario {
	return []Scenario{
		{
			Name: "moved-endpoint", Times: 1, Strikes: []Kind{Info, FundingList, FundingDetail}, Also: []Kind{Token, Spec},
			Does:   "The first request is answered 307 to the same resource with, or without, a slash at its end.",
			Why:    "Frameworks redirect from one spelling of a path to the other, and proxies to where a node has moved.",
			Client: "Follows with the same method and body, and with its token as long as the host is the same.",
			begin: instead(func(_ *turn, w http.ResponseWriter, r *http.Request) {
				to := url.URL{Path: strings.TrimSuffix(r.URL.Path, "/"), RawQuery: r.URL.RawQuery}
				if to.Path == r.URL.Path {
					to.Path += "/"
				}
				redirect(w, to)
			}),
		},
		{
			Name: "moved-host", Times: 1, Strikes: mayNeedToken(), Also: []Kind{Spec},
			Does: "The first request is answered 307 to the same resource under another name of this machine: localhost for 127.0.0.1, and the reverse. " +
				"A node that is called by any other name never strikes.",
			Why:    "A node moves to another host and leaves a redirect behind; or somebody between redirects to a host of his own.",
			Client: "Does not take its token along to another host, port or scheme: it stops there and says so.",
			begin: same(func(t *turn, next http.Handler, w http.ResponseWriter, r *http.Request) {
				to, ok := otherName(r)
				if t.env.Places.PublicURL != "" || !ok {
					next.ServeHTTP(w, r)
					return
				}
				mark, ok := t.take()
				if !ok {
					next.ServeHTTP(w, r)
					return
				}
				t.struck(w.Header(), mark)
				redirect(w, to)
			}),
		},
	}
}

// redirect answers 307: method and body stay (RFC 9110 §15.4.8), and no cache keeps it.
func redirect(w http.ResponseWriter, to url.URL) {
	w.Header().Set("Location", to.String())
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusTemporaryRedirect)
}

// otherName is the URL of a request under another name of loopback.
func otherName(r *http.Request) (to url.URL, ok bool) {
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

// deliveries are good answers that arrive late, or in part.
func deliveries() []Scenario {
	return []Scenario{
		{
			Name: "slow", Times: 1, Wait: 5 * time.Second, Strikes: mayNeedToken(), Also: open(),
			Does:   "The first request is answered after the wait.",
			Why:    "A node has slept, its caches are cold, or somebody else asks for everything.",
			Client: "Has a time limit, tells its user that it waits, and repeats a GET that took too long.",
			begin: letNodeAnswer(func(t *turn, r *http.Request) {
				_ = t.env.Pause(r.Context(), t.play.Wait) // ends early when the caller is gone
			}),
		},
		{
			Name: "truncated-json", Times: 1, Strikes: mayNeedToken(), Also: open(),
			Does:   "The first good answer ends in the middle of its JSON, with a Content-Length that agrees.",
			Why:    "A proxy keeps what fits its buffer, or a script dies while it writes.",
			Client: "Takes nothing of an answer that can't be parsed as a whole, and repeats the request.",
			begin: altered(func(a *Answer) bool {
				if len(a.Body) < 2 {
					return false
				}
				a.Body = a.Body[:len(a.Body)/2]
				return true
			}),
		},
		{
			Name: "connection-cut", Times: 1, Strikes: mayNeedToken(), Also: open(),
			Does:   "The connection ends in the middle of the first good answer, short of its Content-Length.",
			Why:    "Mobile networks, firewalls and restarts of a proxy end connections.",
			Client: "Notices that bytes are missing, takes nothing of the answer, and repeats the request.",
			begin:  delivered(func(a *Answer) bool { return len(a.Body) >= 2 }, cut),
		},
	}
}

// cut sends half of an answer and ends the connection.
func cut(a *Answer, w http.ResponseWriter, _ *http.Request) {
	header := w.Header()
	for name, values := range a.Header {
		header[name] = values
	}
	header.Set("Content-Length", strconv.Itoa(len(a.Body)))
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body[:len(a.Body)/2])    // a failed write means that the caller is gone
	_ = http.NewResponseController(w).Flush() // what can't be sent now is missing, too
	panic(http.ErrAbortHandler)               // net/http's own way to end a connection, which it does not log
}
