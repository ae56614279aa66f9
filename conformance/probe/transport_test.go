package probe_test

import (
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/target"
)

var _ = Describe("The requests about TLS", func() {
	of := func(t target.Target) []string {
		var out []string
		for _, l := range probe.ForTarget(t).Labels() {
			if group, _, _ := strings.Cut(string(l), "/"); group == "tls" || group == "cleartext" {
				out = append(out, string(l))
			}
		}
		return out
	}

	It("are handshakes with each origin, and plain HTTP to the port of the URL and to port 80, but not to port 80 of this machine", func() {
		remote := target.Target{TokenURL: "https://sso.example/t", InfoURL: "https://api.example/i", SpecURL: "https://API.example:443/s", BaseURL: "https://api.example:8443/b", Profile: "funding"}
		Expect(of(remote)).To(Equal([]string{
			"tls/token.modern", "tls/token.tls11", "tls/token.tls10", "tls/info.modern", "tls/info.tls11", "tls/info.tls10", "tls/base.modern", "tls/base.tls11", "tls/base.tls10",
			"cleartext/token.same-port", "cleartext/token.port-80", "cleartext/info.same-port", "cleartext/info.port-80",
		}))
		here := target.Target{TokenURL: "https://127.0.0.1:8443/t", InfoURL: "https://127.0.0.1:8443/i", Profile: "auth"}
		Expect(of(here)).To(Equal([]string{"tls/token.modern", "tls/token.tls11", "tls/token.tls10", "cleartext/token.same-port", "cleartext/info.same-port"}))
		here.TokenURL, here.InfoURL = "http://127.0.0.1:8080/t", "http://127.0.0.1:8080/i"
		Expect(of(here)).To(BeEmpty())
	})

	It("hold no secret and no token over plain HTTP, even if the node speaks nothing else", func() {
		n := newNode()
		secure := targetOf(n)
		for _, u := range []*string{&secure.TokenURL, &secure.InfoURL, &secure.SpecURL, &secure.BaseURL} {
			*u = strings.Replace(*u, "http://", "https://", 1)
		}
		log := certify(secure)
		x, sent := log.Get("cleartext/token.same-port")
		Expect(sent).To(BeTrue())
		Expect(x.Status()).To(Equal(http.StatusUnauthorized), "the node was asked in cleartext")
		Expect(x.Attempts).To(Equal(1))
		Expect(string(x.Request.Body)).To(ContainSubstring("client_secret=[["+probe.UnknownSecret+":"), "an answer that repeats it is found")
		h, shaken := log.Handshake("tls/token.modern")
		Expect(shaken).To(BeTrue())
		Expect(h.Completed()).To(BeFalse())
		Expect(n.log()).NotTo(BeEmpty())
		for _, request := range n.log() {
			Expect(request.authorization).To(BeEmpty(), request.uri)
			if strings.Contains(request.body, "client_secret") {
				Expect(request.body).To(MatchRegexp(`^grant_type=client_credentials&client_id=[a-zA-Z0-9-]+&client_secret=[^&]{20,}$`), "drawn for the run")
			}
		}
	})
})

var _ = Describe("The requests about the registry entry", func() {
	entry := func(n *node, token, info string) []byte {
		return []byte(`{"member":[{"id":"XA","oauth2":"` + n.URL + token + `","info":"` + n.URL + info + `"}]}`)
	}

	It("go to the recorded URLs only if the operator gave other URLs of the same origin", func() {
		n := newNode()
		t := targetOf(n)
		t.NodeID, t.RegistryDocument = "XA", entry(n, "/oauth/token", "/ris/info/v2/oauth/info/")
		log := certify(t)
		_, sent := log.Get(evidence.RecordedToken.With(evidence.OK))
		Expect(sent).To(BeFalse(), "it is the given one")
		x, sent := log.Get(evidence.RecordedInfo.With(evidence.OK))
		Expect(sent).To(BeTrue())
		Expect(x.Status()).To(Equal(http.StatusNotFound))
		Expect(x.Request.URL).To(HaveSuffix("/ris/info/v2/oauth/info/"))

		t.RegistryDocument = []byte(`{"member":[{"id":"XA","oauth2":"https://elsewhere.example/t","info":"https://elsewhere.example/i"}]}`)
		log = certify(t)
		for _, l := range []evidence.Label{"entry/token.ok", "entry/info.ok"} {
			Expect(log.Planned).NotTo(ContainElement(l), "these credentials may mean nothing there")
		}
	})
})
