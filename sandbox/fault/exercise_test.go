package fault_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"iter"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/devtls"
	"github.com/rin-network/rin/sandbox/fault"
)

// ask is one request of the exercise.
type ask struct {
	method, target string
	header         [][2]string
	body           string
}

func (a ask) with(name, value string) ask {
	a.header = append(slices.Clone(a.header), [2]string{name, value})
	return a
}

func (a ask) bearing(authorization string) ask { return a.with("Authorization", authorization) }

func get(target string) ask { return ask{method: http.MethodGet, target: target} }

func head(target string) ask { return ask{method: http.MethodHead, target: target} }

func exchange(form string) ask {
	return ask{method: http.MethodPost, target: "/oauth/token", body: form}.with("Content-Type", "application/x-www-form-urlencoded")
}

// The addresses of a node with the default prefix.
const (
	api      = "/ris-synergy"
	info     = api + "/info/v1/oauth/info/"
	document = api + "/funding/v3/api-docs"
	list     = api + "/funding/v3/fundings"
	tryOut   = api + "/try-out"
)

// node is a sandbox whose answers are the same each time, except for signatures.
type node struct {
	*sandbox.Server
	paused *time.Duration // how long deviations wanted to wait
}

func newNode(deviations ...string) node {
	var offered *devtls.Settings
	if slices.ContainsFunc(allDeviations(), func(d fault.Deviation) bool { return d.Transport != nil && slices.Contains(deviations, d.Name) }) {
		offered = &devtls.Settings{}
	}
	now := time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
	var paused time.Duration
	server, err := sandbox.New(sandbox.Config{
		Seed: 1, Calls: 4, AsOf: now, Clock: func() time.Time { return now }, Random: rand.NewChaCha8([32]byte{1}),
		Loopback: true, Deviations: deviations, TLS: offered,
		Pause: func(_ context.Context, d time.Duration) error { paused += d; return nil },
	})
	Expect(err).NotTo(HaveOccurred())
	return node{server, &paused}
}

// answer returns an answer as text, with the pauses before it. It omits the validator, and the length unless it differs from that of the body,
// because both may change without a deviation.
func (n node) answer(a ask) string {
	before := *n.paused
	w := httptest.NewRecorder()
	n.ServeHTTP(w, request(a))
	var text strings.Builder
	fmt.Fprintln(&text, a.method, a.target, a.header, a.body, w.Code)
	if *n.paused > before {
		fmt.Fprintln(&text, "paused", *n.paused-before)
	}
	got := w.Result().Header
	if length := got.Get("Content-Length"); a.method != http.MethodHead && length != "" && length != strconv.Itoa(w.Body.Len()) {
		fmt.Fprintln(&text, "another length")
	}
	if a.method == http.MethodHead && got.Get("Content-Length") == "0" {
		fmt.Fprintln(&text, "nothing to come")
	}
	got.Del("Content-Length")
	got.Del("ETag")
	_ = got.Write(&text) // a strings.Builder takes everything
	text.WriteString(w.Body.String())
	return text.String()
}

// token returns the access token in an answer.
func token(answer string) string {
	return regexp.MustCompile(`eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{86}`).FindString(answer)
}

// tokenRequests lists the requests to the token endpoint that deviations may answer differently.
func tokenRequests(n node) []ask {
	client := n.Credentials()[0]
	grant, id, secret := "grant_type=client_credentials", "client_id="+client.ClientID, client.Secret
	good := grant + "&" + id + "&client_secret=" + secret
	basic := func(secret string) ask {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.SetBasicAuth(client.ClientID, secret)
		return exchange(grant).bearing(r.Header.Get("Authorization"))
	}
	half := len(secret) / 2
	swapped := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' {
			return c - 'a' + 'A'
		}
		return c
	}, secret[half:])
	return []ask{
		exchange(good), exchange(grant + "&" + id + "&client_secret=" + secret[:half] + swapped), exchange(grant + "&" + id), exchange(grant),
		basic(secret), basic("wrong"), get("/oauth/token"),
		exchange(id + "&client_secret=" + secret), exchange("grant_type=none&" + id + "&client_secret=" + secret), exchange(good + "&" + grant),
		exchange(good + "&scope=unknown"), exchange(good + "&scope="), exchange(good + "&unknown=1"),
		exchange(strings.Replace(good, "client_credentials", "%63lient_credentials", 1)).with("Content-Type", "application/x-www-form-urlencoded; charset=UTF-8"),
	}
}

// resourceRequests lists requests to the protected resources, with good, bad and odd credentials.
func resourceRequests(first, second, roleless string) []ask {
	tampered := second[:len(second)-40] + "AAAA" + second[len(second)-36:]
	payload := strings.Split(second, ".")[1]
	unsigned := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"JWT"}`)) + "." + payload + "."
	unknown := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"ES256","kid":"unknown","typ":"JWT"}`)) + "." + payload + "." + strings.Repeat("A", 86)
	var asks []ask
	for _, target := range []string{info, list, list + "/XF-00000003"} {
		a := get(target)
		asks = append(asks, a.bearing("Bearer "+unsigned), a.bearing("Bearer "+unknown))
		asks = append(asks, a, a.bearing("Bearer "+second), a.bearing("Bearer "+second).with("Content-Type", "application/json"), a.bearing("Bearer "+first),
			a.bearing("Bearer conformance.invalid.token"), a.bearing("Bearer "+tampered), a.bearing("Bearer"), a.bearing("Basic YTpi"),
			a.bearing("Token "+second), a.bearing("bearer "+second), a.bearing("BEARER "+second), head(target), a.with("X-HTTP-Method-Override", "OPTIONS"), a.with("Accept", "text/html,*/*;q=0.8"),
			get(target+"?fresh=1").bearing("Bearer "+second), get(target+"?fresh=1"), a.bearing("Bearer "+roleless))
	}
	post := ask{method: http.MethodPost, target: info}
	asks = append(asks, post.bearing("Bearer "+second), get(strings.TrimSuffix(info, "/")), get(strings.Replace(info, "oauth/", "oauth//", 1)),
		get(strings.Replace(info, "oauth/", "oauth/./", 1)), get(strings.Replace(info, "info/", "Info/", 1)), get(strings.TrimSuffix(info, "/")+";x=1/"),
		get(list+"/XF-00000003/"))
	for _, query := range append(pageQueries(), "?fundingType=PROGRAMME", "?applicantsScope=NATIONAL",
		"?funderId="+strings.Repeat("a", 200), "?funderId="+strings.Repeat("a", 201)) {
		asks = append(asks, get(list+query).bearing("Bearer "+second))
	}
	return append(asks, get(list+"/XF-00000004").bearing("Bearer "+second), get(list+"/unknown").bearing("Bearer "+second), get(document), get("https://node.example/registry/registry.json"))
}

// pageQueries lists good and bad queries for pages and filters.
func pageQueries() []string {
	return []string{
		"?page[size]=2", "?page[size]=1", "?page%5Bsize%5D=2", "?page%5Bpage%5D=2&page%5Bsize%5D=2", "?page%5Bpage%5D=4&page%5Bsize%5D=1",
		"?page%5Bpage%5D=1&page%5Bsize%5D=10000", "?page%5Bpage%5D=100000&page%5Bsize%5D=2", "?page%5Bsize%5D=abc", "?page%5Bsize%5D=99999999999",
		"?page%5Bpage%5D=-1", "?x-conformance=1", "?fundingType=CONFORMANCE_UNKNOWN", "?targetGroup=UNIVERSITY", "?targetGroup=GOVERNMENT",
		"?funderId=nobody", "?runningCalls=true", "?fundingType=CALL&page%5Bpage%5D=1&page%5Bsize%5D=10", "?fundingType=CALL&applicantsScope=NATIONAL",
	}
}

// exerciseAnswers yields a node's answers to the exercise one by one, with tokens replaced by their length.
func exerciseAnswers(n node) iter.Seq[string] {
	return func(yield func(string) bool) {
		first := ""
		for i, a := range tokenRequests(n) {
			answer := n.answer(a)
			if i == 0 {
				first = token(answer)
			}
			if !yield(maskTokens(answer)) {
				return
			}
		}
		tokens := []string{first}
		for _, client := range n.Credentials()[:2] {
			tokens = append(tokens, token(n.answer(exchange("grant_type=client_credentials&client_id="+client.ClientID+"&client_secret="+client.Secret))))
		}
		groups := []func() []ask{publicationRequests}
		if !slices.Contains(tokens, "") {
			groups = append(groups, func() []ask { return resourceRequests(tokens[0], tokens[1], tokens[2]) },
				func() []ask { return forgedRequests(n, tokens[1]) }, func() []ask { return oddRequests(tokens[1]) })
		}
		for _, asks := range groups {
			for _, a := range asks() {
				if !yield(maskTokens(n.answer(a))) {
					return
				}
			}
		}
	}
}

// exampleShows tells whether the deviation changes status or body of the answer to its own example.
func exampleShows(d fault.Deviation, good, deviating node) bool {
	if d.Example == nil {
		return false
	}
	answer := func(n node) string {
		client := n.Credentials()[0]
		issued := token(n.answer(exchange("grant_type=client_credentials&client_id=" + client.ClientID + "&client_secret=" + client.Secret)))
		r, w := request(get(info).bearing("Bearer "+issued)), httptest.NewRecorder()
		d.Example(r)
		n.ServeHTTP(w, r)
		return fmt.Sprint(w.Code, w.Body)
	}
	return answer(good) != answer(deviating)
}

// differs tells whether the answers differ from the expected ones. It stops at the first difference.
func differs(answers iter.Seq[string], expected []string) bool {
	i := 0
	for a := range answers {
		if i == len(expected) || a != expected[i] {
			return true
		}
		i++
	}
	return i < len(expected)
}

// maskTokens replaces tokens by their length, because signatures are random.
func maskTokens(text string) string {
	if !strings.Contains(text, "eyJ") {
		return text
	}
	signed := regexp.MustCompile(`eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{40,}`)
	return signed.ReplaceAllStringFunc(text, func(t string) string { return fmt.Sprintf("<token of %d>", len(t)) })
}

// tryOutAnswers returns all answers of the try-out space.
func tryOutAnswers(n node) string {
	var answers []string
	for _, path := range []string{"/info/v1/oauth/info/", "/info/v1/oauth/info", "/funding/v3/api-docs", "/funding/v3/fundings?page[size]=2",
		"/funding/v3/fundings?fundingType=PROGRAMME", "/funding/v3/fundings/XF-00000003", "/funding/v3/fundings/unknown"} {
		answers = append(answers, n.answer(get(tryOut+path)), n.answer(head(tryOut+path)))
	}
	return strings.Join(answers, "\n")
}

// oddRequests lists requests that no good client sends, and those that deviations of hygiene and robustness answer differently.
func oddRequests(token string) []ask {
	good := func(a ask) ask { return a.bearing("Bearer " + token) }
	broken := base64.RawURLEncoding.EncodeToString([]byte("{")) + ".e30.AA"
	elsewhere := func(a ask) ask { return a.with("Origin", "https://conformance.invalid") }
	asks := []ask{
		get(info).with("X-Forwarded-User", "admin"), get(info).with("X-Forwarded-For", "127.0.0.1"), get(info).with("X-Original-URL", "/"),
		get(list + "?page%5Bsize%5D=2"), get(info).with("X-Auth-Request-User", "admin"), get(info).with("X-Method-Override", "OPTIONS"), elsewhere(get(info)),
		get(strings.Replace(info, "info/", "%69nfo/", 1)), get(strings.TrimSuffix(info, "/") + ".json/"),
		good(get(info).with("Origin", "https://example.com.conformance.invalid")), elsewhere(good(get(info))), elsewhere(ask{method: http.MethodOptions, target: "/oauth/token"}),
		good(get(strings.Replace(info, "/v1/", "/v999/", 1))), good(get(api + "/unknown")), good(get(list).with("Accept", "application/x-conformance")),
		exchange(`{"grant_type":"client_credentials"}`).with("Content-Type", "application/json"),
		exchange("--b--").with("Content-Type", "multipart/form-data; boundary=b"), exchange("grant_type=client_credentials&client_id=x&client_secret=y&scope=%FF"),
		exchange("grant_type=urn:none&client_id=x"), good(head(info)),
	}
	for _, odd := range []string{broken, "\xe4\xf6", strings.Repeat("A", 6<<10)} {
		asks = append(asks, get(info).bearing("Bearer "+odd))
	}
	for _, id := range []string{"O'Brien", "%FF", "%7Bid%7D"} {
		asks = append(asks, good(get(list+"/"+id)))
	}
	for _, query := range []string{"a=%FF", "page%5Bsize%5D=%00", strings.Repeat("a=1&", 200)} {
		asks = append(asks, good(get(list+"?"+query)))
	}
	return asks
}
