package fault

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/rin-network/rin/sandbox/content"
)

// The faults in this file show when answers are compared with each other: answers of several instances, with and without compression, or 200 and 304.

// instanceDeviations give answers of instances that have different data.
func instanceDeviations() []Deviation {
	return []Deviation{
		{Name: "instances-list-other-data", Breaks: []string{"ROB-08"}, May: []string{"PAG-08"},
			Why: "Half of the answers of the list come from an instance whose cache is older: one record has no description there.",
			Wrap: byTurns(func(a *answer) {
				a.editItems(func(n int, record map[string]any) {
					if n == 2 {
						delete(record, "description")
					}
				})
			}, List)},
		{Name: "instances-name-other-endpoints", Breaks: []string{"ROB-08"}, May: []string{"INF-05"},
			Why:  "Half of the answers of info come from an instance that still has the configuration of the last release, with another URL of the detail.",
			Wrap: byTurns(replaceText("fundings/{id}", "funding/{id}"), Info)},
		{Name: "instances-publish-other-documents", Breaks: []string{"ROB-08"},
			Why:  "Half of the copies of the document come from an instance of the last release, which does not describe the filter by region.",
			Wrap: byTurns(replaceText(strconv.Quote("region"), strconv.Quote("province")), Document)},
		{Name: "uncompressed-answer-cut", Breaks: []string{"ROB-08"},
			Why:     "A gateway cuts the list for callers who do not accept gzip: the uncompressed body is larger than its buffer, and Content-Length agrees with the cut body.",
			Example: func(good *http.Request) { listWith("")(good); good.Header.Set("Accept-Encoding", "identity") },
			Wrap: rewriteSuccess(whenRequest(func(r *http.Request) bool {
				return r.Method == http.MethodGet && !content.AcceptsGzip(r.Header.Values("Accept-Encoding"))
			}, func(a *answer) { a.Body = a.Body[:len(a.Body)*3/4] }), List)},
	}
}

// headerFieldDeviations send header fields that contradict the rest of the answer, or another answer of the resource.
func headerFieldDeviations() []Deviation {
	return []Deviation{
		{Name: "allow-names-refused-method", Breaks: []string{"INF-07"},
			Why:  "The answer 405 to a POST names POST in Allow: the gateway adds one list of methods to all its answers.",
			Wrap: rewrite(when(isMethodNotAllowed, setHeader("Allow", "GET, HEAD, OPTIONS, POST")), Info)},
		{Name: "not-modified-made-public", Breaks: []string{"ROB-08"},
			Why:     "The gateway adds Cache-Control: public to every 304, as for static files, and a cache that updates its private copy by this answer may then share the copy.",
			Example: func(good *http.Request) { listWith("")(good); good.Header.Set("If-None-Match", "*") },
			Wrap: intercept(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
				next.ServeHTTP(&publicNotModified{w}, r)
			}, List, Detail)},
		{Name: "compressed-despite-weight-zero", Breaks: []string{"ROB-08"},
			Why:     "The gateway looks for the word gzip in Accept-Encoding, and compresses for callers who exclude gzip with a weight of 0.",
			Example: func(good *http.Request) { listWith("")(good); good.Header.Set("Accept-Encoding", "identity, gzip;q=0") },
			Wrap: interceptIf(func(r *http.Request) bool { return strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") }, func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
				a := capture(next, r)
				if a.ok() && r.Method == http.MethodGet && a.compress() {
					a.set("Vary", "Accept-Encoding, Authorization")
				}
				a.send(w, r)
			}, List, Detail)},
		{Name: "language-without-vary", Breaks: []string{"ROB-08"},
			Why:     "The names come in the language that the caller accepts, and Vary does not name Accept-Language.",
			Example: func(good *http.Request) { listWith("")(good); good.Header.Set("Accept-Language", "en") },
			Wrap: both(rewriteSuccess(setHeader("Vary", "Accept-Encoding, Authorization"), List, Detail),
				translate(func(a *answer, _ string) string { return content.ETag(a.Body) }, List, Detail))},
	}
}

// unreadableFilterDeviations fail on texts that their database cannot hold.
func unreadableFilterDeviations() []Deviation {
	return []Deviation{
		{Name: "nul-in-filter-crashes", Breaks: []string{"PAG-06"}, Rare: true,
			Why:     "A NUL in a filter fails with 500: PostgreSQL refuses it in any text, and the error is not handled.",
			Example: listWith("funderId=%00"),
			Wrap: crashIf(func(r *http.Request) bool {
				return !isAnonymous(r) && strings.Contains(r.URL.Query().Get("funderId"), "\x00")
			}, List)},
	}
}

// publicNotModified changes Cache-Control of a 304.
type publicNotModified struct{ http.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (w *publicNotModified) WriteHeader(status int) {
	if status == http.StatusNotModified {
		w.Header().Set("Cache-Control", "public, max-age=86400")
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *publicNotModified) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// instanceHabits give answers that differ from each other in unimportant members.
func instanceHabits() []Deviation {
	return []Deviation{
		{Name: "instances-name-themselves",
			Why: "Info says which instance answered, and each instance writes sets in an order of its own.",
			Wrap: byTurns(edit(func(object map[string]any) {
				object["servedBy"] = "node-b"
				if endpoints, ok := member(object, "endpoints")["funding"].([]any); ok {
					slices.Reverse(endpoints)
				}
			}), Info)},
		{Name: "queue-in-info", Warns: []string{"ROB-08"},
			Why: "Info says how many imports wait, a number that rises and falls.",
			Wrap: stateful(func() wrap {
				var reads atomic.Int64
				return rewriteSuccess(func(a *answer) { a.editObject(put("waitingImports", reads.Add(1)%3)) }, Info)
			})},
	}
}

// byTurns makes a wrap that changes half of the good answers to GETs of the kinds. Changed and unchanged answers alternate irregularly, as behind a load balancer.
func byTurns(alter change, kinds ...Kind) wrap {
	return stateful(func() wrap {
		var reads atomic.Uint32
		return rewriteSuccess(func(a *answer) {
			const spread = 2654435761 // the multiplier of Knuth's multiplicative hash
			if a.request.Method == http.MethodGet && (reads.Add(1)-1)*spread>>16%2 == 0 {
				alter(a)
			}
		}, kinds...)
	})
}
