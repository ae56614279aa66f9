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

// Derive returns the base URL and the specification URL that belong to an info URL, if it has the shape of the interface document (NET-R14). ok is false for
// an info URL of another shape.
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

// Complete adds the missing URLs of the target from the registry entry, and then from the info URL. It keeps the URLs that the operator gave.
func Complete(t target.Target, entry RegistryEntry) target.Target {
	t.TokenURL, t.InfoURL = cmp.Or(t.TokenURL, entry.TokenURL), cmp.Or(t.InfoURL, entry.InfoURL)
	base, spec, _ := Derive(t.InfoURL)
	t.SpecURL, t.BaseURL = cmp.Or(t.SpecURL, spec), cmp.Or(t.BaseURL, base)
	return t
}

// Base is a URL prefix under which operations may be served.
type Base struct {
	// Prefix is scheme, host and path without a slash at the end; an operation's path is appended.
	Prefix string
	// How says where the prefix comes from.
	How string
	// Exact means that the path is appended without changes (OAS 3.0.3 Paths Object).
	Exact bool
}

// serverPath returns the path of the first server. It resolves a relative one against the document's URL (OAS 3.0.3 Server Object).
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

// Join appends a path to another. Segments that are both the end of the first and the beginning of the second appear once: "/ris/funding" and
// "/funding/v3" make "/ris/funding/v3".
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

// URL returns the URL of an operation's path, without templates and escaped, under the prefix. Unless the base is exact, overlapping segments appear once.
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

// schemeAndHost returns scheme and host unchanged, so that evidence shows the given URL.
func schemeAndHost(u *url.URL) string { return u.Scheme + "://" + u.Host }

// Resource is a resource of the node that is requested by GET.
type Resource struct {
	Name evidence.Resource
	URL  string
	// JSONType sends Content-Type: application/json with a request that has no content, as the interface document shows it for
	// the info endpoint (NET-R13).
	JSONType bool
	// Accept is the value of the Accept header; JSON if empty.
	Accept string
	// Header are the fields that the document requires of each request, with sample values.
	Header []evidence.Field
}

// Get returns a request without a token. The recorder follows one redirect to the same origin.
func (r Resource) Get() recorder.Request {
	q := recorder.Request{Method: http.MethodGet, URL: r.URL, FollowSameOrigin: true}
	if r.JSONType {
		q.Header = append(q.Header, evidence.Field{Name: "Content-Type", Value: "application/json"})
	}
	q.Header = append(q.Header, evidence.Field{Name: "Accept", Value: cmp.Or(r.Accept, "application/json")})
	q.Header = append(q.Header, r.Header...)
	return q
}

// GetWith returns a request with the value in its Authorization header. credential is the name of the token in the value, or empty.
func (r Resource) GetWith(credential, authorization string) recorder.Request {
	q := r.Get()
	q.Header = append([]evidence.Field{{Name: "Authorization", Value: authorization}}, q.Header...)
	q.Credential = credential
	return q
}

// Authorized returns the good request, with "Bearer", one blank and the token (NET-R12).
func (r Resource) Authorized(token string) recorder.Request {
	return r.GetWith(AccessToken, "Bearer "+token)
}
