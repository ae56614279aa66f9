package requirement

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file judges the filter runningCalls, which selects calls by their stages.

// overdueMargin is the time since the last deadline of a call after which the call is over in every time zone and by every clock.
const overdueMargin = 48 * time.Hour

// judgeRunningCalls judges the filter runningCalls. Its published text can be read in several ways: it may mean the first stage of a call or any stage,
// ongoing calls may have an invented deadline, and false may mean all other calls or no filter. In each of these ways a call whose stages are over does not
// run, and no call both runs and does not run.
func judgeRunningCalls(e Evidence) []Judgement {
	running, sent := e.Get(e.Roles.List.With("filter-running"))
	if !sent || !declaresQuery(e, "runningCalls") {
		return nil
	}
	if j, unclear := inconclusiveAnswer(running); unclear {
		return []Judgement{j}
	}
	if !success(running) {
		return []Judgement{expect(running, "2xx with the calls that run").failed("runningCalls=true is refused although the document declares it", describe(running))}
	}
	items, err := e.itemsOf(running)
	if err != nil {
		return []Judgement{expect(running, "a list").unclear("the running calls cannot be read: "+clip(err.Error()), describe(running))}
	}
	allItems, errAll := e.itemsOf(e.exchange(evidence.ListOperation.With(evidence.OK)))
	parts := []Judgement{judgeRunning(running, items, errAll == nil && len(items) < len(allItems))}
	parts = append(parts, judgeBegun(e, running, items)...)
	resting, sent := e.Get(e.Roles.List.With("filter-not-running"))
	others, err := e.itemsOf(resting)
	if sent && success(resting) && err == nil && errAll == nil && len(others) < len(allItems) {
		parts = append(parts, judgeDisjoint(resting, e.identities(items), e.identities(others)))
	}
	return parts
}

// judgeRunning finds calls that are over in the answer to runningCalls=true. selects is true if the filter leaves out some calls. Such a filter may use another
// day than today, as test systems and copies of yesterday's data do: then there is an instant at which all calls of the answer run.
func judgeRunning(x evidence.Exchange, items [][]byte, selects bool) Judgement {
	now := answeredAt(x)
	var over []Subject
	var begin, end time.Time // of the period in which all calls run
	for i, item := range items {
		first, last, ok := stages(item)
		if !ok {
			continue
		}
		if first.After(begin) {
			begin = first
		}
		if end.IsZero() || last.Before(end) {
			end = last
		}
		if last.Before(now.Add(-overdueMargin)) {
			over = append(over, Subject{Name: fmt.Sprintf("%s $[%d].callStages", callInWords(x), i), Label: x.Label, Expected: "a deadline in the future", Got: last.Format(time.RFC3339)})
		}
	}
	const expected = "calls with a deadline in the future"
	switch {
	case len(over) == 0:
		return Passed(x.Label)
	case selects && begin.Before(end):
		return Warned("runningCalls=true gives the calls of another day: all of them run between "+begin.Format(time.DateOnly)+" and "+end.Format(time.DateOnly), expected, over[0].Got).
			Hinting("the node uses another date than today; that is fine for a test system").About(over...).bounded()
	}
	return Failed(fmt.Sprintf("runningCalls=true gives %d of %d calls whose last deadline is over", len(over), len(items)), expected, over[0].Got).
		About(over...).bounded()
}

// judgeBegun finds calls that have not begun in the answer to runningCalls=true, if the document says that a running call has begun. The published text
// alone can also be read in another way.
func judgeBegun(e Evidence, x evidence.Exchange, items [][]byte) []Judgement {
	o, _ := operation(e, e.Roles.List)
	p, described := queryParameter(o, "runningCalls")
	if !described || !regexp.MustCompile(`(?i)\b(has|have) (already )?(begun|started|opened)\b|\bbegonnen\b`).MatchString(p.Description) ||
		regexp.MustCompile(`(?i)\b(or|oder) |\b(will|not (yet )?(begun|started|opened)|noch nicht)\b`).MatchString(p.Description) {
		return nil
	}
	var ahead []Subject
	var begin, end time.Time // of the period in which all calls run
	for i, item := range items {
		starts, ends := times(item, "callStages.callStageStart"), times(item, "callStages.callStageEnd")
		if len(starts) == 0 {
			continue
		}
		first := slices.MinFunc(starts, time.Time.Compare)
		if first.After(begin) {
			begin = first
		}
		if len(ends) > 0 && (end.IsZero() || slices.MaxFunc(ends, time.Time.Compare).Before(end)) {
			end = slices.MaxFunc(ends, time.Time.Compare)
		}
		if first.After(answeredAt(x).Add(overdueMargin)) {
			ahead = append(ahead, Subject{Name: fmt.Sprintf("%s $[%d].callStages", callInWords(x), i), Label: x.Label, Expected: "a start in the past", Got: first.Format(time.RFC3339)})
		}
	}
	if len(ahead) == 0 || begin.Before(end) { // a test system may use another day than today, on which all calls run
		return nil
	}
	return []Judgement{Failed(fmt.Sprintf("runningCalls=true gives %d of %d calls that have not begun", len(ahead), len(items)), "calls that have begun, as the document says", ahead[0].Got).
		Hinting("compare the start of the call with the present time, too").About(ahead...).bounded()}
}

// stages returns the start of the first stage of a call and the end of its last one; ok is false for other items, and if a time is missing or
// cannot be read.
func stages(item []byte) (first, last time.Time, ok bool) {
	if !slices.Contains(openapi.MemberValues(item, "type"), "CALL") {
		return first, last, false
	}
	starts, ends := times(item, "callStages.callStageStart"), times(item, "callStages.callStageEnd")
	if len(ends) == 0 || len(ends) < len(starts) {
		return first, last, false // a stage is open
	}
	last = slices.MaxFunc(ends, time.Time.Compare)
	if len(starts) > 0 {
		first = slices.MinFunc(starts, time.Time.Compare)
	}
	return first, last, true
}

// times returns the values of a member as times; nil if one cannot be read.
func times(item []byte, member string) []time.Time {
	var out []time.Time
	for _, text := range openapi.MemberValues(item, member) {
		t, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return nil
		}
		out = append(out, t)
	}
	return out
}

// judgeDisjoint finds calls that both run and do not run.
func judgeDisjoint(x evidence.Exchange, running, resting []string) Judgement {
	for i, id := range resting {
		if slices.Contains(running, id) {
			return Subject{Name: fmt.Sprintf("%s $[%d]", callInWords(x), i), Label: x.Label, Expected: "a call that does not run"}.
				failed("runningCalls=false gives a call that runningCalls=true gives as well, and not the whole list", quote(id))
		}
	}
	return Passed(x.Label)
}
