package hostile_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// marker is the name of an element, and part of every text, with which an attack marks what it wrote.
const marker = "rinevil"

// findHarm lists the texts in outputs, by name, that would act where they are shown.
func findHarm(outputs map[string]string) []string {
	var found []string
	for name, text := range outputs {
		if fault := describeHarm(name, text); fault != "" {
			found = append(found, name+": "+fault)
		}
	}
	return found
}

// describeHarm describes the first harmful text in one output. It returns "" if there is none.
func describeHarm(name, text string) string {
	if i := strings.IndexFunc(text, isUnsafe); i >= 0 {
		r, _ := utf8.DecodeRuneInString(text[i:])
		return fmt.Sprintf("%U in %.200q", r, text[max(0, i-80):])
	}
	if !utf8.ValidString(text) {
		return "no UTF-8"
	}
	switch path.Ext(name) {
	case ".html":
		return activeHTML(text)
	case ".xml":
		return activeXML(text)
	case ".md":
		return activeMarkdown(text)
	case ".json", ".har":
		if !json.Valid([]byte(text)) {
			return "no JSON"
		}
	case ".jsonl":
		for line := range strings.Lines(text) {
			if !json.Valid([]byte(line)) {
				return fmt.Sprintf("no JSON: %.200s", line)
			}
		}
	}
	return ""
}

// isUnsafe reports whether a character moves a cursor, changes a colour, hides text or turns its direction.
func isUnsafe(r rune) bool {
	switch r {
	case '\n', '\t', '\u200c', '\u200d': // the last two spell words in Persian and Indic scripts
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// activeHTML describes the first element or attribute that an attack wrote, or that a page could fetch
// or run.
func activeHTML(text string) string {
	for page := html.NewTokenizer(strings.NewReader(text)); ; {
		kind := page.Next()
		if kind == html.ErrorToken {
			if err := page.Err(); !errors.Is(err, io.EOF) {
				return err.Error()
			}
			return ""
		}
		t := page.Token()
		if kind == html.CommentToken && strings.Contains(t.Data, marker) {
			return "a comment holds " + t.Data
		}
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		switch t.Data {
		case marker, "script", "img", "iframe", "object", "embed", "base", "form", "link", "video":
			return "an element " + t.String()
		}
		for _, a := range t.Attr {
			target := strings.ToLower(strings.TrimSpace(a.Val))
			outside := a.Key == "src" || a.Key == "href" && !strings.HasPrefix(target, "#") && !strings.HasPrefix(target, "https://")
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" && strings.Contains(target, marker) || outside || a.Key == "href" && strings.Contains(target, marker) {
				return "an attribute " + t.String()
			}
		}
	}
}

// activeXML describes the first element of an attack, or why the text is not well-formed.
func activeXML(text string) string {
	for in := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			return ""
		}
		if err != nil {
			return err.Error()
		}
		if e, ok := token.(xml.StartElement); ok && e.Name.Local == marker {
			return "an element " + marker
		}
		if _, ok := token.(xml.Directive); ok {
			return "a directive"
		}
	}
}

// activeMarkdown describes the first text of an attack outside code. Within code, Markdown does not act (CommonMark
// §4.5, §6.1).
func activeMarkdown(text string) string {
	fence := ""
	opening := regexp.MustCompile("^(`{3,})[^`]*$")
	for _, line := range strings.Split(text, "\n") {
		found := opening.FindStringSubmatch(line)
		switch {
		case fence != "":
			if len(line) >= len(fence) && strings.Trim(line, "`") == "" {
				fence = ""
			}
		case found != nil:
			fence = found[1]
		default:
			if left := withoutCode(line); strings.Contains(left, marker) {
				return fmt.Sprintf("outside code: %.200q", left)
			}
		}
	}
	return ""
}

// withoutCode returns a line without its code spans, which end at a run of as many backticks as they begin with.
func withoutCode(line string) string {
	ticks := regexp.MustCompile("`+")
	var out strings.Builder
	for {
		open := ticks.FindStringIndex(line)
		if open == nil {
			return out.String() + line
		}
		out.WriteString(line[:open[0]])
		length, rest := open[1]-open[0], line[open[1]:]
		line = rest // no span without an end
		for _, end := range ticks.FindAllStringIndex(rest, -1) {
			if end[1]-end[0] == length {
				line = rest[end[1]:]
				break
			}
		}
	}
}
