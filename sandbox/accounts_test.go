package sandbox_test

import (
	"bytes"
	"crypto/rand"
	"log/slog"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/account"
)

var _ = Describe("the accounts of a running node", func() {
	const role = "EXTERNAL_API_CLIENT"

	create := func(node runningNode, id string) sandbox.Credential {
		GinkgoHelper()
		issued, err := node.Books().Create(account.NewClient{ID: id})
		Expect(err).NotTo(HaveOccurred())
		return sandbox.Credential{ClientID: issued.ID, Secret: issued.Secret, Subject: issued.Subject}
	}
	// tokenStatus returns the status of a token request.
	tokenStatus := func(node runningNode, c sandbox.Credential) int {
		return postForm(node, stagingToken, "grant_type=client_credentials&client_id="+c.ClientID+"&client_secret="+c.Secret, nil).status
	}

	It("are in two books: a client has tokens before it has a role (NET-R16, NET-R17)", func() {
		node := newNode(sandbox.Config{})
		client := create(node, "library")
		token := fetchToken(node, stagingToken, client)
		Expect(get(node, infoPath, bearer(token)).status).To(Equal(200))
		refused := get(node, fundingsPath, bearer(token))
		Expect(refused.status).To(Equal(403))
		Expect(refused.body).To(ContainSubstring("not known to the funding service"))

		Expect(node.Books().Grant("library", account.Permission{Role: role})).Error().NotTo(HaveOccurred())
		Expect(get(node, fundingsPath, bearer(token)).body).To(ContainSubstring("no affiliation ID"))
		Expect(node.Books().Grant("library", account.Permission{Role: role, Affiliation: "AFF-1"})).Error().NotTo(HaveOccurred())
		Expect(get(node, fundingsPath, bearer(token)).status).To(Equal(200))
	})

	It("refuse a rotated secret at once but accept its tokens, and refuse both after a revocation", func() {
		node := newNode(sandbox.Config{})
		old := node.Credentials()[0]
		token := fetchToken(node, stagingToken, old)
		rotated, err := node.Books().Rotate(old.ClientID)
		Expect(err).NotTo(HaveOccurred())
		renewed := sandbox.Credential{ClientID: old.ClientID, Secret: rotated.Secret}
		Expect(tokenStatus(node, old)).To(Equal(401))
		Expect(tokenStatus(node, renewed)).To(Equal(200))
		Expect(get(node, fundingsPath, bearer(token)).status).To(Equal(200))

		Expect(node.Books().Revoke(old.ClientID)).Error().NotTo(HaveOccurred())
		Expect(tokenStatus(node, renewed)).To(Equal(401))
		answer := get(node, fundingsPath, bearer(token))
		Expect(answer.status).To(Equal(401))
		Expect(answer.header.Get("WWW-Authenticate")).To(ContainSubstring(`error="invalid_token"`))
		Expect(get(node, infoPath, bearer(token)).status).To(Equal(401))
	})

	It("are restored by a reset, after which their tokens work again", func() {
		node := newNode(sandbox.Config{})
		first := node.Credentials()[0]
		token := fetchToken(node, stagingToken, first)
		created := create(node, "made")
		Expect(node.Books().Revoke(first.ClientID)).Error().NotTo(HaveOccurred())
		node.Reset()
		Expect(tokenStatus(node, created)).To(Equal(401))
		Expect(tokenStatus(node, first)).To(Equal(200))
		Expect(get(node, fundingsPath, bearer(token)).status).To(Equal(200))
	})

	It("determine the client that a deviation uses: never a revoked one", func() {
		node := newNode(sandbox.Config{Deviations: []string{"role-not-checked"}})
		roleless := fetchToken(node, stagingToken, node.Credentials()[1])
		Expect(get(node, fundingsPath, bearer(roleless)).status).To(Equal(200), "as the first client")
		Expect(node.Books().Revoke(sandbox.DemoClient)).Error().NotTo(HaveOccurred())
		Expect(node.Books().Revoke(sandbox.DemoClientOtherAudience)).Error().NotTo(HaveOccurred())
		Expect(get(node, fundingsPath, bearer(roleless)).status).To(Equal(403), "no client with the role is left")
		Expect(node.Books().Revoke(sandbox.DemoClientWithoutRole)).Error().NotTo(HaveOccurred())

		create(node, "permitted")
		Expect(node.Books().Grant("permitted", account.Permission{Role: role, Affiliation: "A"})).Error().NotTo(HaveOccurred())
		create(node, "roleless")
		token := fetchToken(node, stagingToken, sandbox.Credential{ClientID: "roleless", Secret: rotate(node, "roleless")})
		Expect(get(node, fundingsPath, bearer(token)).status).To(Equal(200), "as the first client with the role that is left")
	})

	It("are skipped by a deviation that shows a secret, if the node no longer knows the secret", func() {
		node := newNode(sandbox.Config{Deviations: []string{"registry-secret-in-remark", "spec-shows-secret"}})
		configured := node.Credentials()
		secret := rotate(node, sandbox.DemoClient)
		registry := get(node, "/registry/registry.json", nil)
		Expect(registry.body).To(ContainSubstring(configured[1].Secret))
		Expect(registry.body).NotTo(Or(ContainSubstring(secret), ContainSubstring(configured[0].Secret)))
		for _, c := range configured {
			rotate(node, c.ClientID)
		}
		Expect(get(node, "/registry/registry.json", nil).body).NotTo(ContainSubstring("until June"))
	})

	It("keep the secret in the ledger when another one is configured, and warn", func() {
		books, log := memoryLedger{}, &bytes.Buffer{}
		configured := func(secret string) runningNode {
			return newNode(sandbox.Config{Ledger: books, Logger: slog.New(slog.NewTextHandler(log, nil)), Clients: []sandbox.ClientConfig{{ID: "a", Secret: secret}}})
		}
		first := configured("the-first-secret-0123456789")
		Expect(first.Credentials()).To(HaveExactElements(HaveField("Secret", "the-first-secret-0123456789")))
		Expect(log.String()).To(BeEmpty())
		reconfigured := configured("another-secret-0123456789ab")
		Expect(reconfigured.Credentials()).To(HaveExactElements(HaveField("Secret", "")))
		Expect(log.String()).To(SatisfyAll(ContainSubstring("client=a"), Not(ContainSubstring("another-secret")), Not(ContainSubstring("first-secret"))))
		Expect(tokenStatus(reconfigured, first.Credentials()[0])).To(Equal(200))
	})

	It("have new secrets until they were shown, and none to show after that", func() {
		books := memoryLedger{}
		lost := newNode(sandbox.Config{Ledger: books})
		first := newNode(sandbox.Config{Ledger: books})
		Expect(tokenStatus(first, lost.Credentials()[0])).To(Equal(401), "that secret was never shown")
		Expect(tokenStatus(first, first.Credentials()[0])).To(Equal(200))
		Expect(first.Credentials()[0].Subject).To(Equal(lost.Credentials()[0].Subject))
		Expect(first.RecordShown()).To(Succeed())
		restarted := newNode(sandbox.Config{Ledger: books, Random: rand.Reader})
		Expect(restarted.Credentials()).To(HaveLen(3))
		for i, c := range restarted.Credentials() {
			Expect(c.Secret).To(BeEmpty())
			Expect(c.Subject).To(Equal(first.Credentials()[i].Subject))
			Expect(c.Role).To(Equal(first.Credentials()[i].Role))
		}
		Expect(tokenStatus(restarted, first.Credentials()[0])).To(Equal(200))
		Expect(restarted.Books().Revoke(sandbox.DemoClient)).Error().NotTo(HaveOccurred())
		Expect(newNode(sandbox.Config{Ledger: books}).Credentials()).To(HaveLen(2))
	})
})

func rotate(node runningNode, id string) string {
	GinkgoHelper()
	issued, err := node.Books().Rotate(id)
	Expect(err).NotTo(HaveOccurred())
	return issued.Secret
}

// memoryLedger keeps clients and accounts of nodes in memory, by member id.
type memoryLedger map[string]*records

func (s memoryLedger) Store(member string) account.Store {
	if s[member] == nil {
		s[member] = &records{account.Records{Accounts: map[string]account.Permission{}}}
	}
	return s[member]
}

type records struct{ account.Records }

func (r *records) Load() (account.Records, error) { return r.Records, nil }

func (r *records) Save(c account.Change) error {
	if c.Client != nil {
		r.Clients = append(r.Clients, *c.Client)
	}
	if c.Account != nil {
		r.Accounts[c.Subject] = *c.Account
	}
	return nil
}
