package exchange

// TokenFacts are what checks may know of an access token after it was replaced by its marker.
type TokenFacts struct {
	// Name is the marker's name: "access_token" for the first client, "access_token2" for the second, with the label it came by.
	Name        string `json:"name"`
	Fingerprint string `json:"fingerprint"`
	Length      int    `json:"length"` // bytes
	// Alphabet says whether the token is a b64token (RFC 6750 §2.1).
	Alphabet bool `json:"alphabet"`
	// Offending is the first byte outside the alphabet as a Go-quoted rune, such as " " or "\n"; empty when Alphabet.
	Offending string `json:"offending,omitempty"`
	// JWT is nil when the token is not a JSON Web Token: an opaque token is fully conformant (RFC 6749 §1.4).
	JWT *JWTFacts `json:"jwt,omitempty"`
}

// JWTFacts are the readable parts of a signed token, redacted and bounded.
type JWTFacts struct {
	Header    map[string]any `json:"header"`
	Claims    map[string]any `json:"claims"`
	Signature bool           `json:"signature"` // the signature segment is not empty
}
