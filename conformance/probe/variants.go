package probe

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/recorder"
)

// This file makes the good call of an operation with other header fields, as ordinary clients, caches and proxies send them: with a weight of 0 for gzip, in a
// language with a region, with the tag and the date of a copy, for a part of the content, through a proxy. The data must stay the same, and the header of the
// answer must describe it correctly.

// variantCases are the calls without a condition. They are sent one after the other. ofTen says in how many runs of ten the Accept header is that of a browser.
func variantCases(ofTen int) []row {
	plan := in(stageRest, stageAuthorized, stageSecond, stagePages).inLane("variants").onlyIf(notQuick)
	variant := func(c evidence.Case, words string, change func(s draw.Source, q *recorder.Request) (reason *unsent)) row {
		return row{Label: evidence.EveryOperation.With(c), Words: words, Plan: plan, Send: withoutSchemas(vary(change))}
	}
	return []row{
		variant("good-uncoded", "excluding gzip, and with another Accept header that the data fits", func(s draw.Source, q *recorder.Request) *unsent {
			setHeader(q, "Accept", acceptsAlso(s, *q, ofTen))
			setHeader(q, "Accept-Encoding", draw.One(s, "gzip;q=0", "identity, gzip;q=0", "gzip;q=0, identity;q=0.5", "identity;q=1, gzip; q=0"))
			return nil
		}),
		variant("good-languages", "in a language with a region, or in several languages", func(s draw.Source, q *recorder.Request) *unsent {
			setHeader(q, "Accept-Language", draw.One(s, regionalLanguage(s), severalLanguages(s)))
			return nil
		}),
		variant("good-forwarded", "with the host of a page elsewhere in the headers of a proxy", forwarded),
		{Label: evidence.EveryOperation.With("good-range"), Words: "for a part of the content", Plan: plan, Send: withoutSchemas(part)},
	}
}

// vary makes the good call with a change to the request.
func vary(change func(s draw.Source, q *recorder.Request) *unsent) sender {
	return controlled(func(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
		q, reason := r.authorized(ctx, res)
		if reason == nil {
			reason = change(r.source(res.Name, "variant"), &q)
		}
		return q, reason
	})
}

// acceptsAlso returns another Accept header that includes the media type of the good call (RFC 9110 §12.5.1): in ofTen runs of ten that
// of a browser, which prefers XML to JSON. A framework may have a second renderer that nobody described.
func acceptsAlso(s draw.Source, q recorder.Request, ofTen int) string {
	media := "application/json"
	if values := evidence.Values(q.Header, "Accept"); len(values) > 0 {
		media, _, _ = strings.Cut(values[0], ",")
	}
	kind, _, _ := strings.Cut(media, "/")
	if ofTen > 0 && s.Below(10) < ofTen {
		return draw.One(s, "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8",
			"application/xml,application/xhtml+xml,text/html;q=0.9,text/plain;q=0.8,*/*;q=0.5")
	}
	return draw.One(s, kind+"/*", media+";q=0.9, */*;q=0.1", "application/problem+json;q=0.5, "+media, "*/*",
		media+"; q=1", "text/html;q=0.2,"+media, kind+"/*;q=0.8", "application/xml;q=0.3, */*;q=0.2")
}

// regionalLanguage returns a tag for German or English as browsers and operating systems send it.
func regionalLanguage(s draw.Source) string {
	return draw.One(s, "de-AT", "de-DE", "de-CH", "en-GB", "en-US", "de-at", "de-Latn-DE", "en-IE")
}

// severalLanguages returns a list of languages with weights; the preferred one is not always first.
func severalLanguages(s draw.Source) string {
	best, other := "de", "en"
	if s.Below(2) == 0 {
		best, other = other, best
	}
	foreign := draw.One(s, "sv", "fi", "pl", "it")
	return draw.One(s, best+", "+other+";q=0.5", other+";q=0.3, "+best, foreign+", "+best+";q=0.8, "+other+";q=0.2", other+";q=0, "+best, other+";q=0.1,"+best+";q=0.9",
		best+"-AT, "+best+";q=0.9, "+other+";q=0.4", strings.ToUpper(best))
}

// forwarded adds the headers in which a proxy states the host that its client requested. A client that calls the node directly can send them, too.
func forwarded(s draw.Source, q *recorder.Request) *unsent {
	host := s.Host()
	for _, name := range []string{"X-Forwarded-Host", "X-Original-Host", "X-Host", "X-Forwarded-Server", "X-HTTP-Host-Override"} {
		setHeader(q, name, host)
	}
	setHeader(q, "Forwarded", "host="+host)
	q.Given = map[string]string{"host": host}
	return nil
}

// part requests a part of the content, without content coding (RFC 9110 §14.2).
func part(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
	return vary(func(s draw.Source, q *recorder.Request) *unsent {
		from := s.Below(8)
		setHeader(q, "Accept-Encoding", "identity")
		setHeader(q, "Range", "bytes="+strconv.Itoa(from)+"-"+strconv.Itoa(from+s.Between(1, 12)))
		return nil
	})(ctx, r, at)
}

// goodConditionCases are good calls with a condition: the tag of the earlier answer in several forms, a tag that is nearly the same, and dates. Calls that
// need a tag or a date are not sent if the node sent none.
func goodConditionCases(plan timing) []row {
	var out []row
	tagged := func(c evidence.Case, words string, value func(s draw.Source, tag string) string) {
		out = append(out, row{Label: evidence.EveryOperation.With(c), Words: words, Plan: plan.onDemand(), Send: onCopy(func(s draw.Source, q *recorder.Request, v validators) *unsent {
			if v.tag == "" {
				return notApplicable("the node sends no ETag")
			}
			setHeader(q, "If-None-Match", value(s, v.tag))
			return nil
		})})
	}
	tagged("good-seen-tag", "with its own ETag", func(_ draw.Source, tag string) string { return tag })
	tagged("good-tag-list", "with its own ETag among others", func(s draw.Source, tag string) string {
		other := `"` + s.Text(draw.Hex, 12) + `"`
		return draw.One(s, other+", "+tag, tag+", "+other, other+","+tag)
	})
	tagged("good-tag-weak", "with its own ETag, marked as weak", func(_ draw.Source, tag string) string { return "W/" + strings.TrimPrefix(tag, "W/") })
	tagged("good-tag-any", "with If-None-Match: *", func(draw.Source, string) string { return "*" })
	tagged("good-near-tag", "with an ETag that is nearly its own", nearTag)
	dated := func(c evidence.Case, words string, change func(s draw.Source, q *recorder.Request, v validators)) {
		out = append(out, row{Label: evidence.EveryOperation.With(c), Words: words, Plan: plan.onDemand(), Send: onCopy(func(s draw.Source, q *recorder.Request, v validators) *unsent {
			if v.tag == "" && !v.dated {
				return notApplicable("the node sends neither an ETag nor Last-Modified")
			}
			change(s, q, v)
			return nil
		})})
	}
	dated("good-other-tag-date", "with an ETag that the node never sent and the date of the copy", func(s draw.Source, q *recorder.Request, v validators) {
		setHeader(q, "If-None-Match", `"`+s.Text(draw.Hex, 16)+`"`)
		setHeader(q, "If-Modified-Since", v.modified)
	})
	dated("good-old-date", "with a date before the last change", func(s draw.Source, q *recorder.Request, v validators) {
		setHeader(q, "If-Modified-Since", longBefore(s, v.modified))
	})
	return append(out, row{Label: evidence.EveryOperation.With("good-bad-date"), Words: "with an invalid date", Plan: plan.onDemand(), Send: onCopy(func(s draw.Source, q *recorder.Request, v validators) *unsent {
		if v.tag == "" && !v.dated {
			return notApplicable("the node sends neither an ETag nor Last-Modified")
		}
		setHeader(q, "If-Modified-Since", draw.One(s, "yesterday", strconv.Itoa(s.Between(1_600_000_000, 1_700_000_000)), "0", s.Word()))
		return nil
	})})
}

// onCopy makes the good call with a condition that depends on the validators of an earlier good call.
func onCopy(change func(s draw.Source, q *recorder.Request, v validators) *unsent) sender {
	return controlled(func(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
		v, known := r.validatorsOf(res.Name)
		if !known {
			return recorder.Request{}, unmet("the good call %s was not answered with 2xx", res.Name.With("good-condition"))
		}
		q, reason := r.authorized(ctx, res)
		q.Annotate = nil
		if reason == nil {
			reason = change(r.source(res.Name, "good condition"), &q, v)
		}
		return q, reason
	})
}

// validatorsOf returns the validators of the last good answer of a resource.
func (r *run) validatorsOf(at evidence.Resource) (validators, bool) {
	r.facts.mu.Lock()
	defer r.facts.mu.Unlock()
	v, known := r.facts.validators[at]
	return v, known
}

// nearTag returns a tag that is nearly the same as a seen one: cut, extended, or with one character changed.
func nearTag(s draw.Source, tag string) string {
	weak, text := "", tag
	if rest, is := strings.CutPrefix(tag, "W/"); is {
		weak, text = "W/", rest
	}
	text = strings.Trim(text, `"`)
	near := []string{text + s.Text(draw.Hex, s.Between(1, 3)), s.Text(draw.Hex, s.Between(1, 3)) + text}
	if len(text) > 2 {
		at := s.Below(len(text))
		other := draw.One(s, slices.DeleteFunc([]string{"0", "7", "a", "e"}, func(c string) bool { return c == text[at:at+1] })...)
		near = append(near, text[:len(text)-1], text[1:], text[:at]+other+text[at+1:])
	}
	return weak + `"` + draw.One(s, near...) + `"`
}

// longBefore returns a date some days to some years before another one.
func longBefore(s draw.Source, date string) string {
	at, err := http.ParseTime(date)
	if err != nil {
		at = time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return at.AddDate(0, 0, -s.Between(3, 3000)).UTC().Format(http.TimeFormat)
}

// tableMediaType is the media type of CSV (RFC 4180 §3).
const tableMediaType = "text/csv"

// tableCases requests a page of the list as JSON and, right after it, as CSV, if the document describes both. The page is large, because only some records
// have a text with a comma. The ways of [representations] request the URL of the good call in other forms, if the plan has room for them.
func tableCases() []row {
	plan := in(stageRest, stageAuthorized).inLane("table").onlyIf(notQuick).onlyIf(onList(describesTable)).onDemand()
	page := withoutSchemas(choose(largePage))
	return []row{
		{Label: "list.csv-json", Words: "before the same page as CSV", Plan: plan, Send: uncoded(page, "")},
		{Label: "list.csv", Words: "as CSV", Plan: plan, Send: uncoded(page, tableMediaType)},
	}
}

// describesTable reports whether the document describes CSV for the good answer of an operation.
func describesTable(o openapi.Operation) bool {
	key, _ := o.ResponseTo(http.StatusOK)
	return slices.ContainsFunc(o.Responses[key].MediaTypes(), func(media string) bool { return evidence.MediaType(media) == tableMediaType })
}

// largePage chooses the first page of a list, with many items.
func largePage(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
	return chosen{r.sized(o, res.URL, "", maxWalkSize), nil}, nil
}

// uncoded makes a sender that requests a media type, unless it is empty, without content coding, because a server that compresses may mark strong tags as
// weak.
func uncoded(send sender, media string) sender {
	return func(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
		q, reason := send(ctx, r, at)
		setHeader(&q, "Accept-Encoding", "identity")
		if media != "" {
			setHeader(&q, "Accept", media)
		}
		return q, reason
	}
}

// The next functions send the tag of the text in one language with a call in another language, as a cache does that has a copy of the first: RFC 9111 §4.1 lets it
// ask whether the copy fits.

// translation is what a good answer in one language says of itself.
type translation struct{ tag, language, requested string }

// learnLanguage keeps the tag and the language of a good answer that was requested in a language.
func learnLanguage(r *run, _ evidence.Resource, a recorder.Answer) {
	if a.Status == 200 {
		t := translation{a.Header.Get("ETag"), a.Header.Get("Content-Language"), strings.Join(evidence.Values(a.Exchange.Request.Header, "Accept-Language"), ", ")}
		r.facts.with(func(f *facts) { f.languages[a.Exchange.Label] = t })
	}
}

// tagOfOtherLanguage is the call in English with the tag of the other language. It is sent if both have one weak tag; a strong one is wrong already.
func tagOfOtherLanguage() row {
	return row{
		Label: evidence.EveryOperation.With("good-language-tag"), Words: "in English, with the ETag of the other language",
		Plan: in(stageLast).inLane("language tag").onlyIf(notQuick).onDemand(),
		Send: withoutSchemas(controlled(func(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
			other, english := r.translationOf(res.Name.With("good-language-de")), r.translationOf(res.Name.With("good-language-en"))
			if !strings.HasPrefix(other.tag, "W/") || other.tag != english.tag || other.language == english.language {
				return recorder.Request{}, notApplicable("the node did not send one weak ETag for two languages")
			}
			q, reason := r.authorized(ctx, res)
			if reason == nil {
				setHeader(&q, "Accept-Language", english.requested)
				setHeader(&q, "If-None-Match", other.tag)
			}
			return q, reason
		})),
	}
}

// translationOf returns what [learnLanguage] kept of a call.
func (r *run) translationOf(l evidence.Label) translation {
	r.facts.mu.Lock()
	defer r.facts.mu.Unlock()
	return r.facts.languages[l]
}
