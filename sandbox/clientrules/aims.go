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
	// quotas are the least numbers of records, by [movedListName], after which the program has enough. A program with a limit of pages has no quota.
	quotas map[string]int
}

// findAims finds what the program wanted in the records of runs without faults, and in those of other runs.
func findAims(records, others []journal.Record) aims {
	found := aims{map[string]int{}, map[string]bool{}, findQuotas(records, others)}
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

// findQuotas finds lists that the program leaves when it has enough records. Where all pages are full, it leaves such a list after as many pages as one with
// a limit of pages; but it reads one page more where a page was empty.
func findQuotas(faultless, others []journal.Record) map[string]int {
	full, quotas := unfinishedWalks(faultless), map[string]int{}
	if len(full) == 0 {
		return quotas
	}
	for name, walks := range unfinishedWalks(others) {
		if len(full[name]) == 0 {
			continue
		}
		usual, most := full[name][0].pages(), full[name][0].items()
		least := most - full[name][0][0].Page.Size + 1
		for _, walk := range walks {
			if walk.has(isEmptied) && walk.pages() > usual && walk.items() >= least && walk.items() <= most {
				quotas[name] = least
			}
		}
	}
	return quotas
}

// unfinishedWalks returns the pages of lists that the program left before their end, by list, in the order of the records.
func unfinishedWalks(records []journal.Record) map[string][]requests {
	found := map[string][]requests{}
	for _, record := range records {
		for _, all := range attribute(record.Entries) {
			for _, walk := range newHistory(all, aims{}).walks {
				if served := walk.filter(isServedPage); len(served) > 1 && !served.has(isLastPage) {
					name := movedListName(walk[0])
					found[name] = append(found[name], served)
				}
			}
		}
	}
	return found
}

// isEmptied reports whether a page has no records, although another page follows.
func isEmptied(e *request) bool { return e.Page.Items == 0 && e.Page.Next }

// pages counts the different pages of a walk.
func (walk requests) pages() int { return len(groupBy(walk, positionOf)) }

// items counts the records of a walk.
func (walk requests) items() int {
	items := 0
	for _, e := range walk.filter(isServedPage) {
		items += e.Page.Items
	}
	return items
}

// hasEnough reports whether a walk brought at least the number of records that the client wanted in other runs. wanted is 0 if that number is unknown.
func (walk requests) hasEnough(wanted int) bool { return wanted > 0 && walk.items() >= wanted }
