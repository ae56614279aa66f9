package screen

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/tui/flow"
)

// Message shows a request or a response: its header lines, and below them the body, as a tree if it is JSON. One row is selected. Only visible
// rows are drawn, so that large bodies are as fast as small ones.
type Message struct {
	theme   Theme
	secrets func() Secrets

	head, notes []flow.Line
	body        []byte
	tree        *tree    // nil unless the body is JSON
	raw         *rawText // nil until it is needed
	asText      bool     // the body is shown as text
	parsed      bool     // the body has been parsed
	lastValue   uint32   // the selected value of the tree when the body was last shown as text

	cursor, from, left int // the selected row, the first visible row, the first visible column
	widest             int // width of the widest visible row
	size               Size
	search             search
}

// NewMessage makes an empty pane. secrets returns how secrets are shown at the moment.
func NewMessage(t Theme, secrets func() Secrets) *Message {
	return &Message{theme: t, secrets: secrets}
}

// Show sets the message: the lines of its head, with markers in place of secrets; its body; and remarks on the body.
func (m *Message) Show(head []flow.Line, body []byte, notes []flow.Line) {
	*m = Message{theme: m.theme, secrets: m.secrets, head: head, body: body, notes: notes, size: m.size}
}

// open parses the body when it becomes visible.
func (m *Message) open() {
	if m.parsed {
		return
	}
	m.parsed = true
	if x, ok := newIndex(m.body); ok {
		m.tree = newTree(x)
	} else {
		m.asText = true
		m.raw = newRawText(m.body, m.isForm())
	}
	if m.bodyRows() > 0 && m.first() < m.contentSize().Height {
		m.cursor = m.first()
	}
}

// isForm reports whether the body is a form.
func (m *Message) isForm() bool {
	return slices.ContainsFunc(m.head, func(l flow.Line) bool {
		return l.Kind == flow.HeaderLine && strings.HasPrefix(strings.ToLower(l.Text), "content-type: application/x-www-form-urlencoded")
	})
}

// first returns the first row of the body. It follows the head and an empty row.
func (m *Message) first() int { return len(m.head) + 1 }

// bodyRows counts the rows of the body.
func (m *Message) bodyRows() int {
	switch {
	case m.asText && m.raw != nil:
		return len(m.raw.starts)
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

// treeRow returns the selected row of the tree; ok is false if the selected row is not in the tree.
func (m *Message) treeRow() (row int, ok bool) {
	row = m.cursor - m.first()
	return row, m.tree != nil && !m.asText && row >= 0 && row < len(m.tree.rows)
}

// contentSize returns the size without the search line.
func (m *Message) contentSize() Size {
	s := m.size
	if m.search.isVisible() {
		s.Height--
	}
	return s
}

// View draws the visible rows.
func (m *Message) View(s Size) string {
	m.size = s
	m.open()
	m.move(0)
	room := m.contentSize()
	lines := make([]string, 0, s.Height)
	m.widest = 0
	for row := m.from; row < m.rows() && len(lines) < room.Height; row++ {
		lines = append(lines, m.line(row, room.Width))
	}
	for len(lines) < room.Height {
		lines = append(lines, "")
	}
	if m.search.isVisible() {
		lines = append(lines, Fit(m.search.status(m.theme), s.Width))
	}
	return strings.Join(lines, "\n")
}

// line draws the visible part of a row.
func (m *Message) line(row, width int) string {
	sign, isSelected := "  ", row == m.cursor
	if isSelected {
		sign = "› "
	}
	width -= lipgloss.Width(sign)
	spans := m.spans(row, 4*(m.left+width)+longestMarker)
	line, rowWidth := cropSpans(m.search.mark(spans, m.theme, isSelected), m.left, width)
	m.widest = max(m.widest, rowWidth)
	return sign + Fit(line, width)
}

// cropSpans draws the visible spans of a row from a column on, and returns the width of the whole row. A span that exceeds the width is drawn
// to its end, so that the caller can truncate it with an ellipsis.
func cropSpans(spans []span, left, width int) (line string, rowWidth int) {
	var b strings.Builder
	from := left
	if left > 0 {
		from++ // the ellipsis takes this column
	}
	for _, s := range spans {
		begin, end := rowWidth, rowWidth+lipgloss.Width(s.text)
		rowWidth = end
		switch {
		case end <= from || begin > left+width:
			continue
		case begin < from:
			s.text = ansi.TruncateLeft(s.text, from-begin, "")
		}
		b.WriteString(s.style.Render(s.text))
	}
	if left > 0 && rowWidth > 0 {
		return "…" + b.String(), rowWidth
	}
	return b.String(), rowWidth
}

// spans draws a row; limit bounds the bytes of a text that are drawn.
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

// fieldSpans draws a line of the head or a note.
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

// More returns how many rows are above and below the visible part.
func (m *Message) More() (above, below int) {
	return m.from, max(0, m.rows()-m.from-m.contentSize().Height)
}

// Typing reports whether the person types the search text.
func (m *Message) Typing() bool { return m.search.typing }

// move moves the cursor, and scrolls if necessary.
func (m *Message) move(by int) {
	height := max(1, m.contentSize().Height)
	m.cursor = max(0, min(m.cursor+by, m.rows()-1))
	m.from = max(0, min(m.from, m.rows()-height))
	switch {
	case m.cursor < m.from:
		m.from = m.cursor
	case m.cursor >= m.from+height:
		m.from = m.cursor - height + 1
	}
}

// Update handles a message; the command may be nil.
func (m *Message) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case searchHits:
		return m.addHits(msg)
	case tea.KeyMsg:
		m.open()
		if m.search.typing {
			return m.typeQuery(msg)
		}
		return m.press(msg)
	}
	return nil
}

// press handles a key outside of the search line.
func (m *Message) press(msg tea.KeyMsg) tea.Cmd {
	if cmd, handled := press(msg, m.commands()); handled {
		return cmd
	}
	height := max(1, m.contentSize().Height)
	by, ok := scrollKeys().distance(msg, height, m.rows())
	if !ok {
		return nil
	}
	if by > 1 || by < -1 { // a page moves the window, too
		m.from += by
	}
	m.move(by)
	return nil
}

// commands returns the commands that are possible now, the most useful first.
func (m *Message) commands() []command {
	if m.search.typing {
		return []command{enter("search", nil), escape("cancel", nil)}
	}
	inTree := m.tree != nil && !m.asText
	var commands []command
	if inTree {
		commands = append(commands, bind("z", "fold, unfold", do(func() { m.fold(m.tree.toggle) })))
	}
	commands = append(commands, bind("/", "search", do(m.search.begin)))
	if m.search.isVisible() {
		commands = append(commands, bind("n", "next hit", do(func() { m.selectNext(1) })), bind("N", "previous hit", do(func() { m.selectNext(-1) })))
	}
	if m.tree != nil {
		commands = append(commands, bind("w", map[bool]string{false: "as text", true: "as a tree"}[m.asText], do(m.toggleText)))
	}
	if inTree {
		commands = append(commands,
			bind("Z", "fold, unfold all", do(m.foldAll)),
			bind("-", "fold", do(func() { m.fold(func(row int) int { return m.tree.setFolded(row, true) }) })),
			bind("+", "unfold", do(func() { m.fold(func(row int) int { return m.tree.setFolded(row, false) }) }), "+", "="))
	}
	return append(append(commands, scrollHelp()...),
		bind("<", "scroll left", do(func() { m.left = max(0, m.left-m.size.Width/2) }), "<", "shift+left"),
		bind(">", "scroll right", do(func() {
			if m.widest > m.left+m.size.Width-2 {
				m.left += m.size.Width / 2
			}
		}), ">", "shift+right"))
}

// fold folds or unfolds the value in the selected row; change does it, and returns the row to select afterwards.
func (m *Message) fold(change func(row int) int) {
	if row, ok := m.treeRow(); ok {
		m.cursor = m.first() + change(row)
	}
}

// foldAll unfolds the whole tree, or folds it if nothing is folded.
func (m *Message) foldAll() {
	row, ok := m.treeRow()
	if !ok {
		m.tree.toggleAll(0)
		return
	}
	m.cursor = m.first() + m.tree.toggleAll(row)
}

// toggleText switches the body between tree and text, and keeps the position.
func (m *Message) toggleText() {
	if m.tree == nil {
		return
	}
	if m.raw == nil {
		m.raw = newRawText(m.body, m.isForm())
	}
	row := m.cursor - m.first()
	inside := row >= 0 && row < m.bodyRows()
	m.asText, m.left = !m.asText, 0
	switch {
	case !inside:
		m.cursor = min(m.cursor, m.first())
	case m.asText:
		m.lastValue = m.tree.rows[row]
		offset := m.tree.nodes[m.lastValue].offset()
		row = m.raw.rowOf(offset)
		m.cursor = m.first() + row
		before := lipgloss.Width(report.Plain(string(m.raw.text[m.raw.starts[row]:offset])))
		m.scrollToColumns(before, before+1)
	case row == m.raw.rowOf(m.tree.nodes[m.lastValue].offset()):
		m.cursor = m.first() + m.tree.rowOf(m.lastValue)
	default:
		m.cursor = m.first() + m.tree.rowOf(m.tree.at(int(m.raw.starts[row])))
	}
}
