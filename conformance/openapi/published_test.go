package openapi_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/rin-network/rin/conformance/document"
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/openapi"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// The network's published documents are not part of this repository: the variable names the folder that holds them.
var _ = Describe("The published documents", func() {
	folder := os.Getenv("RIN_PUBLISHED")
	if folder == "" {
		return // no container, no skipped specs: make e2e gives the folder
	}

	read := func(name string) (exchange.Document, *document.Document) {
		GinkgoHelper()
		body, err := os.ReadFile(filepath.Join(folder, name))
		Expect(err).NotTo(HaveOccurred())
		guarded := openapi.Read(body, openapi.Limits{})
		Expect(guarded.Refused).To(BeEmpty())
		parsed, err := document.Parse(guarded.Reduced)
		Expect(err).NotTo(HaveOccurred())
		return guarded, parsed
	}
	judge := func(name, path, body string) exchange.SchemaFindings {
		GinkgoHelper()
		guarded, parsed := read(name)
		j, err := openapi.NewJudge(guarded)
		Expect(err).NotTo(HaveOccurred())
		for _, op := range parsed.Operations {
			if op.Path == path {
				return j.Annotate(answer(200, "application/json", body), op)
			}
		}
		Fail("no operation at " + path)
		return exchange.SchemaFindings{}
	}

	DescribeTable("pass the guard, fit the meta-schema and need no mending",
		func(name string, operations int) {
			guarded, parsed := read(name)
			Expect(guarded.Removed).To(BeEmpty())
			Expect(guarded.Invalid).To(BeEmpty())
			Expect(parsed.Version).To(Equal("3.0.1"))
			Expect(parsed.Operations).To(HaveLen(operations))
			for _, ref := range parsed.Refs() {
				Expect(ref.Resolves).To(BeTrue(), ref.Target)
			}
			By("M16: no security is declared, and only success is described")
			Expect(parsed.Schemes).To(BeEmpty())
			Expect(parsed.Security).To(BeNil())
			for _, op := range parsed.Operations {
				Expect(op.Responses).To(HaveLen(1))
				Expect(op.Responses).To(HaveKey("200"))
			}
		},
		Entry("funding", "funding.json", 2), Entry("project", "project.json", 2),
		Entry("orgUnit", "orgUnit.json", 1), Entry("info", "info.json", 1),
	)

	It("M1: an array where the list operation declares one object is an erratum, and its items are judged", func() {
		for name, path := range map[string]string{"funding.json": "/v1/fundings", "project.json": "/v1/projects"} {
			f := judge(name, path, `[{},{}]`)
			Expect(f.Judged).To(BeTrue())
			Expect(f.Items).To(Equal(2))
			Expect(f.Findings[0]).To(And(HaveField("Kind", exchange.FindingTopLevel), HaveField("Erratum", "M1")))
			Expect(f.Findings).To(ContainElement(And(HaveField("Path", "$[1].id"), HaveField("Kind", exchange.FindingRequired), HaveField("Erratum", ""))))
		}
	})

	It("M2: the organigram is an array of what is declared single", func() {
		f := judge("orgUnit.json", "/v1/orgUnits/organigram", `[{"id":"1"}]`)
		Expect(f.Findings[0]).To(And(HaveField("Kind", exchange.FindingTopLevel), HaveField("Erratum", "M2")))
	})

	It("M3: the misspelt status explains the right one, and nothing else", func() {
		f := judge("project.json", "/v1/projects", `[{"status":"IN_PREPARATION"},{"status":"IN_PREPERATION"},{"status":"STARTED"}]`)
		Expect(ofKind(f, exchange.FindingEnum)).To(HaveExactElements(
			And(HaveField("Path", "$[0].status"), HaveField("Erratum", "M3")),
			And(HaveField("Path", "$[2].status"), HaveField("Erratum", "")),
		))
	})

	It("M4: Level_3 explains LEVEL_3 where the document has the misspelling", func() {
		f := judge("funding.json", "/v1/fundings/{id}", `{"funder":[{"funderType":"EXECUTIVE_ORGANISATION","funder":{"level":"LEVEL_3"}}]}`)
		Expect(ofKind(f, exchange.FindingEnum)).To(HaveExactElements(
			And(HaveField("Path", "$.funder[0].funder.level"), HaveField("Erratum", "M4"))))
		By("the orgUnit document has the right spelling")
		f = judge("orgUnit.json", "/v1/orgUnits/organigram", `{"level":"LEVEL_3"}`)
		Expect(ofKind(f, exchange.FindingEnum)).To(BeEmpty())
	})

	It("M6, M7, M9: sample data breaks types, nulls and dates", func() {
		f := judge("project.json", "/v1/projects/{id}", `{"startDate":null,"endDate":"2027-11-31",
			"team":[{"person":{"electronicAddress":"a@b.example","personName":{"familyName":"X","firstName":"Y"}}}],
			"funded":[{"by":{"name":{"text":"N"}}}]}`)
		Expect(f.Findings).To(ContainElements(
			And(HaveField("Path", "$.startDate"), HaveField("Kind", exchange.FindingType), HaveField("Got", "null")),
			And(HaveField("Path", "$.endDate"), HaveField("Kind", exchange.FindingFormat), HaveField("Got", `"2027-11-31"`)),
			And(HaveField("Path", "$.team[0].person.electronicAddress"), HaveField("Expected", "array"), HaveField("Got", "string")),
			And(HaveField("Path", "$.team[0].person.personName.familyName"), HaveField("Got", "string")),
			And(HaveField("Path", "$.funded[0].by.name"), HaveField("Expected", "array"), HaveField("Got", "object")),
		))
		all, err := json.Marshal(f)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(all)).NotTo(ContainSubstring("a@b.example"))
	})

	It("M11: the vocabulary of endpoints lacks PROJECTS", func() {
		f := judge("info.json", "/v1/info", `{"endpoints":{"project":[{"name":"PROJECTS"}]}}`)
		Expect(f.Findings).To(HaveExactElements(
			And(HaveField("Path", "$.endpoints.project[0].name"), HaveField("Kind", exchange.FindingEnum), HaveField("Erratum", ""))))
	})

	It("M12, M13: CALL is judged as a Call, an unmapped type as a Funding", func() {
		call := judge("funding.json", "/v1/fundings", `[{"type":"CALL"}]`)
		Expect(call.Findings).To(ContainElement(HaveField("Path", "$[0].submissionModes")))
		grant := judge("funding.json", "/v1/fundings", `[{"type":"GRANT"}]`)
		Expect(grant.Findings).NotTo(ContainElement(HaveField("Path", "$[0].submissionModes")))
		Expect(grant.Findings).To(ContainElement(HaveField("Path", "$[0].id")))
		for _, f := range append(call.Findings, grant.Findings...) {
			Expect(strings.HasPrefix(f.Keyword, "/components/schemas/")).To(BeTrue(), f.Keyword)
		}
	})

	It("M15: a stage without an end breaks the document", func() {
		f := judge("funding.json", "/v1/fundings", `[{"type":"CALL","callStages":[{"number":"1","callStageStart":"2026-01-01T00:00:00Z"}]}]`)
		Expect(f.Findings).To(ContainElement(And(HaveField("Path", "$[0].callStages[0].callStageEnd"), HaveField("Kind", exchange.FindingRequired))))
	})
})
