package registry_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/certificate"
	"github.com/rin-network/rin/conformance/registry"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
)

// site writes the pages and returns the content of one.
func (n *network) site(reports registry.Reports, page string) string {
	GinkgoHelper()
	n.read(func(h *registry.History) {
		_, err := n.WriteSite(context.Background(), h, reports)
		Expect(err).NotTo(HaveOccurred())
	})
	return n.public(page)
}

func (n *network) public(page string) string {
	GinkgoHelper()
	text, err := os.ReadFile(filepath.Join(n.Dir.Pages(), page))
	Expect(err).NotTo(HaveOccurred())
	return string(text)
}

func (n *network) modified(page string) time.Time {
	GinkgoHelper()
	info, err := os.Stat(filepath.Join(n.Dir.Pages(), page))
	Expect(err).NotTo(HaveOccurred())
	return info.ModTime()
}

// admitted admits a node that has proved control, and returns when its run began.
func (n *network) admitted(id string, d registry.Document) time.Time {
	GinkgoHelper()
	started := n.now
	entry, known := d.Find(id)
	Expect(known).To(BeTrue())
	h, err := registry.OpenHistory(n.Dir.History())
	Expect(err).NotTo(HaveOccurred())
	defer h.Close()
	Expect(n.AdmitRun(h, entry, d, started)).To(Succeed())
	var text bytes.Buffer
	Expect(report.WriteJSON(&text, report.Report{Schema: report.Version, Verdict: report.Verdict{Headline: "Certified for an admission"}})).To(Succeed())
	run := n.Dir.RunDir(id, registry.NightOf(started)+"-admission")
	Expect(os.MkdirAll(run, 0o755)).To(Succeed())
	Expect(os.WriteFile(filepath.Join(run, "report.json"), text.Bytes(), 0o600)).To(Succeed())
	return started
}

var _ = Describe("The public pages", func() {
	It("show each node with its status, its rules, its nights and its changes, and say the same as JSON and as a feed", func() {
		n := newNetwork("certificate: {bad-nights: 2}")
		n.script["N2"] = map[registry.Night]string{"2026-03-02": "fail", "2026-03-03": "fail"}
		n.script["N3"] = map[registry.Night]string{"2026-03-03": "down"}
		for range 3 {
			n.night(documentOf(3))
		}
		matrix := n.site(registry.KeepReports, "index.html")
		Expect(matrix).To(And(ContainSubstring(`<a href="nodes/N1/">N1</a>`), ContainSubstring(`<span aria-hidden="true">✗</span> suspended`), ContainSubstring(`title="Token endpoint: success: failed, costs the certificate"`), ContainSubstring(`<span class="hidden">TOK failed, costs the certificate</span>`), ContainSubstring("3 nodes")))

		page := n.public("nodes/N2/index.html")
		Expect(page).To(And(
			ContainSubstring("failed, costs the certificate, since"), ContainSubstring(`Success status is exactly 200 <span class="muted">failed, costs the certificate`),
			ContainSubstring("<strong>suspended</strong> since"), ContainSubstring("3 nights: 1 passed, 2 failed, 0 untested"),
			ContainSubstring(`<details id="TOK" open>`), ContainSubstring("TOK-02 failed"),
		))
		Expect(strings.Count(page, "<rect ")).To(Equal(3))
		Expect(n.public("nodes/N3/index.html")).To(ContainSubstring(`class="untested"`))

		var list struct {
			Nodes []struct {
				ID     string
				Status registry.Status
				Groups map[string]requirement.Outcome
			}
		}
		Expect(json.Unmarshal([]byte(n.public("index.json")), &list)).To(Succeed())
		Expect(list.Nodes).To(HaveLen(3))
		Expect(list.Nodes[1].Status).To(Equal(registry.Suspended))
		Expect(list.Nodes[1].Groups).To(HaveKeyWithValue("TOK", requirement.Fail))
		Expect(json.Valid([]byte(n.public("nodes/N2/node.json")))).To(BeTrue())

		var feed struct {
			Entries []struct {
				Title   string `xml:"title"`
				Summary string `xml:"summary"`
			} `xml:"entry"`
		}
		Expect(xml.Unmarshal([]byte(n.public("feed.xml")), &feed)).To(Succeed())
		Expect(feed.Entries).To(HaveLen(5))
		Expect(feed.Entries[0].Title).To(Equal("N2 is suspended"))
		Expect(feed.Entries[1].Summary).To(Equal("Not certified; TOK-02: failed"))
		Expect(feed.Entries[2:]).To(HaveEach(HaveField("Summary", "Certified")), "the first certificates")
		Expect(feed.Entries[4].Title).To(Equal("N3 is valid"))
		var asJSON struct {
			Items []struct{ Title, ID string }
		}
		Expect(json.Unmarshal([]byte(n.public("feed.json")), &asJSON)).To(Succeed())
		Expect(asJSON.Items).To(HaveLen(5))
		Expect(asJSON.Items[4].Title).To(Equal("N3 is valid"))
	})

	It("show a test in the morning with the date of that day, beside the night to which it belongs", func() {
		n := newNetwork("certificate: {bad-nights: 3, max-age: 90d}")
		n.now = time.Date(2026, 3, 2, 10, 46, 0, 0, time.UTC)
		n.script["N2"] = map[registry.Night]string{"2026-03-01": "down"}
		n.night(documentOf(2))
		Expect(n.site(registry.KeepReports, "index.html")).To(And(
			ContainSubstring(`<td>2026-03-01</td><td>2026-03-02</td>`), ContainSubstring(`<td>not yet</td>`),
			ContainSubstring("suspended after 3 bad nights in a row, and ends after 90 days unless it is renewed"), ContainSubstring("A night begins at noon, UTC"),
		))
		Expect(n.public("nodes/N1/index.html")).To(And(
			ContainSubstring("<dt>Last tested</dt><dd>2026-03-02 10:46 UTC</dd>"), ContainSubstring("<dt>Last passed</dt><dd>2026-03-02 10:46 UTC</dd>"),
			ContainSubstring(`since the night of <time datetime="2026-03-01">`),
		))
		Expect(n.public("nodes/N1/badge.svg")).To(ContainSubstring("valid · 2026-03-02"))
		Expect(n.public("index.json")).To(ContainSubstring(`"tested":"2026-03-01","testedAt":"2026-03-02T10:46:00Z"`))
	})

	It("say of a node that could never be tested that no rule has been judged", func() {
		n := newNetwork("")
		n.script["N1"] = map[registry.Night]string{"2026-03-01": "down"}
		n.night(documentOf(1))
		Expect(n.site(registry.KeepReports, "nodes/N1/index.html")).To(And(ContainSubstring("No rule has been judged yet"), ContainSubstring("<dt>Last tested</dt><dd>not yet</dd>"), Not(ContainSubstring("<details id="))))
	})

	It("name the night of a test whose time an older history lacks", func() {
		n := newNetwork("")
		n.night(documentOf(1))
		h, err := registry.OpenHistory(n.Dir.History())
		Expect(err).NotTo(HaveOccurred())
		Expect(h.Change("N1", func(node *registry.Node) { node.TestedAt, node.GoodAt = time.Time{}, time.Time{} })).To(Succeed())
		Expect(h.Close()).To(Succeed())
		Expect(n.site(registry.KeepReports, "nodes/N1/index.html")).To(ContainSubstring("<dt>Last tested</dt><dd>in the night of 2026-03-01</dd>"))
	})

	It("name the institution as in its entry, and the groups in words", func() {
		n := newNetwork("")
		n.night(documentOf(1, func(text string) string {
			return strings.Replace(text, `"id":"N1"`, `"id":"N1","name":"University of <b>"`, 1)
		}))
		Expect(n.site(registry.KeepReports, "index.html")).To(And(ContainSubstring("University of &lt;b&gt;"), ContainSubstring("<dt>TOK</dt><dd>Token endpoint: success</dd>")))
		Expect(n.public("nodes/N1/index.html")).To(ContainSubstring("University of &lt;b&gt;"))
		Expect(n.public("index.json")).To(ContainSubstring(`"name":"University of`))
	})

	It("list an admission, and say so of a node that no night has tested yet", func() {
		n := newNetwork("")
		h, err := registry.OpenHistory(n.Dir.History())
		Expect(err).NotTo(HaveOccurred())
		Expect(h.Change("XA", func(node *registry.Node) {
			node.Status, node.Good, node.Tested, node.Certified, node.Control, node.CertifiedRun = registry.Valid, "2026-03-01", "2026-03-01", n.now, n.now, "2026-03-01-admission"
		})).To(Succeed())
		Expect(h.Close()).To(Succeed())
		Expect(n.site(registry.KeepReports, "feed.xml")).To(And(ContainSubstring("<title>XA is valid</title>"), ContainSubstring("Admitted: control is proved"), ContainSubstring("#2026-03-01-admission</id>")))
		Expect(n.public("nodes/XA/index.html")).To(And(ContainSubstring("No night yet: the node passed at its admission"), Not(ContainSubstring("0 nights"))))
	})

	It("say of a download that rin verifies it only if it holds the published certificate", func() {
		n := newNetwork("")
		n.admitted("N1", documentOf(1))
		n.site(registry.PublishReports, "nodes/N1/index.html")
		published := filepath.Join(n.Dir.Public("N1"), "certificate.intoto.json")
		Expect(os.WriteFile(published, []byte("{}"), 0o600)).To(Succeed())
		Expect(n.site(registry.KeepReports, "nodes/N1/index.html")).To(And(ContainSubstring("rin verify certificate.intoto.json --key"), Not(ContainSubstring("rin verify run.zip"))), "of another run")
		runs, err := filepath.Glob(n.Dir.RunDir("N1", "*"))
		Expect(err).NotTo(HaveOccurred())
		Expect(runs).To(HaveLen(1))
		Expect(os.WriteFile(filepath.Join(runs[0], "certificate.intoto.json"), []byte("{}"), 0o600)).To(Succeed())
		Expect(n.site(registry.PublishReports, "nodes/N1/index.html")).To(ContainSubstring("rin verify run.zip --key"))
	})

	It("leave out a node that was never certified after its entry is gone, and show one that was as withdrawn", func() {
		n := newNetwork("run: {may-shrink: 100}")
		n.script["N2"] = map[registry.Night]string{"2026-03-01": "fail"}
		_, key, err := ed25519.GenerateKey(nil)
		Expect(err).NotTo(HaveOccurred())
		publish := func() {
			GinkgoHelper()
			h, err := registry.OpenHistory(n.Dir.History())
			Expect(err).NotTo(HaveOccurred())
			defer h.Close()
			for _, id := range []string{"N1", "N3"} { // certificates of this test need no evidence
				run := n.Dir.RunDir(id, "2026-03-01")
				Expect(os.WriteFile(filepath.Join(run, "certificate.intoto.json"), []byte("{}"), 0o600)).To(Succeed())
			}
			_, err = n.Publish(h, key, "test")
			Expect(err).NotTo(HaveOccurred())
		}
		n.night(documentOf(3))
		Expect(os.MkdirAll(n.Dir.Pages(), 0o755)).To(Succeed())
		publish()
		Expect(n.site(registry.KeepReports, "index.html")).To(ContainSubstring("nodes/N2/"))

		lost := documentOf(1)
		Expect(n.night(lost).Results).To(Equal(map[registry.Result]int{registry.Passed: 1, registry.Untested: 2}))
		publish()
		Expect(n.site(registry.KeepReports, "index.html")).To(And(Not(ContainSubstring("N2")), ContainSubstring("2 nodes"), MatchRegexp(`N3</a></th><td class="withdrawn status">`)))
		Expect(n.Dir.Public("N2")).NotTo(BeAnExistingFile())
		Expect(n.public("feed.xml") + n.public("index.json")).NotTo(ContainSubstring("N2"))
		Expect(n.public("nodes/N3/index.html")).To(And(ContainSubstring("the registry document lacks the entry since the night of 2026-03-02"), ContainSubstring("withdrawn: The registry document lacks its entry")))
		Expect(filepath.Join(n.Dir.Public("N3"), "mark.jwt")).NotTo(BeAnExistingFile())

		Expect(n.night(lost).Results).To(Equal(map[registry.Result]int{registry.Passed: 1, registry.Untested: 1}), "later nights do not look for it")
		publish()
		n.night(documentOf(3))
		Expect(n.site(registry.KeepReports, "index.html")).To(ContainSubstring("nodes/N2/"), "an entry that comes back is tested")
	})

	It("say the same everywhere of a node that failed in a night, was mended and was admitted in the same night", func() {
		n := newNetwork("")
		n.script["N1"] = map[registry.Night]string{"2026-03-01": "fail"}
		_, err := n.run(context.Background(), documentOf(1))
		Expect(err).NotTo(HaveOccurred())
		n.now = n.now.Add(2 * time.Hour) // 2026-03-02 00:00
		n.script["N1"] = nil
		admitted := n.admitted("N1", documentOf(1))
		Expect(n.site(registry.PublishReports, "nodes/N1/index.html")).To(And(
			ContainSubstring(`<strong>valid</strong> since its admission on <time datetime="2026-03-02">`), ContainSubstring("he node passed its admission on 2026-03-02 00:00 UTC"),
			ContainSubstring("1 night: 0 passed, 1 failed, 0 untested."), ContainSubstring("Besides, the node passed its admission on 2026-03-02 00:00 UTC."),
			MatchRegexp(`(?s)<tr><th scope="row">Admission on <time datetime="2026-03-02">2026-03-02</time></th><td>passed</td>.*<tr><th scope="row"><time datetime="2026-03-01">2026-03-01</time></th><td>failed</td>`),
			MatchRegexp(`valid: Admitted: control is proved, and the node passed <span class="tag pass">TOK-02 passed</span>`),
		))
		Expect(n.public("nodes/N1/report.html")).To(ContainSubstring("Certified for an admission"), "the report is that of the last run")
		Expect(filepath.Join(n.Dir.Public("N1"), "certified-run.zip")).NotTo(BeAnExistingFile(), "the last run is the certified one")
		var feed struct {
			Updated string `xml:"updated"`
			Entries []struct {
				Title   string `xml:"title"`
				Updated string `xml:"updated"`
			} `xml:"entry"`
		}
		Expect(xml.Unmarshal([]byte(n.public("feed.xml")), &feed)).To(Succeed())
		Expect(feed.Updated).To(Equal("2026-03-02T00:00:00Z"), "the time of the newest change, not of the pages")
		Expect(feed.Entries).To(HaveLen(1))
		Expect(feed.Entries[0].Updated).To(Equal("2026-03-02T00:00:00Z"))

		n.now = n.now.Add(24 * time.Hour)
		n.night(documentOf(1))
		Expect(n.site(registry.KeepReports, "nodes/N1/index.html")).To(ContainSubstring(`<strong>valid</strong> since its admission on`))
		Expect(xml.Unmarshal([]byte(n.public("feed.xml")), &feed)).To(Succeed())
		Expect(feed.Updated).To(Equal(admitted.UTC().Format(time.RFC3339)), "a good night after the admission is not a change")
	})

	It("name the fingerprint of the operator's key, when the certificate ends, and how to verify it", func() {
		n := newNetwork("certificate: {max-age: 90d}")
		public, _, err := ed25519.GenerateKey(nil)
		Expect(err).NotTo(HaveOccurred())
		text, err := certificate.WritePublicKey(public)
		Expect(err).NotTo(HaveOccurred())
		Expect(os.WriteFile(n.Dir.PublicKey(), text, 0o600)).To(Succeed())
		n.night(documentOf(1))
		Expect(os.MkdirAll(n.Dir.Public("N1"), 0o755)).To(Succeed())
		Expect(os.WriteFile(filepath.Join(n.Dir.Public("N1"), "certificate.intoto.json"), []byte("{}"), 0o600)).To(Succeed())
		Expect(n.site(registry.KeepReports, "index.html")).To(ContainSubstring(certificate.Fingerprint(public)))
		Expect(n.public("nodes/N1/index.html")).To(And(ContainSubstring(certificate.Fingerprint(public)), ContainSubstring("ends on 2026-05-30 unless it is renewed"),
			ContainSubstring("rin verify certificate.intoto.json --key operator.pub")))
	})

	It("make texts from a node harmless, in every file", func() {
		const id = `<script>alert(1)</script>"&'`
		n := newNetwork("")
		d := documentOf(1, func(text string) string {
			quoted, err := json.Marshal(id)
			Expect(err).NotTo(HaveOccurred())
			return strings.Replace(text, `"N1"`, string(quoted), 1)
		})
		n.script[id] = map[registry.Night]string{"2026-03-01": "fail"}
		n.night(d)
		Expect(n.site(registry.KeepReports, "index.html")).To(And(ContainSubstring("&lt;script&gt;"), Not(ContainSubstring("<script"))))
		Expect(n.public("nodes/" + registry.FileName(id) + "/index.html")).To(And(Not(ContainSubstring("<script")), ContainSubstring("status 201 &lt;script&gt;")))
		Expect(n.public("feed.xml")).NotTo(ContainSubstring("<script"))
	})

	It("do not publish why a node could not be tested, or what was drawn for it", func() {
		n := newNetwork("")
		n.script["N1"] = map[registry.Night]string{"2026-03-01": "down"}
		n.script["N2"] = map[registry.Night]string{"2026-03-01": "fail"}
		n.night(documentOf(2))
		for _, page := range []string{"index.html", "nodes/N1/index.html", "nodes/N1/node.json", "index.json", "feed.xml"} {
			Expect(n.site(registry.KeepReports, page)).NotTo(ContainSubstring("no answer"), page)
		}
		Expect(n.public("nodes/N1/index.html")).To(ContainSubstring("The registry could not test the node"))
		Expect(n.public("nodes/N2/index.html")).To(ContainSubstring("the token came with status 201"), "what the node did is public")
		Expect(n.node("N1").Outcome.Why).To(ContainSubstring("no answer"), "the operator sees it")
	})

	It("publish a report only if the operator says so, and remove it later", func() {
		n := newNetwork("")
		n.night(documentOf(1))
		run := n.Dir.RunDir("N1", "2026-03-01")
		Expect(n.site(registry.PublishReports, "nodes/N1/index.html")).NotTo(Or(ContainSubstring("report.html"), ContainSubstring("run.zip")), "there is no report of this version")
		var text bytes.Buffer
		Expect(report.WriteJSON(&text, report.Report{Schema: report.Version, Verdict: report.Verdict{Headline: "Certified for a test"}})).To(Succeed())
		for name, content := range map[string][]byte{"report.json": text.Bytes(), "report.html": []byte("a report"), "evidence.jsonl.gz": []byte("evidence"), "note.txt": []byte("of the operator")} {
			Expect(os.WriteFile(filepath.Join(run, name), content, 0o600)).To(Succeed())
		}
		Expect(n.site(registry.KeepReports, "nodes/N1/index.html")).NotTo(Or(ContainSubstring("report.html"), ContainSubstring("run.zip")))
		Expect(n.site(registry.PublishReports, "nodes/N1/index.html")).To(And(ContainSubstring(`<a href="report.html">`), ContainSubstring(`<a href="run.zip" download>`)))
		Expect(n.public("nodes/N1/report.html")).To(And(ContainSubstring("Certified for a test"), ContainSubstring(`<a href="run.zip" download>`)))
		whole, err := zip.OpenReader(filepath.Join(n.Dir.Public("N1"), "run.zip"))
		Expect(err).NotTo(HaveOccurred())
		var names []string
		for _, f := range whole.File {
			names = append(names, f.Name)
		}
		Expect(whole.Close()).To(Succeed())
		Expect(names).To(Equal([]string{"N1-2026-03-01/evidence.jsonl.gz", "N1-2026-03-01/report.html", "N1-2026-03-01/report.json"}), "the files of the run alone")
		before := n.modified("nodes/N1/run.zip")
		n.site(registry.PublishReports, "index.html")
		Expect(n.modified("nodes/N1/run.zip")).To(Equal(before), "a run that did not change is not written again")
		Expect(n.site(registry.KeepReports, "nodes/N1/index.html")).To(And(ContainSubstring(`<a href="report.html">Report</a>`), ContainSubstring(`>Whole run</a>`)), "what was published stays")
		Expect(n.modified("nodes/N1/run.zip")).To(Equal(before))
		n.night(documentOf(1))
		Expect(n.site(registry.KeepReports, "nodes/N1/index.html")).To(And(ContainSubstring(`Report of 2026-03-01</a>`), ContainSubstring(`Run of 2026-03-01</a>`)), "it is of an earlier run")
		Expect(n.site(registry.RemoveReports, "nodes/N1/index.html")).NotTo(Or(ContainSubstring("report.html"), ContainSubstring("run.zip")))
		for _, name := range []string{"report.html", "run.zip"} {
			Expect(filepath.Join(n.Dir.Public("N1"), name)).NotTo(BeAnExistingFile())
		}
	})

	It("publish the certified run beside the last one, so that anyone can recompute the certificate", func() {
		n := newNetwork("")
		n.night(documentOf(1))
		n.night(documentOf(1))
		var text bytes.Buffer
		Expect(report.WriteJSON(&text, report.Report{Schema: report.Version, Verdict: report.Verdict{Headline: "Certified for a test"}})).To(Succeed())
		Expect(os.WriteFile(filepath.Join(n.Dir.RunDir("N1", "2026-03-02"), "report.json"), text.Bytes(), 0o600)).To(Succeed())
		Expect(os.WriteFile(filepath.Join(n.Dir.RunDir("N1", "2026-03-01"), "certificate.intoto.json"), []byte("{}"), 0o600)).To(Succeed())
		Expect(n.site(registry.PublishReports, "nodes/N1/index.html")).To(And(ContainSubstring(`<a href="run.zip" download>Last run</a>`), ContainSubstring(`<a href="certified-run.zip" download>Certified run</a>`)))
		whole, err := zip.OpenReader(filepath.Join(n.Dir.Public("N1"), "certified-run.zip"))
		Expect(err).NotTo(HaveOccurred())
		Expect(whole.File[0].Name).To(Equal("N1-2026-03-01/certificate.intoto.json"))
		Expect(whole.Close()).To(Succeed())
		Expect(n.site(registry.KeepReports, "nodes/N1/index.html")).To(ContainSubstring("certified-run.zip"))
		Expect(n.site(registry.RemoveReports, "nodes/N1/index.html")).NotTo(ContainSubstring("certified-run.zip"))
		Expect(filepath.Join(n.Dir.Public("N1"), "certified-run.zip")).NotTo(BeAnExistingFile())
	})

	It("publish the whole run without the report if that is too long for a page, and say so", func() {
		n := newNetwork("")
		n.night(documentOf(1))
		var text bytes.Buffer
		Expect(report.WriteJSON(&text, report.Report{Schema: report.Version, Verdict: report.Verdict{Headline: strings.Repeat("x", report.MaxSummary)}})).To(Succeed())
		Expect(os.WriteFile(filepath.Join(n.Dir.RunDir("N1", "2026-03-01"), "report.json"), text.Bytes(), 0o600)).To(Succeed())
		Expect(os.MkdirAll(n.Dir.Public("N1"), 0o755)).To(Succeed())
		Expect(os.WriteFile(filepath.Join(n.Dir.Public("N1"), "report.html"), []byte("of the night before"), 0o600)).To(Succeed())
		Expect(n.site(registry.PublishReports, "nodes/N1/index.html")).To(And(ContainSubstring(`<a href="run.zip" download>`), ContainSubstring("The report is too long for a page"), Not(ContainSubstring(`href="report.html"`))))
		Expect(filepath.Join(n.Dir.Public("N1"), "report.html")).NotTo(BeAnExistingFile())
	})

	It("split a large matrix into pages of at most 500 kB, and remove pages that are not needed any more", func() {
		n := newNetwork("run: {may-shrink: 100}")
		large := n.Dir
		fill(large, 400, 2)
		Expect(n.site(registry.KeepReports, "index.html")).To(ContainSubstring(`<a href="nodes-3.html">`))
		for _, page := range []string{"index.html", "nodes-2.html", "nodes-3.html"} {
			Expect(len(n.public(page))).To(BeNumerically("<", 500_000), page)
		}
		Expect(os.Remove(large.History())).To(Succeed())
		fill(large, 10, 2)
		n.site(registry.KeepReports, "index.html")
		Expect(filepath.Join(large.Pages(), "nodes-2.html")).NotTo(BeAnExistingFile())
	})
})

// fill makes a history in which every group of every node was judged.
func fill(dir registry.Dir, nodes, nights int) {
	GinkgoHelper()
	Expect(os.MkdirAll(dir.Pages(), 0o755)).To(Succeed())
	h, err := registry.OpenHistory(dir.History())
	Expect(err).NotTo(HaveOccurred())
	defer h.Close()
	Expect(h.Fill(nodes, nights)).To(Succeed())
}

// BenchmarkSite writes the pages of 5,000 nodes with a year of history: at most 30 s and 500 MB.
func BenchmarkSite(b *testing.B) {
	dir := registry.Dir(b.TempDir())
	if err := os.MkdirAll(dir.Pages(), 0o755); err != nil {
		b.Fatal(err)
	}
	h, err := registry.OpenHistory(dir.History())
	if err != nil {
		b.Fatal(err)
	}
	defer h.Close()
	if err := h.Fill(5000, 365); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		o := registry.Operator{Dir: dir, Now: func() time.Time { return time.Date(2026, 3, 1, 6, 0, 0, 0, time.UTC) }}
		if _, err := o.WriteSite(context.Background(), h, registry.KeepReports); err != nil {
			b.Fatal(err)
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys)/1e6, "MB")
	if memory := m.Sys / 1e6; memory > 500 { // the time depends on what else the machine does
		b.Errorf("expected at most 500 MB, got %d MB", memory)
	}
}
