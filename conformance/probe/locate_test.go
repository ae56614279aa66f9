package probe_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/target"
)

var _ = Describe("Where operations live", func() {
	DescribeTable("paths are joined with overlapping segments once",
		func(a, b, want string) { Expect(probe.Join(a, b)).To(Equal(want)) },
		Entry(nil, "/ris", "/funding/v3", "/ris/funding/v3"),
		Entry(nil, "/ris/funding", "/funding/v3", "/ris/funding/v3"),
		Entry(nil, "/ris/funding/v3", "/ris/funding/v3", "/ris/funding/v3"),
		Entry(nil, "/funding", "/v1/fundings", "/funding/v1/fundings"),
		Entry("a segment is compared whole", "/ris/fund", "/funding", "/ris/fund/funding"),
		Entry("a slash at the end is kept", "", "/v1/info/", "/v1/info/"),
		Entry("a slash is taken from the second path only", "/ris/", "v1", "/ris/v1"),
		Entry("nothing", "", "", "/"),
		Entry("an escaped slash does not separate segments", "/ris", "/10.55776%2FX", "/ris/10.55776%2FX"),
	)

	prefixes := func(bases []probe.Base) []string {
		var out []string
		for _, b := range bases {
			out = append(out, b.Prefix)
		}
		return out
	}

	DescribeTable("the candidates are listed once each, the best first",
		func(base, spec string, servers, want []string) {
			bases, _ := probe.Bases(target.Target{BaseURL: base, SpecURL: spec}, servers, "/fundings")
			Expect(prefixes(bases)).To(Equal(want))
		},
		Entry("only the path of a server on another host",
			"https://api.example/ris", "https://api.example/ris/funding/v3/api-docs", []string{"https://stranger.example/ris/funding"},
			[]string{"https://api.example/ris/funding", "https://api.example/ris", "https://api.example/ris/funding/v3"}),
		Entry("a relative server",
			"https://api.example/ris", "https://api.example/ris/funding/v3/api-docs", []string{"/ris/funding/v3"},
			[]string{"https://api.example/ris/funding/v3", "https://api.example/ris"}),
		Entry("a server relative to the document",
			"https://api.example", "https://api.example/a/b/api-docs", []string{"./c"},
			[]string{"https://api.example/a/b/c", "https://api.example", "https://api.example/a/b"}),
		Entry("no server: the root of the document's host first", "https://api.example/ris", "https://api.example/ris/v3/api-docs", nil,
			[]string{"https://api.example", "https://api.example/ris", "https://api.example/ris/v3"}),
		Entry("all servers of the node, in their order", "https://api.example/ris", "https://api.example/ris/api-docs",
			[]string{"https://stranger.example/x", "https://api.example/b", "https://api.example:443/a"},
			[]string{"https://api.example/b", "https://api.example:443/a", "https://api.example/ris/x", "https://api.example/ris"}),
		Entry("no base URL: the origin of the document", "", "https://docs.example:8443/x/api-docs", []string{"https://api.example/v1"},
			[]string{"https://docs.example:8443/v1", "https://docs.example:8443", "https://docs.example:8443/x"}),
		Entry("no document either", "", "", []string{"/v1"}, nil),
		Entry("a server that cannot be read", "https://api.example/ris", "https://api.example/ris/api-docs", []string{"https://[::1"},
			[]string{"https://api.example/ris"}),
	)

	It("are the servers first, to which a path is appended as it is", func() {
		t := target.Target{BaseURL: "https://api.example/ris", SpecURL: "https://api.example/ris/api-docs"}
		bases, elsewhere := probe.Bases(t, []string{"/ris"}, "/ris/fundings")
		Expect(elsewhere).To(BeEmpty())
		Expect(bases[0].URL("/ris/fundings")).To(Equal("https://api.example/ris/ris/fundings"))
		Expect(bases[1].URL("/ris/fundings")).To(Equal("https://api.example/ris/fundings"))
		Expect(bases[0].URL("@stranger.example")).To(Equal("https://api.example/ris/@stranger.example"))
	})

	It("count once if they give the same URL", func() {
		t := target.Target{BaseURL: "https://api.example/ris", SpecURL: "https://api.example/ris/funding/v3/api-docs"}
		bases, _ := probe.Bases(t, nil, "/ris/funding/v3/fundings")
		Expect(prefixes(bases)).To(Equal([]string{"https://api.example"}))
		Expect(bases[0].URL("/health")).To(Equal("https://api.example/health"))
	})

	It("are on another origin only if the operator allowed it", func() {
		t := target.Target{BaseURL: "https://api.example/ris", SpecURL: "https://api.example/ris/api-docs"}
		servers := []string{"https://files.example/x"}
		bases, elsewhere := probe.Bases(t, servers, "/files")
		Expect(elsewhere).To(Equal([]string{"https://files.example"}))
		Expect(prefixes(bases)).To(Equal([]string{"https://api.example/ris/x", "https://api.example/ris"}))
		t.AllowOrigins = []string{"https://files.example"}
		bases, elsewhere = probe.Bases(t, servers, "/files")
		Expect(elsewhere).To(BeEmpty())
		Expect(prefixes(bases)[0]).To(Equal("https://files.example/x"))
	})

	It("may have another name of this machine", func() {
		t := target.Target{BaseURL: "http://127.0.0.1:8080/ris", SpecURL: "http://127.0.0.1:8080/ris/api-docs"}
		bases, elsewhere := probe.Bases(t, []string{"http://localhost:8080/v3"}, "/fundings")
		Expect(elsewhere).To(BeEmpty())
		Expect(prefixes(bases)[0]).To(Equal("http://127.0.0.1:8080/v3"))
	})

	It("appends an operation's path to a prefix", func() {
		b := probe.Base{Prefix: "https://api.example/ris/funding/v3"}
		Expect(b.URL("/fundings/10.55776%2FX")).To(Equal("https://api.example/ris/funding/v3/fundings/10.55776%2FX"))
		Expect(b.URL("/funding/v3/fundings")).To(Equal("https://api.example/ris/funding/v3/fundings"))
	})
})

var _ = Describe("An info URL", func() {
	DescribeTable("of the interface document's shape yields base and specification",
		func(info, base, spec string, ok bool) {
			b, s, found := probe.Derive(info)
			Expect(found).To(Equal(ok))
			Expect(b).To(Equal(base))
			Expect(s).To(Equal(spec))
		},
		Entry(nil, "https://api.example/ris/info/v1/oauth/info/", "https://api.example/ris", "https://api.example/ris/funding/v3/api-docs", true),
		Entry("without the slash", "https://api.example/a/b/info/v1/oauth/info", "https://api.example/a/b", "https://api.example/a/b/funding/v3/api-docs", true),
		Entry("another shape", "https://api.example/v1/info", "", "", false),
		Entry("no URL", "://", "", "", false),
	)

	It("sets only the URLs that the operator did not give", func() {
		entry := probe.RegistryEntry{TokenURL: "https://sso.example/t", InfoURL: "https://api.example/ris/info/v1/oauth/info/"}
		Expect(probe.Complete(target.Target{}, entry)).To(Equal(target.Target{
			TokenURL: "https://sso.example/t", InfoURL: entry.InfoURL,
			SpecURL: "https://api.example/ris/funding/v3/api-docs", BaseURL: "https://api.example/ris",
		}))
		own := target.Target{TokenURL: "https://t.example", InfoURL: "https://i.example/v1/info", SpecURL: "https://s.example", BaseURL: "https://b.example"}
		Expect(probe.Complete(own, entry)).To(Equal(own))
	})
})
