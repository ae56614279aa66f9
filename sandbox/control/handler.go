// Package control is the second listener of a sandbox, and its client. With it an operator replaces deviations, plays scenarios, moves the time,
// reads the journal and resets the sandbox. It speaks JSON over HTTP, describes itself in an OpenAPI document, and has one page for people, which only
// reads. [Access] says who may use it.
//
// [New] makes the handler, [Client] calls it. Each topic has one file with its messages, routes and calls.
package control

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/clientrules"
	"github.com/rin-network/rin/sandbox/content"
	"github.com/rin-network/rin/sandbox/edge"
)

// maxBody is the largest size of a message in bytes.
const maxBody = 1 << 20

// route is one row of the route table: a method with a path pattern of net/http, and the function that answers.
type route struct {
	pattern string
	answer  func(r *http.Request) (any, error)
}

// New makes the handler of the control listener of a network.
func New(network *sandbox.Network, access Access) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", newHome(network))
	mux.HandleFunc("GET /openapi.json", serveDocument)
	for _, route := range routes(network) {
		mux.HandleFunc(route.pattern, func(w http.ResponseWriter, r *http.Request) { respond(w, r, route.answer) })
	}
	return access.guard(explainUnknown(mux))
}

// routes lists all routes except those of the document and the page.
func routes(network *sandbox.Network) []route {
	return slices.Concat(
		healthRoutes(), nodeRoutes(network), deviationRoutes(network), scenarioRoutes(network), clockRoutes(network), journalRoutes(network), reportRoutes(network),
		resetRoutes(network), accessRoutes(network), accountRoutes(network), metricsRoutes(network),
	)
}

// explainUnknown answers requests without a route: 405 with Allow if the path takes other methods (RFC 9110 §15.5.6), else 404.
func explainUnknown(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		var allowed []string
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
			if _, pattern := mux.Handler(&http.Request{Method: method, URL: r.URL, Host: r.Host}); pattern != "" {
				allowed = append(allowed, method)
			}
		}
		if len(allowed) == 0 {
			content.NotFound("the control listener has no such resource", "GET / describes all of them").Write(w, r)
			return
		}
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		p := content.MethodNotAllowed(r.Method, allowed)
		p.Hint = "GET / describes all resources with their methods"
		p.Write(w, r)
	})
}

// respond sends the answer of a route, or its error as a problem document.
func respond(w http.ResponseWriter, r *http.Request, answer func(*http.Request) (any, error)) {
	value, err := answer(r)
	if err != nil {
		var refusal *problemError
		if !errors.As(err, &refusal) {
			refusal = badRequest(err, "")
		}
		refusal.Write(w, r)
		return
	}
	if p, ok := value.(*edge.MetricsPage); ok {
		w.Header().Set("Content-Type", edge.MetricsMediaType)
		_, _ = w.Write(p.Bytes())
		return
	}
	if report, ok := value.(reportPage); ok {
		var page bytes.Buffer
		if err := clientrules.WriteHTML(&page, clientrules.Report(report)); err != nil {
			content.Internal().Write(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Vary", "Accept")
		_, _ = w.Write(page.Bytes())
		return
	}
	body, err := json.Marshal(value)
	if err != nil {
		content.Internal().Write(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(append(body, '\n')) // fails only if the caller is gone
}

// problemError is an error that is sent as a problem document.
type problemError struct{ content.Problem }

// Error implements error.
func (e *problemError) Error() string { return e.Detail }

func badRequest(err error, hint string) *problemError {
	return &problemError{content.BadRequest(err.Error(), hint)}
}

func notFound(detail, hint string) *problemError {
	return &problemError{content.NotFound(detail, hint)}
}

// read decodes the body of a request as a message. It refuses unknown members.
func read[T any](r *http.Request) (T, error) {
	var message T
	dec := json.NewDecoder(io.LimitReader(r.Body, maxBody))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&message); err != nil {
		return message, badRequest(fmt.Errorf("the message can't be read: %w", err), "send one JSON object")
	}
	return message, nil
}

// metricsRoutes serve metrics to Prometheus. The format is not JSON, so [Client] has no call for it.
func metricsRoutes(network *sandbox.Network) []route {
	return []route{{"GET /metrics", func(*http.Request) (any, error) {
		var p edge.MetricsPage
		network.WriteMetrics(&p)
		p.Process()
		return &p, nil
	}}}
}
