package evidence

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Schema is the version of the evidence file that this package writes. It also reads [SchemaV1].
const Schema = "rin.evidence/v2"

// SchemaV1 is the version whose exchanges hold their bodies, in a file that is not compressed.
const SchemaV1 = "rin.evidence/v1"

// Log is the evidence of one run, which checks read, live and later. Build one with a [Journal] or [ReadLog]; the zero value is an
// empty run.
type Log struct {
	Run       Run
	Roles     Roles
	Planned   []Label // every planned label once, in the order of the plan
	Exchanges []Exchange
	// Handshakes are TLS handshakes without a request.
	Handshakes []Handshake
	NotSent    []NotSent
	Document   *Document
	Findings   []SchemaFindings
	// Registry is the registry entry that the run started from, redacted; nil without a registry.
	Registry json.RawMessage
	// RegistryFacts are nil without a registry, and in older evidence.
	RegistryFacts *RegistryFacts
	// Ended is nil during the run, and if the recording was cut off.
	Ended *Ended

	byLabel map[Label]int
}

// Run describes what was tested, by what, with which choices. It holds no secrets.
type Run struct {
	Schema  string    `json:"schema"` // "rin.evidence/v2"
	Suite   string    `json:"suite"`  // version of rin
	Started time.Time `json:"started"`
	// Operator names who ran the test, as they said; empty if they did not.
	Operator string `json:"operator,omitempty"`
	Profile  string `json:"profile"`
	// ProfileReason says why rin chose the profile; empty if the operator did.
	ProfileReason string `json:"profileReason,omitempty"`
	TokenURL      string `json:"tokenUrl"`
	InfoURL       string `json:"infoUrl"`
	SpecURL       string `json:"specUrl,omitempty"`
	BaseURL       string `json:"baseUrl,omitempty"`
	// SpecDerived reports that the specification URL was derived from the info URL.
	SpecDerived bool `json:"specDerived,omitempty"`
	// BaseGiven reports that the operator named the base URL (--base-url).
	BaseGiven bool `json:"baseGiven,omitempty"`
	// ListOperation and DetailOperation are the operator's names of the funding operations.
	ListOperation   string `json:"listOperation,omitempty"`
	DetailOperation string `json:"detailOperation,omitempty"`
	Registry        string `json:"registry,omitempty"`
	NodeID          string `json:"nodeId,omitempty"`
	ClientID        string `json:"clientId"`
	Loopback        bool   `json:"loopback"`
	// Authorities reports that the operator named certificate authorities besides the system's; AuthoritiesDigest is "sha256:" and the digest
	// of their file.
	Authorities       bool   `json:"authorities,omitempty"`
	AuthoritiesDigest string `json:"authoritiesDigest,omitempty"`
	// AllowedOrigins are further origins that may receive the token.
	AllowedOrigins []string `json:"allowedOrigins,omitempty"`
	Second         bool     `json:"secondClient"` // a client without the role was given
	// Other reports a client whose tokens are meant for another audience, ExpiredToken an expired token.
	Other        bool `json:"otherClient,omitempty"`
	ExpiredToken bool `json:"expiredToken,omitempty"`
	// Spare reports a client that may be locked out.
	Spare bool `json:"spareClient,omitempty"`
	// StagingTokenURL is the token endpoint of the staging environment; empty without one.
	StagingTokenURL string `json:"stagingTokenUrl,omitempty"`
	// Wait is how long the run was allowed to wait for a token to expire.
	Wait time.Duration `json:"waitNs,omitempty"`
	// TokenInURL and SecretInURL report that the operator allowed these requests.
	TokenInURL  bool `json:"tokenInUrl,omitempty"`
	SecretInURL bool `json:"secretInUrl,omitempty"`
	// Blind reports that the requests had an ordinary client's headers.
	Blind bool `json:"blind,omitempty"`
	// BruteForce is the operator's attestation; nil without one.
	BruteForce *Attestation `json:"bruteForce,omitempty"`
	Partial    string       `json:"partial,omitempty"`
	// Gaps are the operations that the operator accepts as not called. Values are the names of the parameters that the operator gave values for.
	Gaps   []Gap    `json:"gaps,omitempty"`
	Values []string `json:"values,omitempty"`
	// DocumentFile is the source of the node's document in the operator's repository; nil if none was named.
	DocumentFile *DocumentFile `json:"documentFile,omitempty"`
	// Only lists the requirements that a partial run was restricted to.
	Only []string `json:"only,omitempty"`
	// Failed lists those of them that had failed, or were warned, in the run that this one repeats.
	Failed []string `json:"failed,omitempty"`
	// ShortSecret reports a client secret of less than 8 bytes: only whole words are compared with it, and a match may be chance.
	ShortSecret bool `json:"shortSecret,omitempty"`
	Budget      int  `json:"budget"` // requests planned at most, computed before the run
	// Seed chooses what was drawn for this run; empty in evidence of older versions, which drew nothing. Effort says how much was drawn.
	Seed   string `json:"seed,omitempty"`
	Effort string `json:"effort,omitempty"`
	// DeepBudget is the largest number of requests of a deep run, by which its plan was made; 0 otherwise.
	DeepBudget int `json:"deepBudget,omitempty"`
	// Families are the families of requests from which the run drew, in the order of the table of cases.
	Families []FamilyKinds `json:"families,omitempty"`
}

// Gap is an operation that the operator accepts as not called.
type Gap struct {
	// Operation is its operationId, key, path or method and path; Reason is the operator's, redacted.
	Operation string `json:"operation"`
	Reason    string `json:"reason"`
}

// DocumentFile is where the source of the node's document lies, so that a report can point at its lines.
type DocumentFile struct {
	Path string `json:"path"` // as the operator gave it
	// Lines holds the line of each path and operation, from 1, by its JSON Pointer (RFC 6901).
	Lines map[string]int `json:"lines,omitempty"`
}

// Line returns the line of the nearest element on the way to a pointer; 1 if the file has none.
func (d DocumentFile) Line(pointer string) int {
	for pointer != "" {
		if line, ok := d.Lines[pointer]; ok {
			return line
		}
		pointer = pointer[:strings.LastIndexByte(pointer, '/')]
	}
	return 1
}

// Attestation is an operator's statement about something that must not be probed.
type Attestation struct {
	Holds bool `json:"holds"`
	// How is the operator's explanation, redacted.
	How string `json:"how,omitempty"`
}

// Roles name the node's resources by their purpose.
type Roles struct {
	// ProbeTarget is the protected resource for the bearer rules; empty if none refused an anonymous call.
	ProbeTarget Resource `json:"probeTarget,omitempty"`
	List        Resource `json:"list,omitempty"`
	Detail      Resource `json:"detail,omitempty"`
	// OtherLists are the lists beside that of the calls, each with its detail.
	OtherLists []ListRoles `json:"otherLists,omitempty"`
	// Operations are the resources of all executed GET operations, in document order.
	Operations []Resource `json:"operations,omitempty"`
	// OperationBase is the URL prefix of the operations, and how it was found.
	OperationBase string   `json:"operationBase,omitempty"`
	BaseTried     []string `json:"baseTried,omitempty"`
}

// ListRoles are a list and the operation that shows one of its items, if there is one.
type ListRoles struct {
	List   Resource `json:"list"`
	Detail Resource `json:"detail,omitempty"`
}

// NotSent explains a planned label without an exchange.
type NotSent struct {
	Label   Label       `json:"label"`
	Words   string      `json:"words,omitempty"` // as those of an exchange
	Kind    NotSentKind `json:"kind"`
	Because string      `json:"because"`
}

// NotSentKind says what a missing exchange means to its requirements.
type NotSentKind string

// The kinds.
const (
	Unmet         NotSentKind = "unmet"          // a precondition is not met: its requirements are blocked
	NotApplicable NotSentKind = "not-applicable" // the node does not have it, or the operator did not ask for it
	OverBudget    NotSentKind = "over-budget"    // the request budget or the deadline ran out: inconclusive
	// Stopped means that the server had stopped answering: inconclusive. The reason begins with its origin.
	Stopped NotSentKind = "stopped"
)

// Document is the node's API document after the guard.
type Document struct {
	// Reduced is the document without examples, extensions and foreign references; nil if refused.
	Reduced json.RawMessage `json:"reduced,omitempty"`
	// Refused is the reason why the guard did not accept the document.
	Refused string `json:"refused,omitempty"`
	// Removed lists what the guard removed, as far as a requirement judges it, in a stable order.
	Removed []Removed `json:"removed,omitempty"`
	// Invalid holds the differences from the meta-schema of the document's version, each as "place: words" (SPC-07); 20 at most.
	Invalid []string `json:"invalid,omitempty"`
	// Uncompared is the reason why the document was not compared with the meta-schema.
	Uncompared string `json:"uncompared,omitempty"`
}

// Removed is one reference or keyword that the guard removed.
type Removed struct {
	Pointer string `json:"pointer"` // RFC 6901
	Keyword string `json:"keyword"` // "$ref", "$dynamicRef", "$schema", "$id"
	Value   string `json:"value"`
}

// SchemaFindings are the differences between one answer and the document's schema.
type SchemaFindings struct {
	Label Label `json:"label"`
	// Judged is false if no schema could be applied; Why is the reason ("no schema", "dangling $ref", "not JSON").
	Judged bool   `json:"judged"`
	Why    string `json:"why,omitempty"`
	// Undecided reports that a schema exists, and that judging the answer by it would exceed rin's limits.
	Undecided bool      `json:"undecided,omitempty"`
	Items     int       `json:"items"` // top-level array members, or 1
	Total     int       `json:"total"` // findings before the list was shortened
	Findings  []Finding `json:"findings,omitempty"`
}

// Finding is one difference between an answer and the document. It holds no value of the answer beyond a short scalar
// that is not personal: a type name, an enum value, a status, a media type, a malformed date.
type Finding struct {
	Kind     FindingKind `json:"kind"`
	Path     string      `json:"path"` // JSON path of the value, "$[3].callStages[0].callStageEnd"
	Expected string      `json:"expected"`
	Got      string      `json:"got"`
	Keyword  string      `json:"keyword,omitempty"` // JSON pointer into the document
	// Erratum is the id of the known fault of the published documents that explains the finding ("M1"); it is tolerated.
	Erratum string `json:"erratum,omitempty"`
}

// FindingKind routes a finding to its requirement.
type FindingKind string

// The kinds of finding.
const (
	FindingStatus    FindingKind = "status"     // API-02
	FindingMediaType FindingKind = "media-type" // API-02
	FindingTopLevel  FindingKind = "top-level"  // API-03
	FindingRequired  FindingKind = "required"   // API-04
	FindingType      FindingKind = "type"       // API-05, null included
	FindingEnum      FindingKind = "enum"       // API-06
	FindingFormat    FindingKind = "format"     // API-07: date, date-time (others: warning)
	FindingOther     FindingKind = "other"      // bounds, patterns, additionalProperties: API-05
	FindingHeader    FindingKind = "header"     // a described header field that is missing or does not fit: API-02
)

// Ended describes the end of the run.
type Ended struct {
	Complete bool   `json:"complete"`
	Cause    string `json:"cause,omitempty"`
	Requests int    `json:"requests"` // requests sent, repeats included
	// Slowdown is nil if the node refused no request for load.
	Slowdown *Slowdown `json:"slowdown,omitempty"`
}

// Slowdown says how far a run slowed down for a node that refused requests for load.
type Slowdown struct {
	Refusals int     `json:"refusals"` // answers that refused a request
	Status   int     `json:"status"`   // of the latest of them: 429 or 503
	Rate     float64 `json:"rate"`     // requests a second when the run ended; 0 means unlimited
}

// String describes the slowdown in words.
func (s Slowdown) String() string {
	if s.Rate == 0 {
		return fmt.Sprintf("the node refused %s for load (%d) and was given time", Count(s.Refusals, "request"), s.Status)
	}
	return fmt.Sprintf("the node refused %s for load (%d), so rin slowed down; at the end it sent at most %.3g a second", Count(s.Refusals, "request"), s.Status, s.Rate)
}

// Get returns the exchange with that label.
func (l *Log) Get(label Label) (Exchange, bool) {
	if l.byLabel == nil || len(l.byLabel) != len(l.Exchanges) {
		l.index()
	}
	i, ok := l.byLabel[label]
	if !ok {
		return Exchange{}, false
	}
	return l.Exchanges[i], true
}

func (l *Log) index() {
	l.byLabel = make(map[Label]int, len(l.Exchanges))
	for i, x := range l.Exchanges {
		l.byLabel[x.Label] = i
	}
}

// Skipped returns the reason why the label was not sent.
func (l *Log) Skipped(label Label) (NotSent, bool) {
	return find(l.NotSent, func(n NotSent) bool { return n.Label == label })
}

// Outage describes an origin that stopped answering during the run.
type Outage struct {
	Origin  string
	Cause   string // one sentence
	NotSent int    // planned requests
}

// Outages lists the outages of the run in the order in which they were noticed.
func (l *Log) Outages() []Outage {
	var out []Outage
	for _, n := range l.NotSent {
		if n.Kind != Stopped {
			continue
		}
		i := slices.IndexFunc(out, func(o Outage) bool { return o.Cause == n.Because })
		if i < 0 {
			origin, _, _ := strings.Cut(n.Because, " ")
			i, out = len(out), append(out, Outage{Origin: origin, Cause: n.Because})
		}
		out[i].NotSent++
	}
	return out
}

// FindingsOf returns the schema findings of one exchange.
func (l *Log) FindingsOf(label Label) (SchemaFindings, bool) {
	return find(l.Findings, func(f SchemaFindings) bool { return f.Label == label })
}

// Handshake returns the handshake with that label.
func (l *Log) Handshake(label Label) (Handshake, bool) {
	return find(l.Handshakes, func(h Handshake) bool { return h.Label == label })
}

func find[T any](list []T, match func(T) bool) (found T, ok bool) {
	if i := slices.IndexFunc(list, match); i >= 0 {
		return list[i], true
	}
	return found, false
}

// Resolve replaces a role by the resources that hold it in this run, if any; other labels are returned unchanged.
func (l *Log) Resolve(label Label) []Label {
	c := label.Case()
	switch label.Resource() {
	case ProbeTarget:
		return labelsOf(c, l.Roles.ProbeTarget)
	case ListOperation:
		return labelsOf(c, l.Roles.List)
	case DetailOperation:
		return labelsOf(c, l.Roles.Detail)
	case EveryOperation:
		return labelsOf(c, l.Roles.Operations...)
	}
	return []Label{label}
}

func labelsOf(c Case, resources ...Resource) []Label {
	var out []Label
	for _, r := range resources {
		if r != "" {
			out = append(out, r.With(c))
		}
	}
	return out
}

// RegistryFacts are what a registry document contains besides the node's entry. The document itself is not kept.
type RegistryFacts struct {
	// Digest is "sha256:" and the digest of the document in hexadecimal; empty in older evidence.
	Digest string `json:"digest,omitempty"`
	// Entries counts the entries of the document.
	Entries int `json:"entries"`
	// Twins are the first few other entries with the same id.
	Twins []RegistryTwin `json:"twins,omitempty"`
	// Repeated are members that the document contains twice.
	Repeated []string `json:"repeated,omitempty"`
}

// RegistryTwin holds the URLs of another entry with the node's id.
type RegistryTwin struct {
	TokenURL string `json:"tokenUrl,omitempty"`
	InfoURL  string `json:"infoUrl,omitempty"`
}
