package deviation

import (
	"net/http"
	"strings"
)

// challengeHabits are unusual challenges that say the same.
func challengeHabits() []Deviation {
	return []Deviation{
		{
			Name: "challenge-among-others",
			Why:  "The Bearer challenge stands behind two others in one header line, whose parameters hold commas, as IIS with Windows authentication sends it.",
			Wrap: challenges(func(bearer string) []string {
				return []string{`Negotiate, Basic realm="files, mail and more", ` + bearer}
			}),
		},
		{
			Name: "challenge-before-others",
			Why:  "Another challenge follows the Bearer challenge in the same header line, as APIs send it that take Basic as well.",
			Wrap: challenges(func(bearer string) []string { return []string{bearer + `, Basic realm="ris", charset="UTF-8"`} }),
		},
		{
			Name: "challenge-in-a-line-of-its-own",
			Why:  "Each challenge has a header line, Bearer comes last, as ASP.NET Core sends it with several schemes.",
			Wrap: challenges(func(bearer string) []string {
				return []string{"Negotiate", "NTLM", `Digest realm="a", nonce="bm9uY2U=", qop="auth, auth-int"`, bearer}
			}),
		},
		{
			Name: "challenge-in-lower-case",
			Why:  "The scheme of the challenge is spelled bearer, and its parameters in capitals; neither has a case.",
			Wrap: challenges(func(bearer string) []string {
				_, rest, _ := strings.Cut(bearer, " ")
				return []string{"bearer " + strings.NewReplacer("realm=", "Realm=", "error=", "ERROR=").Replace(rest)}
			}),
		},
		{
			Name: "challenge-without-quotes",
			Why:  "Realm and error stand in the challenge without quotes, which single words may.",
			Wrap: challenges(func(bearer string) []string { return []string{"Bearer realm=ris" + unquoted(bearer)} }),
		},
		{
			Name: "challenge-oddly-spaced",
			Why:  "There are blanks around the equals signs, tabs and an empty member in the challenge; the grammar of HTTP has room for all of them.",
			Wrap: challenges(func(bearer string) []string {
				return []string{"Bearer realm = \"ris\" ,\t," + strings.Replace(strings.TrimPrefix(unquoted(bearer), ","), "=", " =\t", 1)}
			}),
		},
		{
			Name: "challenge-with-escapes",
			Why:  "The realm has quotes and commas in it, escaped as HTTP wants it.",
			Wrap: challenges(func(bearer string) []string {
				_, rest, _ := strings.Cut(bearer, `", `)
				if rest != "" {
					rest = ", " + rest
				}
				return []string{`Bearer realm="research \"information\", node 1, \\ris"` + rest}
			}),
		},
		{
			Name: "challenge-with-metadata",
			Why:  "The challenge names the scope and where the resource is described, as RFC 9728 has it.",
			Wrap: challenges(func(bearer string) []string {
				return []string{bearer + `, scope="ris.read ris.list", resource_metadata="https://node.example/.well-known/oauth-protected-resource"`}
			}),
		},
		{
			Name: "refusals-of-spring", Warns: []string{"BRR-05"},
			Why: "An anonymous call gets a bare Bearer, a bad token an error_description and an error_uri, and no refusal has a body: Spring Security unchanged.",
			Wrap: reword(func(r *http.Request, a *Answer) {
				challenge := a.Header.Get("WWW-Authenticate")
				switch {
				case challenge == "":
					return
				case anonymous(r):
					challenge = "Bearer"
				case a.Status == http.StatusForbidden:
					challenge = `Bearer error="insufficient_scope", error_description="The request requires higher privileges than provided by the access token.", ` +
						`error_uri="https://tools.ietf.org/html/rfc6750#section-3.1"`
				default:
					a.restate(http.StatusUnauthorized)
					challenge = `Bearer error="invalid_token", error_description="An error occurred while attempting to decode the Jwt: Malformed token", ` +
						`error_uri="https://tools.ietf.org/html/rfc6750#section-3.1"`
				}
				a.become(a.Status, "", "")
				a.challenge(challenge)
			}, protected()...),
		},
	}
}

// challenges makes a Wrap that replaces the challenge of each refusal of a protected resource by header lines.
func challenges(replace func(bearer string) []string) wrap {
	return rewrite(func(_ *http.Request, a *Answer) {
		if bearer := a.Header.Get("WWW-Authenticate"); strings.HasPrefix(bearer, "Bearer ") {
			a.Header["Www-Authenticate"] = replace(bearer)
		}
	}, protected()...)
}

// unquoted is the error of a challenge as a parameter without quotes, empty when there is none.
func unquoted(challenge string) string {
	_, rest, found := strings.Cut(challenge, `error="`)
	code, _, _ := strings.Cut(rest, `"`)
	if !found {
		return ""
	}
	return ", error=" + code
}
