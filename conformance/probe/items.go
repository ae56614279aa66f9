package probe

import (
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/document"
)

// item is what probes need of one member of a list.
type item struct {
	id, kind string
	// values are the values of the members that filters name, by member path.
	values map[string][]string
}

// maxItems is how many members of a list are looked at.
const maxItems = 5000

// readItems reads the members of a list, in whatever envelope the requirements know (document.ReadList). A body that breaks off is
// read as far as it goes. Members that further filters name are kept as well.
func readItems(body []byte, more ...describedFilter) []item {
	list, _ := document.ReadList(body)
	var out []item
	for _, text := range list.Items[:min(len(list.Items), maxItems)] {
		if text[0] != '{' {
			continue
		}
		i := item{id: first(sendable(text, "id")), kind: first(sendable(text, "type")), values: map[string][]string{}}
		for _, f := range filters() {
			i.values[f.member] = sendable(text, f.member)
		}
		for _, f := range more {
			i.values[f.member] = sendable(text, f.member)
		}
		out = append(out, i)
	}
	return out
}

// maxScalar bounds a value that is sent back to the node, in bytes.
const maxScalar = 512

// sendable are the values under a member path that can be sent back, each once.
func sendable(item []byte, path string) []string {
	var out []string
	for _, value := range document.MemberValues(item, path) {
		if value != "" && len(value) <= maxScalar && !slices.Contains(out, value) {
			out = append(out, value)
		}
	}
	return out
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

// sampleIDs are the first, the middle and the last id to fetch one by one. Ids without a slash and of the kinds that every node
// serves by itself come first: many servers refuse %2F, and other kinds may be served by funders only. Of a short list there are
// fewer: no id stands twice.
func sampleIDs(items []item) []string {
	var all, good []string
	seen := map[string]bool{"": true, ".": true, "..": true}
	for _, i := range items {
		if seen[i.id] {
			continue
		}
		seen[i.id] = true
		all = append(all, i.id)
		if !strings.ContainsAny(i.id, `/\%`) && (i.kind == "" || i.kind == "CALL" || i.kind == "PROGRAMME") {
			good = append(good, i.id)
		}
	}
	if len(good) == 0 {
		good = all
	}
	if len(good) == 0 {
		return nil
	}
	return slices.Compact([]string{good[0], good[len(good)/2], good[len(good)-1]})
}
