package report_test

import (
	"encoding/json"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
)

var _ = Describe("Coverage of the document", func() {
	const document = `{"openapi":"3.0.3","info":{"title":"t","version":"1"},"paths":{"/a/{id}":{"get":{"operationId":"a","parameters":[
		{"name":"id","in":"path","required":true,"schema":{"type":"string"}},{"name":"size","in":"query","schema":{"type":"integer","minimum":1}},
		{"name":"page","in":"query","schema":{"type":"object","properties":{"offset":{"type":"integer"}}}},{"name":"X-Language","in":"header","schema":{"enum":["de"]}},
		{"name":"q","in":"query","schema":{"type":"string"}},{"name":"Accept","in":"header","schema":{"type":"string"}},{"name":"sid","in":"cookie","schema":{"type":"string"}}],
		"responses":{"200":{},"4XX":{},"404":{},"304":{},"500":{},"default":{}}}},"/b":{"post":{"operationId":"b","parameters":[{"name":"q","in":"query","schema":{"type":"string"}}],"responses":{"201":{}}}}}}`
	answered := func(c evidence.Case, status int, given map[string]string) evidence.Exchange {
		return evidence.Exchange{Label: evidence.OperationResource("a").With(c), Given: given, Response: &evidence.Response{Status: status}}
	}
	covered := func(exchanges ...evidence.Exchange) report.Operations {
		log := smallLog()
		log.Document, log.Exchanges = &evidence.Document{Reduced: json.RawMessage(document)}, exchanges
		log.NotSent = []evidence.NotSent{{Label: "op/a.param-q", Kind: evidence.NotApplicable, Because: "the document has no valid value of it"}}
		return reportOf(log, smallJudgements()).Operations
	}
	trial := func(try evidence.Try, in, name string, legal string) map[string]string {
		return map[string]string{"parameter": name, "in": in, "try": string(try), "legal": legal, "value": "1"}
	}
	complete := []evidence.Exchange{
		answered(evidence.OK, 200, nil), answered(evidence.NoToken, 401, nil),
		answered("size-2", 200, map[string]string{"parameter": "size", "value": "2"}),
		answered(evidence.TryCase(evidence.AtMinimum, "query", "size"), 200, trial(evidence.AtMinimum, "query", "size", "true")),
		answered("size-text", 400, map[string]string{"parameter": "size", "value": "abc"}),
		answered("beyond-end", 200, map[string]string{"parameter": "page[offset]", "value": "9"}),
		answered(evidence.TryCase(evidence.OutsideEnum, "header", "X-Language"), 302, trial(evidence.OutsideEnum, "header", "X-Language", "false")),
	}

	It("counts parameters and statuses, and says how each parameter was tried", func() {
		o := covered(complete...)
		tried := map[string][]report.Manner{}
		because := map[string]string{}
		for _, p := range o.List[0].Parameters {
			tried[p.Name], because[p.Name] = p.Tried, p.Because
		}
		Expect(tried).To(Equal(map[string][]report.Manner{
			"id": {report.Valid}, "size": {report.Valid, report.Bounds, report.Outside}, "page": {report.Valid}, "X-Language": {report.Outside},
			"q": {}, "Accept": {}, "sid": {},
		}))
		Expect(because).To(And(HaveKeyWithValue("q", "the document has no valid value of it"), HaveKeyWithValue("sid", "cookies are not sent"),
			HaveKeyWithValue("Accept", ContainSubstring("other parts of the document")), HaveKeyWithValue("size", "")))
		Expect(o.Parameters).To(Equal(report.Covered{Described: 8, Covered: 4}))
		Expect(o.String()).To(Equal("1 of 2 documented operations executed, 4 of 8 parameters tried, 3 of 7 documented statuses seen"))
	})

	It("says why a documented status was not seen", func() {
		because := map[string]string{}
		for _, s := range covered(complete...).List[0].Statuses {
			because[s.Status] = s.Because
		}
		Expect(because).To(And(HaveKeyWithValue("200", ""), HaveKeyWithValue("4XX", ""), HaveKeyWithValue("default", ""),
			HaveKeyWithValue("304", "no conditional request was sent"), HaveKeyWithValue("500", "the node did not fail"), HaveKeyWithValue("404", Not(BeEmpty()))))
		Expect(covered(complete...).List[1].Statuses).To(ConsistOf(report.Status{Status: "201", Because: "the operation was not executed"}))
	})

	It("says which requests did not get a status", func() {
		exchange := func(c evidence.Case, method string, status int, header ...evidence.Field) evidence.Exchange {
			x := answered(c, status, nil)
			x.Request.Method, x.Request.Header = method, header
			return x
		}
		because := func(exchanges ...evidence.Exchange) map[string]string {
			log := smallLog()
			log.Run.Second = true
			log.Document = &evidence.Document{Reduced: json.RawMessage(strings.Replace(document, `"4XX":{}`, `"401":{},"403":{},"405":{},"429":{},"503":{}`, 1))}
			log.Exchanges = exchanges
			out := map[string]string{}
			for _, s := range reportOf(log, smallJudgements()).Operations.List[0].Statuses {
				out[s.Status] = s.Because
			}
			return out
		}
		Expect(because(exchange(evidence.OK, "GET", 200))).To(And(HaveKeyWithValue("401", "every call had a good token"), HaveKeyWithValue("403", "the client without the role did not call it"),
			HaveKeyWithValue("405", "it was called with GET and HEAD only"), HaveKeyWithValue("503", "the node did not fail"), HaveKeyWithValue("304", "no conditional request was sent")))
		Expect(because(exchange(evidence.NoToken, "GET", 200), exchange("no-role", "GET", 200), exchange("method", "REPORT", 404), exchange("odd", "GET", 502),
			exchange("known", "GET", 200, evidence.Field{Name: "If-None-Match", Value: `"a"`}))).To(And(HaveKeyWithValue("401", "no call was refused with it"),
			HaveKeyWithValue("403", "the client without the role was not refused with it"), HaveKeyWithValue("405", "no other method was refused with it"),
			HaveKeyWithValue("503", "the node failed with another status"), HaveKeyWithValue("304", "no conditional request was answered with it")))
	})

	It("says why a parameter outside the query was not tried", func() {
		log := smallLog()
		log.Document, log.Exchanges = &evidence.Document{Reduced: json.RawMessage(document)}, complete[:1]
		log.NotSent = []evidence.NotSent{{Label: evidence.OperationResource("a").With(evidence.TryCase(evidence.NthValue(1), "header", "X-Language")), Kind: evidence.OverBudget, Because: "the budget is used up"}}
		for _, p := range reportOf(log, smallJudgements()).Operations.List[0].Parameters {
			if p.Name == "X-Language" {
				Expect(p.Because).To(Equal("the budget is used up"))
			}
		}
	})

	It("lists the statuses that the document does not describe", func() {
		log := smallLog()
		o := reportOf(log, smallJudgements()).Operations
		Expect(o.List[0].Undocumented).To(Equal([]string{"400"}))
		Expect(strings.Join(o.List[0].StatusesInWords(), "; ")).To(Equal("200 seen; 304: not seen, no conditional request was sent; 400 seen and not documented"))
		Expect(o.List[0].ParametersInWords()).To(Equal([]string{"fundingType: outside", "session: not tried, cookies are not sent"}))
	})

	It("leaves out the statuses of paths that are not the operation's", func() {
		at := func(path string, status int) evidence.Exchange {
			x := answered("odd", status, nil)
			x.Request.URL = "https://api.example" + path
			return x
		}
		const responses = `"responses":{"200":{},"4XX":{},"404":{},"304":{},"500":{},"default":{}}`
		log := smallLog()
		log.Document = &evidence.Document{Reduced: json.RawMessage(strings.Replace(document, responses, `"responses":{"200":{}}`, 1))}
		log.Exchanges = []evidence.Exchange{at("/base/a/7", 410), at("/base//a/7", 404), at("/base/a//7", 404), at("/base/a/7/", 404), at("/base/b/7", 404), at("/7", 404)}
		o := reportOf(log, smallJudgements()).Operations
		Expect(o.List[0].Undocumented).To(Equal([]string{"410"}))
	})

	It("is a function of the evidence, and counts nothing for a run that sent nothing", func() {
		Expect(covered(complete...)).To(Equal(covered(complete...)))
		o := covered()
		Expect([]int{o.Executed, o.Parameters.Covered, o.Statuses.Covered}).To(Equal([]int{0, 0, 0}))
	})
})
