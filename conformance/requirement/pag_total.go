package requirement

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// totalOf returns the number of items that a list says it has, in a header field or in its envelope, and where it says so.
func totalOf(e Evidence, x evidence.Exchange) (total int, place string, ok bool) {
	text, err := e.jsonText(x)
	if err != nil {
		text = nil
	}
	return openapi.Total(headerOf(x), text)
}

// judgeTotal compares the total of the complete list with its items. A list may show only its first page, unless its pages were read to the end.
func judgeTotal(e Evidence, whole evidence.Exchange, items [][]byte) (Judgement, bool) {
	total, place, ok := totalOf(e, whole)
	if !ok || whole.Response.Truncated || total == len(items) {
		return Judgement{}, false
	}
	want := Subject{Name: callName(whole) + " " + place, Label: whole.Label, Expected: strconv.Itoa(len(items))}
	reason := fmt.Sprintf("the list says that it has %s, and %d came", evidence.Count(total, "item"), len(items))
	const hint = "count what the caller may see, by the query that lists it"
	if total < len(items) {
		return want.failed(reason, strconv.Itoa(total)).Hinting(hint), true
	}
	if x, read := readingOf(e, "whole"); len(read) > 0 {
		if n := len(openapi.Missing(x.Items(), nil)); x.Ended() && n < total {
			return want.warned(fmt.Sprintf("the list says that it has %s, and %d came on all of its pages", evidence.Count(total, "item"), n), strconv.Itoa(total)).Hinting(hint), true
		}
		return Judgement{}, false
	}
	p, _ := walkOf(e, evidence.FirstWalk)
	values, ended := p.Walked()
	var came []string
	for _, v := range values {
		came = append(came, p.ByValue[v].Items...)
	}
	if !ended || !p.Faults().Empty() || len(openapi.Missing(came, nil)) >= total {
		return Judgement{}, false // the rest is on other pages, or PAG-03 says what is lost
	}
	return want.warned(reason+" on all of its pages", strconv.Itoa(total)).Hinting(hint), true
}

// totalsAddUp compares the totals of filtered and of shortened lists with their items.
func totalsAddUp(e Evidence) []Judgement {
	const hint = "count by the query that lists: with its filters, and without its page"
	var parts []Judgement
	plain := e.exchange(evidence.ListOperation.With(evidence.OK))
	ofAll, at, named := totalOf(e, plain)
	if named && !describesTotal(e, at) {
		return nil // what an undescribed header field counts is not known
	}
	named = named && !strings.HasSuffix(at, "recordsTotal") // which counts what is not filtered
	whole, read := wholeList(e)
	exact := named && read && ofAll == len(whole) // so the node counts what it shows
	for _, x := range listAnswers(e) {
		sheet := sheetOf(e, x)
		total, place, ok := totalOf(e, x)
		if !ok || x.Label == plain.Label || !sheet.Listed || sheet.Next != "" || !onlyPage(e, x, len(sheet.Items)) || total == len(sheet.Items) {
			continue
		}
		want := Subject{Name: callInWords(x) + " " + place, Label: x.Label, Expected: strconv.Itoa(len(sheet.Items))}
		reason := fmt.Sprintf("%s says that it has %s, and %d came", callInWords(x), evidence.Count(total, "item"), len(sheet.Items))
		switch {
		case total < len(sheet.Items), exact, named && total == ofAll && isFilteredCall(x):
			parts = append(parts, want.failed(reason, strconv.Itoa(total)).Hinting(hint))
		default:
			parts = append(parts, want.warned(reason, strconv.Itoa(total)).Hinting(hint))
		}
	}
	for _, name := range readingNames(e) {
		rd, calls := readingOf(e, name)
		most := -1
		for _, s := range rd.Sheets {
			most = max(most, s.Total)
		}
		if n := len(openapi.Missing(rd.Items(), nil)); most >= 0 && most < n {
			x := calls[len(calls)-1]
			parts = append(parts, Subject{Name: callInWords(x), Label: x.Label, Expected: "at least " + strconv.Itoa(n)}.
				failed(fmt.Sprintf("the list says that it has %s, and %d came on %s", evidence.Count(most, "item"), n, evidence.Count(len(calls), "page")), strconv.Itoa(most)).Hinting(hint))
		} else if named && most == ofAll && n < most && rd.Ended() && isFilteredCall(calls[0]) {
			x := calls[0]
			parts = append(parts, Subject{Name: callInWords(x), Label: x.Label, Expected: strconv.Itoa(n)}.
				failed(fmt.Sprintf("the filtered list says that it has %s, as the whole list does, and %d came on all of its pages", evidence.Count(most, "item"), n), strconv.Itoa(most)).Hinting(hint))
		}
	}
	return distinct(parts)
}

// describesTotal reports that the document describes where the list tells its total. A member of the envelope is described with it.
func describesTotal(e Evidence, place string) bool {
	if strings.HasPrefix(place, "$") {
		return true
	}
	o, known := operation(e, e.Roles.List)
	status, _, ok := o.Success()
	if !known || !ok {
		return false
	}
	response, why := e.Spec.Descend(openapi.Join(o.Pointer, "responses"), status)
	value, _ := e.Spec.Raw(response + "/headers")
	headers, _ := value.(map[string]any)
	for name := range headers {
		if why == "" && strings.EqualFold(name, place) {
			return true
		}
	}
	return false
}

// isFilteredCall reports a call with a filter or a bound whose items show what it leaves.
func isFilteredCall(x evidence.Exchange) bool { return len(conditionsOf(x)) > 0 }

// onlyPage reports an answer that begins with the first item and is shorter than was asked for, or than the list without parameters.
func onlyPage(e Evidence, x evidence.Exchange, items int) bool {
	o, _ := operation(e, e.Roles.List)
	u, err := url.Parse(x.Request.URL)
	if err != nil {
		return false
	}
	plain, _ := e.itemsOf(e.exchange(evidence.ListOperation.With(evidence.OK)))
	asked := len(plain)
	for _, p := range o.QueryParameters() {
		value := u.Query().Get(p.Name)
		switch role := openapi.RoleOf(p); {
		case value == "":
		case role == openapi.SizeRole:
			if asked, err = strconv.Atoi(value); err != nil || asked < 1 || p.Schema.Maximum != nil && float64(asked) > *p.Schema.Maximum {
				return false
			}
		case role == openapi.PageRole || role == openapi.SkipRole || role == openapi.CursorRole:
			return false
		}
	}
	return asked > items
}
