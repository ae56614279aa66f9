package registry

import (
	"fmt"
	"time"

	"go.etcd.io/bbolt"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
)

// AdmitRun admits a node by a run that passed at that time, without its files.
func (o Operator) AdmitRun(h *History, e Entry, d Document, started time.Time) error {
	a := &Admission{ID: e.ID, Proved: started, Run: &AdmissionRun{Night: NightOf(started) + admissionSuffix, Started: started}}
	var got report.Report
	got.Profile, got.Verdict.Decision, got.Verdict.Headline = requirement.Auth, verdict.Certified, "Certified for an admission"
	got.Requirements = []report.Requirement{{ID: "TOK-02", Gate: requirement.Gating, Outcome: requirement.Pass}}
	return o.admit(h, a, e, o.record(Record{}, got, &evidence.Log{}, d, e, NightOf(started), started))
}

// Fill writes the nights of many nodes at once: a transaction for each of them would take hours.
func (h *History) Fill(nodes, nights int) error {
	first := time.Date(2025, 3, 2, 12, 0, 0, 0, time.UTC)
	const batch = 200
	for start := 0; start < nodes; start += batch {
		err := h.db.Update(func(tx *bbolt.Tx) error {
			for i := start; i < min(nodes, start+batch); i++ {
				if err := fill(tx, first, i, nights); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func fill(tx *bbolt.Tx, first time.Time, i, nights int) error {
	n := Node{ID: fmt.Sprintf("NODE-%04d", i), InfoURL: "https://node.example/info", Status: Valid, Certified: first}
	for d := range nights {
		night := Night(first.AddDate(0, 0, d).Format(nightLayout))
		o := Outcome{Node: n.ID, Night: night, Started: night.Start(), Result: Passed, Headline: "Certified for profile funding", Status: Valid, Seed: "123456789", Catalogue: "1.3.0", Suite: "v1.0.0"}
		if d == nights/2 {
			o.Result, o.Headline, o.Changes = Failed, "Not certified for profile funding", []Change{{ID: "TOK-02", From: requirement.Pass, To: requirement.Fail, Gate: requirement.Gating}}
		}
		n.Since, n.Tested, n.Good, n.Last, n.Outcome = night, night, night, night, o
		n.TestedAt, n.GoodAt = o.Started, o.Started
		if err := put(tx, outcomeBucket, outcomeKey(n.ID, night), o); err != nil {
			return err
		}
		if err := put(tx, nightsBucket, []byte(night), NightTotals{Night: night}); err != nil {
			return err
		}
	}
	for _, q := range requirement.Catalogue() {
		n.Requirements = append(n.Requirements, Judged{ID: q.ID, Gate: q.Gate, Outcome: requirement.Pass, Since: n.Last})
	}
	return put(tx, nodeBucket, []byte(n.ID), n)
}
