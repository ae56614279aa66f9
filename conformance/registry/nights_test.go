package registry_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/registry"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/conformance/verdict"
)

// network is a registry of nodes that answer as a script says, and a clock.
type network struct {
	registry.Operator
	mu sync.Mutex
	// script says how a node behaves in a night: "" passes, "funding" passes for that profile and not for auth, "fail" breaks TOK-02, "down" cannot be tested.
	script map[string]map[registry.Night]string
	tested map[string]int // runs by node
	now    time.Time
	stop   func() // called before each certification
}

func newNetwork(policy string) *network {
	GinkgoHelper()
	p, err := registry.ReadPolicy([]byte("operator: https://registry.example\ndocument: ris.json\ndefaults: {client-id: c, client-secret: env:SECRET}\n" + policy))
	Expect(err).NotTo(HaveOccurred())
	n := &network{script: map[string]map[registry.Night]string{}, tested: map[string]int{}, now: time.Date(2026, 3, 1, 22, 0, 0, 0, time.UTC), stop: func() {}}
	n.Operator = registry.Operator{
		Dir: registry.Dir(GinkgoT().TempDir()), Policy: p, Now: func() time.Time { n.mu.Lock(); defer n.mu.Unlock(); return n.now },
		Secrets: registry.Secrets{Environment: func(string) (string, bool) { return "s", true }},
	}
	n.Certify = func(_ context.Context, t target.Target, dir string) (report.Report, *evidence.Log, error) {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.stop()
		n.tested[t.NodeID]++
		r := report.Report{Profile: requirement.Auth, Requirements: []report.Requirement{{ID: "TOK-02", Gate: requirement.Gating, Outcome: requirement.Pass}}}
		r.Verdict.Decision, r.Verdict.Headline = verdict.Certified, "Certified"
		switch n.script[t.NodeID][registry.NightOf(n.now)] {
		case "down":
			return r, nil, errors.New("no answer")
		case "funding":
			r.Profile = requirement.Funding
		case "refused":
			r.Requirements = []report.Requirement{{ID: "TOK-01", Gate: requirement.Gating, Outcome: requirement.Fail, Seen: "POST https://n.example/token: 401"}}
			r.Verdict.Decision, r.Verdict.Headline = verdict.NotCertified, "Not certified"
		case "fail":
			r.Requirements[0].Outcome, r.Requirements[0].Reason, r.Requirements[0].Costs = requirement.Fail, "status 201 <script>", true
			r.Verdict.Decision, r.Verdict.Headline = verdict.NotCertified, "Not certified"
			r.Verdict.Reasons = []report.Reason{{Requirements: []requirement.ID{"TOK-02"}, Text: "the token came with status 201"}}
		}
		return r, &evidence.Log{}, os.WriteFile(filepath.Join(dir, "report.json"), []byte("{}"), 0o600)
	}
	return n
}

// documentOf returns a registry document with nodes N1 to Nn.
func documentOf(nodes int, edit ...func(string) string) registry.Document {
	GinkgoHelper()
	var entries []string
	for i := 1; i <= nodes; i++ {
		entries = append(entries, fmt.Sprintf(`{"id":"N%d","oauth2":"https://n%d.example/token","info":"https://n%d.example/info"}`, i, i, i))
	}
	text := `{"member":[` + strings.Join(entries, ",") + `]}`
	for _, e := range edit {
		text = e(text)
	}
	d, err := registry.ReadDocument([]byte(text))
	Expect(err).NotTo(HaveOccurred())
	return d
}

// night runs one night and moves the clock by a day.
func (n *network) night(d registry.Document) registry.Summary {
	GinkgoHelper()
	sum, err := n.run(context.Background(), d)
	Expect(err).NotTo(HaveOccurred())
	n.now = n.now.Add(24 * time.Hour)
	return sum
}

func (n *network) run(ctx context.Context, d registry.Document) (registry.Summary, error) {
	GinkgoHelper()
	h, err := registry.OpenHistory(n.Dir.History())
	Expect(err).NotTo(HaveOccurred())
	defer h.Close()
	return n.Run(ctx, h, nil, d, registry.Shard{}, nil)
}

func (n *network) read(look func(h *registry.History)) {
	GinkgoHelper()
	h, err := registry.ReadHistory(n.Dir.History())
	Expect(err).NotTo(HaveOccurred())
	defer h.Close()
	look(h)
}

func (n *network) node(id string) (node registry.Node) {
	GinkgoHelper()
	n.read(func(h *registry.History) {
		var known bool
		var err error
		node, known, err = h.Node(id)
		Expect(err).NotTo(HaveOccurred())
		Expect(known).To(BeTrue())
	})
	return node
}

// strip shows the results of a node as letters.
func (n *network) strip(id string) (text string) {
	n.read(func(h *registry.History) {
		outcomes, err := h.Outcomes(id, "")
		Expect(err).NotTo(HaveOccurred())
		for _, o := range outcomes {
			text += string(o.Result[0])
		}
	})
	return text
}

var _ = Describe("Ten nights of twenty nodes", func() {
	It("suspend a node after two bad nights, not after one; nights without a test do not count", func() {
		n := newNetwork("certificate: {stale-after: 3d}")
		day := func(i int) registry.Night { return registry.NightOf(n.now.AddDate(0, 0, i)) }
		n.script = map[string]map[registry.Night]string{
			"N2": {day(4): "fail"},
			"N3": {day(4): "fail", day(5): "fail"},
			"N4": {day(4): "fail", day(5): "down", day(6): "fail"},
			"N5": {day(6): "down", day(7): "down", day(8): "down", day(9): "down"},
			"N6": {day(0): "fail", day(1): "fail", day(2): "fail", day(3): "fail", day(4): "fail", day(5): "fail", day(6): "fail", day(7): "fail", day(8): "fail", day(9): "fail"},
			"N7": {day(8): "fail", day(9): "fail"},
			"N8": {day(9): "fail"},
			"N9": {day(2): "fail", day(3): "fail"}, "N10": {day(7): "refused", day(8): "refused", day(9): "refused"},
		}
		d := documentOf(20)
		for range 10 {
			sum := n.night(d)
			Expect(sum.Left).To(BeEmpty())
			Expect(sum.Results[registry.Passed] + sum.Results[registry.Failed] + sum.Results[registry.Untested]).To(Equal(20))
		}
		Expect(n.strip("N1")).To(Equal("pppppppppp"))
		Expect(n.strip("N4")).To(Equal("ppppfufppp"))
		Expect(n.strip("N10")).To(Equal("pppppppuuu"), "a rotated secret tells nothing about the node")
		Expect(n.strip("N5")).To(Equal("ppppppuuuu"))
		statuses := map[string]registry.Status{"N1": registry.Valid, "N2": registry.Valid, "N3": registry.Valid, "N5": registry.Stale, "N6": registry.Uncertified, "N7": registry.Suspended, "N8": registry.Valid, "N9": registry.Valid, "N10": registry.Valid}
		for id, want := range statuses {
			Expect(n.node(id).Status).To(Equal(want), id)
		}
		Expect(n.node("N7").Since).To(Equal(registry.NightOf(n.now.AddDate(0, 0, -1))))
		Expect(n.node("N7").Reason).To(Equal("the node failed in 2 nights in a row: TOK-02: the token came with status 201"))
		n.read(func(h *registry.History) {
			outcomes, err := h.Outcomes("N4", "")
			Expect(err).NotTo(HaveOccurred())
			var statuses []registry.Status
			for _, o := range outcomes[3:] {
				statuses = append(statuses, o.Status)
			}
			Expect(statuses).To(Equal([]registry.Status{"valid", "valid", "valid", "suspended", "valid", "valid", "valid"}))
			nights, err := h.Nights()
			Expect(err).NotTo(HaveOccurred())
			Expect(nights).To(HaveLen(10))
		})
	})

	It("do not confirm a certificate for a profile of which they test a part", func() {
		n := newNetwork("certificate: {control: optional}\n")
		d := documentOf(1)
		n.script["N1"] = map[registry.Night]string{"2026-03-01": "funding", "2026-03-02": "funding"}
		n.night(d)
		n.night(d)
		Expect(n.node("N1")).To(And(HaveField("Status", registry.Valid), HaveField("CertifiedProfile", requirement.Funding)))
		n.night(d)
		Expect(n.node("N1")).To(And(HaveField("Status", registry.Valid), HaveField("Tested", registry.Night("2026-03-02")),
			HaveField("Outcome", And(HaveField("Result", registry.Untested), HaveField("Headline", "Tested for profile auth only; the certificate is for funding")))))
		for range 10 {
			n.night(d)
		}
		Expect(n.node("N1").Status).To(Equal(registry.Stale))
	})

	It("do not replace a certificate for a profile of which they test a part before it ends", func() {
		n := newNetwork("certificate: {max-age: 5d, notice: 2d, stale-after: 3d}\n")
		first := registry.NightOf(n.now)
		n.script["N1"] = map[registry.Night]string{first: "funding"}
		for range 5 { // the last night is in the last days of the certificate
			n.night(documentOf(1))
		}
		Expect(n.node("N1")).To(And(HaveField("CertifiedRun", first), HaveField("CertifiedProfile", requirement.Funding), HaveField("Outcome.Result", registry.Untested)))
		n.night(documentOf(1))
		n.night(documentOf(1))
		Expect(n.node("N1")).To(And(HaveField("Status", registry.Valid), HaveField("CertifiedProfile", requirement.Auth)), "the certificate for funding has ended")
	})

	It("keeps the files of the last good run, of the certificate and of each change, and no others", func() {
		n := newNetwork("")
		day := func(i int) registry.Night { return registry.NightOf(n.now.AddDate(0, 0, i)) }
		n.script = map[string]map[registry.Night]string{"N1": {day(3): "fail", day(4): "fail"}}
		want := []registry.Night{day(0), day(3), day(5), day(9)}
		for range 10 {
			n.night(documentOf(1))
		}
		kept, err := filepath.Glob(filepath.Join(n.Dir.NodeDir("N1"), "*"))
		Expect(err).NotTo(HaveOccurred())
		var nights []registry.Night
		for _, path := range kept {
			nights = append(nights, registry.Night(filepath.Base(path)))
		}
		Expect(nights).To(Equal(want))
		n.read(func(h *registry.History) {
			outcomes, err := h.Outcomes("N1", "")
			Expect(err).NotTo(HaveOccurred())
			var marked []registry.Night
			for _, o := range outcomes {
				if o.Evidence {
					marked = append(marked, o.Night)
				}
			}
			Expect(marked).To(Equal(want))
		})
	})

	It("makes a new certificate by a good night when the old one ends soon, and none without the proof of control that the policy asks for", func() {
		n := newNetwork("certificate: {max-age: 5d, notice: 2d}")
		first := n.now
		for range 5 {
			n.night(documentOf(1))
		}
		Expect(n.node("N1").CertifiedRun).To(Equal(registry.NightOf(first.AddDate(0, 0, 4))))
		n = newNetwork("certificate: {max-age: 5d, notice: 2d, control: required}")
		n.night(documentOf(1))
		Expect(n.node("N1").Status).To(Equal(registry.Uncertified))
		Expect(n.node("N1").Reason).To(ContainSubstring("proof of control is missing"))
	})

	DescribeTable("decides the status",
		func(want registry.Status, edit func(*registry.Node), withdrawn string) {
			at := time.Date(2026, 6, 1, 22, 0, 0, 0, time.UTC)
			rules := registry.Rules{MaxAge: 100 * 24 * time.Hour, Notice: 10 * 24 * time.Hour, BadNights: 2, StaleAfter: 7 * 24 * time.Hour}
			n := registry.Node{ID: "N1", Certified: at.AddDate(0, 0, -50), Tested: registry.NightOf(at), Good: registry.NightOf(at)}
			edit(&n)
			got, why := rules.Decide(n, at, withdrawn)
			Expect(got).To(Equal(want), why)
			Expect(why).NotTo(BeEmpty())
		},
		Entry("valid", registry.Valid, func(*registry.Node) {}, ""),
		Entry("one bad night", registry.Valid, func(n *registry.Node) { n.Bad = 1 }, ""),
		Entry("two bad nights", registry.Suspended, func(n *registry.Node) { n.Bad = 2 }, ""),
		Entry("soon too old", registry.Expiring, func(n *registry.Node) { n.Certified = n.Certified.AddDate(0, 0, -45) }, ""),
		Entry("too old", registry.Withdrawn, func(n *registry.Node) { n.Certified = n.Certified.AddDate(0, 0, -60) }, ""),
		Entry("not tested for long", registry.Stale, func(n *registry.Node) { n.Tested = "2026-05-20" }, ""),
		Entry("not tested for some days", registry.Valid, func(n *registry.Node) { n.Tested = "2026-05-26" }, ""),
		Entry("withdrawn by the operator", registry.Withdrawn, func(*registry.Node) {}, "on its own wish"),
		Entry("missing in the document", registry.Withdrawn, func(n *registry.Node) { n.Missing = "2026-05-31" }, ""),
		Entry("never passed", registry.Uncertified, func(n *registry.Node) { n.Certified, n.Good = time.Time{}, "" }, ""),
	)

	It("count once each, however often they are run and wherever they are interrupted", func() {
		n := newNetwork("run: {at-once: 3}")
		ctx, cancel := context.WithCancel(context.Background())
		runs := 0
		n.stop = func() {
			if runs++; runs == 8 {
				cancel()
			}
		}
		sum, err := n.run(ctx, documentOf(20))
		Expect(err).NotTo(HaveOccurred())
		Expect(sum.Left).NotTo(BeEmpty())
		Expect(sum.Why).To(Equal("the run was interrupted"))
		Expect(len(sum.Left) + sum.Results[registry.Passed]).To(Equal(20))
		again, err := n.run(context.Background(), documentOf(20))
		Expect(err).NotTo(HaveOccurred())
		Expect(again.AlreadyTested).To(Equal(sum.Results[registry.Passed]))
		Expect(again.Left).To(BeEmpty())
		third, err := n.run(context.Background(), documentOf(20))
		Expect(err).NotTo(HaveOccurred())
		Expect(third.AlreadyTested).To(Equal(20))
		for i := range 20 {
			Expect(n.strip(fmt.Sprintf("N%d", i+1))).To(Equal("p"))
		}
	})

	It("tries a node again that could not be tested in the same night, and counts the night once", func() {
		n := newNetwork("")
		n.script["N2"] = map[registry.Night]string{"2026-03-01": "down"}
		first, err := n.run(context.Background(), documentOf(2))
		Expect(err).NotTo(HaveOccurred())
		Expect(first.Results).To(Equal(map[registry.Result]int{registry.Passed: 1, registry.Untested: 1}))
		n.script["N2"] = nil
		again, err := n.run(context.Background(), documentOf(2))
		Expect(err).NotTo(HaveOccurred())
		Expect(again.AlreadyTested).To(Equal(1))
		Expect(again.Results).To(Equal(map[registry.Result]int{registry.Passed: 1}))
		Expect(n.strip("N2")).To(Equal("p"))
		Expect(n.node("N2").Status).To(Equal(registry.Valid))
		n.read(func(h *registry.History) {
			nights, err := h.Nights()
			Expect(err).NotTo(HaveOccurred())
			Expect(nights).To(HaveLen(1))
			Expect(nights[0].Results[registry.Passed]).To(Equal(2))
			Expect(nights[0].Results[registry.Untested]).To(BeZero())
		})
	})

	It("refuses a second writer", func() {
		n := newNetwork("")
		h, err := registry.OpenHistory(n.Dir.History())
		Expect(err).NotTo(HaveOccurred())
		defer h.Close()
		_, err = registry.OpenHistory(n.Dir.History())
		Expect(err).To(MatchError(registry.ErrBusy))
	})

	It("gives the same history by shards as in one run, and names the nodes that no shard tested", func() {
		n := newNetwork("")
		d := documentOf(20)
		for i := 1; i <= 3; i++ {
			s := registry.Shard{I: i, N: 4}
			part, err := n.Dir.OpenPart(s, registry.NightOf(n.now))
			Expect(err).NotTo(HaveOccurred())
			_, err = n.Run(context.Background(), nil, part, d, s, nil)
			Expect(err).NotTo(HaveOccurred())
			Expect(part.Close()).To(Succeed())
		}
		h, err := registry.OpenHistory(n.Dir.History())
		Expect(err).NotTo(HaveOccurred())
		defer h.Close()
		sum, err := n.Merge(h, d, registry.NightOf(n.now))
		Expect(err).NotTo(HaveOccurred())
		Expect(sum.Parts).To(Equal(3))
		Expect(sum.Unrun).NotTo(BeEmpty())
		Expect(sum.Results[registry.Passed] + len(sum.Unrun)).To(Equal(20))
		for _, id := range sum.Unrun {
			Expect(registry.Shard{I: 4, N: 4}.Holds(id)).To(BeTrue())
		}
		again, err := n.Merge(h, d, registry.NightOf(n.now))
		Expect(err).NotTo(HaveOccurred())
		Expect(again.AlreadyCounted).To(Equal(sum.Results[registry.Passed]))
		Expect(again.Results).To(BeEmpty())
	})
})

var _ = Describe("A night", func() {
	It("starts no test outside its hours, or while there is a file named stop", func() {
		n := newNetwork("run: {hours: '01:00-02:00'}")
		sum, err := n.run(context.Background(), documentOf(3))
		Expect(err).NotTo(HaveOccurred())
		Expect(sum.Left).To(HaveLen(3))
		Expect(sum.Why).To(ContainSubstring("at this hour"))
		n = newNetwork("")
		Expect(os.WriteFile(filepath.Join(string(n.Dir), "stop"), nil, 0o600)).To(Succeed())
		sum, err = n.run(context.Background(), documentOf(3))
		Expect(err).NotTo(HaveOccurred())
		Expect(sum.Left).To(HaveLen(3))
		Expect(n.tested).To(BeEmpty())
	})
})

var _ = Describe("Prove by DNS", func() {
	It("requires the drawn text in the TXT record of every host", func() {
		n := newNetwork("")
		a, e, err := n.OpenAdmission([]byte(`{"id":"XA","oauth2":"https://sso.example/token","info":"https://api.example/info"}`), registry.ByDNS, rand.Reader)
		Expect(err).NotTo(HaveOccurred())
		records := map[string][]string{"_rin-challenge.sso.example": {"v=spf1", a.Answer}}
		p := registry.Prover{TXT: func(_ context.Context, name string) ([]string, error) { return records[name], nil }}
		Expect(n.Prove(context.Background(), a, e, p, target.Secret{})).To(And(MatchError(registry.ErrWaiting), MatchError(ContainSubstring("_rin-challenge.api.example"))))
		records["_rin-challenge.api.example"] = []string{a.Answer}
		Expect(n.Prove(context.Background(), a, e, p, target.Secret{})).To(Succeed())
		Expect(a.Close()).To(Succeed())
		again, _, err := n.OpenAdmission(a.Entry, registry.ByDNS, rand.Reader)
		Expect(err).NotTo(HaveOccurred())
		Expect(again.Proved).To(Equal(a.Proved))
	})

	DescribeTable("names no password of an entry", func(at string) {
		_, err := registry.EntryOf([]byte(fmt.Sprintf(`{"id":"XA","oauth2":%q,"info":"https://api.example/info"}`, at)))
		Expect(err).To(MatchError(ContainSubstring("oauth2: expected an absolute URL")))
		Expect(err.Error() + registry.EntryLetter(err, "R")).NotTo(Or(ContainSubstring("s3"), ContainSubstring("anna")))
		Expect(err).To(MatchError(ContainSubstring("@h.example/t")))
	},
		Entry("in a URL", "https://anna:s3@h.example/t"), Entry("that is not escaped", "https://anna:s3%zz@h.example/t"), Entry("with a slash", "https://anna:s3/s3@h.example/t"),
		Entry("with a number sign", "https://anna:1#s3@h.example/t"), Entry("with an at sign", "https://anna:s3@s3@h.example/t"), Entry("without a scheme", "anna:s3@h.example/t"),
	)

	DescribeTable("refuses an entry", func(text string) {
		_, err := registry.EntryOf([]byte(text))
		Expect(err).To(HaveOccurred())
	},
		Entry("in cleartext", `{"id":"XA","oauth2":"http://sso.example/token","info":"https://api.example/info"}`),
		Entry("without URLs", `{"id":"XA"}`), Entry("with a password", `{"id":"XA","oauth2":"https://a:b@sso.example/token","info":"https://api.example/info"}`),
		Entry("with another one after it", `{"id":"A","oauth2":"https://a/t","info":"https://a/i"},{"id":"B","oauth2":"https://a/t","info":"https://a/i"}`),
	)
})

var _ = Describe("A hostile registry document", func() {
	It("gets no credentials for an entry that moved overnight, until the origin is accepted", func() {
		n := newNetwork("")
		n.night(documentOf(2))
		stolen := documentOf(2, func(s string) string {
			return strings.ReplaceAll(s, "https://n1.example/token", "https://evil.example/token")
		})
		n.night(stolen)
		n.night(stolen)
		Expect(n.tested["N1"]).To(Equal(1))
		Expect(n.strip("N1")).To(Equal("puu"))
		Expect(n.node("N1").Outcome.Why).To(ContainSubstring("moved to https://evil.example"))
		Expect(n.node("N1").TokenURL).To(Equal("https://n1.example/token"))
		n.Policy.Nodes["N1"] = func() registry.NodePolicy {
			p := n.Policy.Defaults
			p.Origins = []string{"https://evil.example"}
			return p
		}()
		n.night(stolen)
		Expect(n.strip("N1")).To(Equal("puup"))
	})

	It("gets no test of an id that it has twice", func() {
		n := newNetwork("")
		n.night(documentOf(2, func(s string) string { return strings.ReplaceAll(s, `"N2"`, `"N1"`) }))
		Expect(n.strip("N1")).To(Equal("u"))
		Expect(n.tested).To(BeEmpty())
	})

	It("withdraws a node whose entry is gone, and certifies it again when the entry is back", func() {
		n := newNetwork("")
		n.night(documentOf(2))
		n.night(documentOf(1))
		Expect(n.node("N2").Status).To(Equal(registry.Withdrawn))
		n.night(documentOf(2))
		Expect(n.node("N2").Status).To(Equal(registry.Valid))
	})

	It("is refused when it shrinks", func() {
		n := newNetwork("")
		Expect(n.Policy.Compare(documentOf(20), documentOf(18))).To(Succeed())
		Expect(n.Policy.Compare(documentOf(20), documentOf(10))).To(MatchError(And(ContainSubstring("shrank from 20 entries to 10 entries"), ContainSubstring("--accept-document"))))
	})

	DescribeTable("is refused",
		func(text, says string) {
			_, err := registry.ReadDocument([]byte(text))
			Expect(err).To(MatchError(ContainSubstring(says)))
		},
		Entry("HTML", "\n<!doctype html><title>Sign in</title>", "a page of HTML"),
		Entry("cut short", `{"member":[{"id":"N1"`, "expected a registry document"),
		Entry("without entries", `{"member":[]}`, "empty document"),
		Entry("of 50 MB", `{"member":["`+strings.Repeat("x", 50<<20)+`"]}`, "at most 16777216 bytes"),
		Entry("not JSON", "\x1b[31mred", "expected a registry document"),
	)

	It("names files by hashed ids where an id is not a plain name", func() {
		Expect(registry.FileName("XA-1_B")).To(Equal("XA-1_B"))
		for _, id := range []string{"../../etc/passwd", "a b", ".", "", "x\x00", strings.Repeat("A", 65), "xa"} {
			Expect(registry.FileName(id)).To(MatchRegexp(`^id-[0-9a-f]{32}$`), "%q", id)
		}
	})
})

var _ = Describe("The clock", func() {
	It("refuses to go back, and to jump ahead unless the pause is accepted", func() {
		Expect(registry.CheckClock("2026-03-02", "2026-03-01", true)).To(MatchError(ContainSubstring("already has the night of 2026-03-02")))
		Expect(registry.CheckClock("2026-03-02", "2026-03-02", false)).To(Succeed())
		Expect(registry.CheckClock("2026-03-02", "2027-03-02", false)).To(MatchError(ContainSubstring("365 nights after the last one")))
		Expect(registry.CheckClock("2026-03-02", "2027-03-02", true)).To(Succeed())
		Expect(registry.CheckClock("", "2027-03-02", false)).To(Succeed())
	})

	It("tests nothing, and dates no certificate, by a clock that jumps during the run", func() {
		for _, jump := range []time.Duration{400 * 24 * time.Hour, -48 * time.Hour} {
			n := newNetwork("run: {at-once: 1}")
			before := n.now
			n.stop = func() { n.now = before.Add(jump) } // the first test of the night sees the jump
			sum, err := n.run(context.Background(), documentOf(3))
			Expect(err).NotTo(HaveOccurred())
			Expect(sum.Results).To(Equal(map[registry.Result]int{registry.Passed: 1, registry.Untested: 2}))
			Expect(n.node("N1").Certified).To(Equal(before.Truncate(time.Second)))
			Expect(n.node("N1").Outcome.Seconds).To(BeNumerically(">=", 0))
			Expect(n.node("N2").Outcome.Why).To(ContainSubstring("the clock of this machine jumped to"))
			Expect(n.node("N2").Certified).To(BeZero())
			n.now, n.stop = before, func() {}
			again, err := n.run(context.Background(), documentOf(3))
			Expect(err).NotTo(HaveOccurred())
			Expect(again.AlreadyTested).To(Equal(1))
			Expect(again.Results).To(Equal(map[registry.Result]int{registry.Passed: 2}), "with the clock set right the night goes on")
		}
	})

	It("names a night by its evening", func() {
		Expect(registry.NightOf(time.Date(2026, 3, 2, 3, 0, 0, 0, time.UTC))).To(Equal(registry.Night("2026-03-01")))
		Expect(registry.NightOf(time.Date(2026, 3, 2, 13, 0, 0, 0, time.UTC))).To(Equal(registry.Night("2026-03-02")))
	})
})
