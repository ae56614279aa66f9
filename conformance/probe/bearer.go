package probe

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/tokenforge"
)

// bearerProbe asks a protected resource with the credentials of one case.
func (r *run) bearerProbe(name evidence.Resource, c evidence.Case) probe {
	return probe{prepare: func(ctx context.Context) (recorder.Request, *unsent) {
		res, ok := r.facts.resource(name)
		if !ok {
			return recorder.Request{}, r.unlocated(name)
		}
		// Without the good call a refusal would prove nothing.
		if good := name.With(evidence.OK); !r.facts.good(good) {
			return recorder.Request{}, unmet("the good call %s was not answered with 2xx", good)
		}
		if ask, done, reason := r.withoutToken(res, c); done {
			return ask, reason
		}
		token, reason := r.token(ctx)
		if reason != nil {
			return recorder.Request{}, reason
		}
		return r.withToken(res, c, token)
	}}
}

// withoutToken makes the requests that need no good token; done is false for the others.
func (r *run) withoutToken(res Resource, c evidence.Case) (ask recorder.Request, done bool, reason *unsent) {
	switch c {
	case "garbage":
		return res.GetWith(c, "", "Bearer conformance.invalid.token"), true, nil
	case "empty-bearer", "blank-bearer": // net/http would trim the blank
		ask := res.GetWith(c, "", "Bearer")
		if c == "blank-bearer" {
			ask.Header[0].Value = "Bearer "
		}
		ask.Raw, ask.FollowSameOrigin = true, false
		return ask, true, nil
	case "basic-scheme":
		ask := res.GetWith(c, "", basic("conformance-"+r.drawn.id, r.drawn.id))
		ask.NoRetry = true
		return ask, true, nil
	case "head":
		ask := res.Get(c)
		ask.Method = http.MethodHead
		return ask, true, nil
	case "method-override":
		ask := res.Get(c)
		for _, name := range []string{"X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"} { // one for each family of frameworks
			ask.Header = append(ask.Header, evidence.Field{Name: name, Value: http.MethodOptions})
		}
		return ask, true, nil
	case "as-browser":
		ask := res.Get(c)
		ask.Header = append(slices.DeleteFunc(ask.Header, func(f evidence.Field) bool { return f.Name == "Accept" }),
			evidence.Field{Name: "Accept", Value: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"})
		return ask, true, nil
	case "cached-no-token":
		switch good := res.Name.With("cached-ok"); {
		case r.facts.good(good):
			return r.fresh(res).Get(c), true, nil
		case strictAboutQueries(r.facts.status(good)): // the URL itself was called with the token before
			return res.Get(c), true, nil
		default:
			return recorder.Request{}, true, unmet("the same URL with a token (%s) was not answered with 2xx", good)
		}
	case "path-slash", "path-double-slash", "path-dot", "path-upper", "path-suffix",
		"path-encoded", "path-extension":
		variant, ok := pathVariant(res.URL, c)
		if !ok {
			return recorder.Request{}, true, notApplicable("the path of %s has no such variant", res.Name)
		}
		res.URL = variant
		return res.Get(c), true, nil
	}
	return recorder.Request{}, false, nil
}

// withToken makes the requests that are built on a good token.
func (r *run) withToken(res Resource, c evidence.Case, token string) (recorder.Request, *unsent) {
	switch c {
	case "tampered":
		forged := tokenforge.Tamper(token)
		ask := res.GetWith(c, "tampered_token", "Bearer "+forged)
		ask.Conceal = map[string]string{"tampered_token": forged}
		return ask, nil
	case "token-scheme":
		return res.GetWith(c, AccessToken, "Token "+token), nil
	case "lower-scheme":
		return res.GetWith(c, AccessToken, "bearer "+token), nil
	case "upper-scheme":
		return res.GetWith(c, AccessToken, "BEARER "+token), nil
	case "two-blanks":
		return res.GetWith(c, AccessToken, "Bearer  "+token), nil
	case "head-ok":
		ask := res.Authorized(c, token)
		ask.Method = http.MethodHead
		return ask, nil
	case "cached-ok":
		return r.fresh(res).Authorized(c, token), nil
	case "first-token":
		return r.firstToken(res)
	}
	return recorder.Request{}, cutShort("this version of rin does not know how to ask it")
}

// firstToken asks with the first token of the run, after more were issued.
func (r *run) firstToken(res Resource) (recorder.Request, *unsent) {
	if !r.facts.good(evidence.TokenEndpoint.With("repeat-3")) {
		return recorder.Request{}, unmet("the repeated token requests yielded no token")
	}
	r.facts.mu.Lock()
	first := r.facts.first
	r.facts.mu.Unlock()
	if r.Clock().Sub(first.Obtained) >= first.Life {
		return recorder.Request{}, cutShort("the first token of the run has expired by itself")
	}
	return res.Authorized("first-token", first.Value), nil
}

// strictAboutQueries tells by the answer to a good call with a parameter of rin's own that the node takes none that it does not know.
func strictAboutQueries(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusForbidden || status == http.StatusNotFound || status == http.StatusUnprocessableEntity
}

// fresh is the resource under a URL that nobody has asked for before.
func (r *run) fresh(res Resource) Resource {
	res.URL = withQuery(res.URL, pair{"conformance", r.drawn.id})
	return res
}

// pathVariant spells the path of a URL in another way that servers and gateways may take for the same (RFC 3986 §6.2). The
// query is kept. ok is false when the path offers no such variant.
func pathVariant(text string, c evidence.Case) (variant string, ok bool) {
	u, err := url.Parse(text)
	if err != nil {
		return "", false
	}
	path := u.EscapedPath()
	bare := strings.TrimRight(path, "/")
	slash := path[len(bare):]
	cut := strings.LastIndexByte(bare, '/') + 1
	if bare == "" {
		return "", false
	}
	switch c {
	case "path-slash":
		if path = bare; slash == "" {
			path += "/"
		}
	case "path-double-slash":
		path = bare[:cut] + "/" + bare[cut:] + slash
	case "path-dot":
		path = bare[:cut] + "./" + bare[cut:] + slash
	case "path-upper":
		if path, ok = otherCase(bare, cut); !ok {
			return "", false
		}
		path += slash
	case "path-suffix":
		path = bare + ";x=1" + slash
	case "path-extension":
		path = bare + ".json" + slash
	case "path-encoded":
		if path, ok = encodedLetter(bare, cut); !ok {
			return "", false
		}
		path += slash
	default:
		return "", false
	}
	query := ""
	if u.RawQuery != "" {
		query = "?" + u.RawQuery
	}
	return u.Scheme + "://" + u.Host + path + query, true
}

// otherCase changes the case of the first letter of the last segment that begins with one; cut is where the last segment begins.
// Escaped bytes are left alone: their case means nothing.
func otherCase(path string, cut int) (string, bool) {
	for cut > 0 && cut < len(path) {
		if c := path[cut]; c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			return path[:cut] + string(c^0x20) + path[cut+1:], true
		}
		cut = strings.LastIndexByte(path[:cut-1], '/') + 1
	}
	return "", false
}

// encodedLetter percent-encodes the first character of the last segment, which means the same (RFC 3986 §6.2.2.2). A segment that begins with
// an escape is left alone.
func encodedLetter(path string, cut int) (string, bool) {
	if cut >= len(path) || !isUnreserved(path[cut]) {
		return "", false
	}
	return path[:cut] + percent(path[cut]) + path[cut+1:], true
}

// isUnreserved reports letters and digits, which need no encoding.
func isUnreserved(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// pair is one query parameter.
type pair struct{ name, value string }

// withQuery gives parameters to a URL, percent-encoded: in the place of one of the same name, which a call has when it requires it, else
// after those that are there. Parameters come in the order given.
func withQuery(text string, pairs ...pair) string {
	address, query, asked := strings.Cut(text, "?")
	var fields []string
	if asked && query != "" {
		fields = strings.Split(query, "&")
	}
	for _, p := range pairs {
		field := url.QueryEscape(p.name) + "=" + url.QueryEscape(p.value)
		if i := slices.IndexFunc(fields, p.names); i >= 0 {
			fields[i] = field
		} else {
			fields = append(fields, field)
		}
	}
	if len(fields) == 0 {
		return text
	}
	return address + "?" + strings.Join(fields, "&")
}

// names tells a field of a query that is of the parameter.
func (p pair) names(field string) bool {
	name, _, _ := strings.Cut(field, "=")
	plain, err := url.QueryUnescape(name)
	return err == nil && plain == p.name
}
