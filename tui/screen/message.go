package screen

import (
	"slices"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/tui/flow"
)

// Message shows a request or a response: the lines of its head, and below them the content, as a tree if it is JSON. One row is under the
// cursor. Only the rows that are seen are written, so that a key is answered at once however large the content is.
type Message struct {
	theme   Theme
	secrets func() Secrets

	head, notes []flow.Line
	body        []byte
	tree        *tree    // nil for content that is no JSON
	raw         *rawText // nil until it is looked at
	asText      bool     // whether the content is shown as it came
	read        bool     // whether the content was looked at
	turned      uint32   // the value that was under the cursor in the tree

	cursor, from, left int
	widest             int // of the rows that were seen last
	size               Size
	search             search
}

// NewMessage makes an empty pane. secrets says how they are shown at the moment.
func NewMessage(t Theme, secrets func() Secrets) *Message {
	return &Message{theme: t, secrets: secrets}
}

// Show gives the pane a message: the lines of its head, with the markers in the place of secrets; its content; and what there is to say
// of it.
func (m *Message) Show(head []flow.Line, body []byte, notes []flow.Line) {
	*m = Message{theme: m.theme, secrets: m.secrets, head: head, body: body, notes: notes, size: m.size}
}

// open reads the content, once, when it comes to be seen.
func (m *Message) open() {
	if m.read {
		return
	}
	m.read = true
	if x, ok := newIndex(m.body); ok {
		m.tree = newTree(x)
	} else {
		m.asText = true
		m.raw = newRawText(m.body, m.form())
	}
	if m.bodyRows() > 0 && m.first() < m.content().Height {
		m.cursor = m.first()
	}
}

// form tells whether the content is that of a form.
func (m *Message) form() bool {
	return slices.ContainsFunc(m.head, func(l flow.Line) bool {
		return l.Kind == flow.HeaderLine && strings.HasPrefix(strings.ToLower(l.Text), "content-type: application/x-www-form-urlencoded")
	})
}

// first is the row where the content begins: behind the head and a blank row.
func (m *Message) first() int { return len(m.head) + 1 }

// bodyRows counts the rows of the content.
func (m *Message) bodyRows() int {
	switch {
	case m.asText && m.raw != nil:
		return len(m.raw.from)
	case m.tree != nil:
		return len(m.tree.rows)
	}
	return 0
}

func (m *Message) rows() int {
	if below := m.bodyRows() + len(m.notes); below > 0 {
		return m.first() + below
	}
	return len(m.head)
}

// inTree is the row of the tree under the cursor; ok is false where there is none.
func (m *Message) inTree() (row int, ok bool) {
	row = m.cursor - m.first()
	return row, m.tree != nil && !m.asText && row >= 0 && row < len(m.tree.rows)
}

// content is the room that rows have.
func (m *Message) content() Size {
	s := m.size
	if m.search.line() {
		s.Height--
	}
	return s
}

// View draws what is seen of the message.
func (m *Message) View(s Size) string {
	m.size = s
	m.open()
	m.move(0)
	room := m.content()
	lines := make([]string, 0, s.Height)
	m.widest = 0
	for row := m.from; row < m.rows() && len(lines) < room.Height; row++ {
		lines = append(lines, m.line(row, room.Width))
	}
	for len(lines) < room.Height {
		lines = append(lines, "")
	}
	if m.search.line() {
		lines = append(lines, Fit(m.search.say(m.theme), s.Width))
	}
	return strings.Join(lines, "\n")
}

// line draws a row, as much of it as is seen.
func (m *Message) line(row, width int) string {
	sign, here := "  ", row == m.cursor
	if here {
		sign = "› "
	}
	width -= lipgloss.Width(sign)
	spans := m.spans(row, 4*(m.left+width)+longestMarker)
	line, wide := cropSpans(m.search.mark(spans, m.theme, here), m.left, width)
	m.widest = max(m.widest, wide)
	return sign + Fit(line, width)
}

// cropSpans draws the parts of a row that are seen from a column on, and tells how wide the whole row is. A part that ends behind the width is
// drawn to its end, so that it can be told that something is missing.
func cropSpans(spans []span, left, width int) (line string, wide int) {
	var b strings.Builder
	from := left
	if left > 0 {
		from++ // in the place of which the ellipsis is
	}
	for _, s := range spans {
		begin, end := wide, wide+lipgloss.Width(s.text)
		wide = end
		switch {
		case end <= from || begin > left+width:
			continue
		case begin < from:
			s.text = ansi.TruncateLeft(s.text, from-begin, "")
		}
		b.WriteString(s.style.Render(s.text))
	}
	if left > 0 && wide > 0 {
		return "…" + b.String(), wide
	}
	return b.String(), wide
}

// spans writes a row; limit bounds the bytes of a text that are looked at.
func (m *Message) spans(row, limit int) []span {
	secrets := m.secrets()
	if row < len(m.head) {
		return m.fieldSpans(m.head[row], secrets)
	}
	row -= m.first()
	switch {
	case row < 0:
		return nil
	case row >= m.bodyRows():
		return m.fieldSpans(m.notes[row-m.bodyRows()], secrets)
	case m.asText:
		return m.raw.row(row, m.theme, secrets)
	}
	return m.tree.row(row, limit, m.theme, secrets)
}

// fieldSpans writes a line of the head, or a note.
func (m *Message) fieldSpans(l flow.Line, secrets Secrets) []span {
	plain := m.theme.Renderer.NewStyle()
	switch l.Kind {
	case flow.StartLine:
		return m.theme.spans(l.Text, m.theme.Start, secrets)
	case flow.NoteLine:
		return m.theme.spans(l.Text, m.theme.Muted, secrets)
	}
	name, value, found := strings.Cut(l.Text, ": ")
	if !found {
		return m.theme.spans(l.Text, plain, secrets)
	}
	return append(m.theme.spans(name+":", m.theme.Header, secrets), m.theme.spans(" "+value, plain, secrets)...)
}

// More tells how many rows are above and below what is seen.
func (m *Message) More() (above, below int) {
	return m.from, max(0, m.rows()-m.from-m.content().Height)
}

// Typing tells that keys are the text to search for.
func (m *Message) Typing() bool { return m.search.typing }

// move moves the cursor, and the window with it.
func (m *Message) move(by int) {
	height := max(1, m.content().Height)
	m.cursor = max(0, min(m.cursor+by, m.rows()-1))
	m.from = max(0, min(m.from, m.rows()-height))
	switch {
	case m.cursor < m.from:
		m.from = m.cursor
	case m.cursor >= m.from+height:
		m.from = m.cursor - height + 1
	}
}

// Update does what a key asks for; its command may be nil.
func (m *Message) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case searchHits:
		return m.heard(msg)
	case tea.KeyMsg:
		m.open()
		if m.search.typing {
			return m.typed(msg)
		}
		return m.press(msg)
	}
	return nil
}

func (m *Message) press(msg tea.KeyMsg) tea.Cmd {
	scroll, keys := scrollKeys(), messageKeys()
	page := max(1, m.content().Height-1)
	switch {
	case key.Matches(msg, scroll.up):
		m.move(-1)
	case key.Matches(msg, scroll.down):
		m.move(1)
	case key.Matches(msg, scroll.pageUp):
		m.from -= page
		m.move(-page)
	case key.Matches(msg, scroll.pageDown):
		m.from += page
		m.move(page)
	case key.Matches(msg, scroll.top):
		m.move(-m.rows())
	case key.Matches(msg, scroll.end):
		m.move(m.rows())
	case key.Matches(msg, keys.rightward) && m.widest > m.left+m.size.Width-2:
		m.left += m.size.Width / 2
	case key.Matches(msg, keys.leftward):
		m.left = max(0, m.left-m.size.Width/2)
	case key.Matches(msg, keys.asText):
		m.turn()
	case key.Matches(msg, keys.search):
		m.search.begin()
	case key.Matches(msg, keys.next):
		m.step(1)
	case key.Matches(msg, keys.before):
		m.step(-1)
	default:
		m.foldBy(msg)
	}
	return nil
}

// foldBy folds or unfolds at the cursor.
func (m *Message) foldBy(msg tea.KeyMsg) {
	row, ok := m.inTree()
	keys := messageKeys()
	switch {
	case m.tree == nil || m.asText:
		return
	case key.Matches(msg, keys.foldAll):
		if !ok {
			row = 0
		}
		if row = m.tree.toggleAll(row); !ok {
			return
		}
	case !ok:
		return
	case key.Matches(msg, keys.toggle):
		row = m.tree.toggle(row)
	case key.Matches(msg, keys.fold):
		row = m.tree.set(row, true)
	case key.Matches(msg, keys.unfold):
		row = m.tree.set(row, false)
	}
	m.cursor = m.first() + row
}

// turn shows the content as it came, or as a tree again, and stays at the same place of it.
func (m *Message) turn() {
	if m.tree == nil {
		return
	}
	if m.raw == nil {
		m.raw = newRawText(m.body, m.form())
	}
	row := m.cursor - m.first()
	inside := row >= 0 && row < m.bodyRows()
	m.asText, m.left = !m.asText, 0
	switch {
	case !inside:
		m.cursor = min(m.cursor, m.first())
	case m.asText:
		m.turned = m.tree.rows[row]
		offset := m.tree.nodes[m.turned].offset()
		row = m.raw.rowOf(offset)
		m.cursor = m.first() + row
		before := lipgloss.Width(report.Plain(string(m.raw.text[m.raw.from[row]:offset])))
		m.see(before, before+1)
	case row == m.raw.rowOf(m.tree.nodes[m.turned].offset()):
		m.cursor = m.first() + m.tree.rowOf(m.turned)
	default:
		m.cursor = m.first() + m.tree.rowOf(m.tree.at(int(m.raw.from[row])))
	}
}

type messageKeymap struct {
	fold, unfold, toggle, foldAll, asText, search, next, before, leftward, rightward key.Binding
}

func messageKeys() messageKeymap {
	bind := func(help, what string, keys ...string) key.Binding {
		return key.NewBinding(key.WithKeys(keys...), key.WithHelp(help, what))
	}
	return messageKeymap{
		fold: bind("-", "fold", "-"), unfold: bind("+", "unfold", "+", "="), toggle: bind("z", "fold, unfold", "z"), foldAll: bind("Z", "fold, unfold all", "Z"),
		asText: bind("w", "as it came", "w"), search: bind("/", "search", "/"), next: bind("n", "next hit", "n"), before: bind("N", "hit before", "N"),
		leftward: bind("<", "scroll left", "<", "shift+left"), rightward: bind(">", "scroll right", ">", "shift+right"),
	}
}

// Keys are those that mean something now, the most useful first.
func (m *Message) Keys() []key.Binding {
	k := messageKeys()
	if m.search.typing {
		return []key.Binding{
			key.NewBinding(key.WithKeys("enter"), key.WithHelp("enter", "search")),
			key.NewBinding(key.WithKeys("esc"), key.WithHelp("esc", "don't")),
		}
	}
	var keys []key.Binding
	if m.tree != nil && !m.asText {
		keys = append(keys, k.toggle)
	}
	keys = append(keys, k.search)
	if m.search.line() {
		keys = append(keys, k.next, k.before)
	}
	if m.tree != nil {
		k.asText.SetHelp("w", map[bool]string{false: "as it came", true: "as a tree"}[m.asText])
		keys = append(keys, k.asText)
	}
	if m.tree != nil && !m.asText {
		keys = append(keys, k.foldAll, k.fold, k.unfold)
	}
	keys = append(keys, ScrollKeys()...)
	return append(keys, k.leftward, k.rightward)
}
