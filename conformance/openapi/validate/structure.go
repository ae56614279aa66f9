package validate

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/pb33f/libopenapi"
	"github.com/pb33f/libopenapi-validator/config"
	"github.com/pb33f/libopenapi-validator/schema_validation"
	"github.com/pb33f/libopenapi/datamodel"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

const (
	maxFaults    = 20      // in the result (SPC-07)
	maxStructure = 1 << 20 // bytes; the library's reader needs hundreds of times that much memory
)

// structure compares a reduced document with the meta-schema of its version, OpenAPI 3 or Swagger 2.0, as libopenapi-validator has it, and
// returns the faults, each with its place in the document. It leaves out the faults of places that the guard emptied, because their content is in
// another document. Documents over 1 MiB and those of other versions are not compared; err is the reason.
func structure(guarded evidence.Document) (faults []string, err error) {
	reduced := guarded.Reduced
	defer func() {
		if r := recover(); r != nil {
			faults, err = nil, fmt.Errorf("the document could not be compared with the meta-schema: %v", r)
		}
	}()
	if len(reduced) > maxStructure {
		return nil, fmt.Errorf("the document has %d bytes, too many to compare it with the meta-schema (limit %d)", len(reduced), maxStructure)
	}
	options := datamodel.NewDocumentConfiguration()
	options.Logger = slog.New(slog.DiscardHandler)
	doc, err := libopenapi.NewDocumentWithConfiguration(reduced, options)
	if err != nil {
		return nil, fmt.Errorf("read document: %w", err)
	}
	defer doc.Release()
	if v := doc.GetVersion(); !strings.HasPrefix(v, "3.0") && !strings.HasPrefix(v, "3.1") && v != "2.0" {
		return nil, fmt.Errorf("there is no meta-schema for version %q", evidence.Clip(v, 20))
	}
	valid, found := schema_validation.ValidateOpenAPIDocument(doc, config.WithRegexEngine(patternEngine))
	if valid {
		return nil, nil
	}
	for _, e := range found {
		if len(e.SchemaValidationErrors) == 0 {
			faults = append(faults, evidence.Clip(e.Reason, 200))
			continue
		}
		// Every entry holds the same tree of causes.
		for _, f := range leaves(e.SchemaValidationErrors[0].OriginalJsonSchemaError) {
			if !isInsideRemoved(guarded.Removed, f.pointer) {
				faults = append(faults, f.String())
			}
		}
	}
	slices.Sort(faults)
	faults = slices.Compact(faults)
	return faults[:min(len(faults), maxFaults)], nil
}

// structureFault is one fault with its place in the document.
type structureFault struct {
	pointer string // RFC 6901
	place   string
	words   string
}

func (f structureFault) String() string { return f.place + ": " + f.words }

// isInsideRemoved reports whether the guard removed a foreign reference at the place, or around it.
func isInsideRemoved(removed []evidence.Removed, pointer string) bool {
	return slices.ContainsFunc(removed, func(r evidence.Removed) bool {
		at, isRef := strings.CutSuffix(r.Pointer, "/$ref")
		return isRef && (pointer == at || strings.HasPrefix(pointer, at+"/"))
	})
}

// leaves lists the causes at the ends of the tree.
func leaves(err *jsonschema.ValidationError) []structureFault {
	if err == nil {
		return nil
	}
	switch err.ErrorKind.(type) {
	case *kind.OneOf, *kind.AnyOf:
		return deepest(err.Causes)
	}
	if len(err.Causes) == 0 {
		words := err.ErrorKind.LocalizedString(message.NewPrinter(language.English))
		return []structureFault{{openapi.Join("", err.InstanceLocation...), evidence.Clip(path(err.InstanceLocation), 200), evidence.Clip(words, 160)}}
	}
	var out []structureFault
	for _, cause := range err.Causes {
		out = append(out, leaves(cause)...)
	}
	return out
}

// deepest returns the alternative that matches deepest: "a reference or a schema" should fail for its schema, not for not being a
// reference. Of several the one with the fewest faults is probably meant.
func deepest(causes []*jsonschema.ValidationError) []structureFault {
	best, reach := []structureFault(nil), -1
	for _, cause := range causes {
		r, own := depthOf(cause), leaves(cause)
		if r > reach || r == reach && len(own) < len(best) {
			best, reach = own, r
		}
	}
	return best
}

// depthOf returns the length of the longest path in the document that a cause is about.
func depthOf(err *jsonschema.ValidationError) int {
	deepest := len(err.InstanceLocation)
	for _, cause := range err.Causes {
		deepest = max(deepest, depthOf(cause))
	}
	return deepest
}

// Read guards a document and lists the structural faults of the rest, for the evidence of discovery.
func Read(body []byte, limits openapi.Limits) evidence.Document {
	doc := openapi.Guard(body, limits)
	if doc.Refused != "" {
		return doc
	}
	var err error
	if doc.Invalid, err = structure(doc); err != nil {
		doc.Uncompared = evidence.Clip(err.Error(), 300) // the document has no known faults; SPC-03 judges its version
	}
	return doc
}
