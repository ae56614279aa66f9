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

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// What goes wrong around a registry: its document, its nodes, its disk. nights_test.go of package registry has the rest: ids twice, URLs that move, secrets
// that were rotated, clocks.
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
		Expect(accepted.out).To(ContainSubstring("4 counted before"))
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
		Expect(out).To(And(ContainSubstring("file too large"), ContainSubstring("hint: check the disk; what was acknowledged is kept")))
		out, code = limited(160)
		Expect(code).To(Equal(3), "the history can be written, and the files of the runs cannot")
		Expect(out).To(And(MatchRegexp(`\? untested A .*file too large`), ContainSubstring("no node at all could be tested"), ContainSubstring("the disk")))
		Expect(filepath.Join(r.path, "pages", "nodes", "A", "mark.jwt")).NotTo(BeAnExistingFile())
		got := r.rin("run")
		Expect(got.code).To(Equal(0), got.out+got.err)
		Expect(got.out).To(ContainSubstring("2 passed, 0 failed, 0 untested\n"))

		limited(8) // the next command finds the history as it was
		again := r.rin("run")
		Expect(again.code).To(Equal(0), again.out+again.err)
		Expect(again.out).To(And(ContainSubstring("2 counted before"), ContainSubstring("status: 2 valid")))
	})
})
