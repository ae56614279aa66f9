//go:build e2e

package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("A client in Node with fetch", func() {
	It("walks registry, token, info and list of each node of a network", func(ctx SpecContext) {
		if isMissing("node") {
			Skip("Node is not installed")
		}
		file := filepath.Join(GinkgoT().TempDir(), "credentials.json")
		control := start(exec.Command(binary, "sandbox", "--addr", "127.0.0.1:0", "--control", "127.0.0.1:0", "--nodes", "3", "--credentials", file),
			`control +(http://\S+) `, 20*time.Second)

		client := exec.CommandContext(ctx, "node", "testdata/walk.mjs", file)
		output, err := client.CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(output))
		report, err := exec.CommandContext(ctx, binary, "sandbox", "report", "--control", control).CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(report))
		for _, id := range []string{"demo-client", "demo-client-xb", "demo-client-xc"} {
			Expect(string(report)).To(ContainSubstring(id + " · no findings\n"))
		}

		var want strings.Builder
		for _, node := range readNodes(file) {
			fmt.Fprintln(&want, node.ID, len(fetchList(ctx, node.TryOutBaseURL+"/funding/v3/fundings")))
		}
		Expect(string(output)).To(Equal(want.String()))
	}, NodeTimeout(time.Minute))
})

// writtenNode holds the members of a node in the file of --credentials that the test reads.
type writtenNode struct{ ID, TryOutBaseURL string }

func readNodes(file string) []writtenNode {
	GinkgoHelper()
	written, err := os.ReadFile(file)
	Expect(err).NotTo(HaveOccurred())
	var issued struct{ Nodes []writtenNode }
	Expect(json.Unmarshal(written, &issued)).To(Succeed())
	Expect(issued.Nodes).To(HaveLen(3))
	return issued.Nodes
}

// fetchList fetches a whole list, without pages.
func fetchList(ctx context.Context, url string) (all []json.RawMessage) {
	GinkgoHelper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	Expect(err).NotTo(HaveOccurred())
	response, err := http.DefaultClient.Do(request)
	Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close()
	Expect(json.NewDecoder(response.Body).Decode(&all)).To(Succeed())
	return all
}
