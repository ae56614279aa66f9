package openapi_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/openapi"
)

var _ = DescribeTable("What a document says of statistics",
	func(description string, want openapi.StatisticsForm) {
		Expect(parsed(`{"openapi":"3.0.3","paths":{}}`).FormOfStatistics(openapi.Operation{Description: description}, "byStatus")).To(Equal(want))
	},
	Entry("nothing", "Numbers of calls by status; total is their sum.", openapi.StatisticsForm{}),
	Entry("rounded", "Numbers are rounded to the nearest multiple of five to protect small groups; total is the exact number and therefore need not be the sum.", openapi.StatisticsForm{Step: 5, NoSum: true}),
	Entry("rounded, in German", "Die Zahlen sind auf Zehner gerundet und ergeben daher nicht genau die Gesamtzahl.", openapi.StatisticsForm{Step: 10, NoSum: true}),
	Entry("suppressed", "Counts of fewer than 5 calls are suppressed and shown as 0.", openapi.StatisticsForm{Step: 5}),
	Entry("not rounded", "Numbers are not rounded.", openapi.StatisticsForm{}),
	Entry("another number that is rounded", "averageVolume is rounded to tens.", openapi.StatisticsForm{}),
	Entry("amounts", "Per status, the sum of the volumes in million euros (rounded down) and not the number of calls; total is the number of calls.", openapi.StatisticsForm{Step: 10, Amounts: true}),
	Entry("grouped", "Permanent calls count as open here.", openapi.StatisticsForm{Grouped: true}),
	Entry("grouped, in German", "Dauerhafte Aufrufe zählen hier als offen.", openapi.StatisticsForm{Grouped: true}),
	Entry("not grouped", "Permanent calls are not counted as open.", openapi.StatisticsForm{}),
	Entry("a suppressed number, in words", "Numbers below five are left out.", openapi.StatisticsForm{Step: 5}),
	Entry("rounded for each status", "Numbers of calls per status, rounded to tens.", openapi.StatisticsForm{Step: 10}),
	Entry("the whole budget", "Total budget in EUR by status.", openapi.StatisticsForm{Amounts: true}),
	Entry("shares", "Numbers in percent.", openapi.StatisticsForm{Amounts: true}),
	Entry("grouped with some words", "Calls with a rolling deadline count as open.", openapi.StatisticsForm{Grouped: true}),
	Entry("an average that is rounded", "Numbers of fundings. The average budget per funding is rounded to whole euros.", openapi.StatisticsForm{}),
	Entry("days", "Numbers of calls by status, and of those that close in less than 14 days.", openapi.StatisticsForm{}),
	Entry("numbers of those with few days", "Numbers of calls by status and of those that close in less than 14 days.", openapi.StatisticsForm{}),
	Entry("numbers and amounts", "Number of open calls and total budget in EUR.", openapi.StatisticsForm{Others: true}),
	Entry("numbers by status and amounts", "Number of calls by status and total budget in euros.", openapi.StatisticsForm{}),
	Entry("numbers and a growth", "Numbers of calls by status, and the growth in percent.", openapi.StatisticsForm{}),
	Entry("a growth", "The growth is in percent of all calls.", openapi.StatisticsForm{}),
	Entry("the meaning of a status", "A call counts as open until its deadline.", openapi.StatisticsForm{}),
	Entry("the meaning of another status", "Calls by status; a call counts as closed after its deadline.", openapi.StatisticsForm{}),
	Entry("the meaning of a status, in German", "Ein Aufruf gilt als offen, bis seine Frist endet.", openapi.StatisticsForm{}),
	Entry("its own status", "Each call counts with its current status.", openapi.StatisticsForm{}),
	Entry("several values", "Calls with several regions are counted under each of them.", openapi.StatisticsForm{}),
	Entry("the member that is rounded", "byStatus is rounded to tens.", openapi.StatisticsForm{Step: 10}),
	Entry("small numbers in German", "Zahlen unter 5 werden als 0 ausgewiesen.", openapi.StatisticsForm{Step: 5}),
	Entry("few days in German", "Zahlen der Aufrufe, und derer, die in weniger als 14 Tagen enden.", openapi.StatisticsForm{}),
)

var _ = DescribeTable("Statistics that do not count all records",
	func(description string, otherwise bool) {
		form := parsed(`{"openapi":"3.0.3","paths":{}}`).FormOfStatistics(openapi.Operation{Description: description}, "byStatus")
		Expect(form.Amounts || form.Others).To(Equal(otherwise))
	},
	Entry(nil, "byStatus holds percentages, rounded to whole numbers, so they need not add up to 100.", true),
	Entry(nil, "Kennzahlen in Prozent der Calls, auf ganze Zahlen gerundet.", true),
	Entry(nil, "Statistics of the open calls; closed and forthcoming ones are not counted.", true),
	Entry(nil, "Kennzahlen. Gezählt werden nur laufende Calls (status OPEN).", true),
	Entry(nil, "Statistics. Closed calls are not counted, except in total.", true),
	Entry(nil, "Numbers as they were last night; they may lag behind the list.", true),
	Entry(nil, "total zählt alle Calls, byStatus dagegen nur die noch nicht geschlossenen.", true),
	Entry(nil, "Statistics of all calls.", false),
	Entry(nil, "Numbers of calls by status. They are not rounded.", false),
	Entry(nil, "byBudget holds percentages. byStatus counts the calls.", false),
	Entry(nil, "Numbers of open, closed and forthcoming calls.", false),
	Entry(nil, "Statistics, not only of open calls.", false),
	Entry(nil, "Number of open calls per status.", true),
	Entry(nil, "Numbers by status of the open calls.", true),
	Entry(nil, "Each call is counted once, under the first of its statuses.", true),
	Entry(nil, "A call with several statuses is counted under each of them.", true),
	Entry(nil, "Percentages by status.", true),
	Entry(nil, "Counts over all calls of the node. A call counts for each of its statuses.", true),
	Entry(nil, "Counts over all calls of the node. A call counts for each of its topics.", false),
	Entry(nil, "Calls are counted for each status.", false),
	Entry(nil, "Counts of calls for each status and region.", false),
	Entry(nil, "A call is counted under each of its regions.", false),
	Entry(nil, "A call with several regions is counted under each of them.", false),
	Entry(nil, "Each call is counted once, under the first of its regions.", false),
	Entry(nil, "Numbers by status and region, and the number of open calls.", false),
	Entry(nil, "Numbers by status and region, and shares of the regions.", false),
	Entry(nil, "Numbers of calls by status. The growth is in percent.", false),
	Entry(nil, "Numbers of calls by status, and the growth in percent.", false),
	Entry(nil, "Computed once, when the first client asks.", false),
	Entry(nil, "Numbers of calls. Clients may apply for open calls only.", false),
)
