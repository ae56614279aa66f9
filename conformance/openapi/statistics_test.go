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
	Entry("numbers and amounts", "Number of open calls and total budget in EUR.", openapi.StatisticsForm{}),
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
