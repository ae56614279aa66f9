package openapi

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// StepInList returns the step to which a list rounds a member, as a sentence about it says: 1000 for "rounded to whole thousands". It returns 0 if no sentence says
// it in numbers. Of several steps it returns the largest.
func (d *Document) StepInList(list, detail Operation, member string) int64 {
	texts := slices.Clone(d.textsOfProperties(list, detail)[member])
	info, _ := d.Raw("/info/description")
	for _, text := range []string{list.Description, detail.Description, stringValue(info)} {
		for _, sentence := range Sentences(text) {
			if mentions(sentence, member) {
				texts = append(texts, sentence)
			}
		}
	}
	step, inCents := int64(0), minorUnit().MatchString(member)
	for _, text := range texts {
		inCents = inCents || minorUnit().MatchString(text)
		for _, sentence := range Sentences(text) {
			if !roundingWords().MatchString(sentence) {
				continue
			}
			if relativeStep().MatchString(sentence) {
				return 0
			}
			step = max(step, roundingStep(sentence))
		}
	}
	if inCents {
		step *= 100
	}
	return step
}

// roundingStep returns the largest number in a sentence about rounding, in digits or in words, or 0.
func roundingStep(sentence string) int64 {
	words := map[string]int64{"euro": 1, "euros": 1, "one": 1, "five": 5, "ten": 10, "tens": 10, "fifty": 50, "hundred": 100, "hundreds": 100, "thousand": 1000, "thousands": 1000, "million": 1e6, "millions": 1e6,
		"fünf": 5, "zehn": 10, "zehner": 10, "fünfzig": 50, "hundert": 100, "hunderter": 100, "tausend": 1000, "tausender": 1000, "zehntausend": 1e4, "zehntausender": 1e4, "hunderttausend": 1e5, "hunderttausender": 1e5, "millionen": 1e6}
	largest, run := int64(0), int64(0)
	for _, word := range regexp.MustCompile(`\d+(?:[.,  ]\d{3})*|\pL+`).FindAllString(strings.ToLower(sentence), -1) {
		n, known := words[word]
		if word[0] >= '0' && word[0] <= '9' {
			var err error
			n, err = strconv.ParseInt(regexp.MustCompile(`\D`).ReplaceAllString(word, ""), 10, 64)
			known = err == nil && n > 0
		}
		switch {
		case !known || n > maxListStep:
			run = 0
		case run > 0 && run*n <= maxListStep: // ten thousand
			run *= n
		default:
			run = n
		}
		largest = max(largest, run)
	}
	return largest
}

// maxListStep bounds the step to which amounts are rounded.
const maxListStep = 1_000_000_000

var roundingWords = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:rounded|rounds|nearest|in steps of|whole (?:hundreds|thousands|millions|euros?)|gerundet\w*|(?:volle|ganze) (?:hundert|tausend|million|euro))`)
})

// relativeStep matches words about a step that depends on the number.
var relativeStep = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:significant|digits?|places?|decimals?|percent|prozent|stellen?|ziffern?)\b|%`)
})

// minorUnit matches words about amounts that count the hundredth part of their currency.
var minorUnit = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)cents?(?:[^\pL]|$)|\b(?:minor unit|rappen|pence)`)
})
