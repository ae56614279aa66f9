package clientrules

import (
	"maps"

	"github.com/rin-network/rin/sandbox/journal"
)

// aims is what a program wants, as its runs without faults show it. Lists have the names of [listName].
type aims struct {
	// previews has the number of records on the first page, for each list of which the program read only that
	// page.
	previews map[string]int
	// fullLists are the lists that the program read to their end each time, over several pages.
	fullLists map[string]bool
}

// findAims finds what the program wanted in the records.
func findAims(records []journal.Record) aims {
	found := aims{map[string]int{}, map[string]bool{}}
	for _, record := range records {
		for _, sent := range attribute(record.Entries) {
			history := newHistory(sent, aims{})
			lists := history.previewedLists()
			for _, walk := range history.walks {
				name := listName(walk[0])
				isFull, known := found.fullLists[name]
				found.fullLists[name] = (isFull || !known) && walk.has(isLastPage) && walk.has(func(e *request) bool { return !isFirstPage(e) })
				if lists[walk[0].list] {
					for _, e := range walk.filter(isServedPage) {
						found.previews[listName(e)] = max(found.previews[listName(e)], e.Page.Items)
					}
				}
			}
		}
	}
	return found
}

// previewedLists finds the lists of which the client reads only the first page, even when that page is full and names a next page.
func (all history) previewedLists() map[int]bool {
	full, later := map[int]bool{}, map[int]bool{} // by list: whether the client got a full first page; whether it requested a later page
	for _, walk := range all.walks {
		list := walk[0].list
		if len(all.aims.previews) > 0 && all.aims.previews[listName(walk[0])] > 0 {
			full[list] = true
		}
		for _, e := range walk {
			if !isFirstPage(e) {
				later[list] = true
				break
			}
			if isServedPage(e) && e.Page.Next && e.Page.Items > 0 && len(e.Deviations) == 0 {
				full[list] = true
			}
		}
	}
	maps.DeleteFunc(full, func(list int, _ bool) bool { return later[list] })
	return full
}

// hasPreview reports whether a walk brought at least the number of records that the client wanted in a run without
// faults. wanted is 0 if that number is unknown.
func (walk requests) hasPreview(wanted int) bool {
	items := 0
	for _, e := range walk.filter(isServedPage) {
		items += e.Page.Items
	}
	return wanted > 0 && items >= wanted
}
