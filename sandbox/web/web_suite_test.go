package web_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/web"
)

func TestWeb(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "web")
}

// site serves resources as a node does.
func site(resources []web.Resource) *http.ServeMux {
	mux := http.NewServeMux()
	for _, r := range resources {
		mux.Handle(r.Path, r)
	}
	return mux
}

// get requests an address, with header fields given as names and values in turn.
func get(h http.Handler, method, address string, fields ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, address, nil)
	for i := 0; i+1 < len(fields); i += 2 {
		r.Header.Add(fields[i], fields[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}
