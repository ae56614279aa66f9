package requirement

import (
	"regexp"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
)

// This file judges what the node chose by Accept, Accept-Encoding and Accept-Language: codings and tags for ROB-08, media types for API-02.

// judgeTagOfLanguages judges the call in English with the tag of the German answer, which is sent where both languages have one weak tag. A weak tag may have
// two contents (RFC 9110 §8.8.1), and a node that does not look at conditions harms nobody by it. A 304 tells the client that its copy is what it asked for
// (RFC 9110 §15.4.5), and the copy is in another language. But a weak tag only should change with the content, so it is a warning.
func judgeTagOfLanguages(e Evidence, r evidence.Resource, german, english evidence.Exchange) Judgement {
	x, sent := e.Get(r.With("good-language-tag"))
	same := func(a, b evidence.Exchange, field, other string) bool {
		return strings.Join(evidence.Values(a.Request.Header, field), ",") == strings.Join(header(b, other), ",")
	}
	isAsked := sent && x.Status() == 304 && x.Request.URL == english.Request.URL && german.Request.URL == english.Request.URL &&
		same(x, german, "If-None-Match", "ETag") && sameFields(x, english, "Accept-Language")
	if !isAsked {
		return Passed(x.Label)
	}
	return expect(x, "200 with the text in "+languageOf(english)).
		warned("a call in "+quote(languageOf(english))+" with the ETag of the text in "+quote(languageOf(german))+" is answered 304, so that a cache shows the text in the other language", describe(x)).
		Hinting("make the ETag of the content that is sent, after the language was chosen").Seen(german.Label, english.Label)
}

// judgeUncoded judges the call that excludes gzip, and whose Accept has ranges and weights.
func judgeUncoded(x, plain evidence.Exchange) Judgement {
	isCoded := !slices.Contains([]string{"", "identity"}, strings.ToLower(strings.Join(header(x, "Content-Encoding"), ",")))
	switch {
	case x.Status() == 406:
		accept := withField("Accept", strings.Join(evidence.Values(x.Request.Header, "Accept"), ", "))
		return expect(x, "200 with "+mediaType(plain)).failed("the call "+accept+" is answered 406, although the media type of the data fits it (RFC 9110 §12.5.1)", describe(x)).
			Hinting("read Accept with its ranges (application/*, */*) and weights, or do not read it at all")
	case x.Status() == 200 && isCoded:
		return expect(x, "content without a coding").warned("the content is compressed for a caller who excludes that (RFC 9110 §12.5.3), and who may be unable to read it", headerText(x, "Content-Encoding")).
			Hinting("read the weights of Accept-Encoding: gzip;q=0 excludes gzip")
	}
	return Passed(x.Label)
}

// judgeCodedForOthers looks for compressed contents of operations for callers whose Accept-Encoding does not name the coding, such as identity (RFC 9110
// §12.5.3). A node that compresses everything may do so knowingly. This one sends other contents with and without the coding, as the caller asks. Exports, which may
// lie on a disk in one coding, are left out.
func judgeCodedForOthers(e Evidence, s *survey) {
	coded := map[string]bool{} // URLs that have a coding for those who accept it
	var plain evidence.Exchange
	var others []evidence.Exchange
	for _, x := range e.Exchanges {
		isContent := (x.Status() == 200 || x.Status() == 206) && x.Request.Method == "GET" && jsonMedia(mediaType(x)) && isNodeAnswer(x) && len(x.Redirects) == 0 && !lacksGoodToken(x)
		if !isContent || !slices.Contains(e.Roles.Operations, x.Label.Resource()) || isTryOutURL(x.Request.URL) {
			continue
		}
		accepted := strings.ToLower(strings.Join(evidence.Values(x.Request.Header, "Accept-Encoding"), ","))
		codings := evidence.Codings(x.Response.Header)
		switch namesCoding := strings.Contains(accepted, "gzip") || strings.Contains(accepted, "*"); {
		case namesCoding && len(codings) > 0:
			coded[x.Request.URL] = true
		case namesCoding || accepted == "":
		case !slices.ContainsFunc(codings, func(c string) bool { return strings.Contains(accepted, c) }):
			others = append(others, x)
		}
	}
	for _, x := range others {
		if len(evidence.Codings(x.Response.Header)) == 0 && coded[x.Request.URL] {
			plain = x
		}
	}
	for _, x := range others {
		if len(evidence.Codings(x.Response.Header)) > 0 && plain.Response != nil {
			s.add("coded for others "+string(x.Label.Resource()), expect(x, "content without a coding, as at "+callName(plain)).
				failed("the content is compressed for a caller who does not accept that (RFC 9110 §12.5.3), while other contents come without compression for such callers", headerText(x, "Content-Encoding")).
				Hinting("keep contents in a cache before they are compressed, or keep one copy for each coding").Seen(plain.Label))
		}
	}
}

// judgeChosenMediaTypes looks for good answers to a call with ranges and weights in Accept, such as that of a browser, whose media type the document does not
// describe. HTML is usual for browsers: a page that shows the data.
func judgeChosenMediaTypes(e Evidence) Judgement {
	var parts []Judgement
	for _, r := range e.Roles.Operations {
		plain, x := e.exchange(r.With(evidence.OK)), e.exchange(r.With("good-uncoded"))
		media := mediaType(x)
		isContent := plain.Status() == 200 && x.Status() == 200 && isWhole(x) && isNodeAnswer(x) && len(x.Redirects) == 0 && jsonMedia(mediaType(plain))
		o, known := operation(e, r)
		_, response, described := o.Success()
		if !isContent || !known || !described || !declaresJSON(response.Content) || media == "" || jsonMedia(media) || isHTML(x) || media == "text/plain" {
			continue
		}
		name := regexp.MustCompile(`[a-z0-9]+$`).FindString(media) // xml for application/xml and application/atom+xml
		info, _ := e.Spec.Raw("/info")
		named := regexp.MustCompile(`(?i)\b` + name + `\b`)
		if _, has := response.MediaType(media); has || name == "" || e.Spec.Says(o, named) || e.Spec.SaysIn(info, named) {
			continue
		}
		parts = append(parts, expect(x, mediaType(plain)).
			failed(resourceName(e, r)+" is answered as "+clip(media)+" "+withField("Accept", strings.Join(evidence.Values(x.Request.Header, "Accept"), ", "))+", and the document does not describe it", media).
			Hinting("describe the media type in the document, or take the other renderer out of the framework").Seen(plain.Label))
	}
	return gather(parts...)
}
