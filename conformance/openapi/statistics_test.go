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
)
