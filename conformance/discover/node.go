package discover

import (
	"strings"

	"github.com/rin-network/rin/conformance/document"
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/target"
)

// Node is what is known of a node once its document was read.
type Node struct {
	// Target has all URLs filled in.
	Target target.Target
	// Document is nil when the node has none that can be read.
	Document *document.Document
	// List and Detail are the keys of the funding operations; empty when there are none.
	List, Detail string
	// Executable are the GET operations that can be called, in document order.
	Executable []document.Operation

	index map[string]int // key to place in Executable
}

// NewNode reads the operations out of a document; doc may be nil. The operator's names for the funding operations win.
func NewNode(t target.Target, doc *document.Document) Node {
	n := Node{Target: t, Document: doc, index: map[string]int{}}
	if doc == nil {
		return n
	}
	for _, o := range doc.Operations {
		if o.Method != "GET" || o.HasBody {
			continue
		}
		n.index[o.Key] = len(n.Executable)
		n.Executable = append(n.Executable, o)
	}
	list, ok := n.named(t.ListOperation)
	if !ok && t.ListOperation == "" {
		list, ok = doc.ListCandidate()
	}
	if ok {
		n.List = list.Key
	}
	detail, found := n.named(t.DetailOperation)
	if !found && t.DetailOperation == "" && ok {
		detail, found = doc.DetailCandidate(list)
	}
	if found {
		n.Detail = detail.Key
	}
	return n
}

// named finds an operation by operationId, key, "GET /path" or path.
func (n Node) named(name string) (document.Operation, bool) {
	if name == "" {
		return document.Operation{}, false
	}
	for _, o := range n.Executable {
		if name == o.ID || name == o.Key || name == o.Path || strings.EqualFold(name, o.Method+" "+o.Path) {
			return o, true
		}
	}
	return document.Operation{}, false
}

// Operation returns the executable operation with that key.
func (n Node) Operation(key string) (document.Operation, bool) {
	if i, ok := n.index[key]; ok {
		return n.Executable[i], true
	}
	return document.Operation{}, false
}

// Bases lists where the node's operations may live, best guess first.
func (n Node) Bases() []Base {
	if n.Document == nil {
		return nil
	}
	return Bases(n.Target.BaseURL, n.Target.SpecURL, n.Document.Servers)
}

// Scout is the operation that finds out where operations live: the list, else the first that needs no parameter.
func (n Node) Scout() (document.Operation, bool) {
	if o, ok := n.Operation(n.List); ok && Parameterless(o) {
		return o, true
	}
	for _, o := range n.Executable {
		if Parameterless(o) {
			return o, true
		}
	}
	return document.Operation{}, false
}

// Parameterless reports an operation that can be called without any parameter.
func Parameterless(o document.Operation) bool {
	if templated(o) {
		return false
	}
	for _, p := range o.Parameters {
		if p.Required {
			return false
		}
	}
	return true
}

func templated(o document.Operation) bool { return strings.Contains(o.Path, "{") }

// Collection is the operation whose answer lists the ids in the path of o: for the detail operation the list, for others the one above.
func (n Node) Collection(o document.Operation) (document.Operation, bool) {
	list, ok := n.Operation(n.List)
	if o.Key == n.Detail && ok && !templated(list) {
		return list, true
	}
	if n.Document == nil {
		return document.Operation{}, false
	}
	return n.Document.Collection(o)
}

// Refused reports an answer that kept its data: any 4xx except 429, which says nothing about authorization (T1).
func Refused(status int) bool { return status/100 == 4 && status != 429 }

// InfoIsTarget reports that the info endpoint is the probe target: it refused the anonymous call and answered the authorized one.
func InfoIsTarget(anonymous, authorized int) bool {
	return Refused(anonymous) && authorized/100 == 2
}

// ProbeTarget chooses the protected resource that the bearer rules are tried on, by the status of each call, 0 for one without an
// answer. Best is one that refused the anonymous call and answered the authorized one: the info endpoint, or the first
// parameterless operation that is not declared open. Where nobody gets in, it is one that refused at least; a route that refuses
// everybody does not stand for a node whose other operations are open to all.
func (n Node) ProbeTarget(status func(exchange.Label) int) (exchange.Resource, bool) {
	anonymous := func(r exchange.Resource) int { return status(r.With(exchange.NoToken)) }
	if InfoIsTarget(anonymous(exchange.Info), status(exchange.Info.With(exchange.OK))) {
		return exchange.Info, true
	}
	var refusing exchange.Resource
	open := false
	for _, o := range n.Executable {
		r := exchange.OperationResource(o.Key)
		if !Parameterless(o) || o.Security != nil && o.Security.Open {
			continue
		}
		open = open || anonymous(r)/100 == 2
		if !Refused(anonymous(r)) {
			continue
		}
		if status(r.With(exchange.OK))/100 == 2 {
			return r, true
		}
		if refusing == "" {
			refusing = r
		}
	}
	if open {
		return "", false
	}
	if s := anonymous(exchange.Info); s == 401 || s == 403 {
		return exchange.Info, true
	}
	return refusing, refusing != ""
}
