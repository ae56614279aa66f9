package requirement

import (
	"maps"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/document"
	"github.com/rin-network/rin/conformance/exchange"
)

// scheme is a declared way to authorize, as far as SPC-09 asks.
type scheme struct {
	name string
	// fits says that a client of the network can follow it: a bearer token, or the client credentials grant.
	fits     bool
	tokenURL string // of the client credentials grant
}

func securityDescribed(e Evidence) Judgement {
	if e.Spec == nil {
		return unread()
	}
	schemes := declaredSchemes(e.Spec)
	return aboutDocument(e, undefinedSchemes(e.Spec), func() Judgement { return securityFits(e, schemes) }, func(first Subject) Judgement {
		return Failed("a security requirement names a scheme that the document does not declare: "+first.Name, first.Expected, first.Got).
			Hinting("declare the scheme under the same name, or correct the name in security")
	})
}

// undefinedSchemes are the requirements, of the document and of operations, that name a scheme which is not declared.
func undefinedSchemes(d *document.Document) []Subject {
	var out []Subject
	look := func(where string, s *document.Security) {
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
		if o.Security != d.Security { // its own
			look(operationName(o), o.Security)
		}
	}
	return out
}

func securityFits(e Evidence, schemes []scheme) Judgement {
	const expected = "a scheme for bearer tokens, or for the OAuth 2.0 client credentials grant"
	warned := func(reason, got string) Judgement {
		return Warned(reason, expected, got).Blaming(NodeDocument)
	}
	var names, elsewhere []string
	fits, told := false, false
	for _, s := range schemes {
		names = append(names, s.name)
		fits = fits || s.fits
		switch {
		case s.tokenURL == "":
		case sameAddress(e, s.tokenURL, e.Run.TokenURL):
			told = true
		default:
			elsewhere = append(elsewhere, s.tokenURL)
		}
	}
	got := "the schemes " + clip(strings.Join(names, ", "))
	switch {
	case len(schemes) == 0:
		return warned("the document describes no security; that the operations need a token has to be known from elsewhere", "no security scheme")
	case !fits:
		return warned("no scheme of the document is a bearer token or the client credentials grant", got)
	case !slices.ContainsFunc(e.Spec.Operations, func(o document.Operation) bool { return o.Security != nil && len(o.Security.Schemes) > 0 }):
		return warned("schemes are declared, and no operation asks for one", got+", and no security requirement").
			Hinting("add security at the top of the document: [{\"bearer\": []}]; springdoc: @SecurityRequirement on the OpenAPIDefinition")
	case len(elsewhere) > 0 && !told:
		return Warned("the token endpoint of the document is not the one of this run", e.Run.TokenURL, clip(strings.Join(elsewhere, ", "))).Blaming(NodeDocument).
			Hinting("write the token endpoint of the registry entry into tokenUrl; a run against the staging endpoint may pass over this")
	}
	return describedOpen(e)
}

// describedOpen finds operations of which the document says that they need no token, and the node asks for one: generated clients send none.
func describedOpen(e Evidence) Judgement {
	const expected = "the security requirement that the node enforces"
	document := e.The(exchange.Specification.With(exchange.NoToken)).Request.URL
	var open []Subject
	for _, o := range e.Spec.Operations {
		label := exchange.OperationResource(o.Key).With(exchange.NoToken)
		x, asked := e.Get(label)
		if asked && x.Request.URL == document {
			continue // SPC-02 tells of a document that needs a token
		}
		if asked && o.Security != nil && o.Security.Open && x.Status() == 401 {
			open = append(open, Subject{Name: operationName(o), Label: label, Expected: expected, Got: "security that is empty or optional, and " + describe(x)})
		}
	}
	if len(open) == 0 {
		return Passed()
	}
	return Warned("the document says that "+open[0].Name+" needs no token, and the node asks for one", expected, open[0].Got).
		Hinting("take security: [] and the alternative {} away from the operation; springdoc: @SecurityRequirement on the operation").About(open...).bounded().Blaming(NodeDocument)
}

// declaredSchemes reads the schemes in the order of their names.
func declaredSchemes(d *document.Document) []scheme {
	at := "/components/securitySchemes/"
	if v, _ := documentVersion(d); v == "2.0" {
		at = "/securityDefinitions/"
	}
	var out []scheme
	for _, name := range slices.Sorted(maps.Keys(d.Schemes)) {
		pointer := at + document.Escape(name)
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

func textAt(d *document.Document, pointer string) (string, bool) {
	v, _ := d.Raw(pointer)
	s, ok := v.(string)
	return s, ok
}

// readScheme reads one scheme of OpenAPI 3 or Swagger 2.0, which has no word for bearer tokens but an API key in Authorization.
func readScheme(name, kind string, member func(string) string) scheme {
	s := scheme{name: name}
	switch kind {
	case "http":
		s.fits = strings.EqualFold(member("scheme"), "bearer")
	case "apikey":
		s.fits = member("in") == "header" && strings.EqualFold(member("name"), "Authorization")
	case "oauth2":
		s.tokenURL = member("flows/clientCredentials/tokenUrl")
		if member("flow") == "application" { // Swagger 2.0
			s.tokenURL = member("tokenUrl")
		}
		s.fits = s.tokenURL != ""
	case "openidconnect", "": // the second stands in another document, where nobody looks
		s.fits = true
	}
	return s
}
