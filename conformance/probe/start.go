package probe

import (
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/target"
)

// ForTarget plans what can be asked of any node: the registry, the token endpoint, the info endpoint and the document.
func ForTarget(t target.Target) Plan {
	var p Plan
	if t.Registry != "" && len(t.RegistryDocument) == 0 {
		p.lane(stageRegistry, nil, exchange.Registry, exchange.OK)
	}
	p.tokens(t)
	after := []Stage{anonymous(exchange.Info), stageSession}
	p.lane(anonymous(exchange.Info), nil, exchange.Info, exchange.NoToken)
	p.lane(opened(exchange.Info), after, exchange.Info, exchange.OK, exchange.WithoutContentType)
	p.lane(stageRest, []Stage{opened(exchange.Info)}, exchange.Info, exchange.Post)
	if wantsFunding(t) {
		p.lane(anonymous(exchange.Specification), nil, exchange.Specification, exchange.NoToken)
		p.lane(opened(exchange.Specification), []Stage{anonymous(exchange.Specification), stageSession}, exchange.Specification, exchange.OK)
	}
	if t.Second != nil {
		p.lane(stageSecond, []Stage{stageToken}, exchange.SecondClient, exchange.OK)
	}
	for _, th := range themes() {
		if th.forTarget != nil {
			p = p.With(th.forTarget(t))
		}
	}
	return p
}

// tokens plans the requests to the token endpoint: the good one first; then, side by side, the wrong secret with its proof that
// nobody was locked out, the repeated requests and everything whose order does not matter; then one alone, whose token the run
// goes on with.
func (p *Plan) tokens(t target.Target) {
	first, tokens := []Stage{stageToken}, exchange.TokenEndpoint
	p.lane(stageToken, nil, tokens, exchange.OK)
	p.lane(stageTokens, first, tokens, exchange.WrongSecret, exchange.OKAfterWrongSecret, exchange.IDOnly)
	p.lane(stageTokens, first, tokens, exchange.Basic, exchange.BasicUnencoded)
	if !t.Quick {
		p.lane(stageTokens, first, tokens, exchange.Repeat1, exchange.Repeat2, exchange.Repeat3)
	}
	p.each(stageTokens, first, tokens, exchange.UnknownParameter, exchange.EmptyScope, exchange.PercentEncoded,
		exchange.NoClient, exchange.NoGrantType, exchange.UnknownGrantType, exchange.UnknownScope,
		exchange.BasicUnknownClient, exchange.Get, exchange.RepeatedGrantType)
	p.lane(stageSession, []Stage{stageTokens}, tokens, exchange.OKAfterIDOnly)
}

// wantsFunding reports that the run looks at the API document and its operations.
func wantsFunding(t target.Target) bool { return t.Profile != "auth" }

// ForProbeTarget plans the bearer rules on the probe target, and whether the first token of the run still works there.
func ForProbeTarget(t target.Target, r exchange.Resource) Plan {
	var p Plan
	after := []Stage{opened(r)}
	p.lattice(r)
	p.each(tried(r), after, r, exchange.LowerScheme, exchange.UpperScheme, exchange.TwoBlanks)
	if !t.Quick {
		p.lane(stageRest, after, r, exchange.FirstToken)
	}
	for _, th := range themes() {
		if th.forProbeTarget != nil {
			p = p.With(th.forProbeTarget(t, r))
		}
	}
	return p
}

// lattice plans the credentials that a protected resource must refuse, with the good calls that prove that each refusal means
// something, and after them a fresh URL with a token and at once without.
func (p *Plan) lattice(r exchange.Resource) {
	p.each(tried(r), []Stage{opened(r)}, r, refusals()...)
	p.lane(cached(r), []Stage{tried(r)}, r, exchange.CachedOK, exchange.CachedNoToken)
}

func refusals() []exchange.Case {
	return []exchange.Case{
		exchange.Garbage, exchange.Tampered, exchange.EmptyBearer, exchange.BlankBearer, exchange.BasicScheme,
		exchange.TokenScheme, exchange.HeadOK, exchange.Head, exchange.MethodOverride, exchange.AsBrowser,
		exchange.AlgNone, exchange.ForeignIssuer,
		exchange.PathSlash, exchange.PathDouble, exchange.PathDot, exchange.PathUpper, exchange.PathSuffix,
		exchange.PathEncoded, exchange.PathExtension,
	}
}
