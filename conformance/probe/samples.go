package probe

import (
	"net/url"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/openapi"
)

// This file finds values for path parameters whose values no list has, such as the id of a funder where the node lists only calls: in members and links of
// the items of the main list.

// These bound the work for a document with many operations and a list with large items.
const (
	maxSampledParameters = 20
	maxLinks             = 5000 // values that are searched for links
)

// learnSamples keeps a value for each path parameter whose values no list has: the end of a link in an item, such as F-1 of /funders/F-1 for /funders/{id}, or
// else the value of a member that is named like the parameter.
func (r *run) learnSamples(list openapi.Operation, items [][]byte) {
	items = items[:min(len(items), openapi.MaxLinkedItems)]
	members := openapi.MembersOf(items)
	identity := openapi.Identities(items)
	links := linksIn(members, items)
	found := map[string]string{}
	for _, o := range r.node.Executable {
		for _, p := range o.Parameters {
			if _, listed := r.node.source(o, p.Name); listed || p.In != "path" || o.Key == list.Key || len(found) >= maxSampledParameters {
				continue
			}
			allowed := func(value string) bool {
				return value != "" && len(value) <= maxScalar && !strings.ContainsAny(value, `/\{}%?# `) && isPrintable(value) && (!p.Schema.Declared || p.Schema.Allows(value))
			}
			if value := r.linkedID(o, p.Name, links, allowed); value != "" {
				found[sampleKey(o, p.Name)] = value
				continue
			}
			member, named := members.Named(memberName(o, p.Name))
			if !named {
				continue
			}
			for _, item := range items {
				i := slices.IndexFunc(sendableValues(item, member), func(value string) bool { return allowed(value) && !slices.Contains(identity, value) })
				if i >= 0 {
					found[sampleKey(o, p.Name)] = sendableValues(item, member)[i]
					break
				}
			}
		}
	}
	r.facts.with(func(f *facts) { f.samples = found })
}

// memberName returns the name of the member that may hold the values of a path parameter: funderId for /funders/{id}, or else the name of the parameter.
func memberName(o openapi.Operation, parameter string) string {
	if !slices.Contains([]string{"id", "key", "code", "uuid"}, strings.ToLower(parameter)) {
		return parameter
	}
	noun := strings.TrimSuffix(segmentBefore(o, parameter), "/")
	if stem, plural := strings.CutSuffix(noun, "ies"); plural {
		return stem + "y" + parameter
	}
	return strings.TrimSuffix(noun, "s") + parameter
}

// segmentBefore returns the segment of a path before a parameter: "funders/" for /v3/funders/{id}.
func segmentBefore(o openapi.Operation, parameter string) string {
	before, _, _ := strings.Cut(o.Path, "{"+parameter+"}")
	return before[strings.LastIndex(strings.TrimSuffix(before, "/"), "/")+1:]
}

// linksIn returns the short values of items that may be links.
func linksIn(members openapi.Members, items [][]byte) []string {
	var out []string
	for _, item := range items {
		for _, member := range members {
			for _, value := range sendableValues(item, member) {
				if strings.Contains(value, "/") && len(out) < maxLinks {
					out = append(out, value)
				}
			}
		}
	}
	return out
}

// linkedID returns what follows the path before a parameter at the end of a link: F-1 in https://api.example/v3/funders/F-1 for /funders/{id}. It returns "" if no
// link ends so, or if the path before the parameter has no name of its own.
func (r *run) linkedID(o openapi.Operation, parameter string, links []string, allowed func(string) bool) string {
	before, after, _ := strings.Cut(o.Path, "{"+parameter+"}")
	segment := segmentBefore(o, parameter)
	if len(segment) < 2 || after != "" || strings.ContainsAny(segment, "{}") {
		return ""
	}
	for _, link := range links {
		at := strings.LastIndex(link, "/"+segment)
		if at < 0 {
			continue
		}
		id, err := url.PathUnescape(link[at+1+len(segment):])
		isOperation := slices.ContainsFunc(r.node.Executable, func(other openapi.Operation) bool { return other.Path == before+id }) // /v3/fundings for /v3/{id}
		if err == nil && allowed(id) && !isOperation {
			return id
		}
	}
	return ""
}

// sampleKey is the key of a path parameter of an operation in the facts.
func sampleKey(o openapi.Operation, parameter string) string { return o.Key + " " + parameter }

// sample returns the value of a path parameter that the items of the main list have.
func (f *facts) sample(o openapi.Operation, p openapi.Parameter) (value string, found bool) {
	if p.In != "path" || len(p.Schema.Enum) > 0 {
		return "", false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	value, found = f.samples[sampleKey(o, p.Name)]
	return value, found
}
