package boltstore_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rin-network/rin/sandbox/account"
	"github.com/rin-network/rin/sandbox/account/boltstore"
)

// FuzzDamage changes and cuts a good file. Open and the two steps after it each succeed, or return a fault with a hint; none ends the process or
// hangs.
func FuzzDamage(f *testing.F) {
	good := ledgerFile(f)
	f.Add([]byte{}, uint16(0))
	f.Add([]byte{}, uint16(len(good)/2))
	for page := range len(good) / os.Getpagesize() { // damage number, kind, count and overflow in the header of each page, and its first element
		for _, offset := range []int{0, 8, 10, 12, 16, 17, 20, 24} {
			patch := binary.LittleEndian.AppendUint16(nil, uint16(page*os.Getpagesize()+offset))
			f.Add(append(patch, 0xff), uint16(0))
		}
	}
	f.Fuzz(func(t *testing.T, patches []byte, cut uint16) {
		bad := append([]byte(nil), good...)
		for ; len(patches) >= 3; patches = patches[3:] {
			bad[int(binary.LittleEndian.Uint16(patches))%len(bad)] = patches[2]
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "accounts.db"), bad[:len(bad)-int(cut)%len(bad)], 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := boltstore.Open(dir)
		if err != nil {
			expectExplained(t, err)
			return
		}
		for _, id := range []string{"another", "one-more"} {
			expectExplained(t, step(l.Store("XA"), id, rand.NewChaCha8([32]byte{})))
		}
		expectExplained(t, l.Close())
	})
}

// ledgerFile returns the file of a ledger with some clients and free pages.
func ledgerFile(f *testing.F) []byte {
	f.Helper()
	random := rand.NewChaCha8([32]byte{}) // a fixed seed, for the same file each time
	dir := f.TempDir()
	l, err := boltstore.Open(dir)
	if err != nil {
		f.Fatal(err)
	}
	for i := range 12 {
		if err := step(l.Store("XA"), fmt.Sprint("c", i), random); err != nil {
			f.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		f.Fatal(err)
	}
	good, err := os.ReadFile(filepath.Join(dir, "accounts.db"))
	if err != nil {
		f.Fatal(err)
	}
	return good
}

// step creates a client. A refusal is not an error: the damage may have put a client with this id into the books.
func step(store account.Store, id string, random io.Reader) error {
	books, err := account.Open(account.Config{Store: store, Random: random, Now: func() time.Time { return time.Unix(0, 0) }})
	if err != nil {
		return err
	}
	_, err = books.Create(account.NewClient{ID: id})
	var refusal *account.Refusal
	if errors.As(err, &refusal) {
		return nil
	}
	return err
}

// expectExplained fails unless err is nil or a fault with a hint.
func expectExplained(t *testing.T, err error) {
	t.Helper()
	var fault *boltstore.Fault
	if err != nil && (!errors.As(err, &fault) || fault.Hint == "") {
		t.Fatalf("no reason, or no hint: %v", err)
	}
}
