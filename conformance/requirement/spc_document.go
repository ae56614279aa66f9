package requirement

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// documentContent returns the requirements on the content of the document.
func documentContent() []Requirement {
	served, readable := documentLabels(), []ID{"SPC-01", "SPC-03"}
	return []Requirement{
		{
			ID: "SPC-03", Title: "Document declares its version, info.title, info.version and paths",
			Level: StandardMust, Gate: Gating, Profile: API,
			Source:   OAS("OpenAPI Object", "openapi-object").And(OAS("Info Object", "info-object")).And(NET("R3")),
			Quote:    "REQUIRED. This string MUST be the semantic version number of the OpenAPI Specification version that the OpenAPI document uses.",
			Probe:    "The members openapi or swagger, info and paths of the document.",
			Forgives: "OpenAPI 3.0.x and 3.1.x and Swagger 2.0; in 3.1 components or webhooks instead of paths; other versions are a warning.",
			Fix:      "Fill the missing member. springdoc: an OpenAPI bean with new Info().title(…).version(…); apispec and FastAPI: title and version of the application.",
			Breaks:   "info.version is missing.",
			Reads:    served, After: []ID{"SPC-01"}, Check: onDocument(judgeDocumentHead),
		},
		{
			ID: "SPC-04", Title: "Every local $ref resolves",
			Level: StandardMust, Gate: Gating, Profile: API,
			Source:   OAS("Reference Object", "reference-object").And(RFC(6901, "4")),
			Quote:    "For this specification, reference resolution is accomplished as defined by the JSON Reference specification and not by the JSON Schema specification.",
			Probe:    "Each $ref of the document, as a JSON pointer with ~0, ~1 and percent-encoding undone.",
			Forgives: "Schemas that refer to themselves; a $ref inside example, enum or default values, which is data; references to other documents (a warning, they are never fetched), unless they lead to a file, or to a host inside a machine or network in which the node itself is not.",
			Fix:      "Add the schema that is named, or correct the name. Bundle documents of several files into one: redocly bundle, swagger-cli bundle.",
			Breaks:   "A schema refers to #/components/schemas/Missing.",
			Reads:    served, After: readable, Check: onDocument(judgeReferences),
		},
		{
			ID: "SPC-05", Title: "Path templates and path parameters agree",
			Level: StandardMust, Gate: Gating, Profile: API,
			Source:   OAS("Path Templating", "path-templating").And(OAS("Parameter Object", "parameter-object")),
			Quote:    "Each template expression in the path MUST correspond to a path parameter that is included in the Path Item itself and/or in each of the Path Item's Operations.",
			Probe:    "The names in braces of each path against the parameters with in: path, of the path and of the operation.",
			Forgives: "Parameters declared for the whole path, and by reference.",
			Fix:      "Declare each {name} of the path as a parameter with in: path and required: true. Spring: @PathVariable with the name of the template.",
			Breaks:   "/fundings/{id} declares no parameter.",
			Reads:    served, After: readable, Check: onDocument(judgePathTemplates),
		},
		{
			ID: "SPC-06", Title: "Every operation declares responses; operationIds are unique",
			Level: StandardMust, Gate: Gating, Profile: API,
			Source:   OAS("Operation Object", "operation-object"),
			Quote:    "The id MUST be unique among all operations described in the API.",
			Probe:    "The responses and the operationId of each operation.",
			Forgives: "Operations without operationId; the same operationId in another document of the node.",
			Fix:      "Describe at least the answer 200 of each operation, and give each one its own operationId; code generators make it a method name.",
			Breaks:   "Two operations share one operationId.",
			Reads:    served, After: readable, Check: onDocument(judgeDeclaredOperations),
		},
		{
			ID: "SPC-08", Title: "Document describes at least one GET operation that retrieves funding calls",
			Level: Network, Gate: Gating, Profile: Funding,
			Source:   NET("R2").And(NET("R15")),
			Quote:    "It lets external API clients retrieve information about annotated funding calls.",
			Probe:    "A GET without path parameters whose path, tag or operationId speaks of funding or calls, with an array or object as its answer.",
			Forgives: "Any names: the list operation can be named with --list-operation.",
			Fix:      "Describe the operation that lists funding calls in this document. springdoc: check springdoc.packagesToScan and @Hidden.",
			Breaks:   "The funding operations were removed from the document.",
			Reads:    served, After: readable, Check: onDocument(judgeFundingOperation),
		},
	}
}

// judgeDocumentHead checks the members that every OpenAPI document has: its version, info.title, info.version and paths.
func judgeDocumentHead(e Evidence) Judgement {
	var faults []Subject
	addFault := func(pointer, expected string) {
		got := "nothing"
		if v, ok := e.Spec.Raw(pointer); ok {
			got = openapi.JSONType(v)
			if got == "string" {
				got = "an empty string"
			}
		}
		faults = append(faults, Subject{Name: pointer, Expected: expected, Got: got})
	}
	version, known := documentVersion(e.Spec)
	if version == "" {
		addFault("/openapi", "a version such as \"3.0.3\"")
	}
	for _, pointer := range []string{"/info/title", "/info/version"} {
		if v, _ := e.Spec.Raw(pointer); !isFilled(v) {
			addFault(pointer, "a string that is not empty")
		}
	}
	faults = append(faults, pathFaults(e.Spec, version)...)
	if j, failed := failDocument(e, faults, "the document lacks what every API document has: %s"); failed {
		return j
	}
	switch {
	case !known:
		return Warned("the document declares version "+quote(version)+", which rin does not know", "3.0.x, 3.1.x or 2.0", quote(version)).Blaming(NodeDocument).Seen(documentLabel(e))
	case version == "2.0":
		return Passed(documentLabel(e)).Noting("the document is written in Swagger 2.0: its operations, parameters and schemas are judged like those of OpenAPI 3, as far as 2.0 can express them; many code generators no longer read it")
	}
	return Passed(documentLabel(e))
}

func isFilled(v any) bool { s, ok := v.(string); return ok && strings.TrimSpace(s) != "" }

// documentVersion reads openapi or swagger; known versions are 3.0.x, 3.1.x and 2.0.
func documentVersion(d *openapi.Document) (version string, known bool) {
	for _, name := range []string{"/openapi", "/swagger"} {
		v, _ := d.Raw(name)
		if s, ok := v.(string); ok && s != "" {
			pattern := map[string]string{"/openapi": `^3\.[01]\.\d+(-.+)?$`, "/swagger": `^2\.0$`}[name]
			return s, regexp.MustCompile(pattern).MatchString(s)
		}
	}
	return "", false
}

// pathFaults returns what is wrong with the member paths and the names in it. In 3.1, a document may have components or webhooks instead.
func pathFaults(d *openapi.Document, version string) []Subject {
	raw, present := d.Raw("/paths")
	paths, isObject := raw.(map[string]any)
	_, components := d.Raw("/components")
	_, webhooks := d.Raw("/webhooks")
	mayLackPaths := strings.HasPrefix(version, "3.1") && (components || webhooks)
	switch {
	case !present && mayLackPaths:
		return nil
	case !present:
		return []Subject{{Name: "/paths", Expected: "an object with paths", Got: "nothing"}}
	case !isObject:
		return []Subject{{Name: "/paths", Expected: "an object with paths", Got: openapi.JSONType(raw)}}
	case len(paths) == 0:
		return []Subject{{Name: "/paths", Expected: "an object with paths", Got: "an empty object"}}
	}
	var faults []Subject
	for path := range paths {
		if !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "x-") {
			faults = append(faults, Subject{Name: "/paths/" + openapi.Escape(clip(path)), Expected: "a path that begins with /", Got: quote(path)})
		}
	}
	slices.SortFunc(faults, func(a, b Subject) int { return strings.Compare(a.Name, b.Name) })
	return faults
}

// judgeReferences is the check of SPC-04.
func judgeReferences(e Evidence) Judgement {
	var dangling []Subject
	external := externalRefs(e.Document)
	for _, ref := range e.Spec.Refs() {
		switch {
		case ref.Resolves:
		case strings.HasPrefix(ref.Target, "#"):
			dangling = append(dangling, Subject{Name: clip(ref.Pointer), Expected: "something at " + clip(ref.Target), Got: "nothing"})
		default:
			external = append(external, Subject{Name: clip(ref.Pointer), Expected: "a reference inside the document", Got: clip(ref.Target)})
		}
	}
	if j, failed := failDocument(e, dangling, "a $ref does not resolve: %s"); failed {
		return j
	}
	if len(external) == 0 {
		return Passed(documentLabel(e))
	}
	var dead []Subject
	for _, ref := range external {
		if why := deadReference(e, ref.Got); why != "" {
			ref.Got += ", " + why
			dead = append(dead, ref)
		}
	}
	if j, failed := failDocument(e, dead, "a $ref leads to a place that no client can reach: %s"); failed {
		return j.Hinting("bundle the parts into one document before it is published: redocly bundle, swagger-cli bundle")
	}
	return Warned(fmt.Sprintf("references leave the document (%d); their targets are not judged", len(external)), external[0].Expected, external[0].Got).
		Hinting("bundle the parts into one document, so that a client needs one file: redocly bundle, swagger-cli bundle").
		Blaming(NodeDocument).About(withDocumentLabel(e, external)...).bounded()
}

// deadReference says why no client can follow a reference to another document. It returns "" if a client may.
func deadReference(e Evidence, target string) string {
	u, err := url.Parse(target)
	const uncPath = `\\`
	isDrive := err == nil && len(u.Scheme) == 1 // C:\schemas
	switch {
	case strings.HasPrefix(target, uncPath), isDrive, err == nil && strings.EqualFold(u.Scheme, "file"):
		return "a file"
	case err != nil || u.Host == "":
		return ""
	}
	return unreachablePlace(e, target)
}

// externalRefs returns the references to other documents that [openapi.Guard] removed. $schema and its like also name other documents, but no client needs
// to read those.
func externalRefs(d *evidence.Document) []Subject {
	if d == nil {
		return nil
	}
	var out []Subject
	for _, r := range d.Removed {
		if r.Keyword == "$ref" || r.Keyword == "$dynamicRef" {
			out = append(out, Subject{Name: clip(r.Pointer), Expected: "a reference inside the document", Got: clip(r.Value)})
		}
	}
	return out
}

// judgePathTemplates is the check of SPC-05.
func judgePathTemplates(e Evidence) Judgement {
	var faults []Subject
	for _, o := range e.Spec.Operations {
		if hasUnknownParameters(e, o) {
			continue // SPC-04 judges the reference
		}
		faults = append(faults, parameterFaults(o)...)
	}
	faults = append(faults, ambiguousPaths(e.Spec)...)
	if j, failed := failDocument(e, faults, "path and parameters of %s do not agree"); failed {
		return j
	}
	return Passed(documentLabel(e))
}

// ambiguousPaths finds paths that differ only in the names of their templates, so that a URL matches both.
func ambiguousPaths(d *openapi.Document) []Subject {
	template := regexp.MustCompile(`\{[^{}]*\}`)
	known := map[string]openapi.Operation{}
	var faults []Subject
	for _, o := range d.Operations {
		key := o.Method + " " + template.ReplaceAllString(o.Path, "{}")
		if first, taken := known[key]; taken && first.Path != o.Path {
			faults = append(faults, Subject{Name: operationName(o), Expected: "a path of its own", Got: "the same path as " + operationName(first)})
			continue
		}
		known[key] = o
	}
	return faults
}

// operationName returns the method and the path template: "GET /fundings/{id}".
func operationName(o openapi.Operation) string { return clip(o.Method + " " + o.Path) }

// parameterFaults compares the names in braces of a path with the declared path parameters, in both directions.
func parameterFaults(o openapi.Operation) []Subject {
	var faults []Subject
	addFault := func(expected, got string) {
		faults = append(faults, Subject{Name: operationName(o), Expected: expected, Got: got})
	}
	template := o.TemplateParameters()
	declared := map[string]bool{}
	for _, p := range o.Parameters {
		if p.In != "path" {
			continue
		}
		declared[p.Name] = true
		switch {
		case !slices.Contains(template, p.Name):
			addFault("a path with {"+clip(p.Name)+"}", "a path parameter "+quote(p.Name)+" that the path does not have")
		case !p.Required:
			addFault("required: true for the path parameter "+quote(p.Name), "required is not true")
		}
	}
	for _, name := range template {
		if !declared[name] {
			addFault("a parameter "+quote(name)+" with in: path", "no such parameter")
		}
	}
	return faults
}

// hasUnknownParameters reports whether a parameter of the operation, or its whole path, is a reference that does not resolve.
func hasUnknownParameters(e Evidence, o openapi.Operation) bool {
	item := o.Pointer[:strings.LastIndexByte(o.Pointer, '/')]
	places := []string{o.Pointer + "/parameters/", item + "/parameters/"}
	hidesParameter := func(pointer string) bool {
		return pointer == item+"/$ref" || slices.ContainsFunc(places, func(p string) bool {
			rest, below := strings.CutPrefix(pointer, p)
			return below && strings.Count(rest, "/") <= 1 // the parameter 0, or 0/$ref, but nothing in its schema
		})
	}
	for _, ref := range e.Spec.Refs() {
		if !ref.Resolves && hidesParameter(ref.Pointer) {
			return true
		}
	}
	return e.Document != nil && slices.ContainsFunc(e.Document.Removed, func(r evidence.Removed) bool {
		return hidesParameter(r.Pointer) || hidesParameter(r.Pointer+"/$ref")
	})
}

// judgeDeclaredOperations is the check of SPC-06.
func judgeDeclaredOperations(e Evidence) Judgement {
	var faults []Subject
	first := map[string]string{}
	for _, o := range e.Spec.Operations {
		if len(o.Responses) == 0 {
			faults = append(faults, Subject{Name: operationName(o), Expected: "at least one response", Got: "no responses"})
		}
		if o.ID == "" {
			continue
		}
		if other, taken := first[o.ID]; taken {
			faults = append(faults, Subject{Name: operationName(o), Expected: "an operationId of its own", Got: quote(o.ID) + ", as " + other})
			continue
		}
		first[o.ID] = operationName(o)
	}
	if j, failed := failDocument(e, faults, "%s is not declared as an operation must be"); failed {
		return j
	}
	return Passed(documentLabel(e))
}

// judgeFundingOperation looks for the operation that lists funding calls: the one that the run used, or the best candidate by its names.
func judgeFundingOperation(e Evidence) Judgement {
	if o, ok := operation(e, e.Roles.List); ok && !o.AboutService() {
		return Passed(documentLabel(e)).Noting("the list operation is " + operationName(o))
	}
	if o, ok := e.Spec.ListCandidate(); ok {
		return Passed(documentLabel(e)).Noting("the list operation is " + operationName(o))
	}
	var others []Subject
	for _, o := range e.Spec.Operations {
		if o.MayList() {
			others = append(others, Subject{Name: operationName(o), Label: documentLabel(e)})
		}
	}
	if len(others) == 0 {
		return Failed("the document describes no operation that retrieves funding calls", "a GET that lists funding calls", evidence.Count(len(e.Spec.Operations), "operation")+", and no such GET among them").
			Blaming(NodeDocument).Seen(documentLabel(e))
	}
	return Unclear("the names of the described operations do not show which one lists funding calls").
		Hinting("name the list operation with --list-operation; if the API has no funding calls, certify it for the profile api").About(others...).bounded()
}
