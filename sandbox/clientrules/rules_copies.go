package clientrules

import (
	"fmt"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/rin-network/rin/sandbox/journal"
)

// copyRules returns the rules about the copies that a client keeps.
func copyRules() []Rule {
	return []Rule{
		{
			ID: "CLT-49", Level: Fault, Title: "An ETag is kept only with an answer that arrived completely",
			Sources: []Source{rfc(9111, "3.3"), rfc(9110, "13.1.2")},
			Why:     "The ETag arrives before the body. A client that keeps it although the body broke off gets 304, and believes that it has what it never got.",
			Fix: "store the ETag together with the parsed body, in one step; after an answer that broke off, or cannot be parsed, repeat the request without its ETag, " +
				"or with that of the older copy",
			check: incompleteCopies,
		},
		{
			ID: "CLT-50", Level: Note, Title: "If-Modified-Since has the date of the stored copy",
			Sources: []Source{rfc(9110, "13.1.3")},
			Why:     "A date later than the stored copy, such as the present by the client's clock, asks about a time at which the client read nothing: what changed before it is never read.",
			Fix:     "send the Last-Modified of the stored copy, or the Date of the answer that brought it; or better, send the ETag as If-None-Match",
			check:   inventedDates,
		},
	}
}

// isBroken reports whether the client did not get the complete content that the ETag of the answer names.
func isBroken(e *request) bool { return e.Cut || e.Spoilt }

// incompleteCopies finds conditional requests with an ETag that the client got only from answers that broke off, if they were answered 304 and no later request
// brought the content. A tag that the client sends before an answer brought it is from an earlier
// run.
func incompleteCopies(all history) []Sighting {
	targets := map[int]bool{} // of answers that broke off
	for _, e := range all.requests {
		if isBroken(e) && e.ETag != "" {
			targets[e.target] = true
		}
	}
	if len(targets) == 0 {
		return nil
	}
	type copyKey struct {
		program, target int
		tag             string
	}
	contents := map[int]*request{} // by target: the last request that brought content
	for _, e := range all.requests {
		if targets[e.target] && e.bringsContent() {
			contents[e.target] = e
		}
	}
	known, broken := map[copyKey]bool{}, map[copyKey]*request{}
	var seen []Sighting
	for _, e := range all.requests {
		if !targets[e.target] {
			continue
		}
		for tag := range entityTags(e.IfNoneMatch) {
			key := copyKey{e.program, e.target, tag}
			from := broken[key]
			switch {
			case known[key]:
			case from == nil || !follows(from, e):
				known[key] = true
			case e.Status == http.StatusNotModified && (contents[e.target] == nil || !follows(e, contents[e.target])):
				seen = append(seen, Sighting{requestLine(e) + " was answered 304 for an ETag that came only with an answer that broke off: " + tag, requests{e, from}})
			}
		}
		for tag := range entityTags(e.ETag) {
			key := copyKey{e.program, e.target, tag}
			switch {
			case !isBroken(e) && e.Status != http.StatusNotModified:
				known[key] = true
			case isBroken(e) && broken[key] == nil:
				broken[key] = e
			}
		}
	}
	return seen
}

// bringsContent reports whether a request got content, whole or in part.
func (e *request) bringsContent() bool {
	return (e.Status == http.StatusOK || e.Status == http.StatusPartialContent) && !isBroken(e) && e.Method == http.MethodGet
}

// entityTags returns the entity tags in a header field, without the mark of weak ones.
func entityTags(field string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for part := range strings.SplitSeq(field, ",") {
			if tag := strings.TrimPrefix(strings.TrimSpace(part), "W/"); tag != "" && tag != "*" && !yield(tag) {
				return
			}
		}
	}
}

// inventedDates finds requests with an If-Modified-Since later than all answers that the client had got for the resource. Without an earlier answer in the
// journal, the date may be from an earlier run.
func inventedDates(all history) []Sighting {
	if !all.has(func(e *request) bool { return e.IfModifiedSince != "" && e.IfNoneMatch == "" }) {
		return nil
	}
	const tolerance = 2 * time.Second // a date has whole seconds, and the client reads the answer later than the node sends it
	type resource struct{ program, target int }
	newest := map[resource]*request{} // the answer that ended last
	var seen []Sighting
	for _, e := range all.requests {
		key := resource{e.program, e.target}
		before := newest[key]
		if date, err := http.ParseTime(e.IfModifiedSince); err == nil && e.IfNoneMatch == "" && isAPI(e) && e.Operation != journal.Call && before != nil && follows(before, e) &&
			date.Sub(before.Ended) > tolerance && len(e.Deviations) == 0 && len(before.Deviations) == 0 {
			seen = append(seen, Sighting{fmt.Sprintf("%s had If-Modified-Since: %s, but the copy was of %s", requestLine(e), e.IfModifiedSince,
				before.Ended.UTC().Format(http.TimeFormat)), requests{e, before}})
		}
		if isServed(e) && (before == nil || e.Ended.After(before.Ended)) {
			newest[key] = e
		}
	}
	return seen
}
