package requirement

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// totalsOfFilters compares the total under several filters, or several values of one, with the records of the complete list that fit, for PAG-01. Only then
// rows of a join are counted more than once. Each value alone must have the total that is expected of it: so what the filter means is known.
func totalsOfFilters(e Evidence) []Judgement {
	whole, complete := wholeList(e)
	if !complete || e.unsteady() || isEstimate(e) {
		return nil
	}
	count := func(fits func(item []byte) bool) (n int) {
		for _, item := range whole {
			if fits(item) {
				n++
			}
		}
		return n
	}
	type value struct{ parameter, value string }
	known := map[value]bool{}
	for _, x := range listAnswers(e) {
		all := conditionsOf(x)
		if total, _, ok := totalOf(e, x); ok && success(x) && len(all) == 1 && all[0].bound == "" && all[0].or == "" && total > 0 {
			known[value{all[0].parameter, all[0].value}] = total == count(func(item []byte) bool { return all[0].fits(e, item) })
		}
	}
	var s survey
	for _, x := range listAnswers(e) {
		all := conditionsOf(x)
		total, place, ok := totalOf(e, x)
		joint := len(all) > 1 || len(all) == 1 && all[0].or != ""
		if !ok || !success(x) || !joint || !describesTotal(e, place) || strings.HasSuffix(place, "recordsTotal") || slices.ContainsFunc(all, func(c condition) bool {
			return c.bound != "" || slices.ContainsFunc(c.values(), func(v string) bool { return !known[value{c.parameter, v}] })
		}) {
			continue
		}
		hasValue := func(item []byte, c condition) func(v string) bool {
			return func(v string) bool { return slices.Contains(e.memberValues(item, c.member), v) }
		}
		every := count(func(item []byte) bool {
			return !slices.ContainsFunc(all, func(c condition) bool { return !c.fits(e, item) })
		})
		some := count(func(item []byte) bool {
			return slices.ContainsFunc(all, func(c condition) bool { return c.fits(e, item) })
		})
		both := count(func(item []byte) bool { // of the values of one filter, too
			return !slices.ContainsFunc(all, func(c condition) bool {
				return slices.ContainsFunc(c.values(), func(v string) bool { return !hasValue(item, c)(v) })
			})
		})
		if total == every || total == some || total == both {
			continue
		}
		s.add("totals of filters", Subject{Name: callInWords(x) + " " + place, Label: x.Label, Expected: strconv.Itoa(every)}.
			failed(fmt.Sprintf("%s says that it has %d, and %d records of the list fit; for each value alone the total is right", callInWords(x), total, every), strconv.Itoa(total)).
			Hinting("count records, not rows of a join: COUNT(DISTINCT id)"))
	}
	return s.faults
}
