package probe_test

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// first returns the index of the first request that fits; -1 if none does.
func first(log []seen, fits func(seen) bool) int { return slices.IndexFunc(log, fits) }

// last returns the index of the last request that fits; -1 if none does.
func last(log []seen, fits func(seen) bool) int {
	found := -1
	for i, q := range log {
		if fits(q) {
			found = i
		}
	}
	return found
}

func to(uri string) func(seen) bool { return func(q seen) bool { return q.uri == uri } }

func and(all ...func(seen) bool) func(seen) bool {
	return func(q seen) bool {
		return !slices.ContainsFunc(all, func(f func(seen) bool) bool { return !f(q) })
	}
}

func anonymous(q seen) bool { return q.authorization == "" && q.method == "GET" }

func bearing(q seen) bool { return strings.HasPrefix(q.authorization, "Bearer access-token-number-") }

// drawnQuery is a query with a drawn parameter whose value is a UUID.
var drawnQuery = regexp.MustCompile(`^\?[a-z]+=[0-9a-f]{8}-[0-9a-f-]{27}$`)

func issuing(q seen) bool {
	good := url.Values{"client_id": {clientID}, "client_secret": {clientSecret}, "grant_type": {"client_credentials"}}
	form, err := url.ParseQuery(q.body)
	return err == nil && form.Encode() == good.Encode()
}

var _ = Describe("A run, in the order in which the node sees its requests", func() {
	const (
		info = "/ris/info/v1/oauth/info/"
		list = "/ris/funding/v3/fundings"
		item = "/ris/funding/v3/fundings/f-0"
	)
	var log []seen
	BeforeEach(func() {
		n := newNode()
		t := targetOf(n)
		t.Second = nil
		certify(t)
		log = n.log()
	})

	DescribeTable("calls a protected URL without a token, then with one, then with odd credentials, then at a URL that was not used before",
		func(uri string) {
			bare, good := first(log, and(to(uri), anonymous)), first(log, and(to(uri), bearing))
			garbage := first(log, and(to(uri), func(q seen) bool { return q.authorization != "" && !bearing(q) }))
			fresh := first(log, func(q seen) bool { return drawnQuery.MatchString(strings.TrimPrefix(q.uri, uri)) })
			Expect(bare).To(And(BeNumerically(">=", 0), BeNumerically("<", good)))
			Expect(good).To(BeNumerically("<", garbage))
			Expect(garbage).To(BeNumerically("<", fresh))
			Expect(bearing(log[fresh])).To(BeTrue(), "the fresh URL is asked with a token first")
			again := fresh + 1 + first(log[fresh+1:], to(log[fresh].uri))
			Expect(anonymous(log[again])).To(BeTrue(), "and then without")
		},
		Entry("info", info), Entry("list", list), Entry("detail", item))

	It("sends a good token request after the wrong secret, and another one after the id without a secret", func() {
		wrong := first(log, func(q seen) bool {
			form, err := url.ParseQuery(q.body)
			secret := form.Get("client_secret")
			return err == nil && form.Get("client_id") == clientID && secret != "" && secret != clientSecret
		})
		alone := first(log, func(q seen) bool { return q.body == "grant_type=client_credentials&client_id="+clientID })
		Expect(wrong).To(BeNumerically(">", 0))
		Expect(alone).To(BeNumerically(">", wrong))
		Expect(slices.ContainsFunc(log[wrong+1:alone], issuing)).To(BeTrue())
		Expect(slices.ContainsFunc(log[alone+1:], issuing)).To(BeTrue())
	})

	It("requests no further token after the one that it uses until the end", func() {
		// An authorization server that revokes a token with each new one must not spoil the run.
		lastIssued := last(log, issuing)
		for _, uri := range []string{info, list, item} {
			Expect(first(log, and(to(uri), bearing))).To(BeNumerically(">", lastIssued), uri)
		}
	})

	It("sends the interface document's headers to the info endpoint", func() {
		q := log[first(log, and(to(info), bearing))]
		Expect(q.method).To(Equal("GET"))
		Expect(q.contentType).To(Equal("application/json"))
		Expect(q.body).To(BeEmpty())
	})
})
