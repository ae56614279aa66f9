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
// left: the operations that stand last. The odd credentials on operations beyond the funding operations go before.
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
	p = p.With(forThemes(n))
	for _, o := range n.Executable {
		own := forOperation(n, o)
		if p.Requests()+own.Requests() > room && o.Key != n.List && o.Key != n.Detail {
			left = append(left, own.Labels()...)
			continue
		}
		p = p.With(own)
	}
	if !everywhere(n.Target) {
		return p, left
	}
	for _, o := range n.Executable {
		if !p.has(exchange.OperationResource(o.Key).With(exchange.OK)) {
			continue
		}
		if own := latticeOf(n, o); p.Requests()+own.Requests() <= room {
			p = p.With(own)
		}
	}
	return p, left
}

func forThemes(n discover.Node) Plan {
	var p Plan
	for _, th := range themes() {
		if th.forDocument != nil {
			p = p.With(th.forDocument(n))
		}
	}
	return p
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

// latticeOf plans all that must not get in, the client without the role included: whether an operation needs the role is for the
// requirement to say.
func latticeOf(n discover.Node, o document.Operation) Plan {
	var p Plan
	r := exchange.OperationResource(o.Key)
	p.lattice(r)
	p.noRole(n, r)
	return p
}

// forFunding plans what is asked of the list and the detail operation beyond every operation.
func forFunding(n discover.Node) Plan {
	var p Plan
	if o, ok := n.Operation(n.List); ok {
		p = p.With(forOperation(n, o)).With(forList(n, o))
		if !n.Target.Quick {
			p = p.With(latticeOf(n, o))
		}
	}
	if o, ok := n.Operation(n.Detail); ok {
		p = p.With(forOperation(n, o)).With(forDetail(n, o))
		if !n.Target.Quick {
			p = p.With(latticeOf(n, o))
		}
	}
	return p
}

func forList(n discover.Node, o document.Operation) Plan {
	var p Plan
	r := exchange.OperationResource(o.Key)
	after := []Stage{opened(r)}
	p.lane(stageRest, after, r, exchange.SizeTwo, exchange.PageNoToken)
	p.each(stageRest, after, r, exchange.FilterSeen, exchange.FilterOther)
	for _, q := range queryParameters(o) {
		p.lane(stageRest, after, r, exchange.ParameterCase(q.Name))
	}
	p.noRole(n, r)
	return p
}

// noRole plans the call of the client without the role.
func (p *Plan) noRole(n discover.Node, r exchange.Resource) {
	if n.Target.Second != nil {
		p.lane(stageRest, []Stage{stageSecond, opened(r)}, r, exchange.NoRole)
	}
}

func forDetail(n discover.Node, o document.Operation) Plan {
	var p Plan
	r := exchange.OperationResource(o.Key)
	p.each(stageRest, []Stage{opened(r)}, r, exchange.ItemFirst, exchange.ItemMiddle, exchange.ItemLast, exchange.UnknownID)
	p.noRole(n, r)
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
