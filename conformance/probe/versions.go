package probe

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
)

// This file calls the list and the detail in other versions of the API: an older version often runs on, without the guard that was added later.

// versionSegment returns the path segment of another version for the number in the path, or "" for a path without a version. ok is false if there is no other
// version.
type versionSegment func(major int) (segment string, ok bool)

// versionCases call other versions without a token, and as the client without the role.
func versionCases() []row {
	var out []row
	add := func(role evidence.Resource, kind evidence.Case, words string, version versionSegment) {
		plan := in(stageRest, stageAnonymous, stageAuthorized, stageSecond).onlyIf(notQuick).onDemand()
		out = append(out, row{Label: role.With(kind), Words: "without a token and " + words, Plan: plan, Send: callOtherVersion(version)},
			row{Label: role.With("roleless-" + kind), Words: "by the client without the role and " + words, Plan: plan.onlyIf(withSecond), Send: callOtherVersionRoleless(version)})
	}
	before := func(major int) (string, bool) { return "v" + strconv.Itoa(major-1), major > 1 }
	add(evidence.ListOperation, "version-before", "in the version before", before)
	add(evidence.ListOperation, "version-first", "in the first version", func(major int) (string, bool) { return "v1", major > 2 })
	add(evidence.ListOperation, "version-none", "without a version", func(int) (string, bool) { return "", true })
	add(evidence.DetailOperation, "version-before", "in the version before", before)
	return out
}

// callOtherVersion calls another version without a token.
func callOtherVersion(version versionSegment) sender {
	return controlled(func(_ context.Context, r *run, res Resource) (recorder.Request, *unsent) {
		return r.toOtherVersion(res, version, res.Get())
	})
}

// callOtherVersionRoleless calls another version as the client without the role.
func callOtherVersionRoleless(version versionSegment) sender {
	return controlled(func(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
		token, reason := r.secondToken(ctx)
		if reason != nil {
			return recorder.Request{}, reason
		}
		return r.toOtherVersion(res, version, res.GetWith(SecondAccessToken, "Bearer "+token))
	})
}

// toOtherVersion changes the version in the path of a request. The request is not sent if the operation is open to everybody, or has no such version.
func (r *run) toOtherVersion(res Resource, version versionSegment, q recorder.Request) (recorder.Request, *unsent) {
	if r.facts.good(res.Name.With(evidence.NoToken)) {
		return q, notApplicable("%s is open to everybody", res.Name)
	}
	text, ok := inOtherVersion(q.URL, version)
	if !ok {
		return q, notApplicable("the path of %s has no such version", res.Name)
	}
	q.URL, q.Annotate = text, nil // the document describes the answers of its own version only
	return q, nil
}

// inOtherVersion replaces the first segment v<major> in the path of a URL, or removes it if the other version has no segment.
func inOtherVersion(text string, version versionSegment) (string, bool) {
	u, err := url.Parse(text)
	if err != nil {
		return "", false
	}
	segments := strings.Split(u.EscapedPath(), "/")
	for i, s := range segments {
		digits, found := strings.CutPrefix(s, "v")
		major, err := strconv.Atoi(digits)
		if !found || err != nil || major < 0 {
			continue
		}
		name, ok := version(major)
		if !ok {
			return "", false
		}
		if name == "" {
			return withPath(u, strings.Join(slices.Delete(segments, i, i+1), "/")), true
		}
		segments[i] = name
		return withPath(u, strings.Join(segments, "/")), true
	}
	return "", false
}
