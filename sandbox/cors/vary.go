package cors

import (
	"net/http"
	"strings"
)

// variedWriter adds Origin to Vary when the header is written, after the node has said what else its answer depends on.
type variedWriter struct {
	http.ResponseWriter
	written bool
}

// WriteHeader implements http.ResponseWriter.
func (v *variedWriter) WriteHeader(status int) {
	if !v.written && status >= http.StatusOK {
		v.written = true
		v.vary()
	}
	v.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (v *variedWriter) Write(b []byte) (int, error) {
	if !v.written {
		v.WriteHeader(http.StatusOK)
	}
	return v.ResponseWriter.Write(b)
}

func (v *variedWriter) vary() {
	h := v.Header()
	all := strings.Join(h.Values("Vary"), ", ")
	for name := range strings.SplitSeq(all, ",") {
		if name = strings.TrimSpace(name); name == "*" || strings.EqualFold(name, "Origin") {
			return
		}
	}
	if all != "" {
		all += ", "
	}
	h.Set("Vary", all+"Origin")
}

// Unwrap lets http.ResponseController reach the connection.
func (v *variedWriter) Unwrap() http.ResponseWriter { return v.ResponseWriter }
