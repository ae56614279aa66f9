package verdict

import "github.com/rin-network/rin/conformance/requirement"

// role is the requirement that shows whether roles are told apart; it needs a second client.
const role requirement.ID = "BRR-18"

// anonymous is the requirement that finds the protected resource.
const anonymous requirement.ID = "BRR-01"

// proven lists what a profile does not accept as not-applicable: a node without a document, without funding calls, or with
// nothing that could be called has not shown what the profile certifies.
func proven(p requirement.Profile) []requirement.ID {
	if p.Includes(requirement.Funding) {
		return []requirement.ID{"SPC-01", "SPC-08", "API-01", "API-08"}
	}
	return nil
}

// optIn lists the rows of profile full that may be not-applicable, because their probes put a token or secret into a URL.
func optIn() []requirement.ID { return []requirement.ID{"BRR-14", "SEC-05"} }
