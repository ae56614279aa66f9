package requirement

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file compares statistics with the list: numbers of records by the values of a member, and numbers beside records.

// A distribution counts the records of the list by the value of a member, as the node states it in another place.
type distribution struct {
	name, member string // name is the place of the numbers; member is the member of the items that they count
	counts       map[string]int
}

const statisticsHint = "count what the list holds, by the same condition: no drafts, no deleted ones, each record once"

// maxCount bounds the text of a number of records, in bytes.
const maxCount = 20

// minCounted is how many numbers of a member must agree with the list before all of them are compared with it.
const minCounted = 3

// maxDistributions bounds the distributions of one answer that are compared, because the prose about each is read.
const maxDistributions = 20

// judgeStatistics compares the numbers in the answers of other operations with the complete list: how many records there are in all, how many with each
// value of a member, and how many for each record of another list, such as the calls of each funder.
func judgeStatistics(e Evidence) []Judgement {
	allItems, complete := wholeList(e)
	if !complete || len(allItems) == 0 || e.unsteady() {
		return nil
	}
	members := sync.OnceValue(func() openapi.Members { return openapi.MembersOf(allItems) })
	columns := sync.OnceValue(func() []columnCount { return columnCounts(e, members(), allItems) })
	var s survey
	for _, r := range e.Roles.Operations {
		x := e.exchange(r.With(evidence.OK))
		if r == e.Roles.List || r == e.Roles.Detail || !success(x) {
			continue
		}
		o, _ := operation(e, r)
		if countsOthers(e, o) {
			continue
		}
		text, err := e.jsonText(x)
		if err == nil && len(o.TemplateParameters()) == 0 && openapi.FirstByte(text) == '{' {
			object := openapi.Object(text)
			total := totalIn(object)
			distributions := distributionsIn(object, members, e, allItems)
			for _, d := range distributions[:min(len(distributions), maxDistributions)] {
				judgeDistribution(e, &s, x, d, total, allItems)
			}
		}
		if items, err := e.itemsOf(x); err == nil && len(items) >= minCounted && len(items) <= maxElements {
			judgeRecordCounts(e, &s, x, items, columns)
		}
	}
	return s.faults
}

// totalIn returns the number of all records that statistics state, or -1.
func totalIn(object map[string][]byte) int {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if !slices.Contains([]string{"total", "totalcount", "count", "all"}, openapi.Joined(name)) {
			continue
		}
		if n, err := strconv.Atoi(string(object[name])); err == nil {
			return n
		}
	}
	return -1
}

// distributionsIn returns the objects of statistics whose members are the values of one member of the items, such as byStatus.
func distributionsIn(object map[string][]byte, members func() openapi.Members, e Evidence, allItems [][]byte) []distribution {
	var out []distribution
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if openapi.FirstByte(object[name]) != '{' {
			continue
		}
		counts, numbers := map[string]int{}, true
		for word, value := range openapi.Object(object[name]) {
			if len(value) > maxCount {
				numbers = false
				break
			}
			n, err := strconv.Atoi(strings.TrimSpace(string(value)))
			numbers = numbers && err == nil && n >= 0
			counts[word] = n
		}
		if !numbers || len(counts) < 2 {
			continue
		}
		member := memberOfStatistics(name, members())
		if member == "" {
			continue
		}
		isValue := func(word string) bool {
			return slices.ContainsFunc(allItems, func(item []byte) bool { return slices.Contains(e.memberValues(item, member), word) })
		}
		if slices.ContainsFunc(slices.Collect(maps.Keys(counts)), isValue) {
			out = append(out, distribution{name, member, counts})
		}
	}
	return out
}

// memberOfStatistics returns the member whose values are counted under a name such as byStatus, perTheme or statusCounts.
func memberOfStatistics(name string, members openapi.Members) string {
	joined := regexp.MustCompile(`^(?:(?:calls|fundings|items|count|counts|numbers?)?(?:by|per))?(.+?)(?:counts?|numbers?)?$`).FindStringSubmatch(openapi.Joined(name))
	if joined == nil {
		return ""
	}
	path, _ := members.Named(joined[1])
	return path
}

// judgeDistribution compares one distribution with the total beside it and with the list. A difference from the list is a failure only if the document says
// that the statistics count the list.
func judgeDistribution(e Evidence, s *survey, x evidence.Exchange, d distribution, total int, allItems [][]byte) {
	o, _ := operation(e, x.Label.Resource())
	form := e.Spec.FormOfStatistics(o, d.name)
	if form.Amounts || form.Others {
		return
	}
	want := map[string]int{}
	single, sum := true, 0 // single: each item has one value
	for _, item := range allItems {
		values := slices.Compact(slices.Sorted(slices.Values(e.memberValues(item, d.member))))
		single = single && len(values) == 1
		for _, value := range values {
			want[value]++
		}
	}
	// covered is true if the node counts each value that the list has.
	covered := !slices.ContainsFunc(slices.Collect(maps.Keys(want)), func(word string) bool { _, has := d.counts[word]; return !has })
	for _, n := range d.counts {
		sum += n
	}
	about := Subject{Name: clip(callName(x) + " $." + d.name), Label: x.Label}
	if apart := sum - total; single && covered && total >= 0 && !form.NoSum && max(apart, -apart) > form.Step*len(d.counts) {
		about.Expected = strconv.Itoa(total) + " in all"
		s.add("sum "+d.name, about.failed(clip(d.name)+" does not add up to the total beside it", strconv.Itoa(sum)).Hinting(statisticsHint))
		return
	}
	difference := func(reason, got string) Judgement {
		j := about.failed(reason, got).Hinting(statisticsHint)
		if !countsTheList(e, x, "") {
			j.Outcome = Warn
		}
		return j
	}
	_, calls, _ := wholeReading(e)
	meanwhile := spanOf(append(slices.Clone(calls), x)...)
	for _, word := range slices.Sorted(maps.Keys(d.counts)) {
		if apart := d.counts[word] - want[word]; max(apart, -apart) > form.Step && !form.Grouped && !e.withinEdits(d.counts[word], want[word], meanwhile, false) {
			about.Expected = fmt.Sprintf("%d with %s, as the list has", want[word], quote(word))
			s.add("statistics "+d.name, difference("the numbers of "+clip(d.name)+" are not those of the list", strconv.Itoa(d.counts[word])))
			return
		}
	}
	if apart := total - len(allItems); covered && total >= 0 && max(apart, -apart) > form.Step && !e.withinEdits(total, len(allItems), meanwhile, true) {
		about.Expected = strconv.Itoa(len(allItems)) + ", as the list has"
		s.add("total of statistics", difference("the statistics have another total than the list", strconv.Itoa(total)))
	}
}

// A columnCount is the number of records of the list that have a value, for each value of one member.
type columnCount struct {
	member string
	counts map[string]int
}

// columnCounts counts the values of each member of the list. A date and time also counts as its day.
func columnCounts(e Evidence, members openapi.Members, allItems [][]byte) []columnCount {
	var out []columnCount
	for _, member := range members {
		c := columnCount{member, map[string]int{}}
		for _, item := range allItems {
			values := e.memberValues(item, member)
			for _, value := range values {
				if _, ok := parseTimeOrDay(value); ok && len(value) > len(time.DateOnly) {
					values = append(slices.Clone(values), value[:len(time.DateOnly)])
				}
			}
			for _, value := range slices.Compact(slices.Sorted(slices.Values(values))) {
				c.counts[value]++
			}
		}
		if len(c.counts) > 1 {
			out = append(out, c)
		}
	}
	return out
}

// judgeRecordCounts judges numbers in the records of another list, such as the number of calls of each funder. The document seldom says what such a number
// counts. So the numbers are compared only if two thirds of them equal the number of records in the list that name the record.
func judgeRecordCounts(e Evidence, s *survey, x evidence.Exchange, items [][]byte, columns func() []columnCount) {
	members := openapi.MembersOf(items)
	for _, number := range members {
		numbers := wholeNumbers(e, items, number)
		if len(slices.Compact(slices.Sorted(slices.Values(numbers)))) < 2 {
			continue
		}
		for _, key := range members {
			names := namesOf(e, items, key)
			at := slices.IndexFunc(columns(), func(c columnCount) bool { return key != number && c.agrees(names, numbers) })
			if at < 0 {
				continue
			}
			counts := columns()[at].counts
			for i, name := range names {
				if name == "" || numbers[i] == counts[name] {
					continue
				}
				j := Subject{Name: clip(callName(x) + " " + number), Label: x.Label, Expected: fmt.Sprintf("%d for %s, as the list has", counts[name], quote(name))}.
					failed("a number of records differs from the list, although most of these numbers agree with it", strconv.Itoa(numbers[i])).Hinting(statisticsHint)
				if !countsTheList(e, x, number) || hasEmpty(names, numbers, counts) && !describesCount(e, x, number) {
					j.Outcome = Warn
				}
				s.add("numbers "+number, j)
			}
			break
		}
	}
}

// wholeNumbers returns the value of a member of each item; nil unless all of them are counts.
func wholeNumbers(e Evidence, items [][]byte, member string) []int {
	out := make([]int, len(items))
	for i, item := range items {
		n, err := strconv.Atoi(strings.Join(e.memberValues(item, member), " "))
		if err != nil || n < 0 {
			return nil
		}
		out[i] = n
	}
	return out
}

// namesOf returns the value of a member of each item; "" unless the item has exactly one.
func namesOf(e Evidence, items [][]byte, member string) []string {
	out := make([]string, len(items))
	for i, item := range items {
		if values := e.memberValues(item, member); len(values) == 1 {
			out[i] = values[0]
		}
	}
	return out
}

// agrees reports whether at least two thirds of the numbers, with several different ones among them, equal the counts of their names. Names without any record,
// whose number is 0, show nothing.
func (c columnCount) agrees(names []string, numbers []int) bool {
	n, judged, different := 0, 0, map[int]bool{}
	for i, name := range names {
		if numbers[i] == 0 && c.counts[name] == 0 {
			continue
		}
		judged++
		if name != "" && numbers[i] > 0 && numbers[i] == c.counts[name] {
			n++
			different[numbers[i]] = true
		}
	}
	return n >= minCounted && len(different) > 1 && 3*n >= 2*judged
}

// countsTheList reports whether the document says that statistics count the records of the list, by the noun in its path, and nothing else, such as
// drafts. The description of the member with the number may say it, too.
func countsTheList(e Evidence, x evidence.Exchange, member string) bool {
	list, _ := operation(e, e.Roles.List)
	o, _ := operation(e, x.Label.Resource())
	noun := strings.TrimSuffix(list.Path[strings.LastIndexByte(strings.TrimSuffix(list.Path, "/"), '/')+1:], "/")
	if noun == "" || strings.Contains(noun, "{") || slices.ContainsFunc(list.QueryParameters(), func(p openapi.Parameter) bool {
		return openapi.RoleOf(p) == "" && p.Schema.Default != nil && !selectsForm(p)
	}) {
		return false
	}
	_, answer, _ := o.Success()
	text := o.Description + ". " + answer.Description
	record := recordPattern(noun)
	named := record.MatchString(text) || describesCount(e, x, member)
	other := `(?i)\b(archiv\w*|histor\w*|drafts?|unpublished|embargo\w*|deleted|withdrawn|ever|all[- ]time|since|past|former|open|running|active|current(ly)?|ongoing|upcoming|closed|offen\w*|laufend\w*|aktiv\w*|aktuell\w*)\b`
	return named && !e.Spec.Says(o, regexp.MustCompile(other)) && !regexp.MustCompile(other).MatchString(o.Description)
}

func recordPattern(noun string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b` + openapi.NamePattern(strings.TrimSuffix(noun, "s")) + `s?\b`)
}

// describesCount reports whether the description of a member names the records of the list.
func describesCount(e Evidence, x evidence.Exchange, member string) bool {
	list, _ := operation(e, e.Roles.List)
	o, _ := operation(e, x.Label.Resource())
	noun := list.Path[strings.LastIndexByte(strings.TrimSuffix(list.Path, "/"), '/')+1:]
	return member != "" && e.Spec.SaysOfMember(o, member[strings.LastIndexByte(member, '.')+1:], recordPattern(strings.TrimSuffix(noun, "/")))
}

// hasEmpty reports whether a name has no records and the number 0. Without such names fewer numbers need to agree, so that chance explains more.
func hasEmpty(names []string, numbers []int, counts map[string]int) bool {
	for i, name := range names {
		if numbers[i] == 0 && counts[name] == 0 {
			return true
		}
	}
	return false
}

// selectsForm reports whether the name of a parameter says that it selects the language or the form of the answer, and no records.
func selectsForm(p openapi.Parameter) bool {
	return slices.Contains([]string{"lang", "language", "locale", "format", "fields", "expand", "sprache"}, openapi.Joined(p.Name))
}

// countsOthers reports whether the document says that statistics count records that the list leaves out, such as drafts.
func countsOthers(e Evidence, o openapi.Operation) bool {
	more := regexp.MustCompile(`(?i)\bnot (only|just)\b|\bnicht (nur|bloß)\b|\b(do|does|can|may)( ?not|n't) (see|read|list|get)\b|\b(not|in)[ -]?(visible|listed)\b|\bthe list (does not|doesn't|leaves? out|omits?|lacks?|hides?)\b|\bdie liste (nicht|auslässt|ausblendet|weglässt)\b`)
	others := regexp.MustCompile(`(?i)\b(archiv\w*|histor\w*|drafts?|unpublished|embargo\w*|deleted|withdrawn|ever|all[- ]time|since|past|former\w*|hidden|internal|(of|for|in|per) (a|the|this|last|each|every|one) (calendar )?(year|month|week|quarter)|annual|yearly|monthly|entwürfe|gelöscht\w*|unveröffentlicht\w*|seit|jemals)\b`)
	denial := regexp.MustCompile(`(?i)\b(no|not|without|never|except|exclu\w*|ohne|nicht|keine?)\b`)
	says := func(text string) bool {
		for sentence := range strings.FieldsFuncSeq(strings.Join(strings.Fields(text), " "), func(r rune) bool { return strings.ContainsRune(".;", r) }) {
			if more.MatchString(sentence) || others.MatchString(sentence) && !denial.MatchString(sentence) {
				return true
			}
		}
		return false
	}
	status, _, _ := o.Success()
	answer, _ := e.Spec.Descend(openapi.Join(o.Pointer, "responses"), status)
	described, _ := e.Spec.Raw(answer)
	return says(o.Description) || e.Spec.SaysIn(described, more)
}
