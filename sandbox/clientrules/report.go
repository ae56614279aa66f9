package clientrules

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/rin-network/rin/sandbox/content"
	"github.com/rin-network/rin/sandbox/journal"
)

// SchemaVersion is the version of the JSON report. Within a version, members may be added, but none changes its meaning.
const SchemaVersion = "rin.conduct/v1"

// Report is the judgement of the clients of a network.
type Report struct {
	Schema string `json:"schema"`
	// Requests is the number of requests that were judged.
	Requests int `json:"requests"`
	// NotJudged is the number of requests that are not judged: those for the try-out space, the pages and
	// the health check, and those of a conformance suite, which breaks rules on purpose.
	NotJudged int `json:"aside"`
	// Dropped is the number of earlier requests that the journal no longer holds.
	Dropped uint64 `json:"dropped"`
	// Clients has a report for each client, the worst findings first.
	Clients []ClientReport `json:"clients"`
	// Unlisted is the number of further clients that the report leaves out.
	Unlisted int `json:"unlisted,omitempty"`
}

// ClientReport is the judgement of one client.
type ClientReport struct {
	// Client is the id of the client; empty for the requests whose client is unknown.
	Client string `json:"client"`
	// Proven reports that the client was authenticated at least once.
	Proven bool `json:"proven"`
	// Nodes are the nodes that the client called, Agents the names of its programs (User-Agent).
	Nodes  []string `json:"nodes"`
	Agents []string `json:"userAgents"`
	// First and Last are the times of its first and its last request.
	First time.Time `json:"first"`
	Last  time.Time `json:"last"`
	// Requests counts all requests of the client, Calls those for protected resources, Tokens those that returned a token, Refused those that were
	// answered with 4xx, Failed those that were answered with 5xx, in part, or not at all.
	Requests int `json:"requests"`
	Calls    int `json:"calls"`
	Tokens   int `json:"tokens"`
	Refused  int `json:"refused"`
	Failed   int `json:"failed"`
	// Findings are the rules that the client broke, the worst first.
	Findings []Finding `json:"findings"`
}

// Finding is a rule that a client broke.
type Finding struct {
	Rule    ID       `json:"rule"`
	Title   string   `json:"title"`
	Level   Level    `json:"level"`
	Sources []Source `json:"sources"`
	Why     string   `json:"why"`
	Fix     string   `json:"fix"`
	// Count is the number of events; Seen has the first few.
	Count int     `json:"count"`
	Seen  []Event `json:"seen"`
	// Curl is a correct command that replaces a request of the first event, see [curl]; $RIN_CLIENT_SECRET and $TOKEN stand for the credentials.
	Curl string `json:"curl,omitempty"`
}

// Event is one breach of a rule, as a report shows it.
type Event struct {
	What string `json:"what"`
	// At is the time of the first request, by the node's clock.
	At   time.Time `json:"at"`
	Node string    `json:"node,omitempty"`
	// Entries are the journal's numbers of the first requests of the event.
	Entries []uint64 `json:"entries"`
	// Deviations names the faults that the node injected into these requests.
	Deviations []string `json:"deviations,omitempty"`
}

// HasFaults reports whether a client has a finding of level fault.
func (r Report) HasFaults() bool { return r.Has(Fault) }

// Has reports whether a client has a finding of the level or of a worse one.
func (r Report) Has(level Level) bool {
	return slices.ContainsFunc(r.Clients, func(s ClientReport) bool {
		return slices.ContainsFunc(s.Findings, func(f Finding) bool { return f.Level.AtLeast(level) })
	})
}

// Count returns the number of findings of a level.
func (s ClientReport) Count(level Level) int {
	n := 0
	for _, f := range s.Findings {
		if f.Level == level {
			n++
		}
	}
	return n
}

// ForClient returns a report with one client only; ok is false when the client is not in r.
func (r Report) ForClient(client string) (single Report, ok bool) {
	for _, s := range r.Clients {
		if s.Client == client {
			r.Clients, r.Requests, r.Unlisted = []ClientReport{s}, s.Requests, 0
			return r, true
		}
	}
	return r, false
}

// curl returns a correct command that replaces the first request of a sighting, or the last one if the rule needs the Link header; "" when the base URL of
// the request is unknown.
func curl(client string, r Rule, s Sighting) string {
	entry := *s.Entries[0].Entry
	entry.Client = client
	e := &request{Entry: &entry}
	if e.Origin == "" {
		return ""
	}
	switch {
	case e.Node == "" || r.ID == "CLT-22": // CLT-22: URLs come from the registry
		return "curl -s " + content.ShellWord(e.Origin+"/registry/registry.json")
	case isTokenRequest(e) || needsTokenRequest(r.ID):
		return tokenCommand(e)
	case isAPI(e) || e.Operation == journal.Other:
		command := `curl -sg -H "Authorization: Bearer $TOKEN" `
		if needsLinkHeader(r.ID) {
			e = s.Entries[len(s.Entries)-1]
			command = `curl -sgD - -H "Authorization: Bearer $TOKEN" ` // -D - prints the header fields
		}
		if isThrottled(e) {
			command = `curl -sg --retry 3 -H "Authorization: Bearer $TOKEN" `
		}
		if e.Operation == journal.Call && e.Method != http.MethodGet && e.Method != http.MethodHead {
			command += "-X " + content.ShellWord(e.Method) + " "
			if e.ContentType != "" {
				command += "-H " + content.ShellWord("Content-Type: "+e.ContentType) + " --data-binary @body "
			}
		}
		if e.Operation == journal.Info {
			command += `-H 'Content-Type: application/json' `
		}
		return command + content.ShellWord(e.Origin+(&url.URL{Path: e.Path}).EscapedPath()+correctQuery(e))
	}
	return "curl -sg " + content.ShellWord(e.Origin+(&url.URL{Path: e.Path}).EscapedPath()+correctQuery(e))
}

// needsTokenRequest reports whether the correct command for a breach of the rule is a token request.
func needsTokenRequest(id ID) bool {
	return slices.Contains([]ID{"CLT-01", "CLT-02", "CLT-03", "CLT-04", "CLT-06", "CLT-08", "CLT-13"}, id)
}

// needsLinkHeader reports whether the correct command for a breach of the rule must show the Link header, which says whether there is a next page.
func needsLinkHeader(id ID) bool { return slices.Contains([]ID{"CLT-24", "CLT-25", "CLT-47"}, id) }

// tokenCommand returns a correct token request to the node of an entry.
func tokenCommand(e *request) string {
	field := content.ShellWord("client_id=" + e.Client)
	if e.Client == "" {
		field = `"client_id=$RIN_CLIENT_ID"`
	}
	return "curl -s -d grant_type=client_credentials --data-urlencode " + field +
		` --data-urlencode "client_secret=$RIN_CLIENT_SECRET" ` + content.ShellWord(e.Origin+e.TokenPath)
}

// correctQuery returns "?" and the query of a request, without credentials, ignored parameters, and the parameter that the node refused; "" if nothing
// remains. It encodes once what the client encoded twice.
func correctQuery(e *request) string {
	var parts []string
	for part := range strings.SplitSeq(e.Query, "&") {
		name, value, _ := strings.Cut(part, "=")
		plain, err := url.QueryUnescape(name)
		if err == nil && (isEncodedTwice(plain) || isEncodedTwice(journal.DecodePart(value)) && hasDoubledValue(e)) {
			once := func(decoded string) string { return url.QueryEscape(journal.DecodePart(decoded)) }
			parts = append(parts, once(plain)+"="+once(journal.DecodePart(value)))
			continue
		}
		refused := e.Refusal != nil && e.Refusal.Parameter == plain
		masked := strings.Contains(part, "***") || strings.Contains(part, "…") // the journal hid a credential, or cut the query
		if part == "" || err != nil || refused || masked || slices.Contains(e.Ignored, plain) {
			continue
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return ""
	}
	return "?" + strings.Join(parts, "&")
}
