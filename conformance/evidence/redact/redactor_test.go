package redact_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"html"
	"net/url"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/evidence/redact"
)

const (
	invisibleValue = "a-secret-\u200d-with an invisible\u0393character"
	secretValue    = "s3cr3t/+ü~\"&<Pa ss=%41"
	tokenValue     = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJzYSJ9.dGhpcyBpcyBhIHNpZ25hdHVyZQ"
)

// everyByte formats each byte, such as "%%%02X".
func everyByte(format, s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, format, s[i])
	}
	return b.String()
}

// everyRune formats each character.
func everyRune(format, s string) string {
	var b strings.Builder
	for _, r := range s {
		fmt.Fprintf(&b, format, r)
	}
	return b.String()
}

func jsonText(s string) string {
	b, err := json.Marshal(s)
	Expect(err).NotTo(HaveOccurred())
	return string(b[1 : len(b)-1])
}

// cut cuts a list before the comma after each item.
func cut(body []byte) func() [][]byte {
	return func() [][]byte {
		var parts [][]byte
		for at := 0; ; at = 1 {
			n := bytes.Index(body[at:], []byte("},{"))
			if n < 0 {
				return append(parts, body)
			}
			parts, body = append(parts, body[:at+n+1]), body[at+n+1:]
		}
	}
}

// withoutFingerprints replaces the fingerprints in markers, which depend on the salt, by "#".
func withoutFingerprints(s string) string {
	return regexp.MustCompile(`:[0-9a-f]{8}:`).ReplaceAllString(s, ":#:")
}

var _ = Describe("A secret", func() {
	It("does not keep the long text that it was found in", func() {
		r := redact.New([]byte("salt"))
		heap := func() uint64 {
			runtime.GC()
			var now runtime.MemStats
			runtime.ReadMemStats(&now)
			return now.HeapAlloc
		}
		before := heap()
		for i := range 16 {
			text := strings.Repeat(fmt.Sprint(i), 1<<20)
			r.Secret("access_token", text[:40+i])
		}
		Expect(int64(heap()-before)>>20).To(BeNumerically("<", 8), "MB")
		runtime.KeepAlive(r)
	})
})

var _ = Describe("Redactor", func() {
	var r *redact.Redactor

	BeforeEach(func() {
		r = redact.New([]byte("salt"))
		r.Secret("client_secret", secretValue)
		r.Secret("access_token", tokenValue)
		r.Secret("wrong_secret", invisibleValue)
	})

	DescribeTable("finds the secret in every form",
		func(form string, encode func(string) string) {
			for name, value := range map[string]string{"client_secret": secretValue, "access_token": tokenValue, "wrong_secret": invisibleValue} {
				text := encode(value)
				if text == value && form != "plain" {
					continue // nothing to encode in this value
				}
				got := withoutFingerprints(r.Text("before " + text + " after"))
				Expect(got).To(Equal("before [["+name+":#:"+form+"]] after"), text)
			}
		},
		Entry("plain", "plain", func(s string) string { return s }),
		Entry("query", "percent", url.QueryEscape),
		Entry("path", "percent", url.PathEscape),
		Entry("lower-case escapes", "percent", func(s string) string { return everyByte("%%%02x", s) }),
		Entry("all escaped", "percent", func(s string) string { return everyByte("%%%02X", s) }),
		Entry("partly escaped", "percent", func(s string) string { return s[:5] + everyByte("%%%02X", s[5:9]) + url.QueryEscape(s[9:]) }),
		Entry("escaped twice", "percent", func(s string) string { return url.QueryEscape(url.QueryEscape(s)) }),
		Entry("json", "json", jsonText),
		Entry("json, all escaped", "json", func(s string) string { return everyRune(`\u%04x`, s) }),
		Entry("json, escaped slash", "json", func(s string) string { return strings.ReplaceAll(s, "s", `\u0073`) }),
		Entry("json around percent", "json", func(s string) string { return everyRune(`\u%04X`, everyByte("%%%02X", s)) }),
		Entry("html", "html", html.EscapeString),
		Entry("html numbers", "html", func(s string) string { return everyRune("&#%d;", s) }),
		Entry("html hexadecimal", "html", func(s string) string { return everyRune("&#x%X;", s) }),
		Entry("html numbers of each byte", "html", func(s string) string { return everyByte("&#%d;", s) }),
		Entry("json, each byte escaped", "json", func(s string) string { return everyByte(`\u%04x`, s) }),
		Entry("base64", "base64", func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }),
		Entry("base64 without padding", "base64", func(s string) string { return base64.RawStdEncoding.EncodeToString([]byte(s)) }),
		Entry("base64url", "base64", func(s string) string { return base64.URLEncoding.EncodeToString([]byte(s)) }),
		Entry("base64 of the form encoding", "base64", func(s string) string {
			return base64.StdEncoding.EncodeToString([]byte("my%3Aid:" + url.QueryEscape(s)))
		}),
		Entry("hex", "hex", func(s string) string { return hex.EncodeToString([]byte(s)) }),
		Entry("upper-case hex", "hex", func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) }),
	)

	It("replaces the secret inside base64 at any offset completely", func() {
		for _, value := range []string{secretValue, tokenValue, "12345678"} {
			r.Secret("value", value)
			for before := range 7 {
				for after := range 4 {
					text := strings.Repeat("x", before) + value + strings.Repeat("y", after)
					for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
						got := withoutFingerprints(r.Text("Basic " + enc.EncodeToString([]byte(text)) + ";"))
						Expect(got).To(MatchRegexp(`^Basic (\w{0,8}/)?\[\[\w+:#:base64\]\];$`), "%d %d %s", before, after, value)
					}
				}
			}
		}
	})

	It("replaces characters of base64 that the secret shares with its neighbours", func() {
		r.Secret("umlauts", "üsecret-valueo")
		got := r.Text("Basic " + base64.StdEncoding.EncodeToString([]byte("xoüsecret-valueoüx")) + ";")
		Expect(withoutFingerprints(got)).To(Equal("Basic [[umlauts:#:base64]];"))
	})

	It("finds escaped characters beyond the Basic Multilingual Plane", func() {
		r.Secret("emoji", "pass😀word")
		Expect(withoutFingerprints(r.Text(`"pass\ud83d\uDE00word"`))).To(Equal(`"[[emoji:#:json]]"`))
		Expect(withoutFingerprints(r.Text("pass&#128512;word"))).To(Equal("[[emoji:#:html]]"))
	})

	It("finds a secret after a text that resembles its beginning", func() {
		r = redact.New(nil)
		r.Secret("a", "abcaaaaaa")
		for n := range 12 {
			text := strings.Repeat("b", n)
			Expect(withoutFingerprints(r.Text(text + "a-abcaaaaaaa"))).To(Equal(text + "a-[[a:#:plain]]a"))
			Expect(withoutFingerprints(r.Text(text + "bcaaaaaaabcaaaaaa"))).To(Equal(text + "bcaaaaaa[[a:#:plain]]"))
		}
	})

	It("keeps the path of a URL that holds an encoded secret", func() {
		text := "https://node.example/a/b/" + base64.RawURLEncoding.EncodeToString([]byte(tokenValue)) + "/c"
		Expect(withoutFingerprints(r.Text(text))).To(Equal("https://node.example/a/b/[[access_token:#:base64]]/c"))
	})

	It("leaves redacted JSON, URLs and forms readable", func() {
		body, err := json.Marshal(map[string]string{"access_token": tokenValue, "echo": secretValue})
		Expect(err).NotTo(HaveOccurred())
		var out map[string]string
		Expect(json.Unmarshal(r.Bytes(body), &out)).To(Succeed())
		Expect(withoutFingerprints(out["echo"])).To(Equal("[[client_secret:#:json]]"))
		u, err := url.Parse(r.Text("https://node.example/" + url.PathEscape(secretValue) + "?s=" + url.QueryEscape(secretValue)))
		Expect(err).NotTo(HaveOccurred())
		Expect(withoutFingerprints(u.Query().Get("s"))).To(Equal("[[client_secret:#:percent]]"))
	})

	It("derives fingerprints from value and salt", func() {
		other := redact.New([]byte("pepper"))
		Expect(r.Secret("x", tokenValue)).To(Equal(r.Secret("y", tokenValue)))
		Expect(r.Secret("x", tokenValue)).To(MatchRegexp("^[0-9a-f]{8}$"))
		Expect(r.Secret("x", "another value")).NotTo(Equal(r.Secret("x", tokenValue)))
		Expect(other.Secret("x", tokenValue)).NotTo(Equal(r.Secret("x", tokenValue)))
		Expect(r.Secret("x", "")).To(BeEmpty())
	})

	It("prefers the longest of overlapping values and replaces all of them", func() {
		r.Secret("inner", "abcdefgh")
		r.Secret("outer", "abcdefghijkl")
		r.Secret("tail", "ijklmnop12345")
		Expect(withoutFingerprints(r.Text("-abcdefghijkl-abcdefgh-"))).To(Equal("-[[outer:#:plain]]-[[inner:#:plain]]-"))
		Expect(withoutFingerprints(r.Text("-abcdefghijklmnop12345-"))).To(Equal("-[[tail:#:plain]]-"))
	})

	It("replaces short secrets as whole words only", func() {
		r.Secret("short", "secret")
		text := `client_secret=secret&a-secret=1 secrets {"error":"secret"} ` + base64.StdEncoding.EncodeToString([]byte("id:secret"))
		Expect(withoutFingerprints(r.Text(text))).To(Equal(
			`client_secret=[[short:#:plain]]&a-secret=1 secrets {"error":"[[short:#:plain]]"} [[short:#:base64]]`))
		inWord := base64.StdEncoding.EncodeToString([]byte("my-secrets-of-old"))
		Expect(r.Text(inWord)).To(Equal(inWord))
		Expect(withoutFingerprints(r.Text("s%65cret "))).To(Equal("[[short:#:percent]] "))
	})

	It("is idempotent", func() {
		r.Secret("short", "plain")
		once := r.Text("x " + secretValue + " plain " + base64.StdEncoding.EncodeToString([]byte("id:"+tokenValue)))
		Expect(r.Text(once)).To(Equal(once))
		Expect(withoutFingerprints(once)).To(Equal("x [[client_secret:#:plain]] [[short:#:plain]] [[access_token:#:base64]]"))
	})

	It("is not deceived by invented markers", func() {
		for _, text := range []string{"[[x:12345678:" + tokenValue + "]]", "[[" + tokenValue + ":12345678:plain]]"} {
			Expect(r.Text(text)).NotTo(ContainSubstring(tokenValue))
		}
	})

	It("finds secrets at the borders between pieces of a large text", func() {
		const size = 1 << 20
		for _, at := range []int{0, size - len(tokenValue), size - 20, size, size + 20, 2*size - 1} {
			text := strings.Repeat(".", at) + tokenValue + strings.Repeat(".", 2*size)
			Expect(withoutFingerprints(r.Text(text)) == strings.Repeat(".", at)+"[[access_token:#:plain]]"+strings.Repeat(".", 2*size)).To(BeTrue(), "at %d", at)
		}
	})

	It("returns the same bytes if there is no secret", func() {
		body := []byte("nothing \\u0041 %41 &amp; to hide")
		Expect(&r.Bytes(body)[0]).To(BeIdenticalTo(&body[0]))
	})

	It("is searched for again once a further secret is known", func() {
		r := redact.New([]byte("salt"))
		r.Secret("client_secret", "another-secret-value")
		body := []byte(`{"value":"kept-secret-value"}`)
		Expect(r.Bytes(body)).To(Equal(body))
		r.Secret("client_secret", "kept-secret-value")
		Expect(string(r.Bytes(body))).NotTo(ContainSubstring("kept-secret-value"))
	})

	It("is searched for in texts that were read before any secret was known", func() {
		r := redact.New([]byte("salt"))
		body := []byte(`{"value":"kept-secret-value"}`)
		Expect(r.Bytes(body)).To(Equal(body))
		r.Secret("client_secret", "kept-secret-value")
		Expect(string(r.Bytes(body))).NotTo(ContainSubstring("kept-secret-value"))
	})

	DescribeTable("is found in a list that was read before it was known, whose other items are clean",
		func(value string, hidden ...string) {
			item := func(n int, more string) string {
				return fmt.Sprintf(`{"id":"XA-%d","name":"An item with a \"name\" and 100%% more","more":"%s"}`, n, more)
			}
			list := func(more string) []byte {
				return []byte("[" + item(1, "") + "," + item(2, more) + "," + item(3, "") + "]")
			}
			for _, h := range hidden {
				for _, read := range []string{"", h} { // the same list, and one with the same items
					r := redact.New([]byte("salt"))
					r.Secret("client_secret", "another-secret-value")
					body := list(read)
					Expect(cut(body)()).To(HaveLen(3))
					Expect(&r.Parted(body, cut(body))[0]).To(BeIdenticalTo(&body[0]))
					Expect(&r.Parted(body, cut(body))[0]).To(BeIdenticalTo(&body[0]))
					r.Secret("access_token", value)
					body = list(h)
					Expect(string(r.Parted(body, cut(body)))).To(Equal(r.Text(string(body))))
					Expect(string(r.Parted(body, cut(body)))).NotTo(ContainSubstring(h))
					clean := list("")
					Expect(&r.Parted(clean, cut(clean))[0]).To(BeIdenticalTo(&clean[0]))
				}
			}
		},
		Entry("plain and in other forms", "s3cr3t/+Value=~42", "s3cr3t/+Value=~42", "s3cr3t%2F%2BValue%3D~42", `s3cr3t\/\u002bValue=~42`, "s3cr3t/&#43;Value=~42",
			base64.StdEncoding.EncodeToString([]byte("s3cr3t/+Value=~42")), hex.EncodeToString([]byte("s3cr3t/+Value=~42"))),
		Entry("with a blank", "a secret of words", "a secret of words", "a+secret+of+words", "a%20secret%20of%20words"),
		Entry("short", "s3c", " s3c "),
		Entry("across the end of its item", `last"},{"id":"XA-3"`, `last`),
	)

	It("is found at the end of an item with a reference that ends in the next one", func() {
		r := redact.New([]byte("salt"))
		r.Secret("access_token", `some-secret<"}`)
		body := []byte(`[{"a":"1"},{"a":"some-secret&lt"},{";":1},{"b":2}]`)
		Expect(string(r.Parted(body, cut(body)))).To(And(Equal(r.Text(string(body))), Not(ContainSubstring("some-secret"))))
	})

	It("may be used by several goroutines", func() {
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				defer GinkgoRecover()
				value := fmt.Sprintf("concurrent-%d", i)
				r.Secret("c", value)
				Expect(withoutFingerprints(r.Text(value))).To(Equal("[[c:#:plain]]"))
			})
		}
		wg.Wait()
	})

	It("redacts the claims of a token, and keeps its first name", func() {
		claims := base64.RawURLEncoding.EncodeToString([]byte(`{"n":12345678901234567890,"a":[{"` + tokenValue + `":"` + tokenValue + `"}]}`))
		token := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + claims + "."
		facts := evidence.RedactToken(r, "access_token", token)
		Expect(evidence.RedactToken(r, "later", token).Name).To(Equal("access_token"))
		Expect(facts.JWT.Signature).To(BeFalse())
		Expect(facts.JWT.Claims["n"]).To(Equal(json.Number("12345678901234567890")))
		text, err := json.Marshal(facts)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(text)).NotTo(ContainSubstring(tokenValue))
		Expect(string(text)).NotTo(ContainSubstring(token))
	})

	It("redacts every field of a copy of an exchange", func() {
		plant := func(where string) string { return where + " " + tokenValue + " " + url.QueryEscape(secretValue) }
		header := []evidence.Field{
			{Name: "X-" + tokenValue, Value: plant("value")},
			{Name: "Set-Cookie", Value: "session=0123456789abcdef0123; Path=/"},
			{Name: "X-Echo", Value: "0123456789abcdef0123"},
		}
		x := evidence.Exchange{
			Label: "info.ok", Given: map[string]string{"value": plant("given"), tokenValue: "name"},
			Request:   evidence.Request{Method: "GET", URL: "https://node.example/" + tokenValue, Header: header, Body: evidence.Body(plant("body"))},
			Redirects: []evidence.Hop{{URL: plant("url"), Status: 308, Header: header, Location: plant("location")}},
			Response:  &evidence.Response{Proto: "HTTP/1.1", Status: 200, Header: header, Body: evidence.Body(plant("body")), BodyError: plant("error")},
			Failure:   &evidence.Failure{Kind: evidence.FailureReset, Message: plant("message")},
		}
		before, err := json.Marshal(x)
		Expect(err).NotTo(HaveOccurred())
		got, err := json.Marshal(x.Redacted(r))
		Expect(err).NotTo(HaveOccurred())
		Expect(string(got)).NotTo(Or(ContainSubstring(tokenValue), ContainSubstring("s3cr3t"), ContainSubstring("0123456789abcdef")))
		Expect(strings.Count(string(got), "[[")).To(Equal(31))
		after, err := json.Marshal(x)
		Expect(err).NotTo(HaveOccurred())
		Expect(after).To(Equal(before))
	})

	It("redacts findings", func() {
		f := evidence.RedactFindings(r, []evidence.SchemaFindings{{Why: tokenValue, Findings: []evidence.Finding{{Path: tokenValue, Expected: tokenValue, Got: tokenValue, Keyword: tokenValue}}}})[0]
		Expect(fmt.Sprint(f)).NotTo(ContainSubstring(tokenValue))
	})

	Describe("Writer", func() {
		It("finds secrets that are split over writes, and passes on whole lines at once", func() {
			text := "first " + tokenValue + "\nsecond " + url.QueryEscape(secretValue) + " rest"
			for size := 1; size < len(text); size++ {
				var out bytes.Buffer
				w := r.Writer(&out)
				for at := 0; at < len(text); at += size {
					n, err := w.Write([]byte(text[at:min(len(text), at+size)]))
					Expect(err).NotTo(HaveOccurred())
					Expect(n).To(Equal(min(len(text), at+size) - at))
				}
				Expect(withoutFingerprints(out.String())).To(Equal("first [[access_token:#:plain]]\n"))
				Expect(w.Close()).To(Succeed())
				Expect(withoutFingerprints(out.String())).To(Equal("first [[access_token:#:plain]]\nsecond [[client_secret:#:percent]] rest"))
			}
		})

		It("bounds the held part of an endless line", func() {
			var out bytes.Buffer
			w := r.Writer(&out)
			chunk := []byte(strings.Repeat(tokenValue+"-----", 50))
			written := 0
			for range 200 {
				n, err := w.Write(chunk)
				Expect(err).NotTo(HaveOccurred())
				written += n
			}
			Expect(out.Len()).To(BeNumerically(">", 100<<10))
			Expect(w.Close()).To(Succeed())
			Expect(withoutFingerprints(out.String())).To(Equal(strings.Repeat("[[access_token:#:plain]]-----", 200*50)))
		})

		It("waits for the rest of a secret that spans lines", func() {
			r.Secret("key", "first line\nsecond line")
			var out bytes.Buffer
			w := r.Writer(&out)
			fmt.Fprint(w, "key: first line\n")
			fmt.Fprint(w, "second line\n")
			Expect(w.Close()).To(Succeed())
			Expect(withoutFingerprints(out.String())).To(Equal("key: [[key:#:plain]]\n"))
		})
	})
})

func FuzzRedactor(f *testing.F) {
	f.Add("secret-value", "before secret-value %73ecret-value \\u0073ecret-value &#115;ecret-value after")
	f.Add("ab", "ab YWI= a%62")
	f.Add("a\\b%41+c d", `a\b%41+c d a\\b%41+c d`)
	f.Fuzz(func(t *testing.T, value, text string) {
		r := redact.New(nil)
		r.Secret("s", value)
		out := r.Text(text)
		if len(value) >= 8 && !strings.Contains("[[s:00000000:percent]]", value) && strings.Contains(out, value) && !strings.Contains(value, "[[s:") && !strings.Contains(value, "]]") {
			t.Fatalf("%q is still in %q", value, out)
		}
	})
}

func BenchmarkRedactor(b *testing.B) {
	r := redact.New(nil)
	for i := range 20 {
		r.Secret("access_token", fmt.Sprintf("%s%d", tokenValue, i))
	}
	body := []byte(strings.Repeat(`{"name":[{"lang":"de","trans":"O","text":"Gemeinsame \"Labore\" f\u00fcr alle"}],"url":"https://x.example/?a=%20&b=1"},`, 10000))
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		r.Bytes(body)
	}
}

var _ = Describe("The key of a token's signature", func() {
	// signHMAC returns a token that is signed with a key.
	signHMAC := func(of func() hash.Hash, key string) string {
		segment := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
		input := segment(`{"alg":"HS"}`) + "." + segment(`{"sub":"s"}`)
		mac := hmac.New(of, []byte(key))
		mac.Write([]byte(input))
		return input + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	}
	knownKey := func(token string) string {
		r := redact.New([]byte("salt"))
		r.Secret("client_secret", secretValue)
		return evidence.RedactToken(r, "access_token", token).JWT.KnownKey
	}

	DescribeTable("is named only if it is a known secret or a common word",
		func(token, want string) { Expect(knownKey(token)).To(Equal(want)) },
		Entry("the client's secret", signHMAC(sha256.New, secretValue), "client_secret"),
		Entry("the client's secret with SHA-512", signHMAC(sha512.New, secretValue), "client_secret"),
		Entry("the client's secret with SHA-384", signHMAC(sha512.New384, secretValue), "client_secret"),
		Entry("a key from published examples", signHMAC(sha256.New, "your-256-bit-secret"), "a common word"),
		Entry("an unknown key", signHMAC(sha256.New, "0f3b1c9ad24e4f0f8a1f"), ""),
		Entry("a signature that is not an HMAC", tokenValue, ""),
	)

	It("appears in the facts by its name only", func() {
		r := redact.New([]byte("salt"))
		r.Secret("client_secret", secretValue)
		facts := evidence.RedactToken(r, "access_token", signHMAC(sha256.New, secretValue))
		Expect(strings.Contains(facts.JWT.KnownKey, secretValue)).To(BeFalse())
	})
})

var _ = Describe("A redacted text", func() {
	const secret = `S3cret+&"ü of many bytes`
	redactor := redact.New([]byte("salt"))
	fingerprint := redactor.Secret("client_secret", secret)
	known := func(f string) (string, bool) { return secret, f == fingerprint }

	DescribeTable("gets its secrets back in their original form", func(text, marked string) {
		redacted := redactor.Text(text)
		Expect(redacted).To(ContainSubstring(":" + marked + "]]"))
		Expect(redact.Reveal(redacted, known)).To(Equal(text))
		Expect(redact.Reveal(redacted, func(string) (string, bool) { return "", false })).To(Equal(redacted))
		Expect(redact.Mask(redacted)).To(And(ContainSubstring("‹client_secret›"), Not(ContainSubstring(fingerprint))))
	},
		Entry("plain", "a "+secret+" b", "plain"),
		Entry("in a form", "client_secret=S3cret%2B%26%22%C3%BC+of+many+bytes&x=1", "percent"),
		Entry("in JSON", `{"a":"S3cret+&\"ü of many bytes"}`, "json"),
	)
})
