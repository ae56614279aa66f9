package requirement

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
)

// handshakes are TLS-03 to TLS-05.
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
			Reads:    append(handshakeLabels("modern", "tls11", "tls10"), evidence.Info.With(evidence.OK)), Check: certificatesValid,
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
			Reads:    handshakeLabels("modern", "tls11", "tls10"), Check: modernTLSOffered,
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
			Reads:    handshakeLabels("modern", "tls11", "tls10"), Check: oldTLSRefused,
		},
	}
}

// originNames are the resources that handshakes stand under.
func originNames() []evidence.Resource {
	return []evidence.Resource{evidence.TokenOrigin, evidence.InfoOrigin, evidence.SpecOrigin, evidence.BaseOrigin}
}

func handshakeLabels(cases ...evidence.Case) []evidence.Label {
	var out []evidence.Label
	for _, r := range originNames() {
		for _, c := range cases {
			out = append(out, r.With(c))
		}
	}
	return out
}

// This file judges handshakes (TLS-03 to TLS-05).

// eachOrigin judges every https origin of the node and gathers.
func eachOrigin(e Evidence, judge func(r evidence.Resource) Judgement) Judgement {
	var parts []Judgement
	for _, r := range originNames() {
		if _, planned := e.Skipped(r.With("modern")); planned || slices.Contains(e.Planned, r.With("modern")) {
			parts = append(parts, judge(r))
		}
	}
	if len(parts) == 0 {
		return withoutTLS(e, e.Run.TokenURL, e.Run.InfoURL, e.Run.SpecURL, e.Run.BaseURL)
	}
	return gather(parts...)
}

// withoutTLS judges a node none of whose URLs is https: on loopback that is as it should be, elsewhere it is what the group forbids.
func withoutTLS(e Evidence, urls ...string) Judgement {
	if e.Run.Loopback {
		return Missing("the node is on loopback and served without TLS")
	}
	known := false
	for _, raw := range urls {
		u, err := url.Parse(raw)
		if err != nil {
			continue
		}
		if u.Scheme == "http" {
			return Failed("the URL itself is plain HTTP, so credentials travel in cleartext", "an https URL", clip(raw)).
				About(Subject{Name: clip(raw), Expected: "https", Got: "http"})
		}
		known = known || u.Scheme == "https"
	}
	if known {
		return Unclear("the recording holds nothing about TLS").Blaming(Suite)
	}
	return Unclear("the URLs of the node are not known")
}

// shaken is a handshake that took place, or why there is none.
func (e Evidence) shaken(label evidence.Label) (evidence.Handshake, Judgement, bool) {
	if h, ok := e.Handshake(label); ok {
		return h, Judgement{}, true
	}
	j, _ := e.unanswered(label)
	return evidence.Handshake{}, j, false
}

// handshakeName is how a reader knows a handshake.
func handshakeName(h evidence.Handshake) string {
	return clip("TLS handshake with " + h.Address)
}

func (j Judgement) aboutHandshake(h evidence.Handshake, expected, got string) Judgement {
	return j.About(Subject{Name: handshakeName(h) + " by " + strings.Join(h.Offered, ", "), Label: h.Label, Expected: expected, Got: got})
}

// ended says in words how a handshake ended.
func ended(h evidence.Handshake) string {
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

// spoke reports that the server agreed to the version that was offered, also if the handshake broke off later for another reason.
func spoke(h evidence.Handshake) bool {
	return h.Completed() || h.Selected != "" && slices.Contains(h.Offered, h.Selected)
}

// renewal is how much life a certificate should have left: two weeks, or a third of its whole life when that is shorter.
func renewal(c evidence.Certificate) time.Duration {
	return min(14*24*time.Hour, c.NotAfter.Sub(c.NotBefore)/3)
}

func certificatesValid(e Evidence) Judgement {
	return eachOrigin(e, func(r evidence.Resource) Judgement {
		h, none, made := e.shaken(r.With("modern"))
		if !made {
			return none
		}
		// A server of old versions shows its certificate as well.
		for _, c := range []evidence.Case{"tls11", "tls10"} {
			if old, ok := e.Handshake(r.With(c)); ok && len(h.Chain) == 0 && len(old.Chain) > 0 {
				h = old
			}
		}
		if len(h.Chain) == 0 {
			return Unclear("the server showed no certificate: "+ended(h)).aboutHandshake(h, "a certificate", ended(h))
		}
		return certificate(e, h)
	})
}

// certificate judges the chain of one handshake.
func certificate(e Evidence, h evidence.Handshake) Judgement {
	leaf := h.Chain[0]
	if h.Distrust != "" && e.Run.Loopback && !e.Run.Authorities {
		return Unclear("a certificate of loopback is of no public authority, and the run was given none to trust").
			Hinting("give the authority that issued it with --cacert (rin sandbox --tls prints where its own is)").aboutHandshake(h, "a certificate that can be verified", string(h.Distrust))
	}
	const expected = "a valid chain for the host"
	j := distrusted(h, leaf)
	if j.Outcome == Fail {
		j.Expected = expected
		return j.aboutHandshake(h, expected, j.Got)
	}
	left := leaf.NotAfter.Sub(h.Started)
	notes := []string{fmt.Sprintf("%s: certificate by %s until %s, %s", h.Address, quote(leaf.Issuer), day(leaf.NotAfter), versionNote(h))}
	if note := hsts(e, h); note != "" {
		notes = append(notes, note)
	}
	if least := renewal(leaf); left < least {
		got := "valid until " + day(leaf.NotAfter)
		return Warned("the certificate expires soon: its renewal does not seem to work", fmt.Sprintf("at least %s left", days(least)), got).
			Hinting("renew the certificate now, and let a program do so from then on (certbot renew with a timer, acme.sh, Caddy)").
			aboutHandshake(h, fmt.Sprintf("at least %s left", days(least)), got).Noting(notes...)
	}
	return Passed().About(Subject{Name: handshakeName(h), Label: h.Label}).Noting(notes...)
}

// distrusted says why a chain proves nothing, with the fix for that very cause.
func distrusted(h evidence.Handshake, leaf evidence.Certificate) Judgement {
	switch h.Distrust {
	case "":
		return Judgement{Outcome: Pass}
	case evidence.CertificateExpired:
		return Failed("a certificate has expired", "", chainDates(h)).
			Hinting("renew the certificate, and let a program do so from then on (certbot renew with a timer, acme.sh, Caddy); reload the server afterwards")
	case evidence.CertificateNotYetValid:
		return Failed("the certificate is not valid yet", "", "valid from "+day(leaf.NotBefore)).
			Hinting("set the clock of the machine that issued the certificate (and of this one) right, then have it issued again")
	case evidence.CertificateOfOther:
		names := strings.Join(leaf.Names, ", ")
		if names == "" {
			names = "no name (subjectAltName)"
		}
		return Failed("the certificate is for other hosts than "+quote(h.ServerName), "", clip(names)).
			Hinting("have a certificate issued that names this host; if the server has one already, the wrong site answers: mend its server_name or virtual host (SNI)")
	case evidence.CertificateSelfSigned:
		return Failed("the certificate is signed by itself, so it proves nothing to a client", "", clip("issued by "+leaf.Issuer)).
			Hinting("have a certificate issued by a public authority, such as Let's Encrypt or the TCS of your research network")
	case evidence.ChainIncomplete:
		return Failed("incomplete chain: the certificate that issued the server's own is not sent", "", clip("issued by "+leaf.Issuer+", which was not sent")).
			Hinting("send the intermediate certificates behind your own (RFC 8446 §4.4.2; nginx: ssl_certificate fullchain.pem; Apache: SSLCertificateFile with the whole chain). Browsers hide the fault, because they fetch or remember them. If the issuer is an authority of your own, it has to be given with --cacert")
	case evidence.ChainUntrusted:
		last := h.Chain[len(h.Chain)-1]
		return Failed("the chain ends at an authority that is not trusted here", "", clip("issued by "+last.Issuer)).
			Hinting("have a certificate issued by a public authority: clients of other institutions do not know yours. To test with your own, give it with --cacert")
	}
	return Failed("the certificate cannot be verified: "+clip(h.Message), "", clip(leaf.Subject))
}

// chainDates names the certificate of a chain that had expired.
func chainDates(h evidence.Handshake) string {
	for _, c := range h.Chain {
		if h.Started.After(c.NotAfter) {
			return clip(c.Subject + " expired " + day(c.NotAfter))
		}
	}
	return clip(h.Message)
}

func day(t time.Time) string { return t.UTC().Format("2 January 2006") }

func days(d time.Duration) string {
	if n := int(d.Hours() / 24); n != 1 {
		return fmt.Sprintf("%d days", n)
	}
	return "1 day"
}

func versionNote(h evidence.Handshake) string {
	if h.Version == "" {
		return "no handshake completed"
	}
	return h.Version + " is negotiated"
}

// hsts is a note for the origin of the info endpoint (RFC 6797); clients that are programs do not heed the header.
func hsts(e Evidence, h evidence.Handshake) string {
	x := e.exchange(evidence.Info.With(evidence.OK))
	u, err := url.Parse(x.Request.URL)
	if err != nil || x.Response == nil || u.Hostname() != h.ServerName {
		return ""
	}
	if len(header(x, "Strict-Transport-Security")) > 0 {
		return h.Address + " sends Strict-Transport-Security"
	}
	return h.Address + " sends no Strict-Transport-Security, which only browsers would heed"
}

func modernTLSOffered(e Evidence) Judgement {
	return eachOrigin(e, func(r evidence.Resource) Judgement {
		h, none, made := e.shaken(r.With("modern"))
		switch {
		case !made:
			return none
		case spoke(h):
			return Passed().About(Subject{Name: handshakeName(h), Label: h.Label})
		}
		const expected = "TLS 1.2 or 1.3"
		for _, c := range []evidence.Case{"tls11", "tls10"} {
			if old, ok := e.Handshake(r.With(c)); ok && spoke(old) {
				got := old.Offered[0] + " and nothing newer"
				return Failed("the server speaks old versions of TLS only", expected, got).aboutHandshake(h, expected, ended(h)).
					aboutHandshake(old, "a refusal", ended(old))
			}
		}
		return Unclear("no handshake completed: "+ended(h)).aboutHandshake(h, expected, ended(h))
	})
}

func oldTLSRefused(e Evidence) Judgement {
	return eachOrigin(e, func(r evidence.Resource) Judgement {
		modern, _ := e.Handshake(r.With("modern"))
		var parts []Judgement
		for _, c := range []evidence.Case{"tls11", "tls10"} {
			h, none, made := e.shaken(r.With(c))
			if !made {
				parts = append(parts, none)
				continue
			}
			parts = append(parts, oldRefused(h, modern))
		}
		return gather(parts...)
	})
}

// oldRefused judges a handshake with one old version; modern is its positive control.
func oldRefused(h, modern evidence.Handshake) Judgement {
	const expected = "a refusal"
	version := strings.Join(h.Offered, ", ")
	switch {
	case spoke(h):
		return Failed("the server accepts "+version, expected, ended(h)).aboutHandshake(h, expected, ended(h))
	case h.Failure != nil && h.Failure.Kind == evidence.FailureLocal:
		return Unclear("this build of rin cannot offer "+version+": "+clip(h.Failure.Message)).
			Hinting("use a build of rin without FIPS mode and without GODEBUG settings for TLS").aboutHandshake(h, expected, ended(h))
	case !modern.Completed():
		return Unclear("a refusal of "+version+" proves nothing here: the handshake with newer versions failed too").aboutHandshake(h, expected, ended(h))
	case h.Alert != "", h.Failure != nil && (h.Failure.Kind == evidence.FailureReset || h.Failure.Kind == evidence.FailureTLS):
		return Passed().About(Subject{Name: handshakeName(h) + " by " + version, Label: h.Label})
	}
	return Unclear("whether "+version+" is refused could not be found out: "+ended(h)).aboutHandshake(h, expected, ended(h))
}
