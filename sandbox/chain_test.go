package sandbox_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
)

var _ = Describe("the chain of the network's real client", func() {
	It("reads registry, token, info and the list until an empty page, with a new token for each page", func() {
		node := newNode(sandbox.Config{Calls: 1100})
		client := node.Credentials()[0]

		var registry struct{ Member []map[string]string }
		decode(get(node, "/registry/registry.json", nil), &registry)
		entry := registry.Member[0]

		var info struct {
			Endpoints map[string][]struct{ Name, URL string }
		}
		decode(get(node, entry["info"], http.Header{
			"Authorization": {"Bearer " + fetchToken(node, entry["oauth2"], client)},
			"Content-Type":  {"application/json"},
		}), &info)
		list := info.Endpoints["funding"][0]
		Expect(list.Name).To(Equal("FUNDINGS"))

		ids := map[string]bool{}
		pages := 0
		for offset := 0; ; offset += 1000 {
			var page []struct{ ID string }
			decode(get(node, fmt.Sprintf("%s?page[page]=%d&page[size]=1000", list.URL, offset), http.Header{
				"Authorization": {"Bearer " + fetchToken(node, entry["oauth2"], client)},
				"Content-Type":  {"application/json"},
			}), &page)
			pages++
			if len(page) == 0 {
				break
			}
			for _, funding := range page {
				Expect(ids).NotTo(HaveKey(funding.ID))
				ids[funding.ID] = true
			}
		}
		Expect(pages).To(Equal(3))
		Expect(len(ids)).To(BeNumerically(">", 1100))
	})
})

// runningNode is a sandbox behind a real listener.
type runningNode struct {
	*sandbox.Server
	URL string
}

func (r runningNode) url() string { return r.URL }

// endpoint is a node or a network that answers requests at a URL.
type endpoint interface{ url() string }

func newNode(config sandbox.Config) runningNode {
	GinkgoHelper()
	node, err := sandbox.New(config)
	Expect(err).NotTo(HaveOccurred())
	return serveNode(node)
}

// serveNode puts a node behind a listener until the spec ends; in BeforeAll, until its container ends.
func serveNode(node *sandbox.Server) runningNode {
	server := httptest.NewServer(node)
	DeferCleanup(server.Close)
	return runningNode{node, server.URL}
}

// fetchToken fetches a token at an absolute URL, or at a path of the node.
func fetchToken(node endpoint, target string, client sandbox.Credential) string {
	GinkgoHelper()
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {client.ClientID}, "client_secret": {client.Secret}}
	answer := postForm(node, target, form.Encode(), nil)
	Expect(answer.status).To(Equal(http.StatusOK), answer.body)
	var granted struct {
		AccessToken string `json:"access_token"`
	}
	decode(answer, &granted)
	return granted.AccessToken
}

func postForm(node endpoint, target, form string, header http.Header) answer {
	GinkgoHelper()
	all := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	for name, values := range header {
		all[name] = values
	}
	return send(node, http.MethodPost, target, form, all)
}

func get(node endpoint, target string, header http.Header) answer {
	GinkgoHelper()
	return send(node, http.MethodGet, target, "", header)
}

// answer is an HTTP answer with its body read.
type answer struct {
	status int
	header http.Header
	body   string
}

func send(node endpoint, method, target, body string, header http.Header) answer {
	GinkgoHelper()
	if strings.HasPrefix(target, "/") {
		target = node.url() + target
	}
	request, err := http.NewRequest(method, target, strings.NewReader(body))
	Expect(err).NotTo(HaveOccurred())
	for name, values := range header {
		request.Header[name] = values
	}
	transport := &http.Transport{DisableCompression: true, DisableKeepAlives: true}
	response, err := transport.RoundTrip(request)
	Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close()
	var read strings.Builder
	_, err = io.Copy(&read, response.Body)
	Expect(err).NotTo(HaveOccurred())
	return answer{response.StatusCode, response.Header, read.String()}
}

func decode(from answer, into any) {
	GinkgoHelper()
	Expect(json.Unmarshal([]byte(from.body), into)).To(Succeed(), from.body)
}
