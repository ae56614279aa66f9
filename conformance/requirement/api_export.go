package requirement

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// judgeExports judges the CSV tables of other operations that export the records of the list. An export without pages must have all records.
func judgeExports(e Evidence) Judgement {
	whole, complete := wholeList(e)
	if !complete || len(whole) < minCounted || e.unsteady() {
		return Passed()
	}
	listed := map[string]bool{}
	for _, id := range e.identities(whole) {
		listed[id] = true
	}
	all := regexp.MustCompile(`(?i)\b(all|every|complete|whole|entire|alle[nr]?|gesamten?|vollst\x{e4}ndig\w*|tous|toutes|complets?|compl\x{e8}tes?|todos|todas|tutti|tutte)\b`)
	part := regexp.MustCompile(`(?i)\b(open|running|active|current(ly)?|ongoing|upcoming|offen\w*|laufend\w*|aktiv\w*|aktuell\w*|ouverts?|en cours|at most|up to|limit(ed)?|maximum|first \d+|latest|newest|h\x{f6}chstens|maximal|au plus|m\x{e1}ximo|al massimo)\b`)
	var s survey
	for _, r := range e.Roles.Operations {
		o, described := operation(e, r)
		x := e.exchange(r.With(evidence.OK))
		if !described || r == e.Roles.List || r == e.Roles.Detail || mediaType(x) != tableMediaType || mayAnswerPart(o) {
			continue
		}
		header, records := tableRecords(x)
		for column := range header {
			ids := map[string]bool{}
			for _, record := range records {
				if column < len(record) && listed[record[column]] {
					ids[record[column]] = true
				}
			}
			if len(ids) < minCounted || len(ids) < len(records) || len(ids) == len(listed) {
				continue // the column is not that of the ids, or it has all of them
			}
			name := resourceName(e, r)
			j := Subject{Name: name, Label: x.Label, Expected: strconv.Itoa(len(listed)) + " records, as the list has"}.
				failed(fmt.Sprintf("the table of %s lacks %d of %d records of the list", name, len(listed)-len(ids), len(listed)), evidence.Count(len(ids), "record")).
				Hinting("let an export take all records that match, and not those of one page")
			// An export of the open calls may rightly have fewer records. It fails only if it is as long as a page and the document says that it is complete.
			if !isPageLength(e, len(ids)) || !e.Spec.Says(o, all) || e.Spec.Says(o, part) {
				j.Outcome = Warn
			}
			s.add("export "+string(r), j)
		}
	}
	return s.judge()
}

// mayAnswerPart reports whether an operation has a parameter by which its plain call may leave out records: an id, a page, a filter or a default.
func mayAnswerPart(o openapi.Operation) bool {
	return len(o.TemplateParameters()) > 0 || slices.ContainsFunc(o.QueryParameters(), func(p openapi.Parameter) bool {
		role := openapi.RoleOf(p)
		return p.Required || p.Schema.Default != nil || role != "" && role != openapi.SortRole
	})
}

// isPageLength reports whether a number of records is the default or the greatest length of a page of the list.
func isPageLength(e Evidence, n int) bool {
	list, _ := operation(e, e.Roles.List)
	size, sized := list.QueryWithRole(openapi.SizeRole)
	usual, known := defaultSize(e)
	return known && usual == n || sized && size.Schema.Maximum != nil && *size.Schema.Maximum == float64(n)
}
