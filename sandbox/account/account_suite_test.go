package account_test

import (
	"crypto/rand"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/account"
)

func TestAccount(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "account")
}

const role = "EXTERNAL_API_CLIENT"

func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// open opens books; with a nil store they are in memory only.
func open(store account.Store) *account.Books {
	GinkgoHelper()
	books, err := account.Open(account.Config{Store: store, Now: noon, Random: rand.Reader})
	Expect(err).NotTo(HaveOccurred())
	return books
}

// fakeStore keeps clients in memory; Save fails with the error err, if it is set.
type fakeStore struct {
	records account.Records
	err     error
}

func (s *fakeStore) Load() (account.Records, error) { return s.records, nil }

func (s *fakeStore) Save(c account.Change) error {
	if s.err == nil && c.Client != nil {
		s.records.Clients = append(s.records.Clients, *c.Client)
	}
	return s.err
}

// beRefused matches the error of a step that was refused for a reason of this kind.
func beRefused(kind account.Kind) OmegaMatcher {
	return WithTransform(func(err error) account.Kind {
		var r *account.Refusal
		if !errors.As(err, &r) {
			return -1
		}
		return r.Kind
	}, Equal(kind))
}
