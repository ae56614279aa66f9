package deviation

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// robustnessDeviations break on odd input.
func robustnessDeviations() []Deviation {
	return slices.Concat(oddInputDeviations(), framingDeviations(), clockDeviations(), []Deviation{
		{
			Name: "document-slow", Breaks: []string{"ROB-05"},
			Why:  "The document is generated anew for each request, and that takes eleven seconds.",
			Wrap: around(slowly(func(_ *Answer) int { return 1 }), Spec),
		},
		{
			Name: "document-in-drops", Breaks: []string{"ROB-05"},
			Why:  "The document begins at once and comes piece by piece for eleven seconds, through a proxy with a narrow limit.",
			Wrap: around(slowly(func(_ *Answer) int { return 11 }), Spec),
		},
	})
}

func oddInputDeviations() []Deviation {
	fails := func(odd func(r *http.Request) bool) change {
		return when(func(r *http.Request, _ *Answer) bool { return odd(r) }, func(_ *http.Request, a *Answer) { crash(a) })
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
			Wrap: exchange(func(q tokenRequest, a *Answer) {
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
func slowly(parts func(a *Answer) int) handle {
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
