package control_test

import (
	"net/http"
	"net/http/httptest"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/control"
	"github.com/rin-network/rin/sandbox/journal"
)

var _ = Describe("The journal on the control listener", func() {
	ask := func(handler http.Handler, paths ...string) {
		for _, path := range paths {
			handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, path, nil))
		}
	}
	pathsOf := func(j control.Journal) []string {
		var all []string
		for _, e := range j.Entries {
			all = append(all, e.Path)
		}
		return all
	}

	It("is read in parts", func() {
		network, client := controlled()
		ask(network, "/1", "/xb/2", "/3")
		first, err := client.Journal(control.Range{Limit: 2})
		Expect(err).NotTo(HaveOccurred())
		Expect(pathsOf(first)).To(Equal([]string{"/1", "/xb/2"}))
		Expect(first.Counted).To(BeEquivalentTo(3))
		rest, err := client.Journal(control.Range{After: first.Next})
		Expect(err).NotTo(HaveOccurred())
		Expect(pathsOf(rest)).To(Equal([]string{"/3"}))
		Expect(rest.Next).To(BeZero())
	})

	It("is emptied, also by a reset", func() {
		network, client := controlled()
		ask(network, "/1")
		Expect(client.ClearJournal()).To(Succeed())
		Expect(client.Journal(control.Range{})).To(Equal(control.Journal{Record: journal.Record{Entries: []journal.Entry{}}}))
		ask(network, "/2")
		Expect(client.Reset()).To(Succeed())
		Expect(client.Journal(control.Range{})).To(HaveField("Entries", BeEmpty()))
	})

	DescribeTable("refuses a part that is none", func(query string) {
		_, client := controlled()
		answer, err := http.Get(client.Base + "/journal?" + query)
		Expect(err).NotTo(HaveOccurred())
		Expect(answer.Body.Close()).To(Succeed())
		Expect(answer.StatusCode).To(Equal(http.StatusBadRequest))
	},
		Entry(nil, "after=-1"), Entry(nil, "after=x"), Entry(nil, "limit=0"), Entry(nil, "limit=10001"),
	)
})
