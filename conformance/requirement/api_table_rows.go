package requirement

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file compares the records of the list as CSV with those of the same page as JSON, for API-02.

// judgeTableRows finds records of the page that its table lacks. It also finds records of the table that no list holds, if a member says that clients must not
// see them. Ids may be written in another way in CSV, so a row without a known id may be any of the records that seem to be missing.
func judgeTableRows(e Evidence) Judgement {
	table, list := e.exchange(e.Roles.List.With("csv")), e.exchange(e.Roles.List.With("csv-json"))
	header, records := tableRecords(table)
	items, err := e.itemsOf(list)
	if err != nil || !success(list) || len(items) < 3 || len(records) == 0 || e.unsteady() || slices.ContainsFunc(items, e.isAnonymous) || selectsRows(e) {
		return Passed(table.Label)
	}
	page := e.identities(items)
	column := idColumn(records, page)
	if column < 0 {
		return Passed(table.Label) // the table has no ids
	}
	var ids []string
	if first := strings.TrimSpace(header[column]); slices.Contains(page, first) {
		header, records = make([]string, len(header)), append([][]string{header}, records...) // a table without names (RFC 4180 §2)
	}
	for _, record := range records {
		ids = append(ids, strings.TrimSpace(record[column]))
	}
	whole, complete := wholeList(e)
	listed := append(e.identities(whole), page...)
	expected, beyondPage := page, openapi.Missing(ids, page)
	if len(openapi.Missing(beyondPage, listed)) < len(beyondPage) { // the table has records of other pages, so it must have the whole list
		if !complete {
			return Passed(table.Label)
		}
		expected = e.identities(whole)
	}
	unknown, missing := openapi.Missing(ids, listed), withoutRemoved(e, openapi.Missing(expected, ids))
	want := Subject{Name: resourceName(e, e.Roles.List), Label: table.Label, Expected: evidence.Count(len(expected), "record") + ", as in JSON"}
	switch {
	case len(missing) > len(unknown) && len(missing)*3 <= len(expected):
		return want.failed("the list as "+tableMediaType+" lacks "+evidence.Count(len(missing), "record")+" of the same list as JSON, such as "+quote(missing[0]), evidence.Count(len(expected)-len(missing), "record")).
			Hinting("read the records for both by one query, and let a CSV library write them; if a table has a part of the list only, describe which").Seen(list.Label)
	case len(missing) > 0 || !complete:
		return Passed(table.Label)
	}
	rows := make([][]byte, len(records))
	for i, record := range records {
		rows[i] = rowAsObject(header, record)
	}
	for i, id := range ids {
		others := slices.Concat(whole, rows[:i], rows[i+1:])
		if why := hidingMember(rows[i], others, answeredAt(table)); slices.Contains(unknown, id) && why != "" {
			want.Expected = "records of the list"
			return want.failed("the list as "+tableMediaType+" shows a record that no list holds: "+why, "the record of "+quote(id)).
				Hinting("apply the condition of the list to its table as well").Seen(list.Label)
		}
	}
	return Passed(table.Label)
}

// selectsRows reports whether the document says that a table has only a part of the list, or more than the list.
func selectsRows(e Evidence) bool {
	o, _ := operation(e, e.Roles.List)
	selects := regexp.MustCompile(`(?i)\b(csv|tables?|exports?|tabellen?|spreadsheets?)\b[^.;]{0,120}\b(only|at most|up to|max\w*|first|limit\w*|without|except|leaves? out|excludes?|all|archived?|also|nur|höchstens|ohne|bis zu|erste\w*|alle|auch)\b|` +
		`\b(only|at most|up to|max\w*|first|limit\w*|without|except|all|nur|höchstens|ohne|bis zu|alle)\b[^.;]{0,120}\b(csv|tables?|exports?|tabellen?|spreadsheets?)\b`)
	return e.Spec.Says(o, selects) || e.Spec.SaysOfAll(selects)
}

// idColumn returns the column of a table that has at least two thirds of the ids, each in one row at most; -1 if there is none.
func idColumn(records [][]string, ids []string) int {
	for column := range records[0] {
		seen := map[string]int{}
		for _, record := range records {
			if column < len(record) {
				seen[strings.TrimSpace(record[column])]++
			}
		}
		found, repeated := 0, false
		for _, id := range ids {
			if seen[id] > 0 {
				found++
			}
			repeated = repeated || seen[id] > 1
		}
		if found*3 >= len(ids)*2 && !repeated {
			return column
		}
	}
	return -1
}

// rowAsObject returns a row of a table as a JSON object. The words true and false become booleans.
func rowAsObject(header, record []string) []byte {
	object := map[string]any{}
	for i, name := range header {
		if i >= len(record) || name == "" {
			continue
		}
		switch value := strings.TrimSpace(record[i]); strings.ToLower(value) {
		case "":
		case "true", "false":
			object[name] = strings.EqualFold(value, "true")
		default:
			object[name] = value
		}
	}
	text, _ := json.Marshal(object) // texts and booleans cannot fail
	return text
}
