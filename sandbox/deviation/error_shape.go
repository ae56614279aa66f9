package deviation

import (
	"encoding/base64"
	"net/http"
	"path"
	"strings"
)

// errorDeviations break the shape of errors.
func errorDeviations() []Deviation {
	return []Deviation{
		{
			Name: "unknown-path-empty-object", Breaks: []string{"ERR-01"},
			Why:  "Any path below the API is answered 200 with an empty object: a gateway with a default response.",
			Wrap: unrouted(func(a *Answer) { a.become(http.StatusOK, "application/json", "{}") }),
		},
		{
			Name: "unknown-path-crashes", Breaks: []string{"ERR-01"},
			Why:  "An unknown path fails with 500, because the handler for errors looks for a template that is not there.",
			Wrap: unrouted(crash),
		},
		{
			Name: "unknown-path-start-page", Breaks: []string{"ERR-01"},
			Why:  "An unknown path gets the start page of the single-page application.",
			Wrap: unrouted(func(a *Answer) { a.become(http.StatusOK, "text/html", page) }),
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
			Wrap: exchange(func(q tokenRequest, a *Answer) {
				if a.Status == http.StatusUnauthorized && q.basic {
					a.editObject(put("error_description", "ORA-01403: no data found"))
				}
			}),
		},
		{
			Name: "bad-size-shows-path", Breaks: []string{"ERR-04"},
			Why: "A page size that is no number is answered with the message of the interpreter, the path of its file in it.",
			Wrap: rewrite(when(func(r *http.Request, _ *Answer) bool { return strings.Contains(r.URL.RawQuery, "%00") },
				body400("application/problem+json", `{"title":"Bad Request","status":400,"detail":"invalid literal for int(), raised in /opt/ris/api/paging.py"}`)), FundingList),
		},
		{
			Name: "refusal-repeats-authorization", Breaks: []string{"SEC-04", "ERR-04"},
			Why: "The refusal of credentials repeats the request, the Authorization header in base64.",
			Wrap: rewrite(when(func(r *http.Request, a *Answer) bool { return a.Status == http.StatusUnauthorized && !anonymous(r) },
				func(r *http.Request, a *Answer) {
					a.editObject(put("request", base64.StdEncoding.EncodeToString([]byte(r.Header.Get("Authorization")))))
				}), protected()...),
		},
		{
			Name: "unknown-id-shows-database", Breaks: []string{"ERR-04"},
			Why: "The error for an unknown id names the address of the database, as connection pools do.",
			Wrap: rewrite(when(missing, func(_ *http.Request, a *Answer) {
				a.editObject(put("detail", "no such row (jdbc:postgresql://db.internal:5432/ris)"))
			}), FundingDetail),
		},
	}
}

// body replaces media type and body, and leaves the rest of an answer.
func body(mediaType, text string) change {
	return func(_ *http.Request, a *Answer) {
		a.set("Content-Type", mediaType)
		a.Body = []byte(text)
	}
}

// body400 and body500 are errors of the client and of the server.
func body400(mediaType, text string) change {
	return func(_ *http.Request, a *Answer) { a.become(http.StatusBadRequest, mediaType, text) }
}

func body500(mediaType, text string) change {
	return func(_ *http.Request, a *Answer) { a.become(http.StatusInternalServerError, mediaType, text) }
}

// unrouted makes a Wrap that changes the answers to callers with a token who ask for what is not there, at the base of the API.
func unrouted(alter func(a *Answer)) wrap {
	return around(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, r)
		if a.Status == http.StatusNotFound && bearer(r) != "" && path.Dir(r.URL.Path) == env.Places.API() {
			alter(a)
		}
		a.send(w, r)
	}, Other)
}
