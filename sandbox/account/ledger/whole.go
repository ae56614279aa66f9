package ledger

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"

	"go.etcd.io/bbolt"
)

// maxFile is the size beyond which a file is no ledger: ten nodes with all their entries have a third of it.
const maxFile = 1 << 30

// openWhole opens a database and looks through all of it, so that damage is told at the start and not in the middle of a step. Until then it is
// open for reading alone, which trusts the fewest of its pages.
func openWhole(path string) (*bbolt.DB, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	switch {
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no plain file")
	case info.Size() > maxFile:
		return nil, fmt.Errorf("expected up to %d bytes, got %d", maxFile, info.Size())
	case info.Size() == 0:
		return nil, errors.New("it is empty")
	}
	db, err := opened(path, bbolt.Options{Timeout: patience, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	err = unharmed(func() error { return check(db) })
	var why *harm
	if errors.As(err, &why) {
		return nil, err // it stays open: closing might wait for ever
	}
	if err := errors.Join(err, db.Close()); err != nil {
		return nil, err
	}
	return opened(path, bbolt.Options{Timeout: patience})
}

func opened(path string, options bbolt.Options) (db *bbolt.DB, err error) {
	err = unharmed(func() error {
		db, err = bbolt.Open(path, 0o600, &options)
		return err
	})
	return db, err
}

// unharmed does a step with the database and survives it. The file is mapped into memory: where it was cut since it was opened, reading it is a
// fault of the processor, and an error here. bbolt panics on much that it finds wrong.
func unharmed(step func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if fault := recover(); fault != nil {
			err = &harm{fmt.Sprint(fault)}
		}
	}()
	return step()
}

// harm is a fault that may have left locks in the database.
type harm struct{ why string }

// Error implements error.
func (h *harm) Error() string { return h.why }

// only wants no other buckets than those that are known, and no entries.
func only(c *bbolt.Cursor, known ...string) error {
	for key, value := c.First(); key != nil; key, value = c.Next() {
		if value != nil || !slices.Contains(known, string(key)) {
			return fmt.Errorf("it has an entry %.40q of another program", key)
		}
	}
	return nil
}

// check looks through the pages, reads the mark of the format, and then each record.
func check(db *bbolt.DB) error {
	return db.View(func(tx *bbolt.Tx) error {
		file, err := os.ReadFile(db.Path())
		if err != nil {
			return err
		}
		if err := checkPages(file, db.Info().PageSize, tx.Size(), tx.ID(), uint64(tx.Cursor().Bucket().Root())); err != nil {
			return err
		}
		mark, nodes := tx.Bucket([]byte(markBucket)), tx.Bucket([]byte(nodesBucket))
		if mark == nil || nodes == nil {
			return errors.New("it is a database of another program")
		}
		if got := mark.Get([]byte(markKey)); string(got) != format {
			return fmt.Errorf("expected the format %s, got %.40q", format, got)
		}
		if err := only(tx.Cursor(), markBucket, nodesBucket); err != nil {
			return err
		}
		return nodes.ForEach(func(member, _ []byte) error {
			node := nodes.Bucket(member)
			if node == nil {
				return fmt.Errorf("expected a node, got an entry %.40q", member)
			}
			_, err := readNode(node)
			if err = errors.Join(err, only(node.Cursor(), accountsBook, clientsBook, requestsBook)); err != nil {
				return fmt.Errorf("node %.40q: %w", member, err)
			}
			return nil
		})
	})
}
