package plain_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/tui/plain"
	"github.com/rin-network/rin/tui/walk"
)

func TestPlain(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "plain")
}

// told is a walk on a node of its own, as it is printed, and how it ended. No secret is in it, and no control byte.
func told(change func(http.Handler) http.Handler, o plain.Options) (string, error) {
	GinkgoHelper()
	now := func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }
	node, err := sandbox.New(sandbox.Config{Clock: now, Calls: 3, Loopback: true})
	Expect(err).NotTo(HaveOccurred())
	var handler http.Handler = node
	if change != nil {
		handler = change(node)
	}
	server := httptest.NewServer(handler)
	defer server.Close()
	clients := node.Credentials()
	w, err := walk.New(walk.Options{Suite: "test", Clock: now, Target: target.Target{
		Registry:    server.URL + "/registry/registry.json",
		Credentials: target.Credentials{ClientID: clients[0].ClientID, ClientSecret: target.NewSecret(clients[0].Secret)},
		Second:      &target.Credentials{ClientID: clients[1].ClientID, ClientSecret: target.NewSecret(clients[1].Secret)},
	}})
	Expect(err).NotTo(HaveOccurred())
	var out strings.Builder
	ended := plain.Run(context.Background(), w, &out, o)
	for _, c := range clients {
		Expect(out.String()).NotTo(ContainSubstring(c.Secret[:12]))
	}
	if token, ok := w.Issued(); ok {
		Expect(out.String()).NotTo(ContainSubstring(token.Value[len(token.Value)-12:]))
	}
	Expect(out.String()).NotTo(MatchRegexp(`[\x00-\x09\x0b-\x1f\x7f\x{80}-\x{9f}\x{200e}\x{200f}\x{2028}-\x{202e}\x{2066}-\x{2069}\x{feff}]`))
	return out.String(), ended
}

// fixed replaces what differs from run to run, by something as long.
func fixed(text string) string {
	text = regexp.MustCompile(`127\.0\.0\.1:\d{1,5}`).ReplaceAllStringFunc(text, func(host string) string { return "127.0.0.1:10001"[:len(host)] }) // some are cut
	for _, volatile := range []string{`Content-Length: (\d{5})\n`, `Etag: "([^"]*)"`, `"kid": ?"([^"]*)"`, `"jti": ?"([^"]*)"`, `"x": ?"([^"]*)"`, `"y": ?"([^"]*)"`, `"n": ?"([^"]*)"`, `kid ([A-Za-z0-9_-]+)`, `jti ([A-Za-z0-9_-]+)`,
		`account\s+([0-9a-f-]{36})`} {
		text = regexp.MustCompile(volatile).ReplaceAllStringFunc(text, func(whole string) string {
			value := regexp.MustCompile(volatile).FindStringSubmatch(whole)[1]
			return strings.Replace(whole, value, strings.Repeat("…", len(value)), 1)
		})
	}
	return text
}

// golden compares a text with the accepted one. RIN_UPDATE_GOLDEN=1 writes it.
func golden(name, text string) {
	GinkgoHelper()
	path := filepath.Join("testdata", name+".txt")
	if os.Getenv("RIN_UPDATE_GOLDEN") != "" {
		Expect(os.MkdirAll("testdata", 0o755)).To(Succeed())
		Expect(os.WriteFile(path, []byte(text), 0o644)).To(Succeed())
	}
	want, err := os.ReadFile(path)
	Expect(err).NotTo(HaveOccurred())
	Expect(text).To(Equal(string(want)), "see %s; RIN_UPDATE_GOLDEN=1 accepts it", path)
}
