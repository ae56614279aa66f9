//go:build e2e

package e2e_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"

	"github.com/rin-network/rin/sandbox"
)

// pageAnswer is what a page could read of an answer.
type pageAnswer struct {
	Status  int
	Headers map[string]string
	Text    string
	Fault   string
}

// firstCredential reads the first client in a file that rin sandbox --credentials wrote.
func firstCredential(file string) sandbox.Credential {
	GinkgoHelper()
	data, err := os.ReadFile(file)
	Expect(err).NotTo(HaveOccurred())
	var written struct {
		Nodes []struct {
			Clients []struct{ ClientID, ClientSecret string }
		}
	}
	Expect(json.Unmarshal(data, &written)).To(Succeed())
	first := written.Nodes[0].Clients[0]
	return sandbox.Credential{ClientID: first.ClientID, Secret: first.ClientSecret}
}

// visitPages lets a page of another origin call a node with a CORS configuration, and returns what it saw, answer by answer.
func visitPages(allowed func(page string) string) map[string]pageAnswer {
	GinkgoHelper()
	answers := make(chan map[string]pageAnswer, 1)
	var client sandbox.Credential
	mux := http.NewServeMux()
	page := httptest.NewServer(mux)
	DeferCleanup(page.Close)
	mux.HandleFunc("GET /page.html", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, filepath.Join("testdata", "page.html"))
	})
	mux.HandleFunc("GET /credential", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{"id": client.ClientID, "secret": client.Secret})
	})
	mux.HandleFunc("POST /told", func(_ http.ResponseWriter, r *http.Request) {
		all := map[string]pageAnswer{}
		if json.NewDecoder(r.Body).Decode(&all) == nil {
			answers <- all
		}
	})
	credentials := filepath.Join(GinkgoT().TempDir(), "credentials.json")
	arguments := []string{"sandbox", "--addr", "127.0.0.1:0", "--calls", "20", "--rate-limit", "20/m", "--credentials", credentials}
	if origin := allowed(page.URL); origin != "" {
		arguments = append(arguments, "--cors", origin)
	}
	node := serve("", nil, append([]string{binary}, arguments...)...)
	client = firstCredential(credentials)
	browser := exec.Command("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--remote-debugging-port=0", "--user-data-dir="+GinkgoT().TempDir(), page.URL+"/page.html#"+url.QueryEscape(node))
	browser.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	session, err := gexec.Start(browser, nil, nil)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { endGroup(session) })
	var all map[string]pageAnswer
	Eventually(answers).WithTimeout(time.Minute).Should(Receive(&all))
	return all
}

var _ = Describe("A page of another origin in a browser", func() {
	BeforeEach(func() {
		if isMissing("chromium") {
			Skip("Chromium is missing")
		}
	})

	DescribeTable("walks from the registry to the list, and reads refusals with their headers", func(allowed func(string) string) {
		got := visitPages(allowed)
		Expect(got["registry"].Status).To(Equal(200))
		Expect(got["token"].Status).To(Equal(200))
		Expect(got["info"].Text).To(ContainSubstring(`"endpoints"`))
		Expect(got["list"].Headers).To(HaveKey("etag"))
		Expect(got["refused"].Status).To(Equal(401))
		Expect(got["refused"].Headers).To(HaveKeyWithValue("www-authenticate", ContainSubstring("invalid_token")))
		Expect(got["missing"].Status).To(Equal(404))
		Expect(got["method"].Status).To(Equal(405))
		Expect(got["method"].Headers).To(HaveKeyWithValue("allow", ContainSubstring("GET")))
		Expect(got["limited"].Status).To(Equal(429))
		Expect(got["limited"].Headers).To(HaveKeyWithValue("retry-after", Not(BeEmpty())))
	},
		Entry("that is allowed by name", func(page string) string { return page }),
		Entry("where all are allowed", func(string) string { return "*" }),
	)

	DescribeTable("reads nothing", func(allowed func(string) string) {
		got := visitPages(allowed)
		Expect(got).To(HaveLen(8))
		for name, answer := range got {
			Expect(answer.Fault).To(ContainSubstring("Failed to fetch"), name)
		}
	},
		Entry("where none is allowed", func(string) string { return "" }),
		Entry("where another is allowed", func(string) string { return "https://app.example" }),
	)
})
