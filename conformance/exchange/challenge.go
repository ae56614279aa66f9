package exchange

import (
	"fmt"
	"strings"
)

// Challenge is one authentication challenge (RFC 9110 §11.6.1).
type Challenge struct {
	Scheme string // as spelled; compare without case
	// Token68 is the single value of schemes such as Basic in credentials; empty when the challenge has parameters.
	Token68 string
	Params  []Param
}

// Param is one auth-param, or one parameter of a media type.
type Param struct {
	Name   string // as spelled; compare without case
	Value  string // unquoted
	Quoted bool
}

// Param returns the first value of the parameter with that name, in any case.
func (c Challenge) Param(name string) (value string, ok bool) {
	for _, p := range c.Params {
		if strings.EqualFold(p.Name, name) {
			return p.Value, true
		}
	}
	return "", false
}

// ParseChallenges reads the lines of WWW-Authenticate or Proxy-Authenticate by the grammar of RFC 9110 §11.3 and §11.6.1: commas part
// challenges as well as parameters, list members may be empty. It returns what it could read before an error, and the error
// names the line and the offset in bytes.
func ParseChallenges(values []string) ([]Challenge, error) {
	var out []Challenge
	for i, v := range values {
		list, err := parseChallenges(v)
		out = append(out, list...)
		if err != nil {
			return out, fmt.Errorf("challenge line %d: %w", i+1, err)
		}
	}
	return out, nil
}

func parseChallenges(v string) ([]Challenge, error) {
	in := &fieldReader{text: v}
	var out []Challenge
	for in.separators(); !in.end(); in.separators() {
		c := Challenge{Scheme: in.token()}
		if c.Scheme == "" {
			return out, in.expected("an authentication scheme")
		}
		blank := in.blanks()
		var err error
		switch {
		case in.end(), in.at(','):
			// a scheme alone, or parameters after an empty member
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
		parted := in.separators()
		if in.end() {
			return nil
		}
		start := in.pos
		name := in.token()
		if name == "" {
			return in.expected("a parameter")
		}
		in.blanks() // BWS
		if !in.at('=') {
			if !parted {
				return in.expected("'=' after the parameter name")
			}
			in.pos = start // the next scheme
			return nil
		}
		in.pos++
		in.blanks() // BWS
		value, quoted, err := in.value()
		if err != nil {
			return err
		}
		c.Params = append(c.Params, Param{name, value, quoted})
		if in.blanks(); !in.end() && !in.at(',') {
			return in.expected("a comma or the end")
		}
	}
}

// MediaType reads a Content-Type value (RFC 9110 §8.3.1): type and subtype in lower case, and the parameters in order with their
// names as spelled. The error names the offset in bytes.
func MediaType(value string) (mediaType string, params []Param, err error) {
	in := &fieldReader{text: value}
	in.blanks()
	major := in.token()
	if major == "" || !in.at('/') {
		return "", nil, in.expected("type/subtype")
	}
	in.pos++
	minor := in.token()
	if minor == "" {
		return "", nil, in.expected("a subtype")
	}
	mediaType = strings.ToLower(major + "/" + minor)
	for {
		if in.blanks(); in.end() {
			return mediaType, params, nil
		}
		if !in.at(';') {
			return mediaType, params, in.expected("';' or the end")
		}
		in.pos++
		in.blanks()
		name := in.token()
		if name == "" {
			continue // empty parameters are allowed
		}
		if !in.at('=') {
			return mediaType, params, in.expected("'=' after the parameter name")
		}
		in.pos++
		v, quoted, err := in.value()
		if err != nil {
			return mediaType, params, err
		}
		params = append(params, Param{name, v, quoted})
	}
}
