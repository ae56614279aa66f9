package deviation

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// recordHabits are unusual records that the document allows.
func recordHabits() []Deviation {
	return []Deviation{
		{
			Name: "records-with-more-members",
			Why:  "Records have members that the document does not name, on every level, as every API has after its next release.",
			Wrap: records(func(record map[string]any) {
				record["_links"] = map[string]any{"self": map[string]any{"href": "?id=" + text(record["id"])}}
				record["error"], record["internalNote"] = nil, "geprüft"
				for _, funder := range objects(record, "funder") {
					funder["@type"], funder["since"] = "Organisation", 1968
				}
			}),
		},
		{
			Name: "integers-with-fraction",
			Why:  "Whole numbers are written 5.0, as languages do that know one kind of number; JSON Schema takes them for integers.",
			Wrap: records(numbers(func(n json.Number) json.Number {
				if strings.ContainsAny(n.String(), ".eE") {
					return n
				}
				return n + ".0"
			})),
		},
		{
			Name: "numbers-with-exponent",
			Why:  "Numbers are written with an exponent, as Java's BigDecimal and Erlang do.",
			Wrap: records(numbers(func(n json.Number) json.Number {
				if strings.ContainsAny(n.String(), "eE") {
					return n
				}
				return n + "E+0"
			})),
		},
		{
			Name: "dates-with-offset",
			Why:  "Dates are written with the offset of Vienna and not as UTC.",
			Wrap: records(dates(func(t time.Time) string { return t.In(time.FixedZone("", 3600)).Format(time.RFC3339) })),
		},
		{
			Name: "dates-with-fraction",
			Why:  "Dates have nanoseconds, as Java writes its instants.",
			Wrap: records(dates(func(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000000Z") })),
		},
		{
			Name: "dates-in-lower-case",
			Why:  "Dates are written with t and z in lower case, which RFC 3339 allows.",
			Wrap: records(dates(func(t time.Time) string { return strings.ToLower(t.UTC().Format(time.RFC3339)) })),
		},
		{
			Name: "ids-with-odd-characters",
			Why:  "Ids are identifiers of another world, with blanks, umlauts, percent signs, semicolons and a plus: they are text to the caller.",
			Wrap: renamed(func(id string) string { return "urn:ris:" + id + ";v=1 Förderung 100%+" }),
		},
		{
			Name: "ids-with-slash",
			Why:  "Ids are DOIs and hold a slash, percent-encoded in the path of the detail, as those of a funder of the network do.",
			Wrap: renamed(func(id string) string { return "10.55776/" + id }),
		},
		{
			Name: "optional-members-null",
			Why:  "Optional members are null where they have no value, and the document calls them nullable, as serialisers do that skip nothing.",
			Wrap: both(
				records(func(record map[string]any) {
					record["acronym"], record["website"], record["description"] = nil, nil, nil
				}),
				specs(func(document map[string]any, _ Env) {
					for _, name := range []string{"Call", "Programme", "OtherFunding"} {
						for _, property := range []string{"acronym", "website", "description"} {
							member(document, "components", "schemas", name, "properties", property)["nullable"] = true
						}
					}
				}),
			),
		},
		{
			Name: "optional-members-absent",
			Why:  "Records have the required members and nothing else, as those of nodes that have just begun.",
			Wrap: records(func(record map[string]any) {
				for _, name := range []string{"acronym", "website", "description", "identifiers", "careerStages", "contacts", "annotations", "partOf", "reportingPeriods"} {
					delete(record, name)
				}
			}),
		},
		{
			Name: "texts-of-every-kind",
			Why:  "Names hold markup, control pictures, right-to-left text, combining marks and characters beyond the first plane, as people paste them.",
			Wrap: records(func(record map[string]any) {
				for _, name := range objects(record, "name") {
					name["text"] = text(name["text"]) + " <b>&amp;</b> \u200f\u05e9\u05dc\u05d5\u05dd e\u0301 \U0001F52C\t\u2028\u0000\uFEFF \"'`{{7*7}}"
				}
			}),
		},
		{
			Name: "detail-with-more-than-the-list",
			Why:  "The detail has members that the list leaves out, which is what details are for.",
			Wrap: rewrite(when(succeeded, func(_ *http.Request, a *Answer) {
				a.editItems(func(_ int, record map[string]any) {
					delete(record, "description")
					delete(record, "contacts")
				})
			}), FundingList),
		},
	}
}

// records makes a Wrap that edits records, in the list and alone.
func records(edit func(record map[string]any)) wrap {
	return both(items(func(_ int, record map[string]any) { edit(record) }), details(edit))
}

// text is a value that is a string, empty for any other.
func text(value any) string {
	s, _ := value.(string)
	return s
}

// everyValue replaces the values in an object that are neither object nor array.
func everyValue(object map[string]any, replace func(value any) any) {
	for name, value := range object {
		object[name] = replaced(value, replace)
	}
}

func replaced(value any, replace func(value any) any) any {
	switch value := value.(type) {
	case map[string]any:
		everyValue(value, replace)
		return value
	case []any:
		for i := range value {
			value[i] = replaced(value[i], replace)
		}
		return value
	}
	return replace(value)
}

// numbers edits all numbers of a record.
func numbers(write func(n json.Number) json.Number) func(map[string]any) {
	return func(record map[string]any) {
		everyValue(record, func(value any) any {
			if n, ok := value.(json.Number); ok {
				return write(n)
			}
			return value
		})
	}
}

// dates edits all points in time of a record.
func dates(write func(t time.Time) string) func(map[string]any) {
	return func(record map[string]any) {
		everyValue(record, func(value any) any {
			if t, err := time.Parse(time.RFC3339, text(value)); err == nil {
				return write(t)
			}
			return value
		})
	}
}

// renamed makes a Wrap that gives the records other ids, in answers and in requests.
func renamed(rename func(id string) string) wrap {
	edit := func(record map[string]any) {
		if id := text(record["id"]); id != "" {
			record["id"] = rename(id)
		}
	}
	ask := around(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		wanted := strings.TrimPrefix(r.URL.Path, env.Places.Fundings()+"/")
		before, after, _ := strings.Cut(rename("\x00"), "\x00")
		id := strings.TrimSuffix(strings.TrimPrefix(wanted, before), after)
		if rename(id) != wanted {
			id = "unknown"
		}
		other := r.Clone(r.Context())
		other.URL.Path, other.URL.RawPath = env.Places.Fundings()+"/"+id, ""
		next.ServeHTTP(w, other)
	}, FundingDetail)
	return both(records(edit), ask)
}
