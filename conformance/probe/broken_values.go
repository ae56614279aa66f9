package probe

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file sends query parameters with broken values: a cursor that decodes to something else, half an escape, a date that does not exist. The node may
// refuse or ignore them, but must not fail with 5xx (PAG-06), and must not reveal its internals (ERR-04).

// breakage is one kind of broken values: its case, its words, the parameters that it suits, and the fields that it makes for one of them.
type breakage struct {
	kind  evidence.Case
	words string
	suits func(p openapi.Parameter) bool
	// fields returns the fields for a parameter, percent-encoded. real is a good value, or "" if none is known.
	fields func(s draw.Source, name, real string) string
	// text is true if a schema that allows any text allows the value; allowed is true if the schema of every parameter that the kind suits does.
	text, allowed bool
	// turn names an order of the parameters that several kinds share: each takes the parameter at its step, so that they break different ones. A kind without
	// a turn has an order of its own.
	turn string
	step int
	// own is true if no other kind of the turn may break the same parameter: the kind is planned only for an operation with more than step parameters that it
	// suits. Parameters for a search come first in its order.
	own bool
}

// legal reports whether the schema of a parameter allows the value in the fields.
func (b breakage) legal(p openapi.Parameter, fields string) bool {
	s := p.Schema
	if b.allowed {
		return true
	}
	if !b.text || !isText(p) || s.Type != "string" || s.Pattern != "" {
		return false
	}
	_, escaped, _ := strings.Cut(fields, "=")
	value, err := url.QueryUnescape(escaped)
	n := utf8.RuneCountInString(value)
	return err == nil && (s.MinLength == nil || n >= *s.MinLength) && (s.MaxLength == nil || n <= *s.MaxLength)
}

// brokenCases are the rows of both families of broken values, see [brokenPlan].
func brokenCases() []row {
	return slices.Concat(brokenFamily(evidence.BrokenCursors, brokenCursors()...), brokenFamily(evidence.BrokenValues, brokenValues()...))
}

func brokenFamily(family evidence.Family, kinds ...breakage) []row {
	var out []row
	plan := in(stageRest, stageAuthorized, stagePages).onlyIf(notQuick)
	for _, b := range kinds {
		out = append(out, row{Label: evidence.EveryOperation.With(b.kind), Words: b.words, Family: family, Plan: plan, Send: withoutSchemas(choose(b.choose))})
	}
	return out
}

// brokenPlan plans the kinds of broken values that suit a parameter of an operation.
func brokenPlan(n Node, o openapi.Operation) (p Plan) {
	suited := map[evidence.Case]bool{}
	for _, b := range slices.Concat(brokenCursors(), brokenValues()) {
		suited[b.kind] = len(b.parameters(o)) > 0 && (!b.own || len(b.parameters(o)) > b.step)
	}
	rows := slices.DeleteFunc(brokenCases(), func(c row) bool { return !suited[c.Label.Case()] })
	p.add(n, evidence.OperationResource(o.Key), rows...)
	return p
}

// parameters returns the query parameters of an operation that the kind suits. An object counts as one parameter for each member.
func (b breakage) parameters(o openapi.Operation) []openapi.Parameter {
	var out []openapi.Parameter
	for _, p := range queryParameters(o) {
		parts := []openapi.Parameter{p}
		if p.Schema.Type == "object" {
			parts = nil
			for _, member := range slices.Sorted(maps.Keys(p.Schema.Properties)) {
				parts = append(parts, openapi.Parameter{Name: p.Name + "[" + member + "]", In: p.In, Schema: p.Schema.Properties[member]})
			}
		}
		for _, part := range parts {
			if b.suits(part) {
				out = append(out, part)
			}
		}
	}
	return out
}

// choose draws a parameter that the kind suits and breaks its value.
func (b breakage) choose(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
	suited := b.parameters(o)
	if len(suited) == 0 {
		return chosen{}, notApplicable("no parameter of %s takes such a value", res.Name)
	}
	s := r.source(res.Name, string(b.kind))
	start := r.source(res.Name, cmp.Or(b.turn, string(b.kind))).Below(len(suited))
	suited = slices.Concat(suited[start:], suited[:start])
	if b.own {
		slices.SortStableFunc(suited, func(p, q openapi.Parameter) int { return cmp.Compare(rankOfText(p), rankOfText(q)) })
	}
	p := suited[b.step%len(suited)]
	real, ok := "", false
	if takesCursor(p) {
		real, _ = r.cursor(res.Name, p.Name)
	} else {
		if real, ok = r.seenValue(res.Name, p.Name); !ok {
			_, real, _ = valueOfParameter(p, r.Clock())
		}
	}
	if b.allowed { // whether a time follows the day depends on the schema, not on the good value
		real = map[bool]string{true: "T"}[p.Schema.Format == "date-time"]
	}
	fields := b.fields(s, url.QueryEscape(p.Name), real)
	address := withoutQuery(r.sized(o, res.URL, p.Name, sizeOfParameter), p.Name)
	sign := "?"
	if strings.Contains(address, "?") {
		sign = "&"
	}
	return chosen{address + sign + fields, map[string]string{
		"parameter": p.Name, "in": "query", "try": string(b.kind), "legal": strconv.FormatBool(b.legal(p, fields)), "value": evidence.Clip(fields, maxScalar),
	}}, nil
}

// withoutQuery removes the fields of a name from the query of a URL.
func withoutQuery(text, name string) string {
	address, query, hasQuery := strings.Cut(text, "?")
	fields := slices.DeleteFunc(strings.Split(query, "&"), pair{name: name}.names)
	query = strings.Join(fields, "&")
	if !hasQuery || query == "" {
		return address
	}
	return address + "?" + query
}

// takesCursor reports whether a parameter continues a list where another page ended, by its name.
func takesCursor(p openapi.Parameter) bool {
	name := strings.NewReplacer("_", "", "-", "", "[", "", "]", "").Replace(strings.ToLower(p.Name))
	return isText(p) && (isCursor(p) || slices.Contains([]string{"after", "before", "token", "next", "from", "position"}, name) ||
		slices.ContainsFunc([]string{"cursor", "continu", "pagetoken", "nexttoken", "marker", "searchafter", "startafter", "scroll", "resumption", "pageafter", "pagebefore"},
			func(part string) bool { return strings.Contains(name, part) }))
}

// isText reports whether a parameter takes any text.
func isText(p openapi.Parameter) bool {
	return (p.Schema.Type == "string" || p.Schema.Type == "") && p.Schema.Format == "" && len(p.Schema.Enum) == 0
}

// isFreeText reports whether a parameter takes any text, or a list of texts, and is not a cursor.
func isFreeText(p openapi.Parameter) bool {
	if p.Schema.Type == "array" && p.Schema.Items != nil {
		p.Schema = *p.Schema.Items
	}
	return isText(p) && p.Schema.Pattern == "" && !takesCursor(p) && p.Schema.Type == "string"
}

// rankOfText orders text parameters by how likely they become part of a database query.
func rankOfText(p openapi.Parameter) int {
	switch {
	case isSearch(p):
		return 0
	case isDate(p):
		return 2
	}
	return 1
}

func isNumber(p openapi.Parameter) bool {
	return p.Schema.Type == "integer" || p.Schema.Type == "number"
}

// isDate reports whether a parameter is a day or a time, by its format or, for a text, by its name.
func isDate(p openapi.Parameter) bool {
	if p.Schema.Format == "date" || p.Schema.Format == "date-time" {
		return true
	}
	name := strings.ToLower(p.Name)
	return isText(p) && slices.ContainsFunc([]string{"date", "deadline", "since", "until", "openon", "opens", "closes"}, func(part string) bool { return strings.Contains(name, part) })
}

// isFarDay reports whether a parameter is a day or a moment whose schema allows any date.
func isFarDay(p openapi.Parameter) bool {
	s := p.Schema
	return (s.Format == "date" || s.Format == "date-time") && s.Type == "string" && s.Pattern == "" && len(s.Enum) == 0 && s.MinLength == nil && s.MaxLength == nil
}

// isLanguage reports whether a parameter is a language, by its name.
func isLanguage(p openapi.Parameter) bool {
	return p.Schema.Type == "string" && slices.Contains([]string{"lang", "language", "locale", "hl"}, strings.ToLower(p.Name))
}

// impossibleDay returns a day in the right form that does not exist: it passes a pattern, and a parser refuses it.
func impossibleDay(s draw.Source) string {
	return strconv.Itoa(s.Between(2021, 2031)) + "-" + draw.One(s, "02-30", "02-31", "04-31", "06-31", "09-31", "11-31", "13-01", "00-10", "01-32", "02-30")
}

func isAny(openapi.Parameter) bool { return true }

// brokenCursors decode to something that is not a cursor. Most cursors are JSON in base64url.
func brokenCursors() []breakage {
	kind := func(name evidence.Case, words string, value func(s draw.Source, real string) string) breakage {
		return breakage{kind: name, words: "with " + words, suits: takesCursor, text: true, fields: func(s draw.Source, parameter, real string) string {
			if real == "" { // what cursors often hold
				real = encoded(`{"id":"` + s.Text(draw.Digits, 4) + `","` + s.Word() + `":` + s.Text("123456789", 2) + `}`)
			}
			return parameter + "=" + url.QueryEscape(value(s, real))
		}}
	}
	inBase64 := func(name evidence.Case, words string, text func(s draw.Source) string) breakage {
		return kind(name, words, func(s draw.Source, _ string) string { return encoded(text(s)) })
	}
	return []breakage{
		inBase64("cursor-text", "a cursor that decodes to text", func(s draw.Source) string { return s.Word() + draw.One(s, "", " "+s.Word(), ":"+s.Word()) }),
		inBase64("cursor-type", "a cursor that decodes to JSON of another type", otherJSON),
		inBase64("cursor-members", "a cursor whose members are of other types", otherMembers),
		inBase64("cursor-deep", "a cursor that decodes to nested lists", nestedJSON),
		inBase64("cursor-bytes", "a cursor that decodes to bytes that are not UTF-8", func(s draw.Source) string {
			return s.Text("\xff\xfe\x80\xc0", s.Between(2, 9)) + s.Word()
		}),
		inBase64("cursor-number", "a cursor that decodes to a number beyond all bounds", func(s draw.Source) string {
			return draw.One(s, hugeNumeral(s), "-"+hugeNumeral(s), "1e"+s.Text("3456789", 3), "-1", "NaN")
		}),
		kind("cursor-half", "half a cursor", func(s draw.Source, real string) string { return real[:max(1, len(real)/2-s.Below(3))] }),
		kind("cursor-changed", "a cursor in the shape of the good one", func(s draw.Source, real string) string { return s.Like(real) }),
		kind("cursor-extended", "a cursor with more characters at its end", func(s draw.Source, real string) string { return real + s.Text(draw.Letters, s.Between(1, 6)) }),
		kind("cursor-elsewhere", "the cursor of another list", func(s draw.Source, _ string) string {
			return encoded(draw.One(s, `{"`+s.Word()+`":"`+s.UUID()+`"}`, `["`+s.Word()+`","`+s.Word()+`"]`, `{"offset":`+s.Text("123456789", 2)+`,"`+s.Word()+`":"`+s.Word()+`"}`, s.Word()+":"+s.Text(draw.Digits, 3)))
		}),
		kind("cursor-plain", "a cursor of other characters", func(s draw.Source, _ string) string {
			return draw.One(s, "!", "%", "..", "{", s.Word()+"!", "=", "ü"+s.Word(), s.Text(draw.Letters, 5))
		}),
		kind("cursor-empty", "an empty cursor", func(draw.Source, string) string { return "" }),
	}
}

func encoded(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

func otherJSON(s draw.Source) string {
	return draw.One(s, s.Text("123456789", 2), `"`+s.Word()+`"`, "true", "false", "null", "{}", "[]", "1.5")
}

func otherMembers(s draw.Source) string {
	value := draw.One(s, "null", "{}", "[]", "true", "-1", `""`, `"`+s.Word()+`"`, hugeNumeral(s))
	return draw.One(s, `{"id":`+value+`}`, `{"offset":`+value+`}`, `{"`+s.Word()+`":`+value+`}`, `[`+value+`]`, `[`+value+`,`+value+`]`)
}

// nestedJSON returns lists that are nested deeper than data, and less deep than the limits of common parsers.
func nestedJSON(s draw.Source) string {
	depth := s.Between(70, 300)
	return strings.Repeat("[", depth) + strings.Repeat("]", depth)
}

// hugeNumeral returns a number beyond 64 bits.
func hugeNumeral(s draw.Source) string {
	return s.Text("123456789", 1) + s.Text(draw.Digits, s.Between(20, 39))
}

// brokenValues are the kinds of broken values of parameters that are not cursors, and far days, which are legal.
func brokenValues() []breakage {
	kind := func(name evidence.Case, words string, suits func(openapi.Parameter) bool, fields func(s draw.Source, name, real string) string) breakage {
		return breakage{kind: name, words: "with " + words, suits: suits, fields: fields}
	}
	value := func(name evidence.Case, words string, suits func(openapi.Parameter) bool, value func(s draw.Source) string) breakage {
		return breakage{kind: name, words: "with " + words, suits: suits, text: true, fields: func(s draw.Source, parameter, _ string) string { return parameter + "=" + url.QueryEscape(value(s)) }}
	}
	raw := func(name evidence.Case, words string, suits func(openapi.Parameter) bool, texts ...string) breakage {
		return kind(name, words, suits, func(s draw.Source, parameter, _ string) string {
			return parameter + "=" + draw.One(s, "", s.Word()) + draw.One(s, texts...)
		})
	}
	impossibleDate := func(name evidence.Case, step int) breakage {
		return breakage{kind: name, words: "with a day that does not exist", suits: isDate, text: true, turn: "day", step: step, fields: func(s draw.Source, parameter, real string) string {
			_, time, timed := strings.Cut(real, "T")
			value := impossibleDay(s)
			if timed {
				value += "T" + time
			}
			return parameter + "=" + url.QueryEscape(value)
		}}
	}
	far := func(name evidence.Case, step int, time string, days ...string) breakage { // clients send such days to mean no end or no beginning
		return breakage{kind: name, words: "with a day far away", suits: isFarDay, allowed: true, turn: "far", step: step, own: true, fields: func(s draw.Source, parameter, real string) string {
			value := draw.One(s, days...)
			if strings.Contains(real, "T") {
				value += "T" + time
			}
			return parameter + "=" + url.QueryEscape(value)
		}}
	}
	beyond := func(name evidence.Case, step int) breakage { // code may parse each parameter in another way
		return breakage{kind: name, words: "with a number beyond all bounds", suits: isNumber, turn: "number", step: step, fields: func(s draw.Source, parameter, _ string) string {
			return parameter + "=" + draw.One(s, "9223372036854775808", "18446744073709551616", hugeNumeral(s), hugeNumeral(s))
		}}
	}
	quoted := func(name evidence.Case, step int) breakage { // an odd number of quotes breaks a query that is concatenated from text
		b := value(name, "a single quote in a text", isFreeText, func(s draw.Source) string {
			return draw.One(s, "", s.Word(), strings.ToUpper(s.Text(draw.Lower, 1))) + "'" + draw.One(s, "", s.Word()) + draw.One(s, "", "", `"`, `\`, "%", "(", ")")
		})
		b.turn, b.step, b.own = "quote", step, true
		return b
	}
	return []breakage{
		quoted("value-apostrophe", 0), quoted("value-apostrophe-second", 1), quoted("value-apostrophe-third", 2), quoted("value-apostrophe-fourth", 3),
		kind("value-empty", "an empty value", isAny, func(s draw.Source, parameter, _ string) string { return parameter + draw.One(s, "=", "") }),
		kind("value-repeated", "a parameter that comes twice", isAny, func(s draw.Source, parameter, real string) string {
			return parameter + "=" + url.QueryEscape(real) + "&" + parameter + "=" + draw.One(s, url.QueryEscape(real), s.Word())
		}),
		kind("value-list", "a list in place of a value", isAny, func(s draw.Source, parameter, real string) string {
			return parameter + draw.One(s, "%5B%5D", "%5B0%5D", "[]") + "=" + url.QueryEscape(real)
		}),
		kind("value-member", "a member in place of a value", isAny, func(s draw.Source, parameter, real string) string {
			return parameter + "%5B" + s.Word() + "%5D=" + url.QueryEscape(real)
		}),
		raw("value-escape", "half an escape", isAny, "%", "%4", "%zz", "%u20", "%E2%82", "%C3"),
		// Other parameters are parsed before they reach a database: PostgreSQL fails on a NUL and on bytes that are not UTF-8.
		raw("value-bytes", "bytes that are not UTF-8", isText, "%FF", "%FE%80", "%C0%AF", "%ED%A0%80"),
		raw("value-nul", "a NUL in a text", isText, "%00"),
		raw("value-control", "a control character", isAny, "%00", "%07", "%1B", "%0D%0A"),
		value("value-base64", "something else in base64url", isText, func(s draw.Source) string { return encoded(draw.One(s, otherJSON, otherMembers, nestedJSON)(s)) }),
		value("value-quote", "a quote or a backslash", isText, func(s draw.Source) string { return s.Word() + draw.One(s, "'", `"`, `\`, "`", "')", "''") }),
		value("value-pattern", "a character of pattern languages", isText, func(s draw.Source) string {
			return draw.One(s, "(", "[a-", "*", "+", "?", "%", "_", "{", ")", `\Q`) + s.Word()
		}),
		value("value-expression", "a search for half a regular expression", isSearch, func(s draw.Source) string {
			return draw.One(s, "(", "[", ")", "[(") + s.Word()
		}),
		value("value-long", "a very long value", isText, func(s draw.Source) string { return strings.Repeat(s.Text(draw.Lower, 1), s.Between(1500, 3500)) }),
		beyond("value-huge", 0), beyond("value-huge-other", 1),
		value("value-wide", "a number beyond 32 bits", isNumber, func(s draw.Source) string {
			return draw.One(s, "2147483648", "4294967296", "9"+s.Text(draw.Digits, 11))
		}),
		value("value-negative", "a negative number", isNumber, func(s draw.Source) string {
			return "-" + draw.One(s, "1", s.Text("123456789", 3), "2147483649", "9223372036854775809", hugeNumeral(s))
		}),
		value("value-number", "a number in another notation", isNumber, func(s draw.Source) string {
			return draw.One(s, "1e2", "0x1F", "1.5", "NaN", "Infinity", "١٢", "½", "1_0", "1,5", "--1", "1 2", "null")
		}),
		far("value-late", 0, "23:59:59Z", "9999-12-31"), far("value-late-other", 1, "23:59:59Z", "9999-12-31"),
		far("value-early", 0, "00:00:00Z", "0001-01-01"), far("value-early-other", 1, "00:00:00Z", "0001-01-01", "1900-01-01"),
		impossibleDate("value-date", 0), impossibleDate("value-date-other", 1),
		value("value-date-odd", "a date that is written in another way", isDate, func(s draw.Source) string {
			year := strconv.Itoa(s.Between(2021, 2031))
			return draw.One(s, "0000-00-00", year+"-02-31T25:61:00Z", "99999-01-01", year+"-6-31", "31.06."+year, year, "-1", "now", "1e9")
		}),
		value("value-language", "a language that nobody speaks", isLanguage, func(s draw.Source) string {
			return draw.One(s, s.Word(), "x", "xx-"+s.Text(draw.Upper, 2), "de_AT@euro", s.Text(draw.Lower, 2)+"-"+s.Text(draw.Digits, 3)+"-"+s.Word())
		}),
	}
}

// badValue gives a parameter a value that the document does not allow.
func badValue(parameter func(*run, openapi.Operation) (openapi.Parameter, bool), value func(draw.Source) string) chooser {
	return func(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
		p, described := parameter(r, o)
		if !described {
			return chosen{}, notApplicable("the document describes no parameter for it")
		}
		value := value(r.source(res.Name, p.Name))
		return chosen{r.sized(o, withQuery(res.URL, pair{p.Name, value}), p.Name, sizeOfFilter), map[string]string{"parameter": p.Name, "value": value}}, nil
	}
}

// queryParameter returns the first query parameter that fits.
func queryParameter(o openapi.Operation, fits func(openapi.Parameter) bool) (openapi.Parameter, bool) {
	for _, p := range o.Parameters {
		if p.In == "query" && fits(p) {
			return p, true
		}
	}
	return openapi.Parameter{}, false
}

// namedQuery returns the query parameter of a name.
func namedQuery(o openapi.Operation, name string) (openapi.Parameter, bool) {
	return queryParameter(o, func(p openapi.Parameter) bool { return p.Name == name })
}

// numberedPage is [pageParameter] for [badValue].
func numberedPage(_ *run, o openapi.Operation) (openapi.Parameter, bool) { return pageParameter(o) }

// enumParameter returns the first query parameter with a vocabulary.
func enumParameter(_ *run, o openapi.Operation) (openapi.Parameter, bool) {
	return queryParameter(o, func(p openapi.Parameter) bool { return len(vocabulary(p.Schema)) > 0 })
}

// unknownParameter gives a value to a parameter that the document does not describe.
func unknownParameter(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
	unknown := func(*run, openapi.Operation) (openapi.Parameter, bool) {
		return openapi.Parameter{Name: r.drawn.word}, true
	}
	return badValue(unknown, func(s draw.Source) string { return s.Text(draw.Digits, 1) })(r, o, res)
}

// The next four functions draw values that are not allowed for a page or its size.
func negativeNumber(s draw.Source) string { return "-" + draw.One(s, "1", "2", "5", "10", "100") }

func zero(draw.Source) string { return "0" }

func wordForNumber(s draw.Source) string { return s.Word() }

func hugeNumber(s draw.Source) string {
	return draw.One(s, "1", "2", "7", "9") + s.Text(draw.Digits, s.Between(10, 14))
}

// vastNumber returns a number beyond 64 bits.
func vastNumber(s draw.Source) string {
	return draw.One(s, "1", "2", "7", "9") + s.Text(draw.Digits, s.Between(20, 24))
}

// lastNumber returns a number near the greatest of 64 bits. If the page size is even, the offset of that page overflows to a small negative number. Other
// numbers may overflow to a large positive offset, which does no harm.
func lastNumber(s draw.Source) string {
	return fmt.Sprintf("9223372036854775%03d", s.Between(100, 806))
}

// outsideVocabulary gives the first parameter with a vocabulary a word in the shape of its words.
func outsideVocabulary(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
	return badValue(enumParameter, func(s draw.Source) string {
		p, _ := enumParameter(r, o)
		return s.Like(vocabulary(p.Schema)[0])
	})(r, o, res)
}
