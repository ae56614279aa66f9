package auth

import (
	"context"
	"net/http"
)

type audienceKey struct{}

// ForAudience makes the token endpoint answer r with a token for another audience than the client's.
func ForAudience(r *http.Request, audience string) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), audienceKey{}, audience))
}

// audienceOf is the audience that the token of r is for: one that was asked for on the way, else the client's.
func audienceOf(r *http.Request, client string) string {
	if other, asked := r.Context().Value(audienceKey{}).(string); asked {
		return other
	}
	return client
}
