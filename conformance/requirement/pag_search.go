package requirement

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file judges searches in texts, for PAG-07, by what the document says of the parameter, and by what no search may do.

// searchPromise is what the document says of a search.
type searchPromise struct {
	contains bool // a text with the word anywhere in it matches
	anyCase  bool // upper and lower case match
	anyText  bool // texts in every language match
	lenient  bool // fuzzy searches and wildcards give more items
	onlyIn   bool // the search reads the member that the word comes from, and no other
	exact    bool // the parameter takes the whole value of a member, such as a keyword, or reads another text than the one with the word
	signless bool // a sign such as % in the value is no part of the text
}

// promiseOf reads what the description of the parameter of a search promises.
func promiseOf(e Evidence, x evidence.Exchange) searchPromise {
	o, _ := operation(e, e.Roles.List)
	i := slices.IndexFunc(o.QueryParameters(), func(p openapi.Parameter) bool { return p.Name == x.Given["parameter"] })
	if i < 0 {
		return searchPromise{lenient: true}
	}
	text := strings.ToLower(o.QueryParameters()[i].Description)
	says := func(pattern string) bool { return regexp.MustCompile(pattern).MatchString(text) }
	name := strings.ToLower(regexp.MustCompile(`^[A-Za-z]+`).FindString(x.Given["of"]))
	members := membersOfList(e)
	isLenient := expandsText(text)
	text = withoutDenied(text)
	return searchPromise{
		exact:    says(`\bexact(ly)?\b|\bequals?\b|\bidentical\b`) || comparesWhole(text) || findsEnds(text) || readsSome(text, itemWithWord(e, x)) || searchesElsewhere(text, x.Given["of"], members) || namesMember(members, x),
		signless: dropsSign(text, patternSign(x.Given["value"])),
		contains: says(`\b(contains?|containing|part of|parts of|substring|anywhere in)\b`),
		anyCase:  says(`\b(case[- ]insensitive(ly)?|upper[- ]?(case)? and lower[- ]?case|(ignor\w+|regardless of|irrespective of|without regard to) (the )?(upper|case)|case (does not|doesn't) (matter|count)|in any case|not case[- ]sensitive|case[- ]fold(ed|ing)|(capital|large|upper[- ]?case) (and|or) (small|lower[- ]?case)( letters| ones)? [^.;]{0,30}\b(same|equal|alike|no difference|not (matter|distinguished)))\b`),
		anyText:  says(`\b(any|all|every|each|either|both) (of the |of its )?(languages?|titles?|translations?)\b`),
		lenient:  isLenient || says(`\b(wild ?cards?|patterns?|fuzzy|similar|like|stem(s|med|ming)?|full[- ]text|relevan\w+)\b`),
		onlyIn:   name != "" && says(`\b`+openapi.NamePattern(name)+`s?\b`) && !says(`\b(or|and|descriptions?|keywords?|summary|abstract|texts?|funders?|note|notes)\b[^.;]*\b(descriptions?|keywords?|summary|abstract|note|notes|funders?)\b`),
	}
}

// itemWithWord returns the item of the list that the word of a search comes from, in lower case.
func itemWithWord(e Evidence, x evidence.Exchange) string {
	items, _ := wholeList(e)
	i := slices.IndexFunc(items, func(item []byte) bool { return e.identity(item) == x.Given["id"] })
	if i < 0 {
		return ""
	}
	return strings.ToLower(string(items[i]))
}

// namesMember reports whether the items have a member named like the parameter, other than the one that the word comes from: keyword filters keywords.
func namesMember(members openapi.Members, x evidence.Exchange) bool {
	member, ok := members.Named(x.Given["parameter"])
	return ok && member != x.Given["of"]
}

// membersOfList returns the members of the items in the list.
func membersOfList(e Evidence) openapi.Members {
	items, err := e.itemsOf(e.exchange(evidence.ListOperation.With(evidence.OK)))
	if err != nil {
		return nil
	}
	return openapi.MembersOf(items)
}

// judgeSearches judges the searches of the list.
func judgeSearches(e Evidence) []Judgement {
	var parts []Judgement
	for _, x := range e.Exchanges {
		if x.Label.Resource() == e.Roles.List && x.Given["search"] != "" && success(x) {
			parts = append(parts, judgeSearch(e, x))
		}
	}
	return parts
}

// judgeSearch judges one search.
func judgeSearch(e Evidence, x evidence.Exchange) Judgement {
	items, err := e.itemsOf(x)
	promise, value := promiseOf(e, x), x.Given["value"]
	call := clip(x.Given["parameter"] + "=" + value)
	if err != nil {
		return expect(x, "a list").unclear("the items of a search cannot be read: "+clip(err.Error()), describe(x))
	}
	if promise.exact && x.Given["search"] != "nothing" {
		return Passed(x.Label)
	}
	switch x.Given["search"] {
	case "nothing":
		if len(items) > 0 && !promise.lenient {
			return expect(x, "an empty list").failed(fmt.Sprintf("a search for a word that no item has, %s, gives %s", call, evidence.Count(len(items), "item")), evidence.Count(len(items), "item")).
				Hinting("apply the described parameter: a client takes what it gets for the result")
		}
		return Passed(x.Label)
	case "expression": // it is sent only if the document says that the text is taken literally
		if !promise.lenient && !promise.signless && findsWithoutText(e, x, items) {
			return expect(x, "items with the dot itself").failed("a search takes its text for a regular expression, and the document says that it is literal: "+call+" finds "+quote(x.Given["word"]), "item "+quote(x.Given["id"])).
				Hinting("compare texts, or quote the text before it becomes an expression: re.escape, Pattern.quote, regexp.QuoteMeta")
		}
		return Passed(x.Label)
	case "pattern":
		if !promise.lenient && !promise.signless && findsWithoutText(e, x, items) {
			return expect(x, "items with the characters % and _ themselves").failed("a search takes "+patternSign(value)+" for a wildcard: "+call+" finds "+quote(x.Given["word"]), "item "+quote(x.Given["id"])).
				Hinting("escape %, _ and the escape character before a text becomes the operand of LIKE")
		}
		return Passed(x.Label)
	case "other-case":
		if !promise.anyCase {
			return Passed(x.Label)
		}
	case "part":
		if !promise.contains {
			return Passed(x.Label)
		}
	case "later-word":
		if !promise.anyText {
			return Passed(x.Label)
		}
	}
	if j, found := findItemWithoutWord(e, x, promise, items, call); found {
		return j
	}
	if !isCompleteAnswer(e, x) {
		return Passed(x.Label)
	}
	mustBeFound := func(item []byte) bool { // the item with the word; other items only if the document says where the node searches, and how
		if !promise.contains || !promise.onlyIn {
			return e.identity(item) == x.Given["id"]
		}
		values := e.memberValues(item, x.Given["of"])
		if !promise.anyText && len(values) > 1 {
			return e.identity(item) == x.Given["id"]
		}
		return slices.ContainsFunc(values, func(text string) bool {
			if promise.anyCase {
				text, value = strings.ToLower(text), strings.ToLower(value)
			}
			return strings.Contains(text, value)
		})
	}
	if lost := lostItems(e, x, e.identities(items), mustBeFound); len(lost) > 0 {
		return e.blockIfPagesLose(itemLoss(x, "the search "+call, lost, len(lost)+len(items)))
	}
	return Passed(x.Label)
}

// findsWithoutText reports whether a search found the item that its text was made from, although the item does not contain the text.
func findsWithoutText(e Evidence, x evidence.Exchange, items [][]byte) bool {
	i := slices.IndexFunc(items, func(item []byte) bool { return e.identity(item) == x.Given["id"] })
	return i >= 0 && !strings.Contains(strings.ToLower(string(items[i])), strings.ToLower(x.Given["value"]))
}

// patternSign returns the wildcard of LIKE in a value.
func patternSign(value string) string {
	if strings.Contains(value, "_") {
		return "_"
	}
	return "%"
}

// findItemWithoutWord finds an item in the answer to a search whose text lacks the word, if the document says what is searched.
func findItemWithoutWord(e Evidence, x evidence.Exchange, promise searchPromise, items [][]byte, call string) (j Judgement, found bool) {
	if !promise.contains || !promise.onlyIn || promise.lenient {
		return Judgement{}, false
	}
	for i, item := range items {
		values := e.memberValues(item, x.Given["of"])
		if len(values) > 0 && !slices.ContainsFunc(values, func(text string) bool {
			return strings.Contains(strings.ToLower(text), strings.ToLower(x.Given["value"]))
		}) && !strings.Contains(strings.ToLower(string(item)), strings.ToLower(x.Given["value"])) {
			return Subject{Name: fmt.Sprintf("%s $[%d].%s", callInWords(x), i, clip(x.Given["of"])), Label: x.Label, Expected: "a text with " + quote(x.Given["value"])}.
				failed("the search "+call+" gives items without the word", quote(strings.Join(values, ", "))), true
		}
	}
	return Judgement{}, false
}
