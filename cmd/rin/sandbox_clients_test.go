package main_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// registryEntry is what a client needs of one.
type registryEntry struct{ ID, OAuth2, Info string }

// infoResource is what a client needs of one.
type infoResource struct {
	Endpoints map[string][]struct{ Name, URL string }
}

// getJSON asks as a client does that keeps the rules.
func getJSON(client *http.Client, url string, into any) {
	GinkgoHelper()
	request, err := http.NewRequest(http.MethodGet, url, nil)
	Expect(err).NotTo(HaveOccurred())
	request.Header.Set("Accept", "application/json")
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "ris-import/1.0")
	response, err := client.Do(request)
	Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	Expect(err).NotTo(HaveOccurred())
	Expect(response.StatusCode).To(Equal(http.StatusOK), string(body))
	Expect(json.Unmarshal(body, into)).To(Succeed())
}

// walk reads all fundings of a node, page after page, with the client of golang.org/x/oauth2.
func walk(entry registryEntry, id, secret string) (ids map[string]bool) {
	GinkgoHelper()
	config := clientcredentials.Config{ClientID: id, ClientSecret: secret, TokenURL: entry.OAuth2, AuthStyle: oauth2.AuthStyleInParams}
	client := config.Client(context.Background())
	var info infoResource
	getJSON(client, entry.Info, &info)
	var list string
	for _, endpoint := range info.Endpoints["funding"] {
		if endpoint.Name == "FUNDINGS" {
			list = endpoint.URL
		}
	}
	ids = map[string]bool{}
	const size = 30
	for offset := 0; ; offset += size {
		var page []struct{ ID string }
		getJSON(client, list+"?"+url.Values{"page[page]": {fmt.Sprint(offset)}, "page[size]": {fmt.Sprint(size)}}.Encode(), &page)
		for _, funding := range page {
			ids[funding.ID] = true
		}
		if len(page) < size {
			return ids
		}
	}
}

var _ = Describe("a client written with golang.org/x/oauth2", func() {
	It("walks registry, token, info and list of each node of a network", func() {
		issued := network("--nodes", "3", "--calls", "70")
		var registry struct{ Member []registryEntry }
		getJSON(http.DefaultClient, issued.Registry, &registry)
		Expect(registry.Member).To(HaveLen(3))
		for i, entry := range registry.Member {
			node := issued.Nodes[i]
			Expect(entry.ID).To(Equal(node.ID))
			ids := walk(entry, node.Clients[0].ClientID, node.Clients[0].ClientSecret)
			Expect(len(ids)).To(BeNumerically(">", 70), "calls, and other fundings on top")
		}
	})

	It("is told by each node that it is a stranger there, with the client of another one", func() {
		issued := network("--nodes", "3", "--calls", "1")
		for i, node := range issued.Nodes {
			other := issued.Nodes[(i+1)%3].Clients[0]
			config := clientcredentials.Config{ClientID: other.ClientID, ClientSecret: other.ClientSecret, TokenURL: node.TokenURL, AuthStyle: oauth2.AuthStyleInParams}
			_, err := config.Token(context.Background())
			var refused *oauth2.RetrieveError
			Expect(err).To(BeAssignableToTypeOf(refused))
			Expect(err).To(MatchError(ContainSubstring("invalid_client")))
		}
	})
})
