package evidence

import (
	"encoding/json"
	"time"
)

// Schema is the version of the evidence file that this package writes and reads.
const Schema = "rin.evidence/v1"

// Log is the evidence of one run, as data. It is what checks read, live and when judged again.
// Build one with a [Journal] or [ReadLog]; the zero value is an empty run.
type Log struct {
	Run       Run
	Roles     Roles
	Planned   []Label // every label that was planned, in the order of the plan, without repeats
	Exchanges []Exchange
	// Handshakes are the TLS handshakes that were made for their own sake.
	Handshakes []Handshake
	NotSent    []NotSent
	Document   *Document
	Findings   []SchemaFindings
	// Registry is the registry entry that the run started from, redacted; nil without a registry.
	Registry json.RawMessage
	// RegistryFacts are nil without a registry, and in evidence of versions that took none.
	RegistryFacts *RegistryFacts
	// Ended is nil while the run goes on, or when the recording was cut off.
	Ended *Ended

	byLabel map[Label]int
}

// Run says what was tested, by what, with which choices. It holds no secret.
type Run struct {
	Schema   string    `json:"schema"` // "rin.evidence/v1"
	Suite    string    `json:"suite"`  // version of rin
	Started  time.Time `json:"started"`
	Profile  string    `json:"profile"`
	TokenURL string    `json:"tokenUrl"`
	InfoURL  string    `json:"infoUrl"`
	SpecURL  string    `json:"specUrl,omitempty"`
	BaseURL  string    `json:"baseUrl,omitempty"`
	Registry string    `json:"registry,omitempty"`
	NodeID   string    `json:"nodeId,omitempty"`
	ClientID string    `json:"clientId"`
	Loopback bool      `json:"loopback"`
	// Authorities says that the operator named certificate authorities to trust besides the system's.
	Authorities bool `json:"authorities,omitempty"`
	Second      bool `json:"secondClient"` // whether a client without the role was given
	// Other says that a client whose tokens are meant for another audience was given, ExpiredToken an expired token.
	Other        bool `json:"otherClient,omitempty"`
	ExpiredToken bool `json:"expiredToken,omitempty"`
	// StagingTokenURL is the token endpoint of the staging environment; empty without one.
	StagingTokenURL string `json:"stagingTokenUrl,omitempty"`
	// Wait is how long the run was allowed to wait for a token to expire.
	Wait time.Duration `json:"waitNs,omitempty"`
	// TokenInURL and SecretInURL say that the operator allowed these.
	TokenInURL  bool `json:"tokenInUrl,omitempty"`
	SecretInURL bool `json:"secretInUrl,omitempty"`
	// BruteForce is what the operator attested; nil without an answer.
	BruteForce *Attestation `json:"bruteForce,omitempty"`
	Partial    string       `json:"partial,omitempty"`
	// Only are the requirements that a partial run was restricted to; empty when it asked for all that it could.
	Only []string `json:"only,omitempty"`
	// ShortSecret says that a client secret has less than 8 bytes: it is found in answers as a whole word only, which may be chance.
	ShortSecret bool `json:"shortSecret,omitempty"`
	Budget      int  `json:"budget"` // requests planned at most, computed before the run
}

// Attestation is what a node's operator says about something that must not be probed.
type Attestation struct {
	Holds bool `json:"holds"`
	// How says in the operator's words what makes it hold; redacted.
	How string `json:"how,omitempty"`
}

// Roles are what discovery found the node's resources to be.
type Roles struct {
	// ProbeTarget is the protected resource that the bearer rules are tried on; empty when none refused an anonymous call.
	ProbeTarget Resource `json:"probeTarget,omitempty"`
	List        Resource `json:"list,omitempty"`
	Detail      Resource `json:"detail,omitempty"`
	// Operations are the resources of all executed GET operations, in document order.
	Operations []Resource `json:"operations,omitempty"`
	// OperationBase is the URL prefix that operations were found under, and how it was found.
	OperationBase string   `json:"operationBase,omitempty"`
	BaseTried     []string `json:"baseTried,omitempty"`
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
	Unmet         NotSentKind = "unmet"          // a fact it builds on is missing: its requirements are blocked
	NotApplicable NotSentKind = "not-applicable" // the node has no such thing, or it was not asked for
	OverBudget    NotSentKind = "over-budget"    // the request budget or the deadline ran out: inconclusive
)

// Document is the node's API document after the guard.
type Document struct {
	// Reduced is the JSON that was read: examples, extensions and foreign references are gone. Nil when refused.
	Reduced json.RawMessage `json:"reduced,omitempty"`
	// Refused says why the guard did not accept the document; empty when it did.
	Refused string `json:"refused,omitempty"`
	// Removed lists what the guard replaced and a requirement wants to know of, stably ordered.
	Removed []Removed `json:"removed,omitempty"`
	// Invalid holds the differences from the meta-schema of the document's version, each as "place: words" (SPC-07); 20 at most.
	Invalid []string `json:"invalid,omitempty"`
	// Uncompared says why the document was not compared with the meta-schema; empty when it was.
	Uncompared string `json:"uncompared,omitempty"`
}

// Removed is one reference or keyword that the guard took out of a document.
type Removed struct {
	Pointer string `json:"pointer"` // RFC 6901
	Keyword string `json:"keyword"` // "$ref", "$dynamicRef", "$schema", "$id"
	Value   string `json:"value"`
}

// SchemaFindings are what the document's schema says of one answer.
type SchemaFindings struct {
	Label Label `json:"label"`
	// Judged is false when no schema could be applied; Why tells the reason ("no schema", "dangling $ref", "not JSON").
	Judged bool   `json:"judged"`
	Why    string `json:"why,omitempty"`
	// Undecided says that a schema is there, and that what it says of the answer could not be found out within rin's bounds.
	Undecided bool      `json:"undecided,omitempty"`
	Items     int       `json:"items"` // top-level array members, or 1
	Total     int       `json:"total"` // findings before the list was cut
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

// Ended says how the run ended.
type Ended struct {
	Complete bool   `json:"complete"`
	Cause    string `json:"cause,omitempty"`
	Requests int    `json:"requests"` // requests really sent, repeats included
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
	for _, n := range l.NotSent {
		if n.Label == label {
			return n, true
		}
	}
	return NotSent{}, false
}

// FindingsOf returns the schema findings of one exchange.
func (l *Log) FindingsOf(label Label) (SchemaFindings, bool) {
	for _, f := range l.Findings {
		if f.Label == label {
			return f, true
		}
	}
	return SchemaFindings{}, false
}

// Resolve replaces a role by the resources that hold it in this run; a label without a role is returned as it is.
// The result is empty when nothing holds the role.
func (l *Log) Resolve(label Label) []Label {
	c := label.Case()
	switch label.Resource() {
	case ProbeTarget:
		return holders(c, l.Roles.ProbeTarget)
	case ListOperation:
		return holders(c, l.Roles.List)
	case DetailOperation:
		return holders(c, l.Roles.Detail)
	case EveryOperation:
		return holders(c, l.Roles.Operations...)
	}
	return []Label{label}
}

func holders(c Case, resources ...Resource) []Label {
	var out []Label
	for _, r := range resources {
		if r != "" {
			out = append(out, r.With(c))
		}
	}
	return out
}

// RegistryFacts are what a registry document says beyond the node's entry. The document as a whole is not kept.
type RegistryFacts struct {
	// Entries counts the entries of the document.
	Entries int `json:"entries"`
	// Twins are the other entries with the same id, the first few of them.
	Twins []RegistryTwin `json:"twins,omitempty"`
	// Repeated are member names that the document itself holds twice.
	Repeated []string `json:"repeated,omitempty"`
}

// RegistryTwin is another entry with the node's id, by its URLs.
type RegistryTwin struct {
	TokenURL string `json:"tokenUrl,omitempty"`
	InfoURL  string `json:"infoUrl,omitempty"`
}
