// Package mockapi serves any API from its OpenAPI document: every operation, with generated answers that fit the document.
//
//	request -> path template -> guard (access token) -> parameters and body, checked against their schemas -> answer
//
// A value that neither the request nor an example of the document gives is drawn: package sample generates it from its schema, the seed and the
// request. So an answer is the same in any order of requests and after any restart. Nothing that a client sends is kept, unless the options ask for a
// state.
//
// # State
//
// With [Options].State, POST to a list with a detail adds a record if it is answered 201, PUT of a detail replaces it, PATCH merges into it (RFC 7396),
// and DELETE removes it: 404 from then on. Other operations change nothing.
//
// # Lists and details
//
// A GET operation whose success is an array is a list. An object with a single array of objects is a list, too, if the array has a usual
// name (items, data, results …) or the name of the path, or if the operation has pages or a detail. A list has as many items as the options
// say, in a stable order. It has fewer if the schema allows fewer items or fewer ids, or if the items would exceed 24 MB. Each item has its own id. The detail
// of a list is the GET operation at the list's path with one more parameter: an id of the list leads to the same record, any other id to
// 404, also below the detail (/funders/{id}/calls). The id is the member with the name of the parameter, else with the end of its name
// (petId: id), else id, uuid, identifier, key or code.
//
// # Examples
//
// An example of the document that fits its schema is preferred to a drawn value. The first example of the media type or header is used, else the first
// one of the answer's schema. A list begins with the items in its own examples, then the examples of its detail, then those of its items' schema.
// [ExamplesIgnore] switches this off.
//
// # Links
//
// URLs in answers that begin with the URL of a server of the document lead to the sandbox. A Link header that the document describes for a
// list with pages names the next page, the one before and the first one, and so does a member of an envelope such as nextUrl.
//
// # Recordings
//
// With [Options].Recorded, GET requests get the answers of a real node, which package recording has recorded. Lists are filtered and cut into pages as
// the document describes it; links and cursors lead to the next page in the way that the node used. A path without a recorded answer is answered 501.
//
// # Media types
//
// JSON, text and XML (by OpenAPI's XML Object) show the same values; a request without Accept gets JSON where the document describes it.
// An HTML page, picture, PDF, archive or other file is a small file of that type if its schema only declares bytes.
//
// # Query parameters
//
// A parameter of a list filters by a member of the items. This is the member with the parameter's name, with its plural, or with the last words of its
// name (fundingType: type); else the only member with the same referenced schema; else a member within a member, both names joined (funderId: funder.id).
// Items stay if the member equals the value or is an array that contains it. Numeric parameters with the usual names choose a page of the list:
// limit, size, pageSize, per_page … with offset, skip … or page, pageNumber …. Other parameters are validated and have no effect.
//
// # Paths
//
// The path of an operation is the node's service prefix, then the path of its server's URL, then its own path. If the server's path begins
// with the segments at the end of the prefix, they occur once: /ris-synergy and /ris-synergy/funding give /ris-synergy/funding. The host of
// the server's URL is ignored.
package mockapi

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/rin-network/rin/fixtures/sample"
	"github.com/rin-network/rin/sandbox/content"
)

// The limits of the caches, in bytes.
const (
	answerBudget = 16 << 20
	recordBudget = 32 << 20
)

// API serves the operations of one version of a document. Apart from its state it is immutable, and it is safe for concurrent use.
type API struct {
	document *Document
	options  Options
	prefix   string
	ownPath  string // the path of the document, see API.DocumentPath
	samples  *sample.Generator
	requests *sample.Validator

	resources PathTable[*resource]
	all       []*resource // in the order of the document
	byPath    map[string]*resource
	omissions []Omission
	answers   *content.Cache[string, *answer]
	records   *content.Cache[string, *records]
	// recordedLists has the *records of each recorded list, by its RecordedPath.
	recordedLists sync.Map
	state         *state   // nil unless the options ask for it
	servers       []server // of the document, see links.go
	// localAnswers has the answers with links to the place where the API is served, see links.go.
	localAnswers *content.Cache[localKey, *answer]
}

// Omission is a part of the document that is not served.
type Omission struct {
	// Operation is a method and a path; empty for all operations of a path.
	Operation string
	// Cause says where in the document, and why.
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
	parent     *list       // the list whose detail this is; nil if it is not a detail
	above      []*resource // the details whose paths are beginnings of this path, itself included
}

// New makes the API of a document. prefix is the node's service prefix, such as "/ris-synergy". The error means that no operation of the
// document can be served.
func New(d *Document, prefix string, o Options) (*API, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	a := &API{
		document: d, options: o, prefix: prefix, byPath: map[string]*resource{},
		samples: sample.New(d.Document, o.Seed), requests: sample.NewValidator(d.Document, sample.Request),
		answers: content.NewCache[string, *answer](answerBudget), localAnswers: content.NewCache[localKey, *answer](answerBudget), records: content.NewCache[string, *records](recordBudget),
	}
	if o.State {
		a.state = newState()
	}
	if o.Examples == ExamplesIgnore {
		a.samples.WithoutExamples()
	}
	for _, fault := range d.Faults {
		a.omissions = append(a.omissions, Omission{Cause: fault})
	}
	for _, described := range d.Operations {
		a.add(described, prefix)
	}
	a.findServers()
	a.findLists()
	a.ownPath = a.chooseDocumentPath()
	a.locate()
	slices.SortStableFunc(a.omissions, func(x, y Omission) int { return strings.Compare(x.Operation, y.Operation) })
	if a.Operations() == 0 {
		return nil, fmt.Errorf("no operation can be served: %v", a.omissions[0])
	}
	return a, nil
}

// locate finds the lines of the parts that are not served.
func (a *API) locate() {
	var found []*sample.Fault
	for _, f := range a.omissions {
		var fault *sample.Fault
		if errors.As(f.Cause, &fault) {
			found = append(found, fault)
		}
	}
	a.document.Locate(found...)
}

// add prepares an operation of the document. An operation that cannot be served is added, too, and answers with the reason.
func (a *API) add(described Operation, prefix string) {
	path := belowPrefix(prefix, described.Server) + "/" + strings.TrimPrefix(described.Path, "/")
	r := a.byPath[path]
	if r == nil {
		r = &resource{path: path, segments: strings.Split(strings.Trim(path, "/"), "/"), operations: map[string]*operation{}}
		if err := a.resources.Add(path, r); err != nil {
			a.omissions = append(a.omissions, Omission{described.Method + " " + described.Path, sample.NewFault(described.Pointer, "%v", err)})
			return
		}
		a.all = append(a.all, r)
		a.byPath[path] = r
	}
	o := a.operation(described, r)
	if o.fault != nil {
		a.omissions = append(a.omissions, Omission{described.Method + " " + described.Path, o.fault})
	}
	r.operations[o.Method] = o
}

// belowPrefix returns the part of a server's path that follows a prefix: "/ris-synergy" and "/ris-synergy/funding" give "/funding".
func belowPrefix(prefix, server string) string {
	first := strings.Split(strings.Trim(prefix, "/"), "/")
	rest := strings.Split(strings.Trim(server, "/"), "/")
	for n := min(len(first), len(rest)); n > 0; n-- {
		if slices.Equal(first[len(first)-n:], rest[:n]) {
			rest = rest[n:]
			break
		}
	}
	if len(rest) == 0 || rest[0] == "" {
		return ""
	}
	return "/" + strings.Join(rest, "/")
}

// Omissions lists the parts of the document that are not served, in order.
func (a *API) Omissions() []Omission { return slices.Clone(a.omissions) }

// Title returns the title of the document.
func (a *API) Title() string { return a.document.Title }

// Operations counts the operations that are served.
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

// Lists chooses the answers of list operations whose document declares a single object.
type Lists string

const (
	// ListsAsDeclared answers with one object.
	ListsAsDeclared Lists = "as-declared"
	// ListsArray answers with an array of such objects, as real nodes do in spite of their documents.
	ListsArray Lists = "array"
)

// AllLists lists the values of Lists.
func AllLists() []Lists { return []Lists{ListsAsDeclared, ListsArray} }

// The number of items of a list.
const (
	DefaultItems = 20
	MaxItems     = 10_000
)

// Options are the settings of an API. The zero value is valid.
type Options struct {
	// Seed chooses the values.
	Seed uint64
	// Items is the number of items of each list; DefaultItems when 0, at most MaxItems.
	Items int
	// Lists chooses the answers of list operations that declare a single object; ListsAsDeclared when empty.
	Lists Lists
	// Examples says whether answers show the examples of the document; ExamplesPrefer when empty.
	Examples Examples
	// State keeps what POST, PUT, PATCH and DELETE change in lists with details, until Reset.
	State bool
	// PageIsOffset reads page[page] as the number of records before the page, as clients of the network send it, and not as the number of the page.
	PageIsOffset bool
	// Recorded has the answers of a real node to give instead of generated ones; nil without a recording.
	Recorded *Recorded
}

func (o Options) complete() (Options, error) {
	if o.Items == 0 {
		o.Items = DefaultItems
	}
	if o.Recorded != nil {
		o.Examples = ExamplesIgnore // what the node answered is better than what its document shows
	}
	if o.Lists == "" {
		o.Lists = ListsAsDeclared
	}
	if o.Examples == "" {
		o.Examples = ExamplesPrefer
	}
	if !slices.Contains(AllExamples(), o.Examples) {
		return o, fmt.Errorf("examples %q: want one of %v", o.Examples, AllExamples())
	}
	if o.Items < 0 || o.Items > MaxItems {
		return o, fmt.Errorf("items of a list: want at most %d, got %d", MaxItems, o.Items)
	}
	if o.Lists != ListsAsDeclared && o.Lists != ListsArray {
		return o, fmt.Errorf("lists %q: want one of %v", o.Lists, AllLists())
	}
	return o, nil
}
