package requirement

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file finds the records that were edited, added or removed while the run read the list. Answers from before and after such a moment may differ by them.

// maxEdits bounds the records that change during one run, and editShare their share of the list. If more of them change, the cause is another one, such as a
// member that is computed for each answer.
const (
	maxEdits  = 10
	editShare = 10 // one of so many records; at least one record may change
)

// An edit is a change of one record: after the moment from, and before the moment to.
type edit struct {
	from, to time.Time
	moved    bool     // the record joined or left the list
	members  []string // the members that changed
}

// listEdits are the edits of a run by the ids of the records, and the totals of the list before and after it changed.
type listEdits struct {
	byID  map[string]edit
	grown int // by so many records the total changed, once and for good
}

// A span is the time in which answers came.
type span struct{ from, to time.Time }

// spanOf returns the time in which the answers came.
func spanOf(answers ...evidence.Exchange) (s span) {
	for _, x := range answers {
		if s.from.IsZero() || x.Started.Before(s.from) {
			s.from = x.Started
		}
		if end := x.Started.Add(x.Duration); end.After(s.to) {
			s.to = end
		}
	}
	return s
}

// wasEdited reports whether a record joined or left the list at some time in the span, or one of the members changed.
func (e Evidence) wasEdited(id string, during span, members ...string) bool {
	change, changed := e.edits().byID[id]
	return changed && change.isWithin(during) && (change.moved || slices.ContainsFunc(change.members, func(changed string) bool {
		return slices.ContainsFunc(members, func(member string) bool {
			return member == changed || strings.HasPrefix(member, changed+".") || strings.HasPrefix(member, changed+"[")
		})
	}))
}

// isWithin reports whether the edit may have come in the span.
func (c edit) isWithin(s span) bool { return !c.to.Before(s.from) && !c.from.After(s.to) }

// withinEdits reports whether two numbers of records differ by no more than the records that changed in the span. With movedOnly it counts only records
// that joined or left the list, because other changes leave the number as it is.
func (e Evidence) withinEdits(one, other int, during span, movedOnly bool) bool {
	edits := e.edits()
	n := 0
	for _, change := range edits.byID {
		if change.isWithin(during) && (change.moved || !movedOnly) {
			n++
		}
	}
	return max(one-other, other-one) <= max(n, edits.grown)
}

// edits returns the edits of the run, once and for good: up to some moment all answers show one state, and from then on another.
func (e Evidence) edits() listEdits {
	return remember(e.judged, "edits of the list", func() listEdits {
		answers := ordinaryListAnswers(e)
		h := readHistory(e, answers)
		edits := listEdits{byID: map[string]edit{}}
		h.addChanged(edits.byID)
		h.addMoved(e, edits.byID)
		if most := max(1, min(maxEdits, len(h.seen)/editShare)); len(edits.byID) > most {
			edits.byID = nil
		}
		if !e.totalChanged() {
			return edits
		}
		for _, totals := range totalsByURL(e) {
			if len(totals) == 0 {
				continue
			}
			first, last := totals[0], totals[len(totals)-1]
			if apart := max(first-last, last-first); apart <= max(1, min(maxEdits, first/editShare)) {
				edits.grown = max(edits.grown, apart)
			}
		}
		return edits
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

// listHistory is what the answers of the list showed of each record, the earliest first.
type listHistory struct {
	seen   map[string][]time.Time // by id
	values map[memberOfRecord][]seenValue
}

type memberOfRecord struct{ id, member string }

// seenValue is the value of a member in an answer.
type seenValue struct {
	value string
	at    time.Time
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func readHistory(e Evidence, answers []evidence.Exchange) listHistory {
	h := listHistory{map[string][]time.Time{}, map[memberOfRecord][]seenValue{}}
	for _, x := range answers {
		for _, item := range itemsOrNone(e, x) {
			if e.isAnonymous(item) {
				continue
			}
			id := e.identity(item)
			h.seen[id] = append(h.seen[id], x.Started)
			for member, value := range openapi.Object(item) {
				at := memberOfRecord{id, member}
				h.values[at] = append(h.values[at], seenValue{string(value), x.Started})
			}
		}
	}
	return h
}

// addChanged adds the records of which a member changed its value once. One answer alone may be wrong, so each value must have been seen twice.
func (h listHistory) addChanged(edited map[string]edit) {
	changed := map[string]map[string]edit{} // by member and id
	for at, values := range h.values {
		n := len(values)
		i := slices.IndexFunc(values, func(v seenValue) bool { return v.value != values[0].value })
		if i < 2 || n-i < 2 || slices.ContainsFunc(values[i:], func(v seenValue) bool { return v.value != values[n-1].value }) {
			continue
		}
		if changed[at.member] == nil {
			changed[at.member] = map[string]edit{}
		}
		changed[at.member][at.id] = edit{from: values[i-1].at, to: values[i].at, members: []string{at.member}}
	}
	for _, member := range slices.Sorted(maps.Keys(changed)) {
		records := changed[member]
		if len(records) > maxEdits {
			continue
		}
		for id, change := range records {
			if other, also := edited[id]; also { // all members of a record are edited together, or at different times
				change.members = append(change.members, other.members...)
				change.from, change.to = earlier(change.from, other.from), later(change.to, other.to)
			}
			edited[id] = change
		}
	}
}

// addMoved adds the records that joined the list after its complete reading, and those that left it before. Each must have been seen twice.
func (h listHistory) addMoved(e Evidence, edited map[string]edit) {
	reading, calls, complete := wholeReading(e)
	if !complete || len(calls) == 0 {
		return
	}
	read := spanOf(calls...)
	listed := map[string]bool{}
	for _, id := range reading.Items() {
		listed[id] = true
	}
	again, repeated := readingOf(e, "whole-again")
	for id, times := range h.seen {
		if len(times) < 2 {
			continue
		}
		first, last := times[0], times[len(times)-1]
		switch {
		case !listed[id] && first.After(read.to):
			edited[id] = edit{from: read.from, to: first, moved: true}
		case !listed[id] && last.Before(read.from):
			edited[id] = edit{from: last, to: read.to, moved: true}
		case listed[id] && again.Ended() && !slices.Contains(again.Items(), id) && last.Before(spanOf(repeated...).from):
			edited[id] = edit{from: last, to: spanOf(repeated...).to, moved: true}
		}
	}
}
