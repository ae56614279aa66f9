package auth

import (
	"github.com/go-jose/go-jose/v4/jwt"
)

// tokenType is the "typ" of an access token that is a JWT (RFC 9068 §2.1).
const tokenType = "at+jwt"

// Claims is the content of an access token (RFC 9068 §2.2). Times are seconds since 1970.
type Claims struct {
	Issuer   string           `json:"iss"`
	Subject  string           `json:"sub"`
	Audience jwt.Audience     `json:"aud,omitempty"`
	ClientID string           `json:"client_id,omitempty"`
	IssuedAt *jwt.NumericDate `json:"iat,omitempty"`
	Expires  *jwt.NumericDate `json:"exp,omitempty"`
	ID       string           `json:"jti,omitempty"`
	Scope    string           `json:"scope,omitempty"`
	// NotBefore and AuthorizedParty are read in the tokens of foreign issuers and never written.
	NotBefore       *jwt.NumericDate `json:"nbf,omitempty"`
	AuthorizedParty string           `json:"azp,omitempty"`
}

// Principal is whom a verified token speaks for.
type Principal struct {
	// ClientID is the client that asked for the token.
	ClientID string
	// Subject is the service account (NET-R16).
	Subject string
	// ForeignIssuer is the issuer when it is another authorization server; empty for the node's own.
	ForeignIssuer string
}
