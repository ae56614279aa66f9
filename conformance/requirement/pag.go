package requirement

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/exchange"
)

// paging lists group PAG in catalogue order.
func paging() []Requirement {
	after := []ID{"TOK-01", "SPC-01", "SPC-03"}
	list, detail := exchange.ListOperation, exchange.DetailOperation
	return []Requirement{
		{
			ID: "PAG-02", Title: "Declared size parameter limits the page",
			Level: Network, Gate: Gating, Profile: Funding,
			Source:   NET("R15"),
			Quote:    definedByDocument,
			Probe:    "The list operation with its declared size parameter at 2 (at 1 where the list has two items), or at the declared minimum.",
			Forgives: "Pages that are smaller; a size parameter that is not declared, which is only reported; a list too short for two pages, to which this does not apply.",
			Fix:      "Apply the declared parameter, or take it out of the document. Spring Data: spring.data.web.pageable.size-parameter must be the declared name, such as page[size].",
			Breaks:   "The size parameter is ignored.",
			Needs:    []exchange.Label{list.With(exchange.SizeTwo)},
			Reads:    []exchange.Label{list.With(exchange.OK), exchange.WholeRun}, After: after, Check: pageLimited,
		},
		{
			ID: "PAG-07", Title: "Declared enum filter filters",
			Level: Network, Gate: Gating, Profile: Funding,
			Source:   NET("R15"),
			Quote:    definedByDocument,
			Probe:    "The list operation with one declared enum parameter that names a member of the items: with a value seen in the data, and with one of the vocabulary that was not seen; for ids, with one that nobody has.",
			Forgives: "Members of another name than the parameter; items that match through an array, or that lack the member; a 404 for a value that matches nothing; items of one kind only, where the declared vocabulary has no other.",
			Fix:      "Apply the filter that the document declares. Where a framework drops unknown parameters, check that the bound name is the declared one.",
			Breaks:   "The filter is ignored and all items come back.",
			Needs:    []exchange.Label{list.With(exchange.FilterSeen)},
			Reads:    []exchange.Label{list.With(exchange.FilterOther), list.With(exchange.OK), exchange.WholeRun}, After: after, Check: filterFilters,
		},
		{
			ID: "PAG-08", Title: "Listed items can be fetched one by one",
			Level: Network, Gate: Gating, Profile: Funding,
			Source:   NET("R15"),
			Quote:    definedByDocument,
			Probe:    "The detail operation with the first, a middle and the last id of the list, percent-encoded.",
			Forgives: "A 400 or 404 for an id with a slash, which Tomcat and Apache refuse by default, and a 404 for items that are neither calls nor programmes, which only funders serve (warnings).",
			Fix:      "Serve each listed id. For ids with a slash: Tomcat encodedSolidusHandling=passthrough, Apache AllowEncodedSlashes NoDecode, Spring StrictHttpFirewall.setAllowUrlEncodedSlash(true).",
			Breaks:   "The detail operation answers 404 for listed ids.",
			Reads: []exchange.Label{detail.With(exchange.ItemFirst), detail.With(exchange.ItemMiddle), detail.With(exchange.ItemLast),
				list.With(exchange.OK), exchange.WholeRun}, After: after, Check: itemsFetched,
		},
		{
			ID: "PAG-09", Title: "Unknown id gives 404",
			Level: Recommended, Gate: Gating, Profile: Funding,
			Source:   RFC(9110, "15.5.5"),
			Quote:    "The 404 (Not Found) status code indicates that the origin server did not find a current representation for the target resource or is not willing to disclose that one exists.",
			Probe:    "The detail operation with an id that does not exist.",
			Forgives: "410; 400 where ids follow a pattern, and 403 (warnings).",
			Fix:      "Answer 404 when the record is not found: catch the error of the lookup (ValueError, NoSuchElementException, EntityNotFoundException) and map it, in Spring with @ResponseStatus(NOT_FOUND).",
			Breaks:   "Unknown ids give 500.",
			Needs:    []exchange.Label{detail.With(exchange.UnknownID)},
			Reads:    []exchange.Label{exchange.WholeRun}, After: after, Control: detail.With(exchange.OK), Check: unknownNotFound,
		},
	}
}

// listJudged says whether the list is fit for judging paging by it (API-03).
func listJudged(e Evidence) (Judgement, bool) {
	j, ok := e.standing(operations(), "API-03")
	return j, ok || j.Outcome == NotApplicable // without a schema the list can still be a list
}

// smallest is the largest page size that PAG-02 asks for, unless the document declares a greater minimum.
const smallest = 2

func pageLimited(e Evidence) Judgement {
	if j, ok := listJudged(e); !ok {
		return j
	}
	x, whole := e.The(exchange.ListOperation.With(exchange.SizeTwo)), e.The(exchange.ListOperation.With(exchange.OK))
	parameter, size := x.Given["parameter"], smallest
	if n, err := strconv.Atoi(x.Given["value"]); err == nil && n > 0 {
		size = n
	}
	if j, unclear := unclearIfNoVerdict(x); unclear {
		return j
	}
	items, err := itemsOf(x)
	if parameter != "" && !declaresQuery(e, parameter) {
		return Missing("no size parameter is declared").Noting(fmt.Sprintf("%s=%d, which is not declared, gives %s", clip(parameter), size, countOf(items, err)))
	}
	asked := fmt.Sprintf("%s=%d", clip(parameter), size)
	switch {
	case !success(x):
		return Failed("the declared size parameter is refused", "2xx with at most "+strconv.Itoa(size)+" items", describe(x)).about(x, "2xx for "+asked, describe(x))
	case err != nil:
		return Unclear("the items of the page can't be counted: "+clip(err.Error())).about(x, "a list", describe(x))
	case len(items) > size:
		return Failed(fmt.Sprintf("%s gives %d items", asked, len(items)), fmt.Sprintf("at most %d items", size), fmt.Sprintf("%d items", len(items))).
			about(x, fmt.Sprintf("at most %d items", size), fmt.Sprintf("%d items", len(items)))
	}
	all, err := itemsOf(whole)
	switch {
	case err != nil || !success(whole):
		return Unclear("the list without parameters can't be compared").about(whole, "a list", describe(whole))
	// The drafts call this inconclusive. But a node with one call, or with fewer than its smallest page holds, may be right, and a
	// repeated run would tell no more: the requirement does not apply to what it has.
	case len(all) < 2:
		return Missing(fmt.Sprintf("the list has %d items, too few for two pages, so no page size can be seen to limit it", len(all))).Seen(x.Label, whole.Label)
	case len(all) <= size && size > smallest:
		return Missing(fmt.Sprintf("the list has %d items, and the smallest page that the document allows holds %d", len(all), size)).Seen(x.Label, whole.Label)
	case len(all) <= size:
		return Unclear(fmt.Sprintf("the list has only %d items, so a page of %d proves nothing", len(all), size)).
			Hinting("put more funding calls into the tested system, then repeat the run").about(x, "more than "+strconv.Itoa(size)+" items in all", strconv.Itoa(len(all)))
	case len(items) == 0:
		return Warned(asked+" gives an empty page although there are items", fmt.Sprintf("up to %d items", size), "no items").about(x, "items", "no items")
	}
	return Passed(x.Label, whole.Label)
}

func countOf(items [][]byte, err error) string {
	if err != nil {
		return "no list"
	}
	return fmt.Sprintf("%d items", len(items))
}

// declaresQuery reports whether the list operation declares the query parameter, by its name or as a member of a deep object
// ("page[size]" as the member size of page). Without a document the probe's word counts.
func declaresQuery(e Evidence, name string) bool {
	o, ok := operation(e, e.Roles.List)
	if !ok {
		return true
	}
	object, member, deep := strings.Cut(strings.TrimSuffix(name, "]"), "[")
	for _, p := range o.Parameters {
		if p.In != "query" {
			continue
		}
		_, has := p.Schema.Properties[member]
		if p.Name == name || deep && p.Name == object && has {
			return true
		}
	}
	return false
}

func unknownNotFound(e Evidence) Judgement {
	if j, ok := listJudged(e); !ok {
		return j
	}
	x := e.The(exchange.DetailOperation.With(exchange.UnknownID))
	const expected = "404"
	switch {
	case serverError(x):
		return Failed("an unknown id breaks the node", expected, describe(x)).about(x, expected, describe(x))
	case success(x):
		return Failed("an unknown id is answered as if it existed", expected, describe(x)).about(x, expected, describe(x))
	}
	if j, unclear := unclearIfNoVerdict(x); unclear {
		return j
	}
	switch x.Status() {
	case 404, 410:
		return Passed(x.Label)
	case 400, 403, 422:
		return Warned("an unknown id is refused, but not with 404", expected, describe(x)).about(x, expected, describe(x))
	}
	if redirected(x) {
		return Unclear("the call with an unknown id leads to another place").about(x, expected, describe(x))
	}
	return Failed("an unknown id is not answered as one that does not exist", expected, describe(x)).about(x, expected, describe(x))
}
