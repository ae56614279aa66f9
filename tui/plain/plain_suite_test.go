package plain_test

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/tui/plain"
	"github.com/rin-network/rin/tui/tuitest"
)

func TestPlain(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "plain")
}

// printTour runs a tour on a new node and returns its output and its error. It checks that the output has no secret and no control character.
func printTour(change func(http.Handler) http.Handler, o plain.Options) (string, error) {
	GinkgoHelper()
	node := tuitest.NewNode(GinkgoTB(), sandbox.Config{Calls: 3}, change)
	w := node.Walk(GinkgoTB(), node.Target(), nil)
	var out strings.Builder
	ended := plain.Run(context.Background(), w, &out, o)
	tuitest.CheckNoSecrets(GinkgoTB(), out.String(), node.Credentials(), w)
	Expect(out.String()).NotTo(ContainSubstring("\x1b"))
	tuitest.CheckHarmless(GinkgoTB(), out.String())
	return out.String(), ended
}

// normalize replaces values that differ from run to run by text of the same length.
func normalize(text string) string {
	text = regexp.MustCompile(`127\.0\.0\.1:\d{1,5}`).ReplaceAllStringFunc(text, func(host string) string { return "127.0.0.1:10001"[:len(host)] }) // some are cut off
	for _, volatile := range []string{`Content-Length: (\d{5})\n`, `Etag: "([^"\n]*)`, `"kid": ?"([^"\n]*)`, `"jti": ?"([^"\n]*)`, `"x": ?"([^"\n]*)`, `"y": ?"([^"\n]*)`, `"n": ?"([^"\n]*)`, `kid ([A-Za-z0-9_-]+)`, `jti ([A-Za-z0-9_-]+)`,
		`account\s+([0-9a-f-]{36})`} {
		text = regexp.MustCompile(volatile).ReplaceAllStringFunc(text, func(found string) string {
			value := regexp.MustCompile(volatile).FindStringSubmatch(found)[1]
			return strings.Replace(found, value, strings.Repeat("…", len(value)), 1)
		})
	}
	return text
}
