package killmatrix_test

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"

	"github.com/rin-network/rin/cmd/rin/test"
	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/fault"
)

// needsTLS reports whether a node is served over TLS. The node without deviations is, so that every requirement applies to it, and so are nodes that
// break a requirement that does not apply in cleartext. The others are certified in cleartext, which is quicker.
func needsTLS(deviations []string) bool {
	return len(deviations) == 0 || worksOnTLS(deviations) || slices.ContainsFunc(deviations, func(name string) bool {
		d, err := fault.FindDeviation(name)
		return err == nil && slices.Contains(d.Breaks, "REG-02")
	})
}

// worksOnTLS reports whether one of the deviations concerns the connection.
func worksOnTLS(deviations []string) bool {
	return slices.ContainsFunc(deviations, func(name string) bool {
		d, err := fault.FindDeviation(name)
		return err == nil && d.Transport != nil
	})
}

// registryOf returns the registry document of a node, without a connection.
func registryOf(node *sandbox.Server, url string) []byte {
	w := httptest.NewRecorder()
	node.ServeHTTP(w, httptest.NewRequest(http.MethodGet, url, nil))
	return w.Body.Bytes()
}

// inCleartext serves a node without TLS.
func inCleartext(node *sandbox.Server) (base string, stop func(), err error) {
	server := httptest.NewUnstartedServer(node)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	return server.URL, server.Close, nil
}

// overTLS serves a node with its own certificates.
func overTLS(node *sandbox.Server) (base string, stop func(), err error) {
	return test.Serve(node, "https")
}
