package view

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/lipgloss"
)

// deepest indent in levels; what is deeper says how deep.
const indented = 16

// row writes a row of the tree; limit bounds the bytes of a text that are looked at.
func (t *tree) row(row, limit int, theme Theme, secrets Secrets) []span {
	i, depth := t.rows[row], int(t.depths[row])
	n := t.nodes[i]
	muted := func(s string) span { return span{text: s, style: theme.Muted} }
	out := []span{muted(strings.Repeat("  ", min(depth, indented)) + t.sign(i))}
	if depth > indented {
		out = append(out, muted(fmt.Sprintf("(%d deep) ", depth)))
	}
	at := n.offset()
	if n.member() {
		out = append(out, t.quoted(at, limit, theme.Name, theme, secrets)...)
		out = append(out, span{text: ": ", style: theme.Muted})
		at = memberValue(t.doc, at)
	} else if place := t.place(row); place >= 0 {
		out = append(out, muted(fmt.Sprintf("%d: ", place)))
	}
	switch n.kind() {
	case object:
		return append(out, t.container(i, "{", "}", "member", theme)...)
	case array:
		return append(out, t.container(i, "[", "]", "item", theme)...)
	case text:
		return append(out, t.quoted(at, limit, theme.Text, theme, secrets)...)
	case number:
		return append(out, t.bare(at, limit, theme.Number, theme, secrets)...)
	}
	return append(out, t.bare(at, limit, theme.Word, theme, secrets)...)
}

// sign tells whether a value is folded.
func (t *tree) sign(i uint32) string {
	switch {
	case t.span[i] == 0:
		return "  "
	case t.isFolded(i):
		return "▸ "
	}
	return "▾ "
}

func (t *tree) container(i uint32, begin, end, what string, theme Theme) []span {
	if t.span[i] == 0 {
		return []span{{text: begin + end, style: theme.Key}}
	}
	n := t.members(i)
	if n > 1 {
		what += "s"
	}
	if t.isFolded(i) {
		begin += "…" + end
	}
	return []span{{text: begin, style: theme.Key}, {text: fmt.Sprintf(" %d %s", n, what), style: theme.Muted}}
}

// quoted is a text with its quotation marks, or as much of it as the limit lets see.
func (t *tree) quoted(at, limit int, style lipgloss.Style, theme Theme, secrets Secrets) []span {
	end := at + 1
	for end < len(t.doc) && t.doc[end] != '"' && end-at <= limit+longestMarker {
		if t.doc[end] == '\\' {
			end++
		}
		end++
	}
	part, cut := windowed(t.doc[at:min(end+1, len(t.doc))], limit)
	out := theme.spans(readable(part), style, secrets)
	if cut {
		out = append(out, span{text: "…", style: theme.Muted})
	}
	return out
}

func (t *tree) bare(at, limit int, style lipgloss.Style, theme Theme, secrets Secrets) []span {
	end := at
	for end < len(t.doc) && end-at <= limit && strings.IndexByte(" \t\r\n,]}", t.doc[end]) < 0 {
		end++
	}
	part, cut := windowed(t.doc[at:end], limit)
	out := theme.spans(string(part), style, secrets)
	if cut {
		out = append(out, span{text: "…", style: theme.Muted})
	}
	return out
}
