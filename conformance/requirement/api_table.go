package requirement

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file judges good answers of the media type text/csv for API-02: their content must be CSV (RFC 4180 §2).

const (
	tableMediaType = "text/csv"
	// maxTable and maxRows bound what is read of a table, in bytes and in records.
	maxTable = 1 << 20
	maxRows  = 10_000
)

// judgeTables judges the tables of all operations for which the document describes CSV.
func judgeTables(e Evidence) Judgement {
	var s survey
	var notes []string
	found := false
	for _, x := range operationAnswers(e) {
		r := x.Label.Resource()
		if x.Request.Method != "GET" || !describesTable(e, r) || !isNodeAnswer(x) || isTryOutURL(x.Request.URL) {
			continue
		}
		wants := strings.Join(evidence.Values(x.Request.Header, "Accept"), ",") == tableMediaType
		switch {
		case x.Status() == 200 && mediaType(x) == tableMediaType && !lacksGoodToken(x):
			found = true
			s.add("table "+string(r), judgeTable(e, x))
		case x.Label.Case() == "csv" && wants && (x.Status() == 406 || success(x)):
			found = true
			notes = append(notes, resourceName(e, r)+" is described as "+tableMediaType+", and Accept: "+tableMediaType+" is answered "+describe(x))
		}
	}
	if !found {
		return Inapplicable("no answer is CSV")
	}
	s.add("numbers", judgeTableNumbers(e))
	s.add("exports", judgeExports(e))
	s.add("rows", judgeTableRows(e))
	return s.judge().Noting(notes...)
}

// judgeTableNumbers compares the numbers of the list as CSV with those of the same page as JSON: a program reads 96.000 as 96, and not as
// 96000. The header of a column names the member.
func judgeTableNumbers(e Evidence) Judgement {
	o, _ := operation(e, e.Roles.List)
	table, list := e.exchange(e.Roles.List.With("csv")), e.exchange(e.Roles.List.With("csv-json"))
	header, records := tableRecords(table)
	items, err := e.itemsOf(list)
	notation := regexp.MustCompile(`(?i)\b(german|local\w*|national) (notation|format|style)|\bthousands?\b|\btausender|\b(deutsche\w?|österreichische\w?|landesübliche\w?) (schreibweise|format)|\bexcel\b`)
	if err != nil || len(records) != len(items) || !success(list) || e.unsteady() || e.Spec.Says(o, notation) || e.Spec.SaysOfAll(notation) {
		return Passed(table.Label)
	}
	same := regexp.MustCompile(`(?i)\b(values|numbers|entries|fields|records)\b[^.;]{0,60}\b(as in|same as|like|wie in)\b[^.;]{0,20}\bjson\b|\bsame (values|numbers|entries|fields|records)\b`)
	promised := e.Spec.Says(o, same) || e.Spec.SaysOfAll(same)
	for i, record := range records {
		if !slices.Contains(record, e.identity(items[i])) {
			return Passed(table.Label) // the table has another order, or no ids
		}
	}
	for column, name := range header {
		for _, member := range openapi.MembersOf(items) {
			if joined := openapi.Joined(member); openapi.Joined(name) == "" || !strings.HasSuffix(joined, openapi.Joined(name)) {
				continue
			}
			equal, other := compareColumn(records, items, column, member)
			if other >= 0 && (equal > 0 || promised) { // a column with another unit has no equal numbers
				want := Subject{Name: resourceName(e, e.Roles.List), Label: table.Label, Expected: clip(member) + " " + strings.Join(openapi.MemberValues(items[other], member), "") + ", as in JSON"}
				return want.failed("a number of a record differs between "+tableMediaType+" and JSON: column "+quote(name), quote(records[other][column])+" of "+quote(e.identity(items[other]))).
					Hinting("write numbers as in JSON, with a point before decimals and no other separators, or describe the notation").Seen(list.Label)
			}
		}
	}
	return Passed(table.Label)
}

// compareColumn compares the numbers in a column of a table with those in a member of the same records as JSON. equal counts the records with equal numbers,
// and other is the index of a record with different ones, or -1.
func compareColumn(records [][]string, items [][]byte, column int, member string) (equal, other int) {
	other = -1
	for i, record := range records {
		values := openapi.MemberValues(items[i], member)
		if len(values) != 1 || column >= len(record) {
			continue
		}
		switch a, b, ok := parseNumbers(values[0], strings.TrimSpace(record[column])); {
		case ok && a == b:
			equal++
		case ok:
			other = i
		}
	}
	return equal, other
}

// tableRecords returns the header and the records of a table that is CSV and complete.
func tableRecords(x evidence.Exchange) (header []string, records [][]string) {
	if !success(x) || mediaType(x) != tableMediaType || x.Response.Withheld || x.Response.Truncated || len(x.Response.Body) > maxTable {
		return nil, nil
	}
	text := bytes.TrimPrefix(x.Response.Body, []byte("\uFEFF"))
	first, _, _ := bytes.Cut(text, []byte("\n"))
	in := csv.NewReader(bytes.NewReader(text))
	for _, separator := range []rune{';', '\t'} {
		if bytes.ContainsRune(first, separator) {
			in.Comma = separator
		}
	}
	all, err := in.ReadAll()
	if err != nil || len(all) < 2 {
		return nil, nil
	}
	return all[0], all[1:]
}

// describesTable reports whether the document describes CSV for the good answer of an operation.
func describesTable(e Evidence, r evidence.Resource) bool {
	o, _ := operation(e, r)
	key, _ := o.ResponseTo(200)
	return slices.ContainsFunc(o.Responses[key].MediaTypes(), func(media string) bool { return evidence.MediaType(media) == tableMediaType })
}

// judgeTable judges whether the content of an answer is CSV.
func judgeTable(e Evidence, x evidence.Exchange) Judgement {
	if x.Response.Withheld || x.Response.BodyError != "" || isUTF16(x.Response.Body) {
		return Passed(x.Label)
	}
	fault := tableFault(x.Response.Body, x.Response.Truncated)
	if fault == "" {
		return Passed(x.Label)
	}
	name := resourceName(e, x.Label.Resource())
	want := Subject{Name: name, Label: x.Label, Expected: "records with as many fields as the first one; commas, quotes and line breaks in quotes"}
	return want.failed("the "+tableMediaType+" of "+name+" is not CSV (RFC 4180 §2)", fault).
		Hinting("let a CSV library write the table: it encloses fields with commas, quotes and line breaks in quotes, and doubles the quotes in them")
}

// isUTF16 reports whether a text begins with the byte order mark of UTF-16.
func isUTF16(text []byte) bool {
	return bytes.HasPrefix(text, []byte{0xff, 0xfe}) || bytes.HasPrefix(text, []byte{0xfe, 0xff})
}

// tableFault says why a table is not CSV, or returns "". Fields are separated by the commas, semicolons or tabs of the header line. Of a long table, it reads
// only the beginning. isCut says that the end of the text is missing.
func tableFault(text []byte, isCut bool) string {
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	if line, rest, ok := bytes.Cut(text, []byte("\n")); ok && bytes.HasPrefix(line, []byte("sep=")) {
		text = rest // Excel reads the separator there
	}
	if len(text) > maxTable {
		text, isCut = text[:maxTable], true
	}
	header, _, _ := bytes.Cut(text, []byte("\n"))
	separators := []string{",", ";", "\t"}
	slices.SortStableFunc(separators, func(a, b string) int { return bytes.Count(header, []byte(b)) - bytes.Count(header, []byte(a)) })
	likely := faultWithSeparator(text, separators[0], isCut)
	for _, other := range separators[1:] {
		if likely != "" && bytes.Contains(header, []byte(other)) && faultWithSeparator(text, other, isCut) == "" {
			return ""
		}
	}
	return likely
}

// faultWithSeparator is [tableFault] for one separator.
func faultWithSeparator(text []byte, separator string, isCut bool) string {
	in := csv.NewReader(bytes.NewReader(text))
	in.Comma, in.Comment, in.ReuseRecord = rune(separator[0]), '#', true
	first, remark := 0, 0 // the number of fields of the header, and the line of a record with one field
	for range maxRows {
		record, err := in.Read()
		if isCut && in.InputOffset() == int64(len(text)) {
			return "" // the last record is not complete
		}
		var wrong *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			return ""
		case errors.Is(err, csv.ErrFieldCount) && len(record) == 1: // a remark, if it is below the table
			if remark == 0 {
				remark, _ = in.FieldPos(0)
			}
		case errors.Is(err, csv.ErrFieldCount):
			line, _ := in.FieldPos(0)
			return fmt.Sprintf("%s in line %d, and %d in line 1", evidence.Count(len(record), "field"), line, first)
		case errors.As(err, &wrong) && errors.Is(err, csv.ErrBareQuote):
			return fmt.Sprintf("a quote in line %d within a field that is not in quotes", wrong.Line)
		case errors.As(err, &wrong):
			return fmt.Sprintf("a field in line %d whose quotes do not match", wrong.StartLine)
		case err != nil:
			return clip(err.Error())
		case remark > 0: // records follow it, so it is half of a record whose line break is not in quotes
			return fmt.Sprintf("1 field in line %d, and %d in line 1", remark, first)
		}
		first = in.FieldsPerRecord
	}
	return ""
}
