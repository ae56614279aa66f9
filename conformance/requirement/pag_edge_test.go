package requirement

import (
	"time"

	g "github.com/onsi/ginkgo/v2"
	o "github.com/onsi/gomega"
)

var _ = g.DescribeTable("The description of a bound says whether the bound itself is within",
	func(text, inclusive string) {
		e := edgeIn(text, nil)
		o.Expect(map[bool]string{e.inclusive: "in", e.exclusive: "out", e.inclusive == e.exclusive: "open"}[true]).To(o.Equal(inclusive))
	},
	g.Entry(nil, "only calls with a deadline on this day or earlier.", "in"),
	g.Entry(nil, "an diesem tag oder früher liegt; der ganze tag zählt", "in"),
	g.Entry(nil, "an diesem tag (zeitzone wien, der tag eingeschlossen) oder früher endet", "in"),
	g.Entry(nil, "mindestens dieser betrag", "in"),
	g.Entry(nil, "appels qui ferment ce jour-là, à n'importe quelle heure, ou plus tôt (heure suisse).", "in"),
	g.Entry(nil, "appels qui ferment au plus tard ce jour", "in"),
	g.Entry(nil, "convocatorias que cierran ese día o antes", "in"),
	g.Entry(nil, "bandi che chiudono in questo giorno o prima", "in"),
	g.Entry(nil, "appels avant ce jour", "open"),
	g.Entry(nil, "only calls that close before this day", "out"),
	g.Entry(nil, "nur ausschreibungen, die vor diesem tag enden", "out"),
	g.Entry(nil, "nicht vor diesem tag", "in"),
	g.Entry(nil, "not more than this amount", "in"),
	g.Entry(nil, "nicht mehr als dieser betrag", "in"),
	g.Entry(nil, "bis zu diesem tag, der nicht eingeschlossen ist: exklusive", "out"),
	g.Entry(nil, "der tag selbst ist nicht enthalten", "out"),
	g.Entry(nil, "the value itself is not included", "out"),
	g.Entry(nil, "calls from this day on. calls without a deadline are not included.", "open"),
	g.Entry(nil, "ab diesem tag; ausschreibungen ohne frist sind nicht enthalten", "open"),
	g.Entry(nil, "auch nicht mehr laufende", "open"),
	g.Entry(nil, "only calls until this day", "open"),
)

var _ = g.DescribeTable("The description of a bound says whether items without the member are within",
	func(text string, leftOut bool) { o.Expect(edgeIn(text, nil).leavesOutAbsent).To(o.Equal(leftOut)) },
	g.Entry(nil, "calls from this day on. calls without a deadline are not included.", true),
	g.Entry(nil, "calls without a deadline are left out", true),
	g.Entry(nil, "calls until this day", false),
)

var _ = g.DescribeTable("A day of Central Europe has the offset of its season",
	func(moment string, hours int) {
		at, err := time.Parse(time.RFC3339, moment)
		o.Expect(err).NotTo(o.HaveOccurred())
		o.Expect(centralOffset(at)).To(o.Equal(time.Duration(hours) * time.Hour))
	},
	g.Entry(nil, "2027-03-28T00:59:59Z", 1), g.Entry(nil, "2027-03-28T01:00:00Z", 2),
	g.Entry(nil, "2027-10-31T00:59:59Z", 2), g.Entry(nil, "2027-10-31T01:00:00Z", 1), g.Entry(nil, "2026-01-01T00:00:00Z", 1),
)

var _ = g.DescribeTable("A moment is compared with a day in the time zone that the document names",
	func(text string, want int) {
		o.Expect(side("2027-04-01T00:30:00+02:00", "2027-04-01", "least", edgeIn(text, nil))).To(o.Equal(want)) // 31 March in UTC
	},
	g.Entry(nil, "on this day or later", 0),
	g.Entry(nil, "on this day or later, in utc", -1),
	g.Entry(nil, "on this day or later, in vienna", 1),
	g.Entry(nil, "a day or a moment with its own offset", 0),
	g.Entry(nil, "days are those of utc, not the one written at its own offset", -1),
	g.Entry(nil, "on this day or later; the day is the one written in deadline, at its own offset", 1),
)
