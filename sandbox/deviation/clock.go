package deviation

import (
	"net/http"
	"time"
)

// clockDeviations answer with a Date that is none of now.
func clockDeviations() []Deviation {
	return []Deviation{
		{
			Name: "date-hour-ahead", Breaks: []string{"ROB-07"},
			Why:  "The Date of the info resource is an hour ahead: the clock of its host is set to local time and called UTC.",
			Wrap: around(dated(func(now time.Time) []string { return []string{now.Add(time.Hour).Format(http.TimeFormat)} }), Info),
		},
		{
			Name: "date-minutes-behind", Breaks: []string{"ROB-07"},
			Why:  "The clock of the info resource's host is two minutes behind: nothing sets it.",
			Wrap: around(dated(func(now time.Time) []string { return []string{now.Add(-2 * time.Minute).Format(http.TimeFormat)} }), Info),
		},
		{
			Name: "date-missing", Breaks: []string{"ROB-07"},
			Why:  "The info answer has no Date, cut off by a filter that hides what it does not know.",
			Wrap: around(dated(func(time.Time) []string { return nil }), Info),
		},
	}
}

// dated sets the Date of answers; no value leaves the field out.
func dated(date func(now time.Time) []string) handle {
	return func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, r)
		a.Header["Date"] = date(env.Now().UTC())
		a.send(w, r)
	}
}
