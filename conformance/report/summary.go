package report

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/rin-network/rin/conformance/evidence"
)

// MaxSummary bounds the page of [WriteSummary], in bytes.
const MaxSummary = 500_000

// ErrTooLong says that a report does not fit into [MaxSummary], whatever is left out.
var ErrTooLong = errors.New("the report is too long for a page")

// WriteSummary writes the report for a public page, without the exchanges: it links the download that has them. What does not fit into [MaxSummary] is
// left out, the least important first, and the page says so. If that is not enough, it returns [ErrTooLong] and writes nothing.
func WriteSummary(w io.Writer, r Report, download string) error {
	text, err := summaryPage(r, download)
	for _, reduce := range []func(Report) Report{withoutOperations, withoutSubjects, withShortTexts, withoutTexts} {
		if err != nil || len(text) <= MaxSummary {
			break
		}
		r = reduce(r)
		r.Notes = append(slices.Clip(r.Notes), "This report is long: much of it is left out of this page, and is in "+download+".")
		text, err = summaryPage(r, download)
		r.Notes = r.Notes[:len(r.Notes)-1]
	}
	if err == nil && len(text) > MaxSummary {
		err = ErrTooLong
	}
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}

func summaryPage(r Report, download string) ([]byte, error) {
	var b bytes.Buffer
	err := writeHTML(&b, r, &evidence.Log{}, download)
	return b.Bytes(), err
}

func withoutOperations(r Report) Report {
	r.Operations.List = nil
	return r
}

// withoutSubjects leaves out where each finding shows, and the command that repeats it.
func withoutSubjects(r Report) Report {
	r.Requirements = slices.Clone(r.Requirements)
	for i := range r.Requirements {
		q := &r.Requirements[i]
		q.Subjects, q.SubjectsCut, q.Curl, q.Notes = nil, 0, "", nil
	}
	return r
}

// withShortTexts cuts what came from the node or from the operator.
func withShortTexts(r Report) Report { return cutTexts(r, 200, 20) }

// withoutTexts leaves only the headline and the texts of the catalogue.
func withoutTexts(r Report) Report { return cutTexts(r, 0, 0) }

// cutTexts cuts texts at a number of bytes, and lists at a number of entries.
func cutTexts(r Report, limit, entries int) Report {
	texts := []*string{
		&r.Run.Cause, &r.Run.Partial, &r.Target.TokenURL, &r.Target.InfoURL, &r.Target.SpecURL, &r.Target.BaseURL, &r.Target.OperationBase, &r.Target.Registry,
		&r.Target.NodeID, &r.Target.ClientID, &r.Made.Operator, &r.Made.ProfileReason, &r.Made.Authorities,
	}
	r.Requirements = slices.Clone(r.Requirements)
	for i := range r.Requirements {
		q := &r.Requirements[i]
		texts = append(texts, &q.Reason, &q.Expected, &q.Got, &q.Seen, &q.Fix)
	}
	r.Verdict.Reasons = slices.Clone(r.Verdict.Reasons[:min(len(r.Verdict.Reasons), entries)])
	for i := range r.Verdict.Reasons {
		texts = append(texts, &r.Verdict.Reasons[i].Text)
	}
	r.Notes = slices.Clone(r.Notes[:min(len(r.Notes), entries)])
	for i := range r.Notes {
		texts = append(texts, &r.Notes[i])
	}
	for _, text := range texts {
		if len(*text) > limit {
			*text = cut(*text, limit)
		}
	}
	r.Made.AllowedOrigins, r.Made.Values, r.Made.Registry, r.Made.Again = nil, nil, nil, nil
	return r
}
