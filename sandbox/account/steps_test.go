package account_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/account"
)

var _ = Describe("The steps to an account", func() {
	var books *account.Books
	BeforeEach(func() { books = open(nil) })

	create := func(id string) account.Credentials {
		GinkgoHelper()
		issued, err := books.Create(account.NewClient{ID: id})
		Expect(err).NotTo(HaveOccurred())
		return issued
	}
	authenticates := func(id, secret string) bool {
		_, _, ok := books.Clients().Authenticate(id, secret)
		return ok
	}

	permission := func(subject string) account.Permission {
		p, _ := books.Accounts().Permission(subject)
		return p
	}

	It("lead from a request to a permitted client, and then to a revoked one", func() {
		request, err := books.RequestAccess(account.Request{Party: "Library of Musterberg", Contact: "it@musterberg.example", Purpose: "calls in our intranet"})
		Expect(err).NotTo(HaveOccurred())
		Expect(request).To(SatisfyAll(HaveField("ID", "R-1"), HaveField("Received", noon())))

		issued, err := books.Create(account.NewClient{ID: "library", Request: "R-1"})
		Expect(err).NotTo(HaveOccurred())
		Expect(books.Requests()).To(HaveExactElements(HaveField("Client", "library")))
		Expect(authenticates("library", issued.Secret)).To(BeTrue())
		_, known := books.Accounts().Permission(issued.Subject)
		Expect(known).To(BeFalse(), "the funding service does not know the client yet")
		Expect(books.List()).To(HaveExactElements(HaveField("State", account.Registered)))

		Expect(books.Grant("library", account.Permission{Role: role, Affiliation: "AFF-1"})).To(HaveField("State", account.Permitted))
		Expect(permission(issued.Subject)).To(Equal(account.Permission{Role: role, Affiliation: "AFF-1"}))

		rotated, err := books.Rotate("library")
		Expect(err).NotTo(HaveOccurred())
		Expect(rotated.Subject).To(Equal(issued.Subject))
		Expect(authenticates("library", issued.Secret)).To(BeFalse())
		Expect(authenticates("library", rotated.Secret)).To(BeTrue())
		Expect(books.Clients().Registered("library", issued.Subject)).To(BeTrue(), "its tokens stay valid")

		Expect(books.Revoke("library")).To(HaveField("State", account.Revoked))
		Expect(authenticates("library", rotated.Secret)).To(BeFalse())
		Expect(books.Clients().Registered("library", issued.Subject)).To(BeFalse())
		_, known = books.Accounts().Permission(issued.Subject)
		Expect(known).To(BeFalse())
	})

	It("list clients without secrets, and without their hashes", func() {
		create("a")
		entry := books.List()[0]
		Expect(entry.Secret).To(Equal(account.Digest{}))
	})

	It("can use the id of a revoked client for a new one", func() {
		before := create("a")
		Expect(books.Revoke("a")).Error().NotTo(HaveOccurred())
		after := create("a")
		Expect(after.Subject).NotTo(Equal(before.Subject))
		Expect(books.Clients().Registered("a", before.Subject)).To(BeFalse())
		Expect(authenticates("a", before.Secret)).To(BeFalse())
		Expect(authenticates("a", after.Secret)).To(BeTrue())
	})

	It("permit only a client with the right role and an affiliation", func() {
		create("a")
		Expect(books.Grant("a", account.Permission{Role: role})).To(HaveField("State", account.Registered))
		Expect(books.Grant("a", account.Permission{Affiliation: "AFF-1"})).To(HaveField("State", account.Registered))
		Expect(books.Grant("a", account.Permission{Role: "EDITOR", Affiliation: "AFF-1"})).To(HaveField("State", account.Registered))
	})

	It("change nothing when they are refused", func() {
		create("a")
		before := books.List()
		Expect(books.Create(account.NewClient{ID: "a"})).Error().To(beRefused(account.Conflict))
		Expect(books.Create(account.NewClient{ID: "b", Request: "R-7"})).Error().To(beRefused(account.Unknown))
		Expect(books.Grant("b", account.Permission{})).Error().To(beRefused(account.Unknown))
		Expect(books.Grant("a", account.Permission{Role: "two\nlines"})).Error().To(beRefused(account.Invalid))
		Expect(books.Rotate("b")).Error().To(beRefused(account.Unknown))
		Expect(books.Revoke("b")).Error().To(beRefused(account.Unknown))
		for _, id := range []string{"", ".", "..", "-v", "a b", "a/b", "ä", "a\n", strings.Repeat("a", 65)} {
			Expect(books.Create(account.NewClient{ID: id})).Error().To(beRefused(account.Invalid), id)
		}
		for _, r := range []account.Request{{}, {Party: "p", Contact: "c"}, {Party: "p", Contact: "c", Purpose: "a\x1b[2J"}, {Party: strings.Repeat("p", 501), Contact: "c", Purpose: "p"}} {
			Expect(books.RequestAccess(r)).Error().To(beRefused(account.Invalid))
		}
		Expect(books.List()).To(Equal(before))
		Expect(books.Requests()).To(BeEmpty())

		Expect(books.Revoke("a")).Error().NotTo(HaveOccurred())
		for _, err := range []error{errorOf(books.Grant("a", account.Permission{})), errorOf(books.Rotate("a")), errorOf(books.Revoke("a"))} {
			Expect(err).To(beRefused(account.Conflict))
		}
	})

	It("create one client at most for a request", func() {
		Expect(books.RequestAccess(account.Request{Party: "p", Contact: "c", Purpose: "u"})).Error().NotTo(HaveOccurred())
		Expect(books.Create(account.NewClient{ID: "a", Request: "R-1"})).Error().NotTo(HaveOccurred())
		Expect(books.Create(account.NewClient{ID: "b", Request: "R-1"})).Error().To(beRefused(account.Conflict))
	})

	It("change nothing when the store fails", func() {
		s := &fakeStore{}
		books = open(s)
		issued := create("a")
		s.err = errors.New("no space left on device")
		for _, err := range []error{
			errorOf(books.Create(account.NewClient{ID: "b"})), errorOf(books.Rotate("a")), errorOf(books.Revoke("a")),
			errorOf(books.Grant("a", account.Permission{Role: role, Affiliation: "A"})), errorOf(books.RequestAccess(account.Request{Party: "p", Contact: "c", Purpose: "u"})),
		} {
			Expect(err).To(MatchError(ContainSubstring("no space left")))
		}
		Expect(books.List()).To(HaveExactElements(SatisfyAll(HaveField("ID", "a"), HaveField("State", account.Registered))))
		Expect(authenticates("a", issued.Secret)).To(BeTrue())
		Expect(books.Requests()).To(BeEmpty())
	})

	It("are undone by Reset in memory, but not in a store", func() {
		configured := []account.Registration{{Client: account.NewClient{ID: "given"}, Secret: "a-secret", Permission: account.Permission{Role: role, Affiliation: "A"}}}
		step := func(b *account.Books) {
			Expect(b.Enter(configured)).To(Succeed())
			Expect(b.Rotate("given")).Error().NotTo(HaveOccurred())
			Expect(b.Create(account.NewClient{ID: "made"})).Error().NotTo(HaveOccurred())
			b.Reset()
		}
		step(books)
		Expect(books.List()).To(HaveExactElements(SatisfyAll(HaveField("ID", "given"), HaveField("State", account.Permitted))))
		Expect(authenticates("given", "a-secret")).To(BeTrue())

		books = open(&fakeStore{})
		step(books)
		Expect(books.List()).To(HaveLen(2))
		Expect(authenticates("given", "a-secret")).To(BeFalse())
	})

	It("keep a client of the store when the configuration has the same id", func() {
		s := &fakeStore{}
		books = open(s)
		kept := create("given")
		books = open(s)
		Expect(books.Enter([]account.Registration{{Client: account.NewClient{ID: "given"}, Secret: "another-secret"}})).To(Succeed())
		Expect(authenticates("given", kept.Secret)).To(BeTrue())
		Expect(authenticates("given", "another-secret")).To(BeFalse())
		Expect(books.Enter([]account.Registration{{Client: account.NewClient{ID: "x"}}, {Client: account.NewClient{ID: "x"}}})).To(beRefused(account.Conflict))
	})

	It("replace the secret of a configured client until one was shown", func() {
		s := &fakeStore{}
		given := func(secret string) []account.Registration {
			return []account.Registration{{Client: account.NewClient{ID: "given"}, Secret: secret, Generated: true}}
		}
		for _, secret := range []string{"first-secret", "second-secret"} {
			books = open(s)
			Expect(books.Enter(given(secret))).To(Succeed())
			Expect(authenticates("given", secret)).To(BeTrue())
		}
		Expect(books.RecordShown()).To(Succeed())
		books = open(s)
		Expect(books.Enter(given("third-secret"))).To(Succeed())
		Expect(authenticates("given", "second-secret")).To(BeTrue())
	})

	It("are safe while calls use the books", func() {
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				defer GinkgoRecover()
				id := fmt.Sprintf("c%d", i)
				issued, err := books.Create(account.NewClient{ID: id})
				Expect(err).NotTo(HaveOccurred())
				for range 20 {
					Expect(authenticates(id, issued.Secret)).To(BeTrue())
					Expect(books.Grant(id, account.Permission{Role: role, Affiliation: id})).To(HaveField("State", account.Permitted))
					Expect(permission(issued.Subject)).To(HaveField("Affiliation", id))
					Expect(books.List()).NotTo(BeEmpty())
				}
			})
		}
		all.Wait()
		Expect(books.List()).To(HaveLen(8))
	})
})

// errorOf returns the error of a step without its result.
func errorOf[T any](_ T, err error) error { return err }

// BenchmarkRegistered measures the check of the books in each protected call.
func BenchmarkRegistered(b *testing.B) {
	books, err := account.Open(account.Config{Now: noon, Random: rand.Reader})
	if err != nil {
		b.Fatal(err)
	}
	issued, err := books.Create(account.NewClient{ID: "a"})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			if !books.Clients().Registered("a", issued.Subject) {
				b.Fail()
			}
		}
	})
}
