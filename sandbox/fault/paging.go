package fault

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// pagingDeviations break pages, filters and links.
func pagingDeviations() []Deviation {
	return slices.Concat(pageDeviations(), lastPageDeviations(), inputDeviations(), filterDeviations(), togetherDeviations(), agreementDeviations(), linkDeviations())
}

// pageDeviations break the list and its pages.
func pageDeviations() []Deviation {
	return []Deviation{
		{
			Name: "first-item-twice", Breaks: []string{"PAG-01"},
			Why:  "The first item stands at the end of the whole list once more: the featured call.",
			Wrap: rewrite(when(wholeList, func(_ *http.Request, a *editableAnswer) { a.add(firstOther(a.items(), nil)) }), FundingList),
		},
		{
			Name: "filter-multiplies-rows", Breaks: []string{"PAG-01"},
			Why: "Filtered by target group, records come once for each of their groups: a join without DISTINCT.",
			Wrap: rewrite(when(succeeded, func(r *http.Request, a *editableAnswer) {
				if r.URL.Query().Get("targetGroup") == "" {
					return
				}
				for _, item := range a.items() {
					if groups, _ := item["targetGroups"].([]any); len(groups) > 1 {
						a.add(item)
					}
				}
			}), FundingList),
		},
		{
			Name: "page-size-on-first-page-only", Breaks: []string{"PAG-02"},
			Why: "The first page keeps to page[size], the ones after it hold twice as many records.",
			Wrap: asking(func(q url.Values) {
				if page, size, ok := pageOf(q); ok && page > 0 {
					q.Set("page[size]", strconv.Itoa(2*size))
				}
			}),
		},
		{
			Name: "second-page-repeats-first", Breaks: []string{"PAG-03"},
			Why: "The second page is the first one again: pages are counted from 1, and 1 is taken for the first by mistake.",
			Wrap: asking(func(q url.Values) {
				if page, size, ok := pageOf(q); ok && page == size {
					q.Set("page[page]", "0")
				}
			}),
		},
		{
			Name: "page-ignored", Breaks: []string{"PAG-03"},
			Why: "page[page] is ignored, and the first page comes again and again; the network's client would never end.",
			Wrap: asking(func(q url.Values) {
				if q.Get("page[page]") != "" {
					q.Set("page[page]", "0")
				}
			}),
		},
		{
			Name: "pages-hide-one-record", Breaks: []string{"PAG-03"},
			Why: "One record is on no page: permissions are applied behind the page, with another rule than for the whole list.",
			Wrap: paged(func(_ pageRange, a *editableAnswer) {
				a.keep(func(item map[string]any) bool { return item["id"] != "XF-00000005" })
			}),
		},
		{
			Name: "pages-overlap", Breaks: []string{"PAG-03"},
			Why: "Each page but the first begins with the last record of the one before: from and to are both taken as included.",
			Wrap: asking(func(q url.Values) {
				if page, size, ok := pageOf(q); ok && page >= size {
					q.Set("page[page]", strconv.Itoa(page-page/size))
				}
			}),
		},
		{
			Name: "later-pages-sorted-otherwise", Breaks: []string{"PAG-03"},
			Why:  "Pages after the first come in another order: the query has no ORDER BY, and the database uses another index.",
			Wrap: laterPagesTurned,
		},
		{
			Name: "beyond-end-last-page", Breaks: []string{"PAG-04"},
			Why:  "Beyond the end the last page is repeated, as grids for people do.",
			Wrap: beyondEnd(func(last, a *editableAnswer) { a.Body = last.Body }),
		},
		{
			Name: "beyond-end-crashes", Breaks: []string{"PAG-04"},
			Why:  "A page beyond the end fails with 500: a slice out of range.",
			Wrap: beyondEnd(func(_, a *editableAnswer) { crash(a) }),
		},
	}
}

// lastPageDeviations put one wrong record where only somebody who reads to the end sees it.
func lastPageDeviations() []Deviation {
	return []Deviation{
		{
			Name: "last-page-without-name", Breaks: []string{"API-04"},
			Why:  "The last record of the last page lacks the required name: an import that broke off.",
			Wrap: lastPage(drop("name")),
		},
		{
			Name: "last-page-text-for-array", Breaks: []string{"API-05"},
			Why:  "The last record of the last page has a text where an array of texts is described.",
			Wrap: lastPage(put("website", "https://funder.example/")),
		},
		{
			Name: "last-page-unknown-word", Breaks: []string{"API-06"},
			Why:  "The last record of the last page has a legal type that is not in the vocabulary, typed by hand.",
			Wrap: lastPage(put("legalType", "PROJECT28")),
		},
		{
			Name: "last-page-date-without-zone", Breaks: []string{"API-07"},
			Why: "A funder of the last record of the last page begins at a time without a zone: the newest records come from another system.",
			Wrap: lastPage(func(item map[string]any) {
				for _, funder := range objects(item, "funder") {
					member(funder, "funder")["startDate"] = "2026-01-15T09:00:00"
				}
			}),
		},
		{
			Name: "second-page-null-name", Breaks: []string{"API-05"},
			Why: "The first record of the second page, and it alone, has null for its required name.",
			Wrap: paged(func(p pageRange, a *editableAnswer) {
				if p.page == p.size {
					a.editItems(func(n int, item map[string]any) {
						if n == 0 {
							item["name"] = nil
						}
					})
				}
			}),
		},
	}
}

// agreementDeviations make list and detail tell different things.
func agreementDeviations() []Deviation {
	return []Deviation{
		{
			Name: "detail-of-older-version", Breaks: []string{"PAG-08"},
			Why:  "The detail comes from a cache that still has the target groups of last year.",
			Wrap: details(put("targetGroups", []any{"UNIVERSITY"})),
		},
		{
			Name: "detail-flag-inverted", Breaks: []string{"PAG-08"},
			Why: "The detail says of fullyFunded the reverse of the list: two mappings of one column.",
			Wrap: details(func(item map[string]any) {
				if funded, ok := item["fullyFunded"].(bool); ok {
					item["fullyFunded"] = !funded
				}
			}),
		},
	}
}

// pageOf is the page that a query asks for, as a number of records to skip; ok is false without one.
func pageOf(q url.Values) (page, size int, ok bool) {
	page, noPage := strconv.Atoi(q.Get("page[page]"))
	size, noSize := strconv.Atoi(q.Get("page[size]"))
	return page, size, noPage == nil && noSize == nil && size > 0
}

// pageRange is the page that a request asks for.
type pageRange struct{ page, size int }

// paged makes a Wrap that changes the answers to requests for pages.
func paged(alter func(p pageRange, a *editableAnswer)) wrap {
	return rewrite(when(succeeded, func(r *http.Request, a *editableAnswer) {
		if page, size, ok := pageOf(r.URL.Query()); ok {
			alter(pageRange{page, size}, a)
		}
	}), FundingList)
}

// lastPage makes a Wrap that edits the last record of the last page, which has no link to a next one. A list on one page is whole.
func lastPage(edit func(item map[string]any)) wrap {
	return paged(func(p pageRange, a *editableAnswer) {
		last := len(a.items()) - 1
		if p.page == 0 || strings.Contains(a.Header.Get("Link"), `rel="next"`) {
			return
		}
		a.editItems(func(n int, item map[string]any) {
			if n == last {
				edit(item)
			}
		})
	})
}

// beyondEnd makes a Wrap that changes the answers to requests for pages beyond the end; last is the last page.
func beyondEnd(alter func(last, a *editableAnswer)) wrap {
	return around(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, r)
		page, size, ok := pageOf(r.URL.Query())
		if ok && a.ok() && page > 0 && len(a.items()) == 0 {
			whole := capture(next, withQuery(r, func(q url.Values) {
				q.Del("page[page]")
				q.Del("page[size]")
			}))
			start := max(0, len(whole.items())-1) / size * size
			alter(capture(next, withQuery(r, func(q url.Values) { q.Set("page[page]", strconv.Itoa(start)) })), a)
		}
		a.send(w, r)
	}, FundingList)
}

// keep leaves out the items that do not fit.
func (a *editableAnswer) keep(fits func(item map[string]any) bool) {
	a.edit(func(value any) any {
		items, _ := value.([]any)
		return slices.DeleteFunc(items, func(i any) bool {
			item, ok := i.(map[string]any)
			return ok && !fits(item)
		})
	})
}

// laterPagesTurned takes pages other than the first from the list in its reverse order.
func laterPagesTurned(next http.Handler, env Env) http.Handler {
	return around(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, r)
		if page, size, ok := pageOf(r.URL.Query()); ok && a.ok() && page > 0 {
			whole := capture(next, withQuery(r, func(q url.Values) {
				q.Del("page[page]")
				q.Del("page[size]")
			}))
			whole.edit(func(value any) any {
				all, _ := value.([]any)
				slices.Reverse(all)
				return all[min(page, len(all)):min(page+size, len(all))]
			})
			a.Body = whole.Body
		}
		a.send(w, r)
	}, FundingList)(next, env)
}

// linkDeviations break the links between pages.
func linkDeviations() []Deviation {
	return []Deviation{
		{
			Name: "next-link-cleartext", Breaks: []string{"PAG-10"},
			Why:  "The links between pages begin with http:// and have no port: the node does not know that it is behind a proxy.",
			Wrap: relinking(func(host, link string) string { return strings.ReplaceAll(link, "</", "<http://"+hostname(host)+"/") }),
		},
		{
			Name: "next-link-internal-host", Breaks: []string{"PAG-10"},
			Why:  "The link to the next page names the host inside the network of the node.",
			Wrap: relinking(func(_, link string) string { return onlyNext(link, "https://backend.internal:8443/") }),
		},
		{
			Name: "link-without-brackets", Breaks: []string{"PAG-10"},
			Why:  "The targets of links stand without angle brackets.",
			Wrap: relinking(func(_, link string) string { return strings.NewReplacer("<", "", ">", "").Replace(link) }),
		},
		{
			Name: "next-link-dead", Breaks: []string{"PAG-10"},
			Why:  "The link to the next page lacks the prefix that the gateway takes off, and gives 404.",
			Wrap: relinking(func(_, link string) string { return onlyNext(link, "/page-of/") }),
		},
		{
			Name: "next-link-to-itself", Breaks: []string{"PAG-10"},
			Why: "The link to the next page leads to the page itself.",
			Wrap: rewrite(func(r *http.Request, a *editableAnswer) {
				if strings.Contains(a.Header.Get("Link"), `rel="next"`) {
					a.set("Link", "<"+r.URL.RequestURI()+`>; rel="next"`)
				}
			}, FundingList),
		},
	}
}

// relinking makes a Wrap that changes the Link header of lists.
func relinking(change func(host, link string) string) wrap {
	return rewrite(func(r *http.Request, a *editableAnswer) {
		if link := a.Header.Get("Link"); link != "" {
			a.set("Link", change(r.Host, link))
		}
	}, FundingList)
}

// onlyNext puts a start before the target of the link to the next page.
func onlyNext(link, start string) string {
	parts := strings.Split(link, ", ")
	for i, p := range parts {
		if strings.HasSuffix(p, `rel="next"`) {
			parts[i] = strings.Replace(p, "</", "<"+start, 1)
		}
	}
	return strings.Join(parts, ", ")
}

// hostname is a host without its port.
func hostname(host string) string { return (&url.URL{Host: host}).Hostname() }
