//go:build e2e

package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// opinions are what two validators say of one recorded answer, by place: "status", "media-type", `header "ETag"`, or a place in the body
// such as "/*/id", with * for any position in a list.
type opinions struct {
	answer   evidence.Exchange
	rin, kin map[string]string
}

// evidence reads what the run recorded.
func (c certification) evidence() *evidence.Log {
	GinkgoHelper()
	file, err := os.Open(filepath.Join(c.dir, "evidence.jsonl.gz"))
	Expect(err).NotTo(HaveOccurred())
	defer file.Close()
	log, err := evidence.ReadLog(file)
	Expect(err).NotTo(HaveOccurred())
	return log
}

// secondOpinions has kin-openapi judge every recorded answer of an operation again. Of documents of version 3.1 it judges bodies with
// the library that rin uses, so there the second opinion is on the reading of the document alone.
func secondOpinions(log *evidence.Log) (out []opinions) {
	GinkgoHelper()
	Expect(log.Document).NotTo(BeNil())
	operations, err := openapi.Parse(log.Document.Reduced)
	Expect(err).NotTo(HaveOccurred())
	other, err := openapi3.NewLoader().LoadFromData(log.Document.Reduced)
	Expect(err).NotTo(HaveOccurred())
	for _, found := range log.Findings {
		x, answered := log.Get(found.Label)
		op, known := operations.Operation(strings.TrimPrefix(string(found.Label.Resource()), string(evidence.OperationResource(""))))
		if answered && known && x.Response != nil {
			out = append(out, opinions{x, rinObjections(found), kinObjections(other, op, x)})
		}
	}
	return out
}

// rinObjections returns the places that rin objected to, with its words.
func rinObjections(f evidence.SchemaFindings) map[string]string {
	at := map[string]string{}
	for _, found := range f.Findings {
		said := fmt.Sprintf("expected %s, got %s", found.Expected, found.Got)
		switch found.Kind {
		case evidence.FindingStatus, evidence.FindingMediaType:
			at[string(found.Kind)] = said
		default:
			at[pointer(found.Path)] = said
		}
	}
	return at
}

// pointer writes a JSON path as a pointer whose list positions are *.
func pointer(path string) string {
	path = regexp.MustCompile(`\[\d+\]`).ReplaceAllString(strings.TrimPrefix(path, "$"), "/*")
	return strings.ReplaceAll(path, ".", "/")
}

// kinObjections returns the places that kin-openapi objects to, with its words.
func kinObjections(doc *openapi3.T, op openapi.Operation, x evidence.Exchange) map[string]string {
	GinkgoHelper()
	item := doc.Paths.Value(op.Path)
	Expect(item).NotTo(BeNil(), op.Path)
	request, err := http.NewRequest(x.Request.Method, x.Request.URL, nil)
	Expect(err).NotTo(HaveOccurred())
	header := http.Header{}
	for _, field := range x.Response.Header {
		header.Add(field.Name, field.Value)
	}
	err = openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{
			Request: request,
			Route:   &routers.Route{Spec: doc, Path: op.Path, PathItem: item, Method: op.Method, Operation: item.GetOperation(op.Method)},
		},
		Status: x.Response.Status, Header: header, Body: io.NopCloser(bytes.NewReader([]byte(x.Response.Body))),
		Options: &openapi3filter.Options{MultiError: true, IncludeResponseStatus: true},
	})
	at := map[string]string{}
	objections(err, at)
	return at
}

// objections sorts an error of kin-openapi by place.
func objections(err error, at map[string]string) {
	headerName := regexp.MustCompile(`header "[^"]+"`)
	var whole *openapi3filter.ResponseError
	if errors.As(err, &whole) {
		switch {
		case strings.HasPrefix(whole.Reason, "status is not supported"):
			at["status"] = whole.Reason
		case strings.Contains(whole.Reason, "Content-Type"):
			at["media-type"] = whole.Reason
		case headerName.MatchString(whole.Reason): // missing, unreadable, or not as the schema says
			at[headerName.FindString(whole.Reason)] = whole.Error()
		case whole.Err == nil:
			at["answer"] = whole.Reason
		default:
			objections(whole.Err, at)
		}
		return
	}
	switch e := err.(type) { // errors.As would find the first of many
	case nil:
	case openapi3.MultiError:
		for _, one := range e {
			objections(one, at)
		}
	case *openapi3.SchemaError:
		if many, ok := e.Origin.(openapi3.MultiError); ok {
			objections(many, at)
			return
		}
		place := ""
		for _, part := range e.JSONPointer() {
			if strings.Trim(part, "0123456789") == "" {
				part = "*"
			}
			place += "/" + part
		}
		at[place] = e.Reason
	default:
		at["answer"] = err.Error()
	}
}
