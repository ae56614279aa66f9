package main_test

import (
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
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

// peopleAPI is a document of records with personal data, which clients can change.
const peopleAPI = `openapi: 3.0.3
info: {title: People, version: 1.0.0}
servers: [{url: '/ris-synergy/people'}]
paths:
  /v1/people:
    get:
      parameters: [{name: limit, in: query, schema: {type: integer, maximum: 50, default: 5}}, {name: offset, in: query, schema: {type: integer}}]
      responses: {'200': {description: ok, content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Person'}}}}}}
    post:
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Person'}}}}
      responses: {'201': {description: made, content: {application/json: {schema: {$ref: '#/components/schemas/Person'}}}}}
  /v1/people/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: string}}]
    get:
      responses: {'200': {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/Person'}}}}, '404': {description: unknown}}
    patch:
      requestBody: {content: {application/merge-patch+json: {schema: {type: object}}}}
      responses: {'200': {description: ok, content: {application/json: {schema: {$ref: '#/components/schemas/Person'}}}}}
    delete:
      responses: {'204': {description: gone}}
components:
  schemas:
    Person: {type: object, required: [id, email], properties: {id: {type: string, format: uuid}, email: {type: string, format: email}, givenName: {type: string}, familyName: {type: string}, note: {type: string}}}
`

// bearer fetches a token of a sandbox for the client and the secret that its greeting shows.
func bearer(base string, greeting []byte) (token, secret string) {
	GinkgoHelper()
	secret = string(regexp.MustCompile(`secret  (\S+)`).FindSubmatch(greeting)[1])
	answer, err := http.PostForm(base+"/oauth/token", url.Values{"grant_type": {"client_credentials"}, "client_id": {"demo-client"}, "client_secret": {secret}})
	Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	var body struct {
		Token string `json:"access_token"`
	}
	Expect(json.NewDecoder(answer.Body).Decode(&body)).To(Succeed())
	return body.Token, secret
}

// ask sends a request with a token and returns the status, the body and the Link field of the answer.
func ask(method, address, token, body string) (status int, text, link string) {
	GinkgoHelper()
	r, err := http.NewRequest(method, address, strings.NewReader(body))
	Expect(err).NotTo(HaveOccurred())
	r.Header.Set("Authorization", "Bearer "+token)
	if body != "" {
		r.Header.Set("Content-Type", map[string]string{http.MethodPost: "application/json", http.MethodPatch: "application/merge-patch+json"}[method])
	}
	answer, err := http.DefaultClient.Do(r)
	Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	read, err := io.ReadAll(answer.Body)
	Expect(err).NotTo(HaveOccurred())
	return answer.StatusCode, string(read), answer.Header.Get("Link")
}

// textOf joins the files of a folder, each of which only its owner may read.
func textOf(folder string) string {
	GinkgoHelper()
	var b strings.Builder
	Expect(filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		Expect(err).NotTo(HaveOccurred())
		Expect(info.Mode().Perm()).To(Equal(fs.FileMode(0o600)), path)
		read, err := os.ReadFile(path)
		b.Write(read)
		return err
	})).To(Succeed())
	return b.String()
}

var _ = Describe("rin sandbox record", func() {
	It("reads a node by its registry entry; --replay gives the same records, under scenarios, too", func() {
		session, base := served("--seed", "7", "--calls", "12", "--control", "off")
		token, secret := bearer(base, session.Out.Contents())
		dir := GinkgoT().TempDir()
		record := []string{"sandbox", "record", "--registry", base + "/registry/registry.json", "--node", "XA", "--client-id", "demo-client", "--client-secret", "env:SECRET", "-o", "xa"}
		got := rinIn(dir, "", []string{"SECRET=" + secret}, append(record, "--keep")...)
		Expect(got.code).To(Equal(0), got.err)
		Expect(got.out).To(MatchRegexp(`(?s)^recorded XA in xa, with \d+ requests\n\n  GET /funding/v3/fundings  (\d+) records, \d+ details\n.*\nrin sandbox --replay xa\n$`))
		Expect(got.err).To(MatchRegexp(`GET /funding/v3/fundings: \d+ records, \d+ requests so far`))
		Expect(textOf(filepath.Join(dir, "xa"))).NotTo(ContainSubstring(secret))

		replayed, replayBase := served("--replay", filepath.Join(dir, "xa"), "--control", "off", "--scenario", "503-twice:wait=1s")
		other, _ := bearer(replayBase, replayed.Out.Contents())
		const list = "/ris-synergy/funding/v3/fundings"
		_, original, _ := ask(http.MethodGet, base+list, token, "")
		status, _, _ := ask(http.MethodGet, replayBase+list, other, "")
		Expect(status).To(Equal(http.StatusServiceUnavailable), "the scenario is played")
		var same string
		Eventually(func() int { status, same, _ = ask(http.MethodGet, replayBase+list, other, ""); return status }, "10s", "100ms").Should(Equal(http.StatusOK))
		Expect(same).To(MatchJSON(original))
		id := regexp.MustCompile(`"id":"(XF-\d+)"`).FindStringSubmatch(original)[1]
		_, detail, _ := ask(http.MethodGet, base+list+"/"+id, token, "")
		_, sameDetail, _ := ask(http.MethodGet, replayBase+list+"/"+id, other, "")
		Expect(sameDetail).To(MatchJSON(detail))
		_, page, link := ask(http.MethodGet, replayBase+list+"?page[size]=2", other, "")
		Expect(strings.Count(page, `"fundingScheme"`)).To(BeNumerically(">=", 1))
		Expect(link).To(ContainSubstring(replayBase + list + "?page%5Bsize%5D=2&page%5Bpage%5D=2>; rel=\"next\""))
		_, info, _ := ask(http.MethodGet, replayBase+"/ris-synergy/info/v1/oauth/info/", other, "")
		Expect(info).To(ContainSubstring(replayBase + list + `"`))
		_, document := get(replayBase + "/ris-synergy/funding/v3/api-docs")
		Expect(document).To(ContainSubstring(`"/funding/v3/fundings/{id}"`))

		Expect(rinIn(dir, "", []string{"SECRET=" + secret}, record...).err).To(ContainSubstring("--output: xa: expected a new or an empty folder"))
	})

	It("redacts by default, in a way that fits the document; drift then finds what changed, and nothing else", func() {
		dir := GinkgoT().TempDir()
		Expect(os.WriteFile(filepath.Join(dir, "people.yaml"), []byte(peopleAPI), 0o600)).To(Succeed())
		session, base := served("--spec", filepath.Join(dir, "people.yaml"), "--items", "8", "--state", "--control", "off")
		token, secret := bearer(base, session.Out.Contents())
		people := base + "/ris-synergy/people/v1/people"
		status, created, _ := ask(http.MethodPost, people, token, `{"id":"0b0e0d8a-1111-4222-8333-444455556666","email":"jane.doe@uni.example","givenName":"Jane","familyName":"Quimby","note":"Ask Jane Quimby, token eyJhbGciOiJub25lIn0.eyJzdWIiOiJqYW5lIn0.c2ln"}`)
		Expect(status).To(Equal(http.StatusCreated), created)
		id := regexp.MustCompile(`"id":"([^"]+)"`).FindStringSubmatch(created)[1]

		node := []string{"--token-url", base + "/oauth/token", "--info-url", base + "/ris-synergy/info/v1/oauth/info/", "--spec-url", base + "/ris-synergy/people/v1/api-docs",
			"--client-id", "demo-client", "--client-secret", "env:SECRET"}
		env := []string{"SECRET=" + secret}
		got := rinIn(dir, "", env, append([]string{"sandbox", "record", "-o", "people"}, node...)...)
		Expect(got.code).To(Equal(0), got.err)
		Expect(got.out).To(ContainSubstring("GET /v1/people  9 records, 9 details\n"))
		text := textOf(filepath.Join(dir, "people"))
		for _, secret := range []string{"jane.doe", "Quimby", "Jane", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJqYW5lIn0", secret} {
			Expect(text).NotTo(ContainSubstring(secret))
		}
		drift := append([]string{"sandbox", "drift", "people"}, node...)
		got = rinIn(dir, "", env, drift...)
		Expect(got.code).To(Equal(0), got.out+got.err)

		_, list, _ := ask(http.MethodGet, people+"?limit=50", token, "")
		first := regexp.MustCompile(`"id":"([^"]+)"`).FindStringSubmatch(list)[1]
		status, _, _ = ask(http.MethodDelete, people+"/"+first, token, "")
		Expect(status).To(Equal(http.StatusNoContent))
		status, _, _ = ask(http.MethodPatch, people+"/"+id, token, `{"note":"moved"}`)
		Expect(status).To(Equal(http.StatusOK))
		_, created, _ = ask(http.MethodPost, people, token, `{"id":"1b0e0d8a-1111-4222-8333-444455556666","email":"new@uni.example"}`)
		fresh := regexp.MustCompile(`"id":"([^"]+)"`).FindStringSubmatch(created)[1]

		got = rinIn(dir, "", env, drift...)
		Expect(got.code).To(Equal(1), got.out+got.err)
		Expect(got.out).To(SatisfyAll(ContainSubstring(": 3 differences\n"), ContainSubstring("gone"), ContainSubstring("new"), ContainSubstring("/note")))
		got = rinIn(dir, "", env, append(drift, "--json")...)
		Expect(got.code).To(Equal(1))
		var report struct {
			Drifted     bool
			Differences []struct {
				Change, Operation, Record string
				Members                   []string
			}
		}
		Expect(json.Unmarshal([]byte(got.out), &report)).To(Succeed())
		var found []string
		for _, d := range report.Differences {
			found = append(found, d.Change+" "+d.Record+" "+strings.Join(d.Members, " "))
		}
		Expect(found).To(ConsistOf("gone "+first+" ", "changed "+id+" /note detail /note", "new "+fresh+" "))

		_, replayed := served("--replay", filepath.Join(dir, "people"), "--control", "off", "--open")
		status, page, _ := ask(http.MethodGet, replayed+"/ris-synergy/people/v1/people", "", "")
		Expect(status).To(Equal(http.StatusOK))
		Expect(strings.Count(page, `"email"`)).To(Equal(5), "the default of the document")
		status, _, _ = ask(http.MethodGet, replayed+"/ris-synergy/funding/v3/fundings", "", "")
		Expect(status).To(Equal(http.StatusNotFound), "nothing is made up beside what was recorded")
	})

	It("waits when the node says so, and sends its token to no origin that was not named", func() {
		var strange, refused atomic.Int32
		elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strange.Add(1) }))
		DeferCleanup(elsewhere.Close)
		n := newNode(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasSuffix(r.URL.Path, "/fundings") {
					if refused.Add(1) == 1 {
						w.Header().Set("Retry-After", "1")
						w.WriteHeader(http.StatusTooManyRequests)
						return
					}
					w.Header().Set("Link", "<"+elsewhere.URL+"/more>; rel=next")
				}
				next.ServeHTTP(w, r)
			})
		})
		got := rin(n.env(), "sandbox", "record", "--registry", n.URL+"/registry/registry.json", "--node", "XA", "--client-id", n.clients[0].ClientID, "--client-secret", "env:SECRET", "--max-records", "100")
		Expect(got.code).To(Equal(0), got.err)
		Expect(words(got.out)).To(ContainSubstring("the link leads to an origin that was not named: " + elsewhere.URL))
		Expect(strange.Load()).To(BeZero())
		Expect(refused.Load()).To(BeNumerically("==", 2))
	})

	DescribeTable("continues where an earlier run was stopped, and asks for nothing twice", func(stop os.Signal, message string) {
		var mu sync.Mutex
		counts, reached := map[string]int{}, make(chan struct{})
		n := newNode(func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.Contains(r.URL.Path, "/fundings") {
					mu.Lock()
					counts[r.URL.RequestURI()]++
					hangs := len(counts) == 6 && counts[r.URL.RequestURI()] == 1
					mu.Unlock()
					if hangs { // until the run is stopped
						close(reached)
						<-r.Context().Done()
						panic(http.ErrAbortHandler)
					}
				}
				next.ServeHTTP(w, r)
			})
		})
		dir := GinkgoT().TempDir()
		args := []string{"sandbox", "record", "-o", "xa", "--registry", n.URL + "/registry/registry.json", "--node", "XA", "--client-id", n.clients[0].ClientID, "--client-secret", "env:SECRET"}
		cmd := exec.Command(binary, args...)
		cmd.Dir, cmd.Env = dir, n.env()
		session, err := gexec.Start(cmd, nil, nil)
		Expect(err).NotTo(HaveOccurred())
		Eventually(reached, "20s").Should(BeClosed())
		Eventually(session.Signal(stop), "20s").Should(gexec.Exit())
		Expect(words(string(session.Err.Contents()))).To(ContainSubstring(message))
		Expect(os.ReadDir(dir)).To(ConsistOf(HaveField("Name()", ".xa.partial")))
		info, err := os.Stat(filepath.Join(dir, ".xa.partial"))
		Expect(err).NotTo(HaveOccurred())
		Expect(info.Mode().Perm()).To(Equal(fs.FileMode(0o600)))
		Expect(textOf(dir)).NotTo(ContainSubstring(n.clients[0].Secret))

		got := rinIn(dir, "", n.env(), args...)
		Expect(got.code).To(Equal(0), got.err)
		Expect(got.err).To(MatchRegexp(`continues the run of \S+ after \d+ answers `))
		Expect(os.ReadDir(dir)).To(ConsistOf(HaveField("Name()", "xa")))
		drift := rinIn(dir, "", n.env(), append([]string{"sandbox", "drift", "xa"}, args[4:]...)...)
		Expect(drift.code).To(Equal(0), drift.out+drift.err)
		twice := 0
		for _, count := range counts { // once by record, and once by drift
			if count > 2 {
				twice++
			}
		}
		Expect(twice).To(BeNumerically("<=", 1), "%v", counts)
	},
		Entry("by Ctrl+C", os.Interrupt, "interrupted; no folder was written hint: run it again; the same command continues after"),
		Entry("by a crash", os.Kill, ""),
	)

	DescribeTable("answers a mistake with a message, a hint and exit code 2, and makes no folder",
		func(message string, args ...string) {
			dir := GinkgoT().TempDir()
			Expect(os.Mkdir(filepath.Join(dir, "empty"), 0o700)).To(Succeed())
			got := rinIn(dir, "", []string{"SECRET=s3cret-s3cret"}, append([]string{"sandbox"}, args...)...)
			Expect(got.code).To(Equal(2), got.out+got.err)
			Expect(got.err).To(SatisfyAll(ContainSubstring(message), ContainSubstring("hint: ")))
			entries, err := os.ReadDir(dir)
			Expect(err).NotTo(HaveOccurred())
			Expect(entries).To(HaveLen(1))
		},
		Entry("no node", "--token-url is missing", "record", "--client-id", "a", "--client-secret", "env:SECRET"),
		Entry("a secret on the command line", "--client-secret takes a place", "record", "--client-id", "a", "--client-secret", "hunter2hunter2"),
		Entry("a value without a name", "--value: expected NAME=VALUE", "record", "--value", "2026"),
		Entry("no room", "--max-records", "record", "--max-records", "0"),
		Entry("a folder in a folder that is not there", "--output", "record", "-o", "no/where", "--token-url", "http://127.0.0.1:1/t", "--info-url", "http://127.0.0.1:1/i", "--spec-url", "http://127.0.0.1:1/s", "--client-id", "a", "--client-secret", "env:SECRET"),
		Entry("a replay of nothing", "--replay: empty/recording.json: no such file", "--replay", "empty", "--addr", "127.0.0.1:0"),
		Entry("a replay with generated records", "--replay serves recorded answers", "--replay", "empty", "--items", "3", "--addr", "127.0.0.1:0"),
		Entry("no folder to compare", "expected the folder of a recording", "drift"),
		Entry("a comparison with nothing", "empty/recording.json: no such file", "drift", "empty"),
	)

	It("replays for rin client-test", func() {
		dir := GinkgoT().TempDir()
		n := newNode(nil)
		got := rinIn(dir, "", n.env(), "sandbox", "record", "--registry", n.URL+"/registry/registry.json", "--node", "XA", "--client-id", n.clients[0].ClientID, "--client-secret", "env:SECRET", "-o", "xa")
		Expect(got.code).To(Equal(0), got.err)
		harvest, err := gexec.Build("github.com/rin-network/rin/cmd/rin/testdata/harvest")
		Expect(err).NotTo(HaveOccurred())
		got = rinIn(dir, "", nil, "client-test", "--replay", "xa", "--scenario", "503-twice", "--", harvest, "patient")
		Expect(got.code).To(Equal(0), got.out+got.err)
		Expect(got.out).To(MatchRegexp(`(?m)^503-twice +0 .* ok$`))
	})
})
