package fault

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/rin-network/rin/sandbox/content"
)

// representationDeviations break the representations of a resource: languages, media types, codings, HEAD, and conditional requests.
func representationDeviations() []Deviation {
	return []Deviation{
		{Name: "not-modified-before-token", Breaks: []string{"API-08", "BRR-18"},
			Why:  "A cache in front answers If-None-Match with 304 by the URL alone, before the node checks token and role.",
			Wrap: stateful(answerConditionsFirst(List, Detail))},
		{Name: "info-not-modified-before-token", Breaks: []string{"BRR-15"}, May: []string{"API-08"},
			Why: "The middleware for validators comes before the one for tokens, so that info answers 304 to anybody with a known ETag.",
			Example: func(good *http.Request) {
				good.Header.Set("If-None-Match", "*")
				good.Header.Del("Authorization")
			},
			Wrap: stateful(answerConditionsFirst(Info))},
		{Name: "unknown-tag-not-modified", Breaks: []string{"ROB-08"},
			Why: "The list answers 304 to every call with If-None-Match, whatever tag is in it.",
			Wrap: rewriteSuccess(whenRequest(func(r *http.Request) bool { return r.Header.Get("If-None-Match") != "" },
				func(a *answer) { a.Status, a.Body = http.StatusNotModified, nil }), List)},
		{Name: "tag-without-language", Breaks: []string{"ROB-08"},
			Why:  "The names come in the language that the caller accepts, and the strong ETag is made of the records, without the language.",
			Wrap: translate(func(a *answer, before string) string { return before }, List, Detail)},
		{Name: "tag-without-counter", Breaks: []string{"ROB-08"},
			Why:  "The detail counts applications, and its strong ETag is made of the id and the time of the last change: clients keep the old number.",
			Wrap: countApplications("")},
		{Name: "untranslated-records-lost", Breaks: []string{"ROB-08"},
			Why:     "The list in English lacks the records that have no translation: an inner join with the table of texts.",
			Example: func(good *http.Request) { good.Header.Set("Accept-Language", "en") },
			Wrap: both(translate(func(a *answer, _ string) string { return content.ETag(a.Body) }, List),
				rewriteSuccess(whenRequest(func(r *http.Request) bool { return strings.HasPrefix(r.Header.Get("Accept-Language"), "en") }, func(a *answer) {
					n := 0
					a.keep(func(map[string]any) bool { n++; return n%4 != 0 })
				}), List))},
		{Name: "numbers-translated", Breaks: []string{"ROB-08"},
			Why:     "The detail in English has another start date than the one in German: the translator's copy of the record is older.",
			Example: func(good *http.Request) { good.Header.Set("Accept-Language", "en") },
			Wrap: rewriteSuccess(whenRequest(func(r *http.Request) bool { return strings.HasPrefix(r.Header.Get("Accept-Language"), "en") }, func(a *answer) {
				a.appendTo("Vary", "Accept-Language")
				a.editObject(func(record map[string]any) { record["startDate"] = "2019-01-01T00:00:00Z" })
			}), Detail)},
		{Name: "any-date-not-modified", Breaks: []string{"ROB-08"},
			Why:     "The list answers 304 to every call with If-Modified-Since, whatever date is in it.",
			Example: func(good *http.Request) { good.Header.Set("If-Modified-Since", "Sun, 06 Nov 1994 08:49:37 GMT") },
			Wrap: rewriteSuccess(whenRequest(func(r *http.Request) bool { return r.Header.Get("If-Modified-Since") != "" },
				func(a *answer) { a.Status, a.Body = http.StatusNotModified, nil }), List)},
		{Name: "accept-compared-as-text", Breaks: []string{"ROB-08"}, May: []string{"API-02"},
			Why:     "The list is answered 406 unless Accept holds application/json or */* without a weight: ranges and weights are not read.",
			Example: func(good *http.Request) { good.Header.Set("Accept", "application/*") },
			Wrap: refuseEarly(func(r *http.Request) bool {
				accept := r.Header.Get("Accept")
				return accept != "" && !strings.Contains(accept, "application/json") && !strings.HasSuffix(accept, "*/*")
			}, become(http.StatusNotAcceptable, "application/problem+json", `{"type":"about:blank","title":"Not Acceptable","status":406}`), List)},
		{Name: "tag-without-coding", Breaks: []string{"ROB-08"},
			Why:     "A middleware compresses the list and leaves the strong ETag of the plain content as it is.",
			Example: func(good *http.Request) { good.Header.Set("Accept-Encoding", "gzip") },
			Wrap:    compressUnderOneTag},
		{Name: "host-from-proxy-header", Breaks: []string{"PAG-10"},
			Why:     "The links of the list take their host from X-Forwarded-Host, from any sender.",
			Example: func(good *http.Request) { good.Header.Set("X-Forwarded-Host", "elsewhere.example") },
			Wrap: rewriteSuccess(func(a *answer) {
				if host := a.request.Header.Get("X-Forwarded-Host"); host != "" {
					a.set("Link", "<https://"+host+a.request.URL.Path+`>; rel="first"`)
				}
			}, List)},
		{Name: "head-length-uncoded", Breaks: []string{"ROB-08"},
			Why:     "Content is compressed for callers who accept gzip, and HEAD states the length that it had before: the filter compresses bodies, and HEAD has none.",
			Example: func(good *http.Request) { good.Header.Set("Accept-Encoding", "gzip") },
			Wrap:    intercept(compressAllButHead, protectedKinds()...)},
		{Name: "head-refused-on-detail", Breaks: []string{"ROB-08"},
			Why:  "HEAD is offered on the list and on info, and answered 405 on the detail, whose route names the method GET.",
			Wrap: refuseEarly(isHead, inOrder(become(http.StatusMethodNotAllowed, "", ""), setHeader("Allow", "GET")), Detail)},
		{Name: "table-before-role", Breaks: []string{"BRR-18"},
			Why: "The list as text/csv, which the document describes, is written before the role is checked.",
			Wrap: both(describeTable, exportTable(func(next http.Handler, env Env, r *http.Request) *answer {
				a := capture(next, r)
				if isRoleRefusal(a) {
					a = capture(next, env.admit(r))
				}
				return a
			}, (*answer).tabulate))},
		{Name: "table-without-quotes", Breaks: []string{"API-02"},
			Why:     "The list as text/csv, which the document describes, joins fields with commas: fields that have commas are not in quotes.",
			Example: func(good *http.Request) { good.Header.Set("Accept", "text/csv") },
			Wrap:    both(describeTable, exportTable(readList, (*answer).joinFields))},
		{Name: "table-under-tag-of-json", Breaks: []string{"ROB-08"},
			Why:     "The list as text/csv, which the document describes, has the strong ETag of the list as JSON: it is made of the records before they are written.",
			Example: func(good *http.Request) { good.Header.Set("Accept", "text/csv") },
			Wrap:    both(describeTable, tableUnderTagOfJSON)},
		{Name: "public-by-the-end-of-the-url", Breaks: []string{"BRR-16"}, May: []string{"API-08", "BRR-18"},
			Why: "The document is public, and the guard recognises it by the end of the URL, including the query.",
			Example: func(good *http.Request) {
				good.URL.RawQuery = "x=/api-docs"
				good.Header.Del("Authorization")
			},
			Wrap: admitIf(func(r *http.Request) bool {
				return isAnonymous(r) && strings.HasSuffix(r.URL.RequestURI(), "/api-docs")
			}, protectedKinds()...)},
	}
}

// answerConditionsFirst answers If-None-Match by the tags of earlier answers to the same URL, before the node checks the token.
func answerConditionsFirst(kinds ...Kind) func() wrap {
	return func() wrap {
		var seen memory[[]string] // the tags of all representations, by URL
		return interceptIf(hasMethod(http.MethodGet), func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
			tags, _ := seen.get(r.URL.String())
			condition := r.Header.Get("If-None-Match")
			if i := slices.IndexFunc(tags, func(tag string) bool { return condition == "*" || strings.Contains(condition, tag) }); i >= 0 && condition != "" {
				w.Header().Set("ETag", tags[i])
				w.WriteHeader(http.StatusNotModified)
				return
			}
			next.ServeHTTP(w, r)
			if tag := w.Header().Get("ETag"); tag != "" && !slices.Contains(tags, tag) {
				seen.put(r.URL.String(), append(slices.Clip(tags), tag))
			}
		}, kinds...)
	}
}

// compressAllButHead compresses good answers. The answer to HEAD has the fields of the compressed one, and the length of the plain one.
func compressAllButHead(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
	if !content.AcceptsGzip(r.Header.Values("Accept-Encoding")) || r.Method != http.MethodGet && !isHead(r) {
		capture(next, r).send(w, r)
		return
	}
	a := capture(next, withMethod(r, http.MethodGet))
	length := strconv.Itoa(len(a.Body))
	if a.ok() && a.compress() {
		a.appendTo("Vary", "Accept-Encoding")
	}
	if isHead(r) {
		a.set("Content-Length", length)
	}
	a.send(w, r)
}

// compressUnderOneTag compresses the list for callers who accept gzip, and leaves its ETag as it is.
func compressUnderOneTag(next http.Handler, env Env) http.Handler {
	return interceptIf(hasMethod(http.MethodGet), func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, r)
		if !a.ok() || !content.AcceptsGzip(r.Header.Values("Accept-Encoding")) {
			a.send(w, r)
			return
		}
		var zipped bytes.Buffer
		z := gzip.NewWriter(&zipped)
		_, _ = z.Write(a.Body) // a buffer cannot fail
		_ = z.Close()
		maps.Copy(w.Header(), a.Header)
		w.Header().Set("ETag", content.ETag(a.Body))
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Length", strconv.Itoa(zipped.Len()))
		w.WriteHeader(a.Status)
		_, _ = w.Write(zipped.Bytes()) // fails only if the caller is gone
	}, List)(next, env)
}

// translate makes a wrap that gives names in English to callers who ask for it. tag returns the ETag of an answer; before is the ETag of the node.
func translate(tag func(a *answer, before string) string, kinds ...Kind) wrap {
	return interceptIf(hasMethod(http.MethodGet), func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, r)
		before := a.Header.Get("ETag")
		if a.ok() && strings.HasPrefix(r.Header.Get("Accept-Language"), "en") {
			a.edit(markEnglish)
		}
		if a.ok() {
			a.appendTo("Vary", "Accept-Language")
		}
		maps.Copy(w.Header(), a.Header)
		if before != "" {
			w.Header().Set("ETag", tag(a, before))
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(a.Body)))
		w.WriteHeader(a.Status)
		_, _ = w.Write(a.Body) // fails only if the caller is gone
	}, kinds...)
}

// countApplications makes a wrap that adds a number to the detail, which grows while details are read. The ETag is made of the record without the number;
// weakness is put before it: W/ for a weak one, or nothing.
func countApplications(weakness string) wrap {
	return stateful(func() wrap {
		var reads atomic.Int64
		return interceptIf(isRead, func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
			a := capture(next, r)
			if a.ok() && r.Method == http.MethodGet {
				a.editObject(put("applications", reads.Add(1)/40))
			}
			maps.Copy(w.Header(), a.Header)
			if tag := a.Header.Get("ETag"); tag != "" {
				w.Header().Set("ETag", weakness+strings.TrimPrefix(tag, "W/"))
			}
			w.Header().Del("Content-Length")
			w.WriteHeader(a.Status)
			if r.Method == http.MethodGet {
				_, _ = w.Write(a.Body) // fails only if the caller is gone
			}
		}, Detail)
	})
}

// markEnglish marks each text of a JSON value as English.
func markEnglish(value any) any {
	switch value := value.(type) {
	case []any:
		for i, v := range value {
			value[i] = markEnglish(v)
		}
	case map[string]any:
		for name, v := range value {
			if text, isText := v.(string); isText && name == "text" {
				value[name] = text + " (in English)"
				continue
			}
			value[name] = markEnglish(v)
		}
	}
	return value
}

// describeTable adds text/csv to the media types of the list in the document.
func describeTable(next http.Handler, env Env) http.Handler {
	return editDocument(func(d apiDocument) {
		member(d.list(), "responses", "200", "content")["text/csv"] = map[string]any{"schema": map[string]any{"type": "string"}}
	})(next, env)
}

// wantsTable holds for requests whose first choice is CSV.
func wantsTable(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.HasPrefix(r.Header.Get("Accept"), "text/csv")
}

// exportTable makes a wrap that answers the list as CSV to callers who ask for it. read gets the list as JSON, and write turns it into CSV.
func exportTable(read func(next http.Handler, env Env, r *http.Request) *answer, write change) wrap {
	return interceptIf(wantsTable, func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		a := read(next, env, r)
		if a.ok() {
			write(a)
		}
		a.send(w, r)
	}, List)
}

// readList reads the list as the node answers it.
func readList(next http.Handler, _ Env, r *http.Request) *answer { return capture(next, r) }

// tableUnderTagOfJSON writes the list as CSV for callers who ask for it, with the ETag of the JSON.
func tableUnderTagOfJSON(next http.Handler, env Env) http.Handler {
	return interceptIf(wantsTable, func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, r)
		if a.ok() {
			a.tabulate()
			a.set("Content-Length", strconv.Itoa(len(a.Body)))
		}
		a.start(w)
		_, _ = w.Write(a.Body) // fails only if the caller is gone
	}, List)(next, env)
}

// table returns the records of a list, with the names of their fields first.
func (a *answer) table() [][]string {
	records := [][]string{{"id", "name", "targetGroups"}}
	for _, item := range a.items() {
		var names, groups []string
		for _, name := range objects(item, "name") {
			names = append(names, text(name["text"]))
		}
		targets, _ := item["targetGroups"].([]any)
		for _, group := range targets {
			groups = append(groups, text(group))
		}
		records = append(records, []string{text(item["id"]), strings.Join(names, " / "), strings.Join(groups, ", ")})
	}
	return records
}

// tabulate replaces a list by the same list as CSV (RFC 4180).
func (a *answer) tabulate() { a.writeTable(a.table()) }

// writeTable replaces the body by the records as CSV, with quotes where they are needed.
func (a *answer) writeTable(records [][]string) {
	var table bytes.Buffer
	out := csv.NewWriter(&table)
	out.UseCRLF = true
	_ = out.WriteAll(records) // a buffer cannot fail
	a.Body = table.Bytes()
	a.becomeTable()
}

// joinFields is [answer.tabulate] without quotes.
func (a *answer) joinFields() {
	var table strings.Builder
	for _, record := range a.table() {
		table.WriteString(strings.Join(record, ",") + "\r\n")
	}
	a.Body = []byte(table.String())
	a.becomeTable()
}

// becomeTable sets the header fields of an answer in CSV.
func (a *answer) becomeTable() {
	a.set("Content-Type", "text/csv; charset=utf-8; header=present")
	a.appendTo("Vary", "Accept")
}

// representationHabits are unusual but correct representations.
func representationHabits() []Deviation {
	return []Deviation{
		{Name: "names-in-the-language-accepted",
			Why:  "The names come in the language that the caller accepts, and each language has a strong ETag of its own.",
			Wrap: translate(func(a *answer, _ string) string { return content.ETag(a.Body) }, List, Detail)},
		{Name: "weak-tag-for-all-languages",
			Why:  "The names come in the language that the caller accepts, and all languages have one weak ETag, made of the records.",
			Wrap: translate(func(_ *answer, before string) string { return "W/" + strings.TrimPrefix(before, "W/") }, List, Detail)},
		{Name: "weak-tag-without-counter",
			Why:  "The detail counts applications, and its weak ETag is the one of the record without the number.",
			Wrap: countApplications("W/")},
		{Name: "list-as-table",
			Why:  "The list is also served as text/csv, with a strong ETag of its own, and with quotes around fields that have commas; the document describes it.",
			Wrap: both(describeTable, exportTable(readList, (*answer).tabulate))},
		{Name: "conditions-refused",
			Why:  "A request with a condition and without a token is answered 412 by a gateway that does not know the resource.",
			Wrap: refuseEarly(func(r *http.Request) bool { return isAnonymous(r) && r.Header.Get("If-None-Match") != "" }, become(http.StatusPreconditionFailed, "", ""), protectedKinds()...)},
	}
}
