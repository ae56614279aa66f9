package recorder_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
)

func allow(origins ...string) func(*recorder.Options) {
	return func(o *recorder.Options) { o.AllowedOrigins = origins }
}

func bearer(token string) []evidence.Field {
	return []evidence.Field{{Name: "Authorization", Value: "Bearer " + token}}
}

var _ = Describe("Credentials", func() {
	It("of one origin are sent only to that origin, and without other secrets", func() {
		var requests int
		s := serve(func(http.ResponseWriter, *http.Request) { requests++ })
		r := newFixture(allow("https://node.example"))
		r.Redactor.Secret("staging_secret", "a-secret-of-staging")
		ask := recorder.Request{Method: http.MethodPost, URL: s.URL, Body: []byte("client_secret=a-secret-of-staging"), Credential: "staging_secret", Recipient: s.URL}
		Expect(r.send(ask).Failure()).To(BeNil())
		Expect(requests).To(Equal(1))

		for _, change := range []func(*recorder.Request){
			func(a *recorder.Request) { a.Recipient = "https://staging.example" },
			func(a *recorder.Request) { a.Body = []byte("client_secret=a-very-secret%2Fsecret%2B1") },
			func(a *recorder.Request) { a.URL += "?s=a-very-secret/secret%2B1" },
			func(a *recorder.Request) { a.Header = bearer("a-very-secret/secret+1") },
		} {
			other := ask
			change(&other)
			Expect(r.send(other).Failure().Message).To(ContainSubstring("may not receive"))
		}
		Expect(requests).To(Equal(1))
	})

	It("that a client gets are compared with its first token, to count the random bits", func() {
		r, n := newFixture(), 0
		url := serve(func(w http.ResponseWriter, _ *http.Request) {
			n++
			fmt.Fprintf(w, `{"access_token":"rin_0123456789abcdef000%d"}`, n)
		}).URL
		bits := func(name string) int {
			x := r.send(recorder.Request{Label: "token.ok", URL: url, Issues: name}).Exchange
			return x.Tokens[0].Chance
		}
		Expect([]int{bits("access_token"), bits("access_token"), bits("access_token2")}).To(Equal([]int{118, 5, 118}))
	})

	It("are sent to allowed origins only", func() {
		called := false
		s := serve(func(http.ResponseWriter, *http.Request) { called = true })
		r := newFixture(allow("https://node.example"))
		a := r.send(recorder.Request{URL: s.URL, Header: bearer("x"), Credential: "access_token"})
		Expect(a.Failure().Kind).To(Equal(evidence.FailureRefused))
		Expect(a.Failure().Message).To(ContainSubstring(s.URL + " may not receive the access_token: allow the origin (--allow-origin)"))
		Expect(called).To(BeFalse())
		Expect(r.recorded().Attempts).To(BeZero())
		Expect(r.recorder.Sent()).To(BeZero())

		r = newFixture(allow(s.URL))
		Expect(r.send(recorder.Request{URL: s.URL, Header: bearer("x"), Credential: "access_token"}).OK()).To(BeTrue())
	})

	DescribeTable("are recognised although the request does not name them",
		func(ask func(*recorder.Request)) {
			r := newFixture()
			a := recorder.Request{Method: "POST", URL: serve(text("")).URL}
			ask(&a)
			answer := r.send(a)
			Expect(answer.Failure()).NotTo(BeNil())
			Expect(answer.Failure().Kind).To(Equal(evidence.FailureRefused))
			Expect(r.written()).NotTo(ContainSubstring("a-very-secret"))
		},
		Entry("in the body", func(a *recorder.Request) { a.Body = []byte("client_secret=" + url.QueryEscape(clientSecret)) }),
		Entry("in the URL", func(a *recorder.Request) { a.URL += "/?s=" + url.QueryEscape(clientSecret) }),
		Entry("in a header", func(a *recorder.Request) {
			a.Header = []evidence.Field{{Name: "Authorization", Value: "Basic " + base64.StdEncoding.EncodeToString([]byte("id:"+clientSecret))}}
		}),
		Entry("as something to conceal", func(a *recorder.Request) {
			a.Conceal, a.Header = map[string]string{"tampered": "eyJ.tampered.token"}, bearer("eyJ.tampered.token")
		}),
	)

	DescribeTable("compares origins by scheme, host and port",
		func(allowed, asked string, want bool) {
			r := newFixture(allow(allowed), func(o *recorder.Options) { o.Budget = 1 })
			r.send(recorder.Request{Label: "first.ok", URL: "http://" + closedPort()}) // uses the budget up: nothing leaves this machine
			r.send(recorder.Request{URL: asked, Credential: "access_token"})
			_, unsent := r.evidence().Skipped("info.ok")
			Expect(unsent).To(Equal(want))
		},
		Entry("default port", "https://node.example", "https://NODE.example:443/x", true),
		Entry("default port, the other way", "http://node.example:80/", "http://node.example", true),
		Entry("IPv6", "http://[::1]:8080", "http://[::1]:8080/x", true),
		Entry("another port", "https://node.example", "https://node.example:8443", false),
		Entry("another scheme", "https://node.example", "http://node.example", false),
		Entry("a subdomain", "https://node.example", "https://a.node.example", false),
		Entry("a longer name", "https://node.example", "https://node.example.evil.example", false),
	)

	It("are redacted wherever a node echoes them", func() {
		s := serve(func(w http.ResponseWriter, q *http.Request) {
			body, _ := io.ReadAll(q.Body)
			form, _ := url.ParseQuery(string(body))
			secret := form.Get("client_secret")
			w.Header().Set("X-Echo", secret)
			w.Header().Set("X-Basic", base64.StdEncoding.EncodeToString([]byte("id:"+secret)))
			w.Header().Set("Set-Cookie", "SESSION=0123456789abcdef0123456789; Path=/")
			json.NewEncoder(w).Encode(map[string]string{"access_token": accessToken, "refresh_token": "a-refresh-token-of-length", "echo": secret})
		})
		r := newFixture(allow(s.URL))
		a := r.send(recorder.Request{
			Label: "token.ok", Method: "POST", URL: s.URL + "/token", Credential: "client_secret", Issues: "access_token",
			Given: map[string]string{"secret": clientSecret},
			Body:  []byte("client_secret=" + url.QueryEscape(clientSecret)),
			Annotate: func(x evidence.Exchange) []evidence.SchemaFindings {
				Expect(string(x.Response.Body)).To(ContainSubstring(accessToken), "the schema judges the answer itself")
				return []evidence.SchemaFindings{{Judged: true, Findings: []evidence.Finding{{Got: accessToken}}}}
			},
		})
		Expect(a.Token).To(Equal(accessToken))
		Expect(string(a.Body)).To(ContainSubstring(accessToken))
		Expect(a.Header.Get("X-Echo")).To(Equal(clientSecret))

		b := r.send(recorder.Request{Label: "info.ok", URL: s.URL, Header: bearer(accessToken), Credential: "access_token"})
		Expect(b.Exchange.Request.Header[0].Value).To(MatchRegexp(`^Bearer \[\[access_token:[0-9a-f]{8}:plain\]\]$`))
		evidence := r.written()
		for _, secret := range []string{clientSecret, url.QueryEscape(clientSecret), accessToken, "a-refresh-token", "0123456789abcdef",
			base64.StdEncoding.EncodeToString([]byte("id:" + clientSecret))[4:12]} {
			Expect(evidence).NotTo(ContainSubstring(secret))
		}
		x, _ := r.evidence().Get("token.ok")
		Expect(x.Tokens).To(HaveLen(1))
		Expect(x.Tokens[0].JWT.Claims).To(HaveKeyWithValue("sub", "sa"))
		f, _ := r.evidence().FindingsOf("token.ok")
		Expect(f.Findings[0].Got).To(HavePrefix("[[access_token:"))
	})

	DescribeTable("are found in token answers that are not valid JSON",
		func(body string) {
			r := newFixture()
			a := r.send(recorder.Request{URL: serve(text(body)).URL, Issues: "access_token"})
			Expect(a.Token).To(BeEmpty())
			Expect(string(a.Body)).To(Equal(body))
			Expect(r.written()).NotTo(ContainSubstring("abcdefghijkl"))
			Expect(r.recorded().Tokens).To(BeEmpty())
		},
		Entry("a form", "access_token=abcdefghijkl%2Bm&token_type=bearer"),
		Entry("cut JSON", `{"access_token": "abcdefghijkl`),
		Entry("JSON and more", `{"access_token": "abcdefghijkl"}}`),
		Entry("inside another object", `{"data":{"access_token":"abcdefghijkl"}}`),
		Entry("another spelling", `{"accessToken":"abcdefghijkl"}`),
		Entry("an array", `[{"id_token":"abcdefghijkl"}]`),
		Entry("a value with an escaped backslash", `{"refresh_token":"\\u0041abcdefghijkl"}`),
		Entry("a name with an escape", `{"refresh\u005Ftoken":"abcdefghijkl"}`),
		Entry("a name of escapes, cut", `{"data":{"\u0061\u0063\u0063\u0065\u0073\u0073\u0054\u006f\u006b\u0065\u006e": "abcdefghijkl`),
	)

	DescribeTable("does not redact text that only resembles a token",
		func(member string) {
			r := newFixture()
			body := `{"access_token":"abcdefghijklmnop",` + member + `,"token_type":"Bearer","n":null,"b":true,"l":[{}]}`
			r.send(recorder.Request{URL: serve(text(body)).URL, Issues: "access_token"})
			recorded := r.recorded().Response.Body
			Expect(json.Valid(recorded)).To(BeTrue(), string(recorded))
			Expect(string(recorded)).NotTo(ContainSubstring("abcdefghijkl"))
			Expect(string(recorded)).To(HaveSuffix(member + `,"token_type":"Bearer","n":null,"b":true,"l":[{}]}`))
		},
		Entry("null", `"refresh_token":null`),
		Entry("false", `"id_token" : false`),
		Entry("an empty object", `"refresh_token":{}`),
		Entry("a list", `"id_token":[]`),
	)

	DescribeTable("are redacted as a whole if they contain blanks",
		func(body, token, word string) {
			r := newFixture()
			r.send(recorder.Request{URL: serve(text(body)).URL, Issues: "access_token"})
			Expect(r.written()).NotTo(ContainSubstring("abcdefghijkl"))
			Expect(r.Redactor.Text("<" + token + ">")).To(MatchRegexp(`^<\[\[access_token:[0-9a-f]{8}:plain\]\]>$`))
			Expect(r.Redactor.Text("Authorization: Bearer abcdefghijkl")).NotTo(ContainSubstring("abcdefghijkl"))
			Expect(r.Redactor.Text(word + ` realm="x"`)).To(Equal(word + ` realm="x"`))
		},
		Entry("the scheme of the interface", `{"access_token":"Bearer abcdefghijkl","token_type":"Bearer"}`, "Bearer abcdefghijkl", "Bearer"),
		Entry("another scheme", `{"access_token":"Resource abcdefghijkl"}`, "Resource abcdefghijkl", "Resource"),
		Entry("invalid JSON", `{'access_token':'Resource abcdefghijkl',}`, "Resource abcdefghijkl", "Resource"),
	)

	DescribeTable("are all found in an answer with several, and the last one is used, as clients do",
		func(body string) {
			r := newFixture()
			a := r.send(recorder.Request{URL: serve(text(body)).URL, Issues: "access_token"})
			Expect(a.Token).To(Equal("the-last-abcdefghijkl"))
			Expect(r.written()).NotTo(ContainSubstring("abcdefghijkl"))
			Expect(r.recorded().Tokens).To(HaveLen(1))
		},
		Entry("by one name", `{"access_token":"the-first-abcdefghijkl","token_type":"Bearer","access_token":"the-last-abcdefghijkl"}`),
		Entry("by a name with an escape", `{"access\u005ftoken":"the-first-abcdefghijkl","access_token":"the-last-abcdefghijkl"}`),
		Entry("by names in two cases", `{"ACCESS_token":"the-first-abcdefghijkl","access_token":"the-last-abcdefghijkl"}`),
		Entry("before a name in another case, which is another member", `{"access_token":"the-last-abcdefghijkl","ACCESS_TOKEN":"the-first-abcdefghijkl"}`),
		Entry("before a value that is not a string", `{"access\u005ftoken":"the-last-abcdefghijkl","access_token":7}`),
	)

	It("are named after the case that issued them", func() {
		r := newFixture()
		n := 0
		url := serve(func(w http.ResponseWriter, _ *http.Request) {
			n++
			io.WriteString(w, `{"access_token":"`+strings.Repeat(string(rune('a'+n)), 20)+`"}`)
		}).URL
		for _, l := range []evidence.Label{"token.ok", "token.repeat-1", "token2.ok"} {
			name := "access_token"
			if l == "token2.ok" {
				name = "access_token2"
			}
			r.send(recorder.Request{Label: l, URL: url, Issues: name})
		}
		r.recorder.Send(GinkgoT().Context(), recorder.Request{URL: url, Issues: "access_token"})
		var names []string
		for _, x := range r.evidence().Exchanges {
			names = append(names, x.Tokens[0].Name)
		}
		Expect(names).To(ConsistOf("access_token", "access_token.repeat-1", "access_token2"))
		Expect(r.Redactor.Text(strings.Repeat("e", 20))).To(HavePrefix("[[access_token.renewed:"))
	})

	It("are redacted in failures, too", func() {
		r := newFixture(allow("http://" + clientSecret[:4]))
		a := r.send(recorder.Request{URL: "http://user:" + url.QueryEscape(clientSecret) + "@127.0.0.1/"})
		Expect(a.Failure().Message).To(ContainSubstring("credentials do not belong in a URL"))
		Expect(r.written()).NotTo(ContainSubstring("a-very-secret"))
	})
})

var _ = Describe("Redirects", func() {
	to := func(code int, location string) http.HandlerFunc { return status(code, "Location", location) }

	It("are not followed by default", func() {
		a := newFixture().send(recorder.Request{URL: serve(answers(to(302, "/b"), text("b"))).URL})
		Expect(a.Status).To(Equal(302))
	})

	It("are followed once on the same origin, with the same header", func() {
		s := serve(func(w http.ResponseWriter, q *http.Request) {
			if q.URL.Path == "/a" {
				http.Redirect(w, q, "/a/?x=1#f", http.StatusPermanentRedirect)
				return
			}
			io.WriteString(w, q.Header.Get("Authorization")+q.RequestURI)
		})
		r := newFixture(allow(s.URL))
		a := r.send(recorder.Request{URL: s.URL + "/a", Header: bearer("x"), Credential: "access_token", FollowSameOrigin: true})
		Expect(string(a.Body)).To(Equal("Bearer x/a/?x=1"))
		x := r.recorded()
		Expect(x.Request.URL).To(Equal(s.URL + "/a"))
		Expect(x.Redirects).To(HaveLen(1))
		Expect(x.Redirects[0]).To(And(HaveField("Status", 308), HaveField("URL", s.URL+"/a"), HaveField("Location", "/a/?x=1#f")))
		Expect(r.recorder.Sent()).To(Equal(2))
		Expect(x.Attempts).To(Equal(1))
	})

	It("are followed only once, even in a loop", func() {
		r := newFixture()
		a := r.send(recorder.Request{URL: serve(to(302, "/again")).URL, FollowSameOrigin: true})
		Expect(a.Status).To(Equal(302))
		Expect(r.recorder.Sent()).To(Equal(2))
	})

	It("never carry a credential to another origin", func() {
		called := false
		other := serve(func(http.ResponseWriter, *http.Request) { called = true })
		port := strings.TrimPrefix(other.URL, "http://127.0.0.1")
		for _, location := range []string{other.URL, "//127.0.0.1" + port, "http://localhost" + port, "https://127.0.0.1" + port, "file:///etc/passwd", "http://%zz", ""} {
			s := serve(to(307, location))
			r := newFixture(allow(s.URL, other.URL))
			a := r.send(recorder.Request{URL: s.URL, Header: bearer("x"), Credential: "access_token", FollowSameOrigin: true})
			Expect(a.Status).To(Equal(307), location)
			Expect(r.recorded().Redirects).To(BeEmpty())
		}
		Expect(called).To(BeFalse())
	})

	It("are not followed with a user name or a second Location", func() {
		for _, header := range [][]string{{"Location", "http://user@%s/b"}, {"Location", "/b", "Location", "/c"}} {
			s := serve(func(w http.ResponseWriter, q *http.Request) {
				for i := 0; i < len(header); i += 2 {
					w.Header().Add(header[i], strings.ReplaceAll(header[i+1], "%s", q.Host))
				}
				w.WriteHeader(302)
			})
			r := newFixture()
			r.send(recorder.Request{URL: s.URL, FollowSameOrigin: true})
			Expect(r.recorder.Sent()).To(Equal(1))
		}
	})

	DescribeTable("of a POST are followed only if the method stays",
		func(code int, followed bool) {
			s := serve(func(w http.ResponseWriter, q *http.Request) {
				if q.URL.Path == "/" {
					to(code, "/b")(w, q)
					return
				}
				body, _ := io.ReadAll(q.Body)
				io.WriteString(w, q.Method+string(body))
			})
			a := newFixture().send(recorder.Request{Method: "POST", URL: s.URL, Body: []byte("x=1"), FollowSameOrigin: true})
			Expect(string(a.Body) == "POSTx=1").To(Equal(followed))
			Expect(a.Status == code).To(Equal(!followed))
		},
		Entry("301", 301, false), Entry("302", 302, false), Entry("303", 303, false),
		Entry("307", 307, true), Entry("308", 308, true), Entry("300", 300, false),
	)
})
