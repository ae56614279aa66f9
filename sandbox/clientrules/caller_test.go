package clientrules_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/clientrules"
	"github.com/rin-network/rin/sandbox/funding"
	"github.com/rin-network/rin/sandbox/journal"
)

const (
	infoPath  = "/ris-synergy/info/v1/oauth/info/"
	listPath  = "/ris-synergy/funding/v3/fundings"
	firstPage = listPath + "?page[page]=0&page[size]=10"
	formType  = "application/x-www-form-urlencoded"
)

// caller calls a network of two nodes with the credentials of the first. The clock of the network changes only when a test moves it.
type caller struct {
	*sandbox.Network
	url string
	// scripted has the handlers of the next requests for resources; when it is empty, the network answers.
	scripted  []http.HandlerFunc
	http      *http.Client
	client    sandbox.Credential
	tokenPath string      // path of the token endpoint
	header    http.Header // of each request
}

func newCaller(change ...func(*sandbox.Config)) *caller {
	GinkgoHelper()
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	first := sandbox.Config{Calls: 30}
	for _, c := range change {
		c(&first)
	}
	network, err := sandbox.NewNetwork(sandbox.NetworkConfig{Clock: func() time.Time { return noon }, Nodes: []sandbox.Config{
		first, {Calls: 30, Root: "/xb", Member: funding.Member{ID: "XB", Name: "Musterberg"}},
	}})
	Expect(err).NotTo(HaveOccurred())
	b := &caller{Network: network, client: network.Nodes()[0].Credentials()[0], header: http.Header{
		"User-Agent": {"tool/1"}, "Accept": {"application/json"}, "Content-Type": {"application/json"},
	}}
	place := journal.Place{Node: "XA", TokenPath: "/oauth/token", Now: network.Clock().Now,
		Origin:   func(r *http.Request) string { return "http://" + r.Host },
		Classify: func(string) (journal.Operation, bool) { return journal.List, false },
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(b.scripted) > 0 && !strings.HasSuffix(r.URL.Path, "/token") {
			next := b.scripted[0]
			b.scripted = b.scripted[1:]
			if next != nil {
				network.Journal().Watch(place, next).ServeHTTP(w, r)
				return
			}
		}
		network.ServeHTTP(w, r)
	}))
	DeferCleanup(server.Close)
	b.url = server.URL
	b.tokenPath = strings.TrimPrefix(network.Nodes()[0].Addresses(b.url).ListedToken, b.url)
	// This client does not follow redirects; a test that wants to follow one sends the next request itself.
	b.http = &http.Client{Transport: &http.Transport{}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	DeferCleanup(b.http.CloseIdleConnections)
	return b
}

// script sets the handlers that answer the next requests for resources; where a handler is nil, the network answers.
func (b *caller) script(answers ...http.HandlerFunc) { b.scripted = answers }

// status returns a handler that answers with a status and header fields, given as names and values in turn.
func status(code int, fields ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(fields); i += 2 {
			w.Header().Set(fields[i], fields[i+1])
		}
		w.WriteHeader(code)
	}
}

// cut answers with a part of a body and closes the connection.
func cut(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "100")
	_, _ = w.Write([]byte("["))
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// reply is the answer to a request; the zero value if there was none.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// send sends a request with the caller's own header fields; change alters them.
func (b *caller) send(method, path, body string, change func(http.Header)) reply {
	GinkgoHelper()
	target := path
	if strings.HasPrefix(path, "/") {
		target = b.url + path
	}
	r, err := http.NewRequest(method, target, strings.NewReader(body))
	Expect(err).NotTo(HaveOccurred())
	r.Header = b.header.Clone()
	if change != nil {
		change(r.Header)
	}
	answer, err := b.http.Do(r)
	if err != nil {
		return reply{}
	}
	defer answer.Body.Close()
	read, err := io.ReadAll(answer.Body)
	if err != nil {
		return reply{}
	}
	return reply{answer.StatusCode, answer.Header, read}
}

func (b *caller) form() url.Values {
	return url.Values{"grant_type": {"client_credentials"}, "client_id": {b.client.ClientID}, "client_secret": {b.client.Secret}}
}

// ask posts a form to a token endpoint.
func (b *caller) ask(path string, form url.Values) reply {
	GinkgoHelper()
	return b.send(http.MethodPost, path, form.Encode(), func(h http.Header) { h.Set("Content-Type", formType) })
}

// token fetches a token.
func (b *caller) token() string {
	GinkgoHelper()
	answer := b.ask(b.tokenPath, b.form())
	Expect(answer.status).To(Equal(http.StatusOK), string(answer.body))
	return accessToken(answer)
}

// get reads a resource with a token, or without one if it is empty.
func (b *caller) get(path, token string) reply {
	GinkgoHelper()
	return b.send(http.MethodGet, path, "", func(h http.Header) {
		if token != "" {
			h.Set("Authorization", "Bearer "+token)
		}
	})
}

// getIf reads a resource on a condition, in the header field of that name.
func (b *caller) getIf(path, token, name, condition string) reply {
	GinkgoHelper()
	return b.send(http.MethodGet, path, "", func(h http.Header) {
		h.Set("Authorization", "Bearer "+token)
		h.Set(name, condition)
	})
}

// page reads the page of ten items at an offset.
func (b *caller) page(offset int, token string) reply {
	GinkgoHelper()
	return b.get(fmt.Sprintf("%s?page[page]=%d&page[size]=10", listPath, offset), token)
}

// readOn reads pages of ten items, from one offset on and in steps, until a page has no link to the next.
func (b *caller) readOn(offset, step int, token string) {
	GinkgoHelper()
	for strings.Contains(b.page(offset, token).header.Get("Link"), `rel="next"`) {
		offset += step
	}
}

// items returns the number of items on a page.
func (r reply) items() int {
	var all []json.RawMessage
	_ = json.Unmarshal(r.body, &all)
	return len(all)
}

func (b *caller) judge() clientrules.Report { return clientrules.Judge(b.Journal().Record(0)) }

// brokenRules lists the rules of all findings, client by client.
func (b *caller) brokenRules() []clientrules.ID {
	ids := []clientrules.ID{}
	for _, s := range b.judge().Clients {
		for _, f := range s.Findings {
			ids = append(ids, f.Rule)
		}
	}
	return ids
}

func accessToken(r reply) string {
	GinkgoHelper()
	var granted struct {
		AccessToken string `json:"access_token"`
	}
	Expect(json.Unmarshal(r.body, &granted)).To(Succeed())
	return granted.AccessToken
}

// basic returns the Authorization field with the credentials of a client.
func basic(c sandbox.Credential) []string {
	r := http.Request{Header: http.Header{}}
	r.SetBasicAuth(url.QueryEscape(c.ClientID), url.QueryEscape(c.Secret))
	return r.Header["Authorization"]
}
