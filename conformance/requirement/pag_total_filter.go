package requirement

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// judgeTotalsOfFilters compares the total under several filters, or several values of one, with the records of the complete list that fit, for PAG-01. Only
// such a query may count a record several times, by the rows of a join. Each value alone must have the right total: this shows what the filter means.
func judgeTotalsOfFilters(e Evidence) []Judgement {
	if !slices.ContainsFunc(listAnswers(e), hasSeveralConditions) || e.unsteady() {
		return nil
	}
	allItems, complete := wholeList(e)
	if !complete {
		return judgeTotalsOfUnions(e)
	}
	count := func(fits func(item []byte) bool) (n int) {
		for _, item := range allItems {
			if fits(item) {
				n++
			}
		}
		return n
	}
	type value struct{ parameter, value string }
	isRight := map[value]bool{} // whether the value alone has the right total
	for _, x := range listAnswers(e) {
		all := conditionsOf(x)
		if total, _, ok := totalOf(e, x); ok && success(x) && len(all) == 1 && all[0].bound == "" && all[0].or == "" && total > 0 {
			isRight[value{all[0].parameter, all[0].value}] = total == count(func(item []byte) bool { return all[0].fits(e, item) })
		}
	}
	var s survey
	for _, x := range listAnswers(e) {
		all := conditionsOf(x)
		total, place, ok := totalOf(e, x)
		if !ok || !success(x) || !hasSeveralConditions(x) || !describesTotal(e, place) || isInexact(e, place) || strings.HasSuffix(place, "recordsTotal") || slices.ContainsFunc(all, func(c condition) bool {
			return c.bound != "" || slices.ContainsFunc(c.values(), func(v string) bool { return !isRight[value{c.parameter, v}] })
		}) {
			continue
		}
		every := count(func(item []byte) bool {
			return !slices.ContainsFunc(all, func(c condition) bool { return !c.fits(e, item) })
		})
		some := count(func(item []byte) bool {
			return slices.ContainsFunc(all, func(c condition) bool { return c.fits(e, item) })
		})
		allValues := count(func(item []byte) bool { // items that have all values, also all those of one filter
			return !slices.ContainsFunc(all, func(c condition) bool { return len(openapi.Missing(c.values(), e.memberValues(item, c.member))) > 0 })
		})
		if total == every || total == some || total == allValues {
			continue
		}
		s.add("totals of filters", Subject{Name: callInWords(x) + " " + place, Label: x.Label, Expected: strconv.Itoa(every)}.
			failed(fmt.Sprintf("%s says that it has %s, and %d of the list match; for each value alone the total is right", callInWords(x), evidence.Count(total, "record"), every), strconv.Itoa(total)).
			Hinting("count records, not rows of a join: COUNT(DISTINCT id)"))
	}
	return s.faults
}

// hasSeveralConditions reports whether a call has several filters, or two values of one.
func hasSeveralConditions(x evidence.Exchange) bool {
	all := conditionsOf(x)
	return len(all) > 1 || len(all) == 1 && all[0].or != ""
}

// judgeTotalsOfUnions judges the total under two values of one filter if the complete list is not known. It is at most the sum of the totals of the two
// values, less the records in the answers to both.
func judgeTotalsOfUnions(e Evidence) []Judgement {
	var s survey
	for _, x := range listAnswers(e) {
		all := conditionsOf(x)
		total, place, ok := totalOf(e, x)
		if !ok || !success(x) || len(all) != 1 || all[0].or == "" || !describesTotal(e, place) || isInexact(e, place) || strings.HasSuffix(place, "recordsTotal") {
			continue
		}
		first, ofFirst := answersToValue(e, all[0].parameter, all[0].value)
		second, ofSecond := answersToValue(e, all[0].parameter, all[0].or)
		both := 0
		for item := range ofFirst {
			if ofSecond[item] {
				both++
			}
		}
		if maxTotal := first + second - both; both > 0 && total > maxTotal {
			s.add("totals of filters", Subject{Name: callInWords(x) + " " + place, Label: x.Label, Expected: "at most " + strconv.Itoa(maxTotal)}.
				failed(fmt.Sprintf("%s says that it has %s, although %s has %d, %s has %d, and the two share %s", callInWords(x), evidence.Count(total, "record"), shorten(all[0].value), first,
					shorten(all[0].or), second, evidence.Count(both, "record")), strconv.Itoa(total)).
				Hinting("apply both values, and count records, not rows of a join: COUNT(DISTINCT id)"))
		}
	}
	return s.faults
}

// answersToValue returns the total under one value of a filter, and the ids of the items in all answers to it.
func answersToValue(e Evidence, parameter, value string) (total int, items map[string]bool) {
	items = map[string]bool{}
	for _, x := range listAnswers(e) {
		all := conditionsOf(x)
		if len(all) != 1 || all[0].parameter != parameter || all[0].value != value || all[0].bound != "" || all[0].or != "" || !success(x) {
			continue
		}
		if n, _, ok := totalOf(e, x); ok {
			total = n
			answered, _ := e.itemsOf(x)
			for _, item := range answered {
				if id := e.identity(item); id != "" {
					items[id] = true
				}
			}
		}
	}
	return total, items
}
