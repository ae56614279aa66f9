package openapi

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// This file finds sentences that announce that a list shows a member in another way than the detail of one record.

// A ListForm is how a list shows a member, as the document says, in comparison with the detail.
type ListForm struct {
	Differs bool // in another way, such as masked or shortened, or only a part of it
	Rounded bool // as a rounded number
	Stale   bool // perhaps in an earlier state; no sentence names the member
}

// ListForms is what a document says about the members of a list, if it says that the detail differs.
type ListForms struct {
	stale       bool
	ofProperty  map[string]ListForm // by the name of a property that is described
	ofMentioned map[string]ListForm // by a phrase of a sentence in the description of an operation or of the whole API
}

// FormsInList reads what the document says about the members of a list. It reads each text once, because a node may have any number of members.
func (d *Document) FormsInList(list, detail Operation) *ListForms {
	out := &ListForms{ofProperty: map[string]ListForm{}, ofMentioned: map[string]ListForm{}}
	texts, left := d.textsOfProperties(list, detail), maxText/2
	for _, name := range sortedKeys(texts) {
		for _, text := range texts[name] {
			if !mayNameList(text) || left < len(text) {
				continue
			}
			left -= len(text)
			form := out.ofProperty[name]
			for _, sentence := range Sentences(text) {
				form.add(sentence)
			}
			out.ofProperty[name] = form
		}
	}
	info, _ := d.Raw("/info/description")
	read := 0
	for _, text := range []string{list.Description, detail.Description, stringValue(info)} {
		before := ""
		for _, sentence := range Sentences(text) {
			if read < maxListSentences && (mayNameList(sentence) || mayNameList(before)) {
				read++
				out.stale = out.stale || listWord().MatchString(sentence) && snapshot().MatchString(sentence) && !sameInBoth().MatchString(sentence)
				out.addMentioned(sentence, before+". "+sentence)
			}
			before = sentence
		}
	}
	return out
}

// maxListSentences bounds the sentences that are read of the list. A usual document has a few of them.
const maxListSentences = 200

// mayNameList reports whether a text may match [listWord]. It is fast.
func mayNameList(text string) bool {
	text = strings.ToLower(text)
	return strings.Contains(text, "list") || strings.Contains(text, "overview") || strings.Contains(text, "übersicht")
}

// addMentioned takes what a sentence says about the members that it mentions.
func (f *ListForms) addMentioned(sentence, context string) {
	if !comparesList(sentence, context) {
		return
	}
	if inTwoUnits(sentence) {
		f.mention(sentence, ListForm{Differs: true})
	}
	sentence = withoutBrackets(sentence)
	parts := clauses(sentence)
	f.addGoverned(sentence, parts, rounded(), ListForm{Rounded: true})
	f.addGoverned(sentence, parts, otherForm(), ListForm{Differs: true})
	if ofBoth().MatchString(sentence) {
		f.addGoverned(sentence, parts, bothDiffer(), ListForm{Differs: true})
	}
}

// withoutBrackets removes brackets around words that say nothing of a form, so that "title (in German), volume" is an enumeration.
func withoutBrackets(sentence string) string {
	return inBrackets().ReplaceAllStringFunc(sentence, func(part string) string {
		if rounded().MatchString(part) || otherForm().MatchString(part) {
			return part
		}
		return strings.Trim(part, "()")
	})
}

var inBrackets = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\([^(),:]*\)`) })

// addGoverned takes a form for what the words that match the pattern are about.
func (f *ListForms) addGoverned(sentence string, parts []span, words *regexp.Regexp, form ListForm) {
	end := 0 // the part before it is read once
	for i, clause := range parts {
		text := sentence[clause.start:clause.end]
		start := clause.end
		for _, at := range words.FindAllStringIndex(text, -1) {
			if isChoice(text, text[at[0]:at[1]]) {
				continue
			}
			g := governed(sentence, clause, span{clause.start + at[0], clause.start + at[1]}, i == 0)
			if g.start < clause.start || g.end > clause.end {
				end = max(end, g.end)
			} else {
				start = min(start, g.start)
			}
		}
		if start < clause.end {
			f.mention(sentence[start:clause.end], form)
		}
	}
	f.mention(sentence[:end], form)
}

// isChoice reports whether words such as "only one" are about the values of a parameter: "Only one status can be selected in the list."
func isChoice(clause, words string) bool {
	return strings.HasPrefix(strings.ToLower(words), "only") && ofParameter().MatchString(clause)
}

var ofParameter = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:select\w*|chosen|choose|filter\w*|at a time|per (?:call|request|query)|(?:can|may|must) be (?:given|set|used|passed|sent|asked)|parameters?)\b`)
})

// mention notes a form for all phrases of a text.
func (f *ListForms) mention(text string, form ListForm) {
	for phrase := range phrases(text) {
		if known, isKnown := f.ofMentioned[phrase]; isKnown || len(f.ofMentioned) < maxPhrases {
			f.ofMentioned[phrase] = known.or(form)
		}
	}
}

// Of returns what the document says about a member, in its own description or in a sentence that mentions it.
func (f *ListForms) Of(member string) ListForm {
	out := f.ofProperty[member].or(ListForm{Stale: f.stale})
	for _, s := range spellings(member) {
		out = out.or(f.ofMentioned[s])
	}
	return out
}

// or joins what two sentences say.
func (f ListForm) or(other ListForm) ListForm {
	return ListForm{Differs: f.Differs || other.Differs, Rounded: f.Rounded || other.Rounded, Stale: f.Stale || other.Stale}
}

// add takes what a sentence of its own description says about a member.
func (f *ListForm) add(sentence string) {
	if !comparesList(sentence, sentence) {
		return
	}
	f.Rounded = f.Rounded || rounded().MatchString(sentence)
	other := otherForm().FindString(sentence)
	f.Differs = f.Differs || other != "" && !isChoice(sentence, other) || bothDiffer().MatchString(sentence) && ofBoth().MatchString(sentence) || inTwoUnits(sentence)
}

// comparesList reports whether a sentence may say that the list shows something in another way than the detail. context is the sentence with the one before it,
// which may name the list.
func comparesList(sentence, context string) bool {
	return listWord().MatchString(context) && !sameInBoth().MatchString(sentence) && (listWord().MatchString(sentence) || ofBoth().MatchString(sentence))
}

// inTwoUnits reports whether a sentence names two units, one of them for the detail.
func inTwoUnits(sentence string) bool {
	units := inUnits().FindAllString(sentence, 2)
	return len(units) == 2 && !strings.EqualFold(units[0], units[1]) && detailWord().MatchString(sentence)
}

// listWord matches words about the list of the API. "A list of groups" is a value.
var listWord = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:the|in|all|both|of|from) (?:lists?|listing|overview)(?: (?:[^o]|o[^f])|[^ \pL]|$)|^lists (?:show|give|have|hold|round|mask|cut)\b|` +
		`\b(?:die|der|in|einer|den|jeder|im) (?:liste|listen|listenansicht|übersicht)(?:[^\pL]|$)`)
})

var detailWord = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:details?|detailansicht|einzel\w*|single (?:calls?|records?|fundings?|items?))\b`)
})

// sameInBoth matches words that say that list and detail do not differ.
var sameInBoth = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:same|identical\w*|equal(?:s|ly)?|alike|unchanged|both (?:show|have|give)|as in the (?:detail|list)|like the (?:detail|list)|as of (?:now|the (?:time|moment|date) of (?:the|each|your) (?:request|call|query|answer|response))|gleich\w*|identisch\w*|dieselbe\w*|unverändert|wie (?:in|im) (?:der )?\w+)\b|` +
		`\b(?:not|never|no|nicht|nie|kein\w*|un) ?(?:be |been |differ\w*|rounded|masked|shortened|abbreviated|cut|truncated|anonymi[sz]ed|hidden|cached|gerundet|gekürzt|maskiert|abweich\w*|anonymisiert|verändert)\b`)
})

var bothDiffer = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:may|can|might|will|do|does|sometimes|often) (?:\w+ )?(?:differ|deviate|be (?:different|older|newer))\b|\b(?:differs?|deviates?) (?:from|between|in)\b|\b(?:unterscheiden|abweichen|weichen|weicht)\b`)
})

// ofBoth matches words that compare list and detail.
var ofBoth = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:both|the two|details?|detailansicht|einzel\w*|beide\w*|(?:from|than) (?:that |those )?(?:of |in )?the list|von der liste)\b`)
})

var rounded = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:rounded|rounds|nearest|in steps of|whole (?:hundreds|thousands|millions|euros?)|gerundet\w*|(?:volle|ganze) (?:hundert|tausend|million|euro))`)
})

// inUnits matches words for another unit than that of the detail.
var inUnits = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\bin (?:thousands|millions|hundreds|tausend|millionen|cents?|euros?|local time|utc)\b`)
})

var otherForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:masked|abbreviated|shortened|truncated|cut|anonymi[sz]ed|pseudonymi[sz]ed|obfuscated|redacted|blurred|simplified|summari[sz]ed|approximate\w*|coarse\w*|` +
		`(?:the )?first (?:\w+ ){0,2}only|only (?:the )?(?:first|main|most important|some|one)|main (?:\w+ ){0,2}only|(?:last|previous) night|as of|snapshot|` +
		`(?:not|without) (?:the )?(?:\w+ ){0,2}(?:exact|full|whole|complete|all)|gekürzt\w*|verkürzt\w*|abgekürzt\w*|maskiert\w*|unkenntlich\w*|anonymisiert\w*|verschleiert\w*|vereinfacht\w*|ungefähr\w*|` +
		`nur (?:der|die|das|den)? ?(?:erste\w*|wichtigste\w*)|stand (?:von|vom|der))\b`)
})

// snapshot matches words that say that a list may show an earlier state.
var snapshot = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:snapshots?|cached|stale|refreshed|rebuilt|recomputed|out of date|(?:minutes?|hours?|days?) (?:old|late|behind)|every night|nightly|next (?:morning|day)|zwischengespeichert\w*|nächtlich\w*|momentaufnahme|(?:minuten|stunden|tage) alt)\b`)
})

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
			at := rounded().FindStringIndex(sentence)
			if at == nil {
				continue
			}
			if relativeStep().MatchString(sentence) {
				return 0
			}
			const far = 40 // bytes between the word and its step, such as "to the nearest ten thousand euros"
			from := max(0, at[0]-far)
			step = max(step, roundingStep(strings.ToValidUTF8(sentence[from:min(len(sentence), at[1]+far)], " ")))
		}
	}
	if inCents {
		step *= 100
	}
	return step
}

// roundingStep returns the largest number in words about rounding, in digits or in words, or 0.
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

// relativeStep matches words about a step that depends on the number.
var relativeStep = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(?:significant|digits?|places?|decimals?|percent|prozent|stellen?|ziffern?)\b|%`)
})

// minorUnit matches words about amounts that count the hundredth part of their currency.
var minorUnit = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b[cC]ents?\b|[a-z]Cents?\b|_cents?\b|\b(?i:minor unit|rappen|pence)\b`)
})
