package requirement

import (
	"slices"
	"strings"
)

// Rule is a binding rule of the network's interface document, "Research-Information Network Interface: Token Authentication and Funding
// Call API". The document is not public, so its words are kept here.
type Rule struct {
	Name string // "R11", cited as NET-R11
	// Place is the heading under which the rule stands, and its number there.
	Place string
	// Words are what the document says, verbatim: whole sentences and cells of tables.
	Words []string
}

// NET cites a rule of the interface document: NET("R11").
func NET(rule string) Source { return cite(netPrefix+rule, "") }

// netPrefix is what citations of the interface document begin with.
const netPrefix = "Interface document, NET-"

// InterfaceRule finds the rule that a citation names; there is none for the citation of an RFC.
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
