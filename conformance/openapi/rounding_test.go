package openapi_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = DescribeTable("The step to which a list rounds a member",
	func(text string, step int) {
		d := parsed(`{"openapi":"3.0.3","paths":{"/calls":{"get":{"description":"` + text + `","responses":{"200":{}}}},"/calls/{id}":{"get":{"responses":{"200":{}}}}}}`)
		Expect(d.StepInList(d.Operations[0], d.Operations[1], "volume")).To(Equal(int64(step)))
	},
	Entry("is in words", "In the list volume is rounded to whole thousands.", 1000),
	Entry("is in two words", "In the list volume is rounded to the nearest ten thousand euros.", 10000),
	Entry("is in digits", "In the list volume is rounded to 100,000.", 100000),
	Entry("is in German", "In der Liste ist volume auf volle Tausend gerundet.", 1000),
	Entry("is in German, with digits", "In der Liste ist volume auf 10.000 Euro gerundet.", 10000),
	Entry("is of cents", "In the list volume, which is in cents, is rounded to whole euros.", 100),
	Entry("is not known", "In the list volume is rounded.", 0),
	Entry("is not known of digits", "In the list volume is rounded to two significant digits.", 0),
	Entry("is not known of another member", "In the list amount is rounded to whole thousands.", 0),
)
