package exchange_test

import (
	"bytes"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/exchange"
)

var _ = Describe("Cut", func() {
	It("ends a recording that broke off, with the cause behind what is whole", func() {
		whole := recording()
		broken := whole[:strings.LastIndex(whole, `"ended"`)]
		got, err := exchange.Cut([]byte(broken), "out of memory")
		Expect(err).NotTo(HaveOccurred())
		log, err := exchange.ReadLog(bytes.NewReader(got))
		Expect(err).NotTo(HaveOccurred())
		Expect(log.Exchanges).To(HaveLen(1))
		Expect(log.Ended).To(Equal(&exchange.Ended{Cause: "out of memory", Requests: 1}))
	})

	It("leaves a recording that ended alone, and refuses what is none", func() {
		Expect(exchange.Cut([]byte(recording()), "late")).To(BeEquivalentTo(recording()))
		_, err := exchange.Cut([]byte("<html>\n"), "late")
		Expect(err).To(MatchError(ContainSubstring("line 1")))
	})
})
