package requirement

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/evidence/redact"
)

// representations returns ROB-08: HEAD, validators and 304 agree with the GET of a resource.
func representations() []Requirement {
	return []Requirement{{
		ID: "ROB-08", Title: "HEAD, ETag and 304 agree with GET",
		Level: StandardMust, Gate: Gating, Profile: API,
		Source:   RFC(9110, "8.8.3").And(RFC(9110, "8.8.1")).And(RFC(9110, "12.5.3")).And(RFC(9110, "9.1")).And(RFC(9110, "9.3.1")).And(RFC(9110, "8.6")).And(RFC(9110, "13.1.2")).And(RFC(9110, "8.5")).And(RFC(9110, "15.3.7")),
		Quote:    "If an origin server provides an entity-tag for a representation and the generation of that entity-tag does not satisfy all of the characteristics of a strong validator (Section 8.8.1), then the origin server MUST mark the entity-tag as weak",
		Probe:    "All good answers of the run: two contents of one URL, in other languages, as other media types, for other clients, with another token or at another time, must not have the same strong ETag; records with a strong ETag are read again at the end. HEAD with a good token at info and at the operations, compared with GET. The list and the detail in English, and in German or another language that the document names or that Europe speaks: both must have the same records, with the same numbers, dates and flags. Calls with If-None-Match: the tag of the node alone, in a list and marked as weak; *; a tag that is nearly the same; a tag that the node never sent, also beside a date; where two languages share a weak tag, that tag in the other language. Calls with If-Modified-Since: an old date, and a text that is not a date. A call that excludes gzip, a call for a part of the content, and calls in languages with regions and weights. The form of ETag and Last-Modified in all good answers. The contents that one caller got at one URL during the run, info, the document and the records of the list: no content may return to an earlier one again and again, and calls with a condition, an Origin or another coding must get the content of plain calls.",
		Forgives: "Weak tags; one tag on two URLs; a node that does not look at conditions, ranges or languages; a change that is taken back, the name of the instance, and the order of arrays; a 304 without Cache-Control; a node that offers HEAD nowhere, as FastAPI does by default; HEAD without the header fields that only the content gives. As warnings: * and lists, where a server compares the whole text; another language than the preferred one; a number that rises and falls; compression for a caller who excludes it, unless the node sends contents without it to other such calls; languages that Vary does not name; HEAD with the length of a compressed empty body; two contents with one tag that differ only in a time stamp, or are JSON of two media types (Spring Data REST makes the tag from the version of the record).",
		Fix:      "Make a strong ETag of the bytes that are sent, after language and media type were chosen, or mark it as weak: W/\"…\"; software that compresses the body later must change the tag, too. Offer HEAD where GET is offered: FastAPI: @app.api_route(path, methods=[\"GET\", \"HEAD\"]); Express, Spring and net/http do so by themselves. Compare If-None-Match with the tag of the answer, not with its presence. Take the text and Content-Language from one choice of the language. Give all instances one version, one configuration and one database; if a release was under way, run again.",
		Breaks:   "The German and the English answer of one URL have the same strong ETag.",
		Reads:    []evidence.Label{evidence.WholeRun}, After: []ID{"TOK-01"}, Check: judgeRepresentations,
	}}
}

// judgeRepresentations collects the faults of ROB-08. It does not apply to a node that offers nothing to compare.
func judgeRepresentations(e Evidence) Judgement {
	var s survey
	tags := judgeStrongTags(e, &s)
	heads := judgeHeads(e, &s)
	variants := judgeVariants(e, &s)
	judgeUnknownTags(e, &s)
	judgeCodedForOthers(e, &s)
	judgeContents(e, &s)
	if tags+heads+variants == 0 && len(s.faults) == 0 {
		return Inapplicable("no good answer has a strong ETag, and HEAD is not offered")
	}
	return s.judge()
}

// judgeUnknownTags looks for a 304 to a tag that the node never sent.
func judgeUnknownTags(e Evidence, s *survey) {
	for _, x := range e.Exchanges {
		if x.Label.Case() != "good-other-tag" || lacksGoodToken(x) {
			continue
		}
		if x.Status() == 304 && success(e.exchange(x.Label.Resource().With(evidence.OK))) {
			s.add("304 "+string(x.Label.Resource()), expect(x, "200 with the data").
				failed("a condition with a tag that the node never sent is answered 304, so that clients keep an old copy for ever", describe(x)))
		}
	}
}

// taggedURL is a URL with a strong tag of its content.
type taggedURL struct{ url, tag string }

// judgeStrongTags looks for two contents of one URL under one strong tag, and adds them to the survey. It returns the number of tags.
func judgeStrongTags(e Evidence, s *survey) int {
	contents := map[taggedURL][]evidence.Exchange{}
	for _, x := range e.Exchanges {
		tag := strings.Join(header(x, "ETag"), ", ")
		isStrong := len(tag) >= 3 && tag[0] == '"'
		isContent := x.Status() == 200 && x.Request.Method == "GET" && isWhole(x) && len(x.Redirects) == 0 && isNodeAnswer(x) && !isTryOutURL(x.Request.URL)
		comparesCallers := strings.HasPrefix(string(x.Label.Case()), "caller-") // callers may get different answers
		if !isStrong || !isContent || comparesCallers {
			continue
		}
		v := taggedURL{x.Request.URL, tag}
		isNew := true
		for _, before := range contents[v] {
			switch {
			case codingsDiffer(before, x):
				s.add("coded tag "+string(x.Label.Resource()), judgeCodingTag(before, x, tag))
			case differ(before, x):
				j := judgeSharedTag(before, x, tag) // its outcome is part of the key, so that a warning does not hide a fault
				s.add("tag "+string(x.Label.Resource())+mediaType(x)+" "+string(j.Outcome), j)
			default:
				isNew = isNew && !(sameCaller(before, x) && mediaType(before) == mediaType(x))
			}
		}
		if isNew && len(contents[v]) < maxContents {
			contents[v] = append(contents[v], x)
		}
	}
	return len(contents)
}

// maxContents bounds the contents under one tag that later answers are compared with.
const maxContents = 8

// codingsDiffer reports whether two contents have different content codings, such as gzip and none.
func codingsDiffer(a, b evidence.Exchange) bool {
	return !slices.Equal(a.Response.Coding, b.Response.Coding)
}

// judgeCodingTag judges one strong tag for two codings of a content (RFC 9110 §8.8.3.3).
func judgeCodingTag(a, b evidence.Exchange, tag string) Judgement {
	coding := strings.Join(append(slices.Clone(a.Response.Coding), b.Response.Coding...), ", ")
	return expect(b, "another ETag for each content coding, or a weak one").
		failed(fmt.Sprintf("the content of %s has the same strong ETag with and without the coding %s, so that a cache takes one for the other", callName(b), clip(coding)), clip("ETag: "+tag+" for both")).
		Hinting("let the software that compresses the body change the tag or mark it as weak, as nginx does; or make tags weak: W/\"…\"").Seen(a.Label, b.Label)
}

// isWhole reports whether the content of an answer was read to its end.
func isWhole(x evidence.Exchange) bool {
	return x.Response != nil && !x.Response.Truncated && !x.Response.Withheld && x.Response.BodyError == "" && len(x.Response.Body) > 0
}

// markerStart begins the markers that replace secrets in the evidence.
const markerStart = redact.MarkerStart

// differ reports whether two contents are different. A text with a marker in only one of them does not count, because the text itself may be the same. JSON
// differs from other media types.
func differ(a, b evidence.Exchange) bool {
	if bytes.Equal(a.Response.Body, b.Response.Body) {
		return false
	}
	marker := []byte(markerStart)
	if !bytes.Contains(a.Response.Body, marker) && !bytes.Contains(b.Response.Body, marker) {
		return true
	}
	left, errLeft := jsonValue(a)
	right, errRight := jsonValue(b)
	if jsonMedia(mediaType(a)) != jsonMedia(mediaType(b)) && (errLeft == nil) != (errRight == nil) {
		return true // a marker replaces only a part of a text, so JSON stays JSON
	}
	return errLeft == nil && errRight == nil && !equalExceptMarkers(left, right)
}

// equalExceptMarkers reports whether two JSON values are the same, except for texts with markers.
func equalExceptMarkers(a, b any) bool {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, equalExceptMarkers)
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for name, value := range a {
			if other, has := b[name]; !has || !equalExceptMarkers(value, other) {
				return false
			}
		}
		return true
	case string:
		other, ok := b.(string)
		return ok && (a == other || strings.Contains(a, markerStart) || strings.Contains(other, markerStart))
	}
	return a == b
}

// sameCaller reports whether two requests have tokens of one client, or both none.
func sameCaller(a, b evidence.Exchange) bool { return tokenName(a) == tokenName(b) }

// tokenName returns the name in the marker of the token of a request, without the suffix of another token of the same client, such as .renewed.
func tokenName(x evidence.Exchange) string {
	_, name, _ := strings.Cut(strings.Join(evidence.Values(x.Request.Header, "Authorization"), ","), markerStart)
	name, _, _ = strings.Cut(name, ":")
	name, _, _ = strings.Cut(name, ".")
	return name
}

// judgeSharedTag judges two answers of one URL whose contents differ and whose strong tag is the same.
func judgeSharedTag(a, b evidence.Exchange, tag string) Judgement {
	want := expect(b, "another ETag, or a weak one")
	got := clip("ETag: " + tag + " for both")
	reason := fmt.Sprintf("two different contents of %s have the same strong ETag, %s", callName(b), differenceOf(a, b))
	switch {
	case mediaType(a) != mediaType(b) && jsonMedia(mediaType(a)) && jsonMedia(mediaType(b)):
		return want.warned(reason+"; both are JSON of different media types, as with Spring Data REST", got)
	case !sameCaller(a, b):
		return want.warned(reason+"; a cache that keeps callers apart does not confuse them", got)
	case differInTime(a, b):
		return want.warned(reason+"; only time stamps differ", got)
	}
	return want.failed(reason+", so that a cache or a client takes one for the other", got).Seen(a.Label, b.Label)
}

// differenceOf says how two requests of one URL differ.
func differenceOf(a, b evidence.Exchange) string {
	for _, name := range []string{"Accept-Language", "Accept", "Authorization"} {
		mine, theirs := strings.Join(evidence.Values(a.Request.Header, name), ", "), strings.Join(evidence.Values(b.Request.Header, name), ", ")
		switch {
		case mine == theirs:
		case name == "Authorization" && sameCaller(a, b):
			return "with two tokens of one client"
		case name == "Authorization":
			return "for two callers"
		default:
			return withField(name, mine) + " and " + withField(name, theirs)
		}
	}
	return "at two times"
}

// withField says whether a request has a header field: "with Accept: text/csv", "without Accept".
func withField(name, value string) string {
	if value == "" {
		return "without " + name
	}
	return "with " + clip(name+": "+value)
}

// differInTime reports whether two JSON contents differ only in members that say when or how often they were read.
func differInTime(a, b evidence.Exchange) bool {
	left, err := jsonValue(a)
	if err != nil {
		return false
	}
	right, err := jsonValue(b)
	if err != nil {
		return false
	}
	one, err := json.Marshal(withoutVolatile(left))
	if err != nil {
		return false
	}
	other, err := json.Marshal(withoutVolatile(right))
	return err == nil && bytes.Equal(one, other)
}

// withoutVolatile returns a JSON value in which the values of members that hold a time or a count are null. It keeps texts without digits
// and slashes, because the name of a member such as country only looks like that of a count.
func withoutVolatile(value any) any { return withoutVolatileIn(value, false) }

func withoutVolatileIn(value any, isVolatile bool) any {
	switch value := value.(type) {
	case []any:
		out := make([]any, len(value))
		for i, v := range value {
			out[i] = withoutVolatileIn(v, isVolatile)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(value))
		for name, v := range value {
			lower := strings.ToLower(name)
			out[name] = withoutVolatileIn(v, isVolatile || volatile(name) || strings.Contains(lower, "time") || strings.Contains(lower, "request"))
		}
		return out
	case string:
		if isVolatile && (strings.ContainsAny(value, "0123456789/") || value == "") {
			return nil
		}
		return value
	}
	if isVolatile {
		return nil
	}
	return value
}

// judgeHeads compares HEAD with GET, both with a good token, and adds differences to the survey. It returns the number of resources that offer HEAD.
func judgeHeads(e Evidence, s *survey) (offered int) {
	var resources []evidence.Resource
	guarded, _ := guardedOperations(e)
	for _, r := range append([]evidence.Resource{evidence.Info}, guarded...) {
		if _, sent := e.Get(r.With("head-ok")); sent && success(e.exchange(r.With(evidence.OK))) {
			resources = append(resources, r)
		}
	}
	var example evidence.Exchange // a HEAD that succeeded
	for _, r := range resources {
		if x := e.exchange(r.With("head-ok")); success(x) {
			offered, example = offered+1, x
		}
	}
	for _, r := range resources {
		head, get := e.exchange(r.With("head-ok")), e.exchange(r.With(evidence.OK))
		switch {
		case success(head):
			s.add("head "+string(r), judgeHeadLength(e, head))
			if m := mediaType(head); m != "" && m != mediaType(get) && mediaType(get) != "" {
				s.add("head type "+string(r), expect(head, mediaType(get)+", as for GET").warned("HEAD names another media type than GET", m))
			}
		case serverError(head) && !notOffered(head) && head.Attempts > 1:
			s.add("head breaks "+string(r), expect(head, "200, as for GET").failed("HEAD breaks the node, also when repeated, while GET works", describe(head)))
		case offered > 0 && (refusedByNode(head) || notOffered(head)):
			s.add("head refused", expect(head, "200, as for GET").failed(fmt.Sprintf("HEAD is refused here and answered at %s, and GET works at both", callName(example)), describe(head)).Seen(example.Label))
		}
	}
	return offered
}

// judgeHeadLength compares the Content-Length of HEAD with the length of GET (RFC 9110 §8.6). It judges only if all GETs of the URL had the same length, and
// some came before the HEAD and some after it, or at the same time: else the content may have changed.
func judgeHeadLength(e Evidence, head evidence.Exchange) Judgement {
	values := header(head, "Content-Length")
	if len(values) != 1 {
		return Passed(head.Label)
	}
	stated, err := strconv.ParseInt(strings.TrimSpace(values[0]), 10, 64)
	if err != nil {
		return Passed(head.Label)
	}
	coding := strings.ToLower(strings.Join(header(head, "Content-Encoding"), ","))
	lengths, before, after, uncoded := map[int64]bool{}, false, false, false
	for _, x := range e.Exchanges {
		isGet := x.Request.URL == head.Request.URL && x.Request.Method == "GET" && sameFields(x, head, "Accept", "Accept-Language")
		isContent := x.Status() == 200 && isWhole(x) && len(x.Redirects) == 0 && x.Response.Wire > 0
		if !isGet || !isContent || lacksGoodToken(x) || sendsRolelessToken(x) {
			continue
		}
		uncoded = uncoded || x.Response.Size == stated
		if strings.ToLower(strings.Join(x.Response.Coding, ",")) != coding {
			continue
		}
		lengths[x.Response.Wire] = true
		before, after = before || !x.Started.After(head.Started), after || !x.Started.Before(head.Started)
	}
	if lengths[stated] || len(lengths) != 1 || !before || !after {
		return Passed(head.Label)
	}
	length := slices.Collect(maps.Keys(lengths))[0]
	want, got := expect(head, "Content-Length: "+strconv.FormatInt(length, 10)+", the length of GET before and after"), "Content-Length: "+strconv.FormatInt(stated, 10)
	if coding != "" && uncoded {
		return want.warned("HEAD states the length of the content without the content coding that its header names, as Undertow does", got)
	}
	if coding != "" {
		return want.warned("HEAD states the length of an empty body in the coding of GET, as middleware for compression does", got)
	}
	return want.failed("HEAD states another length than GET has", got)
}

// sameFields reports whether two requests have the same values of header fields.
func sameFields(a, b evidence.Exchange, names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		return !slices.Equal(evidence.Values(a.Request.Header, name), evidence.Values(b.Request.Header, name))
	})
}
