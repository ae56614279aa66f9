package requirement

import "github.com/rin-network/rin/conformance/exchange"

// ID names a requirement, "TOK-01". Ids are never reused or renumbered.
type ID string

// Group is the part before the dash: "TOK".
func (id ID) Group() string {
	for i := range id {
		if id[i] == '-' {
			return string(id[:i])
		}
	}
	return string(id)
}

// Requirement is one row of the catalogue.
type Requirement struct {
	ID      ID
	Title   string
	Level   Level
	Gate    Gate
	Profile Profile
	Source  Source
	// Quote is the sentence of the source's first citation that binds, verbatim and short.
	Quote string
	// Probe says in words what is asked of the node.
	Probe string
	// Forgives says what a correct but unusual node may do (the traps of the catalogue).
	Forgives string
	// Fix tells the node's engineer what to change.
	Fix string
	// Breaks describes a node that violates only this requirement (the mutant).
	Breaks string

	// Needs are the exchanges that the check reads; roles are allowed. Any that failed or was not sent is dealt with before the check runs.
	Needs []exchange.Label
	// Reads are exchanges that the check looks at if they exist; the suite waits for them, their absence is the check's business.
	Reads []exchange.Label
	// After are requirements that must be passed (pass or warn) first; otherwise this one is blocked.
	After []ID
	// Control is the positive control of a refusal: the identical request with a good token. Unless it was answered 2xx in
	// the same run the requirement is inconclusive.
	Control exchange.Label
	Check   func(Evidence) Judgement
}

// Level says how binding the source is.
type Level string

// The levels.
const (
	Network        Level = "network"
	StandardMust   Level = "standard-must"
	StandardShould Level = "standard-should"
	Recommended    Level = "recommended"
)

// Gate says what a failure does to the certificate.
type Gate string

// The gates.
const (
	Gating      Gate = "gating"
	Advice      Gate = "advice"
	Information Gate = "information"
)

// Profile is a set of requirements that a certificate covers; each contains the ones before it.
type Profile string

// The profiles.
const (
	Auth    Profile = "auth"
	Funding Profile = "funding"
	Full    Profile = "full"
)

// Includes reports whether a run of profile p judges requirements of profile q.
func (p Profile) Includes(q Profile) bool { return rank(q) <= rank(p) }

func rank(p Profile) int {
	switch p {
	case Auth:
		return 1
	case Funding:
		return 2
	}
	return 3
}

// IDs turns names into ids, in order; whether they exist is for [Find] to say.
func IDs(names []string) []ID {
	out := make([]ID, 0, len(names))
	for _, n := range names {
		out = append(out, ID(n))
	}
	return out
}
