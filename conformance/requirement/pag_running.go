package requirement

import (
	"fmt"
	"slices"
	"time"

	"github.com/rin-network/rin/conformance/document"
	"github.com/rin-network/rin/conformance/exchange"
)

// longOver is how long ago the last deadline of a call must be, so that no zone, and no difference of clocks, makes it a running one.
const longOver = 48 * time.Hour

// runningCalls judges the filter of that name (PAG-07). Its published text allows several readings: the first stage or any, ongoing
// calls with an invented deadline, false as the complement or as no filter. In each of them a call whose stages are all over does not
// run, and no call both runs and does not run.
func runningCalls(e Evidence) []Judgement {
	running, asked := e.Get(e.Roles.List.With(exchange.RunningTrue))
	if !asked || !declaresQuery(e, "runningCalls") {
		return nil
	}
	if j, unclear := unclearIfNoVerdict(running); unclear {
		return []Judgement{j}
	}
	if !success(running) {
		return []Judgement{Failed("runningCalls=true is refused although the document declares it", "2xx with the calls that run", describe(running)).about(running, "2xx", describe(running))}
	}
	items, err := e.itemsOf(running)
	if err != nil {
		return []Judgement{Unclear("the running calls can't be read: "+clip(err.Error())).about(running, "a list", describe(running))}
	}
	whole, unread := e.itemsOf(e.The(exchange.ListOperation.With(exchange.OK)))
	parts := []Judgement{noneOver(running, items, unread == nil && len(items) < len(whole))}
	resting, asked := e.Get(e.Roles.List.With(exchange.RunningFalse))
	others, err := e.itemsOf(resting)
	if asked && success(resting) && err == nil && unread == nil && len(others) < len(whole) {
		parts = append(parts, apart(resting, document.Identities(items), document.Identities(others)))
	}
	return parts
}

// noneOver finds calls that are over among those that run. A filter that selects may go by another day than today, as test systems
// and copies of yesterday's data do: then there is an instant at which all of them run.
func noneOver(x exchange.Exchange, items [][]byte, selects bool) Judgement {
	now := answeredAt(x)
	var over []Subject
	var begin, end time.Time // of the time in which none of the calls is over and all have begun
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
		if last.Before(now.Add(-longOver)) {
			over = append(over, Subject{Name: fmt.Sprintf("%s $[%d].callStages", callInWords(x), i), Label: x.Label, Expected: "a deadline in the future", Got: last.Format(time.RFC3339)})
		}
	}
	const expected = "calls with a deadline in the future"
	switch {
	case len(over) == 0:
		return Passed(x.Label)
	case selects && begin.Before(end):
		return Warned("runningCalls=true gives the calls of another day: all of them run between "+begin.Format(time.DateOnly)+" and "+end.Format(time.DateOnly), expected, over[0].Got).
			Hinting("the node's idea of today is not today's; a test system with a day of its own is fine").About(over...).bounded()
	}
	return Failed(fmt.Sprintf("runningCalls=true gives %d of %d calls whose last deadline is over", len(over), len(items)), expected, over[0].Got).
		About(over...).bounded()
}

// stages are the start of the first stage of a call and the end of its last; ok is false for other items, and where a time is missing
// or cannot be read.
func stages(item []byte) (first, last time.Time, ok bool) {
	if !slices.Contains(document.MemberValues(item, "type"), "CALL") {
		return first, last, false
	}
	starts, ends := times(item, "callStages.callStageStart"), times(item, "callStages.callStageEnd")
	if len(ends) == 0 || len(ends) < len(starts) {
		return first, last, false // open, or partly so
	}
	last = slices.MaxFunc(ends, time.Time.Compare)
	if len(starts) > 0 {
		first = slices.MinFunc(starts, time.Time.Compare)
	}
	return first, last, true
}

// times are the values of a member as times; none where one cannot be read.
func times(item []byte, member string) []time.Time {
	var out []time.Time
	for _, text := range document.MemberValues(item, member) {
		t, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return nil
		}
		out = append(out, t)
	}
	return out
}

// apart finds calls that both run and do not run.
func apart(x exchange.Exchange, running, resting []string) Judgement {
	for i, id := range resting {
		if slices.Contains(running, id) {
			return Failed("runningCalls=false gives a call that runningCalls=true gives as well, and not the whole list", "a call that does not run", quote(id)).
				About(Subject{Name: fmt.Sprintf("%s $[%d]", callInWords(x), i), Label: x.Label, Expected: "a call that does not run", Got: quote(id)})
		}
	}
	return Passed(x.Label)
}
