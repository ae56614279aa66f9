package funding

import (
	"crypto/sha256"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/rin-network/rin/sandbox/journal"
)

// selection is a page of the records that a query asks for, in the order of their ids.
type selection struct {
	// set holds the records of all pages; nil means every record.
	set set
	// first to before end are the places of the page among them.
	first, end int
	// total is the number of records on all pages.
	total int
	// since is when the calls that run last changed, in Unix seconds, for a query that asks for them.
	since int64
}

// noted is what the journal keeps of the page.
func (c selection) noted(q query) journal.Page {
	return journal.Page{Start: q.offset, Size: q.size, Items: c.len(), Next: c.end < c.total}
}

func (c selection) len() int { return c.end - c.first }

// indices lists the records of the page.
func (c selection) indices() iter.Seq[int] {
	return func(yield func(int) bool) {
		if c.set == nil {
			for i := c.first; i < c.end; i++ {
				if !yield(i) {
					return
				}
			}
			return
		}
		left := c.len()
		if left == 0 {
			return
		}
		for i := range c.set.from(c.first) {
			if !yield(i) {
				return
			}
			if left--; left == 0 {
				return
			}
		}
	}
}

// find selects the page of q at the time now.
func (s *Store) find(q query, now time.Time) selection {
	var c selection
	total := s.records.Len()
	if q.filtered() {
		c.set = s.index().choose(q, now)
		total = c.set.len()
	}
	if q.running != nil {
		c.since = s.index().runningAt(now).since
	}
	c.first, c.end, c.total = min(q.offset, total), total, total
	if q.size > 0 {
		c.end = min(c.first+q.size, total)
	}
	return c
}

// seed identifies the bytes that write makes of the selection of q for the affiliation: records never change, and which calls run
// is the same from one turn to the next.
func (s *Store) seed(q query, since int64, affiliation string) []byte {
	h := sha256.New()
	h.Write(s.identity[:])
	fmt.Fprintf(h, "%#v %d %q", q.fixed(), since, affiliation)
	return h.Sum(nil)
}

// write sends the selection as a JSON array, one record at a time.
func (s *Store) write(w io.Writer, c selection, affiliation string) error {
	separator := "["
	for i := range c.indices() {
		encoded, err := s.encode(recordKey{i, affiliation})
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, separator); err != nil {
			return fmt.Errorf("send the list: %w", err)
		}
		if _, err := w.Write(encoded); err != nil {
			return fmt.Errorf("send the list: %w", err)
		}
		separator = ",\n"
	}
	end := "]"
	if c.len() == 0 {
		end = "[]"
	}
	if _, err := io.WriteString(w, end); err != nil {
		return fmt.Errorf("send the list: %w", err)
	}
	return nil
}
