package boltstore

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"

	"go.etcd.io/bbolt"
)

// maxFile limits the size of a ledger: ten nodes with all their entries need a third of it.
const maxFile = 1 << 30

// openChecked opens a database and reads all of it, so that damage is reported at the start and not in the middle of a step. For the check it opens
// the file read-only: bbolt then relies on the fewest unchecked pages.
func openChecked(path string) (*bbolt.DB, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	switch {
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	case info.Size() > maxFile:
		return nil, fmt.Errorf("expected up to %d bytes, got %d", maxFile, info.Size())
	case info.Size() == 0:
		return nil, errors.New("it is empty")
	}
	db, err := openFile(path, bbolt.Options{Timeout: lockTimeout, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	err = recoverDamage(func() error { return check(db) })
	var why *damage
	if errors.As(err, &why) {
		return nil, err // db stays open: Close might wait forever for a lock
	}
	if err := errors.Join(err, db.Close()); err != nil {
		return nil, err
	}
	return openFile(path, bbolt.Options{Timeout: lockTimeout})
}

// openFile opens a database like [bbolt.Open], and returns panics as errors.
func openFile(path string, options bbolt.Options) (db *bbolt.DB, err error) {
	err = recoverDamage(func() error {
		db, err = bbolt.Open(path, 0o600, &options)
		return err
	})
	return db, err
}

// recoverDamage runs a step with the database and turns its panics into errors. The file is mapped into memory, so that
// reading past the end of a truncated file is a memory fault; bbolt itself panics on many kinds of damage.
func recoverDamage(step func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if fault := recover(); fault != nil {
			err = &damage{fmt.Sprint(fault)}
		}
	}()
	return step()
}

// damage is the error for a recovered panic, which may have left the database locked.
type damage struct{ why string }

// Error implements error.
func (d *damage) Error() string { return d.why }

// expectKeys returns an error unless all entries are buckets with known names.
func expectKeys(c *bbolt.Cursor, known ...string) error {
	for key, value := c.First(); key != nil; key, value = c.Next() {
		if value != nil || !slices.Contains(known, string(key)) {
			return fmt.Errorf("it has an entry %.40q of another program", key)
		}
	}
	return nil
}

// check checks the pages, the format, and then each record.
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
		if err := expectKeys(tx.Cursor(), markBucket, nodesBucket); err != nil {
			return err
		}
		return nodes.ForEach(func(member, _ []byte) error {
			node := nodes.Bucket(member)
			if node == nil {
				return fmt.Errorf("expected a node, got an entry %.40q", member)
			}
			_, err := readNode(node)
			if err = errors.Join(err, expectKeys(node.Cursor(), accountsBook, clientsBook, requestsBook)); err != nil {
				return fmt.Errorf("node %.40q: %w", member, err)
			}
			return nil
		})
	})
}

// The layout of a page in a bbolt file, in bytes. A page has a header with its own number, its kind, and the numbers of its elements and overflow
// pages. The elements follow, each with the offset of its key and value, or the number of the page below.
const (
	headerSize  = 16              // number 8, kind 2, count 2, overflow 4
	elementSize = 16              // branch: offset 4, key size 4, page 8; leaf: flags 4, offset 4, key size 4, value size 4
	bucketSize  = 16              // root page 8, sequence 8
	freelistAt  = headerSize + 32 // in a metadata page: the number of the page with the free list

	branchPage   = 0x01
	leafPage     = 0x02
	freelistPage = 0x10
	bucketValue  = 0x01 // the flag of a leaf element whose value is a bucket

	firstPage = 2  // pages 0 and 1 have the metadata
	maxNested = 64 // levels of pages; real ledgers have a few
)

// pages checks the pages of a file before bbolt relies on them. A page that refers to itself, for example, would send bbolt into an endless loop.
type pages struct {
	file []byte
	size uint64 // of a page
	high uint64 // one more than the number of the last page
	seen map[uint64]bool
}

// checkPages checks that each page that can be reached from the root, and each free page, is complete, inside the file, and used only once.
func checkPages(file []byte, pageSize int, size int64, transaction int, root uint64) error {
	if pageSize < 1<<10 || pageSize > 1<<16 || size > int64(len(file)) || size < firstPage*int64(pageSize) {
		return fmt.Errorf("expected %d bytes, got %d", size, len(file))
	}
	p := pages{file: file, size: uint64(pageSize), high: uint64(size) / uint64(pageSize), seen: map[uint64]bool{}}
	meta := file[uint64(transaction%2)*p.size:] // transactions write the two metadata pages in turn
	return errors.Join(p.checkTree(root, 0), p.checkFreeList(binary.NativeEndian.Uint64(meta[freelistAt:])))
}

// take returns a page with its overflow pages, and marks them as seen. A page that was seen before is an error.
func (p pages) take(number uint64) (page []byte, kind uint16, count int, err error) {
	if number < firstPage || number >= p.high {
		return nil, 0, 0, fmt.Errorf("page %d is outside of the file", number)
	}
	header := p.file[number*p.size:]
	last := number + uint64(binary.NativeEndian.Uint32(header[12:]))
	if own := binary.NativeEndian.Uint64(header); own != number || last >= p.high {
		return nil, 0, 0, fmt.Errorf("page %d says that it is page %d to %d", number, own, last)
	}
	for n := number; n <= last; n++ {
		if p.seen[n] {
			return nil, 0, 0, fmt.Errorf("page %d is used twice", n)
		}
		p.seen[n] = true
	}
	return p.file[number*p.size : (last+1)*p.size], binary.NativeEndian.Uint16(header[8:]), int(binary.NativeEndian.Uint16(header[10:])), nil
}

// checkTree checks a page and all pages below it.
func (p pages) checkTree(number uint64, depth int) error {
	page, kind, count, err := p.take(number)
	if err != nil {
		return err
	}
	if depth > maxNested {
		return fmt.Errorf("page %d is nested deeper than %d pages", number, maxNested)
	}
	switch kind {
	case leafPage:
		err = p.checkLeaf(page, count, depth)
	case branchPage:
		err = p.checkBranch(page, count, depth)
	default:
		err = fmt.Errorf("kind %#x is neither branch nor leaf", kind)
	}
	if err != nil {
		return fmt.Errorf("page %d: %w", number, err)
	}
	return nil
}

// checkBranch checks the elements of a branch, and the pages below.
func (p pages) checkBranch(page []byte, count, depth int) error {
	if count == 0 {
		return errors.New("a branch without pages below")
	}
	return checkElements(page, count, func(e []byte, cut cutter) ([]byte, error) {
		key, err := cut(binary.NativeEndian.Uint32(e), binary.NativeEndian.Uint32(e[4:]))
		if err != nil {
			return nil, err
		}
		return key, p.checkTree(binary.NativeEndian.Uint64(e[8:]), depth+1)
	})
}

// checkLeaf checks the elements of a leaf, and the buckets in it.
func (p pages) checkLeaf(page []byte, count, depth int) error {
	return checkElements(page, count, func(e []byte, cut cutter) ([]byte, error) {
		offset, keySize, valueSize := binary.NativeEndian.Uint32(e[4:]), binary.NativeEndian.Uint32(e[8:]), binary.NativeEndian.Uint32(e[12:])
		key, err := cut(offset, keySize)
		if err != nil {
			return nil, err
		}
		value, err := cut(offset+keySize, valueSize)
		if err != nil || binary.NativeEndian.Uint32(e)&bucketValue == 0 {
			return key, err
		}
		return key, p.checkBucket(value, depth)
	})
}

// checkBucket checks a bucket, which is a value in a leaf: either the tree below its root page or, for a small bucket, the leaf inside the value.
func (p pages) checkBucket(value []byte, depth int) error {
	if len(value) < bucketSize {
		return errors.New("a bucket without a root")
	}
	if root := binary.NativeEndian.Uint64(value); root != 0 {
		return p.checkTree(root, depth+1)
	}
	inline := value[bucketSize:]
	if len(inline) < headerSize || binary.NativeEndian.Uint16(inline[8:]) != leafPage || depth > maxNested {
		return errors.New("a bucket without a leaf")
	}
	return p.checkLeaf(inline, int(binary.NativeEndian.Uint16(inline[10:])), depth+1)
}

// cutter returns a part of a page. The offset counts from the start of the current element.
type cutter func(offset, length uint32) ([]byte, error)

// checkElements passes each element of a page to readKey, and checks that the keys ascend.
func checkElements(page []byte, count int, readKey func(element []byte, cut cutter) (key []byte, err error)) error {
	if headerSize+count*elementSize > len(page) {
		return fmt.Errorf("%d elements do not fit into the page", count)
	}
	var before []byte
	for i := range count {
		rest := page[headerSize+i*elementSize:]
		key, err := readKey(rest[:elementSize], func(offset, length uint32) ([]byte, error) {
			if uint64(offset)+uint64(length) > uint64(len(rest)) {
				return nil, fmt.Errorf("element %d extends past its page", i)
			}
			return rest[offset : uint64(offset)+uint64(length)], nil
		})
		if err != nil {
			return err
		}
		if i > 0 && bytes.Compare(before, key) >= 0 {
			return fmt.Errorf("element %d is out of order", i)
		}
		before = key
	}
	return nil
}

// checkFreeList checks the list of free pages.
func (p pages) checkFreeList(number uint64) error {
	page, kind, count, err := p.take(number)
	if err != nil {
		return fmt.Errorf("free pages: %w", err)
	}
	listed := page[headerSize:]
	if kind != freelistPage {
		return fmt.Errorf("free pages: page %d is not part of the list", number)
	}
	if count == 0xffff { // the field is full: the first element has the real count
		if first := binary.NativeEndian.Uint64(listed); first < p.high {
			count, listed = int(first), listed[8:]
		}
	}
	if count*8 > len(listed) {
		return fmt.Errorf("free pages: %d do not fit into the list", count)
	}
	for i := range count {
		n := binary.NativeEndian.Uint64(listed[8*i:])
		if n < firstPage || n >= p.high || p.seen[n] {
			return fmt.Errorf("free pages: page %d is in use, or outside of the file", n)
		}
		p.seen[n] = true
	}
	return nil
}
