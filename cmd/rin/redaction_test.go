package main_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/cmd/rin/test"
)

// spread is a node that writes every secret that it hears back into its answers, in every form it can think of.
type spread struct {
	mu     sync.Mutex
	heard  map[string]bool // client secrets, right and wrong
	issued map[string]bool // access tokens
}

// issue lets the node answer a token request and remembers the token.
func (s *spread) issue(next http.Handler, w http.ResponseWriter, r *http.Request) {
	answer := httptest.NewRecorder()
	next.ServeHTTP(answer, r)
	var body struct {
		AccessToken string `json:"access_token"`
	}
	if json.Unmarshal(answer.Body.Bytes(), &body) == nil && body.AccessToken != "" {
		s.mu.Lock()
		s.issued[body.AccessToken] = true
		s.mu.Unlock()
	}
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

// all are the secrets and the tokens.
func (s *spread) all() map[string]bool {
	all := maps.Clone(s.heard)
	maps.Copy(all, s.issued)
	return all
}

// forms are the ways in which a secret may come back.
func forms(secret string) []string {
	quoted, _ := json.Marshal(secret)
	every := func(format string) string {
		var b strings.Builder
		for i := range len(secret) {
			fmt.Fprintf(&b, format, secret[i])
		}
		return b.String()
	}
	return []string{
		secret, url.QueryEscape(secret), url.PathEscape(secret), every("%%%02X"), every("%%%02x"),
		base64.StdEncoding.EncodeToString([]byte(secret)), base64.RawURLEncoding.EncodeToString([]byte(secret)),
		base64.StdEncoding.EncodeToString([]byte("x:" + secret)), base64.StdEncoding.EncodeToString([]byte("xy:" + secret)),
		hex.EncodeToString([]byte(secret)), strings.ToUpper(hex.EncodeToString([]byte(secret))),
		strings.Trim(string(quoted), `"`), every(`\u00%02x`),
	}
}

func (s *spread) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(io.LimitReader(r.Body, 1<<16))
		r.Body = io.NopCloser(strings.NewReader(string(sent)))
		form, _ := url.ParseQuery(string(sent))
		_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		if secret := form.Get("client_secret"); secret != "" && secret != "conformance" { // which an unknown client says, and is none
			s.mu.Lock()
			s.heard[secret] = true
			s.mu.Unlock()
		}
		for _, secret := range []string{form.Get("client_secret"), token, r.URL.Query().Get("access_token"), r.URL.Query().Get("client_secret")} {
			if secret == "" {
				continue
			}
			for i, f := range forms(secret) {
				w.Header().Set(fmt.Sprintf("X-Echo-%d", i), f)
			}
			w.Header().Set("Link", "<http://127.0.0.1/?token="+url.QueryEscape(secret)+">; rel=next")
		}
		if r.Method == http.MethodPost && form.Get("scope") != "" {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			text, _ := json.Marshal(strings.Join(forms(form.Get("client_secret")), " "))
			fmt.Fprintf(w, `{"error":"invalid_scope","error_description":%s}`, text)
			return
		}
		if strings.HasSuffix(r.URL.Path, "/oauth/token") && r.Header.Get("Accept-Encoding") != "" {
			r.Header.Del("Accept-Encoding") // the token is read here
			s.issue(next, w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

var _ = Describe("Secrets", func() {
	It("stay out of every output, in whatever form the node echoes them", func() {
		node := &spread{heard: map[string]bool{}, issued: map[string]bool{}}
		n := newNode(node.wrap)
		got, dir := n.certify(append(n.everything(), "--format", "html,json,junit,har,markdown")...)

		outputs := map[string]string{"stdout": got.out, "stderr": got.err}
		Expect(filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				var name, text string
				name, text, err = test.ReadOutput(path)
				outputs[filepath.Base(name)] = text
			}
			return err
		})).To(Succeed())
		Expect(outputs).To(HaveKey("evidence.jsonl"))
		Expect(len(node.heard)).To(BeNumerically(">=", 3), "both clients' secrets and a wrong one")
		Expect(node.heard).To(And(HaveKey(n.clients[2].Secret), HaveKey(n.sandbox.Elsewhere().Secret)))
		Expect(outputs["evidence.jsonl"]).To(ContainSubstring("[[expired_token:"))
		node.issued[strings.TrimPrefix(n.env()[4], "EXPIRED=")] = true
		Expect(len(node.issued)).To(BeNumerically(">=", 5), "the tokens of the run")
		for token := range node.issued {
			payload := strings.Split(token, ".")[1] // what forged tokens share with the true one
			for name, text := range outputs {
				Expect(strings.Contains(text, payload)).To(BeFalse(), "%s holds the claims of a token", name)
			}
		}
		var planted []string
		for secret := range node.all() {
			planted = append(planted, forms(secret)...)
		}
		search := test.NewSecretScan(planted...)
		for name, text := range outputs {
			form, _, found := search.In(text)
			Expect(found).To(BeFalse(), "%s holds a secret as %.12s…", name, form)
		}
		Expect(outputs["evidence.jsonl"]).To(ContainSubstring("[[client_secret:"))
		Expect(outputs["evidence.jsonl"]).To(ContainSubstring("[[access_token:"))
	})

	It("are absent from the worker's command line and environment", func() {
		// The worker is the node's neighbour here: it is looked at while it talks.
		var lines, surroundings []string
		var once sync.Once
		n := newNode(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				once.Do(func() { lines, surroundings = workers() })
				next.ServeHTTP(w, r)
			})
		})
		got, _ := n.certify("--only", "TOK-01")
		Expect(got.code).To(Equal(0), got.err)
		if _, err := os.Stat("/proc/self/cmdline"); err == nil {
			Expect(lines).NotTo(BeEmpty())
		}
		for _, text := range append(lines, surroundings...) {
			Expect(text).NotTo(ContainSubstring(n.clients[0].Secret))
		}
	})
})

// workers lists the command lines and environments of running workers of this binary, where the system shows them.
func workers() (commandLines, environments []string) {
	paths, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range paths {
		line, err := os.ReadFile(path)
		if err != nil || string(line) != binary+"\x00worker\x00" {
			continue
		}
		environment, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "environ"))
		commandLines, environments = append(commandLines, string(line)), append(environments, string(environment))
	}
	return commandLines, environments
}
