package exchange

import (
	"fmt"
	"net/url"
	"strings"
)

// Link is one link-value of a Link header field (RFC 8288 §3).
type Link struct {
	Target string // URI-Reference as spelled
	Params []Param
}

// Relations are the relation types of the link in lower case, in order; those of a second "rel" do not count (§3.3).
func (l Link) Relations() []string {
	for _, p := range l.Params {
		if strings.EqualFold(p.Name, "rel") {
			return strings.Fields(strings.ToLower(p.Value))
		}
	}
	return nil
}

// ParseLinks reads the lines of Link by the grammar of RFC 8288 §3, with empty list members allowed, and the rule of §3.3 that each
// link has a relation. It returns what it could read before an error, and the error names the line and the offset in bytes.
func ParseLinks(values []string) ([]Link, error) {
	var out []Link
	for i, v := range values {
		list, err := parseLinks(v)
		out = append(out, list...)
		if err != nil {
			return out, fmt.Errorf("link line %d: %w", i+1, err)
		}
	}
	return out, nil
}

func parseLinks(v string) ([]Link, error) {
	in := &fieldReader{text: v}
	var out []Link
	for in.separators(); !in.end(); in.separators() {
		l, err := in.link()
		if err != nil {
			return out, err
		}
		out = append(out, l)
		if in.blanks(); !in.end() && !in.at(',') {
			return out, in.expected("a semicolon, a comma or the end")
		}
	}
	return out, nil
}

// link reads one link-value.
func (in *fieldReader) link() (Link, error) {
	if !in.at('<') {
		return Link{}, in.expected("'<' before the target")
	}
	start := in.pos + 1
	length := strings.IndexByte(in.text[start:], '>')
	if length < 0 {
		in.pos = len(in.text)
		return Link{}, in.expected("'>' behind the target")
	}
	l := Link{Target: in.text[start : start+length]}
	if _, err := url.Parse(l.Target); err != nil {
		return Link{}, fmt.Errorf("offset %d: expected a URI reference, got %.80q", start, l.Target)
	}
	in.pos = start + length + 1
	for in.blanks(); in.at(';'); in.blanks() {
		in.pos++
		in.blanks()
		name := in.token()
		if name == "" {
			continue // an empty parameter is allowed
		}
		p := Param{Name: name}
		in.blanks() // BWS
		if in.at('=') {
			in.pos++
			in.blanks() // BWS
			var err error
			if p.Value, p.Quoted, err = in.value(); err != nil {
				return Link{}, err
			}
		}
		l.Params = append(l.Params, p)
	}
	if len(l.Relations()) == 0 {
		return Link{}, in.expected("a parameter rel with a relation type")
	}
	return l, nil
}
