package requirement_test

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/requirement"
)

var _ = Describe("An answer that refuses a request for load", func() {
	catalogue := requirement.Catalogue()

	// A node may refuse any request for load, and has then shown nothing.
	DescribeTable("is a fault of the node in no requirement, whichever request it answers",
		func(status int, body string, header ...evidence.Field) {
			good := newStage()
			Expect(good.goodNode()).To(Succeed())
			before := requirement.JudgeAll(catalogue, requirement.Read(good.evidence()))
			var blamed []string
			for _, label := range good.order {
				s := newStage()
				Expect(s.goodNode()).To(Succeed())
				x, sent := s.exchanges[label]
				if !sent {
					continue
				}
				x.Response = &evidence.Response{Proto: "HTTP/1.1", Status: status, Header: header, Body: evidence.Body(body), Size: int64(len(body))}
				x.Failure, x.Tokens, x.Attempts = nil, nil, 3
				s.exchanges[label] = x
				for id, j := range requirement.JudgeAll(catalogue, requirement.Read(s.evidence())) {
					if j.Outcome == requirement.Fail && before[id].Outcome != requirement.Fail {
						blamed = append(blamed, fmt.Sprintf("%s by %s: %s", id, label, j.Reason))
					}
				}
			}
			Expect(blamed).To(BeEmpty(), strings.Join(blamed, "\n"))
		},
		Entry("503 with Retry-After", 503, `{"message":"busy"}`, evidence.Field{Name: "Content-Type", Value: "application/json"}, evidence.Field{Name: "Retry-After", Value: "1"}),
		Entry("503 with Retry-After, of a gateway", 503, "<html>busy</html>", evidence.Field{Name: "Content-Type", Value: "text/html"}, evidence.Field{Name: "Retry-After", Value: "1"}),
		Entry("429 with Retry-After", 429, `{"message":"too many"}`, evidence.Field{Name: "Content-Type", Value: "application/json"}, evidence.Field{Name: "Retry-After", Value: "1"}),
		Entry("429 without Retry-After", 429, ""),
		Entry("429 of a gateway", 429, "<html>too many</html>", evidence.Field{Name: "Content-Type", Value: "text/html"}),
	)
})
