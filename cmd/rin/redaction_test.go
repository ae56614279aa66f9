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
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/cmd/rin/test"
)

// echoingNode is a node that writes every secret that it receives back into its answers, in many encodings.
type echoingNode struct {
	clients  map[string]bool // the ids of the node's clients
	mu       sync.Mutex
	received map[string]bool // client secrets, right and wrong
	issued   map[string]bool // access tokens
}

// issue lets the node answer a token request and remembers the token.
func (s *echoingNode) issue(next http.Handler, w http.ResponseWriter, r *http.Request) {
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

// secrets returns the client secrets and the tokens.
func (s *echoingNode) secrets() map[string]bool {
	secrets := maps.Clone(s.received)
	maps.Copy(secrets, s.issued)
	return secrets
}

// forms returns the encodings of a secret in which the node writes it.
func forms(secret string) []string {
	quoted, _ := json.Marshal(secret)
	perByte := func(format string) string {
		var b strings.Builder
		for i := range len(secret) {
			fmt.Fprintf(&b, format, secret[i])
		}
		return b.String()
	}
	return []string{
		secret, url.QueryEscape(secret), url.PathEscape(secret), perByte("%%%02X"), perByte("%%%02x"),
		base64.StdEncoding.EncodeToString([]byte(secret)), base64.RawURLEncoding.EncodeToString([]byte(secret)),
		base64.StdEncoding.EncodeToString([]byte("x:" + secret)), base64.StdEncoding.EncodeToString([]byte("xy:" + secret)),
		hex.EncodeToString([]byte(secret)), strings.ToUpper(hex.EncodeToString([]byte(secret))),
		strings.Trim(string(quoted), `"`), perByte(`\u00%02x`),
	}
}

// remember keeps the secret of a real client, and a long one of a made-up client. Short made-up words stay readable.
func (s *echoingNode) remember(client, secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if secret != "" && s.clients[client] || len(secret) >= 16 {
		s.received[secret] = true
	}
}

// addClients adds the ids of real clients. It locks because the node already serves.
func (s *echoingNode) addClients(clients ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range clients {
		s.clients[id] = true
	}
}

// wrap adds the secrets of each request to its answer.
func (s *echoingNode) wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(io.LimitReader(r.Body, 1<<16))
		r.Body = io.NopCloser(strings.NewReader(string(sent)))
		form, _ := url.ParseQuery(string(sent))
		_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		s.remember(form.Get("client_id"), form.Get("client_secret"))
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
			r.Header.Del("Accept-Encoding") // issue reads the token, so the answer must not be compressed
			s.issue(next, w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

var _ = Describe("Secrets", func() {
	It("stay out of every output, in whatever form the node echoes them", func() {
		node := &echoingNode{clients: map[string]bool{}, received: map[string]bool{}, issued: map[string]bool{}}
		n := newNode(node.wrap)
		node.addClients(n.sandbox.ElsewhereClient().ClientID)
		for _, c := range n.clients {
			node.addClients(c.ClientID)
		}
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
		Expect(len(node.received)).To(BeNumerically(">=", 3), "both clients' secrets and a wrong one")
		Expect(node.received).To(And(HaveKey(n.clients[2].Secret), HaveKey(n.sandbox.ElsewhereClient().Secret)))
		Expect(outputs["evidence.jsonl"]).To(ContainSubstring("[[expired_token:"))
		node.issued[strings.TrimPrefix(n.env()[4], "EXPIRED=")] = true
		Expect(len(node.issued)).To(BeNumerically(">=", 5), "the tokens of the run")
		for token := range node.issued {
			payload := strings.Split(token, ".")[1] // forged tokens have the same payload
			for name, text := range outputs {
				Expect(strings.Contains(text, payload)).To(BeFalse(), "%s holds the claims of a token", name)
			}
		}
		var planted []string
		for secret := range node.secrets() {
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

	It("stay out of every output when they are made up and the node repeats nothing", func() {
		var mu sync.Mutex
		received := map[string]string{} // the kind of each word
		receive := func(what string, words ...string) {
			mu.Lock()
			defer mu.Unlock()
			for _, word := range words {
				if len(word) >= 16 && strings.ContainsAny(word, "0123456789") {
					received[word] = what
				}
			}
		}
		n := newNode(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				sent, _ := io.ReadAll(io.LimitReader(r.Body, 1<<16))
				r.Body = io.NopCloser(strings.NewReader(string(sent)))
				if form, err := url.ParseQuery(string(sent)); err == nil && r.Method == http.MethodPost {
					receive("secret", form["client_secret"]...)
					receive("assertion", form["client_assertion"]...)
				}
				if _, secret, ok := r.BasicAuth(); ok {
					receive("secret by Basic", secret)
				} else if _, token, _ := strings.Cut(r.Header.Get("Authorization"), " "); !strings.ContainsAny(token, ", ") {
					receive("bearer value", token)
				}
				receive("key", r.Header.Values("X-API-Key")...)
				for _, c := range r.Cookies() {
					receive("session", strings.TrimPrefix(c.Value, "s%3A"))
				}
				next.ServeHTTP(w, r)
			})
		})
		_, dir := n.certify(append(n.everything(), "--format", "html,json,junit,markdown", "--effort", "deep")...)
		kinds := map[string]bool{}
		for _, what := range received {
			kinds[what] = true
		}
		Expect(kinds).To(HaveLen(6), "secrets, assertions, bearer values, keys and sessions were sent: %v", kinds)
		Expect(filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			name, text, err := test.ReadOutput(path)
			for word, what := range received {
				if strings.Contains(text, word) {
					Fail(fmt.Sprintf("%s holds a made-up %s: %.12s…", filepath.Base(name), what, word))
				}
			}
			return err
		})).To(Succeed())
	})

	It("stay out of all that a registry keeps, prints and publishes, in whatever form the nodes echo them", func() {
		echo := &echoingNode{clients: map[string]bool{}, received: map[string]bool{}, issued: map[string]bool{}}
		loud := newNode(echo.wrap)
		var answer atomic.Value
		answer.Store("")
		hiding := newNode(func(next http.Handler) http.Handler { // it echoes only to calls that are not the suite's
			echoing := echo.wrap(next)
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case strings.HasPrefix(r.URL.Path, "/.well-known/"):
					fmt.Fprint(w, answer.Load())
				case strings.HasPrefix(r.UserAgent(), "rin-conformance"):
					next.ServeHTTP(w, r)
				default:
					echoing.ServeHTTP(w, r)
				}
			})
		})
		echo.addClients(loud.clients[0].ClientID)
		env := []string{"SECRET_LOUD=" + loud.clients[0].Secret, "SECRET_SLY=" + hiding.clients[0].Secret}
		policy := fmt.Sprintf("defaults: {profile: auth, blind: false, client-id: %s, client-secret: 'env:SECRET_{id}'}\n", loud.clients[0].ClientID)
		outputs := map[string]string{}
		run := func(r registryDir, args ...string) outcome {
			GinkgoHelper()
			got := r.rin(args...)
			Expect(got.code).NotTo(Or(Equal(2), Equal(4)), got.err)
			name := strings.Join(args, " ")
			for _, later := range []string{"", " again"} {
				if _, used := outputs[name+later]; !used {
					outputs[name+later] = got.out + got.err
					break
				}
			}
			return got
		}
		single, parted := newRegistry(policy), newRegistry(policy)
		for _, r := range []*registryDir{&single, &parted} {
			r.env = env
			r.write(entryOf("LOUD", loud.URL), entryOf("SLY", hiding.URL))
		}
		run(parted, "run", "--shard", "1/1")
		run(parted, "merge")
		run(single, "run")
		first := run(single, "admit", "SLY", "--control", "well-known")
		answer.Store(regexp.MustCompile(`alone:\n +([0-9a-f]{32})`).FindStringSubmatch(first.out)[1])
		admitted := run(single, "admit", "SLY", "--control", "well-known")
		Expect(admitted.out).To(ContainSubstring("delayed check: "))
		run(single, "admit", "LOUD")
		run(single, "site", "--reports")
		run(single, "try")
		run(single, "try", "--json")
		for _, file := range []string{"LOUD/run.zip", "SLY"} {
			for _, form := range []string{"--explain", "--json"} {
				outputs["verify "+file+form] = rin(nil, "verify", filepath.Join(single.path, "pages", "nodes", file), form).out
			}
		}
		outputs["verify"] = rin(nil, "verify", filepath.Join(single.path, "pages", "status.jwt"), "--key", filepath.Join(single.path, "operator.pub")).out

		for _, r := range []registryDir{single, parted} {
			for name, text := range r.texts() {
				outputs[name] = text
			}
		}
		for _, kind := range []string{"history.db", "-of-1.db", "feed.xml", "status.jwt", "SLY.json", "pages/nodes/LOUD/index.html", "pages/nodes/LOUD/report.html", "evidence.jsonl", "mark.jwt"} {
			Expect(slices.ContainsFunc(slices.Collect(maps.Keys(outputs)), func(name string) bool { return strings.HasSuffix(name, kind) })).To(BeTrue(), kind)
		}
		echo.remember(loud.clients[0].ClientID, hiding.clients[0].Secret)
		Expect(echo.received).To(HaveKey(loud.clients[0].Secret))
		Expect(len(echo.issued)).To(BeNumerically(">=", 3))
		var planted []string
		for secret := range echo.secrets() {
			if secret != answer.Load() {
				planted = append(planted, forms(secret)...)
			}
		}
		search := test.NewSecretScan(planted...)
		for name, text := range outputs {
			form, _, found := search.In(text)
			Expect(found).To(BeFalse(), "%s holds a secret as %.12s…", name, form)
		}
	})

	It("are absent from the worker's command line and environment", func() {
		// The worker runs on this machine, so the node can look at it while it sends a request.
		var commandLines, environments []string
		var once sync.Once
		n := newNode(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				once.Do(func() { commandLines, environments = workers() })
				next.ServeHTTP(w, r)
			})
		})
		got, _ := n.certify("--only", "TOK-01")
		Expect(got.code).To(Equal(0), got.err)
		if _, err := os.Stat("/proc/self/cmdline"); err == nil {
			Expect(commandLines).NotTo(BeEmpty())
		}
		for _, text := range append(commandLines, environments...) {
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
