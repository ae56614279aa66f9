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
	at   int // the offset in the line or in the body
}

// search looks for a text in a message and ignores case.
type search struct {
	typing   bool
	query    string
	match    *regexp.Regexp // nil without a text
	hits     []hit
	selected int // the index of the selected hit, -1 if none is selected
	end      int // the end of the searched part of the body
	done     bool
}

// searchHits are the hits in a slice of the body; match identifies the search.
type searchHits struct {
	match *regexp.Regexp
	hits  []hit
	end   int // the end of the slice
}

// isVisible reports whether the search takes a line of the screen.
func (s *search) isVisible() bool { return s.typing || s.match != nil }

// status draws the text of the search and the number of hits.
func (s *search) status(t Theme) string {
	count := "nothing found"
	more := ""
	if !s.done {
		count, more = "searching …", "+"
	}
	if n := len(s.hits); n > 0 {
		count = fmt.Sprintf("%d%s found", n, more)
		if s.selected >= 0 {
			count = fmt.Sprintf("%d of %d%s", s.selected+1, n, more)
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
		line += "  " + t.Key.Render("n") + t.Muted.Render(" next  ") + t.Key.Render("N") + t.Muted.Render(" previous")
	}
	return line
}

// begin opens an empty search.
func (s *search) begin() { *s = search{typing: true, selected: -1} }

// typeQuery handles a key while the search text is typed.
func (m *Message) typeQuery(msg tea.KeyMsg) tea.Cmd {
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
		m.selectNearest()
		return nil
	case tea.KeyBackspace:
		if _, size := utf8.DecodeLastRuneInString(s.query); size > 0 {
			return m.startSearch(s.query[:len(s.query)-size])
		}
		*s = search{}
		return nil
	case tea.KeyRunes, tea.KeySpace:
		var b strings.Builder
		for _, sp := range m.theme.spans(string(msg.Runes), m.theme.Muted, nil) { // a pasted text may contain anything
			b.WriteString(sp.text)
		}
		if query := s.query + b.String(); len(query) <= maxQuery {
			return m.startSearch(query)
		}
	}
	return nil
}

// startSearch searches the head and the first slice of the body. The command searches the rest.
func (m *Message) startSearch(query string) tea.Cmd {
	m.search = search{typing: true, query: query, selected: -1}
	if query == "" {
		return nil
	}
	s := &m.search
	s.match = compileQuery(query)
	for i, l := range m.head {
		for _, at := range s.match.FindAllStringIndex(l.Text, -1) {
			s.hits = append(s.hits, hit{i, at[0]})
		}
	}
	return m.addHits(searchSlice(s.match, m.body, 0, firstSlice))
}

// compileQuery returns an expression that matches the query without regard to case, also where JSON escapes its characters.
func compileQuery(query string) *regexp.Regexp {
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
	out := searchHits{match: match, end: min(from+length, len(text))}
	for _, at := range match.FindAllIndex(text[from:min(out.end+6*maxQuery, len(text))], maxHits) {
		if from+at[0] < out.end {
			out.hits = append(out.hits, hit{-1, from + at[0]})
		}
	}
	return out
}

// addHits adds the hits of a slice, and returns the command that searches the next one.
func (m *Message) addHits(f searchHits) tea.Cmd {
	s := &m.search
	if s.match != f.match || f.match == nil || f.end < s.end {
		return nil // these hits belong to an earlier search or slice
	}
	s.hits, s.end = append(s.hits, f.hits...), f.end
	if s.done = s.end == len(m.body) || len(s.hits) >= maxHits; s.done {
		m.selectNearest()
		return nil
	}
	match, body, from := s.match, m.body, s.end
	return func() tea.Msg { return searchSlice(match, body, from, nextSlice) }
}

// selectNearest selects the first hit at or after the cursor once the person has stopped typing.
func (m *Message) selectNearest() {
	s := &m.search
	if s.typing || s.selected >= 0 || len(s.hits) == 0 {
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

// selectNext selects the next hit (by = 1) or the previous one (by = -1); the first one follows the last.
func (m *Message) selectNext(by int) {
	if n := len(m.search.hits); n > 0 {
		m.goTo((m.search.selected + by + n) % n)
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
	m.search.selected = i
	h := m.search.hits[i]
	if h.head < 0 && !m.asText {
		m.tree.uncover(m.tree.at(h.at))
	}
	m.cursor = m.rowOf(h)
	if height := m.contentSize().Height; m.cursor < m.from || m.cursor >= m.from+height {
		m.from = m.cursor - height/2 // in the middle of the screen
	}
	m.move(0)
	m.scrollToHit()
}

// scrollToHit scrolls sideways until the selected hit is visible.
func (m *Message) scrollToHit() {
	nth := 0 // the index of the hit in its row
	for i := m.search.selected - 1; i >= 0 && nth < maxRowBytes && m.rowOf(m.search.hits[i]) == m.cursor; i-- {
		nth++
	}
	m.left = 0
	column := 0
	for _, s := range m.spans(m.cursor, 4*maxScrollLeft) {
		all := m.search.match.FindAllStringIndex(s.text, -1)
		if nth < len(all) {
			m.scrollToColumns(column+lipgloss.Width(s.text[:all[nth][0]]), column+lipgloss.Width(s.text[:all[nth][1]]))
			return
		}
		nth -= len(all)
		column += lipgloss.Width(s.text)
	}
}

// scrollToColumns scrolls sideways until the columns between from and to are visible.
func (m *Message) scrollToColumns(from, to int) {
	if width := m.size.Width - 3; to > m.left+width || from <= m.left {
		m.left = min(max(0, to-width/2), maxScrollLeft)
		if to <= width {
			m.left = 0
		}
	}
}

// maxScrollLeft is the column up to which a search scrolls sideways.
const maxScrollLeft = 4000

// mark splits spans at the hits and highlights the hits; isSelected is set for the selected row.
func (s *search) mark(spans []span, t Theme, isSelected bool) []span {
	if s.match == nil && !isSelected {
		return spans
	}
	var out []span
	for _, sp := range spans {
		at := 0
		if s.match != nil {
			for _, hit := range s.match.FindAllStringIndex(sp.text, -1) {
				if hit[1] > hit[0] {
					out = append(out, span{text: sp.text[at:hit[0]], style: spanStyle(isSelected, t, sp)}, span{text: sp.text[hit[0]:hit[1]], style: hitStyle(isSelected, t)})
					at = hit[1]
				}
			}
		}
		out = append(out, span{text: sp.text[at:], style: spanStyle(isSelected, t, sp)})
	}
	return out
}

// spanStyle returns the style of a span: its own, or that of the selected row.
func spanStyle(isSelected bool, t Theme, s span) lipgloss.Style {
	switch {
	case !isSelected:
		return s.style
	case s.secret:
		return t.Selected.Italic(true)
	}
	return t.Selected
}

// hitStyle returns the style of a hit: reversed, except in the selected row, which is reversed already.
func hitStyle(isSelected bool, t Theme) lipgloss.Style {
	if isSelected {
		return t.Start
	}
	return t.Found
}
