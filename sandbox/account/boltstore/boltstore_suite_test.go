package boltstore_test

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"go.etcd.io/bbolt"

	"github.com/rin-network/rin/sandbox/account"
	"github.com/rin-network/rin/sandbox/account/boltstore"
)

func TestBoltstore(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "boltstore")
}

// openLedger opens the ledger of a directory; done closes it.
func openLedger(dir string) (l *boltstore.Ledger, done func()) {
	GinkgoHelper()
	l, err := boltstore.Open(dir)
	Expect(err).NotTo(HaveOccurred())
	return l, func() { Expect(l.Close()).To(Succeed()) }
}

func booksOf(store account.Store) *account.Books {
	GinkgoHelper()
	books, err := account.Open(account.Config{
		Store: store, Random: rand.Reader, Now: func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) },
	})
	Expect(err).NotTo(HaveOccurred())
	return books
}

var _ = Describe("A ledger", func() {
	var dir, file string
	BeforeEach(func() {
		dir = filepath.Join(GinkgoT().TempDir(), "books")
		file = filepath.Join(dir, "accounts.db")
	})

	It("keeps each change, separately for each node", func() {
		l, done := openLedger(dir)
		a, b := booksOf(l.Store("XA")), booksOf(l.Store("XB"))
		Expect(a.RequestAccess(account.Request{Party: "p", Contact: "c", Purpose: "u"})).Error().NotTo(HaveOccurred())
		first, err := a.Create(account.NewClient{ID: "first", Audience: "https://other.example", Request: "R-1"})
		Expect(err).NotTo(HaveOccurred())
		Expect(a.Grant("first", account.Permission{Role: "EXTERNAL_API_CLIENT", Affiliation: "AFF"})).Error().NotTo(HaveOccurred())
		rotated, err := a.Rotate("first")
		Expect(err).NotTo(HaveOccurred())
		Expect(a.Create(account.NewClient{ID: "second"})).Error().NotTo(HaveOccurred())
		revoked, err := a.Revoke("second")
		Expect(err).NotTo(HaveOccurred())
		Expect(b.Create(account.NewClient{ID: "first"})).Error().NotTo(HaveOccurred())
		before, requests := a.List(), a.Requests()
		done()

		l, done = openLedger(dir)
		defer done()
		a, b = booksOf(l.Store("XA")), booksOf(l.Store("XB"))
		Expect(a.List()).To(Equal(before))
		Expect(a.Requests()).To(Equal(requests))
		Expect(b.List()).To(HaveExactElements(SatisfyAll(HaveField("ID", "first"), HaveField("State", account.Registered))))
		subject, audience, ok := a.Clients().Authenticate("first", rotated.Secret)
		Expect([]any{subject, audience, ok}).To(Equal([]any{first.Subject, "https://other.example", true}))
		_, _, ok = a.Clients().Authenticate("first", first.Secret)
		Expect(ok).To(BeFalse())
		Expect(a.Clients().Registered("second", revoked.Subject)).To(BeFalse())
		_, known := a.Accounts().Permission(revoked.Subject)
		Expect(known).To(BeFalse())
	})

	It("contains no secret, and is readable by its owner only", func() {
		l, done := openLedger(dir)
		books := booksOf(l.Store("XA"))
		var secrets []string
		Expect(books.Enter([]account.Registration{{Client: account.NewClient{ID: "given"}, Secret: "configured-secret-0123456789"}})).To(Succeed())
		for i := range 20 {
			issued, err := books.Create(account.NewClient{ID: fmt.Sprint("c", i)})
			Expect(err).NotTo(HaveOccurred())
			rotated, err := books.Rotate(issued.ID)
			Expect(err).NotTo(HaveOccurred())
			secrets = append(secrets, issued.Secret, rotated.Secret)
		}
		done()
		kept, err := os.ReadFile(file)
		Expect(err).NotTo(HaveOccurred())
		for _, secret := range append(secrets, "configured-secret-0123456789") {
			Expect(bytes.Contains(kept, []byte(secret))).To(BeFalse())
		}
		for path, mode := range map[string]fs.FileMode{dir: 0o700 | fs.ModeDir, file: 0o600} {
			info, err := os.Stat(path)
			Expect(err).NotTo(HaveOccurred())
			Expect(info.Mode()).To(Equal(mode))
		}
		Expect(os.ReadDir(dir)).To(HaveLen(1))
	})

	It("explains that another process has it open", func() {
		_, done := openLedger(dir)
		_, err := boltstore.Open(dir)
		Expect(err).To(MatchError(ContainSubstring("another process uses ")))
		var fault *boltstore.Fault
		Expect(errors.As(err, &fault)).To(BeTrue())
		Expect(fault.Hint).NotTo(BeEmpty())
		done()
		_, done = openLedger(dir)
		done()
	})

	It("is created once when several callers open it together", func() {
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				defer GinkgoRecover()
				l, err := boltstore.Open(dir)
				if err != nil {
					Expect(err).To(MatchError(ContainSubstring("another process")))
					return
				}
				Expect(l.Close()).To(Succeed())
			})
		}
		all.Wait()
		Expect(os.ReadDir(dir)).To(HaveLen(1))
	})

	It("refuses all changes after its file was truncated, and still authenticates from memory", func() {
		l, _ := openLedger(dir)
		books := booksOf(l.Store("XA"))
		issued, err := books.Create(account.NewClient{ID: "a"})
		Expect(err).NotTo(HaveOccurred())
		Expect(os.Truncate(file, 0)).To(Succeed())
		for _, id := range []string{"b", "c"} {
			_, err = books.Create(account.NewClient{ID: id})
			Expect(err).To(MatchError(ContainSubstring("is damaged")))
		}
		Expect(l.Close()).To(MatchError(ContainSubstring("is damaged")))
		_, _, ok := books.Clients().Authenticate("a", issued.Secret)
		Expect(ok).To(BeTrue(), "the books in memory still work")
	})

	DescribeTable("refuses a file that it did not write, with a reason", func(why string, makeFile func()) {
		Expect(os.MkdirAll(dir, 0o700)).To(Succeed())
		makeFile()
		_, err := boltstore.Open(dir)
		var fault *boltstore.Fault
		Expect(errors.As(err, &fault)).To(BeTrue(), "%v", err)
		Expect(fault.Detail).To(ContainSubstring(why))
		Expect(fault.Hint).NotTo(BeEmpty())
	},
		Entry("an empty file", "it is empty", func() { Expect(os.WriteFile(file, nil, 0o600)).To(Succeed()) }),
		Entry("a text file", "invalid database", func() { Expect(os.WriteFile(file, bytes.Repeat([]byte("no books\n"), 9000), 0o600)).To(Succeed()) }),
		Entry("a directory", "not a regular file", func() { Expect(os.Mkdir(file, 0o700)).To(Succeed()) }),
		Entry("the database of another program", "another program", func() {
			write(file, func(tx *bbolt.Tx) error {
				_, err := tx.CreateBucket([]byte("widgets"))
				return err
			})
		}),
		Entry("a later format", "expected the format rin.accounts/v1", func() {
			_, done := openLedger(dir)
			done()
			write(file, func(tx *bbolt.Tx) error {
				return tx.Bucket([]byte("rin")).Put([]byte("format"), []byte("rin.accounts/v9"))
			})
		}),
		Entry("a record that is not JSON", "clients, entry", func() {
			_, done := openLedger(dir)
			done()
			write(file, func(tx *bbolt.Tx) error {
				node, err := tx.Bucket([]byte("nodes")).CreateBucket([]byte("XA"))
				if err != nil {
					return err
				}
				clients, err := node.CreateBucket([]byte("clients"))
				return errors.Join(err, clients.Put([]byte("a"), []byte(`{"id":`)))
			})
		}),
		Entry("a page that refers to itself", "is used twice", func() {
			l, done := openLedger(dir)
			books := booksOf(l.Store("XA"))
			for i := range 40 {
				Expect(books.Create(account.NewClient{ID: fmt.Sprint("c", i)})).Error().NotTo(HaveOccurred())
			}
			done()
			text, err := os.ReadFile(file)
			Expect(err).NotTo(HaveOccurred())
			changed := 0
			for page := range slices.Chunk(text, os.Getpagesize()) {
				if binary.NativeEndian.Uint16(page[8:]) == 1 { // a branch page: byte 0 has its own number, byte 24 that of the first page below it
					copy(page[24:32], page[:8])
					changed++
				}
			}
			Expect(changed).To(BeNumerically(">", 0))
			Expect(os.WriteFile(file, text, 0o600)).To(Succeed())
		}),
		Entry("a truncated file", "is damaged", func() {
			l, done := openLedger(dir)
			books := booksOf(l.Store("XA"))
			for i := range 60 {
				Expect(books.Create(account.NewClient{ID: fmt.Sprint("c", i)})).Error().NotTo(HaveOccurred())
			}
			done()
			Expect(os.Truncate(file, 16<<10)).To(Succeed())
		}),
	)
})

// write changes the database in a file, as another program might.
func write(file string, change func(*bbolt.Tx) error) {
	GinkgoHelper()
	db, err := bbolt.Open(file, 0o600, nil)
	Expect(err).NotTo(HaveOccurred())
	Expect(db.Update(change)).To(Succeed())
	Expect(db.Close()).To(Succeed())
}
