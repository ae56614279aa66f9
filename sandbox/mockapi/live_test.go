package mockapi_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
)

// clock is a clock that a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

const first = `openapi: 3.0.3
info: {title: First, version: "1"}
paths:
  /one:
    get: {responses: {'200': {description: ok, content: {application/json: {schema: {type: object, required: [id], properties: {id: {type: string}}}}}}}}
`

var _ = Describe("a document that changes", func() {
	It("is served in a valid version; an invalid version is logged and not served", func() {
		var log bytes.Buffer
		file, clk := documentFile(first), &clock{now: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
		n := serveNode(sandbox.Config{Loopback: true, Clock: clk.Now, Logger: slog.New(slog.NewTextHandler(&log, nil)), API: sandbox.APIConfig{File: file}})
		write := func(text string) {
			GinkgoHelper()
			Expect(os.WriteFile(file, []byte(text), 0o600)).To(Succeed())
		}
		before := n.get("/one")
		Expect(before.status).To(Equal(http.StatusOK))

		write(first + "  /two:\n    get: {responses: {'204': {description: ok}}}\n")
		Expect(n.get("/two").status).To(Equal(http.StatusNotFound), "the file is checked once a second")
		clk.move(time.Second)
		Expect(n.get("/two").status).To(Equal(http.StatusNoContent))
		Expect(n.get("/one").body).To(Equal(before.body), "an unchanged operation answers as before")
		Expect(n.get("/api-docs").body).To(ContainSubstring("/two"))

		write(first + "  /three: [\n")
		clk.move(time.Second)
		Expect(n.get("/two").status).To(Equal(http.StatusNoContent))
		Expect(log.String()).To(SatisfyAll(ContainSubstring("level=WARN"), ContainSubstring("line 6")))
		Expect(n.API("").Fault).To(ContainSubstring("line 6"))
		logged := log.Len()
		clk.move(time.Second)
		Expect(n.get("/two").status).To(Equal(http.StatusNoContent))
		Expect(log.Len()).To(Equal(logged), "the same fault is logged once")

		Expect(os.Remove(file)).To(Succeed())
		clk.move(time.Second)
		Expect(n.get("/two").status).To(Equal(http.StatusNoContent))
		Expect(n.API("").Fault).To(ContainSubstring("no such file"))

		write(strings.ReplaceAll(first, "/one", "/four"))
		clk.move(-time.Hour) // the file is checked even if the clock goes back
		Expect(n.get("/four").status).To(Equal(http.StatusOK))
		Expect(n.get("/two").status).To(Equal(http.StatusNotFound))
		Expect(n.API("").Fault).To(BeEmpty())
	})
})
