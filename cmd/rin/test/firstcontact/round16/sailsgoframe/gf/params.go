package main

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gogf/gf/v2/frame/g"
	"github.com/gogf/gf/v2/net/ghttp"
)

// query holds the declared parameters of a request; what is not declared is ignored.
type query struct {
	values map[string][]string
	bad    []g.Map
}

func (q *query) fail(name, reason string) {
	q.bad = append(q.bad, g.Map{"name": name, "reason": reason})
}

func readQuery(r *ghttp.Request, declared ...string) *query {
	q := &query{values: map[string][]string{}}
	for _, pair := range strings.Split(r.URL.RawQuery, "&") {
		k, v, _ := strings.Cut(pair, "=")
		name, err := formDecode(k)
		if err != nil || !slices.Contains(declared, name) {
			continue
		}
		value, err := formDecode(v)
		if err != nil {
			q.fail(name, "is not percent-encoded UTF-8")
			continue
		}
		q.values[name] = append(q.values[name], value)
	}
	return q
}

func (q *query) one(name string) (string, bool) {
	v := q.values[name]
	if len(v) > 1 {
		q.fail(name, "is given more than once")
		return "", false
	}
	if len(v) == 0 {
		return "", false
	}
	return v[0], true
}

var wholePattern = regexp.MustCompile(`^(0|[1-9][0-9]{0,14})$`)

func (q *query) whole(name string, min, max int64) (int64, bool) {
	s, ok := q.one(name)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || !wholePattern.MatchString(s) || n < min || n > max {
		q.fail(name, fmt.Sprintf("must be a whole number from %d to %d", min, max))
		return 0, false
	}
	return n, true
}

func (q *query) choice(name string, list ...string) (string, bool) {
	s, ok := q.one(name)
	if ok && !slices.Contains(list, s) {
		q.fail(name, "must be one of "+strings.Join(list, ", "))
		return "", false
	}
	return s, ok
}

func (q *query) text(name string, max int) (string, bool) {
	s, ok := q.one(name)
	if n := utf8.RuneCountInString(s); ok && (n < 1 || n > max) {
		q.fail(name, fmt.Sprintf("must have 1 to %d characters", max))
		return "", false
	}
	return s, ok
}

var dayPattern = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)

func (q *query) day(name string) (string, bool) {
	s, ok := q.one(name)
	if !ok {
		return "", false
	}
	if _, err := time.Parse("2006-01-02", s); err != nil || !dayPattern.MatchString(s) {
		q.fail(name, "must be a calendar date (YYYY-MM-DD)")
		return "", false
	}
	return s, true
}

var momentPattern = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)

// moment gives the first whole second that is not before the given date-time.
func (q *query) moment(name string) (int64, bool) {
	s, ok := q.one(name)
	if !ok {
		return 0, false
	}
	s = strings.ToUpper(s)
	t, err := time.Parse(time.RFC3339, s)
	if err != nil || !momentPattern.MatchString(s) {
		q.fail(name, "must be a date-time of RFC 3339, without leap second")
		return 0, false
	}
	sec := t.Unix()
	if fraction := momentPattern.FindStringSubmatch(s)[2]; strings.Trim(fraction, ".0") != "" {
		sec++
	}
	return sec, true
}

func (q *query) rejected(r *ghttp.Request) bool {
	if len(q.bad) == 0 {
		return false
	}
	problem(r, 400, "invalid-parameter", "A query parameter has a value that the document does not allow.", q.bad...)
	return true
}
