package sandboxtest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/clientrules"
	"github.com/rin-network/rin/sandbox/sandboxtest"
)

func TestSandboxtest(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "sandboxtest")
}

// TestParallel uses the package as most users do, in a plain Go test.
func TestParallel(t *testing.T) {
	for i := range 4 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			box := sandboxtest.New(t, sandboxtest.Calls(3), sandboxtest.Seed(uint64(i)))
			answer, err := box.Authorized(box.Credential()).Get(box.Addresses.Fundings)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			if answer.StatusCode != http.StatusOK {
				t.Errorf("status %d", answer.StatusCode)
			}
			box.ExpectNoFindings()
		})
	}
}

// noon is the time of clocks that stand still.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// failureRecorder records the failures of a test. Like that of testing.T, its Fatalf ends the test.
type failureRecorder struct {
	FullGinkgoTInterface
	errors []string
}

func (f *failureRecorder) Helper() {}

func (f *failureRecorder) Errorf(format string, args ...any) {
	f.errors = append(f.errors, fmt.Sprintf(format, args...))
}

func (f *failureRecorder) Fatalf(format string, args ...any) {
	f.Errorf(format, args...)
	panic(f)
}

// failuresOf runs a test and returns its failures.
func failuresOf(test func(sandboxtest.TB)) (errors []string) {
	f := &failureRecorder{FullGinkgoTInterface: GinkgoT()}
	defer func() {
		if end := recover(); end != nil && end != f {
			panic(end)
		}
		errors = f.errors
	}()
	test(f)
	return f.errors
}

func get(client *http.Client, url string) (int, string) {
	GinkgoHelper()
	answer, err := client.Get(url)
	Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	Expect(err).NotTo(HaveOccurred())
	return answer.StatusCode, string(body)
}

var _ = Describe("A sandbox in a test", func() {
	It("has secrets and keys that depend on the seed only", func() {
		secrets, keys, data := map[string]int{}, map[string]int{}, map[string]int{}
		for _, seed := range []uint64{7, 7, 8} {
			box := sandboxtest.New(GinkgoT(), sandboxtest.Seed(seed), sandboxtest.Calls(5), sandboxtest.At(noon))
			secrets[box.Credential().Secret]++
			_, set := get(box.HTTPClient(), box.URL+"/realms/ris/protocol/openid-connect/certs")
			keys[set]++
			_, list := get(box.Authorized(box.Credential()), box.Addresses.Fundings)
			data[strings.ReplaceAll(list, box.URL, "")]++
		}
		Expect([]int{len(secrets), len(keys), len(data)}).To(Equal([]int{2, 2, 2}))
	})

	It("advances the time, so that its HTTP client fetches a new token", func() {
		box := sandboxtest.New(GinkgoT(), sandboxtest.At(noon), sandboxtest.Calls(3))
		client := box.Authorized(box.Credential())
		for range 3 {
			status, _ := get(client, box.Addresses.Info)
			Expect(status).To(Equal(200))
		}
		Expect(box.Journal()).To(HaveLen(4), "one token, three calls")
		box.Advance(5 * time.Minute)
		Expect(box.Now()).To(Equal(noon.Add(5 * time.Minute)))
		status, _ := get(client, box.Addresses.Info)
		Expect(status).To(Equal(200))
		Expect(box.Journal()).To(HaveLen(6))
		box.ExpectNoFindings()
		box.Reset()
		Expect(box.Now()).To(Equal(noon))
		Expect(box.Journal()).To(BeEmpty())
	})

	It("has several nodes that refuse each other's tokens", func() {
		box := sandboxtest.New(GinkgoT(), sandboxtest.Nodes(3), sandboxtest.Calls(3))
		Expect(box.Nodes()).To(HaveLen(3))
		for _, node := range box.Nodes() {
			status, _ := get(node.Authorized(node.Credential()), node.Addresses.Fundings)
			Expect(status).To(Equal(200))
		}
		foreign, err := http.NewRequest(http.MethodGet, box.Nodes()[1].Addresses.Info, nil)
		Expect(err).NotTo(HaveOccurred())
		foreign.Header.Set("Authorization", "Bearer "+box.Token(box.Credential()))
		answer, err := box.HTTPClient().Do(foreign)
		Expect(err).NotTo(HaveOccurred())
		Expect(answer.Body.Close()).To(Succeed())
		Expect(answer.StatusCode).To(Equal(401))
	})

	It("serves https to clients that trust its authority, whatever its clock says", func() {
		box := sandboxtest.New(GinkgoT(), sandboxtest.TLS(), sandboxtest.At(noon.AddDate(-5, 0, 0)), sandboxtest.Calls(3))
		Expect(box.Addresses.Info).To(HavePrefix("https://127.0.0.1:"))
		status, body := get(box.Authorized(box.Credential()), box.Addresses.Info)
		Expect(status).To(Equal(200))
		Expect(body).To(ContainSubstring(box.URL))
		_, err := http.Get(box.Addresses.Registry)
		Expect(err).To(MatchError(ContainSubstring("certificate")))
	})

	It("has the given preset and configuration", func() {
		box := sandboxtest.New(GinkgoT(), sandboxtest.Preset("keycloak"), sandboxtest.Configure(func(c *sandbox.Config) { c.Calls, c.TokenTTL = 2, time.Minute }))
		Expect(box.Addresses.ListedToken).To(ContainSubstring("/realms/"))
		_, body := get(box.HTTPClient(), box.Addresses.TryOutFundings+"?fundingType=CALL")
		var calls []struct{ ID string }
		Expect(json.Unmarshal([]byte(body), &calls)).To(Succeed())
		Expect(len(calls)).To(BeNumerically("<=", 2))
	})

	It("plays scenarios, and has deviations until they are replaced", func() {
		box := sandboxtest.New(GinkgoT(), sandboxtest.At(noon), sandboxtest.Calls(3))
		client := box.Authorized(box.Credential())
		box.Play("429-then-ok:times=1")
		first, _ := get(client, box.Addresses.Fundings)
		box.Advance(time.Hour)
		second, _ := get(client, box.Addresses.Fundings)
		Expect([]int{first, second}).To(Equal([]int{429, 200}))
		box.Deviate("token-status-201")
		Expect(box.Server.Deviations()).To(Equal([]string{"token-status-201"}))
		box.Deviate()
		Expect(box.Server.Deviations()).To(BeEmpty())
	})

	It("does not send its tokens to other hosts", func() {
		box := sandboxtest.New(GinkgoT(), sandboxtest.Calls(3))
		var seen []string
		elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = r.Header.Values("Authorization") }))
		DeferCleanup(elsewhere.Close)
		status, _ := get(box.Authorized(box.Credential()), elsewhere.URL)
		Expect(status).To(Equal(200))
		Expect(seen).To(BeEmpty())
	})

	It("fails the test with what a client did wrong, why, and a correct command", func() {
		failures := failuresOf(func(t sandboxtest.TB) {
			box := sandboxtest.New(t, sandboxtest.Calls(3))
			c := box.Credential()
			form := url.Values{"grant_type": {"client_credentials"}, "client_id": {c.ClientID}, "client_secret": {c.Secret}}
			answer, err := box.HTTPClient().PostForm(box.Addresses.Token+"?client_secret="+c.Secret, form)
			Expect(err).NotTo(HaveOccurred())
			Expect(answer.Body.Close()).To(Succeed())
			box.ExpectNoFindings()
		})
		Expect(failures).To(ContainElement(SatisfyAll(ContainSubstring("CLT-"), ContainSubstring("\n  seen  "), ContainSubstring("\n  fix   "), ContainSubstring("\n  right curl "))))
	})

	It("fails the test for the levels that FailOn names", func() {
		for level, count := range map[clientrules.Level]int{clientrules.Fault: 0, clientrules.Waste: 0, clientrules.Note: 1} {
			failures := failuresOf(func(t sandboxtest.TB) {
				box := sandboxtest.New(t, sandboxtest.Calls(3), sandboxtest.FailOn(level))
				get(box.Authorized(box.Credential()), box.Addresses.Info) // a note: without Content-Type
				box.ExpectNoFindings()
			})
			Expect(failures).To(HaveLen(count), string(level))
		}
	})

	It("records calls whose answers were not read to the end", func() {
		box := sandboxtest.New(GinkgoT())
		for i := range 20 {
			answer, err := box.HTTPClient().Get(box.Addresses.TryOutFundings)
			Expect(err).NotTo(HaveOccurred())
			Expect(answer.Body.Close()).To(Succeed())
			Expect(box.Journal()).To(HaveLen(i + 1))
		}
	})

	It("fails the test if a client never called", func() {
		Expect(failuresOf(func(t sandboxtest.TB) { sandboxtest.New(t).ExpectNoFindings() })).To(ConsistOf(ContainSubstring("no client called")))
		Expect(failuresOf(func(t sandboxtest.TB) {
			box := sandboxtest.New(t)
			box.Token(box.Credential())
			box.ExpectNoFindings("demo-client-without-role")
		})).To(ConsistOf(ContainSubstring(`"demo-client-without-role" never called`)))
	})

	DescribeTable("ends the test with what is wrong", func(want string, test func(sandboxtest.TB)) {
		Expect(failuresOf(test)).To(ConsistOf(SatisfyAll(HavePrefix("sandboxtest: "), ContainSubstring(want))))
	},
		Entry("a network without nodes", "want 1 to", func(t sandboxtest.TB) { sandboxtest.New(t, sandboxtest.Nodes(0)) }),
		Entry("an unknown preset", "keycloak", func(t sandboxtest.TB) { sandboxtest.New(t, sandboxtest.Preset("keyclok")) }),
		Entry("an invalid configuration", "number of calls", func(t sandboxtest.TB) { sandboxtest.New(t, sandboxtest.Calls(-1)) }),
		Entry("an unknown deviation", "token-status-20", func(t sandboxtest.TB) { sandboxtest.New(t).Deviate("token-status-2") }),
		Entry("an unknown scenario", "429-then-ok", func(t sandboxtest.TB) { sandboxtest.New(t).Play("429-then-okay") }),
		Entry("a time that is too far away", "further than", func(t sandboxtest.TB) { sandboxtest.New(t).Advance(1 << 62) }),
		Entry("an unknown client", "demo-client-other-audience", func(t sandboxtest.TB) { sandboxtest.New(t).CredentialOf("demo") }),
		Entry("a node without clients", "has no client", func(t sandboxtest.TB) {
			sandboxtest.New(t, sandboxtest.Configure(func(c *sandbox.Config) { c.Clients = []sandbox.ClientConfig{} })).Credential()
		}),
		Entry("credentials that are refused", "invalid_client", func(t sandboxtest.TB) {
			sandboxtest.New(t).Token(sandbox.Credential{ClientID: "a", Secret: "b"})
		}),
	)
})

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		sandboxtest.New(b)
	}
}
