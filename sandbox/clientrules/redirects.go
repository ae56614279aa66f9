package clientrules

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/rin-network/rin/sandbox/journal"
)

// lostRedirects describes the requests that a fault of the node redirected, and whose answer the client never got: it did not follow the redirect, or got
// no records at the target, and no other request read the same records. A client may follow a redirect without its
// token, so this compares the requests of all clients.
func lostRedirects(record journal.Record) []string {
	all := slices.DeleteFunc(newRequests(record.Entries), isIgnored)
	lists := map[int]requests{}
	for _, e := range all {
		if readsRecords(e) {
			lists[e.list] = append(lists[e.list], e)
		}
	}
	var out []string
	for _, e := range all {
		switch {
		case !isRedirect(e) || len(e.Deviations) == 0:
		case readsRecords(e):
			if !all.isFetched(e) && !lists[e.list].isReadInParts(e) {
				out = append(out, fmt.Sprintf("%s was redirected (%d), and no request read its records", requestLine(e), e.Status))
			}
		case isTokenRequest(e) || e.Operation == journal.Info || e.Operation == journal.Document:
			if !all.hasAnswerAfter(e) {
				out = append(out, fmt.Sprintf("%s was redirected (%d), and nothing was read after it", requestLine(e), e.Status))
			}
		}
	}
	return out
}

// isRedirect reports whether an answer names another URL for the same request.
func isRedirect(e *request) bool {
	return slices.Contains([]int{301, 302, 303, 307, 308}, e.Status) && e.Location != "" && !e.Cut
}

// isFetched reports whether a request brought what the redirected request e asked for: at the target of the redirect, or at its own URL.
func (all requests) isFetched(e *request) bool {
	return slices.ContainsFunc(all, func(other *request) bool {
		isGone := (other.Status == 404 || other.Status == 410) && follows(e, other)
		return (isServed(other) && !isRedirect(other) || isGone) && (other.subject == e.subject || isTargetOf(e, other))
	})
}

// isTargetOf reports whether a request is for the target of a redirect, on whatever host.
func isTargetOf(redirected, e *request) bool {
	if e.Method != redirected.Method && e.Method != "GET" {
		return false
	}
	target, err := url.Parse(redirected.Location)
	if err != nil {
		return false
	}
	anyName := func(string) bool { return true }
	base := url.URL{Path: redirected.Path}
	path, query, _ := strings.Cut(base.ResolveReference(target).RequestURI(), "?")
	return (e.Path == path || e.Path == decodePath(path)) && canonical(e.Query, anyName) == canonical(query, anyName)
}

// decodePath decodes a path; it returns a malformed path as it is.
func decodePath(path string) string {
	if plain, err := url.PathUnescape(path); err == nil {
		return plain
	}
	return path
}

// isReadInParts reports whether other pages of the list brought the records of the redirected request e.
func (list requests) isReadInParts(e *request) bool {
	pages := list.filter(func(other *request) bool { return other == e || !isRedirect(other) })
	return pages.isReadAgain(slices.Index(pages, e))
}

// hasAnswerAfter reports whether the client went on after the redirected request e: it asked for records, or got what e asked for. A refusal is an answer
// to a request for a token, because a client that knows of it has a reason to stop.
func (all requests) hasAnswerAfter(e *request) bool {
	return slices.ContainsFunc(all, func(other *request) bool {
		switch {
		case !follows(e, other) || isRedirect(other) || isTemporary(other):
			return false
		case readsRecords(other):
			return true
		}
		return (other.Operation == e.Operation || isTargetOf(e, other)) && (isServed(other) || isTokenRequest(e))
	})
}
