package requirement

import (
	"maps"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// documentSecurity returns SPC-09 and SPC-10.
func documentSecurity() []Requirement {
	served, readable := documentLabels(), []ID{"SPC-01", "SPC-03"}
	return []Requirement{
		{
			ID: "SPC-09", Title: "Security is described: bearer token or OAuth 2.0 client credentials",
			Level: Recommended, Gate: Gating, Profile: API,
			Source:   OAS("Security Requirement Object", "security-requirement-object").And(NET("R9")).And(NET("R12")),
			Quote:    "Each name MUST correspond to a security scheme which is declared in the Security Schemes under the Components Object.",
			Probe:    "The security schemes of the document, the requirements of the document and of its operations, and tokenUrl against the token endpoint of the run and that of staging; operations that are described as open, and are not.",
			Forgives: "A document without a word on security (a warning, and never read as \"public\"); a tokenUrl that is neither the token endpoint of the run nor that of staging (a warning); OpenID Connect; an API key in Authorization, which is how Swagger 2.0 describes a bearer token.",
			Fix:      "Declare the scheme and ask for it: components.securitySchemes.bearer = {type: http, scheme: bearer} and security: [{bearer: []}]. springdoc: @SecurityScheme and @OpenAPIDefinition(security = …).",
			Breaks:   "security names a scheme that is not declared.",
			Reads:    append(served, evidence.EveryOperation.With(evidence.NoToken)), After: readable, Check: onDocument(judgeSecurity),
		},
		{
			ID: "SPC-10", Title: "servers[].url is https and covers the tested base URL",
			Level: Recommended, Gate: Advice, Profile: API,
			Source:   OAS("Server Object", "server-object").And(NET("R15")),
			Quote:    "REQUIRED. A URL to the target host.",
			Probe:    "The servers of each operation, else of its path, else of the document (in Swagger 2.0 schemes, host and basePath), relative to the specification URL, against the place where the operation answered.",
			Forgives: "Several servers, if one of them is the tested place; another host, as the network's published documents have it, is a warning. The suite never calls a host because a document names it: only origins that the operator gave, with --base-url or --allow-origin.",
			Fix:      "Name the public https address under which the operations are served. springdoc: @OpenAPIDefinition(servers = @Server(url = …)), or server.forward-headers-strategy=framework behind a proxy.",
			Breaks:   "servers names http://localhost:8080.",
			Reads:    append(served, evidence.WholeRun), After: readable, Check: onDocument(judgeServers),
		},
	}
}

// scheme is a declared security scheme.
type scheme struct {
	name string
	// fits reports whether a client of the network can use the scheme: a bearer token, or the client credentials grant.
	fits     bool
	basic    bool   // HTTP Basic
	tokenURL string // of the client credentials grant
}

// judgeSecurity is the check of SPC-09.
func judgeSecurity(e Evidence) Judgement {
	if j, failed := failDocument(e, undefinedSchemes(e.Spec), "a security requirement names a scheme that the document does not declare: %s"); failed {
		return j.Hinting("declare the scheme under the same name, or correct the name in security")
	}
	return judgeSchemes(e, declaredSchemes(e.Spec)).Seen(documentLabel(e))
}

// undefinedSchemes returns the security requirements, of the document and of operations, that name a scheme which is not declared.
func undefinedSchemes(d *openapi.Document) []Subject {
	var out []Subject
	look := func(where string, s *openapi.Security) {
		if s == nil {
			return
		}
		for _, name := range s.Schemes {
			if _, declared := d.Schemes[name]; !declared {
				out = append(out, Subject{Name: where, Expected: "a declared scheme", Got: quote(name)})
			}
		}
	}
	look("security of the document", d.Security)
	for _, o := range d.Operations {
		if o.Security != d.Security { // a requirement of its own
			look(operationName(o), o.Security)
		}
	}
	return out
}

// judgeSchemes judges whether clients of the network can use the declared security schemes, and whether they name the right token endpoint.
func judgeSchemes(e Evidence, schemes []scheme) Judgement {
	const expected = "a scheme for bearer tokens, or for the OAuth 2.0 client credentials grant"
	warned := func(reason, got string) Judgement {
		return Warned(reason, expected, got).Blaming(NodeDocument)
	}
	var names, otherURLs []string
	fits, matches := false, false
	for _, s := range schemes {
		names = append(names, s.name)
		fits = fits || s.fits
		switch {
		case s.tokenURL == "":
		case sameAddress(e, s.tokenURL, e.Run.TokenURL):
			matches = true
		default:
			otherURLs = append(otherURLs, s.tokenURL)
		}
	}
	isStaging := func(tokenURL string) bool {
		return e.Run.StagingTokenURL != "" && !sameAddress(e, e.Run.StagingTokenURL, e.Run.TokenURL) && sameAddress(e, tokenURL, e.Run.StagingTokenURL)
	}
	got := "the schemes " + clip(strings.Join(names, ", "))
	switch {
	case len(schemes) == 0:
		return warned("the document does not describe security; clients have to learn elsewhere that the operations need a token", "no security scheme")
	case !fits:
		return warned("no scheme of the document is a bearer token or the client credentials grant", got)
	case !slices.ContainsFunc(e.Spec.Operations, func(o openapi.Operation) bool { return o.Security != nil && len(o.Security.Schemes) > 0 }):
		return warned("schemes are declared, but no operation requires one", got+", and no security requirement").
			Hinting("add security at the top of the document: [{\"bearer\": []}]; springdoc: @SecurityRequirement on the OpenAPIDefinition")
	case !matches && slices.ContainsFunc(otherURLs, isStaging):
		return Failed("the document of production names the token endpoint of staging: generated clients send the secrets of production there, and get tokens that are not good here",
			e.Run.TokenURL, clip(strings.Join(otherURLs, ", "))).Blaming(NodeDocument).Hinting("write the token endpoint of the registry entry into tokenUrl, from the configuration of each environment")
	case len(otherURLs) > 0 && !matches:
		return Warned("the token endpoint of the document is not the one of this run", e.Run.TokenURL, clip(strings.Join(otherURLs, ", "))).Blaming(NodeDocument).
			Hinting("write the token endpoint of the registry entry into tokenUrl; ignore this in a run against the staging endpoint")
	}
	return judgeOpenOperations(e)
}

// judgeOpenOperations finds operations that the document declares public although the node requires a token: generated clients do not send one.
func judgeOpenOperations(e Evidence) Judgement {
	const expected = "the security requirement that the node enforces"
	specURL := e.exchange(evidence.Specification.With(evidence.NoToken)).Request.URL
	var open []Subject
	for _, o := range e.Spec.Operations {
		label := evidence.OperationResource(o.Key).With(evidence.NoToken)
		x, sent := e.Get(label)
		if sent && x.Request.URL == specURL {
			continue // SPC-02 judges the document
		}
		if sent && e.Spec.Public(o) && x.Status() == 401 {
			open = append(open, Subject{Name: operationName(o), Label: label, Expected: expected, Got: "security that is empty or optional, and " + describe(x)})
		}
	}
	if len(open) == 0 {
		return Passed()
	}
	return Warned("the document says that "+open[0].Name+" needs no token, but the node requires one", expected, open[0].Got).
		Hinting("remove security: [] and the alternative {} from the operation; springdoc: @SecurityRequirement on the operation").About(open...).bounded().Blaming(NodeDocument)
}

// declaredSchemes reads the schemes in the order of their names.
func declaredSchemes(d *openapi.Document) []scheme {
	at := "/components/securitySchemes/"
	if v, _ := documentVersion(d); v == "2.0" {
		at = "/securityDefinitions/"
	}
	var out []scheme
	for _, name := range slices.Sorted(maps.Keys(d.Schemes)) {
		pointer := at + openapi.Escape(name)
		if ref, ok := textAt(d, pointer+"/$ref"); ok {
			pointer, _, _ = d.Follow(ref)
		}
		out = append(out, readScheme(clip(name), strings.ToLower(d.Schemes[name]), func(member string) string {
			s, _ := textAt(d, pointer+"/"+member)
			return s
		}))
	}
	return out
}

func textAt(d *openapi.Document, pointer string) (string, bool) {
	v, _ := d.Raw(pointer)
	s, ok := v.(string)
	return s, ok
}

// readScheme reads one scheme of OpenAPI 3 or of Swagger 2.0, which describes a bearer token as an API key in Authorization.
func readScheme(name, kind string, member func(string) string) scheme {
	s := scheme{name: name}
	switch kind {
	case "http":
		s.fits, s.basic = strings.EqualFold(member("scheme"), "bearer"), strings.EqualFold(member("scheme"), "basic")
	case "basic": // Swagger 2.0
		s.basic = true
	case "apikey":
		s.fits = member("in") == "header" && strings.EqualFold(member("name"), "Authorization")
	case "oauth2":
		s.tokenURL = member("flows/clientCredentials/tokenUrl")
		if member("flow") == "application" { // Swagger 2.0
			s.tokenURL = member("tokenUrl")
		}
		s.fits = s.tokenURL != ""
	case "openidconnect", "": // "" means that the scheme is in another document, which is not read
		s.fits = true
	}
	return s
}
