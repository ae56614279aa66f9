package problem

import (
	"context"
	"fmt"
	"net/http"
)

// Shape is the form of the error bodies of the node's API; the network's interface does not fix one.
type Shape string

// The shapes.
const (
	// ShapeProblem is a problem details object (RFC 9457).
	ShapeProblem Shape = "problem"
	// ShapeText is an object with one text, {"error":"401 Error: Unauthorized"}, as a node of the network sends it.
	ShapeText Shape = "text"
)

// Shapes lists all shapes.
func Shapes() []Shape { return []Shape{ShapeProblem, ShapeText} }

// Text is an error in the shape of that name.
type Text struct {
	// Error is the status with its phrase.
	Error string `json:"error"`
}

// MediaType is the media type of errors in the shape.
func (s Shape) MediaType() string {
	if s == ShapeText {
		return "application/json"
	}
	return MediaType
}

// Body is what stands for p in the shape.
func (s Shape) Body(p Problem) any {
	if s == ShapeText {
		return Text{fmt.Sprintf("%d Error: %s", p.Status, http.StatusText(p.Status))}
	}
	return p
}

type shapeKey struct{}

// In makes next write its problems in the shape.
func In(shape Shape, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), shapeKey{}, shape)))
	})
}

// shapeOf is the shape in which r is answered; ShapeProblem unless [In] chose another.
func shapeOf(r *http.Request) Shape {
	if shape, chosen := r.Context().Value(shapeKey{}).(Shape); chosen {
		return shape
	}
	return ShapeProblem
}
