package fault

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"
)

// errorDeviations break the status, the form and the content of errors.
func errorDeviations() []Deviation {
	return []Deviation{
		{Name: "unknown-path-empty-object", Breaks: []string{"ERR-01"},
			Why:  "Any path below the API is answered 200 with an empty object: a gateway with a default response.",
			Wrap: rewriteUnknownPaths(become(http.StatusOK, "application/json", "{}"))},
		{Name: "unknown-path-crashes", Breaks: []string{"ERR-01"},
			Why:  "An unknown path fails with 500, because the error handler looks for a missing template.",
			Wrap: rewriteUnknownPaths(crash)},
		{Name: "unknown-path-start-page", Breaks: []string{"ERR-01"},
			Why:  "An unknown path returns the start page of the single-page application.",
			Wrap: rewriteUnknownPaths(become(http.StatusOK, "text/html", loginPage))},
		{Name: "refusals-as-page-called-json", Breaks: []string{"ERR-02"},
			Why:  "Refusals of a token are a web page with the media type of JSON, which the proxy sets on everything.",
			Wrap: rewrite(when(isTokenRefusal, replaceBody("application/json", loginPage)), protectedKinds()...)},
		{Name: "refusals-as-text", Breaks: []string{"ERR-02"},
			Why:  "Refusals are one word of text, whatever the client accepts.",
			Wrap: rewrite(when(isAnonymousRefusal, replaceBody("text/plain; charset=utf-8", "Unauthorized")), protectedKinds()...)},
		{Name: "success-with-error", Breaks: []string{"ERR-02"},
			Why: "A successful answer contains an error: a part of the info could not be read, and the status is 200.",
			Wrap: editInfo(func(info map[string]any, _ Env) {
				info["error"] = "projects are not available at the moment"
			})},
		{Name: "problem-status-as-text", Breaks: []string{"ERR-03"},
			Why:  "The member status of problem documents is a string.",
			Wrap: rewrite(when(isAnonymousRefusal, edit(put("status", "401"))), protectedKinds()...)},
		{Name: "problem-status-differs", Breaks: []string{"ERR-03"},
			Why:  "The problem document of a missing role says 500 and the answer 403: the filter that maps the status runs later.",
			Wrap: rewrite(when(isRoleRefusal, edit(put("status", 500))), protectedKinds()...)},
		{Name: "problem-type-as-words", Breaks: []string{"ERR-03"},
			Why:  "The member type of problem documents contains the title.",
			Wrap: rewrite(when(isTokenRefusal, edit(put("type", "token not valid"))), protectedKinds()...)},
		{Name: "unknown-id-shows-stack", Breaks: []string{"PAG-09", "ERR-04"},
			Why: "An unknown id fails with 500, and the page shows the stack: include-stacktrace is set to always.",
			Wrap: rewrite(when(isNotFound, become(http.StatusInternalServerError, "text/html",
				"<html><body><h1>Whitelabel Error Page</h1><pre>java.util.NoSuchElementException: No value present\n"+
					"\tat java.base/java.util.Optional.orElseThrow(Optional.java:377)\n"+
					"\tat org.example.ris.FundingController.find(FundingController.java:58)</pre></body></html>")), Detail)},
		{Name: "refusal-names-exception", Breaks: []string{"ERR-04"},
			Why:  "The refusal of a token names the class of the exception.",
			Wrap: rewrite(when(isTokenRefusal, edit(put("detail", "org.example.ris.security.BadTokenException"))), protectedKinds()...)},
		{Name: "token-error-shows-database", Breaks: []string{"ERR-04"},
			Why:  "The error for wrong Basic credentials contains the message of the database.",
			Wrap: rewriteToken(isBasicRefusal, edit(put("error_description", "ORA-01403: no data found")))},
		{Name: "bad-size-shows-path", Breaks: []string{"ERR-04"},
			Why: "A page size with a NUL is answered with the message of the Python interpreter, which contains the path of a file.",
			Wrap: rewrite(whenRequest(func(r *http.Request) bool { return strings.Contains(r.URL.RawQuery, "%00") },
				become(http.StatusBadRequest, "application/problem+json",
					`{"title":"Bad Request","status":400,"detail":"invalid literal for int(), raised in /opt/ris/api/paging.py"}`)), List)},
		{Name: "refusal-repeats-authorization", Breaks: []string{"SEC-04", "ERR-04"},
			Why: "The refusal of credentials repeats the request, with the Authorization header in base64.",
			Wrap: rewrite(when(func(a *answer) bool { return a.Status == http.StatusUnauthorized && !isAnonymous(a.request) },
				func(a *answer) {
					a.editObject(put("request", base64.StdEncoding.EncodeToString([]byte(a.request.Header.Get("Authorization")))))
				}), protectedKinds()...)},
		{Name: "unknown-id-shows-database", Breaks: []string{"ERR-04"},
			Why:  "The error for an unknown id names the address of the database, as connection pools do.",
			Wrap: rewrite(when(isNotFound, edit(put("detail", "no such row (jdbc:postgresql://db.internal:5432/ris)"))), Detail)},
		{Name: "bad-value-shows-fault-of-the-code", Breaks: []string{"ERR-04"},
			Why:  "A value that the list refuses is answered with the message of an exception inside the code.",
			Wrap: rewrite(when(isBadRequest, edit(put("detail", "'NoneType' object has no attribute 'isoformat'"))), List)},
		{Name: "refusal-shows-introspection", Breaks: []string{"ERR-04"},
			Why:  "The refusal of a token repeats what went wrong between the node and its authorization server, with an internal address.",
			Wrap: rewrite(when(isTokenRefusal, edit(put("detail", "introspection failed: dial tcp 10.20.0.4:8080: connect: connection refused"))), protectedKinds()...)},
		{Name: "unknown-id-as-page", Breaks: []string{"API-02", "ERR-02"},
			Why:  "An unknown id is answered with the page of the framework, although the document describes errors as JSON.",
			Wrap: rewrite(when(isNotFound, replaceBody("text/html; charset=utf-8", "<!doctype html><title>404 Not Found</title><h1>Not Found</h1>")), Detail)},
		{Name: "bad-value-as-text", Breaks: []string{"API-02", "ERR-02"},
			Why:  "A value that the list refuses is answered with a line of text, and every other error is JSON: http.Error in one handler.",
			Wrap: rewrite(when(isBadRequest, replaceBody("text/plain; charset=utf-8", "bad value\n")), List)},
		{Name: "refusal-member-twice", Breaks: []string{"ERR-02"},
			Why:  "The refusal of a token has its status twice: the filter writes one into the text that the handler wrote.",
			Wrap: rewrite(when(isTokenRefusal, replaceText(`"status":`, `"status":0,"status":`)), protectedKinds()...)},
		{Name: "refusals-in-latin-1", Breaks: []string{"ERR-02"},
			Why: "The error for an unknown id is written in Latin-1, the charset of the old servlet, and says so.",
			Wrap: rewrite(when(isNotFound, replaceBody("application/problem+json; charset=ISO-8859-1",
				"{\"type\":\"about:blank\",\"title\":\"Not Found\",\"status\":404,\"detail\":\"keine F\xf6rderung mit dieser Nummer\"}")), Detail)},
	}
}

// rewriteUnknownPaths makes a wrap that changes the answers for unknown paths directly below the base of the API. Callers without a token see no
// change.
func rewriteUnknownPaths(alter change) wrap {
	return rewrite(when(func(a *answer) bool {
		return isNotFound(a) && hasToken(a.request) && path.Dir(a.request.URL.Path) == a.env.Places.API()
	}, alter), API)
}

// inputDeviations fail with 500 on unusual input, or accept wrong input.
func inputDeviations() []Deviation {
	return []Deviation{
		{Name: "undecodable-token-crashes", Breaks: []string{"ROB-01"},
			Why:  "A JWT whose header begins like JSON but is not JSON fails with 500: the parser's exception is not caught.",
			Wrap: crashIf(hasBrokenHeader, protectedKinds()...)},
		{Name: "token-of-bytes-crashes", Breaks: []string{"ROB-01"},
			Why:  "A token with bytes outside ASCII fails with 500 when it is encoded for the introspection.",
			Wrap: crashIf(func(r *http.Request) bool { return !utf8.ValidString(bearer(r)) }, protectedKinds()...)},
		{Name: "long-token-crashes", Breaks: []string{"ROB-01"},
			Why:  "A token of some kilobytes fails with 500: it does not fit the column of the session table.",
			Wrap: crashIf(func(r *http.Request) bool { return len(bearer(r)) > 4<<10 }, protectedKinds()...)},
		{Name: "json-token-request-crashes", Breaks: []string{"ROB-02"},
			Why:  "A token request in JSON fails with 500, because the code reads fields of a missing form.",
			Wrap: crashIf(hasMediaType("application/json"), Token)},
		{Name: "multipart-token-request-crashes", Breaks: []string{"ROB-02"},
			Why:  "A token request as multipart/form-data fails with 500.",
			Wrap: crashIf(hasMediaType("multipart/form-data"), Token)},
		{Name: "form-bytes-crash", Breaks: []string{"ROB-02"},
			Why:  "A form value that is not UTF-8 fails with 500 when it is written to the log.",
			Wrap: rewriteToken(func(q tokenRequest, _ *answer) bool { return !utf8.ValidString(q.Get("scope")) }, crash)},
		{Name: "quote-in-id-crashes", Breaks: []string{"ROB-03"},
			Why:  "A quote in the id fails with 500: the database query is concatenated from text.",
			Wrap: crashIf(func(r *http.Request) bool { return strings.Contains(r.URL.Path, "'") }, Detail)},
		{Name: "id-bytes-crash", Breaks: []string{"ROB-03"},
			Why:  "An id that is not UTF-8 fails with 500: the database rejects it.",
			Wrap: crashIf(func(r *http.Request) bool { return !utf8.ValidString(r.URL.Path) }, Detail)},
		{Name: "template-in-id-finds-first", Breaks: []string{"ROB-03"},
			Why: "The id {id}, sent by a client that does not fill in the template, returns the first record: the search takes braces for a pattern.",
			Wrap: rewrite(whenRequest(func(r *http.Request) bool { return strings.Contains(r.URL.Path, "{") }, func(a *answer) {
				a.replaceBy(a.ask(withPath(a.request, a.env.Places.Fundings())))
				if items := a.items(); a.ok() && len(items) > 0 {
					if first, err := json.Marshal(items[0]); err == nil {
						a.Body = first
					}
				}
			}), Detail)},
		{Name: "query-bytes-crash", Breaks: []string{"ROB-04"}, May: []string{"PAG-06"},
			Why: "An escape in the query that is not UTF-8 fails with 500: UnicodeDecodeError.",
			Wrap: crashIf(func(r *http.Request) bool {
				query, err := url.QueryUnescape(r.URL.RawQuery)
				return err == nil && !utf8.ValidString(query)
			}, List)},
		{Name: "many-parameters-crash", Breaks: []string{"ROB-04"},
			Why:  "A parameter that is repeated two hundred times fails with 500.",
			Wrap: crashIf(func(r *http.Request) bool { return strings.Count(r.URL.RawQuery, "&") > 100 }, List)},
		{Name: "unknown-media-type-crashes", Breaks: []string{"ROB-04"},
			Why: "An Accept header that nothing matches fails with 500, because the error cannot be written in that media type either.",
			Wrap: crashIf(func(r *http.Request) bool {
				accepted := r.Header.Get("Accept")
				return accepted != "" && !strings.Contains(accepted, "json") && !strings.Contains(accepted, "*")
			}, List)},
		{Name: "json-token-request-unchecked", Breaks: []string{"ROB-02", "TER-01"},
			Why: "A token request in JSON always yields a token: the body is read by another handler, which does not check the secret.",
			Wrap: replaceRequest(func(r *http.Request, env Env) *http.Request {
				client, ok := env.clientWithSecret()
				if !ok || !hasMediaType("application/json")(r) {
					return r
				}
				form := url.Values{"grant_type": {"client_credentials"}, "client_id": {client.ID}, "client_secret": {client.Secret}}
				good := withForm(r, form.Encode())
				good.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				return good
			}, Token)},
	}
}

// crashIf makes a wrap that answers 500 to requests that fit.
func crashIf(fits func(r *http.Request) bool, kinds ...Kind) wrap {
	return rewrite(whenRequest(fits, crash), kinds...)
}

// hasBrokenHeader holds for tokens whose first segment begins like a JSON object and is not JSON.
func hasBrokenHeader(r *http.Request) bool {
	segment, _, _ := strings.Cut(bearer(r), ".")
	text, err := base64.RawURLEncoding.DecodeString(segment)
	return err == nil && bytes.HasPrefix(text, []byte("{")) && !json.Valid(text)
}

func hasMediaType(media string) func(*http.Request) bool {
	return func(r *http.Request) bool { return strings.HasPrefix(r.Header.Get("Content-Type"), media) }
}

func isBadRequest(a *answer) bool { return a.Status == http.StatusBadRequest }
