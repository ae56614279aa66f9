package requirement

import (
	"fmt"
	"slices"
	"strings"
)

// Source is where a requirement is written.
type Source struct {
	// Citations are the places. The quote of a requirement is from the first one.
	Citations []Citation
	// Derived says that the source implies the requirement and does not spell it out.
	Derived bool
}

// Citation is one place of a source.
type Citation struct {
	Text string // "RFC 6749 §5.1", "Interface document, NET-R11"
	URL  string // link to the section; empty for the interface document, which is not public
}

// cite returns a source of one citation.
func cite(text, url string) Source { return Source{Citations: []Citation{{Text: text, URL: url}}} }

// And joins two sources. The quote of a requirement is from the first one.
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

// URL returns the first link, or "" if only the interface document is cited.
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
	Name string // "R11"; see also [Rule.ShortName]
	// Place is the heading above the rule, and the rule's number there.
	Place string
	// Words are the text of the document, verbatim: whole sentences and cells of tables.
	Words []string
}

// NET cites a rule of the interface document: NET("R11").
func NET(rule string) Source { return cite(netPrefix+rule, "") }

// netPrefix begins each citation of the interface document.
const netPrefix = "Interface document, NET-"

// InterfaceRule finds the rule that a citation names. It returns false for the citation of another source.
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

// FindRule finds a rule of the interface document by its short name: "NET-R3".
func FindRule(shortName string) (Rule, bool) {
	return InterfaceRule(NET(strings.TrimPrefix(shortName, "NET-")).Citations[0])
}

// RequirementsCiting lists the requirements that cite a rule of the interface document.
func RequirementsCiting(rule Rule) []Requirement {
	return slices.DeleteFunc(Catalogue(), func(r Requirement) bool {
		return !slices.ContainsFunc(r.Source.Citations, func(c Citation) bool {
			cited, ok := InterfaceRule(c)
			return ok && cited.Name == rule.Name
		})
	})
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

// Uncovered is a binding rule of the interface document, or a part of one, that no requirement judges.
type Uncovered struct {
	Rule Rule
	// Part names the part of the rule that no requirement judges; empty if no requirement cites the rule at all.
	Part string
	// Because is the reason, in lower case and without a final dot.
	Because string
}

// UncoveredRules lists the rules that a certificate does not cover, because nobody can check them from outside. Each rule of the interface document is
// cited by a requirement or listed here; a rule with a Part is both cited and listed.
func UncoveredRules() []Uncovered {
	reasons := map[string]Uncovered{
		"R3":  {Part: "the reference documentation of each endpoint", Because: "the interface document does not say where that documentation is published; find the documentation, and follow its link to the specification file"},
		"R4":  {Because: "the address of the try-out mode is not specified; try a call from the reference documentation"},
		"R5":  {Because: "who runs an authorization server cannot be seen from outside, and how is up to the node"},
		"R8":  {Part: "the staging endpoints themselves", Because: "their addresses are not recorded in the registry; ask the node's operator"},
		"R10": {Because: "clients use the token URL that is recorded, whatever its path"},
		"R16": {Because: "how an API client is created is agreed between people"},
		"R17": {Part: "the correct affiliation ID of the service account", Because: "no answer shows which affiliation is correct; the operator of the funding service can check it in the service's application"},
		"R18": {Because: "how access is requested is agreed between people"},
		"R19": {Part: "the secure channel for client ID and secret", Because: "credentials are handed over outside of the API"},
	}
	var out []Uncovered
	for _, rule := range InterfaceRules() {
		if u, listed := reasons[rule.Name]; listed {
			u.Rule = rule
			out = append(out, u)
		}
	}
	return out
}

// ShortName returns the name of the rule for reports and commands: "NET-R3".
func (r Rule) ShortName() string { return "NET-" + r.Name }
