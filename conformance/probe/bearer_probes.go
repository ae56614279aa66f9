package probe

import (
	"context"
	"net/http"
	"slices"

	"github.com/rin-network/rin/conformance/discover"
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/exchange/record"
	"github.com/rin-network/rin/conformance/forge"
)

// bearerProbe asks a protected resource with the credentials of one case.
func (r *run) bearerProbe(name exchange.Resource, c exchange.Case) probe {
	return probe{prepare: func(ctx context.Context) (record.Ask, *unsent) {
		res, ok := r.facts.resource(name)
		if !ok {
			return record.Ask{}, r.unlocated(name)
		}
		// Without the good call a refusal would prove nothing.
		if good := name.With(exchange.OK); !r.facts.good(good) {
			return record.Ask{}, unmet("the good call %s was not answered with 2xx", good)
		}
		if ask, done, reason := r.withoutToken(res, c); done {
			return ask, reason
		}
		token, reason := r.token(ctx)
		if reason != nil {
			return record.Ask{}, reason
		}
		return r.withToken(res, c, token)
	}}
}

// withoutToken makes the requests that need no good token; done is false for the others.
func (r *run) withoutToken(res discover.Resource, c exchange.Case) (ask record.Ask, done bool, reason *unsent) {
	switch c {
	case exchange.Garbage:
		return res.GetWith(c, "", "Bearer conformance.invalid.token"), true, nil
	case exchange.EmptyBearer, exchange.BlankBearer: // net/http would trim the blank
		ask := res.GetWith(c, "", "Bearer")
		if c == exchange.BlankBearer {
			ask.Header[0].Value = "Bearer "
		}
		ask.Raw, ask.FollowSameOrigin = true, false
		return ask, true, nil
	case exchange.BasicScheme:
		ask := res.GetWith(c, "", basic("conformance-"+r.drawn.id, r.drawn.id))
		ask.NoRetry = true
		return ask, true, nil
	case exchange.Head:
		ask := res.Get(c)
		ask.Method = http.MethodHead
		return ask, true, nil
	case exchange.MethodOverride:
		ask := res.Get(c)
		for _, name := range []string{"X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"} { // one for each family of frameworks
			ask.Header = append(ask.Header, exchange.Field{Name: name, Value: http.MethodOptions})
		}
		return ask, true, nil
	case exchange.AsBrowser:
		ask := res.Get(c)
		ask.Header = append(slices.DeleteFunc(ask.Header, func(f exchange.Field) bool { return f.Name == "Accept" }),
			exchange.Field{Name: "Accept", Value: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"})
		return ask, true, nil
	case exchange.CachedNoToken:
		switch good := res.Name.With(exchange.CachedOK); {
		case r.facts.good(good):
			return r.fresh(res).Get(c), true, nil
		case strictAboutQueries(r.facts.status(good)): // the URL itself was called with the token before
			return res.Get(c), true, nil
		default:
			return record.Ask{}, true, unmet("the same URL with a token (%s) was not answered with 2xx", good)
		}
	case exchange.PathSlash, exchange.PathDouble, exchange.PathDot, exchange.PathUpper, exchange.PathSuffix,
		exchange.PathEncoded, exchange.PathExtension:
		variant, ok := pathVariant(res.URL, c)
		if !ok {
			return record.Ask{}, true, notApplicable("the path of %s has no such variant", res.Name)
		}
		res.URL = variant
		return res.Get(c), true, nil
	}
	return record.Ask{}, false, nil
}

// withToken makes the requests that are built on a good token.
func (r *run) withToken(res discover.Resource, c exchange.Case, token string) (record.Ask, *unsent) {
	switch c {
	case exchange.Tampered:
		forged := forge.Tampered(token)
		ask := res.GetWith(c, "tampered_token", "Bearer "+forged)
		ask.Conceal = map[string]string{"tampered_token": forged}
		return ask, nil
	case exchange.TokenScheme:
		return res.GetWith(c, discover.AccessToken, "Token "+token), nil
	case exchange.LowerScheme:
		return res.GetWith(c, discover.AccessToken, "bearer "+token), nil
	case exchange.UpperScheme:
		return res.GetWith(c, discover.AccessToken, "BEARER "+token), nil
	case exchange.TwoBlanks:
		return res.GetWith(c, discover.AccessToken, "Bearer  "+token), nil
	case exchange.HeadOK:
		ask := res.Authorized(c, token)
		ask.Method = http.MethodHead
		return ask, nil
	case exchange.CachedOK:
		return r.fresh(res).Authorized(c, token), nil
	case exchange.FirstToken:
		return r.firstToken(res)
	}
	return record.Ask{}, cutShort("this version of rin does not know how to ask it")
}

// firstToken asks with the first token of the run, after more were issued.
func (r *run) firstToken(res discover.Resource) (record.Ask, *unsent) {
	if !r.facts.good(exchange.TokenEndpoint.With(exchange.Repeat3)) {
		return record.Ask{}, unmet("the repeated token requests yielded no token")
	}
	r.facts.mu.Lock()
	first := r.facts.first
	r.facts.mu.Unlock()
	if r.Clock().Sub(first.Obtained) >= first.Life {
		return record.Ask{}, cutShort("the first token of the run has expired by itself")
	}
	return res.Authorized(exchange.FirstToken, first.Value), nil
}

// strictAboutQueries tells by the answer to a good call with a parameter of rin's own that the node takes none that it does not know.
func strictAboutQueries(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusForbidden || status == http.StatusNotFound || status == http.StatusUnprocessableEntity
}

// fresh is the resource under a URL that nobody has asked for before.
func (r *run) fresh(res discover.Resource) discover.Resource {
	res.URL = withQuery(res.URL, pair{"conformance", r.drawn.id})
	return res
}
