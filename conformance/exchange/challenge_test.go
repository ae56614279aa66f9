package exchange_test

import (
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/exchange"
)

func param(name, value string) exchange.Param { return exchange.Param{Name: name, Value: value} }
func quoted(name, value string) exchange.Param {
	return exchange.Param{Name: name, Value: value, Quoted: true}
}

func scheme(name string, params ...exchange.Param) exchange.Challenge {
	return exchange.Challenge{Scheme: name, Params: params}
}

var _ = Describe("ParseChallenges", func() {
	DescribeTable("reads challenges by the grammar of RFC 9110 §11.6.1",
		func(value string, want ...exchange.Challenge) {
			Expect(exchange.ParseChallenges([]string{value})).To(Equal(want))
		},
		Entry("a bare scheme", "Bearer", scheme("Bearer")),
		Entry("a bare scheme with a blank", "Bearer ", scheme("Bearer")),
		Entry("one quoted parameter", `Bearer realm="ris"`, scheme("Bearer", quoted("realm", "ris"))),
		Entry("a token as value", `Bearer error=invalid_token`, scheme("Bearer", param("error", "invalid_token"))),
		Entry("several parameters", `Bearer realm="ris", error="invalid_token" ,error_description="a, b=c"`,
			scheme("Bearer", quoted("realm", "ris"), quoted("error", "invalid_token"), quoted("error_description", "a, b=c"))),
		Entry("blanks around '='", "Bearer realm\t= \"x\" , a = b", scheme("Bearer", quoted("realm", "x"), param("a", "b"))),
		Entry("quoted pairs", `Bearer realm="a\"b\\c\d"`, scheme("Bearer", quoted("realm", `a"b\cd`))),
		Entry("an empty quoted value", `Bearer realm=""`, scheme("Bearer", quoted("realm", ""))),
		Entry("several challenges", `Newauth realm="apps", type=1, title="Login to \"apps\"", Basic realm="simple"`,
			scheme("Newauth", quoted("realm", "apps"), param("type", "1"), quoted("title", `Login to "apps"`)),
			scheme("Basic", quoted("realm", "simple"))),
		Entry("bare schemes in a list", `Negotiate, Bearer , Basic realm="x"`, scheme("Negotiate"), scheme("Bearer"), scheme("Basic", quoted("realm", "x"))),
		Entry("empty members", `, ,Bearer ,, realm="x",,, Basic a=b,`, scheme("Bearer", quoted("realm", "x")), scheme("Basic", param("a", "b"))),
		Entry("token68", "Negotiate YWJj/+-._~==", exchange.Challenge{Scheme: "Negotiate", Token68: "YWJj/+-._~=="}),
		Entry("token68 and more", `Negotiate abc , Bearer realm="x"`, exchange.Challenge{Scheme: "Negotiate", Token68: "abc"}, scheme("Bearer", quoted("realm", "x"))),
		Entry("the spelling of the scheme", `bEARER REALM="x"`, scheme("bEARER", quoted("REALM", "x"))),
		Entry("bytes beyond ASCII inside quotes", "Bearer realm=\"\xe4\"", scheme("Bearer", quoted("realm", "\xe4"))),
	)

	DescribeTable("names the offset of an error",
		func(value, message string, before int) {
			list, err := exchange.ParseChallenges([]string{"Basic", value})
			Expect(err).To(MatchError("challenge line 2: " + message))
			Expect(list).To(HaveLen(1 + before))
		},
		Entry("no scheme", `="x"`, `offset 0: expected an authentication scheme, got "="`, 0),
		Entry("no blank", `Bearer="x"`, `offset 6: expected a blank after the scheme, got "="`, 1),
		Entry("no closing quote", `Bearer realm="x`, `offset 15: expected a closing quote, got the end`, 1),
		Entry("no comma", `Bearer realm="x" error="y"`, `offset 17: expected a comma or the end, got "e"`, 1),
		Entry("no value", `Bearer realm=;`, `offset 13: expected a token or a quoted string, got ";"`, 1),
		Entry("a parameter without value, which reads as token68", `Bearer realm=, a=b`, `offset 16: expected a blank after the scheme, got "="`, 2),
		Entry("two words", `Bearer not authorized`, `offset 11: expected '=' after the parameter name, got "a"`, 1),
		Entry("a control character", "Bearer realm=\"\x01\"", `offset 14: expected a printable character, got "\x01"`, 1),
		Entry("a quote for a name", `Bearer "x"`, `offset 7: expected a parameter, got "\""`, 1),
	)

	It("reads nothing from no lines", func() {
		Expect(exchange.ParseChallenges(nil)).To(BeEmpty())
		Expect(exchange.ParseChallenges([]string{""})).To(BeEmpty())
	})

	It("finds parameters without regard to case", func() {
		list, err := exchange.ParseChallenges([]string{`Bearer Realm="a", realm="b"`})
		Expect(err).NotTo(HaveOccurred())
		value, ok := list[0].Param("REALM")
		Expect(ok).To(BeTrue())
		Expect(value).To(Equal("a"))
		_, ok = list[0].Param("scope")
		Expect(ok).To(BeFalse())
	})
})

var _ = Describe("MediaType", func() {
	DescribeTable("reads type and parameters",
		func(value, want string, params ...exchange.Param) {
			got, list, err := exchange.MediaType(value)
			Expect(err).NotTo(HaveOccurred())
			Expect(got).To(Equal(want))
			Expect(list).To(HaveExactElements(params))
		},
		Entry("bare", "application/json", "application/json"),
		Entry("charset", "Application/JSON;charset=UTF-8", "application/json", param("charset", "UTF-8")),
		Entry("quoted", ` text/plain ; charset="utf-8" ; a="b;c\"" `, "text/plain", quoted("charset", "utf-8"), quoted("a", `b;c"`)),
		Entry("suffix", "application/problem+json", "application/problem+json"),
		Entry("empty parameters", "text/html;;", "text/html"),
	)

	DescribeTable("names the offset of an error",
		func(value, message string) {
			_, _, err := exchange.MediaType(value)
			Expect(err).To(MatchError(message))
		},
		Entry("nothing", "", "offset 0: expected type/subtype, got the end"),
		Entry("no subtype", "json", "offset 4: expected type/subtype, got the end"),
		Entry("empty subtype", "text/;a=b", `offset 5: expected a subtype, got ";"`),
		Entry("two types", "text/html, text/plain", `offset 9: expected ';' or the end, got ","`),
		Entry("no value", "text/html;charset=", "offset 18: expected a token or a quoted string, got the end"),
	)
})

func FuzzParseChallenges(f *testing.F) {
	for _, s := range []string{`Bearer realm="a\"b", Basic a = b,,`, "Negotiate abc==", `a b="`, "\x00", `a , =`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		list, err := exchange.ParseChallenges([]string{value})
		for _, c := range list {
			if c.Scheme == "" || !strings.Contains(value, c.Scheme) {
				t.Fatalf("scheme %q is not in %q", c.Scheme, value)
			}
		}
		if err == nil && len(list) == 0 && strings.Trim(value, " \t,") != "" {
			t.Fatalf("nothing read from %q", value)
		}
	})
}

func FuzzMediaType(f *testing.F) {
	f.Add(`text/html; charset="u\tf-8"; a=b`)
	f.Add("/;=\"")
	f.Fuzz(func(t *testing.T, value string) {
		got, _, err := exchange.MediaType(value)
		if err == nil && strings.Count(got, "/") != 1 {
			t.Fatalf("media type %q of %q", got, value)
		}
	})
}
