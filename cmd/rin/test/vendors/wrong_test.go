package vendors_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
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
			recorded := httptest.NewRecorder()
			next.ServeHTTP(recorded, r)
			for name, values := range recorded.Header() {
				w.Header()[name] = values
			}
			status, body := change(recorded.Code, recorded.Body.Bytes())
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
			recorded := httptest.NewRecorder()
			next.ServeHTTP(recorded, r)
			if when(r) && recorded.Code == http.StatusUnauthorized && strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ") {
				answers(w, r)
				return
			}
			for name, values := range recorded.Header() {
				w.Header()[name] = values
			}
			w.WriteHeader(recorded.Code)
			_, _ = w.Write(recorded.Body.Bytes())
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

func answering(status int, mediaType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}
