// Package mockapi serves any API from its OpenAPI document: every operation, with generated answers that fit the document.
//
//	request -> template of the path -> guard -> parameters and body against their schemas -> answer
//
// An answer is a function of the document, the seed and the request: the same in any order and after any restart. Nothing that a client
// sends is kept.
//
// # Lists and details
//
// A GET whose success is an array is a list, and so is one with an object around a single array of objects, when that is called items,
// data, results or alike, or as the path, or when there are pages or a detail. It has as many items as the options say, in a stable order
// (fewer when the schema allows no more, when there are no more ids, or at 24 MB), each with an id of its own. When the path of another GET
// is that of the list with one parameter behind it, it is the list's detail: an id of the list leads to the same record, every other one to
// 404, also below it (/funders/{id}/calls). The id is the member that is called as the parameter, else as its end (petId: id), else id,
// uuid, identifier, key or code.
//
// # Media types
//
// JSON, text, and XML by the XML Object of OpenAPI are made of the same values; where JSON is described, it is what a request without Accept
// gets. A page, picture, PDF, archive or other file whose schema says no more than that it is bytes is a small file of its type.
//
// # Query parameters
//
// A parameter of a list filters when the items have a member of its name, of its plural, of which its name is the end in camel case
// (fundingType: type), or one alone with the same referenced schema; or a member within one, both names together (funderId: funder.id).
// Items whose member equals the value, or holds it, stay. Numbers under the names that are usual for paging cut the list: limit, size,
// pageSize, per_page … with offset, skip … or page, pageNumber …. Other parameters are validated and have no effect.
//
// # Where it is
//
// An operation is at the node's service prefix, followed by the path of its server's URL, followed by its own path; segments at the seam
// that are the same are there once. The host of the server's URL means nothing.
package mockapi

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rin-network/rin/fixtures/sample"
	"github.com/rin-network/rin/sandbox/content"
)

// The bytes that are kept of answers and of lists.
const (
	answerBudget = 16 << 20
	recordBudget = 32 << 20
)

// API is an API as one version of its document describes it. It does not change, and is safe for concurrent use.
type API struct {
	document *Document
	options  Options
	prefix   string
	ownPath  string // of the document
	samples  *sample.Generator
	requests *sample.Validator

	resources PathTable[*resource]
	all       []*resource
	byPath    map[string]*resource
	faults    []Omission
	answers   *content.Cache[string, *answer]
	records   *content.Cache[string, *records]
}

// Omission is a part of the document that is not served.
type Omission struct {
	// Operation is method and path; empty for a whole path.
	Operation string
	// Cause is where in the document, and why.
	Cause error
}

func (f Omission) String() string {
	if f.Operation == "" {
		return f.Cause.Error()
	}
	return f.Operation + ": " + f.Cause.Error()
}

// resource is a path with its operations.
type resource struct {
	path       string // below the node's service prefix
	segments   []string
	operations map[string]*operation
	list       *list       // whose detail it is; nil for none
	above      []*resource // details on the way to it, itself among them
}

// New makes the API of a document. prefix is the path that comes before it, "/ris-synergy": segments that a server's URL has in common
// with it are there once. Its error means that nothing of the document can be served.
func New(d *Document, prefix string, o Options) (*API, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	a := &API{
		document: d, options: o, prefix: prefix, byPath: map[string]*resource{},
		samples: sample.New(d.Document, o.Seed), requests: sample.NewValidator(d.Document, sample.Request),
		answers: content.NewCache[string, *answer](answerBudget), records: content.NewCache[string, *records](recordBudget),
	}
	for _, fault := range d.Faults {
		a.faults = append(a.faults, Omission{Cause: fault})
	}
	for _, described := range d.Operations {
		a.add(described, prefix)
	}
	a.findLists()
	a.ownPath = a.documentPath()
	a.locate()
	slices.SortStableFunc(a.faults, func(x, y Omission) int { return strings.Compare(x.Operation, y.Operation) })
	if a.Operations() == 0 {
		return nil, fmt.Errorf("no operation can be served: %v", a.faults[0])
	}
	return a, nil
}

// locate finds the lines of what is not served.
func (a *API) locate() {
	var found []*sample.Fault
	for _, f := range a.faults {
		var fault *sample.Fault
		if errors.As(f.Cause, &fault) {
			found = append(found, fault)
		}
	}
	a.document.Locate(found...)
}

// add makes an operation ready; one that cannot be served answers with the reason.
func (a *API) add(described Operation, prefix string) {
	path := joinPrefix(prefix, described.Server) + "/" + strings.TrimPrefix(described.Path, "/")
	r := a.byPath[path]
	if r == nil {
		r = &resource{path: path, segments: strings.Split(strings.Trim(path, "/"), "/"), operations: map[string]*operation{}}
		if err := a.resources.Add(path, r); err != nil {
			a.faults = append(a.faults, Omission{described.Method + " " + described.Path, sample.NewFault(described.Pointer, "%v", err)})
			return
		}
		a.all = append(a.all, r)
		a.byPath[path] = r
	}
	o := a.operation(described, r)
	if o.fault != nil {
		a.faults = append(a.faults, Omission{described.Method + " " + described.Path, o.fault})
	}
	r.operations[o.Method] = o
}

// joinPrefix is what of a server's path comes behind a prefix: "/ris-synergy" and "/ris-synergy/funding" give "/funding".
func joinPrefix(prefix, server string) string {
	before := strings.Split(strings.Trim(prefix, "/"), "/")
	behind := strings.Split(strings.Trim(server, "/"), "/")
	for n := min(len(before), len(behind)); n > 0; n-- {
		if slices.Equal(before[len(before)-n:], behind[:n]) {
			behind = behind[n:]
			break
		}
	}
	if len(behind) == 0 || behind[0] == "" {
		return ""
	}
	return "/" + strings.Join(behind, "/")
}

// Faults are the parts of the document that are not served, in order.
func (a *API) Faults() []Omission { return slices.Clone(a.faults) }

// Title is the title of the document.
func (a *API) Title() string { return a.document.Title }

// Operations counts what is served.
func (a *API) Operations() int {
	n := 0
	for _, r := range a.all {
		for _, o := range r.operations {
			if o.fault == nil {
				n++
			}
		}
	}
	return n
}

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
