package requirement

import (
	"fmt"
	"net/http"
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
	items, err := itemsOf(running)
	if err != nil {
		return []Judgement{Unclear("the running calls can't be read: "+clip(err.Error())).about(running, "a list", describe(running))}
	}
	parts := []Judgement{noneOver(running, items)}
	resting, asked := e.Get(e.Roles.List.With(exchange.RunningFalse))
	others, err := itemsOf(resting)
	whole, unread := itemsOf(e.The(exchange.ListOperation.With(exchange.OK)))
	if asked && success(resting) && err == nil && unread == nil && len(others) < len(whole) {
		parts = append(parts, apart(resting, document.Identities(items), document.Identities(others)))
	}
	return parts
}

// noneOver finds calls that are over among those that run.
func noneOver(x exchange.Exchange, items [][]byte) Judgement {
	now := x.Started
	if date := header(x, "Date"); len(date) > 0 {
		if t, err := http.ParseTime(date[0]); err == nil {
			now = t
		}
	}
	var over []Subject
	for i, item := range items {
		if end, ok := lastDeadline(item); ok && end.Before(now.Add(-longOver)) {
			over = append(over, Subject{Name: fmt.Sprintf("%s $[%d].callStages", callInWords(x), i), Label: x.Label, Expected: "a deadline in the future", Got: end.Format(time.RFC3339)})
		}
	}
	if len(over) == 0 {
		return Passed(x.Label)
	}
	return Failed(fmt.Sprintf("runningCalls=true gives %d of %d calls whose last deadline is over", len(over), len(items)), "calls with a deadline in the future", over[0].Got).
		About(over...).bounded()
}

// lastDeadline is the end of the last stage of a call; ok is false for other items, and where one end cannot be read.
func lastDeadline(item []byte) (last time.Time, ok bool) {
	if !slices.Contains(document.MemberValues(item, "type"), "CALL") {
		return last, false
	}
	starts, ends := document.MemberValues(item, "callStages.callStageStart"), document.MemberValues(item, "callStages.callStageEnd")
	if len(ends) == 0 || len(ends) < len(starts) {
		return last, false // open, or partly so
	}
	for _, text := range ends {
		t, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return last, false
		}
		if t.After(last) {
			last = t
		}
	}
	return last, true
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
