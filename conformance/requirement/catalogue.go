// Package requirement is the catalogue of what a node must do, with the checks that judge recorded evidence.
//
// A file holds a chapter: the rows of some requirements of one group, and their checks. A check is a pure function of [Evidence] and sends
// nothing, so that a live run and recorded evidence are judged by the same code. [Judge] deals with dependencies, missing exchanges and
// positive controls; a check only says what it found. The name of a check is judge and what it judges, such as judgeSessionCookie. A function named find
// returns a judgement only if it finds a fault. In checks, e is the evidence, x an exchange, and good the same call with a good token.
package requirement

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
)

// ID names a requirement, "TOK-01". Ids are never reused or renumbered.
type ID string

// Group is the part before the dash: "TOK".
func (id ID) Group() string {
	group, _, _ := strings.Cut(string(id), "-")
	return group
}

// Requirement is one row of the catalogue.
type Requirement struct {
	ID      ID
	Title   string
	Level   Level
	Gate    Gate
	Profile Profile
	Source  Source
	// Quote is the binding sentence of the source's first citation, verbatim and short.
	Quote string
	// Probe describes the requests.
	Probe string
	// Forgives says what a correct but unusual node may do.
	Forgives string
	// Fix says what the node's engineer should change.
	Fix string
	// Breaks describes a node that violates only this requirement.
	Breaks string

	// Needs are the labels or roles of exchanges that the check reads. It does not run unless all of them were answered.
	Needs []evidence.Label
	// Reads are exchanges that the check looks at if they exist. A partial run sends them.
	Reads []evidence.Label
	// After are requirements that must pass (or warn) first; otherwise this one is blocked.
	After []ID
	// Control is the positive control of a refusal: the same request with a good token. Unless it was answered 2xx in
	// the same run, the requirement is inconclusive.
	Control evidence.Label
	// Breach searches the whole run for an answer that breaks the requirement; optional. What it finds is the judgement, even if After, Needs or
	// Control do not hold.
	Breach func(Evidence) (Judgement, bool)
	Check  func(Evidence) Judgement
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

// Profile is a set of requirements that a certificate covers; each contains the profiles before it.
type Profile string

// The profiles.
const (
	Auth    Profile = "auth"    // tokens, and the info endpoint that needs one
	API     Profile = "api"     // the document of any API of the network, its operations and data
	Funding Profile = "funding" // an API that lists funding calls
	Full    Profile = "full"    // what needs more clients, time or another environment
)

// Profiles lists the profiles; each contains those before it.
func Profiles() []Profile { return []Profile{Auth, API, Funding, Full} }

// Includes reports whether a run of profile p judges requirements of profile q. A run whose profile is not chosen yet may judge all of them.
func (p Profile) Includes(q Profile) bool {
	chosen := slices.Index(Profiles(), p)
	return chosen < 0 || slices.Index(Profiles(), q) <= chosen
}

// IDs turns names into ids; it does not check whether requirements have them.
func IDs(names []string) []ID {
	out := make([]ID, 0, len(names))
	for _, n := range names {
		out = append(out, ID(n))
	}
	return out
}

// Version is the version of the catalogue. It is raised once in a release that changes a judgement.
const Version = "1.4.0"

// Catalogue lists the requirements in the order of their groups and numbers. Each call returns a fresh slice.
func Catalogue() []Requirement {
	var all []Requirement
	for _, g := range chapters() {
		all = append(all, g.sortedRows()...)
	}
	return all
}

// chapter is a group with its rows.
type chapter struct {
	name, title string
	rows        []func() []Requirement
}

// sortedRows returns the rows in the order of their numbers.
func (c chapter) sortedRows() []Requirement {
	var out []Requirement
	for _, rows := range c.rows {
		out = append(out, rows()...)
	}
	slices.SortFunc(out, func(a, b Requirement) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// chapters returns the table of contents of the catalogue.
func chapters() []chapter {
	type rows = []func() []Requirement
	return []chapter{
		{"REG", "Registry entry", rows{registryEntry}},
		{"TLS", "Transport", rows{handshakes, cleartextCalls}},
		{"TOK", "Token endpoint: success", rows{tokenAnswer, tokenLife, tokenRequests}},
		{"TER", "Token endpoint: errors", rows{tokenRefusals, errorForm}},
		{"BRR", "Bearer rules on protected resources", rows{anonymousAccess, challenges, presentedTokens, detours, missingRole, missingScope, revokedTokens}},
		{"INF", "Info endpoint", rows{infoAnswer, listedEndpoints}},
		{"SPC", "Specification document", rows{specification, documentContent, documentSecurity}},
		{"API", "Operations against the specification", rows{describedOperations, schemas, guardedRoutes}},
		{"PAG", "Paging, filters, list to detail", rows{pageParameters, pageWalk, filters, listedItems, links}},
		{"ERR", "Error shapes of the API", rows{errorShapes, errorInternals}},
		{"SEC", "Security hygiene", rows{otherCredentials, issuerHygiene}},
		{"VER", "Versioning", rows{versioning}},
		{"JWT", "Access token content", rows{tokenClaims, forgeries}},
		{"ISO", "Isolation between nodes and environments", rows{isolation}},
		{"ROB", "Robustness", rows{oddInput, soundAnswers, representations}},
	}
}

// group returns the rows of the group of an id.
func group(id ID) []Requirement {
	for _, c := range chapters() {
		if c.name == id.Group() {
			return c.sortedRows()
		}
	}
	return nil
}

// Find returns the requirement with that id.
func Find(id ID) (Requirement, bool) {
	for _, r := range Catalogue() {
		if r.ID == id {
			return r, true
		}
	}
	return Requirement{}, false
}

// Group is one group of the catalogue.
type Group struct {
	Name         string // "TOK"
	Title        string // "Token endpoint: success"
	Requirements []Requirement
}

// Groups lists the groups of the catalogue in its order.
func Groups() []Group {
	var out []Group
	for _, c := range chapters() {
		out = append(out, Group{c.name, c.title, c.sortedRows()})
	}
	return out
}

// CatalogueDigest returns the SHA-256 digest of what the catalogue asks for, in hexadecimal. It changes with every row, even if nobody raised [Version].
func CatalogueDigest() string {
	sum := sha256.New()
	fmt.Fprintln(sum, Version)
	for _, r := range Catalogue() {
		fmt.Fprintf(sum, "%s %s %s %s %q %q %q %q\n", r.ID, r.Level, r.Gate, r.Profile, r.Title, r.Quote, r.Needs, r.After)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
