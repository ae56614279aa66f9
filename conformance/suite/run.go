package suite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/extensions/globals"
	"github.com/onsi/ginkgo/v2/formatter"
	"github.com/onsi/ginkgo/v2/types"
	"github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/requirement"
)

// errInterrupted ends a gathering whose suite was interrupted.
var errInterrupted = errors.New("the suite was interrupted")

// Choose lists the requirements of the catalogue that a Ginkgo label filter lets through, such as "gate:gating && (TOK || TER)".
func Choose(filter string) ([]requirement.ID, error) {
	matches, err := types.ParseLabelFilter(filter) // checked here: Ginkgo itself would end the process on a bad one
	if err != nil {
		return nil, fmt.Errorf("label filter %q: %w", filter, err)
	}
	var ids []requirement.ID
	for _, r := range requirement.Catalogue() {
		if matches(labels(r)) {
			ids = append(ids, r.ID)
		}
	}
	return ids, nil
}

// Run builds the suite and runs it in this process, which must not be running another Ginkgo suite. It owns Ginkgo's global state
// for as long as it runs, which is why the worker is a process of its own.
func Run(ctx context.Context, g Gathering, o Options) {
	globals.Reset()
	gomega.RegisterFailHandler(ginkgo.Fail)
	formatter.ColorableStdOut = io.Discard // Ginkgo's own reporter writes here
	live := register(g, o)

	config, reporter := ginkgo.GinkgoConfiguration() // the last used one: every field that matters is set
	config.LabelFilter = ""
	config.RandomSeed = 1
	config.Timeout = 0
	reporter.NoColor = true
	ginkgo.RunSpecs(ignore{}, "rin", config, reporter, ginkgo.AroundNode(func(node context.Context) context.Context {
		merged, cancel := context.WithCancelCause(node)
		stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
		context.AfterFunc(node, func() { stop() })
		return merged
	}))
	signal.Reset(os.Interrupt, syscall.SIGTERM) // RunSpecs keeps them captured
	live.cut(cmp.Or(context.Cause(ctx), errInterrupted))
}

// ignore is told that the suite failed; judgements tell it better.
type ignore struct{}

func (ignore) Fail() {}
