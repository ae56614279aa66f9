package control_test

import (
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/control"
)

var _ = Describe("An account", func() {
	It("is requested, created, permitted and revoked at one node", func() {
		network, client := startControl()
		request := control.AccessRequest{Party: "Library", Contact: "it@musterberg.example", Purpose: "calls"}
		Expect(client.RequestAccess("XB", request)).To(HaveField("ID", "R-1"))
		created, err := client.Create("XB", control.NewAccount{ClientID: "library", Request: "R-1"})
		Expect(err).NotTo(HaveOccurred())
		Expect(created.TokenURL).To(HaveSuffix("/xb/oauth/token"))
		Expect(created.Request).To(HaveField("Contact", "it@musterberg.example"))
		subject, _, ok := network.Nodes()[1].Books().Clients().Authenticate("library", created.Secret)
		Expect([]any{subject, ok}).To(Equal([]any{created.Subject, true}))

		Expect(client.Grant("XB", "library", control.Permission{Role: "EXTERNAL_API_CLIENT", Affiliation: "A"})).To(HaveField("State", "permitted"))
		Expect(client.Accounts("XB")).To(SatisfyAll(
			HaveField("Accounts", ContainElement(SatisfyAll(HaveField("ClientID", "library"), HaveField("Affiliation", "A")))),
			HaveField("Requests", HaveExactElements(HaveField("ClientID", "library"))),
		))
		Expect(client.Accounts("XA")).To(HaveField("Accounts", HaveLen(3)), "the other node has its own clients")
		Expect(client.Rotate("XB", "library")).To(SatisfyAll(HaveField("Subject", created.Subject), HaveField("Request", Not(BeNil()))))
		Expect(client.Revoke("XB", "library")).To(HaveField("State", "revoked"))
		Expect(client.Create("XB", control.NewAccount{ClientID: "library"})).To(HaveField("Request", BeNil()), "the new client was created without a request")
		Expect(client.Reset()).To(Succeed())
		Expect(client.Accounts("XB")).To(SatisfyAll(HaveField("Accounts", HaveLen(3)), HaveField("Requests", BeEmpty())))
	})

	DescribeTable("is refused with a status, a reason and a hint", func(status int, step func(control.Client) error) {
		_, client := startControl()
		err := step(client)
		Expect(err).To(HaveField("Status", status))
		Expect(err).To(HaveField("Hint", Not(BeEmpty())))
	},
		Entry("an existing client", http.StatusConflict, func(c control.Client) error {
			_, err := c.Create("XA", control.NewAccount{ClientID: "demo-client"})
			return err
		}),
		Entry("an unknown client", http.StatusNotFound, func(c control.Client) error {
			_, err := c.Rotate("XA", "nobody")
			return err
		}),
		Entry("an invalid id", http.StatusBadRequest, func(c control.Client) error {
			_, err := c.Create("XA", control.NewAccount{ClientID: "../XB"})
			return err
		}),
		Entry("a path as an id", http.StatusNotFound, func(c control.Client) error {
			_, err := c.Revoke("XA", "a/b?c#d")
			return err
		}),
		Entry("a request with a text that is too long", http.StatusBadRequest, func(c control.Client) error {
			_, err := c.RequestAccess("XA", control.AccessRequest{Party: strings.Repeat("p", 1000), Contact: "c", Purpose: "u"})
			return err
		}),
		Entry("an unknown node", http.StatusNotFound, func(c control.Client) error {
			_, err := c.Accounts("XZ")
			return err
		}),
	)
})
