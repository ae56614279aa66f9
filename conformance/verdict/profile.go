package verdict

import (
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/requirement"
)

// role is the requirement that shows whether roles are told apart; it needs a second client.
const role requirement.ID = "BRR-18"

// anonymous is the requirement that finds the protected resource.
const anonymous requirement.ID = "BRR-01"

// expired is the requirement that an expired token is refused. It needs a wait, so that it belongs to the profile full; wherever it is
// judged, it gates.
const expired requirement.ID = "BRR-10"

// proven lists what a profile does not accept as not-applicable: a node without a document, without funding calls, or with
// nothing that could be called has not shown what the profile certifies.
func proven(p requirement.Profile) []requirement.ID {
	if p.Includes(requirement.Funding) {
		return []requirement.ID{"SPC-01", "SPC-08", "API-01", "API-08"}
	}
	return nil
}

// withheld lists the rows of profile full that are not-applicable because the operator left out what they need. The probes that put a token or
// a secret into a URL are the operator's to refuse; whatever else is not applicable is so by the nature of the node: opaque tokens have no
// signature.
func withheld(run exchange.Run) []requirement.ID {
	ids := []requirement.ID{"BRR-10"} // with an expired token, or with the time to wait for one, it always applies
	if run.StagingTokenURL == "" {
		ids = append(ids, "ISO-02")
	}
	if !run.Other {
		ids = append(ids, "ISO-03")
	}
	return ids
}
