package deviation

import (
	"net/http"
	"path"
	"strings"
	"sync/atomic"
)

// gatewayHabits are what stands before a node answers in its place.
func gatewayHabits() []Deviation {
	return []Deviation{
		{
			Name: "firewall-blocks-odd-input",
			Why:  "A web application firewall answers odd input, and only that, with its block page and a support id, as F5 and Cloudflare do.",
			Wrap: before(odd, func(a *Answer) { a.become(http.StatusForbidden, "text/html; charset=utf-8", blockPage) }),
		},
		{
			Name: "server-refuses-odd-input",
			Why:  "The servlet container answers what it does not take for a request with its own page, as Tomcat does with %00 and with bytes beyond ASCII.",
			Wrap: before(odd, func(a *Answer) { a.become(http.StatusBadRequest, "text/html;charset=utf-8", tomcatPage) }),
		},
		{
			Name: "long-requests-refused",
			Why:  "Long URLs are answered 414 and long headers 431, as the limits of most servers have it.",
			Wrap: both(
				before(func(r *http.Request) bool { return len(r.URL.RequestURI()) > 2000 }, func(a *Answer) { a.become(http.StatusRequestURITooLong, "text/html", nginxPage) }),
				before(func(r *http.Request) bool { return len(r.Header.Get("Authorization")) > 4000 }, func(a *Answer) {
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

// before makes a Wrap that answers requests that fit, before the node sees them.
func before(fits func(r *http.Request) bool, refuse func(a *Answer)) wrap {
	return around(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		if !fits(r) {
			next.ServeHTTP(w, r)
			return
		}
		a := &Answer{}
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
		a := &Answer{}
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
