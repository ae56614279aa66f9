package main_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// registryEntry holds the members of a registry entry that a client needs.
type registryEntry struct{ ID, OAuth2, Info string }

// infoResource holds the members of the info resource that a client needs.
type infoResource struct {
	Endpoints map[string][]struct{ Name, URL string }
}

// nextPage matches the URL of the next page in a Link header (RFC 8288).
var nextPage = regexp.MustCompile(`<([^>]+)>; *rel="?next"?`)

// getJSON fetches JSON with the headers that the rules for clients ask for. It returns the URL of the next page, or "" after the last one.
func getJSON(client *http.Client, url string, into any) (next string) {
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
	if found := nextPage.FindStringSubmatch(response.Header.Get("Link")); found != nil {
		next, err := response.Request.URL.Parse(found[1])
		Expect(err).NotTo(HaveOccurred())
		return next.String()
	}
	return ""
}

// readFundings reads all fundings of a node, page after page, with the client of golang.org/x/oauth2.
func readFundings(entry registryEntry, id, secret string) (ids map[string]bool) {
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
	for page := list + "?" + (url.Values{"page[page]": {"0"}, "page[size]": {"30"}}).Encode(); page != ""; {
		var fundings []struct{ ID string }
		page = getJSON(client, page, &fundings)
		for _, funding := range fundings {
			ids[funding.ID] = true
		}
	}
	return ids
}

// expectNoFindings expects the report to name exactly these clients, without findings.
func (n networkCredentials) expectNoFindings(ids ...string) {
	GinkgoHelper()
	control := regexp.MustCompile(`control +(\S+) \(`).FindStringSubmatch(n.greeting)
	got := rin(nil, "sandbox", "report", "--control", control[1], "--format", "json")
	Expect(got.code).To(Equal(0), got.out+got.err)
	var report struct {
		Clients []struct {
			Client   string
			Findings []struct{ Rule, Level string }
		}
	}
	Expect(json.Unmarshal([]byte(got.out), &report)).To(Succeed())
	var named []string
	for _, c := range report.Clients {
		Expect(c.Findings).To(BeEmpty(), c.Client)
		if c.Client != "" {
			named = append(named, c.Client)
		}
	}
	Expect(named).To(ConsistOf(ids))
}

var _ = Describe("A client written with golang.org/x/oauth2", func() {
	It("reads registry, token, info and list of each node of a network", func() {
		issued := network("--nodes", "3", "--control", "127.0.0.1:0")
		var registry struct{ Member []registryEntry }
		getJSON(http.DefaultClient, issued.Registry, &registry)
		Expect(registry.Member).To(HaveLen(3))
		for i, entry := range registry.Member {
			node := issued.Nodes[i]
			Expect(entry.ID).To(Equal(node.ID))
			ids := readFundings(entry, node.Clients[0].ClientID, node.Clients[0].ClientSecret)
			Expect(len(ids)).To(BeNumerically(">", 200), "the default calls and other fundings")
		}
		issued.expectNoFindings("demo-client", "demo-client-xb", "demo-client-xc")
	})

	It("is refused by each node if its credentials or its token belong to another node", func() {
		issued := network("--nodes", "3", "--calls", "1")
		for i, node := range issued.Nodes {
			neighbour := issued.Nodes[(i+1)%3]
			other := neighbour.Clients[0]
			atNeighbour := clientcredentials.Config{ClientID: other.ClientID, ClientSecret: other.ClientSecret, TokenURL: neighbour.TokenURL, AuthStyle: oauth2.AuthStyleInParams}
			for _, url := range []string{node.InfoURL, node.FundingsURL} {
				answer, err := atNeighbour.Client(context.Background()).Get(url)
				Expect(err).NotTo(HaveOccurred())
				Expect(answer.Body.Close()).To(Succeed())
				Expect(answer.StatusCode).To(Equal(http.StatusUnauthorized), url)
			}
			config := clientcredentials.Config{ClientID: other.ClientID, ClientSecret: other.ClientSecret, TokenURL: node.TokenURL, AuthStyle: oauth2.AuthStyleInParams}
			_, err := config.Token(context.Background())
			var refused *oauth2.RetrieveError
			Expect(err).To(BeAssignableToTypeOf(refused))
			Expect(err).To(MatchError(ContainSubstring("invalid_client")))
		}
	})
})
