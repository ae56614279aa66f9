package deviation

import (
	"crypto/tls"
	"net/http"
	"time"

	"github.com/rin-network/rin/sandbox/transport"
)

// transportDeviations break TLS. They work on the connections of a node that has it.
func transportDeviations() []Deviation {
	const day = 24 * time.Hour
	return []Deviation{
		{
			Name: "certificate-expired", Breaks: []string{"TLS-03"},
			Why:       "The certificate expired three days ago, because nobody renewed it.",
			Transport: func(s *transport.Settings) { s.Issued = transport.DefaultLifetime + 3*day },
		},
		{
			Name: "certificate-not-yet-valid", Breaks: []string{"TLS-03"},
			Why:       "The certificate becomes valid tomorrow, because a clock was wrong when it was made.",
			Transport: func(s *transport.Settings) { s.Issued = -day },
		},
		{
			Name: "certificate-of-another-host", Breaks: []string{"TLS-03"},
			Why:       "The certificate names another host, that of the provider's default site.",
			Transport: func(s *transport.Settings) { s.Hosts = []string{"www.provider.invalid"} },
		},
		{
			Name: "certificate-chain-incomplete", Breaks: []string{"TLS-03"},
			Why:       "The intermediate certificate is not sent: browsers fetch or remember it, programs do not.",
			Transport: func(s *transport.Settings) { s.WithoutIntermediate = true },
		},
		{
			Name: "certificate-self-signed", Breaks: []string{"TLS-03"},
			Why:       "The certificate is signed by itself, as the ones that servers are installed with.",
			Transport: func(s *transport.Settings) { s.SelfSigned = true },
		},
		{
			Name: "certificate-of-unknown-authority", Breaks: []string{"TLS-03"},
			Why:       "The certificate was issued by an authority of the institution's own that clients elsewhere do not know.",
			Transport: func(s *transport.Settings) { s.Stranger = true },
		},
		{
			Name: "certificate-ends-soon", Breaks: []string{"TLS-03"},
			Why:       "The certificate expires in four days: its renewal does not work.",
			Transport: func(s *transport.Settings) { s.Issued = transport.DefaultLifetime - 4*day },
		},
		{
			Name: "tls11-only", Breaks: []string{"TLS-04", "TLS-05"},
			Why:       "The server speaks TLS 1.1 and nothing newer, as an old load balancer does.",
			Transport: func(s *transport.Settings) { s.Oldest, s.Newest = tls.VersionTLS11, tls.VersionTLS11 },
		},
		{
			Name: "tls11-accepted", Breaks: []string{"TLS-05"},
			Why:       "The server speaks TLS 1.1 with clients that know nothing newer.",
			Transport: func(s *transport.Settings) { s.Oldest = tls.VersionTLS11 },
		},
		{
			Name: "tls10-accepted", Breaks: []string{"TLS-05"},
			Why:       "The server speaks TLS 1.0 with clients that know nothing newer.",
			Transport: func(s *transport.Settings) { s.Oldest = tls.VersionTLS10 },
		},
		{
			Name: "cleartext-token-endpoint", Breaks: []string{"TLS-01"},
			Why:       "The token endpoint answers over plain HTTP as well.",
			Transport: func(s *transport.Settings) { s.Cleartext = true },
			Wrap:      inCleartextOnly(Token),
		},
		{
			Name: "cleartext-info", Breaks: []string{"TLS-02"},
			Why:       "The info resource asks for a token over plain HTTP as well.",
			Transport: func(s *transport.Settings) { s.Cleartext = true },
			Wrap:      inCleartextOnly(Info),
		},
		{
			Name: "cleartext-list", Breaks: []string{"TLS-02"},
			Why:       "The funding list is served over plain HTTP as well; the info resource is not.",
			Transport: func(s *transport.Settings) { s.Cleartext = true },
			Wrap:      inCleartextOnly(FundingList),
		},
	}
}

// inCleartextOnly makes a Wrap that answers nothing but the kind over plain HTTP.
func inCleartextOnly(kind Kind) wrap {
	return func(next http.Handler, env Env) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.TLS == nil && env.Classify(r) != kind {
				http.Error(w, "use https", http.StatusNotFound)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}
