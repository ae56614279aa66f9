package fault

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/sandbox/address"
)

// pageDeviations break pages and their sizes.
func pageDeviations() []Deviation {
	return []Deviation{
		{Name: "page-size-ignored", Breaks: []string{"PAG-02"},
			Why:  "The described page[size] is ignored: the framework expects size and drops unknown parameters.",
			Wrap: editQuery(func(q url.Values) { q.Del("page[size]") })},
		{Name: "page-size-one-too-many", Breaks: []string{"PAG-02"},
			Why: "A page has one record more than requested: the one that is read to see whether there is a next page.",
			Wrap: editQuery(func(q url.Values) {
				if size, err := strconv.Atoi(q.Get("page[size]")); err == nil {
					q.Set("page[size]", strconv.Itoa(size+1))
				}
			})},
		{Name: "first-item-twice", Breaks: []string{"PAG-01"},
			Why:  "The first item of the complete list is repeated at its end, because it is the featured call.",
			Wrap: rewrite(when(isCompleteList, func(a *answer) { a.add(firstItem(a)) }), List)},
		{Name: "filter-multiplies-rows", Breaks: []string{"PAG-01"},
			Why: "Filtered by target group, the list has each record once for each of its groups: a join without DISTINCT.",
			Wrap: rewriteSuccess(func(a *answer) {
				if a.request.URL.Query().Get("targetGroup") == "" {
					return
				}
				for _, item := range a.items() {
					if groups, _ := item["targetGroups"].([]any); len(groups) > 1 {
						a.add(item)
					}
				}
			}, List)},
		{Name: "page-size-on-first-page-only", Breaks: []string{"PAG-02"},
			Why:  "The first page has page[size] records, and later pages have twice as many.",
			Wrap: editPage(func(p page) bool { return p.start > 0 }, func(p page) (string, int) { return "page[size]", 2 * p.size })},
		{Name: "second-page-repeats-first", Breaks: []string{"PAG-03"},
			Why:  "The second page is the first one again: the node turns the offset into a page number, and takes pages 0 and 1 for the same one.",
			Wrap: editPage(func(p page) bool { return p.start == p.size }, func(page) (string, int) { return "page[page]", 0 })},
		{Name: "page-ignored", Breaks: []string{"PAG-03"},
			Why: "page[page] is ignored, and the first page always comes back; the network's client would never end.",
			Wrap: editQuery(func(q url.Values) {
				if q.Get("page[page]") != "" {
					q.Set("page[page]", "0")
				}
			})},
		{Name: "pages-hide-one-record", Breaks: []string{"PAG-03"},
			Why: "One record is on no page: permissions are applied after paging, by another rule than for the complete list.",
			Wrap: rewritePages(func(_ page, a *answer) {
				a.keep(func(item map[string]any) bool { return item["id"] != "XF-00000005" }) // an arbitrary record
			})},
		{Name: "pages-overlap", Breaks: []string{"PAG-03"},
			Why: "Each page but the first begins with the last record of the page before: both from and to are included.",
			Wrap: editPage(func(p page) bool { return p.start >= p.size }, func(p page) (string, int) {
				number := p.start / p.size // each earlier page moves this one by one record
				return "page[page]", p.start - number
			})},
		{Name: "later-pages-sorted-otherwise", Breaks: []string{"PAG-03"},
			Why:  "Later pages have another order: the query has no ORDER BY, and the database uses another index.",
			Wrap: rewritePages(reverseLaterPages)},
		{Name: "beyond-end-last-page", Breaks: []string{"PAG-04"},
			Why:  "Past the end the last page is repeated, as in tables for people.",
			Wrap: rewritePastEnd(func(last, a *answer) { a.Body = last.Body })},
		{Name: "last-page-filled-up", Breaks: []string{"PAG-03"},
			Why: "The last page is filled up with the records before it: it is read from the end of the list, as by TOP with the reversed order in SQL Server.",
			Wrap: rewritePages(func(p page, a *answer) {
				if n := len(a.items()); p.start == 0 || n == 0 || n >= p.size {
					return
				}
				full := a.ask(withQuery(a.request, func(q url.Values) { q.Set("page[page]", strconv.Itoa(max(0, p.start+len(a.items())-p.size))) }))
				a.Body = full.Body
			})},
		{Name: "last-number-is-the-first-page", Breaks: []string{"PAG-04"},
			Why:  "A page whose number is near the largest 32-bit number is the first page: the place of its last record is calculated in 32 bits.",
			Wrap: editPage(func(p page) bool { return p.start > 1<<31-1-p.size }, func(page) (string, int) { return "page[page]", 0 })},
		{Name: "total-too-low", Breaks: []string{"PAG-01"},
			Why: "X-Total-Count is less than the number of records: it is cached for an hour.",
			Wrap: rewriteSuccess(when(isCompleteList, func(a *answer) {
				a.set("X-Total-Count", strconv.Itoa(len(a.items())-1))
			}), List)},
		{Name: "beyond-end-crashes", Breaks: []string{"PAG-04"}, May: []string{"PAG-06", "API-01"},
			Why:  "A page past the end fails with 500: a slice out of range.",
			Wrap: rewritePastEnd(func(_, a *answer) { crash(a) })},
		{Name: "last-page-lost", Breaks: []string{"PAG-03"},
			Why: "The last page of a list or of a filtered list is empty: the number of pages is rounded down.",
			Wrap: rewriteSuccess(func(a *answer) {
				if a.request.URL.Query().Has("page[size]") && !strings.Contains(a.Header.Get("Link"), `rel="next"`) {
					emptyList(a)
				}
			}, List)},
	}
}

// lastPageDeviations break one record that is not on the first page, so that only clients that read further pages see it.
func lastPageDeviations() []Deviation {
	return []Deviation{
		{Name: "last-page-without-name", Breaks: []string{"API-04"},
			Why:  "The last record of the last page lacks the required name: an interrupted import.",
			Wrap: editLastRecord(drop("name"))},
		{Name: "last-page-text-for-array", Breaks: []string{"API-05"},
			Why:  "The last record of the last page has a text where an array of texts is described.",
			Wrap: editLastRecord(put("website", "https://funder.example/"))},
		{Name: "last-page-unknown-word", Breaks: []string{"API-06"},
			Why:  "The last record of the last page has a legal type that is not in the vocabulary, typed by hand.",
			Wrap: editLastRecord(put("legalType", "PROJECT28"))},
		{Name: "last-page-date-without-zone", Breaks: []string{"API-07"},
			Why: "A funder in the last record of the last page has a start date without a zone: the newest records come from another system.",
			Wrap: editLastRecord(func(item map[string]any) {
				for _, funder := range objects(item, "funder") {
					member(funder, "funder")["startDate"] = "2026-01-15T09:00:00"
				}
			})},
		{Name: "second-page-null-name", Breaks: []string{"API-05"},
			Why: "The first record of the second page, and only that one, has null for its required name.",
			Wrap: rewritePages(func(p page, a *answer) {
				if p.start != p.size {
					return
				}
				a.editItems(func(n int, item map[string]any) {
					if n == 0 {
						item["name"] = nil
					}
				})
			})},
	}
}

// firstItem returns the first item of a list, or nil.
func firstItem(a *answer) map[string]any {
	if items := a.items(); len(items) > 0 {
		return items[0]
	}
	return nil
}

// page is the page that a request asks for. start is the value of page[page], which is an offset: the number of records to skip.
type page struct{ start, size int }

// pageOf returns the page that a query asks for.
func pageOf(q url.Values) (p page, ok bool) {
	start, errStart := strconv.Atoi(q.Get("page[page]"))
	size, errSize := strconv.Atoi(q.Get("page[size]"))
	return page{start, size}, errStart == nil && errSize == nil && size > 0
}

// editPage makes a wrap that replaces one paging parameter of requests for pages that fit.
func editPage(fits func(p page) bool, replace func(p page) (name string, value int)) wrap {
	return editQuery(func(q url.Values) {
		if p, ok := pageOf(q); ok && fits(p) {
			name, value := replace(p)
			q.Set(name, strconv.Itoa(value))
		}
	})
}

// rewritePages makes a wrap that changes the answers to requests for pages.
func rewritePages(alter func(p page, a *answer)) wrap {
	return rewriteSuccess(func(a *answer) {
		if p, ok := pageOf(a.request.URL.Query()); ok {
			alter(p, a)
		}
	}, List)
}

// editLastRecord makes a wrap that edits the last record of the last page, which has no link to a next one. It leaves a list with one page alone.
func editLastRecord(edit func(item map[string]any)) wrap {
	return rewritePages(func(p page, a *answer) {
		if p.start == 0 || strings.Contains(a.Header.Get("Link"), `rel="next"`) {
			return
		}
		last := len(a.items()) - 1
		a.editItems(func(n int, item map[string]any) {
			if n == last {
				edit(item)
			}
		})
	})
}

// withoutPaging returns r without paging parameters.
func withoutPaging(r *http.Request) *http.Request {
	return withQuery(r, func(q url.Values) {
		q.Del("page[page]")
		q.Del("page[size]")
	})
}

// rewritePastEnd makes a wrap that changes the answers to requests for pages past the end; last is the last page.
func rewritePastEnd(alter func(last, a *answer)) wrap {
	return rewritePages(func(p page, a *answer) {
		if p.start <= 0 || len(a.items()) > 0 {
			return
		}
		complete := a.ask(withoutPaging(a.request))
		start := max(0, len(complete.items())-1) / p.size * p.size
		alter(a.ask(withQuery(a.request, func(q url.Values) { q.Set("page[page]", strconv.Itoa(start)) })), a)
	})
}

// reverseLaterPages cuts all pages except the first from the list in reverse order.
func reverseLaterPages(p page, a *answer) {
	if p.start <= 0 {
		return
	}
	complete := a.ask(withoutPaging(a.request))
	complete.edit(func(value any) any {
		all, _ := value.([]any)
		slices.Reverse(all)
		return all[min(p.start, len(all)):min(p.start+p.size, len(all))]
	})
	a.Body = complete.Body
}

// linkDeviations break the links between pages.
func linkDeviations() []Deviation {
	return []Deviation{
		{Name: "next-link-cleartext", Breaks: []string{"PAG-10"},
			Why: "The links between pages begin with http:// and lack the port: the node does not know that it is behind a proxy.",
			Wrap: editLink(func(host, link string) string {
				return strings.ReplaceAll(link, "</", "<http://"+address.Hostname(host)+"/")
			})},
		{Name: "next-link-internal-host", Breaks: []string{"PAG-10"},
			Why:  "The link to the next page names a host inside the network of the node.",
			Wrap: editLink(func(_, link string) string { return prefixNext(link, "https://backend.internal:8443/") })},
		{Name: "next-link-encoded-twice", Breaks: []string{"PAG-10"},
			Why:  "The links between pages encode the brackets of their parameters twice, so that they lead to the whole list: the gateway encodes what the framework has encoded.",
			Wrap: editLink(func(_, link string) string { return strings.NewReplacer("%5B", "%255B", "%5D", "%255D").Replace(link) })},
		{Name: "link-without-brackets", Breaks: []string{"PAG-10"},
			Why:  "The targets of links have no angle brackets.",
			Wrap: editLink(func(_, link string) string { return strings.NewReplacer("<", "", ">", "").Replace(link) })},
		{Name: "next-link-dead", Breaks: []string{"PAG-10"},
			Why:  "The link to the next page lacks the prefix that the gateway removes, and answers 404.",
			Wrap: editLink(func(_, link string) string { return prefixNext(link, "/page-of/") })},
		{Name: "next-link-with-bare-ampersand", Breaks: []string{"PAG-10"}, May: []string{"PAG-07"},
			Why: "The link to the next page does not encode the value of a filter, so that an ampersand in it ends the value.",
			Wrap: both(editLink(func(_, link string) string {
				return strings.ReplaceAll(link, url.QueryEscape(ampersand), ampersand)
			}), ampersandInFunders())},
		{Name: "next-link-to-itself", Breaks: []string{"PAG-10"},
			Why: "The link to the next page leads to the page itself.",
			Wrap: rewrite(func(a *answer) {
				if strings.Contains(a.Header.Get("Link"), `rel="next"`) {
					a.set("Link", "<"+a.request.URL.RequestURI()+`>; rel="next"`)
				}
			}, List)},
	}
}

// ampersand is the end of each id of a funder in [ampersandInFunders].
const ampersand = "&co"

// ampersandInFunders makes a wrap that appends [ampersand] to the ids of funders. Links must encode it.
func ampersandInFunders() wrap {
	rename := func(record map[string]any) {
		for _, f := range objects(record, "funder") {
			funder := member(f, "funder")
			funder["id"] = text(funder["id"]) + ampersand
		}
	}
	return both(editDetail(rename), intercept(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		given := r.URL.Query().Get("funderId")
		bare, known := strings.CutSuffix(given, ampersand)
		inner := r
		if given != "" {
			if !known {
				bare = "~" + given[1:] // no funder has this id
			}
			inner = withQuery(r, func(q url.Values) { q.Set("funderId", bare) })
		}
		a := capture(next, inner)
		if link := a.Header.Get("Link"); link != "" && given != "" {
			a.set("Link", strings.ReplaceAll(link, "funderId="+url.QueryEscape(bare), "funderId="+url.QueryEscape(given)))
		}
		if a.ok() {
			a.editItems(func(_ int, record map[string]any) { rename(record) })
		}
		a.send(w, r)
	}, List))
}

// editLink makes a wrap that changes the Link header of lists.
func editLink(replace func(host, link string) string) wrap {
	return rewrite(func(a *answer) {
		if link := a.Header.Get("Link"); link != "" {
			a.set("Link", replace(a.request.Host, link))
		}
	}, List)
}

// prefixNext puts a prefix before the target of the link to the next page.
func prefixNext(link, prefix string) string {
	parts := strings.Split(link, ", ")
	for i, p := range parts {
		if strings.HasSuffix(p, `rel="next"`) {
			parts[i] = strings.Replace(p, "</", "<"+prefix, 1)
		}
	}
	return strings.Join(parts, ", ")
}
