package deviation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf16"
)

// notationHabits are ways to write JSON and to name its media type.
func notationHabits() []Deviation {
	return []Deviation{
		{
			Name: "media-type-with-charset",
			Why:  "The media type has a charset parameter, as Spring, Express and ASP.NET write it, and an RFC that knows none calls it harmless.",
			Wrap: typed("; charset=utf-8"),
		},
		{
			Name: "media-type-respelled",
			Why:  "The media type is spelled in capitals, with a quoted parameter and no blank; names in it have no case.",
			Wrap: rewrite(func(_ *http.Request, a *Answer) {
				if kind, _, _ := strings.Cut(a.Header.Get("Content-Type"), ";"); strings.HasSuffix(kind, "json") {
					a.set("Content-Type", strings.Replace(strings.ToUpper(kind), "JSON", "Json", 1)+`;Charset="UTF-8"`)
				}
			}, everywhere()...),
		},
		{
			Name: "json-indented",
			Why:  "JSON is indented and ends with a line break, as Rails and Django REST write it for readers.",
			Wrap: rewritten(func(body []byte) []byte {
				var out bytes.Buffer
				if json.Indent(&out, body, "\t", "\t") != nil {
					return body
				}
				return []byte("\r\n" + out.String() + "\r\n")
			}),
		},
		{
			Name: "json-escaped",
			Why:  "Slashes and everything that is not ASCII are escaped in JSON, the default of PHP's json_encode.",
			Wrap: rewritten(asciiOnly),
		},
	}
}

// typed makes a Wrap that adds a parameter to the media types of JSON.
func typed(parameter string) wrap {
	return rewrite(func(_ *http.Request, a *Answer) {
		if kind := a.Header.Get("Content-Type"); strings.HasSuffix(kind, "json") {
			a.set("Content-Type", kind+parameter)
		}
	}, everywhere()...)
}

// rewritten makes a Wrap that writes JSON bodies in another notation.
func rewritten(write func(body []byte) []byte) wrap {
	return rewrite(func(_ *http.Request, a *Answer) {
		if json.Valid(a.Body) {
			a.Body = write(a.Body)
		}
	}, everywhere()...)
}

// asciiOnly escapes what PHP escapes. A slash occurs in strings alone, and so does everything beyond ASCII.
func asciiOnly(body []byte) []byte {
	var out bytes.Buffer
	escaped := false // by a backslash before
	for _, c := range string(body) {
		switch {
		case c == '/' && !escaped:
			out.WriteString(`\/`)
		case c > 0x7e:
			for _, unit := range utf16.Encode([]rune{c}) {
				fmt.Fprintf(&out, `\u%04x`, unit)
			}
		default:
			out.WriteRune(c)
		}
		escaped = c == '\\' && !escaped
	}
	return out.Bytes()
}
