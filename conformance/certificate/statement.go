package certificate

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
)

// The types of statements and predicates. Both predicates are published: in-toto's Test Result and Simple Verification Result. rin adds no members to them,
// because a verifier ignores unknown members, and with them anything that limits a statement.
const (
	StatementType  = "https://in-toto.io/Statement/v1"
	TestResultType = "https://in-toto.io/attestation/test-result/v0.1"
	VerifiedByType = "https://in-toto.io/attestation/svr/v0.2"
)

// The names of subjects that are not files of the run.
const (
	documentSubject = "reduced-document.json"
	registrySubject = "registry-entry.json"
)

// Statement is an in-toto statement: a predicate about subjects.
type Statement[P any] struct {
	Type          string       `json:"_type"`
	Subject       []Descriptor `json:"subject"`
	PredicateType string       `json:"predicateType"`
	Predicate     P            `json:"predicate"`
}

// Descriptor is an in-toto resource descriptor.
type Descriptor struct {
	Name        string            `json:"name,omitempty"`
	URI         string            `json:"uri,omitempty"`
	Digest      *Digest           `json:"digest,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Digest is a SHA-256 digest in hexadecimal.
type Digest struct {
	SHA256 string `json:"sha256"`
}

// DigestOf returns the digest of a content, which may be empty. It never returns nil.
func DigestOf(content []byte) *Digest {
	sum := sha256.Sum256(content)
	return &Digest{hex.EncodeToString(sum[:])}
}

// TestResult is the predicate of a claim. Requirements that did not apply, or could not be judged, are left out.
type TestResult struct {
	Result        string       `json:"result"`
	Configuration []Descriptor `json:"configuration"`
	PassedTests   []string     `json:"passedTests,omitempty"`
	WarnedTests   []string     `json:"warnedTests,omitempty"`
	FailedTests   []string     `json:"failedTests,omitempty"`
}

// The results of a claim.
const (
	Passed = "PASSED"
	Warned = "WARNED"
	Failed = "FAILED"
)

// Verified is the predicate of a certificate.
type Verified struct {
	Verifier    Verifier `json:"verifier"`
	TimeCreated string   `json:"timeCreated"`
	Properties  []string `json:"properties"`
}

// Verifier is the operator of a registry, with the policies by which nodes were admitted.
type Verifier struct {
	ID       string       `json:"id"`
	Policies []Descriptor `json:"policies"`
}

// ControlProven is the property of a certificate whose operator saw proof that those who asked for it control the node.
const ControlProven = "RIN_CONTROL_PROVEN"

// TestedBlind is the property of a certificate whose run had an ordinary client's headers: the node could not tell from them that it was tested.
const TestedBlind = "RIN_TESTED_BLIND"

// CertifiedFor returns the property of a certificate that covers a profile.
func CertifiedFor(p requirement.Profile) string {
	return "RIN_" + strings.ToUpper(string(p)) + "_CERTIFIED"
}

// Subjects lists everything that a statement about the run is about: each file, the reduced document, and the registry entry.
func (r Run) Subjects() []Descriptor {
	var out []Descriptor
	for _, f := range r.Files {
		out = append(out, Descriptor{Name: f.Name, Digest: DigestOf(f.Content)})
	}
	if d := r.Log.Document; d != nil && len(d.Reduced) > 0 {
		out = append(out, Descriptor{Name: documentSubject, Digest: DigestOf(d.Reduced)})
	}
	if len(r.Log.Registry) > 0 {
		out = append(out, Descriptor{Name: registrySubject, Digest: DigestOf(r.Log.Registry)})
	}
	return out
}

// certificateSubjects lists the subjects of a certificate. The subject of the registry entry names the node in annotations, so that a certificate shows its
// node without the files of its run. Annotations limit nothing in in-toto, and verification makes them again from the evidence.
func (r Run) certificateSubjects() []Descriptor {
	all := r.Subjects()
	for i := range all {
		if all[i].Name != registrySubject {
			continue
		}
		all[i].URI, all[i].Annotations = r.Log.Run.InfoURL, map[string]string{"id": r.Log.Run.NodeID, "oauth2": r.Log.Run.TokenURL}
		if name := entryName(r.Log.Registry); name != "" {
			all[i].Annotations["name"] = name
		}
	}
	return all
}

// entryName returns the name of the institution in a registry entry, made plain; "" without one.
func entryName(entry []byte) string {
	var members map[string]json.RawMessage
	var name string
	if json.Unmarshal(entry, &members) != nil || json.Unmarshal(members["name"], &name) != nil {
		return ""
	}
	return report.Plain(strings.TrimSpace(evidence.Clip(name, 120)))
}

// NewClaim states what the run showed. A partial or inconclusive run yields no claim.
func NewClaim(r Run) (Statement[TestResult], error) {
	result := Passed
	switch r.Report.Verdict.Decision {
	case verdict.Certified:
		if r.Report.Totals.Warn > 0 {
			result = Warned
		}
	case verdict.NotCertified:
		result = Failed
	case verdict.Partial:
		return Statement[TestResult]{}, fmt.Errorf("a partial run (%s) yields no claim", cmp.Or(r.Report.Run.Partial, "with a baseline"))
	default:
		return Statement[TestResult]{}, fmt.Errorf("an inconclusive run yields no claim: %s", r.Report.Verdict.Headline)
	}
	p := TestResult{Result: result, Configuration: configuration(r)}
	for _, q := range r.Report.Requirements {
		switch id := string(q.ID); q.Outcome {
		case requirement.Pass:
			p.PassedTests = append(p.PassedTests, id)
		case requirement.Warn:
			p.WarnedTests = append(p.WarnedTests, id)
		case requirement.Fail:
			p.FailedTests = append(p.FailedTests, id)
		}
	}
	return Statement[TestResult]{StatementType, r.Subjects(), TestResultType, p}, nil
}

// configuration says how the run was made: suite, catalogue, choices of the run, and the documents that it rested on.
func configuration(r Run) []Descriptor {
	run, made := r.Log.Run, r.Report.Made
	choices := map[string]string{
		"profile": string(r.Report.Profile), "effort": run.Effort, "seed": run.Seed, "started": run.Started.UTC().Format(time.RFC3339),
		"clientId": run.ClientID, "blind": strconv.FormatBool(run.Blind), "requests": strconv.Itoa(r.Report.Budget.Sent),
	}
	for name, text := range map[string]string{"node": run.NodeID, "operator": run.Operator} {
		if text != "" {
			choices[name] = text
		}
	}
	out := []Descriptor{
		{Name: "suite", URI: "pkg:golang/github.com/rin-network/rin@" + r.Report.Suite.Version, Annotations: map[string]string{"recordedBy": run.Suite}},
		{Name: "catalogue", Digest: &Digest{requirement.CatalogueDigest()}, Annotations: map[string]string{"version": requirement.Version}},
		{Name: "run", URI: run.InfoURL, Annotations: choices},
	}
	if d := made.Registry; d != nil && d.Digest != "" {
		out = append(out, Descriptor{Name: "registry", URI: d.URL, Digest: bareDigest(d.Digest)})
	}
	if run.AuthoritiesDigest != "" {
		out = append(out, Descriptor{Name: "authorities", Digest: bareDigest(run.AuthoritiesDigest)})
	}
	return out
}

// bareDigest returns a digest of the evidence, "sha256:" and hexadecimal, in the form of in-toto.
func bareDigest(text string) *Digest {
	return &Digest{strings.TrimPrefix(text, "sha256:")}
}

// Admission is what the operator of a registry decided.
type Admission struct {
	// Operator is a URI that names the operator, Policy the policy that was applied.
	Operator string
	Policy   File
	Created  time.Time
	// Control reports that the operator saw proof of control.
	Control bool
}

// NewCertificate states that the run, which the operator made, passed under the policy.
func NewCertificate(r Run, a Admission) (Statement[Verified], error) {
	if r.Report.Verdict.Decision != verdict.Certified {
		return Statement[Verified]{}, fmt.Errorf("expected a run that certified the node, got: %s", r.Report.Verdict.Headline)
	}
	if a.Operator == "" || a.Policy.Name == "" || a.Created.IsZero() {
		return Statement[Verified]{}, fmt.Errorf("expected operator, policy and time of the certificate, got %q, %q and %s", a.Operator, a.Policy.Name, a.Created)
	}
	p := Verified{
		Verifier:    Verifier{a.Operator, []Descriptor{{Name: a.Policy.Name, Digest: DigestOf(a.Policy.Content)}}},
		TimeCreated: a.Created.UTC().Truncate(time.Second).Format(time.RFC3339),
		Properties:  []string{CertifiedFor(r.Report.Profile)},
	}
	if a.Control {
		p.Properties = append(p.Properties, ControlProven)
	}
	if r.Report.Made.Blind {
		p.Properties = append(p.Properties, TestedBlind)
	}
	return Statement[Verified]{StatementType, r.certificateSubjects(), VerifiedByType, p}, nil
}

// Payload returns the statement as canonical JSON, without a newline at its end.
func (s Statement[P]) Payload() []byte { return bytes.TrimSuffix(canonical(s), []byte("\n")) }

// readStatement reads a payload, and refuses one that is not canonical: one with an unknown member, a repeated one, or another order.
func readStatement[P any](payload []byte) (Statement[P], error) {
	var s Statement[P]
	dec := json.NewDecoder(bytes.NewReader(payload))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return s, fmt.Errorf("expected an in-toto statement: %w", err)
	}
	if s.Type != StatementType {
		return s, fmt.Errorf("_type: expected %s, got %.100q", StatementType, s.Type)
	}
	if !bytes.Equal(s.Payload(), payload) {
		return s, fmt.Errorf("the statement is not in its canonical form")
	}
	return s, nil
}

// predicateType reads the type of the predicate, by which the payload is read further.
func predicateType(payload []byte) (string, error) {
	var s struct {
		PredicateType string `json:"predicateType"`
	}
	if err := json.Unmarshal(payload, &s); err != nil {
		return "", fmt.Errorf("expected an in-toto statement: %w", err)
	}
	return s.PredicateType, nil
}

// Words describes a claim in one line for people.
func (t TestResult) Words() string {
	return fmt.Sprintf("a claim: %s, %s passed, %d warned, %d failed", t.Result, evidence.Count(len(t.PassedTests), "requirement"), len(t.WarnedTests), len(t.FailedTests))
}

// Words describes a certificate in one line for people.
func (v Verified) Words() string {
	known := "the node could know that it was tested"
	if slices.Contains(v.Properties, TestedBlind) {
		known = "the node could not know from the requests' headers that it was tested"
	}
	return fmt.Sprintf("a certificate of %s of %s: %s; %s", report.Plain(v.Verifier.ID), report.Plain(v.TimeCreated), report.Plain(strings.Join(v.Properties, ", ")), known)
}
