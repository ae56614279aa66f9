package deviation

import (
	"bytes"
	"net/http"
)

// tokenDeviations break what a good token request is answered with.
func tokenDeviations() []Deviation {
	return []Deviation{
		{
			Name: "token-basic-only", Breaks: []string{"TOK-01"},
			Why: "Client credentials in the body are refused, HTTP Basic alone is read: the default of Spring Authorization Server and ORDS.",
			Wrap: exchange(func(q tokenRequest, a *Answer) {
				if !q.basic && a.ok() {
					a.refuse(http.StatusUnauthorized, "invalid_client")
				}
			}),
		},
		{
			Name: "token-member-renamed", Breaks: []string{"TOK-01"},
			Why: "The token stands in the member token, as in logins made by hand.",
			Wrap: granted(func(answer map[string]any) {
				answer["token"] = answer["access_token"]
				delete(answer, "access_token")
			}),
		},
		{
			Name: "token-in-envelope", Breaks: []string{"TOK-01"},
			Why: "The token answer is wrapped into data, as frameworks wrap every resource.",
			Wrap: rewrite(when(succeeded, func(_ *http.Request, a *Answer) {
				a.edit(func(value any) any { return map[string]any{"data": value} })
			}), Token),
		},
		{
			Name: "token-status-201", Breaks: []string{"TOK-02"},
			Why:  "The token endpoint answers 201 Created, as frameworks do for a POST that makes something.",
			Wrap: rewrite(when(succeeded, status(http.StatusCreated)), Token),
		},
		{
			Name: "token-text-plain", Breaks: []string{"TOK-03"},
			Why:  "The token answer is declared as text/plain, because the script that writes it sets no media type.",
			Wrap: rewrite(when(succeeded, field("Content-Type", "text/plain; charset=utf-8")), Token),
		},
		{
			Name: "token-vendor-json", Breaks: []string{"TOK-03"},
			Why:  "The token answer has a media type of its own that is only built on JSON.",
			Wrap: rewrite(when(succeeded, field("Content-Type", "application/vnd.token+json")), Token),
		},
		{
			Name: "token-type-missing", Breaks: []string{"TOK-04"},
			Why:  "The token answer lacks token_type.",
			Wrap: granted(drop("token_type")),
		},
		{
			Name: "token-type-mac", Breaks: []string{"TOK-05"},
			Why:  "The token is issued as type mac, which bearer clients cannot use.",
			Wrap: granted(put("token_type", "mac")),
		},
		{
			Name: "token-type-dpop", Breaks: []string{"TOK-05"},
			Why:  "The token is issued as type DPoP, as Keycloak does for a client with proof of possession switched on.",
			Wrap: granted(put("token_type", "DPoP")),
		},
		{
			Name: "token-cacheable", Breaks: []string{"TOK-06"},
			Why:  "The token answer may be kept for a minute: a proxy put its own Cache-Control in the place of no-store.",
			Wrap: rewrite(when(succeeded, field("Cache-Control", "max-age=60")), Token),
		},
		{
			Name: "token-private-only", Breaks: []string{"TOK-06"},
			Why:  "The token answer says private, which still lets browsers and clients store it.",
			Wrap: rewrite(when(succeeded, field("Cache-Control", "private")), Token),
		},
		{
			Name: "token-without-pragma", Breaks: []string{"TOK-07"},
			Why:  "The token answer lacks Pragma: no-cache, as newer authorization servers leave it out.",
			Wrap: rewrite(when(succeeded, field("Pragma", "")), Token),
		},
		{
			Name: "token-member-twice", Breaks: []string{"TOK-03"},
			Why: "The token answer holds expires_in twice, with two values: a gateway adds its own before the authorization server's.",
			Wrap: rewrite(when(succeeded, func(_ *http.Request, a *Answer) {
				a.Body = bytes.Replace(a.Body, []byte(`"expires_in":`), []byte(`"expires_in":3600,"expires_in":`), 1)
			}), Token),
		},
		{
			Name: "token-byte-order-mark", Breaks: []string{"TOK-03"},
			Why:  "The token answer begins with a byte order mark: a script that was saved on Windows.",
			Wrap: rewrite(when(succeeded, func(_ *http.Request, a *Answer) { a.Body = append([]byte("\uFEFF"), a.Body...) }), Token),
		},
	}
}
