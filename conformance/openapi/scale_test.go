package openapi_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/openapi"
)

var _ = DescribeTable("A number counts a multiple or a part of its unit",
	func(text string, scaled bool) { Expect(openapi.NamesScale(text)).To(Equal(scaled)) },
	Entry("in cents", "Upper bound of the budget, in cents, included. (The member budget is in euros.)", true),
	Entry("in millions", "At least this budget, in millions of euros.", true),
	Entry("in thousands, in German", "Mindestbudget in Tausend Euro (während budget in Euro angegeben ist).", true),
	Entry("in short words", "Höchstens dieser Betrag (TEUR).", true),
	Entry("as a unit", "At most this amount. The unit is the cent.", true),
	Entry("not in euros", "At least this budget, in euros.", false),
	Entry("not if it is denied", "At least this budget, in euros, not in cents.", false),
	Entry("not by a number", "Up to 3 millions are allowed.", false),
	Entry("not by percents", "Rate of support in percent.", false),
)
