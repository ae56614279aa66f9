package certificate

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
)

// read reads the evidence.
func (v *verification) read() {
	text, _ := v.file(EvidenceFile)
	v.log, v.unread = evidence.ReadLog(bytes.NewReader(text))
}

// plan compares the labels that a run of this target, profile, document and seed plans with those that were planned.
func (v *verification) plan() Check {
	const compared = "the planned labels with those that target, profile, document and seed call for"
	log, err := v.log, v.unread
	var contradiction *evidence.Inconsistency
	switch {
	case errors.Is(err, evidence.ErrVersion):
		return undecided(StepPlan, compared, EvidenceFile, err.Error())
	case errors.As(err, &contradiction) && contradiction.Incomplete:
		return broken(StepPlan, compared, EvidenceFile, err.Error())
	case err != nil:
		return Check{Step: StepPlan, State: NotChecked, Compared: "nothing, because the evidence cannot be read", Why: report.Plain(err.Error())}
	}
	if log.Ended == nil {
		return undecided(StepPlan, compared, EvidenceFile, "the evidence is cut off before the end of the run")
	}
	run, err := probe.Replan(log)
	if err != nil {
		return undecided(StepPlan, compared, EvidenceFile, err.Error()+v.recordedBy())
	}
	v.run = &run
	problem := broken
	if log.Run.Suite != v.in.Suite {
		problem = func(s Step, compared, place, why string) Check {
			return undecided(s, compared, place, why+v.recordedBy())
		}
	}
	if label, why := run.Difference(); label != "" {
		return problem(StepPlan, compared, fmt.Sprintf("label %.100q", label), why)
	}
	return holds(StepPlan, "%s with those that target, profile, document and seed call for", evidence.Count(len(log.Planned), "planned label"))
}

// recordedBy names the version of rin that recorded the evidence, if that is another one.
func (v *verification) recordedBy() string {
	if by := v.log.Run.Suite; by != v.in.Suite {
		return fmt.Sprintf(" (rin %.40s recorded it; verify it with that version)", by)
	}
	return ""
}

// exchanges checks the evidence in itself.
func (v *verification) exchanges() Check {
	const compared = "lengths, codings, times, dates, URLs, order, registry entry, document, roles and differences from the document"
	if v.log == nil {
		plan, _ := v.First(Undecided)
		if plan.Step == StepPlan {
			return Check{Step: StepExchanges, State: NotChecked, Compared: "nothing, because this version does not read the evidence"}
		}
		return broken(StepExchanges, compared, EvidenceFile, v.Checks[len(v.Checks)-1].Why)
	}
	if v.signed != nil {
		for _, s := range []struct {
			name    string
			content []byte
		}{{documentSubject, v.reduced()}, {registrySubject, v.log.Registry}} {
			if want, got := v.signed.DigestOf(s.name), DigestOf(s.content).SHA256; want != "" && want != got {
				return broken(StepExchanges, compared, s.name, fmt.Sprintf("expected the digest sha256:%s, the evidence holds one with sha256:%s", want, got))
			}
		}
	}
	if v.run == nil {
		return Check{Step: StepExchanges, State: NotChecked, Compared: "lengths, codings and times; nothing that depends on the plan"}
	}
	if f := checkExchanges(v.log, *v.run); f != nil && f.open {
		return undecided(StepExchanges, compared, f.place, f.why)
	} else if f != nil {
		return broken(StepExchanges, compared, f.place, f.why)
	}
	return holds(StepExchanges, "%s: %s", evidence.Count(len(v.log.Exchanges)+len(v.log.Handshakes), "exchange"), compared)
}

func (v *verification) reduced() []byte {
	if v.log.Document == nil {
		return nil
	}
	return v.log.Document.Reduced
}

// judgement judges the evidence again and compares every file of the report, and then the statement, byte for byte. It returns the decision in words. It calls
// judged when it has finished judging, before it compares the files.
func (v *verification) judgement(judged func()) (c Check, headline string) {
	defer judged()
	const compared = "every file of the report with the one that this evidence gives"
	text, ok := v.file(ReportFile)
	if v.log == nil {
		return Check{Step: StepJudgement, State: NotChecked, Compared: "nothing, because the evidence was not read"}, ""
	}
	if !ok {
		if v.signed != nil {
			return broken(StepJudgement, compared, ReportFile, "it is missing"), ""
		}
		again := conformance.Judge(v.log, v.in.Suite)
		return Check{Step: StepJudgement, State: NotChecked, Compared: "nothing, because there is no " + ReportFile}, again.Verdict.Headline
	}
	recorded, err := report.ReadJSON(bytes.NewReader(text))
	switch {
	case errors.Is(err, report.ErrVersion):
		return undecided(StepJudgement, compared, ReportFile, err.Error()), ""
	case err != nil:
		return broken(StepJudgement, compared, ReportFile, err.Error()), ""
	case recorded.Catalogue.Version != requirement.Version:
		return undecided(StepJudgement, compared, ReportFile, fmt.Sprintf("it was judged by catalogue %.20q, and this rin has %s (verify it with rin %.40s)", recorded.Catalogue.Version, requirement.Version, recorded.Suite.Version)), ""
	case recorded.Run.Baseline != nil:
		return undecided(StepJudgement, compared, ReportFile, "it was made with a baseline, which is not among the files"), ""
	}
	again, f := v.judgeAgain(recorded)
	if f != nil {
		return broken(StepJudgement, compared, f.place, f.why), ""
	}
	headline = again.Verdict.Headline
	judged()
	if f := v.compareReports(again, recorded.Suite.Version); f != nil {
		if recorded.Suite.Version != v.in.Suite {
			return undecided(StepJudgement, compared, f.place, fmt.Sprintf("%s (rin %.40s made it; verify it with that version)", f.why, recorded.Suite.Version)), headline
		}
		return broken(StepJudgement, compared, f.place, f.why), headline
	}
	if f := v.compareStatement(again); f != nil {
		return broken(StepJudgement, "the statement with the one that this run gives", f.place, f.why), headline
	}
	return holds(StepJudgement, "%s", strings.Join(v.comparedNames(), ", ")+", byte for byte"), headline
}

// comparedNames lists what the judgement compares.
func (v *verification) comparedNames() []string {
	var out []string
	for _, f := range v.in.Files {
		if f.Name != EvidenceFile {
			out = append(out, f.Name)
		}
	}
	if v.signed != nil {
		out = append(out, path.Base(v.in.Envelope.Name))
	}
	return out
}

// judgeAgain judges as the recorded report was judged: for its profile, and with its note if rin judge made it.
func (v *verification) judgeAgain(recorded report.Report) (report.Report, *fault) {
	log := *v.log
	made := recorded.Made.Again
	if made == nil {
		return conformance.Judge(&log, recorded.Suite.Version), nil
	}
	text, _ := v.file(EvidenceFile)
	digest := "sha256:" + DigestOf(text).SHA256
	if made.Digest != digest {
		return report.Report{}, faultAt(ReportFile, "it was judged from evidence with the digest %.80s, and %s has %s", made.Digest, EvidenceFile, digest)
	}
	if string(recorded.Profile) != log.Run.Profile {
		log.Run.Profile, log.Run.ProfileReason = string(recorded.Profile), ""
	}
	return conformance.Judge(&log, recorded.Suite.Version).JudgedAgain(made.File, digest), nil
}

// compareReports writes each file of the report again, and compares it with the recorded one.
func (v *verification) compareReports(again report.Report, suite string) *fault {
	files := report.Files(suite)
	faults := make([]*fault, len(files))
	each(len(files), func(i int) {
		recorded, ok := v.file(files[i].Name)
		if !ok {
			return
		}
		var text bytes.Buffer
		if err := files[i].Write(&text, again, v.log); err != nil {
			faults[i] = faultAt(files[i].Name, "it cannot be written again: %v", err)
			return
		}
		faults[i] = difference(files[i].Name, text.Bytes(), recorded)
	})
	// The other files are made from the JSON report, so a fault of that one is returned first.
	for i, f := range files {
		if f.Name == ReportFile && faults[i] != nil {
			return faults[i]
		}
	}
	for _, f := range faults {
		if f != nil {
			return f
		}
	}
	return nil
}

// compareStatement makes the statement again, and compares it with the signed one.
func (v *verification) compareStatement(again report.Report) *fault {
	if v.signed == nil {
		return nil
	}
	r := Run{Files: v.in.Files, Log: v.log, Report: again}
	kind, _ := predicateType(v.signed.Payload)
	if kind == TestResultType {
		s, err := NewClaim(r)
		if err != nil {
			return faultAt(v.in.Envelope.Name, "%v", err)
		}
		return difference(v.in.Envelope.Name, s.Payload(), v.signed.Payload)
	}
	s, _ := readStatement[Verified](v.signed.Payload)
	if !sameValue(s.Subject, r.certificateSubjects()) && !sameValue(s.Subject, r.Subjects()) { // the latter in certificates of older versions
		return faultAt(v.in.Envelope.Name, "its subjects are not those of this run")
	}
	if slices.Contains(s.Predicate.Properties, TestedBlind) && !again.Made.Blind {
		return faultAt(v.in.Envelope.Name, "it states %s, and the run names the suite in its requests", TestedBlind)
	}
	for _, p := range requirement.Profiles() {
		certified := r.Report.Verdict.Decision == verdict.Certified && r.Report.Profile == p
		if slices.Contains(s.Predicate.Properties, CertifiedFor(p)) && !certified {
			return faultAt(v.in.Envelope.Name, "it states %s, and the run says: %s", CertifiedFor(p), r.Report.Verdict.Headline)
		}
	}
	return nil
}
