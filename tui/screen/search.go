package screen

import (
	"fmt"
	"regexp"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
)

// The body is searched in slices: the first one at once, the others in the background.
const (
	firstSlice = 16 << 10
	nextSlice  = 128 << 10
)

const (
	maxQuery = 200
	maxHits  = 100_000
)

// hit is a place where a search found its text: in a line of the head, or at an offset of the body.
type hit struct {
	head int // the line, -1 for the body
	at   int
}

// search looks for a text in a message and ignores case.
type search struct {
	typing bool
	query  string
	match  *regexp.Regexp // nil without a text
	hits   []hit
	now    int // the selected hit, -1 before the first
	to     int // the end of the searched part of the body
	done   bool
}

// searchHits are the hits in a slice of the body; match identifies the search.
type searchHits struct {
	match *regexp.Regexp
	hits  []hit
	to    int
}

// line reports whether the search takes a line of the screen.
func (s *search) line() bool { return s.typing || s.match != nil }

// say shows the text of the search and the number of hits.
func (s *search) say(t Theme) string {
	count := "nothing found"
	more := ""
	if !s.done {
		count, more = "searching …", "+"
	}
	if n := len(s.hits); n > 0 {
		count = fmt.Sprintf("%d%s found", n, more)
		if s.now >= 0 {
			count = fmt.Sprintf("%d of %d%s", s.now+1, n, more)
		}
	}
	if s.match == nil {
		count = ""
	}
	line := t.Key.Render("/") + s.query
	if s.typing {
		return line + "▏  " + t.Muted.Render(count)
	}
	line += "  " + t.Muted.Render(count)
	if len(s.hits) > 1 {
		line += "  " + t.Key.Render("n") + t.Muted.Render(" next  ") + t.Key.Render("N") + t.Muted.Render(" before")
	}
	return line
}

func (s *search) begin() { *s = search{typing: true, now: -1} }

// typed handles a key of the search text.
func (m *Message) typed(msg tea.KeyMsg) tea.Cmd {
	s := &m.search
	switch msg.Type {
	case tea.KeyEsc:
		*s = search{}
		return nil
	case tea.KeyEnter:
		s.typing = false
		if s.query == "" {
			*s = search{}
			return nil
		}
		m.nearest()
		return nil
	case tea.KeyBackspace:
		if _, size := utf8.DecodeLastRuneInString(s.query); size > 0 {
			return m.look(s.query[:len(s.query)-size])
		}
		*s = search{}
		return nil
	case tea.KeyRunes, tea.KeySpace:
		var b strings.Builder
		for _, sp := range m.theme.spans(string(msg.Runes), m.theme.Muted, nil) { // a pasted text may contain anything
			b.WriteString(sp.text)
		}
		if query := s.query + b.String(); len(query) <= maxQuery {
			return m.look(query)
		}
	}
	return nil
}

// look starts a search.
func (m *Message) look(query string) tea.Cmd {
	m.search = search{typing: true, query: query, now: -1}
	if query == "" {
		return nil
	}
	s := &m.search
	s.match = pattern(query)
	for i, l := range m.head {
		for _, at := range s.match.FindAllStringIndex(l.Text, -1) {
			s.hits = append(s.hits, hit{i, at[0]})
		}
	}
	return m.found(searchSlice(s.match, m.body, 0, firstSlice))
}

// pattern matches a text, ignores case, and also matches the escapes of JSON.
func pattern(query string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString("(?i)")
	for _, r := range query {
		switch {
		case r == '"' || r == '/':
			b.WriteString(`\\?` + string(r))
		case r >= utf8.RuneSelf && r < 0x10000:
			fmt.Fprintf(&b, `(?:%s|\\u%04x`, regexp.QuoteMeta(string(r)), r)
			for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
				fmt.Fprintf(&b, `|\\u%04x`, other)
			}
			b.WriteString(")")
		default:
			b.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	return regexp.MustCompile(b.String()) // all parts are quoted
}

// searchSlice searches a slice of a text. A hit begins in the slice, and may end after it.
func searchSlice(match *regexp.Regexp, text []byte, from, length int) searchHits {
	out := searchHits{match: match, to: min(from+length, len(text))}
	for _, at := range match.FindAllIndex(text[from:min(out.to+6*maxQuery, len(text))], maxHits) {
		if from+at[0] < out.to {
			out.hits = append(out.hits, hit{-1, from + at[0]})
		}
	}
	return out
}

// found adds the hits of a slice, and searches the next one.
func (m *Message) found(f searchHits) tea.Cmd {
	s := &m.search
	if s.match != f.match || f.match == nil || f.to < s.to {
		return nil // of an earlier search
	}
	s.hits, s.to = append(s.hits, f.hits...), f.to
	if s.done = s.to == len(m.body) || len(s.hits) >= maxHits; s.done {
		m.nearest()
		return nil
	}
	match, body, from := s.match, m.body, s.to
	return func() tea.Msg { return searchSlice(match, body, from, nextSlice) }
}

// nearest selects the first hit at or after the cursor, once the text is complete.
func (m *Message) nearest() {
	s := &m.search
	if s.typing || s.now >= 0 || len(s.hits) == 0 {
		return
	}
	i := sort.Search(len(s.hits), func(i int) bool { return m.rowOf(s.hits[i]) >= m.cursor })
	switch {
	case i < len(s.hits):
		m.goTo(i)
	case s.done:
		m.goTo(0)
	}
}

// step selects the next or the previous hit; the first one follows the last.
func (m *Message) step(by int) {
	if n := len(m.search.hits); n > 0 {
		m.goTo((m.search.now + by + n) % n)
	}
}

// rowOf returns the row of a hit.
func (m *Message) rowOf(h hit) int {
	switch {
	case h.head >= 0:
		return h.head
	case m.asText:
		return m.first() + m.raw.rowOf(h.at)
	}
	return m.first() + m.tree.rowOf(m.tree.at(h.at))
}

// goTo selects a hit, and unfolds the values around it.
func (m *Message) goTo(i int) {
	m.search.now = i
	h := m.search.hits[i]
	if h.head < 0 && !m.asText {
		m.tree.uncover(m.tree.at(h.at))
	}
	m.cursor = m.rowOf(h)
	if height := m.content().Height; m.cursor < m.from || m.cursor >= m.from+height {
		m.from = m.cursor - height/2 // in the middle of the screen
	}
	m.move(0)
	m.reach()
}

// reach scrolls sideways until the selected hit is visible.
func (m *Message) reach() {
	nth := 0 // the index of the hit in its row
	for i := m.search.now - 1; i >= 0 && nth < maxRowBytes && m.rowOf(m.search.hits[i]) == m.cursor; i-- {
		nth++
	}
	m.left = 0
	column := 0
	for _, s := range m.spans(m.cursor, 4*maxScrollLeft) {
		all := m.search.match.FindAllStringIndex(s.text, -1)
		if nth < len(all) {
			m.see(column+lipgloss.Width(s.text[:all[nth][0]]), column+lipgloss.Width(s.text[:all[nth][1]]))
			return
		}
		nth -= len(all)
		column += lipgloss.Width(s.text)
	}
}

// see scrolls sideways until some columns are visible.
func (m *Message) see(from, to int) {
	if width := m.size.Width - 3; to > m.left+width || from <= m.left {
		m.left = min(max(0, to-width/2), maxScrollLeft)
		if to <= width {
			m.left = 0
		}
	}
}

// maxScrollLeft is how far a search scrolls sideways.
const maxScrollLeft = 4000

// mark splits spans at the hits and gives these a style.
func (s *search) mark(spans []span, t Theme, here bool) []span {
	if s.match == nil && !here {
		return spans
	}
	var out []span
	for _, sp := range spans {
		at := 0
		if s.match != nil {
			for _, hit := range s.match.FindAllStringIndex(sp.text, -1) {
				if hit[1] > hit[0] {
					out = append(out, span{text: sp.text[at:hit[0]], style: spanStyle(here, t, sp)}, span{text: sp.text[hit[0]:hit[1]], style: hitStyle(here, t)})
					at = hit[1]
				}
			}
		}
		out = append(out, span{text: sp.text[at:], style: spanStyle(here, t, sp)})
	}
	return out
}

// spanStyle returns the style of a span: its own, or that of the selected row.
func spanStyle(here bool, t Theme, s span) lipgloss.Style {
	switch {
	case !here:
		return s.style
	case s.secret:
		return t.Selected.Italic(true)
	}
	return t.Selected
}

// hitStyle returns the style of a hit: reversed, except in the selected row, which is reversed already.
func hitStyle(here bool, t Theme) lipgloss.Style {
	if here {
		return t.Start
	}
	return t.Found
}
