package web_test

import (
	"html"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/web"
)

// clientID and secret contain characters that need quotes in a shell and escapes in a form; browser is the Accept header of a browser.
const (
	clientID = "a client's"
	secret   = "s3cret-&'$(id)"
	browser  = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
)

// visit requests a start page as a caller on the same machine does. change, if not nil, modifies the request.
func visit(h http.Handler, accept string, change func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Host, r.RemoteAddr = "127.0.0.1:8080", "127.0.0.1:40000"
	r.Header.Set("Accept", accept)
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func nodeAt(places address.Map) web.Node {
	return web.Node{ID: "XA", Acronym: "MUST", Name: "Universität <Musterstadt>", Places: places}
}

// startOf returns the start page of a node with two clients, in a network with one other node.
func startOf(places address.Map, onLoopback bool) http.Handler {
	self := nodeAt(places)
	return web.Start(places.Home(), places, onLoopback, func() web.Welcome {
		return web.Welcome{
			Title: self.Name, Subtitle: self.Acronym, Node: &self, Token: "/oauth/token",
			Places:  []web.Place{{Name: "token", Method: "POST", Path: "/oauth/token", Note: "a form"}, {Name: "document", Method: "GET", Path: "/p/api-docs", Open: true}},
			Clients: []web.Client{{ID: "elsewhere", Secret: "another", Token: "/elsewhere/oauth/token"}, {ID: clientID, Token: "/oauth/token", Secret: secret, Notes: []string{"a role"}}},
			Others:  []web.Node{{Acronym: "XB", Name: "Hochschule B", Places: address.Map{Root: "/xb"}}},
		}
	})
}

var _ = Describe("the start page", func() {
	places := address.Map{Prefix: "p", Realm: "ris"}
	start := startOf(places, true)

	It("is a page for browsers, a text for terminals, and a 404 for programs that read JSON", func() {
		for accept, want := range map[string]string{browser: "text/html; charset=utf-8", "*/*": "text/plain; charset=utf-8", "text/plain": "text/plain; charset=utf-8"} {
			got := visit(start, accept, nil)
			Expect(got.Code).To(Equal(http.StatusOK), accept)
			Expect(got.Header().Get("Content-Type")).To(Equal(want), accept)
			Expect(got.Header().Get("Vary")).To(ContainSubstring("Accept"), accept)
			Expect(got.Body.String()).To(SatisfyAll(ContainSubstring("http://127.0.0.1:8080/oauth/token"), ContainSubstring("http://127.0.0.1:8080/xb/")), accept)
		}
		for _, accept := range []string{"application/json", "application/problem+json", "application/json, */*;q=0.5", "image/png"} {
			got := visit(start, accept, nil)
			Expect(got.Code).To(Equal(http.StatusNotFound), accept)
			Expect(got.Header().Get("Content-Type")).To(Equal("application/problem+json"), accept)
			Expect(got.Header().Get("Vary")).To(Equal("Accept"), accept)
			Expect(got.Body.String()).To(SatisfyAll(ContainSubstring("token: /oauth/token"), Not(ContainSubstring("s3cret"))), accept)
		}
	})

	It("links what a browser can read, and shows other addresses as text", func() {
		m := read(visit(start, browser, nil).Body.String())
		Expect(m.links).To(ConsistOf("/docs", "/registry/registry.json", "/p/api-docs", "/xb/", "/xb/docs"))
		Expect(m.text).To(SatisfyAll(ContainSubstring("http://127.0.0.1:8080/oauth/token"), ContainSubstring("Universität <Musterstadt>")))
	})

	It("lists the other nodes of the network before the addresses of its own", func() {
		text := read(visit(start, browser, nil).Body.String()).text
		Expect(strings.Index(text, "Hochschule B")).To(BeNumerically("<", strings.Index(text, "Addresses")))
	})

	It("loads only files of the node, contains no inline script or style, and sends a strict policy", func() {
		got := visit(start, browser, nil)
		m := read(got.Body.String())
		Expect(m.inline).To(BeEmpty())
		assets := site(web.Assets(places))
		Expect(m.loads).To(HaveLen(4))
		for _, load := range m.loads {
			if load != "data:," {
				Expect(get(assets, http.MethodGet, load).Code).To(Equal(http.StatusOK), load)
				Expect(get(assets, http.MethodGet, load).Body.String()).NotTo(MatchRegexp(`https?:|url\(|@import`), load)
			}
		}
		Expect(got.Header().Get("Content-Security-Policy")).To(SatisfyAll(HavePrefix("default-src 'none'; script-src 'self'"), Not(ContainSubstring("unsafe"))))
		Expect(got.Header().Get("X-Content-Type-Options")).To(Equal("nosniff"))
	})

	It("answers HEAD without a body, and a known ETag with 304", func() {
		head := visit(start, browser, func(r *http.Request) { r.Method = http.MethodHead })
		Expect(head.Code).To(Equal(http.StatusOK))
		Expect(head.Body.Len()).To(BeZero())
		repeated := visit(start, browser, func(r *http.Request) { r.Header.Set("If-None-Match", head.Header().Get("ETag")) })
		Expect(repeated.Code).To(Equal(http.StatusNotModified))
	})

	It("shows the secrets of demo clients to a person at this machine, and forbids caches to store them", func() {
		for _, host := range []string{"127.0.0.1:8080", "localhost:8080", "[::1]:8080", "node.localhost"} {
			for _, accept := range []string{browser, "*/*"} {
				got := visit(start, accept, func(r *http.Request) { r.Host = host; r.Header.Set("Sec-Fetch-Dest", "document") })
				Expect(html.UnescapeString(got.Body.String())).To(SatisfyAll(ContainSubstring(secret),
					ContainSubstring(`export RIN_CLIENT_SECRET='s3cret-&'\''$(id)'`), ContainSubstring("-d client_id=a+client%27s \\\n")), host)
				Expect(got.Header().Get("Cache-Control")).To(Equal("no-store"), host)
			}
		}
	})

	DescribeTable("shows neither clients nor secrets", func(onLoopback bool, publicURL string, change func(*http.Request)) {
		published := places
		published.PublicURL = publicURL
		for _, accept := range []string{browser, "*/*"} {
			body := visit(startOf(published, onLoopback), accept, change).Body.String()
			Expect(body).NotTo(Or(ContainSubstring("s3cret"), ContainSubstring("another"), ContainSubstring("a client"), ContainSubstring("a+client")), accept)
			Expect(body).To(And(ContainSubstring("export RIN_CLIENT_SECRET=CLIENT_SECRET"), ContainSubstring("-d client_id=CLIENT_ID "), ContainSubstring("--client-id CLIENT_ID ")), accept)
		}
	},
		Entry("when other machines can connect", false, "", nil),
		Entry("to another machine", true, "", func(r *http.Request) { r.RemoteAddr = "192.0.2.1:40000" }),
		Entry("under a foreign name that resolves to loopback", true, "", func(r *http.Request) { r.Host = "rebound.example:8080" }),
		Entry("under an address that looks like loopback", true, "", func(r *http.Request) { r.Host = "127.0.0.1.example" }),
		Entry("without a Host", true, "", func(r *http.Request) { r.Host = "" }),
		Entry("behind a public URL", true, "https://node.example", nil),
		Entry("behind a proxy that sends X-Forwarded-For", true, "", func(r *http.Request) { r.Header.Set("X-Forwarded-For", "192.0.2.1") }),
		Entry("behind a proxy that sends X-Forwarded-Host", true, "", func(r *http.Request) { r.Header.Set("X-Forwarded-Host", "node.example") }),
		Entry("behind a proxy that sends X-Real-IP", true, "", func(r *http.Request) { r.Header.Set("X-Real-IP", "192.0.2.1") }),
		Entry("behind a proxy that sends Via", true, "", func(r *http.Request) { r.Header.Set("Via", "1.1 proxy") }),
		Entry("behind a proxy that sends Forwarded (RFC 7239)", true, "", func(r *http.Request) { r.Header.Set("Forwarded", "for=192.0.2.1") }),
		Entry("to a page of another origin", true, "", func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }),
		Entry("to a frame", true, "", func(r *http.Request) { r.Header.Set("Sec-Fetch-Dest", "iframe") }),
		Entry("to a script", true, "", func(r *http.Request) { r.Header.Set("Sec-Fetch-Dest", "empty") }),
	)

	It("does not use a Host that is markup", func() {
		body := visit(start, browser, func(r *http.Request) { r.Host = `"><script>alert(1)</script>` }).Body.String()
		Expect(body).NotTo(ContainSubstring("alert"))
	})

	It("has commands that a shell runs unchanged", func() {
		if _, err := exec.LookPath("sh"); err != nil {
			Skip("there is no shell")
		}
		text := visit(start, "text/plain", nil).Body.String()
		_, commands, found := strings.Cut(text, "# The registry\n")
		Expect(found).To(BeTrue())
		commands, _, _ = strings.Cut(commands, "\n\n")
		stubs := `curl() { for word; do printf '[%s]' "$word"; done; case "$*" in *@-*) printf '<%s>"access_token":"abc"' "$(cat)" >&2; echo '"access_token":"abc"';; esac; }
rin() { for word; do printf '[%s]' "$word"; done; printf '<%s>' "$RIN_CLIENT_SECRET"; }
`
		out, err := exec.Command("sh", "-euc", stubs+commands).CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(out))
		Expect(string(out)).To(SatisfyAll(ContainSubstring("[http://127.0.0.1:8080/registry/registry.json]"),
			ContainSubstring("[Authorization: Bearer abc]"), ContainSubstring("page[size]=2]"),
			ContainSubstring("[certify][--registry][http://127.0.0.1:8080/registry/registry.json][--node][XA][--client-id]["+clientID+"][--client-secret][env:RIN_CLIENT_SECRET]<"+secret+">")))
		Expect(string(out)).To(ContainSubstring("<"+secret+">\"access_token\""), "curl reads the secret from standard input")
		Expect(string(out)).NotTo(MatchRegexp(`\[[^]]*s3cret`), "no program has the secret among its arguments, where the list of processes shows it")
		Expect(strings.Count(string(out), "[-w][\\n]")).To(Equal(4), "each answer on the terminal ends with a line break")
	})

	It("has commands that trust the node's CA when it is served over TLS", func() {
		text := visit(start, "text/plain", func(r *http.Request) { *r = *httptest.NewRequest(http.MethodGet, "https://127.0.0.1:8080/", nil) }).Body.String()
		Expect(strings.Count(text, "curl ")).To(Equal(5))
		Expect(text).To(ContainSubstring("env:RIN_CLIENT_SECRET \\\n  --cacert rin-sandbox-ca.pem\n"))
		Expect(strings.Count(text, "curl -sg --cacert rin-sandbox-ca.pem ")).To(Equal(5))
		Expect(text).To(ContainSubstring("https://127.0.0.1:8080/oauth/token"))
	})

	It("lists the nodes of a network", func() {
		network := web.Start("/", address.Map{Root: "/xa"}, true, func() web.Welcome {
			return web.Welcome{Title: "Network", Subtitle: "2 nodes", Others: []web.Node{nodeAt(address.Map{Root: "/xa"}), nodeAt(address.Map{Root: "/xb"})}}
		})
		m := read(visit(network, browser, nil).Body.String())
		Expect(m.links).To(ConsistOf("/xa/", "/xa/docs", "/xb/", "/xb/docs"))
		Expect(m.loads).To(ContainElement("/xa/docs/start.css"))
		Expect(visit(network, "*/*", nil).Body.String()).To(ContainSubstring("http://127.0.0.1:8080/xb/"))
	})
})
