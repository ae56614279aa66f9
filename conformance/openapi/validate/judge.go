// Package validate stands between rin and API documents that nobody trusts.
//
// [Guard] turns the text that a node serves into a reduced copy: JSON of bounded size and depth, without examples and extensions, without
// any reference that leaves the document. A [Judge] compares answers with the reduced copy and says where they differ, as
// findings that hold no content of the answer. [Errata] are the known faults of the network's published documents.
//
// Schemas are judged with the JSON Schema compiler as libopenapi-validator configures it, on copies that this package writes: only known
// keywords in their right shape reach the compiler, and its loader refuses every address, so that nothing a document names
// is ever fetched.
package validate

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// Judge compares answers with one document. It is safe for concurrent use; each schema is compiled when it is first needed.
type Judge struct {
	doc    *openapi.Document
	errata []Erratum

	memory  memory
	mu      sync.Mutex
	schemas map[string]schemaOrWhy // by pointer
}

type schemaOrWhy struct {
	schema *compiled
	why    string
}

// NewJudge reads a document that the guard accepted. The document is guarded once more, since evidence may have been recorded elsewhere.
func NewJudge(doc evidence.Document) (*Judge, error) {
	if doc.Refused != "" {
		return nil, fmt.Errorf("no document to judge by: %s", doc.Refused)
	}
	again := openapi.Guard(doc.Reduced, openapi.Limits{Size: openapi.MaxSize})
	if again.Refused != "" {
		return nil, fmt.Errorf("no document to judge by: %s", again.Refused)
	}
	parsed, err := openapi.Parse(again.Reduced)
	if err != nil {
		return nil, fmt.Errorf("no document to judge by: %w", err)
	}
	return &Judge{doc: parsed, errata: Errata(), schemas: map[string]schemaOrWhy{}}, nil
}

// Annotate says where the answer of an executed operation differs from what the document describes: status, media type, then the body.
// Findings on status and media type are listed even where Judged is false, which speaks of the body alone.
func (j *Judge) Annotate(x evidence.Exchange, op openapi.Operation) evidence.SchemaFindings {
	out := evidence.SchemaFindings{Label: x.Label}
	if x.Response == nil {
		out.Why = "no answer"
		return out
	}
	a := annotation{judge: j, op: op, answer: x.Response, out: &out}
	if pointer, ok := a.describedBy(x.Request.Method); ok {
		a.judgeBody(pointer)
	}
	out.Findings, out.Total = a.found.findings(), a.found.total
	return out
}

// schema compiles the schema at a pointer, once.
func (j *Judge) schema(pointer string) (*compiled, string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if known, ok := j.schemas[pointer]; ok {
		return known.schema, known.why
	}
	entry := schemaOrWhy{}
	t, err := j.doc.Translate(pointer)
	if err == nil {
		entry.schema, err = compile(t)
	}
	if err != nil {
		entry.why = "the schema can't be applied: " + evidence.Clip(err.Error(), 300)
	}
	j.schemas[pointer] = entry
	return entry.schema, entry.why
}

// apply validates one value, between begin and end of the meter. A fault of the library ends the judging of that value alone.
func (c *compiled) apply(schema *jsonschema.Schema, value any) (found []difference, fault error) {
	if c.meter.gaveUp {
		return nil, errSteps
	}
	defer func() {
		switch r := recover(); r {
		case nil:
		case errSteps:
			c.meter.gaveUp = c.meter.value < 0 // a body that is only long says nothing of the schema
			found, fault = nil, errSteps
		default:
			found, fault = nil, fmt.Errorf("the schema library failed: %v", r)
		}
	}()
	c.meter.next()
	err := schema.Validate(value)
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return nil, err
	}
	if endless(invalid) {
		return nil, errors.New("the schema library failed: the schema applies itself without end")
	}
	return c.differences(invalid), nil
}

// endless finds the error that stands for a cycle which the preparation should have cut.
func endless(err *jsonschema.ValidationError) bool {
	if _, ok := err.ErrorKind.(*kind.RefCycle); ok {
		return true
	}
	return slices.ContainsFunc(err.Causes, endless)
}

// Bounds of what is remembered. Bodies that differ much from their schema are the few that a node's engineer waits for; judging them
// again costs less than keeping what was found.
const (
	maxRemembered = 256 // bodies
	maxMemorable  = 20  // findings of one
	maxGoodItems  = 50_000
)

// memory keeps what was judged of a body: a run asks for the same list with a dozen credentials, and gets the same bytes. It also keeps
// which items of lists are as described: pages and filters show the same ones again. It is safe for concurrent use.
type memory struct {
	mu     sync.Mutex
	bodies map[bodyKey]bodyJudged
	good   map[itemKey]int // schemas that were applied
}

// itemKey is everything that judging an item depends on.
type itemKey struct {
	schema string // pointer
	single bool   // by the schema itself, in place of that of its items
	digest [sha256.Size]byte
}

// bodyKey is everything that judging a body depends on.
type bodyKey struct {
	schema    string // pointer
	list, cut bool
	digest    [sha256.Size]byte
}

// bodyJudged is what was found in a body; why is set when it could not be judged.
type bodyJudged struct {
	found collector
	items int
	why   string
	// undecided says that why is a limit of rin's, not a fault of the body.
	undecided bool
}

func (a *annotation) keyOf(body []byte) bodyKey {
	return bodyKey{a.schema, a.list(), a.answer.Truncated, sha256.Sum256(body)}
}

func (m *memory) recall(key bodyKey) (bodyJudged, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	judged, ok := m.bodies[key]
	return judged, ok
}

func (m *memory) keep(key bodyKey, judged bodyJudged) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if judged.found.total > maxMemorable || len(m.bodies) >= maxRemembered {
		return
	}
	if m.bodies == nil {
		m.bodies = map[bodyKey]bodyJudged{}
	}
	m.bodies[key] = judged
}

// recallItem says how many schemas it took to find an item to be as described; ok is false when it was not, or was not seen.
func (m *memory) recallItem(key itemKey) (steps int, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	steps, ok = m.good[key]
	return steps, ok
}

func (m *memory) keepItem(key itemKey, steps int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.good == nil {
		m.good = map[itemKey]int{}
	}
	if len(m.good) < maxGoodItems {
		m.good[key] = steps
	}
}

// Erratum is a known fault of the network's published documents that nodes inherit. A finding that it explains is tolerated.
type Erratum struct {
	ID       string // as in the table of mismatches: "M1"
	Sentence string // what is wrong
	Fix      string // for the owner of the network's documents
	explains func(*openapi.Document, finding) bool
}

// finding is what an erratum is matched on: the content of the document at hand and what was found, never the name of a node.
type finding struct {
	evidence.Finding
	schema string // pointer of the schema that the answer is judged by
	list   bool   // the operation takes no path parameter
}

// Errata lists them by id.
func Errata() []Erratum {
	return []Erratum{
		{
			ID:       "M1",
			Sentence: "The published funding and project documents declare a single object as the answer of the list operation; nodes send an array of it, and clients expect the array.",
			Fix:      `Declare {"type": "array", "items": {"$ref": …}} as the 200 answer of /fundings and /projects.`,
			explains: singleFor("Funding", "Project"),
		},
		{
			ID:       "M2",
			Sentence: "The published orgUnit document declares a single OrgUnit as the answer of the organigram; nodes send an array of it.",
			Fix:      `Declare {"type": "array", "items": {"$ref": "#/components/schemas/OrgUnit"}} as the 200 answer of /orgUnits/organigram.`,
			explains: singleFor("OrgUnit"),
		},
		{
			ID:       "M3",
			Sentence: "The published project document misspells the status IN_PREPARATION as IN_PREPERATION; data has the right spelling.",
			Fix:      "Add IN_PREPARATION to ProjectStatusEnum; keep IN_PREPERATION for one major version.",
			explains: misspelt("IN_PREPERATION", "IN_PREPARATION"),
		},
		{
			ID:       "M4",
			Sentence: "The published documents write one level of organisation as Level_3 beside LEVEL_1 and LEVEL_2; data has LEVEL_3.",
			Fix:      "Add LEVEL_3 to LevelEnum; keep Level_3 for one major version.",
			explains: misspelt("Level_3", "LEVEL_3"),
		},
	}
}

// singleFor matches a list operation that declares one object of a published type where an array came.
func singleFor(names ...string) func(*openapi.Document, finding) bool {
	return func(doc *openapi.Document, f finding) bool {
		if f.Kind != evidence.FindingTopLevel || f.Got != "array" || !f.list {
			return false
		}
		name := f.schema[strings.LastIndexByte(f.schema, '/')+1:]
		return slices.Contains(names, name) && isNamedSchema(f.schema)
	}
}

func isNamedSchema(pointer string) bool {
	return strings.HasPrefix(pointer, "/components/schemas/") || strings.HasPrefix(pointer, "/definitions/")
}

// misspelt matches a value that is refused by a vocabulary which holds its misspelling.
func misspelt(declared, sent string) func(*openapi.Document, finding) bool {
	return func(doc *openapi.Document, f finding) bool {
		if f.Kind != evidence.FindingEnum || f.Got != scalar(sent) {
			return false
		}
		raw, _ := doc.Raw(f.Keyword)
		values, _ := raw.([]any)
		return slices.Contains(values, any(declared))
	}
}

// erratumFor returns the id of the erratum that explains a finding, or "".
func erratumFor(errata []Erratum, doc *openapi.Document, f finding) string {
	for _, e := range errata {
		if e.explains(doc, f) {
			return e.ID
		}
	}
	return ""
}
