package report_test

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
)

var _ = Describe("Inputs and gaps of a run", func() {
	reported := func(change func(log *evidence.Log)) report.Report {
		log := smallLog()
		change(log)
		return reportOf(log, smallJudgements())
	}
	gap := func(operation string) func(*evidence.Log) {
		return func(log *evidence.Log) { log.Run.Gaps = []evidence.Gap{{Operation: operation, Reason: "no test data"}} }
	}

	It("notes the gap of an operation that was not called", func() {
		r := reported(gap("getFunding"))
		Expect(r.Notes).To(ContainElement("The operator accepts that getFunding was not called: no test data."))
		Expect(r.Made.Gaps).To(HaveLen(1))
		Expect(r.Made.Unused).To(BeEmpty())
	})

	DescribeTable("notes no gap that the run does not have, and says why it was not used",
		func(operation, because string, change func(log *evidence.Log)) {
			r := reported(func(log *evidence.Log) { gap(operation)(log); change(log) })
			Expect(r.Notes).NotTo(ContainElement(ContainSubstring("The operator accepts that")))
			Expect(r.Made.Gaps).To(BeEmpty())
			Expect(r.Made.Unused).To(ConsistOf("--gap " + operation + " was given and not used: " + because + "."))
		},
		Entry("of an operation that was called", "listFundings", "the operation was called", func(*evidence.Log) {}),
		Entry("of an operation that is not described", "getReport", "the node's document has no operation of that name", func(*evidence.Log) {}),
		Entry("of an operation that no run calls", "addFunding", "only GET operations are called, so that there is no gap", func(*evidence.Log) {}),
		Entry("of the detail operation", "getFunding", "the profile needs the list and the detail operation", func(log *evidence.Log) { log.Roles.Detail = "op/getFunding" }),
		Entry("in a run whose document could not be read", "getFunding", "the node's document was not read", func(log *evidence.Log) { log.Document = nil }),
	)

	DescribeTable("says which inputs were given and not used",
		func(want string, change func(log *evidence.Log)) {
			Expect(reported(change).Made.Unused).To(ContainElement(want))
		},
		Entry("authorities without TLS", "--cacert was given and not used: no request was sent by https.", func(log *evidence.Log) {
			log.Run.Authorities = true
			for i := range log.Exchanges {
				log.Exchanges[i].Request.URL = "http://127.0.0.1/"
			}
		}),
		Entry("a base URL where no operation is", "--base-url https://other.example/ris was given and not used: the operations answer under https://api.node.example/funding/v3.", func(log *evidence.Log) {
			log.Run.BaseURL, log.Run.BaseGiven, log.Roles.OperationBase = "https://other.example/ris", true, "https://api.node.example/funding/v3"
		}),
		Entry("a base URL without a document", "--base-url https://api.node.example was given and not used: the node's document was not read.", func(log *evidence.Log) {
			log.Run.BaseGiven, log.Document, log.Exchanges, log.Run.BaseURL = true, nil, log.Exchanges[:1], "https://api.node.example"
		}),
		Entry("a base URL, where the profile calls no API", "--base-url https://api.node.example was given and not used: the profile auth has no use for it.", func(log *evidence.Log) {
			log.Run.BaseGiven, log.Run.Profile, log.Exchanges, log.Run.BaseURL, log.Run.DocumentFile = true, "auth", log.Exchanges[:1], "https://api.node.example", nil
		}),
		Entry("the source of a document, where the profile reads none", "--document was given and not used: the profile auth has no use for it.", func(log *evidence.Log) {
			log.Run.Profile = "auth"
		}),
		Entry("a list operation of the profile api that the document does not have", "--list-operation findAll was given and not used: the node's document has no GET operation of that name.", func(log *evidence.Log) {
			log.Run.Profile, log.Run.ListOperation, log.Roles.List = "api", "findAll", ""
		}),
		Entry("a time to wait beside an expired token, where the token in use lives longer",
			"--wait 1m0s was given and not used: the token in use expires later than the run may wait.", func(log *evidence.Log) {
				log.Run.Wait, log.Run.ExpiredToken = time.Minute, true
				log.Exchanges = append(log.Exchanges, evidence.Exchange{Label: "P.expired", Response: &evidence.Response{Status: 401}})
				log.NotSent = append(log.NotSent, evidence.NotSent{Label: "P.expired-in-use", Kind: evidence.Unmet, Because: "the token in use expires later than the run may wait"})
			}),
	)

	It("says nothing about inputs that were used", func() {
		Expect(reported(func(log *evidence.Log) {
			log.Run.Authorities, log.Run.BaseGiven, log.Run.ListOperation = true, true, "listFundings"
		}).Made.Unused).To(BeEmpty())
	})
})
