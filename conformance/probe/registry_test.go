package probe_test

import (
	"errors"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/probe"
)

const registryDocument = `{"member":[
 {"id":" XA ","acronym":"MUST","oauth2":" https://sso.must.example/token ","info":"https://api.must.example/ris/info/v1/oauth/info/\n"},
 {"id":"FWF","oauth2":"https://a.example/t","info":"https://a.example/v1/info"},
 {"id":"FWF_Test","oauth2":"https://b.example/t"},
 {"id":7}, "no entry", null]}`

var _ = Describe("The registry", func() {
	It("holds entries under member, blanks trimmed", func() {
		e, err := probe.FindEntry([]byte(registryDocument), "XA")
		Expect(err).NotTo(HaveOccurred())
		Expect(e.TokenURL).To(Equal("https://sso.must.example/token"))
		Expect(e.InfoURL).To(Equal("https://api.must.example/ris/info/v1/oauth/info/"))
		Expect(string(e.Raw)).To(ContainSubstring(`"acronym":"MUST"`))
	})

	It("may be a bare array", func() {
		e, err := probe.FindEntry([]byte(`[{"id":"B","oauth2":"https://b.example/t","info":"https://b.example/i"}]`), "B")
		Expect(err).NotTo(HaveOccurred())
		Expect(e.InfoURL).To(Equal("https://b.example/i"))
	})

	It("suggests similar ids when an id is unknown", func() {
		_, err := probe.FindEntry([]byte(registryDocument), "fwf_tset")
		var unknown *probe.UnknownNodeError
		Expect(errors.As(err, &unknown)).To(BeTrue())
		Expect(unknown.Near).To(Equal([]string{"FWF_Test", "FWF", "XA"}))
		Expect(err).To(MatchError(And(ContainSubstring("fwf_tset"), ContainSubstring("--node FWF_Test"))))
	})

	It("suggests an id only once, although several entries have it", func() {
		_, err := probe.FindEntry([]byte(`[{"id":"XY"},{"id":"XY "},{"id":"XY"},{"id":"Z"}]`), "XYZ")
		Expect(err).To(MatchError(ContainSubstring("did you mean --node XY or Z?")))
	})

	It("takes the first of several entries with the id, and reports the others and members that occur twice", func() {
		e, err := probe.FindEntry([]byte(`{"member":[],"member":[{"id":"A","oauth2":"https://a.example/1","contact":"x","contact":"y"},
			{"id":"A ","oauth2":"https://a.example/2","info":"https://a.example/i"},{"id":"B"}]}`), "A")
		Expect(err).NotTo(HaveOccurred())
		Expect(e.TokenURL).To(Equal("https://a.example/1"))
		Expect(string(e.Raw)).To(ContainSubstring(`"contact":"x","contact":"y"`))
		Expect(e.Facts).To(Equal(evidence.RegistryFacts{
			Entries: 3, Twins: []evidence.RegistryTwin{{TokenURL: "https://a.example/2", InfoURL: "https://a.example/i"}}, Repeated: []string{"/member"},
		}))
	})

	It("compares ids exactly", func() {
		_, err := probe.FindEntry([]byte(registryDocument), "xa")
		Expect(err).To(HaveOccurred())
	})

	It("never returns an entry without an id", func() {
		_, err := probe.FindEntry([]byte(`[{"oauth2":"https://x.example"}]`), "")
		Expect(err).To(HaveOccurred())
	})

	DescribeTable("is refused when it is another document",
		func(text string) {
			_, err := probe.FindEntry([]byte(text), "XA")
			Expect(err).To(MatchError(probe.ErrNoRegistry))
		},
		Entry("HTML", "<html>"), Entry("nothing", ""), Entry("another object", `{"members":[]}`),
		Entry("a string", `"XA"`), Entry("member of another type", `{"member":{}}`),
	)
})

func FuzzFindEntry(f *testing.F) {
	for _, seed := range []string{registryDocument, `[]`, `[{"id":"A"}]`, `{"member":null}`, strings.Repeat("[", 100), `{"member":[{"id":"\ud800"}]}`} {
		f.Add([]byte(seed), "XA")
	}
	f.Fuzz(func(t *testing.T, document []byte, id string) {
		e, err := probe.FindEntry(document, id)
		if err == nil && (e.ID != strings.TrimSpace(id) || e.ID == "") {
			t.Errorf("found %q for %q", e.ID, id)
		}
	})
}
