package deviation

import (
	"crypto/tls"
	"time"

	"github.com/rin-network/rin/sandbox/transport"
)

// connectionHabits are unusual and right ways to offer TLS.
func connectionHabits() []Deviation {
	return []Deviation{
		{
			Name:      "tls-1-3-alone",
			Why:       "TLS 1.3 is offered and nothing older, as hardened fronts are set up that serve programs only.",
			Transport: func(s *transport.Settings) { s.Oldest, s.Newest = tls.VersionTLS13, tls.VersionTLS13 },
		},
		{
			Name:      "tls-1-2-alone",
			Why:       "TLS 1.2 is the newest that is offered, as older load balancers of institutions have it.",
			Transport: func(s *transport.Settings) { s.Oldest, s.Newest = tls.VersionTLS12, tls.VersionTLS12 },
		},
		{
			Name: "certificate-for-a-year",
			Why:  "The server certificate is valid for a year, as commercial authorities sold them, and for many names.",
			Transport: func(s *transport.Settings) {
				s.Issued, s.Lifetime = 100*24*time.Hour, 365*24*time.Hour
				s.Hosts = []string{"www.node.example", "*.node.example", "localhost", "127.0.0.1", "::1"}
			},
		},
	}
}
