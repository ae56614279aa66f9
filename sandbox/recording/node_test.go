package recording_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox/mockapi"
	"github.com/rin-network/rin/sandbox/recording"
)

func TestRecording(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "recording")
}

// photo is content that is not text.
const photo = "\x89PNG\r\n\x1a\n\xff"

const origin = "http://node.example/api"

// planted returns texts of the node that must not be in a redacted recording.
func planted() []string {
	return []string{"jane.doe@uni.example", "Jane", "Doe", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJqYW5lIn0.c2ln", "sk-live-0123456789abcdef", "+43 1 234567", "0000-0002-1825-0097", "hunter2-hunter2"}
}

// fakeNode is a node whose lists are paged in different ways.
type fakeNode struct {
	people, projects []map[string]any
	requests         []string
	refuse           map[string]int // statuses by path
}

func newFakeNode() *fakeNode {
	n := &fakeNode{refuse: map[string]int{}}
	for i := range 7 {
		n.people = append(n.people, map[string]any{
			"id": fmt.Sprintf("p-%d", i), "givenName": "Jane", "familyName": "Doe", "email": "jane.doe@uni.example", "orcid": "0000-0002-1825-0097",
			"phone": "+43 1 234567", "role": "LEAD", "code": "AB",
		})
	}
	for i := range 130 {
		n.projects = append(n.projects, map[string]any{
			"id": i + 1, "title": fmt.Sprintf("Project %d", i+1), "status": []string{"OPEN", "CLOSED"}[i%2], "contact": map[string]any{"name": "Jane Doe", "label": "office"},
			"text": "Ask Dr. Doe or Jane Doe (jane.doe@uni.example), token eyJhbGciOiJub25lIn0.eyJzdWIiOiJqYW5lIn0.c2ln. Jane decides.",
		})
	}
	return n
}

func page[T any](all []T, from, size int) []T {
	from = max(0, min(from, len(all)))
	return all[from:min(len(all), from+size)]
}

func number(q url.Values, name string, fallback int) int {
	if n, err := strconv.Atoi(q.Get(name)); err == nil {
		return n
	}
	return fallback
}

// ServeHTTP serves people with cursors, projects with numbers of pages, topics with Link fields, and others whole.
func (n *fakeNode) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n.requests = append(n.requests, r.URL.RequestURI())
	if status := n.refuse[r.URL.Path]; status != 0 {
		w.WriteHeader(status)
		return
	}
	answer := func(value any) { _ = json.NewEncoder(w).Encode(value) }
	q := r.URL.Query()
	switch path := r.URL.Path; path {
	case "/api/people":
		from := number(q, "cursor", 0)
		envelope := map[string]any{"data": page(n.people, from, 3), "total": len(n.people), "nextCursor": nil}
		if from+3 < len(n.people) {
			envelope["nextCursor"] = strconv.Itoa(from + 3)
		}
		answer(envelope)
	case "/api/projects":
		size := min(number(q, "size", 20), 50)
		answer(page(n.projects, (number(q, "page", 1)-1)*size, size))
	case "/api/topics":
		from := number(q, "after", 0)
		topics := []string{"Rock", "Ice", "Wind", "Rain", "Fire"}
		if from+2 < len(topics) {
			w.Header().Set("Link", fmt.Sprintf(`<%s/topics?after=%d>; rel="next", <%s/topics>; rel="first"`, origin, from+2, origin))
		}
		w.Header().Add("Link", `<https://licence.example/by>; rel="license"`)
		w.Header().Set("Cache-Control", "public, max-age=600")
		answer(page(topics, from, 2))
	case "/api/sheet":
		w.Header().Set("Content-Type", "text/csv; charset=utf-8")
		_, _ = io.WriteString(w, "name;mail\nJane Doe;jane.doe@uni.example\n")
	case "/api/shot":
		w.Header().Set("Content-Type", "image/png")
		_, _ = io.WriteString(w, photo)
	case "/api/status":
		w.Header().Set("ETag", `W/"s-1"`)
		w.Header().Set("Cache-Control", "private, max-age=60")
		w.Header().Set("Content-Language", "de")
		w.Header().Set("Link", "<"+origin+`/people>; rel="help"`)
		w.Header().Set("X-Model", "hunter2-hunter2")
		w.Header().Set("X-Trace", "not described")
		answer(map[string]any{"ok": true, "apiKey": "sk-live-0123456789abcdef", "see": origin + "/people", "client": "hunter2-hunter2"})
	default:
		for _, p := range n.people {
			switch path {
			case "/api/people/" + p["id"].(string):
				answer(map[string]any{"id": p["id"], "givenName": p["givenName"], "familyName": p["familyName"], "since": "2020-01-01", "role": "LEAD"})
				return
			case "/api/people/" + p["id"].(string) + "/grants":
				answer([]any{map[string]any{"grant": "G-" + p["id"].(string), "amount": json.Number("12.50")}})
				return
			}
		}
		w.WriteHeader(http.StatusNotFound)
	}
}

const document = `{
 "openapi": "3.0.3", "info": {"title": "Fake", "version": "1"}, "servers": [{"url": "` + origin + `"}],
 "paths": {
  "/people": {"get": {"operationId": "listPeople", "parameters": [{"name": "cursor", "in": "query", "schema": {"type": "string"}}],
   "responses": {"200": {"description": "", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/People"}}}}}}},
  "/people/{id}": {"get": {"parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
   "responses": {"200": {"description": "", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/PersonDetail"}}}}, "404": {"description": "", "content": {"application/json": {"schema": {"type": "object"}}}}}}},
  "/people/{id}/grants": {"get": {"parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}],
   "responses": {"200": {"description": "", "content": {"application/json": {"schema": {"type": "array", "items": {"type": "object", "properties": {"grant": {"type": "string"}, "amount": {"type": "number"}}}}}}}}}},
  "/projects": {"get": {"parameters": [{"name": "page", "in": "query", "schema": {"type": "integer", "minimum": 1}}, {"name": "size", "in": "query", "schema": {"type": "integer", "maximum": 50}},
    {"name": "status", "in": "query", "schema": {"type": "string", "enum": ["OPEN", "CLOSED"]}}],
   "responses": {"200": {"description": "", "content": {"application/json": {"schema": {"type": "array", "items": {"$ref": "#/components/schemas/Project"}}}}}}}},
  "/topics": {"get": {"responses": {"200": {"description": "", "content": {"application/json": {"schema": {"type": "array", "items": {"type": "string"}}}}}}}},
  "/status": {"get": {"responses": {"200": {"description": "", "headers": {"X-Model": {"schema": {"type": "string"}}, "X-Region": {"schema": {"type": "string"}}}, "content": {"application/json": {"schema": {"type": "object"}}}}}}},
  "/sheet": {"get": {"responses": {"200": {"description": "", "content": {"text/csv": {"schema": {"type": "string"}}}}}}},
  "/shot": {"get": {"responses": {"200": {"description": "", "content": {"image/png": {}}}}}},
  "/reports/{year}": {"get": {"parameters": [{"name": "year", "in": "path", "required": true, "schema": {"type": "integer"}}],
   "responses": {"200": {"description": "", "content": {"application/json": {"schema": {"type": "object"}}}}}}}
 },
 "components": {"schemas": {
  "People": {"type": "object", "required": ["data", "total"], "properties": {"data": {"type": "array", "items": {"$ref": "#/components/schemas/Person"}}, "total": {"type": "integer"}, "nextCursor": {"type": "string", "nullable": true}}},
  "Person": {"type": "object", "required": ["id", "email", "code"], "properties": {"id": {"type": "string"}, "givenName": {"type": "string", "maxLength": 6}, "familyName": {"type": "string", "pattern": "^[A-Z][a-z]{2}$"},
   "email": {"type": "string", "format": "email"}, "orcid": {"type": "string", "pattern": "^\\d{4}-\\d{4}-\\d{4}-\\d{3}[0-9X]$"}, "phone": {"type": "string"}, "role": {"type": "string", "enum": ["LEAD", "MEMBER"]}, "code": {"type": "string", "minLength": 2, "maxLength": 2}}},
  "PersonDetail": {"type": "object", "required": ["id", "since"], "properties": {"id": {"type": "string"}, "givenName": {"type": "string"}, "familyName": {"type": "string"}, "since": {"type": "string", "format": "date"}, "role": {"type": "string"}}},
  "Project": {"type": "object", "required": ["id"], "properties": {"id": {"type": "integer"}, "title": {"type": "string"}, "status": {"type": "string", "enum": ["OPEN", "CLOSED"]}, "text": {"type": "string"},
   "contact": {"type": "object", "properties": {"name": {"type": "string"}, "label": {"type": "string"}}}}}
 }}}`

// reach returns a function that sends requests to a handler which serves the paths of the document below a base URL.
func reach(h http.Handler, base string) recording.Fetch {
	return func(ctx context.Context, r recording.Request) (recording.Answer, error) {
		to := r.URL
		if to == "" {
			to = base + r.Path
			if r.Query != "" {
				to += "?" + r.Query
			}
		}
		w := httptest.NewRecorder()
		q := httptest.NewRequestWithContext(ctx, http.MethodGet, to, nil)
		for name, value := range r.Header {
			q.Header.Set(name, value)
		}
		h.ServeHTTP(w, q)
		return recording.Answer{Status: w.Code, Header: w.Result().Header, Body: w.Body.Bytes(), URL: to}, nil
	}
}

// record reads a handler.
func record(h http.Handler, base string, limits recording.Limits) *recording.Recording {
	GinkgoHelper()
	r := &recording.Recording{Document: []byte(document), Limits: limits, Recorded: time.Unix(1_700_000_000, 0)}
	Expect(recording.Crawl(context.Background(), r, reach(h, base), func(string, int) {})).To(Succeed())
	r.Node = recording.Node{ID: "XA", Bases: []string{base}, SpecURL: base + "/openapi.json", TokenURL: "http://node.example/token", InfoURL: "http://node.example/ris/info/v1/oauth/info/"}
	return r
}

// replay serves a recording as a sandbox does.
func replay(r *recording.Recording, options mockapi.Options) http.Handler {
	GinkgoHelper()
	d, err := mockapi.ReadDocument(r.Document)
	Expect(err).NotTo(HaveOccurred())
	options.Recorded = r.ForReplay()
	api, err := mockapi.New(d, "", options)
	Expect(err).NotTo(HaveOccurred())
	space := mockapi.Space{Origin: func(*http.Request) string { return "http://sandbox.example" }}
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if h := api.Handler(space, q); h != nil {
			h.ServeHTTP(w, q)
			return
		}
		w.WriteHeader(http.StatusNotFound)
	})
}

// key returns a key for tests.
func key(b byte) []byte {
	all := make([]byte, 32)
	for i := range all {
		all[i] = b
	}
	return all
}
