package probe_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/conformancetest"
	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/target"
)

// This file proves what a run promises to those who let it at their node: see README.md.

// filterRequests returns the requests that fit.
func filterRequests(log []seen, fits func(seen) bool) []seen {
	return slices.DeleteFunc(slices.Clone(log), func(q seen) bool { return !fits(q) })
}

func below(path string) func(seen) bool {
	return func(q seen) bool { return strings.HasPrefix(q.uri, path) }
}

// withEverything returns a target with every input and every opt-in.
func withEverything(n, staging *node) target.Target {
	return full(n, func(t *target.Target) {
		t.AllowTokenInURL, t.AllowSecretInURL = true, true
		t.Other = &target.Credentials{ClientID: secondID, ClientSecret: target.NewSecret(secondSecret)}
		t.Staging = &target.Staging{TokenURL: staging.URL + "/oauth/token",
			Credentials: target.Credentials{ClientID: secondID, ClientSecret: target.NewSecret(secondSecret)}}
	})
}

// credentialsOf returns the client id and the secret of a token request, wherever the request has them.
func credentialsOf(q seen) (id, secret string) {
	form := parseForm(q.body)
	id, secret = form["client_id"], form["client_secret"]
	if encoded, basic := strings.CutPrefix(q.authorization, "Basic "); basic {
		decoded, _ := base64.StdEncoding.DecodeString(encoded)
		user, password, _ := strings.Cut(string(decoded), ":")
		id, secret = user, password // as they are, or form-encoded (RFC 6749 §2.3.1)
		if plain, err := url.QueryUnescape(password); err == nil {
			secret = plain
		}
	}
	if u, err := url.Parse(q.uri); err == nil && u.Query().Has("client_id") {
		id = u.Query().Get("client_id") // the secret may be in the content
		if u.Query().Has("client_secret") {
			secret = u.Query().Get("client_secret")
		}
	}
	return id, secret
}

// The client that may be locked out. Its secret is longer than the 72 bytes that bcrypt reads.
const (
	spareID     = "spare-client"
	spareSecret = "Spare-secret-7f3Kq9ZxW2vB8nM4tR6yH1jL5pD0sG-Qe7Uw3Ic9Oa2Nf4Xb6Tk8Vz-0123456789-end"
)

var _ = Describe("What a run promises", func() {
	const (
		data  = "/ris/funding/v3/fundings"
		info  = "/ris/info/v1/oauth/info"
		token = "/oauth/token"
	)

	It("sends cookies back to the origin that set them, without the token, and to no other", func() {
		setting := func(name string) func(*node) {
			return func(n *node) {
				n.before = func(_ *node, w http.ResponseWriter, q *http.Request) bool {
					if strings.HasPrefix(q.Header.Get("Authorization"), "Bearer access-token-number-") {
						http.SetCookie(w, &http.Cookie{Name: name, Value: "of-a-session", Path: "/"})
					}
					return false
				}
			}
		}
		n, api := newNode(setting("sid")), newNode()
		api.tokens, api.before = n.tokens, func(_ *node, w http.ResponseWriter, q *http.Request) bool {
			http.Error(w, "no token works here", http.StatusUnauthorized)
			return true
		}
		t := targetOf(n)
		t.BaseURL = api.URL + "/ris"
		log := certify(t)
		x, sent := log.Get(evidence.Info.With("session-cookie"))
		Expect(sent).To(BeTrue())
		Expect(x.Given).To(HaveKeyWithValue("cookies", "sid"))
		withSession := func(q seen) bool { return strings.Contains(q.header.Get("Cookie"), "of-a-session") } // the cookies of a family are made up
		cookies := filterRequests(n.log(), withSession)
		Expect(cookies).To(HaveLen(1))
		Expect(cookies[0].header.Get("Cookie")).To(Equal("sid=of-a-session"))
		Expect(cookies[0].authorization).To(BeEmpty())
		Expect(api.log()).NotTo(BeEmpty(), "the operations are on another origin")
		Expect(filterRequests(api.log(), withSession)).To(BeEmpty())
	})

	It("keeps the cookies of info from operations on another origin", func() {
		n := newNode(func(n *node) {
			n.before = func(n *node, w http.ResponseWriter, q *http.Request) bool {
				if !strings.HasPrefix(q.URL.Path, info) || q.Method != http.MethodGet {
					return false
				}
				http.SetCookie(w, &http.Cookie{Name: "sid", Value: "of-a-session", Path: "/"})
				w.Header().Set("Content-Type", "application/json")
				n.info(w, q)
				return true
			}
		})
		api := newNode(func(api *node) {
			api.before = func(api *node, w http.ResponseWriter, q *http.Request) bool {
				if !strings.HasPrefix(q.Header.Get("Authorization"), "Bearer access-token-number-") {
					return false
				}
				w.Header().Set("Content-Type", "application/json")
				if id, detail := strings.CutPrefix(q.URL.Path, data+"/"); detail {
					api.detail(w, id)
				} else {
					api.list(w, q)
				}
				return true
			}
		})
		t := targetOf(n)
		t.BaseURL = api.URL + "/ris"
		log := certify(t)
		Expect(log.Roles.ProbeTarget).To(Equal(evidence.Resource("op/listFundings")), "info is open to all")
		Expect(because(log, log.Roles.ProbeTarget.With("session-cookie"))).To(ContainSubstring("another origin"))
		Expect(api.log()).NotTo(ContainElement(Satisfy(func(q seen) bool { return strings.Contains(q.header.Get("Cookie"), "of-a-session") })))
	})

	DescribeTable("tries identity headers together, and one by one only when they got data",
		func(trusted string, requests int) {
			n := newNode(func(n *node) {
				n.before = func(n *node, w http.ResponseWriter, q *http.Request) bool {
					if trusted == "" || q.Header.Get(trusted) == "" {
						return false
					}
					n.info(w, q)
					return true
				}
			})
			log := certify(targetOf(n))
			sent := 0
			for _, label := range []evidence.Case{"identity-headers", "forwarded-user", "remote-user", "forwarded-for", "original-url", "auth-request-user", "real-ip"} {
				if x, ok := log.Get(evidence.Info.With(label)); ok {
					sent++
					Expect(evidence.Values(x.Request.Header, "Authorization")).To(BeEmpty(), string(label))
				}
			}
			Expect(sent).To(Equal(requests))
			x, _ := log.Get(evidence.Info.With("identity-headers"))
			for _, name := range []string{"X-Forwarded-User", "X-Remote-User", "X-Forwarded-For", "X-Original-URL", "X-Auth-Request-User", "X-Real-IP"} {
				Expect(evidence.Values(x.Request.Header, name)).To(HaveLen(1), name)
			}
			if requests == 1 {
				Expect(because(log, evidence.Info.With("real-ip"))).To(ContainSubstring("together got nothing"))
			}
		},
		Entry("none is trusted", "", 1),
		Entry("one is trusted", "X-Real-Ip", 7))

	DescribeTable("ends odd token requests at the first sign of a ban",
		func(status int) {
			n := newNode(func(n *node) {
				n.before = func(_ *node, w http.ResponseWriter, q *http.Request) bool {
					if q.URL.Path == token && q.Header.Get("Content-Type") == "application/json" {
						w.WriteHeader(status)
						return true
					}
					return false
				}
			})
			log := certify(targetOf(n))
			_, sent := log.Get(evidence.TokenEndpoint.With("form-json"))
			Expect(sent).To(BeTrue())
			for _, c := range []evidence.Case{"form-percent", "form-bytes", "form-long", "form-parts", "form-text"} {
				Expect(because(log, evidence.TokenEndpoint.With(c))).To(ContainSubstring("no more odd token requests"), string(c))
			}
		},
		Entry("403", http.StatusForbidden), Entry("429", http.StatusTooManyRequests))

	It("makes two odd token requests when it is asked to be polite", func() {
		n := newNode()
		t := targetOf(n)
		t.Polite = true
		t.Politeness = target.Politeness{Timeout: t.Politeness.Timeout, Rate: 1000, Concurrency: 1}
		log := certify(t)
		var odd []evidence.Label
		for _, l := range log.Planned {
			if strings.HasPrefix(string(l), "token.form-") {
				odd = append(odd, l)
			}
		}
		Expect(odd).To(ConsistOf(evidence.Label("token.form-json"), evidence.Label("token.form-bytes")))
	})

	It("sends one wrong secret of the client, and its id without a secret once, whatever is allowed", func() {
		n, staging := newNode(), newNode()
		certify(withEverything(n, staging))
		var wrong, alone int
		for _, q := range filterRequests(n.log(), below(token)) {
			switch id, secret := credentialsOf(q); {
			case id != clientID:
			case secret == "":
				alone++
			case secret != clientSecret:
				wrong++
			}
		}
		Expect([]int{wrong, alone}).To(Equal([]int{1, 1}))
	})

	It("requests tokens as an unknown client twelve times at most, with good requests between", func() {
		n := newNode()
		t := targetOf(n)
		t.Politeness.Concurrency = 1
		certify(t)
		requests := filterRequests(n.log(), below(token))
		longest, row, unknown := 0, 0, 0
		for _, q := range requests {
			id, _ := credentialsOf(q)
			if id == "" { // JSON, parts or text
				if found := regexp.MustCompile(`client_id"?[:=\s"]+([\w.-]+)`).FindStringSubmatch(q.body); found != nil {
					id = found[1]
				}
			}
			if id != "" && id != clientID && id != secondID {
				unknown++
				row++
			} else if issuing(q) {
				row = 0
			}
			longest = max(longest, row)
		}
		Expect(unknown).To(And(BeNumerically(">", 0), BeNumerically("<=", 12)))
		Expect(longest).To(BeNumerically("<", unknown), "a good token request stands between")
	})

	It("tries every kind of wrong secret on the client that may be locked out, and stops when the node limits that client", func() {
		for _, limited := range []int{0, 3} {
			tries := 0
			n := newNode(func(n *node) {
				n.before = func(n *node, w http.ResponseWriter, q *http.Request) bool {
					id, _, _ := q.BasicAuth()
					requests := n.log()
					values, _ := url.ParseQuery(requests[len(requests)-1].body)
					if q.URL.Path != "/oauth/token" || values.Get("client_id") != spareID && id != spareID {
						return false
					}
					n.mu.Lock()
					defer n.mu.Unlock()
					if values.Get("client_secret") == spareSecret {
						n.tokens["spare-token"] = spareID
						conformancetest.WriteToken(w, "spare-token", 300)
						return true
					}
					if tries++; limited > 0 && tries >= limited {
						w.WriteHeader(http.StatusTooManyRequests)
						return true
					}
					conformancetest.RefuseClient(w)
					return true
				}
			})
			t := targetOf(n)
			t.Politeness.Concurrency = 1
			t.Spare = &target.Credentials{ClientID: spareID, ClientSecret: target.NewSecret(spareSecret)}
			log := certify(t)
			sent := 0
			for _, x := range log.Exchanges {
				if x.Family == evidence.WrongSecrets {
					sent++
					Expect(fmt.Sprint(x.Request)).NotTo(ContainSubstring(spareSecret))
				}
			}
			if limited > 0 {
				Expect(sent).To(Equal(limited))
				Expect(because(log, "token-spare.secret-word")).To(ContainSubstring("limits or bans clients that try wrong secrets"))
				continue
			}
			skipped, _ := log.Skipped("token-spare.secret-word")
			Expect(sent).To(Equal(19), skipped.Because)
		}
	})

	It("changes no data: it sends only safe methods, except POST to info once, and at most OPTIONS once and GET three times to the token URL", func() {
		safe := []string{"GET", "HEAD", "OPTIONS", "PROPFIND", "SEARCH", "REPORT", "QUERY", "get", "Get"} // by the IANA registry of HTTP methods
		n, staging := newNode(), newNode()
		certify(withEverything(n, staging))
		count := func(method string, fits func(seen) bool) int {
			return len(filterRequests(n.log(), func(q seen) bool { return q.method == method && fits(q) }))
		}
		for _, q := range n.log() {
			switch {
			case below(token)(q):
				Expect(q.method).To(BeElementOf("POST", "GET", "OPTIONS"), q.uri)
			case below(info)(q):
				Expect(q.method).To(BeElementOf(append(safe, "POST")), q.uri)
			default:
				Expect(q.method).To(BeElementOf(safe), q.uri)
			}
		}
		Expect(count("POST", below(info))).To(Equal(1))
		Expect(count("OPTIONS", below(token))).To(Equal(1))
		Expect(count("GET", below(token))).To(And(BeNumerically(">", 0), BeNumerically("<=", 3)))
		Expect(filterRequests(n.log(), func(q seen) bool { return q.method == "POST" && below(info)(q) })[0].body).To(BeEmpty())
	})

	It("sends odd paths as they are spelled, without cleaning them", func() {
		n := newNode()
		certify(targetOf(n))
		var uris []string
		for _, q := range filterRequests(n.log(), func(q seen) bool { return anonymous(q) && below("/ris/info")(q) }) {
			uris = append(uris, q.uri)
		}
		Expect(uris).To(ContainElements(info, "/ris/info/v1/oauth//info/", "/ris/info/v1/oauth/./info/", "/ris/info/v1/oauth/Info/",
			MatchRegexp("^/ris/info/v1/oauth/info;[a-z]+=[0-9]{2}/$"), MatchRegexp("^/ris/info/v1/oauth/[info]*%[0-9A-F]{2}[info]*/$"), "/ris/info/v1/oauth/info.json/"))
	})

	It("sends the real secret and the tokens in no URL unless that is allowed, and to no other host", func() {
		n, staging := newNode(), newNode()
		certify(full(n, func(t *target.Target) {
			t.Staging = &target.Staging{TokenURL: staging.URL + "/oauth/token",
				Credentials: target.Credentials{ClientID: secondID, ClientSecret: target.NewSecret(secondSecret)}}
		}))
		for _, q := range n.log() {
			for _, text := range []string{"access-token-number", "S3cret", url.QueryEscape(clientSecret), secondSecret} {
				Expect(q.uri).NotTo(ContainSubstring(text))
			}
		}
		for _, q := range staging.log() {
			Expect(q.body + q.uri + q.authorization).NotTo(Or(ContainSubstring("access-token-number"), ContainSubstring("S3cret")))
		}
		Expect(below(data)(n.log()[len(n.log())-1]) || len(n.log()) > 50).To(BeTrue(), "the run was whole")
	})

	DescribeTable("keeps to the budget that it announces",
		func(change func(*target.Target)) {
			n, staging := newNode(), newNode()
			t := withEverything(n, staging)
			change(&t)
			log := certify(t)
			sent := len(n.log()) + len(staging.log())
			Expect(sent).To(And(BeNumerically(">", 20), BeNumerically("<=", log.Run.Budget)))
			Expect(labelsWithoutEnd(log)).To(BeEmpty())
		},
		Entry("auth", func(t *target.Target) { t.Profile = "auth" }),
		Entry("funding", func(t *target.Target) { t.Profile = "funding" }),
		Entry("full", func(*target.Target) {}),
		Entry("quick", func(t *target.Target) { t.Effort = draw.Quick }),
		Entry("thorough", func(t *target.Target) { t.Effort = draw.Deep }))
})
