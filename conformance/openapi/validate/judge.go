// Package validate compares answers with an API document.
// A [Judge] reports where an answer differs from the guarded document, as findings without content of the answer. [Errata] are the known
// faults of the network's published documents. [Structure] compares a document with the meta-schema of its version.
// Schemas are judged with the JSON Schema compiler as libopenapi-validator configures it, on translations by package openapi: only known
// keywords of the right type reach the compiler, and its loader refuses every address, so that nothing is ever fetched.
package validate

import (
	"errors"
	"fmt"
	"hash/maphash"
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
	schemas map[string]schemaResult // by pointer
}

type schemaResult struct {
	schema *compiledSchema
	why    string
}

// NewJudge reads a guarded document. It guards the document again, since evidence may come from elsewhere.
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
	return &Judge{doc: parsed, errata: Errata(), memory: memory{seed: maphash.MakeSeed()}, schemas: map[string]schemaResult{}}, nil
}

// Annotate returns the differences between an answer and its description: status, media type, then the body. Judged is about the body alone;
// findings on status and media type may be present without it.
func (j *Judge) Annotate(x evidence.Exchange, op openapi.Operation) evidence.SchemaFindings {
	out := evidence.SchemaFindings{Label: x.Label}
	if x.Response == nil {
		out.Why = "no answer"
		return out
	}
	a := annotation{judge: j, op: op, answer: x.Response, out: &out}
	if pointer, ok := a.findSchema(x.Request.Method); ok {
		a.judgeBody(pointer)
	}
	out.Findings, out.Total = a.found.findings(), a.found.total
	return out
}

// schema compiles the schema at a pointer, once.
func (j *Judge) schema(pointer string) (*compiledSchema, string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if known, ok := j.schemas[pointer]; ok {
		return known.schema, known.why
	}
	entry := schemaResult{}
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

// apply validates one value, between begin and end of the meter. A failure of the library affects that value alone.
func (c *compiledSchema) apply(schema *jsonschema.Schema, value any) (found []difference, fault error) {
	if c.meter.gaveUp {
		return nil, errSteps
	}
	defer func() {
		switch r := recover(); r {
		case nil:
		case errSteps:
			c.meter.gaveUp = c.meter.value < 0 // the size of the body alone is not the schema's fault
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
	if isEndless(invalid) {
		return nil, errors.New("the schema library failed: the schema applies itself without end")
	}
	return c.differences(invalid), nil
}

// isEndless reports whether the error is about a cycle of references, which the translation should have cut.
func isEndless(err *jsonschema.ValidationError) bool {
	if _, ok := err.ErrorKind.(*kind.RefCycle); ok {
		return true
	}
	return slices.ContainsFunc(err.Causes, isEndless)
}

// Bounds of the memory. Bodies with many findings are few, and judging them again costs less than keeping the findings.
const (
	maxRemembered = 256 // bodies
	maxMemorable  = 20  // findings of one
	maxGoodItems  = 50_000
)

// memory keeps the findings of bodies, because a run requests the same list with a dozen credentials and gets the same bytes. It also keeps
// the items without findings, because pages and filters repeat them. It is safe for concurrent use.
type memory struct {
	seed   maphash.Seed
	mu     sync.Mutex
	bodies map[bodyKey]bodyResult
	good   map[itemKey]int // number of applied schemas
}

// itemKey is the input of judging an item.
type itemKey struct {
	schema string // pointer
	single bool   // by the schema itself, not that of its items
	text   content
}

// content identifies a text by its hash and its length. A node does not know the seed of the hash, so it cannot make two texts look equal.
type content struct {
	hash   uint64
	length int
}

// bodyKey is the input of judging a body.
type bodyKey struct {
	schema    string // pointer
	list, cut bool
	text      content
}

// bodyResult is the result for a body; why is set if it could not be judged.
type bodyResult struct {
	found collector
	items int
	why   string
	// undecided is true if why is a limit of rin, not a fault of the body.
	undecided bool
}

func (a *annotation) bodyKey(body []byte) bodyKey {
	return bodyKey{a.schema, a.isList(), a.answer.Truncated, a.judge.memory.contentOf(body)}
}

func (m *memory) contentOf(text []byte) content {
	return content{maphash.Bytes(m.seed, text), len(text)}
}

func (m *memory) recall(key bodyKey) (bodyResult, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	judged, ok := m.bodies[key]
	return judged, ok
}

func (m *memory) keep(key bodyKey, judged bodyResult) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if judged.found.total > maxMemorable || len(m.bodies) >= maxRemembered {
		return
	}
	if m.bodies == nil {
		m.bodies = map[bodyKey]bodyResult{}
	}
	m.bodies[key] = judged
}

// recallItem returns the number of schemas applied to an item without findings; ok is false for an unknown item.
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

// finding is the input of matching an erratum: the content of the document and the finding, never the name of a node.
type finding struct {
	evidence.Finding
	schema string // pointer of the schema of the answer
	list   bool   // the path has no parameter
}

// Errata lists the known errata by id.
func Errata() []Erratum {
	return []Erratum{
		{
			ID:       "M1",
			Sentence: "The published funding and project documents declare a single object as the answer of the list operation; nodes send an array of it, and clients expect the array.",
			Fix:      `Declare {"type": "array", "items": {"$ref": …}} as the 200 answer of /fundings and /projects.`,
			explains: listForSingle("Funding", "Project"),
		},
		{
			ID:       "M2",
			Sentence: "The published orgUnit document declares a single OrgUnit as the answer of the organigram; nodes send an array of it.",
			Fix:      `Declare {"type": "array", "items": {"$ref": "#/components/schemas/OrgUnit"}} as the 200 answer of /orgUnits/organigram.`,
			explains: listForSingle("OrgUnit"),
		},
		{
			ID:       "M3",
			Sentence: "The published project document misspells the status IN_PREPARATION as IN_PREPERATION; data has the right spelling.",
			Fix:      "Add IN_PREPARATION to ProjectStatusEnum; keep IN_PREPERATION for one major version.",
			explains: misspelling("IN_PREPERATION", "IN_PREPARATION"),
		},
		{
			ID:       "M4",
			Sentence: "The published documents write one level of organisation as Level_3 beside LEVEL_1 and LEVEL_2; data has LEVEL_3.",
			Fix:      "Add LEVEL_3 to LevelEnum; keep Level_3 for one major version.",
			explains: misspelling("Level_3", "LEVEL_3"),
		},
	}
}

// listForSingle matches a list operation that declares one object of a published type and sends an array.
func listForSingle(names ...string) func(*openapi.Document, finding) bool {
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

// misspelling matches a value that is missing in a vocabulary with its misspelling.
func misspelling(declared, sent string) func(*openapi.Document, finding) bool {
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
