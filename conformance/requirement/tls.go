package requirement

import (
	"github.com/rin-network/rin/conformance/exchange"
)

// transport lists group TLS in catalogue order.
func transport() []Requirement {
	return []Requirement{
		{
			ID: "TLS-01", Title: "Token endpoint is served over TLS only",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6749, "3.2").And(RFC(6749, "2.3.1")),
			Quote:    "the authorization server MUST require the use of TLS as described in Section 1.6 when sending requests to the token endpoint.",
			Probe:    "A token request with dummy credentials over plain HTTP, to the port of the token URL and to port 80. The real secret is never sent in cleartext.",
			Forgives: "No answer, a closed port, a redirect to https, an error page of the server in front, and an OAuth error that only says that https is required. On loopback port 80 is not asked.",
			Fix:      "Close port 80 for the token endpoint, or answer there with a redirect to https and nothing else (nginx: a server block with return 301; Keycloak: leave --http-enabled off; where a proxy ends TLS in front of it and needs HTTP, keep that port from the outside, as with --http-host=127.0.0.1).",
			Breaks:   "Port 80 serves the token endpoint without a redirect.",
			Reads:    cleartextLabels(exchange.CleartextToken), Check: tokenOverTLSOnly,
		},
		{
			ID: "TLS-02", Title: "Info endpoint and API are served over TLS only",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6750, "5.3").And(RFC(6750, "5.2")),
			Quote:    "Clients MUST always use TLS [RFC5246] (https) or equivalent transport security when making requests with bearer tokens.",
			Probe:    "The info path, and in the larger profiles the list operation, over plain HTTP without a token, on the port of the URL and on port 80.",
			Forgives: "No answer, a closed port, a redirect to https, and an error page of a default site. On loopback port 80 is not asked.",
			Fix:      "Serve the API over https alone: close port 80, or answer there with a redirect to https for every path (nginx: return 301 https://$host$request_uri; Kong: protocols: [https] on the route; Spring Security: redirectToHttps(withDefaults()), before 6.5 requiresChannel(c -> c.anyRequest().requiresSecure())).",
			Breaks:   "Port 80 answers the info path with 401 and a Bearer challenge.",
			Reads: append(append(cleartextLabels(exchange.CleartextInfo), cleartextLabels(exchange.CleartextList)...),
				exchange.Info.With(exchange.OK), exchange.Info.With(exchange.NoToken), exchange.ListOperation.With(exchange.OK), exchange.ListOperation.With(exchange.NoToken)),
			Check: resourcesOverTLSOnly,
		},
		{
			ID: "TLS-03", Title: "Certificate chain is valid and names the host",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6750, "5.3").And(RFC(6749, "1.6")).And(RFC(9110, "4.3.4")),
			Quote:    "The client MUST validate the TLS certificate chain when making requests to protected resources.",
			Probe:    "A TLS handshake with each origin of the node, verified with the authorities of this machine and those of --cacert.",
			Forgives: "Any authority that this machine trusts, and short-lived certificates. Protocol features that are good to have (TLS 1.3, HSTS) are noted only.",
			Fix:      "Install a valid certificate for this host with all its intermediates (nginx: fullchain.pem in ssl_certificate; Tomcat: a keystore with the whole chain), and let it be renewed by a program (certbot, acme.sh, Caddy).",
			Breaks:   "The server leaves out the intermediate certificate.",
			Reads:    append(handshakeLabels(exchange.Modern, exchange.TLS11, exchange.TLS10), exchange.Info.With(exchange.OK)), Check: certificatesValid,
		},
		{
			ID: "TLS-04", Title: "TLS 1.2 or newer is offered",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(9325, "3.1.1"),
			Quote:    "Implementations MUST support TLS 1.2 [RFC5246].",
			Probe:    "A handshake with each origin that offers TLS 1.2 and 1.3; where it fails, one with 1.1 and one with 1.0.",
			Forgives: "Servers of TLS 1.3 alone: they are stronger than the sentence asks for.",
			Fix:      "Enable TLS 1.2 and 1.3 in the server or load balancer (nginx: ssl_protocols TLSv1.2 TLSv1.3; Spring Boot: server.ssl.enabled-protocols=TLSv1.2,TLSv1.3).",
			Breaks:   "The server speaks TLS 1.1 only.",
			Reads:    handshakeLabels(exchange.Modern, exchange.TLS11, exchange.TLS10), Check: modernTLSOffered,
		},
		{
			ID: "TLS-05", Title: "TLS 1.0 and 1.1 are refused",
			Level: StandardMust, Gate: Advice, Profile: Auth,
			Source:   RFC(8996, "5").And(RFC(8996, "4")),
			Quote:    "Negotiation of TLS 1.1 from any version of TLS MUST NOT be permitted.",
			Probe:    "A handshake with each origin that offers TLS 1.1 alone, and one that offers 1.0 alone, with all the old cipher suites.",
			Forgives: "Any way to refuse: an alert, a closed connection. A refusal counts only if the handshake with newer versions completed.",
			Fix:      "Disable TLS 1.0 and 1.1 in the server or load balancer (nginx: ssl_protocols TLSv1.2 TLSv1.3; Apache: SSLProtocol -all +TLSv1.2 +TLSv1.3).",
			Breaks:   "The server also accepts TLS 1.0.",
			Reads:    handshakeLabels(exchange.Modern, exchange.TLS11, exchange.TLS10), Check: oldTLSRefused,
		},
	}
}

// cleartextLabels are the calls of a path over plain HTTP.
func cleartextLabels(r exchange.Resource) []exchange.Label {
	return []exchange.Label{r.With(exchange.SamePort), r.With(exchange.StandardPort)}
}

// originNames are the resources that handshakes stand under.
func originNames() []exchange.Resource {
	return []exchange.Resource{exchange.TokenOrigin, exchange.InfoOrigin, exchange.SpecOrigin, exchange.BaseOrigin}
}

func handshakeLabels(cases ...exchange.Case) []exchange.Label {
	var out []exchange.Label
	for _, r := range originNames() {
		for _, c := range cases {
			out = append(out, r.With(c))
		}
	}
	return out
}
