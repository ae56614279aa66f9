package ledger

import (
	"encoding/json"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/rin-network/rin/sandbox/account"
)

// The books of a node, each a bucket: records as JSON by client id, Service Account User ID and request id.
const (
	clientsBook  = "clients"
	accountsBook = "accounts"
	requestsBook = "requests"
)

// shelf is the part of the ledger that one node has.
type shelf struct {
	ledger *Ledger
	member []byte
}

// Load implements account.Store.
func (s shelf) Load() (records account.Records, err error) {
	err = s.ledger.do(s.ledger.db.View, func(tx *bbolt.Tx) error {
		records, err = readNode(tx.Bucket([]byte(nodesBucket)).Bucket(s.member))
		return err
	})
	if err != nil {
		return account.Records{}, fmt.Errorf("read the books of node %s: %w", s.member, err)
	}
	return records, nil
}

// Keep implements account.Store.
func (s shelf) Keep(c account.Change) error {
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
		if accounts := node.Bucket([]byte(accountsBook)); c.Closed != "" && accounts != nil {
			err = errors.Join(err, accounts.Delete([]byte(c.Closed)))
		}
		return err
	})
}

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

// readNode reads the books of a node; nil has none.
func readNode(node *bbolt.Bucket) (account.Records, error) {
	records := account.Records{Accounts: map[string]account.Permission{}}
	err := errors.Join(
		each(node, clientsBook, func(id string, c account.Client) error {
			records.Clients = append(records.Clients, c)
			return same("client", id, c.ID)
		}),
		each(node, accountsBook, func(subject string, p account.Permission) error {
			records.Accounts[subject] = p
			return nil
		}),
		each(node, requestsBook, func(id string, r account.Request) error {
			records.Requests = append(records.Requests, r)
			return same("request", id, r.ID)
		}),
	)
	return records, err
}

// each hands over the records of a book.
func each[T any](node *bbolt.Bucket, book string, take func(key string, record T) error) error {
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
		return take(string(key), record)
	})
}

func same(what, key, id string) error {
	if key != id {
		return fmt.Errorf("%s %.80q is entered as %.80q", what, id, key)
	}
	return nil
}
