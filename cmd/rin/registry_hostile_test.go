package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
)

// These tests cover faults of a registry's document, of its nodes and of its disk. nights_test.go of package registry covers other faults: ids twice,
// URLs that move, secrets that were rotated, clocks.
var _ = Describe("A night of rin registry run under bad conditions", func() {
	It("refuses a document at a URL that is HTML, huge or has shrunk, keeps the history, and goes on when the operator accepts it", func() {
		good := newNode(nil)
		var mu sync.Mutex
		var document string
		set := func(text string) { mu.Lock(); defer mu.Unlock(); document = text }
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			_, _ = io.WriteString(w, document)
		}))
		DeferCleanup(server.Close)
		entries := func(n int) string {
			GinkgoHelper()
			var all []entry
			for i := range n {
				all = append(all, entryOf(fmt.Sprintf("N%d", i), good.URL))
			}
			text, err := json.Marshal(map[string]any{"member": all})
			Expect(err).NotTo(HaveOccurred())
			return string(text)
		}
		r := newRegistry("")
		Expect(os.WriteFile(filepath.Join(r.path, "registry.yaml"), fmt.Appendf(nil, "operator: https://registry.example\ndocument: %s/ris.json\ndefaults: {profile: auth, client-id: %s, client-secret: env:SECRET}\n", server.URL, good.clients[0].ClientID), 0o600)).To(Succeed())
		r.env = []string{"SECRET=" + good.clients[0].Secret}
		set(entries(4))
		first := r.rin("run")
		Expect(first.code).To(Equal(0), first.out+first.err)
		list, err := os.ReadFile(filepath.Join(r.path, "pages", "status.jwt"))
		Expect(err).NotTo(HaveOccurred())
		var digest string
		for _, bad := range []struct{ document, says string }{
			{"<!doctype html><title>Sign in</title>", "got a page of HTML"},
			{`{"member":["` + strings.Repeat("x", 50<<20) + `"]}`, "16777216 bytes"},
			{entries(4)[:100], "expected a registry document"},
			{entries(1), "shrank from 4 entries to 1 entry: N1, N2, N3 are missing"},
		} {
			set(bad.document)
			got := r.rin("run")
			Expect(got.code).To(Equal(3), got.out+got.err)
			Expect(got.err).To(ContainSubstring(bad.says))
			Expect(got.out).To(BeEmpty())
			if d := regexp.MustCompile(`--accept-document ([0-9a-f]+)`).FindStringSubmatch(got.err); d != nil {
				digest = d[1]
			}
		}
		now, err := os.ReadFile(filepath.Join(r.path, "pages", "status.jwt"))
		Expect(err).NotTo(HaveOccurred())
		Expect(now).To(Equal(list), "nothing was signed meanwhile")
		accepted := r.rin("run", "--accept-document", digest)
		Expect(accepted.code).To(Equal(0), accepted.out+accepted.err)
		Expect(accepted.out).To(ContainSubstring("4 counted by an earlier run"))
	})

	It("gives no certificate to a node that redirects to another node's host, and sends its credentials to neither", func() {
		var mu sync.Mutex
		var leaked []string
		victim := newNode(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				sent, _ := io.ReadAll(io.LimitReader(req.Body, 1<<16))
				req.Body = io.NopCloser(strings.NewReader(string(sent)))
				if text := string(sent) + req.Header.Get("Authorization") + req.URL.RawQuery; strings.Contains(text, "canary-of-the-redirecting") {
					mu.Lock()
					leaked = append(leaked, req.Method+" "+req.URL.Path)
					mu.Unlock()
				}
				next.ServeHTTP(w, req)
			})
		})
		for _, status := range []int{302, 307, 308} {
			redirecting := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				http.Redirect(w, req, victim.URL+req.URL.RequestURI(), status)
			}))
			DeferCleanup(redirecting.Close)
			r := newRegistry("defaults: {profile: auth, client-id: registry, client-secret: 'env:SECRET_{id}'}\nnodes:\n  XA: {client-id: " + victim.clients[0].ClientID + "}\n")
			r.env = []string{"SECRET_XA=" + victim.clients[0].Secret, "SECRET_XB=canary-of-the-redirecting"}
			r.write(entryOf("XA", victim.URL), entryOf("XB", redirecting.URL))
			got := r.rin("run")
			Expect(got.code).To(Equal(0), got.out+got.err)
			Expect(got.out).To(ContainSubstring("1 valid, 1 uncertified"), "%d", status)
			Expect(got.err).To(MatchRegexp(`(failed|untested) +XB .*(redirect|TOK-01)`), "%d", status)
			Expect(filepath.Join(r.path, "pages", "nodes", "XB", "mark.jwt")).NotTo(BeAnExistingFile())
		}
		Expect(leaked).To(BeEmpty())
	})

	It("loses nothing to a full disk, and continues when there is room", func() {
		if _, err := exec.LookPath("sh"); err != nil {
			Skip("a shell limits the size of files")
		}
		good := newNode(nil)
		r := newRegistry(fmt.Sprintf("defaults: {profile: auth, client-id: %s, client-secret: env:SECRET}\n", good.clients[0].ClientID))
		r.write(entryOf("A", good.URL), entryOf("B", good.URL))
		r.env = []string{"SECRET=" + good.clients[0].Secret}
		limited := func(blocks int) (string, int) {
			GinkgoHelper()
			cmd := exec.Command("sh", "-c", fmt.Sprintf("ulimit -f %d; exec %s registry run %s", blocks, binary, r.path))
			cmd.Env = append(os.Environ(), r.env...)
			out, err := cmd.CombinedOutput()
			Expect(err).To(HaveOccurred())
			return string(out), cmd.ProcessState.ExitCode()
		}
		out, code := limited(8)
		Expect(code).To(Equal(4), "the history cannot be written")
		Expect(out).To(And(ContainSubstring("file too large"), ContainSubstring("hint: check the disk; the history keeps all that was stored before")))
		out, code = limited(160)
		Expect(code).To(Equal(3), "the history can be written, and the files of the runs cannot")
		Expect(out).To(And(MatchRegexp(`\? untested A .*file too large`), ContainSubstring("no node at all could be tested"), ContainSubstring("the disk")))
		Expect(filepath.Join(r.path, "pages", "nodes", "A", "mark.jwt")).NotTo(BeAnExistingFile())
		got := r.rin("run")
		Expect(got.code).To(Equal(0), got.out+got.err)
		Expect(got.out).To(ContainSubstring("2 passed, 0 failed, 0 untested\n"))

		limited(8) // the next command finds the history as it was
		repeated := r.rin("run")
		Expect(repeated.code).To(Equal(0), repeated.out+repeated.err)
		Expect(repeated.out).To(And(ContainSubstring("2 counted by an earlier run"), ContainSubstring("status: 2 valid")))
	})

	It("loses nothing to a full disk while it merges or admits", func() {
		if _, err := exec.LookPath("sh"); err != nil {
			Skip("a shell limits the size of files")
		}
		var answer atomic.Value
		good := newNode(answerChallenge(&answer))
		r := newRegistry(fmt.Sprintf("defaults: {profile: auth, client-id: %s, client-secret: env:SECRET}\n", good.clients[0].ClientID))
		r.write(entryOf("A", good.URL), entryOf("B", good.URL))
		r.env = []string{"SECRET=" + good.clients[0].Secret}
		limited := func(blocks int, args ...string) outcome {
			GinkgoHelper()
			cmd := exec.Command("sh", append([]string{"-c", `ulimit -f "$0"; exec "$@"`, fmt.Sprint(blocks), binary, "registry", args[0], r.path}, args[1:]...)...)
			cmd.Env = append(os.Environ(), r.env...)
			var got, problems strings.Builder
			cmd.Stdout, cmd.Stderr = &got, &problems
			Expect(cmd.Run()).To(HaveOccurred())
			return outcome{cmd.ProcessState.ExitCode(), got.String(), problems.String()}
		}
		for _, shard := range []string{"1/2", "2/2"} {
			got := r.rin("run", "--shard", shard)
			Expect(got.code).To(Equal(0), got.out+got.err)
		}
		full := limited(8, "merge")
		Expect(full.code).To(Equal(4), full.out)
		Expect(full.err).To(And(ContainSubstring("file too large"), ContainSubstring("check the disk; the history keeps all that was stored before")))
		merged := r.rin("merge")
		Expect(merged.code).To(Equal(0), merged.out+merged.err)
		Expect(merged.out).To(And(ContainSubstring("2 parts, 2 passed, 0 failed, 0 untested\n"), ContainSubstring("status: 2 valid")))

		full = limited(8, "admit", "A", "--control", "well-known")
		Expect(full.code).To(Equal(4), full.out)
		Expect(full.err).To(And(ContainSubstring("file too large"), ContainSubstring("check the disk")))
		letter := r.rin("admit", "A", "--control", "well-known")
		Expect(letter.code).To(Equal(3), letter.out+letter.err)
		answer.Store(regexp.MustCompile(`alone:\n +([0-9a-f]{32})`).FindStringSubmatch(letter.out)[1])
		full = limited(64, "admit", "A", "--control", "well-known")
		Expect(full.code).To(Equal(3), full.out+full.err)
		Expect(full.out).To(ContainSubstring("control:       proved on"))
		Expect(full.err).To(ContainSubstring("file too large"))
		admitted := r.rin("admit", "A", "--control", "well-known")
		Expect(admitted.code).To(Equal(0), admitted.out+admitted.err)
		repeated := r.rin("merge")
		Expect(repeated.code).To(Equal(0), repeated.out+repeated.err)
		Expect(repeated.out).To(ContainSubstring("2 counted by an earlier run"))
	})

	It("refuses a second admission of a node and a second run of a shard meanwhile, and counts once what two merges join at once", func() {
		var holds atomic.Bool
		held := make(chan struct{})
		waiting := make(chan struct{}, 100)
		good := newNode(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
				if holds.Load() {
					waiting <- struct{}{}
					select {
					case <-held:
					case <-req.Context().Done():
					}
				}
				next.ServeHTTP(w, req)
			})
		})
		r := newRegistry(fmt.Sprintf("defaults: {profile: auth, client-id: %s, client-secret: env:SECRET}\n", good.clients[0].ClientID))
		r.write(entryOf("A", good.URL), entryOf("B", good.URL))
		r.env = []string{"SECRET=" + good.clients[0].Secret}
		begin := func(args ...string) *gexec.Session {
			GinkgoHelper()
			cmd := exec.Command(binary, append([]string{"registry", args[0], r.path}, args[1:]...)...)
			cmd.Env = append(os.Environ(), r.env...)
			session, err := gexec.Start(cmd, nil, nil)
			Expect(err).NotTo(HaveOccurred())
			return session
		}
		for _, args := range [][]string{{"admit", "A"}, {"run", "--shard", "1/1"}} {
			held = make(chan struct{})
			holds.Store(true)
			first := begin(args...)
			Eventually(waiting, "20s").Should(Receive())
			second := r.rin(args...)
			Expect(second.code).To(Equal(3), second.out+second.err)
			Expect(second.err).To(And(ContainSubstring("another rin registry command is using it"), ContainSubstring("nothing was changed")))
			Expect(second.out).NotTo(ContainSubstring("To the operator"), "a letter with a client that counts for nothing")
			holds.Store(false)
			close(held)
			Eventually(first, "60s").Should(gexec.Exit(map[string]int{"admit": 3, "run": 0}[args[0]]), "%s", first.Err.Contents())
		}
		one, other := begin("merge"), begin("merge")
		for _, merge := range []*gexec.Session{one, other} {
			Eventually(merge, "60s").Should(gexec.Exit())
			Expect(merge.ExitCode()).To(BeElementOf(0, 3), "%s", merge.Err.Contents())
		}
		got := r.rin("merge")
		Expect(got.code).To(Equal(0), got.out+got.err)
		Expect(got.out).To(And(ContainSubstring("1 part, 0 passed, 0 failed, 0 untested; 2 counted by an earlier run"), ContainSubstring("status: 2 valid")))
	})
})
