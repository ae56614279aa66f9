package main_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("The letters of rin registry admit to the node's operator", func() {
	// letter returns the letter in an output: the indented lines after the sentence that announces it.
	letter := func(out string) string {
		GinkgoHelper()
		_, text, found := strings.Cut(out, "send this to the node's operator")
		Expect(found).To(BeTrue(), out)
		return words(text)
	}
	entryFile := func(r registryDir, text string) string {
		GinkgoHelper()
		file := filepath.Join(r.path, "xa.json")
		Expect(os.WriteFile(file, []byte(text), 0o600)).To(Succeed())
		return file
	}

	It("name every mistake of an entry that is refused, and what to send instead", func() {
		r := newRegistry("defaults: {profile: auth}\n")
		r.write(entryOf("OLD", "https://old.example"))
		got := r.rin("admit", entryFile(r, `{"id":"XA","oauth2":"http://xa.example/token","info":"/info"}`))
		Expect(got.code).To(Equal(2), got.out+got.err)
		Expect(got.out).To(HavePrefix("entry:         refused\n"))
		Expect(letter(got.out)).To(And(ContainSubstring("To the operator of the node XA"), ContainSubstring("oauth2: expected https"), ContainSubstring(`info: expected an absolute URL, got "/info"`),
			ContainSubstring(`"oauth2": "https://…", "info": "https://…"}`), HaveSuffix("https://registry.example")))

		got = r.rin("admit", entryFile(r, `<html>`))
		Expect(got.code).To(Equal(2), got.out+got.err)
		Expect(letter(got.out)).To(And(ContainSubstring("To the operator of the node"), ContainSubstring("expected one registry entry")))
	})

	It("say what the token endpoint did wrong before the client existed", func() {
		generous := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"access_token":"for-everybody","token_type":"Bearer"}`)
		}))
		DeferCleanup(generous.Close)
		r := newRegistry("defaults: {profile: auth}\n")
		r.write(entryOf("OLD", "https://old.example"))
		got := r.rin("admit", entryFile(r, fmt.Sprintf(`{"id":"XA","oauth2":"%[1]s/token","info":"%[1]s/info"}`, generous.URL)))
		Expect(got.code).To(Equal(3), got.out+got.err)
		Expect(letter(got.out)).To(And(ContainSubstring("To the operator of the node XA"), ContainSubstring("expected the token endpoint to refuse the drawn client registry-"), ContainSubstring("got status 200")))
		Expect(letter(got.out)).To(ContainSubstring("it failed at the token request of the client registry-"))
		Expect(letter(got.out)).NotTo(ContainSubstring("for-everybody"))
	})

	It("are not printed when no answer came, which may be a fault of the registry's own network", func() {
		closed := httptest.NewServer(http.NotFoundHandler())
		closed.Close()
		r := newRegistry("defaults: {profile: auth}\n")
		r.write(entryOf("OLD", "https://old.example"))
		file := entryFile(r, fmt.Sprintf(`{"id":"XA","oauth2":"%[1]s/token","info":"%[1]s/info"}`, closed.URL))
		got := r.rin("admit", file)
		Expect(got.code).To(Equal(3), got.out+got.err)
		Expect(got.out).NotTo(ContainSubstring("To the operator"))
		Expect(got.err).To(And(ContainSubstring("prove control of XA: ask the token endpoint with the drawn client: "), ContainSubstring("hint: check that this machine reaches the node")))
	})

	It("do not blame info when no answer came from it", func() {
		closed := httptest.NewServer(http.NotFoundHandler())
		closed.Close()
		known := false
		token := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if !known {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			fmt.Fprint(w, `{"access_token":"t","token_type":"Bearer"}`)
		}))
		DeferCleanup(token.Close)
		r := newRegistry("defaults: {profile: auth}\n")
		r.env = []string{"SECRET=s"}
		r.write(entryOf("OLD", "https://old.example"))
		file := entryFile(r, fmt.Sprintf(`{"id":"XA","oauth2":"%s/token","info":"%s/info"}`, token.URL, closed.URL))
		Expect(letter(r.rin("admit", file).out)).To(ContainSubstring("Create a client"))
		known = true
		got := r.rin("admit", file, "--client-secret", "env:SECRET")
		Expect(got.code).To(Equal(3), got.out+got.err)
		Expect(got.out).NotTo(ContainSubstring("To the operator"))
		Expect(got.err).To(ContainSubstring("prove control of XA: ask info with the token of the client that was created: "))
	})

	It("list what keeps a node from its certificate, and the requests of the delayed check by their true number", func() {
		var answer atomic.Value
		n := newNode(answerChallenge(&answer), "token-status-201")
		r := newRegistry(fmt.Sprintf("defaults: {profile: auth, client-id: %s, client-secret: env:SECRET}\n", n.clients[0].ClientID))
		r.write(entryOf("XA", n.URL))
		r.env = []string{"SECRET=" + n.clients[0].Secret}
		first := r.rin("admit", "XA", "--control", "well-known")
		Expect(words(first.out)).To(ContainSubstring("makes four more some minutes later"))
		answer.Store(regexp.MustCompile(`alone:\n +([0-9a-f]{32})`).FindStringSubmatch(first.out)[1])
		got := r.rin("admit", "XA", "--control", "well-known")
		Expect(got.code).To(Equal(1), got.out+got.err)
		Expect(letter(got.out)).To(And(ContainSubstring("To the operator of the node XA"), ContainSubstring("TOK-02: "), ContainSubstring("report.html")))
		for _, command := range []string{"run", "admit"} {
			Expect(words(rin(nil, "registry", command, "--help").out)).To(And(ContainSubstring("four requests that share nothing with the run but the client"), Not(ContainSubstring("three calls"))))
		}
	})
})
