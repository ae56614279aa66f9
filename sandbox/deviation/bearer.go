package deviation

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
)

func bearerDeviations() []Deviation {
	return []Deviation{
		{
			Name:   "signature-not-verified",
			Why:    "The payload of the token is decoded and believed; its signature is not verified.",
			Breaks: []string{"BRR-09"},
			Wrap:   readmit(believePayload, Info, FundingList, FundingDetail),
		},
		{
			Name:   "detail-unprotected",
			Why:    "The detail operation was forgotten when the guard was put before the routes.",
			Breaks: []string{"API-08"},
			Wrap: readmit(func(r *http.Request, env Env) *http.Request {
				return env.admit(r)
			}, FundingDetail),
		},
	}
}

// believePayload admits the client that the payload of a JWT names, unless the token is past its exp.
func believePayload(r *http.Request, env Env) *http.Request {
	claims, ok := bearerClaims(r)
	if !ok || float64(env.Now().Unix()) >= claims.Expires {
		return r
	}
	if _, known := env.Client(claims.ClientID); !known {
		return r
	}
	return env.admitAs(r, claims.ClientID)
}

// tokenClaims are the claims that deviations look at.
type tokenClaims struct {
	Issuer   string  `json:"iss"`
	ClientID string  `json:"client_id"`
	Expires  float64 `json:"exp"`
}

// bearerClaims decodes the payload of the bearer token of r without verifying anything.
func bearerClaims(r *http.Request) (claims tokenClaims, ok bool) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	parts := strings.Split(strings.TrimSpace(token), ".")
	if !strings.EqualFold(scheme, "Bearer") || len(parts) != 3 {
		return claims, false
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return claims, false
	}
	return claims, json.Unmarshal(payload, &claims) == nil
}
