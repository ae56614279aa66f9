package main_test

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("Replicas of a sandbox", func() {
	// file writes a text that only this user can read.
	file := func(text string) string {
		GinkgoHelper()
		path := filepath.Join(GinkgoT().TempDir(), "seed")
		Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
		return path
	}
	const keys, secrets = "3f9a1c77e0b24d5c8a6611d0947fe2ab", "c41d0b9e22f84a7795e3aa10677bd3f1"

	// replicas starts three sandboxes behind a proxy that sends each request to the next one, and returns the proxy's URL and what the first one printed.
	replicas := func(args ...string) (base, printed string) {
		GinkgoHelper()
		var reserved []net.Listener
		var origins []*url.URL
		for range 3 {
			free, err := net.Listen("tcp", "127.0.0.1:0")
			Expect(err).NotTo(HaveOccurred())
			reserved = append(reserved, free)
			origins = append(origins, &url.URL{Scheme: "http", Host: free.Addr().String()})
		}
		for _, free := range reserved { // only now, so that the addresses differ
			Expect(free.Close()).To(Succeed())
		}
		var next atomic.Uint64
		proxy := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(origins[next.Add(1)%uint64(len(origins))])
		}})
		DeferCleanup(proxy.Close)
		for _, origin := range origins {
			session := startIn(ownStates(), append([]string{"--addr", origin.Host, "--public-url", proxy.URL, "--as-of", "2026-03-01", "--calls", "40"}, args...)...)
			printed = string(session.Out.Contents())
		}
		return proxy.URL, printed
	}
	token := func(base, printed string) string {
		GinkgoHelper()
		secret := regexp.MustCompile(`(?m)^  secret +(\S+)$`).FindStringSubmatch(printed)[1]
		answer, err := http.PostForm(base+"/oauth/token", url.Values{"grant_type": {"client_credentials"}, "client_id": {"demo-client"}, "client_secret": {secret}})
		Expect(err).NotTo(HaveOccurred())
		defer answer.Body.Close()
		Expect(answer.StatusCode).To(Equal(http.StatusOK))
		var got struct {
			Token string `json:"access_token"`
		}
		Expect(json.NewDecoder(answer.Body).Decode(&got)).To(Succeed())
		return got.Token
	}
	ask := func(url, token string) (int, string) {
		GinkgoHelper()
		request, err := http.NewRequest(http.MethodGet, url, nil)
		Expect(err).NotTo(HaveOccurred())
		request.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(request)
		Expect(err).NotTo(HaveOccurred())
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		Expect(err).NotTo(HaveOccurred())
		return answer.StatusCode, string(text)
	}

	It("behind one address give the same data and accept each other's clients and tokens", func() {
		base, printed := replicas("--key-file", file(keys+"\n"), "--secret-file", file(secrets))
		for range 3 { // a token of each replica
			t := token(base, printed)
			seen := map[string]bool{}
			for range 6 {
				code, text := ask(base+"/ris-synergy/funding/v3/fundings?runningCalls=true&page[size]=5", t)
				Expect(code).To(Equal(http.StatusOK), text)
				seen[text] = true
			}
			Expect(seen).To(HaveLen(1))
		}
		_, key := get(base + "/realms/ris/protocol/openid-connect/certs")
		for range 3 {
			_, same := get(base + "/realms/ris/protocol/openid-connect/certs")
			Expect(same).To(Equal(key))
		}
	})

	It("are certified as one node", func() {
		base, printed := replicas("--key-file", file(keys), "--secret-file", file(secrets))
		secret := regexp.MustCompile(`(?m)^  secret +(\S+)$`).FindStringSubmatch(printed)[1]
		got := rin([]string{"SECRET=" + secret}, "certify", "--registry", base+"/registry/registry.json", "--node", "XA", "--client-id", "demo-client", "--client-secret", "env:SECRET",
			"--profile", "funding", "--report-dir", filepath.Join(GinkgoT().TempDir(), "report"))
		Expect(got.code).To(Equal(0), got.out+got.err)
	})

	It("without the files refuse each other's tokens", func() {
		base, printed := replicas("--secret-file", file(secrets))
		t := token(base, printed)
		refused := 0
		for range 3 {
			if code, _ := ask(base+"/ris-synergy/funding/v3/fundings", t); code == http.StatusUnauthorized {
				refused++
			}
		}
		Expect(refused).To(Equal(2))
	})

	DescribeTable("refuse files whose text is not a secret", func(text string, mode os.FileMode, message string) {
		path := file(text)
		Expect(os.Chmod(path, mode)).To(Succeed())
		for _, flag := range []string{"--key-file", "--secret-file"} {
			got := rin(nil, "sandbox", "--addr", "127.0.0.1:0", flag, path)
			Expect(got.code).To(Equal(2))
			Expect(got.err).To(And(ContainSubstring(flag+": "), ContainSubstring(message), Not(ContainSubstring("tellme"))))
		}
	},
		Entry("one that can be guessed", "tellme", os.FileMode(0o600), "can be guessed"),
		Entry("an empty one", "", os.FileMode(0o600), "can be guessed"),
		Entry("one that everybody can read", keys, os.FileMode(0o644), "can be read by others"),
	)
})
