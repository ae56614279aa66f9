package mockapi_test

import (
	"net/http"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
)

const linksAPI = `
openapi: 3.0.3
info: {title: Ships, version: "1"}
servers:
  - {url: 'https://{place}.ships.example/ris-synergy/fleet', variables: {place: {default: www}}}
  - {url: 'https://www.ships.example'}
  - {url: '/relative'}
paths:
  /ships:
    get:
      parameters:
        - {name: page, in: query, schema: {type: integer, minimum: 1}}
        - {name: size, in: query, schema: {type: integer, minimum: 1, default: 3}}
        - {name: kind, in: query, schema: {type: string}}
      responses:
        "200":
          description: ok
          headers: {Link: {schema: {type: string}}}
          content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Ship'}}}}
  /crews:
    get:
      parameters:
        - {name: offset, in: query, schema: {type: integer}}
        - {name: limit, in: query, schema: {type: integer, default: 3}}
      responses:
        "200": {description: ok, content: {application/json: {schema: {type: object, required: [items], properties: {next: {type: string, format: uri, nullable: true}, items: {type: array, items: {$ref: '#/components/schemas/Ship'}}}}}}}
  /flag:
    get:
      responses:
        "200":
          description: ok
          headers: {Content-Location: {example: 'https://www.ships.example/ris-synergy/fleet/flag', schema: {type: string}}}
          content:
            application/json:
              schema: {type: object, properties: {self: {type: string}, other: {type: string}, near: {type: string}, top: {type: string}}}
              example: {self: 'https://www.ships.example/ris-synergy/fleet/flag?a=1&b=2', other: 'https://www.ships.example.evil/x', near: 'https://www.ships.example/ris-synergy/fleets', top: 'https://www.ships.example'}
  /fixed:
    get:
      responses:
        "200": {description: ok, content: {application/json: {schema: {type: object, required: [home], properties: {home: {type: string, enum: ['https://www.ships.example/']}}}}}}
components:
  schemas:
    Ship: {type: object, required: [id, name], properties: {id: {type: string, format: uuid}, name: {type: string}}}
`

var _ = Describe("Links of a described API", func() {
	var n node
	BeforeEach(func() { n = serve(sandbox.APIConfig{File: documentFile(linksAPI), Items: 7}) })

	It("lead to the sandbox, not to the servers of the document", func() {
		got := n.get("/fleet/flag")
		base := n.origin + tryOut
		Expect(got.object()).To(Equal(map[string]any{"self": base + "/fleet/flag?a=1&b=2", "other": "https://www.ships.example.evil/x", "near": base + "/ris-synergy/fleets", "top": base}))
		Expect(got.header.Get("Content-Location")).To(Equal(base + "/fleet/flag"))
		Expect(n.get("/fleet/flag", "Prefer", "code=200").object()).To(HaveKeyWithValue("self", HavePrefix(base)))
	})

	It("stay where the document asks for them", func() {
		Expect(n.get("/fleet/fixed").object()).To(HaveKeyWithValue("home", "https://www.ships.example/"))
	})

	DescribeTable("lead through all pages of a list", func(path string, next func(exchange) string) {
		seen, target := 0, path
		for pages := 1; target != ""; pages++ {
			Expect(pages).To(BeNumerically("<=", 3))
			got := n.get(target)
			Expect(got.status).To(Equal(http.StatusOK), string(got.body))
			seen += strings.Count(string(got.body), `"id"`)
			link := next(got)
			if target = ""; link != "" {
				Expect(link).To(HavePrefix(n.origin + tryOut))
				target = strings.TrimPrefix(link, n.origin+tryOut)
			}
		}
		Expect(seen).To(Equal(7))
	},
		Entry("by the Link header", "/fleet/ships?unknown=1", func(e exchange) string {
			match := regexp.MustCompile(`<([^>]*)>; rel="next"`).FindStringSubmatch(e.header.Get("Link"))
			if match == nil {
				return ""
			}
			return match[1]
		}),
		Entry("by a member of the envelope", "/fleet/crews?limit=3", func(e exchange) string {
			next, _ := e.object()["next"].(string)
			return next
		}),
	)

	It("keep the other parameters of a request", func() {
		link := n.get("/fleet/ships?size=2&kind=a%2Cb<c&page=2&unknown=1").header.Get("Link")
		Expect(link).To(SatisfyAll(ContainSubstring("/fleet/ships?kind=a%2Cb%3Cc&size=2&page=1>; rel=\"prev\""), Not(ContainSubstring("unknown"))))
	})
})
