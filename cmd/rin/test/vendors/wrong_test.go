package vendors_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/verdict"
)

// instead answers the requests for which when returns true. The node answers the others.
func instead(when func(*http.Request) bool, answers http.HandlerFunc) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if when(r) {
				answers(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// trusting adds a good token of the first client to the requests for which when returns true.
func trusting(when func(*http.Request) bool) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if when(r) {
				r.Header.Set("Authorization", "Bearer "+tokenOf(next))
			}
			next.ServeHTTP(w, r)
		})
	}
}

// tokenOf asks a node for a token of the first client.
func tokenOf(node http.Handler) string {
	body := "grant_type=client_credentials&client_id=" + firstClient + "&client_secret=" + firstSecret
	r := httptest.NewRequest(http.MethodPost, "/token", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	node.ServeHTTP(w, r)
	_, after, _ := strings.Cut(w.Body.String(), `"access_token":"`)
	token, _, _ := strings.Cut(after, `"`)
	return token
}

// editing changes the bodies of the answers to the requests for which when returns true.
func editing(when func(*http.Request) bool, old, changed string) func(http.Handler) http.Handler {
	return replacing(when, func(status int, body []byte) (int, []byte) {
		return status, bytes.ReplaceAll(body, []byte(old), []byte(changed))
	})
}

// replacing changes the status and the body of the answers to the requests for which when returns true.
func replacing(when func(*http.Request) bool, change func(status int, body []byte) (int, []byte)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !when(r) {
				next.ServeHTTP(w, r)
				return
			}
			kept := httptest.NewRecorder()
			next.ServeHTTP(kept, r)
			for name, values := range kept.Header() {
				w.Header()[name] = values
			}
			status, body := change(kept.Code, kept.Body.Bytes())
			w.WriteHeader(status)
			_, _ = w.Write(body)
		})
	}
}

func anonymous(r *http.Request) bool { return r.Header.Get("Authorization") == "" }

func below(prefix string) func(*http.Request) bool {
	return func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, prefix) }
}

func allOf(conditions ...func(*http.Request) bool) func(*http.Request) bool {
	return func(r *http.Request) bool {
		return !slices.ContainsFunc(conditions, func(c func(*http.Request) bool) bool { return !c(r) })
	}
}

// insteadOfRefusal answers the requests for which when returns true, if the node refuses their bearer token.
func insteadOfRefusal(when func(*http.Request) bool, answers http.HandlerFunc) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			kept := httptest.NewRecorder()
			next.ServeHTTP(kept, r)
			if when(r) && kept.Code == http.StatusUnauthorized && strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ") {
				answers(w, r)
				return
			}
			for name, values := range kept.Header() {
				w.Header()[name] = values
			}
			w.WriteHeader(kept.Code)
			_, _ = w.Write(kept.Body.Bytes())
		})
	}
}

// onlySuccess replaces the body of successful answers.
func onlySuccess(body string) func(int, []byte) (int, []byte) {
	return func(status int, original []byte) (int, []byte) {
		if status == http.StatusOK {
			return status, []byte(body)
		}
		return status, original
	}
}

func says(status int, mediaType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

var _ = Describe("Nodes with a vulnerability", func() {
	const list = "/funding/v1/fundings"
	data := below(list)
	onlyDetail := below(list + "/")
	queried := func(r *http.Request) bool { return r.URL.RawQuery != "" }
	getsType := func(r *http.Request) bool { return r.URL.Query().Has("fundingType") }
	scheme := func(prefix string) func(*http.Request) bool {
		return func(r *http.Request) bool { return strings.HasPrefix(r.Header.Get("Authorization"), prefix) }
	}
	login := says(200, "text/html", "<!doctype html><title>Login</title>")
	head := func(r *http.Request) bool { return r.Method == http.MethodHead }

	openWithDeadRoute := func(next http.Handler) http.Handler {
		described := editing(below("/funding/v1/openapi"), `"paths": {`, `"paths": {"/v1/statistics": {"get": {"responses": {"200": {"description": "OK"}}}},`)
		return described(trusting(allOf(anonymous, data))(next))
	}

	DescribeTable("fail exactly the requirements concerned", func(ctx SpecContext, wrap func(http.Handler) http.Handler, expected ...string) {
		clean, _ := remarks(flask().certified(ctx, nil))
		found := flask().certified(ctx, wrap)
		short, long := remarks(found)
		worse := slices.DeleteFunc(short, func(s string) bool { return slices.Contains(clean, s) || strings.HasSuffix(s, " blocked") })
		// An outcome that ends with a question mark occurs in some draws only.
		expected = slices.DeleteFunc(expected, func(s string) bool {
			sure, drawn := strings.CutSuffix(s, "?")
			worse = slices.DeleteFunc(worse, func(w string) bool { return drawn && w == sure })
			return drawn
		})
		Expect(worse).To(Equal(expected), long)
		Expect(found.Verdict.Decision).NotTo(Equal(verdict.Certified), long)
	},
		Entry("the detail is open", trusting(allOf(anonymous, onlyDetail)), "API-08 fail"),
		Entry("HEAD is open", trusting(allOf(anonymous, data, head)), "BRR-15 fail"),
		Entry("HEAD of the detail is open", trusting(allOf(anonymous, onlyDetail, head)), "API-08 fail"),
		Entry("the detail is open with a query", trusting(allOf(anonymous, onlyDetail, queried)), "API-08 fail"),
		Entry("the list is open with a query", trusting(allOf(anonymous, data, queried)), "BRR-01 fail", "BRR-15 fail?", "BRR-16 fail?", "SEC-02 fail?"),
		Entry("the scheme does not count", trusting(allOf(data, scheme("Token "))), "BRR-06 fail", "BRR-12 warn"),
		Entry("200 with an error for a garbage token", insteadOfRefusal(data, says(200, "application/json", `{"error":"invalid_token"}`)), "BRR-06 fail", "BRR-18 inconclusive", "ERR-02 warn"),
		Entry("200 with an error for a garbage token at the detail", insteadOfRefusal(onlyDetail, says(200, "application/json", `{"error":"invalid_token"}`)), "API-08 fail", "ERR-02 warn"),
		Entry("200 with an error for anonymous calls", instead(allOf(anonymous, data), says(200, "application/json", `{"error":"unauthorized"}`)), "BRR-01 fail", "ERR-02 warn"),
		Entry("204 for anonymous calls", instead(allOf(anonymous, data), says(204, "", "")), "BRR-01 fail"),
		Entry("an empty list for anonymous calls", instead(allOf(anonymous, data), says(200, "application/json", `[]`)), "BRR-01 fail"),
		Entry("everything is open but a route that is dead", openWithDeadRoute, "BRR-01 fail", "API-01 fail"),
		Entry("a login page for anonymous calls", instead(allOf(anonymous, data), login), "BRR-01 fail"),
		Entry("a login page for anonymous calls of the detail", instead(allOf(anonymous, onlyDetail), login), "API-08 fail"),
		Entry("info is a login page", instead(below("/info"), login), "INF-02 fail", "INF-05 inconclusive", "INF-07 warn", "VER-02 warn"),
		Entry("null deep inside", editing(data, `"lang":"en"`, `"lang":null`), "API-05 fail"),
		Entry("null deep inside the detail alone", editing(onlyDetail, `"lang":"de"`, `"lang":null`), "API-05 fail"),
		Entry("the detail is always the same item", editing(onlyDetail, `"id":"fwf-esprit-2026"`, `"id":"fwf-esprit"`), "PAG-08 fail"),
		Entry("a filter loses everything", replacing(getsType, onlySuccess("[]")), "PAG-07 fail"),
	)
})
