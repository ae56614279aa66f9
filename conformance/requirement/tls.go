package requirement

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
)

// handshakes returns TLS-03 to TLS-05.
func handshakes() []Requirement {
	return []Requirement{
		{
			ID: "TLS-03", Title: "Certificate chain is valid and names the host",
			Level: StandardMust, Gate: Gating, Profile: Auth,
			Source:   RFC(6750, "5.3").And(RFC(6749, "1.6")).And(RFC(9110, "4.3.4")),
			Quote:    "The client MUST validate the TLS certificate chain when making requests to protected resources.",
			Probe:    "A TLS handshake with each origin of the node, verified with the authorities of this machine and those of --cacert.",
			Forgives: "Any authority that this machine trusts, and short-lived certificates. Protocol features that are good to have (TLS 1.3, HSTS) are noted only.",
			Fix:      "Install a valid certificate for this host with all its intermediates (nginx: fullchain.pem in ssl_certificate; Tomcat: a keystore with the whole chain), and let it be renewed by a program (certbot, acme.sh, Caddy).",
			Breaks:   "The server leaves out the intermediate certificate.",
			Reads:    append(handshakeLabels("modern", "tls11", "tls10"), evidence.Info.With(evidence.OK)), Check: judgeCertificates,
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
			Reads:    handshakeLabels("modern", "tls11", "tls10"), Check: judgeModernTLS,
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
			Reads:    handshakeLabels("modern", "tls11", "tls10"), Check: judgeOldTLS,
		},
	}
}

// handshakeOrigins returns the resources under which handshakes are recorded: the origin of each URL of the node.
func handshakeOrigins() []evidence.Resource {
	return []evidence.Resource{evidence.TokenOrigin, evidence.InfoOrigin, evidence.SpecOrigin, evidence.BaseOrigin}
}

func handshakeLabels(cases ...evidence.Case) []evidence.Label {
	return labelsOf(handshakeOrigins(), cases...)
}

// judgeEachOrigin judges every https origin of the node. A run plans or skips handshakes only with https origins. URLs of one origin share a handshake.
func judgeEachOrigin(e Evidence, judge func(r evidence.Resource) Judgement) Judgement {
	var parts []Judgement
	for _, r := range handshakeOrigins() {
		_, skipped := e.Skipped(r.With("modern"))
		if skipped || slices.Contains(e.Planned, r.With("modern")) {
			parts = append(parts, judge(r))
		}
	}
	if len(parts) == 0 {
		return judgeWithoutTLS(e, e.Run.TokenURL, e.Run.InfoURL, e.Run.SpecURL, e.Run.BaseURL)
	}
	return gather(parts...)
}

// judgeWithoutTLS judges a node without recorded handshakes. That is normal on loopback, and elsewhere a failure if one of its URLs is plain http.
func judgeWithoutTLS(e Evidence, urls ...string) Judgement {
	if e.Run.Loopback {
		return Inapplicable("the node is on loopback and served without TLS")
	}
	known := false
	for _, raw := range urls {
		u, err := url.Parse(raw)
		if err != nil {
			continue
		}
		// Without its token URL or info URL, a node on this machine does not count as on loopback.
		if local := localPlace(evidence.HostOf(raw)) == onMachine && (e.Run.TokenURL == "" || e.Run.InfoURL == ""); u.Scheme == "http" && !local {
			return Subject{Name: clip(raw), Expected: "an https URL"}.failed("the URL itself is plain HTTP, so credentials travel in cleartext", clip(raw))
		}
		known = known || u.Scheme == "https"
	}
	if known {
		return Unclear("the recording has nothing about TLS").Blaming(Suite)
	}
	return Unclear("the URLs of the node are not known")
}

// handshake returns a handshake. If it is missing, ok is false, and j is the judgement that follows.
func (e Evidence) handshake(label evidence.Label) (h evidence.Handshake, j Judgement, ok bool) {
	if h, ok = e.Handshake(label); ok {
		return h, Judgement{}, true
	}
	j, _ = e.missingAnswer(label)
	return evidence.Handshake{}, j, false
}

func handshakeName(h evidence.Handshake) string { return clip("TLS handshake with " + h.Address) }

// expectHandshake is [expect] for a handshake.
func expectHandshake(h evidence.Handshake, expected string) Subject {
	return Subject{Name: handshakeName(h) + " by " + strings.Join(h.Offered, ", "), Label: h.Label, Expected: expected}
}

// handshakeResult describes how a handshake ended.
func handshakeResult(h evidence.Handshake) string {
	switch {
	case h.Completed():
		return h.Version
	case h.Alert != "":
		return "alert " + h.Alert
	case h.Selected != "":
		return h.Selected + " chosen by the server"
	case h.Failure != nil:
		return clip(string(h.Failure.Kind) + ": " + h.Failure.Message)
	}
	return "nothing"
}

// acceptsOffer reports whether the server accepted an offered version, even if the handshake broke off later.
func acceptsOffer(h evidence.Handshake) bool {
	return h.Completed() || h.Selected != "" && slices.Contains(h.Offered, h.Selected)
}

// oldVersions returns the cases of handshakes that offer one old version of TLS.
func oldVersions() []evidence.Case { return []evidence.Case{"tls11", "tls10"} }

// judgeCertificates is the check of TLS-03.
func judgeCertificates(e Evidence) Judgement {
	return judgeEachOrigin(e, func(r evidence.Resource) Judgement {
		h, missing, ok := e.handshake(r.With("modern"))
		if !ok {
			return missing
		}
		// A server that speaks only old versions shows its certificate in a handshake with one of them.
		for _, c := range oldVersions() {
			if old, ok := e.Handshake(r.With(c)); ok && len(h.Chain) == 0 && len(old.Chain) > 0 {
				h = old
			}
		}
		if len(h.Chain) == 0 {
			return expectHandshake(h, "a certificate").unclear("the server showed no certificate: "+handshakeResult(h), handshakeResult(h))
		}
		return judgeChain(e, h)
	})
}

// judgeChain judges the certificates of one handshake, which has at least one.
func judgeChain(e Evidence, h evidence.Handshake) Judgement {
	if h.Distrust != "" {
		return judgeDistrust(e, h)
	}
	leaf := h.Chain[0]
	version := "no handshake completed"
	if h.Version != "" {
		version = h.Version + " is negotiated"
	}
	notes := []string{fmt.Sprintf("%s: certificate by %s until %s, %s", h.Address, quote(leaf.Issuer), day(leaf.NotAfter), version)}
	if note := hstsNote(e, h); note != "" {
		notes = append(notes, note)
	}
	// Two weeks should be left, or a third of the lifetime of a short-lived certificate.
	if least := min(14*24*time.Hour, leaf.NotAfter.Sub(leaf.NotBefore)/3); leaf.NotAfter.Sub(h.Started) < least {
		return expectHandshake(h, fmt.Sprintf("at least %s left", days(least))).
			warned("the certificate expires soon: its renewal does not seem to work", "valid until "+day(leaf.NotAfter)).
			Hinting("renew the certificate now, and let a program do so from then on (certbot renew with a timer, acme.sh, Caddy)").Noting(notes...)
	}
	return Subject{Name: handshakeName(h), Label: h.Label}.passed().Noting(notes...)
}

// judgeDistrust judges a chain that could not be verified. On loopback that proves nothing, unless the operator gave an authority.
func judgeDistrust(e Evidence, h evidence.Handshake) Judgement {
	if e.Run.Loopback && !e.Run.Authorities {
		return expectHandshake(h, "a certificate that can be verified").
			unclear("no public authority issues certificates for loopback, and the run was given no other authority to trust", string(h.Distrust)).
			Hinting("give the authority that issued the certificate with --cacert (rin sandbox --tls prints where its own authority is)")
	}
	reason, got, hint := explainDistrust(h, h.Chain[0])
	j := expectHandshake(h, "a valid chain for the host").failed(reason, got)
	if hint != "" {
		j = j.Hinting(hint)
	}
	return j
}

// explainDistrust says why a chain cannot be verified, what came, and how to fix that cause.
func explainDistrust(h evidence.Handshake, leaf evidence.Certificate) (reason, got, hint string) {
	switch h.Distrust {
	case evidence.CertificateExpired:
		return "a certificate has expired", expiredCertificate(h),
			"renew the certificate, and let a program do so from then on (certbot renew with a timer, acme.sh, Caddy); reload the server afterwards"
	case evidence.CertificateNotYetValid:
		return "the certificate is not valid yet", "valid from " + day(leaf.NotBefore),
			"set the clock of the machine that issued the certificate (and of this one) right, then have it issued again"
	case evidence.CertificateWrongName:
		names := strings.Join(leaf.Names, ", ")
		if names == "" {
			names = "no name (subjectAltName)"
		}
		return "the certificate is for other hosts than " + quote(h.ServerName), clip(names),
			"have a certificate issued that names this host; if the server has one already, the wrong site answers: correct its server_name or virtual host (SNI)"
	case evidence.CertificateSelfSigned:
		return "the certificate is signed by itself, so it proves nothing to a client", clip("issued by " + leaf.Issuer),
			"have a certificate issued by a public authority, such as Let's Encrypt or the TCS of your research network"
	case evidence.ChainIncomplete:
		return "incomplete chain: the certificate that issued the server's own is not sent", clip("issued by " + leaf.Issuer + ", which was not sent"),
			"send the intermediate certificates after your own (RFC 8446 §4.4.2; nginx: ssl_certificate fullchain.pem; Apache: SSLCertificateFile with the whole chain). Browsers hide the fault, because they fetch or remember them. If the issuer is your own authority, give it with --cacert"
	case evidence.ChainUntrusted:
		return "the chain ends at an authority that is not trusted here", clip("issued by " + h.Chain[len(h.Chain)-1].Issuer),
			"have a certificate issued by a public authority: clients of other institutions do not know yours. To test with your own, give it with --cacert"
	}
	return "the certificate cannot be verified: " + clip(h.Message), clip(leaf.Subject), ""
}

// expiredCertificate names the certificate of a chain that has expired.
func expiredCertificate(h evidence.Handshake) string {
	for _, c := range h.Chain {
		if h.Started.After(c.NotAfter) {
			return clip(c.Subject + " expired " + day(c.NotAfter))
		}
	}
	return clip(h.Message)
}

// day formats a date for readers: "2 January 2006"; days does so with a duration: "3 days".
func day(t time.Time) string { return t.UTC().Format("2 January 2006") }

func days(d time.Duration) string {
	if n := int(d.Hours() / 24); n != 1 {
		return fmt.Sprintf("%d days", n)
	}
	return "1 day"
}

// hstsNote says whether the origin of the info endpoint sends Strict-Transport-Security (RFC 6797); "" for another origin. It is a note only, because clients
// that are programs ignore the header.
func hstsNote(e Evidence, h evidence.Handshake) string {
	x := e.exchange(evidence.Info.With(evidence.OK))
	u, err := url.Parse(x.Request.URL)
	if err != nil || x.Response == nil || u.Hostname() != h.ServerName {
		return ""
	}
	if len(header(x, "Strict-Transport-Security")) > 0 {
		return h.Address + " sends Strict-Transport-Security"
	}
	return h.Address + " does not send Strict-Transport-Security, which only browsers use"
}

// judgeModernTLS is the check of TLS-04.
func judgeModernTLS(e Evidence) Judgement {
	return judgeEachOrigin(e, func(r evidence.Resource) Judgement {
		h, missing, ok := e.handshake(r.With("modern"))
		switch {
		case !ok:
			return missing
		case acceptsOffer(h):
			return Subject{Name: handshakeName(h), Label: h.Label}.passed()
		}
		want := expectHandshake(h, "TLS 1.2 or 1.3")
		for _, c := range oldVersions() {
			if old, ok := e.Handshake(r.With(c)); ok && acceptsOffer(old) {
				accepted := expectHandshake(old, "a refusal")
				accepted.Got = handshakeResult(old)
				return want.failed("the server speaks old versions of TLS only", old.Offered[0]+" and nothing newer").About(accepted)
			}
		}
		return want.unclear("no handshake completed: "+handshakeResult(h), handshakeResult(h))
	})
}

// judgeOldTLS is the check of TLS-05.
func judgeOldTLS(e Evidence) Judgement {
	return judgeEachOrigin(e, func(r evidence.Resource) Judgement {
		modern, _ := e.Handshake(r.With("modern"))
		var parts []Judgement
		for _, c := range oldVersions() {
			h, missing, ok := e.handshake(r.With(c))
			if !ok {
				parts = append(parts, missing)
				continue
			}
			parts = append(parts, judgeOldHandshake(h, modern))
		}
		return gather(parts...)
	})
}

// judgeOldHandshake judges a handshake with one old version; modern is its positive control.
func judgeOldHandshake(h, modern evidence.Handshake) Judgement {
	want, version := expectHandshake(h, "a refusal"), strings.Join(h.Offered, ", ")
	switch {
	case acceptsOffer(h):
		return want.failed("the server accepts "+version, handshakeResult(h))
	case h.Failure != nil && h.Failure.Kind == evidence.FailureLocal:
		return want.unclear("this build of rin cannot offer "+version+": "+clip(h.Failure.Message), handshakeResult(h)).
			Hinting("use a build of rin without FIPS mode and without GODEBUG settings for TLS")
	case !modern.Completed():
		return want.unclear("a refusal of "+version+" proves nothing here: the handshake with newer versions failed too", handshakeResult(h))
	case h.Alert != "", h.Failure != nil && (h.Failure.Kind == evidence.FailureReset || h.Failure.Kind == evidence.FailureTLS):
		return want.passed()
	}
	return want.unclear("the run does not show whether "+version+" is refused: "+handshakeResult(h), handshakeResult(h))
}
