package probe

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/rin-network/rin/conformance/discover"
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/exchange/record"
)

// form says how a request to the token endpoint differs from the good one.
type form struct {
	fields     []discover.Field
	credential string
	// authorization is the header's value; empty for none.
	authorization string
	// stranger says that the request needs no good credentials and makes sense when those were refused.
	stranger bool
	// once forbids repeats: the request counts as a failed authentication.
	once bool
	// conceal are secrets that only this request knows.
	conceal map[string]string
	// charset appends "; charset=UTF-8" to the media type, as fetch clients do.
	charset bool
	// get asks with GET, without content.
	get bool
}

func (r *run) tokenProbe(c exchange.Case) probe {
	return probe{
		prepare: func(ctx context.Context) (record.Ask, *unsent) {
			f, reason := r.form(c)
			if reason == nil {
				reason = r.tokenReason(c, f)
			}
			if reason == nil && (c == exchange.Repeat2 || c == exchange.Repeat3) {
				reason = r.betweenRepeats(ctx)
			}
			return r.tokenAsk(c, f), reason
		},
		learn: func(a record.Answer) { r.learnToken(c, a) },
	}
}

// tokenReason keeps requests back that prove nothing after what came of the first one.
func (r *run) tokenReason(c exchange.Case, f form) *unsent {
	if c == exchange.OK {
		return nil
	}
	first := exchange.TokenEndpoint.With(exchange.OK)
	status := r.facts.status(first)
	switch {
	case status == 0:
		return unmet("the token endpoint did not answer the good request")
	case r.current().Value == "" && !f.stranger:
		return unmet("the good token request yielded no token (status %d)", status)
	}
	return nil
}

func (r *run) tokenAsk(c exchange.Case, f form) record.Ask {
	ask := discover.TokenRequest(r.Target, c, f.credential, f.fields...)
	ask.NoRetry, ask.Conceal = f.once, f.conceal
	if f.charset {
		ask.Header[0].Value += "; charset=UTF-8"
	}
	if f.authorization != "" {
		ask.Header = append([]exchange.Field{{Name: "Authorization", Value: f.authorization}}, ask.Header...)
	}
	if f.get {
		ask.Method, ask.Body, ask.Header = http.MethodGet, nil, ask.Header[1:]
	}
	return ask
}

// form is the table of everything that is asked of the token endpoint.
func (r *run) form(c exchange.Case) (form, *unsent) {
	client := r.Target.Credentials
	secret := client.ClientSecret.Reveal()
	good := discover.Credentialed(client)
	grant := good[:1:1]
	f := form{fields: good, credential: discover.ClientSecret}
	switch c {
	case exchange.OK, exchange.OKAfterWrongSecret, exchange.OKAfterIDOnly, exchange.Repeat1, exchange.Repeat2, exchange.Repeat3:
	case exchange.WrongSecret:
		f.fields = []discover.Field{good[0], good[1], {Name: "client_secret", Value: r.drawn.wrongSecret}}
		f.once, f.conceal = true, map[string]string{"wrong_secret": r.drawn.wrongSecret}
	case exchange.IDOnly:
		f.fields, f.credential, f.once = good[:2:2], "", true
	case exchange.Basic:
		// Sent even when the form was refused: that it works explains TOK-01.
		f.fields, f.once, f.stranger = grant, true, true
		f.authorization = basic(url.QueryEscape(client.ClientID), url.QueryEscape(secret))
	case exchange.BasicUnencoded:
		if r.facts.good(exchange.TokenEndpoint.With(exchange.Basic)) {
			return f, notApplicable("HTTP Basic works with form-encoded credentials")
		}
		if url.QueryEscape(client.ClientID) == client.ClientID && url.QueryEscape(secret) == secret {
			return f, notApplicable("form encoding does not change these credentials")
		}
		f.fields, f.once = grant, true
		f.authorization = basic(client.ClientID, secret)
	case exchange.UnknownParameter:
		f.fields = append(good, discover.Field{Name: "x_conformance_probe", Value: "1"})
	case exchange.EmptyScope:
		f.fields = append(good, discover.Field{Name: "scope"})
	case exchange.UnknownScope:
		f.fields = append(good, discover.Field{Name: "scope", Value: "conformance.unknown"})
	case exchange.PercentEncoded:
		f.fields = []discover.Field{
			{Name: "grant_type", Value: "%63lient_credentials", Encoded: true},
			{Name: "client_id", Value: encodeEnds(client.ClientID), Encoded: true}, good[2],
		}
		f.charset = true
	case exchange.NoGrantType:
		f.fields = good[1:]
	case exchange.UnknownGrantType:
		f.fields = []discover.Field{{Name: "grant_type", Value: "urn:example:conformance:none"}, good[1], good[2]}
	case exchange.RepeatedGrantType:
		f.fields = append(good, good[0])
	case exchange.NoClient:
		f.fields, f.credential, f.stranger = grant, "", true
	case exchange.Get:
		f.fields, f.credential, f.stranger, f.get = nil, "", true, true
	case exchange.BasicUnknownClient:
		f.fields, f.credential, f.stranger, f.once = grant, "", true, true
		f.authorization = basic("conformance-"+r.drawn.id, r.drawn.id)
	default:
		return f, cutShort("this version of rin does not know how to ask it")
	}
	return f, nil
}

// encodeEnds percent-encodes the first and the last byte and form-encodes the rest.
func encodeEnds(s string) string {
	if s == "" {
		return ""
	}
	last := len(s) - 1
	out := percent(s[0])
	if last > 0 {
		out += url.QueryEscape(s[1:last]) + percent(s[last])
	}
	return out
}

func percent(b byte) string {
	const digits = "0123456789ABCDEF"
	return string([]byte{'%', digits[b>>4], digits[b&15]})
}

// repeatPause is the time between repeated token requests to a node on another machine.
const repeatPause = time.Second

func (r *run) betweenRepeats(ctx context.Context) *unsent {
	if r.Target.Loopback() {
		return nil
	}
	if err := r.Pause(ctx, repeatPause); err != nil {
		return cutShort("the run ended first: %v", err)
	}
	return nil
}

func (r *run) learnToken(c exchange.Case, a record.Answer) {
	switch c {
	case exchange.OK, exchange.OKAfterWrongSecret, exchange.OKAfterIDOnly, exchange.Repeat1, exchange.Repeat2, exchange.Repeat3:
	default:
		return // a token that should not be there, or by a request that is no model
	}
	if t, ok := discover.ReadToken(a, r.Clock()); ok {
		r.facts.keep(t)
	}
}
