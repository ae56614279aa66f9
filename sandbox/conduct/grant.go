package conduct

import (
	"fmt"
	"strings"

	"github.com/rin-network/rin/sandbox/journal"
)

func grantRules() []Rule {
	return []Rule{
		{
			ID: "CLT-10", Level: Fault, Title: "A token is asked for with POST",
			Sources: []Source{rfc(6749, "3.2"), network(9)},
			Why:     "GET has no body: id and secret end up in the URL.",
			Fix:     "send a POST with the form in its body",
			check: each(func(e *journal.Entry) bool { return token(e) && e.Status == 405 },
				func(e *journal.Entry) string { return e.Method + " " + e.Path + " was refused" }),
		},
		{
			ID: "CLT-11", Level: Fault, Title: "A token request is a form",
			Sources: []Source{rfc(6749, "4.4.2"), network(9)},
			Why:     "Authorization servers read application/x-www-form-urlencoded and nothing else; JSON is the usual mistake, a missing Content-Type the next.",
			Fix:     "send Content-Type: application/x-www-form-urlencoded, with grant_type, client_id and client_secret as form fields",
			check: each(func(e *journal.Entry) bool {
				return token(e) && e.Method == "POST" && e.Status == 400 && !form(e) && !exposes(e, secretName)
			},
				func(e *journal.Entry) string {
					if e.ContentType == "" {
						return "a token request had no Content-Type"
					}
					return "a token request came as " + e.ContentType
				}),
		},
		{
			ID: "CLT-12", Level: Fault, Title: "A token request is complete and for client_credentials",
			Sources: []Source{rfc(6749, "4.4.2"), rfc(6749, "5.2"), network(9)},
			Why:     "Another grant, a missing or doubled field, or credentials in two places at once are refused by every server, each in its own words.",
			Fix:     "send grant_type=client_credentials, and id and secret either as form fields or as HTTP Basic",
			check: each(func(e *journal.Entry) bool {
				incomplete := e.Status == 401 && e.Secret == "" && e.Issued == nil
				return token(e) && e.Method == "POST" && form(e) && !exposes(e, secretName) && (e.Status == 400 || e.Status == 413 || incomplete)
			}, func(e *journal.Entry) string {
				return fmt.Sprintf("a token request was refused (%s): %s", code(e), detail(e))
			}),
		},
		{
			ID: "CLT-13", Level: Fault, Title: "The token endpoint is the one of the node's registry entry",
			Sources: []Source{network(6), network(10)},
			Why:     "Token endpoints differ from node to node: a path put together in the client, or copied from another node, finds no realm or somebody else's.",
			Fix:     "read the token endpoint (oauth2) from the node's entry in the registry, and use it as it stands",
			check: each(func(e *journal.Entry) bool {
				lost := strings.Contains(e.Path, "/realms/") || strings.HasSuffix(strings.TrimSuffix(e.Path, "/"), "/token")
				return e.Operation == journal.Other && e.Status == 404 && lost
			}, func(e *journal.Entry) string { return call(e) + " was not found: " + detail(e) }),
		},
	}
}

// form tells whether a request came as the form that token endpoints take.
func form(e *journal.Entry) bool {
	mediaType, _, _ := strings.Cut(e.ContentType, ";")
	return strings.EqualFold(strings.TrimSpace(mediaType), "application/x-www-form-urlencoded")
}
