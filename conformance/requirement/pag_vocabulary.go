package requirement

import (
	"regexp"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/openapi"
)

// This file reads the words of a filter that are no values of the member: those that mean several values, and those that mean all others.

// asDescribed returns a filter with a word that no item has as a value, with the meaning that the description of the parameter gives to this word.
func (c condition) asDescribed(e Evidence) condition {
	o, _ := operation(e, e.Roles.List)
	p, known := queryParameter(o, c.parameter)
	if !known {
		return c
	}
	words := p.Schema.Enum
	if p.Schema.Items != nil {
		words = append(slices.Clone(words), p.Schema.Items.Enum...)
	}
	if rest, found := strings.CutPrefix(c.value, "!"); found && slices.Contains(words, rest) &&
		regexp.MustCompile(`(?i)\bexclamation|\bnegat|\ball (others? )?(but|except)\b|\bother than\b|\bnot\b|\bausrufe|\bnicht\b|\bauße?r\b|\bverneint`).MatchString(p.Description) {
		c.but = rest
		return c
	}
	c.group, c.complete = groupOf(p.Description, c.value, words)
	return c
}

// groupOf returns the words of a vocabulary that another of its words means together, as a description says: "ACTIVE (open or forthcoming)". It returns nil if the
// description does not say it surely. only is true if the description names nothing else: "AWARD (a call or programme that was granted)" may be the definition of
// a value, and then no call or programme must come.
func groupOf(text, word string, vocabulary []string) (group []string, only bool) {
	text = strings.Join(strings.Fields(text), " ")
	found := regexp.MustCompile(`(?:^|[^\w!-])` + openapi.NamePattern(word) + "[\"'`*”“]*" + ` ?(?:\(|:|=|–|, that is,?|(?:means|stands for|covers|comprises|bedeutet|umfasst|steht für|heißt)\b) ?([^.;)]*)`).FindStringSubmatch(text)
	if found == nil {
		return nil, false
	}
	said := found[1]
	if end := regexp.MustCompile(`,[^,]*[:=(]`).FindStringIndex(said); end != nil { // the next word
		said = said[:end[0]]
	}
	if regexp.MustCompile(`(?i)\b(not|no|without|except|but|nicht|kein\w*|ohne|außer)\b`).MatchString(said) {
		return nil, false
	}
	rest := said
	for _, other := range vocabulary[:min(len(vocabulary), maxElements)] {
		named := regexp.MustCompile(`(?i)(^|[^\pL\d_!-])` + openapi.NamePattern(other) + `($|[^\pL\d_])`)
		if other != word && named.MatchString(said) {
			group = append(group, other)
			rest = named.ReplaceAllString(rest, "$1 $2")
		}
	}
	if len(group) < 2 {
		return nil, false
	}
	filler := regexp.MustCompile(`(?i)\b(or|and|oder|und|either|both|all|calls?|fundings?|items?|records?|that|which|are|is|with|of|the|types?|status|values?|alle|die|mit|dem|den|vom|typ|wert\w*)\b|[^\pL\d]+`)
	return group, filler.ReplaceAllString(rest, "") == ""
}
