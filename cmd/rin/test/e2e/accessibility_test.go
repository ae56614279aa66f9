//go:build e2e

package e2e_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/registry"
	"github.com/rin-network/rin/conformance/requirement"
)

// accessibility is the output of accessible.mjs.
type accessibility struct {
	Checks []struct {
		View          string
		Passed, Found []string
	}
	Keyboard []struct {
		View, First string
		Stops       int
		Hidden      []string
	}
	Overflows, Errors, Violations, Connections []string
}

// addEveryStatus adds invented nodes to the history, so that the pages show each status, a list of changes, and a second page of the matrix.
func addEveryStatus(dir registry.Dir) {
	GinkgoHelper()
	h, err := registry.OpenHistory(dir.History())
	Expect(err).NotTo(HaveOccurred())
	defer h.Close()
	var judged []registry.Judged
	outcomes := []requirement.Outcome{requirement.Pass, requirement.Warn, requirement.Fail, requirement.NotApplicable, requirement.Blocked, requirement.Inconclusive}
	for i, r := range requirement.Catalogue() {
		judged = append(judged, registry.Judged{ID: r.ID, Gate: r.Gate, Outcome: outcomes[i%len(outcomes)], Reason: "expected 401, got 200", Since: "2026-01-01"})
	}
	now := time.Now().UTC()
	night := registry.NightOf(now)
	nodes := map[string]func(n *registry.Node){
		"VALID": func(*registry.Node) {}, "SUSPENDED": func(n *registry.Node) { n.Bad = 2 }, "EXPIRING": func(n *registry.Node) { n.Certified = now.AddDate(0, 0, -350) },
		"STALE":     func(n *registry.Node) { n.Tested = registry.NightOf(now.AddDate(0, 0, -30)) },
		"WITHDRAWN": func(n *registry.Node) { n.Missing = night }, "NEVER-TESTED": func(n *registry.Node) { *n = registry.Node{ID: n.ID} },
		"ÜBER <b>&amp;": func(n *registry.Node) { n.Name = "Universität für sehr lange Namen und noch längere Fachbereiche" },
	}
	for i := range 160 { // the matrix has 150 rows on a page
		nodes["MANY-"+string(rune('A'+i/26))+string(rune('A'+i%26))] = func(*registry.Node) {}
	}
	for id, change := range nodes {
		for back := 20; back > 0; back-- {
			started := now.AddDate(0, 0, -back)
			o := registry.Outcome{Node: id, Night: registry.NightOf(started), Started: started, Result: []registry.Result{registry.Passed, registry.Failed, registry.Untested}[back%3], Headline: "Certified", Why: "TOK-02: expected 200, got 201", Catalogue: "1"}
			if back%5 == 0 {
				o.Changes = []registry.Change{{ID: judged[back].ID, From: requirement.Pass, To: requirement.Fail}, {ID: judged[back+1].ID, To: requirement.Warn}}
			}
			_, _, err := h.Add(o, func(n *registry.Node, _ *registry.Outcome) []registry.Night {
				n.Name, n.InfoURL, n.Requirements = "Institute "+id, "https://node.example/info/v1/oauth/info/", judged
				return nil
			})
			Expect(err).NotTo(HaveOccurred())
		}
		Expect(h.Change(id, func(n *registry.Node) {
			n.Certified, n.Tested, n.Good, n.Since, n.TestedAt, n.GoodAt = now, night, night, night, now, now
			change(n)
		})).To(Succeed())
	}
}

var _ = Describe("The public pages of a registry in a browser", func() {
	It("have nothing that axe-core finds, at 400 and 1200 pixels, dark, light and printed, and are read by keyboard", func() {
		if servers == "" || isMissing("chromium") {
			Skip("Node, npm or Chromium is missing")
		}
		chromium, err := exec.LookPath("chromium")
		Expect(err).NotTo(HaveOccurred())
		r := newNightlyRegistry(3, 1)
		out, err := r.rin(nil, "registry", "run", r.dir)
		Expect(err).NotTo(HaveOccurred(), out)
		dir := registry.Dir(r.dir)
		addEveryStatus(dir)
		out, err = r.rin(nil, "registry", "site", r.dir, "--reports")
		Expect(err).NotTo(HaveOccurred(), out)

		paths := []string{"/index.html", "/nodes-2.html"}
		for _, id := range []string{"VALID", "SUSPENDED", "EXPIRING", "STALE", "WITHDRAWN", "NEVER-TESTED", "ÜBER <b>&amp;"} {
			paths = append(paths, "/nodes/"+registry.FileName(id)+"/index.html")
		}
		reports, err := filepath.Glob(filepath.Join(dir.Pages(), "nodes", "*", "report.html"))
		Expect(err).NotTo(HaveOccurred())
		Expect(reports).To(HaveLen(3))
		paths = append(paths, "/nodes/XC/index.html", "/nodes/XC/report.html", "/nodes/XA/report.html") // XC deviates
		for _, path := range paths {
			Expect(filepath.Join(dir.Pages(), path)).To(BeARegularFile())
		}

		server := httptest.NewServer(http.FileServerFS(os.DirFS(dir.Pages())))
		DeferCleanup(server.Close)
		reader := exec.Command("node", append([]string{"accessible.mjs", server.URL, chromium, GinkgoT().TempDir()}, paths...)...)
		reader.Dir, reader.Stderr, reader.WaitDelay = servers, GinkgoWriter, time.Second
		text, err := reader.Output()
		Expect(err).NotTo(HaveOccurred())
		var seen accessibility
		Expect(json.Unmarshal(text, &seen)).To(Succeed())

		Expect(len(seen.Checks)).To(BeNumerically(">=", 5*len(paths)+1))
		last := len(seen.Checks) - 1
		Expect(seen.Checks[last].Found).To(ContainElements(HavePrefix("html-has-lang: "), HavePrefix("color-contrast: "), HavePrefix("image-alt: ")), "the check was not put to the test")
		for _, c := range seen.Checks[:last] {
			Expect(c.Found).To(BeEmpty(), c.View)
			Expect(c.Passed).To(ContainElements("color-contrast", "document-title", "html-has-lang", "link-name", "heading-order", "region"), c.View)
		}
		for _, k := range seen.Keyboard {
			Expect(k.Stops).To(BeNumerically(">", 3), k.View)
			Expect(k.Hidden).To(BeEmpty(), k.View)
		}
		Expect(seen.Overflows).To(BeEmpty())
		Expect(seen.Errors).To(BeEmpty())
		Expect(seen.Violations).To(BeEmpty(), "of the pages' own policy")
		Expect(seen.Connections).To(Equal([]string{host(server.URL)}))
	})
})
