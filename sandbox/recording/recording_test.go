package recording_test

import (
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/mockapi"
	"github.com/rin-network/rin/sandbox/recording"
)

func operation(r *recording.Recording, name string) *recording.Operation {
	GinkgoHelper()
	for _, o := range r.Operations {
		if o.Name == name {
			return o
		}
	}
	Fail("no operation " + name)
	return nil
}

func notes(r *recording.Recording) string {
	var all []string
	for _, n := range r.Notes {
		all = append(all, n.Operation+" "+n.Text)
	}
	return strings.Join(all, "\n")
}

// allText returns the content of all files of a folder, and the names.
func allText(folder string) string {
	var b strings.Builder
	Expect(filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		Expect(err).NotTo(HaveOccurred())
		Expect(info.Mode().Perm()).To(Equal(fs.FileMode(0o600)), path)
		text, err := os.ReadFile(path)
		b.WriteString(path + "\n" + string(text))
		return err
	})).To(Succeed())
	return b.String()
}

func get(h http.Handler, path string) (int, any) {
	GinkgoHelper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://sandbox.example/api"+path, nil))
	var value any
	_ = json.Unmarshal(w.Body.Bytes(), &value)
	return w.Code, value
}

var _ = Describe("A recording", func() {
	It("follows lists to their end: by cursors, by Link fields, by numbers of pages until a page is empty", func() {
		node := newFakeNode()
		r := record(node, origin, recording.DefaultLimits())
		Expect(operation(r, "GET /people").Records()).To(Equal(7))
		Expect(operation(r, "GET /people").Details()).To(Equal(7))
		Expect(operation(r, "GET /projects").Records()).To(Equal(130))
		Expect(operation(r, "GET /topics").Records()).To(Equal(5))
		Expect(operation(r, "GET /people/{id}/grants").Lists).To(HaveLen(7))
		Expect(operation(r, "GET /status").Answers).To(HaveLen(1))
		Expect(notes(r)).To(Equal("GET /reports/{year} not recorded: no list of the document has the values of year (--value year=VALUE)"))
		Expect(node.requests).To(ContainElement("/api/projects?page=4&size=50"), "a short page is not the end")
	})

	It("says what was cut", func() {
		limits := recording.DefaultLimits()
		limits.Records = 5
		r := record(newFakeNode(), origin, limits)
		Expect(operation(r, "GET /people").Records()).To(Equal(5))
		Expect(operation(r, "GET /people").Lists["/people"].Cut).To(BeTrue())
		Expect(notes(r)).To(ContainSubstring("GET /people cut at 5 records (--max-records)"))
	})

	It("keeps what was read when the budget is used up, and says so", func() {
		node, left := newFakeNode(), 8
		fetch := reach(node, origin)
		r := &recording.Recording{Document: []byte(document), Limits: recording.DefaultLimits()}
		Expect(recording.Crawl(context.Background(), r, func(ctx context.Context, q recording.Request) (recording.Answer, error) {
			if left--; left < 0 {
				return recording.Answer{}, recording.ErrBudget
			}
			return fetch(ctx, q)
		}, func(string, int) {})).To(Succeed())
		Expect(node.requests).To(HaveLen(8))
		Expect(operation(r, "GET /people").Records()).To(Equal(7))
		Expect(notes(r)).To(ContainSubstring("the budget of requests or bytes is used up"))
	})

	It("does not loop on a node whose links lead in a circle", func() {
		node := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Link", `<`+origin+`/topics?after=`+r.URL.Query().Get("after")+`x>; rel=next`)
			_, _ = w.Write([]byte(`["Rock"]`))
		})
		r := record(node, origin, recording.DefaultLimits())
		Expect(operation(r, "GET /topics").Records()).To(Equal(1))
		Expect(notes(r)).To(ContainSubstring("GET /topics cut at 1 records: the links lead to records that were read already"))
	})

	It("records nothing of an operation that the node refuses", func() {
		node := newFakeNode()
		node.refuse["/api/people"] = http.StatusForbidden
		r := record(node, origin, recording.DefaultLimits())
		Expect(notes(r)).To(ContainSubstring("GET /people not recorded: the node answered 403"))
		status, _ := get(replay(r, mockapi.Options{}), "/people")
		Expect(status).To(Equal(http.StatusNotImplemented))
	})
})

var _ = Describe("A redacted recording", func() {
	redacted := func(k byte) *recording.Recording {
		GinkgoHelper()
		r := record(newFakeNode(), origin, recording.DefaultLimits())
		redactor := recording.NewRedactor(key(k))
		redactor.AddSecret("hunter2-hunter2")
		Expect(redactor.Redact(r)).To(Succeed())
		return r
	}

	It("has no mail address, name or token in any file", func() {
		r := record(newFakeNode(), origin, recording.DefaultLimits())
		redactor := recording.NewRedactor(key(1), "hunter2-hunter2")
		Expect(redactor.Redact(r)).To(Succeed())
		folder := filepath.Join(GinkgoT().TempDir(), "xa")
		Expect(r.Write(folder, redactor)).To(Succeed())
		text := allText(folder)
		for _, secret := range planted() {
			Expect(text).NotTo(ContainSubstring(secret))
		}
		Expect(text).To(ContainSubstring("Project 130"))
		Expect(text).To(ContainSubstring("name;mail"))
		Expect(text).NotTo(ContainSubstring("PNG"), "content that is not text cannot be redacted")
		Expect(notes(r)).To(ContainSubstring("GET /shot an answer was left out"))
		Expect(text).To(ContainSubstring("Dr. "), "the rest of the text stays")
	})

	It("keeps everything if that is asked for", func() {
		r := record(newFakeNode(), origin, recording.DefaultLimits())
		folder := filepath.Join(GinkgoT().TempDir(), "xa")
		Expect(r.Write(folder, nil)).To(Succeed())
		text := allText(folder)
		for _, secret := range planted() {
			Expect(text).To(ContainSubstring(secret))
		}
	})

	It("fits the document where the node's answers do: formats, patterns, lengths, enumerations", func() {
		r := redacted(1)
		for _, o := range r.Operations {
			Expect(o.Invalid).To(BeZero(), o.Name)
		}
		replayed := record(replay(r, mockapi.Options{}), origin, recording.DefaultLimits())
		for _, o := range replayed.Operations {
			Expect(o.Invalid).To(BeZero(), "%s: %s", o.Name, o.FirstInvalid)
		}
		person := operation(r, "GET /people").Lists["/people"].Items[0].Value.(map[string]any)
		Expect(person["familyName"]).To(MatchRegexp("^[A-Z][a-z]{2}$"))
		Expect(person["email"]).To(MatchRegexp(`^mail-[0-9a-f]{12}@example\.org$`))
		Expect(person["role"]).To(Equal("LEAD"))
	})

	It("makes the same values up under the same key, and others under another", func() {
		contact := func(k byte) any {
			return operation(redacted(k), "GET /projects").Lists["/projects"].Items[0].Value.(map[string]any)["contact"].(map[string]any)["name"]
		}
		Expect(contact(1)).To(Equal(contact(1)))
		Expect(contact(1)).NotTo(Equal(contact(2)))
	})

	It("gives a person one made-up name, in fields and in texts", func() {
		item := operation(redacted(1), "GET /projects").Lists["/projects"].Items[0].Value.(map[string]any)
		name := item["contact"].(map[string]any)["name"].(string)
		_, last, _ := strings.Cut(name, " ")
		Expect(item["text"]).To(HavePrefix("Ask Dr. " + last + " or " + name + " (mail-"))
	})
})

var _ = Describe("A replayed recording", func() {
	It("gives a client the same records, page by page", func() {
		r := record(newFakeNode(), origin, recording.DefaultLimits())
		folder := filepath.Join(GinkgoT().TempDir(), "xa")
		Expect(r.Write(folder, nil)).To(Succeed())
		opened, err := recording.Open(folder)
		Expect(err).NotTo(HaveOccurred())
		again := record(replay(opened, mockapi.Options{}), "http://sandbox.example/api", recording.DefaultLimits())
		found, err := recording.Compare(r, again)
		Expect(err).NotTo(HaveOccurred())
		// The only difference is that links lead to the sandbox.
		Expect(found).To(Equal([]recording.Difference{{Change: recording.Changed, Operation: "GET /status", Path: "/status", Members: []string{"/see"}}}))
		Expect(operation(again, "GET /status").Answers["/status"]).To(HaveKeyWithValue("see", "http://sandbox.example/api/people"))
	})

	It("gives header fields and other content as the node did, and draws none", func() {
		r := record(newFakeNode(), origin, recording.DefaultLimits())
		folder := filepath.Join(GinkgoT().TempDir(), "xa")
		Expect(r.Write(folder, nil)).To(Succeed())
		opened, err := recording.Open(folder)
		Expect(err).NotTo(HaveOccurred())
		h := replay(opened, mockapi.Options{})
		answer := func(path, tag string) *http.Response {
			w := httptest.NewRecorder()
			q := httptest.NewRequest(http.MethodGet, "http://sandbox.example/api"+path, nil)
			q.Header.Set("If-None-Match", tag)
			h.ServeHTTP(w, q)
			return w.Result()
		}
		status := answer("/status", "").Header
		Expect(status.Get("ETag")).To(Equal(`W/"s-1"`))
		Expect(status.Get("Cache-Control")).To(Equal("private, max-age=60"))
		Expect(status.Get("Content-Language")).To(Equal("de"))
		Expect(status.Get("Link")).To(Equal(`<http://sandbox.example/api/people>; rel="help"`))
		Expect(status.Get("X-Model")).To(Equal("hunter2-hunter2"))
		Expect(status).NotTo(HaveKey("X-Region"), "the node did not give it")
		Expect(status).NotTo(HaveKey("X-Trace"), "the document does not describe it")
		Expect(answer("/status", `"s-1"`).StatusCode).To(Equal(http.StatusNotModified))
		topics := answer("/topics", "").Header
		Expect(topics.Values("Link")).To(ContainElements(ContainSubstring(`rel="next"`), `<https://licence.example/by>; rel="license"`))
		Expect(topics.Get("Cache-Control")).To(Equal("public, max-age=600"))
		for path, content := range map[string][2]string{"/sheet": {"text/csv; charset=utf-8", "name;mail\nJane Doe;jane.doe@uni.example\n"}, "/shot": {"image/png", photo}} {
			got := answer(path, "")
			Expect(got.StatusCode).To(Equal(http.StatusOK))
			Expect(got.Header.Get("Content-Type")).To(Equal(content[0]))
			Expect(io.ReadAll(got.Body)).To(Equal([]byte(content[1])))
		}
	})

	It("pages and filters as the document describes, with the right counts", func() {
		h := replay(record(newFakeNode(), origin, recording.DefaultLimits()), mockapi.Options{})
		_, value := get(h, "/projects?size=50&page=3")
		Expect(value).To(HaveLen(30))
		_, value = get(h, "/projects")
		Expect(value).To(HaveLen(20), "as the node does without a size")
		_, value = get(h, "/projects?status=OPEN&size=50&page=2")
		Expect(value).To(HaveLen(15))
		_, value = get(h, "/people")
		Expect(value).To(SatisfyAll(HaveKeyWithValue("total", BeNumerically("==", 7)), HaveKeyWithValue("data", HaveLen(3)), HaveKeyWithValue("nextCursor", BeAssignableToTypeOf(""))))
		status, _ := get(h, "/people?cursor=nonsense")
		Expect(status).To(Equal(http.StatusBadRequest))
		status, _ = get(h, "/people/nobody")
		Expect(status).To(Equal(http.StatusNotFound))
		status, _ = get(h, "/people/nobody/grants")
		Expect(status).To(Equal(http.StatusNotFound))
	})

	It("leaves numbers as they were", func() {
		h := replay(record(newFakeNode(), origin, recording.DefaultLimits()), mockapi.Options{})
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://sandbox.example/api/people/p-1/grants", nil))
		Expect(w.Body.String()).To(Equal(`[{"amount":12.50,"grant":"G-p-1"}]`))
	})
})

var _ = Describe("The comparison", func() {
	It("finds an added, a removed and a changed record, and the members", func() {
		before, node := record(newFakeNode(), origin, recording.DefaultLimits()), newFakeNode()
		node.projects[4]["status"], node.projects[4]["extra"] = "CLOSED", true
		node.projects = append(node.projects[:9:9], node.projects[10:]...)
		node.projects = append(node.projects, map[string]any{"id": 999})
		found, err := recording.Compare(before, record(node, origin, recording.DefaultLimits()))
		Expect(err).NotTo(HaveOccurred())
		difference := func(change recording.Change, id string, members ...string) recording.Difference {
			return recording.Difference{Change: change, Operation: "GET /projects", Path: "/projects", Record: id, Members: members}
		}
		Expect(found).To(ConsistOf(difference(recording.Changed, "5", "/extra", "/status"), difference(recording.Gone, "10"), difference(recording.New, "999")))
	})

	It("ignores redacted values, and finds a changed one", func() {
		folder := filepath.Join(GinkgoT().TempDir(), "xa")
		before := record(newFakeNode(), origin, recording.DefaultLimits())
		redactor := recording.NewRedactor(key(3))
		Expect(redactor.Redact(before)).To(Succeed())
		Expect(before.Write(folder, redactor)).To(Succeed())
		compare := func(node *fakeNode) []recording.Difference {
			GinkgoHelper()
			opened, err := recording.Open(folder)
			Expect(err).NotTo(HaveOccurred())
			same, err := recording.OpenRedactor(folder)
			Expect(err).NotTo(HaveOccurred())
			after := record(node, origin, recording.DefaultLimits())
			Expect(same.Redact(after)).To(Succeed())
			found, err := recording.Compare(opened, after)
			Expect(err).NotTo(HaveOccurred())
			return found
		}
		Expect(compare(newFakeNode())).To(BeEmpty())
		node := newFakeNode()
		node.people[2]["email"] = "joan@uni.example"
		Expect(compare(node)).To(Equal([]recording.Difference{{Change: recording.Changed, Operation: "GET /people", Path: "/people", Record: "p-2", Members: []string{"/email"}}}))
	})

	It("finds a changed document, by operation", func() {
		before := record(newFakeNode(), origin, recording.DefaultLimits())
		after := *before
		after.Document = []byte(strings.Replace(document, `"operationId": "listPeople"`, `"operationId": "people"`, 1))
		found, err := recording.Compare(before, &after)
		Expect(err).NotTo(HaveOccurred())
		Expect(found).To(Equal([]recording.Difference{{Change: recording.Changed, Operation: "document", Members: []string{"/paths/~1people/get"}}}))
	})
})

var _ = Describe("A folder", func() {
	var folder string
	BeforeEach(func() {
		folder = filepath.Join(GinkgoT().TempDir(), "xa")
		Expect(record(newFakeNode(), origin, recording.DefaultLimits()).Write(folder, nil)).To(Succeed())
	})
	rewrite := func(name string, change func(string) string) {
		GinkgoHelper()
		text, err := os.ReadFile(filepath.Join(folder, name))
		Expect(err).NotTo(HaveOccurred())
		Expect(os.WriteFile(filepath.Join(folder, name), []byte(change(string(text))), 0o600)).To(Succeed())
	}

	It("is never overwritten, and leaves nothing behind when it cannot be made", func() {
		Expect(record(newFakeNode(), origin, recording.DefaultLimits()).Write(folder, nil)).To(MatchError(ContainSubstring("expected a new or an empty folder")))
		entries, err := os.ReadDir(filepath.Dir(folder))
		Expect(err).NotTo(HaveOccurred())
		Expect(entries).To(HaveLen(1))
	})

	DescribeTable("is refused with the file and a hint if it is damaged",
		func(message string, damage func()) {
			damage()
			_, err := recording.Open(folder)
			var d *recording.Damage
			Expect(err).To(BeAssignableToTypeOf(d))
			Expect(err).To(MatchError(ContainSubstring(message)))
			Expect(err.(*recording.Damage).Hint).NotTo(BeEmpty())
		},
		Entry("the manifest is missing", "recording.json: no such file", func() { Expect(os.Remove(filepath.Join(folder, "recording.json"))).To(Succeed()) }),
		Entry("the manifest is cut", "recording.json: it is damaged", func() { rewrite("recording.json", func(s string) string { return s[:len(s)/2] }) }),
		Entry("another version", `expected the schema rin.recording/v1, got "rin.recording/v9"`, func() {
			rewrite("recording.json", func(s string) string { return strings.Replace(s, "recording/v1", "recording/v9", 1) })
		}),
		Entry("a changed document", "document.json: it has changed since it was recorded", func() { rewrite("document.json", func(s string) string { return s + " " }) }),
		Entry("changed records", "it has changed since it was recorded", func() { rewrite("records/001-people.jsonl", func(s string) string { return s[:len(s)-10] }) }),
		Entry("a file outside the folder", "outside the folder", func() {
			rewrite("recording.json", func(s string) string { return strings.Replace(s, `"document.json"`, `"../document.json"`, 1) })
		}),
	)
})

var _ = Describe("The answers of a run that was interrupted", func() {
	answer := recording.Answer{Status: http.StatusOK, Header: http.Header{"Etag": {`"1"`}}, Body: []byte("[1]"), URL: "http://node.example/a"}
	open := func(folder, source string) *recording.Partial {
		GinkgoHelper()
		p, err := recording.OpenPartial(folder, source, time.Unix(1_700_000_000, 0))
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { _ = p.Close() }) // it may be closed
		return p
	}

	It("are read again, without what was not written to its end", func() {
		folder := filepath.Join(GinkgoT().TempDir(), "xa")
		first := open(folder, "a")
		Expect(first.Keep("GET a", answer, nil)).To(Succeed())
		Expect(first.Keep("GET b", answer, nil)).To(Succeed())
		Expect(first.Close()).To(Succeed())
		info, err := os.Stat(first.Path())
		Expect(err).NotTo(HaveOccurred())
		Expect(os.Truncate(first.Path(), info.Size()-5)).To(Succeed())
		second := open(folder, "a")
		got, ok := second.Answer("GET a")
		Expect(ok).To(BeTrue())
		Expect(got).To(Equal(answer))
		_, ok = second.Answer("GET b")
		Expect(ok).To(BeFalse())
		Expect(second.Keep("GET c", answer, nil)).To(Succeed())
		Expect(second.Close()).To(Succeed())
		kept, _ := open(folder, "a").Progress()
		Expect(kept).To(Equal(2))
		kept, _ = open(folder, "another node").Progress()
		Expect(kept).To(BeZero())
	})

	It("do not include answers with a secret, or with a status that may pass", func() {
		folder := filepath.Join(GinkgoT().TempDir(), "xa")
		p := open(folder, "a")
		for _, status := range []int{401, 403, 429, 500, 503} {
			passing := answer
			passing.Status = status
			Expect(p.Keep("GET a", passing, nil)).To(Succeed())
		}
		echo := answer
		echo.Body = []byte(`{"you sent":"hunter2-hunter2"}`)
		Expect(p.Keep("GET b", echo, []string{"hunter2-hunter2"})).To(Succeed())
		kept, _ := p.Progress()
		Expect(kept).To(BeZero())
		Expect(p.Close()).To(Succeed())
		Expect(p.Path()).NotTo(BeAnExistingFile())
	})
})
