package mockapi_test

import (
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
)

const requiredAPI = `
openapi: 3.1.0
info: {title: Harbour, version: "1"}
paths:
  /docks/{dock}/ships:
    get: {responses: {"200": {description: ok, content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Ship'}}}}}}}
    post: {responses: {"201": {description: made, headers: {Location: {schema: {type: string, format: uri}}}, content: {application/json: {schema: {$ref: '#/components/schemas/Ship'}}}}}}
  /docks/{dock}/ships/{shipId}:
    get: {responses: {"200": {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/Ship'}}}}}}
  /ports/{port}:
    get: {responses: {"200": {description: ok, content: {application/json: {schema: {type: object}}}}}}
  /ports/{port}/flag:
    put: {responses: {"303": {description: see the ship}}}
  /flags:
    post: {responses: {"201": {description: made}}}
  /jobs:
    post: {responses: {"202": {description: accepted, headers: {Location: {schema: {type: string}}}}}}
  /harbours:
    get: {responses: {"200": {description: ok, content: {application/json: {schema: {type: object}}}}}}
  /302: {get: {responses: {"302": {description: found, headers: {Location: {schema: {type: string}}}}}}}
  /308: {get: {responses: {"308": {description: named, headers: {Location: {example: /elsewhere, schema: {type: string}}}}}}}
  /205: {post: {responses: {"205": {description: reset, content: {application/json: {schema: {type: object}}}}}}}
  /206: {get: {responses: {"206": {description: part, content: {text/plain: {schema: {type: string}, example: ships}}}}}}
  /304: {get: {responses: {"304": {description: same}}}}
  /401: {get: {responses: {"401": {description: refused}}}}
  /404: {get: {responses: {"404": {description: none, content: {application/problem+json: {schema: {type: object}}}}}}}
  /405: {get: {responses: {"405": {description: refused}}}, post: {responses: {"204": {description: ok}}}}
  /407: {get: {responses: {"407": {description: refused}}}}
  /416: {get: {responses: {"416": {description: refused}}}}
  /426: {get: {responses: {"426": {description: refused}}}}
  /429: {get: {responses: {"429": {description: slow}}}}
  /503: {get: {responses: {"503": {description: busy}}}}
components:
  schemas:
    Ship: {type: object, required: [shipId], properties: {shipId: {type: string, format: uuid}}}
`

var _ = Describe("The answer of an operation that describes only one", func() {
	var n node
	BeforeEach(func() { n = serve(sandbox.APIConfig{File: documentFile(requiredAPI)}) })

	DescribeTable("has the header that HTTP asks for", func(method, path string, status int, field, text string) {
		got := n.request(method, path, "")
		Expect(got.status).To(Equal(status))
		Expect(got.header.Get(field)).To(Equal(text))
	},
		Entry("308, from the example of the document", "GET", "/308", 308, "Location", "/elsewhere"),
		Entry("206", "GET", "/206", 206, "Content-Range", "bytes 0-4/5"),
		Entry("304", "GET", "/304", 304, "Etag", `W/"described"`),
		Entry("401", "GET", "/401", 401, "WWW-Authenticate", `Bearer realm="sandbox"`),
		Entry("404", "GET", "/404", 404, "Content-Type", "application/problem+json"),
		Entry("405", "GET", "/405", 405, "Allow", "OPTIONS, POST"),
		Entry("407", "GET", "/407", 407, "Proxy-Authenticate", `Basic realm="sandbox"`),
		Entry("416", "GET", "/416", 416, "Content-Range", "bytes */1"),
		Entry("426", "GET", "/426", 426, "Upgrade", "HTTP/2.0"),
		Entry("429", "GET", "/429", 429, "Retry-After", "1"),
		Entry("503", "GET", "/503", 503, "Retry-After", "1"),
	)

	DescribeTable("leads to an operation of the document", func(method, path string, status int, to string) {
		got := n.request(method, path, "")
		Expect(got.status).To(Equal(status))
		Expect(got.header.Get("Location")).To(Equal(n.origin + tryOut + to))
	},
		Entry("the nearest one above", "PUT", "/ports/a%2Fb/flag", 303, "/ports/a%2Fb"),
		Entry("the first one without parameters", "GET", "/302", 302, "/harbours"),
		Entry("its own, for what was accepted", "POST", "/jobs", 202, "/jobs"),
		Entry("its own, for a thing without an id", "POST", "/flags", 201, "/flags"),
	)

	It("names what was made by its id", func() {
		got := n.request("POST", "/docks/d1/ships", "")
		Expect(got.status).To(Equal(http.StatusCreated))
		Expect(got.header.Get("Location")).To(Equal(n.origin + tryOut + "/docks/d1/ships/" + got.object()["shipId"].(string)))
	})

	It("has no content with 205", func() {
		got := n.request("POST", "/205", "")
		Expect(got.status).To(Equal(http.StatusResetContent))
		Expect(got.body).To(BeEmpty())
	})
})
