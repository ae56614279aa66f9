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
	// Judging everything takes its time, so each request is refused in one of the ways.
	It("is a fault of the node in no requirement, whichever request it answers, and the advice is about the load", func() {
		retry, page := evidence.Field{Name: "Retry-After", Value: "1"}, evidence.Field{Name: "Content-Type", Value: "text/html"}
		refusals := []evidence.Response{
			{Status: 503, Body: evidence.Body(`{"message":"busy"}`), Header: []evidence.Field{{Name: "Content-Type", Value: "application/json"}, retry}},
			{Status: 503, Body: evidence.Body("<html>busy</html>"), Header: []evidence.Field{page, retry}},
			{Status: 429},
			{Status: 429, Body: evidence.Body("<html>too many</html>"), Header: []evidence.Field{page}},
		}

		good := newStage()
		Expect(good.goodNode()).To(Succeed())
		before := requirement.JudgeAll(catalogue, requirement.Read(good.evidence()))
		var blamed, unhelpful []string
		for i, label := range good.order {
			s := newStage()
			Expect(s.goodNode()).To(Succeed())
			x, sent := s.exchanges[label]
			if !sent {
				continue
			}
			response := refusals[i%len(refusals)]
			response.Proto, response.Size = "HTTP/1.1", int64(len(response.Body))
			x.Response, x.Failure, x.Tokens, x.Attempts = &response, nil, nil, 3
			s.exchanges[label] = x
			for id, j := range requirement.JudgeAll(catalogue, requirement.Read(s.evidence())) {
				if j.Outcome == requirement.Fail && before[id].Outcome != requirement.Fail {
					blamed = append(blamed, fmt.Sprintf("%s by %s: %s", id, label, j.Reason))
				}
				if j.Outcome != before[id].Outcome && strings.Contains(j.Reason, "limits the rate") && !strings.Contains(j.Hint, "--rate") {
					unhelpful = append(unhelpful, fmt.Sprintf("%s by %s: %s (%s)", id, label, j.Reason, j.Hint))
				}
			}
		}
		Expect(blamed).To(BeEmpty(), strings.Join(blamed, "\n"))
		Expect(unhelpful).To(BeEmpty(), strings.Join(unhelpful, "\n"))
	})
})
