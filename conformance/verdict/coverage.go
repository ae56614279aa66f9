package verdict

import (
	"fmt"
	"strings"

	"github.com/rin-network/rin/conformance/requirement"
)

// Coverage says how much of the whole catalogue a verdict rests on.
type Coverage struct {
	// Size is the number of requirements of the whole catalogue, Covered how many of them this version can judge,
	// Judged how many of those this run judged: the ones of its profile, or of its selection.
	Size, Covered, Judged int
	// Groups are the groups of the whole catalogue in its order, those without a covered requirement too.
	Groups []requirement.GroupInfo
}

// Notice is the sentence that has to stand near every verdict of an incomplete catalogue; empty for a complete one.
func (c Coverage) Notice() string {
	if c.Covered >= c.Size {
		return ""
	}
	var in []string
	for _, g := range c.Groups {
		if g.Covered > 0 {
			in = append(in, g.Name)
		}
	}
	from := ""
	if len(in) > 0 {
		from = " (of the groups " + strings.Join(in, ", ") + ")"
	}
	return fmt.Sprintf("This is a preview: it covers %d of the %d requirements of the catalogue%s and has no value as a certificate.", c.Covered, c.Size, from)
}

// cover counts the catalogue at hand against the groups of the whole one.
func cover(catalogue []requirement.Requirement, judged int) Coverage {
	held := map[string]int{}
	for _, r := range catalogue {
		held[r.ID.Group()]++
	}
	c := Coverage{Size: requirement.Size, Covered: len(catalogue), Judged: judged}
	for _, g := range requirement.Groups() {
		g.Covered = held[g.Name]
		c.Groups = append(c.Groups, g)
	}
	return c
}
