package configfile_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/configfile"
	"github.com/rin-network/rin/sandbox/fault"
	"github.com/rin-network/rin/sandbox/funding"
	"github.com/rin-network/rin/sandbox/mockapi"
)

var _ = Describe("a file", func() {
	It("configures each node, on top of what all nodes share", func() {
		file, err := configfile.Read(source(configfile.Example()))
		Expect(err).NotTo(HaveOccurred())
		nodes := file.Nodes(sandbox.Config{Seed: 1, Calls: 200})
		Expect(nodes).To(HaveLen(4))
		Expect(nodes[0].Clients[0]).To(Equal(sandbox.ClientConfig{ID: "reader", Role: "EXTERNAL_API_CLIENT", Affiliation: "AFF-MUST-0001"}))
		Expect(nodes[1]).To(SatisfyAll(HaveField("Root", "/xb"), HaveField("Prefix", "tumb"), HaveField("Realm", "research"),
			HaveField("Preset.Name", "keycloak"), HaveField("TokenTTL", 65*time.Second), HaveField("Seed", uint64(2)), HaveField("Calls", 200)))
		Expect(nodes[2]).To(SatisfyAll(HaveField("Member.ID", "XC_Test"), HaveField("Seed", uint64(42)), HaveField("Calls", 1000),
			HaveField("Clients", HaveExactElements(HaveField("ID", "demo-client-xc"), HaveField("ID", "demo-client-without-role-xc"), HaveField("ID", "demo-client-other-audience-xc")))))
		Expect(nodes[3]).To(SatisfyAll(HaveField("Deviations", []string{"pages-overlap"}),
			HaveField("Scenarios", []fault.Play{{Name: "429-then-ok", Path: "list", Times: 2, Wait: time.Second}}), HaveField("AsOf", time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))))
		_, err = sandbox.NewNetwork(sandbox.NetworkConfig{Nodes: nodes})
		Expect(err).NotTo(HaveOccurred())
	})

	It("invents the settings that it does not have", func() {
		file, err := configfile.Read(source("nodes: [{}, {}, {acronym: Ö, id: R2.D2}]"))
		Expect(err).NotTo(HaveOccurred())
		nodes := file.Nodes(sandbox.Config{Realm: "same"})
		Expect(nodes[0]).To(SatisfyAll(HaveField("Member", funding.FirstMember()), HaveField("Root", ""), HaveField("Prefix", ""), HaveField("Clients", BeNil()), HaveField("Preset.Name", "plain")))
		Expect(nodes[1]).To(SatisfyAll(HaveField("Member", funding.InventedMember(1)), HaveField("Root", "/xb"), HaveField("Prefix", "tumb"), HaveField("Realm", "same")))
		Expect(nodes[2]).To(SatisfyAll(HaveField("Root", "/r2d2"), HaveField("Prefix", "r2d2")))
	})

	It("may be JSON, indented with tabs", func() {
		var indented bytes.Buffer
		Expect(json.Indent(&indented, []byte(`{"addr":"127.0.0.1:0","nodes":[{"id":"XA","deviate":"pages-overlap"}]}`), "", "\t")).To(Succeed())
		file, err := configfile.Read(source(indented.String()))
		Expect(err).NotTo(HaveOccurred())
		Expect(file.Options).To(HaveExactElements(SatisfyAll(HaveField("Name", "addr"), HaveField("Values", []string{"127.0.0.1:0"}))))
		Expect(file.Nodes(sandbox.Config{})[0].Deviations).To(Equal([]string{"pages-overlap"}))
	})

	It("may have the number of nodes instead of a list", func() {
		file, err := configfile.Read(source("nodes: 3\ndeviate: [pages-overlap, token-status-201]\n"))
		Expect(err).NotTo(HaveOccurred())
		Expect(file.ListsNodes()).To(BeFalse())
		Expect(file.Options).To(HaveExactElements(HaveField("Values", []string{"3"}), HaveField("Values", []string{"pages-overlap", "token-status-201"})))
	})

	It("may have anchors and merges, over which the node's own keys take precedence", func() {
		file, err := configfile.Read(source("nodes:\n  - &first {calls: 7, seed: 3}\n  - {<<: *first, seed: 4}\n  - *first\n"))
		Expect(err).NotTo(HaveOccurred())
		nodes := file.Nodes(sandbox.Config{})
		Expect(nodes[1]).To(SatisfyAll(HaveField("Calls", 7), HaveField("Seed", uint64(4))))
		Expect(nodes[2]).To(SatisfyAll(HaveField("Calls", 7), HaveField("Seed", uint64(3))))
	})

	It("may set an OpenAPI document and scenarios for a node", func() {
		file, err := configfile.Read(source("nodes: [{}, {spec: project.json, items: 3, lists: array, examples: ignore, state: true, open: true, scenario: 'slow:wait=2s'}]"))
		Expect(err).NotTo(HaveOccurred())
		nodes := file.Nodes(sandbox.Config{})
		Expect(nodes[0].API).To(BeZero())
		Expect(nodes[1].API).To(Equal(sandbox.APIConfig{File: "project.json", Items: 3, Lists: mockapi.ListsArray, Examples: mockapi.ExamplesIgnore, State: true, Open: true}))
		Expect(nodes[1].Scenarios).To(Equal([]fault.Play{{Name: "slow", Wait: 2 * time.Second}}))
	})

	It("may refer to secrets outside of the file", func() {
		file, err := configfile.Read(source("nodes: [{clients: [{id: a, secret: 'env:READER'}, {id: b, secret: itself}]}, {clients: []}]"))
		Expect(err).NotTo(HaveOccurred())
		nodes := file.Nodes(sandbox.Config{})
		Expect(nodes[0].Clients).To(HaveExactElements(HaveField("Secret", "a secret of the environment"), HaveField("Secret", "itself")))
		Expect(nodes[1].Clients).To(And(BeEmpty(), Not(BeNil())))
	})
})

var _ = Describe("the faults of a file", func() {
	It("are reported all at once, each with its place, what was expected, what was found and a hint, and without a secret", func() {
		written, err := os.ReadFile("testdata/faults.yaml")
		Expect(err).NotTo(HaveOccurred())
		var report strings.Builder
		for _, f := range faultsOf(string(written)) {
			report.WriteString(f.Error())
			if f.Hint != "" {
				report.WriteString(" (" + f.Hint + ")")
			}
			report.WriteString("\n")
		}
		if update {
			Expect(os.WriteFile("testdata/faults.txt", []byte(report.String()), 0o644)).To(Succeed())
		}
		want, err := os.ReadFile("testdata/faults.txt")
		Expect(err).NotTo(HaveOccurred())
		Expect(report.String()).To(Equal(string(want)))
		Expect(report.String()).NotTo(ContainSubstring("hunter2"))
	})

	DescribeTable("of unreadable text", func(text, want string) {
		Expect(faultsOf(text).Error()).To(ContainSubstring(want))
	},
		Entry("an empty file", "", "an empty file"),
		Entry("a comment", "# nodes:\n", "an empty file"),
		Entry("no keys", "nodes\n", "expected keys such as nodes, addr, seed, got a single value"),
		Entry("invalid YAML", "nodes:\n  - id: XA\n   root: /x\n", "line 3, column 1: expected YAML or JSON"),
		Entry("invalid JSON", "{\n  \"addr\": \"a\",\n  \"seed\": 1 2,\n  \"calls\" 3\n}", "line 3, column 13: expected YAML or JSON"),
		Entry("indentation with a tab", "nodes:\n\t- id: XA\n", "line 2, column 1"),
		Entry("an unquoted colon", "addr: a\nseed: 1: 2\ncalls: 3\n", "line 2, column 1"),
		Entry("two documents", "addr: a\n---\naddr: b\n", "another after ---"),
		Entry("no node", "nodes: []\n", "expected one node or more, got none"),
		Entry("too many nodes", "nodes: ["+strings.Repeat("{},", 101)+"]", "at most 100 nodes, got 101"),
		Entry("a file that is too large", strings.Repeat("#", 1<<20+1), "a file of at most 1 MiB"),
		Entry("control characters", `addr: "a\u0007"`, "control characters"),
		Entry("a key that is not a name", "[a]: b", "expected a name as key, got a list"),
		Entry("merges in merges", "a: &a {<<: {<<: {<<: {<<: {<<: {seed: 1}}}}}}\n<<: *a\n", "at most 4 merges"),
	)

	It("of exploding aliases are found fast", func() {
		var b strings.Builder
		b.WriteString("a0: &a0 {seed: 1}\n")
		for i := 1; i < 9; i++ {
			alias := "*a" + string(rune('0'+i-1))
			b.WriteString("a" + string(rune('0'+i)) + ": &a" + string(rune('0'+i)) + " {<<: [" + strings.TrimSuffix(strings.Repeat(alias+",", 200), ",") + "]}\n")
		}
		b.WriteString("nodes: [*a8]\n")
		started := time.Now()
		Expect(faultsOf(b.String())).NotTo(BeEmpty())
		Expect(time.Since(started)).To(BeNumerically("<", 5*time.Second))
	})
})
