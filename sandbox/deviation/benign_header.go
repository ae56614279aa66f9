package deviation

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/rin-network/rin/sandbox/answer"
)

// headerHabits are header fields that nobody asked for, and fields that are sent in another form.
func headerHabits() []Deviation {
	return []Deviation{
		{
			Name: "load-balancer-cookies",
			Why:  "Every answer sets the cookies by which AWS and F5 load balancers find the same server again.",
			Wrap: rewrite(func(_ *http.Request, a *Answer) {
				a.Header.Add("Set-Cookie", "AWSALB=9mTqWlXr3Vn0; Expires=Mon, 09 Mar 2037 09:00:00 GMT; Path=/")
				a.Header.Add("Set-Cookie", "BIGipServerpool_ris=1677787402.36895.0000; path=/; Httponly; Secure; SameSite=None")
			}, everywhere()...),
		},
		{
			Name: "session-that-means-nothing",
			Why:  "Authorized calls get a JSESSIONID that no call is admitted by, as Spring hands it out where sessions are not switched off.",
			Wrap: rewrite(when(succeeded, func(r *http.Request, a *Answer) {
				a.Header.Add("Set-Cookie", "JSESSIONID=6C1F0B2A9D4E4B7F8A3C5D6E7F809A1B; Path="+r.URL.Path+"; HttpOnly")
			}), protected()...),
		},
		{
			Name: "content-delivery-network",
			Why:  "Answers carry the marks of a CDN that stores nothing of them: Via, Age, X-Cache, Alt-Svc.",
			Wrap: rewrite(func(_ *http.Request, a *Answer) {
				a.Header.Add("Via", "1.1 varnish, 1.1 8f2c.cloudfront.net (CloudFront)")
				a.set("Age", "0")
				a.set("X-Cache", "MISS from edge, Miss from cloudfront")
				a.set("Alt-Svc", `h3=":443"; ma=86400, h3-29=":443"; ma=86400`)
				a.set("Server-Timing", `cdn-cache; desc=MISS, edge; dur=1`)
			}, everywhere()...),
		},
		{
			Name: "security-headers",
			Why:  "Answers carry every security header that scanners ask for, as Spring Security, Helmet and Django send them.",
			Wrap: rewrite(func(_ *http.Request, a *Answer) {
				a.set("Strict-Transport-Security", "max-age=63072000; includeSubDomains; preload")
				a.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; "+strings.Repeat("img-src 'self'; ", 100))
				a.set("X-Frame-Options", "DENY")
				a.set("X-XSS-Protection", "0")
				a.set("Referrer-Policy", "no-referrer")
				a.set("Permissions-Policy", "geolocation=(), camera=()")
				a.set("Cross-Origin-Resource-Policy", "same-origin")
			}, everywhere()...),
		},
		{
			Name: "cors-for-anybody",
			Why:  "Any origin may read the answers, without credentials, and a preflight is answered 204 before the token is looked at.",
			Wrap: cors("*", ""),
		},
		{
			Name: "cors-for-one-origin",
			Why:  "One portal may read the answers with credentials, whoever asks, as a CORS filter with a fixed origin answers.",
			Wrap: cors("https://portal.node.example", "true"),
		},
		{
			Name: "several-lines-of-one-header",
			Why:  "Cache-Control and Vary are sent in several lines, one for each layer that adds to them.",
			Wrap: rewrite(func(_ *http.Request, a *Answer) {
				for _, name := range []string{"Cache-Control", "Vary"} {
					var lines []string
					for _, line := range a.Header.Values(name) {
						for member := range strings.SplitSeq(line, ",") {
							lines = append(lines, strings.TrimSpace(member))
						}
					}
					if lines != nil {
						a.Header[name] = append(lines, lines[0])
					}
				}
			}, everywhere()...),
		},
		{
			Name: "weak-validators",
			Why:  "Entity tags are weak and a Last-Modified comes with them, as nginx makes them for bodies that it compresses.",
			Wrap: rewrite(when(succeeded, func(_ *http.Request, a *Answer) {
				if tag := a.Header.Get("ETag"); tag != "" {
					a.set("ETag", "W/"+strings.TrimPrefix(tag, "W/"))
				}
				a.set("Last-Modified", "Sun, 01 Mar 2026 04:00:00 GMT")
			}), Info, Spec, FundingList, FundingDetail),
		},
		{
			Name: "language-and-file-name",
			Why:  "Answers name their language and a file name, and vary by everything, as Spring's content negotiation does.",
			Wrap: rewrite(when(succeeded, func(_ *http.Request, a *Answer) {
				a.set("Content-Language", "de-AT")
				a.set("Content-Disposition", `inline;filename=f.txt`)
				a.list("Vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers, Accept-Language")
			}), Info, FundingList, FundingDetail),
		},
		{
			Name: "deprecation-announced",
			Why:  "Answers announce their end with Deprecation and Sunset, well-formed and in order, as an API before its next major version does.",
			Wrap: func(next http.Handler, env Env) http.Handler {
				return rewrite(when(succeeded, func(_ *http.Request, a *Answer) {
					a.set("Deprecation", "@"+strconv.FormatInt(env.Now().AddDate(0, -1, 0).Unix(), 10))
					// The end is years ahead by anybody's clock.
					a.set("Sunset", "Thu, 31 Dec 2099 23:59:59 GMT")
					a.Header.Add("Link", `<https://node.example/migration>; rel="deprecation"; type="text/html"`)
				}), Info, FundingList, FundingDetail)(next, env)
			},
		},
		{
			Name: "rate-limit-told",
			Why:  "Answers tell how many requests are left, as Kong and GitHub do, in header fields of three fashions.",
			Wrap: rewrite(func(_ *http.Request, a *Answer) {
				a.set("X-RateLimit-Limit", "5000")
				a.set("X-RateLimit-Remaining", "4999")
				a.set("RateLimit", `"default";r=4999;t=3600`)
				a.set("RateLimit-Policy", `"default";q=5000;w=3600`)
			}, everywhere()...),
		},
		{
			Name: "clock-some-seconds-ahead",
			Why:  "The clock of the front server is twenty seconds ahead, as on machines whose time is set by hand.",
			Wrap: func(next http.Handler, env Env) http.Handler {
				return rewrite(func(_ *http.Request, a *Answer) {
					a.set("Date", env.Now().Add(20*time.Second).UTC().Format(http.TimeFormat))
				}, everywhere()...)(next, env)
			},
		},
	}
}

// cors makes a Wrap that lets pages of an origin read the answers.
func cors(origin, credentials string) wrap {
	return around(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		a := &Answer{answer.Answer{Status: http.StatusNoContent, Header: http.Header{}}}
		if r.Method == http.MethodOptions {
			a.set("Access-Control-Allow-Methods", "GET, HEAD, POST, OPTIONS")
			a.set("Access-Control-Allow-Headers", "Authorization, Content-Type")
			a.set("Access-Control-Max-Age", "3600")
		} else {
			a = capture(next, r)
			a.set("Access-Control-Expose-Headers", "ETag, Link, WWW-Authenticate")
		}
		a.set("Access-Control-Allow-Origin", origin)
		a.set("Access-Control-Allow-Credentials", credentials)
		a.send(w, r)
	}, everywhere()...)
}
