package report

import (
	"fmt"
	"slices"

	"github.com/rin-network/rin/conformance/evidence"
)

// Family says how much of a family of requests was sent.
type Family struct {
	Name string `json:"name"` // "bearer values that are words of programs"
	// Kinds counts the kinds of requests in the family; Drawn lists those that this run sent. Earlier counts the kinds that earlier runs sent, as
	// far as they are known (--history), and Ever the kinds that this run or an earlier one sent.
	Kinds   int      `json:"kinds"`
	Drawn   []string `json:"drawn"`
	Earlier int      `json:"earlier"`
	Ever    int      `json:"ever"`
}

// familiesOf counts what was sent of each family from which something was sent.
func familiesOf(log *evidence.Log) []Family {
	drawn := map[evidence.Family]map[evidence.Case]bool{}
	for _, x := range log.Exchanges {
		if x.Family != "" {
			if drawn[x.Family] == nil {
				drawn[x.Family] = map[evidence.Case]bool{}
			}
			drawn[x.Family][x.Label.Case()] = true
		}
	}
	out := []Family{}
	for _, f := range log.Run.Families {
		row := Family{Name: string(f.Family), Kinds: len(f.Kinds), Drawn: []string{}, Earlier: len(f.Earlier)}
		for _, kind := range f.Kinds {
			if drawn[f.Family][kind] {
				row.Drawn = append(row.Drawn, string(kind))
			}
			if drawn[f.Family][kind] || slices.Contains(f.Earlier, kind) {
				row.Ever++
			}
		}
		if len(row.Drawn) > 0 || row.Earlier > 0 { // others do not apply to this node, or need an input that was not given
			out = append(out, row)
		}
	}
	return out
}

// familiesSentence says in one line how much of the families was drawn.
func (r Report) familiesSentence() string {
	kinds, drawn, ever := 0, 0, 0
	for _, f := range r.Made.Families {
		kinds, drawn, ever = kinds+f.Kinds, drawn+len(f.Drawn), ever+f.Ever
	}
	if kinds == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of %d kinds of requests in %d families", drawn, kinds, len(r.Made.Families))
	if ever > drawn {
		text += fmt.Sprintf(", %d with earlier runs", ever)
	}
	return text
}

// drawnFacts returns the facts about what was drawn.
func (r Report) drawnFacts() []fact {
	if r.Made.Seed == "" {
		return nil
	}
	text := r.Made.Seed + ", effort " + r.Made.Effort
	if drawn := r.familiesSentence(); drawn != "" {
		text += ": " + drawn
	}
	return []fact{{"Drawn by seed", text}}
}
