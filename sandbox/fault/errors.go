package fault

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// errorDeviations break the shape of errors.
func errorDeviations() []Deviation {
	return []Deviation{
		{
			Name: "unknown-path-empty-object", Breaks: []string{"ERR-01"},
			Why:  "Any path below the API is answered 200 with an empty object: a gateway with a default response.",
			Wrap: unrouted(func(a *editableAnswer) { a.become(http.StatusOK, "application/json", "{}") }),
		},
		{
			Name: "unknown-path-crashes", Breaks: []string{"ERR-01"},
			Why:  "An unknown path fails with 500, because the handler for errors looks for a template that is not there.",
			Wrap: unrouted(crash),
		},
		{
			Name: "unknown-path-start-page", Breaks: []string{"ERR-01"},
			Why:  "An unknown path gets the start page of the single-page application.",
			Wrap: unrouted(func(a *editableAnswer) { a.become(http.StatusOK, "text/html", page) }),
		},
		{
			Name: "refusals-as-page-called-json", Breaks: []string{"ERR-02"},
			Why:  "Refusals of a token are a web page under the media type of JSON, which the proxy sets on everything.",
			Wrap: rewrite(when(refusedToken, body("application/json", page)), protected()...),
		},
		{
			Name: "refusals-as-text", Breaks: []string{"ERR-02"},
			Why:  "Refusals are one word of text, whatever the client accepts.",
			Wrap: rewrite(when(refusedAnonymous, body("text/plain; charset=utf-8", "Unauthorized")), protected()...),
		},
		{
			Name: "success-with-error", Breaks: []string{"ERR-02"},
			Why: "An error is told inside a success: a part of the info could not be read, and the status is 200.",
			Wrap: infos(func(info map[string]any, _ Env) {
				info["error"] = "projects are not available at the moment"
			}),
		},
		{
			Name: "problem-status-as-text", Breaks: []string{"ERR-03"},
			Why:  "The member status of problem documents is a text.",
			Wrap: rewrite(when(refusedAnonymous, object(put("status", "401"))), protected()...),
		},
		{
			Name: "problem-status-differs", Breaks: []string{"ERR-03"},
			Why:  "The problem document of a missing role says 500, and the answer 403: the filter that maps the status came later.",
			Wrap: rewrite(when(refusedRole, object(put("status", 500))), protected()...),
		},
		{
			Name: "problem-type-as-words", Breaks: []string{"ERR-03"},
			Why:  "The member type of problem documents holds the title in words.",
			Wrap: rewrite(when(refusedToken, object(put("type", "token not valid"))), protected()...),
		},
		{
			Name: "unknown-id-shows-stack", Breaks: []string{"PAG-09", "ERR-04"},
			Why: "An unknown id fails with 500, and the page shows the stack: include-stacktrace is set to always.",
			Wrap: rewrite(when(missing, body500("text/html", "<html><body><h1>Whitelabel Error Page</h1><pre>java.util.NoSuchElementException: No value present\n"+
				"\tat java.base/java.util.Optional.orElseThrow(Optional.java:377)\n\tat org.example.ris.FundingController.find(FundingController.java:58)</pre></body></html>")), FundingDetail),
		},
		{
			Name: "refusal-names-exception", Breaks: []string{"ERR-04"},
			Why:  "The refusal of a token names the class of the exception behind it.",
			Wrap: rewrite(when(refusedToken, object(put("detail", "org.example.ris.security.BadTokenException"))), protected()...),
		},
		{
			Name: "token-error-shows-database", Breaks: []string{"ERR-04"},
			Why: "An unknown client is told what the database said.",
			Wrap: exchange(func(q tokenRequest, a *editableAnswer) {
				if a.Status == http.StatusUnauthorized && q.basic {
					a.editObject(put("error_description", "ORA-01403: no data found"))
				}
			}),
		},
		{
			Name: "bad-size-shows-path", Breaks: []string{"ERR-04"},
			Why: "A page size that is no number is answered with the message of the interpreter, the path of its file in it.",
			Wrap: rewrite(when(func(r *http.Request, _ *editableAnswer) bool { return strings.Contains(r.URL.RawQuery, "%00") },
				body400("application/problem+json", `{"title":"Bad Request","status":400,"detail":"invalid literal for int(), raised in /opt/ris/api/paging.py"}`)), FundingList),
		},
		{
			Name: "refusal-repeats-authorization", Breaks: []string{"SEC-04", "ERR-04"},
			Why: "The refusal of credentials repeats the request, the Authorization header in base64.",
			Wrap: rewrite(when(func(r *http.Request, a *editableAnswer) bool {
				return a.Status == http.StatusUnauthorized && !anonymous(r)
			},
				func(r *http.Request, a *editableAnswer) {
					a.editObject(put("request", base64.StdEncoding.EncodeToString([]byte(r.Header.Get("Authorization")))))
				}), protected()...),
		},
		{
			Name: "unknown-id-shows-database", Breaks: []string{"ERR-04"},
			Why: "The error for an unknown id names the address of the database, as connection pools do.",
			Wrap: rewrite(when(missing, func(_ *http.Request, a *editableAnswer) {
				a.editObject(put("detail", "no such row (jdbc:postgresql://db.internal:5432/ris)"))
			}), FundingDetail),
		},
	}
}

// body replaces media type and body, and leaves the rest of an answer.
func body(mediaType, text string) change {
	return func(_ *http.Request, a *editableAnswer) {
		a.set("Content-Type", mediaType)
		a.Body = []byte(text)
	}
}

// body400 and body500 are errors of the client and of the server.
func body400(mediaType, text string) change {
	return func(_ *http.Request, a *editableAnswer) { a.become(http.StatusBadRequest, mediaType, text) }
}

func body500(mediaType, text string) change {
	return func(_ *http.Request, a *editableAnswer) { a.become(http.StatusInternalServerError, mediaType, text) }
}

// unrouted makes a Wrap that changes the answers to callers with a token who ask for what is not there, at the base of the API.
func unrouted(alter func(a *editableAnswer)) wrap {
	return around(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, r)
		if a.Status == http.StatusNotFound && bearer(r) != "" && path.Dir(r.URL.Path) == env.Places.API() {
			alter(a)
		}
		a.send(w, r)
	}, Other)
}

// robustnessDeviations break on odd input.
func robustnessDeviations() []Deviation {
	return slices.Concat(oddInputDeviations(), framingDeviations(), clockDeviations(), []Deviation{
		{
			Name: "document-slow", Breaks: []string{"ROB-05"},
			Why:  "The document is generated anew for each request, and that takes eleven seconds.",
			Wrap: around(slowly(func(_ *editableAnswer) int { return 1 }), Spec),
		},
		{
			Name: "document-in-drops", Breaks: []string{"ROB-05"},
			Why:  "The document begins at once and comes piece by piece for eleven seconds, through a proxy with a narrow limit.",
			Wrap: around(slowly(func(_ *editableAnswer) int { return 11 }), Spec),
		},
	})
}

func oddInputDeviations() []Deviation {
	fails := func(odd func(r *http.Request) bool) change {
		return when(func(r *http.Request, _ *editableAnswer) bool { return odd(r) }, func(_ *http.Request, a *editableAnswer) { crash(a) })
	}
	return []Deviation{
		{
			Name: "undecodable-token-crashes", Breaks: []string{"ROB-01"},
			Why:  "A JWT whose header begins like JSON and is none fails with 500: the parser's exception is not among those that are caught.",
			Wrap: rewrite(fails(brokenHeader), protected()...),
		},
		{
			Name: "token-of-bytes-crashes", Breaks: []string{"ROB-01"},
			Why:  "A token with bytes outside of ASCII fails with 500, when it is encoded for the introspection.",
			Wrap: rewrite(fails(func(r *http.Request) bool { return !utf8.ValidString(bearer(r)) }), protected()...),
		},
		{
			Name: "long-token-crashes", Breaks: []string{"ROB-01"},
			Why:  "A token of some kilobytes fails with 500: it does not fit the column of the table of sessions.",
			Wrap: rewrite(fails(func(r *http.Request) bool { return len(bearer(r)) > 4<<10 }), protected()...),
		},
		{
			Name: "json-token-request-crashes", Breaks: []string{"ROB-02"},
			Why:  "A token request in JSON fails with 500, because the code reads fields of a form that is not there.",
			Wrap: rewrite(fails(ofType("application/json")), Token),
		},
		{
			Name: "multipart-token-request-crashes", Breaks: []string{"ROB-02"},
			Why:  "A token request as multipart/form-data fails with 500.",
			Wrap: rewrite(fails(ofType("multipart/form-data")), Token),
		},
		{
			Name: "form-bytes-crash", Breaks: []string{"ROB-02"},
			Why: "A form value that is no UTF-8 fails with 500, when it is written to the log.",
			Wrap: exchange(func(q tokenRequest, a *editableAnswer) {
				if !utf8.ValidString(q.form.Get("scope")) {
					crash(a)
				}
			}),
		},
		{
			Name: "quote-in-id-crashes", Breaks: []string{"ROB-03"},
			Why:  "A quote in the id fails with 500: the query is put together from text.",
			Wrap: rewrite(fails(func(r *http.Request) bool { return strings.Contains(r.URL.Path, "'") }), FundingDetail),
		},
		{
			Name: "id-bytes-crash", Breaks: []string{"ROB-03"},
			Why:  "An id that is no UTF-8 fails with 500, which the database says to it.",
			Wrap: rewrite(fails(func(r *http.Request) bool { return !utf8.ValidString(r.URL.Path) }), FundingDetail),
		},
		{
			Name: "template-in-id-finds-first", Breaks: []string{"ROB-03"},
			Why: "The id {id}, as a client sends it that forgot to fill the template in, gets the first record: braces begin a pattern.",
			Wrap: around(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
				if !strings.Contains(r.URL.Path, "{") {
					next.ServeHTTP(w, r)
					return
				}
				list := r.Clone(r.Context())
				list.URL.Path, list.URL.RawPath = env.Places.Fundings(), ""
				a := capture(next, list)
				if items := a.items(); a.ok() && len(items) > 0 {
					if first, err := json.Marshal(items[0]); err == nil {
						a.Body = first
					}
				}
				a.send(w, r)
			}, FundingDetail),
		},
		{
			Name: "query-bytes-crash", Breaks: []string{"ROB-04"},
			Why:  "An escape in the query that is no UTF-8 fails with 500: UnicodeDecodeError.",
			Wrap: rewrite(fails(func(r *http.Request) bool { return strings.Contains(r.URL.RawQuery, "%FF") }), FundingList),
		},
		{
			Name: "many-parameters-crash", Breaks: []string{"ROB-04"},
			Why:  "A parameter that comes two hundred times fails with 500.",
			Wrap: rewrite(fails(func(r *http.Request) bool { return strings.Count(r.URL.RawQuery, "&") > 100 }), FundingList),
		},
		{
			Name: "unknown-media-type-crashes", Breaks: []string{"ROB-04"},
			Why:  "An Accept header that nothing fits fails with 500, because the error can't be written in that media type, either.",
			Wrap: rewrite(fails(func(r *http.Request) bool { return r.Header.Get("Accept") == "application/x-conformance" }), FundingList),
		},
		{
			Name: "json-token-request-unchecked", Breaks: []string{"ROB-02"},
			Why: "A token request as JSON gets a token, whoever asks: the body is read by another handler, which forgot the secret.",
			Wrap: readmit(func(r *http.Request, env Env) *http.Request {
				client, ok := env.exposed()
				if !ok || !ofType("application/json")(r) {
					return r
				}
				form := url.Values{"grant_type": {"client_credentials"}, "client_id": {client.ID}, "client_secret": {client.Secret}}
				good := withForm(r, form.Encode())
				good.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				return good
			}, Token),
		},
	}
}

// brokenHeader holds for tokens whose first segment begins like a JSON object and is none.
func brokenHeader(r *http.Request) bool {
	segment, _, _ := strings.Cut(bearer(r), ".")
	text, err := base64.RawURLEncoding.DecodeString(segment)
	return err == nil && bytes.HasPrefix(text, []byte("{")) && !json.Valid(text)
}

// ofType holds for requests with a media type.
func ofType(media string) func(*http.Request) bool {
	return func(r *http.Request) bool { return strings.HasPrefix(r.Header.Get("Content-Type"), media) }
}

// slowTime is more than a client likes to wait.
const slowTime = 11 * time.Second

// slowly waits before an answer, or between its parts.
func slowly(parts func(a *editableAnswer) int) handle {
	return func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, r)
		n := parts(a)
		whole := a.Body
		for i := range n {
			if env.Pause(r.Context(), slowTime/time.Duration(n)) != nil {
				return // the caller is gone
			}
			if i == 0 {
				a.start(w, r)
			}
			if r.Method == http.MethodHead {
				return
			}
			if _, err := w.Write(whole[len(whole)*i/n : len(whole)*(i+1)/n]); err != nil {
				return
			}
			// Without it the parts come together; a writer that cannot flush sends them as it likes.
			_ = http.NewResponseController(w).Flush()
		}
	}
}
