package probe

import (
	"net/url"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/evidence/redact"
	"github.com/rin-network/rin/conformance/recorder"
)

// pathDetours are spellings of a path that one server resolves to the protected resource and another one does not.
func pathDetours() []detour {
	var out []detour
	path := func(kind evidence.Case, words string, change func(s draw.Source, segments []string) []string) {
		out = append(out, detour{kind, "without a token and " + words, func(s draw.Source, _ *run, q *recorder.Request) bool {
			return rewritePath(q, func(segments []string) []string { return change(s, segments) })
		}})
	}
	for _, p := range pathPlaces() {
		at := func(change func(s draw.Source, segment string) string) func(draw.Source, []string) []string {
			return func(s draw.Source, segments []string) []string {
				i, ok := p.choose(s, segments, change)
				if !ok {
					return nil
				}
				segments[i] = change(s, segments[i])
				return segments
			}
		}
		path("matrix-"+p.kind, "with a matrix parameter in the "+p.words+" segment", at(func(s draw.Source, segment string) string {
			return segment + draw.One(s, ";", ";"+s.Word(), ";"+s.Word()+"="+s.Word(), ";jsessionid="+s.Text(draw.Upper+draw.Digits, 32))
		}))
		path("slashes-"+p.kind, "with more slashes before the "+p.words+" segment", at(func(s draw.Source, segment string) string {
			return strings.Repeat("/", s.Between(1, 2)) + segment
		}))
		path("dot-"+p.kind, "with a dot segment before the "+p.words+" one", at(func(s draw.Source, segment string) string {
			return draw.One(s, "./", "%2e/", "%2E/", ".;/", ".%2f") + segment
		}))
		path("parent-"+p.kind, "with a way to and back before the "+p.words+" segment", at(func(s draw.Source, segment string) string {
			return s.Word() + "/" + draw.One(s, "..", "%2e%2e", ".%2e", "%2E%2E", "..;", "..;"+s.Word()) + "/" + segment
		}))
		path("case-"+p.kind, "with another case in the "+p.words+" segment", at(func(s draw.Source, segment string) string {
			return draw.One(s, swapFirstLetter, swapLetters)(segment)
		}))
		path("escape-"+p.kind, "with a character of the "+p.words+" segment percent-encoded", at(escapeOne))
	}
	path("escape-each", "with a character of each segment percent-encoded", func(s draw.Source, segments []string) []string {
		for i, segment := range segments {
			segments[i] = escapeOne(s, segment)
		}
		return segments
	})
	last := func(change func(s draw.Source, segment string) string) func(draw.Source, []string) []string {
		return func(s draw.Source, segments []string) []string {
			i := len(segments) - 1
			for i > 0 && segments[i] == "" {
				i--
			}
			segments[i] = change(s, segments[i])
			return segments
		}
	}
	after := func(texts ...string) func(draw.Source, []string) []string {
		return last(func(s draw.Source, segment string) string { return segment + draw.One(s, texts...) })
	}
	path("separator-encoded", "with an encoded slash", joinSome("%2F", "%2f"))
	path("separator-twice", "with a slash that is encoded twice", joinSome("%252F", "%252f"))
	path("separator-backslash", "with a backslash for a slash", joinSome("%5C", "%5c"))
	path("escape-twice", "with a character that is encoded twice", last(func(s draw.Source, segment string) string {
		return strings.Replace(escapeOne(s, segment), "%", "%25", 1)
	}))
	path("end-break", "with a line break at the end", after("%0a", "%0d", "%0d%0a", "%0A"))
	path("end-blank", "with a blank at the end", after("%20", "%09", "%20%20"))
	path("start-blank", "with a blank before the last segment", last(func(s draw.Source, segment string) string { return draw.One(s, "%20", "%09", "%0a") + segment }))
	path("end-mark", "with a mark at the end", after(".", "~", "*", "!", ",", ":", "%2e"))
	path("end-nul", "with %00 at the end", after("%00", "%00.html", "%00.json"))
	path("end-query", "with an encoded question mark or number sign at the end", after("%3f", "%23", "%3F", "%26"))
	path("end-slashes", "with slashes or a dot segment at the end", func(s draw.Source, segments []string) []string {
		return append(trimmed(segments), draw.One(s, []string{"", ""}, []string{"."}, []string{".", ""}, []string{"%2e"}, []string{"%20"})...)
	})
	path("extension-page", "with the extension of a file of a page", after(".html", ".css", ".js", ".png", ".ico", ".svg", ".txt"))
	path("extension-data", "with the extension of a format", after(".json", ".xml", ".csv", ".jsonld", ".pdf"))
	path("extension-made-up", "with an extension that nobody knows", last(func(s draw.Source, segment string) string { return segment + "." + s.Word() }))
	path("file-below", "with a file below it", func(s draw.Source, segments []string) []string {
		return append(trimmed(segments), s.Word()+draw.One(s, ".css", ".js", ".html", ".png", ".ico"))
	})
	path("file-by-parameter", "with a matrix parameter that ends like a file", last(func(s draw.Source, segment string) string {
		return segment + ";" + s.Word() + draw.One(s, ".css", ".js", ".png", ".html")
	}))
	path("below-public", "below a folder that is often public", func(s draw.Source, segments []string) []string {
		folder := draw.One(s, "public", "static", "assets", "health", "docs", "swagger-ui", "login", "error", "actuator", "favicon.ico", ".well-known")
		return append([]string{"", folder, draw.One(s, "..", "%2e%2e", "..;")}, segments[1:]...)
	})
	return append(out,
		detour{"below-document", "without a token and below the path of the document", func(s draw.Source, r *run, q *recorder.Request) bool {
			u, err := url.Parse(r.Target.SpecURL)
			if err != nil || r.Target.SpecURL == "" || strings.Trim(u.Path, "/") == "" || !evidence.SameOrigin(r.Target.SpecURL, q.URL) {
				return false
			}
			public := strings.Split(strings.TrimRight(u.EscapedPath(), "/"), "/")
			back := draw.One(s, "..", "%2e%2e", "..;")
			return rewritePath(q, func(segments []string) []string {
				for range len(public) - 1 {
					public = append(public, back)
				}
				return append(public, segments[1:]...)
			})
		}},
		detour{"query-file", "without a token and with a query that ends like a file", func(s draw.Source, _ *run, q *recorder.Request) bool {
			q.URL = withField(q.URL, s.Word()+"="+s.Word()+draw.One(s, ".css", ".js", ".png", ".html", "/health", "/favicon.ico"))
			return true
		}},
		detour{"query-document", "without a token and with a query that ends like the path of the document", func(s draw.Source, r *run, q *recorder.Request) bool {
			path, ok := documentPath(r)
			if ok {
				q.URL = withField(q.URL, s.Word()+"="+path)
			}
			return ok
		}},
		detour{"matrix-document", "without a token and with a matrix parameter that ends like the path of the document", func(s draw.Source, r *run, q *recorder.Request) bool {
			path, ok := documentPath(r)
			return ok && rewritePath(q, func(segments []string) []string {
				return last(func(s draw.Source, segment string) string {
					return segment + ";" + draw.One(s, s.Word()+"=", "") + path[strings.LastIndexByte(path, '/')+1:]
				})(s, segments)
			})
		}},
	)
}

// documentPath returns the path of the node's document, which is usually public.
func documentPath(r *run) (string, bool) {
	u, err := url.Parse(r.Target.SpecURL)
	if err != nil || strings.Trim(u.Path, "/") == "" {
		return "", false
	}
	return strings.TrimRight(u.EscapedPath(), "/"), true
}

// withField adds a field to the query of a URL without encoding its slashes, because guards often compare the end of the URL before it is parsed.
func withField(text, field string) string {
	if strings.Contains(text, "?") {
		return text + "&" + field
	}
	return text + "?" + field
}

// rewritePath changes the escaped segments of a request's path; the first segment is empty. It reports whether the path has changed.
func rewritePath(q *recorder.Request, change func(segments []string) []string) bool {
	u, err := url.Parse(q.URL)
	if err != nil || strings.Trim(u.EscapedPath(), "/") == "" {
		return false
	}
	segments := change(strings.Split(u.EscapedPath(), "/"))
	path := strings.Join(segments, "/")
	if len(segments) == 0 || path == u.EscapedPath() {
		return false
	}
	q.URL = withPath(u, path)
	return true
}

// pathPlace is where in a path a segment is changed.
type pathPlace struct {
	kind  evidence.Case
	words string
	// within returns the range of the place among n segments with text.
	within func(n int) (from, to int)
}

func pathPlaces() []pathPlace {
	return []pathPlace{
		{"start", "first", func(int) (int, int) { return 0, 1 }},
		{"middle", "middle", func(n int) (int, int) { return 1, n - 1 }},
		{"end", "last", func(n int) (int, int) { return n - 1, n }},
	}
}

// choose draws one of the segments at the place that the change alters.
func (p pathPlace) choose(s draw.Source, segments []string, change func(draw.Source, string) string) (int, bool) {
	var filled []int
	for i, segment := range segments {
		if segment != "" {
			filled = append(filled, i)
		}
	}
	from, to := p.within(len(filled))
	if from >= to || from < 0 {
		return 0, false
	}
	here := slices.DeleteFunc(slices.Clone(filled[from:to]), func(i int) bool { return change(s, segments[i]) == segments[i] })
	if len(here) == 0 {
		return 0, false
	}
	return draw.One(s, here...), true
}

// joinSome replaces one slash between two segments.
func joinSome(separators ...string) func(draw.Source, []string) []string {
	return func(s draw.Source, segments []string) []string {
		n := len(trimmed(segments))
		if n < 3 { // the first segment is empty
			return nil
		}
		i := s.Between(1, n-2)
		joined := segments[i] + draw.One(s, separators...) + segments[i+1]
		return slices.Replace(segments, i, i+2, joined)
	}
}

// trimmed returns the segments without the empty ones at the end.
func trimmed(segments []string) []string {
	for len(segments) > 1 && segments[len(segments)-1] == "" {
		segments = segments[:len(segments)-1]
	}
	return slices.Clip(segments)
}

// swapFirstLetter changes the case of the first letter.
func swapFirstLetter(segment string) string { return swapCase(segment, 1) }

// swapLetters changes the case of all letters.
func swapLetters(segment string) string { return swapCase(segment, len(segment)) }

// swapCase changes the case of the first letters, as many as given. It leaves escaped bytes alone, because their case has no meaning.
func swapCase(segment string, letters int) string {
	b := []byte(segment)
	for i := 0; i < len(b) && letters > 0; i++ {
		switch c := b[i]; {
		case c == '%':
			i += 2
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			b[i] ^= 0x20
			letters--
		}
	}
	return string(b)
}

// escapeOne percent-encodes a letter or digit, which does not change the meaning of the segment (RFC 3986 §6.2.2.2).
func escapeOne(s draw.Source, segment string) string {
	if strings.Contains(segment, "%") || strings.Trim(segment, ".") == "" {
		return segment
	}
	var plain []int
	for i := range segment {
		if redact.IsAlphanumeric(segment[i]) {
			plain = append(plain, i)
		}
	}
	if len(plain) == 0 {
		return segment
	}
	i := draw.One(s, plain...)
	return segment[:i] + percent(segment[i]) + segment[i+1:]
}
