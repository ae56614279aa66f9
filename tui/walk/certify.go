package walk

import (
	"context"
	"errors"

	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/worker"
)

// CertifyNode runs the whole suite against the node, in a process of its own; heard is told how far it is.
func (w *Walk) CertifyNode(ctx context.Context, heard func(worker.Event)) (Scene, report.Report) {
	scene := Scene{Step: Certify}
	if w.options.Certify == nil {
		return troubled(scene, errors.New("this walk has no suite to run")), report.Report{}
	}
	if !w.locate(ctx, &scene) {
		return scene, report.Report{}
	}
	t := Derived(w.Target())
	if t.Profile == "" {
		t.Profile = "auth"
		if t.SpecURL != "" {
			t.Profile = "funding"
		}
	}
	result, log, err := w.options.Certify(ctx, t, heard)
	if err != nil {
		scene.Trouble = &Trouble{err.Error(), []string{"see the sentence"}, []string{"try again; rin certify --help says what it needs"}}
		return scene, report.Report{}
	}
	w.mu.Lock()
	w.report, w.log = &result, log
	w.mu.Unlock()
	scene.Says = []string{result.Verdict.Headline + "."}
	return scene, result
}

// Report is that of the certification, with its evidence; ok is false while there is none.
func (w *Walk) Report() (r report.Report, log *exchange.Log, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.report == nil {
		return report.Report{}, nil, false
	}
	return *w.report, w.log, true
}
