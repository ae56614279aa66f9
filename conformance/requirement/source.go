package requirement

import (
	"fmt"
	"strings"
)

// Source is where a requirement is written.
type Source struct {
	// Citations are the places, the one that the quote stands in first.
	Citations []Citation
	// Derived says that the source implies the requirement and does not spell it out.
	Derived bool
}

// Citation is one place of a source.
type Citation struct {
	Text string // "RFC 6749 §5.1", "Interface document, NET-R11"
	URL  string // link to the section; empty for the interface document, which is not public
}

// cite is a source of one citation.
func cite(text, url string) Source { return Source{Citations: []Citation{{Text: text, URL: url}}} }

// And joins two sources; the quote stands in the first one.
func (s Source) And(t Source) Source {
	joined := append(append([]Citation(nil), s.Citations...), t.Citations...)
	return Source{Citations: joined, Derived: s.Derived || t.Derived}
}

// AsDerived marks the source as implying.
func (s Source) AsDerived() Source { s.Derived = true; return s }

// Text names all citations: "RFC 6749 §3.2; RFC 6749 §2.3.1".
func (s Source) Text() string {
	names := make([]string, 0, len(s.Citations))
	for _, c := range s.Citations {
		names = append(names, c.Text)
	}
	return strings.Join(names, "; ")
}

// URL is the first link; empty when nothing but the interface document is cited.
func (s Source) URL() string {
	for _, c := range s.Citations {
		if c.URL != "" {
			return c.URL
		}
	}
	return ""
}

// RFC cites a section or an appendix of an RFC: RFC(6749, "5.1"), RFC(6749, "B").
func RFC(number int, section string) Source {
	name, anchor := "§"+section, "section-"+section
	if section != "" && section[0] >= 'A' && section[0] <= 'Z' {
		name, anchor = "Appendix "+section, "appendix-"+section
	}
	return cite(fmt.Sprintf("RFC %d %s", number, name), fmt.Sprintf("https://www.rfc-editor.org/rfc/rfc%d.html#%s", number, anchor))
}

// OAS cites an object of the OpenAPI Specification 3.0.3: OAS("Parameter Object", "parameter-object").
func OAS(object, fragment string) Source {
	return cite("OpenAPI 3.0.3, "+object, "https://spec.openapis.org/oas/v3.0.3.html#"+fragment)
}

// Fetch cites a section of the Fetch standard, which defines CORS: Fetch("CORS protocol and credentials", "cors-protocol-and-credentials").
func Fetch(section, fragment string) Source {
	return cite("WHATWG Fetch, "+section, "https://fetch.spec.whatwg.org/#"+fragment)
}
