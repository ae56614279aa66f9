package flow_test

import (
	"context"
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/tui/flow"
	"github.com/rin-network/rin/tui/tuitest"
)

var _ = Describe("A fault of the node", func() {
	statuses := func(r flow.Result) []int {
		var all []int
		for _, x := range r.Exchanges {
			if x.Request.Method == http.MethodGet {
				all = append(all, x.Status())
			}
		}
		return all
	}
	fault := func(name string) flow.NodeFault {
		for _, f := range flow.NodeFaults() {
			if f.Name == name {
				return f
			}
		}
		Fail("unknown fault " + name)
		return flow.NodeFault{}
	}

	DescribeTable("is handled as a good client does, until no record is missing",
		func(name string, want []int, note string) {
			w := newNode(nil, sandbox.Config{}).walkAtNode()
			result := w.ShowFault(context.Background(), fault(name))
			Expect(result.Trouble).To(BeNil())
			Expect(statuses(result)).To(Equal(want))
			Expect(result.Notes).To(ContainElement(ContainSubstring(note)))
			Expect(result.Notes[len(result.Notes)-2]).To(Equal("Status 200 with 20 records: nothing is lost."))
			Expect(result.Notes[len(result.Notes)-1]).To(Equal(fault(name).Lesson))
		},
		Entry("a good token is refused", "refused-token", []int{401, 200}, "Status 401 invalid_token. The client fetches one new token"),
		Entry("429", "throttled", []int{429, 200}, "Status 429, Retry-After: 1. The client waits 1 second"),
		Entry("503, twice", "unavailable", []int{503, 503, 200}, "Status 503, Retry-After: 1. The client waits 1 second"),
		Entry("a cut answer", "cut-answer", []int{200, 200}, "The client uses nothing of it"),
		Entry("a token that expires early", "expired-token", []int{200, 401, 200}, "Status 401 invalid_token. The client fetches one new token"),
	)

	It("makes the client wait as long as the node says", func() {
		node := newNode(nil, sandbox.Config{})
		w := node.walkAtNode()
		before := node.Clock.Now()
		Expect(w.ShowFault(context.Background(), fault("unavailable")).OK()).To(BeTrue())
		Expect(node.Clock.Now().Sub(before).Seconds()).To(BeEquivalentTo(2))
	})

	It("makes the client give up after some calls, and leaves no scenario behind", func() {
		always := func(node http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") != "" && r.URL.Path == "/ris-synergy/funding/v3/fundings" && r.URL.Query().Get("later") == "" {
					w.Header().Set("Retry-After", "86400")
					tuitest.Answer(http.StatusServiceUnavailable, "application/json", "{}")(w, r)
					return
				}
				node.ServeHTTP(w, r)
			})
		}
		node := newNode(always, sandbox.Config{})
		w := node.walkAtNode()
		Expect(w.ReadSpecification(context.Background()).OK()).To(BeTrue())
		before := node.Clock.Now()
		result := w.ShowFault(context.Background(), fault("throttled"))
		Expect(result.Trouble).NotTo(BeNil())
		Expect(result.Trouble.What).To(Equal("the client gave up after 5 calls"))
		Expect(node.Clock.Now().Sub(before).Minutes()).To(BeNumerically("<=", 2.5), "a node cannot make the tour wait for a day")
		Expect(node.Scenarios()).To(BeEmpty())
	})

	It("is not provoked at a node that is not the built-in sandbox", func() {
		node := newNode(nil, sandbox.Config{})
		w, err := flow.New(flow.Options{Suite: "test", Clock: node.Clock.Now, Target: node.Target()})
		Expect(err).NotTo(HaveOccurred())
		tuitest.ChooseNode(GinkgoTB(), w)
		result := w.ShowFault(context.Background(), fault("throttled"))
		Expect(result.OK()).To(BeTrue())
		Expect(result.Exchanges).To(BeEmpty())
		Expect(result.Notes).To(ConsistOf(ContainSubstring("rin tour --step faults")))
	})

	It("is not evidence against the node", func() {
		w := newNode(nil, sandbox.Config{}).walkAtNode()
		for _, f := range flow.NodeFaults() {
			Expect(w.ShowFault(context.Background(), f).OK()).To(BeTrue(), f.Name)
		}
		read := w.ListCalls(context.Background(), flow.Query{})
		Expect(read.Verdicts).NotTo(BeEmpty())
		for id, outcome := range outcomes(read) {
			Expect(string(outcome)).To(Equal("pass"), string(id))
		}
		labels := 0
		for _, x := range w.History() {
			if x.Label == evidence.Label("") {
				labels++
				Expect(x.Words).To(Equal("a call while the node fails on purpose"))
			}
		}
		Expect(labels).To(Equal(12))
	})
})
