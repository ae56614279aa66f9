package main_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

const fleetAPI = `openapi: 3.1.0
info: {title: Fleet, version: "1"}
paths:
  /ships:
    post:
      requestBody: {content: {application/json: {schema: {type: object}}}}
      responses: {"201": {description: made, content: {application/json: {schema: {type: object, properties: {id: {type: string}}}}}}}
  /retired:
    delete: {responses: {"405": {description: not any more}}}
  /old:
    get: {responses: {"301": {description: moved}}}
`

var _ = Describe("rin sandbox report on calls of a described API", func() {
	It("blames no answer of the document, and suggests its operations", func() {
		file := filepath.Join(GinkgoT().TempDir(), "fleet.yaml")
		Expect(os.WriteFile(file, []byte(fleetAPI), 0o600)).To(Succeed())
		session, base := served("--spec", file, "--control", "127.0.0.1:0")
		out := string(session.Out.Contents())
		control := regexp.MustCompile(`control +(http://\S+)`).FindStringSubmatch(out)[1]
		secret := regexp.MustCompile(`client  (\S+) .*\n  secret  (\S+)`).FindStringSubmatch(out)
		answer, err := http.PostForm(base+"/oauth/token", map[string][]string{"grant_type": {"client_credentials"}, "client_id": {secret[1]}, "client_secret": {secret[2]}})
		Expect(err).NotTo(HaveOccurred())
		defer answer.Body.Close()
		var issued struct {
			Token string `json:"access_token"`
		}
		Expect(json.NewDecoder(answer.Body).Decode(&issued)).To(Succeed())
		send := func(method, path string) {
			GinkgoHelper()
			request, err := http.NewRequest(method, base+"/ris-synergy"+path, strings.NewReader("{}"))
			Expect(err).NotTo(HaveOccurred())
			request.Header = http.Header{"User-Agent": {"test"}, "Authorization": {"Bearer " + issued.Token}, "Content-Type": {"application/json"}, "Accept": {"application/json"}}
			answer, err := http.DefaultTransport.RoundTrip(request)
			Expect(err).NotTo(HaveOccurred())
			Expect(answer.Body.Close()).To(Succeed())
		}
		for range 3 {
			send("DELETE", "/retired")
			send("GET", "/old")
		}
		Expect(rin(nil, "sandbox", "report", "--control", control, "--fail-on", "note").code).To(Equal(0))
		send("POST", "/ships?colour=red")
		got := rin(nil, "sandbox", "report", "--control", control)
		Expect(got.out).To(ContainSubstring(`-X POST -H 'Content-Type: application/json' --data-binary @body ` + base + "/ris-synergy/ships\n"))
	})
})
