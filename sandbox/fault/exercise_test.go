package fault_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"iter"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
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

// probe is one request of the exercise: the fixed series of requests by which tests compare a deviating node with a good one.
type probe struct {
	method, target string
	header         [][2]string
	body           string
}

func (p probe) with(name, value string) probe {
	p.header = append(slices.Clone(p.header), [2]string{name, value})
	return p
}

func (p probe) withAuth(authorization string) probe { return p.with("Authorization", authorization) }

func get(target string) probe { return probe{method: http.MethodGet, target: target} }

func head(target string) probe { return probe{method: http.MethodHead, target: target} }

func postToken(form string) probe {
	return probe{method: http.MethodPost, target: "/oauth/token", body: form}.with("Content-Type", "application/x-www-form-urlencoded")
}

// The paths of a node with the default prefix.
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
	paused *time.Duration // the sum of the pauses that deviations asked for; no test waits for them
	shift  *time.Duration // how far the clock was moved
}

func allDeviations() []fault.Deviation { return slices.Concat(fault.Deviations(), fault.Habits()) }

func newNode(deviations ...string) node {
	var tlsSettings *devtls.Settings
	if slices.ContainsFunc(allDeviations(), func(d fault.Deviation) bool { return d.Transport != nil && slices.Contains(deviations, d.Name) }) {
		tlsSettings = &devtls.Settings{}
	}
	now := time.Date(2026, time.March, 2, 9, 0, 0, 0, time.UTC)
	var paused, shift time.Duration
	server, err := sandbox.New(sandbox.Config{
		Seed: 1, Calls: 4, AsOf: now, Clock: func() time.Time { return now.Add(shift) }, Random: rand.NewChaCha8([32]byte{1}),
		Loopback: true, Deviations: deviations, TLS: tlsSettings,
		Clients: append(sandbox.DemoClients(""), sandbox.ClientConfig{ID: "demo-client-spare", Secret: strings.Repeat("long+secret%21", 8)}),
		Pause:   func(_ context.Context, d time.Duration) error { paused += d; return nil },
	})
	Expect(err).NotTo(HaveOccurred())
	return node{server, &paused, &shift}
}

// answer sends a probe and returns it with its answer and pauses as text. It omits ETag, and Content-Length unless it
// differs from the length of the body, because both may change without a deviation.
func (n node) answer(p probe) string {
	before := *n.paused
	w := httptest.NewRecorder()
	n.ServeHTTP(w, request(p))
	var text strings.Builder
	fmt.Fprintln(&text, p.method, p.target, p.header, p.body, w.Code)
	if *n.paused > before {
		fmt.Fprintln(&text, "paused", *n.paused-before)
	}
	got := w.Result().Header
	if length := got.Get("Content-Length"); p.method != http.MethodHead && length != "" && length != strconv.Itoa(w.Body.Len()) {
		fmt.Fprintln(&text, "another length")
	}
	if p.method == http.MethodHead && got.Get("Content-Length") == "0" {
		fmt.Fprintln(&text, "length 0")
	}
	got.Del("Content-Length")
	got.Del("ETag")
	_ = got.Write(&text) // a strings.Builder never fails
	text.WriteString(w.Body.String())
	return text.String()
}

// token returns the access token in an answer.
func token(answer string) string {
	return regexp.MustCompile(`eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{86}`).FindString(answer)
}

// postTokenByBasic requests a token by HTTP Basic.
func postTokenByBasic(id, secret string) probe {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.SetBasicAuth(id, secret)
	return postToken("grant_type=client_credentials").withAuth(r.Header.Get("Authorization"))
}

// tokenRequests lists the probes of the token endpoint.
func tokenRequests(n node) []probe {
	client := n.Credentials()[0]
	grant, id, secret := "grant_type=client_credentials", "client_id="+client.ClientID, client.Secret
	good := grant + "&" + id + "&client_secret=" + secret
	basic := postTokenByBasic
	later, long := n.Credentials()[1], n.Credentials()[3]
	half := len(secret) / 2
	swapped := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' {
			return c - 'a' + 'A'
		}
		return c
	}, secret[half:])
	return []probe{
		postToken(good), postToken(grant + "&" + id + "&client_secret=" + secret[:half] + swapped), postToken(grant + "&" + id), postToken(grant),
		basic(client.ClientID, secret), postToken(grant + "&" + id).withAuth(basic(later.ClientID, later.Secret).header[1][1]), basic(client.ClientID, "wrong"), basic("nobody", "wrong"), get("/oauth/token"),
		postToken(grant + "&client_id=" + n.Credentials()[1].ClientID + "&client_secret=" + secret), get("/oauth/token?" + good),
		postToken("grant_type=refresh_token&" + id + "&client_secret=" + secret),
		postToken(id + "&client_secret=" + secret), postToken("grant_type=none&" + id + "&client_secret=" + secret), postToken(good + "&" + grant),
		basic(url.QueryEscape(long.ClientID), url.QueryEscape(long.Secret)), basic(long.ClientID, long.Secret), basic(later.ClientID, later.Secret),
		postToken(grant + "&client_id=" + later.ClientID + "&client_secret=wrong"),
		postToken(grant + "&client_id=" + long.ClientID + "&client_secret=" + url.QueryEscape(long.Secret[:72]) + "other"),
		postToken(grant + "&client_id=" + later.ClientID + "&client_secret=" + url.QueryEscape(later.Secret) + "&scope=unknown"),
		postToken(good + "%00"), postToken(good + "&client_secret=" + url.QueryEscape(client.Secret)), postToken(good + "&scope=any&scope=any"),
		postToken(good + "&scope=api"), postToken(good + "&scope=unknown"), postToken(good + "&scope="), postToken(good + "&unknown=1"),
		postToken(grant + "&client_secret=").withAuth(basic(client.ClientID, secret).header[1][1]),
		postToken(strings.Replace(good, "client_credentials", "%63lient_credentials", 1)).with("Content-Type", "application/x-www-form-urlencoded; charset=UTF-8"),
		postToken(grant + "&client_id=" + url.QueryEscape(n.ElsewhereClient().ClientID) + "&client_secret=" + url.QueryEscape(n.ElsewhereClient().Secret)),
	}
}

// resourceRequests lists the probes of the protected resources, with good, bad and odd credentials. The tokens first and second are of the same
// client, roleless is of a client without a role.
func resourceRequests(first, second, roleless string) []probe {
	tampered := second[:len(second)-40] + "AAAA" + second[len(second)-36:]
	payload := strings.Split(second, ".")[1]
	unsigned := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"JWT"}`)) + "." + payload + "."
	unknown := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"ES256","kid":"unknown","typ":"JWT"}`)) + "." + payload + "." + strings.Repeat("A", 86)
	var probes []probe
	for _, target := range []string{info, list, list + "/XF-00000003"} {
		plain := get(target)
		probes = append(probes, plain.withAuth("Bearer "+unsigned), plain.withAuth("Bearer "+unknown))
		probes = append(probes, plain, plain.withAuth("Bearer "+second), plain.withAuth("Bearer "+second).with("Content-Type", "application/json"), plain.withAuth("Bearer "+first),
			plain.withAuth("Bearer conformance.invalid.token"), plain.withAuth("Bearer "+tampered), plain.withAuth("Bearer"), plain.withAuth("Basic YTpi"),
			plain.withAuth("Token "+second), plain.withAuth("bearer "+second), plain.withAuth("BEARER "+second), head(target), plain.with("X-HTTP-Method-Override", "OPTIONS"), plain.with("Accept", "text/html,*/*;q=0.8"),
			get(target+"?fresh=1").withAuth("Bearer "+second), get(target+"?fresh=1"), plain.withAuth("Bearer "+roleless),
			plain.withAuth("Bearer "+roleless).with("X-User-Id", "admin"), get(target+"?page[page]=1").withAuth("Bearer "+roleless))
	}
	post := probe{method: http.MethodPost, target: info}
	probes = append(probes, post.withAuth("Bearer "+second), get(strings.TrimSuffix(info, "/")), get(strings.Replace(info, "oauth/", "oauth//", 1)),
		get(strings.Replace(info, "oauth/", "oauth/./", 1)), get(strings.Replace(info, "info/", "Info/", 1)), get(strings.TrimSuffix(info, "/")+";x=1/"),
		get(list+"/XF-00000003/"), probe{method: "PROPFIND", target: list + "/XF-00000003"}.withAuth("Bearer "+second))
	for _, query := range append(pageQueries(), "?fundingType=PROGRAMME", "?applicantsScope=NATIONAL",
		"?funderId="+strings.Repeat("a", 200), "?funderId="+strings.Repeat("a", 201)) {
		probes = append(probes, get(list+query).withAuth("Bearer "+second))
	}
	filtered := get(list + "?funderId=nobody-else")
	probes = append(probes, filtered.withAuth("Bearer "+roleless), filtered.withAuth("Bearer "+second), filtered, head(list).withAuth("Bearer "+roleless),
		get(list).withAuth("Bearer "+roleless).with("X-Forwarded-For", "10.0.0.5"), get(list+"/").withAuth("Bearer "+roleless), get(api+"/funding/v2/fundings").withAuth("Bearer "+roleless), get(api+"/funding/fundings"), get(list+"/").withAuth("Bearer "+second), get(list+"?publicationState=preview").withAuth("Bearer "+second),
		get(list+"?again=1").withAuth("Bearer "+second), get(list+"?again=1").withAuth("Bearer "+second))
	for _, target := range []string{info, list, list + "/XF-00000003"} {
		probes = append(probes, get(target).withAuth("Bearer "+second).with("Accept-Language", "en"), get(target).withAuth("Bearer "+second).with("If-None-Match", `"other"`),
			get(target).with("If-None-Match", "*"), get(target+"?x=/api-docs"), head(target).withAuth("Bearer "+second), get(target).withAuth("Bearer "+roleless).with("Accept", "text/csv"),
			get(target).withAuth("Bearer "+second).with("Accept", "text/html,application/xml;q=0.9,*/*;q=0.8"), get(target).withAuth("Bearer "+second).with("Accept-Encoding", "gzip"))
	}
	return append(probes, get(list+"/XF-00000004").withAuth("Bearer "+second), get(list+"/unknown").withAuth("Bearer "+second), get(document), get("https://node.example/registry/registry.json"))
}

// pageQueries lists good and bad queries for pages and filters.
func pageQueries() []string {
	return []string{
		"?page[size]=2", "?page[size]=1", "?page%5Bsize%5D=2", "?page%5Bpage%5D=2&page%5Bsize%5D=2", "?page%5Bpage%5D=4&page%5Bsize%5D=1",
		"?page%5Bpage%5D=1&page%5Bsize%5D=10000", "?page%5Bpage%5D=100000&page%5Bsize%5D=2", "?page%5Bsize%5D=abc", "?page%5Bsize%5D=99999999999", "?page%5Bpage%5D=77777777777777777777", "?page%5Bpage%5D=9223372036854775807",
		"?page%5Bpage%5D=-1", "?x-conformance=1", "?fundingType=CONFORMANCE_UNKNOWN", "?targetGroup=UNIVERSITY", "?targetGroup=GOVERNMENT",
		"?funderId=nobody", "?runningCalls=true", "?fundingType=CALL&page%5Bpage%5D=1&page%5Bsize%5D=10", "?fundingType=CALL&applicantsScope=NATIONAL",
	}
}

// exerciseAnswers yields a node's answers to the exercise one by one, with tokens replaced by their length.
func exerciseAnswers(n node) iter.Seq[string] {
	return func(yield func(string) bool) {
		first := ""
		for i, p := range tokenRequests(n) {
			answer := n.answer(p)
			if i == 0 {
				first = token(answer)
			}
			if !yield(maskTokens(answer)) {
				return
			}
		}
		tokens := []string{first}
		for _, client := range n.Credentials()[:2] {
			tokens = append(tokens, token(n.answer(postToken("grant_type=client_credentials&client_id="+client.ClientID+"&client_secret="+client.Secret))))
		}
		later := n.Credentials()[1] // has no role
		scoped := token(n.answer(postToken("grant_type=client_credentials&client_id=" + later.ClientID + "&client_secret=" + later.Secret + "&scope=any")))
		byScope := token(n.answer(postToken("grant_type=client_credentials&client_id=" + later.ClientID + "&client_secret=" + later.Secret + "&scope=EXTERNAL_API_CLIENT")))
		byBasic := token(n.answer(postTokenByBasic(n.Credentials()[0].ClientID, n.Credentials()[0].Secret)))
		selfGranted := token(n.answer(postToken("grant_type=client_credentials&client_id=" + later.ClientID + "&client_secret=" + later.Secret + "&role=EXTERNAL_API_CLIENT&audience=any")))
		for i := range 6 { // the first two clients in turn, as they meet in one moment
			client := n.Credentials()[i%2]
			tokens[1+i%2] = token(n.answer(postToken("grant_type=client_credentials&client_id=" + client.ClientID + "&client_secret=" + client.Secret)))
		}
		groups := []func() []probe{publicationRequests, func() []probe {
			return []probe{get(list).withAuth("Bearer " + scoped), get(list).withAuth("Bearer " + selfGranted), get(list).withAuth("Bearer " + byScope), get(list).withAuth("Bearer " + byBasic)}
		}}
		if !slices.Contains(tokens, "") {
			groups = append(groups, func() []probe { return resourceRequests(tokens[0], tokens[1], tokens[2]) },
				func() []probe { return forgedRequests(n, tokens[1]) }, func() []probe { return oddRequests(tokens[1]) })
		}
		for _, probes := range groups {
			for _, p := range probes() {
				if !yield(maskTokens(n.answer(p))) {
					return
				}
			}
		}
		*n.shift = time.Hour // the tokens have expired
		for _, target := range []string{info, list + "/XF-00000003"} {
			if !yield(maskTokens(n.answer(get(target).withAuth("Bearer " + tokens[1])))) {
				break
			}
		}
		*n.shift = 0
	}
}

// exampleShows reports whether the deviation changes status or body of the answer to its own example.
func exampleShows(d fault.Deviation, good, deviating node) bool {
	if d.Example == nil {
		return false
	}
	answer := func(n node) string {
		client := n.Credentials()[0]
		issued := token(n.answer(postToken("grant_type=client_credentials&client_id=" + client.ClientID + "&client_secret=" + client.Secret)))
		r, w := request(get(info).withAuth("Bearer "+issued)), httptest.NewRecorder()
		d.Example(r)
		n.ServeHTTP(w, r)
		return fmt.Sprint(w.Code, w.Body)
	}
	return answer(good) != answer(deviating)
}

// differs reports whether the answers differ from the expected ones. It stops at the first difference.
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
func oddRequests(token string) []probe {
	good := func(p probe) probe { return p.withAuth("Bearer " + token) }
	broken := base64.RawURLEncoding.EncodeToString([]byte("{")) + ".e30.AA"
	crossOrigin := func(p probe) probe { return p.with("Origin", "https://conformance.invalid") }
	probes := []probe{
		get(info).with("X-Forwarded-User", "admin"), get(info).with("X-Forwarded-For", "127.0.0.1"), get(info).with("X-Original-URL", "/"),
		get(list + "?page%5Bsize%5D=2"), get(info).with("X-Auth-Request-User", "admin"), get(info).with("X-Method-Override", "OPTIONS"), crossOrigin(get(info)),
		get(strings.Replace(info, "info/", "%69nfo/", 1)), get(strings.TrimSuffix(info, "/") + ".json/"),
		good(get(info).with("Origin", "https://example.com.conformance.invalid")), crossOrigin(good(get(info))), crossOrigin(probe{method: http.MethodOptions, target: "/oauth/token"}),
		good(get(strings.Replace(info, "/v1/", "/v999/", 1))), good(get(api + "/unknown")), good(get(list).with("Accept", "application/x-conformance")),
		postToken(`{"grant_type":"client_credentials"}`).with("Content-Type", "application/json"),
		postToken("--b--").with("Content-Type", "multipart/form-data; boundary=b"), postToken("grant_type=client_credentials&client_id=x&client_secret=y&scope=%FF"),
		postToken("grant_type=urn:none&client_id=x"), good(head(info)),
	}
	for _, odd := range []string{broken, "\xe4\xf6", strings.Repeat("A", 6<<10)} {
		probes = append(probes, get(info).withAuth("Bearer "+odd))
	}
	for _, id := range []string{"O'Brien", "%FF", "%7Bid%7D"} {
		probes = append(probes, good(get(list+"/"+id)))
	}
	for _, query := range []string{"a=%FF", "page%5Bsize%5D=%00", "page%5Bpage%5D=2147483647&page%5Bsize%5D=2", strings.Repeat("a=1&", 200)} {
		probes = append(probes, good(get(list+"?"+query)))
	}
	return probes
}
