package described

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rin-network/rin/sandbox/described/constraint"
	"github.com/rin-network/rin/sandbox/described/document"
	"github.com/rin-network/rin/sandbox/described/route"
	"github.com/rin-network/rin/sandbox/representation"
)

// The bytes that are kept of answers and of lists.
const (
	answerBudget = 16 << 20
	recordBudget = 32 << 20
)

// API is an API as one version of its document describes it. It does not change, and is safe for concurrent use.
type API struct {
	document  *document.Document
	options   Options
	prefix    string
	ownPath   string // of the document
	samples   Samples
	requests  *constraint.Schemas
	responses *constraint.Schemas

	resources route.Table[*resource]
	all       []*resource
	byPath    map[string]*resource
	faults    []Fault
	answers   *representation.Cache[string, *answer]
	records   *representation.Cache[string, *records]
}

// Samples draws values that fit the schemas of the document: the same for the same key. An error says why there is none.
type Samples interface {
	Value(pointer, key string) (any, error)
}

// Fault is a part of the document that is not served.
type Fault struct {
	// Operation is method and path; empty for a whole path.
	Operation string
	// Cause is where in the document, and why.
	Cause error
}

func (f Fault) String() string {
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
func New(d *document.Document, samples Samples, prefix string, o Options) (*API, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	a := &API{
		document: d, options: o, prefix: prefix, samples: samples, byPath: map[string]*resource{},
		requests: constraint.New(d, constraint.Request), responses: constraint.New(d, constraint.Response),
		answers: representation.NewCache[string, *answer](answerBudget), records: representation.NewCache[string, *records](recordBudget),
	}
	for _, fault := range d.Faults {
		a.faults = append(a.faults, Fault{Cause: fault})
	}
	for _, described := range d.Operations {
		a.add(described, prefix)
	}
	a.findLists()
	a.ownPath = a.documentPath()
	served := 0
	for _, r := range a.all {
		for _, o := range r.operations {
			if o.fault == nil {
				served++
			}
		}
	}
	a.locate()
	slices.SortStableFunc(a.faults, func(x, y Fault) int { return strings.Compare(x.Operation, y.Operation) })
	if served == 0 {
		return nil, fmt.Errorf("none of its operations can be served: %v", a.faults[0])
	}
	return a, nil
}

// locate finds the lines of what is not served.
func (a *API) locate() {
	var found []*document.Fault
	for _, f := range a.faults {
		var fault *document.Fault
		if errors.As(f.Cause, &fault) {
			found = append(found, fault)
		}
	}
	a.document.Locate(found...)
}

// add makes an operation ready; one that cannot be served answers with the reason.
func (a *API) add(described document.Operation, prefix string) {
	path := seam(prefix, described.Server) + "/" + strings.TrimPrefix(described.Path, "/")
	r := a.byPath[path]
	if r == nil {
		r = &resource{path: path, segments: strings.Split(strings.Trim(path, "/"), "/"), operations: map[string]*operation{}}
		if err := a.resources.Add(path, r); err != nil {
			a.faults = append(a.faults, Fault{described.Method + " " + described.Path, a.document.Fault(described.Pointer, "%v", err)})
			return
		}
		a.all = append(a.all, r)
		a.byPath[path] = r
	}
	o := a.operation(described, r)
	if o.fault != nil {
		a.faults = append(a.faults, Fault{described.Method + " " + described.Path, o.fault})
	}
	r.operations[o.Method] = o
}

// seam is what of a server's path comes behind a prefix: "/ris-synergy" and "/ris-synergy/funding" give "/funding".
func seam(prefix, server string) string {
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
func (a *API) Faults() []Fault { return slices.Clone(a.faults) }

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
