package evidence

import (
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/rin-network/rin/conformance/evidence/redact"
)

// fieldReader reads a field value by the common rules of RFC 9110 §5.6.
type fieldReader struct {
	text string
	pos  int
}

func (in *fieldReader) isAtEnd() bool { return in.pos >= len(in.text) }

// isAt reports whether the next byte is c.
func (in *fieldReader) isAt(c byte) bool { return !in.isAtEnd() && in.text[in.pos] == c }

// expected returns an error that names the offset in bytes, what was expected there and what came.
func (in *fieldReader) expected(what string) error {
	if in.isAtEnd() {
		return fmt.Errorf("offset %d: expected %s, got the end", in.pos, what)
	}
	return fmt.Errorf("offset %d: expected %s, got %q", in.pos, what, in.text[in.pos:in.pos+1])
}

// skipBlanks skips blanks and tabs (OWS, BWS) and reports whether there were any.
func (in *fieldReader) skipBlanks() bool {
	start := in.pos
	for in.isAt(' ') || in.isAt('\t') {
		in.pos++
	}
	return in.pos > start
}

// skipSeparators skips commas and blanks between list members and reports whether there was a comma.
func (in *fieldReader) skipSeparators() bool {
	comma := false
	for in.skipBlanks(); in.isAt(','); in.skipBlanks() {
		comma = true
		in.pos++
	}
	return comma
}

// parseLines parses the lines of a header. An error names the line, and comes with what was parsed before it.
func parseLines[T any](name string, lines []string, parse func(line string) ([]T, error)) ([]T, error) {
	var out []T
	for i, line := range lines {
		list, err := parse(line)
		out = append(out, list...)
		if err != nil {
			return out, fmt.Errorf("%s line %d: %w", name, i+1, err)
		}
	}
	return out, nil
}

// token reads a token (§5.6.2), or returns "".
func (in *fieldReader) token() string {
	start := in.pos
	for !in.isAtEnd() && httpguts.IsTokenRune(rune(in.text[in.pos])) {
		in.pos++
	}
	return in.text[start:in.pos]
}

// token68 reads a token68 (§11.2) if it fills the rest of the list member; else it reads nothing and returns "".
func (in *fieldReader) token68() string {
	start := in.pos
	for !in.isAtEnd() && (redact.IsAlphanumeric(in.text[in.pos]) || strings.IndexByte("-._~+/", in.text[in.pos]) >= 0) {
		in.pos++
	}
	if in.pos == start {
		return ""
	}
	for in.isAt('=') {
		in.pos++
	}
	found := in.text[start:in.pos]
	if in.skipBlanks(); !in.isAtEnd() && !in.isAt(',') {
		in.pos = start
		return ""
	}
	return found
}

// value reads a token, or a quoted-string, which it decodes (§5.6.4).
func (in *fieldReader) value() (value string, quoted bool, err error) {
	if !in.isAt('"') {
		if value = in.token(); value == "" {
			return "", false, in.expected("a token or a quoted string")
		}
		return value, false, nil
	}
	in.pos++
	var b strings.Builder
	for !in.isAtEnd() {
		c := in.text[in.pos]
		switch {
		case c == '"':
			in.pos++
			return b.String(), true, nil
		case c == '\\' && in.pos+1 < len(in.text):
			in.pos++
			c = in.text[in.pos]
		}
		if c < ' ' && c != '\t' || c == 0x7f {
			return "", true, in.expected("a printable character")
		}
		b.WriteByte(c)
		in.pos++
	}
	return "", true, in.expected("a closing quote")
}

// Challenge is one authentication challenge (RFC 9110 §11.6.1).
type Challenge struct {
	Scheme string // as spelled; compare without case
	// Token68 is the single value that some schemes use instead of parameters; empty if the challenge has parameters.
	Token68 string
	Params  Params
}

// Param is one auth-param, or one parameter of a link.
type Param struct {
	Name   string // as spelled; compare without case
	Value  string // unquoted
	Quoted bool
}

// Params are the parameters of a challenge or a link.
type Params []Param

// Get returns the first value of the parameter with that name, whatever its case.
func (list Params) Get(name string) (value string, ok bool) {
	for _, p := range list {
		if strings.EqualFold(p.Name, name) {
			return p.Value, true
		}
	}
	return "", false
}

// ParseChallenges reads the lines of WWW-Authenticate or Proxy-Authenticate by the grammar of RFC 9110 §11.3 and §11.6.1: commas separate
// challenges and parameters, and list members may be empty. An error names line and offset, and comes with the challenges before it.
func ParseChallenges(values []string) ([]Challenge, error) {
	return parseLines("challenge", values, parseChallenges)
}

func parseChallenges(v string) ([]Challenge, error) {
	in := &fieldReader{text: v}
	var out []Challenge
	for in.skipSeparators(); !in.isAtEnd(); in.skipSeparators() {
		c := Challenge{Scheme: in.token()}
		if c.Scheme == "" {
			return out, in.expected("an authentication scheme")
		}
		blank := in.skipBlanks()
		var err error
		switch {
		case in.isAtEnd(), in.isAt(','):
			// The scheme has no parameters, or they follow an empty list member.
			if blank {
				err = in.params(&c)
			}
		case !blank:
			err = in.expected("a blank after the scheme")
		default:
			if c.Token68 = in.token68(); c.Token68 == "" {
				err = in.params(&c)
			}
		}
		out = append(out, c)
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// params reads parameters up to the end or the next scheme.
func (in *fieldReader) params(c *Challenge) error {
	for {
		separated := in.skipSeparators()
		if in.isAtEnd() {
			return nil
		}
		start := in.pos
		name := in.token()
		if name == "" {
			return in.expected("a parameter")
		}
		in.skipBlanks() // BWS
		if !in.isAt('=') {
			if !separated {
				return in.expected("'=' after the parameter name")
			}
			in.pos = start // the token is the next scheme
			return nil
		}
		in.pos++
		in.skipBlanks() // BWS
		value, quoted, err := in.value()
		if err != nil {
			return err
		}
		c.Params = append(c.Params, Param{name, value, quoted})
		if in.skipBlanks(); !in.isAtEnd() && !in.isAt(',') {
			return in.expected("a comma or the end")
		}
	}
}

// MediaType reads type and subtype of a Content-Type value in lower case (RFC 9110 §8.3.1); "" for any other text. Parameters are ignored.
func MediaType(value string) string {
	in := &fieldReader{text: value}
	in.skipBlanks()
	major := in.token()
	if major == "" || !in.isAt('/') {
		return ""
	}
	in.pos++
	minor := in.token()
	if minor == "" {
		return ""
	}
	return strings.ToLower(major + "/" + minor)
}

// Link is one link-value of a Link header field (RFC 8288 §3).
type Link struct {
	Target string // URI-Reference as spelled
	Params Params
}

// Relations returns the relation types of the link in lower case, in order; a second "rel" is ignored (§3.3).
func (l Link) Relations() []string {
	value, _ := l.Params.Get("rel")
	return strings.Fields(strings.ToLower(value))
}

// IsPage reports whether the link says that it leads to a web page (§3.4.1).
func (l Link) IsPage() bool {
	value, _ := l.Params.Get("type")
	return MediaType(value) == "text/html"
}

// ParseLinks reads the lines of Link by the grammar of RFC 8288 §3, with empty list members allowed. Each link needs a relation (§3.3).
// An error names line and offset, and comes with the links before it.
func ParseLinks(values []string) ([]Link, error) {
	return parseLines("link", values, parseLinks)
}

func parseLinks(v string) ([]Link, error) {
	in := &fieldReader{text: v}
	var out []Link
	for in.skipSeparators(); !in.isAtEnd(); in.skipSeparators() {
		l, err := in.link()
		if err != nil {
			return out, err
		}
		out = append(out, l)
		if in.skipBlanks(); !in.isAtEnd() && !in.isAt(',') {
			return out, in.expected("a semicolon, a comma or the end")
		}
	}
	return out, nil
}

// link reads one link-value (RFC 8288 §3).
func (in *fieldReader) link() (Link, error) {
	if !in.isAt('<') {
		return Link{}, in.expected("'<' before the target")
	}
	start := in.pos + 1
	length := strings.IndexByte(in.text[start:], '>')
	if length < 0 {
		in.pos = len(in.text)
		return Link{}, in.expected("'>' after the target")
	}
	l := Link{Target: in.text[start : start+length]}
	if _, err := url.Parse(l.Target); err != nil {
		return Link{}, fmt.Errorf("offset %d: expected a URI reference, got %.80q", start, l.Target)
	}
	in.pos = start + length + 1
	for in.skipBlanks(); in.isAt(';'); in.skipBlanks() {
		in.pos++
		in.skipBlanks()
		name := in.token()
		if name == "" {
			continue // an empty parameter is allowed
		}
		p := Param{Name: name}
		in.skipBlanks() // BWS
		if in.isAt('=') {
			in.pos++
			in.skipBlanks() // BWS
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

// DateForm says how a date in a header field is written.
type DateForm int

// The forms of a date.
const (
	NoDate    DateForm = iota // not a date
	OlderDate                 // an obsolete form, which senders must not use
	GoodDate                  // the form that senders must use
)

// DeprecationDate reads the value of Deprecation: a Date of Structured Fields (RFC 9745 §2.1, RFC 9651 §3.3.7), with or without parameters.
// Older drafts allowed true, which has no time, or an HTTP date.
func DeprecationDate(value string) (time.Time, DateForm) {
	value = strings.Trim(value, " ")
	item, parameters, _ := strings.Cut(value, ";")
	if digits, ok := strings.CutPrefix(item, "@"); ok {
		if !regexp.MustCompile(`^-?[0-9]{1,15}$`).MatchString(digits) || !isParameterList(value[len(item):]) {
			return time.Time{}, NoDate
		}
		seconds, err := strconv.ParseInt(digits, 10, 64)
		if err != nil {
			return time.Time{}, NoDate
		}
		return time.Unix(seconds, 0).UTC(), GoodDate
	}
	if parameters == "" && (value == "true" || value == "?1") {
		return time.Time{}, OlderDate
	}
	if at, form := HTTPDate(value); form != NoDate {
		return at, OlderDate
	}
	return time.Time{}, NoDate
}

// isParameterList reports whether a text is a sequence of valid parameters of an item (RFC 9651 §3.1.2).
func isParameterList(text string) bool {
	return regexp.MustCompile(`^(; *[a-z*][a-z0-9_.*-]*(=("([ !#-\[\]-~]|\\["\\])*"|@?-?[0-9]{1,15}(\.[0-9]{1,3})?|\?[01]|[A-Za-z*][A-Za-z0-9!#$%&'*+.^_` + "`" + `|~:/-]*|:[A-Za-z0-9+/=]*:))?)*$`).MatchString(text)
}

// HTTPDate reads an HTTP date (RFC 9110 §5.6.7): the preferred form, exactly and with the right weekday, or one of the two obsolete forms.
func HTTPDate(value string) (time.Time, DateForm) {
	const preferred = "Mon, 02 Jan 2006 15:04:05 GMT"
	if at, err := time.Parse(preferred, value); err == nil && at.Format(preferred) == value {
		return at, GoodDate
	}
	for _, obsolete := range []string{"Monday, 02-Jan-06 15:04:05 GMT", time.ANSIC} {
		if at, err := time.Parse(obsolete, value); err == nil && at.Format(obsolete) == value {
			return at, OlderDate
		}
	}
	return time.Time{}, NoDate
}
