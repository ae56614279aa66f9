package control_test

import (
	"context"
	"net/http"
	"net/http/httptest"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/clientrules"
	"github.com/rin-network/rin/sandbox/control"
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
		network, client := startControl()
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

	It("is cleared, also by a reset", func() {
		network, client := startControl()
		ask(network, "/1")
		Expect(client.ClearJournal()).To(Succeed())
		Expect(client.Journal(control.Range{})).To(Equal(control.Journal{Entries: []clientrules.Line{}}))
		ask(network, "/2")
		Expect(client.Reset()).To(Succeed())
		Expect(client.Journal(control.Range{})).To(HaveField("Entries", BeEmpty()))
	})

	It("says for each request who sent it, which rules it broke, and which command is correct", func() {
		network, client := startControl()
		ask(network, "/registry/registry.json", "/1")
		r := httptest.NewRequest(http.MethodGet, "/xb/ris-synergy/info/v1/oauth/info/", nil)
		r.SetBasicAuth("importer", "s")
		network.ServeHTTP(httptest.NewRecorder(), r)
		last, err := client.Journal(control.Range{Limit: 1, Last: true})
		Expect(err).NotTo(HaveOccurred())
		Expect(last.Entries).To(ConsistOf(And(
			HaveField("Number", BeEquivalentTo(3)), HaveField("Remark.Client", "importer"), HaveField("Rules", ContainElement(clientrules.ID("CLT-08"))),
			HaveField("Curl", ContainSubstring(`"client_secret=$RIN_CLIENT_SECRET"`)),
		)))
		wrong, err := client.Journal(control.Range{Wrong: true})
		Expect(err).NotTo(HaveOccurred())
		Expect(wrong.Entries).To(HaveLen(2))
		Expect(client.Journal(control.Range{Client: "nobody"})).To(HaveField("Entries", BeEmpty()))
	})

	DescribeTable("refuses an invalid part", func(query string) {
		_, client := startControl()
		answer, err := http.Get(client.Base + "/journal?" + query)
		Expect(err).NotTo(HaveOccurred())
		Expect(answer.Body.Close()).To(Succeed())
		Expect(answer.StatusCode).To(Equal(http.StatusBadRequest))
	},
		Entry(nil, "after=-1"), Entry(nil, "after=x"), Entry(nil, "limit=0"), Entry(nil, "limit=10001"), Entry(nil, "last=1st"), Entry(nil, "wrong=?"),
	)
})

var _ = Describe("The report on clients on the control listener", func() {
	It("covers all clients, or one", func() {
		network, client := startControl()
		r := httptest.NewRequest(http.MethodGet, "/ris-synergy/info/v1/oauth/info/", nil)
		r.SetBasicAuth("importer", "s")
		network.ServeHTTP(httptest.NewRecorder(), r)
		network.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/xb/oauth/token", nil))
		all, err := client.Report()
		Expect(err).NotTo(HaveOccurred())
		Expect(all.HasFaults()).To(BeTrue())
		one, err := client.ClientReport("importer")
		Expect(err).NotTo(HaveOccurred())
		Expect(one.Clients).To(ConsistOf(HaveField("Client", "importer")))
		_, err = client.ClientReport("somebody")
		Expect(err).To(MatchError(ContainSubstring("no request of this client")))
	})

	It("does not exist without a journal", func() {
		network, err := sandbox.NewNetwork(sandbox.NetworkConfig{Nodes: []sandbox.Config{{Calls: 3}}, JournalLimit: -1})
		Expect(err).NotTo(HaveOccurred())
		server := httptest.NewServer(control.New(network, control.Access{Token: controlToken, Loopback: true}))
		DeferCleanup(server.Close)
		client := control.Client{Context: context.Background(), Base: server.URL, Token: controlToken}
		_, err = client.Report()
		Expect(err).To(MatchError(ContainSubstring("keeps no journal")))
		_, err = client.Journal(control.Range{})
		Expect(err).To(MatchError(ContainSubstring("keeps no journal")))
		Expect(client.ClearJournal()).To(Succeed())
	})
})
