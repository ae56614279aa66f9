package fault

import (
	"encoding/json"
	"html"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rin-network/rin/sandbox/content"
)

type rec = map[string]any

// zbSelect selects by another rule when the parameter is given.
func zbSelect(name string, fits func(value string, item rec) bool) wrap {
	return zbSelectAt(name, func(v string, item rec, _ time.Time) bool { return fits(v, item) })
}

func zbSelectAt(name string, fits func(value string, item rec, now time.Time) bool) wrap {
	return rewriteSuccess(func(a *answer) {
		q := a.request.URL.Query()
		value := q.Get(name)
		if value == "" {
			return
		}
		env := a.env
		complete := a.ask(withQuery(a.request, func(q url.Values) { q.Del(name); q.Del("page[page]"); q.Del("page[size]") }))
		complete.keep(func(item rec) bool { return fits(value, item, env.Now()) })
		*a = *complete
		a.env = env
		a.page(q, func(url.Values) {})
	}, List)
}

func zbNumber(id string) int {
	n, _ := strconv.Atoi(id[max(0, len(id)-8):])
	return n
}

func zbFunders(item rec) []string {
	var ids []string
	for _, f := range objects(item, "funder") {
		ids = append(ids, text(member(f, "funder")["id"]))
	}
	return ids
}

func zbStage(stage rec) (from, to time.Time) {
	from, _ = time.Parse(time.RFC3339, text(stage["callStageStart"]))
	to, _ = time.Parse(time.RFC3339, text(stage["callStageEnd"]))
	return from, to
}

func zbIsCall(item rec) bool { return item["type"] == "CALL" || item["type"] == "ONGOING_CALL" }

// zbRunning selects running calls by a rule.
func zbRunning(runs func(stages []rec, now time.Time) bool, not func(stages []rec, now time.Time) bool) wrap {
	return zbSelectAt("runningCalls", func(v string, item rec, now time.Time) bool {
		stages := objects(item, "callStages")
		if !zbIsCall(item) || len(stages) == 0 {
			return false
		}
		if strings.EqualFold(v, "true") {
			return runs(stages, now)
		}
		return not(stages, now)
	})
}

func zbRuns(stages []rec, now time.Time) bool {
	from, to := zbStage(stages[0])
	return !now.Before(from) && (to.IsZero() || now.Before(to))
}

func zbNot(f func([]rec, time.Time) bool) func([]rec, time.Time) bool {
	return func(s []rec, n time.Time) bool { return !f(s, n) }
}

func zbTimes(value any, alter func(at time.Time, s string) string) any {
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = zbTimes(v[i], alter)
		}
	case map[string]any:
		for k := range v {
			v[k] = zbTimes(v[k], alter)
		}
	case string:
		if at, err := time.Parse(time.RFC3339, v); err == nil {
			return alter(at, v)
		}
	}
	return value
}

func zbTexts(value any, alter func(s string) string) any {
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = zbTexts(v[i], alter)
		}
	case map[string]any:
		for k := range v {
			if s, ok := v[k].(string); ok && k == "text" {
				v[k] = alter(s)
			} else {
				v[k] = zbTexts(v[k], alter)
			}
		}
	}
	return value
}

func zbCut(s string, n int) string {
	r := []rune(s)
	return string(r[:min(len(r), n)])
}

func ideasB() []Deviation {
	row := func(name string, w wrap) Deviation { return Deviation{Name: "zb-" + name, Why: "An idea.", Wrap: w} }
	isIt := func(fits func(string, string) bool) func(string, rec) bool {
		return func(v string, item rec) bool {
			return slices.ContainsFunc(zbFunders(item), func(id string) bool { return fits(id, v) })
		}
	}
	return []Deviation{
		row("01-like-target-group", zbSelect("targetGroup", func(v string, item rec) bool {
			return slices.ContainsFunc(asList(item["targetGroups"]), func(g any) bool { return strings.Contains(text(g), v) })
		})),
		row("02-like-type", zbSelect("fundingType", func(v string, item rec) bool { return strings.Contains(text(item["type"]), v) })),
		row("03-funder-prefix", zbSelect("funderId", isIt(strings.HasPrefix))),
		row("04-funder-first", zbSelect("funderId", func(v string, item rec) bool { return len(zbFunders(item)) > 0 && zbFunders(item)[0] == v })),
		row("05-funder-wildcard", zbSelect("funderId", isIt(func(id, v string) bool {
			p := strings.NewReplacer("%", ".*", "_", ".").Replace(regexp.QuoteMeta(v))
			return regexp.MustCompile("^" + p + "$").MatchString(id)
		}))),
		row("06-type-scheme", zbSelect("fundingType", func(v string, item rec) bool { return item["fundingScheme"] == v })),
		row("07-or-two", rewriteSuccess(joinFiltersByOr, List)),
		row("08-third-ignored", replaceRequest(func(r *http.Request, _ Env) *http.Request {
			given := filtersOf(r)
			if len(given) < 3 {
				return r
			}
			return withQuery(r, func(q url.Values) { q.Del(given[2]) })
		}, List)),
		row("09-page-before-filter", rewriteSuccess(func(a *answer) {
			if len(filtersOf(a.request)) == 0 || !a.request.URL.Query().Has("page[size]") {
				return
			}
			ids := map[any]bool{}
			for _, item := range a.ask(withoutPaging(a.request)).items() {
				ids[item["id"]] = true
			}
			page := a.ask(withQuery(a.request, dropFilters))
			page.keep(func(item rec) bool { return ids[item["id"]] })
			a.Body = page.Body
			a.set("Link", "")
		}, List)),
		row("10-filter-lost-page2", editQuery(func(q url.Values) {
			if numberOr(q.Get("page[page]"), 0) > 0 {
				dropFilters(q)
			}
		})),
		row("12-next-double-encoded", editLink(func(_, link string) string { return strings.ReplaceAll(link, "%5B", "%255B") })),
		row("13-cap-gap", rewriteSuccess(func(a *answer) {
			if isFiltered(a) && a.request.URL.Query().Has("page[size]") {
				n := -1
				a.keep(func(rec) bool { n++; return n < 10 })
			}
		}, List)),
		row("14-last-backfill", rewritePages(func(p page, a *answer) {
			if p.start == 0 || len(a.items()) == 0 || len(a.items()) == p.size {
				return
			}
			all := a.ask(withoutPaging(a.request)).items()
			a.Body, _ = json.Marshal(all[max(0, len(all)-p.size):])
		})),
		row("15-last-lost", rewritePages(func(p page, a *answer) {
			all := a.ask(withoutPaging(a.request)).items()
			if len(all) > 0 {
				last := all[len(all)-1]["id"]
				a.keep(func(item rec) bool { return item["id"] != last })
			}
		})),
		row("16-tie-order", rewritePages(func(p page, a *answer) {
			if p.start <= 50 {
				return
			}
			reverseLaterPages(p, a)
		})),
		row("17-size-overflow", editPage(func(p page) bool { return p.start > 1<<31-1-p.size }, func(page) (string, int) { return "page[page]", 0 })),
		row("18-empty-is-value", rewriteSuccess(whenRequest(func(r *http.Request) bool {
			return r.URL.Query().Has("region") && r.URL.Query().Get("region") == ""
		}, emptyList), List)),
		row("19-running-case", editQuery(func(q url.Values) {
			if v := q.Get("runningCalls"); v != "true" && strings.EqualFold(v, "true") {
				q.Set("runningCalls", "false")
			}
		})),
		row("20-running-start", zbRunning(func(s []rec, now time.Time) bool { _, to := zbStage(s[0]); return to.IsZero() || now.Before(to) }, func(s []rec, now time.Time) bool { _, to := zbStage(s[0]); return !(to.IsZero() || now.Before(to)) })),
		row("21-running-last-stage", zbRunning(func(s []rec, now time.Time) bool { return zbRuns(s[len(s)-1:], now) }, func(s []rec, now time.Time) bool { return !zbRuns(s[len(s)-1:], now) })),
		row("22-running-false-past", zbRunning(zbRuns, func(s []rec, now time.Time) bool { _, to := zbStage(s[0]); return !to.IsZero() && !now.Before(to) })),
		row("23-running-day", zbRunning(func(s []rec, now time.Time) bool {
			from, to := zbStage(s[0])
			return !now.Before(from) && (to.IsZero() || now.Format(time.DateOnly) <= to.UTC().Format(time.DateOnly))
		}, func(s []rec, now time.Time) bool {
			from, to := zbStage(s[0])
			return now.Before(from) || !to.IsZero() && now.Format(time.DateOnly) > to.UTC().Format(time.DateOnly)
		})),
		row("24-null-region", zbSelect("region", func(v string, item rec) bool {
			regions := asList(item["eligibleApplicantsRegions"])
			return len(regions) == 0 && zbIsCall(item) || slices.Contains(regions, any(v))
		})),
		row("25-unknown-param-filters", rewriteSuccess(func(a *answer) {
			for name, values := range a.request.URL.Query() {
				if slices.Contains([]string{"id", "type", "legalType", "acronym", "fundingScheme", "eligibleApplicantsScope"}, name) {
					a.keep(func(item rec) bool { return item[name] == values[0] })
				}
			}
		}, List)),
		row("26-bad-value-with-page", editQuery(func(q url.Values) {
			if q.Has("page[size]") {
				dropUnknownValues(q)
			}
		})),
		row("27-join-duplicates", rewriteSuccess(func(a *answer) {
			if a.request.URL.Query().Get("targetGroup") == "" || a.request.URL.Query().Has("page[size]") {
				return
			}
			for _, item := range a.items() {
				if len(zbFunders(item)) > 1 {
					a.add(item)
				}
			}
		}, List)),
		row("29-detail-zeros", rewrite(when(isNotFound, func(a *answer) {
			path := a.request.URL.Path
			i := strings.LastIndexByte(path, '-')
			if i < 0 {
				return
			}
			n, err := strconv.Atoi(path[i+1:])
			if err != nil {
				return
			}
			digits := strconv.Itoa(n)
			if found := a.ask(withPath(a.request, path[:i+1]+strings.Repeat("0", max(0, 8-len(digits)))+digits)); found.ok() {
				*a = *found
			}
		}), Detail)),
		row("30-ref-zeros", editRecords(func(record rec) {
			if of, ok := record["partOf"].(map[string]any); ok {
				of["id"] = "XF-" + strconv.Itoa(zbNumber(text(of["id"])))
			}
		})),
		row("31-ref-stale", editRecords(func(record rec) {
			if of, ok := record["partOf"].(map[string]any); ok {
				zbTexts(of["name"], func(s string) string { return s + " (Entwurf)" })
			}
		})),
		row("32-detail-utc", editDetail(func(item rec) {
			zbTimes(item, func(_ time.Time, s string) string { return s[:19] + "Z" })
		})),
		row("33-detail-winter", editDetail(func(item rec) {
			zbTimes(item, func(_ time.Time, s string) string { return strings.Replace(s, "+02:00", "+01:00", 1) })
		})),
		row("34-list-truncated", editItems(func(_ int, item rec) {
			zbTexts(item["description"], func(s string) string { return zbCut(s, 255) })
		})),
		row("35-half-surrogate", rewriteSuccess(func(a *answer) {
			if zbText := strings.Index(string(a.Body), `"XF-00000007"`); zbText >= 0 {
				head, tail := string(a.Body[:zbText]), string(a.Body[zbText:])
				a.Body = []byte(head + strings.Replace(tail, `"text":"`, `"text":"\ud83d`, 1))
			}
		}, List, Detail)),
		row("36-detail-cents", editDetail(func(item rec) {
			for _, name := range []string{"amount", "minProjectVolume", "maxProjectVolume"} {
				if v, ok := item[name].(map[string]any); ok {
					if n, ok := v["amount"].(json.Number); ok {
						v["amount"] = n + "00"
					}
				}
			}
		})),
		row("37-fractions-033", editRecords(func(record rec) {
			if s := objects(record, "subjects"); len(s) == 3 {
				for _, one := range s {
					one["fraction"] = json.Number("0.33")
				}
			}
		})),
		row("38-min-over-max", editRecords(func(record rec) {
			if zbNumber(text(record["id"]))%10 == 3 && record["minProjectVolume"] != nil {
				record["minProjectVolume"], record["maxProjectVolume"] = record["maxProjectVolume"], record["minProjectVolume"]
			}
		})),
		row("39-stage-end-before-start", editRecords(func(record rec) {
			if s := objects(record, "callStages"); len(s) > 0 && zbNumber(text(record["id"]))%30 == 3 {
				s[0]["callStageStart"], s[0]["callStageEnd"] = s[0]["callStageEnd"], s[0]["callStageStart"]
			}
		})),
		row("40-detail-latin1", rewriteSuccess(setHeader("Content-Type", "application/json;charset=ISO-8859-1"), Detail)),
		row("42-accept-xml", rewriteSuccess(whenRequest(func(r *http.Request) bool { return strings.Contains(r.Header.Get("Accept"), "xml") }, replaceBody("application/xml", "<fundings/>")), List, Detail)),
		row("43-gzip-stale", interceptIf(func(r *http.Request) bool { return content.AcceptsGzip(r.Header.Values("Accept-Encoding")) }, func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
			a := capture(next, r)
			if a.ok() {
				a.keep(func(item rec) bool { return item["id"] != "XF-00000009" })
				a.compress()
				a.appendTo("Vary", "Accept-Encoding")
			}
			a.send(w, r)
		}, List)),
		row("45-language-drops", interceptIf(func(r *http.Request) bool { return strings.HasPrefix(r.Header.Get("Accept-Language"), "en") }, func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
			a := capture(next, r)
			if a.ok() {
				a.edit(func(v any) any { return zbTexts(v, func(string) string { return "English" }) })
			}
			a.send(w, r)
		}, List, Detail)),
		row("46-slash-list", replaceRequest(func(r *http.Request, _ Env) *http.Request {
			if strings.HasSuffix(r.URL.Path, "/") {
				return withQuery(r, func(q url.Values) { clear(q) })
			}
			return r
		}, List)),
		row("48-sort-ignored", serveSortedIn("sort", []string{"id", "-id", "type", "-type"}, func(by string, q url.Values, all []map[string]any) []map[string]any {
			sortBy(strings.TrimPrefix(by, "-"), all)
			if p, paged := pageOf(q); paged {
				return p.slice(all)
			}
			return all
		})),
		row("49-unpaged-cap", rewriteSuccess(whenRequest(func(r *http.Request) bool { return !r.URL.Query().Has("page[size]") }, func(a *answer) {
			n, half := -1, len(a.items())*4/5
			a.keep(func(rec) bool { n++; return n < max(half, 5) })
		}), List)),
		row("50-funder-copy-differs", rewriteSuccess(when(isFiltered, func(a *answer) {
			a.editItems(func(_ int, item rec) {
				for _, f := range objects(item, "funder") {
					member(f, "funder")["website"] = "http://alt.example/"
				}
			})
		}), List)),
		row("51-detail-html", editDetail(func(item rec) {
			zbTexts(item, func(s string) string {
				return strings.NewReplacer("ä", "&auml;", "ö", "&ouml;", "ü", "&uuml;").Replace(html.EscapeString(s))
			})
		})),
		row("52-order-by-update", rewrite(when(isCompleteList, func(a *answer) {
			a.edit(func(v any) any {
				items, _ := v.([]any)
				if len(items) < 5 {
					return v
				}
				third := items[2]
				return append(slices.Delete(slices.Clone(items), 2, 3), third)
			})
		}), List)),
		row("53-withdrawn", rewriteSuccess(func(a *answer) {
			if zbNumber(a.request.URL.Path)%20 == 7 {
				problem(http.StatusGone, "withdrawn")(a)
			}
		}, Detail)),
		row("54-drafts-by-filter", rewriteSuccess(func(a *answer) {
			if a.request.URL.Query().Get("region") == "" {
				a.hide(func(record rec) bool { return strings.HasSuffix(text(record["id"]), "3") })
			}
		}, List)),
		row("55-all-html", editRecords(func(item rec) {
			zbTexts(item, func(s string) string {
				return strings.NewReplacer("ä", "&auml;", "ö", "&ouml;", "ü", "&uuml;").Replace(html.EscapeString(s))
			})
		})),
		row("56-all-replaced", editRecords(func(item rec) {
			zbTexts(item, func(s string) string { return strings.NewReplacer("ä", "?", "ö", "?", "ü", "?").Replace(s) })
		})),
		row("57-filtered-order", rewriteSuccess(when(isFiltered, func(a *answer) {
			a.edit(func(v any) any { items, _ := v.([]any); slices.Reverse(items); return items })
		}), List)),
		row("58-annotations-of-other", editDetail(func(item rec) {
			item["annotations"] = []any{map[string]any{"affiliationId": "AFF-OTHER-0002", "text": []any{}}}
		})),
		row("59-number-strings-detail-one", editDetail(func(item rec) {
			if n, ok := item["callVolumeProjects"].(json.Number); ok && zbNumber(text(item["id"]))%9 == 4 {
				item["callVolumeProjects"] = n.String()
			}
		})),
		row("60-detail-other-funder", editDetail(func(item rec) {
			if zbNumber(text(item["id"]))%15 == 4 {
				item["acronym"] = "ALT"
			}
		})),
		row("61-ref-type", editRecords(func(record rec) {
			if of, ok := record["partOf"].(map[string]any); ok {
				of["type"] = "AWARD"
			}
		})),
		row("62-ref-funder", editRecords(func(record rec) {
			if zbNumber(text(record["id"]))%6 == 1 {
				for _, f := range objects(record, "funder") {
					u := maps.Clone(member(f, "funder"))
					u["acronym"] = "OLD"
					f["funder"] = u
				}
			}
		})),
	}
}
