package requirement

import (
	"strings"

	g "github.com/onsi/ginkgo/v2"
	o "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/openapi"
)

var _ = g.DescribeTable("A search reads another text than the title",
	func(text string, elsewhere bool) {
		o.Expect(searchesElsewhere(text, "title", openapi.Members{"id", "note", "status", "summary", "title"})).To(o.Equal(elsewhere))
	},
	g.Entry("as it names another", "searches the summary for the given text; case is ignored.", true),
	g.Entry("as it names the text of another", "text in the summary, in upper or lower case. the title is not searched.", true),
	g.Entry("as it names another, with all words", "searches the summary for all of the given words (whole words, case-insensitive).", true),
	g.Entry("in German", "sucht in der kurzbeschreibung; groß- und kleinschreibung ist gleich.", true),
	g.Entry("in German, with a member", "text im note, nicht im titel.", true),
	g.Entry("not in the title, in one clause", "text in the summary, not in the title.", true),
	g.Entry("not in the title nor another", "searches the keywords only, ignoring case; neither title nor summary are searched.", true),
	g.Entry("in German, alone", "durchsucht nur die zusammenfassung", true),
	g.Entry("in German, not in the title", "sucht in schlagwörtern, nicht im titel.", true),
	g.Entry("the name of something else", "name of the funder or a part of it (case-insensitive); titles are not searched.", true),
	g.Entry("in the contents", "text in the contents.", true),
	g.Entry("not as its contents are all of it", "finds calls by a word of their contents.", false),
	g.Entry("not as the contents of a call are all of it", "a word in the contents of the call.", false),
	g.Entry("not as it names both", "text in the title or the summary.", false),
	g.Entry("not as it names the title after all", "searches the summary. the title is searched, too.", false),
	g.Entry("not as it denies the other", "text in the title, but not in the summary.", false),
	g.Entry("not as it denies only the other", "searches the calls, not in the summary.", false),
	g.Entry("not with more texts", "also searches the summary.", false),
	g.Entry("not with more than one", "searches not only the summary.", false),
	g.Entry("not in all texts", "full-text search, for example in the summary.", false),
	g.Entry("not as it names a member for something else", "text to search for; combine it with status.", false),
	g.Entry("not as it names none", "only calls with this word.", false),
	g.Entry("not by what it does with the title", "words of the title. upper and lower case are not told apart in the title.", false),
)

var _ = g.DescribeTable("A search compares the whole title",
	func(text string, whole bool) { o.Expect(comparesWhole(text)).To(o.Equal(whole)) },
	g.Entry("as it must be given", "title of the call. the whole title must be given, in upper or lower case; parts of it find nothing.", true),
	g.Entry("as it is compared", "the title, in upper or lower case. it is compared as a whole; an asterisk stands for any number of characters.", true),
	g.Entry("in German", "der vollständige titel muss angegeben werden; teile davon finden nichts.", true),
	g.Entry("not with whole words", "only whole words of the title are found.", false),
	g.Entry("not if it looks through the whole title", "searches the whole title for the text.", false),
	g.Entry("as it must match", "the whole title must match.", true),
	g.Entry("in German, as it is to agree", "der ganze titel muss genau übereinstimmen.", true),
	g.Entry("not by its length", "text to find in the name. the whole text must be at most 100 characters.", false),
	g.Entry("not by its length in German", "text im titel. der ganze text muss kürzer als 100 zeichen sein.", false),
	g.Entry("not if parts are enough", "part of the title.", false),
	g.Entry("not if it is denied", "the title need not be given in full; the whole title must not be given.", false),
)

var _ = g.DescribeTable("A search drops a sign",
	func(text, sign string, drops bool) { o.Expect(dropsSign(text, sign)).To(o.Equal(drops)) },
	g.Entry("that separates", "signs other than letters, digits and the underscore separate words, all of which must occur in the title.", "%", true),
	g.Entry("that is ignored", "words of fewer than three characters, and signs other than letters, digits and the underscore, are ignored.", "%", true),
	g.Entry("in German", "sonderzeichen werden ignoriert.", "%", true),
	g.Entry("but not one that counts as a letter", "signs other than letters, digits and the underscore separate words.", "_", false),
	g.Entry("not if it is denied", "special characters are not ignored.", "%", false),
	g.Entry("not if case is ignored", "text in the title. case is ignored.", "%", false),
	g.Entry("not by signs without a meaning", "signs have no special meaning.", "%", false),
)

var _ = g.DescribeTable("A search reads only some items",
	func(text string, some bool) {
		o.Expect(readsSome(text, `{"id":"XA-1","status":"OPEN"}`)).To(o.Equal(some))
	},
	g.Entry(nil, "text in the title or summary, ignoring case. only open calls are searched.", true),
	g.Entry(nil, "sucht in titel und zusammenfassung der laufenden ausschreibungen.", true),
	g.Entry(nil, "sucht im titel; geschlossene und künftige werden nicht durchsucht.", true),
	g.Entry(nil, "text in the title; closed calls are not found.", true),
	g.Entry(nil, "text in the title; expired ones are not searched.", true),
	g.Entry(nil, "only calls with this word.", false),
	g.Entry(nil, "only whole words of the title are found.", false),
	g.Entry("not if the item is no draft", "text in the name. drafts are not found.", false),
	g.Entry("not if the item is none of those", "text in the name. deleted calls are not searched.", false),
	g.Entry("not by other calls", "calls with the word; other calls are not found.", false),
	g.Entry("not by short words", "stopwords are not searched.", false),
)

var _ = g.DescribeTable("A search finds the ends of a text",
	func(text string, ends bool) { o.Expect(findsEnds(text)).To(o.Equal(ends)) },
	g.Entry(nil, "calls whose title starts with the text.", true),
	g.Entry(nil, "titles that end with this text.", true),
	g.Entry(nil, "calls whose name begins with a given text.", true),
	g.Entry(nil, "the beginning of the title, in upper or lower case.", true),
	g.Entry(nil, "titel, die mit diesem text beginnen.", true),
	g.Entry(nil, "sucht am anfang des titels.", true),
	g.Entry("not of the text that is searched for", "text in the name; spaces at the beginning and end of the text are ignored.", false),
	g.Entry("not of a text that is refused", "text in the name. a text that begins with a digit is refused.", false),
	g.Entry("not in the order of the answer", "searches in the name, and calls that start with the word come first.", false),
	g.Entry("not if a text may stand elsewhere", "not only titles that begin with the text.", false),
)

var _ = g.DescribeTable("A search finds words that are not the same",
	func(text string, expands bool) { o.Expect(expandsText(text)).To(o.Equal(expands)) },
	g.Entry(nil, "text im titel. % und _ sind platzhalter wie in sql.", true),
	g.Entry(nil, "misspelt words are tolerated: words that differ in one letter are found as well.", true),
	g.Entry(nil, "text im titel, ohne platzhalter.", false),
	g.Entry(nil, "% und _ sind keine platzhalter.", false),
	g.Entry(nil, "text in the title.", false),
)

var _ = g.DescribeTable("A search folds case, as its description says",
	func(text string, left bool) {
		o.Expect(strings.Contains(withoutDenied(text), "case")).To(o.Equal(left))
	},
	g.Entry(nil, "text in the title; case-insensitive.", true),
	g.Entry(nil, "text in the title, not in the summary; case is ignored.", true),
	g.Entry(nil, "text in the title. it does not ignore case.", false),
	g.Entry(nil, "text in the title; not case-insensitive.", false),
	g.Entry(nil, "only ascii letters are compared without regard to case; ä and ä are different.", false),
)
