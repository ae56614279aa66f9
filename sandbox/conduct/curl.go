package conduct

import (
	"net/url"
	"slices"
	"strings"

	"github.com/rin-network/rin/sandbox/journal"
)

// curl is the command with which the client does right what a sighting did wrong; empty when what was meant can't be told.
func curl(client string, r Rule, s Sighting) string {
	first := *s.Entries[0]
	first.Client = client
	e := &first
	if e.Origin == "" {
		return ""
	}
	switch {
	case e.Node == "" || r.ID == "CLT-22":
		return "curl -s " + quoted(e.Origin+"/registry/registry.json")
	case token(e) || r.ID == "CLT-13" || asksForToken(r.ID):
		return tokenCommand(e)
	case api(e) || e.Operation == journal.Other:
		command := `curl -sg -H "Authorization: Bearer $TOKEN" `
		if r.ID == "CLT-24" || r.ID == "CLT-25" { // the header shows whether there is a next page
			e = s.Entries[len(s.Entries)-1]
			command = `curl -sgD - -H "Authorization: Bearer $TOKEN" `
		}
		if busy(e) {
			command = `curl -sg --retry 3 -H "Authorization: Bearer $TOKEN" `
		}
		if e.Operation == journal.Info {
			command += `-H 'Content-Type: application/json' `
		}
		return command + quoted(e.Origin+(&url.URL{Path: e.Path}).EscapedPath()+right(e))
	}
	return "curl -sg " + quoted(e.Origin+(&url.URL{Path: e.Path}).EscapedPath()+right(e))
}

// asksForToken tells whether a rule is kept by asking for a token.
func asksForToken(id ID) bool {
	return slices.Contains([]ID{"CLT-01", "CLT-02", "CLT-03", "CLT-04", "CLT-06", "CLT-08"}, id)
}

func tokenCommand(e *journal.Entry) string {
	field := quoted("client_id=" + e.Client)
	if e.Client == "" {
		field = `"client_id=$RIN_CLIENT_ID"`
	}
	return "curl -s -d grant_type=client_credentials --data-urlencode " + field +
		` --data-urlencode "client_secret=$RIN_CLIENT_SECRET" ` + quoted(e.Origin+e.TokenPath)
}

// right is the query of a request without credentials, without what the document does not have, and without what was refused.
func right(e *journal.Entry) string {
	var kept []string
	for part := range strings.SplitSeq(e.Query, "&") {
		name, _, _ := strings.Cut(part, "=")
		plain, err := url.QueryUnescape(name)
		refused := e.Refusal != nil && e.Refusal.Parameter == plain
		hidden := strings.Contains(part, "***") || strings.Contains(part, "…")
		if part == "" || err != nil || refused || hidden || slices.Contains(e.Ignored, plain) {
			continue
		}
		kept = append(kept, part)
	}
	if len(kept) == 0 {
		return ""
	}
	return "?" + strings.Join(kept, "&")
}

// quoted is a word for a POSIX shell, whatever it holds. Control characters, which no terminal should see, are left out.
func quoted(text string) string {
	text = strings.Map(func(c rune) rune {
		if c < 0x20 || c == 0x7f {
			return -1
		}
		return c
	}, text)
	plain := strings.IndexFunc(text, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-._:/=,@", c))
	}) < 0
	if plain && text != "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
