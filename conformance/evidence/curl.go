package evidence

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rin-network/rin/conformance/evidence/redact"
)

// Curl is a command for a POSIX shell that sends the request again. Secrets appear as variables named after their markers, such as
// "$RIN_CLIENT_SECRET", or "$RIN_CLIENT_SECRET_BASE64" for a form other than plain: that variable is to hold the encoded text as a
// whole, such as base64 of id:secret. The command is one line without control characters, whatever the exchange holds.
func Curl(x Exchange) string {
	q := x.Request
	args := []string{"curl", "-sS", "-i"}
	switch {
	case q.Method == "HEAD":
		args = append(args, "-I")
	case q.Method != "GET" || len(q.Body) > 0:
		args = append(args, "-X", shellWord(q.Method))
	}
	if strings.ContainsAny(q.URL, "[]{}") {
		args = append(args, "-g") // no globbing
	}
	if strings.Contains(q.URL, "/.") {
		args = append(args, "--path-as-is")
	}
	args = append(args, "--url", shellWord(asciiURL(q.URL)))
	args = append(args, headerArgs(q)...)
	before := ""
	switch {
	case len(q.Body) == 0:
		if q.Method == "POST" {
			args = append(args, "--data-raw", "''")
		}
	case printable(string(q.Body)):
		args = append(args, "--data-raw", shellWord(string(q.Body)))
	default:
		before = "printf " + printfArgs(string(q.Body)) + " | "
		args = append(args, "--data-binary", "@-")
	}
	command := before + strings.Join(args, " ")
	if q.Raw {
		command += " # header bytes matter here: blanks at the end of a value count"
	}
	return command
}

// headerArgs also takes away what curl would add by itself.
func headerArgs(q Request) []string {
	var args []string
	for _, f := range q.Header {
		switch {
		case !isToken(f.Name):
			continue // cannot have been sent; "@name" would read a file
		case f.Value == "":
			args = append(args, "-H", shellWord(f.Name+";"))
		default:
			args = append(args, "-H", shellWord(f.Name+": "+f.Value))
		}
	}
	if len(Values(q.Header, "Accept-Encoding")) > 0 {
		args = append(args, "--compressed")
	}
	for _, name := range []string{"Accept", "Content-Type"} {
		if len(Values(q.Header, name)) == 0 && (name == "Accept" || len(q.Body) > 0 || q.Method == "POST") {
			args = append(args, "-H", "'"+name+":'")
		}
	}
	return args
}

func isToken(s string) bool {
	for i := range len(s) {
		if !tokenChar(s[i]) {
			return false
		}
	}
	return s != ""
}

// eachPart cuts a text into literal parts and variables that stand for markers.
func eachPart(text string, literal, variable func(string)) {
	for _, p := range redact.Split(text) {
		if p.Marker {
			variable(shellVariable(p.Name, p.Form))
		} else {
			literal(p.Text)
		}
	}
}

func shellVariable(name, form string) string {
	// Behind the dot stands the request that the token came by; whoever repeats this one takes any token of the client.
	name, _, _ = strings.Cut(name, ".")
	if form != redact.FormPlain {
		name += "_" + form
	}
	return "RIN_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// shellWord quotes a text as one word: literals in single quotes, variables in double quotes.
func shellWord(text string) string {
	if !printable(text) {
		return `"$(printf ` + printfArgs(text) + `)"`
	}
	var b strings.Builder
	eachPart(text, func(s string) {
		b.WriteString("'" + strings.ReplaceAll(s, "'", `'\''`) + "'")
	}, func(name string) {
		b.WriteString(`"$` + name + `"`)
	})
	if b.Len() == 0 {
		return "''"
	}
	return b.String()
}

// printfArgs is a format for printf(1) with everything but plain ASCII as octal escapes, and its arguments.
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

// printable reports valid UTF-8 that a terminal shows as it is: no control characters, nothing invisible or turning direction.
func printable(s string) bool {
	for i, r := range s {
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") || !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

// asciiURL percent-encodes what no URL may hold; brackets of queries stay raw, because they went out like that.
func asciiURL(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c > '~' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
