//go:build unix

package conformance_test

import (
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance"
	"github.com/rin-network/rin/conformance/conformancetest"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/target"
)

// collections are the lists of a node with thirty operations: each has a detail.
const collections = 15

// second is the token of the client without the role.
const second = "another-token-of-this-node-9876543210"

// broadNode is a node with thirty operations. hole reports whether a call of a path gets data although it should not. opened tells whether the same URL was
// answered to a call with a good token before.
type broadNode struct {
	hole     func(path string, r *http.Request, opened bool) bool
	document string // in place of its own
	access   string // the beginning of good tokens, in place of accessToken
	tokens   conformancetest.Issuer
	mu       sync.Mutex
	opened   map[string]bool
}

func (n *broadNode) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimSuffix(r.URL.Path, "/")
	w.Header().Set("Cache-Control", "no-store")
	switch {
	case path == "/token":
		n.token(w, r)
		return
	case path == "/api/v1/api-docs":
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(strings.ReplaceAll(cmp.Or(n.document, broadDocument()), "ORIGIN", "http://"+r.Host)))
		return
	}
	good := n.tokens.Issued(conformancetest.BearerToken(r))
	n.mu.Lock()
	opened := n.opened[path]
	n.opened[path] = opened || good
	n.mu.Unlock()
	switch roleless := r.Header.Get("Authorization") == "Bearer "+second; {
	case good, n.hole != nil && n.hole(path, r, opened):
	case roleless && strings.HasPrefix(path, "/api/v1/fundings"):
		w.Header().Set("WWW-Authenticate", `Bearer realm="broad", error="insufficient_scope"`)
		w.WriteHeader(http.StatusForbidden)
		return
	case roleless:
	default:
		conformancetest.RefuseToken(w)
		return
	}
	n.serve(w, r, path)
}

func (n *broadNode) token(w http.ResponseWriter, r *http.Request) {
	switch r.FormValue("client_secret") {
	case secret:
		conformancetest.WriteToken(w, n.tokens.Issue(cmp.Or(n.access, accessToken)), 300)
	case "the-other-secret-0123456789":
		conformancetest.WriteToken(w, second, 300)
	default:
		conformancetest.RefuseClient(w)
	}
}

func (n *broadNode) serve(w http.ResponseWriter, r *http.Request, path string) {
	w.Header().Set("Content-Type", "application/json")
	name, id, detail := strings.Cut(strings.TrimPrefix(path, "/api/v1/"), "/")
	switch {
	case !strings.HasPrefix(path, "/api/v1/"), name == "", strings.HasPrefix(name, "."):
		w.WriteHeader(http.StatusNotFound)
	case name == "info":
		_, _ = w.Write([]byte(`{"endpoints":{}}`))
	case detail && strings.HasPrefix(id, name):
		_, _ = fmt.Fprintf(w, `{"id":%q,"title":"one of %s"}`, id, name)
	case detail:
		w.WriteHeader(http.StatusNotFound)
	default:
		_, _ = fmt.Fprintf(w, `[{"id":"%s-1"},{"id":"%s-2"},{"id":"%s-3"}]`, name, name, name)
	}
}

func collection(i int) string {
	if i == 0 {
		return "fundings"
	}
	return fmt.Sprintf("things%d", i)
}

// broadDocument describes fifteen lists and their details.
func broadDocument() string {
	const item = `{"type":"object","required":["id"],"properties":{"id":{"type":"string"}}}`
	const refusals = `"401":{"description":"no"},"403":{"description":"no"},"404":{"description":"none"}`
	answer := func(schema string) string {
		return `"responses":{"200":{"description":"ok","content":{"application/json":{"schema":` + schema + `}}},` + refusals + `}`
	}
	var paths []string
	for i := range collections {
		name := collection(i)
		paths = append(paths,
			fmt.Sprintf(`"/%s":{"get":{"operationId":"list-%s",%s}}`, name, name, answer(`{"type":"array","items":`+item+`}`)),
			fmt.Sprintf(`"/%s/{id}":{"get":{"operationId":"get-%s","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],%s}}`, name, name, answer(item)))
	}
	return `{"openapi":"3.0.3","info":{"title":"Broad","version":"1"},"servers":[{"url":"/api/v1"}],` +
		`"security":[{"bearer":[]}],"components":{"securitySchemes":{"bearer":{"type":"http","scheme":"bearer"}}},"paths":{` + strings.Join(paths, ",") + `}}`
}

// swaggerDocument describes two lists and their details in Swagger 2.0.
func swaggerDocument() string {
	const refusals = `"401":{"description":"no"},"403":{"description":"no"},"404":{"description":"none"}`
	var paths []string
	for i := range 2 {
		name := collection(i)
		paths = append(paths,
			fmt.Sprintf(`"/%s":{"get":{"operationId":"list-%s","parameters":[{"name":"limit","in":"query","type":"integer","minimum":1}],"responses":{"200":{"description":"ok","schema":{"type":"array","items":{"$ref":"#/definitions/Item"}}},%s}}}`, name, name, refusals),
			fmt.Sprintf(`"/%s/{id}":{"get":{"operationId":"get-%s","parameters":[{"name":"id","in":"path","required":true,"type":"string"}],"responses":{"200":{"description":"ok","schema":{"$ref":"#/definitions/Item"}},%s}}}`, name, name, refusals))
	}
	return `{"swagger":"2.0","info":{"title":"Broad","version":"1"},"basePath":"/api/v1","produces":["application/json"],` +
		`"security":[{"token":[]}],"securityDefinitions":{"token":{"type":"oauth2","flow":"application","tokenUrl":"ORIGIN/token","scopes":{}}},` +
		`"definitions":{"Item":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"title":{"type":"string","maxLength":40}}}},` +
		`"paths":{` + strings.Join(paths, ",") + `}}`
}

// judged certifies a broad node with a hole.
func judged(hole func(path string, r *http.Request, opened bool) bool) map[requirement.ID]report.Requirement {
	GinkgoHelper()
	return certified(&broadNode{hole: hole, opened: map[string]bool{}}, 2*collections)
}

// certified certifies a broad node whose document describes that number of operations.
func certified(n *broadNode, operations int) map[requirement.ID]report.Requirement {
	GinkgoHelper()
	return byID(certifiedRun(n, operations).Report)
}

func byID(r report.Report) map[requirement.ID]report.Requirement {
	out := map[requirement.ID]report.Requirement{}
	for _, row := range r.Requirements {
		out[row.ID] = row
	}
	return out
}

// certifiedRun is like [certified], but returns the evidence, too. change may change the target.
func certifiedRun(n *broadNode, operations int, change ...func(*target.Target)) conformance.Result {
	GinkgoHelper()
	node := httptest.NewServer(n)
	DeferCleanup(node.Close)
	at := target.Target{
		TokenURL: node.URL + "/token", InfoURL: node.URL + "/api/v1/info", SpecURL: node.URL + "/api/v1/api-docs", BaseURL: node.URL + "/api/v1",
		Profile: "funding", Credentials: target.Credentials{ClientID: "client", ClientSecret: target.NewSecret(secret)},
		Second: &target.Credentials{ClientID: "roleless", ClientSecret: target.NewSecret("the-other-secret-0123456789")},
	}
	for _, c := range change {
		c(&at)
	}
	result, err := certify(at, conformance.Options{})
	Expect(err).NotTo(HaveOccurred())
	Expect(result.Log.Ended.Complete).To(BeTrue())
	Expect(result.Log.Ended.Requests).To(BeNumerically("<=", result.Log.Run.Budget))
	Expect(result.Log.Roles.Operations).To(HaveLen(operations))
	return result
}

var _ = Describe("A node with thirty operations", func() {
	It("passes if it protects all of them", func() {
		found := judged(nil)
		for _, id := range []requirement.ID{"API-01", "API-02", "API-08", "BRR-01", "BRR-18"} {
			Expect(found[id].Outcome).To(Equal(requirement.Pass), "%s: %s", id, found[id].Reason)
		}
	})

	It("gets a warning if a detail operation accepts the good token under another scheme", func() {
		n := &broadNode{opened: map[string]bool{}}
		n.hole = func(path string, r *http.Request, _ bool) bool {
			_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
			return strings.HasPrefix(path, "/api/v1/things11/") && n.tokens.Issued(strings.TrimSpace(token))
		}
		found := certified(n, 2*collections)
		Expect(found["API-08"].Outcome).To(Equal(requirement.Warn), found["API-08"].Reason)
	})

	It("fails if it checks the role on the list of fundings, but not on the detail operation", func() {
		found := judged(func(path string, r *http.Request, _ bool) bool {
			return strings.HasPrefix(path, "/api/v1/fundings/") && conformancetest.BearerToken(r) == second
		})
		Expect(found["BRR-18"].Outcome).To(Equal(requirement.Fail))
		Expect(found["BRR-18"].Reason).To(ContainSubstring("GET /fundings/{id}"))
		Expect(found["API-08"].Outcome).To(Equal(requirement.Pass), found["API-08"].Reason)
	})
})

var _ = Describe("A node that describes itself in Swagger 2.0", func() {
	It("is judged like any other, and a note names the version", func() {
		found := certified(&broadNode{document: swaggerDocument(), opened: map[string]bool{}}, 4)
		Expect(found["SPC-03"].Notes).To(ContainElement(ContainSubstring("Swagger 2.0")))
		for _, r := range found {
			if group := r.ID.Group(); group == "SPC" || group == "API" {
				Expect(r.Outcome).To(BeElementOf(requirement.Pass, requirement.NotApplicable), "%s: %s (%s)", r.ID, r.Reason, r.Got)
			}
		}
		for _, id := range []requirement.ID{"SPC-01", "SPC-05", "SPC-07", "SPC-09", "SPC-10", "API-01", "API-02", "API-03", "API-04", "API-05", "API-08"} {
			Expect(found[id].Outcome).To(Equal(requirement.Pass), "%s: %s", id, found[id].Reason)
		}
	})

	It("is compared with its schemas and the meta-schema of its version", func() {
		wrong := strings.NewReplacer(`"title":{"type":"string","maxLength":40}`, `"title":{"type":"integer"}`, `"description":"ok",`, ``).Replace(swaggerDocument())
		found := certified(&broadNode{document: wrong, opened: map[string]bool{}}, 4)
		Expect(found["API-05"].Outcome).To(Equal(requirement.Fail))
		Expect(found["SPC-07"].Outcome).To(Equal(requirement.Fail))
		Expect(found["SPC-07"].Reason).To(ContainSubstring("Swagger 2.0"))
	})
})
