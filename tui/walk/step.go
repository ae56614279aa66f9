package walk

// Step is one part of the walk.
type Step int

// The steps, in their order.
const (
	Node Step = iota
	Credentials
	Token
	Reading
	Info
	Specification
	Calls
	WhatIf
	Certify
	TakeAway
)

// Guide is what a person is told of a step before anything is sent.
type Guide struct {
	Step Step
	// Name is its word on the command line.
	Name string
	// Title is its headline.
	Title string
	// Why says in a few sentences what the step is for.
	Why string
	// Rule is the sentence of the interface document, or of an RFC, that asks for it, with its place.
	Rule string
}

// Guides are the steps in their order.
func Guides() []Guide {
	return []Guide{
		{Node, "node", "Choose a node",
			"A node is an API with research information and an authorization server of its own. The registry of the network lists the nodes, each with two URLs: where tokens are issued, and where the info resource is. Everything else follows from these.",
			"NET-R6: the production registry records every node's token URL and info URL."},
		{Credentials, "credentials", "Present your client",
			"A client is registered at the node's authorization server, by its operator and on request. It is given a client ID and a client secret. Whoever has both can act in its name: they are kept where programs find them and people don't, and never on a command line.",
			"NET-R16, NET-R19: creating a client yields Client ID, Client Secret and Service Account User ID; ID and secret are highly sensitive."},
		{Token, "token", "Ask for an access token",
			"The client proves who it is to the authorization server, and receives an access token. The API never sees the secret: it sees the token, which is good for some minutes. This is OAuth 2.0 with the client credentials grant.",
			"NET-R9: POST, application/x-www-form-urlencoded, with grant_type=client_credentials, client_id and client_secret (RFC 6749 §4.4)."},
		{Reading, "reading", "Read the token",
			"To a client a token is a text to send back, no more. Many are JSON Web Tokens all the same, and a look inside explains a refusal: who issued it, for whom, until when. The API checks its signature with the keys that the authorization server publishes.",
			"RFC 6749 §1.4: the string is usually opaque to the client. RFC 9068 says what a JWT access token holds."},
		{Info, "info", "Call the info resource",
			"The first call with the token. Info says which APIs the node offers, in which version, and where. A client that asks here goes on working when a node moves something.",
			"NET-R12, NET-R13: Authorization: Bearer <token>; GET {base_url}/<service_prefix>/info/v1/oauth/info/."},
		{Specification, "specification", "Read the specification",
			"The node describes its API in an OpenAPI document: operations, parameters, the shape of the answers. Clients can be generated from it, and everything after this step is asked as it says.",
			"NET-R14: GET {base_url}/<service_prefix>/funding/v3/api-docs returns the specification as JSON."},
		{Calls, "calls", "Read funding calls",
			"What it was all for: the funding calls, for your own tools. The list can be filtered and read page by page, and each item has a page of its own. Texts come in German and in English.",
			"NET-R2: external clients fetch annotated calls. NET-R17: the account needs the role EXTERNAL_API_CLIENT and an affiliation ID."},
		{WhatIf, "what-if", "What if …",
			"A client shows its quality when something goes wrong. Here each mistake is made on purpose, so that you see what a node answers to it, and by which rule. A node that answers otherwise has a fault.",
			"RFC 6750 §3: a refusal carries a challenge that says what is missing."},
		{Certify, "certify", "Certify the node",
			"The whole conformance suite asks the node everything that a client may rely on, and judges the answers. It takes some seconds on this machine and about a minute over a network, at the pace of a polite guest.",
			"The catalogue has 130 requirements; rin explain ID tells each with its source."},
		{TakeAway, "take-away", "Take it with you",
			"Everything that was sent on this walk, as a shell script, as curl lines, as code in Go and Python, and as a recording (HAR) for your browser's tools. Secrets are not in it: it reads them from your environment.",
			"NET-R19: ID and secret travel through a secure channel only."},
	}
}

// Guide is what is told of the step.
func (s Step) Guide() Guide { return Guides()[s] }
