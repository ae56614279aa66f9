package evidence

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Deceptive reports whether a character acts on a terminal or is invisible: control characters (Cc), format characters (Cf) such as the bidirectional
// overrides and zero-width spaces, line and paragraph separators, private use and noncharacters.
func Deceptive(r rune) bool {
	switch {
	case r >= ' ' && r < 0x7f, r > '\u00ad' && r < '\u0600':
		return false // ASCII and the alphabets of Europe need no look-up
	case r == '\u200c' || r == '\u200d':
		return false // joiners: they spell words in Persian and Indic scripts, and emoji
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co, unicode.Cs):
		return true
	}
	return r >= 0xfdd0 && r <= 0xfdef || r&0xfffe == 0xfffe
}

// EscapeDeceptive escapes the deceptive characters that JSON allows inside strings, so that a printed document cannot act on the terminal.
// The values stay the same. Within ASCII only DEL needs it: JSON escapes the others, or they are white space between tokens.
func EscapeDeceptive(doc []byte) []byte {
	clean := 0 // everything before it is written or needs no change
	var b bytes.Buffer
	for i := 0; i < len(doc); {
		if doc[i] < 0x7f {
			i++
			continue
		}
		r, size := utf8.DecodeRune(doc[i:])
		if Deceptive(r) {
			b.Write(doc[clean:i])
			clean = i + size
			if r < 0x10000 {
				fmt.Fprintf(&b, `\u%04x`, r)
			} else {
				high, low := utf16.EncodeRune(r)
				fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
			}
		}
		i += size
	}
	if clean == 0 {
		return doc
	}
	b.Write(doc[clean:])
	return b.Bytes()
}

// Count writes a number with its noun: "1 item", "2 items", "3 entries".
func Count(n int, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "entry"):
		noun = strings.TrimSuffix(noun, "y") + "ies"
	case strings.HasSuffix(noun, "s"):
		noun += "es"
	default:
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// ShortList joins the first names with commas, and counts those that it leaves out: "XA, XB and 3 more".
func ShortList(names []string, most int) string {
	text := strings.Join(names[:min(len(names), most)], ", ")
	if len(names) > most {
		text += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return text
}

// Duration writes a positive duration in words, to the second and at least one: "5 minutes", "1 minute 30 seconds".
func Duration(d time.Duration) string {
	d = max(d.Round(time.Second), time.Second)
	var parts []string
	for _, unit := range []struct {
		length time.Duration
		noun   string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}} {
		if n := int(d / unit.length); n > 0 {
			parts = append(parts, Count(n, unit.noun))
		}
		d %= unit.length
	}
	return strings.Join(parts, " ")
}

// DecodeJSON reads a text that is one JSON value; numbers in values of any type stay [json.Number].
func DecodeJSON(text []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(into); err != nil {
		return err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("more text follows the JSON value at byte %d", dec.InputOffset())
	}
	return nil
}

// Clip shortens a text to at most limit characters; a text that is cut ends in "…". Bytes that are not UTF-8 become U+FFFD.
func Clip(s string, limit int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	last, n := 0, 0
	for i := range s {
		switch n++; n {
		case limit:
			last = i
		case limit + 1:
			return s[:last] + "…"
		}
	}
	return s
}

// ShellWord writes a text as one word of a POSIX shell: literals in single quotes where they need them, markers of secrets as variables in
// double quotes. A text with characters that are not isPrintable becomes a call of printf(1).
func ShellWord(text string) string {
	if !isPrintable(text) {
		return `"$(printf ` + printfArgs(text) + `)"`
	}
	var b strings.Builder
	eachPart(text, func(s string) {
		if isBareWord(s) {
			b.WriteString(s)
			return
		}
		b.WriteString("'" + strings.ReplaceAll(s, "'", `'\''`) + "'")
	}, func(name string) {
		b.WriteString(`"$` + name + `"`)
	})
	if b.Len() == 0 {
		return "''"
	}
	return b.String()
}

// isBareWord reports whether shells read a literal as it is, without quotes. A leading "=" needs quotes: zsh replaces "=name" by the path of a command.
func isBareWord(s string) bool {
	return !strings.HasPrefix(s, "=") && strings.IndexFunc(s, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		return !letter && !(r >= '0' && r <= '9') && !strings.ContainsRune("_-./:@%+=,", r)
	}) < 0
}

// printfArgs returns a format for printf(1), with everything but plain ASCII as octal escapes, and its arguments.
func printfArgs(text string) string {
	var format, args strings.Builder
	eachPart(text, func(s string) {
		for i := range len(s) {
			if c := s[i]; c < ' ' || c > '~' || c == '\'' || c == '\\' || c == '%' {
				fmt.Fprintf(&format, `\%03o`, c)
			} else {
				format.WriteByte(c)
			}
		}
	}, func(name string) {
		format.WriteString("%s")
		args.WriteString(` "$` + name + `"`)
	})
	return "'" + format.String() + "'" + args.String()
}

// isPrintable reports whether a text is valid UTF-8 without control characters and invisible characters.
func isPrintable(s string) bool {
	for i, r := range s {
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") || !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

// Object is a JSON object whose members are found by their exact names (RFC 8259 §4 compares names as strings). encoding/json ignores the case of
// names when it decodes into a struct, and takes the extra member ACCESS_TOKEN for access_token.
type Object map[string]json.RawMessage

// ParseObject reads a JSON object; ok is false for everything else, including null.
func ParseObject(text []byte) (o Object, ok bool) {
	return o, json.Unmarshal(text, &o) == nil && o != nil
}

// Text returns a member that is a string, or "".
func (o Object) Text(name string) string {
	text, _ := o.Value(name).(string)
	return text
}

// Value returns a member as encoding/json decodes it, or nil.
func (o Object) Value(name string) any {
	var value any
	if json.Unmarshal(o[name], &value) != nil {
		return nil
	}
	return value
}

// Objects returns a member that is a list of objects. Elements of another kind are left out.
func (o Object) Objects(name string) []Object { return ParseObjects(o[name]) }

// ParseObjects reads a list of objects; it returns nil for anything else. Elements of another kind are left out.
func ParseObjects(text []byte) []Object {
	var list []json.RawMessage
	if json.Unmarshal(text, &list) != nil {
		return nil
	}
	var out []Object
	for _, raw := range list {
		if o, ok := ParseObject(raw); ok {
			out = append(out, o)
		}
	}
	return out
}
