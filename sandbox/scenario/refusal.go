package scenario

import (
	"net/http"
	"strconv"
	"time"

	"github.com/rin-network/rin/sandbox/problem"
)

// refusals are answers in the node's place, by the node itself or what stands before it.
func refusals() []Scenario {
	return []Scenario{
		{
			Name: "429-then-ok", Times: 2, Wait: time.Second, Strikes: protected(), Also: open(),
			Does:   "The first requests are answered 429 with Retry-After: the wait, in seconds.",
			Why:    "A gateway counts requests, and one that polls or reads all pages at once is over the limit.",
			Client: "Waits as long as Retry-After says, then repeats the request; slows down.",
			begin: instead(func(t *turn, w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Retry-After", t.seconds())
				t.refuse(w, r, problem.TooManyRequests("too many requests, on purpose", "wait as many seconds as Retry-After says, and repeat the request"))
			}),
		},
		{
			Name: "503-twice", Times: 2, Wait: time.Second, Strikes: protected(), Also: open(),
			Does:   "The first requests are answered 503 with Retry-After: the wait, in seconds.",
			Why:    "A node restarts for an update, or its database does.",
			Client: "Waits as long as Retry-After says, then repeats the request; gives up after some attempts.",
			begin: instead(func(t *turn, w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Retry-After", t.seconds())
				t.refuse(w, r, unavailable())
			}),
		},
		{
			Name: "retry-after-date", Times: 1, Wait: 2 * time.Second, Strikes: protected(), Also: open(),
			Does:   "The first request is answered 503 with Retry-After as a date: now by the answer's Date, and the wait.",
			Why:    "Retry-After has two forms (RFC 9110 §10.2.3); maintenance pages of load balancers use the date.",
			Client: "Reads both forms, the date against that of the answer; never takes it for 0 seconds.",
			begin: instead(func(t *turn, w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Retry-After", t.env.Now().Add(t.play.Wait).UTC().Format(http.TimeFormat))
				t.refuse(w, r, unavailable())
			}),
		},
		{
			Name: "html-error", Times: 1, Strikes: protected(), Also: open(),
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
			Name: "500-once", Times: 1, Strikes: protected(), Also: open(),
			Does:   "The first request is answered 500, without a Retry-After.",
			Why:    "An exception that nobody caught, on one of several servers or for one moment.",
			Client: "Repeats a GET after a pause of its own that grows, a few times; then reports the answer's own words.",
			begin: instead(func(t *turn, w http.ResponseWriter, r *http.Request) {
				t.refuse(w, r, problem.Failed("the node failed, on purpose", "repeat the request after a pause that grows"))
			}),
		},
	}
}

const badGateway = `<!doctype html><html><head><title>502 Bad Gateway</title></head>
<body><h1>502 Bad Gateway</h1><hr>nginx</body></html>
`

func unavailable() problem.Problem {
	return problem.Unavailable("the node is not available for a moment, on purpose", "wait as long as Retry-After says, and repeat the request")
}

// seconds is the wait in whole seconds, one at least (RFC 9110 §10.2.3).
func (t *turn) seconds() string {
	return strconv.FormatInt(max(1, int64((t.play.Wait+time.Second-1)/time.Second)), 10)
}

// refuse sends p, at the token endpoint in the form of RFC 6749 §5.2.
func (t *turn) refuse(w http.ResponseWriter, r *http.Request, p problem.Problem) {
	if t.kind == Token {
		t.env.Later(w, r, p.Status, p.Detail+"; "+p.Hint)
		return
	}
	p.Write(w, r)
}
