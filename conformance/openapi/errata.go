package openapi

import (
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/document"
	"github.com/rin-network/rin/conformance/exchange"
)

// Erratum is a known fault of the network's published documents that nodes inherit. A finding that it explains is tolerated.
type Erratum struct {
	ID       string // as in the table of mismatches: "M1"
	Sentence string // what is wrong
	Fix      string // for the owner of the network's documents
	explains func(*document.Document, finding) bool
}

// finding is what an erratum is matched on: the content of the document at hand and what was found, never the name of a node.
type finding struct {
	exchange.Finding
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
func singleFor(names ...string) func(*document.Document, finding) bool {
	return func(doc *document.Document, f finding) bool {
		if f.Kind != exchange.FindingTopLevel || f.Got != "array" || !f.list {
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
func misspelt(declared, sent string) func(*document.Document, finding) bool {
	return func(doc *document.Document, f finding) bool {
		if f.Kind != exchange.FindingEnum || f.Got != scalar(sent) {
			return false
		}
		raw, _ := doc.Raw(f.Keyword)
		values, _ := raw.([]any)
		return slices.Contains(values, any(declared))
	}
}

// erratumFor returns the id of the erratum that explains a finding, or "".
func erratumFor(errata []Erratum, doc *document.Document, f finding) string {
	for _, e := range errata {
		if e.explains(doc, f) {
			return e.ID
		}
	}
	return ""
}
