package requirement

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
)

// This file judges good calls with other header fields for ROB-08: conditions, ranges and languages, and the header fields ETag, Last-Modified and
// Content-Language of their answers.

// judgeVariants adds its judgements to s. It returns the number of conditions and languages that could be judged.
func judgeVariants(e Evidence, s *survey) (judged int) {
	judgeValidators(e, s)
	for _, r := range e.Roles.Operations {
		plain := e.exchange(r.With(evidence.OK))
		if !success(plain) || isTryOutURL(plain.Request.URL) {
			continue
		}
		if judgeConditions(e, r, plain, s) {
			judged++
		}
		if x, sent := e.Get(r.With("good-uncoded")); sent {
			s.add("coding "+string(r), judgeUncoded(x, plain))
		}
		if x, sent := e.Get(r.With("good-range")); sent {
			s.add("range "+string(r), judgeRange(e, r, x))
		}
		s.add("data in languages "+string(r), judgeTranslations(e, r))
		s.add("vary by language "+string(r), judgeVaryByLanguage(e, r))
		if german, english, both := languagesOf(e, r); both {
			judged++
			s.add("tag of languages "+string(r), judgeTagOfLanguages(e, r, german, english))
			for _, c := range []evidence.Case{"good-languages", evidence.OK} {
				if x, sent := e.Get(r.With(c)); sent {
					s.add("language "+string(c)+string(r), judgeLanguage(x, german, english))
				}
			}
		}
	}
	return judged
}

// judgeConditions judges the conditional calls of an operation. It reports whether the node answers its own tag with 304.
func judgeConditions(e Evidence, r evidence.Resource, plain evidence.Exchange, s *survey) (answersTag bool) {
	if seen := e.exchange(r.With("good-seen-tag")); seen.Status() == 304 {
		answersTag = true
		s.add("tag of 304 "+string(r), judgeTagOfNotModified(seen))
		s.add("caching of 304 "+string(r), judgeCachingOfNotModified(seen, plain))
		s.add("forms of tags", judgeTagForms(e, r))
	}
	for _, c := range unmetConditions() {
		x := e.exchange(r.With(c.variant))
		dateCounts := c.variant == "good-other-tag-date" && len(header(plain, "ETag")) == 0 // werkzeug compares the date then
		if x.Status() == 304 && !dateCounts {
			s.add(string(c.variant)+string(r), expect(x, "200 with the data").failed("a condition with "+c.words+" is answered 304, so that clients keep an old copy", describe(x)))
		}
	}
	return answersTag
}

// unmetCondition is a conditional call that a node must answer with the data, not with 304.
type unmetCondition struct {
	variant evidence.Case
	words   string
}

// unmetConditions lists the conditions that do not hold, so that the answer must be the data.
func unmetConditions() []unmetCondition {
	return []unmetCondition{
		{"good-near-tag", "a tag that is nearly the node's own"},
		{"good-other-tag-date", "a tag that the node never sent and a date, which does not count beside a tag (RFC 9110 §13.1.3),"},
		{"good-old-date", "a date before the last change"},
		{"good-bad-date", "a text that is not a date, which a server must ignore (RFC 9110 §13.1.3),"},
	}
}

// judgeValidators judges ETag and Last-Modified of all good answers (RFC 9110 §8.8).
func judgeValidators(e Evidence, s *survey) {
	tag := regexp.MustCompile(`^(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"$`)
	for _, x := range e.Exchanges {
		if x.Status() != 200 || !isNodeAnswer(x) || lacksGoodToken(x) || isTryOutURL(x.Request.URL) {
			continue
		}
		r := string(x.Label.Resource())
		if got := header(x, "ETag"); len(got) > 0 && (len(got) > 1 || !tag.MatchString(got[0])) {
			s.add("form of ETag "+r, expect(x, `"…" or W/"…"`).failed("an ETag is malformed: it must be one text in quotes (RFC 9110 §8.8.3)", headerText(x, "ETag")))
		}
		got := header(x, "Last-Modified")
		if len(got) == 0 {
			continue
		}
		at, form := evidence.HTTPDate(got[0])
		if form != evidence.GoodDate || len(got) > 1 {
			s.add("form of Last-Modified "+r, expect(x, "a date such as Sun, 06 Nov 1994 08:49:37 GMT").failed("Last-Modified is not a date of HTTP in GMT (RFC 9110 §5.6.7), so that clients do not know how old their copy is", headerText(x, "Last-Modified")))
			continue
		}
		if sent, form := evidence.HTTPDate(strings.Join(header(x, "Date"), ",")); form != evidence.NoDate && at.Sub(sent) > time.Minute {
			s.add("Last-Modified later "+r, expect(x, "no later than Date").failed("Last-Modified is later than the Date of the answer (RFC 9110 §8.8.2.1)", headerText(x, "Last-Modified")))
		}
	}
}

// opaqueTag returns a tag without the prefix W/ of a weak tag, and without the suffix that servers add for a content coding, such as --gzip.
func opaqueTag(tag string) string {
	tag = strings.Trim(strings.TrimPrefix(strings.TrimSpace(tag), "W/"), `"`)
	return regexp.MustCompile(`(?:--|[-;:.+])(?:gzip|br|deflate|df|zstd)$`).ReplaceAllString(tag, "")
}

// judgeTagOfNotModified judges the ETag of a 304 to the node's own tag (RFC 9110 §15.4.5).
func judgeTagOfNotModified(x evidence.Exchange) Judgement {
	requested := strings.Join(evidence.Values(x.Request.Header, "If-None-Match"), ",")
	got := header(x, "ETag")
	switch {
	case len(got) == 0:
		return expect(x, "ETag: "+clip(requested)).failed("a 304 has no ETag, which the 200 has (RFC 9110 §15.4.5)", "no ETag")
	case opaqueTag(got[0]) != opaqueTag(requested):
		return expect(x, "ETag: "+clip(requested)).failed("a 304 names another ETag than the one that matched", headerText(x, "ETag"))
	}
	return Passed(x.Label)
}

// judgeCachingOfNotModified compares Cache-Control of a 304 with the one of the content. A cache replaces the fields of its copy by those of the 304 (RFC 9111
// §3.2), so a laxer one opens the copy to others or keeps it alive. A 304 without the field leaves the copy as it is.
func judgeCachingOfNotModified(x, content evidence.Exchange) Judgement {
	usual, got := cacheDirectives(content), cacheDirectives(x)
	has := func(directives map[string]string, name string) bool {
		value, ok := directives[name]
		return ok && strings.Trim(value, `"`) != "0"
	}
	lacks := func(name string) bool { return has(usual, name) && !has(got, name) }
	isShared := has(got, "public") || has(got, "s-maxage")
	isFresh := isShared || has(got, "max-age")
	if len(got) > 0 && (lacks("private") && isShared || lacks("no-store") && isFresh || lacks("no-cache") && isFresh) {
		return expect(x, headerText(content, "Cache-Control")+", as with 200").
			failed("a 304 has a laxer Cache-Control than the 200, and caches take it for their copy (RFC 9110 §15.4.5)", headerText(x, "Cache-Control")).
			Hinting("send the Cache-Control of the content with the 304, too; let no gateway add a Cache-Control of its own to a 304").Seen(content.Label)
	}
	return Passed(x.Label)
}

// judgeVaryByLanguage warns of an answer whose content depends on Accept-Language and that does not say so in Vary (RFC 9110 §12.5.5): a cache hands the text
// in one language to callers of another.
func judgeVaryByLanguage(e Evidence, r evidence.Resource) Judgement {
	german, english := e.exchange(r.With("good-language-de")), e.exchange(r.With("good-language-en"))
	isGood := german.Status() == 200 && english.Status() == 200 && isWhole(german) && isWhole(english) && german.Request.URL == english.Request.URL
	isUnstored := func(x evidence.Exchange) bool { _, ok := cacheDirectives(x)["no-store"]; return ok }
	if e.judge("PAG-08").Outcome == Fail { // replicas that differ are the likelier cause
		return Passed()
	}
	if !isGood || isUnstored(english) || isUnstored(german) || variesBy(english, "Accept-Language") || !differ(german, english) {
		return Passed()
	}
	// The plain call must have one of the two contents. Otherwise the content may have changed meanwhile, or may be new with each call.
	one, errOne := e.jsonText(german)
	other, errOther := e.jsonText(english)
	if errOne != nil || errOther != nil {
		return Passed()
	}
	first, second := normalizer{}.formOf(one), normalizer{}.formOf(other)
	plain, err := e.jsonText(e.exchange(r.With(evidence.OK)))
	if usual := (normalizer{}).formOf(plain); first == second || err != nil || usual != first && usual != second {
		return Passed()
	}
	return expect(english, "Vary: Accept-Language").warned("the content depends on Accept-Language, and Vary does not name it (RFC 9110 §12.5.5), so that caches mix the languages", headerText(english, "Vary")).
		Hinting("add Accept-Language to Vary where the language is chosen").Seen(german.Label)
}

// judgeTagForms judges a list, a weak tag and * in If-None-Match, at a resource that answers a single tag with 304 (RFC 9110 §13.1.2). Some servers compare
// the whole header value with their tag, which is only a warning: Rack understands one tag, hapi a list, and fastify-etag one tag that may be weak. Spring
// ignores * on GET.
func judgeTagForms(e Evidence, r evidence.Resource) Judgement {
	var ignored []string        // the forms that the node does not understand
	var first evidence.Exchange // the answer to the first of them
	for _, c := range []evidence.Case{"good-tag-list", "good-tag-weak", "good-tag-any"} {
		x, sent := e.Get(r.With(c))
		requested := strings.Join(evidence.Values(x.Request.Header, "If-None-Match"), ",")
		changed := c != "good-tag-any" && !strings.Contains(requested, strings.TrimPrefix(strings.Join(header(x, "ETag"), ","), "W/"))
		if !sent || x.Status() != 200 || changed {
			continue
		}
		if len(ignored) == 0 {
			first = x
		}
		ignored = append(ignored, strings.TrimPrefix(string(c), "good-tag-"))
	}
	if len(ignored) == 0 {
		return Passed()
	}
	want, got := expect(first, "304, as for the ETag alone"), describe(first)
	reason := "If-None-Match with the ETag alone is answered 304, and " + map[string]string{"list": "in a list the same ETag is not found", "weak": "the same ETag marked as weak does not match, although servers must compare weakly", "any": "* does not match"}[ignored[0]]
	if slices.Contains([]string{"list weak any", "weak any", "list any", "any"}, strings.Join(ignored, " ")) {
		return want.warned(reason+", as with servers that compare the whole text", got)
	}
	return want.failed(reason, got)
}

// judgeRange judges the answer to a range that the content has (RFC 9110 §14, §15.3.7). A server may send the whole content.
func judgeRange(e Evidence, r evidence.Resource, x evidence.Exchange) Judgement {
	fullAnswer := e.exchange(r.With("good-uncoded"))
	requested := regexp.MustCompile(`^bytes=(\d+)-(\d+)$`).FindStringSubmatch(strings.Join(evidence.Values(x.Request.Header, "Range"), ","))
	isComparable := fullAnswer.Status() == 200 && isWhole(fullAnswer) && len(fullAnswer.Response.Coding) == 0
	isRead := x.Response != nil && !x.Response.Truncated && !x.Response.Withheld
	isOtherType := x.Status() == 206 && mediaType(x) != mediaType(fullAnswer) && !strings.HasPrefix(mediaType(x), "multipart/")
	if !isComparable || !isRead || isOtherType || requested == nil {
		return Passed(x.Label)
	}
	from, _ := strconv.Atoi(requested[1])
	to, _ := strconv.Atoi(requested[2])
	if to >= len(fullAnswer.Response.Body) {
		return Passed(x.Label)
	}
	piece := fullAnswer.Response.Body[from : to+1]
	hidden := bytes.Contains(fullAnswer.Response.Body, []byte(markerStart)) // a marker of the redactor has another length than the text that it replaces
	want := expect(x, "206 with that part, or 200 with the whole content")
	switch {
	case serverError(x) && x.Attempts > 1:
		return want.failed("a request for a part of the content breaks the node", describe(x))
	case x.Status() == 416:
		return want.failed("a request for a part that the content has is answered 416, as if the content were shorter", describe(x))
	case x.Status() == 200 && !hidden && len(piece) < len(fullAnswer.Response.Body) && bytes.Equal(x.Response.Body, piece):
		return want.failed("a part of the content is sent with 200, as if it were the whole", describe(x))
	case x.Status() != 206:
		return Passed(x.Label)
	}
	if strings.HasPrefix(mediaType(x), "multipart/") {
		return Passed(x.Label)
	}
	contentRange := regexp.MustCompile(`^bytes (\d+)-(\d+)/(?:\d+|\*)$`).FindStringSubmatch(strings.Join(header(x, "Content-Range"), ", "))
	switch {
	case contentRange == nil:
		return want.failed("a 206 does not say in Content-Range which part it is", headerText(x, "Content-Range"))
	case contentRange[1] != requested[1]:
		return want.failed("a 206 says that it is another part than the one asked for", headerText(x, "Content-Range"))
	case hidden:
		return Passed(x.Label)
	}
	if end, _ := strconv.Atoi(contentRange[2]); end-from+1 != len(x.Response.Body) {
		return want.failed("a 206 has another length than its Content-Range says", fmt.Sprintf("%s with %d bytes", headerText(x, "Content-Range"), len(x.Response.Body)))
	}
	if plain := e.exchange(r.With(evidence.OK)); !bytes.HasPrefix(piece, x.Response.Body) && isWhole(plain) && !differ(plain, fullAnswer) {
		return want.failed("a 206 does not hold the part that its Content-Range names", headerText(x, "Content-Range"))
	}
	return Passed(x.Label)
}

// languagesOf returns the answers in German and in English. both is true if their contents differ, and each names its own language in
// Content-Language.
func languagesOf(e Evidence, r evidence.Resource) (german, english evidence.Exchange, both bool) {
	german, english = e.exchange(r.With("good-language-de")), e.exchange(r.With("good-language-en"))
	both = german.Status() == 200 && english.Status() == 200 && isWhole(german) && isWhole(english) && languageOf(german) != languageOf(english) &&
		differ(german, english) && !differInTime(german, english)
	return german, english, both
}

// languageOf returns the language that an answer names, without its region.
func languageOf(x evidence.Exchange) string {
	primary, _, _ := strings.Cut(strings.ToLower(strings.Join(header(x, "Content-Language"), ",")), "-")
	return primary
}

// judgeLanguage judges whether an answer has the language that it names and, as a warning, the language that was requested.
func judgeLanguage(x, german, english evidence.Exchange) Judgement {
	if x.Status() != 200 || !isWhole(x) || x.Request.URL != german.Request.URL || !isNodeAnswer(x) {
		return Passed(x.Label)
	}
	same := func(other evidence.Exchange) bool { return !differ(x, other) || differInTime(x, other) }
	text, other := german, english
	switch {
	case same(german):
	case same(english):
		text, other = english, german
	default:
		return Passed(x.Label)
	}
	requested := strings.Join(evidence.Values(x.Request.Header, "Accept-Language"), ", ")
	got := headerText(x, "Content-Language")
	if languageOf(x) == languageOf(other) && languageOf(x) != "" {
		return expect(x, "the language of the text").failed(fmt.Sprintf("an answer says that it is in %q, but its text is the one in %q", languageOf(other), languageOf(text)), withField("Accept-Language", requested)+": "+got).
			Hinting("choose the language once for each request, by the lookup of RFC 4647 §3.4, and take text and Content-Language from it")
	}
	if want := bestLanguage(requested); want != "" && want == languageOf(other) {
		return expect(x, "the text in "+want).warned(fmt.Sprintf("the call %s gets the text in %q, although there is one in %q", withField("Accept-Language", requested), languageOf(text), want), got).
			Hinting("choose the language by the lookup of RFC 4647 §3.4: try the highest weight first, and drop the region if there is no text for it")
	}
	return Passed(x.Label)
}

// bestLanguage returns the one of "de" and "en" that an Accept-Language header prefers, or "" if it prefers neither.
func bestLanguage(acceptLanguage string) string {
	best, weight, tie := "", 0.0, false
	for part := range strings.SplitSeq(acceptLanguage, ",") {
		tag, parameters, _ := strings.Cut(strings.ToLower(strings.TrimSpace(part)), ";")
		primary, _, _ := strings.Cut(strings.TrimSpace(tag), "-")
		q := 1.0
		if text, has := strings.CutPrefix(strings.TrimSpace(parameters), "q="); has {
			q, _ = strconv.ParseFloat(text, 64)
		}
		switch {
		case primary != "de" && primary != "en" || q == 0:
		case q > weight:
			best, weight, tie = primary, q, false
		case q == weight && primary != best:
			tie = true
		}
	}
	if tie {
		return ""
	}
	return best
}
