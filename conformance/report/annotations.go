package report

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
)

// This file writes findings as annotations of a pipeline. A finding about an operation gets the line of that operation in the source of the node's
// document, if the operator named that file.

// annotation is a finding at a place.
type annotation struct {
	Requirement
	file string // the source of the document; "" if the operator named none
	line int    // of the operation, from 1; 0 for a finding about something else
}

// annotations lists the findings that need attention, those that cost the certificate first. A pipeline shows few annotations of a step, so each
// requirement has one.
func (r Report) annotations(log *evidence.Log) []annotation {
	var out []annotation
	for _, o := range []requirement.Outcome{requirement.Fail, requirement.Inconclusive, requirement.Warn} {
		for _, q := range r.attention(o) {
			a := annotation{Requirement: q.Requirement}
			if d := log.Run.DocumentFile; d != nil {
				a.file = d.Path
				if at := q.pointer(); at != "" {
					a.line = d.Line(at)
				}
			}
			out = append(out, a)
		}
	}
	return out
}

// pointer returns the JSON Pointer of the first operation of the document that shows the finding; "" if none does.
func (q Requirement) pointer() string {
	for _, s := range q.Subjects {
		if s.Pointer != "" {
			return s.Pointer
		}
	}
	return ""
}

// text describes the finding in a few lines.
func (a annotation) text() string {
	lines := []string{fmt.Sprintf("%s (%s).", sentence(a.Reason), a.Consequence())}
	if a.Expected != "" {
		lines = append(lines, "Expected: "+a.Expected)
	}
	if a.Got != "" {
		lines = append(lines, "Got: "+a.Got)
	}
	if a.Seen != "" {
		lines = append(lines, "Seen in: "+a.Seen)
	}
	if a.Fix != "" {
		lines = append(lines, "Fix: "+a.Fix)
	}
	lines = append(lines, "Rule: "+a.Source.Text)
	for i, l := range lines {
		lines[i] = Plain(cut(l, 1000))
	}
	return strings.Join(lines, "\n")
}

// WriteGitHub writes workflow commands. A step of GitHub Actions that prints them shows the verdict and each finding as an annotation: an error if it
// costs the certificate, a warning otherwise.
func WriteGitHub(w io.Writer, r Report, log *evidence.Log) error {
	var b bytes.Buffer
	level := "error"
	if r.Verdict.Decision == verdict.Certified {
		level = "notice"
	}
	workflowCommand(&b, level, Plain(r.Verdict.Headline), "title", "rin")
	for _, a := range r.annotations(log) {
		level := "warning"
		if a.Costs {
			level = "error"
		}
		properties := []string{"title", string(a.ID) + " " + Plain(a.Title)}
		if a.line > 0 {
			properties = append(properties, "file", Plain(a.file), "line", fmt.Sprint(a.line))
		}
		workflowCommand(&b, level, a.text(), properties...)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// workflowCommand writes one command on a line of its own: ::name key=value,key=value::message. properties are keys and values in turn. The escapes are those of
// the toolkit of GitHub Actions.
func workflowCommand(b *bytes.Buffer, name, message string, properties ...string) {
	inMessage := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	inProperty := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	b.WriteString("::" + name)
	separator := " "
	for i := 0; i+1 < len(properties); i += 2 {
		b.WriteString(separator + properties[i] + "=" + inProperty.Replace(properties[i+1]))
		separator = ","
	}
	b.WriteString("::" + inMessage.Replace(message) + "\n")
}

// qualityIssue is one issue of GitLab's code quality report.
type qualityIssue struct {
	Description string          `json:"description"`
	CheckName   string          `json:"check_name"`
	Fingerprint string          `json:"fingerprint"`
	Severity    string          `json:"severity"`
	Location    qualityLocation `json:"location"`
}

type qualityLocation struct {
	Path  string       `json:"path"`
	Lines qualityLines `json:"lines"`
}

type qualityLines struct {
	Begin int `json:"begin"`
}

// WriteGitLab writes a code quality report for GitLab. An issue keeps its fingerprint from run to run, so that a merge request shows what is new.
func WriteGitLab(w io.Writer, r Report, log *evidence.Log) error {
	issues := []qualityIssue{}
	for _, a := range r.annotations(log) {
		severity := "minor"
		switch {
		case a.Costs:
			severity = "critical"
		case a.Outcome == requirement.Warn:
			severity = "info"
		}
		// GitLab requires a path. Without the source of the document, the finding points to the report.
		place := qualityLocation{Path: Plain(cmp.Or(a.file, "report.md")), Lines: qualityLines{max(1, a.line)}}
		sum := sha256.Sum256([]byte(r.Target.NodeID + "\x00" + r.Target.InfoURL + "\x00" + string(a.ID) + "\x00" + a.pointer()))
		issues = append(issues, qualityIssue{
			Description: fmt.Sprintf("%s %s: %s", a.ID, Plain(a.Title), a.text()),
			CheckName:   "rin/" + string(a.ID), Fingerprint: hex.EncodeToString(sum[:]), Severity: severity, Location: place,
		})
	}
	return writeJSON(w, "code quality report", issues)
}
