package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// historyFormat marks a history and its version.
const historyFormat = "rin.history/v1"

// lockTimeout is how long to wait for another process that has the history open.
const lockTimeout = 2 * time.Second

// The buckets. The keys of the buckets outcomes and waiting are a node, a zero byte and a night. The bucket waiting holds the records that wait for
// their delayed check.
var (
	metaBucket    = []byte("meta")
	nodeBucket    = []byte("nodes")
	outcomeBucket = []byte("outcomes")
	nightsBucket  = []byte("nights")
	waitBucket    = []byte("waiting")
	formatKey     = []byte("format")
	documentKey   = []byte("document")
)

// History is what the nights showed, in one file. Each outcome is one transaction that is on the disk before it is acknowledged, so a run can be
// killed at any moment. One process at a time can write.
type History struct {
	db   *bbolt.DB
	path string
}

// ErrBusy says that another process has the history open.
var ErrBusy = errors.New("another rin registry command is using it")

// OpenHistory opens a history for writing, and creates it if needed. Its owner alone can read it.
func OpenHistory(path string) (*History, error) { return openHistory(path, false) }

// ReadHistory opens an existing history for reading. If the file is missing, or is empty because a command was killed, the error wraps [fs.ErrNotExist].
func ReadHistory(path string) (*History, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("open the history: %w", err)
	}
	if isUnfinished(path) {
		return nil, fmt.Errorf("open the history %s: it is empty: %w", path, fs.ErrNotExist)
	}
	return openHistory(path, true)
}

func openHistory(path string, readOnly bool) (h *History, err error) {
	defer func() { // bbolt panics on some damaged files
		if p := recover(); p != nil {
			h, err = nil, fmt.Errorf("open the history %s: the file is damaged: %v", path, p)
		}
	}()
	db, err := openBolt(path, readOnly)
	if err != nil {
		return nil, fmt.Errorf("open the history %s: %w", path, err)
	}
	h = &History{db: db, path: path}
	if err := h.checkFormat(readOnly); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return h, nil
}

// openBolt opens a bbolt file. If a full disk prevents it from making a new one, it removes the incomplete file, which could not be opened later. It replaces
// the incomplete file of a command that was killed.
func openBolt(path string, readOnly bool) (*bbolt.DB, error) {
	_, statErr := os.Stat(path)
	open := func() (*bbolt.DB, error) {
		return bbolt.Open(path, 0o600, &bbolt.Options{Timeout: lockTimeout, ReadOnly: readOnly})
	}
	db, err := open()
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, ErrBusy
	case err != nil && !readOnly && (errors.Is(statErr, fs.ErrNotExist) || isUnfinished(path)):
		if removeErr := os.Remove(path); !errors.Is(removeErr, fs.ErrNotExist) {
			err = errors.Join(err, removeErr)
		}
		if statErr == nil {
			return open()
		}
	}
	return db, err
}

// isUnfinished reports whether a bbolt file is smaller than an empty one: the command that made it was killed before anything in it was acknowledged.
func isUnfinished(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Size() < 4*int64(os.Getpagesize())
}

// checkFormat checks the mark of the format, and writes it into a new file.
func (h *History) checkFormat(readOnly bool) error {
	check := func(tx *bbolt.Tx) error {
		meta := tx.Bucket(metaBucket)
		if first, _ := tx.Cursor().First(); first == nil {
			return fmt.Errorf("open the history %s: it is empty: %w", h.path, fs.ErrNotExist)
		}
		if meta == nil {
			return fmt.Errorf("%s is not a history of rin", h.path)
		}
		if got := meta.Get(formatKey); string(got) != historyFormat {
			return fmt.Errorf("%s: expected a history of the format %s, got %.40q: use the version of rin that made it", h.path, historyFormat, got)
		}
		return nil
	}
	if readOnly {
		return h.db.View(check)
	}
	return h.db.Update(func(tx *bbolt.Tx) error {
		if first, _ := tx.Cursor().First(); first != nil {
			if err := check(tx); err != nil {
				return err
			}
			_, err := tx.CreateBucketIfNotExists(waitBucket) // histories of earlier versions have none
			return err
		}
		for _, name := range [][]byte{metaBucket, nodeBucket, outcomeBucket, nightsBucket, waitBucket} {
			if _, err := tx.CreateBucket(name); err != nil {
				return err
			}
		}
		return tx.Bucket(metaBucket).Put(formatKey, []byte(historyFormat))
	})
}

// Close closes the file.
func (h *History) Close() error { return h.db.Close() }

// Nodes lists all nodes by id, one at a time, so that memory does not grow with the registry. It stops at the first error.
func (h *History) Nodes() iter.Seq2[Node, error] {
	return func(yield func(Node, error) bool) {
		err := h.db.View(func(tx *bbolt.Tx) error {
			c := tx.Bucket(nodeBucket).Cursor()
			for k, v := c.First(); k != nil; k, v = c.Next() {
				n, err := decode[Node](k, v)
				if err != nil {
					return err
				}
				if !yield(n, nil) {
					return nil
				}
			}
			return nil
		})
		if err != nil {
			yield(Node{}, err)
		}
	}
}

// Node returns a node; false if the history has none with the id.
func (h *History) Node(id string) (n Node, known bool, err error) {
	err = h.db.View(func(tx *bbolt.Tx) error {
		n, known, err = nodeOf(tx, id)
		return err
	})
	return n, known, err
}

// Outcomes lists the outcomes of a node from a night on, the earliest first.
func (h *History) Outcomes(id string, from Night) ([]Outcome, error) {
	var out []Outcome
	err := h.db.View(func(tx *bbolt.Tx) error {
		prefix := outcomeKey(id, "")
		c := tx.Bucket(outcomeBucket).Cursor()
		for k, v := c.Seek(outcomeKey(id, from)); bytes.HasPrefix(k, prefix); k, v = c.Next() {
			o, err := decode[Outcome](k, v)
			if err != nil {
				return err
			}
			out = append(out, o)
		}
		return nil
	})
	return out, err
}

// NightTotals counts the results and the statuses of one night.
type NightTotals struct {
	Night    Night          `json:"night"`
	Results  map[Result]int `json:"results"`
	Statuses map[Status]int `json:"statuses"`
	// Document is the digest of the registry document that the night began with.
	Document string `json:"document,omitempty"`
}

// Nights lists the nights, the earliest first.
func (h *History) Nights() ([]NightTotals, error) {
	var out []NightTotals
	err := h.db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(nightsBucket).ForEach(func(k, v []byte) error {
			n, err := decode[NightTotals](k, v)
			out = append(out, n)
			return err
		})
	})
	return out, err
}

// LastNight returns the latest night, or "" for an empty history.
func (h *History) LastNight() (Night, error) {
	var last Night
	err := h.db.View(func(tx *bbolt.Tx) error {
		k, _ := tx.Bucket(nightsBucket).Cursor().Last()
		last = Night(k)
		return nil
	})
	return last, err
}

// Judged reports whether the node was judged in the night. A node that could not be tested may be tried again in the same night.
func (h *History) Judged(id string, night Night) (judged bool, err error) {
	err = h.db.View(func(tx *bbolt.Tx) error {
		old, known, err := outcomeOf(tx, id, night)
		judged = known && old.Result != Untested
		return err
	})
	return judged, err
}

// Has reports whether a node has an outcome of the night.
func (h *History) Has(id string, night Night) (has bool, err error) {
	err = h.db.View(func(tx *bbolt.Tx) error {
		has = tx.Bucket(outcomeBucket).Get(outcomeKey(id, night)) != nil
		return nil
	})
	return has, err
}

// Add adds the outcome of a node in a night, and changes the node by it, in one transaction. It returns false and changes nothing if the night has been
// counted already, unless the node could not be tested then. It removes the record that waited for a delayed check.
//
// update changes the node, which may be a new one, and returns the nights whose files are not needed any longer. Add marks the files of those nights as
// removed and returns the nights, but keeps the files of a night in which something changed.
func (h *History) Add(o Outcome, update func(*Node, *Outcome) []Night) (added bool, removed []Night, err error) {
	err = h.db.Update(func(tx *bbolt.Tx) error {
		key := outcomeKey(o.Node, o.Night)
		if err := tx.Bucket(waitBucket).Delete(key); err != nil {
			return err
		}
		old, replaces, err := outcomeOf(tx, o.Node, o.Night)
		if err != nil || replaces && (old.Result != Untested || o.Result == Untested && !o.Started.After(old.Started)) {
			return err
		}
		if replaces {
			if err := count(tx, old, -1); err != nil {
				return err
			}
		}
		n, known, err := nodeOf(tx, o.Node)
		if err != nil {
			return err
		}
		if !known {
			n = Node{ID: o.Node, Status: Uncertified, Since: o.Night}
		}
		if n.First == "" {
			n.First = o.Night
		}
		n.Last = max(n.Last, o.Night)
		for _, night := range update(&n, &o) {
			gone, err := release(tx, o.Node, night)
			if err != nil {
				return err
			}
			if gone {
				removed = append(removed, night)
			}
		}
		n.Outcome = o
		added = true
		return errors.Join(put(tx, outcomeBucket, key, o), put(tx, nodeBucket, []byte(o.Node), n), count(tx, o, 1))
	})
	if err != nil {
		return false, nil, fmt.Errorf("write the history: %s in the night of %s: %w", o.Node, o.Night, err)
	}
	return added, removed, nil
}

// await stores a record that counts only after its delayed check.
func (h *History) await(r Record) error {
	err := h.db.Update(func(tx *bbolt.Tx) error { return put(tx, waitBucket, outcomeKey(r.Node, r.Night), r) })
	if err != nil {
		return fmt.Errorf("write the history: %s in the night of %s: %w", r.Node, r.Night, err)
	}
	return nil
}

// waiting returns the record of a node that waits for its delayed check; false if the node does not wait.
func (h *History) waiting(id string, night Night) (r Record, waits bool, err error) {
	err = h.db.View(func(tx *bbolt.Tx) error {
		key := outcomeKey(id, night)
		text := tx.Bucket(waitBucket).Get(key)
		if text == nil {
			return nil
		}
		waits = true
		r, err = decode[Record](key, text)
		return err
	})
	return r, waits, err
}

// overdue lists the nodes, each with its night, that still wait for a delayed check of an earlier night. The other fields of the outcomes are empty.
func (h *History) overdue(night Night) (out []Outcome, err error) {
	err = h.db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(waitBucket).ForEach(func(k, _ []byte) error {
			if id, earlier, ok := bytes.Cut(k, []byte{0}); ok && Night(earlier) < night {
				out = append(out, Outcome{Node: string(id), Night: Night(earlier)})
			}
			return nil
		})
	})
	return out, err
}

// release marks the files of a night as removed, unless the night changed something.
func release(tx *bbolt.Tx, id string, night Night) (bool, error) {
	key := outcomeKey(id, night)
	text := tx.Bucket(outcomeBucket).Get(key)
	if text == nil {
		return false, nil
	}
	o, err := decode[Outcome](key, text)
	if err != nil || len(o.Changes) > 0 || !o.Evidence {
		return false, err
	}
	o.Evidence = false
	return true, put(tx, outcomeBucket, key, o)
}

// count adds an outcome to the totals of its night; by is -1 to subtract it.
func count(tx *bbolt.Tx, o Outcome, by int) error {
	totals := NightTotals{Night: o.Night, Results: map[Result]int{}, Statuses: map[Status]int{}, Document: o.Document}
	if text := tx.Bucket(nightsBucket).Get([]byte(o.Night)); text != nil {
		var err error
		if totals, err = decode[NightTotals]([]byte(o.Night), text); err != nil {
			return err
		}
	}
	totals.Results[o.Result] += by
	totals.Statuses[o.Status] += by
	return put(tx, nightsBucket, []byte(o.Night), totals)
}

// Change changes a node outside a night, such as by its admission.
func (h *History) Change(id string, update func(*Node)) error {
	return h.db.Update(func(tx *bbolt.Tx) error {
		n, known, err := nodeOf(tx, id)
		if err != nil {
			return err
		}
		if !known {
			n = Node{ID: id, Status: Uncertified}
		}
		update(&n)
		return put(tx, nodeBucket, []byte(id), n)
	})
}

// Document returns the registry document of the last run; nil before the first.
func (h *History) Document() (text []byte, err error) {
	err = h.db.View(func(tx *bbolt.Tx) error {
		text = slices.Clone(tx.Bucket(metaBucket).Get(documentKey))
		return nil
	})
	return text, err
}

// SetDocument keeps the registry document of a run.
func (h *History) SetDocument(text []byte) error {
	return h.db.Update(func(tx *bbolt.Tx) error { return tx.Bucket(metaBucket).Put(documentKey, text) })
}

func outcomeKey(id string, night Night) []byte { return []byte(id + "\x00" + string(night)) }

func outcomeOf(tx *bbolt.Tx, id string, night Night) (Outcome, bool, error) {
	key := outcomeKey(id, night)
	text := tx.Bucket(outcomeBucket).Get(key)
	if text == nil {
		return Outcome{}, false, nil
	}
	o, err := decode[Outcome](key, text)
	return o, true, err
}

func nodeOf(tx *bbolt.Tx, id string) (Node, bool, error) {
	text := tx.Bucket(nodeBucket).Get([]byte(id))
	if text == nil {
		return Node{}, false, nil
	}
	n, err := decode[Node]([]byte(id), text)
	return n, true, err
}

func decode[T any](key, text []byte) (T, error) {
	var out T
	if err := json.Unmarshal(text, &out); err != nil {
		return out, fmt.Errorf("read the history: the entry %.80q is damaged: %w", key, err)
	}
	return out, nil
}

func put(tx *bbolt.Tx, bucket, key []byte, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return tx.Bucket(bucket).Put(key, text)
}
