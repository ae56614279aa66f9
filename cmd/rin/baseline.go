package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/pflag"

	"github.com/rin-network/rin/conformance/baseline"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
)

// baselineFlags are about failures that the operator knows of.
type baselineFlags struct{ from, to string }

func (b *baselineFlags) register(f *pflag.FlagSet) {
	f.StringVar(&b.from, "baseline", "", "YAML file of known failures: fail on new, mended and expired ones; never a certificate")
	f.StringVar(&b.to, "write-baseline", "", "write what failed to this file, as a baseline to complete")
}

// read reads the baseline; nil when none is named.
func (b baselineFlags) read(w world) (*baseline.Baseline, error) {
	if b.from == "" {
		return nil, nil
	}
	data, err := w.readFile(b.from)
	if err != nil {
		return nil, usage(fmt.Errorf("--baseline: %w", err), "name a readable file; --write-baseline makes one")
	}
	known, err := baseline.Read(data)
	if err != nil {
		hint := "mend the file; --write-baseline shows what one looks like"
		var mistake *baseline.Mistake
		if errors.As(err, &mistake) {
			hint = mistake.Hint
		}
		return nil, usage(fmt.Errorf("--baseline %s: %w", b.from, err), hint)
	}
	return &known, nil
}

// excuse is how long a written baseline excuses a failure: time to mend a node, and not to forget it.
const excuse = 30 * 24 * time.Hour

// write writes what failed and counts, with the reasons and days that a baseline gave already.
func (b baselineFlags) write(w world, r report.Report) error {
	if b.to == "" {
		return nil
	}
	var known baseline.Baseline
	for _, q := range r.Requirements {
		switch {
		case q.Outcome != requirement.Fail:
		case q.Known != nil:
			known.Known = append(known.Known, baseline.Entry{ID: q.ID, Reason: q.Known.Reason, Until: q.Known.Until})
		case q.Costs:
			known.Known = append(known.Known, baseline.Entry{
				ID: q.ID, Reason: cmp.Or(report.Plain(q.Reason), q.Title), Until: baseline.DayOf(r.Date.Add(excuse)),
			})
		}
	}
	if err := replace(b.to, 0o644, func(to io.Writer) error { return baseline.Write(to, known) }); err != nil {
		return usage(fmt.Errorf("--write-baseline: %w", err), "name a file in a directory that can be written")
	}
	fmt.Fprintf(w.err, "known failures in %s: %d; say in each reason who mends it\n", b.to, len(known.Known))
	return nil
}
