package probe

import (
	"strconv"

	"github.com/rin-network/rin/conformance/discover"
	"github.com/rin-network/rin/conformance/document"
	"github.com/rin-network/rin/conformance/exchange"
)

// maxEndpoints is how many of the URLs that the info endpoint lists are called (INF-05).
const maxEndpoints = 10

// maxParameters is how many described query parameters of the list operation are tried.
const maxParameters = 16

// ForDocument plans the calls of all operations of a node's document, within room requests. What does not fit is returned as
// left: first the odd credentials on operations beyond the funding operations, then the operations that stand last.
func ForDocument(n discover.Node, room int) (p Plan, left []exchange.Label) {
	if bases := n.Bases(); len(bases) > 1 {
		if _, ok := n.Scout(); ok {
			// The session's token: an earlier one may have been revoked by those that were issued since.
			lane := Lane{Stage: stageBase, After: []Stage{stageSession}}
			for i := range bases {
				lane.Labels = append(lane.Labels, exchange.BaseResource(i+1).With(exchange.OK))
			}
			p.Lanes = append(p.Lanes, lane)
		}
	}
	p = p.With(forFunding(n))
	for _, th := range themes() {
		if th.forDocument != nil {
			p = p.With(th.forDocument(n))
		}
	}
	for _, o := range n.Executable {
		one := p.With(forOperation(n, o))
		if one.Requests() > room && o.Key != n.List && o.Key != n.Detail {
			left = append(left, forOperation(n, o).Labels()...)
			continue
		}
		p = one
	}
	if !n.Target.Thorough && !n.Target.Loopback() || n.Target.Quick {
		return p, left
	}
	for _, o := range n.Executable {
		if !p.has(exchange.OperationResource(o.Key).With(exchange.OK)) {
			continue
		}
		if one := p.With(latticeOf(o)); one.Requests() <= room {
			p = one
		}
	}
	return p, left
}

// forOperation plans what is asked of every operation: anonymous, authorized, with a token that is none.
func forOperation(n discover.Node, o document.Operation) Plan {
	var p Plan
	r := exchange.OperationResource(o.Key)
	known := stageBase
	if c, ok := n.Collection(o); ok {
		known = opened(exchange.OperationResource(c.Key)) // its answer holds the ids
	}
	p.lane(anonymous(r), []Stage{known}, r, exchange.NoToken)
	p.lane(opened(r), []Stage{anonymous(r), stageSession}, r, exchange.OK)
	p.lane(tried(r), []Stage{opened(r)}, r, exchange.Garbage)
	return p
}

func latticeOf(o document.Operation) Plan {
	var p Plan
	p.lattice(exchange.OperationResource(o.Key))
	return p
}

// forFunding plans what is asked of the list and the detail operation beyond every operation.
func forFunding(n discover.Node) Plan {
	var p Plan
	if o, ok := n.Operation(n.List); ok {
		p = p.With(forOperation(n, o)).With(forList(n, o))
		if !n.Target.Quick {
			p = p.With(latticeOf(o))
		}
	}
	if o, ok := n.Operation(n.Detail); ok {
		p = p.With(forOperation(n, o)).With(forDetail(o))
		if !n.Target.Quick {
			p = p.With(latticeOf(o))
		}
	}
	return p
}

func forList(n discover.Node, o document.Operation) Plan {
	var p Plan
	r := exchange.OperationResource(o.Key)
	after := []Stage{opened(r)}
	p.each(stageRest, after, r, exchange.SizeTwo, exchange.FilterSeen, exchange.FilterOther)
	for _, q := range queryParameters(o) {
		p.lane(stageRest, after, r, exchange.ParameterCase(q.Name))
	}
	if n.Target.Second != nil {
		p.lane(stageRest, []Stage{stageSecond, opened(r)}, r, exchange.NoRole)
	}
	return p
}

func forDetail(o document.Operation) Plan {
	var p Plan
	r := exchange.OperationResource(o.Key)
	p.each(stageRest, []Stage{opened(r)}, r, exchange.ItemFirst, exchange.ItemMiddle, exchange.ItemLast, exchange.UnknownID)
	return p
}

// ForEndpoints plans the calls of the n URLs that the info endpoint lists, after the stages given.
func ForEndpoints(n int, after []Stage) Plan {
	var p Plan
	for i := range min(n, maxEndpoints) {
		p.lane(stageRest, after, exchange.EndpointResource(strconv.Itoa(i+1)), exchange.OK)
	}
	return p
}

// queryParameters lists the query parameters that are tried one by one.
func queryParameters(o document.Operation) []document.Parameter {
	var out []document.Parameter
	seen := map[exchange.Case]bool{}
	for _, p := range o.Parameters {
		if c := exchange.ParameterCase(p.Name); p.In == "query" && !seen[c] && len(out) < maxParameters {
			seen[c] = true
			out = append(out, p)
		}
	}
	return out
}

func (p Plan) has(label exchange.Label) bool {
	for _, l := range p.Labels() {
		if l == label {
			return true
		}
	}
	return false
}
