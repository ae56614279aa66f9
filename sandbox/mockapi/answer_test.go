package mockapi_test

import (
	"math/rand/v2"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
)

var _ = Describe("the API of a document", func() {
	It("gives the same answer to the same seed and request, in any order and after any restart", func() {
		paths := []string{"/shelves", "/shelves?limit=3&offset=2", "/shelves?offset=2&limit=3", "/shelves?kind=STEEL", "/tree", "/values", "/count", "/shelves/mine"}
		ask := func(n node, order []int) map[string]string {
			answers := map[string]string{}
			for _, i := range order {
				e := n.get("/library/live" + paths[i])
				answers[paths[i]] = string(e.body) + e.header.Get("Etag") + e.header.Get("X-Rate")
			}
			return answers
		}
		api := sandbox.APIConfig{File: "testdata/library.json"}
		fresh := func() node { // one address for all, because links name it
			return serveNode(sandbox.Config{API: api, Loopback: true, PublicURL: "http://node.example"})
		}
		first := ask(fresh(), rand.Perm(len(paths)))
		Expect(first["/shelves?limit=3&offset=2"]).To(Equal(first["/shelves?offset=2&limit=3"]), "the order of parameters means nothing")
		for range 3 {
			n := fresh()
			Expect(ask(n, rand.Perm(len(paths)))).To(Equal(first))
			Expect(ask(n, rand.Perm(len(paths)))).To(Equal(first))
		}
		busy := fresh()
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				defer GinkgoRecover()
				Expect(ask(busy, rand.Perm(len(paths)))).To(Equal(first))
			})
		}
		all.Wait()
		other := ask(serveNode(sandbox.Config{Loopback: true, Seed: 99, API: api}), rand.Perm(len(paths)))
		Expect(other["/values"]).NotTo(Equal(first["/values"]))
	})
})
