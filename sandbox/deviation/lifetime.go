package deviation

import (
	"net/http"
	"strings"
)

// lifetimeDeviations break lifetime and syntax of the token.
func lifetimeDeviations() []Deviation {
	return []Deviation{
		{
			Name: "lifetime-missing", Breaks: []string{"TOK-08"},
			Why:  "The token answer does not say how long the token lives.",
			Wrap: granted(drop("expires_in")),
		},
		{
			Name: "lifetime-as-text", Breaks: []string{"TOK-09"},
			Why:  "The lifetime is sent as text, \"3600\", as loosely typed languages do.",
			Wrap: granted(put("expires_in", "3600")),
		},
		{
			Name: "lifetime-as-date", Breaks: []string{"TOK-09"},
			Why:  "The member expires_in holds the point in time at which the token expires.",
			Wrap: granted(put("expires_in", 1_900_000_000)),
		},
		{
			Name: "lifetime-negative", Breaks: []string{"TOK-09"},
			Why:  "The lifetime is -1 for tokens without an end.",
			Wrap: granted(put("expires_in", -1)),
		},
		{
			Name: "lifetime-of-a-year", Breaks: []string{"TOK-10"},
			Why:  "The token lives for a year, so that nobody need fetch a new one.",
			Wrap: living(31_536_000),
		},
		{
			Name: "lifetime-of-a-working-day", Breaks: []string{"TOK-10"},
			Why:  "The token lives for ten hours, as browser sessions do.",
			Wrap: living(36_000),
		},
		{
			Name: "lifetime-under-a-minute", Breaks: []string{"TOK-10"},
			Why:  "The token lives for 50 seconds, shorter than many a list takes to read.",
			Wrap: living(50),
		},
		{
			Name: "refresh-token-issued", Breaks: []string{"TOK-11"},
			Why:  "A refresh token comes with the client credentials grant, as older Keycloak versions did by default.",
			Wrap: granted(put("refresh_token", "bm90LWZvci10aGlzLWdyYW50")),
		},
		{
			Name: "token-holds-its-scheme", Breaks: []string{"TOK-12"},
			Why:  "The member access_token begins with the word Bearer and a blank, ready to be copied into a header.",
			Wrap: prefixed("Bearer "),
		},
		{
			Name: "token-too-long", Breaks: []string{"TOK-12"},
			Why:  "The token is longer than a header line may be in nginx and Tomcat, as Keycloak makes them for accounts with many roles.",
			Wrap: prefixed(strings.Repeat("~", 8200)),
		},
	}
}

// prefixed makes a Wrap that puts prefix before each token it issues, and takes it away again at the API.
func prefixed(prefix string) wrap {
	issue := granted(func(answer map[string]any) {
		if token, ok := answer["access_token"].(string); ok {
			answer["access_token"] = prefix + token
		}
	})
	accept := readmit(func(r *http.Request, _ Env) *http.Request {
		scheme, token := credential(r)
		if rest, ours := strings.CutPrefix(token, prefix); ours {
			return authorized(r, scheme+" "+rest)
		}
		return r
	}, protected()...)
	return func(next http.Handler, env Env) http.Handler { return issue(accept(next, env), env) }
}
