package fault

import (
	"net/http"
	"strings"
)

// recordDeviations break the data: what the schemas of the document say of it.
func recordDeviations() []Deviation {
	return []Deviation{
		{
			Name: "list-in-envelope", Breaks: []string{"API-03"},
			Why: "The list is wrapped into {\"data\": […]} while an array is described, as Laravel and JSON:API do.",
			Wrap: rewrite(when(succeeded, func(_ *http.Request, a *editableAnswer) {
				a.edit(func(value any) any { return map[string]any{"data": value} })
			}), FundingList),
		},
		{
			Name: "list-of-one-bare", Breaks: []string{"API-03"},
			Why: "A list of one record is sent as the record itself, as converters from XML do.",
			Wrap: rewrite(when(succeeded, func(_ *http.Request, a *editableAnswer) {
				a.edit(func(value any) any {
					if items, _ := value.([]any); len(items) == 1 {
						return items[0]
					}
					return value
				})
			}), FundingList),
		},
		{
			Name: "detail-in-array", Breaks: []string{"API-03"},
			Why: "The detail is an array with one element, as a query by id returns it.",
			Wrap: rewrite(when(succeeded, func(_ *http.Request, a *editableAnswer) {
				a.edit(func(value any) any { return []any{value} })
			}), FundingDetail),
		},
		{
			Name: "list-id-missing", Breaks: []string{"API-04"},
			Why: "Every third item of the list lacks its required id, as a join that found no row leaves it.",
			Wrap: items(func(n int, item map[string]any) {
				if n%3 == 2 {
					delete(item, "id")
				}
			}),
		},
		{
			Name: "one-call-without-volume", Breaks: []string{"API-04"},
			Why:  "One call of the list lacks the required minProjectVolume, since nobody knew it.",
			Wrap: oneCall(drop("minProjectVolume")),
		},
		{
			Name: "one-stage-without-end", Breaks: []string{"API-04"},
			Why:  "One stage of one call has no end, although the document requires one (in the published documents, too).",
			Wrap: oneStage(drop("callStageEnd")),
		},
		{
			Name: "detail-name-missing", Breaks: []string{"API-04"},
			Why:  "The detail lacks the required name, which stands in the list only.",
			Wrap: details(drop("name")),
		},
		{
			Name: "booleans-as-text", Breaks: []string{"API-05"},
			Why: "fullyFunded is the text \"true\", as loosely typed languages write it.",
			Wrap: items(func(_ int, item map[string]any) {
				if funded, ok := item["fullyFunded"].(bool); ok {
					item["fullyFunded"] = map[bool]string{true: "true", false: "false"}[funded]
				}
			}),
		},
		{
			Name: "one-null", Breaks: []string{"API-05"},
			Why:  "One call of the list has null for its website, which the document does not allow: Jackson writes members without a value.",
			Wrap: oneCall(put("website", nil)),
		},
		{
			Name: "one-percent-above-hundred", Breaks: []string{"API-05"},
			Why:  "One call has overheads of 2500 percent: a factor and a share were mixed up.",
			Wrap: oneCall(put("maxOverHeads", 2500)),
		},
		{
			Name: "detail-list-of-one-bare", Breaks: []string{"API-05"},
			Why: "In the detail, an array with one element is sent as the element itself, as converters from XML do.",
			Wrap: details(func(item map[string]any) {
				if groups, _ := item["targetGroups"].([]any); len(groups) > 0 {
					item["targetGroups"] = groups[0]
				}
			}),
		},
		{
			Name: "one-type-banana", Breaks: []string{"API-06"},
			Why: "One record of the whole list has a type that is not in the vocabulary.",
			Wrap: rewrite(when(wholeList, func(_ *http.Request, a *editableAnswer) {
				a.editItems(func(n int, item map[string]any) {
					if n == 0 {
						item["type"] = "BANANA"
					}
				})
			}), FundingList),
		},
		{
			Name: "one-group-in-german", Breaks: []string{"API-06"},
			Why: "One call names its target group in German, the label in place of the code.",
			Wrap: oneCall(func(item map[string]any) {
				groups, _ := item["targetGroups"].([]any)
				item["targetGroups"] = append(groups, "HOCHSCHULE")
			}),
		},
		{
			Name: "detail-vocabulary-lower-case", Breaks: []string{"API-06"},
			Why: "The detail spells the legal type in lower case, as some serialisers do with enums.",
			Wrap: details(func(item map[string]any) {
				if legal, ok := item["legalType"].(string); ok {
					item["legalType"] = strings.ToLower(legal)
				}
			}),
		},
		{
			Name: "dates-in-german", Breaks: []string{"API-07"},
			Why:  "Deadlines are sent as 31.12.2026, the way they are shown.",
			Wrap: stages(put("callStageEnd", "31.12.2026")),
		},
		{
			Name: "dates-without-zone", Breaks: []string{"API-07"},
			Why: "Deadlines are sent without an offset, as LocalDateTime of Java writes them.",
			Wrap: stages(func(stage map[string]any) {
				if end, ok := stage["callStageEnd"].(string); ok && len(end) > len("2026-12-31T23:59:59") {
					stage["callStageEnd"] = end[:len("2026-12-31T23:59:59")]
				}
			}),
		},
		{
			Name: "one-date-without-time", Breaks: []string{"API-07"},
			Why:  "One stage ends on a day, and a date-time is described.",
			Wrap: oneStage(put("callStageEnd", "2026-12-31")),
		},
		{
			Name: "one-impossible-date", Breaks: []string{"API-07"},
			Why:  "One stage ends on the 31st of November, typed by hand: the published sample data has such a date.",
			Wrap: oneStage(put("callStageEnd", "2026-11-31T12:00:00Z")),
		},
		{
			Name: "list-in-latin-1", Breaks: []string{"API-03"},
			Why:  "The list is encoded in ISO 8859-1, the default of an older servlet container: every umlaut is lost.",
			Wrap: rewrite(when(succeeded, inLatin1), FundingList),
		},
		{
			Name: "list-byte-order-mark", Breaks: []string{"API-03"},
			Why:  "The list begins with a byte order mark, which most JSON parsers refuse.",
			Wrap: rewrite(when(succeeded, func(_ *http.Request, a *editableAnswer) { a.Body = append([]byte("\uFEFF"), a.Body...) }), FundingList),
		},
		{
			Name: "list-behind-a-warning", Breaks: []string{"API-03"},
			Why: "A warning of PHP stands before the JSON of the list, since display_errors is on.",
			Wrap: rewrite(when(succeeded, func(_ *http.Request, a *editableAnswer) {
				a.Body = append([]byte("<br />\n<b>Warning</b>: "), a.Body...)
			}), FundingList),
		},
		{
			Name: "one-null-among-groups", Breaks: []string{"API-05"},
			Why: "One call has null among its target groups: a group that was deleted.",
			Wrap: oneCall(func(item map[string]any) {
				groups, _ := item["targetGroups"].([]any)
				item["targetGroups"] = append(groups, nil)
			}),
		},
		{
			Name: "one-deadline-at-24-o-clock", Breaks: []string{"API-07"},
			Why:  "One stage ends at 24:00:00, which RFC 3339 does not have.",
			Wrap: oneStage(put("callStageEnd", "2026-12-31T24:00:00Z")),
		},
		{
			Name: "dates-with-short-offset", Breaks: []string{"API-07"},
			Why:  "Deadlines have an offset without its colon, +0100, as Jackson wrote it for long.",
			Wrap: stages(put("callStageEnd", "2026-12-31T23:59:59+0100")),
		},
	}
}

// wholeList holds for the list without a query.
func wholeList(r *http.Request, a *editableAnswer) bool { return a.ok() && r.URL.RawQuery == "" }

// items makes a Wrap that edits the items of the list; n counts from 0.
func items(edit func(n int, item map[string]any)) wrap {
	return rewrite(when(succeeded, func(_ *http.Request, a *editableAnswer) { a.editItems(edit) }), FundingList)
}

// details makes a Wrap that edits each detail.
func details(edit func(item map[string]any)) wrap {
	return rewrite(when(succeeded, object(edit)), FundingDetail)
}

// oneCall makes a Wrap that edits the first call with stages of a list, and no other.
func oneCall(edit func(call map[string]any)) wrap {
	return rewrite(when(succeeded, func(_ *http.Request, a *editableAnswer) {
		done := false
		a.editItems(func(_ int, item map[string]any) {
			if !done && item["type"] == "CALL" && len(objects(item, "callStages")) > 0 {
				edit(item)
				done = true
			}
		})
	}), FundingList)
}

// oneStage makes a Wrap that edits the first stage of the first call of a list.
func oneStage(edit func(stage map[string]any)) wrap {
	return oneCall(func(call map[string]any) { edit(objects(call, "callStages")[0]) })
}

// stages makes a Wrap that edits all stages of the list.
func stages(edit func(stage map[string]any)) wrap {
	return items(func(_ int, item map[string]any) {
		for _, stage := range objects(item, "callStages") {
			edit(stage)
		}
	})
}

// inLatin1 encodes a body in ISO 8859-1.
func inLatin1(_ *http.Request, a *editableAnswer) {
	var encoded []byte
	for _, r := range string(a.Body) {
		if r > 0xFF {
			r = '?'
		}
		encoded = append(encoded, byte(r))
	}
	a.Body = encoded
}
