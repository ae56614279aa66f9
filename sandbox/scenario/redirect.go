package scenario

import (
	"net"
	"net/http"
	"net/url"
	"strings"
)

// redirects send clients to where a resource is, too.
func redirects() []Scenario {
	return []Scenario{
		{
			Name: "moved-endpoint", Times: 1, Strikes: []Kind{Info, List, Detail}, Also: []Kind{Token, Document},
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
			Name: "moved-host", Times: 1, Strikes: protected(), Also: []Kind{Document},
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
