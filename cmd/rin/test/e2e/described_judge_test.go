//go:build e2e

package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/pb33f/libopenapi"
	"github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/config"
	"github.com/pb33f/libopenapi/datamodel"
)

// countObjections requests the list of fundings, or the funding with an id. It returns 1 if kin-openapi or libopenapi-validator rejects the answer, else 0.
func countObjections(document, list, id string) int {
	GinkgoHelper()
	text, err := os.ReadFile(document)
	Expect(err).NotTo(HaveOccurred())
	path, address := "/v1/fundings", list
	if id != "" {
		path, address = "/v1/fundings/{id}", list+"/"+url.PathEscape(id)
	}
	answer, body := ask(http.DefaultClient, address)
	if isRefusedByKinOpenAPI(text, path, answer, body) || isRefusedByLibOpenAPI(text, id, answer, body) {
		return 1
	}
	return 0
}

func isRefusedByKinOpenAPI(text []byte, path string, answer *http.Response, body []byte) bool {
	GinkgoHelper()
	doc, err := openapi3.NewLoader().LoadFromData(text)
	Expect(err).NotTo(HaveOccurred())
	item := doc.Paths.Value(path)
	err = openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{
			Request: answer.Request, Route: &routers.Route{Spec: doc, Path: path, PathItem: item, Method: http.MethodGet, Operation: item.Get},
		},
		Status: answer.StatusCode, Header: answer.Header, Body: io.NopCloser(bytes.NewReader(body)),
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	})
	if err != nil {
		fmt.Fprintf(GinkgoWriter, "kin-openapi, %s: %.300s\n", answer.Request.URL, err)
	}
	return err != nil
}

func isRefusedByLibOpenAPI(text []byte, id string, answer *http.Response, body []byte) bool {
	GinkgoHelper()
	quiet := datamodel.NewDocumentConfiguration()
	quiet.Logger = slog.New(slog.DiscardHandler)
	parsed, err := libopenapi.NewDocumentWithConfiguration(text, quiet)
	Expect(err).NotTo(HaveOccurred())
	v, errs := validator.NewValidator(parsed, config.WithFormatAssertions())
	Expect(errs).To(BeEmpty())
	defer v.Release()
	// The validator finds the operation by the address that the document gives.
	address := "https://node.invalid/ris-synergy/funding/v1/fundings"
	if id != "" {
		address += "/" + url.PathEscape(id)
	}
	request, err := http.NewRequest(http.MethodGet, address, nil)
	Expect(err).NotTo(HaveOccurred())
	fits, problems := v.ValidateHttpResponse(request, &http.Response{StatusCode: answer.StatusCode, Header: answer.Header, Body: io.NopCloser(bytes.NewReader(body)), Request: request})
	for _, problem := range problems {
		fmt.Fprintf(GinkgoWriter, "libopenapi-validator, %s: %s: %.300s\n", answer.Request.URL, problem.Message, problem.Reason)
	}
	return !fits
}
