package requirement

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
)

// specification lists group SPC in catalogue order.
func specification() []Requirement {
	// The list operation is known once the document was read, so waiting for it waits for the document.
	served := []evidence.Label{evidence.Specification.With(evidence.NoToken), evidence.Specification.With(evidence.OK), evidence.ListOperation.With(evidence.OK)}
	readable := []ID{"SPC-01", "SPC-03"}
	return []Requirement{
		{
			ID: "SPC-01", Title: "Specification document is served as JSON",
			Level: Network, Gate: Gating, Profile: Funding,
			Source:   NET("R14").And(NET("R3")),
			Quote:    "The API specification as a JSON document.",
			Probe:    "A GET of the specification URL with Accept: application/json, first without a token, then with one.",
			Forgives: "A document that needs a token; any media type, as long as the body is a JSON object; a byte order mark.",
			Fix:      "Serve the OpenAPI document itself as JSON, not its Swagger UI page and not YAML. springdoc: /v3/api-docs (springdoc.api-docs.path), not /swagger-ui.html or /v3/api-docs.yaml.",
			Breaks:   "The URL serves the Swagger UI page.",
			Reads:    served, Check: servedAsJSON,
		},
		{
			ID: "SPC-02", Title: "Specification is readable without a token",
			Level: Network, Gate: Advice, Profile: Funding,
			Source:   NET("R3").AsDerived(),
			Quote:    "Each endpoint has published reference documentation with a link to its specification file.",
			Probe:    "A GET of the specification URL without a token.",
			Forgives: "A document that needs a token is a warning: that it is public is implied, not said.",
			Fix:      "Let the document's path pass the token check. Spring Security: requestMatchers(\"/v3/api-docs/**\").permitAll() before anyRequest().authenticated().",
			Breaks:   "Calls for the document without a token are answered 401.",
			Reads:    served, After: []ID{"SPC-01"}, Check: readableWithoutToken,
		},
		{
			ID: "SPC-03", Title: "Document declares its version, info.title, info.version and paths",
			Level: StandardMust, Gate: Gating, Profile: Funding,
			Source:   OAS("OpenAPI Object", "openapi-object").And(OAS("Info Object", "info-object")).And(NET("R3")),
			Quote:    "REQUIRED. This string MUST be the semantic version number of the OpenAPI Specification version that the OpenAPI document uses.",
			Probe:    "The members openapi or swagger, info and paths of the document.",
			Forgives: "OpenAPI 3.0.x and 3.1.x and Swagger 2.0; in 3.1 components or webhooks in place of paths; other versions are a warning.",
			Fix:      "Fill the missing member. springdoc: an OpenAPI bean with new Info().title(…).version(…); apispec and FastAPI: title and version of the application.",
			Breaks:   "info.version is missing.",
			Reads:    served, After: []ID{"SPC-01"}, Check: headDeclared,
		},
		{
			ID: "SPC-04", Title: "Every local $ref resolves",
			Level: StandardMust, Gate: Gating, Profile: Funding,
			Source:   OAS("Reference Object", "reference-object").And(RFC(6901, "4")),
			Quote:    "For this specification, reference resolution is accomplished as defined by the JSON Reference specification and not by the JSON Schema specification.",
			Probe:    "Each $ref of the document, as a JSON pointer with ~0, ~1 and percent-encoding undone.",
			Forgives: "Schemas that refer to themselves; a $ref inside example, enum or default values, which is data; references to other documents (a warning, they are never fetched).",
			Fix:      "Add the schema that is named, or correct the name. Bundle documents of several files into one: redocly bundle, swagger-cli bundle.",
			Breaks:   "A schema refers to #/components/schemas/Missing.",
			Reads:    served, After: readable, Check: refsResolve,
		},
		{
			ID: "SPC-05", Title: "Path templates and path parameters agree",
			Level: StandardMust, Gate: Gating, Profile: Funding,
			Source:   OAS("Path Templating", "path-templating").And(OAS("Parameter Object", "parameter-object")),
			Quote:    "Each template expression in the path MUST correspond to a path parameter that is included in the Path Item itself and/or in each of the Path Item's Operations.",
			Probe:    "The names in braces of each path against the parameters with in: path, of the path and of the operation.",
			Forgives: "Parameters declared for the whole path, and by reference.",
			Fix:      "Declare each {name} of the path as a parameter with in: path and required: true. Spring: @PathVariable with the name of the template.",
			Breaks:   "/fundings/{id} declares no parameter.",
			Reads:    served, After: readable, Check: templatesAgree,
		},
		{
			ID: "SPC-06", Title: "Every operation declares responses; operationIds are unique",
			Level: StandardMust, Gate: Gating, Profile: Funding,
			Source:   OAS("Operation Object", "operation-object"),
			Quote:    "The id MUST be unique among all operations described in the API.",
			Probe:    "The responses and the operationId of each operation.",
			Forgives: "Operations without operationId; the same operationId in another document of the node.",
			Fix:      "Describe at least the answer 200 of each operation, and give each one its own operationId; code generators make it a method name.",
			Breaks:   "Two operations share one operationId.",
			Reads:    served, After: readable, Check: operationsDeclared,
		},
		{
			ID: "SPC-07", Title: "Document validates against the official OpenAPI meta-schema",
			Level: StandardMust, Gate: Advice, Profile: Funding,
			Source:   OAS("OpenAPI Document", "openapi-document"),
			Quote:    "An OpenAPI definition uses and conforms to the OpenAPI Specification.",
			Probe:    "The document against the JSON schema of the OpenAPI Initiative for its version: 2.0, 3.0 or 3.1.",
			Forgives: "Extensions (x-…), any format, minLength on an array; what stands behind references to other documents. The meta-schema is stricter than the text in places, so this never blocks the profiles auth and funding.",
			Fix:      "Correct the places that are named. An editor such as Swagger Editor or redocly lint shows the same faults with line numbers.",
			Breaks:   "parameters is an object in place of a list.",
			Reads:    served, After: readable, Check: structureValid,
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
			Reads:    served, After: readable, Check: fundingDescribed,
		},
		{
			ID: "SPC-09", Title: "Security is described: bearer token or OAuth 2.0 client credentials",
			Level: Recommended, Gate: Advice, Profile: Funding,
			Source:   OAS("Security Requirement Object", "security-requirement-object").And(NET("R9")).And(NET("R12")),
			Quote:    "Each name MUST correspond to a security scheme which is declared in the Security Schemes under the Components Object.",
			Probe:    "The security schemes of the document, the requirements of the document and of its operations, and tokenUrl against the token endpoint of the run; operations that are described as open, and are not.",
			Forgives: "A document without a word on security (a warning, and never read as \"public\"); OpenID Connect; an API key in Authorization, which is how Swagger 2.0 describes a bearer token.",
			Fix:      "Declare the scheme and ask for it: components.securitySchemes.bearer = {type: http, scheme: bearer} and security: [{bearer: []}]. springdoc: @SecurityScheme and @OpenAPIDefinition(security = …).",
			Breaks:   "security names a scheme that is not declared.",
			Reads:    append(served, evidence.EveryOperation.With(evidence.NoToken)), After: readable, Check: securityDescribed,
		},
		{
			ID: "SPC-10", Title: "servers[].url is https and covers the tested base URL",
			Level: Recommended, Gate: Advice, Profile: Funding,
			Source:   OAS("Server Object", "server-object").And(NET("R15")),
			Quote:    "REQUIRED. A URL to the target host.",
			Probe:    "servers of the document (in Swagger 2.0 schemes, host and basePath), relative to the specification URL, against the place where its operations answered.",
			Forgives: "Several servers, if one of them is the tested place; another host, as the network's published documents have it, is a warning. The suite never calls a host because a document names it.",
			Fix:      "Name the public https address under which the operations are served. springdoc: @OpenAPIDefinition(servers = @Server(url = …)), or server.forward-headers-strategy=framework behind a proxy.",
			Breaks:   "servers names http://localhost:8080.",
			Reads:    append(served, evidence.WholeRun), After: readable, Check: serversCover,
		},
	}
}

func servedAsJSON(e Evidence) Judgement {
	labels := []evidence.Label{evidence.Specification.With(evidence.NoToken), evidence.Specification.With(evidence.OK)}
	var last Judgement
	for i, label := range labels {
		j, lacks := e.lacking(label)
		if !lacks {
			j = documentServed(e, e.The(label))
		}
		if j.Outcome == Pass {
			if i > 0 {
				j = j.Noting("the document is served with a token only")
			}
			return j
		}
		// What came with a token says more, unless the call was never made.
		if i == 0 || !lacks {
			last = j
		} else if refused(e.The(labels[0])) {
			return j
		}
	}
	return last
}

func documentServed(e Evidence, x evidence.Exchange) Judgement {
	if j, unclear := unclearIfNoVerdict(x); unclear {
		return j
	}
	const expected = "200 with a JSON object"
	got := describe(x)
	failed := func(reason, hint string) Judgement {
		return Failed(reason, expected, got).Hinting(hint).Blaming(NodeDocument).about(x, expected, got)
	}
	switch {
	case redirected(x):
		return Unclear("the specification URL leads to another place").Hinting("give the address of the document itself with --spec-url").about(x, expected, got)
	case !success(x):
		return failed(fmt.Sprintf("the specification URL is answered %d", x.Status()), "")
	case x.Status() != 200:
		return failed("the specification URL is not answered 200", "")
	case html(x):
		return failed("the specification URL serves a web page", "give the address of the document that the page loads, with springdoc /v3/api-docs in place of /swagger-ui.html, and record it with --spec-url")
	}
	if e.Document != nil && e.Document.Refused != "" {
		return failed("the document can't be used: "+clip(e.Document.Refused), "")
	}
	body, err := jsonText(x)
	switch {
	case err != nil && yamlDocument(x):
		return failed("the specification is YAML", "serve JSON to Accept: application/json, or give the address of the JSON form: springdoc has /v3/api-docs beside /v3/api-docs.yaml")
	case err != nil:
		return failed("the specification is not a JSON document: "+clip(err.Error()), "")
	case textType(body) != "object":
		return failed("the specification is a JSON "+textType(body)+" in place of an object", "")
	}
	return Passed(x.Label)
}

// yamlDocument recognises an API document in YAML by its media type or by its first lines.
func yamlDocument(x evidence.Exchange) bool {
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

// described returns the subject label of the document: the answer that it was read from.
func described(e Evidence) evidence.Label {
	for _, c := range []evidence.Case{evidence.NoToken, evidence.OK} {
		if x := e.The(evidence.Specification.With(c)); success(x) {
			return x.Label
		}
	}
	return ""
}

// aboutDocument judges a list of faults at places of the document.
func aboutDocument(e Evidence, places []Subject, passed func() Judgement, failed func(first Subject) Judgement) Judgement {
	if len(places) == 0 {
		return passed().Seen(described(e))
	}
	for i := range places {
		places[i].Label = described(e)
	}
	return failed(places[0]).Blaming(NodeDocument).About(places...).bounded()
}

func readableWithoutToken(e Evidence) Judgement {
	anonymous := evidence.Specification.With(evidence.NoToken)
	if j, lacks := e.lacking(anonymous); lacks {
		return j
	}
	x, good := e.The(anonymous), e.The(evidence.Specification.With(evidence.OK))
	const expected = "200 without a token"
	if documentServed(e, x).Outcome == Pass {
		return Passed(x.Label)
	}
	if j, unclear := noVerdict(x); unclear {
		return j
	}
	if documentServed(e, good).Outcome == Pass {
		return Warned("the document is served to callers with a token only, so the reference documentation can't link to it", expected, describe(x)).about(x, expected, describe(x))
	}
	return Unclear("the document came neither without nor with a token").about(x, expected, describe(x))
}

func structureValid(e Evidence) Judgement {
	switch {
	case e.Document == nil:
		return unread()
	case e.Document.Uncompared != "":
		return Missing("the document was not compared with a meta-schema: " + clip(e.Document.Uncompared)).Seen(described(e))
	}
	version, _ := documentVersion(e.Spec)
	expected := "a document that fits the meta-schema of " + versionName(version)
	var faults []Subject
	for _, fault := range e.Document.Invalid {
		place, words, told := strings.Cut(fault, ": ")
		if !told {
			place, words = "the document", fault
		}
		faults = append(faults, Subject{Name: clip(place), Expected: expected, Got: clip(words)})
	}
	return aboutDocument(e, faults, func() Judgement { return Passed() }, func(first Subject) Judgement {
		return Failed(fmt.Sprintf("the document is not built as %s asks, first at %s", versionName(version), first.Name), first.Expected, first.Got)
	})
}

// versionName names the specification that a document follows: "OpenAPI 3.0.3", "Swagger 2.0".
func versionName(version string) string {
	if version == "2.0" {
		return "Swagger 2.0"
	}
	return clip("OpenAPI " + version)
}
