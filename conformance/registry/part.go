package registry

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"go.etcd.io/bbolt"
)

var recordBucket = []byte("records")

// Part holds the records of a shard in a night until they are merged.
type Part struct{ db *bbolt.DB }

// OpenPart opens the part of a shard for writing, and creates it if needed.
func (d Dir) OpenPart(s Shard, night Night) (*Part, error) {
	if err := os.MkdirAll(d.Parts(), 0o700); err != nil {
		return nil, err
	}
	return openPart(filepath.Join(d.Parts(), s.Name(night)), false)
}

func openPart(path string, readOnly bool) (*Part, error) {
	db, err := openBolt(path, readOnly)
	if err != nil {
		return nil, fmt.Errorf("open the part %s: %w", path, err)
	}
	if !readOnly {
		err = db.Update(func(tx *bbolt.Tx) error {
			_, err := tx.CreateBucketIfNotExists(recordBucket)
			return err
		})
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open the part %s: %w", path, err), db.Close())
		}
	}
	return &Part{db}, nil
}

// Close closes the file.
func (p *Part) Close() error { return p.db.Close() }

// isJudged reports whether the part has a record in which the node was judged.
func (p *Part) isJudged(id string) (bool, error) {
	r, known, err := p.record(id)
	return known && r.Result != Untested, err
}

// record returns the record of a node; false if the part has none.
func (p *Part) record(id string) (r Record, known bool, err error) {
	err = p.db.View(func(tx *bbolt.Tx) error {
		text := tx.Bucket(recordBucket).Get([]byte(id))
		if text == nil {
			return nil
		}
		known = true
		r, err = decode[Record]([]byte(id), text)
		return err
	})
	return r, known, err
}

func (p *Part) put(r Record) error {
	return p.db.Update(func(tx *bbolt.Tx) error { return put(tx, recordBucket, []byte(r.Node), r) })
}

// MergeSummary says what a merge did.
type MergeSummary struct {
	Night   Night          `json:"night"`
	Parts   int            `json:"parts"`
	Results map[Result]int `json:"results"`
	// AlreadyCounted is the number of outcomes that the history had already. Unrun lists the nodes that no part has a record of.
	AlreadyCounted int      `json:"before"`
	Unrun          []string `json:"unrun,omitempty"`
}

// Merge counts the records of all parts of a night in the history. It may be repeated: nothing is counted twice. Parts stay until the operator
// removes them.
func (o Operator) Merge(h *History, d Document, night Night) (MergeSummary, error) {
	sum := MergeSummary{Night: night, Results: map[Result]int{}}
	if err := o.countOverdue(h, night); err != nil {
		return sum, err
	}
	paths, err := filepath.Glob(filepath.Join(o.Dir.Parts(), string(night)+".*.db"))
	if err != nil {
		return sum, err
	}
	for _, path := range paths {
		if err := o.mergePart(h, path, night, &sum); err != nil {
			return sum, err
		}
		sum.Parts++
	}
	for _, e := range d.Entries {
		has, err := h.Has(e.ID, night)
		if err != nil {
			return sum, err
		}
		if !has && o.Policy.For(e.ID).Skip == "" {
			sum.Unrun = append(sum.Unrun, e.ID)
		}
	}
	slices.Sort(sum.Unrun)
	return sum, nil
}

func (o Operator) mergePart(h *History, path string, night Night, sum *MergeSummary) error {
	if isUnfinished(path) {
		return nil
	}
	p, err := openPart(path, true)
	if err != nil {
		return err
	}
	defer p.Close()
	return p.db.View(func(tx *bbolt.Tx) error {
		records := tx.Bucket(recordBucket)
		if first, _ := tx.Cursor().First(); first == nil {
			return nil // its shard was killed before its first record
		}
		if records == nil {
			return fmt.Errorf("%s is not the part of a registry run", path)
		}
		return records.ForEach(func(k, v []byte) error {
			r, err := decode[Record](k, v)
			switch {
			case err != nil:
				return fmt.Errorf("%s: %w", path, err)
			case r.Node != string(k) || r.Night != night:
				return fmt.Errorf("%s: expected a record of %.80q in the night of %s, got %.80q in %.40q", path, k, night, r.Node, r.Night)
			}
			if r.Waits {
				r.applyCheck(DelayedCheck{At: o.Now().UTC().Truncate(time.Second), Result: CheckOpen, Why: "the shard ended before the check"})
			}
			added, err := o.Count(h, &r)
			if err != nil {
				return err
			}
			if !added {
				sum.AlreadyCounted++
				return nil
			}
			sum.Results[r.Result]++
			return nil
		})
	})
}
