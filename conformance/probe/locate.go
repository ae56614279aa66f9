package probe

import (
	"cmp"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/target"
)

// infoShape is the path of the info endpoint in the interface document: {base_url}/<service_prefix>/info/v1/oauth/info/ (NET-R13).
var infoShape = regexp.MustCompile(`^(.*)/info/v1/oauth/info/?$`)

// Derive gives the base URL and the specification URL that belong to an info URL of the interface document's shape (NET-R14).
// ok is false for an info URL of another shape.
func Derive(infoURL string) (base, spec string, ok bool) {
	u, err := url.Parse(infoURL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return "", "", false
	}
	match := infoShape.FindStringSubmatch(u.EscapedPath())
	if match == nil {
		return "", "", false
	}
	base = schemeAndHost(u) + match[1]
	return base, base + "/funding/v3/api-docs", true
}

// Complete fills the URLs that the target leaves open with those of the registry entry, and derives what the info URL yields.
// What the operator gave wins.
func Complete(t target.Target, entry RegistryEntry) target.Target {
	t.TokenURL, t.InfoURL = cmp.Or(t.TokenURL, entry.TokenURL), cmp.Or(t.InfoURL, entry.InfoURL)
	base, spec, _ := Derive(t.InfoURL)
	t.SpecURL, t.BaseURL = cmp.Or(t.SpecURL, spec), cmp.Or(t.BaseURL, base)
	return t
}

// Base is a URL prefix under which operations may live.
type Base struct {
	// Prefix is scheme, host and path without a slash at the end; an operation's path is appended.
	Prefix string
	// How says where the prefix comes from.
	How string
	// Exact appends the path as it is, as the document means it (OAS 3.0.3 Paths Object).
	Exact bool
}

// serverPath is the path of the first server, a relative one resolved against the document's URL (OAS 3.0.3 Server Object).
func serverPath(servers []string, spec *url.URL) string {
	if len(servers) == 0 {
		return ""
	}
	server, err := spec.Parse(servers[0])
	if err != nil || server.Opaque != "" {
		return ""
	}
	return strings.TrimRight(server.EscapedPath(), "/")
}

// Join appends a path to another; segments that end the first and begin the second are taken once:
// "/ris/funding" and "/funding/v3" make "/ris/funding/v3".
func Join(a, b string) string {
	first, second := segments(a), segments(b)
	overlap := 0
	for n := min(len(first), len(second)); n > 0; n-- {
		if slices.Equal(first[len(first)-n:], second[:n]) {
			overlap = n
			break
		}
	}
	joined := "/" + strings.Join(append(slices.Clone(first), second[overlap:]...), "/")
	if strings.HasSuffix(b, "/") && joined != "/" {
		joined += "/"
	}
	return joined
}

// URL is the address of an operation's path (its template filled in and escaped) under the prefix, overlapping segments once unless the base is
// exact.
func (b Base) URL(path string) string {
	if b.Exact {
		return b.Prefix + "/" + strings.TrimPrefix(path, "/")
	}
	u, err := url.Parse(b.Prefix)
	if err != nil {
		return b.Prefix + "/" + strings.TrimPrefix(path, "/")
	}
	return schemeAndHost(u) + Join(u.EscapedPath(), path)
}

func segments(path string) []string {
	return slices.DeleteFunc(strings.Split(path, "/"), func(s string) bool { return s == "" })
}

// schemeAndHost is scheme and host as they stand, so that evidence shows the URL that was given.
func schemeAndHost(u *url.URL) string { return u.Scheme + "://" + u.Host }

// Resource is something of the node that is asked with GET.
type Resource struct {
	Name evidence.Resource
	URL  string
	// JSONType sends Content-Type: application/json with a request that has no content, as the interface document shows it for
	// the info endpoint (NET-R13).
	JSONType bool
	// Accept are the media types to ask for; JSON if empty.
	Accept string
	// Header are the fields that the document requires of each request, with sample values.
	Header []evidence.Field
}

// Get is a request without a token. It follows one redirect to the same origin.
func (r Resource) Get() recorder.Request {
	q := recorder.Request{Method: http.MethodGet, URL: r.URL, FollowSameOrigin: true}
	if r.JSONType {
		q.Header = append(q.Header, evidence.Field{Name: "Content-Type", Value: "application/json"})
	}
	q.Header = append(q.Header, evidence.Field{Name: "Accept", Value: cmp.Or(r.Accept, "application/json")})
	q.Header = append(q.Header, r.Header...)
	return q
}

// GetWith is a request whose Authorization header is the value given; credential names the token in it, empty for none.
func (r Resource) GetWith(credential, authorization string) recorder.Request {
	q := r.Get()
	q.Header = append([]evidence.Field{{Name: "Authorization", Value: authorization}}, q.Header...)
	q.Credential = credential
	return q
}

// Authorized is the good request: "Bearer", one blank, the token (NET-R12).
func (r Resource) Authorized(token string) recorder.Request {
	return r.GetWith(AccessToken, "Bearer "+token)
}
