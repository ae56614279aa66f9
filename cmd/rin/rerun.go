package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
)

// earlier is the run that --rerun-failed judges again in part.
type earlier struct {
	path   string
	report report.Report
	// again are the requirements that were not passed, in catalogue order.
	again []string
}

// readEarlier reads the report.json of an earlier run.
func readEarlier(w world, path string) (earlier, error) {
	const hint = "name the report.json that an earlier rin certify left in its --report-dir"
	data, err := w.readFile(path)
	if err != nil {
		return earlier{}, usage(fmt.Errorf("--rerun-failed: %w", err), hint)
	}
	e := earlier{path: path}
	if e.report, err = report.ReadJSON(bytes.NewReader(data)); err != nil {
		return earlier{}, usage(fmt.Errorf("--rerun-failed: %s is no report of rin: %w", path, err), hint)
	}
	for _, q := range e.report.Requirements {
		if _, known := requirement.Find(q.ID); known && q.Outcome != requirement.Pass {
			e.again = append(e.again, string(q.ID))
		}
	}
	if len(e.again) == 0 {
		return earlier{}, usage(fmt.Errorf("--rerun-failed: nothing to judge again, all that %s judged had passed", path),
			"leave --rerun-failed out to certify the node anew")
	}
	return e, nil
}

// tell says on stderr what is judged again.
func (e earlier) tell(to io.Writer) {
	fmt.Fprintf(to, "judging again what was not passed on %s: %s\n", e.report.Date.Format("2006-01-02 15:04 UTC"), strings.Join(e.again, ", "))
}
