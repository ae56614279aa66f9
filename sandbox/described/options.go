package described

import "fmt"

// Lists is what a list operation that declares a single object answers with.
type Lists string

// The answers of list operations that declare a single object.
const (
	// ListsAsDeclared answers with one object.
	ListsAsDeclared Lists = "as-declared"
	// ListsArray answers with an array of such objects, as real nodes do, whatever their documents say.
	ListsArray Lists = "array"
)

// AllLists lists all of them.
func AllLists() []Lists { return []Lists{ListsAsDeclared, ListsArray} }

// The number of items of a list.
const (
	DefaultItems = 20
	MaxItems     = 10_000
)

// Options are what answers depend on besides the document. The zero value is good.
type Options struct {
	// Seed chooses the values.
	Seed uint64
	// Items is the number of items of each list; DefaultItems when 0, at most MaxItems.
	Items int
	// Lists says how list operations that declare a single object answer; ListsAsDeclared when empty.
	Lists Lists
	// PageIsOffset makes page[page] the number of records before the page, as clients of the network send it, instead of a page's number.
	PageIsOffset bool
}

func (o Options) complete() (Options, error) {
	if o.Items == 0 {
		o.Items = DefaultItems
	}
	if o.Lists == "" {
		o.Lists = ListsAsDeclared
	}
	if o.Items < 0 || o.Items > MaxItems {
		return o, fmt.Errorf("items of a list: want at most %d, got %d", MaxItems, o.Items)
	}
	if o.Lists != ListsAsDeclared && o.Lists != ListsArray {
		return o, fmt.Errorf("lists %q: want one of %v", o.Lists, AllLists())
	}
	return o, nil
}
