package probe

import (
	"github.com/rin-network/rin/conformance/discover"
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/target"
)

// sanitary plans other ways in, error shapes and unknown versions (SEC, ERR, VER).
func sanitary() theme {
	return theme{
		forTarget: func(t target.Target) Plan {
			var p Plan
			p.lane(stageRest, []Stage{stageToken}, exchange.TokenEndpoint, exchange.Preflight)
			if wantsFunding(t) {
				p.lane(stageRest, []Stage{opened(exchange.Info)}, exchange.Info, exchange.UnknownVersion)
			}
			return p
		},
		forProbeTarget: func(_ target.Target, r exchange.Resource) Plan {
			var p Plan
			after := []Stage{opened(r)}
			p.each(tried(r), after, r, exchange.SessionCookie, exchange.ForeignOrigin, exchange.LookalikeOrigin, exchange.OriginAlone)
			p.lane(tried(r), after, r, append([]exchange.Case{exchange.IdentityHeaders}, singleIdentity()...)...)
			return p
		},
		forDocument: func(discover.Node) Plan {
			var p Plan
			p.lane(stageRest, []Stage{stageBase, stageSession}, exchange.API, exchange.UnknownPath)
			return p
		},
		probe: (*run).sanitaryProbe,
	}
}

// singleIdentity are the cases that find out which identity header it was that got data.
func singleIdentity() []exchange.Case {
	return []exchange.Case{exchange.ForwardedUser, exchange.RemoteUser, exchange.ForwardedFor, exchange.OriginalURL, exchange.AuthRequestUser, exchange.RealIP}
}
