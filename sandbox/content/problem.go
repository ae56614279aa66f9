package content

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/rin-network/rin/sandbox/journal"
)

// ProblemMediaType is the media type of a problem body (RFC 9457 §6.1).
const ProblemMediaType = "application/problem+json"

// Problem is a problem details object (RFC 9457 §3.1) with the extension members of this node.
type Problem struct {
	// Type is a URI reference; "about:blank" means that the title is the status phrase (RFC 9457 §4.2.1).
	Type string `json:"type"`
	// Title is the short, constant summary of the kind of problem.
	Title string `json:"title"`
	// Status equals the status code of the answer.
	Status int `json:"status"`
	// Detail says what was wrong with this request.
	Detail string `json:"detail"`
	// Hint says how the caller can correct the request.
	Hint string `json:"hint,omitempty"`
	// Parameter names the query parameter at fault.
	Parameter string `json:"parameter,omitempty"`
	// Allowed lists the values that Parameter takes.
	Allowed []string `json:"allowed,omitempty"`
	// Errors lists the faults in the body of the request.
	Errors []Fault `json:"errors,omitempty"`
}

// Fault is one fault in the body of a request, in the form of the example in RFC 9457 §3.
type Fault struct {
	Detail string `json:"detail"`
	// Pointer locates the fault in the body: a JSON Pointer as a URI fragment, "#/name/0".
	Pointer string `json:"pointer"`
}

func newProblem(status int, detail, hint string) Problem {
	return Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail, Hint: hint}
}

// Unauthorized returns a problem with status 401 for a request without usable authentication (RFC 9110 §15.5.2).
func Unauthorized(detail, hint string) Problem {
	return newProblem(http.StatusUnauthorized, detail, hint)
}

// BadRequest returns a problem with status 400 for a request that cannot be understood.
func BadRequest(detail, hint string) Problem { return newProblem(http.StatusBadRequest, detail, hint) }

// Forbidden returns a problem with status 403 for an authenticated caller without the privilege (NET-R17).
func Forbidden(detail, hint string) Problem { return newProblem(http.StatusForbidden, detail, hint) }

// NotFound returns a problem with status 404 for an unknown resource.
func NotFound(detail, hint string) Problem { return newProblem(http.StatusNotFound, detail, hint) }

// Conflict returns a problem with status 409 for a request that the state of its resource forbids (RFC 9110 §15.5.10).
func Conflict(detail, hint string) Problem { return newProblem(http.StatusConflict, detail, hint) }

// MethodNotAllowed returns a problem with status 405 for a method outside allowed; the caller sets the Allow header (RFC 9110 §15.5.6).
func MethodNotAllowed(method string, allowed []string) Problem {
	return newProblem(http.StatusMethodNotAllowed, "this resource does not take the method of the request",
		"use "+strings.Join(allowed, " or ")+hintForMethod(method))
}

func hintForMethod(method string) string {
	if method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch || method == http.MethodDelete {
		return "; the API is read-only"
	}
	return ""
}

// BadParameter returns a problem with status 400 for a query parameter whose value is not allowed, for a reason. allowed is empty when the allowed
// values cannot be listed.
func BadParameter(name, reason string, allowed []string) Problem {
	p := newProblem(http.StatusBadRequest, "the query parameter "+name+" has a value that is not allowed: "+reason, "")
	p.Parameter, p.Allowed = name, allowed
	if len(allowed) > 0 {
		p.Hint = "send one of " + strings.Join(allowed, ", ") + ", or leave the parameter out"
	}
	return p
}

// TooManyRequests returns a problem with status 429 for a caller who exceeds a rate limit; Retry-After must be set (RFC 6585 §4).
func TooManyRequests(detail, hint string) Problem {
	return newProblem(http.StatusTooManyRequests, detail, hint)
}

// Failed returns a problem with status 500 for a node that fails on purpose.
func Failed(detail, hint string) Problem {
	return newProblem(http.StatusInternalServerError, detail, hint)
}

// Unavailable returns a problem with status 503 for a node that cannot answer for a while; Retry-After must be set (RFC 9110 §15.6.4).
func Unavailable(detail, hint string) Problem {
	return newProblem(http.StatusServiceUnavailable, detail, hint)
}

// Internal returns a problem with status 500 for a fault in the sandbox itself. It does not tell the caller the cause.
func Internal() Problem {
	return newProblem(http.StatusInternalServerError, "the sandbox failed to answer", "the log of the sandbox names the cause")
}

// Write sends p, and tells caches not to store it. Headers that are already set (WWW-Authenticate, Allow) stay.
func (p Problem) Write(w http.ResponseWriter, r *http.Request) {
	journal.FromContext(r.Context()).Refuse(journal.Refusal{Detail: p.Detail, Hint: p.Hint, Parameter: p.Parameter})
	shape := shapeOf(r)
	body, err := json.Marshal(shape.Body(p))
	if err != nil {
		body = []byte(`{}`)
	}
	h := w.Header()
	h.Set("Content-Type", shape.MediaType())
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(p.Status)
	if r.Method != http.MethodHead {
		// A failed write means that the caller is gone.
		_, _ = w.Write(body)
	}
}

// Unprocessable returns a problem with status 422 for a well-formed body that does not fit its schema in the OpenAPI document (RFC 9110 §15.5.21).
func Unprocessable(faults []Fault) Problem {
	p := newProblem(http.StatusUnprocessableEntity, "the body of the request does not fit its schema in the OpenAPI document", "send a body that fits the schema")
	if len(faults) > 0 {
		p.Detail += ": at " + faults[0].Pointer + " " + faults[0].Detail
	}
	p.Errors = faults
	return p
}

// InsufficientStorage returns a problem with status 507: the server has no room for what the request adds (RFC 4918 §11.5).
func InsufficientStorage(detail, hint string) Problem {
	return newProblem(http.StatusInsufficientStorage, detail, hint)
}

// UnsupportedMediaType returns a problem with status 415 for a body of an unsupported media type (RFC 9110 §15.5.16).
func UnsupportedMediaType(given, wanted string) Problem {
	return newProblem(http.StatusUnsupportedMediaType, fmt.Sprintf("the body of the request has the type %.80q", given), "send one of "+wanted)
}

// TooLarge returns a problem with status 413 for a body beyond limit bytes (RFC 9110 §15.5.14).
func TooLarge(limit int) Problem {
	return newProblem(http.StatusRequestEntityTooLarge, fmt.Sprintf("the body of the request is larger than %d bytes", limit), "send less at once")
}

// NotImplemented returns a problem with status 501 for an operation that the OpenAPI document describes but the sandbox cannot serve (RFC 9110
// §15.6.2).
func NotImplemented(reason string) Problem {
	return newProblem(http.StatusNotImplemented, "the sandbox cannot serve this operation: "+reason, "correct the document; the sandbox reads a changed file again")
}

// ErrorShape is the form of the error bodies of the node's API; the network's interface does not fix one.
type ErrorShape string

const (
	// ShapeProblem is a problem details object (RFC 9457).
	ShapeProblem ErrorShape = "problem"
	// ShapeText is an object with one text, {"error":"401 Error: Unauthorized"}, as a node of the network sends it.
	ShapeText ErrorShape = "text"
)

// ErrorShapes lists all shapes.
func ErrorShapes() []ErrorShape { return []ErrorShape{ShapeProblem, ShapeText} }

// TextError is the error body of [ShapeText].
type TextError struct {
	// Error is the status with its phrase.
	Error string `json:"error"`
}

// MediaType returns the media type of errors in the shape.
func (s ErrorShape) MediaType() string {
	if s == ShapeText {
		return "application/json"
	}
	return ProblemMediaType
}

// Body returns p in the shape.
func (s ErrorShape) Body(p Problem) any {
	if s == ShapeText {
		return TextError{fmt.Sprintf("%d Error: %s", p.Status, http.StatusText(p.Status))}
	}
	return p
}

type shapeKey struct{}

// WithErrorShape makes next write its problems in the shape.
func WithErrorShape(shape ErrorShape, next http.Handler) http.Handler {
	if shape == ShapeProblem {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), shapeKey{}, shape)))
	})
}

// shapeOf returns the shape in which r is answered; ShapeProblem unless [WithErrorShape] chose another.
func shapeOf(r *http.Request) ErrorShape {
	if shape, chosen := r.Context().Value(shapeKey{}).(ErrorShape); chosen {
		return shape
	}
	return ShapeProblem
}
