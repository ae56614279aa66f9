package fault

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// recordDeviations send records that the schemas of the document do not allow.
func recordDeviations() []Deviation {
	return []Deviation{
		{Name: "list-in-envelope", Breaks: []string{"API-03"},
			Why:  "The list is wrapped as {\"data\": […]}, as by Laravel and JSON:API, although an array is described.",
			Wrap: rewriteSuccess(wrapIn("data"), List)},
		{Name: "list-of-one-bare", Breaks: []string{"API-03"},
			Why: "A list of one record is sent as the record itself, as by converters from XML.",
			Wrap: rewriteSuccess(func(a *answer) {
				a.edit(func(value any) any {
					if items, _ := value.([]any); len(items) == 1 {
						return items[0]
					}
					return value
				})
			}, List)},
		{Name: "detail-in-array", Breaks: []string{"API-03"},
			Why: "The detail is an array with one element, as a query by id returns it.",
			Wrap: rewriteSuccess(func(a *answer) {
				a.edit(func(value any) any { return []any{value} })
			}, Detail)},
		{Name: "list-id-missing", Breaks: []string{"API-04"}, May: []string{"PAG-03"},
			Why: "Every third item of the list lacks its required id, as after a join that found no row.",
			Wrap: editItems(func(n int, item map[string]any) {
				if n%3 == 2 {
					delete(item, "id")
				}
			})},
		{Name: "one-call-without-volume", Breaks: []string{"API-04"},
			Why:  "One call of the list lacks the required minProjectVolume, because it is unknown.",
			Wrap: editOneCall(drop("minProjectVolume"))},
		{Name: "one-stage-without-end", Breaks: []string{"API-04"},
			Why:  "One stage of one call has no end, although the document requires one (as do the published documents).",
			Wrap: editOneStage(drop("callStageEnd"))},
		{Name: "detail-name-missing", Breaks: []string{"API-04"},
			Why:  "The detail lacks the required name, which only the list has.",
			Wrap: editDetail(drop("name"))},
		{Name: "booleans-as-text", Breaks: []string{"API-05"},
			Why: "fullyFunded is the text \"true\", as loosely typed languages write it.",
			Wrap: editItems(func(_ int, item map[string]any) {
				if funded, ok := item["fullyFunded"].(bool); ok {
					item["fullyFunded"] = map[bool]string{true: "true", false: "false"}[funded]
				}
			})},
		{Name: "one-null", Breaks: []string{"API-05"},
			Why:  "The website of one call of the list is null, which the document does not allow: Jackson writes members without a value.",
			Wrap: editOneCall(put("website", nil))},
		{Name: "one-percent-above-hundred", Breaks: []string{"API-05"},
			Why:  "One call has overheads of 2500 percent: somebody confused a factor with a percentage.",
			Wrap: editOneCall(put("maxOverHeads", 2500))},
		{Name: "detail-list-of-one-bare", Breaks: []string{"API-05"},
			Why: "In the detail, an array with one element is sent as the element itself, as by converters from XML.",
			Wrap: editDetail(func(item map[string]any) {
				if groups, _ := item["targetGroups"].([]any); len(groups) > 0 {
					item["targetGroups"] = groups[0]
				}
			})},
		{Name: "one-type-banana", Breaks: []string{"API-06"}, May: []string{"PAG-08"},
			Why: "One record of the complete list has a type that is not in the vocabulary.",
			Wrap: rewrite(when(isCompleteList, func(a *answer) {
				a.editItems(func(n int, item map[string]any) {
					if n == 0 {
						item["type"] = "BANANA"
					}
				})
			}), List)},
		{Name: "one-group-in-german", Breaks: []string{"API-06"},
			Why:  "One call names its target group in German, by its label instead of its code.",
			Wrap: editOneCall(addGroup("HOCHSCHULE"))},
		{Name: "detail-vocabulary-lower-case", Breaks: []string{"API-06"},
			Why:  "The detail spells the legal type in lower case, as some serialisers do with enums.",
			Wrap: editDetail(update("legalType", strings.ToLower))},
		{Name: "dates-in-german", Breaks: []string{"API-07"},
			Why:  "Deadlines are sent as 31.12.2026, as people read them.",
			Wrap: editStages(put("callStageEnd", "31.12.2026"))},
		{Name: "dates-without-zone", Breaks: []string{"API-07"},
			Why: "Deadlines are sent without an offset, as LocalDateTime of Java writes them.",
			Wrap: editStages(update("callStageEnd", func(end string) string {
				return end[:min(len(end), len("2026-12-31T23:59:59"))]
			}))},
		{Name: "one-date-without-time", Breaks: []string{"API-07"},
			Why:  "One stage ends on a day, and a date-time is described.",
			Wrap: editOneStage(put("callStageEnd", "2026-12-31"))},
		{Name: "one-impossible-date", Breaks: []string{"API-07"},
			Why:  "One stage ends on 31 November, typed by hand: the published sample data has such a date.",
			Wrap: editOneStage(put("callStageEnd", "2026-11-31T12:00:00Z"))},
		{Name: "list-in-latin-1", Breaks: []string{"API-03"},
			Why:  "The list is encoded in ISO 8859-1, the default of an older servlet container, so every umlaut is lost.",
			Wrap: rewriteSuccess(encodeLatin1, List)},
		{Name: "list-byte-order-mark", Breaks: []string{"API-03"},
			Why:  "The list begins with a byte order mark, which most JSON parsers refuse.",
			Wrap: rewriteSuccess(prepend("\uFEFF"), List)},
		{Name: "list-behind-a-warning", Breaks: []string{"API-03"},
			Why:  "A PHP warning comes before the JSON of the list, because display_errors is on.",
			Wrap: rewriteSuccess(prepend("<br />\n<b>Warning</b>: "), List)},
		{Name: "one-null-among-groups", Breaks: []string{"API-05"},
			Why:  "One call has null among its target groups: a group that was deleted.",
			Wrap: editOneCall(addGroup(nil))},
		{Name: "one-deadline-at-24-o-clock", Breaks: []string{"API-07"},
			Why:  "One stage ends at 24:00:00, which RFC 3339 does not allow.",
			Wrap: editOneStage(put("callStageEnd", "2026-12-31T24:00:00Z"))},
		{Name: "dates-with-short-offset", Breaks: []string{"API-07"},
			Why:  "Deadlines have an offset without its colon, +0100, as Jackson used to write it.",
			Wrap: editStages(put("callStageEnd", "2026-12-31T23:59:59+0100"))},
		{Name: "texts-encoded-twice", Breaks: []string{"API-03"},
			Why:  "Umlauts are sent as Ã¼: the import read UTF-8 as Latin-1, and the node encodes it once more.",
			Wrap: rewriteSuccess(encodeTwice, List, Detail)},
		{Name: "zero-time-for-no-end", Breaks: []string{"API-07"},
			Why:  "Records without an end have the end 0001-01-01T00:00:00Z, the zero time of Go.",
			Wrap: both(editItems(func(_ int, item map[string]any) { zeroEnd(item) }), editDetail(zeroEnd))},
		{Name: "detail-member-twice", Breaks: []string{"API-03"},
			Why: "The detail has its id twice, written by the record and by the wrapper around it.",
			Wrap: rewriteSuccess(func(a *answer) {
				if body := string(a.Body); strings.HasPrefix(body, "{") {
					a.Body = []byte(`{"id":"",` + body[1:])
				}
			}, Detail)},
	}
}

// isCompleteList holds for the list without a query.
func isCompleteList(a *answer) bool { return a.ok() && a.request.URL.RawQuery == "" }

// editItems makes a wrap that edits the items of the list; n counts from 0.
func editItems(edit func(n int, item map[string]any)) wrap {
	return rewriteSuccess(func(a *answer) { a.editItems(edit) }, List)
}

// editDetail makes a wrap that edits each detail.
func editDetail(change func(item map[string]any)) wrap { return rewriteSuccess(edit(change), Detail) }

// editOneCall makes a wrap that edits the first call with stages of a list.
func editOneCall(edit func(call map[string]any)) wrap {
	return rewriteSuccess(func(a *answer) {
		done := false
		a.editItems(func(_ int, item map[string]any) {
			if !done && item["type"] == "CALL" && len(objects(item, "callStages")) > 0 {
				edit(item)
				done = true
			}
		})
	}, List)
}

// editOneStage makes a wrap that edits the first stage of the first call of a list.
func editOneStage(edit func(stage map[string]any)) wrap {
	return editOneCall(func(call map[string]any) { edit(objects(call, "callStages")[0]) })
}

// editStages makes a wrap that edits all stages of the list.
func editStages(edit func(stage map[string]any)) wrap {
	return editItems(func(_ int, item map[string]any) {
		for _, stage := range objects(item, "callStages") {
			edit(stage)
		}
	})
}

// addGroup adds a target group to a call.
func addGroup(group any) func(call map[string]any) {
	return func(call map[string]any) { call["targetGroups"] = append(asList(call["targetGroups"]), group) }
}

// encodeLatin1 encodes a body in ISO 8859-1.
func encodeLatin1(a *answer) {
	var encoded []byte
	for _, r := range string(a.Body) {
		if r > 0xFF {
			r = '?'
		}
		encoded = append(encoded, byte(r))
	}
	a.Body = encoded
}

// encodeTwice reads the bytes of a body as Latin-1, and encodes the result as UTF-8.
func encodeTwice(a *answer) {
	var letters []rune
	for _, b := range a.Body {
		letters = append(letters, rune(b))
	}
	a.Body = []byte(string(letters))
}

// zeroEnd sets the end of a record that has none to the zero time.
func zeroEnd(item map[string]any) {
	if item["endDate"] == nil {
		item["endDate"] = "0001-01-01T00:00:00Z"
	}
}

// agreementDeviations make list and detail disagree.
func agreementDeviations() []Deviation {
	return []Deviation{
		{Name: "detail-of-older-version", Breaks: []string{"PAG-08"},
			Why:  "The detail comes from a cache that still has last year's target groups.",
			Wrap: editDetail(put("targetGroups", []any{"UNIVERSITY"}))},
		{Name: "detail-flag-inverted", Breaks: []string{"PAG-08"},
			Why:  "fullyFunded of the detail is the opposite of that in the list: two mappings of one column.",
			Wrap: editDetail(update("fullyFunded", func(funded bool) bool { return !funded }))},
	}
}

// detailDeviations break the lookup of a detail by its id.
func detailDeviations() []Deviation {
	return []Deviation{
		{
			// API-01 breaks, too, because its call of the detail operation gets the same 404.
			Name: "detail-not-found", Breaks: []string{"PAG-08", "API-01"},
			Why:  "The detail operation answers 404 for listed ids, because it looks for the key of the database.",
			Wrap: rewriteSuccess(problem(http.StatusNotFound, "no such record"), Detail)},
		{Name: "detail-id-respelled", Breaks: []string{"PAG-08"},
			Why:  "The detail spells its id in lower case, and the list does not.",
			Wrap: editDetail(update("id", strings.ToLower))},
		{Name: "detail-cached-by-route", Breaks: []string{"PAG-08", "PAG-09"}, May: []string{"API-08", "BRR-18"},
			Why:  "The cache of details is keyed by the route without the id, so the first detail is the answer to all requests.",
			Wrap: stateful(cacheFirstDetail)},
		{Name: "unknown-id-crashes", Breaks: []string{"PAG-09"},
			Why:  "An unknown id fails with 500, because nothing catches the error of the lookup; seen in a node of the network.",
			Wrap: rewrite(when(isNotFound, crash), Detail)},
		{Name: "id-read-up-to-its-end", Breaks: []string{"PAG-09"}, Rare: true,
			Why:  "An id with extra characters at its end gives the record: the database cuts the key to the width of its column.",
			Wrap: rewrite(when(isNotFound, findShorterID), Detail)},
		{Name: "unknown-id-empty-object", Breaks: []string{"PAG-09", "API-04"},
			Why:  "An unknown id is answered 200 with an empty object.",
			Wrap: rewrite(when(isNotFound, become(http.StatusOK, "application/json", "{}")), Detail)},
		{Name: "unknown-id-bad-request", Breaks: []string{"PAG-09"},
			Why:  "An unknown id is answered 400.",
			Wrap: rewrite(when(isNotFound, problem(http.StatusBadRequest, "no such id")), Detail)},
		{Name: "list-ids-with-blank", Breaks: []string{"PAG-08"},
			Why: "The ids of the list end with a blank, from a column of fixed width; the detail knows them without the blank.",
			Wrap: both(
				editItems(func(_ int, item map[string]any) { update("id", func(id string) string { return id + " " })(item) }),
				replaceRequest(func(r *http.Request, _ Env) *http.Request {
					return withPath(r, strings.TrimRight(r.URL.Path, " "))
				}, Detail))},
		{Name: "detail-of-slash-not-found", Breaks: []string{"PAG-08"},
			Why: "One id on the last page of the list has a slash, which the document says is percent-encoded in the path of the detail; the router decodes the path before it matches, and finds nothing.",
			Wrap: both(paginateUpTo(5, func(url.Values) {}),
				both(rewriteSuccess(func(a *answer) {
					if strings.HasSuffix(a.request.URL.Path, afterSlash) {
						problem(http.StatusNotFound, "no such path")(a)
					}
				}, Detail), slashInID()))},
		{Name: "detail-drops-zero", Breaks: []string{"API-04"},
			Why: "The detail leaves out maxOverHeads, which the document requires, where it is 0: omitempty of Go. Few records have a 0, which the list shows.",
			Wrap: both(editDetail(func(record map[string]any) {
				if fmt.Sprint(record["maxOverHeads"]) == "0" {
					delete(record, "maxOverHeads")
				}
			}), editRecords(func(record map[string]any) {
				if _, has := record["maxOverHeads"]; has {
					record["maxOverHeads"] = 5
				}
				if strings.HasSuffix(text(record["id"]), "7") {
					record["maxOverHeads"] = 0
				}
			}))},
		{Name: "detail-gone", Breaks: []string{"PAG-08", "API-01"},
			Why: "The detail answers 410 for every listed id, and describes 410: the records were moved, and the list still names them.",
			Wrap: both(
				rewriteSuccess(problem(http.StatusGone, "no such record any more"), Detail),
				editDocument(func(d apiDocument) { member(d.detail(), "responses")["410"] = problemResponse() }))},
	}
}

// slashInID makes a wrap that adds [afterSlash] to the ids that end with 11, and says in the document that ids are percent-encoded in paths.
func slashInID() wrap {
	const number = "11"
	return both(
		editDocument(func(d apiDocument) {
			d.detail()["description"] = text(d.detail()["description"]) + " Ids may hold characters that have to be percent-encoded in a path, such as the slash."
		}),
		both(editRecords(func(record map[string]any) {
			if id := text(record["id"]); strings.HasSuffix(id, number) {
				record["id"] = id + afterSlash
			}
		}), replaceRequest(func(r *http.Request, _ Env) *http.Request {
			if strings.HasSuffix(r.URL.Path, number) {
				return withPath(r, r.URL.Path+"-unknown") // no record has its old id any more
			}
			if path, has := strings.CutSuffix(r.URL.Path, number+afterSlash); has {
				return withPath(r, path+number)
			}
			return r
		}, Detail)))
}

// afterSlash ends the ids of [slashInID].
const afterSlash = "/2026"

// maxSurplus is how many extra characters at the end of an id [findShorterID] ignores.
const maxSurplus = 4

// findShorterID answers an unknown id with the record whose id is left when one to maxSurplus characters are cut from the end.
func findShorterID(a *answer) {
	path := a.request.URL.Path
	for n := 1; n <= maxSurplus && n < len(path); n++ {
		if shorter := a.ask(withPath(a.request, path[:len(path)-n])); shorter.ok() && !strings.HasSuffix(path[:len(path)-n], "/") {
			a.replaceBy(shorter)
			return
		}
	}
}

// cacheFirstDetail answers each authorized request for a detail with the first detail that was found.
func cacheFirstDetail() wrap {
	var cache memory[*answer]
	return rewrite(func(a *answer) {
		if !a.ok() && !isNotFound(a) {
			return
		}
		if first, known := cache.get("detail"); known {
			*a = *first.clone()
		} else if a.ok() {
			cache.put("detail", a.clone())
		}
	}, Detail)
}

// hiddenDeviations serve records that the list hides, and data below a record that does not exist or does not match.
func hiddenDeviations() []Deviation {
	describeDrafts := editDocument(func(d apiDocument) {
		d.detail()["description"] = text(d.detail()["description"]) + " Drafts are in no list, and their ids are answered 404 until they are published."
	})
	return []Deviation{
		{Name: "draft-by-its-id", Breaks: []string{"PAG-09"},
			Why:  "A record that is not published yet is in no list, but the detail shows it by its id: only the query of the list excludes such records.",
			Wrap: both(describeDrafts, rewrite(when(isNotFound, serveNext), Detail))},
		{Name: "draft-by-its-number", Breaks: []string{"PAG-09"},
			Why: "The document says in German, in the description of the whole API, that unpublished calls are not part of it; the detail shows them by the numbers between the listed ones.",
			Wrap: both(editDocument(func(d apiDocument) {
				d.at("info")["description"] = "Ausschreibungen, die noch nicht veröffentlicht sind, sind nicht Teil der Schnittstelle: Ihre Nummer wird mit 404 beantwortet."
			}), rewrite(when(isNotFound, serveNext), Detail))},
		{Name: "records-of-an-affiliation-by-id", Breaks: []string{"PAG-09"},
			Why: "A record is for the clients of one affiliation; other clients do not find it in their list, but get it by its id: only the query of the list has the condition.",
			Wrap: both(
				editRecords(func(record map[string]any) {
					if strings.HasSuffix(text(record["id"]), "3") {
						record["visibility"] = "AFFILIATION"
					}
				}),
				rewriteSuccess(func(a *answer) {
					if client, _ := a.env.Caller(a.request); isFirst(client, a.env) {
						a.hide(func(record map[string]any) bool { return strings.HasSuffix(text(record["id"]), "3") })
					}
				}, List))},
		{Name: "stages-of-no-call", Breaks: []string{"PAG-09"},
			Why:  "The stages of a call that does not exist are an empty list: the query selects by the id in the path and never looks for the call.",
			Wrap: serveStages(when(isNotFound, become(http.StatusOK, "application/json", "[]")))},
		{Name: "stages-of-another-call", Breaks: []string{"PAG-08"},
			Why: "The stages name the call that they belong to, which is not the one in the path: the join uses the wrong key.",
			Wrap: serveStages(when(isSuccess, func(a *answer) {
				a.editItems(func(_ int, stage map[string]any) { stage["fundingId"] = "XF-00000001-OLD" })
			}))},
	}
}

// serveNext answers an unknown id that follows a known one, as XF-00000008 follows XF-00000007, with a copy of the known record under the unknown id.
func serveNext(a *answer) {
	path := a.request.URL.Path
	digits := len(path) - len(strings.TrimRight(path, "0123456789"))
	n, err := strconv.Atoi(path[len(path)-digits:])
	if err != nil || digits > 15 || n < 1 {
		return
	}
	before := a.ask(withPath(a.request, fmt.Sprintf("%s%0*d", path[:len(path)-digits], digits, n-1)))
	if !before.ok() {
		return
	}
	id := path[strings.LastIndexByte(path, '/')+1:]
	before.editObject(func(record map[string]any) { record["id"] = id })
	a.replaceBy(before)
}
