// Package requirement is the catalogue of what a node must do, with the checks that judge recorded evidence.
//
// A file holds a chapter: the rows of some requirements of one group, and their checks. A check is a pure function of [Evidence] and sends
// nothing, so that a live run and recorded evidence are judged by the same code. [Judge] deals with dependencies, missing exchanges and
// positive controls; a check only says what it found.
package requirement

import (
	"cmp"
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
	// Breaks describes a node that violates only this requirement (the mutant).
	Breaks string

	// Needs are the labels or roles of exchanges that the check reads. It does not run unless all of them were answered.
	Needs []evidence.Label
	// Reads are exchanges that the check looks at if they exist. The suite waits for them.
	Reads []evidence.Label
	// After are requirements that must pass (or warn) first; otherwise this one is blocked.
	After []ID
	// Control is the positive control of a refusal: the same request with a good token. Unless it was answered 2xx in
	// the same run, the requirement is inconclusive.
	Control evidence.Label
	// Breach looks through everything recorded for something that breaks the requirement; optional. What it finds counts, whatever could
	// not be asked or judged otherwise.
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
	Auth    Profile = "auth"
	Funding Profile = "funding"
	Full    Profile = "full"
)

// Includes reports whether a run of profile p judges requirements of profile q.
func (p Profile) Includes(q Profile) bool { return q.rank() <= p.rank() }

func (p Profile) rank() int {
	switch p {
	case Auth:
		return 1
	case Funding:
		return 2
	}
	return 3
}

// IDs turns names into ids; it does not look them up.
func IDs(names []string) []ID {
	out := make([]ID, 0, len(names))
	for _, n := range names {
		out = append(out, ID(n))
	}
	return out
}

// Version is the version of the catalogue; it changes with every change of a judgement.
const Version = "1.1.0"

// Catalogue lists the requirements in the order of their groups and numbers. Each call returns a fresh slice.
func Catalogue() []Requirement {
	var all []Requirement
	for _, g := range chapters() {
		all = append(all, g.sorted()...)
	}
	return all
}

// chapter is a group with its rows.
type chapter struct {
	name, title string
	rows        []func() []Requirement
}

// sorted returns the rows in the order of their numbers.
func (c chapter) sorted() []Requirement {
	var out []Requirement
	for _, rows := range c.rows {
		out = append(out, rows()...)
	}
	slices.SortFunc(out, func(a, b Requirement) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// chapters is the table of contents of the catalogue.
func chapters() []chapter {
	type rows = []func() []Requirement
	return []chapter{
		{"REG", "Registry entry", rows{registryEntry}},
		{"TLS", "Transport", rows{handshakes, cleartextCalls}},
		{"TOK", "Token endpoint: success", rows{tokenAnswer, tokenLife, tokenRequests}},
		{"TER", "Token endpoint: errors", rows{tokenRefusals, errorForm}},
		{"BRR", "Bearer rules on protected resources", rows{anonymousAccess, challenges, presentedTokens, detours, missingRole}},
		{"INF", "Info endpoint", rows{infoAnswer, listedEndpoints}},
		{"SPC", "Specification document", rows{specification, documentContent, documentSecurity}},
		{"API", "Operations against the specification", rows{describedOperations, schemas, guardedRoutes}},
		{"PAG", "Paging, filters, list to detail", rows{pageParameters, pageWalk, filters, listedItems, links}},
		{"ERR", "Error shapes of the API", rows{errorShapes, errorInternals}},
		{"SEC", "Security hygiene", rows{otherCredentials, issuerHygiene}},
		{"VER", "Versioning", rows{versioning}},
		{"JWT", "Access token content", rows{tokenClaims, forgeries}},
		{"ISO", "Isolation between nodes and environments", rows{isolation}},
		{"ROB", "Robustness", rows{oddInput, soundAnswers}},
	}
}

// group returns the rows of the group of an id.
func group(id ID) []Requirement {
	for _, c := range chapters() {
		if c.name == id.Group() {
			return c.sorted()
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
		out = append(out, Group{c.name, c.title, c.sorted()})
	}
	return out
}

// Source is where a requirement is written.
type Source struct {
	// Citations are the places; the quote is from the first one.
	Citations []Citation
	// Derived says that the source implies the requirement and does not spell it out.
	Derived bool
}

// Citation is one place of a source.
type Citation struct {
	Text string // "RFC 6749 §5.1", "Interface document, NET-R11"
	URL  string // link to the section; empty for the interface document, which is not public
}

// cite is a source of one citation.
func cite(text, url string) Source { return Source{Citations: []Citation{{Text: text, URL: url}}} }

// And joins two sources; the quote is from the first one.
func (s Source) And(t Source) Source {
	return Source{Citations: slices.Concat(s.Citations, t.Citations), Derived: s.Derived || t.Derived}
}

// AsDerived marks the requirement as implied by the source.
func (s Source) AsDerived() Source { s.Derived = true; return s }

// Text names all citations: "RFC 6749 §3.2; RFC 6749 §2.3.1".
func (s Source) Text() string {
	names := make([]string, 0, len(s.Citations))
	for _, c := range s.Citations {
		names = append(names, c.Text)
	}
	return strings.Join(names, "; ")
}

// URL is the first link; empty when nothing but the interface document is cited.
func (s Source) URL() string {
	for _, c := range s.Citations {
		if c.URL != "" {
			return c.URL
		}
	}
	return ""
}

// RFC cites a section or an appendix of an RFC: RFC(6749, "5.1"), RFC(6749, "B").
func RFC(number int, section string) Source {
	name, anchor := "§"+section, "section-"+section
	if section != "" && section[0] >= 'A' && section[0] <= 'Z' {
		name, anchor = "Appendix "+section, "appendix-"+section
	}
	return cite(fmt.Sprintf("RFC %d %s", number, name), fmt.Sprintf("https://www.rfc-editor.org/rfc/rfc%d.html#%s", number, anchor))
}

// OAS cites an object of the OpenAPI Specification 3.0.3: OAS("Parameter Object", "parameter-object").
func OAS(object, fragment string) Source {
	return cite("OpenAPI 3.0.3, "+object, "https://spec.openapis.org/oas/v3.0.3.html#"+fragment)
}

// Fetch cites a section of the Fetch standard, which defines CORS: Fetch("CORS protocol and credentials", "cors-protocol-and-credentials").
func Fetch(section, fragment string) Source {
	return cite("WHATWG Fetch, "+section, "https://fetch.spec.whatwg.org/#"+fragment)
}

// Public repositories of the network, cited at a commit, so that line numbers stay right.
const (
	clientRepository = "https://github.com/RIS-Synergy/Import-Tool/blob/682e12597267281921ebbeaf88d408ca421c6e47/"
	nodeRepository   = "https://github.com/mdwRepository/ris-synergy-api/blob/f0bdd15e83de09ed4ddce3c543b8803b9aa368af/"
)

// publishedInfo cites a line of the network's description of the info resource.
func publishedInfo(line int) Source {
	return cite("Public info document of the network, version 1.0", fmt.Sprintf("%sbackend/scripts/fd-openapi/info.json#L%d", clientRepository, line))
}

// networkClient cites a comment in the code of the network's known client, where it reads a list.
func networkClient(line int) Source {
	return cite("Practice of the network's client", fmt.Sprintf("%sbackend/src/features/funding-agency/services/fa-sync.service.ts#L%d", clientRepository, line)).AsDerived()
}

// apiFramework cites a section of the network's public page on its APIs.
func apiFramework(section, fragment string) Source {
	return cite("Public API framework page of the network, "+section, nodeRepository+"docs/api_framework.en.md#"+fragment)
}

// Rule is a binding rule of the network's interface document, "Research-Information Network Interface: Token Authentication and Funding
// Call API". The document is not public, so its words are kept here.
type Rule struct {
	Name string // "R11", cited as NET-R11
	// Place is the heading above the rule, and the rule's number there.
	Place string
	// Words are the text of the document, verbatim: whole sentences and cells of tables.
	Words []string
}

// NET cites a rule of the interface document: NET("R11").
func NET(rule string) Source { return cite(netPrefix+rule, "") }

// netPrefix is what citations of the interface document begin with.
const netPrefix = "Interface document, NET-"

// InterfaceRule finds the rule that a citation names; false for the citation of another source.
func InterfaceRule(c Citation) (Rule, bool) {
	name, ok := strings.CutPrefix(c.Text, netPrefix)
	if !ok {
		return Rule{}, false
	}
	rules := InterfaceRules()
	i := slices.IndexFunc(rules, func(r Rule) bool { return r.Name == name })
	if i < 0 {
		return Rule{}, false
	}
	return rules[i], true
}

// InterfaceRules lists the rules R1 to R20. Each call returns a fresh slice.
func InterfaceRules() []Rule {
	return []Rule{
		{"R1", "What the service does, 1", []string{
			"The service is an HTTP API offered by participating institutions (nodes) of a research-information network.",
			"Each node exposes endpoints described by a machine-readable API specification file."}},
		{"R2", "What the service does, 2", []string{
			"The funding service is one such API.",
			"It lets external API clients retrieve information about annotated funding calls.",
			"The clients show this information in their own internal tools."}},
		{"R3", "What the service does, 3", []string{
			"Each endpoint has published reference documentation with a link to its specification file.",
			"The specification file is a JSON document in the OpenAPI/Swagger style.",
			"It is used to generate client code or server-stub code."}},
		{"R4", "What the service does, 4", []string{
			"The reference documentation offers a try-out mode.",
			"In this mode endpoints can be called without authentication and return sample data."}},
		{"R5", "What the service does, 5; Authentication, 6", []string{
			"Every node runs and manages its own authorization server for the client credentials flow.",
			"Each node decides on its own how its authorization server is run."}},
		{"R6", "What the service does, 6", []string{
			"The token endpoint URL and the info endpoint URL of every participating node are recorded in a registry for production use."}},
		{"R7", "What the service does, 6", []string{
			"A node joins the network by an entry in this registry and an exchange of credentials."}},
		{"R8", "What the service does, 7; Authentication, 5", []string{
			"Separate test endpoints exist for trying the authorization flow: a staging token endpoint and a staging info endpoint.",
			"Test setup: the staging token endpoint and staging info endpoint are available for trying the flow."}},
		{"R9", "Authentication, 1 and 2; Endpoints, 1", []string{
			"The scheme is the standard OAuth 2.0 client credentials flow. The grant type is client_credentials.",
			"The client sends its client ID and client secret to the token endpoint (endpoint 1) and receives an access token in the field access_token.",
			"Content-Type: application/x-www-form-urlencoded",
			"grant_type = client_credentials (fixed value); client_id = <CLIENT_ID>; client_secret = <CLIENT_SECRET>"}},
		{"R10", "Endpoints, 1", []string{
			"{auth_url}/oauth/token",
			"{auth_url}/realms/<realm>/protocol/openid-connect/token"}},
		{"R11", "Access token response; Endpoints, 1", []string{
			"JSON object containing the string field access_token.",
			"Bearer token returned by the token endpoint. Clients read it from this field of the JSON response."}},
		{"R12", "General request rules, 1; Authentication, 2", []string{
			"Every authenticated call to an API endpoint carries the header Authorization with the value \"Bearer\" followed by a space and the access token.",
			"The client sends this token as a bearer token on every request to the API."}},
		{"R13", "Endpoints, 2", []string{
			"{base_url}/<service_prefix>/info/v1/oauth/info/",
			"Authorization: Bearer <ACCESS_TOKEN>; Content-Type: application/json"}},
		{"R14", "Endpoints, 3", []string{
			"{base_url}/<service_prefix>/funding/v3/api-docs",
			"The API specification as a JSON document."}},
		{"R15", "Endpoints, 4", []string{
			"Paths, methods, parameters and payloads of the other operations of the funding API and of other nodes' APIs: not shown.",
			"Their documentation and specification files define them."}},
		{"R16", "Authentication, 3", []string{
			"The operator of the identity provider creates an API client.",
			"The requester receives the Client ID, the Client Secret and the Service Account User ID."}},
		{"R17", "Authentication, 3", []string{
			"In the funding service, the service account is granted the role EXTERNAL_API_CLIENT and the correct affiliation ID.",
			"These properties are managed in the funding service's application."}},
		{"R18", "Authentication, 3", []string{
			"A party interested in consuming the API requests access through a contact form and states that it wants to use the API.",
			"The consuming party receives the Client ID, the Client Secret and the token endpoint address."}},
		{"R19", "Authentication, 4", []string{
			"The client ID and client secret are highly sensitive and are passed on only through a secure channel.",
			"Whoever holds both can act for the service account."}},
		{"R20", "Versioning, 1", []string{
			"The version is part of the path, as a segment of the form v<major>.",
			"The info endpoint is at v1 and the funding API specification is at v3."}},
	}
}
