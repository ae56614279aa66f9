package spec_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	validation "github.com/pb33f/libopenapi-validator/errors"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/spec/testdata/validators"
)

// validatedNode is a sandbox, and both validators with a document that it serves.
type validatedNode struct {
	url      string
	node     *sandbox.Server
	document []byte
	validators.Validators
}

// newValidatedNode starts a sandbox and gives the validators its document at the path.
func newValidatedNode(path string, c sandbox.Config) validatedNode {
	GinkgoHelper()
	node, err := sandbox.New(c)
	Expect(err).NotTo(HaveOccurred())
	server := httptest.NewServer(node)
	DeferCleanup(server.Close)
	b := validatedNode{url: server.URL, node: node}
	b.document = b.get(path, nil).body

	b.Validators, err = validators.Load(b.document)
	Expect(err).NotTo(HaveOccurred())
	return b
}

// exchange is a request with its answer.
type exchange struct {
	request  *http.Request
	response *http.Response
	body     []byte
}

func (b validatedNode) get(path string, header http.Header) exchange {
	GinkgoHelper()
	request, err := http.NewRequest(http.MethodGet, b.url+path, nil)
	Expect(err).NotTo(HaveOccurred())
	for name, values := range header {
		request.Header[name] = values
	}
	transport := &http.Transport{DisableCompression: true, DisableKeepAlives: true}
	response, err := transport.RoundTrip(request)
	Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	Expect(err).NotTo(HaveOccurred())
	return exchange{request, response, body}
}

func (b validatedNode) token(client sandbox.Credential) http.Header {
	GinkgoHelper()
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {client.ClientID}, "client_secret": {client.Secret}}
	response, err := http.PostForm(b.url+"/oauth/token", form)
	Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close()
	var granted struct {
		AccessToken string `json:"access_token"`
	}
	Expect(json.NewDecoder(response.Body).Decode(&granted)).To(Succeed())
	return http.Header{"Authorization": {"Bearer " + granted.AccessToken}}
}

// kinObjections returns the objections of kin-openapi to the answer, and to the request if the node accepted it.
func (b validatedNode) kinObjections(e exchange) error {
	GinkgoHelper()
	route, pathParameters, err := b.Router.FindRoute(e.request)
	Expect(err).NotTo(HaveOccurred())
	options := &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true, AuthenticationFunc: openapi3filter.NoopAuthenticationFunc}
	input := &openapi3filter.RequestValidationInput{Request: e.request, PathParams: pathParameters, Route: route, Options: options}
	if e.response.StatusCode == http.StatusOK {
		if err := openapi3filter.ValidateRequest(context.Background(), input); err != nil {
			return err
		}
	}
	return openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: e.response.StatusCode, Header: e.response.Header,
		Body: io.NopCloser(bytes.NewReader(e.body)), Options: options,
	})
}

// libopenapiObjections returns the objections of libopenapi-validator to the answer, and to the request if the node accepted it.
func (b validatedNode) libopenapiObjections(e exchange) []*validation.ValidationError {
	var found []*validation.ValidationError
	if e.response.StatusCode == http.StatusOK {
		_, objections := b.PB33F.ValidateHttpRequestSync(e.request)
		found = append(found, objections...)
	}
	e.response.Body = io.NopCloser(bytes.NewReader(e.body))
	_, objections := b.PB33F.ValidateHttpResponse(e.request, e.response)
	return append(found, objections...)
}

// expectDescribed expects an answer with the status to which neither validator objects.
func (b validatedNode) expectDescribed(e exchange, status int) {
	GinkgoHelper()
	Expect(e.response.StatusCode).To(Equal(status), string(e.body))
	Expect(b.kinObjections(e)).To(Succeed())
	for _, objection := range b.libopenapiObjections(e) {
		Fail(objection.Message + ": " + objection.Reason + detail(objection))
	}
}

func detail(objection *validation.ValidationError) string {
	var lines strings.Builder
	for _, leaf := range objection.SchemaValidationErrors {
		lines.WriteString("\n  " + leaf.FieldPath + ": " + leaf.Reason)
	}
	return lines.String()
}

func fixedClock() time.Time { return time.Date(2026, time.March, 3, 12, 0, 0, 0, time.UTC) }

var _ = Describe("the document and what is served", func() {
	const fundings = "/ris-synergy/funding/v3/fundings"

	It("is accepted by both validators, with its examples", func() {
		for _, path := range []string{"/ris-synergy/funding/v3/api-docs", "/ris-synergy/try-out/funding/v3/api-docs"} {
			b := newValidatedNode(path, sandbox.Config{Clock: fixedClock})
			Expect(b.Kin.Validate(context.Background(), openapi3.EnableExamplesValidation(), openapi3.EnableSchemaFormatValidation())).To(Succeed())
			valid, objections := b.PB33F.ValidateDocument()
			for _, objection := range objections {
				Fail(objection.Message + ": " + objection.Reason + detail(objection))
			}
			Expect(valid).To(BeTrue())
		}
	})

	It("describes each answer of the protected API", func() {
		b := newValidatedNode("/ris-synergy/funding/v3/api-docs", sandbox.Config{Clock: fixedClock})
		good, noRole := b.token(b.node.Credentials()[0]), b.token(b.node.Credentials()[1])
		first := ids(b.get(fundings+"?page[size]=1", good))[0]

		b.expectDescribed(b.get("/ris-synergy/info/v1/oauth/info/", good), 200)
		b.expectDescribed(b.get("/ris-synergy/funding/v3/api-docs", nil), 200)
		b.expectDescribed(b.get(fundings, good), 200)
		b.expectDescribed(b.get(fundings+"?page%5Bpage%5D=2&page%5Bsize%5D=3&fundingType=CALL&runningCalls=true", good), 200)
		b.expectDescribed(b.get(fundings+"/"+first, good), 200)
		b.expectDescribed(b.get(fundings+"?applicantsScope=GLOBAL", good), 400)
		b.expectDescribed(b.get(fundings, http.Header{"Authorization": {"Bearer"}}), 400)
		b.expectDescribed(b.get(fundings+"/XF-none", good), 404)
		for _, path := range []string{fundings, fundings + "/" + first} {
			b.expectDescribed(b.get(path, nil), 401)
			b.expectDescribed(b.get(path, http.Header{"Authorization": {"Bearer a.b.c"}}), 401)
			b.expectDescribed(b.get(path, noRole), 403)
		}
		b.expectDescribed(b.get("/ris-synergy/info/v1/oauth/info/", nil), 401)
		b.expectDescribed(b.get("/ris-synergy/info/v1/oauth/info/", http.Header{"Authorization": {"Bearer"}}), 400)
	})

	It("describes each answer of the try-out space", func() {
		b := newValidatedNode("/ris-synergy/try-out/funding/v3/api-docs", sandbox.Config{Clock: fixedClock, Paging: "number"})
		const open = "/ris-synergy/try-out/funding/v3/fundings"
		b.expectDescribed(b.get("/ris-synergy/try-out/info/v1/oauth/info/", nil), 200)
		b.expectDescribed(b.get("/ris-synergy/try-out/funding/v3/api-docs", nil), 200)
		page := b.get(open+"?page%5Bpage%5D=1&page%5Bsize%5D=7", nil)
		b.expectDescribed(page, 200)
		b.expectDescribed(b.get(open+"/"+ids(page)[0], nil), 200)
		b.expectDescribed(b.get(open+"?page%5Bsize%5D=0", nil), 400)
		b.expectDescribed(b.get(open+"/XF-none", nil), 404)
	})

	It("has the same paths as the node, and says which of them are protected", func() {
		b := newValidatedNode("/ris-synergy/funding/v3/api-docs", sandbox.Config{})
		described := map[string]bool{}
		for path, item := range b.Kin.Paths.Map() {
			Expect(item.Operations()).To(HaveLen(1))
			described["/ris-synergy"+path] = item.Get.Security == nil
		}
		served := map[string]bool{}
		for _, route := range b.node.Routes() {
			if strings.HasPrefix(route.Path, "/ris-synergy/") && !strings.Contains(route.Path, "/try-out/") {
				served[route.Path] = route.Protected
			}
		}
		Expect(described).To(Equal(served))
	})
})

// ids lists the ids of a page.
func ids(page exchange) []string {
	GinkgoHelper()
	var items []struct{ ID string }
	Expect(json.Unmarshal(page.body, &items)).To(Succeed(), string(page.body))
	found := make([]string, 0, len(items))
	for _, item := range items {
		found = append(found, item.ID)
	}
	return found
}
