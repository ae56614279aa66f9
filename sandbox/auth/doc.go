// Package auth is the node's authorization server and the guard of its protected resources.
//
// The authorization server authenticates clients (RFC 6749 §2.3.1), issues access tokens for the client credentials
// grant (§4.4, NET-R9, NET-R10) and publishes its keys and metadata (RFC 7517, RFC 8414). It knows clients and their
// secrets, and nothing of roles or affiliations: those are in the funding service's own book (NET-R17).
//
// The guard stands before protected resources. It reads the bearer token (RFC 6750), verifies it and hands the
// resource a Principal. What the principal may do is decided by the resource.
package auth
