package certificate

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
)

// The files of a run that verification knows by name.
const (
	EvidenceFile = "evidence.jsonl.gz"
	ReportFile   = "report.json"
	// ClaimFile and CertificateFile hold the envelopes.
	ClaimFile       = "claim.intoto.json"
	CertificateFile = "certificate.intoto.json"
)

// Step is one step of a verification.
type Step string

// The steps, in their order.
const (
	StepSignature Step = "signature"
	StepFiles     Step = "files"
	StepPlan      Step = "plan"
	StepExchanges Step = "exchanges"
	StepJudgement Step = "judgement"
	// StepEntry compares nothing unless a registry document is given.
	StepEntry Step = "entry"
)

// State says how a step ended.
type State string

// The states.
const (
	Holds      State = "holds"
	Broken     State = "broken"      // the run is not what it claims to be
	Undecided  State = "undecided"   // this program cannot tell
	NotChecked State = "not checked" // there is nothing to compare, or an earlier step is broken
)

// Check is the result of one step. Compared says what was compared; Place and Why describe what does not hold.
type Check struct {
	Step     Step   `json:"step"`
	State    State  `json:"state"`
	Compared string `json:"compared"`
	Place    string `json:"place,omitempty"`
	Why      string `json:"why,omitempty"`
}

// Input is what is verified.
type Input struct {
	// Files are the files of the run, the evidence among them.
	Files []File
	// Envelope is the claim or the certificate about the run; its Content is nil without one.
	Envelope File
	// Alone means that the files of the run are elsewhere: only the envelope is verified.
	Alone bool
	// Key is the key that must have signed the envelope; nil if it is not known. RequireSignature makes a run without a checked signature undecided.
	Key              ed25519.PublicKey
	RequireSignature bool
	// Registry is a registry document whose entry of the node must be the one that was tested; nil without one.
	Registry []byte
	// Suite is the version of this program.
	Suite string
}

// Verification is the result of [Verify].
type Verification struct {
	Checks []Check `json:"steps"`
	// SignedBy is the fingerprint of the key whose signature was checked; empty without one.
	SignedBy string `json:"signedBy,omitempty"`
	// StatementText describes the statement in words. Headline is the decision of the report in words.
	StatementText string `json:"says,omitempty"`
	Headline      string `json:"headline,omitempty"`
	// About lists the nodes that the statement names. It is signed, not derived from evidence.
	About []About `json:"about,omitempty"`
	// Tested is the node that the run tested; nil if the evidence could not be read, or a step does not hold.
	Tested *Tested `json:"tested,omitempty"`
	// Entry is the id of the entry in the registry document that is about this node; empty without a registry document or such an entry.
	Entry string `json:"entry,omitempty"`
}

// About is a node as a statement names it. A statement leaves out what it does not say.
type About struct {
	ID       string `json:"id,omitempty"`
	Name     string `json:"name,omitempty"`
	InfoURL  string `json:"info,omitempty"`
	TokenURL string `json:"oauth2,omitempty"`
	Profile  string `json:"profile,omitempty"`
	Status   string `json:"status,omitempty"`
	// Tested is the night of the last test. Ends is when the certificate reaches its maximum age, ValidUntil until when the statement is valid, in RFC 3339.
	Tested     string `json:"tested,omitempty"`
	Ends       string `json:"ends,omitempty"`
	ValidUntil string `json:"validUntil,omitempty"`
}

// String describes the node in words. All of it may come from a node.
func (a About) String() string {
	var parts []string
	add := func(format, text string) {
		if text != "" {
			parts = append(parts, fmt.Sprintf(format, text))
		}
	}
	add("%s", a.ID)
	add("%s", a.Name)
	add("%s", a.Status)
	add("profile %s", a.Profile)
	add("last tested in the night of %s", a.Tested)
	add("its certificate ends at %s unless it is renewed", a.Ends)
	add("info endpoint %s", a.InfoURL)
	add("token endpoint %s", a.TokenURL)
	return report.Plain(strings.Join(parts, ", "))
}

// Tested names a node as the run does. ID is empty for a run that was given URLs.
type Tested struct {
	ID       string `json:"id,omitempty"`
	TokenURL string `json:"oauth2"`
	InfoURL  string `json:"info"`
}

// String names the node in words.
func (t Tested) String() string {
	id := ""
	if t.ID != "" {
		id = t.ID + ", "
	}
	return report.Plain(id + "token endpoint " + t.TokenURL + ", info endpoint " + t.InfoURL)
}

// State returns the state of the verification: that of the first step that does not hold, or else of the first that could not be decided.
func (v Verification) State() State {
	for _, s := range []State{Broken, Undecided} {
		if slices.ContainsFunc(v.Checks, func(c Check) bool { return c.State == s }) {
			return s
		}
	}
	return Holds
}

// First returns the first step in a state.
func (v Verification) First(s State) (Check, bool) {
	if i := slices.IndexFunc(v.Checks, func(c Check) bool { return c.State == s }); i >= 0 {
		return v.Checks[i], true
	}
	return Check{}, false
}

// verification is the state of a running verification.
type verification struct {
	Verification
	in     Input
	signed *Signed
	// log is the evidence; nil if it could not be read. unread says why.
	log    *evidence.Log
	unread error
	run    *probe.Replanned
}

// Verify recomputes the run step by step, and stops at the first that does not hold.
func Verify(in Input) Verification {
	v := &verification{in: in}
	v.take(StepSignature, v.signature)
	if in.Alone {
		for _, s := range []Step{StepFiles, StepPlan, StepExchanges, StepJudgement} {
			v.Checks = append(v.Checks, Check{Step: s, State: NotChecked, Compared: "nothing, because the files of the run are not beside the statement"})
		}
		return v.Verification
	}
	v.take(StepFiles, v.files)
	if v.isBroken() {
		for _, name := range []Step{StepPlan, StepExchanges, StepJudgement} {
			v.skip(name)
		}
		v.takeEntry()
		return v.Verification
	}
	v.read()
	// The judgement runs in the background, because it takes half of the time and the plan does not depend on it. When it has judged, it closes judged and
	// writes the reports, the largest on one processor only; the exchanges are checked meanwhile.
	var working sync.WaitGroup
	judged := make(chan struct{})
	var judgement Check
	var headline string
	working.Go(func() {
		judgement, headline = v.judgement(sync.OnceFunc(func() { close(judged) }))
	})
	v.take(StepPlan, v.plan)
	<-judged
	v.take(StepExchanges, v.exchanges)
	working.Wait()
	v.take(StepJudgement, func() Check {
		v.Headline = headline
		return judgement
	})
	v.takeEntry()
	if v.log != nil && !v.isBroken() {
		v.Tested = &Tested{v.log.Run.NodeID, v.log.Run.TokenURL, v.log.Run.InfoURL}
	}
	return v.Verification
}

// isBroken reports whether a step did not hold. Then no later step is run.
func (v *verification) isBroken() bool { return v.State() == Broken }

// take runs a step and keeps its check, unless an earlier step did not hold.
func (v *verification) take(name Step, do func() Check) {
	if v.isBroken() {
		v.skip(name)
		return
	}
	v.Checks = append(v.Checks, do())
}

// skip keeps the check of a step that is not run, because an earlier one did not hold.
func (v *verification) skip(name Step) {
	first, _ := v.First(Broken)
	v.Checks = append(v.Checks, Check{Step: name, State: NotChecked, Compared: fmt.Sprintf("nothing, because the step %s does not hold", first.Step)})
}

func holds(s Step, format string, args ...any) Check {
	return Check{Step: s, State: Holds, Compared: fmt.Sprintf(format, args...)}
}

// broken returns the check of a step that does not hold. The place and the reason may quote evidence.
func broken(s Step, compared, place, why string) Check {
	return Check{Step: s, State: Broken, Compared: compared, Place: report.Plain(place), Why: report.Plain(why)}
}

func undecided(s Step, compared, place, why string) Check {
	c := broken(s, compared, place, why)
	c.State = Undecided
	return c
}

// signature checks form, type and signature of the envelope, and keeps the statement for later steps.
func (v *verification) signature() Check {
	const compared = "form, payload type and statement of the envelope, and its signature"
	unsigned := NotChecked
	if v.in.RequireSignature {
		unsigned = Undecided
	}
	if v.in.Envelope.Content == nil {
		return Check{Step: StepSignature, State: unsigned, Compared: "nothing, because the files of the run hold no signature: there is no " + ClaimFile + " or " + CertificateFile}
	}
	name := v.in.Envelope.Name
	s, err := Open(v.in.Envelope.Content)
	if err != nil {
		return broken(StepSignature, compared, name, err.Error())
	}
	if v.in.Key != nil {
		if err := s.Check(v.in.Key); err != nil {
			return broken(StepSignature, compared, name, err.Error())
		}
	}
	if v.StatementText, err = describe(s.Payload); err != nil {
		return broken(StepSignature, compared, name, err.Error())
	}
	v.signed, v.About = &s, about(s.Payload)
	if v.in.Key == nil {
		return Check{Step: StepSignature, State: unsigned, Compared: "form, payload type and statement of " + name + "; not its signature, because no key was given (--key)"}
	}
	v.SignedBy = Fingerprint(v.in.Key)
	return holds(StepSignature, "%s of %s", compared, name)
}

// describe reads a payload and says in words what it states. It refuses statements of other types and other forms.
func describe(payload []byte) (string, error) {
	kind, err := predicateType(payload)
	if err != nil {
		return "", err
	}
	switch kind {
	case TestResultType:
		s, err := readStatement[TestResult](payload)
		return s.Predicate.Words(), err
	case VerifiedByType:
		s, err := readStatement[Verified](payload)
		return s.Predicate.Words(), err
	}
	return "", fmt.Errorf("predicateType: expected %s or %s, got %.100q", TestResultType, VerifiedByType, kind)
}

// about returns the node that a payload names; nil if it names none, as certificates of older versions.
func about(payload []byte) []About {
	var a About
	if s, err := readStatement[TestResult](payload); err == nil {
		for _, c := range s.Predicate.Configuration {
			if c.Name == "run" {
				a = About{ID: c.Annotations["node"], InfoURL: c.URI, Profile: c.Annotations["profile"]}
			}
		}
	}
	if s, err := readStatement[Verified](payload); err == nil {
		for _, subject := range s.Subject {
			if subject.Name == registrySubject && subject.URI != "" {
				a = About{ID: subject.Annotations["id"], Name: subject.Annotations["name"], InfoURL: subject.URI, TokenURL: subject.Annotations["oauth2"]}
			}
		}
		for _, p := range requirement.Profiles() {
			if a.InfoURL != "" && slices.Contains(s.Predicate.Properties, CertifiedFor(p)) {
				a.Profile = string(p)
			}
		}
	}
	if a == (About{}) {
		return nil
	}
	return []About{a}
}

// Subjects lists what the statement is about; nil unless the payload is a statement.
func (s Signed) Subjects() []Descriptor {
	var statement struct {
		Subject []Descriptor `json:"subject"`
	}
	if json.Unmarshal(s.Payload, &statement) != nil {
		return nil
	}
	return statement.Subject
}

// DigestOf returns the digest of the subject with that name in hexadecimal; "" for an unknown name.
func (s Signed) DigestOf(name string) string {
	for _, subject := range s.Subjects() {
		if subject.Name == name && subject.Digest != nil {
			return subject.Digest.SHA256
		}
	}
	return ""
}

// files compares the digest of each file with the statement, in both directions.
func (v *verification) files() Check {
	if v.signed == nil {
		return Check{Step: StepFiles, State: NotChecked, Compared: "nothing, because no statement holds digests"}
	}
	const compared = "the digest of each file with the statement"
	named := map[string]string{}
	for _, s := range v.signed.Subjects() {
		if _, twice := named[s.Name]; twice || s.Digest == nil {
			return broken(StepFiles, compared, s.Name, "the statement names it twice or without a digest")
		}
		named[s.Name] = s.Digest.SHA256
	}
	for _, f := range v.in.Files {
		want, known := named[f.Name]
		switch got := DigestOf(f.Content).SHA256; {
		case !known:
			return broken(StepFiles, compared, f.Name, "the statement does not name this file")
		case got != want:
			return broken(StepFiles, compared, f.Name, fmt.Sprintf("expected the digest sha256:%s, got sha256:%s", want, got))
		}
		delete(named, f.Name)
	}
	delete(named, documentSubject) // these two are in the evidence, and compared once it was read
	delete(named, registrySubject)
	if missing := slices.Sorted(maps.Keys(named)); len(missing) > 0 {
		return broken(StepFiles, compared, missing[0], "the statement names this file, and it is missing")
	}
	return holds(StepFiles, "%s with the digests of the statement", evidence.Count(len(v.in.Files), "file"))
}

// file returns the content of a file of the run.
func (v *verification) file(name string) ([]byte, bool) {
	if i := slices.IndexFunc(v.in.Files, func(f File) bool { return f.Name == name }); i >= 0 {
		return v.in.Files[i].Content, true
	}
	return nil, false
}
