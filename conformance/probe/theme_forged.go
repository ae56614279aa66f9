package probe

import (
	"context"

	"github.com/rin-network/rin/conformance/discover"
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/exchange/record"
	"github.com/rin-network/rin/conformance/target"
)

// forged plans forged and foreign tokens (JWT, ISO).
func forged() theme {
	return theme{
		forTarget:      foreignClients,
		forProbeTarget: forgedTokens,
		forDocument:    foreignTokens,
		forDocumentMost: func(t target.Target) int {
			if t.Other == nil {
				return 0
			}
			return 2 // list and detail
		},
		probe: func(r *run, l exchange.Label) (probe, bool) {
			switch name, c := l.Resource(), l.Case(); {
			case name == exchange.OtherClient:
				return r.otherClientProbe(), true
			case name == exchange.StagingEndpoint:
				return r.stagingProbe(), true
			case isForged(c):
				return r.forgedProbe(name, c), true
			case c == exchange.OtherAudience || c == exchange.StagingToken:
				return r.foreignProbe(name, c), true
			}
			return probe{}, false
		},
	}
}

// The stages of tokens that were issued for something else.
const (
	stageOther   Stage = "client of another audience"
	stageStaging Stage = "staging environment"
)

// foreignClients plans the token requests of other clients and environments.
func foreignClients(t target.Target) Plan {
	var p Plan
	if t.Other != nil {
		p.lane(stageOther, []Stage{stageToken}, exchange.OtherClient, exchange.OK)
	}
	if t.Staging != nil {
		p.lane(stageStaging, nil, exchange.StagingEndpoint, exchange.OK)
	}
	return p
}

// forgedTokens plans what is tried on the probe target. The two that every protected operation sees are in its lattice.
func forgedTokens(t target.Target, r exchange.Resource) Plan {
	var p Plan
	after := []Stage{opened(r)}
	p.each(tried(r), after, r, exchange.AlgNoneTitle, exchange.AlgNoneUpper, exchange.SignatureCut, exchange.SignatureZero, exchange.ForeignKey)
	if wantsKeys(t) {
		p.each(stageRest, []Stage{opened(r), stageKeys}, r, exchange.HMACPEM, exchange.HMACPEMTrim, exchange.HMACJWK)
		p.each(tried(r), after, r, exchange.EmbeddedKey, exchange.NamedKeySet, exchange.BorrowedKID)
	}
	if t.Other != nil {
		p.lane(stageRest, []Stage{opened(r), stageOther}, r, exchange.OtherAudience)
	}
	if t.Staging != nil {
		p.lane(stageRest, []Stage{opened(r), stageStaging}, r, exchange.StagingToken)
	}
	return p
}

// foreignTokens plans the token of the other client on the funding operations: an audience may be checked on one route only.
func foreignTokens(n discover.Node) Plan {
	var p Plan
	if n.Target.Other == nil || n.Target.Quick {
		return p
	}
	for _, key := range []string{n.List, n.Detail} {
		if key != "" {
			r := exchange.OperationResource(key)
			p.lane(stageRest, []Stage{opened(r), stageOther}, r, exchange.OtherAudience)
		}
	}
	return p
}

// otherClientProbe fetches a token for the client of another audience.
func (r *run) otherClientProbe() probe {
	return probe{
		prepare: func(context.Context) (record.Ask, *unsent) {
			if r.Target.Other == nil {
				return record.Ask{}, notApplicable("no client of another audience was given")
			}
			ask := discover.TokenRequest(r.Target, exchange.OK, discover.OtherSecret, discover.Credentialed(*r.Target.Other)...)
			ask.Issues = discover.OtherAccessToken
			return ask, nil
		},
		learn: func(a record.Answer) {
			if t, ok := discover.ReadToken(a, r.Clock()); ok {
				r.facts.with(func(f *facts) { f.other = t })
			}
		},
	}
}

// stagingProbe fetches a token of the staging environment. Its server gets the staging secret and nothing else.
func (r *run) stagingProbe() probe {
	return probe{
		prepare: func(context.Context) (record.Ask, *unsent) {
			staging := r.Target.Staging
			if staging == nil {
				return record.Ask{}, notApplicable("no staging environment was given")
			}
			t := r.Target
			t.TokenURL = staging.TokenURL
			ask := discover.TokenRequest(t, exchange.OK, discover.StagingSecret, discover.Credentialed(staging.Credentials)...)
			ask.Issues, ask.Recipient = discover.StagingAccessToken, originOf(staging.TokenURL)
			return ask, nil
		},
		learn: func(a record.Answer) {
			if t, ok := discover.ReadToken(a, r.Clock()); ok {
				r.facts.with(func(f *facts) { f.staging = t })
			}
		},
	}
}

// foreignProbe asks a protected resource with a token that was issued for something else.
func (r *run) foreignProbe(name exchange.Resource, c exchange.Case) probe {
	return probe{prepare: func(context.Context) (record.Ask, *unsent) {
		res, reason := r.controlled(name)
		if reason != nil {
			return record.Ask{}, reason
		}
		r.facts.mu.Lock()
		t, credential, whose := r.facts.other, discover.OtherAccessToken, "the client of another audience"
		if c == exchange.StagingToken {
			t, credential, whose = r.facts.staging, discover.StagingAccessToken, "the staging client"
		}
		r.facts.mu.Unlock()
		if t.Value == "" {
			return record.Ask{}, unmet("%s got no token", whose)
		}
		return presenting(res, c, credential, t.Value), nil
	}}
}

// presenting asks with a token that is no good one; the facts about it are kept.
func presenting(res discover.Resource, c exchange.Case, credential, token string) record.Ask {
	ask := res.GetWith(c, credential, "Bearer "+token)
	ask.Presents = token
	return ask
}

// controlled is a resource whose good call was answered: without that a refusal would prove nothing.
func (r *run) controlled(name exchange.Resource) (discover.Resource, *unsent) {
	res, ok := r.facts.resource(name)
	if !ok {
		return res, r.unlocated(name)
	}
	if good := name.With(exchange.OK); !r.facts.good(good) {
		return res, unmet("the good call %s was not answered with 2xx", good)
	}
	return res, nil
}
