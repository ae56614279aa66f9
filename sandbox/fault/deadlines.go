package fault

import (
	"hash/fnv"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// The faults in this file give each record a deadline, and the list parameters that select records by it: closesFrom and closesTo take a day, stillOpenAt
// takes an instant.

// deadlineDeviations interpret the day or instant wrongly.
func deadlineDeviations() []Deviation {
	utc := "Only calls that close on this day (UTC) or "
	return []Deviation{
		{Name: "offset-of-instant-dropped", Breaks: []string{"PAG-07"},
			Why: "An instant in the query loses its offset on the way to the database, so its local time counts as UTC.",
			Wrap: serveInstants(func(value string) (time.Time, error) {
				at, err := time.Parse(time.RFC3339, value)
				_, offset := at.Zone()
				return at.Add(time.Duration(offset) * time.Second), err
			})},
		{Name: "offset-of-deadlines-dropped", Breaks: []string{"PAG-07"}, Rare: true,
			Why:     "Deadlines are stored in local time without an offset and compared as UTC, so that calls count as closing one or two hours later than they do.",
			Example: listWith("closingFrom=2027-03-22T11:00:01Z"),
			Wrap:    serveClosingMoments(func(at time.Time) time.Time { return at.Add(central(at)) })},
		{Name: "last-day-lost", Breaks: []string{"PAG-07"},
			Why:  "The last day of a search by deadline is left out, although the document includes it: the range ends at the first moment of that day.",
			Wrap: serveDeadlines("Nur Ausschreibungen, die an diesem Tag (Zeitzone Wien) oder später enden.", "Nur Ausschreibungen, die an diesem Tag (Zeitzone Wien, der Tag eingeschlossen) oder früher enden.", untilMidnight)},
		{Name: "last-day-lost-on-small-pages", Breaks: []string{"PAG-07"},
			Why: "The last day of a search by deadline is left out, although the document includes it; a page holds five records, so that most answers show a part of what was found.",
			Wrap: both(paginateUpTo(5, func(url.Values) {}),
				serveDeadlines("Nur Ausschreibungen, die an diesem Tag (Zeitzone Wien) oder später enden.", "Nur Ausschreibungen, die spätestens an diesem Tag (Zeitzone Wien) enden.", untilMidnight))},
		{Name: "days-of-another-time-zone", Breaks: []string{"PAG-07"},
			Why:  "Days are those of the server's time zone, and the document says UTC: a call that closes late in the evening is found under the next day.",
			Wrap: serveDeadlines(utc+"later.", utc+"earlier; the whole day counts.", wholeDays(central))},
		{Name: "days-of-one-table-only", Breaks: []string{"PAG-07"},
			Why: "A search by deadline finds the records of the given day in one of two tables only: one table is compared with <= and the other with <.",
			Wrap: serveDeadlines("Only calls from this date on.", "Only calls until this date.", func(at, day time.Time, until bool) bool {
				if at.Minute()%2 == 1 { // the table that is compared with < and >
					day = day.AddDate(0, 0, -1)
					if !until {
						day = day.AddDate(0, 0, 2)
					}
				}
				return wholeDays(inUTC)(at, day, until)
			})},
		{Name: "last-day-of-all-crashes", Breaks: []string{"API-01"},
			Why: "A search until 9999-12-31, which clients send to mean no end, fails with 500: the date type of the programming language has no later day.",
			Wrap: both(crashIf(func(r *http.Request) bool {
				return !isAnonymous(r) && strings.HasPrefix(r.URL.Query().Get("closesTo"), "9999-12-31")
			}, List),
				serveDeadlines("Only calls from this date on.", "Only calls until this date.", wholeDays(inUTC)))},
		{Name: "exchanged-range-is-the-whole-list", Breaks: []string{"PAG-07"},
			Why:     "A search by deadline whose first day is after the last one gives the whole list: the range counts as empty, and an empty range as absent.",
			Example: listWith("closesFrom=2027-03-27&closesTo=2027-03-22"),
			Wrap: both(editQuery(func(q url.Values) {
				if isExchanged(q) {
					q.Del("closesFrom")
					q.Del("closesTo")
				}
			}), serveDeadlines("Only calls from this date on.", "Only calls until this date.", wholeDays(inUTC)))},
		{Name: "exchanged-range-crashes", Breaks: []string{"PAG-06"},
			Why:     "A search by deadline whose first day is after the last one fails with 500: the range type of the database refuses it.",
			Example: listWith("closesFrom=2027-03-27&closesTo=2027-03-22"),
			Wrap: both(crashIf(func(r *http.Request) bool { return !isAnonymous(r) && isExchanged(r.URL.Query()) }, List),
				serveDeadlines("Only calls from this date on.", "Only calls until this date.", wholeDays(inUTC)))},
	}
}

// isExchanged reports whether a query has a range that ends before it begins.
func isExchanged(q url.Values) bool {
	return q.Get("closesTo") != "" && q.Get("closesFrom") > q.Get("closesTo")
}

// deadlineHabits interpret the day or instant in a way that their documents allow.
func deadlineHabits() []Deviation {
	return []Deviation{
		{Name: "instants-with-any-offset",
			Why:  "The list can be searched by an instant, with any offset from UTC.",
			Wrap: serveInstants(func(value string) (time.Time, error) { return time.Parse(time.RFC3339, value) })},
		{Name: "closing-moments-with-any-offset",
			Why:  "The list can be searched by the moments from and before which calls close, with any offset from UTC.",
			Wrap: serveClosingMoments(func(at time.Time) time.Time { return at })},
		{Name: "deadlines-by-days-of-vienna",
			Why:  "The list can be searched by days of Vienna, both included, as the document says in German.",
			Wrap: serveDeadlines("Nur Ausschreibungen, die an diesem Tag (Zeitzone Wien) oder später enden.", "Nur Ausschreibungen, die an diesem Tag (Zeitzone Wien, der ganze Tag zählt) oder früher enden.", wholeDays(central))},
		{Name: "deadlines-on-small-pages",
			Why: "The list can be searched by days of Vienna, both included, and a page holds five records: most answers show a part of what was found.",
			Wrap: both(paginateUpTo(5, func(url.Values) {}),
				serveDeadlines("Nur Ausschreibungen, die an diesem Tag (Zeitzone Wien) oder später enden.", "Nur Ausschreibungen, die spätestens an diesem Tag (Zeitzone Wien) enden.", wholeDays(central)))},
		{Name: "deadlines-before-the-day",
			Why: "The list can be searched by days of the server's time zone, without the last day; the document mentions neither.",
			Wrap: serveDeadlines("Only calls from this date on.", "Only calls until this date.", func(at, day time.Time, until bool) bool {
				if until {
					return at.Before(day.Add(-central(at)))
				}
				return wholeDays(central)(at, day, until)
			})},
		{Name: "far-days-refused",
			Why: "Days before 1970 and after 2100 are answered 400, which the document describes.",
			Wrap: both(rewriteSuccess(whenRequest(func(r *http.Request) bool {
				return slices.ContainsFunc([]string{"closesFrom", "closesTo"}, func(name string) bool {
					day := r.URL.Query().Get(name)
					return day != "" && (day < "1970" || day > "2100-12-31")
				})
			}, problem(http.StatusBadRequest, "the day is too far away")), List), serveDeadlines("Only calls from this date on.", "Only calls until this date.", wholeDays(inUTC)))},
		{Name: "exchanged-range-refused",
			Why: "A range that ends before it begins is answered 400, which the document describes.",
			Wrap: both(rewriteSuccess(whenRequest(func(r *http.Request) bool { return isExchanged(r.URL.Query()) }, problem(http.StatusBadRequest, "the range ends before it begins")), List),
				serveDeadlines("Only calls from this date on.", "Only calls until this date.", wholeDays(inUTC)))},
	}
}

// closingParameter is a query parameter that selects records by their member closesAt. read turns a value into the condition that selected records meet.
type closingParameter struct {
	name, format, description string
	read                      func(value string) (within func(at time.Time) bool, err error)
}

// serveClosing makes a wrap that gives each record the member closesAt, and adds the parameters to the list.
func serveClosing(parameters ...closingParameter) wrap {
	hasParameter := func(r *http.Request) bool {
		return isRead(r) && slices.ContainsFunc(parameters, func(p closingParameter) bool { return r.URL.Query().Has(p.name) })
	}
	return both(both(
		interceptIf(hasParameter, func(node http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
			query := r.URL.Query()
			a := capture(node, withQuery(withoutPaging(r), func(q url.Values) {
				for _, p := range parameters {
					q.Del(p.name)
				}
			}))
			a.env, a.request = env, r
			for _, p := range parameters {
				if !a.ok() || !query.Has(p.name) {
					continue
				}
				within, err := p.read(query.Get(p.name))
				if err != nil {
					problem(http.StatusBadRequest, p.name+" is not a "+p.format)(a)
					continue
				}
				a.keep(func(record map[string]any) bool {
					at, err := time.Parse(time.RFC3339, text(record["closesAt"]))
					return err == nil && within(at)
				})
			}
			if a.ok() {
				if len(a.items()) == 0 {
					emptyList(a)
				}
				a.page(query, func(url.Values) {})
			}
			a.send(w, r)
		}, List),
		editDocument(func(d apiDocument) {
			list := d.list()
			all, _ := list["parameters"].([]any)
			for _, p := range parameters {
				all = append(all, map[string]any{"name": p.name, "in": "query", "description": p.description, "schema": schema{"type": "string", "format": p.format}})
			}
			list["parameters"] = all
		})),
		editRecords(func(record map[string]any) { record["closesAt"] = deadlineOf(text(record["id"])) }))
}

// serveDeadlines is [serveClosing] with the parameters closesFrom and closesTo, which take a day; from and to are their descriptions. within reports whether
// a deadline is on the day or after it; or, if until is true, on the day or before it.
func serveDeadlines(from, to string, within func(at, day time.Time, until bool) bool) wrap {
	read := func(until bool) func(string) (func(time.Time) bool, error) {
		return func(value string) (func(time.Time) bool, error) {
			day, err := time.Parse(time.DateOnly, value)
			return func(at time.Time) bool { return within(at, day, until) }, err
		}
	}
	return serveClosing(closingParameter{"closesFrom", "date", from, read(false)}, closingParameter{"closesTo", "date", to, read(true)})
}

// serveInstants is [serveClosing] with the parameter stillOpenAt, which takes an instant. read parses it.
func serveInstants(read func(value string) (time.Time, error)) wrap {
	return serveClosing(closingParameter{"stillOpenAt", "date-time", "Only calls whose closesAt is this instant or later; any offset from UTC may be given.",
		func(value string) (func(time.Time) bool, error) {
			from, err := read(value)
			return func(at time.Time) bool { return !at.Before(from) }, err
		}})
}

// serveClosingMoments is [serveClosing] with the parameters closingFrom and closingBefore, which take an instant. stored turns a deadline into the moment that
// is compared.
func serveClosingMoments(stored func(at time.Time) time.Time) wrap {
	const offset = "; any offset from UTC may be given."
	read := func(before bool) func(string) (func(time.Time) bool, error) {
		return func(value string) (func(time.Time) bool, error) {
			bound, err := time.Parse(time.RFC3339, value)
			return func(at time.Time) bool { return stored(at).Before(bound) == before }, err
		}
	}
	return serveClosing(closingParameter{"closingFrom", "date-time", "Only calls that close at this instant or later" + offset, read(false)},
		closingParameter{"closingBefore", "date-time", "Only calls that close before this instant, which itself is excluded" + offset, read(true)})
}

// deadlineOf derives a deadline from the id of a record: on one of nine days, by day or shortly before or after midnight in UTC or in Vienna.
func deadlineOf(id string) string {
	h := fnv.New32a()
	h.Write([]byte(id)) // never fails
	n := int(h.Sum32() % 997)
	hours := []time.Duration{11 * time.Hour, 22*time.Hour + 59*time.Minute, 10 * time.Hour, 23*time.Hour + 29*time.Minute, 15 * time.Hour, 30 * time.Minute}
	return time.Date(2027, 3, 20+n%9, 0, 0, 0, 0, time.UTC).Add(hours[n%len(hours)]).Format(time.RFC3339)
}

// untilMidnight compares deadlines with the moment at which a day of Vienna begins, so that the last day of a range is lost.
func untilMidnight(at, day time.Time, until bool) bool {
	if until {
		return !at.After(day.Add(-central(at)))
	}
	return !at.Before(day.Add(-central(at)))
}

// inUTC returns the offset of UTC.
func inUTC(time.Time) time.Duration { return 0 }

// central returns the offset of Central Europe on the days of [deadlineOf]. Summer time begins on one of them.
func central(at time.Time) time.Duration {
	if at.Before(time.Date(2027, 3, 28, 1, 0, 0, 0, time.UTC)) {
		return time.Hour
	}
	return 2 * time.Hour
}

// wholeDays makes a function within for [serveDeadlines] that includes the whole day in the time zone with the offset.
func wholeDays(offset func(time.Time) time.Duration) func(at, day time.Time, until bool) bool {
	return func(at, day time.Time, until bool) bool {
		local := at.UTC().Add(offset(at)).Format(time.DateOnly)
		if until {
			return local <= day.Format(time.DateOnly)
		}
		return local >= day.Format(time.DateOnly)
	}
}
