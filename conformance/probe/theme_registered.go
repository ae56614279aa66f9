package probe

import (
	"context"
	"net/url"

	"github.com/rin-network/rin/conformance/discover"
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/exchange/record"
	"github.com/rin-network/rin/conformance/target"
)

// registered asks the URLs of the registry entry as they are recorded, where the operator gave others (REG-03).
func registered() theme { return theme{probe: (*run).entryProbe} }

// forEntry plans one good request to each recorded URL that is not asked anyway.
func forEntry(t target.Target, entry discover.Entry) Plan {
	var p Plan
	if differs(entry.TokenURL, t.TokenURL) {
		p.lane(stageTokens, []Stage{stageToken}, exchange.RecordedToken, exchange.OK)
	}
	if differs(entry.InfoURL, t.InfoURL) {
		p.lane(stageRest, []Stage{opened(exchange.Info)}, exchange.RecordedInfo, exchange.OK)
	}
	return p
}

// differs reports that a recorded URL is another one than the given URL on the same origin. Another origin may be another environment,
// where these credentials mean nothing; they are not sent there.
func differs(recorded, given string) bool {
	a, errA := url.Parse(recorded)
	b, errB := url.Parse(given)
	return errA == nil && errB == nil && recorded != given && a.Host != "" && exchange.Origin(a) == exchange.Origin(b)
}

// entryProbe makes the good request at a recorded URL.
func (r *run) entryProbe(l exchange.Label) (probe, bool) {
	switch l.Resource() {
	case exchange.RecordedToken:
		return probe{prepare: func(context.Context) (record.Ask, *unsent) {
			if r.current().Value == "" {
				return record.Ask{}, unmet("the good token request yielded no token at the given URL either")
			}
			t := r.Target
			t.TokenURL = r.entry.TokenURL
			return discover.TokenRequest(t, exchange.OK, discover.ClientSecret, discover.Credentialed(t.Credentials)...), nil
		}}, true
	case exchange.RecordedInfo:
		return probe{prepare: func(ctx context.Context) (record.Ask, *unsent) {
			res := discover.Resource{Name: exchange.RecordedInfo, URL: r.entry.InfoURL, JSONType: true}
			return r.authorized(ctx, res, exchange.OK)
		}}, true
	}
	return probe{}, false
}
