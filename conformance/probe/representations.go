package probe

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/recorder"
)

// This file requests other representations of the same URL: documented media types, languages, and conditional requests. Guards and caches that were written
// for JSON may not protect them.

// maxRepresentations is how many documented media types, and formats of a parameter, are tried on an operation.
const maxRepresentations = 3

// representations returns the documented ways to get the data of an operation in another form.
func representations(n Node, o openapi.Operation) []way {
	var out []way
	same := func(_ *run, _ openapi.Operation, res Resource) (chosen, *unsent) { return chosen{res.URL, nil}, nil }
	for _, media := range otherMediaTypes(o) {
		name := "media-" + strconv.Itoa(len(out)+1)
		out = append(out, way{name, "as " + evidence.Clip(media, 60), same, []evidence.Field{{Name: "Accept", Value: media}}})
	}
	for _, q := range queryParameters(o) {
		formats := otherFormats(q)
		for i, format := range formats[:min(len(formats), maxRepresentations)] {
			pick := func(_ *run, _ openapi.Operation, res Resource) (chosen, *unsent) {
				return chosen{withQuery(res.URL, pair{q.Name, format}), map[string]string{"parameter": q.Name, "value": format}}, nil
			}
			out = append(out, way{name: "format-" + strconv.Itoa(i+1), words: "as " + evidence.Clip(q.Name+"="+format, 60), pick: pick})
		}
		if len(formats) > 0 {
			break
		}
	}
	for _, language := range languagesTried(n, o) {
		out = append(out, way{"language-" + language.name, language.words, same, []evidence.Field{{Name: "Accept-Language", Value: language.accept}}})
	}
	return out
}

// language is the name, the words and the value of an Accept-Language header.
type language struct{ name, words, accept string }

// languagesTried returns English and another language that the node may have, preferably German. It does not request German alone, because a node with English
// and Swedish would answer twice in English.
func languagesTried(n Node, o openapi.Operation) []language {
	var described openapi.Parameter
	for _, q := range o.Parameters {
		if q.In == "header" && strings.EqualFold(q.Name, "Accept-Language") {
			described = q
		}
	}
	english, other := "en", ""
	for _, value := range described.Schema.Enum {
		switch tag := primaryLanguage(value); {
		case tag == "en":
			english = value
		case tag == "de" || tag != "" && other == "":
			other = value
		}
	}
	if other == "" {
		other = notEnglish(n.Target.Seed.Source("languages", o.Key), o, described)
	}
	return []language{{"de", "in German, or in another language than English", other}, {"en", "in English", english}}
}

// notEnglish returns an Accept-Language header with the languages of Europe except English: first those that the document names, because some nodes read only
// the first one, and German. It ends with *, so that a node without these languages has no reason to refuse it (RFC 9110 §12.5.4).
func notEnglish(s draw.Source, o openapi.Operation, described openapi.Parameter) string {
	names := map[string]string{
		"bg": "bulgarian", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "es": "spanish", "et": "estonian", "fi": "finnish", "fr": "french", "hr": "croatian",
		"hu": "hungarian", "it": "italian", "lt": "lithuanian", "lv": "latvian", "nb": "norwegian", "nl": "dutch", "pl": "polish", "pt": "portuguese", "ro": "romanian",
		"sk": "slovak", "sl": "slovenian", "sv": "swedish",
	}
	tags := slices.Sorted(maps.Keys(names))
	draw.Shuffle(s, tags)
	words := func(texts ...string) []string {
		return strings.FieldsFunc(strings.ToLower(strings.Join(texts, " ")), func(r rune) bool { return !unicode.IsLetter(r) })
	}
	prose := words(o.Description, described.Description)
	short := words(append(slices.Clone(described.Schema.Examples), described.Description, string(described.Schema.Default))...)
	place := func(tag string) int {
		switch isNamed := slices.Contains(prose, names[tag]) || slices.Contains(short, tag); {
		case isNamed && tag == "de":
			return 0
		case isNamed:
			return 1
		case tag == "de":
			return 2
		}
		return 3
	}
	slices.SortStableFunc(tags, func(a, b string) int { return place(a) - place(b) })
	var out strings.Builder
	for i, tag := range tags {
		out.WriteString(tag)
		if i > 0 {
			fmt.Fprintf(&out, ";q=0.%02d", 95-3*i)
		}
		out.WriteString(", ")
	}
	return out.String() + "*;q=0.01"
}

// primaryLanguage returns the first part of a language tag in lower case, or "" for several tags and for other texts (RFC 5646 §2.1).
func primaryLanguage(value string) string {
	primary, _, _ := strings.Cut(strings.ToLower(strings.ReplaceAll(value, "_", "-")), "-")
	if len(primary) < 2 || len(primary) > 3 || strings.Trim(primary, "abcdefghijklmnopqrstuvwxyz") != "" {
		return ""
	}
	return primary
}

// otherMediaTypes returns the media types of the good answer except JSON.
func otherMediaTypes(o openapi.Operation) []string {
	var out []string
	key, _ := o.ResponseTo(http.StatusOK)
	for _, media := range o.Responses[key].MediaTypes() {
		name := evidence.MediaType(media)
		if name != "" && name != "application/json" && !strings.Contains(name, "*") && len(out) < maxRepresentations {
			out = append(out, name)
		}
	}
	return out
}

// otherFormats returns the values of a parameter that chooses the format of the answer, except JSON.
func otherFormats(q openapi.Parameter) []string {
	known := []string{"csv", "xml", "xlsx", "rss", "atom", "html", "text", "txt", "plain", "pdf", "jsonld", "ndjson", "rdf", "ttl", "turtle", "ics", "yaml", "hal", "geojson", "tsv"}
	if !slices.ContainsFunc(q.Schema.Enum, func(value string) bool { return slices.Contains(known, formatOf(value)) }) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(q.Schema.Enum), func(value string) bool { return value == "" || formatOf(value) == "json" })
}

// formatOf returns the name of a format without a type: csv for text/csv.
func formatOf(value string) string {
	return strings.ToLower(value[strings.LastIndexByte(value, '/')+1:])
}

func (w way) isLanguage() bool { return strings.HasPrefix(w.name, "language-") }

// setHeader sets the header fields of the way in a request.
func (w way) setHeader(q *recorder.Request) {
	for _, f := range w.header {
		setHeader(q, f.Name, f.Value)
	}
}

// withHeader makes a sender that sets the header fields of the way.
func (w way) withHeader(send sender) sender {
	return func(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
		q, reason := send(ctx, r, at)
		if reason == nil {
			w.setHeader(&q)
		}
		return q, reason
	}
}

// validators are the validators of a good answer: its ETag and its date (RFC 9110 §8.8).
type validators struct {
	tag, modified string
	dated         bool // the node sent Last-Modified
}

// conditionCases are conditional requests right after a good call. A node evaluates conditions only if it would answer 2xx without them (RFC 9110 §13.2.1), so
// it must refuse a bad credential; and a tag that it never sent matches nothing.
func conditionCases() []row {
	plan := in(stageRest, stageAuthorized, stageSecond, stagePages).inLane("conditions")
	out := []row{
		{Label: evidence.EveryOperation.With("good-condition"), Words: "before its conditions", Plan: plan, Send: withoutSchemas(choose(sameURL)), Learn: learnValidators},
	}
	for _, c := range badCredentials() {
		out = append(out, row{
			Label: evidence.EveryOperation.With(evidence.Case(c.prefix + "-condition")), Words: c.words + " and with the ETag of a good call", Plan: plan.onlyIf(c.when),
			Send: conditional(c, func(s draw.Source, q *recorder.Request, v validators) {
				setHeader(q, "If-None-Match", seenTag(s, c, v))
			}),
		})
	}
	open := badCredentials()[0]
	out = append(out,
		row{Label: evidence.EveryOperation.With("open-condition-date"), Words: open.words + " and with the date of a good call", Plan: plan,
			Send: conditional(open, func(_ draw.Source, q *recorder.Request, v validators) { setHeader(q, "If-Modified-Since", v.modified) })},
		row{Label: evidence.EveryOperation.With("good-other-tag"), Words: "with an ETag that the node never sent", Plan: plan,
			Send: withToken(func(r *run, q *recorder.Request, _ string) {
				s := r.source(evidence.EveryOperation, q.URL)
				setHeader(q, "If-None-Match", `"`+s.Text(draw.Hex, draw.One(s, 8, 16, 32))+`"`)
			})},
	)
	return append(out, goodConditionCases(plan.onlyIf(notQuick))...)
}

func sameURL(_ *run, _ openapi.Operation, res Resource) (chosen, *unsent) {
	return chosen{res.URL, nil}, nil
}

// seenTag returns the tag as the node sent it or, for some credentials, another value that matches it.
func seenTag(s draw.Source, c credential, v validators) string {
	switch {
	case v.tag == "":
		return "*"
	case c.rotates:
		return draw.One(s, v.tag, `"`+s.Text(draw.Hex, 12)+`", `+v.tag, "W/"+strings.TrimPrefix(v.tag, "W/"), "*")
	}
	return v.tag
}

// learnValidators keeps the validators of a good answer.
func learnValidators(r *run, at evidence.Resource, a recorder.Answer) {
	if a.Status/100 != 2 {
		return
	}
	v := validators{a.Header.Get("ETag"), a.Header.Get("Last-Modified"), a.Header.Get("Last-Modified") != ""}
	if v.modified == "" {
		v.modified = r.Clock().UTC().Format(http.TimeFormat)
	}
	r.facts.with(func(f *facts) { f.validators[at] = v })
}

// conditional sends a bad credential with a condition that matches the answer of the good call.
func conditional(c credential, set func(s draw.Source, q *recorder.Request, v validators)) sender {
	return controlled(func(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
		v, known := r.validatorsOf(res.Name)
		if !known {
			return recorder.Request{}, unmet("the good call %s was not answered with 2xx", res.Name.With("good-condition"))
		}
		q, reason := c.ask(ctx, r, res)
		set(r.source(res.Name, "condition"), &q, v)
		return q, reason
	})
}
