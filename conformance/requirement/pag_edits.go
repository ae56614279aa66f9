package requirement

import (
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file finds the records that were edited, added or removed while the run read the list. Answers of different times may differ by them.

// maxEdits bounds the records that are edited during one run. If more of them change, the cause is another one, such as a member that is computed for each
// answer.
const maxEdits = 10

// edits returns how many records changed during the run: those that were seen to change, or those that the total of the list shows, if they are more.
func (e Evidence) edits() int {
	count := len(e.editedRecords())
	if !e.totalChanged() {
		return count
	}
	for _, totals := range totalsByURL(e) {
		if len(totals) == 0 {
			continue
		}
		if first, last := totals[0], totals[len(totals)-1]; max(first-last, last-first) <= maxEdits {
			count = max(count, first-last, last-first)
		}
	}
	return count
}

// withinEdits reports whether two numbers of records differ by no more than the records that changed during the run.
func (e Evidence) withinEdits(one, other int) bool { return max(one-other, other-one) <= e.edits() }

// editedRecords returns the ids of the records of the list that changed during the run, once and for good: up to some moment all answers show one state, and from
// then on another. It is empty if there are more than [maxEdits].
func (e Evidence) editedRecords() map[string]bool {
	return remember(e.judged, "edited records", func() map[string]bool {
		edited := map[string]bool{}
		answers := ordinaryListAnswers(e)
		addChanged(e, answers, edited)
		addMoved(e, answers, edited)
		if len(edited) > maxEdits {
			return nil
		}
		return edited
	})
}

// ordinaryListAnswers returns the answers to ordinary calls of the list in the language of the good call, by its client, the earliest first.
func ordinaryListAnswers(e Evidence) []evidence.Exchange {
	good := e.exchange(evidence.ListOperation.With(evidence.OK))
	language := func(x evidence.Exchange) string {
		return strings.Join(evidence.Values(x.Request.Header, "Accept-Language"), ",")
	}
	answers := slices.DeleteFunc(operationAnswers(e), func(x evidence.Exchange) bool {
		return x.Label.Resource() != e.Roles.List || x.Request.Method != "GET" || !success(x) || !isOrdinaryCall(x) || !sameCaller(x, good) || language(x) != language(good)
	})
	slices.SortStableFunc(answers, func(a, b evidence.Exchange) int { return a.Started.Compare(b.Started) })
	return answers
}

// addChanged adds the records of which a member changed its value once. One answer alone may be wrong, so each value must have been seen twice.
func addChanged(e Evidence, answers []evidence.Exchange, edited map[string]bool) {
	type place struct{ id, member string }
	history := map[place][]string{}
	for _, x := range answers {
		for _, item := range itemsOrNone(e, x) {
			if e.isAnonymous(item) {
				continue
			}
			for member, value := range openapi.Object(item) {
				at := place{e.identity(item), member}
				history[at] = append(history[at], string(value))
			}
		}
	}
	changed := map[string][]string{} // ids by member
	for at, values := range history {
		first, last := values[0], values[len(values)-1]
		if n := len(values); first != last && values[min(1, n-1)] == first && values[max(0, n-2)] == last && len(slices.Compact(values)) == 2 {
			changed[at.member] = append(changed[at.member], at.id)
		}
	}
	for _, ids := range changed {
		if len(ids) > maxEdits {
			continue
		}
		for _, id := range ids {
			edited[id] = true
		}
	}
}

// addMoved adds the records that joined the list after its complete reading, and those that left it before. Each must have been seen twice.
func addMoved(e Evidence, answers []evidence.Exchange, edited map[string]bool) {
	reading, calls, complete := wholeReading(e)
	if !complete || len(calls) == 0 {
		return
	}
	first, last := calls[0].Started, calls[len(calls)-1].Started
	type sight struct{ before, during, after int }
	seen := map[string]sight{}
	for _, x := range answers {
		for _, item := range itemsOrNone(e, x) {
			if e.isAnonymous(item) {
				continue
			}
			id := e.identity(item)
			s := seen[id]
			switch {
			case x.Started.Before(first):
				s.before++
			case x.Started.After(last):
				s.after++
			default:
				s.during++
			}
			seen[id] = s
		}
	}
	listed := map[string]bool{}
	for _, id := range reading.Items() {
		listed[id] = true
	}
	again, _ := readingOf(e, "whole-again")
	for id, s := range seen {
		switch {
		case !listed[id] && s.before+s.during == 0 && s.after >= 2, !listed[id] && s.after == 0 && s.before >= 2:
			edited[id] = true
		case listed[id] && again.Ended() && !slices.Contains(again.Items(), id) && s.before+s.during >= 2:
			edited[id] = true
		}
	}
}
