package exchange_test

import (
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/exchange"
)

var _ = Describe("Cut", func() {
	// cut mends a file with that text, and returns what it holds then.
	cut := func(text, cause string) (*exchange.Log, string, error) {
		GinkgoHelper()
		path := filepath.Join(GinkgoT().TempDir(), "evidence.jsonl")
		Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		Expect(err).NotTo(HaveOccurred())
		defer file.Close()
		log, cutErr := exchange.Cut(file, cause)
		after, err := os.ReadFile(path)
		Expect(err).NotTo(HaveOccurred())
		return log, string(after), cutErr
	}

	DescribeTable("ends a recording that broke off, with the cause behind what is whole",
		func(tail string) {
			whole := recording()
			broken := whole[:strings.LastIndex(strings.TrimSuffix(whole, "\n"), "\n")+1]
			log, after, err := cut(broken+tail, "out of memory")
			Expect(err).NotTo(HaveOccurred())
			Expect(log.Exchanges).To(HaveLen(1))
			Expect(log.Ended).To(Equal(&exchange.Ended{Cause: "out of memory", Requests: 1}))
			Expect(after).To(HavePrefix(broken))
			again, err := exchange.ReadLog(strings.NewReader(after))
			Expect(err).NotTo(HaveOccurred())
			Expect(again).To(Equal(log))
		},
		Entry("between two lines", ""),
		Entry("within a short line", `{"kind":"ended","en`),
		Entry("within a line that is longer than what is read at once", `{"kind":"exchange","exchange":{"label":"`+strings.Repeat("x", 200<<10)),
		Entry("before the end of a line that is otherwise whole", `{"kind":"ended","ended":{"complete":true,"requests":1}}`),
	)

	It("leaves a recording that ended alone", func() {
		log, after, err := cut(recording(), "late")
		Expect(err).NotTo(HaveOccurred())
		Expect(after).To(Equal(recording()))
		Expect(log.Ended.Cause).NotTo(Equal("late"))
	})

	It("refuses what is no recording", func() {
		for _, text := range []string{"", "{", "<html>\n", "<html>\n<body"} {
			_, _, err := cut(text, "late")
			Expect(err).To(MatchError(ContainSubstring("line 1")), text)
		}
	})
})
