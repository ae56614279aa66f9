package control_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"

	"github.com/rin-network/rin/sandbox/control"
)

// checked passes requests to the control listener, and checks that each accepted request and each answer fits the
// document.
func checked(next http.Handler) http.Handler {
	GinkgoHelper()
	document, err := libopenapi.NewDocument(control.Document)
	Expect(err).NotTo(HaveOccurred())
	check, errs := validator.NewValidator(document)
	Expect(errs).To(BeEmpty())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer GinkgoRecover()
		body, err := io.ReadAll(r.Body)
		Expect(err).NotTo(HaveOccurred())
		r.Body = io.NopCloser(bytes.NewReader(body))
		recorded := httptest.NewRecorder()
		next.ServeHTTP(recorded, r)
		answer := recorded.Result()
		if _, known := documented()[r.Pattern]; known && strings.Contains(answer.Header.Get("Content-Type"), "json") {
			valid, faults := check.ValidateHttpResponse(r, answer)
			Expect(valid).To(BeTrue(), "%s %s: %v", r.Method, r.URL, faults)
		}
		for name, values := range recorded.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(recorded.Code)
		_, _ = w.Write(recorded.Body.Bytes())
	})
}

// documented returns the patterns of the operations in the document.
func documented() map[string]bool {
	GinkgoHelper()
	var document struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	Expect(json.Unmarshal(control.Document, &document)).To(Succeed())
	patterns := map[string]bool{}
	for path, methods := range document.Paths {
		for method := range methods {
			patterns[strings.ToUpper(method)+" "+path] = true
		}
	}
	return patterns
}

var _ = Describe("The document of the control listener", func() {
	It("describes every route, and nothing else", func() {
		network, _ := startControl()
		var described []string
		for pattern := range documented() {
			described = append(described, pattern)
		}
		Expect(described).To(ConsistOf(control.Patterns(network)))
	})

	It("is at the root for programs, and a page for people is there for browsers", func() {
		_, client := startControl()
		answer, body := fetch(client, http.MethodGet, "/", nil)
		Expect(answer.Header.Get("Content-Type")).To(HavePrefix("application/vnd.oai.openapi+json"))
		Expect(body).To(Equal(string(control.Document)))

		Expect(client.Play("XB", control.Play{Name: "503-twice"})).Error().NotTo(HaveOccurred())
		_, _ = fetch(client, http.MethodGet, "/", nil)
		follows := http.Header{"Accept": {"text/html,application/xhtml+xml,*/*;q=0.8"}, "Sec-Fetch-Site": {"same-site"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"document"}}
		answer, body = fetch(client, http.MethodGet, "/", follows)
		Expect(answer.Header.Get("Content-Type")).To(HavePrefix("text/html"))
		Expect(answer.Header.Get("Content-Security-Policy")).To(HavePrefix("default-src 'none'"))
		Expect(body).To(SatisfyAll(ContainSubstring("503-twice"), ContainSubstring("demo-client"), Not(ContainSubstring("<script")), Not(ContainSubstring(client.Token))))
		Expect(body).To(And(ContainSubstring(`href="/?live"`), Not(ContainSubstring(`http-equiv="refresh"`))), "it reloads itself only on request")
		_, body = fetch(client, http.MethodGet, "/?live", follows)
		Expect(body).To(ContainSubstring(`<meta http-equiv="refresh" content="3">`))
	})

	It("answers an unknown method with 405 and Allow, an unknown path with 404", func() {
		_, client := startControl()
		answer, body := fetch(client, http.MethodPatch, "/clock", nil)
		Expect(answer).To(SatisfyAll(HaveField("StatusCode", 405), HaveField("Header", HaveKeyWithValue("Allow", []string{"GET, HEAD, POST"}))))
		Expect(body).To(ContainSubstring(`"hint"`))
		answer, _ = fetch(client, http.MethodGet, "/clocks", nil)
		Expect(answer.StatusCode).To(Equal(404))
	})
})

var _ = Describe("The token of the control listener", func() {
	It("is needed for changes, and not for reading", func() {
		_, client := startControl()
		stranger := client
		stranger.Token = ""
		Expect(stranger.Nodes()).Error().NotTo(HaveOccurred())
		Expect(stranger.Reset()).To(MatchError(ContainSubstring("needs the token")))
		stranger.Token = client.Token + "x"
		Expect(stranger.Reset()).To(MatchError(ContainSubstring("needs the token")))
		answer, _ := fetch(stranger, http.MethodPost, "/reset", nil)
		Expect(answer.StatusCode).To(Equal(401))
		Expect(answer.Header.Values("WWW-Authenticate")).To(ConsistOf(HavePrefix("Bearer ")))
	})

	It("is needed for reading, too, where other machines reach the listener", func() {
		network, _ := startControl()
		server := httptest.NewServer(control.New(network, control.Access{Token: controlToken}))
		DeferCleanup(server.Close)
		stranger := control.Client{Context: GinkgoT().Context(), Base: server.URL}
		Expect(stranger.Nodes()).Error().To(MatchError(ContainSubstring("needs the token")))
		answer, _ := fetch(stranger, http.MethodGet, "/healthz", nil)
		Expect(answer.StatusCode).To(Equal(200))
		answer, _ = fetch(stranger, http.MethodGet, "/", http.Header{"Accept": {"text/html"}})
		Expect(answer.Header.Values("WWW-Authenticate")).To(ContainElement(HavePrefix("Basic ")), "a browser asks a person")
		request, err := http.NewRequest(http.MethodGet, server.URL+"/nodes", nil)
		Expect(err).NotTo(HaveOccurred())
		request.Host = "sandbox.example"
		request.SetBasicAuth("any", controlToken)
		read, err := http.DefaultClient.Do(request)
		Expect(err).NotTo(HaveOccurred())
		defer read.Body.Close()
		Expect(read.StatusCode).To(Equal(200))
	})

	It("opens nothing if it is empty", func() {
		network, _ := startControl()
		server := httptest.NewServer(control.New(network, control.Access{Loopback: true}))
		DeferCleanup(server.Close)
		Expect(control.Client{Context: GinkgoT().Context(), Base: server.URL}.Reset()).To(MatchError(ContainSubstring("needs the token")))
	})
})

// fetch sends a request without a body.
func fetch(c control.Client, method, path string, header http.Header) (*http.Response, string) {
	GinkgoHelper()
	request, err := http.NewRequest(method, c.Base+path, nil)
	Expect(err).NotTo(HaveOccurred())
	if header != nil {
		request.Header = header
	}
	if c.Token != "" {
		request.Header.Set("Authorization", "Bearer "+c.Token)
	}
	answer, err := http.DefaultClient.Do(request)
	Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	Expect(err).NotTo(HaveOccurred())
	return answer, string(body)
}
