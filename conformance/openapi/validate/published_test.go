package validate_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/openapi/validate"
)

// operationAt returns the operation with that path.
func operationAt(doc *openapi.Document, path string) openapi.Operation {
	GinkgoHelper()
	at := slices.IndexFunc(doc.Operations, func(o openapi.Operation) bool { return o.Path == path })
	Expect(at).NotTo(BeNumerically("<", 0), "no operation at "+path)
	return doc.Operations[at]
}

// The network's published documents are not part of this repository: the variable names the folder that holds them.
var _ = Describe("The published documents", func() {
	folder := os.Getenv("RIN_PUBLISHED")
	if folder == "" {
		return // without the folder there is nothing to skip or report; make e2e gives the folder
	}

	read := func(name string) (evidence.Document, *openapi.Document) {
		GinkgoHelper()
		body, err := os.ReadFile(filepath.Join(folder, name))
		Expect(err).NotTo(HaveOccurred())
		guarded := validate.Read(body, openapi.Limits{})
		Expect(guarded.Refused).To(BeEmpty())
		parsed, err := openapi.Parse(guarded.Reduced)
		Expect(err).NotTo(HaveOccurred())
		return guarded, parsed
	}
	judge := func(name, path, body string) evidence.SchemaFindings {
		GinkgoHelper()
		guarded, parsed := read(name)
		j, err := validate.NewJudge(guarded)
		Expect(err).NotTo(HaveOccurred())
		return j.Annotate(answer(200, "application/json", body), operationAt(parsed, path))
	}

	DescribeTable("pass the guard and fit the meta-schema",
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
			Expect(f.Findings[0]).To(And(HaveField("Kind", evidence.FindingTopLevel), HaveField("Erratum", "M1")))
			Expect(f.Findings).To(ContainElement(And(HaveField("Path", "$[1].id"), HaveField("Kind", evidence.FindingRequired), HaveField("Erratum", ""))))
		}
	})

	It("M2: an array where the organigram declares one unit is an erratum", func() {
		f := judge("orgUnit.json", "/v1/orgUnits/organigram", `[{"id":"1"}]`)
		Expect(f.Findings[0]).To(And(HaveField("Kind", evidence.FindingTopLevel), HaveField("Erratum", "M2")))
	})

	It("M3: the misspelt status explains the right one, and nothing else", func() {
		f := judge("project.json", "/v1/projects", `[{"status":"IN_PREPARATION"},{"status":"IN_PREPERATION"},{"status":"STARTED"}]`)
		Expect(ofKind(f, evidence.FindingEnum)).To(HaveExactElements(
			And(HaveField("Path", "$[0].status"), HaveField("Erratum", "M3")),
			And(HaveField("Path", "$[2].status"), HaveField("Erratum", "")),
		))
	})

	It("M4: Level_3 explains LEVEL_3 where the document has the misspelling", func() {
		f := judge("funding.json", "/v1/fundings/{id}", `{"funder":[{"funderType":"EXECUTIVE_ORGANISATION","funder":{"level":"LEVEL_3"}}]}`)
		Expect(ofKind(f, evidence.FindingEnum)).To(HaveExactElements(
			And(HaveField("Path", "$.funder[0].funder.level"), HaveField("Erratum", "M4"))))
		By("the orgUnit document has the right spelling")
		f = judge("orgUnit.json", "/v1/orgUnits/organigram", `{"level":"LEVEL_3"}`)
		Expect(ofKind(f, evidence.FindingEnum)).To(BeEmpty())
	})

	It("M5: the project document says identifier, so that identifiers, as data and the other documents write it, are not judged", func() {
		const identifiers = `[{"type":"NO_SUCH_KIND","value":"1"}]`
		f := judge("project.json", "/v1/projects/{id}", `{"team":[{"person":{"personId":"1","identifiers":`+identifiers+`}}],
			"funded":[{"by":{"id":"1","name":[],"identifiers":`+identifiers+`}}]}`)
		Expect(ofKind(f, evidence.FindingEnum)).To(BeEmpty())
		By("under the declared name a person has one, an organisation many")
		f = judge("project.json", "/v1/projects/{id}", `{"team":[{"person":{"personId":"1","identifier":`+identifiers+`}}],
			"funded":[{"by":{"id":"1","name":[],"identifier":`+identifiers+`}}]}`)
		Expect(f.Findings).To(ContainElements(
			And(HaveField("Path", "$.team[0].person.identifier"), HaveField("Expected", "object"), HaveField("Got", "array"), HaveField("Erratum", "")),
			And(HaveField("Path", "$.funded[0].by.identifier[0].type"), HaveField("Kind", evidence.FindingEnum)),
		))
		By("the funding and orgUnit documents say identifiers")
		f = judge("funding.json", "/v1/fundings/{id}", `{"identifiers":`+identifiers+`,"funder":[{"funder":{"identifiers":`+identifiers+`}}]}`)
		Expect(ofKind(f, evidence.FindingEnum)).To(HaveExactElements(
			HaveField("Path", "$.funder[0].funder.identifiers[0].type"), HaveField("Path", "$.identifiers[0].type")))
		f = judge("orgUnit.json", "/v1/orgUnits/organigram", `{"identifiers":`+identifiers+`}`)
		Expect(ofKind(f, evidence.FindingEnum)).To(HaveExactElements(HaveField("Path", "$.identifiers[0].type")))
	})

	It("M6, M7, M9: sample data breaks types, nulls and dates", func() {
		f := judge("project.json", "/v1/projects/{id}", `{"startDate":null,"endDate":"2027-11-31",
			"team":[{"person":{"electronicAddress":"a@b.example","personName":{"familyName":"X","firstName":"Y"}}}],
			"funded":[{"by":{"name":{"text":"N"}}}]}`)
		Expect(f.Findings).To(ContainElements(
			And(HaveField("Path", "$.startDate"), HaveField("Kind", evidence.FindingType), HaveField("Got", "null")),
			And(HaveField("Path", "$.endDate"), HaveField("Kind", evidence.FindingFormat), HaveField("Got", `"2027-11-31"`)),
			And(HaveField("Path", "$.team[0].person.electronicAddress"), HaveField("Expected", "array"), HaveField("Got", "string")),
			And(HaveField("Path", "$.team[0].person.personName.familyName"), HaveField("Got", "string")),
			And(HaveField("Path", "$.funded[0].by.name"), HaveField("Expected", "array"), HaveField("Got", "object")),
		))
		all, err := json.Marshal(f)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(all)).NotTo(ContainSubstring("a@b.example"))
	})

	It("M8: by and as in two elements fit as well as in one, and each is judged", func() {
		incomplete := []string{"$.funded[0].by.id", "$.funded[0].by.name"}
		for funded, as := range map[string]string{`[{"by":{}},{"as":{}}]`: "$.funded[1].as.", `[{"by":{},"as":{}}]`: "$.funded[0].as."} {
			var paths []string
			for _, found := range judge("project.json", "/v1/projects/{id}", `{"funded":`+funded+`}`).Findings {
				if strings.HasPrefix(found.Path, "$.funded") {
					paths = append(paths, found.Path)
				}
			}
			Expect(paths).To(ConsistOf(append([]string{as + "id", as + "name", as + "type"}, incomplete...)), funded)
		}
	})

	It("M10: the name of an organisation's type and its required members differ between the documents", func() {
		const unit = `{"id":"1","name":[],"type":"NO_SUCH_KIND","orgUnitType":"NO_SUCH_KIND"}`
		found := func(f evidence.SchemaFindings, below string) (paths []string) {
			for _, found := range f.Findings {
				if rest, ok := strings.CutPrefix(found.Path, below); ok {
					paths = append(paths, string(found.Kind)+" "+rest)
				}
			}
			return paths
		}
		Expect(found(judge("funding.json", "/v1/fundings/{id}", `{"funder":[{"funder":`+unit+`}]}`), "$.funder[0].funder.")).To(
			ConsistOf("enum orgUnitType", "required website"))
		Expect(found(judge("project.json", "/v1/projects/{id}", `{"funded":[{"by":`+unit+`}]}`), "$.funded[0].by.")).To(
			ConsistOf("enum type"))
		Expect(found(judge("orgUnit.json", "/v1/orgUnits/organigram", unit), "$.")).To(
			ConsistOf("enum type", "required level", "required startDate"))
	})

	It("M11: the vocabulary of endpoints lacks PROJECTS", func() {
		f := judge("info.json", "/v1/info", `{"endpoints":{"project":[{"name":"PROJECTS"}]}}`)
		Expect(f.Findings).To(HaveExactElements(
			And(HaveField("Path", "$.endpoints.project[0].name"), HaveField("Kind", evidence.FindingEnum), HaveField("Erratum", ""))))
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

	It("M14: no list has paging parameters, and only fundings has filters", func() {
		names := func(document, path string) []string {
			_, parsed := read(document)
			var names []string
			for _, p := range operationAt(parsed, path).Parameters {
				names = append(names, p.In+" "+p.Name)
			}
			return names
		}
		Expect(names("funding.json", "/v1/fundings")).To(ConsistOf("query fundingType", "query targetGroup", "query runningCalls",
			"query region", "query funderId", "query applicantsScope"))
		Expect(names("project.json", "/v1/projects")).To(BeEmpty())
		Expect(names("orgUnit.json", "/v1/orgUnits/organigram")).To(BeEmpty())
	})

	It("M15: a stage without an end breaks the document", func() {
		f := judge("funding.json", "/v1/fundings", `[{"type":"CALL","callStages":[{"number":"1","callStageStart":"2026-01-01T00:00:00Z"}]}]`)
		Expect(f.Findings).To(ContainElement(And(HaveField("Path", "$[0].callStages[0].callStageEnd"), HaveField("Kind", evidence.FindingRequired))))
	})

	It("M16, M17, M23: no document describes the answers 401, 404 and 500", func() {
		for name, path := range map[string]string{"funding.json": "/v1/fundings/{id}", "orgUnit.json": "/v1/orgUnits/organigram", "info.json": "/v1/info"} {
			guarded, parsed := read(name)
			j, err := validate.NewJudge(guarded)
			Expect(err).NotTo(HaveOccurred())
			for _, status := range []int{401, 404, 500} {
				f := j.Annotate(answer(status, "application/json", `{"error":"x"}`), operationAt(parsed, path))
				Expect(f.Judged).To(BeFalse())
				Expect(f.Findings).To(HaveExactElements(And(HaveField("Kind", evidence.FindingStatus), HaveField("Expected", "200"), HaveField("Got", strconv.Itoa(status)))), name)
			}
		}
	})

	It("M18: an organisation by id, which nodes advertise and serve, is not a described operation", func() {
		_, parsed := read("orgUnit.json")
		for _, op := range parsed.Operations {
			Expect(op.TemplateParameters()).To(BeEmpty())
		}
	})

	It("M19: the description of the filter says international, its vocabulary regional, and data is judged by the vocabulary", func() {
		_, parsed := read("funding.json")
		op := operationAt(parsed, "/v1/fundings")
		scope := slices.IndexFunc(op.Parameters, func(p openapi.Parameter) bool { return p.Name == "applicantsScope" })
		Expect(op.Parameters[scope].Schema.Enum).To(Equal([]string{"NATIONAL", "REGIONAL"}))
		raw, _ := parsed.Raw(op.Pointer + "/parameters/5/description")
		Expect(raw).To(ContainSubstring("Nationale oder internationale"))
		f := judge("funding.json", "/v1/fundings", `[{"type":"CALL","eligibleApplicantsScope":"INTERNATIONAL"},{"type":"CALL","eligibleApplicantsScope":"REGIONAL"}]`)
		Expect(ofKind(f, evidence.FindingEnum)).To(HaveExactElements(
			And(HaveField("Path", "$[0].eligibleApplicantsScope"), HaveField("Erratum", ""))))
	})

	It("M20: minLength does not apply to an array, so a unit without a name fits; orgUnitType has no value for a funder", func() {
		f := judge("orgUnit.json", "/v1/orgUnits/organigram", `{"id":"1","level":"LEVEL_1","startDate":"2026-01-01","type":"UNIT","name":[]}`)
		Expect(f.Judged).To(BeTrue())
		Expect(f.Findings).To(BeEmpty())
		f = judge("funding.json", "/v1/fundings/{id}", `{"funder":[{"funder":{"orgUnitType":"FUNDER"}}]}`)
		Expect(ofKind(f, evidence.FindingEnum)).To(HaveExactElements(
			And(HaveField("Path", "$.funder[0].funder.orgUnitType"), HaveField("Erratum", ""))))
	})

	It("M22: each document has version 1.0 and its own server, with a capital letter in orgUnit", func() {
		for _, family := range []string{"funding", "project", "orgUnit", "info"} {
			_, parsed := read(family + ".json")
			Expect(parsed.APIVersion).To(Equal("1.0"))
			Expect(parsed.Servers).To(HaveExactElements(HaveSuffix("/ris-synergy/" + family)))
		}
	})
})
