package requirement

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	escaped "html"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
)

// errorInternals returns ERR-04.
func errorInternals() []Requirement {
	return []Requirement{{
		ID: "ERR-04", Title: "Errors reveal no internals",
		Level: Recommended, Gate: Gating, Profile: Auth,
		Source:   RFC(9457, "5"),
		Quote:    "Generators providing links to occurrence information are encouraged to avoid making implementation details such as a stack dump available through the HTTP interface, since this can expose sensitive details of the server implementation, its data, and so on.",
		Probe:    "All error bodies of the run, searched for stack traces (Java, Python, .NET, PHP, Go, Node.js, Ruby), messages of databases and runtimes, file paths of the server, addresses of services behind it, and the token or Authorization header that was sent.",
		Forgives: "Paths of URLs, error codes and names of classes in documentation links; as a warning, the bare name of an exception, of a class or of the function that reads a value; as a warning outside of the profile full, what a node shows only to odd input: bytes that are not UTF-8, NUL, half escapes, very long values and odd paths.",
		Fix:      "Log the cause and answer a text of your own. Spring Boot: server.error.include-stacktrace=never, include-message=never; Flask and Django: DEBUG off; ASP.NET: no UseDeveloperExceptionPage in production; Express: NODE_ENV=production; PHP: display_errors=Off.",
		Breaks:   "A 500 page holds a Java stack trace.",
		Reads:    []evidence.Label{evidence.WholeRun}, Check: judgeErrorInternals,
	}}
}

// judgeErrorInternals is the check of ERR-04.
func judgeErrorInternals(e Evidence) Judgement {
	search := newInternals()
	var s survey
	searched := 0
	for _, x := range e.Exchanges {
		if x.Status() < 400 || x.Response == nil || len(x.Response.Body) == 0 {
			continue
		}
		searched++
		j := search.judge(x)
		if j.Outcome == Fail && Profile(e.Run.Profile) != Full && isOddValue(x) {
			j.Outcome = Warn
		}
		s.add(j.Reason+j.Got, j)
	}
	if searched == 0 {
		return Inapplicable("no error of the run had a body")
	}
	return s.judge()
}

// isOddValue reports whether a request has a value that frameworks refuse before the application sees it.
func isOddValue(x evidence.Exchange) bool {
	return slices.Contains([]string{"value-escape", "value-bytes", "value-nul", "value-control", "value-long"}, x.Given["try"]) || x.Family == evidence.PathDetours || slices.Contains([]evidence.Case{"bearer-bytes",
		"id-bytes", "id-nul", "id-parent", "query-bytes", "query-size-nul", "form-bytes", "form-percent"}, x.Label.Case())
}

// maxSearched bounds the part of an error body that is searched: pages reveal internals near their beginning.
const maxSearched = 256 << 10

// internals searches error bodies. Most errors of a run are equal, and each text is searched once.
type internals struct {
	traces              []trace
	exceptions, markers *regexp.Regexp
	clean               map[[sha256.Size]byte]bool // by digest: the text matches no pattern
}

func newInternals() internals {
	return internals{traces(), exceptionName(), marker(), map[[sha256.Size]byte]bool{}}
}

// matches reports whether a text matches one of the patterns.
func (s internals) matches(text string) bool {
	key := sha256.Sum256([]byte(text))
	clean, known := s.clean[key]
	if !known {
		clean = !s.exceptions.MatchString(text) && !slices.ContainsFunc(s.traces, func(t trace) bool { return t.pattern.MatchString(text) })
		s.clean[key] = clean
	}
	return !clean
}

// judge judges one error body.
func (s internals) judge(x evidence.Exchange) Judgement {
	want := expect(x, "an error without internals")
	body := x.Response.Body[:min(len(x.Response.Body), maxSearched)]
	text := plainText(body, x)
	matches := s.matches(text)
	if matches {
		for _, t := range s.traces {
			if found := t.find(text, x); found != "" {
				return want.failed("an error shows "+t.what, quote(found))
			}
		}
	}
	if form := s.echoForm(body, x); form != "" {
		return want.failed("an error repeats the token of the request", "what the Authorization header held, "+form)
	}
	if matches {
		if name := s.exceptions.FindString(text); name != "" {
			return want.warned("an error names the exception or the code behind it", quote(name))
		}
	}
	return Passed(x.Label)
}

// plainText returns a body without the escapes of its format: the texts of a JSON value, one on each line, or HTML without character references.
func plainText(body []byte, x evidence.Exchange) string {
	value, err := jsonValue(x)
	switch {
	case err == nil:
		var b strings.Builder
		writeTexts(&b, value)
		return b.String()
	case isHTML(x):
		return escaped.UnescapeString(string(body))
	}
	return string(body)
}

// writeTexts writes names and strings of a JSON value in a stable order.
func writeTexts(b *strings.Builder, value any) {
	switch value := value.(type) {
	case string:
		b.WriteString(value + "\n")
	case []any:
		for _, v := range value {
			writeTexts(b, v)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			b.WriteString(name + "\n")
			writeTexts(b, value[name])
		}
	}
}

// trace is a kind of internals that an error may show.
type trace struct {
	what    string
	pattern *regexp.Regexp
	// path says that the first group of the pattern is a path, which may also be part of a URL.
	path bool
}

// traces lists the kinds of internals, the surest first.
func traces() []trace {
	const start = `(?m)(?:^|[\s\p{Zs}"'>])` // start of a line or of an element
	return []trace{
		{what: "a Java stack trace", pattern: regexp.MustCompile(start + `at [\p{L}_$][\w$]*(?:[./@][\w$<>-]+)+\((?:[\w$]+\.(?:java|kt|scala|groovy)(?::\d+)?|Native Method|Unknown Source)\)`)},
		{what: "a Python stack trace", pattern: regexp.MustCompile(`Traceback \(most recent call last\)|File "[^"\n]+", line \d+`)},
		{what: "a .NET stack trace", pattern: regexp.MustCompile(start + `at [A-Za-z_][\w.+<>\[\],|` + "`" + `]*\([^)\n]*\)(?: in [^\n]+:line \d+|\s+at (?:System|Microsoft)\.)`)},
		{what: "a Node.js stack trace", pattern: regexp.MustCompile(start + `at (?:[\w$.<>\[\] ]+ \()?(?:file://|node:|webpack:|/|[A-Za-z]:\\)[^\s()"]+:\d+:\d+`)},
		{what: "a PHP stack trace", pattern: regexp.MustCompile(start + `#\d+ (?:/|[A-Za-z]:\\)[^\s()"]+\.php\(\d+\)|(?:Fatal error|Parse error|Warning|Notice|Deprecated)(?:</b>)?: .+ in (?:<b>)?(?:/|[A-Za-z]:\\)[^\s"<]+(?:</b>)? on line`)},
		{what: "a Go stack trace", pattern: regexp.MustCompile(`goroutine \d+ \[[a-z ,0-9]+\]:|panic: runtime error`)},
		{what: "a Ruby stack trace", pattern: regexp.MustCompile(`[\w./-]+\.rb:\d+:in [` + "`" + `']`)},
		{what: "a message of the database", pattern: regexp.MustCompile(`\b(?:ORA|PLS|TNS)-\d{5}\b|\bSQLSTATE\b|You have an error in your SQL syntax|\bpsycopg2?\.|Unclosed quotation mark after the character string|syntax error at or near "` +
			`|near \\?"[^"\n]{0,80}": syntax error|unrecognized token: \\?"|unterminated quoted string at or near|\bfts5: syntax error|\bsqlite3\.[A-Z]\w*Error\b|\bsqlalchemy\.exc\.|\[SQL: ` +
			`|\brelation "[^"\n]{1,80}" does not exist|\bno such (?:table|column): |Unknown column '[^'\n]{1,80}' in '|duplicate key value violates unique constraint|violates (?:foreign key|not-null|check) constraint` +
			`|invalid input syntax for (?:type )?\w+: |could not (?:execute|prepare) statement|\borg\.hibernate\.|\bMongo(?:Server)?Error\b|\bE11000 duplicate key|\bPG::[A-Z]\w+|\bsql: (?:no rows in result set|Scan error|converting argument)` +
			`|\bSELECT\b[^;]{1,400}\bFROM\b[^;]{1,400}\bWHERE\b|\bINSERT INTO [\w."]+ ?\(`)},
		{what: "a message of the runtime about a fault in the code", pattern: regexp.MustCompile(`Cannot invoke "[^"\n]{1,200}" because |Cannot read propert(?:y|ies) (?:'[^'\n]{1,80}' )?of (?:undefined|null)|Cannot destructure property ` +
			`|'\w+' object (?:has no attribute|is not (?:subscriptable|iterable|callable))\b|unsupported operand type\(s\) for|invalid memory address or nil pointer dereference|runtime error: (?:index|slice bounds) out of range` +
			`|undefined (?:local variable or )?method [` + "`" + `'][^'\n]{1,80}' for |Object reference not set to an instance of an object|Call to a member function \w+\(\) on |Undefined (?:array key|offset|variable|property):? ["$\d:]|thread '[^'\n]{1,80}' panicked at`)},
		{what: "the address of a service behind the node", pattern: regexp.MustCompile(`\bECONNREFUSED [\w.:\[\]-]+|\bgetaddrinfo (?:ENOTFOUND|EAI_AGAIN) \S+|\bdial (?:tcp|udp|unix) \S+: |\blookup \S+(?: on \S+)?: no such host|HTTPS?ConnectionPool\(host=` +
			`|Cannot connect to host \S+:\d+|Connection refused: (?:no further information: )?\S+/\S+:\d+|I/O error on (?:GET|POST) request for \S+`)},
		{what: "a debugging page of the framework", pattern: regexp.MustCompile(`Using the URLconf defined in|because you have <code>DEBUG = True</code>|<title>[^<]*// Werkzeug Debugger</title>`)},
		{what: "the address of a database", pattern: regexp.MustCompile(`\bjdbc:[a-z0-9]+:[^\s"']+|\b(?:postgres(?:ql)?|mysql|mariadb|mongodb(?:\+srv)?|redis|amqps?|ldaps?)://[^\s"']+`)},
		{what: "a file path of the server", path: true, pattern: regexp.MustCompile(`(?m)(?:^|[\s"'=(\[>]|file:|file://)(/(?:var|usr|home|opt|srv|etc|root|tmp|mnt|proc|Users|private)(?:/[\w.@+-]+)+\.[A-Za-z][A-Za-z0-9]{0,9}|/etc/(?:passwd|shadow|hosts)|/proc/self/\w+)(?:[^\w/-]|$)`)},
		{what: "a file path of the server", pattern: regexp.MustCompile(`\b[A-Za-z]:\\(?:[\w .$-]+\\)+[\w$-]+(?:\.[A-Za-z0-9]{1,8})?`)},
	}
}

// find returns the part of a text that matches, or "".
func (t trace) find(text string, x evidence.Exchange) string {
	if !t.path {
		return strings.TrimSpace(t.pattern.FindString(text))
	}
	for _, m := range t.pattern.FindAllStringSubmatch(text, 20) {
		if !isInURL(m[1], x) {
			return m[1]
		}
	}
	return ""
}

// isInURL reports whether a path is part of the requested URL.
func isInURL(path string, x evidence.Exchange) bool {
	urls := []string{x.Request.URL}
	for _, hop := range x.Redirects {
		urls = append(urls, hop.URL, hop.Location)
	}
	return slices.ContainsFunc(urls, func(raw string) bool {
		u, err := url.Parse(raw)
		return err == nil && (strings.Contains(u.Path, path) || strings.Contains(u.RawQuery, path))
	})
}

// exceptionName matches the bare name of an exception of a common language, of a class of Java or Spring, and the functions that parsers of values name in their errors.
func exceptionName() *regexp.Regexp {
	return regexp.MustCompile(`\b(?:[a-z][a-z0-9_]*\.)*[A-Z][A-Za-z0-9]*Exception\b|\b(?:Key|Type|Value|Attribute|Index|Name|Reference|Syntax|Range|Import|Unicode(?:De|En)code|Integrity|Operational|Programming|ZeroDivision|Assertion|Recursion)Error\b` +
		`|\bjava\.(?:lang|util|time|math)\.[A-Z]\w+|\b(?:org\.springframework|com\.fasterxml\.jackson)\.[a-z]\w*|\bstrconv\.\w+: parsing |\bjson: cannot unmarshal \w+ into |\binvalid literal for int\(\) with base `)
}

// shortestEcho is the length in bytes from which a repeated credential is not a coincidence.
const shortestEcho = 12

// echoForm returns the form in which a body repeats the credential of its request, or "". The evidence has markers in place of real tokens, in every form.
func (s internals) echoForm(body []byte, x evidence.Exchange) string {
	for _, m := range s.markers.FindAllStringSubmatch(string(body), maxLeaks) {
		for _, sent := range evidence.Values(x.Request.Header, "Authorization") {
			if strings.Contains(sent, ":"+m[2]+":") {
				return "as " + m[3]
			}
		}
	}
	for _, sent := range evidence.Values(x.Request.Header, "Authorization") {
		_, token, _ := strings.Cut(sent, " ")
		token = strings.TrimSpace(token)
		if len(token) < shortestEcho || strings.Contains(sent, markerStart) {
			continue
		}
		for _, text := range []string{sent, token} {
			for _, f := range [][2]string{
				{"plain", text}, {"percent", url.QueryEscape(text)}, {"hex", fmt.Sprintf("%x", text)},
				{"base64", strings.TrimRight(base64.StdEncoding.EncodeToString([]byte(text)), "=")},
			} {
				if bytes.Contains(body, []byte(f[1])) {
					return "as " + f[0]
				}
			}
		}
	}
	return ""
}
