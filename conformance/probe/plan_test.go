package probe_test

import (
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/target"
)

var _ = Describe("A plan", func() {
	local := target.Target{TokenURL: "http://127.0.0.1/t", InfoURL: "http://127.0.0.1/ris/info/v1/oauth/info/", SpecURL: "http://127.0.0.1/ris/api-docs",
		BaseURL: "http://127.0.0.1/ris", Profile: "funding"}
	remote := local
	remote.TokenURL = "https://sso.example/t"

	nodeOf := func(t target.Target, spec string) probe.Node {
		doc, err := openapi.Parse([]byte(spec))
		Expect(err).NotTo(HaveOccurred())
		return probe.NewNode(t, doc)
	}
	fullPlan := func(t target.Target, n probe.Node) probe.Plan {
		operations, _ := probe.ForDocument(n, 4000)
		return probe.ForTarget(t).With(probe.ForProbeTarget(t, evidence.Info)).With(operations).With(probe.ForEndpoints(2, nil))
	}
	// documentWith returns a document with n operations beside the funding operations.
	documentWith := func(n int) string {
		paths := []string{strings.TrimSuffix(strings.SplitN((&node{}).spec(), `"paths":{`, 2)[1], "}}")}
		for i := range n {
			paths = append(paths, fmt.Sprintf(`"/other/%d":{"get":{"operationId":"other%d","responses":{"200":{"description":"ok"}}}}`, i, i))
		}
		return `{"openapi":"3.0.3","info":{"title":"t","version":"1"},"paths":{` + strings.Join(paths, ",") + `}}`
	}

	It("names each label once", func() {
		labels := fullPlan(local, nodeOf(local, documentWith(3))).Labels()
		seen := map[evidence.Label]bool{}
		for _, l := range labels {
			Expect(seen[l]).To(BeFalse(), string(l))
			seen[l] = true
		}
	})

	It("has a call of every operation without a token, with a good token and with an invalid one", func() {
		labels := fullPlan(remote, nodeOf(remote, documentWith(3))).Labels()
		for _, key := range []string{"listFundings", "getFunding", "other0", "other2"} {
			r := evidence.OperationResource(key)
			Expect(labels).To(ContainElements(r.With(evidence.NoToken), r.With(evidence.OK), r.With("garbage")))
		}
	})

	It("orders the lanes that depend on each other", func() {
		plan := fullPlan(local, nodeOf(local, documentWith(1)))
		lane := func(label evidence.Label) probe.Lane {
			i := slices.IndexFunc(plan.Lanes, func(l probe.Lane) bool { return slices.Contains(l.Labels(), label) })
			Expect(i).To(BeNumerically(">=", 0), string(label))
			return plan.Lanes[i]
		}
		for _, r := range []evidence.Resource{"info", "op/listFundings", "op/getFunding", "op/other0"} {
			order := []evidence.Case{evidence.NoToken, evidence.OK, "garbage", "cached-ok"}
			for i := range order[1:] {
				Expect(lane(r.With(order[i+1])).After).To(ContainElement(lane(r.With(order[i])).Stage), "%s after %s on %s", order[i+1], order[i], r)
			}
			Expect(lane(r.With(evidence.OK)).After).To(ContainElement(lane("token.ok-after-id-only").Stage), "the last token of the run")
		}
		Expect(lane("op/getFunding.no-token").After).To(ContainElement(lane("op/listFundings.ok").Stage), "its ids come from the list")
		Expect(lane("token.wrong-secret").Labels()).To(Equal([]evidence.Label{"token.wrong-secret", "token.ok-after-wrong-secret", "token.id-only"}))
		Expect(lane("info.cached-ok").Labels()).To(Equal([]evidence.Label{"info.cached-ok", "info.cached-no-token"}))
	})

	It("tries all damaged credentials on info and on every operation, or on a sample of ten operations if there are more", func() {
		odd := func(t target.Target, others int) []evidence.Label {
			var out []evidence.Label
			for _, l := range fullPlan(t, nodeOf(t, documentWith(others))).Labels() {
				if l.Case() == "tampered" {
					out = append(out, l)
				}
			}
			return out
		}
		few := []any{evidence.Label("info.tampered"), evidence.Label("op/listFundings.tampered"), evidence.Label("op/getFunding.tampered")}
		Expect(odd(remote, 1)).To(ConsistOf(append(few, evidence.Label("op/other0.tampered"))...))
		sampled := odd(remote, 40)
		Expect(sampled).To(HaveLen(1 + 10))
		Expect(sampled).To(ContainElements(few...))
		another := remote
		another.Seed = 77
		Expect(odd(another, 40)).NotTo(ConsistOf(sampled), "another seed draws other operations")
		deep := remote
		deep.Effort = draw.Deep
		Expect(odd(deep, 11)).To(HaveLen(1 + 13))
		Expect(odd(local, 11)).To(HaveLen(1 + 13))
	})

	It("fits into its budget, and names what it leaves out", func() {
		plan, left := probe.ForDocument(nodeOf(local, documentWith(200)), 200)
		Expect(plan.Requests()).To(And(BeNumerically("<=", 200), BeNumerically(">", 190)))
		Expect(plan.Labels()).To(ContainElement(evidence.Label("op/getFunding.item-last")), "the funding operations go first")
		Expect(left.Labels()).To(ContainElement(evidence.Label("op/other199.ok")))
		Expect(left.Labels()).NotTo(ContainElement(evidence.Label("op/other0.ok")))
	})

	It("has only requests about tokens, info and metadata for the profile auth", func() {
		auth := target.Target{TokenURL: "https://sso.example/t", InfoURL: "https://api.example/i", Profile: "auth"}
		labels := probe.ForTarget(auth).Labels()
		Expect(labels).To(ContainElements(evidence.Label("token.ok"), evidence.Label("info.ok")))
		for _, l := range labels {
			Expect(l.Resource()).To(BeElementOf(evidence.TokenEndpoint, evidence.Info,
				evidence.TokenOrigin, evidence.InfoOrigin, evidence.CleartextToken, evidence.CleartextInfo,
				evidence.MetadataResource(1), evidence.MetadataResource(2), evidence.MetadataResource(3), evidence.KeySet), string(l))
		}
	})

	DescribeTable("stays within a budget that is known before the document is read",
		func(change func(*target.Target), most int) {
			t := local
			change(&t)
			operations, _ := probe.ForDocument(nodeOf(t, documentWith(0)), probe.Room(nodeOf(t, documentWith(0))))
			needed := probe.Budgeted(t, operations.Requests())
			Expect(needed).To(BeNumerically("<=", most), "a standard run has a budget: see baseBudget")
			if t.Profile != "auth" && !t.Quick() {
				Expect(operations.Labels()).To(ContainElements(evidence.Label("op/getFunding.item-more-15"), evidence.Label("op/getFunding.good-condition")), "only drawn kinds may be left out")
			}
			Expect(probe.Budget(t)).To(BeNumerically(">=", needed), "the budget that is printed before the document is read")
		},
		Entry("auth, with the endpoints that info lists", func(t *target.Target) { t.Profile = "auth" }, 240+12),
		Entry("funding", func(t *target.Target) { *t = remote }, 240+2*120),
		Entry("funding on this machine", func(*target.Target) {}, 240+2*120),
		Entry("with a second client and a registry", func(t *target.Target) {
			*t = remote
			t.Second, t.Registry = &target.Credentials{}, "https://registry.example/r"
		}, 240+2*120),
		Entry("a quick run", func(t *target.Target) { t.Effort = draw.Quick }, 150),
	)

	It("calls each of sixty operations without a token, with a good token and with an invalid one, and leaves nothing out", func() {
		for _, t := range []target.Target{local, remote} {
			room := probe.Room(nodeOf(t, documentWith(58)))
			plan, left := probe.ForDocument(nodeOf(t, documentWith(58)), room)
			Expect(left.Labels()).To(BeEmpty())
			for _, key := range []string{"listFundings", "getFunding", "other0", "other57"} {
				r := evidence.OperationResource(key)
				Expect(plan.Labels()).To(ContainElements(r.With(evidence.NoToken), r.With(evidence.OK), r.With("garbage")), key)
			}
			Expect(plan.Requests()).To(BeNumerically("<=", room))
		}
	})

	It("has a call of every operation by the client without the role", func() {
		second := remote
		second.Second = &target.Credentials{}
		labels := fullPlan(second, nodeOf(second, documentWith(1))).Labels()
		Expect(labels).To(ContainElements(evidence.Label("op/listFundings.no-role"), evidence.Label("op/getFunding.no-role"), evidence.Label("op/other0.no-role")))
		_, left := probe.ForDocument(nodeOf(second, documentWith(58)), probe.Room(nodeOf(second, documentWith(58))))
		Expect(left.Labels()).To(BeEmpty(), "the budget has room for it on sixty operations")
	})

	It("tries filters, pages and records without a token and without the role on a node with two operations as well, if the rest leaves room", func() {
		for _, t := range []target.Target{local, remote} {
			t.Second = &target.Credentials{}
			plan, _ := probe.ForDocument(nodeOf(t, documentWith(0)), probe.Room(nodeOf(t, documentWith(0))))
			Expect(plan.Labels()).To(ContainElements(
				evidence.Label("op/listFundings.open-param-fundingType"), evidence.Label("op/listFundings.roleless-param-fundingType"),
				evidence.Label("op/listFundings.open-next"), evidence.Label("op/listFundings.roleless-next"), evidence.Label("op/getFunding.open-record"), evidence.Label("op/getFunding.roleless-record")))
			Expect(plan.Requests()).To(BeNumerically("<=", probe.Room(nodeOf(t, documentWith(0)))), "without the requests that are sent if there is room")
		}
	})

	It("has no chain of lanes so long that it slows down a run with eight requests at a time", func() {
		plan := fullPlan(local, nodeOf(local, documentWith(0)))
		Expect(plan.Longest()).To(And(BeNumerically(">=", 9), BeNumerically("<=", plan.Requests()/8)))
	})

	It("counts the lanes that a lane waits for", func() {
		p := probe.Plan{Lanes: []probe.Lane{
			{Stage: "c", After: []probe.Stage{"b"}, Steps: []probe.Step{{Label: "c.1"}}},
			{Stage: "a", Steps: []probe.Step{{Label: "a.1"}, {Label: "a.2"}}},
			{Stage: "b", After: []probe.Stage{"a"}, Steps: []probe.Step{{Label: "b.1"}}},
			{Stage: "b", Steps: []probe.Step{{Label: "b.2"}}},
		}}
		Expect(p.Longest()).To(Equal(4))
	})
})
