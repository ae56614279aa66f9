package requirement

import (
	"fmt"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file judges calls of other versions of the API: an older version often runs on without the guard that was added later. Another version may have
// another content and another audience, so only the records of the guarded list or detail count.

// callsOtherVersion reports whether a call has another version in its path.
func callsOtherVersion(x evidence.Exchange) bool {
	switch strings.TrimPrefix(string(x.Label.Case()), "roleless-") {
	case "version-before", "version-first", "version-none":
		return true
	}
	return false
}

// judgeOpenVersions judges the answers of other versions to calls without a token.
func judgeOpenVersions(e Evidence) []Judgement {
	return judgeVersions(e, "without a token", func(x evidence.Exchange) bool {
		return lacksGoodToken(x) && isRefusal(e.exchange(x.Label.Resource().With(evidence.NoToken)))
	})
}

// judgeRolelessVersions judges the answers of other versions to the client without the role. A version that is open to everybody is left to API-08.
func judgeRolelessVersions(e Evidence) []Judgement {
	return judgeVersions(e, "to the client without the role", func(x evidence.Exchange) bool {
		r := x.Label.Resource()
		anonymous := e.exchange(r.With(evidence.Case(strings.TrimPrefix(string(x.Label.Case()), "roleless-"))))
		return sendsRolelessToken(x) && !success(anonymous) && isRefusal(e.exchange(r.With("no-role")))
	})
}

// judgeVersions finds the records of guarded operations in the answers of other versions to calls that should be refused.
func judgeVersions(e Evidence, to string, isRefusable func(evidence.Exchange) bool) []Judgement {
	var parts []Judgement
	var known records
	for _, x := range e.Exchanges {
		r := x.Label.Resource()
		if !callsOtherVersion(x) || !success(x) || declaredPublic(e, r) || isTryOutURL(x.Request.URL) || isTryOutRun(e) || !isRefusable(x) {
			continue
		}
		if known == nil {
			known = guardedRecords(e)
		}
		count, hasCopy := known.sharedWith(e, x)
		isSame := sameBody(x, e.exchange(r.With(evidence.OK)))
		if count == 0 && !isSame {
			continue
		}
		want := expect(x, "a refusal, or other data")
		what := fmt.Sprintf("%s gives %s of the guarded operation %s", callName(x), evidence.Count(count, "record"), to)
		if isSame {
			what = fmt.Sprintf("%s gives the data of the guarded operation %s", callName(x), to)
		}
		hint := "switch the other version off, or require the token and the role for each of its paths"
		switch {
		case listedByInfo(e, x.Request.URL):
			parts = append(parts, want.warned(what+", in a version that info lists, so it may be published on purpose", describe(x)).Hinting(hint))
		case isSame:
			parts = append(parts, want.failed(what+", in another version of the API", describe(x)).Hinting(hint))
		case !hasCopy:
			parts = append(parts, want.warned(what+", but only a small part of their members, which may be public on purpose", describe(x)).Hinting(hint))
		case strings.HasSuffix(string(x.Label.Case()), "version-none"):
			parts = append(parts, want.warned(what+", at a path without a version, which may be a public portal", describe(x)).Hinting(hint))
		default:
			parts = append(parts, want.failed(what+", in another version of the API", describe(x)).Hinting(hint))
		}
	}
	return parts
}

// minSharedMembers is how many members beside the identity a record must share with a guarded one to be a copy of it.
const minSharedMembers = 2

// sharedWith returns the number of records in an answer that are among r. hasCopy reports whether one of them has at least half of the members of the guarded
// record: a public portal shows a few.
func (r records) sharedWith(e Evidence, x evidence.Exchange) (count int, hasCopy bool) {
	for _, record := range recordsOf(e, x) {
		found := false
		for _, known := range r[e.identity(record)] {
			if !sameRecord(record, known) {
				continue
			}
			found = true
			shared, all := sharedMembers(record, known)
			hasCopy = hasCopy || shared >= minSharedMembers && 2*shared >= all
		}
		if found {
			count++
		}
	}
	return count, hasCopy
}

// sharedMembers counts the members of a guarded record, without its identity, and those that another record has, too.
func sharedMembers(record, known []byte) (shared, all int) {
	mine := openapi.Object(record)
	for name, value := range openapi.Object(known) {
		if name == "id" || volatile(name) || isHollow(value) {
			continue
		}
		all++
		if own, ok := mine[name]; ok && !isHollow(own) {
			shared++
		}
	}
	return shared, all
}

// listedByInfo reports whether the info answer lists a URL, or a path that the URL is under.
func listedByInfo(e Evidence, raw string) bool {
	info := e.exchange(evidence.Info.With(evidence.OK))
	for _, listed := range endpointsOf(info) {
		before, _, _ := strings.Cut(resolve(info.Request.URL, listed.url), "{")
		before = strings.TrimRight(before, "/")
		if rest, ok := strings.CutPrefix(raw, before); before != "" && ok && (rest == "" || strings.ContainsAny(rest[:1], "/?")) {
			return true
		}
	}
	return false
}
