package exchange

import "strconv"

// Resources of credentials beyond the first client's.
const (
	OtherClient     Resource = "token-other"   // the token endpoint, as the client whose tokens are meant for another audience
	StagingEndpoint Resource = "token-staging" // the token endpoint of the staging environment, as its own client
	KeySet          Resource = "jwks"          // the authorization server's published keys
)

// MetadataResource names the n-th place, from 1, where the authorization server may publish its metadata; Given says the issuer that
// the place was made from.
func MetadataResource(n int) Resource { return Resource("metadata/" + strconv.Itoa(n)) }

// Cases of a protected resource with a token that its node did not issue for it. Forged tokens copy the claims of a good one and
// live as long. What differs stands in the exchange's Given and facts.
const (
	AlgNone       Case = "alg-none"       // JWT-09: header alg "none", empty signature
	AlgNoneTitle  Case = "alg-none-title" // alg "None"
	AlgNoneUpper  Case = "alg-none-upper" // alg "NONE"
	SignatureCut  Case = "signature-cut"  // JWT-09: the good token without its signature, its alg kept
	SignatureZero Case = "signature-zero" // JWT-09: the good token with a signature of zero bytes, its alg kept

	HMACPEM     Case = "hmac-pem"      // JWT-10: HS256 with the published key as PEM, its last newline included
	HMACPEMTrim Case = "hmac-pem-trim" // the same without the last newline
	HMACJWK     Case = "hmac-jwk"      // with the published key as JWK, as it was published

	EmbeddedKey Case = "embedded-jwk" // JWT-11: signed with the key that stands in the token's own header
	NamedKeySet Case = "jku"          // the header names a key set on a host that does not exist (RFC 2606)
	BorrowedKID Case = "borrowed-kid" // signed with an own key under the kid of the node's key

	ForeignKey    Case = "foreign-key"    // ISO-01: claims copied, iss included, own key under a kid that nobody knows
	ForeignIssuer Case = "foreign-issuer" // the same with iss "https://conformance.invalid"
	StagingToken  Case = "staging-token"  // ISO-02: a token of the staging environment
	OtherAudience Case = "other-audience" // ISO-03: a token of the other client

	Expired      Case = "expired"        // BRR-10: a token that has expired; Given says whether it was waited for or given
	ExpiredAgain Case = "expired-again"  // only if the first was answered 2xx: the same a minute later, for caches of introspection
	TokenInQuery Case = "token-in-query" // BRR-14: a throw-away token in the parameter access_token, no Authorization
)

// Cases of the token endpoint, of metadata and of the key set.
const (
	SecretInURL Case = "secret-in-url" // SEC-05: client_id and client_secret in the query
	Throwaway   Case = "throw-away"    // the good request; its token is used for TokenInQuery and for nothing else
	ToExpire    Case = "to-expire"     // the good request; its token is used for Expired and for nothing else
	Published   Case = "published"     // metadata and key set: the anonymous request
	Refetched   Case = "refetched"     // JWT-08: the key set once more, only if the first one lacks the key of the token
)
