package evidence

import (
	"fmt"
	"strings"

	"github.com/rin-network/rin/conformance/evidence/redact"
	"golang.org/x/net/http/httpguts"
)

// Curl returns a command for a POSIX shell that sends the request again. Secrets appear as variables named after their markers, such as
// "$RIN_CLIENT_SECRET", or "$RIN_CLIENT_SECRET_BASE64" for an encoded form, which holds the whole encoded text, such as base64 of
// id:secret. The command is one line without control characters.
func Curl(x Exchange) string {
	q := x.Request
	args := []string{"curl", "-sS", "-i"}
	switch {
	case q.Method == "HEAD":
		args = append(args, "-I")
	case q.Method != "GET" || len(q.Body) > 0:
		args = append(args, "-X", ShellWord(q.Method))
	}
	if strings.ContainsAny(q.URL, "[]{}") {
		args = append(args, "-g") // or curl reads them as a pattern for several URLs
	}
	if strings.Contains(q.URL, "/.") {
		args = append(args, "--path-as-is")
	}
	args = append(args, "--url", ShellWord(asciiURL(q.URL)))
	args = append(args, headerArgs(q)...)
	input := "" // a command whose output is the body
	switch {
	case len(q.Body) == 0:
		if q.Method == "POST" {
			args = append(args, "--data-raw", "''") // sends Content-Length: 0, as the node got it
		}
	case isPrintable(string(q.Body)):
		args = append(args, "--data-raw", ShellWord(string(q.Body)))
	default:
		input = "printf " + printfArgs(string(q.Body)) + " | "
		args = append(args, "--data-binary", "@-")
	}
	command := input + strings.Join(args, " ")
	if q.Raw {
		command += " # header bytes matter here: blanks at the end of a value count"
	}
	return command
}

// headerArgs returns the arguments for the header fields. It removes those that curl would add itself.
func headerArgs(q Request) []string {
	var args []string
	for _, f := range q.Header {
		switch {
		case !httpguts.ValidHeaderFieldName(f.Name):
			continue // cannot have been sent; "@name" would read a file
		case f.Value == "":
			args = append(args, "-H", ShellWord(f.Name+";"))
		default:
			args = append(args, "-H", ShellWord(f.Name+": "+f.Value))
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

// asciiURL percent-encodes what URLs must not contain; brackets in queries stay raw, as they were sent.
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

// Curl returns a command for a POSIX shell that repeats the handshake. OpenSSL refuses old versions unless its security level is lowered.
func (h Handshake) Curl() string {
	flags := ""
	if len(h.Offered) == 1 {
		var number string
		if _, err := fmt.Sscanf(h.Offered[0], "TLS %s", &number); err == nil {
			flags = fmt.Sprintf(" --tlsv%s --tls-max %s --ciphers DEFAULT@SECLEVEL=0", number, number)
		}
	}
	return fmt.Sprintf("curl -sv -o /dev/null%s %s", flags, ShellWord("https://"+h.Address+"/"))
}

// eachPart cuts a text at its markers. It calls literal with each piece between them, and variable with the shell variable of each marker.
func eachPart(text string, literal, variable func(string)) {
	for _, p := range redact.Split(text) {
		if p.Marker {
			variable(shellVariable(p.Name, p.Form))
		} else {
			literal(p.Text)
		}
	}
}

// shellVariable returns the shell variable that a command uses in place of a secret. The marker names the secret.
func shellVariable(name, form string) string {
	// The part after a dot names the request that issued the token; any token of the client serves as well.
	name, _, _ = strings.Cut(name, ".")
	if form != redact.FormPlain {
		name += "_" + form
	}
	return "RIN_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}
