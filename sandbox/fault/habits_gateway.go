package fault

import (
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// gatewayHabits are unusual answers of a gateway, firewall or server in front of a node.
func gatewayHabits() []Deviation {
	return []Deviation{
		{Name: "firewall-blocks-odd-input",
			Why: "A web application firewall answers odd input, and only that, with its block page and a support id, as F5 and Cloudflare do.",
			Wrap: refuseEarly(isOdd, become(http.StatusForbidden, "text/html; charset=utf-8",
				"<html><head><title>Request Rejected</title></head><body>The requested URL was rejected. "+
					"Please consult with your administrator.<br><br>Your support ID is: 8312904518266017<br></body></html>"), everyKind()...)},
		{Name: "server-refuses-odd-input",
			Why:  "The servlet container answers malformed requests with its own page, as Tomcat does for %00 and for bytes outside ASCII.",
			Wrap: refuseEarly(isOdd, tomcatPage, everyKind()...)},
		{Name: "long-requests-refused",
			Why: "Long URLs are answered 414 and long headers 431, by the usual limits of servers.",
			Wrap: both(
				refuseEarly(func(r *http.Request) bool { return len(r.URL.RequestURI()) > 2000 },
					nginxPage(http.StatusRequestURITooLong), everyKind()...),
				refuseEarly(func(r *http.Request) bool { return len(r.Header.Get("Authorization")) > 4000 },
					nginxPage(http.StatusRequestHeaderFieldsTooLarge), everyKind()...))},
		{Name: "rate-limited",
			Why: "Now and then a gateway that counts requests answers 429 with Retry-After, and the next request is served.",
			Wrap: stateful(refuseSome(100, func(a *answer) {
				a.become(http.StatusTooManyRequests, "application/json", `{"message":"API rate limit exceeded"}`)
				a.set("Retry-After", "1")
			}))},
		{Name: "busy-now-and-then",
			Why: "Now and then the node is busy and answers 503 with Retry-After, as servers with a full queue do, and the next request is served.",
			Wrap: stateful(refuseSome(400, func(a *answer) {
				a.become(http.StatusServiceUnavailable, "application/json", `{"message":"busy"}`)
				a.set("Retry-After", "1")
			}))},
		{Name: "rate-limited-by-page",
			Why: "Now and then a gateway answers 429 with its own HTML page and Retry-After, as nginx and Cloudflare do.",
			Wrap: stateful(refuseSome(400, func(a *answer) {
				nginxPage(http.StatusTooManyRequests)(a)
				a.set("Retry-After", "1")
			}))},
		{Name: "rate-limited-without-retry-after",
			Why: "Now and then a library that counts requests answers 429 and does not say when to come back, as Flask-Limiter does by default.",
			Wrap: stateful(refuseSome(400, func(a *answer) {
				a.become(http.StatusTooManyRequests, "text/html; charset=utf-8", "<!doctype html>\n<title>429 Too Many Requests</title>\n<h1>Too Many Requests</h1>\n<p>20 per 1 second</p>\n")
			}))},
		{Name: "paths-normalised",
			Why:  "Doubled slashes, dots and matrix parameters are removed from a path before it is served, as by nginx and Tomcat; a token is still required.",
			Wrap: normalizePaths},
		{Name: "other-slash-redirected",
			Why:  "Each URL is served as it is published, with or without a trailing slash, and the other spelling is redirected, as by Flask and Django.",
			Wrap: intercept(redirectToPublished, everyKind()...)},
		{Name: "errors-of-the-front-server",
			Why:  "An unknown path is answered by the front server with its page, as nginx does for paths that it does not pass on.",
			Wrap: rewrite(when(isNotFound, nginxPage(http.StatusNotFound)), otherKinds()...)},
	}
}

// otherKinds lists the kinds of requests for unknown paths, metadata and keys.
func otherKinds() []Kind { return []Kind{Other, API, Keys, Metadata} }

// isOdd holds for URLs and credentials that only hostile or broken clients send.
func isOdd(r *http.Request) bool {
	return strings.ContainsFunc(r.URL.Path, isControl) || strings.Contains(r.URL.Path, "..") || strings.ContainsAny(r.URL.Path, `'"{}`) ||
		strings.Contains(r.URL.RawQuery, "%00") || strings.Contains(r.URL.RawQuery, "%FF") ||
		strings.ContainsFunc(r.Header.Get("Authorization"), isControl)
}

// isControl holds for control characters and for bytes that are not UTF-8.
func isControl(c rune) bool { return c < ' ' || c == 0x7f || c == '\uFFFD' }

func tomcatPage(a *answer) {
	a.become(http.StatusBadRequest, "text/html;charset=utf-8", `<!doctype html><html lang="en"><head><title>HTTP Status 400 – Bad Request</title></head>`+
		`<body><h1>HTTP Status 400 – Bad Request</h1></body></html>`)
}

func nginxPage(status int) change {
	return become(status, "text/html",
		"<html>\r\n<head><title>Error</title></head>\r\n<body>\r\n<center><h1>Error</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n")
}

// refuseSome refuses one request in every n: the tenth, and then each nth after it.
func refuseSome(n int64, refuse func(*answer)) func() wrap {
	return func() wrap {
		var count atomic.Int64
		return refuseEarly(func(*http.Request) bool { return count.Add(1)%n == 10 }, refuse, everyKind()...)
	}
}

// normalizePaths serves the path without doubled slashes, dot segments and matrix parameters.
func normalizePaths(next http.Handler, env Env) http.Handler {
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
		if clean != r.URL.Path && !strings.Contains(r.URL.EscapedPath(), "%") && kindOf(env.Places, clean) != TryOut {
			r = withPath(r, clean)
		}
		next.ServeHTTP(w, r)
	})
}

// redirectToPublished redirects to the published spelling of a path.
func redirectToPublished(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
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
}

// headerHabits are unusual header fields.
func headerHabits() []Deviation {
	return []Deviation{
		{Name: "load-balancer-cookies",
			Why: "Every answer sets the cookies by which AWS and F5 load balancers find the same server again.",
			Wrap: rewrite(func(a *answer) {
				a.Header.Add("Set-Cookie", "AWSALB=9mTqWlXr3Vn0; Expires=Mon, 09 Mar 2037 09:00:00 GMT; Path=/")
				a.Header.Add("Set-Cookie", "BIGipServerpool_ris=1677787402.36895.0000; path=/; Httponly; Secure; SameSite=None")
			}, everyKind()...)},
		{Name: "session-that-means-nothing",
			Why: "Authorized calls get a JSESSIONID cookie that does not replace the token, as from Spring unless sessions are switched off.",
			Wrap: rewriteSuccess(func(a *answer) {
				a.Header.Add("Set-Cookie", "JSESSIONID=6C1F0B2A9D4E4B7F8A3C5D6E7F809A1B; Path="+a.request.URL.Path+"; HttpOnly")
			}, protectedKinds()...)},
		{Name: "content-delivery-network",
			Why: "Answers carry the header fields of a CDN that does not store them: Via, Age, X-Cache, Alt-Svc.",
			Wrap: rewrite(setHeaders(
				"Via", "1.1 varnish, 1.1 8f2c.cloudfront.net (CloudFront)",
				"Age", "0",
				"X-Cache", "MISS from edge, Miss from cloudfront",
				"Alt-Svc", `h3=":443"; ma=86400, h3-29=":443"; ma=86400`,
				"Server-Timing", `cdn-cache; desc=MISS, edge; dur=1`,
			), everyKind()...)},
		{Name: "security-headers",
			Why: "Answers carry every security header that scanners expect, as from Spring Security, Helmet and Django.",
			Wrap: rewrite(setHeaders(
				"Strict-Transport-Security", "max-age=63072000; includeSubDomains; preload",
				"Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; "+strings.Repeat("img-src 'self'; ", 100),
				"X-Frame-Options", "DENY",
				"X-XSS-Protection", "0",
				"Referrer-Policy", "no-referrer",
				"Permissions-Policy", "geolocation=(), camera=()",
				"Cross-Origin-Resource-Policy", "same-origin",
			), everyKind()...)},
		{Name: "cors-for-anybody",
			Why:  "Any origin may read the answers, without credentials, and a preflight is answered 204 before the token is checked.",
			Wrap: answerCORS("*", "")},
		{Name: "cors-for-one-origin",
			Why:  "One portal may read the answers with credentials, whichever origin calls, as from a CORS filter with a fixed origin.",
			Wrap: answerCORS("https://portal.node.example", "true")},
		{Name: "several-lines-of-one-header",
			Why: "Cache-Control and Vary are sent in several lines, one for each layer that adds to them.",
			Wrap: rewrite(func(a *answer) {
				splitLines(a, "Cache-Control")
				splitLines(a, "Vary")
			}, everyKind()...)},
		{Name: "weak-validators",
			Why: "Entity tags are weak and have a Last-Modified beside them, as from nginx for compressed bodies.",
			Wrap: rewriteSuccess(func(a *answer) {
				if tag := a.Header.Get("ETag"); tag != "" {
					a.set("ETag", "W/"+strings.TrimPrefix(tag, "W/"))
				}
				a.set("Last-Modified", "Sun, 01 Mar 2026 04:00:00 GMT")
			}, Info, Document, List, Detail)},
		{Name: "language-and-file-name",
			Why: "Answers name their language and a file name, and vary by many header fields, as from Spring's content negotiation.",
			Wrap: rewriteSuccess(func(a *answer) {
				a.set("Content-Language", "de-AT")
				a.set("Content-Disposition", `inline;filename=f.txt`)
				a.appendTo("Vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers, Accept-Language")
			}, Info, List, Detail)},
		{Name: "deprecation-announced",
			Why: "Answers announce with Deprecation and Sunset, in the right form and order, when this version of the API ends.",
			Wrap: rewriteSuccess(func(a *answer) {
				a.set("Deprecation", "@"+strconv.FormatInt(a.env.Now().AddDate(0, -1, 0).Unix(), 10))
				a.set("Sunset", "Thu, 31 Dec 2099 23:59:59 GMT")
				a.Header.Add("Link", `<https://node.example/migration>; rel="deprecation"; type="text/html"`)
			}, Info, List, Detail)},
		{Name: "rate-limit-told",
			Why: "Answers say how many requests are left, as from Kong and GitHub, in header fields of three styles.",
			Wrap: rewrite(setHeaders(
				"X-RateLimit-Limit", "5000",
				"X-RateLimit-Remaining", "4999",
				"RateLimit", `"default";r=4999;t=3600`,
				"RateLimit-Policy", `"default";q=5000;w=3600`,
			), everyKind()...)},
		{Name: "clock-some-seconds-ahead",
			Why: "The clock of the front server is twenty seconds ahead, as on machines whose time is set by hand.",
			Wrap: rewrite(func(a *answer) {
				a.set("Date", a.env.Now().Add(20*time.Second).UTC().Format(http.TimeFormat))
			}, everyKind()...)},
		{Name: "document-kept-by-cache",
			Why: "The document comes from a cache that has had it for an hour: Date is that of the node, and Age says how old the copy is.",
			Wrap: rewriteSuccess(func(a *answer) {
				a.set("Date", a.env.Now().Add(-time.Hour).UTC().Format(http.TimeFormat))
				a.set("Age", "3600")
			}, Document)},
	}
}

// setHeaders sets header fields, given as names and values in turn.
func setHeaders(pairs ...string) change {
	return func(a *answer) {
		for i := 0; i < len(pairs); i += 2 {
			a.set(pairs[i], pairs[i+1])
		}
	}
}

// splitLines sends each member of a header field that is a list in a line of its own, and the first twice.
func splitLines(a *answer, name string) {
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

// answerCORS makes a wrap that lets pages of an origin read the answers.
func answerCORS(origin, credentials string) wrap {
	return intercept(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		a := newAnswer(r)
		if r.Method == http.MethodOptions {
			a.Status = http.StatusNoContent
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
	}, everyKind()...)
}
