package requirement

import (
	g "github.com/onsi/ginkgo/v2"
	o "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/openapi"
)

var _ = g.DescribeTable("A page has more items than the client asks for, as the document says",
	func(description string, size, want int) {
		const honoured, seen = 8, 10
		o.Expect(raiseOf(openapi.Parameter{Description: description}).largest(size, honoured, seen)).To(o.Equal(want))
	},
	g.Entry(nil, "From 3 to 100. Smaller values are raised to 3.", 2, 3),
	g.Entry(nil, "From 3 to 100. Smaller values are raised to 3.", 4, 4),
	g.Entry(nil, "Values below 5 are raised.", 2, 5),
	g.Entry(nil, "Kleinere Werte werden auf 10 angehoben.", 2, 10),
	g.Entry(nil, "Sizes are rounded up to the next multiple of 10.", 12, 20),
	g.Entry(nil, "One of 10, 25 and 50; others are rounded up.", 12, 25),
	g.Entry(nil, "One of 10, 25 and 50; others are rounded up.", 60, 60),
	g.Entry(nil, "Small values are increased.", 2, 10),
	g.Entry("the node honoured this size", "Small values are increased.", 9, 9),
	g.Entry(nil, "For values above 100 an error is raised.", 2, 2),
	g.Entry(nil, "For values below 1 an error is raised.", 2, 2),
	g.Entry(nil, "The default of 20 can be increased up to 100.", 2, 2),
	g.Entry(nil, "Values above 100 are rounded down to 100.", 2, 2),
	g.Entry(nil, "Greater values are rounded down to 100.", 2, 2),
	g.Entry(nil, "From 1 to 100. Values are not raised.", 2, 2),
	g.Entry(nil, "Kleinere Werte werden nicht angehoben.", 2, 2),
	g.Entry(nil, "", 2, 2),
)
