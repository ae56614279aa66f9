package control_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/control"
	"github.com/rin-network/rin/sandbox/funding"
)

func TestControl(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "control")
}

// startControl returns a network with two nodes, and a client of its control listener.
func startControl() (*sandbox.Network, control.Client) {
	GinkgoHelper()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	network, err := sandbox.NewNetwork(sandbox.NetworkConfig{
		Clock: func() time.Time { return noon },
		Nodes: []sandbox.Config{{Calls: 3}, {Calls: 3, Root: "/xb", Member: funding.Member{ID: "XB", Name: "Musterberg"}}},
	})
	Expect(err).NotTo(HaveOccurred())
	server := httptest.NewServer(checked(control.New(network, control.Access{Token: controlToken, Loopback: true})))
	DeferCleanup(server.Close)
	return network, control.Client{Context: context.Background(), Base: server.URL, Token: controlToken}
}

const controlToken = "the-token-of-this-listener"

var _ = Describe("The control listener", func() {
	It("replaces the deviations of one node, and resets everything", func() {
		network, client := startControl()
		Expect(client.Deviate("XB", "token-status-201")).To(HaveField("Deviations", []string{"token-status-201"}))
		Expect(client.Nodes()).To(HaveField("Nodes", HaveExactElements(
			control.Node{ID: "XA", Name: "Universität Musterstadt", Deviations: []string{}, Scenarios: []control.Scenario{}},
			control.Node{ID: "XB", Name: "Musterberg", Deviations: []string{"token-status-201"}, Scenarios: []control.Scenario{}},
		)))
		Expect(client.Reset()).To(Succeed())
		Expect(network.Nodes()[1].Deviations()).To(BeEmpty())
	})

	It("plays scenarios at one node, counts their faults, and stops them", func() {
		network, client := startControl()
		Expect(client.Play("XB", control.Play{Name: "503-twice", Client: "demo-client", Times: 3, Wait: "1500ms"})).To(HaveField("Scenarios", []control.Scenario{
			{Play: control.Play{Name: "503-twice", Client: "demo-client", Times: 3, Wait: "1.5s"}, Strikes: map[string]int{}},
		}))
		Expect(client.Play("XB", control.Play{Name: "429-then-ok", Path: "list"})).To(HaveField("Scenarios", HaveLen(2)))
		Expect(client.Node("XA")).To(HaveField("Scenarios", BeEmpty()))
		network.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/xb/ris-synergy/funding/v3/fundings", nil))
		Expect(client.Node("XB")).To(HaveField("Scenarios", ContainElement(control.Scenario{
			Play: control.Play{Name: "429-then-ok", Path: "list", Times: 2, Wait: "1s"}, Strikes: map[string]int{"": 1},
		})))
		_, err := client.Stop("XB", "503-twise")
		Expect(err).To(MatchError(ContainSubstring("did you mean 503-twice")))
		Expect(client.Stop("XB", "503-twice")).To(HaveField("Scenarios", HaveLen(1)))
		Expect(client.Stop("XB")).To(HaveField("Scenarios", BeEmpty()))
		for want, play := range map[string]control.Play{"did you mean slow": {Name: "slo"}, "expected a duration": {Name: "slow", Wait: "long"}, "expected a number from 1 to 1000": {Name: "slow", Times: -1}} {
			_, err := client.Play("XB", play)
			Expect(err).To(MatchError(ContainSubstring(want)))
		}
	})

	It("moves the time", func() {
		network, client := startControl()
		Expect(client.Move(control.Move{By: "90s"})).To(Equal(control.Clock{Now: time.Date(2026, 3, 1, 12, 1, 30, 0, time.UTC), Offset: "1m30s"}))
		Expect(network.Clock().Offset()).To(Equal(90 * time.Second))
		Expect(client.Reset()).To(Succeed())
		Expect(client.Clock()).To(HaveField("Offset", "0s"))
	})

	It("serves its metrics as text, with the offset of the clock", func() {
		_, client := startControl()
		Expect(client.Move(control.Move{By: "-90s"})).To(HaveField("Offset", "-1m30s"))
		answer, err := http.Get(client.Base + "/metrics")
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(answer.Body.Close)
		Expect(answer.Header.Get("Content-Type")).To(Equal("text/plain; version=0.0.4; charset=utf-8"))
		body, err := io.ReadAll(answer.Body)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(body)).To(SatisfyAll(ContainSubstring("rin_clock_offset_seconds -90\n"), ContainSubstring("\nrin_build_info{")))
	})

	It("moves the time to a date, to the expiry of tokens, and to the closing of a call", func() {
		network, client := startControl()
		Expect(client.Move(control.Move{To: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)})).To(HaveField("Now", time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)))
		Expect(client.Reset()).To(Succeed())
		Expect(client.Move(control.Move{Until: control.Expiry})).To(HaveField("Offset", "5m0s"))
		Expect(client.Reset()).To(Succeed())
		first, ok := network.Nodes()[0].UntilClosing()
		Expect(ok).To(BeTrue())
		if second, ok := network.Nodes()[1].UntilClosing(); ok {
			first = min(first, second)
		}
		Expect(first).To(BeNumerically(">", 0))
		Expect(client.Move(control.Move{Until: control.Closing})).To(HaveField("Offset", first.String()))
		Expect(client.Move(control.Move{By: "80000h"})).NotTo(BeZero())
		for _, m := range []control.Move{{Until: control.Closing}, {Until: "noon"}, {By: "1s", Until: control.Expiry}, {}} {
			_, err := client.Move(m)
			Expect(err).To(BeAssignableToTypeOf(&control.Refusal{}), "%v", m)
		}
	})

	It("refuses plays that can strike no request", func() {
		_, client := startControl()
		for body, want := range map[string]string{
			`{"name":"slow","times":0}`:                                 "expected a number from 1 to 1000",
			`{"name":"slow","client":"demo"}`:                           "which is unknown: did you mean demo-client",
			`{"name":"slow","path":"/a?b=c"}`:                           "without a query",
			`{"name":"slow","path":"/ris-synergy/funding/v3/fundingz"}`: "serves nothing there",
			`{"name":"slow","tims":1}`:                                  "did you mean times",
			`{"name":"slow","times":true}`:                              "expected a text or a number",
			`{"name":"answer"}`:                                         "expected one, such as status=404",
			`{"name":"slow","status":404}`:                              "expected the scenario answer",
		} {
			request, err := http.NewRequest(http.MethodPost, client.Base+"/nodes/XA/scenarios", strings.NewReader(body))
			Expect(err).NotTo(HaveOccurred())
			request.Header.Set("Authorization", "Bearer "+client.Token)
			answer, err := http.DefaultClient.Do(request)
			Expect(err).NotTo(HaveOccurred())
			text, err := io.ReadAll(answer.Body)
			Expect(err).NotTo(HaveOccurred())
			Expect(answer.Body.Close()).To(Succeed())
			Expect(answer.StatusCode).To(Equal(http.StatusBadRequest), body)
			Expect(string(text)).To(ContainSubstring(want))
		}
		Expect(client.Node("XA")).To(HaveField("Scenarios", BeEmpty()))
	})

	It("explains an unknown name, an unknown node, an excessive move and an unreachable listener", func() {
		_, client := startControl()
		_, err := client.Deviate("XB", "token-status-2")
		Expect(err).To(MatchError(ContainSubstring(`did you mean token-status-20`)))
		_, err = client.Deviate("XC")
		Expect(err).To(BeAssignableToTypeOf(&control.Refusal{}))
		_, err = client.Move(control.Move{By: "200000h"})
		Expect(err).To(MatchError(ContainSubstring("further than")))
		_, err = control.Client{Context: context.Background(), Base: "http://127.0.0.1:1"}.Clock()
		Expect(err).To(MatchError(ContainSubstring("refused")))
	})

	DescribeTable("refuses malformed messages", func(body string) {
		_, client := startControl()
		request, err := http.NewRequest(http.MethodPost, client.Base+"/clock", strings.NewReader(body))
		Expect(err).NotTo(HaveOccurred())
		request.Header.Set("Authorization", "bearer "+client.Token)
		answer, err := http.DefaultClient.Do(request)
		Expect(err).NotTo(HaveOccurred())
		Expect(answer.StatusCode).To(Equal(http.StatusBadRequest))
		Expect(answer.Body.Close()).To(Succeed())
	},
		Entry("an empty message", ""), Entry("a message that is not JSON", "90s"), Entry("an unknown member", `{"by":"1s","to":"2s"}`), Entry("a value that is not a duration", `{"by":"soon"}`),
		Entry("a message that is too long", `{"by":"`+strings.Repeat("1", 2<<20)),
	)

	DescribeTable("refuses web pages and foreign host names", func(change func(*http.Request)) {
		_, client := startControl()
		r, err := http.NewRequest(http.MethodGet, client.Base+"/clock", nil)
		Expect(err).NotTo(HaveOccurred())
		change(r)
		answer, err := http.DefaultClient.Do(r)
		Expect(err).NotTo(HaveOccurred())
		Expect(answer.StatusCode).To(Equal(http.StatusForbidden))
		Expect(answer.Body.Close()).To(Succeed())
	},
		Entry("a page of another origin", func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }),
		Entry("a page of another site", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }),
		Entry("a page of another port of this machine", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }),
		Entry("a frame in a page", func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", "same-site")
			r.Header.Set("Sec-Fetch-Mode", "navigate")
			r.Header.Set("Sec-Fetch-Dest", "iframe")
		}),
		Entry("a change by a page of its own", func(r *http.Request) {
			r.Method = http.MethodPost
			r.Header.Set("Sec-Fetch-Site", "same-origin")
		}),
		Entry("a foreign host name", func(r *http.Request) { r.Host = "evil.example:8081" }),
		Entry("a foreign address", func(r *http.Request) { r.Host = "192.0.2.1" }),
		Entry("a foreign name that begins like this machine", func(r *http.Request) { r.Host = "localhost.evil.example" }),
		Entry("a foreign name that ends like this machine", func(r *http.Request) { r.Host = "evil-localhost:8081" }),
	)

	DescribeTable("accepts the names and addresses that always mean this machine", func(host string) {
		_, client := startControl()
		r, err := http.NewRequest(http.MethodGet, client.Base+"/clock", nil)
		Expect(err).NotTo(HaveOccurred())
		r.Host = host
		answer, err := http.DefaultClient.Do(r)
		Expect(err).NotTo(HaveOccurred())
		Expect(answer.StatusCode).To(Equal(http.StatusOK))
		Expect(answer.Body.Close()).To(Succeed())
	},
		Entry("an address of IPv4", "127.0.0.2:8081"),
		Entry("an address of IPv6", "[::1]:8081"),
		Entry("localhost in capitals", "LOCALHOST"),
		Entry("localhost with a dot at its end", "localhost.:8081"),
		Entry("a name below localhost", "sandbox.localhost"),
	)
})
