package main_test

import (
	"net/http"
	"os"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("A --node that the registry does not have", func() {
	It("is a mistake on the command line, and leaves the report of an earlier run alone", func() {
		n := newNode(nil)
		dir := GinkgoT().TempDir()
		private := filepath.Join(dir, "registry.json")
		file, err := os.Create(private)
		Expect(err).NotTo(HaveOccurred())
		response, err := http.Get(n.URL + "/registry/registry.json")
		Expect(err).NotTo(HaveOccurred())
		_, err = file.ReadFrom(response.Body)
		Expect(err).NotTo(HaveOccurred())
		Expect(file.Close()).To(Succeed())

		for _, registry := range []string{n.URL + "/registry/registry.json", private} {
			certify := func(node, out string) outcome {
				return rin(n.env(), "certify", "--registry", registry, "--node", node, "--profile", "auth", "--only", "TOK-01", "--report-dir", out,
					"--client-id", n.clients[0].ClientID, "--client-secret", "env:SECRET")
			}
			fresh := filepath.Join(dir, "fresh")
			got := certify("XAA", fresh)
			Expect(got.code).To(Equal(2), got.out+got.err)
			Expect(got.err).To(And(ContainSubstring(`rin: --node "XAA" is not in the registry`), ContainSubstring("hint: did you mean --node XA")))
			Expect(got.out).To(BeEmpty())
			Expect(fresh).NotTo(BeAnExistingFile(), "no directory is left behind")

			used := filepath.Join(dir, "used")
			Expect(certify("XA", used).code).To(Equal(0))
			before := modificationTimes(used)
			Expect(certify("XAA", used).code).To(Equal(2))
			Expect(modificationTimes(used)).To(Equal(before), "every file is as it was")
		}
	})
})

// modificationTimes returns the modification time of each file in a directory.
func modificationTimes(dir string) map[string]string {
	GinkgoHelper()
	entries, err := os.ReadDir(dir)
	Expect(err).NotTo(HaveOccurred())
	out := map[string]string{}
	for _, e := range entries {
		info, err := e.Info()
		Expect(err).NotTo(HaveOccurred())
		out[e.Name()] = info.ModTime().Format(time.RFC3339Nano)
	}
	return out
}
