package probe

import (
	"github.com/rin-network/rin/conformance/discover"
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/target"
)

// theme is a group of requests that belong together: what it adds to the plan as more of the node is known, and how it is asked.
// Any of its functions may be nil.
type theme struct {
	// forTarget plans what can be asked of any node.
	forTarget func(t target.Target) Plan
	// forProbeTarget plans what is tried on the probe target.
	forProbeTarget func(t target.Target, r exchange.Resource) Plan
	// forDocument plans what the node's document makes possible.
	forDocument func(n discover.Node) Plan
	// forDocumentMost is how many requests that can be at most, for the budget that is told before the document is read.
	forDocumentMost func(t target.Target) int
	// probe says how a label of the theme is asked; ok is false for the labels of others.
	probe func(r *run, l exchange.Label) (p probe, ok bool)
}

// themes lists the themes of every run, in the order of their plans.
func themes() []theme {
	return []theme{registered(), transported(), forged(), outlived(), credited(), sanitary(), robust(), paged(), bounded()}
}
