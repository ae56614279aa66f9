package page

import (
	"net/url"
	"slices"
	"strings"
)

// command is something to be copied into a terminal.
type command struct{ Title, Line string }

// commands take a client the whole way: registry, token, info, list, and the list without a token. They work as they stand when the secret may be
// told.
func (c startPage) commands() []command {
	curl := "curl -sg" // -g: brackets in a URL are meant
	if c.TLS {
		curl += " --cacert rin-sandbox-ca.pem"
	}
	if c.Node == nil {
		return nil
	}
	at := c.Node.Places
	id, secret := "CLIENT_ID", "CLIENT_SECRET"
	if i := slices.IndexFunc(c.Clients, func(k Client) bool { return k.Token == c.Token }); i >= 0 {
		id, secret = url.QueryEscape(c.Clients[i].ID), url.QueryEscape(c.Clients[i].Secret)
	}
	ask := func(path string) string { return quote(c.Origin + path) }
	bearer := ` -H "Authorization: Bearer $TOKEN" `
	return []command{
		{"The registry", curl + " " + ask(at.Registry())},
		{"An access token", "TOKEN=$(" + curl + " " + ask(c.Token) + " \\\n  -d grant_type=client_credentials \\\n" +
			"  -d client_id=" + id + " \\\n  -d client_secret=" + secret + " \\\n" +
			`  | sed 's/.*"access_token":"\([^"]*\)".*/\1/')`},
		{"Does it work?", curl + bearer + "\\\n  " + ask(at.Info())},
		{"Two open calls", curl + bearer + "\\\n  " + ask(at.Fundings()+"?runningCalls=true&page[size]=2")},
		{"The same without a token, to try out", curl + " \\\n  " + ask(at.TryOut().Fundings()+"?runningCalls=true&page[size]=2")},
	}
}

// quote makes one word of a shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
