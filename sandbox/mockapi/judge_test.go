package mockapi_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/getkin/kin-openapi/openapi3filter"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/spec/testdata/validators"
)

// judges are two validators of other authors, loaded with a document as it is served.
type judges struct {
	validators.Validators
	// ignored lists texts of complaints that are known to be wrong.
	ignored []string
}

// newJudges loads the document at a path of the try-out space. Complaints that contain one of the ignored texts do not count.
func newJudges(n node, path string, ignored ...string) *judges {
	GinkgoHelper()
	published := n.get(path)
	Expect(published.status).To(Equal(http.StatusOK), string(published.body))
	loaded, err := validators.Load(published.body)
	Expect(err).NotTo(HaveOccurred())
	return &judges{Validators: loaded, ignored: ignored}
}

// expectFits fails if one of the two complains about the answer.
func (j *judges) expectFits(e exchange) {
	GinkgoHelper()
	about := fmt.Sprintf("%s %s -> %d %s", e.request.Method, e.request.URL, e.status, clip(e.body))
	for _, complaint := range append(j.kinComplaints(e), j.libopenapiComplaints(e)...) {
		known := false
		for _, words := range j.ignored {
			known = known || strings.Contains(complaint, words)
		}
		if !known {
			Fail(complaint + "\n" + about)
		}
	}
}

func (j *judges) kinComplaints(e exchange) []string {
	GinkgoHelper()
	route, parameters, err := j.Router.FindRoute(e.request)
	Expect(err).NotTo(HaveOccurred(), e.request.URL.String())
	options := &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true, AuthenticationFunc: openapi3filter.NoopAuthenticationFunc}
	input := &openapi3filter.RequestValidationInput{Request: e.request, PathParams: parameters, Route: route, Options: options}
	err = openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: e.status, Header: e.header, Body: io.NopCloser(bytes.NewReader(e.body)), Options: options,
	})
	if err != nil {
		return []string{"kin-openapi: " + err.Error()}
	}
	return nil
}

func (j *judges) libopenapiComplaints(e exchange) []string {
	_, found := j.PB33F.ValidateHttpResponse(e.request, &http.Response{
		StatusCode: e.status, Header: e.header, Body: io.NopCloser(bytes.NewReader(e.body)), Request: e.request,
	})
	var complaints []string
	for _, problem := range found {
		text := "libopenapi-validator: " + problem.Message + ": " + problem.Reason
		for _, failure := range problem.SchemaValidationErrors {
			text += "\n  " + failure.FieldPath + ": " + failure.Reason
		}
		complaints = append(complaints, text)
	}
	return complaints
}

func clip(body []byte) string { return string(body[:min(len(body), 3000)]) }
