package exchange

// Resources of the themes registry and transport. They are no part of the node's API: rows that look at all calls of a resource do
// not meet them.
const (
	// RecordedToken and RecordedInfo are the URLs of the registry entry, asked when the operator gave others of the same origin.
	RecordedToken Resource = "entry/token"
	RecordedInfo  Resource = "entry/info"
	// CleartextToken, CleartextInfo and CleartextList are the same paths over plain HTTP, without any real credential.
	CleartextToken Resource = "cleartext/token"
	CleartextInfo  Resource = "cleartext/info"
	CleartextList  Resource = "cleartext/list"
)

// Handshakes are asked of each distinct origin, under the name of the first URL that has it.
const (
	TokenOrigin Resource = "tls/token"
	InfoOrigin  Resource = "tls/info"
	SpecOrigin  Resource = "tls/spec"
	BaseOrigin  Resource = "tls/base"
)

// Cases of those resources.
const (
	Modern       Case = "modern"    // a handshake that offers TLS 1.2 and 1.3
	TLS11        Case = "tls11"     // a handshake that offers TLS 1.1 alone
	TLS10        Case = "tls10"     // a handshake that offers TLS 1.0 alone
	SamePort     Case = "same-port" // plain HTTP on the port of the https URL
	StandardPort Case = "port-80"   // plain HTTP on its own port
)
