package fault

import (
	"hash/fnv"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// The faults in this file give each record a deadline, and the list the parameters closesFrom and closesTo, which select records by a day.

// deadlineDeviations read these days in wrong ways.
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
		{Name: "last-day-lost", Breaks: []string{"PAG-07"},
			Why:  "The last day of a search by deadline is left out, although the document includes it: the day is compared as its first moment.",
			Wrap: serveDeadlines("Nur Ausschreibungen, die an diesem Tag (Zeitzone Wien) oder später enden.", "Nur Ausschreibungen, die an diesem Tag (Zeitzone Wien, der Tag eingeschlossen) oder früher enden.", untilMidnight)},
		{Name: "last-day-lost-on-small-pages", Breaks: []string{"PAG-07"},
			Why: "The last day of a search by deadline is left out, although the document includes it; a page holds five records, so that most answers show a part of what was found.",
			Wrap: both(paginateUpTo(5, func(url.Values) {}),
				serveDeadlines("Nur Ausschreibungen, die an diesem Tag (Zeitzone Wien) oder später enden.", "Nur Ausschreibungen, die spätestens an diesem Tag (Zeitzone Wien) enden.", untilMidnight))},
		{Name: "days-of-another-time-zone", Breaks: []string{"PAG-07"},
			Why:  "Days are those of the server's time zone, and the document says UTC: a call that closes late in the evening is found under the next day.",
			Wrap: serveDeadlines(utc+"later.", utc+"earlier; the whole day counts.", wholeDays(central))},
		{Name: "days-of-one-table-only", Breaks: []string{"PAG-07"},
			Why: "A search by deadline finds the records of the given day in one of two tables only: one is compared with <= and the other with <.",
			Wrap: serveDeadlines("Only calls from this date on.", "Only calls until this date.", func(at, day time.Time, until bool) bool {
				if at.Minute()%2 == 1 {
					day = day.AddDate(0, 0, -1)
					if !until {
						day = day.AddDate(0, 0, 2)
					}
				}
				return wholeDays(inUTC)(at, day, until)
			})},
		{Name: "last-day-of-all-crashes", Breaks: []string{"API-01"},
			Why: "A search until 9999-12-31, which clients send to mean no end, fails with 500: the day after it does not exist in the language.",
			Wrap: both(crashIf(func(r *http.Request) bool {
				return !isAnonymous(r) && strings.HasPrefix(r.URL.Query().Get("closesTo"), "9999-12-31")
			}, List),
				serveDeadlines("Only calls from this date on.", "Only calls until this date.", wholeDays(inUTC)))},
	}
}

// deadlineHabits read these days in ways that their documents allow.
func deadlineHabits() []Deviation {
	return []Deviation{
		{Name: "instants-with-any-offset",
			Why:  "The list can be searched by an instant, with any offset from UTC.",
			Wrap: serveInstants(func(value string) (time.Time, error) { return time.Parse(time.RFC3339, value) })},
		{Name: "deadlines-by-days-of-vienna",
			Why:  "The list can be searched by days of Vienna, both included, as the document says in German.",
			Wrap: serveDeadlines("Nur Ausschreibungen, die an diesem Tag (Zeitzone Wien) oder später enden.", "Nur Ausschreibungen, die an diesem Tag (Zeitzone Wien, der ganze Tag zählt) oder früher enden.", wholeDays(central))},
		{Name: "deadlines-on-small-pages",
			Why: "The list is bounded by days of Vienna, both included, and a page holds five records: most answers show a part of what was found.",
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
	}
}

// serveDeadlines makes a wrap that gives each record the member closesAt, and the list the parameters closesFrom and closesTo with these descriptions. within
// reports whether a deadline is on the day or after it; or, if until is true, on the day or before it.
func serveDeadlines(from, to string, within func(at, day time.Time, until bool) bool) wrap {
	return both(both(
		interceptIf(func(r *http.Request) bool {
			return isRead(r) && (r.URL.Query().Has("closesFrom") || r.URL.Query().Has("closesTo"))
		}, func(node http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
			query := r.URL.Query()
			a := capture(node, withQuery(r, func(q url.Values) {
				for _, name := range []string{"closesFrom", "closesTo", "page[page]", "page[size]"} {
					q.Del(name)
				}
			}))
			a.env, a.request = env, r
			for _, name := range []string{"closesFrom", "closesTo"} {
				day, err := time.Parse(time.DateOnly, query.Get(name))
				switch {
				case !a.ok() || !query.Has(name):
				case err != nil:
					problem(http.StatusBadRequest, name+" is not a day")(a)
				default:
					a.keep(func(record map[string]any) bool {
						at, err := time.Parse(time.RFC3339, text(record["closesAt"]))
						return err == nil && within(at, day, name == "closesTo")
					})
				}
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
			parameters, _ := list["parameters"].([]any)
			list["parameters"] = append(parameters, dayParameter("closesFrom", from), dayParameter("closesTo", to))
		})),
		editRecords(func(record map[string]any) { record["closesAt"] = deadlineOf(text(record["id"])) }))
}

// serveInstants makes a wrap that gives each record the member closesAt, and the list the parameter stillOpenAt, which takes an instant. read parses it.
func serveInstants(read func(value string) (time.Time, error)) wrap {
	const name = "stillOpenAt"
	return both(both(
		interceptIf(func(r *http.Request) bool { return isRead(r) && r.URL.Query().Has(name) }, func(node http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
			query := r.URL.Query()
			a := capture(node, withQuery(r, func(q url.Values) {
				for _, name := range []string{name, "page[page]", "page[size]"} {
					q.Del(name)
				}
			}))
			a.env, a.request = env, r
			from, err := read(query.Get(name))
			if a.ok() && err != nil {
				problem(http.StatusBadRequest, name+" is not an instant")(a)
			} else if a.ok() {
				a.keep(func(record map[string]any) bool {
					at, err := time.Parse(time.RFC3339, text(record["closesAt"]))
					return err == nil && !at.Before(from)
				})
				if len(a.items()) == 0 {
					emptyList(a)
				}
				a.page(query, func(url.Values) {})
			}
			a.send(w, r)
		}, List),
		editDocument(func(d apiDocument) {
			list := d.list()
			parameters, _ := list["parameters"].([]any)
			list["parameters"] = append(parameters, map[string]any{"name": name, "in": "query", "schema": schema{"type": "string", "format": "date-time"},
				"description": "Only calls whose closesAt is this instant or later; any offset from UTC may be given."})
		})),
		editRecords(func(record map[string]any) { record["closesAt"] = deadlineOf(text(record["id"])) }))
}

func dayParameter(name, description string) map[string]any {
	return map[string]any{"name": name, "in": "query", "description": description, "schema": schema{"type": "string", "format": "date"}}
}

// deadlineOf derives a deadline from the id of a record: on one of nine days, by day or shortly before or after midnight in UTC or in Vienna.
func deadlineOf(id string) string {
	h := fnv.New32a()
	h.Write([]byte(id)) // never fails
	n := int(h.Sum32() % 997)
	hours := []time.Duration{11 * time.Hour, 22*time.Hour + 59*time.Minute, 10 * time.Hour, 23*time.Hour + 29*time.Minute, 15 * time.Hour, 30 * time.Minute}
	return time.Date(2027, 3, 20+n%9, 0, 0, 0, 0, time.UTC).Add(hours[n%len(hours)]).Format(time.RFC3339)
}

// untilMidnight compares a day of Vienna as the moment at which it begins, so that the last day is lost.
func untilMidnight(at, day time.Time, until bool) bool {
	if until {
		return !at.After(day.Add(-central(at)))
	}
	return !at.Before(day.Add(-central(at)))
}

func inUTC(time.Time) time.Duration { return 0 }

// central returns the offset of Central Europe on the days of [deadlineOf]. Summer time begins on one of them.
func central(at time.Time) time.Duration {
	if at.Before(time.Date(2027, 3, 28, 1, 0, 0, 0, time.UTC)) {
		return time.Hour
	}
	return 2 * time.Hour
}

// wholeDays makes a within for [serveDeadlines] that includes the whole day, in the time zone with the offset.
func wholeDays(offset func(time.Time) time.Duration) func(at, day time.Time, until bool) bool {
	return func(at, day time.Time, until bool) bool {
		local := at.UTC().Add(offset(at)).Format(time.DateOnly)
		if until {
			return local <= day.Format(time.DateOnly)
		}
		return local >= day.Format(time.DateOnly)
	}
}
