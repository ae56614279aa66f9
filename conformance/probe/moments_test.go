package probe

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/openapi"
)

var _ = DescribeTable("A bound belongs to the only member of the items that its name fits",
	func(parameter, format, member, direction string, members ...string) {
		o := openapi.Operation{Parameters: []openapi.Parameter{{Name: parameter, In: "query", Schema: openapi.Schema{Type: "string", Format: format}}}}
		if format == "" {
			o.Parameters[0].Schema.Type = "number"
		}
		found := boundsOf(o, openapi.Members(members), nil)
		if member == "" {
			Expect(found).To(BeEmpty())
			return
		}
		Expect(found).To(HaveLen(1))
		Expect(found[0].member).To(Equal(member))
		Expect(found[0].bound).To(Equal(bound(direction)))
	},
	Entry("a member with the name of the bound", "deadlineFrom", "date", "deadline", "least", "id", "deadline"),
	Entry("with a word for a time", "closesTo", "date", "closesAt", "most", "id", "opensAt", "closesAt"),
	Entry("in German", "fristBis", "date", "einreichfrist", "most", "id", "beginn", "einreichfrist"),
	Entry("a number in German", "betragAb", "", "summe.betrag", "least", "id", "summe.betrag"),
	Entry("not if its name fits two members", "fristVon", "date", "", "", "antragsfrist", "einreichfrist"),
	Entry("not a member whose name holds the word only as a part", "endBis", "date", "", "", "weekend"),
	Entry("not a member with several values", "closesTo", "date", "", "", "stages[].closesAt"),
)

var _ = DescribeTable("A bound belongs to the member that its description names by a path or by several words in one",
	func(text, member string) {
		got, _ := memberInText(text, openapi.Members{"id", "budget.min", "budget.max", "maximumGrant", "stage.callStageEnd", "steps[].endsAt"})
		Expect(got).To(Equal(member))
	},
	Entry("by its path", "Only calls whose budget.max is this or more.", "budget.max"),
	Entry("by a name of several words", "Calls whose maximumGrant is at least this; calls without a maximumGrant are left out.", "maximumGrant"),
	Entry("by a path of such words", "Only fundings whose stage.callStageEnd is this instant or later.", "stage.callStageEnd"),
	Entry("not by an ordinary word", "The id of the budget.", ""),
	Entry("not by two members", "Between budget.min and budget.max.", ""),
)

var _ = DescribeTable("A bound is tried with a day that ends close to the moment of an item",
	func(direction, value, day string) {
		Expect(describedBound{bound: bound(direction)}.nearMidnight([]string{"2027-01-05T12:00:00Z", value})).To(Equal(day))
	},
	Entry("before midnight, until", "most", "2027-01-02T23:30:00Z", "2027-01-02"),
	Entry("before midnight, from", "least", "2027-01-02T23:30:00Z", "2027-01-03"),
	Entry("after midnight, until", "most", "2027-01-02T00:30:00Z", "2027-01-01"),
	Entry("after midnight, from", "least", "2027-01-02T00:30:00Z", "2027-01-02"),
	Entry("with an offset", "most", "2027-01-03T00:30:00+01:00", "2027-01-02"),
	Entry("before the end of the calendar", "least", "9999-12-31T23:30:00Z", ""),
	Entry("far from midnight", "most", "2027-01-02T10:00:00Z", ""),
)

var _ = It("A bound is tried with the day that leaves fewer items", func() {
	values := []string{"2027-01-02T23:30:00Z", "2027-01-05T12:00:00Z", "2027-01-08T23:30:00Z"}
	Expect(describedBound{bound: atMostBound}.nearMidnight(values)).To(Equal("2027-01-02"))
	Expect(describedBound{bound: atLeastBound}.nearMidnight(values)).To(Equal("2027-01-09"))
})
