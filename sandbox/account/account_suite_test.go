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

// open opens books; a nil store is memory.
func open(store account.Store) *account.Books {
	GinkgoHelper()
	books, err := account.Open(account.Config{Store: store, Now: noon, Random: rand.Reader})
	Expect(err).NotTo(HaveOccurred())
	return books
}

// shelf is a store that may break.
type shelf struct {
	kept   account.Records
	broken error
}

func (s *shelf) Load() (account.Records, error) { return s.kept, nil }

func (s *shelf) Keep(c account.Change) error {
	if s.broken == nil && c.Client != nil {
		s.kept.Clients = append(s.kept.Clients, *c.Client)
	}
	return s.broken
}

// refused matches a step that could not be done for this kind of reason.
func refused(kind account.Kind) OmegaMatcher {
	return WithTransform(func(err error) account.Kind {
		var r *account.Refusal
		if !errors.As(err, &r) {
			return -1
		}
		return r.Kind
	}, Equal(kind))
}
