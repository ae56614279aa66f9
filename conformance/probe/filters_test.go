package probe

import (
	"maps"
	"slices"
	"strconv"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/openapi"
)

var _ = Describe("The member of a filter", func() {
	DescribeTable("is the member with its name, or else the published member if the items have it",
		func(f describedFilter, item, want string) {
			items := [][]byte{[]byte(item)}
			Expect(memberOf(f, openapi.MembersOf(items), items)).To(Equal(want))
		},
		Entry("the same name", open("status"), `{"id":"a","status":"OPEN"}`, "status"),
		Entry("the name in plural", open("region"), `{"regions":["COAST","CITY"]}`, "regions"),
		Entry("the name in plural, although the items also have the published member", open("region"), `{"regions":["COAST"],"eligibleApplicantsRegions":["AT"]}`, "regions"),
		Entry("the published member", open("region"), `{"eligibleApplicantsRegions":["AT"]}`, "eligibleApplicantsRegions"),
		Entry("no member at all", open("region"), `{"id":"a"}`, ""),
		Entry("snake case", open("funderId"), `{"funder_id":"F1"}`, "funder_id"),
		Entry("a nested id", open("funder_id"), `{"funder":{"id":"F1","name":"x"}}`, "funder.id"),
		Entry("a nested id by the name of its object", open("funder"), `{"funder":{"id":"F1"}}`, "funder.id"),
		Entry("the nested name, as the document says", saying("funder", "The funder with exactly this name (funder.name)"), `{"funder":{"id":"F1","name":"x"}}`, "funder.name"),
		Entry("the nested id, as the document says", saying("funder", "The funder with exactly this id."), `{"funder":{"id":"F1","name":"x"}}`, "funder.id"),
		Entry("unknown if the object has more members than an id, and the document names none", open("funder"), `{"funder":{"id":"F1","name":"x"}}`, ""),
		Entry("an id under a repeated name", open("funderId"), `{"funder":[{"funder":{"id":"F1"}}]}`, "funder[].funder.id"),
		Entry("unknown if both a member and a nested id have the name", open("funder"), `{"funder":"Alps","funder_id":"F1"}`, ""),
		Entry("not a member with other words than the vocabulary", closed("type", "A", "B"), `{"type":"grant"}`, ""),
		Entry("a member with the words in another case", closed("type", "GRANT", "B"), `{"type":"grant"}`, "type"),
	)

	DescribeTable("is none where the document gives the parameter another meaning",
		func(name, text string) {
			items := [][]byte{[]byte(`{"source":"PORTAL","level":2}`)}
			p := openapi.Parameter{Name: name, In: "query", Description: text, Schema: openapi.Schema{Type: "string"}}
			f := filtersOf(openapi.Operation{Parameters: []openapi.Parameter{p}})[0]
			Expect(memberOf(f, openapi.MembersOf(items), items)).To(BeEmpty())
			p.Schema.Enum = []string{"PORTAL", "2"}
			f = filtersOf(openapi.Operation{Parameters: []openapi.Parameter{p}})[0]
			Expect(memberOf(f, openapi.MembersOf(items), items)).To(BeEmpty())
		},
		Entry("statistics", "source", "Where your users come from; for our usage statistics only. The answer is the same with and without it."),
		Entry("tracking", "source", "Names the campaign. Used for tracking only."),
		Entry("logs", "source", "Only used for the access log."),
		Entry("an earlier version", "source", "The old name of origin. Ignored since version 3.0."),
		Entry("a deprecated parameter", "source", "Deprecated: ignored."),
		Entry("no effect", "source", "Kept for old clients, without any effect."),
		Entry("no filter", "source", "Does not filter the list."),
		Entry("the same list", "source", "It does not change the result."),
		Entry("statistics in German", "source", "Nur für unsere Statistik."),
		Entry("no effect in German", "source", "Wird seit 3.0 ignoriert."),
		Entry("no filter in German", "source", "Ändert die Liste nicht."),
		Entry("no effect in French", "source", "Ce paramètre est ignoré."),
		Entry("what is left out", "source", "Leaves out the calls of this source."),
		Entry("any other value", "source", "Fundings of any other source."),
		Entry("all but", "source", "All calls except those of this source."),
		Entry("an operator in the name", "source!", "Calls by source."),
		Entry("a hierarchy", "level", "Records of this level and of all levels below it."),
		Entry("an organisation with its parts", "source", "The funder, or any of its sub-organisations."),
		Entry("a bound", "level", "Calls of at least this level."),
		Entry("a beginning", "source", "Sources that start with this text."),
		Entry("an order", "source", "Calls of this source come first."),
		Entry("who calls", "source", "The office that you belong to; you see its remarks."),
		Entry("who calls in German", "source", "Name der aufrufenden Anwendung."),
		Entry("statistics in other words", "source", "Herkunft der Anfrage – dient ausschließlich der Nutzungsstatistik."),
		Entry("a hierarchy in German", "level", "Diese Stufe und alle darunter liegenden."),
	)

	DescribeTable("is the one of its name whatever else the document says",
		func(text string) {
			items := [][]byte{[]byte(`{"source":"PORTAL"}`)}
			p := openapi.Parameter{Name: "source", In: "query", Description: text, Schema: openapi.Schema{Type: "string"}}
			f := filtersOf(openapi.Operation{Parameters: []openapi.Parameter{p}})[0]
			Expect(memberOf(f, openapi.MembersOf(items), items)).To(Equal("source"))
		},
		Entry("unknown values", "Only calls of this source. Unknown values are ignored."),
		Entry("one of several values", "Calls of at least one of the sources that are named."),
		Entry("one of several values, in German", "Nur Ausschreibungen in mindestens einer der genannten Regionen."),
		Entry("empty values", "Calls of this source; an empty value is ignored."),
		Entry("letters", "Calls of this source. Upper and lower case are ignored."),
		Entry("letters in German", "Nur diese Quelle. Groß- und Kleinschreibung wird ignoriert."),
		Entry("another parameter", "The source; it is ignored if id is given."),
		Entry("an effect under a condition", "The source. It has no effect together with id."),
		Entry("the order", "Calls of this source. The filter does not change the order of the list."),
		Entry("its absence", "The source. Without it all calls come."),
		Entry("its absence in German", "Die Quelle. Ohne Angabe kommen alle Ausschreibungen."),
		Entry("a joint filter", "Calls of this source and of the other filters."),
		Entry("statistics", "Only statistics of this source."),
		Entry("the caller", "Calls of your source."), Entry("an order of the list", "Calls of this source; sorted by id."),
		Entry("drafts", "Only calls of this source. Drafts are left out."),
	)

	It("is none where the operation says so of a parameter, in a list of its parameters", func() {
		text := openapi.Schema{Type: "string"}
		o := openapi.Operation{Description: "The calls.\n\n- **source**: where users come from. It is for our statistics only.\n- **status**: only calls with this status, whatever their source.",
			Parameters: []openapi.Parameter{{Name: "source", In: "query", Schema: text}, {Name: "status", In: "query", Schema: text}}}
		items := [][]byte{[]byte(`{"source":"PORTAL","status":"OPEN"}`)}
		var members []string
		for _, f := range filtersOf(o) {
			members = append(members, memberOf(f, openapi.MembersOf(items), items))
		}
		Expect(members).To(HaveExactElements("", "status"))
	})

	It("is known for parameters of every form, but not for those about pages, order and texts", func() {
		text, number := openapi.Schema{Type: "string"}, openapi.Schema{Type: "integer"}
		o := openapi.Operation{Parameters: []openapi.Parameter{
			{Name: "status", In: "query", Schema: openapi.Schema{Type: "string", Enum: []string{"A"}}}, {Name: "funder", In: "query", Schema: text}, {Name: "year", In: "query", Schema: number},
			{Name: "q", In: "query", Schema: text}, {Name: "perPage", In: "query", Schema: number}, {Name: "cursor", In: "query", Schema: text},
			{Name: "sort", In: "query", Schema: openapi.Schema{Type: "string", Enum: []string{"id"}}}, {Name: "minAmount", In: "query", Schema: number},
			{Name: "id", In: "path", Schema: text},
		}}
		var names []string
		for _, f := range filtersOf(o) {
			names = append(names, f.parameter)
		}
		Expect(names).To(HaveExactElements("status", "funder", "year"))
	})

	It("gives the first value, a later value, and a value that occurs beside others", func() {
		items := readItems("id", textsOf(`[{"subjects":["1"]},{"subjects":["2"]},{"subjects":["3","4"]}]`), filtersBy("subject", "subjects")...)
		values, seen := filtersBy("subject", "subjects")[0].attempts(items, "none", draw.Seed(1).Source("test"))
		Expect(values[0]).To(Equal("1"))
		Expect(values).To(ContainElement("4"))
		Expect(values[seen:]).To(HaveExactElements("none"))
	})
})

var _ = Describe("A bound", func() {
	number, day := openapi.Schema{Type: "integer"}, openapi.Schema{Type: "string", Format: "date"}
	items := [][]byte{
		[]byte(`{"budget":5,"deadline":"2027-01-01","volume":{"amount":5,"currency":"EUR"},"total":{"sum":1},"rest":{"sum":1},"price":{"value":5,"currency":"EUR"},"span":{"min":1,"max":2}}`),
		[]byte(`{"price":{"value":5,"currency":"CHF"}}`),
	}
	DescribeTable("is read from its name and the members of the items",
		func(name string, s openapi.Schema, member, direction string) {
			o := openapi.Operation{Parameters: []openapi.Parameter{{Name: name, In: "query", Schema: s}}}
			found := boundsOf(o, openapi.MembersOf(items), items)
			if member == "" {
				Expect(found).To(BeEmpty())
				return
			}
			Expect(found).To(HaveLen(1))
			Expect(found[0].member).To(Equal(member))
			Expect(string(found[0].bound)).To(Equal(direction))
		},
		Entry(nil, "min_budget", number, "budget", "least"),
		Entry(nil, "maxBudget", number, "budget", "most"),
		Entry(nil, "minAmount", number, "volume.amount", "least"),
		Entry(nil, "deadlineFrom", day, "deadline", "least"),
		Entry(nil, "deadline_before", day, "deadline", "most"),
		Entry("the only number of the object that its name means", "minVolume", number, "volume.amount", "least"),
		Entry("not a number whose currency varies", "minPrice", number, "", ""),
		Entry("not one of two numbers", "minSpan", number, "", ""),
		Entry("not if its name fits two members", "minSum", number, "", ""),
		Entry("not if its name fits no member", "from", day, "", ""),
	)

	It("from or to alone, is about the day of a list of days", func() {
		o := openapi.Operation{Parameters: []openapi.Parameter{{Name: "from", In: "query", Schema: day}}}
		days := textsOf(`[{"date":"2027-01-01","calls":["C-1"]},{"date":"2027-01-02","calls":["C-2"]}]`)
		found := boundsOf(o, openapi.MembersOf(days), days)
		Expect(found).To(HaveLen(1))
		Expect(found[0].member).To(Equal("date"))
		two := textsOf(`[{"date":"2027-01-01","opens":"2026-01-01"}]`)
		Expect(boundsOf(o, openapi.MembersOf(two), two)).To(BeEmpty(), "it may be about the other day")
	})

	It("by a form of the member's verb is one of that member", func() {
		for name, want := range map[string]string{"closing_from": "closes_at", "opening_until": "openOn", "ending_before": ""} {
			o := openapi.Operation{Parameters: []openapi.Parameter{{Name: name, In: "query", Schema: day}}}
			found := boundsOf(o, openapi.Members{"closes_at", "openOn", "closesReason", "endorsed"}, nil)
			Expect(found).To(HaveLen(map[bool]int{true: 1}[want != ""]))
			if want != "" {
				Expect(found[0].member).To(Equal(want))
			}
		}
	})
})

var _ = It("Bounds of a number in another unit than the data are not tried with values of the data", func() {
	maxBudget := openapi.Parameter{Name: "maxBudget", In: "query", Schema: openapi.Schema{Type: "integer"}, Description: "Upper bound of the budget."}
	found := func() int {
		return len(boundsOf(openapi.Operation{Parameters: []openapi.Parameter{maxBudget}}, openapi.Members{"budget"}, nil))
	}
	Expect(found()).To(Equal(1))
	maxBudget.Description = "Upper bound of the budget, in cents. The budget of a call is in euros."
	Expect(found()).To(Equal(0))
})

var _ = Describe("Values of bounds and days", func() {
	number, day := openapi.Schema{Type: "integer"}, openapi.Schema{Type: "string", Format: "date"}
	zero, one := 0.0, 1.0
	DescribeTable("a bound is tried with 0, or with a value that no item meets",
		func(name string, s openapi.Schema, want string, values ...string) {
			p := openapi.Parameter{Name: name, In: "query", Schema: s}
			b, ok := boundOf(p)
			Expect(ok).To(BeTrue())
			Expect(b.extreme(p, values, draw.Seed(1).Source("test"))).To(Equal(want))
		},
		Entry(nil, "maxBudget", openapi.Schema{Type: "integer", Minimum: &zero}, "0", "0", "5", "9"),
		Entry(nil, "minBudget", number, "10", "0", "5", "9.5"),
		Entry("no value if the document does not allow 0", "maxBudget", openapi.Schema{Type: "integer", Minimum: &one}, "", "3", "5"),
		Entry(nil, "deadlineFrom", day, "2027-03-04", "2027-01-01", "2027-03-01"),
		Entry("not beyond the last day of the calendar", "deadlineFrom", day, "", "2027-01-01", "9999-12-31"),
		Entry(nil, "deadlineUntil", day, "2026-12-29", "2027-01-01T00:00:00Z", "2027-03-01T00:00:00Z"),
	)

	It("are often far beyond the data, if the document allows it", func() {
		billion, near := 1e9, 30.0
		for name, others := range map[string][]string{"minBudget": {"10"}, "maxBudget": {"0"}} {
			p := openapi.Parameter{Name: name, In: "query", Schema: openapi.Schema{Type: "integer", Minimum: &zero, Maximum: &billion}}
			b, _ := boundOf(p)
			far, wrapped := 0, 0
			for seed := range 100 {
				value := b.extreme(p, []string{"0", "5", "9"}, draw.Seed(seed).Source("test"))
				n, err := strconv.Atoi(value)
				Expect(err).NotTo(HaveOccurred())
				if slices.Contains(others, value) {
					continue
				}
				Expect(n).To(And(BeNumerically(">=", 36), BeNumerically("<=", 1000000000)))
				far++
				if n > 21474836 && n < 42949673 {
					wrapped++
				}
			}
			Expect(far).To(And(BeNumerically(">", 25), BeNumerically("<", 95)))
			Expect(wrapped).To(BeNumerically(">", 10))
			p.Schema.Maximum = &near
			Expect(others).To(ContainElement(b.extreme(p, []string{"0", "5", "9"}, draw.Seed(1).Source("test"))))
		}
	})

	DescribeTable("a drawn bound leaves fewer items than fit on a page, if there is such a value",
		func(direction bound, room int, want ...string) {
			values, counts := []string{"1", "2", "3", "4", "5", "6"}, map[string]int{"1": 2, "2": 1, "3": 1, "4": 1, "5": 1, "6": 2}
			got := map[string]bool{}
			for seed := range 60 {
				got[describedBound{bound: direction}.drawn(values, counts, room, draw.Seed(seed).Source("test"))] = true
			}
			Expect(slices.Sorted(maps.Keys(got))).To(Equal(want))
		},
		Entry(nil, atMostBound, 5, "2", "3"),
		Entry(nil, atLeastBound, 5, "4", "5"),
		Entry("any value on a large page", atMostBound, 100, "2", "3", "4", "5"),
		Entry("any value if none leaves so few", atLeastBound, 1, "2", "3", "4", "5"),
	)

	It("leave some items within a range", func() {
		values := []string{"1", "2", "3", "4", "5", "6", "7", "8"}
		for seed := range 20 {
			s := draw.Seed(seed).Source("test")
			Expect(describedBound{bound: atLeastBound}.inner(values, s) < describedBound{bound: atMostBound}.inner(values, s)).To(BeTrue())
		}
	})

	DescribeTable("a moment is written with another offset, and is a second from the moment of an item",
		func(name, item string) {
			p := openapi.Parameter{Name: name, In: "query", Schema: openapi.Schema{Type: "string", Format: "date-time"}}
			b, ok := boundOf(p)
			Expect(ok).To(BeTrue())
			at, err := time.Parse(time.RFC3339, item)
			Expect(err).NotTo(HaveOccurred())
			sides := map[bool]bool{}
			for seed := range 20 {
				value, err := time.Parse(time.RFC3339, b.withOffset([]string{item, item, item}, draw.Seed(seed).Source("test")))
				Expect(err).NotTo(HaveOccurred())
				dropped := time.Date(value.Year(), value.Month(), value.Day(), value.Hour(), value.Minute(), value.Second(), 0, time.UTC)
				within := value.Before(at) == (b.bound == atLeastBound)
				sides[within] = true
				Expect(value.Sub(at).Abs()).To(Equal(time.Second))
				if within == (b.bound == atLeastBound) { // without its offset, the bound is far on the other side of the moment
					Expect(dropped).To(BeTemporally(">", at.Add(6*time.Hour)))
				} else {
					Expect(dropped).To(BeTemporally("<", at.Add(-6*time.Hour)))
				}
			}
			Expect(sides).To(HaveLen(2))
			Expect(b.withOffset([]string{"2027-01-01", "2027-01-01", "2027-01-01"}, draw.Seed(1).Source("test"))).To(BeEmpty())
		},
		Entry(nil, "deadlineFrom", "2027-03-31T21:59:59Z"),
		Entry(nil, "deadlineUntil", "2027-03-31T23:59:59+02:00"),
	)

	It("belong to the member that the document names, if the parameter is only called from or to", func() {
		from := openapi.Parameter{Name: "from", In: "query", Schema: day, Description: "Calls whose deadline is on this day or later."}
		members := openapi.Members{"deadline", "opens"}
		found := boundsOf(openapi.Operation{Parameters: []openapi.Parameter{from}}, members, nil)
		Expect(found).To(HaveLen(1))
		Expect(found[0].member).To(Equal("deadline"))
	})

	DescribeTable("a day lies between two members",
		func(name, text, begin string, members ...string) {
			m, ok := momentOf(openapi.Parameter{Name: name, In: "query", Schema: day, Description: text}, members)
			Expect(ok).To(Equal(begin != ""))
			if ok {
				Expect(m.begin).To(Equal(begin))
			}
		},
		Entry(nil, "openOn", "", "opens", "closes", "opens"),
		Entry(nil, "day", "Calls that are open on this day.", "opensOn", "id", "opensOn", "closesOn"),
		Entry("not another day", "changedOn", "", "", "opens", "closes"),
		Entry("not between several possible members", "openOn", "", "", "opens", "starts", "closes"),
		Entry("not between members with several values", "openOn", "", "", "stages[].start", "stages[].end"),
	)

	It("of a number begin with 0 if an item has it", func() {
		f := describedFilter{filter: filter{"level", "level"}, zero: true}
		items := readItems("id", textsOf(`[{"level":3},{"level":0},{"level":1}]`), f)
		values, _ := f.attempts(items, "none", draw.Seed(1).Source("test"))
		Expect(values[0]).To(Equal("0"))
		none, _ := f.attempts(items[:1], "none", draw.Seed(1).Source("test"))
		Expect(none).To(ContainElement("0"))
	})
})

func open(name string) describedFilter { return describedFilter{filter: filter{parameter: name}} }

func closed(name string, words ...string) describedFilter {
	return describedFilter{filter: filter{parameter: name}, vocabulary: words}
}

// saying returns an open filter with a description in the document.
func saying(name, text string) describedFilter {
	return describedFilter{filter: filter{parameter: name}, text: text}
}

var _ = Describe("Two values of a filter", func() {
	described := func(text, separator string) describedFilter {
		return describedFilter{filter: filter{"kind", "kind"}, several: true, separator: separator, text: text}
	}
	items := func(kinds ...[]string) []item {
		var out []item
		for _, k := range kinds {
			out = append(out, item{values: map[string][]string{"kind": k}})
		}
		return out
	}
	source := draw.Seed(1).Source("test")

	It("are written as the document writes arrays", func() {
		a := alternatives{describedFilter: described("", ""), first: "a b", second: "c"}
		Expect(a.addTo("http://node/list?x=1")).To(Equal("http://node/list?x=1&kind=a+b&kind=c"))
		a.separator = "|"
		Expect(a.addTo("http://node/list")).To(Equal("http://node/list?kind=a+b%7Cc"))
	})

	It("are returned with the number of items that have one of them, and of those that a link with one value loses", func() {
		all := alternativesOf(described("", ""), items([]string{"a"}, []string{"a"}, []string{"b"}, []string{"a"}, []string{"c"}), source)
		Expect(all).To(HaveLen(3))
		for _, a := range all {
			if a.first+a.second == "ab" || a.first+a.second == "ba" {
				Expect([]int{a.count, a.atRisk}).To(Equal([]int{4, 1}))
			}
		}
	})

	It("are not tried if an item has several values and the document does not say that one is enough", func() {
		several := items([]string{"a", "b"}, []string{"b"}, []string{"c"})
		Expect(alternativesOf(described("The kind.", ""), several, source)).To(BeEmpty())
		Expect(alternativesOf(described("Calls of any of these kinds.", ""), several, source)).NotTo(BeEmpty())
		Expect(alternativesOf(described("Nur Ausschreibungen in mindestens einer der genannten Regionen.", ""), several, source)).NotTo(BeEmpty())
	})

	It("are those of a member whose name is a German plural, if they are in the vocabulary of the filter", func() {
		regions := describedFilter{filter: filter{parameter: "region"}, vocabulary: []string{"WIEN", "TIROL"}}
		member := func(items string) string {
			return memberOf(regions, openapi.MembersOf(textsOf(items)), textsOf(items))
		}
		Expect(member(`[{"regionen":["WIEN","TIROL"]},{"regionen":[]}]`)).To(Equal("regionen"))
		Expect(member(`[{"regionen":["WIEN","Tirol"]}]`)).To(BeEmpty())
		Expect(member(`[{"regionalart":["WIEN"]}]`)).To(BeEmpty())
	})

	It("do not hold the separator", func() {
		Expect(alternativesOf(described("", ","), items([]string{"a,b"}, []string{"c"}), source)).To(BeEmpty())
	})
})

var _ = Describe("The choice of words and values", func() {
	It("prefers words with letters outside ASCII for a search, and does not change the case of letters whose other case is uncertain", func() {
		Expect(beyondASCII([]string{"Forschung", "Förderung", "Maße"})).To(HaveExactElements("Förderung"))
		Expect(beyondASCII([]string{"Forschung", "Strasse"})).To(HaveExactElements("Forschung", "Strasse"))
		Expect(otherCaseOf("Förderung")).To(Equal("fÖRDERUNG"))
		Expect(wordsForCase([]string{"Initiative", "Künstlich", "Quote", "Förderquote"}, []string{"Künstlich", "Förderquote"}, draw.Seed(1).Source("test"))).To(HaveExactElements("Künstlich"))
		var drawn []string
		for seed := range 20 {
			drawn = append(drawn, wordsForCase([]string{"Initiative", "Quote", "Förderquote"}, []string{"Förderquote"}, draw.Seed(seed).Source("test"))...)
		}
		Expect(drawn).To(ContainElements("Initiative", "Förderquote"))
		Expect(drawn).NotTo(ContainElement("Quote"))
		Expect(otherCaseOf("Straßeİıς")).To(Equal("sTRAßEİıς"))
	})

	It("begins with filter values that a URL has to encode", func() {
		items := readItems("id", textsOf(`[{"topic":"A"},{"topic":"B"},{"topic":"C"},{"topic":"D"},{"topic":"E"},{"topic":"C++"},{"topic":"Kunst & Kultur"}]`), filtersBy("topic", "topic")...)
		Expect(conditions(filtersBy("topic", "topic")[0], items)[0].value).To(Equal("Kunst & Kultur"))
	})
})
