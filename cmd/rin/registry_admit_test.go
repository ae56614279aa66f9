package main_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
)

var _ = Describe("A repeated rin registry admit", func() {
	// challenged is a node that answers the drawn text of its admission, and the directory of a registry that knows its client.
	challenged := func() (node, registryDir, func() outcome) {
		GinkgoHelper()
		var answer atomic.Value
		n := newNode(answerChallenge(&answer))
		r := newRegistry(fmt.Sprintf("defaults: {profile: auth, client-id: %s, client-secret: env:SECRET}\n", n.clients[0].ClientID))
		r.write(entryOf("XA", n.URL))
		r.env = []string{"SECRET=" + n.clients[0].Secret}
		return n, r, func() outcome {
			GinkgoHelper()
			got := r.rin("admit", "XA", "--control", "well-known")
			if drawn := regexp.MustCompile(`alone:\n +([0-9a-f]{32})`).FindStringSubmatch(got.out); drawn != nil {
				answer.Store(drawn[1])
			}
			return got
		}
	}

	It("says that it continues, why the node is tested again, and that the node was admitted before", func() {
		n, _, admit := challenged()
		Expect(n.sandbox.Deviate("token-status-201")).To(Succeed())
		Expect(admit().out).NotTo(ContainSubstring("this command"), "nothing was done before")

		refused := admit()
		Expect(refused.code).To(Equal(1), refused.out+refused.err)
		Expect(refused.out).To(And(MatchRegexp(`this command continues the admission that began on \d{4}-\d\d-\d\d \d\d:\d\d UTC`), Not(ContainSubstring("tested again"))))

		Expect(n.sandbox.Deviate()).To(Succeed())
		got := admit()
		Expect(got.code).To(Equal(0), got.out+got.err)
		Expect(got.out).To(MatchRegexp(`the node is tested again: the node did not pass in the run of \d{4}-`))

		repeated := admit()
		Expect(repeated.code).To(Equal(3))
		Expect(repeated.out).To(MatchRegexp(`this command begins a new admission, which proves control again: the node was admitted on \d{4}-\d\d-\d\d`))
		Expect(admit().out).To(ContainSubstring("this command continues the admission that began on"))
	})

	It("names the report that its letters enclose, and tells the operator of an admitted node what follows", func() {
		n, _, admit := challenged()
		Expect(n.sandbox.Deviate("token-status-201")).To(Succeed())
		admit()
		enclosed := func(out string) string {
			GinkgoHelper()
			file := regexp.MustCompile(`send this to the node's operator, with the file (\S+):\n`).FindStringSubmatch(out)
			Expect(file).NotTo(BeNil(), out)
			text, err := os.ReadFile(file[1])
			Expect(err).NotTo(HaveOccurred())
			return string(text)
		}
		refused := admit()
		Expect(refused.out).To(ContainSubstring("The enclosed report.html"))
		Expect(enclosed(refused.out)).To(And(ContainSubstring("TOK-02"), ContainSubstring("Not certified")))

		Expect(n.sandbox.Deviate()).To(Succeed())
		got := admit()
		Expect(words(got.out)).To(And(ContainSubstring("Your node is admitted"), ContainSubstring("the enclosed report.html"), ContainSubstring("https://registry.example/nodes/XA/"), ContainSubstring("After 2 bad nights in a row")))
		Expect(enclosed(got.out)).To(ContainSubstring("Certified for profile auth"))
	})

	It("leaves the run of the certificate alone when it fails in the same night", func() {
		n, r, admit := challenged()
		admit()
		Expect(admit().code).To(Equal(0))
		Expect(n.sandbox.Deviate("token-status-201")).To(Succeed())
		admit()
		failed := admit()
		Expect(failed.code).To(Equal(1), failed.out+failed.err)
		Expect(failed.out).To(ContainSubstring("certification: Not certified"))
		run, err := filepath.Glob(filepath.Join(r.path, "nodes", "XA", "*-admission"))
		Expect(err).NotTo(HaveOccurred())
		Expect(run).To(HaveLen(2))
		certified := rin(nil, "verify", run[1], "--key", filepath.Join(r.path, "operator.pub"))
		if !strings.Contains(certified.out, "a certificate of") {
			certified = rin(nil, "verify", run[0], "--key", filepath.Join(r.path, "operator.pub"))
		}
		Expect(certified.code).To(Equal(0), certified.out)
		Expect(certified.out).To(ContainSubstring("the report says: Certified"))
		Expect(r.rin("run").code).To(Equal(0))
	})

	It("admits a node that moved, whose earlier admission is complete", func() {
		_, r, admit := challenged()
		admit()
		Expect(admit().code).To(Equal(0))
		moved, _, _ := challenged()
		r.write(entryOf("XA", moved.URL))
		got := admit()
		Expect(got.code).To(Equal(3), got.out+got.err)
		Expect(got.out).To(And(ContainSubstring("begins a new admission"), ContainSubstring(moved.URL+"/.well-known/rin-challenge/")))
	})

	It("refuses what is not a place that later runs can read, before it begins anything", func() {
		r := newRegistry("defaults: {profile: auth}\n")
		r.write(entryOf("XA", "https://xa.example"))
		for place, message := range map[string]string{"-": "got - (standard input)", "hunter2": "got something else, which is not shown", "env:": "got something else", "vault:x": "got something else"} {
			got := r.rin("admit", "XA", "--client-secret", place)
			Expect(got.code).To(Equal(2), got.out+got.err)
			Expect(got.err).To(And(ContainSubstring("--client-secret: expected env:NAME, file:PATH or exec:COMMAND, "+message), Not(ContainSubstring("hunter2")), Not(ContainSubstring("or - for standard input"))))
		}
		Expect(filepath.Join(r.path, "admissions")).NotTo(BeAnExistingFile())
		both := r.rin("site", "--reports", "--remove-reports")
		Expect(both.code).To(Equal(2), both.err)
	})

	It("says which secret is missing here, and does not blame the node's operator", func() {
		var current atomic.Pointer[sandbox.Server]
		n := newNode(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				if s := current.Load(); s != nil {
					s.ServeHTTP(w, req)
					return
				}
				next.ServeHTTP(w, req)
			})
		})
		policy := "operator: https://registry.example\ndocument: ris.json\ndefaults: {profile: auth}\n"
		r := newRegistry("defaults: {profile: auth}\n")
		r.write(entryOf("XA", n.URL))
		first := r.rin("admit", "XA")
		Expect(first.out).To(ContainSubstring("control:       waiting for the node's operator"))
		drawn := regexp.MustCompile(`client id +(registry-[0-9a-f]{16})`).FindStringSubmatch(first.out)[1]

		second := r.rin("admit", "XA")
		Expect(second.code).To(Equal(3))
		Expect(second.out).To(And(ContainSubstring("control:       the registry has no secret of the drawn client, "+drawn), Not(ContainSubstring("waiting for the node's operator")),
			ContainSubstring("--client-secret"), ContainSubstring("    client-id: "+drawn+"\n    client-secret: env:NAME")))

		s, err := sandbox.New(sandbox.Config{Calls: 10, Loopback: true, Deviations: []string{"token-status-201"}, Clients: []sandbox.ClientConfig{{ID: drawn, Secret: "canary-of-the-admission", Role: "EXTERNAL_API_CLIENT", Affiliation: "AFF-1"}}})
		Expect(err).NotTo(HaveOccurred())
		current.Store(s)
		r.env = []string{"SECRET=canary-of-the-admission"}
		settings := func(nodes string) {
			GinkgoHelper()
			Expect(os.WriteFile(filepath.Join(r.path, "registry.yaml"), []byte(policy+nodes), 0o600)).To(Succeed())
		}
		settings(fmt.Sprintf("nodes: {XA: {client-id: %s, client-secret: env:SECRET}}\n", drawn))
		Expect(r.rin("admit", "XA").out).To(And(ContainSubstring("control:       proved on"), ContainSubstring("certification: Not certified")), "registry.yaml names the drawn client")
		settings("")

		proved := r.rin("admit", "XA")
		Expect(proved.code).To(Equal(3))
		Expect(proved.err).To(And(ContainSubstring("certify XA: the secret of the client "+drawn+", which proved control, was not given"), ContainSubstring("--client-secret"), Not(ContainSubstring("the same command tries again"))))

		Expect(s.Deviate()).To(Succeed())
		settings("nodes: {XA: {client-id: other, client-secret: env:SECRET}}\n")
		other := r.rin("admit", "XA")
		Expect(other.code).To(Equal(3), other.out)
		Expect(other.err).To(And(ContainSubstring("check the client other in "), ContainSubstring("the secret of the client "+drawn+", which proved control")))

		settings("")
		got := r.rin("admit", "XA", "--client-secret", "env:SECRET")
		Expect(got.code).To(Equal(0), got.out+got.err)
		for _, out := range []outcome{first, second, proved, other, got} {
			Expect(out.out + out.err).NotTo(ContainSubstring("canary"))
		}
	})
})
