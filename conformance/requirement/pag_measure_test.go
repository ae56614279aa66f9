package requirement

import (
	g "github.com/onsi/ginkgo/v2"
	o "github.com/onsi/gomega"
)

var _ = g.DescribeTable("Statistics measure something else than all records",
	func(text string, otherwise bool) { o.Expect(saysMeasure(text, "byStatus")).To(o.Equal(otherwise)) },
	g.Entry(nil, "byStatus holds percentages, rounded to whole numbers, so they need not add up to 100.", true),
	g.Entry(nil, "Kennzahlen in Prozent der Calls, auf ganze Zahlen gerundet.", true),
	g.Entry(nil, "Statistics of the open calls; closed and forthcoming ones are not counted.", true),
	g.Entry(nil, "Kennzahlen. Gezählt werden nur laufende Calls (status OPEN).", true),
	g.Entry(nil, "Statistics. Closed calls are not counted, except in total.", true),
	g.Entry(nil, "Numbers as they were last night; they may lag behind the list.", true),
	g.Entry(nil, "total zählt alle Calls, byStatus dagegen nur die noch nicht geschlossenen.", true),
	g.Entry(nil, "Statistics of all calls.", false),
	g.Entry(nil, "Numbers of calls by status. They are not rounded.", false),
	g.Entry(nil, "byBudget holds percentages. byStatus counts the calls.", false),
	g.Entry(nil, "Numbers of open, closed and forthcoming calls.", false),
	g.Entry(nil, "Statistics, not only of open calls.", false),
	g.Entry(nil, "Number of open calls per status.", true),
	g.Entry(nil, "Numbers by status of the open calls.", true),
	g.Entry(nil, "Each call is counted once, under the first of its statuses.", true),
	g.Entry(nil, "A call with several statuses is counted under each of them.", true),
	g.Entry(nil, "Percentages by status.", true),
	g.Entry(nil, "Counts over all calls of the node. A call counts for each of its statuses.", true),
	g.Entry(nil, "Counts over all calls of the node. A call counts for each of its topics.", false),
	g.Entry(nil, "Calls are counted for each status.", false),
	g.Entry(nil, "Counts of calls for each status and region.", false),
	g.Entry(nil, "A call is counted under each of its regions.", false),
	g.Entry(nil, "A call with several regions is counted under each of them.", false),
	g.Entry(nil, "Each call is counted once, under the first of its regions.", false),
	g.Entry(nil, "Numbers by status and region, and the number of open calls.", false),
	g.Entry(nil, "Numbers by status and region, and shares of the regions.", false),
	g.Entry(nil, "Numbers of calls by status. The growth is in percent.", false),
	g.Entry(nil, "Numbers of calls by status, and the growth in percent.", false),
	g.Entry(nil, "Computed once, when the first client asks.", false),
	g.Entry(nil, "Numbers of calls. Clients may apply for open calls only.", false),
)
