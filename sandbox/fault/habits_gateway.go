package fault

import (
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// gatewayHabits are what stands before a node answers in its place.
func gatewayHabits() []Deviation {
	return []Deviation{
		{
			Name: "firewall-blocks-odd-input",
			Why:  "A web application firewall answers odd input, and only that, with its block page and a support id, as F5 and Cloudflare do.",
			Wrap: refuseEarly(odd, func(a *editableAnswer) { a.become(http.StatusForbidden, "text/html; charset=utf-8", blockPage) }),
		},
		{
			Name: "server-refuses-odd-input",
			Why:  "The servlet container answers what it does not take for a request with its own page, as Tomcat does with %00 and with bytes beyond ASCII.",
			Wrap: refuseEarly(odd, func(a *editableAnswer) { a.become(http.StatusBadRequest, "text/html;charset=utf-8", tomcatPage) }),
		},
		{
			Name: "long-requests-refused",
			Why:  "Long URLs are answered 414 and long headers 431, as the limits of most servers have it.",
			Wrap: both(
				refuseEarly(func(r *http.Request) bool { return len(r.URL.RequestURI()) > 2000 }, func(a *editableAnswer) { a.become(http.StatusRequestURITooLong, "text/html", nginxPage) }),
				refuseEarly(func(r *http.Request) bool { return len(r.Header.Get("Authorization")) > 4000 }, func(a *editableAnswer) {
					a.become(http.StatusRequestHeaderFieldsTooLarge, "text/html", nginxPage)
				}),
			),
		},
		{
			Name: "rate-limited",
			Why:  "Every now and then a request is answered 429 with Retry-After, by a gateway that counts, and the next one is served.",
			Wrap: limited,
		},
		{
			Name: "paths-normalised",
			Why:  "Slashes that are doubled, dots and matrix parameters are taken out of a path before it is served, as nginx and Tomcat do; the token is asked for all the same.",
			Wrap: normalised,
		},
		{
			Name: "other-slash-redirected",
			Why:  "Each URL is served as it is published, with or without a slash at its end, and the other spelling is redirected, as Flask and Django do.",
			Wrap: slashes,
		},
		{
			Name: "errors-of-the-front-server",
			Why:  "A path that leads nowhere is answered by the front server with its page, as nginx does for what it does not pass on.",
			Wrap: outside(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
				a := capture(next, r)
				if a.Status == http.StatusNotFound {
					a.become(http.StatusNotFound, "text/html", nginxPage)
				}
				a.send(w, r)
			}),
		},
	}
}

// refuseEarly makes a Wrap that answers requests that fit, before the node sees them.
func refuseEarly(fits func(r *http.Request) bool, refuse func(a *editableAnswer)) wrap {
	return around(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		if !fits(r) {
			next.ServeHTTP(w, r)
			return
		}
		a := &editableAnswer{}
		refuse(a)
		a.send(w, r)
	}, everywhere()...)
}

// odd holds for URLs and credentials that no client sends who means well.
func odd(r *http.Request) bool {
	return strings.ContainsFunc(r.URL.Path, control) || strings.Contains(r.URL.Path, "..") || strings.ContainsAny(r.URL.Path, `'"{}`) ||
		strings.Contains(r.URL.RawQuery, "%00") || strings.Contains(r.URL.RawQuery, "%FF") ||
		strings.ContainsFunc(r.Header.Get("Authorization"), control)
}

// control holds for control characters and for bytes that are no UTF-8.
func control(c rune) bool { return c < ' ' || c == 0x7f || c == '\uFFFD' }

const (
	blockPage = "<html><head><title>Request Rejected</title></head><body>The requested URL was rejected. " +
		"Please consult with your administrator.<br><br>Your support ID is: 8312904518266017<br></body></html>"
	tomcatPage = `<!doctype html><html lang="en"><head><title>HTTP Status 400 – Bad Request</title></head><body><h1>HTTP Status 400 – Bad Request</h1></body></html>`
	nginxPage  = "<html>\r\n<head><title>Error</title></head>\r\n<body>\r\n<center><h1>Error</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"
)

// limited answers each fiftieth request 429, as a gateway that has counted enough of them in a second.
func limited(next http.Handler, env Env) http.Handler {
	var count atomic.Int64
	const every, first = 50, 10
	return around(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		if count.Add(1)%every != first {
			next.ServeHTTP(w, r)
			return
		}
		a := &editableAnswer{}
		a.become(http.StatusTooManyRequests, "application/json", `{"message":"API rate limit exceeded"}`)
		a.set("Retry-After", "1")
		a.send(w, r)
	}, everywhere()...)(next, env)
}

// normalised serves what the path means.
func normalised(next http.Handler, env Env) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var segments []string
		for segment := range strings.SplitSeq(r.URL.Path, "/") {
			segment, _, _ = strings.Cut(segment, ";")
			segments = append(segments, segment)
		}
		clean := path.Clean("/" + strings.Join(segments, "/"))
		if strings.HasSuffix(r.URL.Path, "/") && clean != "/" {
			clean += "/"
		}
		if clean == r.URL.Path || strings.Contains(r.URL.EscapedPath(), "%") || below(clean, env.Places.TryOut().API()) {
			next.ServeHTTP(w, r)
			return
		}
		other := r.Clone(r.Context())
		other.URL.Path, other.URL.RawPath = clean, ""
		next.ServeHTTP(w, other)
	})
}

// slashes redirects to the spelling that is published.
func slashes(next http.Handler, env Env) http.Handler {
	return around(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		to := *r.URL
		to.Path, to.RawPath = strings.TrimSuffix(to.Path, "/"), ""
		if env.Classify(r) == Info {
			to.Path = env.Places.Info()
		}
		if to.Path == r.URL.Path || strings.Contains(r.URL.EscapedPath(), "%") {
			next.ServeHTTP(w, r)
			return
		}
		http.Redirect(w, r, to.RequestURI(), http.StatusPermanentRedirect)
	}, everywhere()...)(next, env)
}

// headerHabits are header fields that nobody asked for, and fields that are sent in another form.
func headerHabits() []Deviation {
	return []Deviation{
		{
			Name: "load-balancer-cookies",
			Why:  "Every answer sets the cookies by which AWS and F5 load balancers find the same server again.",
			Wrap: rewrite(func(_ *http.Request, a *editableAnswer) {
				a.Header.Add("Set-Cookie", "AWSALB=9mTqWlXr3Vn0; Expires=Mon, 09 Mar 2037 09:00:00 GMT; Path=/")
				a.Header.Add("Set-Cookie", "BIGipServerpool_ris=1677787402.36895.0000; path=/; Httponly; Secure; SameSite=None")
			}, everywhere()...),
		},
		{
			Name: "session-that-means-nothing",
			Why:  "Authorized calls get a JSESSIONID that no call is admitted by, as Spring hands it out where sessions are not switched off.",
			Wrap: rewrite(when(succeeded, func(r *http.Request, a *editableAnswer) {
				a.Header.Add("Set-Cookie", "JSESSIONID=6C1F0B2A9D4E4B7F8A3C5D6E7F809A1B; Path="+r.URL.Path+"; HttpOnly")
			}), protected()...),
		},
		{
			Name: "content-delivery-network",
			Why:  "Answers carry the marks of a CDN that stores nothing of them: Via, Age, X-Cache, Alt-Svc.",
			Wrap: rewrite(func(_ *http.Request, a *editableAnswer) {
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
			Wrap: rewrite(func(_ *http.Request, a *editableAnswer) {
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
			Wrap: rewrite(func(_ *http.Request, a *editableAnswer) {
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
			Wrap: rewrite(when(succeeded, func(_ *http.Request, a *editableAnswer) {
				if tag := a.Header.Get("ETag"); tag != "" {
					a.set("ETag", "W/"+strings.TrimPrefix(tag, "W/"))
				}
				a.set("Last-Modified", "Sun, 01 Mar 2026 04:00:00 GMT")
			}), Info, Spec, FundingList, FundingDetail),
		},
		{
			Name: "language-and-file-name",
			Why:  "Answers name their language and a file name, and vary by everything, as Spring's content negotiation does.",
			Wrap: rewrite(when(succeeded, func(_ *http.Request, a *editableAnswer) {
				a.set("Content-Language", "de-AT")
				a.set("Content-Disposition", `inline;filename=f.txt`)
				a.list("Vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers, Accept-Language")
			}), Info, FundingList, FundingDetail),
		},
		{
			Name: "deprecation-announced",
			Why:  "Answers announce their end with Deprecation and Sunset, well-formed and in order, as an API before its next major version does.",
			Wrap: func(next http.Handler, env Env) http.Handler {
				return rewrite(when(succeeded, func(_ *http.Request, a *editableAnswer) {
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
			Wrap: rewrite(func(_ *http.Request, a *editableAnswer) {
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
				return rewrite(func(_ *http.Request, a *editableAnswer) {
					a.set("Date", env.Now().Add(20*time.Second).UTC().Format(http.TimeFormat))
				}, everywhere()...)(next, env)
			},
		},
	}
}

// cors makes a Wrap that lets pages of an origin read the answers.
func cors(origin, credentials string) wrap {
	return around(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		a := &editableAnswer{Answer{Status: http.StatusNoContent, Header: http.Header{}}}
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
