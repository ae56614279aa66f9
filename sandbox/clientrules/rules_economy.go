package clientrules

import (
	"fmt"
	"net/http"
	"time"

	"github.com/rin-network/rin/sandbox/journal"
)

// economyRules returns the rules about requests that bring less than they could, and about links.
func economyRules() []Rule {
	return []Rule{
		{
			ID: "CLT-35", Level: Note, Title: "All pages of a list are read, not only the first ones",
			Sources: []Source{rfc(8288, "3")},
			Why:     "A client that knows only the first page works in each test with few records, and loses the others as soon as there are more.",
			Fix:     "follow rel=\"next\" of the Link header until it is absent; ignore this note if the client wants only the beginning of the list",
			check:   firstPages,
		},
		{
			ID: "CLT-36", Level: Note, Title: "The records of a list are not fetched again one by one",
			Sources: []Source{practice("the list has all members of its records")},
			Why:     "A call for each record multiplies the requests, and the list had brought the same members.",
			Fix:     "use the records of the list, and fetch single records only when they are needed alone",
			check:   needlessDetails,
		},
		{
			ID: "CLT-37", Level: Waste, Title: "A page has many records",
			Sources: []Source{network(15), practice("page[size] may be as large as the document allows")},
			Why:     "Each page costs a round trip and a query: a list in pages of a few records takes many times as long, and meets rate limits sooner.",
			Fix:     "ask for 50 to 1000 records on a page, as far as the document allows it",
			check:   tinyPages,
		},
		{
			ID: "CLT-38", Level: Note, Title: "The workers of a client share one token",
			Sources: []Source{rfc(6749, "5.1")},
			Why:     "A token for each worker multiplies the requests to the token endpoint, whose rate limits are the lowest of a node.",
			Fix:     "let the first worker fetch the token, and the others wait for it",
			check:   tokensOfWorkers,
		},
		{
			ID: "CLT-39", Level: Waste, Title: "A request that is wrong in itself is not repeated",
			Sources: []Source{rfc(9110, "15.5")},
			Why:     "404, 405, 406, 410 and 415 say that the request itself is wrong: the same request is refused again, however often it is sent.",
			Fix:     "repeat only after 429, 5xx and cut connections, and once with a new token after 401",
			check:   repeatedMistakes,
		},
		{
			ID: "CLT-40", Level: Note, Title: "The target of a link is checked before the token is sent there",
			Sources: []Source{rfc(8288, "5"), network(5)},
			Why:     "A client that follows rel=\"next\" anywhere gives its token to any host that an answer names.",
			Fix:     "compare scheme, host and port of the link with those of the list; if they differ, stop, or ask the own host for the path",
			check:   followedLinks,
		},
		{
			ID: "CLT-41", Level: Waste, Title: "A client that polls pauses between two requests",
			Sources: []Source{rfc(6585, "4"), practice("records change a few times a day")},
			Why:     "A loop without a pause sends hundreds of requests a second, also with If-None-Match: the node has no time for others, and limits the client.",
			Fix:     "poll on a schedule, at most once a minute, and with If-None-Match",
			check:   hotLoops,
		},
		{
			ID: "CLT-42", Level: Note, Title: "A failed page is read again, not the whole list",
			Sources: []Source{practice("a page fails more often than a node")},
			Why:     "A client that begins a list again after each failure reads the pages that it had, and never ends at a node that fails now and then.",
			Fix:     "keep the pages that were read, repeat the failed page after a pause, and go on; ignore this note if the pages must be of one moment",
			check:   restartedLists,
		},
	}
}

// firstPages finds lists of which the client read the first page only, although that page links
// to another.
func firstPages(all history) []Sighting {
	var seen []Sighting
	continued := map[*request]bool{} // with another filter, which is a fault
	for _, s := range all.changedFilters() {
		continued[s.Entries[1]] = true
	}
	long := map[int]bool{} // the lists of which later pages were read
	for _, walk := range all.walks {
		long[walk[0].list] = long[walk[0].list] || walk.has(func(e *request) bool { return !isFirstPage(e) })
	}
	for _, walk := range all.walks {
		first := walk[0]
		if walk.hasEnough(all.aims.quotas[movedListName(first)]) && !walk.has(isLastPage) {
			seen = append(seen, Sighting{fmt.Sprintf("%s was left after %d records, and the last page had a rel=\"next\"", requestLine(first), walk.items()), requests{first}})
			continue
		}
		if len(walk) != 1 || !isServedPage(first) || continued[first] || first.Status == http.StatusNotModified && long[first.list] { // CLT-44 looks at 304
			continue
		}
		isCompleteList := func(e *request) bool { return isServedPage(e) && e.Page.Size == 0 && e.list == first.list }
		if isFirstPage(first) && first.Page.Next && first.Page.Items > 0 && len(first.Deviations) == 0 && !all.has(isCompleteList) {
			seen = append(seen, Sighting{requestLine(first) + " had a rel=\"next\", and no other page was read", requests{first}})
		}
	}
	return seen
}

// manyDetails is the number of records from which on fetching each of them alone counts as a habit.
const manyDetails = 10

// needlessDetails finds clients that fetched each record of the lists that they had read.
func needlessDetails(all history) []Sighting {
	var seen []Sighting
	for _, node := range all.nodes {
		records, counted := 0, map[int]bool{} // counted pages, by subject
		for _, e := range node {
			if e.Operation == journal.List && isServedPage(e) && e.Status == 200 && !counted[e.subject] {
				records, counted[e.subject] = records+e.Page.Items, true
			}
		}
		details := node.filter(func(e *request) bool {
			return e.Operation == journal.Detail && e.Method == "GET" && e.Status == 200 && isServed(e)
		})
		if byPath := groupBy(details, func(e *request) string { return e.Path }); records >= manyDetails && len(byPath) >= records {
			seen = append(seen, Sighting{fmt.Sprintf("%d records of the list were fetched again, each by a call of its own", len(byPath)), details})
		}
	}
	return seen
}

const (
	// smallPage is the size below which pages cost more than they bring.
	smallPage = 5
	// manyPages is the number of pages from which on their size matters.
	manyPages = 20
)

// tinyPages finds lists that were read in many pages of a few records.
func tinyPages(all history) []Sighting {
	var seen []Sighting
	for _, walk := range all.walks {
		tiny := walk.filter(func(e *request) bool {
			return isServedPage(e) && e.Page.Size > 0 && e.Page.Size < smallPage && e.Page.Items > 0 && !e.concurrent
		})
		if pages := groupBy(tiny, positionOf); len(pages) > manyPages {
			seen = append(seen, Sighting{fmt.Sprintf("%d pages of %s each were read, from %s on", len(pages), plural(tiny[0].Page.Size, "record"), requestLine(tiny[0])), tiny})
		}
	}
	return seen
}

// tokensOfWorkers finds tokens that were requested at the same time, before any was refused, and that were
// used for calls.
func tokensOfWorkers(all history) []Sighting {
	const many = 4
	var seen []Sighting
	for _, node := range all.nodes {
		if len(node.filter(func(e *request) bool { return e.Operation == journal.Token && e.Issued != nil })) < many {
			continue
		}
		uses := map[string]int{}
		for _, e := range node {
			if isAPI(e) {
				uses[e.Authorization.Print]++
			}
		}
		var together requests
		for _, e := range node {
			if e.Status == 401 {
				break
			}
			if e.Operation == journal.Token && e.Issued != nil && uses[e.Issued.Print] > 0 && (len(together) == 0 || !mayReact(together[0], e)) {
				together = append(together, e)
			}
		}
		if len(together) >= many {
			seen = append(seen, Sighting{fmt.Sprintf("%d tokens were requested at the same time", len(together)), together})
		}
	}
	if len(seen) > 0 && len(needlessTokens(all)) > 0 { // one worker may have fetched all of them
		return nil
	}
	return seen
}

// isFinal reports whether a request was refused for a reason that neither time nor another token changes.
func isFinal(e *request) bool {
	switch e.Status {
	case 404, 405, 406, 410, 415:
		// A described API may create the resource later.
		return e.Operation != journal.Call && len(e.Deviations) == 0 && !isDescribed(e)
	}
	return false
}

// repeatedMistakes finds requests that were repeated although the refusal was final.
func repeatedMistakes(all history) []Sighting {
	var seen []Sighting
	for _, group := range all.repeats {
		for run := range group.runs(isFinal, func(before, e *request) bool { return e.Time.Sub(before.Ended) < time.Minute }) {
			if run = run.chain(); len(run) >= habitLength {
				seen = append(seen, Sighting{fmt.Sprintf("%s was answered %d, and was repeated %s", requestLine(run[0]), run[0].Status, Times(len(run)-1)), run})
			}
		}
	}
	return seen
}

// followedLinks finds pages that were read at another origin than the page before, with the same token.
func followedLinks(all history) []Sighting {
	var seen []Sighting
	for _, walk := range all.walks {
		var e *request // the page before
		for _, next := range walk {
			if !isServedPage(next) {
				continue
			}
			if e != nil && e.Page.Next && next.Origin != e.Origin && next.position != e.position && next.Authorization.Print != "" && next.Authorization.Print == e.Authorization.Print {
				seen = append(seen, Sighting{fmt.Sprintf("the token went from %s to %s, which a link had named", e.Origin, next.Origin), requests{e, next}})
				break
			}
			e = next
		}
	}
	return seen
}

// hotLoops finds requests that were repeated many times without a pause although all had been answered.
func hotLoops(all history) []Sighting {
	const many = 20
	var seen []Sighting
	for _, group := range all.repeats {
		if len(group) <= many || group[0].Method != "GET" || !isAPI(group[0]) {
			continue
		}
		for run := range group.runs(func(e *request) bool { return isServed(e) && len(e.Deviations) == 0 }, func(before, e *request) bool {
			return e.Time.Sub(before.Ended) < immediate
		}) {
			if len(run) <= many {
				continue
			}
			if run = run.chain(); len(run) > many {
				seen = append(seen, Sighting{fmt.Sprintf("%s was answered and repeated %s within %s", requestLine(run[0]), Times(len(run)-1),
					elapsed(run[0].Time, run[len(run)-1].Time)), run})
			}
		}
	}
	return seen
}

// restartedLists finds lists that were read from their beginning again because a later page had failed.
func restartedLists(all history) []Sighting {
	var seen []Sighting
	for i, walk := range all.walks {
		if !all.isRestarted(i) {
			continue
		}
		if e := walk.lostPage(); e != nil && !isFirstPage(e) {
			seen = append(seen, Sighting{fmt.Sprintf("%s failed (%s), and the list was begun again", requestLine(e), failure(e)), requests{e}})
		}
	}
	return seen
}
