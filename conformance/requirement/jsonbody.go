package requirement

import (
	"bytes"
	"mime"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rin-network/rin/conformance/evidence"
)

// This file finds what parsers read differently in a JSON body: another encoding than UTF-8, a charset that the body does not have, members that
// an object has twice, and halves of surrogate pairs. Several requirements use it, each for its own answers.

// encodingFault says how a JSON body differs from plain UTF-8 (RFC 8259 §8.1). The fault is small if only the charset of the media type is wrong:
// JSON has no such parameter, but some clients decode by it.
func encodingFault(x evidence.Exchange) (got string, small bool) {
	return encodingFaultIn(x, x.Response == nil || utf8.Valid(x.Response.Body))
}

// encodingFaultIn is [encodingFault] for a caller that knows whether the body is valid UTF-8.
func encodingFaultIn(x evidence.Exchange, valid bool) (got string, small bool) {
	if x.Response == nil || x.Request.Method == "HEAD" || x.Response.Truncated || x.Response.BodyError != "" {
		return "", false
	}
	charset, body := charsetOf(x), x.Response.Body
	switch {
	case bytes.HasPrefix(body, byteOrderMark()):
		return "a byte order mark before the JSON", false
	case !valid && charset != "":
		return "another encoding than UTF-8, with charset=" + clip(charset), false
	case !valid:
		return "another encoding than UTF-8", false
	case charset == "" || charset == "utf-8" || charset == "utf8":
		return "", false
	case strings.HasPrefix(charset, "utf-16"), strings.HasPrefix(charset, "utf-32"), slices.ContainsFunc(body, func(c byte) bool { return c >= utf8.RuneSelf }):
		return "charset=" + clip(charset) + ", and a body in UTF-8", true
	}
	return "", false // plain ASCII is the same in both
}

// charsetOf returns the charset parameter of an answer in lower case, or "".
func charsetOf(x evidence.Exchange) string {
	values := header(x, "Content-Type")
	if len(values) == 0 || !strings.Contains(strings.ToLower(values[0]), "charset") {
		return ""
	}
	_, params, err := mime.ParseMediaType(values[0])
	if err != nil {
		return ""
	}
	return strings.ToLower(params["charset"])
}

// charsetHint is the fix for a charset that the body does not have.
const charsetHint = "leave charset out of the Content-Type, since JSON is always UTF-8, or name utf-8 there"

// findOtherEncoding finds a good JSON answer that is not in plain UTF-8, or whose charset names another encoding.
func findOtherEncoding(e Evidence, x evidence.Exchange) (j Judgement, found bool) {
	if !success(x) || !jsonMedia(mediaType(x)) {
		return Judgement{}, false
	}
	name := resourceName(e, x.Label.Resource())
	want := Subject{Name: name, Label: x.Label, Expected: "UTF-8 without a byte order mark"}
	got, small := encodingFaultIn(x, e.isUTF8(x))
	if letters := e.encodedTwice(x); got == "" && letters != "" {
		return want.failed("the texts of "+name+" are encoded twice: UTF-8 was read as Latin-1 and written again", quote(letters)).
			Hinting("read the texts in the encoding that they are stored in: check the charset of the connection to the database and of the files of the import"), true
	}
	if before, isCut := replacedLetter(x.Response.Body); got == "" && before != "" {
		j := want.failed("a text of "+name+" is cut within a character: U+FFFD is in place of a letter that another text of the answer has", quote(before+"\uFFFD")).
			Hinting("shorten texts by characters and not by bytes")
		if !isCut {
			j = want.warned("a text of "+name+" has U+FFFD in place of a character", quote(before+"\uFFFD")).Hinting("find out where the text is cut or read in another encoding than its own")
		}
		return j, true
	}
	if words := lostLetters(x.Response.Body); got == "" && len(words) >= minLostLetters {
		return want.failed("the texts of "+name+" have a question mark in place of each letter that is not ASCII", quote(words[0])+", "+quote(words[1])).
			Hinting("find out where the texts are written in ASCII or another small encoding: the charset of the connection to the database, LANG=C, file.encoding"), true
	}
	if words := escapedLetters(x.Response.Body); got == "" && len(words) >= minLostLetters && !describesHTML(e) {
		return want.warned("the texts of "+name+" are escaped for HTML, which the document does not say", quote(words[0])+", "+quote(words[1])).
			Hinting("send plain texts in JSON, and escape them where a page is made; or say in the document that they are HTML"), true
	}
	switch {
	case got == "":
		return Judgement{}, false
	case small:
		return want.warned("the charset of "+name+" is not that of its JSON", got).Hinting(charsetHint), true
	default:
		return want.failed("the JSON of "+name+" is not plain UTF-8", got), true
	}
}

// findAmbiguity finds a good JSON answer that parsers read differently.
func findAmbiguity(e Evidence, x evidence.Exchange) (j Judgement, found bool) {
	if !success(x) || !jsonMedia(mediaType(x)) || x.Request.Method == "HEAD" || x.Response.Truncated {
		return Judgement{}, false
	}
	fault := e.jsonFault(x)
	if fault == "" {
		return Judgement{}, false
	}
	name := resourceName(e, x.Label.Resource())
	return Failed("parsers disagree on the JSON of "+name+": "+fault, "each member once, and texts in Unicode (RFC 8259 §4, §8.2)", fault).
		About(Subject{Name: name, Label: x.Label, Expected: "each member once, and texts in Unicode", Got: fault}).
		Hinting("let a JSON library write the whole answer, and each member once"), true
}

// jsonFault names what parsers read differently in a JSON text: a member that an object has twice, or half of a surrogate pair. Indices of items
// are left out, so that one fault of many items is named once.
func jsonFault(text []byte, repeatedMembers func(text []byte) []string) string {
	if repeated := repeatedMembers(text); len(repeated) > 0 {
		return clip(regexp.MustCompile(`/\d+/`).ReplaceAllString(repeated[0], "/*/")) + repeatedSuffix
	}
	if loneSurrogate(text) {
		return "a text has half of a surrogate pair"
	}
	return ""
}

// encodedTwice finds letters whose UTF-8 was taken for Latin-1 or Windows-1252 and encoded again, such as Ã¼ for ü. No language has such pairs. One may be
// an example in a text; several are a fault. It returns the first, or "".
func encodedTwice(text []byte) (letters string) {
	marked := hasPair(text, 0xC3, 0x83) || hasPair(text, 0xC3, 0xA2) && bytes.Contains(text, []byte("\u00e2\u20ac")) || // Ã, â€
		bytes.Contains(text, []byte(`\u00c3`)) || bytes.Contains(text, []byte(`\u00C3`))
	if !marked {
		return "" // most bodies
	}
	all := regexp.MustCompile("\u00c3[\u00a4\u00b6\u00bc\u00a9\u00a8\u00aa\u00ae\u00b1\u00a7\u00a1\u00b3\u00ba\u0084\u0096\u009c\u009f\u201e\u2013\u0153\u0178]|\u00e2\u20ac[\u201c\u201d\u2122\u0153\u017e]|\\\\u00[cC]3\\\\u00(?:[aA][1346789aAeE]|[bB][136aAcC]|84|96|9[cC]|9[fF])").FindAll(text, maxTwice)
	if len(all) < minTwice {
		return ""
	}
	return string(all[0])
}

// replacedLetter finds U+FFFD, which stands for bytes that are not UTF-8, and returns the text before it, or "". isCut reports whether another text of the
// answer has the same beginning and a letter there: then the text was cut within that letter.
func replacedLetter(text []byte) (before string, isCut bool) {
	const (
		tries    = 8
		shortest = 12 // bytes, so that both texts are surely the same
	)
	mark := []byte("\uFFFD")
	if !bytes.Contains(text, mark) {
		return "", false
	}
	at := 0
	for range tries {
		n := bytes.Index(text[at:], mark)
		if n < 0 {
			break
		}
		end := at + n
		begin := 1 + bytes.LastIndexByte(text[:end], '"')
		prefix := text[begin:end]
		if before == "" {
			before = clip(string(prefix))
		}
		for from := 0; len(prefix) >= shortest; {
			same := bytes.Index(text[from:], prefix)
			if same < 0 {
				break
			}
			from += same + len(prefix)
			if r, _ := utf8.DecodeRune(text[from:]); r >= utf8.RuneSelf && r != utf8.RuneError {
				return clip(string(prefix)), true
			}
		}
		at = end + len(mark)
	}
	return before, false
}

// minLostLetters is how many different words must have lost a letter, or have it as an entity.
const minLostLetters = 3

// lostLetters finds words such as F?rderung in a text without any letter beyond ASCII: an encoder that knows only ASCII writes a question mark
// for each other letter.
func lostLetters(text []byte) []string {
	if !bytes.ContainsRune(text, '?') || hasOtherLetters(text) {
		return nil
	}
	return distinctWords(regexp.MustCompile(` [A-Za-z][a-z]*\?[a-z]+[ ",.;:)]|[ "(][A-Za-z][a-z]*\?[a-z]+ `).FindAll(text, maxWords))
}

// escapedLetters finds words such as F&ouml;rderung in a text without tags and without any letter beyond ASCII.
func escapedLetters(text []byte) []string {
	if !bytes.Contains(text, []byte("uml;")) && !bytes.Contains(text, []byte("acute;")) && !bytes.Contains(text, []byte("grave;")) || hasOtherLetters(text) || bytes.Contains(text, []byte("</")) {
		return nil
	}
	return distinctWords(regexp.MustCompile(`[A-Za-z]*&[A-Za-z](?:uml|acute|grave|circ|cedil|tilde|ring|caron);[a-z]*`).FindAll(text, maxWords))
}

// maxWords bounds the words that are compared.
const maxWords = 200

// hasOtherLetters reports whether a JSON text has a letter beyond ASCII, as it is or as an escape.
func hasOtherLetters(text []byte) bool {
	isOther := func(r rune) bool { return r >= utf8.RuneSelf && r != utf8.RuneError && unicode.IsLetter(r) }
	return bytes.ContainsFunc(text, isOther) || regexp.MustCompile(`\\u0(?:0[c-fC-F]|[1-9a-fA-F])|\\u[1-9a-fA-F]`).Match(text)
}

// distinctWords returns different words, without the signs around them.
func distinctWords(words [][]byte) []string {
	var out []string
	for _, w := range words {
		if word := strings.Trim(string(w), ` "(,.;:)`); !slices.Contains(out, word) {
			out = append(out, word)
		}
	}
	return out
}

// describesHTML reports whether the document says of some text that it is HTML.
func describesHTML(e Evidence) bool {
	return remember(e.judged, "the document speaks of HTML", func() bool {
		html := regexp.MustCompile(`(?i)\b(html|markup|rich text|entit(y|ies))\b`)
		return slices.ContainsFunc(e.Roles.Operations, func(r evidence.Resource) bool {
			o, ok := operation(e, r)
			return ok && e.Spec.Says(o, html)
		})
	})
}

// hasPair reports whether a text has two bytes one after the other. It looks for the second, which is the rarer one in European texts.
func hasPair(text []byte, first, second byte) bool {
	for at := 0; ; at++ {
		n := bytes.IndexByte(text[at:], second)
		if n < 0 {
			return false
		}
		at += n
		if at > 0 && text[at-1] == first {
			return true
		}
	}
}

// encodedTwice finds a fault from minTwice letters on, and stops after maxTwice.
const (
	minTwice = 2
	maxTwice = 2
)

// repeatedIn returns the fault that an object of an answer has a member twice, or "". It ignores halves of surrogate pairs, which patterns may contain.
func (e Evidence) repeatedIn(x evidence.Exchange) string {
	if x.Response == nil {
		return ""
	}
	if fault := e.jsonFault(x); strings.HasSuffix(fault, repeatedSuffix) {
		return fault
	}
	return ""
}

// repeatedSuffix ends the fault that [jsonFault] returns for a repeated member.
const repeatedSuffix = " is there twice"

// loneSurrogate reports whether a text has an escape such as \ud83d without its other half.
func loneSurrogate(text []byte) bool {
	high := -1 // where the low half must begin
	for at := 0; ; {
		n := bytes.IndexByte(text[at:], '\\')
		if n < 0 || at+n+1 >= len(text) {
			return high >= 0
		}
		at += n
		unit, next := escapedUnit(text[at:]), at+2
		if unit >= 0 {
			next = at + 6
		}
		isLow := unit >= 0xDC00 && unit <= 0xDFFF
		if isExpected := high == at; isLow != isExpected || high >= 0 && !isExpected {
			return true
		}
		high = -1
		if unit >= 0xD800 && unit <= 0xDBFF {
			high = next
		}
		at = next
	}
}

// escapedUnit returns the UTF-16 code unit of an escape such as \u00fc at the beginning of a text; -1 for another escape.
func escapedUnit(text []byte) int {
	if len(text) < 6 || text[1] != 'u' {
		return -1
	}
	unit, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return int(unit)
}
