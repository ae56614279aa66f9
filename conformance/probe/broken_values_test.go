package probe_test

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/draw"
)

var _ = Describe("Broken values", func() {
	// queries returns the queries of the list in which runs with several seeds sent a described parameter.
	queries := func(parameter string) (out []string) {
		for seed := range draw.Seed(3) {
			n := newNode(func(n *node) {
				n.document = strings.Replace((&node{}).spec(), `"name":"words"`, `"name":"`+parameter+`"`, 1)
			})
			t := targetOf(n)
			t.Second, t.Seed = nil, seed+1
			certify(t)
			for _, q := range n.log() {
				if path, query, _ := strings.Cut(q.uri, "?"); path == "/ris/funding/v3/fundings" && strings.Contains(query, parameter) {
					out = append(out, query)
				}
			}
		}
		return out
	}

	It("of a cursor decode to text, to JSON of other types, and to nothing", func() {
		var text, other, undecodable int
		for _, query := range queries("cursor") {
			fields, err := url.ParseQuery(query)
			if err != nil {
				continue
			}
			decoded, err := base64.RawURLEncoding.DecodeString(fields.Get("cursor"))
			switch {
			case err != nil:
				undecodable++
			case json.Valid(decoded):
				other++
			default:
				text++
			}
		}
		Expect(text).To(BeNumerically(">", 2))
		Expect(other).To(BeNumerically(">", 2))
		Expect(undecodable).To(BeNumerically(">", 0))
	})

	It("hold a single quote for each text, except for cursors", func() {
		for seed := range draw.Seed(3) {
			n := newNode(func(n *node) {
				n.document = strings.Replace((&node{}).spec(), `{"name":"words","in":"query","schema":{"type":"string"}}`,
					`{"name":"q","in":"query","schema":{"type":"string","minLength":1,"maxLength":90}},{"name":"region","in":"query","schema":{"type":"array","items":{"type":"string"}}},{"name":"cursor","in":"query","schema":{"type":"string"}}`, 1)
			})
			t := targetOf(n)
			t.Second, t.Seed = nil, seed+1
			certify(t)
			quoted := map[string]bool{}
			for _, q := range n.log() {
				path, query, _ := strings.Cut(q.uri, "?")
				fields, err := url.ParseQuery(query)
				if path != "/ris/funding/v3/fundings" || err != nil {
					continue
				}
				for name := range fields {
					if strings.Count(fields.Get(name), "'") == 1 {
						quoted[name] = true
					}
				}
			}
			Expect(quoted).To(And(HaveKey("q"), HaveKey("region"), HaveKey("funderId")))
		}
	})

	It("hold half a regular expression for a search", func() {
		Expect(queries("q")).To(ContainElement(MatchRegexp(`(^|&)q=(%28|%5B|%29)`)))
	})

	It("hold a dot inside a word if the document says that the search is literal", func() {
		n := newNode(func(n *node) {
			n.document = strings.Replace((&node{}).spec(), `"name":"words",`, `"name":"q","description":"A text, taken literally.",`, 1)
			for i := range n.items {
				n.items[i]["title"] = "Forschung für " + []string{"Hochwasser", "Gletscher", "Niederschlag", "Trockenheit", "Lawinen"}[i]
			}
		})
		certify(targetOf(n))
		uris := []string{}
		for _, q := range n.log() {
			uris = append(uris, q.uri)
		}
		Expect(uris).To(ContainElement(MatchRegexp(`[?&]q=\w+\.\w+`)))
	})
})
