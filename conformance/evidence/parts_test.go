package evidence_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/conformancetest"
	"github.com/rin-network/rin/conformance/evidence"
)

// calls returns the JSON objects of a list, of four kilobytes each.
func calls(n int) (out []string) {
	text := noise(4 << 10 * n)
	for i := range n {
		out = append(out, fmt.Sprintf(`{"id":"call-%d","name":"a, \"quoted\" {name}","note":%q}`, i, text[i*3<<10:(i+1)*3<<10]))
	}
	return out
}

// record writes one answer for each body and returns the file and what was recorded.
func record(bodies ...string) (*bytes.Buffer, *evidence.Log) {
	GinkgoHelper()
	var file bytes.Buffer
	j := evidence.NewJournal(evidence.NewWriter(&file, clock))
	j.Begin(evidence.Run{Started: start})
	for i, body := range bodies {
		x := answered(evidence.Label(fmt.Sprintf("info.%d", i)), 200)
		x.Response = response(200, body)
		j.Add(x)
	}
	Expect(j.Err()).NotTo(HaveOccurred())
	return &file, j.Log()
}

var _ = Describe("A large list", func() {
	all := calls(40)
	odd := slices.DeleteFunc(slices.Clone(all), func(c string) bool { return strings.Contains(c, "0\"") || strings.Contains(c, "2\"") })
	array := func(items []string) string { return "[" + strings.Join(items, ",") + "]" }

	DescribeTable("takes room once, however it was read", func(envelope string) {
		in := func(items []string) string { return fmt.Sprintf(envelope, array(items)) }
		once, _ := record(in(all))
		room := once.Len()
		file, log := record(in(all), in(odd), in(all[10:]), in(all[:30]))
		Expect(file.Len()).To(BeNumerically("<", room*3/2))
		Expect(evidence.ReadLog(file)).To(Equal(log))
	},
		Entry("as an array", "%s"),
		Entry("in an envelope", `{"total": 40, "_embedded": {"calls": %s}}`),
		Entry("with blanks", " \n%s\n"),
	)

	It("takes little room for items that resemble each other", func() {
		var similar []string
		for i := range 200 {
			similar = append(similar, fmt.Sprintf(`{"id":"call-%d","note":%q}`, i, all[0]))
		}
		file, log := record(array(similar))
		Expect(file.Len()).To(BeNumerically("<", 10*len(all[0])))
		Expect(evidence.ReadLog(file)).To(Equal(log))
	})

	It("is stored once if several answers hold parts of it at the same time", func() {
		for range 20 {
			var file bytes.Buffer
			j := evidence.NewJournal(evidence.NewWriter(&file, clock))
			j.Begin(evidence.Run{Started: start})
			var answers sync.WaitGroup
			for i := range 8 {
				x := answered(evidence.Label(fmt.Sprintf("info.%d", i)), 200)
				x.Response = response(200, array(all[i:i+32]))
				answers.Go(func() { j.Add(x) })
			}
			answers.Wait()
			Expect(j.Err()).NotTo(HaveOccurred())
			Expect(evidence.ReadLog(&file)).To(Equal(j.Log()))
		}
	})

	It("is read back unchanged, whatever is in it", func() {
		file, log := record(array(all), array(all)[:100<<10], "["+strings.Repeat(`{},`, 20<<10), strings.Repeat("[", 40<<10)+strings.Repeat("},", 40<<10),
			`["`+strings.Repeat(`{},\`, 20<<10), "[{},{},{},{},{},{},{},{},{\"a\":\""+strings.Repeat(`{},\\`, 20<<10)+"\xff")
		Expect(evidence.ReadLog(file)).To(Equal(log))
	})

	It("is refused if a part is missing, was changed, or makes more than the body says", func() {
		file, _ := record(array(all))
		text := conformancetest.Text(file.Bytes())
		lines := strings.SplitAfter(text, "\n")
		_, err := evidence.ReadLog(strings.NewReader(strings.Join(slices.Delete(slices.Clone(lines), 1, 2), "")))
		Expect(err).To(MatchError(ContainSubstring("is missing above it")))
		_, err = evidence.ReadLog(strings.NewReader(strings.Replace(text, `\"call-7\"`, `\"call-8\"`, 1)))
		Expect(err).To(MatchError(ContainSubstring("its content was changed")))
		parts := lines[slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, `"parts":["`) })]
		_, rest, _ := strings.Cut(parts, `"parts":[`)
		first, _, _ := strings.Cut(rest, `,`)
		for _, more := range []string{strings.Replace(parts, first, first+","+first, 1), strings.Replace(parts, `"content":""`, `"content":"x"`, 1)} {
			_, err = evidence.ReadLog(strings.NewReader(strings.Replace(text, parts, more, 1)))
			Expect(err).To(MatchError(Or(ContainSubstring("got more"), ContainSubstring("both a content and parts"))))
		}
	})
})
