package sandbox_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/fault"
	"github.com/rin-network/rin/sandbox/journal"
)

// The benchmarks compare the sandbox with a bare net/http handler that does as little as possible: each round sends
// the same number of requests to both, over persistent connections on loopback. "ratio" is the requests per second of
// the sandbox divided by those of the bare handler.

func BenchmarkInfo(b *testing.B) {
	compareGet(b, "/ris-synergy/info/v1/oauth/info/")
}

func BenchmarkFundingDetail(b *testing.B) {
	compareGet(b, "/ris-synergy/funding/v3/fundings/XF-00000002")
}

// compareGet measures a protected resource with a token that is verified once, or again for each request.
func compareGet(b *testing.B, path string) {
	requests, err := journal.New(journal.DefaultLimit, nil)
	if err != nil {
		b.Fatal(err)
	}
	for _, variant := range []struct {
		name   string
		config sandbox.Config
	}{
		{"verified-once", sandbox.Config{}}, {"verified-each-time", sandbox.Config{VerifiedTokens: -1}},
		{"verified-once-journal-and-page", sandbox.Config{Journal: requests, CORS: []string{pageOrigin}}},
	} {
		b.Run(variant.name, func(b *testing.B) {
			node, nodeURL := benchNode(b, variant.config)
			header := http.Header{"Authorization": {"Bearer " + benchToken(b, nodeURL, node.Credentials()[0])}, "Origin": {pageOrigin}}
			body, err := benchSend(http.DefaultClient, request{http.MethodGet, nodeURL + path, "", header})
			if err != nil {
				b.Fatal(err)
			}
			bare := benchServer(b, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.Write(body)
			}))
			compare(b, request{http.MethodGet, nodeURL + path, "", header}, request{http.MethodGet, bare + path, "", header})
		})
	}
}

// BenchmarkPlay compares two sandboxes with a journal, of which one plays a scenario for another path. "ratio" is the requests per
// second of the one that plays divided by those of the other: 0.95 is the target.
func BenchmarkPlay(b *testing.B) {
	const path = "/ris-synergy/funding/v3/fundings/XF-00000002"
	serve := func(c sandbox.Config) request {
		var err error
		if c.Journal, err = journal.New(journal.DefaultLimit, nil); err != nil {
			b.Fatal(err)
		}
		node, nodeURL := benchNode(b, c)
		return request{http.MethodGet, nodeURL + path, "", http.Header{"Authorization": {"Bearer " + benchToken(b, nodeURL, node.Credentials()[0])}}}
	}
	play, err := fault.ParsePlay("503-twice:path=/ris-synergy/info/v1/oauth/info/")
	if err != nil {
		b.Fatal(err)
	}
	playing, plain := serve(sandbox.Config{Scenarios: []fault.Play{play}}), serve(sandbox.Config{})
	compare(b, playing, plain)
}

// pageOrigin is the origin of a page that calls the node.
const pageOrigin = "http://localhost:5173"

// BenchmarkToken compares the ES256 token endpoint with a handler that parses the form and signs.
func BenchmarkToken(b *testing.B) {
	node, nodeURL := benchNode(b, sandbox.Config{})
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	bare := benchServer(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			http.Error(w, "form", http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{"access_token": bareToken(key, r.PostForm.Get("client_id")), "token_type": "Bearer", "expires_in": 300})
	}))
	client := node.Credentials()[0]
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {client.ClientID}, "client_secret": {client.Secret}}.Encode()
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	compare(b, request{http.MethodPost, nodeURL + "/oauth/token", form, header}, request{http.MethodPost, bare + "/oauth/token", form, header})
}

func bareToken(key *ecdsa.PrivateKey, client string) string {
	encode := base64.RawURLEncoding.EncodeToString
	now := time.Now().Unix()
	signed := encode([]byte(`{"alg":"ES256","typ":"at+jwt"}`)) + "." +
		encode([]byte(`{"sub":"`+client+`","iat":`+strconv.FormatInt(now, 10)+`,"exp":`+strconv.FormatInt(now+300, 10)+`}`))
	digest := sha256.Sum256([]byte(signed))
	r, s, err := ecdsa.Sign(rand.Reader, key, digest[:])
	if err != nil {
		return ""
	}
	var signature [64]byte
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return signed + "." + encode(signature[:])
}

type request struct {
	method, url, form string
	header            http.Header
}

// compare sends b.N requests to each side, in rounds that alternate between them.
func compare(b *testing.B, node, bare request) {
	const round, workers = 200, 4
	client := &http.Client{Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: workers}}
	defer client.CloseIdleConnections()
	burst := func(q request, n int) time.Duration {
		var group sync.WaitGroup
		started := time.Now()
		for w := range workers {
			group.Go(func() {
				for i := w; i < n; i += workers {
					if _, err := benchSend(client, q); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		group.Wait()
		return time.Since(started)
	}
	burst(node, round)
	burst(bare, round)
	var nodeTime, bareTime time.Duration
	b.ResetTimer()
	for left := b.N; left > 0; left -= round {
		nodeTime += burst(node, min(left, round))
		bareTime += burst(bare, min(left, round))
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)/nodeTime.Seconds(), "node-req/s")
	b.ReportMetric(float64(b.N)/bareTime.Seconds(), "bare-req/s")
	b.ReportMetric(bareTime.Seconds()/nodeTime.Seconds(), "ratio")
}

func benchSend(client *http.Client, q request) ([]byte, error) {
	sent, err := http.NewRequest(q.method, q.url, strings.NewReader(q.form))
	if err != nil {
		return nil, err
	}
	sent.Header = q.header
	response, err := client.Do(sent)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = &url.Error{Op: q.method, URL: q.url, Err: io.ErrUnexpectedEOF}
	}
	return body, err
}

func benchNode(b *testing.B, c sandbox.Config) (*sandbox.Server, string) {
	b.Helper()
	node, err := sandbox.New(c)
	if err != nil {
		b.Fatal(err)
	}
	return node, benchServer(b, node)
}

func benchServer(b *testing.B, h http.Handler) string {
	b.Helper()
	server := httptest.NewServer(h)
	b.Cleanup(server.Close)
	return server.URL
}

func benchToken(b *testing.B, nodeURL string, client sandbox.Credential) string {
	b.Helper()
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {client.ClientID}, "client_secret": {client.Secret}}
	body, err := benchSend(http.DefaultClient, request{http.MethodPost, nodeURL + "/oauth/token", form.Encode(),
		http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}})
	if err != nil {
		b.Fatal(err)
	}
	var granted struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal(body, &granted); err != nil {
		b.Fatal(err)
	}
	return granted.AccessToken
}
