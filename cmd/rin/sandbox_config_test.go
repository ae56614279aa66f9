package main_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// configFile writes a file for --config.
func configFile(text string) string {
	GinkgoHelper()
	path := filepath.Join(GinkgoT().TempDir(), "net.yaml")
	Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
	return path
}

var _ = Describe("rin sandbox --config", func() {
	It("starts with the printed example, and flags override it", func() {
		example := rin(nil, "sandbox", "--example-config")
		Expect(example.code).To(Equal(0))
		issued := network("--config", configFile(example.out), "--calls", "3")
		var ids []string
		for _, node := range issued.Nodes {
			ids = append(ids, node.ID+" "+node.Flavour)
		}
		Expect(ids).To(Equal([]string{"XA plain", "XB keycloak", "XC_Test spring", "XD flask"}))
		Expect(issued.Nodes[0].Clients).To(HaveLen(3))
		Expect(issued.greeting).To(ContainSubstring("XD deviates: pages-overlap"))
		issued.Nodes[1].certify(issued.Registry)
	})

	It("reports every fault of the file with its place, including those of flags, and does not start", func() {
		got := rin(nil, "sandbox", "--config", configFile("tls: maybe\nadr: x\nnodes:\n  - flavour: keycloack\n    clients: [{id: a, secret: 'env:NOT_SET'}]\n"))
		Expect(got.code).To(Equal(2))
		Expect(got.out).To(BeEmpty())
		Expect(got.err).To(SatisfyAll(
			MatchRegexp(`(?m)^rin: \S*net.yaml:1:6: tls: expected true or false, got "maybe"$`),
			MatchRegexp(`(?m)^rin: \S*net.yaml:2:1: adr: expected a key that is known here, got "adr"\nhint: did you mean addr\?$`),
			MatchRegexp(`(?m)^rin: \S*net.yaml:4:14: nodes\[0\].flavour: expected one of plain, .*\nhint: did you mean keycloak`),
			MatchRegexp(`(?m)^rin: \S*net.yaml:5:31: nodes\[0\].clients\[0\].secret: .*\nhint: .*NOT_SET is not set`),
		))
	})

	It("serves an API from its document beside the node that the file names", func() {
		document := configFile(`{"openapi":"3.0.1","info":{"title":"Projects","version":"1.0"},"paths":{"/v1/projects":{"get":{"operationId":"projects",
			"responses":{"200":{"description":"All.","content":{"application/json":{"schema":{"type":"array","items":{"type":"string"}}}}}}}}}}`)
		issued := network("--config", configFile("nodes: [{}, {spec: "+document+", open: true}]"))
		found := regexp.MustCompile(`API document +(\S+)/api-docs`).FindStringSubmatch(issued.greeting)
		Expect(found).NotTo(BeNil(), issued.greeting)
		Expect(found[1]).To(ContainSubstring("/xb/"))
		var projects []string
		getJSON(http.DefaultClient, found[1]+"/projects", &projects)
		Expect(projects).NotTo(BeEmpty())
	})

	It("never shows a configured secret", func() {
		const secret = "canary-of-a-client-52c1"
		file := configFile("addr: 127.0.0.1:0\nnodes: [{clients: [{id: reader, role: EXTERNAL_API_CLIENT, affiliation: A, secret: 'env:READER'}]}]")
		_, greeting := started([]string{"READER=" + secret}, "--config", file)
		Expect(greeting).To(SatisfyAll(MatchRegexp(`secret +as configured`), ContainSubstring("\nexport RIN_CLIENT_SECRET='...'   # the secret of "), Not(ContainSubstring(secret))))
	})

	It("refuses a number of nodes beside a file that lists them", func() {
		got := rin(nil, "sandbox", "--nodes", "2", "--config", configFile("nodes: [{}]"))
		Expect(got.code).To(Equal(2))
		Expect(got.err).To(ContainSubstring("--nodes: the nodes are listed in"))
	})

	It("reads standard input", func() {
		got := rinIn(GinkgoT().TempDir(), "nodes:\n  - clients: [{id: a, secret: 'file:nowhere'}]\n  - calls: no\n", nil, "sandbox", "--config", "-")
		Expect(got.code).To(Equal(2))
		Expect(got.err).To(SatisfyAll(ContainSubstring("rin: -:2:31: nodes[0].clients[0].secret: "), ContainSubstring("rin: -:3:12: nodes[1].calls: ")))
	})

	It("says which file cannot be read", func() {
		got := rin(nil, "sandbox", "--config", "nowhere.yaml")
		Expect(got.code).To(Equal(2))
		Expect(got.err).To(SatisfyAll(ContainSubstring("--config"), ContainSubstring("nowhere.yaml"), ContainSubstring("--example-config")))
	})
})
