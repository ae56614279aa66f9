package openapi

import (
	"regexp"
	"strings"
)

// NamesScale reports whether the description of a number says that it counts a multiple or a part of the usual unit, such as cents or thousands of euros. A value of
// the data, which may be in another unit, then shows nothing.
func NamesScale(text string) bool {
	const scale = `(?:cents?|euro-?cents?|rappen|groschen|pence|thousands?|millions?|billions?|tausend\w*|million\w*|milliard\w*|mio|mrd|tsd|teur|meur|keur|k€|m€|t€)\b`
	const before = `(?:whole |full |units of |steps of |ganzen |vollen |je )*(?:euro[ -]?)?`
	named := regexp.MustCompile(`\b(?:in|as|counted in|expressed in) ` + before + scale + `|\b(?:unit|einheit)\b:? (?:is |are |ist )?(?:the )?` + before + scale + `|\((?:euro[ -]?)?` + scale + `(?: (?:eur|euros?|chf))?\)`)
	if strings.HasSuffix(text, "€") {
		text += " "
	}
	for _, sentence := range sentenceEnd().Split(strings.ToLower(strings.Join(strings.Fields(text), " ")), -1) {
		if at := named.FindStringIndex(sentence); at != nil && !regexp.MustCompile(`\b(?:not|never|nicht|nie|statt|instead of|rather than)(?: \w+)?,? $`).MatchString(sentence[:at[0]]) {
			return true
		}
	}
	return false
}
