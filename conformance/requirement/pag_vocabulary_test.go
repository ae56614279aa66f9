package requirement

import (
	g "github.com/onsi/ginkgo/v2"
	o "github.com/onsi/gomega"
)

var _ = g.DescribeTable("A word of a vocabulary means several others",
	func(text string, group []string, only bool) {
		words, sure := groupOf(text, "ACTIVE", []string{"OPEN", "FORTHCOMING", "CLOSED", "ACTIVE"})
		o.Expect(words).To(o.Equal(group))
		o.Expect(sure).To(o.Equal(only))
	},
	g.Entry("in brackets", "ACTIVE (open or forthcoming), or one status.", []string{"OPEN", "FORTHCOMING"}, true),
	g.Entry("as calls", "ACTIVE means all calls that are OPEN or FORTHCOMING.", []string{"OPEN", "FORTHCOMING"}, true),
	g.Entry("in German", "ACTIVE umfasst OPEN und FORTHCOMING.", []string{"OPEN", "FORTHCOMING"}, true),
	g.Entry("perhaps, as a definition", "ACTIVE (an OPEN or FORTHCOMING call that was granted).", []string{"OPEN", "FORTHCOMING"}, false),
	g.Entry("perhaps, as a result", "ACTIVE: result of an OPEN or of a FORTHCOMING call.", []string{"OPEN", "FORTHCOMING"}, false),
	g.Entry("perhaps, as an earlier state", "ACTIVE (früher OPEN oder FORTHCOMING).", []string{"OPEN", "FORTHCOMING"}, false),
	g.Entry("not if it is denied", "ACTIVE (not only OPEN or FORTHCOMING).", nil, false),
	g.Entry("not one other", "ACTIVE (OPEN).", nil, false),
)
