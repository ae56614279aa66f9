package mockapi_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
)

func TestMockAPI(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "mock API")
}

// tryOut is where a described API is served without a token.
const tryOut = "/ris-synergy/try-out"

// node is a sandbox that serves a document.
type node struct {
	*sandbox.Server
	origin string
}

// serve starts a sandbox with an API.
func serve(api sandbox.APIConfig) node { return serveNode(sandbox.Config{API: api, Loopback: true}) }

func serveNode(c sandbox.Config) node {
	GinkgoHelper()
	server, err := sandbox.New(c)
	Expect(err).NotTo(HaveOccurred())
	listening := httptest.NewServer(server)
	DeferCleanup(listening.Close)
	return node{server, listening.URL}
}

// documentFile writes a document to a file, and returns the name of the file.
func documentFile(text string) string {
	GinkgoHelper()
	file := filepath.Join(GinkgoT().TempDir(), "api.yaml")
	Expect(os.WriteFile(file, []byte(text), 0o600)).To(Succeed())
	return file
}

// exchange is a request with its answer.
type exchange struct {
	request *http.Request
	status  int
	header  http.Header
	body    []byte
}

// request sends a request to the try-out space; header has names and values in turn.
func (n node) request(method, path, body string, header ...string) exchange {
	GinkgoHelper()
	request, err := http.NewRequest(method, n.origin+tryOut+path, strings.NewReader(body))
	Expect(err).NotTo(HaveOccurred())
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	return send(request)
}

func (n node) get(path string, header ...string) exchange {
	GinkgoHelper()
	return n.request(http.MethodGet, path, "", header...)
}

func send(request *http.Request) exchange {
	GinkgoHelper()
	transport := &http.Transport{DisableCompression: true, DisableKeepAlives: true}
	response, err := transport.RoundTrip(request)
	Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	Expect(err).NotTo(HaveOccurred())
	return exchange{request, response.StatusCode, response.Header, body}
}

// json decodes the body of the answer as a JSON value.
func (e exchange) json() any {
	GinkgoHelper()
	var value any
	Expect(json.Unmarshal(e.body, &value)).To(Succeed(), string(e.body))
	return value
}

// object decodes the body of the answer as a JSON object.
func (e exchange) object() map[string]any {
	GinkgoHelper()
	object, ok := e.json().(map[string]any)
	Expect(ok).To(BeTrue(), string(e.body))
	return object
}

// list decodes the body of the answer as a JSON array.
func (e exchange) list() []any {
	GinkgoHelper()
	list, ok := e.json().([]any)
	Expect(ok).To(BeTrue(), string(e.body))
	return list
}
