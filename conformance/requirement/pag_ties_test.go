package requirement

import (
	"fmt"

	g "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/openapi"
)

var _ = g.DescribeTable("Equal values whose ids are texts", func(ids []string, want int) {
	var items [][]byte
	for i, id := range ids {
		items = append(items, fmt.Appendf(nil, `{"id":%q,"budget":%d}`, id, 9-i/3))
	}
	budgets, _ := openapi.ColumnOf(items, "budget")
	column, ok := openapi.ColumnOf(items, "id")
	Expect(ok).To(BeTrue())
	Expect(descendingTie(budgets, column)).To(Equal(want))
},
	g.Entry("descend", []string{"f1-a", "a7-c", "0b-2", "ee-0", "c4-1", "12-9"}, 1),
	g.Entry("ascend", []string{"0b-2", "a7-c", "f1-a", "12-9", "c4-1", "ee-0"}, -1),
	g.Entry("come in an order of the database", []string{"f1-a", "0b-2", "a7-c", "ee-0", "c4-1", "12-9"}, -1),
	g.Entry("are too few", []string{"f1-a", "a7-c", "0b-2", "ee-0", "c4-1"}, -1),
	g.Entry("have capitals and small letters", []string{"F1-a", "a7-c", "0b-2", "ee-0", "c4-1", "12-9"}, -1),
	g.Entry("differ in length", []string{"f1-a", "a7-c", "0b-2", "ee-0", "c4-1", "12-99"}, -1),
)
