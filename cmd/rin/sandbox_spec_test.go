package main_test

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"
)

// thingsAPI is a document with a list, its detail, and a part that cannot be served.
const thingsAPI = `openapi: 3.0.3
info: {title: Things, version: 1.0.0}
servers: [{url: 'https://things.example/ris-synergy/things'}]
paths:
  /v1/things:
    get:
      operationId: listThings
      responses:
        '200': {description: ok, content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Thing'}}}}}
        '401': {description: no token}
        '403': {description: no role}
  /v1/things/{id}:
    get:
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      responses:
        '200': {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/Thing'}}}}
        '401': {description: no token}
        '403': {description: no role}
        '404': {description: no such thing}
  /v1/never:
    get:
      responses:
        '200': {description: ok, content: {application/json: {schema: {type: integer, minimum: 5, maximum: 4}}}}
components:
  schemas:
    Thing: {type: object, required: [id, name], properties: {id: {type: string, format: uuid}, name: {type: string}}}
`

// callsAPI is a document of funding calls. The word PARAMETERS is replaced by the parameters of the list.
const callsAPI = `openapi: 3.0.3
info: {title: Calls, version: 1.0.0}
servers: [{url: 'https://calls.example/ris-synergy/funding'}]
paths:
  /v1/fundings:
    get:
      operationId: listFundings
      parameters: [PARAMETERS]
      security: [{oauth: []}]
      responses:
        '200': {description: ok, content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Call'}}}}}
        default: {description: refused, content: {application/problem+json: {schema: {type: object}}}}
  /v1/fundings/{id}:
    get:
      operationId: getFunding
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      security: [{oauth: []}]
      responses:
        '200': {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/Call'}}}}
        default: {description: refused, content: {application/problem+json: {schema: {type: object}}}}
components:
  securitySchemes: {oauth: {type: oauth2, flows: {clientCredentials: {tokenUrl: 'https://calls.example/oauth/token', scopes: {}}}}}
  schemas:
    Type: {type: string, enum: [CALL, PROGRAMME, PRIZE]}
    Call: {type: object, required: [id, name, type], properties: {id: {type: string, format: uuid}, name: {type: string}, type: {$ref: '#/components/schemas/Type'}}}
`

// served starts a sandbox with flags and returns its base URL.
func served(flags ...string) (*gexec.Session, string) {
	GinkgoHelper()
	session, err := gexec.Start(exec.Command(binary, append([]string{"sandbox", "--addr", "127.0.0.1:0"}, flags...)...), nil, nil)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { session.Kill().Wait("10s") })
	Eventually(session.Out, "20s").Should(gbytes.Say(`listening on`))
	Eventually(session.Out, "20s").Should(gbytes.Say(`TOKEN=`))
	return session, regexp.MustCompile(`http://\S+`).FindString(string(session.Out.Contents()))
}

// get sends a GET and returns the status and the body of the answer.
func get(address string) (int, string) {
	GinkgoHelper()
	answer, err := http.Get(address)
	Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	Expect(err).NotTo(HaveOccurred())
	return answer.StatusCode, string(text)
}

var _ = Describe("rin sandbox --spec", func() {
	var file string
	BeforeEach(func() {
		file = filepath.Join(GinkgoT().TempDir(), "things.yaml")
		Expect(os.WriteFile(file, []byte(thingsAPI), 0o600)).To(Succeed())
	})

	It("serves the API, prints its URLs, and warns of parts that cannot be served", func() {
		session, base := served("--spec", file, "--items", "7")
		Expect(string(session.Out.Contents())).To(MatchRegexp(`API document +` + base + `/ris-synergy/things/v1/api-docs \(2 operations\)`))
		Eventually(session.Err, "10s").Should(gbytes.Say(`1 part of .*things.yaml cannot be served:\n  - GET /v1/never: line 23,(.*\n)+hint: `))

		status, list := get(base + "/ris-synergy/try-out/things/v1/things")
		Expect(status).To(Equal(http.StatusOK), list)
		ids := regexp.MustCompile(`"id":"([^"]+)"`).FindAllStringSubmatch(list, -1)
		Expect(ids).To(HaveLen(7))
		status, thing := get(base + "/ris-synergy/try-out/things/v1/things/" + ids[3][1])
		Expect(status).To(Equal(http.StatusOK))
		Expect(list).To(ContainSubstring(thing))
		status, _ = get(base + "/ris-synergy/things/v1/things")
		Expect(status).To(Equal(http.StatusUnauthorized))

		_, secondBase := served("--spec", file, "--items", "7")
		_, same := get(secondBase + "/ris-synergy/try-out/things/v1/things")
		Expect(same).To(Equal(list), "the same seed gives the same data after any restart")
	})

	It("shows the examples of the document, unless --examples ignore", func() {
		const example = "schema: {$ref: '#/components/schemas/Thing'}, example: {id: 3b241101-e2bb-4255-8caf-4136c566a962, name: a red thing}}}}"
		Expect(os.WriteFile(file, []byte(strings.Replace(thingsAPI, "schema: {$ref: '#/components/schemas/Thing'}}}}", example, 1)), 0o600)).To(Succeed())
		for flag, shown := range map[string]bool{"prefer": true, "ignore": false} {
			_, base := served("--spec", file, "--examples", flag)
			_, list := get(base + "/ris-synergy/try-out/things/v1/things")
			Expect(strings.Contains(list, "a red thing")).To(Equal(shown), flag)
		}
	})

	It("keeps what clients change with --state, until rin sandbox reset", func() {
		const post = "    post: {responses: {'201': {description: made, content: {application/json: {schema: {$ref: '#/components/schemas/Thing'}}}}}}\n  /v1/things/{id}:"
		Expect(os.WriteFile(file, []byte(strings.Replace(thingsAPI, "  /v1/things/{id}:", post, 1)), 0o600)).To(Succeed())
		session, base := served("--spec", file, "--state", "--items", "2")
		control := regexp.MustCompile(`control +(http://\S+)`).FindStringSubmatch(string(session.Out.Contents()))[1]
		answer, err := http.Post(base+"/ris-synergy/try-out/things/v1/things", "application/json", nil)
		Expect(err).NotTo(HaveOccurred())
		Expect(answer.Body.Close()).To(Succeed())
		Expect(answer.StatusCode).To(Equal(http.StatusCreated))
		status, _ := get(answer.Header.Get("Location"))
		Expect(status).To(Equal(http.StatusOK))
		reset := rin(nil, "sandbox", "reset", "--control", control)
		Expect(reset.code).To(Equal(0), reset.err)
		status, _ = get(answer.Header.Get("Location"))
		Expect(status).To(Equal(http.StatusNotFound))
	})

	It("reloads a changed file, and keeps the old one if the new one is bad", func() {
		session, base := served("--spec", file, "--open", "--control", "127.0.0.1:0")
		control := regexp.MustCompile(`control +(http://\S+)`).FindStringSubmatch(string(session.Out.Contents()))[1]
		Expect(rin(nil, "sandbox", "status", "--control", control).out).To(SatisfyAll(
			ContainSubstring("serves "+file+": 2 operations"), MatchRegexp(`not served:\n +- GET /v1/never: line 23,`), Not(ContainSubstring("has changed"))))
		// change rewrites the file, and waits until the sandbox looks at it again.
		change := func(text string) {
			GinkgoHelper()
			Expect(os.WriteFile(file, []byte(text), 0o600)).To(Succeed())
			Expect(rin(nil, "sandbox", "clock", "+2s", "--control", control).code).To(Equal(0))
		}
		change(strings.ReplaceAll(thingsAPI, "/v1/never", "/v1/new") + "  broken: [\n")
		_, _ = get(base + "/ris-synergy/things/v1/things")
		Eventually(func() string { return string(session.Err.Contents()) }, "10s").Should(SatisfyAll(ContainSubstring("cannot be served; the previous one is still served"), ContainSubstring("line 2")))
		Expect(rin(nil, "sandbox", "status", "--control", control).out).To(MatchRegexp(`the newest version of the file is not served:\n +\S`))
		status, _ := get(base + "/ris-synergy/things/v1/never")
		Expect(status).To(Equal(http.StatusNotImplemented))
		change(strings.ReplaceAll(thingsAPI, "/v1/never", "/v1/new"))
		status, _ = get(base + "/ris-synergy/things/v1/new")
		Expect(status).To(Equal(http.StatusNotImplemented))
	})

	It("is certified for the profile auth, by the document that it publishes", func() {
		session, base := served("--spec", file)
		found := regexp.MustCompile(`client  (\S+) .*\n  secret  (\S+)`).FindAllStringSubmatch(string(session.Out.Contents()), 2)
		got := rin([]string{"SECRET=" + found[0][2], "OTHER=" + found[1][2]}, "certify", "--profile", "auth", "--token-url", base+"/oauth/token",
			"--info-url", base+"/ris-synergy/info/v1/oauth/info/", "--spec-url", base+"/ris-synergy/things/v1/api-docs", "--base-url", base,
			"--client-id", found[0][1], "--client-secret", "env:SECRET", "--client-id2", found[1][1], "--client-secret2", "env:OTHER")
		Expect(got.code).To(Equal(0), got.out+got.err)
	})

	DescribeTable("is certified for the profile funding where the document requires", func(parameters string) {
		Expect(os.WriteFile(file, []byte(strings.Replace(callsAPI, "PARAMETERS", parameters, 1)), 0o600)).To(Succeed())
		session, base := served("--spec", file, "--items", "30")
		found := regexp.MustCompile(`client  (\S+) .*\n  secret  (\S+)`).FindAllStringSubmatch(string(session.Out.Contents()), 2)
		got := rin([]string{"SECRET=" + found[0][2]}, "certify", "--token-url", base+"/oauth/token",
			"--info-url", base+"/ris-synergy/info/v1/oauth/info/", "--spec-url", base+"/ris-synergy/funding/v1/api-docs",
			"--client-id", found[0][1], "--client-secret", "env:SECRET")
		Expect(got.code).To(Equal(0), got.out+got.err)
		Expect(got.out).NotTo(MatchRegexp(`! (API-0[134]|PAG)`))
	},
		Entry("nothing", `{name: type, in: query, schema: {$ref: '#/components/schemas/Type'}}`),
		Entry("a filter", `{name: type, in: query, required: true, schema: {$ref: '#/components/schemas/Type'}}`),
		Entry("pages from 0", `{name: page, in: query, required: true, schema: {type: integer, minimum: 0}}, {name: size, in: query, required: true, schema: {type: integer, minimum: 1}}`),
		Entry("pages from 1", `{name: page, in: query, required: true, schema: {type: integer, minimum: 1}}, {name: pageSize, in: query, required: true, schema: {type: integer, minimum: 1, maximum: 20}}`),
		Entry("pages with a default", `{name: page, in: query, required: true, schema: {type: integer, default: 0}}`),
		Entry("an offset", `{name: offset, in: query, required: true, schema: {type: integer}}, {name: limit, in: query, required: true, schema: {type: integer}}`),
		Entry("pages of listed sizes", `{name: page, in: query, schema: {type: integer, minimum: 1}}, {name: pageSize, in: query, required: true, schema: {type: integer, enum: [5, 10]}}`),
		Entry("a filter and pages", `{name: type, in: query, required: true, schema: {$ref: '#/components/schemas/Type'}}, {name: page, in: query, required: true, schema: {type: integer, minimum: 1}}, {name: size, in: query, required: true, schema: {type: integer, minimum: 1}}`),
	)

	DescribeTable("refuses inconsistent flags", func(text string, flags []string, message string) {
		Expect(os.WriteFile(file, []byte(text), 0o600)).To(Succeed())
		for i := range flags {
			flags[i] = strings.ReplaceAll(flags[i], "FILE", file)
		}
		got := rin(nil, append([]string{"sandbox", "--addr", "127.0.0.1:0"}, flags...)...)
		Expect(got.code).To(Equal(2), got.out)
		Expect(got.err).To(SatisfyAll(ContainSubstring(message), ContainSubstring("hint: ")))
		Expect(got.out).To(BeEmpty())
	},
		Entry("a document that cannot be parsed", "openapi: 3.0.3\npaths: [\n", []string{"--spec", "FILE"}, "line 2"),
		Entry("nothing in it can be served", "openapi: 3.0.3\npaths:\n  /a:\n    get: {}\n", []string{"--spec", "FILE"}, "GET /a: line 4, #/paths/~1a/get/responses: expected an object"),
		Entry("no file", "", []string{"--spec", "FILE.missing"}, "no such file"),
		Entry("a flag that needs --spec", "", []string{"--lists", "array"}, "--spec FILE"),
		Entry("too many items", thingsAPI, []string{"--spec", "FILE", "--items", "100000"}, "at most 10000"),
		Entry("unknown examples", thingsAPI, []string{"--spec", "FILE", "--examples", "all"}, "prefer ignore"),
		Entry("unknown lists", thingsAPI, []string{"--spec", "FILE", "--lists", "arrays"}, "as-declared array"),
	)
})
