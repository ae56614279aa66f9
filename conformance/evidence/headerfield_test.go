package evidence_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
)

func param(name, value string) evidence.Param { return evidence.Param{Name: name, Value: value} }

func quoted(name, value string) evidence.Param {
	return evidence.Param{Name: name, Value: value, Quoted: true}
}

func scheme(name string, params ...evidence.Param) evidence.Challenge {
	return evidence.Challenge{Scheme: name, Params: params}
}

var _ = Describe("ParseChallenges", func() {
	DescribeTable("reads challenges by the grammar of RFC 9110 §11.6.1",
		func(value string, want ...evidence.Challenge) {
			Expect(evidence.ParseChallenges([]string{value})).To(Equal(want))
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
		Entry("token68", "Negotiate YWJj/+-._~==", evidence.Challenge{Scheme: "Negotiate", Token68: "YWJj/+-._~=="}),
		Entry("token68 and more", `Negotiate abc , Bearer realm="x"`, evidence.Challenge{Scheme: "Negotiate", Token68: "abc"}, scheme("Bearer", quoted("realm", "x"))),
		Entry("the spelling of the scheme", `bEARER REALM="x"`, scheme("bEARER", quoted("REALM", "x"))),
		Entry("bytes beyond ASCII inside quotes", "Bearer realm=\"\xe4\"", scheme("Bearer", quoted("realm", "\xe4"))),
	)

	DescribeTable("names the offset of an error",
		func(value, message string, before int) {
			list, err := evidence.ParseChallenges([]string{"Basic", value})
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

	It("returns no challenges without lines", func() {
		Expect(evidence.ParseChallenges(nil)).To(BeEmpty())
		Expect(evidence.ParseChallenges([]string{""})).To(BeEmpty())
	})

	It("finds parameters without regard to case", func() {
		list, err := evidence.ParseChallenges([]string{`Bearer Realm="a", realm="b"`})
		Expect(err).NotTo(HaveOccurred())
		value, ok := list[0].Params.Get("REALM")
		Expect(ok).To(BeTrue())
		Expect(value).To(Equal("a"))
		_, ok = list[0].Params.Get("scope")
		Expect(ok).To(BeFalse())
	})
})

var _ = Describe("MediaType", func() {
	DescribeTable("reads the type without parameters",
		func(value, want string) { Expect(evidence.MediaType(value)).To(Equal(want)) },
		Entry("bare", "application/json", "application/json"),
		Entry("charset", "Application/JSON;charset=UTF-8", "application/json"),
		Entry("quoted", ` text/plain ; charset="utf-8" ; a="b;c\"" `, "text/plain"),
		Entry("suffix", "application/problem+json", "application/problem+json"),
		Entry("empty parameters", "text/html;;", "text/html"),
		Entry("faulty parameters", "text/html;charset=", "text/html"),
		Entry("nothing", "", ""),
		Entry("no subtype", "json", ""),
		Entry("empty subtype", "text/;a=b", ""),
	)
})

func FuzzParseChallenges(f *testing.F) {
	for _, s := range []string{`Bearer realm="a\"b", Basic a = b,,`, "Negotiate abc==", `a b="`, "\x00", `a , =`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		list, err := evidence.ParseChallenges([]string{value})
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
		if got := evidence.MediaType(value); got != "" && strings.Count(got, "/") != 1 {
			t.Fatalf("media type %q of %q", got, value)
		}
	})
}

var _ = Describe("Links", func() {
	type rels = map[string][]string // target to relations

	DescribeTable("are read", func(want rels, lines ...string) {
		links, err := evidence.ParseLinks(lines)
		Expect(err).NotTo(HaveOccurred())
		got := rels{}
		for _, l := range links {
			got[l.Target] = l.Relations()
		}
		Expect(got).To(Equal(want))
	},
		Entry("as the RFC shows them", rels{"http://example.com/TheBook/chapter2": {"previous"}},
			`<http://example.com/TheBook/chapter2>; rel="previous"; title="previous chapter"`),
		Entry("with a language", rels{"/TheBook/chapter2": {"previous"}, "/TheBook/chapter4": {"next"}},
			`</TheBook/chapter2>; rel="previous"; title*=UTF-8'de'letztes%20Kapitel, </TheBook/chapter4>; rel="next"; title*=UTF-8'de'n%c3%a4chstes%20Kapitel`),
		Entry("with several relations", rels{"http://example.org/": {"start", "http://example.net/relation/other"}},
			`<http://example.org/>; rel="start http://example.net/relation/other"`),
		Entry("on several lines", rels{"?p=2": {"next"}, "?p=1": {"prev"}}, `<?p=2>; rel=next`, `<?p=1>;REL=Prev`),
		Entry("with blanks and empty members", rels{"a": {"next"}}, ` , <a> ; rel = next ,,`, ``),
		Entry("with commas, semicolons and brackets inside", rels{"/?a,b;c": {"next"}}, `</?a,b;c>; title="x, y; <z>"; rel=next`),
		Entry("with an escaped quote", rels{"a": {"next"}}, `<a>; title="\"; rel=prev"; rel=next`),
		Entry("with the first of two rel", rels{"a": {"next"}}, `<a>; rel=next; rel=prev`),
		Entry("with a parameter without a value, and an empty one", rels{"a": {"preload"}}, `<a>; rel=preload; nopush;`),
		Entry("without any", rels{}, ``),
	)

	DescribeTable("are refused with the offset of the fault", func(line, fault string) {
		_, err := evidence.ParseLinks([]string{line})
		Expect(err).To(MatchError(ContainSubstring(fault)))
	},
		Entry("without angle brackets", `/next; rel=next`, `offset 0: expected '<' before the target, got "/"`),
		Entry("an open target", `</next; rel=next`, `expected '>' after the target, got the end`),
		Entry("no relation", `<a>`, `offset 3: expected a parameter rel with a relation type, got the end`),
		Entry("an empty relation", `<a>; rel=""`, `expected a parameter rel`),
		Entry("no value", `<a>; rel=`, `expected a token or a quoted string`),
		Entry("an open quote", `<a>; rel="next`, `expected a closing quote`),
		Entry("no comma", `<a>; rel=next <b>; rel=prev`, `offset 14: expected a semicolon, a comma or the end, got "<"`),
		Entry("no semicolon", `<a> rel=next`, `expected a parameter rel`),
		Entry("a target that is not a reference", `<http://[::1>; rel=next`, `offset 1: expected a URI reference`),
		Entry("a second line's own number", "<a", `link line 1`),
	)

	It("are returned up to the fault", func() {
		links, err := evidence.ParseLinks([]string{`<a>; rel=next, b`})
		Expect(err).To(HaveOccurred())
		Expect(links).To(HaveLen(1))
	})
})

func FuzzParseLinks(f *testing.F) {
	for _, seed := range []string{`<a>; rel="next"`, `<a>;rel=next,<b>;rel=prev`, `<`, `<>;;;rel=x`, `<a>; rel="\`, `<%zz>; rel=a`, ",,,", "<a>; a\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		links, err := evidence.ParseLinks([]string{line})
		for _, l := range links {
			if len(l.Relations()) == 0 {
				t.Errorf("%q: a link without a relation", line)
			}
		}
		if again, err2 := evidence.ParseLinks([]string{line, line}); err == nil && (err2 != nil || len(again) != 2*len(links)) {
			t.Errorf("%q reads differently on the second line", line)
		}
	})
}

var _ = Describe("Dates in header fields", func() {
	DescribeTable("HTTP dates (RFC 9110 §5.6.7)",
		func(value string, form evidence.DateForm) {
			at, got := evidence.HTTPDate(value)
			Expect(got).To(Equal(form))
			if form == evidence.NoDate {
				Expect(at.IsZero()).To(BeTrue())
			} else {
				Expect(at).To(BeTemporally("==", time.Date(1994, 11, 6, 8, 49, 37, 0, time.UTC)))
			}
		},
		Entry("the preferred form", "Sun, 06 Nov 1994 08:49:37 GMT", evidence.GoodDate),
		Entry("RFC 850", "Sunday, 06-Nov-94 08:49:37 GMT", evidence.OlderDate),
		Entry("asctime", "Sun Nov  6 08:49:37 1994", evidence.OlderDate),
		Entry("another weekday", "Mon, 06 Nov 1994 08:49:37 GMT", evidence.NoDate),
		Entry("one digit", "Sun, 6 Nov 1994 08:49:37 GMT", evidence.NoDate),
		Entry("lower case", "sun, 06 nov 1994 08:49:37 gmt", evidence.NoDate),
		Entry("another zone", "Sun, 06 Nov 1994 08:49:37 UTC", evidence.NoDate),
		Entry("an offset", "Sun, 06 Nov 1994 08:49:37 +0000", evidence.NoDate),
		Entry("a fraction", "Sun, 06 Nov 1994 08:49:37.5 GMT", evidence.NoDate),
		Entry("twice", "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT", evidence.NoDate),
		Entry("RFC 3339", "1994-11-06T08:49:37Z", evidence.NoDate),
		Entry("nothing", "", evidence.NoDate),
	)

	DescribeTable("the value of Deprecation (RFC 9745 §2.1)",
		func(value string, form evidence.DateForm, seconds int64) {
			at, got := evidence.DeprecationDate(value)
			Expect(got).To(Equal(form))
			if seconds != 0 {
				Expect(at.Unix()).To(Equal(seconds))
			}
		},
		Entry("the example of the RFC", "@1688169599", evidence.GoodDate, int64(1688169599)),
		Entry("before 1970", "@-1", evidence.GoodDate, int64(-1)),
		Entry("parameters", `@1;a;b=?1; c="x \"y\"";d=:aGk=:;e=*tok/en;f=-1.5;g=@2`, evidence.GoodDate, int64(1)),
		Entry("true", "true", evidence.OlderDate, int64(0)),
		Entry("a boolean of structured fields", "?1", evidence.OlderDate, int64(0)),
		Entry("an HTTP date", "Sun, 06 Nov 1994 08:49:37 GMT", evidence.OlderDate, int64(784111777)),
		Entry("false", "false", evidence.NoDate, int64(0)),
		Entry("a word", "soon", evidence.NoDate, int64(0)),
		Entry("bare seconds", "1688169599", evidence.NoDate, int64(0)),
		Entry("a fraction", "@1688169599.0", evidence.NoDate, int64(0)),
		Entry("a plus sign", "@+1", evidence.NoDate, int64(0)),
		Entry("sixteen digits", "@1234567890123456", evidence.NoDate, int64(0)),
		Entry("two", "@1, @2", evidence.NoDate, int64(0)),
		Entry("a parameter without a name", "@1;", evidence.NoDate, int64(0)),
		Entry("a parameter in capitals", "@1;A=1", evidence.NoDate, int64(0)),
		Entry("a blank before the semicolon", "@1 ;a", evidence.NoDate, int64(0)),
		Entry("a blank inside", "@ 1", evidence.NoDate, int64(0)),
		Entry("nothing", "", evidence.NoDate, int64(0)),
	)
})

func FuzzDates(f *testing.F) {
	for _, seed := range []string{"@1688169599", "@-1;a=b", "true", "?1", "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "soon", "@", ";", "\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		for _, read := range []func(string) (time.Time, evidence.DateForm){evidence.HTTPDate, evidence.DeprecationDate} {
			at, form := read(value)
			if form == evidence.NoDate && !at.IsZero() {
				t.Errorf("%q is not a date, and was read as %v", value, at)
			}
			if again, same := read(value); !again.Equal(at) || same != form {
				t.Errorf("%q means two things", value)
			}
		}
		if at, form := evidence.HTTPDate(value); form == evidence.GoodDate && at.Format("Mon, 02 Jan 2006 15:04:05 GMT") != value {
			t.Errorf("%q is not written as %v is", value, at)
		}
		if _, form := evidence.DeprecationDate(value); form == evidence.GoodDate && !strings.HasPrefix(strings.Trim(value, " "), "@") {
			t.Errorf("%q is a good date", value)
		}
	})
}
