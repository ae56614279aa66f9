package vendors_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
)

// projects returns a node of the network that has no funding calls: it lists research projects. Its document has the faults of the network's
// document: it declares a list as one object, misspells a status and a level, and says nothing of errors or security. The data is right.
func projects(document string) product {
	return product{
		tokenPath: "/token", infoPath: "/info/v1/info", specPath: "/project/v1/openapi.json", basePath: "/project", profile: requirement.API,
		serve: func(origin string, b *accounts) http.Handler {
			records := projectRecords()
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				id, below := strings.CutPrefix(r.URL.Path, "/project/v1/projects")
				switch {
				case r.URL.Path == "/token":
					flaskToken(w, r, b)
				case below:
					if mayReadProjects(w, r, b) {
						answerProjects(w, strings.TrimPrefix(id, "/"), records)
					}
				case r.Method != http.MethodGet && r.Method != http.MethodHead:
					w.Header().Set("Allow", "HEAD, GET")
					flaskError(w, http.StatusMethodNotAllowed)
				case r.URL.Path == "/info/v1/info":
					if mayReadProjects(w, r, b) {
						answer(w, http.StatusOK, "application/json", map[string]any{"endpoints": map[string]any{"project": []any{
							map[string]any{"name": "PROJECTS", "majorVersion": 1, "minorVersion": 0, "url": origin + "/project/v1/projects"},
						}}})
					}
				case r.URL.Path == "/project/v1/openapi.json":
					w.Header().Set("Content-Type", "application/json")
					_, _ = w.Write([]byte(document))
				default:
					flaskError(w, http.StatusNotFound)
				}
			})
		},
	}
}

// mayReadProjects reports whether a request may read. If not, it refuses the request.
func mayReadProjects(w http.ResponseWriter, r *http.Request, b *accounts) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	id, known := b.client(token)
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		flaskError(w, http.StatusMethodNotAllowed)
	case !strings.EqualFold(scheme, "Bearer"):
		w.Header().Set("WWW-Authenticate", `Bearer realm="projects"`)
		flaskError(w, http.StatusUnauthorized)
	case !known:
		w.Header().Set("WWW-Authenticate", `Bearer realm="projects", error="invalid_token"`)
		flaskError(w, http.StatusUnauthorized)
	case id == secondClient && !strings.HasPrefix(r.URL.Path, "/info"):
		w.Header().Set("WWW-Authenticate", `Bearer realm="projects", error="insufficient_scope"`)
		flaskError(w, http.StatusForbidden)
	default:
		return true
	}
	return false
}

func answerProjects(w http.ResponseWriter, id string, records []map[string]any) {
	if id == "" {
		answer(w, http.StatusOK, "application/json", records)
		return
	}
	for _, record := range records {
		if record["id"] == id {
			answer(w, http.StatusOK, "application/json", record)
			return
		}
	}
	flaskError(w, http.StatusNotFound)
}

// projectRecords returns thirty projects that fit the published schemas, except for the words that the schemas misspell.
func projectRecords() []map[string]any {
	text := func(s string) []any { return []any{map[string]any{"lang": "en", "trans": "O", "text": s}} }
	unit := map[string]any{
		"id": "ou-7", "name": text("Institute for Quiet Cities"), "type": "UNIT", "level": "LEVEL_3", "electronicAddress": []any{"email:quiet@must.example"},
		"identifier": []any{map[string]any{"type": "ROR", "value": "https://ror.org/0quiet123"}}, "startDate": "2011-10-01T00:00:00Z",
	}
	statuses := []string{"IN_PREPARATION", "ACTIVE", "COMPLETED", "CANCELLED"}
	var out []map[string]any
	for i := range 30 {
		out = append(out, map[string]any{
			"id": fmt.Sprintf("P-%04d", 1000+7*i), "type": "RESEARCH_PROJECT", "acronym": fmt.Sprintf("QUIET%d", i), "title": text(fmt.Sprintf("Quiet Cities %d", i)),
			"status": statuses[i%len(statuses)], "startDate": fmt.Sprintf("2025-%02d-01T00:00:00Z", 1+i%12),
			"identifiers": []any{map[string]any{"type": "PROJECT_NUMBER", "value": fmt.Sprint(70000 + i)}},
			"team": []any{map[string]any{"type": "PRINCIPAL_INVESTIGATOR", "affiliation": unit, "person": map[string]any{
				"personId": fmt.Sprintf("person-%d", i), "personName": map[string]any{"familyName": []any{"Leise"}, "firstName": []any{"Ida"}}}}},
			"funded": []any{map[string]any{
				"by": unit,
				"as": map[string]any{"id": fmt.Sprintf("G-%d", i), "type": "GRANT", "name": text("Grant"), "status": "APPROVED"},
			}},
			"clinicalStudy": false,
		})
	}
	return out
}

// publishedProjects returns the network's project document if the environment names the folder with it. It is not part of this repository.
func publishedProjects() (string, bool) {
	folder := os.Getenv("RIN_PUBLISHED")
	if folder == "" {
		return "", false
	}
	text, err := os.ReadFile(filepath.Join(folder, "project.json"))
	Expect(err).NotTo(HaveOccurred())
	return string(text), true
}

var _ = Describe("A node without funding calls", func() {
	It("is certified for the profile api, with the faults of its document named", func(ctx SpecContext) {
		documents := []string{projectDocument}
		if text, given := publishedProjects(); given {
			documents = append(documents, text)
		}
		for _, document := range documents {
			found := projects(document).certify(ctx, nil)
			short, long := remarks(found)
			Expect(found.Verdict.Decision).To(Equal(verdict.Certified), long)
			Expect(found.Profile).To(BeEquivalentTo("api"))
			Expect(short).To(ContainElement("API-03 warn"), long)
			Expect(long).To(And(ContainSubstring("M1"), ContainSubstring("M3"), ContainSubstring("M4")))
		}
	})

	It("is certified for the profile api if nobody chose a profile", func(ctx SpecContext) {
		p := projects(projectDocument)
		p.profile = "none"
		found := p.certify(ctx, nil)
		_, long := remarks(found)
		Expect(found.Profile).To(BeEquivalentTo("api"))
		Expect(found.Verdict.Decision).To(Equal(verdict.Certified), long)
	})

	It("is not certified for the profile funding", func(ctx SpecContext) {
		p := projects(projectDocument)
		p.profile = requirement.Funding
		found := p.certify(ctx, nil)
		short, long := remarks(found)
		Expect(found.Verdict.Decision).To(Equal(verdict.Repeat), long)
		Expect(short).To(ContainElement("SPC-08 inconclusive"))
		Expect(long).To(ContainSubstring("the names of the described operations do not show which one lists funding calls"))
	})

	It("gets a finding for a URL of its info that does not exist", func(ctx SpecContext) {
		found := projects(projectDocument).certify(ctx, editing(exactly("/info/v1/info"), "/v1/projects", "/v2/projects"))
		Expect(failedIDs(found)).To(ConsistOf(BeEquivalentTo("INF-05"), BeEquivalentTo("INF-06")))
	})

	data := func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/project/v1/projects") }
	swap := func(old, changed string) func(http.Handler) http.Handler { return editing(data, old, changed) }
	DescribeTable("is refused for what nodes of the network got wrong", func(ctx SpecContext, wrap func(http.Handler) http.Handler, rule string) {
		found := projects(projectDocument).certify(ctx, wrap)
		_, long := remarks(found)
		Expect(found.Verdict.Decision).To(Equal(verdict.NotCertified), long)
		Expect(failedIDs(found)).To(ContainElement(BeEquivalentTo(rule)), long)
	},
		Entry("the list is one record, as the document says and no client expects", firstOnly(exactly("/project/v1/projects")), "PAG-01"),
		Entry("a status that the document does not know", swap(`"ACTIVE"`, `"RUNNING"`), "API-06"),
		Entry("identifiers of a unit as one object", swap(`"identifier":[{"type":"ROR","value":"https://ror.org/0quiet123"}]`, `"identifier":{"type":"ROR","value":"https://ror.org/0quiet123"}`), "API-05"),
		Entry("a name as one object", swap(`"name":[{"lang":"en","text":"Institute for Quiet Cities","trans":"O"}]`, `"name":{"lang":"en","text":"Institute for Quiet Cities","trans":"O"}`), "API-05"),
		Entry("names of a person as texts", swap(`"familyName":["Leise"]`, `"familyName":"Leise"`), "API-05"),
		Entry("an empty date as null", swap(`"startDate":"2025-03-01T00:00:00Z"`, `"startDate":null`), "API-05"),
		Entry("a date without a time", swap(`"startDate":"2025-03-01T00:00:00Z"`, `"startDate":"2025-03-01"`), "API-07"),
		Entry("a day that does not exist", swap(`"startDate":"2025-03-01T00:00:00Z"`, `"startDate":"2025-02-30T00:00:00Z"`), "API-07"),
		Entry("a required member is missing", swap(`"acronym":"QUIET3",`, ``), "API-04"),
		Entry("an unknown id is a server error", brokenWhereMissing(data), "PAG-09"),
		Entry("info is open, and so is the data", trusting(func(r *http.Request) bool { return r.Header.Get("Authorization") == "" }), "BRR-01"),
	)
})

// exactly returns a condition for requests with this path.
func exactly(path string) func(*http.Request) bool {
	return func(r *http.Request) bool { return strings.TrimSuffix(r.URL.Path, "/") == path }
}

// failedIDs lists the failed requirements.
func failedIDs(r report.Report) (ids []requirement.ID) {
	for _, q := range r.Requirements {
		if q.Outcome == requirement.Fail {
			ids = append(ids, q.ID)
		}
	}
	return ids
}

// firstOnly replaces a list by its first record.
func firstOnly(when func(*http.Request) bool) func(http.Handler) http.Handler {
	return replacing(when, func(status int, body []byte) (int, []byte) {
		var records []json.RawMessage
		if json.Unmarshal(body, &records) != nil {
			return status, body
		}
		return status, records[0]
	})
}

// brokenWhereMissing turns 404 into 500.
func brokenWhereMissing(when func(*http.Request) bool) func(http.Handler) http.Handler {
	return replacing(when, func(status int, body []byte) (int, []byte) {
		if status == http.StatusNotFound {
			status = http.StatusInternalServerError
		}
		return status, body
	})
}

// projectDocument declares what the network's own document declares, in fewer words.
const projectDocument = `{"openapi": "3.0.1", "info": {"title": "Projects", "version": "1.0"},
 "servers": [{"url": "https://node.example/project"}],
 "paths": {
  "/v1/projects": {"get": {"tags": ["Projects"], "operationId": "findAll",
   "responses": {"200": {"description": "Success", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Project"}}}}}}},
  "/v1/projects/{id}": {"get": {"tags": ["Projects"], "operationId": "findByKey", "parameters": [
    {"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
   "responses": {"200": {"description": "Success", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Project"}}}}}}}},
 "components": {"schemas": {
  "Project": {"type": "object", "required": ["acronym", "id", "status", "title", "type"], "properties": {
    "id": {"type": "string"}, "acronym": {"type": "string"}, "type": {"type": "string", "enum": ["RESEARCH_PROJECT", "CONTRACT_RESEARCH"]},
    "title": {"type": "array", "items": {"$ref": "#/components/schemas/Text"}}, "startDate": {"type": "string", "format": "date-time"},
    "status": {"type": "string", "enum": ["IN_PREPERATION", "ACTIVE", "COMPLETED", "CANCELLED", "REJECTED"]}, "clinicalStudy": {"type": "boolean"},
    "identifiers": {"type": "array", "items": {"$ref": "#/components/schemas/Identifier"}}, "team": {"type": "array", "items": {"$ref": "#/components/schemas/Member"}},
    "funded": {"type": "array", "items": {"type": "object", "properties": {"by": {"$ref": "#/components/schemas/OrgUnit"}, "as": {"$ref": "#/components/schemas/Funding"}}}}}},
  "Member": {"type": "object", "properties": {"type": {"type": "string"}, "person": {"$ref": "#/components/schemas/Person"}, "affiliation": {"$ref": "#/components/schemas/OrgUnit"}}},
  "Person": {"type": "object", "required": ["personId"], "properties": {"personId": {"type": "string"}, "personName": {"$ref": "#/components/schemas/PersonName"}}},
  "PersonName": {"type": "object", "properties": {"familyName": {"type": "array", "items": {"type": "string"}}, "firstName": {"type": "array", "items": {"type": "string"}}}},
  "OrgUnit": {"type": "object", "required": ["id", "name"], "properties": {"id": {"type": "string"}, "name": {"type": "array", "items": {"$ref": "#/components/schemas/Text"}},
    "type": {"type": "string"}, "level": {"type": "string", "enum": ["LEVEL_1", "LEVEL_2", "Level_3"]}, "electronicAddress": {"type": "array", "items": {"type": "string"}},
    "identifier": {"type": "array", "items": {"$ref": "#/components/schemas/Identifier"}}, "startDate": {"type": "string", "format": "date-time"}}},
  "Funding": {"type": "object", "required": ["id", "name", "type"], "properties": {"id": {"type": "string"}, "type": {"type": "string", "enum": ["CALL", "GRANT", "AWARD"]},
    "status": {"type": "string", "enum": ["APPLIED", "REJECTED", "APPROVED", "WITHDRAWN"]}, "name": {"type": "array", "items": {"$ref": "#/components/schemas/Text"}}}},
  "Identifier": {"type": "object", "properties": {"type": {"type": "string", "enum": ["PROJECT_NUMBER", "ORCID", "ROR"]}, "value": {"type": "string"}}},
  "Text": {"type": "object", "required": ["lang", "text", "trans"], "properties": {"lang": {"type": "string"}, "text": {"type": "string"}, "trans": {"type": "string", "enum": ["O", "H", "M"]}}}}}}`
