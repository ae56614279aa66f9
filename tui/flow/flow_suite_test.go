package flow_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/tui/flow"
	"github.com/rin-network/rin/tui/tuitest"
)

func TestWalk(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "walk")
}

// node is a sandbox node. Its methods start walks on it.
type node struct{ *tuitest.Node }

func newNode(change func(http.Handler) http.Handler, config sandbox.Config) node {
	GinkgoHelper()
	return node{tuitest.NewNode(GinkgoTB(), config, change)}
}

// newWalk begins a walk with the credentials of the node's demo clients.
func (g node) newWalk() *flow.Walk {
	GinkgoHelper()
	return g.Walk(GinkgoTB(), g.Target(), nil)
}

// walkAtNode returns a walk that has chosen its node.
func (g node) walkAtNode() *flow.Walk {
	GinkgoHelper()
	w := g.newWalk()
	tuitest.ChooseNode(GinkgoTB(), w)
	return w
}

// outcomes returns the outcomes of a result by requirement.
func outcomes(s flow.Result) map[requirement.ID]requirement.Outcome {
	out := map[requirement.ID]requirement.Outcome{}
	for _, v := range s.Verdicts {
		out[v.ID] = v.Outcome
	}
	return out
}

// visibleText returns everything that a result may show, as one text.
func visibleText(s flow.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v %+v\n", s.Notes, s.Trouble)
	for _, v := range s.Verdicts {
		fmt.Fprintf(&b, "%+v\n", v)
	}
	for _, x := range s.Exchanges {
		fmt.Fprintf(&b, "%s\n%+v\n%s\n", evidence.Curl(x), x.Request, x.Request.Body)
		if x.Response != nil {
			fmt.Fprintf(&b, "%+v\n%s\n", x.Response.Header, x.Response.Body)
		}
	}
	return b.String()
}
