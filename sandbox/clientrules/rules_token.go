package clientrules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rin-network/rin/sandbox/journal"
)

// grantRules returns the rules about token requests.
func grantRules() []Rule {
	return []Rule{
		{
			ID: "CLT-10", Level: Fault, Title: "A token is requested with POST",
			Sources: []Source{rfc(6749, "3.2"), network(9)},
			Why:     "GET has no body: id and secret end up in the URL.",
			Fix:     "send a POST with the form in its body",
			check: each(func(e *request) bool { return isTokenRequest(e) && e.Status == 405 },
				func(e *request) string { return e.Method + " " + e.Path + " was refused" }),
		},
		{
			ID: "CLT-11", Level: Fault, Title: "A token request is a form",
			Sources: []Source{rfc(6749, "4.4.2"), network(9)},
			Why:     "Authorization servers read only application/x-www-form-urlencoded; JSON is the most common mistake, a missing Content-Type the second.",
			Fix:     "send Content-Type: application/x-www-form-urlencoded, with grant_type, client_id and client_secret as form fields",
			check: each(func(e *request) bool {
				return isTokenRequest(e) && e.Method == "POST" && e.Status == 400 && !isForm(e) && !exposes(e, isSecretName)
			},
				func(e *request) string {
					if e.ContentType == "" {
						return "a token request had no Content-Type"
					}
					return "a token request came as " + e.ContentType
				}),
		},
		{
			ID: "CLT-12", Level: Fault, Title: "A token request is complete and for client_credentials",
			Sources: []Source{rfc(6749, "4.4.2"), rfc(6749, "5.2"), network(9)},
			Why:     "Another grant, a missing or repeated field, or credentials in two places at once are refused by every server, with different texts.",
			Fix:     "send grant_type=client_credentials, and id and secret either as form fields or as HTTP Basic",
			check: each(func(e *request) bool {
				incomplete := e.Status == 401 && e.Secret == "" && e.Issued == nil
				return isTokenRequest(e) && e.Method == "POST" && isForm(e) && !exposes(e, isSecretName) && (e.Status == 400 || e.Status == 413 || incomplete)
			}, func(e *request) string {
				return fmt.Sprintf("a token request was refused (%s): %s", code(e), detail(e))
			}),
		},
		{
			ID: "CLT-13", Level: Fault, Title: "The token endpoint is the one of the node's registry entry",
			Sources: []Source{network(6), network(10)},
			Why:     "Token endpoints differ from node to node: a path that is built into the client, or copied from another node, leads to an unknown realm or to another node.",
			Fix:     "read the token endpoint (oauth2) from the node's entry in the registry, and use it unchanged",
			check: each(func(e *request) bool {
				isTokenPath := strings.Contains(e.Path, "/realms/") || strings.HasSuffix(strings.TrimSuffix(e.Path, "/"), "/token")
				return e.Operation == journal.Other && e.Status == 404 && isTokenPath
			}, func(e *request) string { return requestLine(e) + " was not found: " + detail(e) }),
		},
	}
}

// isForm reports whether a request has the form that token endpoints take.
func isForm(e *request) bool {
	mediaType, _, _ := strings.Cut(e.ContentType, ";")
	return strings.EqualFold(strings.TrimSpace(mediaType), "application/x-www-form-urlencoded")
}

// habitLength is how many repetitions in a row count as a habit of the client.
const habitLength = 3

// tokenRules returns the rules about when a client fetches, uses and drops a token.
func tokenRules() []Rule {
	return []Rule{
		{
			ID: "CLT-01", Level: Waste, Title: "An access token is used as long as it is valid",
			Sources: []Source{rfc(6749, "5.1"), practice("its client fetches a token before every GET")},
			Why:     "A token for each call doubles the requests, and the token endpoint is the slowest part of a node: its rate limits are the lowest.",
			Fix:     "keep the token with its expires_in, use it for all calls to that node, and fetch the next one shortly before it expires or after a 401 with invalid_token",
			check:   needlessTokens,
		},
		{
			ID: "CLT-02", Level: Fault, Title: "A refused token is not sent again",
			Sources: []Source{rfc(6750, "3.1")},
			Why:     "A token that was refused as invalid stays refused: a client that repeats it never succeeds, and looks like an attack.",
			Fix:     "after 401 with error=\"invalid_token\" drop the token, fetch a new one, and repeat the call once",
			check:   resentTokens,
		},
		{
			ID: "CLT-03", Level: Fault, Title: "A call whose token has expired is repeated with a new token",
			Sources: []Source{rfc(6750, "3.1"), rfc(6749, "5.1")},
			Why:     "Each token expires, also in the middle of a list. A client that stops there passes every short test and fails in the first long run.",
			Fix:     "after 401 with error=\"invalid_token\" fetch a new token and repeat the call once; after a second refusal stop and report it",
			check:   abandonedCalls,
		},
		{
			ID: "CLT-04", Level: Fault, Title: "A token is sent only to the node that issued it",
			Sources: []Source{network(5), rfc(6750, "5.2")},
			Why:     "Each node has its own authorization server. A node that gets the token of another node can use it there as the client.",
			Fix:     "keep one token for each node, from the token endpoint beside the node's info URL in the registry",
			check:   strayTokens,
		},
		{
			ID: "CLT-05", Level: Fault, Title: "Refused client credentials are not tried again and again",
			Sources: []Source{rfc(6749, "5.2"), rfc(6749, "2.3.1")},
			Why:     "Authorization servers defend themselves against guessed secrets: a client that keeps trying is locked out, often even with its right secret.",
			Fix:     "stop at invalid_client and tell the operator: check client id, secret, and that the secret is complete and form-encoded",
			check:   repeatedCredentials,
		},
	}
}

// needlessTokens finds tokens that served one call and were replaced while they were valid.
func needlessTokens(all history) []Sighting {
	var seen []Sighting
	for _, node := range all.nodes {
		issued := node.filter(func(e *request) bool { return e.Operation == journal.Token && e.Issued != nil && e.Status < 300 })
		if len(issued) < habitLength {
			continue
		}
		uses, refused, failed := map[string]int{}, map[string]bool{}, map[string]bool{}
		for _, e := range node {
			if fingerprint := e.Authorization.Print; fingerprint != "" && isAPI(e) {
				uses[fingerprint]++
				refused[fingerprint] = refused[fingerprint] || e.Status == 401
				failed[fingerprint] = failed[fingerprint] || isTemporary(e)
			}
		}
		var needless []*request
		for i, e := range issued[:max(len(issued)-1, 0)] {
			next := issued[i+1:].firstAfter(e)
			if next == nil { // the others were requested by other workers at the same time
				continue
			}
			left, life := e.Issued.Expires.Sub(next.Time), e.Issued.Expires.Sub(e.Time)
			// A program that ends when its call fails, and is started again, needs a token each time.
			if uses[e.Issued.Print] == 1 && !failed[e.Issued.Print] && left > life/2 && left > 10*time.Second {
				needless = append(needless, e)
			}
		}
		if len(needless) >= 2 {
			seen = append(seen, Sighting{fmt.Sprintf("%d of %d tokens served one call each and were valid for %s more", len(needless), len(issued),
				needless[0].Issued.Expires.Sub(needless[0].Time).Round(time.Second)), needless})
		} else if wasted := node.tokensForCalls(issued); wasted != nil {
			seen = append(seen, Sighting{fmt.Sprintf("%d tokens served one call each, although those before them were valid", len(wasted)), wasted})
		} else if wasted := issued.replacedEarly(refused); wasted != nil {
			seen = append(seen, Sighting{fmt.Sprintf("%d tokens in a row were replaced on the same connection although they were valid for %s more", len(wasted),
				wasted[0].Issued.Expires.Sub(wasted[0].Time).Round(time.Second)), wasted})
		}
	}
	return seen
}

// manyTokens is how many tokens prove a habit where fewer may belong to several workers, or to several runs of a script.
const manyTokens = 8

// tokensForCalls finds the tokens of a concurrent client that fetches one for nearly each call. It skips the tokens of workers that began at the same time:
// a token counts if its call was answered before the client requested as many further tokens as it had requests in
// flight.
func (all requests) tokensForCalls(issued requests) requests {
	if len(issued) <= manyTokens {
		return nil
	}
	uses := map[string]requests{} // by token
	calls := 0
	for _, e := range all {
		if isAPI(e) && e.Authorization.Print != "" {
			if e.Status == 401 {
				return nil
			}
			uses[e.Authorization.Print], calls = append(uses[e.Authorization.Print], e), calls+1
		}
	}
	workers, single := all.inFlight(), 0
	var wasted requests
	for i, e := range issued {
		if used := uses[e.Issued.Print]; len(used) == 1 {
			if single++; i+workers < len(issued) && follows(used[0], issued[i+workers]) {
				wasted = append(wasted, e)
			}
		}
	}
	if len(wasted) < manyTokens || single*3 < calls*2 {
		return nil
	}
	return wasted
}

// replacedEarly finds tokens that one program replaced when nine tenths of their life were left. The connection
// identifies the program.
func (all requests) replacedEarly(refused map[string]bool) requests {
	isEarly := func(e, next *request) bool {
		left, life := e.Issued.Expires.Sub(next.Time), e.Issued.Expires.Sub(e.Time)
		return e.Peer == next.Peer && follows(e, next) && !refused[e.Issued.Print] && left > life*9/10 && left > time.Minute
	}
	for run := range all.runs(func(*request) bool { return true }, isEarly) {
		if len(run) > manyTokens {
			return run[:len(run)-1]
		}
	}
	return nil
}

// resentTokens finds tokens that the client sent again after they had been refused.
func resentTokens(all history) []Sighting {
	if !all.has(isTokenRefused) {
		return nil
	}
	var seen []Sighting
	for _, node := range all.nodes {
		// A token request in between ends the run, because it shows that the client has reacted.
		for run := range node.filter(func(e *request) bool { return isTokenRequest(e) || isAPI(e) }).runs(isTokenRefused, func(before, e *request) bool {
			return before.Authorization.Print == e.Authorization.Print
		}) {
			repeated := run[1:].reactions(run[0]).filter(run.knowsRefusal)
			if len(repeated) >= habitLength {
				seen = append(seen, Sighting{fmt.Sprintf("one token was sent %s more after it was refused; no new token was requested in between", Times(len(repeated))),
					append(run[:1:1], repeated...)})
			}
		}
	}
	return seen
}

// knowsRefusal reports whether the client had read one of the refusals of the run when it sent e. The node knows when it sent an answer, but not when
// the client read it: on a busy machine a worker may send its call long after another worker was refused. A connection is proof, because a client
// uses it again only after it has read the answer before. For a client that opens a connection for each call, a long time is proof, too.
func (run requests) knowsRefusal(e *request) bool {
	const overdue = 10 * deliveryTime
	return e.Time.Sub(run[0].Ended) >= overdue || slices.ContainsFunc(run, func(before *request) bool { return before.Peer == e.Peer && follows(before, e) })
}

// abandonedCalls finds calls that the client gave up when its token had expired.
func abandonedCalls(all history) []Sighting {
	var seen []Sighting
	for _, node := range all.nodes {
		accepted := map[string]bool{}
		var refused *request
		for _, e := range node {
			switch {
			case isTokenRequest(e):
				refused = nil
			case isAPI(e) && isServed(e):
				accepted[e.Authorization.Print] = true
				refused = nil
			case isTokenRefused(e) && accepted[e.Authorization.Print] && refused == nil:
				refused = e
			}
		}
		if refused != nil {
			seen = append(seen, Sighting{requestLine(refused) + " was refused; its token had been valid before, and no new token was requested", []*request{refused}})
		}
	}
	return seen
}

// strayTokens finds tokens that the client sent to a node that had not issued them.
func strayTokens(all history) []Sighting {
	issuers := map[string]*request{}
	for _, e := range all.requests {
		if e.Issued != nil {
			issuers[e.Issued.Print] = e
		}
	}
	return each(func(e *request) bool {
		from, known := issuers[e.Authorization.Print]
		if !known || isTokenRequest(e) {
			return false
		}
		return e.Operation == journal.Registry || e.Status == 401 && !isDescribed(e) && (from.Node != e.Node || isElsewhere(from) != isElsewhere(e))
	}, func(e *request) string {
		from := issuers[e.Authorization.Print]
		switch {
		case e.Operation == journal.Registry:
			return requestLine(e) + " got a token, although the registry is public and not part of a node"
		case from.Node != e.Node:
			return fmt.Sprintf("%s of node %s got a token of node %s", requestLine(e), e.Node, from.Node)
		}
		return requestLine(e) + " got a token of another environment"
	})(all)
}

// isElsewhere reports whether a request is to the other environment beside a node.
func isElsewhere(e *request) bool {
	return e.Operation == journal.ElsewhereToken || e.Operation == journal.ElsewhereInfo
}

// repeatedCredentials finds client credentials that the client sent again after they had been refused.
func repeatedCredentials(all history) []Sighting {
	var seen []Sighting
	for run := range all.filter(isTokenRequest).runs(
		func(e *request) bool { return e.Status == 401 && e.Secret != "" },
		func(before, e *request) bool { return before.Node == e.Node && before.Secret == e.Secret },
	) {
		if run = append(run[:1:1], run[1:].reactions(run[0])...); len(run) >= habitLength {
			seen = append(seen, Sighting{fmt.Sprintf("the same client id and secret were refused %d times in a row", len(run)), run})
		}
	}
	return seen
}
