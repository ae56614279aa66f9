// Package recording reads the records of a real node, keeps them in a folder, and compares them with what the node answers later.
//
//	document -> plan -> [Crawl] -> [Recording] -> [Redactor] -> [Recording.Write] -> folder -> [Open] -> mockapi.Recorded
//
// The package itself sends no requests. A [Fetch] function does, and decides which credentials go where, how fast, and when to repeat. The size of all
// answers is limited, and only GET operations of the document are requested.
//
// # The folder
//
// recording.json is the manifest: the node, the limits, what was left out, and a digest of every other file. The document is as the node gave it.
// records/ has a file for each operation, one JSON object a line: a list ("list"), an item of the list before it ("item", "detail"), another answer
// ("answer"), one that is not JSON ("content"), or the header fields of the answer at a path ("header"). redaction.json holds the key of the made-up
// values; replaying does not need it, comparing does.
package recording

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/rin-network/rin/sandbox/mockapi"
)

// Schema is the version of the folder.
const Schema = "rin.recording/v1"

// Node is the recorded node.
type Node struct {
	ID       string `json:"id,omitempty"`
	Name     string `json:"name,omitempty"`
	Acronym  string `json:"acronym,omitempty"`
	TokenURL string `json:"tokenUrl"`
	InfoURL  string `json:"infoUrl"`
	SpecURL  string `json:"specUrl"`
	// Bases are the URLs below which the paths of the document are.
	Bases []string `json:"bases"`
}

// Prefix returns the service prefix of the node's info URL; "" if the URL has another shape.
func (n Node) Prefix() string {
	u, err := url.Parse(n.InfoURL)
	if err != nil {
		return ""
	}
	prefix, ok := strings.CutSuffix(strings.TrimRight(u.Path, "/"), "/info/v1/oauth/info")
	if !ok {
		return ""
	}
	return strings.Trim(prefix, "/")
}

// Realm returns the realm of the node's token URL; "" if the URL has another shape.
func (n Node) Realm() string {
	u, err := url.Parse(n.TokenURL)
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(u.Path, "/realms/")
	realm, ok := strings.CutSuffix(rest, "/protocol/openid-connect/token")
	if !ok || strings.Contains(realm, "/") {
		return ""
	}
	return realm
}

// Limits bounds a recording.
type Limits struct {
	Records int `json:"records"` // of each list
	Pages   int `json:"pages"`   // of each list
	Paths   int `json:"paths"`   // of each operation
}

// DefaultLimits returns the limits that apply unless a user chooses others.
func DefaultLimits() Limits { return Limits{Records: 1000, Pages: 500, Paths: 5000} }

// Recording holds the records of a node.
type Recording struct {
	Node Node
	// Recorded is the time of the recording.
	Recorded time.Time
	// By is the program that recorded, with its version.
	By     string
	Limits Limits
	// Values are the values of parameters that the user gave, by name.
	Values map[string]string
	// Document is the text of the OpenAPI document, as the node gave it.
	Document []byte
	// Redacted reports that mail addresses, names of persons and tokens were replaced.
	Redacted bool
	// Operations are in the order in which they were read.
	Operations []*Operation
	// Notes say what was left out.
	Notes []Note
}

// Note says what was left out of a recording, or what is wrong with the answers of the node.
type Note struct {
	Operation string `json:"operation,omitempty"`
	Text      string `json:"text"`
}

// Operation holds the answers of one GET operation.
type Operation struct {
	// Name is the method with the path template: "GET /fundings/{id}".
	Name string
	// Lists and Answers have a [mockapi.RecordedPath] as key. An answer is decoded JSON or a [mockapi.RecordedContent].
	Lists   map[string]*mockapi.RecordedList
	Answers map[string]any
	// Headers are the header fields that a replay sends as they were recorded, with the same keys.
	Headers map[string]http.Header
	// Invalid counts the answers and items that do not fit the document; FirstInvalid says what is wrong with the first one.
	Invalid      int
	FirstInvalid string
}

func newOperation(name string) *Operation {
	return &Operation{Name: name, Lists: map[string]*mockapi.RecordedList{}, Answers: map[string]any{}, Headers: map[string]http.Header{}}
}

// Records counts the items of all lists.
func (o *Operation) Records() int {
	n := 0
	for _, l := range o.Lists {
		n += len(l.Items)
	}
	return n
}

// Details counts the items whose detail was recorded.
func (o *Operation) Details() int {
	n := 0
	for _, l := range o.Lists {
		for _, item := range l.Items {
			if item.Detail != nil {
				n++
			}
		}
	}
	return n
}

// Records counts the items of all lists of all operations.
func (r *Recording) Records() int {
	n := 0
	for _, o := range r.Operations {
		n += o.Records()
	}
	return n
}

// operation finds an operation by its name, or adds it.
func (r *Recording) operation(name string) *Operation {
	if i := slices.IndexFunc(r.Operations, func(o *Operation) bool { return o.Name == name }); i >= 0 {
		return r.Operations[i]
	}
	o := newOperation(name)
	r.Operations = append(r.Operations, o)
	return o
}

// maxNotes limits the notes of a recording.
const maxNotes = 1000

// note adds a note, unless it is there already.
func (r *Recording) note(operation, text string) {
	n := Note{operation, text}
	if len(r.Notes) < maxNotes && !slices.Contains(r.Notes, n) {
		r.Notes = append(r.Notes, n)
	}
}

// ForReplay returns the records in the form in which a sandbox serves them. If the node's document is below one of its bases, the sandbox serves it there, too.
func (r *Recording) ForReplay() *mockapi.Recorded {
	served := &mockapi.Recorded{Lists: map[string]*mockapi.RecordedList{}, Answers: map[string]any{}, Headers: map[string]http.Header{}, Bases: r.Node.Bases}
	for _, base := range r.Node.Bases {
		if below, ok := strings.CutPrefix(r.Node.SpecURL, strings.TrimRight(base, "/")+"/"); ok && !strings.ContainsAny(below, "?#%") {
			served.Document = "/" + strings.TrimRight(below, "/")
			break
		}
	}
	for _, o := range r.Operations {
		maps.Copy(served.Lists, o.Lists)
		maps.Copy(served.Answers, o.Answers)
		maps.Copy(served.Headers, o.Headers)
	}
	return served
}

// readOperations returns the GET operations of a document.
func readOperations(document []byte) ([]mockapi.ReadOperation, error) {
	d, err := mockapi.ReadDocument(document)
	if err != nil {
		return nil, err
	}
	api, err := mockapi.New(d, "", mockapi.Options{Items: 1})
	if err != nil {
		return nil, err
	}
	return api.ReadOperations(), nil
}

// sortedKeys returns the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
