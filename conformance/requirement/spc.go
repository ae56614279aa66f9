package requirement

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
)

// specification returns the requirements on the document as a whole.
func specification() []Requirement {
	served, readable := documentLabels(), []ID{"SPC-01", "SPC-03"}
	return []Requirement{
		{
			ID: "SPC-01", Title: "Specification document is served as JSON",
			Level: Network, Gate: Gating, Profile: API,
			Source:   NET("R14").And(NET("R3")),
			Quote:    "The API specification as a JSON document.",
			Probe:    "A GET of the specification URL with Accept: application/json, first without a token, then with one.",
			Forgives: "A document that needs a token; any media type, as long as the body is a JSON object; a byte order mark.",
			Fix:      "Serve the OpenAPI document itself as JSON, not its Swagger UI page and not YAML. springdoc: /v3/api-docs (springdoc.api-docs.path), not /swagger-ui.html or /v3/api-docs.yaml.",
			Breaks:   "The URL serves the Swagger UI page.",
			Reads:    served, Check: judgeSpecification,
		},
		{
			ID: "SPC-02", Title: "Specification is readable without a token",
			Level: Network, Gate: Advice, Profile: API,
			Source:   NET("R3").AsDerived(),
			Quote:    "Each endpoint has published reference documentation with a link to its specification file.",
			Probe:    "A GET of the specification URL without a token.",
			Forgives: "A document that needs a token is a warning: the source implies that it is public, and does not say so.",
			Fix:      "Let the document's path pass the token check. Spring Security: requestMatchers(\"/v3/api-docs/**\").permitAll() before anyRequest().authenticated().",
			Breaks:   "Calls for the document without a token are answered 401.",
			Reads:    served, After: []ID{"SPC-01"}, Check: judgePublicDocument,
		},
		{
			ID: "SPC-07", Title: "Document validates against the official OpenAPI meta-schema",
			Level: StandardMust, Gate: Advice, Profile: API,
			Source:   OAS("OpenAPI Document", "openapi-document"),
			Quote:    "An OpenAPI definition uses and conforms to the OpenAPI Specification.",
			Probe:    "The document against the JSON schema of the OpenAPI Initiative for its version: 2.0, 3.0 or 3.1. No object in it repeats a member name.",
			Forgives: "Extensions (x-…), any format, minLength on an array; the targets of references to other documents. The meta-schema is stricter than the text in places, so this never blocks the profiles auth and funding.",
			Fix:      "Correct the places that are named. An editor such as Swagger Editor or redocly lint shows the same faults with line numbers.",
			Breaks:   "parameters is an object instead of a list.",
			Reads:    served, After: readable, Check: onDocument(judgeStructure),
		},
	}
}

// judgeSpecification is the check of SPC-01. If rin derived the URL of the document from the info URL, the operator may know a better one.
func judgeSpecification(e Evidence) Judgement {
	j := judgeDocument(e)
	if !e.Run.SpecDerived || j.Outcome != Fail && j.Outcome != Inconclusive {
		return j
	}
	hint := "if the document is elsewhere, name its URL with --spec-url: rin derived this URL from the info URL"
	if j.Hint != "" {
		hint += "; otherwise " + j.Hint
	}
	return j.Hinting(hint)
}

// judgeDocument judges the answers of the specification URL: first without a token, then with one. One of them must be the document.
func judgeDocument(e Evidence) Judgement {
	labels := []evidence.Label{evidence.Specification.With(evidence.NoToken), evidence.Specification.With(evidence.OK)}
	var last Judgement
	for i, label := range labels {
		j, missing := e.missingAnswer(label)
		if !missing {
			j = judgeDocumentAnswer(e, e.exchange(label))
		}
		if j.Outcome == Pass {
			if i > 0 {
				j = j.Noting("the document is served with a token only")
			}
			return j
		}
		// The answer to the call with a token says more. If that call has no answer, the answer without a token remains the result, unless the node refused
		// the call without a token: only the missing call could then show the document.
		if i == 0 || !missing {
			last = j
		} else if refusedByNode(e.exchange(labels[0])) {
			return j
		}
	}
	return last
}

// judgeDocumentAnswer judges whether one answer is the document: a JSON object that rin can read.
func judgeDocumentAnswer(e Evidence, x evidence.Exchange) Judgement {
	if j, unclear := inconclusiveAnswer(x); unclear {
		return j
	}
	want, got := expect(x, "200 with a JSON object"), describe(x)
	failed := func(reason, hint string) Judgement {
		return want.failed(reason, got).Hinting(hint).Blaming(NodeDocument)
	}
	switch {
	case redirected(x):
		return want.unclear("the specification URL redirects elsewhere", got).Hinting("give the address of the document itself with --spec-url")
	case !success(x):
		return failed(fmt.Sprintf("the specification URL is answered %s", clip(x.StatusText())), "")
	case x.Status() != 200:
		return failed("the specification URL is not answered 200", "")
	case isHTML(x):
		return failed("the specification URL serves a web page", "with --spec-url give the address of the document that the page loads: springdoc serves it at /v3/api-docs, and the page at /swagger-ui.html")
	}
	if e.Document != nil && e.Document.Refused != "" {
		return failed("the document cannot be used: "+clip(e.Document.Refused), "")
	}
	body, err := jsonText(x)
	switch {
	case err != nil && isYAML(x):
		return failed("the specification is YAML", "serve JSON to Accept: application/json, or give the address of the JSON form: springdoc has /v3/api-docs beside /v3/api-docs.yaml")
	case err != nil:
		return failed("the specification is not a JSON document: "+clip(err.Error()), "")
	case textType(body) != "object":
		return failed("the specification is a JSON "+textType(body)+" instead of an object", "")
	}
	return Passed(x.Label)
}

// isYAML recognises an API document in YAML by its media type or by its first lines.
func isYAML(x evidence.Exchange) bool {
	if strings.Contains(mediaType(x), "yaml") {
		return true
	}
	for _, key := range []string{"openapi:", "swagger:", "info:", "---"} {
		start := x.Response.Body[:min(len(x.Response.Body), 4096)]
		if bytes.HasPrefix(start, []byte(key)) || bytes.Contains(start, []byte("\n"+key)) {
			return true
		}
	}
	return false
}

// onDocument makes a check of the node's document.
func onDocument(check func(e Evidence) Judgement) func(Evidence) Judgement {
	return func(e Evidence) Judgement {
		if e.Spec == nil {
			return Unclear("the recording has no document").Blaming(Suite)
		}
		return check(e)
	}
}

// documentLabel returns the label of the answer that the document was read from.
func documentLabel(e Evidence) evidence.Label {
	for _, c := range []evidence.Case{evidence.NoToken, evidence.OK} {
		if x := e.exchange(evidence.Specification.With(c)); success(x) {
			return x.Label
		}
	}
	return ""
}

// failDocument returns the failure of a document with faults; failed is false without faults. The reason has %s in place of the name of the first one.
func failDocument(e Evidence, faults []Subject, reason string) (j Judgement, failed bool) {
	if len(faults) == 0 {
		return Judgement{}, false
	}
	return Failed(strings.Replace(reason, "%s", faults[0].Name, 1), faults[0].Expected, faults[0].Got).Blaming(NodeDocument).
		About(withDocumentLabel(e, faults)...).bounded(), true
}

// withDocumentLabel sets the label of the document in subjects that name places in the document.
func withDocumentLabel(e Evidence, places []Subject) []Subject {
	for i := range places {
		places[i].Label = documentLabel(e)
	}
	return places
}

// judgePublicDocument is the check of SPC-02: the document is served without a token.
func judgePublicDocument(e Evidence) Judgement {
	anonymous := evidence.Specification.With(evidence.NoToken)
	if j, missing := e.missingAnswer(anonymous); missing {
		return j
	}
	x, good := e.exchange(anonymous), e.exchange(evidence.Specification.With(evidence.OK))
	want := expect(x, "200 without a token")
	if judgeDocumentAnswer(e, x).Outcome == Pass {
		return Passed(x.Label)
	}
	if j, unclear := inconclusiveRefusal(x); unclear {
		return j
	}
	if judgeDocumentAnswer(e, good).Outcome == Pass {
		return want.warned("the document is served to callers with a token only, so the reference documentation cannot link to it", describe(x))
	}
	return want.unclear("the document was served neither without nor with a token", describe(x))
}

// judgeStructure is the check of SPC-07: the document fits the meta-schema of its version, and no object in it repeats a member name.
func judgeStructure(e Evidence) Judgement {
	j := judgeMetaSchema(e)
	label := documentLabel(e)
	fault := e.repeatedIn(e.exchange(label))
	if fault == "" {
		return j
	}
	const expected = "each member once (RFC 8259 §4)"
	return gather(Failed("parsers disagree on the document: "+fault, expected, fault).Blaming(NodeDocument).
		About(Subject{Name: "the document", Label: label, Expected: expected, Got: fault}).
		Hinting("write each member once: if a member comes twice, some tools read the first one, most read the last one, and others refuse the document"), j)
}

// judgeMetaSchema judges the faults that the comparison with the meta-schema found when the document was read.
func judgeMetaSchema(e Evidence) Judgement {
	if e.Document.Uncompared != "" {
		return Inapplicable("the document was not compared with a meta-schema: " + clip(e.Document.Uncompared)).Seen(documentLabel(e))
	}
	version, _ := documentVersion(e.Spec)
	expected := "a document that fits the meta-schema of " + versionName(version)
	var faults []Subject
	for _, fault := range e.Document.Invalid {
		place, text, ok := strings.Cut(fault, ": ")
		if !ok {
			place, text = "the document", fault
		}
		faults = append(faults, Subject{Name: clip(place), Expected: expected, Got: clip(text)})
	}
	if j, failed := failDocument(e, faults, "the document does not have the structure of "+versionName(version)+", first at %s"); failed {
		return j
	}
	return Passed(documentLabel(e))
}

// versionName names the specification that a document follows: "OpenAPI 3.0.3", "Swagger 2.0".
func versionName(version string) string {
	if version == "2.0" {
		return "Swagger 2.0"
	}
	return clip("OpenAPI " + version)
}

// documentLabels returns the labels of the exchanges that the checks of the document wait for. The list operation is one of them, because rin knows it only
// after the document was read.
func documentLabels() []evidence.Label {
	return []evidence.Label{evidence.Specification.With(evidence.NoToken), evidence.Specification.With(evidence.OK), evidence.ListOperation.With(evidence.OK)}
}
