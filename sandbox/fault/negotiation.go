package fault

import (
	"maps"
	"net/http"
	"strconv"
	"strings"

	"github.com/rin-network/rin/sandbox/content"
)

// This file changes what a node chooses by Accept, Accept-Encoding and Accept-Language: the media type, the coding and the language of its answers.

// negotiationDeviations give a client a content that another client, or a call in another language, had asked for.
func negotiationDeviations() []Deviation {
	return []Deviation{
		{Name: "coded-copy-for-all", Breaks: []string{"ROB-08"},
			Why:  "The cache of the detail keeps the bytes that were sent: once a client has read a record with gzip, all get gzip.",
			Wrap: stateful(keepCodedCopies)},
		{Name: "xml-for-browsers", Breaks: []string{"API-02"}, May: []string{"ROB-08"},
			Why:  "A second renderer of the framework is left on: who prefers XML to JSON, as browsers do, gets the detail as XML, which the document does not describe.",
			Wrap: rewriteSuccess(whenRequest(prefersXML, become(http.StatusOK, "application/xml; charset=utf-8", "<resource><title>Funding</title></resource>")), Detail)},
		{Name: "info-tag-without-expiry", Breaks: []string{"ROB-08"},
			Why:  "Info says when the token expires, and its strong ETag is made of the client alone.",
			Wrap: sayTokenInInfo(func(a *answer, before string) string { return before })},
	}
}

// negotiationHabits choose as unusual software does, and are right.
func negotiationHabits() []Deviation {
	return []Deviation{
		{Name: "weak-tag-compared-by-language",
			Why:  "The names come in the language that the caller accepts, all languages have one weak ETag, and a condition is compared with the language, too.",
			Wrap: answerInLanguage(false)},
		{Name: "language-not-in-weak-tag", Warns: []string{"ROB-08"},
			Why:  "The names come in the language that the caller accepts, the weak ETag is made of the records, and a call in English with the tag of the German text is answered 304.",
			Wrap: answerInLanguage(true)},
		{Name: "page-for-browsers",
			Why:  "A browser gets a page that shows the detail, as from the browsable API of Django REST framework.",
			Wrap: rewriteSuccess(whenRequest(func(r *http.Request) bool { return strings.HasPrefix(r.Header.Get("Accept"), "text/html") }, showPage), Detail)},
		{Name: "info-tag-with-token",
			Why:  "Info names the token, and its strong ETag is made of all that is sent.",
			Wrap: sayTokenInInfo(func(a *answer, _ string) string { return content.ETag(a.Body) })},
	}
}

// prefersXML reports whether Accept names XML, and JSON only by a range.
func prefersXML(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return r.Method == http.MethodGet && strings.Contains(accept, "application/xml") && !strings.Contains(accept, "application/json")
}

// showPage makes a page of the JSON.
func showPage(a *answer) {
	a.become(a.Status, "text/html; charset=utf-8", "<!doctype html><title>Funding</title><pre>"+htmlEscaper().Replace(string(a.Body))+"</pre>")
}

func htmlEscaper() *strings.Replacer {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
}

// answerInLanguage makes a wrap that gives names in English to callers who ask for it, under one weak tag. If byTagAlone is set, the tag of any language is
// answered 304.
func answerInLanguage(byTagAlone bool) wrap {
	return interceptIf(hasMethod(http.MethodGet), func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, r)
		tag := a.Header.Get("ETag")
		if !a.ok() || tag == "" {
			a.send(w, r)
			return
		}
		tag = "W/" + strings.TrimPrefix(tag, "W/")
		language := "de"
		if strings.HasPrefix(r.Header.Get("Accept-Language"), "en") {
			a.edit(markEnglish)
			language = "en"
		}
		a.set("Content-Language", language)
		a.appendTo("Vary", "Accept-Language")
		a.set("ETag", tag)
		a.set("Content-Length", strconv.Itoa(len(a.Body)))
		if byTagAlone && strings.Contains(strings.Join(r.Header.Values("If-None-Match"), ","), tag) {
			a.Status, a.Body = http.StatusNotModified, nil
			a.set("Content-Length", "")
		}
		a.start(w)
		_, _ = w.Write(a.Body) // fails only if the caller is gone, or for a 304
	}, List, Detail)
}

// keepCodedCopies compresses details for clients who accept gzip, and for all others who read the same record later.
func keepCodedCopies() wrap {
	var coded memory[bool] // the URLs that were read with gzip
	return interceptIf(hasMethod(http.MethodGet), func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, r)
		if a.ok() {
			accepts := content.AcceptsGzip(r.Header.Values("Accept-Encoding"))
			if accepts {
				coded.put(r.URL.String(), true)
			}
			if (accepts || coded.has(r.URL.String())) && a.compress() {
				a.appendTo("Vary", "Accept-Encoding")
			}
		}
		a.send(w, r)
	}, Detail)
}

// sayTokenInInfo makes a wrap that adds a member about the token to info. tag returns the ETag of the answer; before is the one without the member.
func sayTokenInInfo(tag func(a *answer, before string) string) wrap {
	return interceptIf(isRead, func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, withMethod(r, http.MethodGet))
		before := content.ETag(a.Body)
		if a.ok() {
			token := r.Header.Get("Authorization")
			a.editObject(put("tokenNumber", content.ETag([]byte(token))))
		}
		maps.Copy(w.Header(), a.Header)
		if a.ok() {
			w.Header().Set("ETag", tag(a, before))
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(a.Body)))
		w.WriteHeader(a.Status)
		if !isHead(r) {
			_, _ = w.Write(a.Body) // fails only if the caller is gone
		}
	}, Info)
}
