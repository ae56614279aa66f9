package sandbox_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
)

var _ = Describe("the routes", func() {
	It("answer other methods with 405 and Allow, and OPTIONS with 204 (INF-07)", func() {
		node := newNode(sandbox.Config{})
		token := fetchToken(node, stagingToken, node.Credentials()[0])
		for _, route := range node.Routes() {
			path := strings.ReplaceAll(route.Path, "{id}", "XF-00000001")
			other := http.MethodPost
			if route.Method == http.MethodPost {
				other = http.MethodGet
			}
			got := send(node, other, path, "", bearer(token))
			Expect(got.status).To(Equal(405), path)
			Expect(got.header.Get("Allow")).To(And(ContainSubstring(route.Method), Not(ContainSubstring(other))), path)
			Expect(got.header.Get("Content-Type")).To(ContainSubstring("json"))
			Expect(send(node, http.MethodOptions, path, "", nil).status).To(Equal(204), path)
			Expect(send(node, http.MethodHead, path, "", bearer(token)).body).To(BeEmpty(), path)
		}
	})

	It("answer unknown paths and versions with 404, and list the known ones (ERR-01, VER-02)", func() {
		node := newNode(sandbox.Config{})
		for _, path := range []string{"/", "/none", "/ris-synergy/info/v999/oauth/info/", "/ris-synergy/funding/v2/fundings"} {
			got := get(node, path, http.Header{"Accept": {"application/json"}})
			Expect(got.status).To(Equal(404))
			Expect(got.header.Get("Content-Type")).To(Equal("application/problem+json"))
			Expect(got.body).To(ContainSubstring(infoPath))
		}
		Expect(get(node, "/auth/realms/ris/protocol/openid-connect/token", nil).body).To(ContainSubstring("without /auth"))
	})

	It("include a health check", func() {
		Expect(get(newNode(sandbox.Config{}), "/healthz", nil).body).To(Equal(`{"status":"ok"}`))
	})
})

var _ = Describe("a configuration", func() {
	DescribeTable("is refused with the field and what it takes", func(c sandbox.Config, want string) {
		_, err := sandbox.New(c)
		Expect(err).To(MatchError(ContainSubstring(want)))
		Expect(err.Error()).NotTo(ContainSubstring("hunter2"))
	},
		func(_ sandbox.Config, want string) string { return want },
		Entry(nil, sandbox.Config{Prefix: "a b"}, "service prefix"),
		Entry(nil, sandbox.Config{Prefix: "a/../b"}, "service prefix"),
		Entry(nil, sandbox.Config{Realm: "a/b"}, "realm"),
		Entry(nil, sandbox.Config{PublicURL: "node.example"}, "public URL"),
		Entry(nil, sandbox.Config{PublicURL: "https://node.example/?a"}, "public URL"),
		Entry(nil, sandbox.Config{TokenFormat: "jwt-hs256"}, "jwt-es256"),
		Entry(nil, sandbox.Config{Paging: "cursor"}, "offset number"),
		Entry(nil, sandbox.Config{TokenTTL: time.Millisecond}, "token lifetime"),
		Entry(nil, sandbox.Config{Calls: -1}, "number of calls"),
		Entry(nil, sandbox.Config{Deviations: []string{"token-status-200"}}, "did you mean token-status-201"),
		Entry(nil, sandbox.Config{Clients: []sandbox.ClientConfig{{ID: "a", Secret: "hunter2"}}}, "weaker than 128 bits"),
		Entry(nil, sandbox.Config{Clients: []sandbox.ClientConfig{{ID: "a"}, {ID: "a"}}}, "registered twice"),
		Entry(nil, sandbox.Config{Clients: []sandbox.ClientConfig{{}}}, "client id"),
		Entry(nil, sandbox.Config{Issuers: []sandbox.IssuerConfig{{Issuer: "none"}}}, "issuer"),
		Entry(nil, sandbox.Config{Issuers: []sandbox.IssuerConfig{{Issuer: "https://as.example", JWKS: []byte("<html>")}}}, "cannot be read"),
		Entry(nil, sandbox.Config{Issuers: []sandbox.IssuerConfig{{Issuer: "https://as.example", JWKS: []byte(`{"keys":[{"kty":"oct","k":"aGVsbG8"}]}`)}}}, "no public key"),
	)

	It("may have weak secrets on loopback, and any character in them", func() {
		node := newNode(sandbox.Config{Loopback: true, Clients: []sandbox.ClientConfig{
			{ID: "a:b", Secret: "ö+ &=%", Role: "EXTERNAL_API_CLIENT", Affiliation: "X"},
		}})
		client := node.Credentials()[0]
		token := fetchToken(node, stagingToken, client)
		Expect(get(node, fundingsPath, bearer(token)).status).To(Equal(200))
		Expect(postForm(node, stagingToken, "grant_type=client_credentials", basic(client.ClientID, client.Secret)).status).To(Equal(200))
	})

	It("serves fundings only to clients with both role and affiliation", func() {
		node := newNode(sandbox.Config{Clients: []sandbox.ClientConfig{{ID: "a", Role: "EXTERNAL_API_CLIENT"}, {ID: "b", Role: "OTHER", Affiliation: "X"}}})
		Expect(get(node, fundingsPath, bearer(fetchToken(node, stagingToken, node.Credentials()[0]))).body).To(ContainSubstring("no affiliation ID"))
		Expect(get(node, fundingsPath, bearer(fetchToken(node, stagingToken, node.Credentials()[1]))).body).To(ContainSubstring("lacks the role"))
	})

	It("sets the addresses", func() {
		node := newNode(sandbox.Config{Prefix: "/a/b/", Realm: "staff", PublicURL: "https://node.example/"})
		addresses := node.Addresses("http://127.0.0.1:1")
		Expect(addresses.Info).To(Equal("https://node.example/a/b/info/v1/oauth/info/"))
		Expect(addresses.TryOut).To(Equal("https://node.example/a/b/try-out"))
		token := fetchToken(node, "/realms/staff/protocol/openid-connect/token", node.Credentials()[0])
		_, claims := decodeJWT(token)
		Expect(claims).To(HaveKeyWithValue("iss", "https://node.example/realms/staff"))
		Expect(get(node, "/a/b/info/v1/oauth/info/", bearer(token)).body).To(ContainSubstring(`"url":"https://node.example/a/b/funding/v3/fundings"`))
		Expect(get(node, "/registry/registry.json", nil).body).To(ContainSubstring(`"oauth2":"https://node.example/oauth/token"`))
	})

	It("makes the same secrets and keys from the same random source", func() {
		secrets := map[string]bool{}
		keys := map[string]bool{}
		for range 2 {
			node := newNode(sandbox.Config{Random: &countingReader{}})
			secrets[node.Credentials()[0].Secret] = true
			keys[get(node, "/realms/ris/protocol/openid-connect/certs", nil).body] = true
		}
		Expect(secrets).To(HaveLen(1))
		Expect(keys).To(HaveLen(1))
		other := newNode(sandbox.Config{})
		Expect(secrets).NotTo(HaveKey(other.Credentials()[0].Secret))
		Expect(other.Credentials()[0].Secret).To(HaveLen(43))
	})

	It("logs whole characters of a long path", func() {
		var log bytes.Buffer
		node := newNode(sandbox.Config{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
		for padding := range 4 { // so that any limit falls into a character
			get(node, "/"+strings.Repeat("a", padding)+strings.Repeat("/日日日日", 80), nil)
		}
		Expect(log.String()).To(And(ContainSubstring("日日日"), ContainSubstring("…"), Not(ContainSubstring(`\x`))))
	})

	It("never writes credentials to the log", func() {
		var log bytes.Buffer
		node := newNode(sandbox.Config{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))})
		client := node.Credentials()[0]
		token := fetchToken(node, stagingToken, client)
		get(node, infoPath+"?access_token="+token, bearer(token))
		postForm(node, stagingToken+"?client_secret="+client.Secret, "", nil)
		Expect(log.String()).To(And(ContainSubstring("path=/oauth/token"), ContainSubstring("status=200")))
		Expect(log.String()).NotTo(Or(ContainSubstring(client.Secret), ContainSubstring(token)))
	})
})

// countingReader is a source of the same bytes each time.
type countingReader struct{ next byte }

func (c *countingReader) Read(p []byte) (int, error) {
	for i := range p {
		c.next = c.next*31 + 7
		p[i] = c.next
	}
	return len(p), nil
}

// patience is the timeout for a slow machine; on an idle one the tests never wait so long.
const patience = 20 * time.Second

var _ = Describe("Serve", func() {
	It("answers until its context ends, and lets running requests finish", func() {
		node, err := sandbox.New(sandbox.Config{})
		Expect(err).NotTo(HaveOccurred())
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		Expect(err).NotTo(HaveOccurred())
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- sandbox.Serve(ctx, listener, node) }()

		running := runningNode{node, "http://" + listener.Addr().String()}
		Expect(get(running, "/healthz", nil).status).To(Equal(200))
		oversized := get(running, "/healthz", http.Header{"X-Large": {strings.Repeat("a", 64<<10)}})
		Expect(oversized.status).To(Equal(431))

		client := node.Credentials()[0]
		form := "grant_type=client_credentials&client_id=" + client.ClientID + "&client_secret=" + client.Secret
		connection, err := net.Dial("tcp", listener.Addr().String())
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(connection.Close)
		_, err = fmt.Fprintf(connection, "POST /oauth/token HTTP/1.1\r\nHost: node\r\nExpect: 100-continue\r\n"+
			"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n", len(form))
		Expect(err).NotTo(HaveOccurred())
		answers := bufio.NewReader(connection)
		Expect(answers.ReadString('\n')).To(Equal("HTTP/1.1 100 Continue\r\n"), "the handler is reading the body")
		Expect(answers.ReadString('\n')).To(Equal("\r\n"))

		stop()
		Eventually(func() error {
			other, err := net.Dial("tcp", listener.Addr().String())
			if err != nil {
				return err
			}
			return other.Close()
		}).WithTimeout(patience).Should(HaveOccurred(), "no new connections")
		_, err = io.WriteString(connection, form)
		Expect(err).NotTo(HaveOccurred())
		Expect(answers.ReadString('\n')).To(Equal("HTTP/1.1 200 OK\r\n"))
		Eventually(ended).WithTimeout(patience).Should(Receive(BeNil()))
	})

	It("does not wait at its end for connections without a request", func() {
		node, err := sandbox.New(sandbox.Config{})
		Expect(err).NotTo(HaveOccurred())
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		Expect(err).NotTo(HaveOccurred())
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- sandbox.Serve(ctx, listener, node) }()
		silent, err := net.Dial("tcp", listener.Addr().String())
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(silent.Close)
		// The listener accepts connections in turn: after this answer, it has accepted the silent one.
		Expect(get(runningNode{node, "http://" + listener.Addr().String()}, "/healthz", nil).status).To(Equal(200))
		stop()
		Eventually(ended).WithTimeout(patience).Should(Receive(BeNil()))
	})

	It("reports a listener that fails", func() {
		node, err := sandbox.New(sandbox.Config{})
		Expect(err).NotTo(HaveOccurred())
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		Expect(err).NotTo(HaveOccurred())
		Expect(listener.Close()).To(Succeed())
		Expect(sandbox.Serve(context.Background(), listener, node)).To(MatchError(ContainSubstring("serve the sandbox")))
	})
})
