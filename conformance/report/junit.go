package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
)

// WriteJUnit writes JUnit XML for pipelines. The pipeline fails exactly if the profile is not certified. A failure that costs the certificate is a <failure>.
// A required rule that could not be judged is an <error>. Outcomes that cost nothing never fail a pipeline: warnings and failed advice pass, with the finding
// in <system-out>. A requirement that is not applicable, not judged, known to the operator, or blocked by another is <skipped> with the reason. The verdict
// is the first test case.
func WriteJUnit(w io.Writer, r Report) error {
	doc := junitSuites{Name: "rin", Suites: []junitSuite{junitVerdict(r)}}
	for _, g := range r.Catalogue.Groups {
		if g.Totals.Sum() > 0 {
			doc.Suites = append(doc.Suites, junitGroup(r, g))
		}
	}
	for i := range doc.Suites {
		s := &doc.Suites[i]
		s.Timestamp = r.Date.Format("2006-01-02T15:04:05Z07:00")
		s.count()
		doc.Tests += s.Tests
		doc.Failures += s.Failures
		doc.Errors += s.Errors
		doc.Skipped += s.Skipped
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return fmt.Errorf("encode JUnit report: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string           `xml:"name,attr"`
	Tests      int              `xml:"tests,attr"`
	Failures   int              `xml:"failures,attr"`
	Errors     int              `xml:"errors,attr"`
	Skipped    int              `xml:"skipped,attr"`
	Timestamp  string           `xml:"timestamp,attr"`
	Properties *junitProperties `xml:"properties,omitempty"`
	Cases      []junitCase      `xml:"testcase"`
}

type junitProperties struct {
	List []junitProperty `xml:"property"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Class   string      `xml:"classname,attr"`
	Name    string      `xml:"name,attr"`
	Skipped *junitEnd   `xml:"skipped,omitempty"`
	Error   *junitEnd   `xml:"error,omitempty"`
	Failure *junitEnd   `xml:"failure,omitempty"`
	Out     *junitLines `xml:"system-out,omitempty"`
}

// junitEnd is the reason why a case is skipped, in error, or failed.
type junitEnd struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Body    string `xml:",cdata"`
}

type junitLines struct {
	Body string `xml:",cdata"`
}

func (s *junitSuite) count() {
	for _, c := range s.Cases {
		s.Tests++
		switch {
		case c.Failure != nil:
			s.Failures++
		case c.Error != nil:
			s.Errors++
		case c.Skipped != nil:
			s.Skipped++
		}
	}
}

// junitVerdict returns the decision as a test case, so that a reason without a requirement fails a pipeline, too.
func junitVerdict(r Report) junitSuite {
	c := junitCase{Class: "rin.verdict", Name: "profile " + Plain(string(r.Profile))}
	var body []string
	for _, reason := range r.Verdict.Reasons {
		body = append(body, reason.String())
	}
	text := junitText(body...)
	end := &junitEnd{Message: Plain(r.Verdict.Headline), Type: string(r.Verdict.Decision), Body: text}
	switch {
	case r.Verdict.Decision == verdict.Certified:
		c.Out = &junitLines{junitText(append([]string{r.Verdict.Headline}, body...)...)}
	case r.Verdict.Failed:
		c.Failure = end
	case r.Verdict.Decision == verdict.Partial && !r.Verdict.Unsettled:
		c.Skipped = end
	default:
		c.Error = end
	}
	properties := []junitProperty{
		{"verdict", string(r.Verdict.Decision)},
		{"suite", Plain(r.Suite.Version)},
		{"matrix", r.Suite.Matrix.String()},
		{"catalogue", Plain(r.Catalogue.Version)},
		{"catalogue-digest", Plain(r.Catalogue.Digest)},
		{"profile", Plain(string(r.Profile))},
		{"token-url", Plain(r.Target.TokenURL)},
		{"info-url", Plain(r.Target.InfoURL)},
		{"spec-url", Plain(r.Target.SpecURL)},
		{"base-url", Plain(r.Target.BaseURL)},
		{"totals", r.tally(r.Totals, "")},
		{"notes", Plain(strings.Join(r.Notes, " "))},
	}
	if r.Suite.Contact != nil {
		properties = append(properties, junitProperty{"first-contact", r.Suite.Contact.String()})
	}
	for _, f := range r.madeFacts() {
		properties = append(properties, junitProperty{strings.ToLower(strings.ReplaceAll(f.Name, " ", "-")), Plain(f.Value)})
	}
	for _, u := range r.Uncovered {
		properties = append(properties, junitProperty{"not-covered", u.String()})
	}
	return junitSuite{Name: "verdict", Cases: []junitCase{c}, Properties: &junitProperties{properties}}
}

func junitGroup(r Report, g Group) junitSuite {
	s := junitSuite{Name: g.Name + " " + g.Title}
	for _, q := range r.Requirements {
		if q.ID.Group() == g.Name {
			s.Cases = append(s.Cases, junitRequirement(q))
		}
	}
	return s
}

func junitRequirement(q Requirement) junitCase {
	c := junitCase{Class: "rin." + q.ID.Group(), Name: Plain(string(q.ID) + " " + q.Title)}
	end := &junitEnd{Message: Plain(q.Reason), Type: string(q.Gate), Body: junitText(q.details()...)}
	switch {
	case q.Outcome == requirement.Pass:
	case q.Outcome == requirement.Warn:
		c.Out = &junitLines{junitText(append([]string{"warning: " + q.Reason}, q.details()...)...)}
	case q.Costs && q.Outcome == requirement.Fail:
		c.Failure = end
	case q.Outcome == requirement.Fail && q.Known == nil:
		c.Out = &junitLines{junitText(append([]string{q.outcomeLine()}, q.details()...)...)}
	case q.Costs && q.BlockedBy == "":
		c.Error = end
	default:
		c.Skipped = &junitEnd{Message: Plain(q.outcomeLine())}
		if q.Outcome == requirement.Blocked || q.Outcome == requirement.NotApplicable {
			c.Skipped.Message = Plain(Word(q.Outcome) + ": " + q.Reason)
			break
		}
		c.Out = &junitLines{end.Body}
	}
	return c
}

// junitText joins lines and makes each harmless. encoding/xml escapes the end of a CDATA section.
func junitText(lines ...string) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString("\n" + PlainLines(l))
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	return b.String()
}
