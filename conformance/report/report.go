// Package report presents the result of a certification to people and machines.
//
// [New] builds a versioned [Report] from a verdict and its evidence. It is a pure function: the same evidence gives the same bytes in every
// format. Each format has one file: terminal, JSON, JUnit, HTML, Markdown, annotations of pipelines. A format only presents; it decides nothing.
//
// Rules for every format:
//
//   - The verdict comes first (in the terminal last, next to the prompt), in words.
//   - Colour is never the only signal: each outcome has a symbol and a word.
//   - Everything that came from a node is hostile: [Plain] makes it visible and harmless, then the format's own escaping applies. Long texts are
//     cut with a note.
package report

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
)

// Version is the version of the report model; its JSON Schema is [Schema].
const Version = "rin.report/v1"

// Report is the result of a certification as plain data, in reading order.
type Report struct {
	Schema    string              `json:"schema"` // "rin.report/v1"
	Suite     Suite               `json:"suite"`
	Catalogue Catalogue           `json:"catalogue"`
	Date      time.Time           `json:"date"` // when the run started, UTC
	Profile   requirement.Profile `json:"profile"`
	Target    Target              `json:"target"`
	Made      Made                `json:"made"`
	Verdict   Verdict             `json:"verdict"`
	Totals    verdict.Totals      `json:"totals"`
	Budget    Budget              `json:"budget"`
	Run       Run                 `json:"run"`
	// Requirements lists the judged requirements in catalogue order.
	Requirements []Requirement `json:"requirements"`
	Operations   Operations    `json:"operations"`
	// Uncovered lists the binding rules of the network that no requirement judges.
	Uncovered []Uncovered `json:"uncovered"`
	Notes     []string    `json:"notes"`
}

// Suite names the program that judged, with what it is known to notice, and the version that recorded the evidence.
type Suite struct {
	Name       string        `json:"name"`
	Version    string        `json:"version"`
	RecordedBy string        `json:"recordedBy"`
	Matrix     verdict.Score `json:"matrix"` // the score of the kill matrix
	// Contact is the last round of first contact; nil before the first.
	Contact *verdict.Contact `json:"contact,omitempty"`
}

// Catalogue says which part of the catalogue was judged.
type Catalogue struct {
	Version string `json:"version"`
	// Digest is "sha256:" and the digest of all rows in hexadecimal; empty in reports of earlier versions.
	Digest string  `json:"digest,omitempty"`
	Size   int     `json:"size"`   // requirements of the whole catalogue
	Judged int     `json:"judged"` // requirements that this run judged
	Groups []Group `json:"groups"`
}

// Group is one group of the catalogue.
type Group struct {
	Name   string         `json:"name"`
	Title  string         `json:"title"`
	Size   int            `json:"size"`
	Totals verdict.Totals `json:"totals"` // of this run
}

// Target is the node as the operator named it, without secrets.
type Target struct {
	TokenURL     string `json:"tokenUrl"`
	InfoURL      string `json:"infoUrl"`
	SpecURL      string `json:"specUrl,omitempty"`
	BaseURL      string `json:"baseUrl,omitempty"`
	Registry     string `json:"registry,omitempty"`
	NodeID       string `json:"nodeId,omitempty"`
	ClientID     string `json:"clientId"`
	SecondClient bool   `json:"secondClient"` // a client without the role was given
	Loopback     bool   `json:"loopback"`
	// ProbeTarget is the protected resource that the bearer rules were tried on. It is empty if none was found.
	ProbeTarget evidence.Resource `json:"probeTarget,omitempty"`
	// OperationBase is the URL prefix under which operations were found.
	OperationBase string `json:"operationBase,omitempty"`
}

// Verdict is the decision as data and in words.
type Verdict struct {
	Decision verdict.Decision `json:"decision"`
	Headline string           `json:"headline"` // "Certified for profile auth"
	Reasons  []Reason         `json:"reasons"`
	// Failed and Unsettled say whether a rule of the profile was broken, or could not be judged, also in a partial run.
	Failed    bool `json:"failed"`
	Unsettled bool `json:"unsettled"`
}

// Reason is one thing that keeps the profile from being certified.
type Reason struct {
	Kind         verdict.ReasonKind `json:"kind"`
	Requirements []requirement.ID   `json:"requirements"`
	Text         string             `json:"text"`
}

// Budget compares announced and sent requests.
type Budget struct {
	Planned int  `json:"planned"` // upper bound, computed before the run
	Sent    int  `json:"sent"`    // repeats included
	Kept    bool `json:"kept"`
}

// Run says whether the run was complete.
type Run struct {
	Complete bool   `json:"complete"`
	Cause    string `json:"cause,omitempty"`   // why it is not complete
	Partial  string `json:"partial,omitempty"` // how the operator restricted it
	// Baseline has the results of the operator's known failures; nil without a baseline.
	Baseline *Baseline `json:"baseline,omitempty"`
	NotSent  []NotSent `json:"notSent"`
}

// Baseline sorts the entries of a baseline by their results.
type Baseline struct {
	Known     []requirement.ID `json:"known"`   // failed as listed
	Passed    []requirement.ID `json:"mended"`  // listed, and passed
	Expired   []requirement.ID `json:"expired"` // listed, and expired
	NotJudged []requirement.ID `json:"unseen"`  // listed, and not judged in this run
}

// NotSent is a planned exchange that was not sent.
type NotSent struct {
	Label   evidence.Label       `json:"label"`
	Kind    evidence.NotSentKind `json:"kind"`
	Because string               `json:"because"`
}

// Requirement is one requirement with its outcome.
type Requirement struct {
	ID      requirement.ID      `json:"id"`
	Title   string              `json:"title"`
	Level   requirement.Level   `json:"level"`
	Gate    requirement.Gate    `json:"gate"` // the weight of the outcome
	Profile requirement.Profile `json:"profile"`
	// Extra marks a requirement beyond the profile, judged because the operator named it or its opt-in probe was requested.
	Extra   bool                `json:"extra,omitempty"`
	Outcome requirement.Outcome `json:"outcome"`
	// Costs is true if the outcome keeps the profile from being certified.
	Costs    bool              `json:"costs"`
	Reason   string            `json:"reason,omitempty"`
	Expected string            `json:"expected,omitempty"`
	Got      string            `json:"got,omitempty"`
	Fault    requirement.Fault `json:"fault,omitempty"`
	Fix      string            `json:"fix,omitempty"`
	// Maker is the product that always causes the warning; empty if the operator can mend it, or another product is in use.
	Maker     string         `json:"maker,omitempty"`
	BlockedBy requirement.ID `json:"blockedBy,omitempty"`
	// Known is the baseline entry that excuses the failure, or the failure that blocks this requirement.
	Known    *Known    `json:"known,omitempty"`
	Source   Source    `json:"source"`
	Quote    string    `json:"quote,omitempty"` // the binding sentence of the source
	Subjects []Subject `json:"subjects"`
	// SubjectsCut counts the subjects that were left out.
	SubjectsCut int `json:"subjectsCut,omitempty"`
	// Seen describes the exchange that Curl repeats: "GET https://node.example/info: 401".
	Seen string `json:"seen,omitempty"`
	// Curl repeats the exchange of the first subject. It is set for warnings, failures and inconclusive outcomes.
	Curl  string   `json:"curl,omitempty"`
	Notes []string `json:"notes"`
}

// Known is an entry of the operator's baseline.
type Known struct {
	Reason string      `json:"reason"`
	Until  verdict.Day `json:"until"` // its last day
}

// Source names the places that a requirement is taken from.
type Source struct {
	Text    string `json:"text"`              // all its places: "RFC 6749 §3.2; RFC 6749 §2.3.1"
	URL     string `json:"url,omitempty"`     // the first link
	Derived bool   `json:"derived,omitempty"` // implied, not literal
	// Citations lists the places; the quote is from the first.
	Citations []Citation `json:"citations"`
}

// Citation is one place of a source.
type Citation struct {
	Text string `json:"text"`
	URL  string `json:"url,omitempty"` // link to the section
}

// Subject is one thing that a judgement is about.
type Subject struct {
	Name     string         `json:"name"`
	Label    evidence.Label `json:"label,omitempty"`
	Expected string         `json:"expected,omitempty"`
	Got      string         `json:"got,omitempty"`
	// Pointer leads to the operation in the node's document that was asked (RFC 6901).
	Pointer string `json:"pointer,omitempty"`
	// bare marks a subject that is only an exchange.
	bare bool
}

// Operations says how much of the node's document was executed.
type Operations struct {
	Documented int `json:"documented"`
	Executed   int `json:"executed"`
	// Parameters.Covered counts the parameters that were tried, Statuses.Covered the statuses that an answer had.
	Parameters Covered     `json:"parameters"`
	Statuses   Covered     `json:"statuses"`
	List       []Operation `json:"list"`
}

// Covered counts the described things and the covered ones.
type Covered struct {
	Described int `json:"described"`
	Covered   int `json:"covered"`
}

// Operation is one operation of the node's document. Because says why it was not executed.
type Operation struct {
	Method   string `json:"method"`
	Path     string `json:"path"`
	ID       string `json:"operationId,omitempty"`
	Executed bool   `json:"executed"`
	// Role is "list" or "detail" for the operation that paging, filters and records were tested on.
	Role string `json:"role,omitempty"`
	// Public reports that the document declares the operation public, so that it is not tested for refusal.
	Public     bool        `json:"public,omitempty"`
	Because    string      `json:"because,omitempty"`
	Parameters []Parameter `json:"parameters"`
	Statuses   []Status    `json:"statuses"`
	// Undocumented lists statuses of answers that the document does not describe.
	Undocumented []string `json:"undocumented,omitempty"`
}

// Parameter is one described parameter. Because says why it was not tried.
type Parameter struct {
	Name     string   `json:"name"`
	In       string   `json:"in"`
	Required bool     `json:"required"`
	Tried    []Manner `json:"tried"`
	Because  string   `json:"because,omitempty"`
}

// Manner is how a parameter was tried.
type Manner string

// The manners.
const (
	Valid   Manner = "valid"   // with a value that the document allows
	Bounds  Manner = "bounds"  // with an allowed value at its bounds
	Outside Manner = "outside" // with a value that the document does not allow, or by leaving out a required parameter
)

// Status is one documented status, range or default. Because says why no answer had it.
type Status struct {
	Status  string `json:"status"`
	Seen    bool   `json:"seen"`
	Because string `json:"because,omitempty"`
}

//go:embed schema/report.v1.json
var schemas embed.FS

// Schema returns the JSON Schema (draft 2020-12) of what [WriteJSON] writes.
func Schema() []byte {
	b, err := schemas.ReadFile("schema/report.v1.json")
	if err != nil {
		panic(err) // the schema is embedded
	}
	return b
}

// WriteJSON writes the report as JSON. Characters that act on a terminal are written as \u escapes.
func WriteJSON(w io.Writer, r Report) error { return writeJSON(w, "report", r) }

// writeJSON writes a value as JSON, harmless on a terminal.
func writeJSON(w io.Writer, what string, value any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(value); err != nil {
		return fmt.Errorf("encode %s: %w", what, err)
	}
	_, err := w.Write(evidence.EscapeDeceptive(b.Bytes()))
	return err
}

// File is one file of a report.
type File struct {
	Format, Name string
	Write        func(io.Writer, Report, *evidence.Log) error
	// OnDemand marks a file that is only written when it is asked for.
	OnDemand bool
}

// Files lists the files of a report by that version of rin. The file that a person opens first comes first.
func Files(suite string) []File {
	withoutLog := func(write func(io.Writer, Report) error) func(io.Writer, Report, *evidence.Log) error {
		return func(w io.Writer, r Report, _ *evidence.Log) error { return write(w, r) }
	}
	return []File{
		{Format: "html", Name: "report.html", Write: WriteHTML},
		{Format: "json", Name: "report.json", Write: withoutLog(WriteJSON)},
		{Format: "junit", Name: "junit.xml", Write: withoutLog(WriteJUnit)},
		{Format: "markdown", Name: "report.md", Write: withoutLog(WriteMarkdown)},
		{Format: "github", Name: "annotations.txt", OnDemand: true, Write: WriteGitHub},
		{Format: "gitlab", Name: "gl-code-quality-report.json", OnDemand: true, Write: WriteGitLab},
		// The evidence always holds the same exchanges, in a tenth of the room.
		{Format: "har", Name: "exchanges.har", OnDemand: true, Write: func(w io.Writer, _ Report, log *evidence.Log) error {
			return evidence.WriteHAR(w, log, suite)
		}},
	}
}

// ErrVersion is the error for a report of a version that this package does not read.
var ErrVersion = errors.New("use the version of rin that made it")

// ReadJSON reads the output of [WriteJSON]. It refuses other versions.
func ReadJSON(r io.Reader) (Report, error) {
	var out Report
	if err := json.NewDecoder(r).Decode(&out); err != nil {
		return Report{}, fmt.Errorf("read report: %w", err)
	}
	if out.Schema != Version {
		return Report{}, fmt.Errorf("read report: expected schema %s, got %.40q: %w", Version, out.Schema, ErrVersion)
	}
	return out, nil
}
