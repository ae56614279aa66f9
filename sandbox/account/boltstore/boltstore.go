// Package boltstore keeps the books of package account in a file, the ledger, so that completed steps survive a crash. The file is a bbolt database:
// only one process at a time can open it, and each change is completely on the disk before its step ends. Secrets are stored as salted hashes.
package boltstore

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/rin-network/rin/sandbox/account"
)

const (
	// fileName is the name of the ledger in its directory.
	fileName = "accounts.db"
	// format marks a ledger and its version.
	format = "rin.accounts/v1"
	// lockTimeout is how long to wait for another process to close the file.
	lockTimeout = 500 * time.Millisecond
)

// The buckets of the database: markBucket has the mark of the format; nodesBucket has one bucket for each node, with
// the books of that node.
const (
	markBucket  = "rin"
	markKey     = "format"
	nodesBucket = "nodes"
)

// Fault is the error for a ledger that cannot be used.
type Fault struct {
	// Detail says why, Hint what to do.
	Detail, Hint string
	cause        error
}

// Error implements error.
func (f *Fault) Error() string { return f.Detail }

// Unwrap returns the error that caused the fault; nil for a damaged file.
func (f *Fault) Unwrap() error { return f.cause }

// Ledger keeps the books of all nodes of a network in one file. It is safe for concurrent use.
type Ledger struct {
	db *bbolt.DB
	// broken is set by the first fault of the file. A fault may leave the database locked, so that the next step would wait forever.
	broken atomic.Pointer[Fault]
}

// Open opens the ledger in a directory, and creates both if needed. Only their owner can read them. Each error of Open is a [*Fault].
func Open(dir string) (*Ledger, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, &Fault{"create the data directory: " + err.Error(), "name a directory that can be written", err}
	}
	path := filepath.Join(dir, fileName)
	if err := createFile(path); err != nil {
		return nil, &Fault{"create the list of clients: " + err.Error(), "name a directory that can be written", err}
	}
	db, err := openChecked(path)
	if err != nil {
		return nil, explain(path, err)
	}
	return &Ledger{db: db}, nil
}

// Close closes the file. After a fault it returns the fault and leaves the file open, because closing might wait forever for a lock.
func (l *Ledger) Close() error {
	if fault := l.broken.Load(); fault != nil {
		return fault
	}
	return l.db.Close()
}

// do runs a step in a transaction, which is the View or Update method of the database. If the step meets damage that Open did not find, this step and
// all later ones return the fault.
func (l *Ledger) do(transaction func(func(*bbolt.Tx) error) error, step func(*bbolt.Tx) error) error {
	if fault := l.broken.Load(); fault != nil {
		return fault
	}
	err := recoverDamage(func() error { return transaction(step) })
	var why *damage
	if errors.As(err, &why) {
		fault := damageFault(l.db.Path(), why.Error())
		l.broken.Store(fault)
		return fault
	}
	return err
}

// Store returns the store for the books of the node with this member id.
func (l *Ledger) Store(member string) account.Store { return nodeStore{l, []byte(member)} }

// createFile makes an empty ledger, unless the file exists. The ledger is written under another name and linked when it is complete: a
// process that is killed leaves no incomplete ledger, and of two processes that start together the second uses the file of the first.
func createFile(path string) (err error) {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+fileName+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if removeErr := os.Remove(temporary.Name()); !errors.Is(removeErr, fs.ErrNotExist) {
			err = errors.Join(err, removeErr)
		}
	}()
	if err := temporary.Close(); err != nil {
		return err
	}
	db, err := bbolt.Open(temporary.Name(), 0o600, nil)
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		mark, err := tx.CreateBucket([]byte(markBucket))
		if err != nil {
			return err
		}
		_, err = tx.CreateBucket([]byte(nodesBucket))
		return errors.Join(err, mark.Put([]byte(markKey), []byte(format)))
	})
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	err = os.Link(temporary.Name(), path)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = os.Rename(temporary.Name(), path) // for a file system without hard links
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir writes the file names in a directory to the disk, if the system can.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	// Some systems cannot sync directories; the file itself is synced with each change.
	_ = d.Sync()
	return d.Close()
}

// explain returns the fault for an error of openChecked: what is wrong with the file, and what to do.
func explain(path string, err error) error {
	var known *Fault
	switch {
	case errors.As(err, &known):
		return known
	case errors.Is(err, bolterrors.ErrTimeout):
		return &Fault{"another process uses " + path, "end the other sandbox, or name another directory", err}
	case errors.Is(err, fs.ErrPermission):
		return &Fault{"the list of clients cannot be opened: " + err.Error(), "it belongs to another user: name another directory", err}
	}
	return damageFault(path, fmt.Sprintf("%v", err))
}

// damageFault returns the fault for a file that is not a ledger, or is damaged.
func damageFault(path, why string) *Fault {
	return &Fault{Detail: fmt.Sprintf("%s does not hold the clients of a sandbox, or is damaged: %s", path, why), Hint: "replace it with a good copy, or move it away to start without its clients"}
}

// The books of a node, each a bucket of JSON records. The keys are client ids, Service Account User IDs and request ids.
const (
	clientsBook  = "clients"
	accountsBook = "accounts"
	requestsBook = "requests"
)

// nodeStore is the part of the ledger that belongs to one node.
type nodeStore struct {
	ledger *Ledger
	member []byte
}

// Load implements account.Store.
func (s nodeStore) Load() (records account.Records, err error) {
	err = s.ledger.do(s.ledger.db.View, func(tx *bbolt.Tx) error {
		records, err = readNode(tx.Bucket([]byte(nodesBucket)).Bucket(s.member))
		return err
	})
	if err != nil {
		return account.Records{}, fmt.Errorf("read the books of node %s: %w", s.member, err)
	}
	return records, nil
}

// Save implements account.Store.
func (s nodeStore) Save(c account.Change) error {
	return s.ledger.do(s.ledger.db.Update, func(tx *bbolt.Tx) error {
		node, err := tx.Bucket([]byte(nodesBucket)).CreateBucketIfNotExists(s.member)
		if err != nil {
			return err
		}
		if c.Client != nil {
			err = put(node, clientsBook, c.Client.ID, c.Client)
		}
		if c.Account != nil {
			err = errors.Join(err, put(node, accountsBook, c.Subject, c.Account))
		}
		if c.Request != nil {
			err = errors.Join(err, put(node, requestsBook, c.Request.ID, c.Request))
		}
		if accounts := node.Bucket([]byte(accountsBook)); c.ClosedAccount != "" && accounts != nil {
			err = errors.Join(err, accounts.Delete([]byte(c.ClosedAccount)))
		}
		return err
	})
}

// put writes a record into a book.
func put(node *bbolt.Bucket, book, key string, record any) error {
	b, err := node.CreateBucketIfNotExists([]byte(book))
	if err != nil {
		return err
	}
	text, err := json.Marshal(record)
	if err != nil {
		return err
	}
	return b.Put([]byte(key), text)
}

// readNode reads the books of a node from its bucket; they are empty if the bucket is nil.
func readNode(node *bbolt.Bucket) (account.Records, error) {
	records := account.Records{Accounts: map[string]account.Permission{}}
	err := errors.Join(
		each(node, clientsBook, func(id string, c account.Client) error {
			records.Clients = append(records.Clients, c)
			return checkID("client", id, c.ID)
		}),
		each(node, accountsBook, func(subject string, p account.Permission) error {
			records.Accounts[subject] = p
			return nil
		}),
		each(node, requestsBook, func(id string, r account.Request) error {
			records.Requests = append(records.Requests, r)
			return checkID("request", id, r.ID)
		}),
	)
	return records, err
}

// each calls visit for each record of a book.
func each[T any](node *bbolt.Bucket, book string, visit func(key string, record T) error) error {
	if node == nil {
		return nil
	}
	b := node.Bucket([]byte(book))
	if b == nil {
		return nil
	}
	return b.ForEach(func(key, text []byte) error {
		var record T
		if err := json.Unmarshal(text, &record); err != nil {
			return fmt.Errorf("%s, entry %.80q: %w", book, key, err)
		}
		return visit(string(key), record)
	})
}

// checkID requires that a record is stored under its own id.
func checkID(what, key, id string) error {
	if key != id {
		return fmt.Errorf("%s %.80q is stored under the key %.80q", what, id, key)
	}
	return nil
}
