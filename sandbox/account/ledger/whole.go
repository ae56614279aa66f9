package ledger

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"

	"go.etcd.io/bbolt"
)

// maxFile is the size beyond which a file is no ledger: ten nodes with all their entries have a twentieth of it.
const maxFile = 1 << 30

// openWhole opens a database and looks through all of it, so that damage is told at the start and not in the middle of a step.
func openWhole(path string) (db *bbolt.DB, err error) {
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
	// After a fault the file stays open: closing would wait for what the fault left locked.
	fault := unharmed(func() {
		if db, err = bbolt.Open(path, 0o600, &bbolt.Options{Timeout: patience}); err != nil {
			return
		}
		if err = check(db); err != nil {
			err = errors.Join(err, db.Close())
		}
	})
	if err = errors.Join(fault, err); err != nil {
		return nil, err
	}
	return db, nil
}

// unharmed does a step with the database and survives it. The file is mapped into memory and has no checksums but one: where it is shorter
// than it says, or leads nowhere, reading it is a panic or a fault of the processor, and an error here.
func unharmed(step func()) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("%v", fault)
		}
	}()
	step()
	return nil
}

// only wants no other keys than those that are known.
func only(c *bbolt.Cursor, known ...string) error {
	for key, _ := c.First(); key != nil; key, _ = c.Next() {
		if !slices.Contains(known, string(key)) {
			return fmt.Errorf("it has an entry %.40q of another program", key)
		}
	}
	return nil
}

// check reads the mark of the format, the whole database, and each record in it.
func check(db *bbolt.DB) error {
	return db.View(func(tx *bbolt.Tx) error {
		info, err := os.Stat(db.Path())
		if err != nil {
			return err
		}
		if info.Size() < tx.Size() {
			return fmt.Errorf("expected %d bytes, got %d", tx.Size(), info.Size())
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
		err = nodes.ForEach(func(member, value []byte) error {
			node := nodes.Bucket(member)
			if value != nil || node == nil {
				return fmt.Errorf("expected a node, got an entry %.40q", member)
			}
			_, err := readNode(node)
			if err = errors.Join(err, only(node.Cursor(), accountsBook, clientsBook, requestsBook)); err != nil {
				return fmt.Errorf("node %.40q: %w", member, err)
			}
			return nil
		})
		if err != nil {
			return err
		}
		// Its own check comes last, since it runs where a fault of the processor is the end: all pages have been read by now.
		for fault := range tx.Check() {
			err = errors.Join(err, fault)
		}
		return err
	})
}
