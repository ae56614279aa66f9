package probe

import (
	"github.com/rin-network/rin/conformance/discover"
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/target"
)

// stageOddForms is the stage of the odd token requests that come after the session's token.
const stageOddForms Stage = "odd token requests"

// odd is the stage of odd input to a resource.
func odd(r exchange.Resource) Stage { return Stage(r) + ", odd input" }

// robust plans odd input (ROB). A quick run does without it.
//
// Each group ends with the normal request, which is sent only when an odd one found the node broken: a 5xx counts only if the node
// works otherwise. Odd bearer values, ids and queries come last on their URL, because a firewall may ban whoever sends them.
func robust() theme {
	return theme{
		forTarget: func(t target.Target) Plan {
			var p Plan
			if !t.Quick {
				p.oddForms(t)
			}
			return p
		},
		forProbeTarget: func(t target.Target, r exchange.Resource) Plan {
			var p Plan
			p.each(stageRest, []Stage{opened(r)}, r, exchange.Strict, exchange.StrictHead)
			if !t.Quick {
				p.oddInput(r, oddBearers(), exchange.OKAfterBearers)
			}
			return p
		},
		forDocument: func(n discover.Node) Plan {
			var p Plan
			if n.Target.Quick {
				return p
			}
			if _, ok := n.Operation(n.Detail); ok {
				p.oddInput(exchange.OperationResource(n.Detail), oddIDs(), exchange.OKAfterIDs)
			}
			if _, ok := n.Operation(n.List); ok {
				p.oddInput(exchange.OperationResource(n.List), oddQueries(), exchange.OKAfterQueries)
			}
			return p
		},
		probe: (*run).robustProbe,
	}
}

// oddForms plans the odd token requests one after the other, in two halves with the session's token request between them: an
// authorization server that counts failures in a row must not lock this machine out.
func (p *Plan) oddForms(t target.Target) {
	before, after := oddForms(t.Polite)
	p.lane(stageTokens, []Stage{stageToken}, exchange.TokenEndpoint, before...)
	p.lane(stageOddForms, []Stage{stageSession}, exchange.TokenEndpoint, append(after, exchange.OKAfterForm)...)
}

// oddForms are the odd token requests before and after the session's token; a polite run makes two.
func oddForms(polite bool) (before, after []exchange.Case) {
	if polite {
		return []exchange.Case{exchange.FormJSON}, []exchange.Case{exchange.FormBytes}
	}
	return []exchange.Case{exchange.FormEmpty, exchange.FormJSON, exchange.FormPercent, exchange.FormBytes},
		[]exchange.Case{exchange.FormLong, exchange.FormParts, exchange.FormText}
}

func (p *Plan) oddInput(r exchange.Resource, cases []exchange.Case, control exchange.Case) {
	p.each(odd(r), []Stage{opened(r), cached(r)}, r, cases...)
	p.lane(stageRest, []Stage{odd(r)}, r, control)
}

func oddBearers() []exchange.Case {
	return []exchange.Case{exchange.BearerLong, exchange.BearerThree, exchange.BearerDots, exchange.BearerBadHeader, exchange.BearerBytes, exchange.BearerJoined}
}

func oddIDs() []exchange.Case {
	return []exchange.Case{exchange.IDQuote, exchange.IDNul, exchange.IDBytes, exchange.IDParent, exchange.IDLong, exchange.IDUmlauts, exchange.IDBraces}
}

func oddQueries() []exchange.Case {
	return []exchange.Case{exchange.QueryBytes, exchange.QueryNameless, exchange.QueryBlank, exchange.QueryLong, exchange.QueryRepeated,
		exchange.QuerySizeNul, exchange.OddAccept}
}
