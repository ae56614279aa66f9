package recording

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rin-network/rin/sandbox/mockapi"
)

// The names in the folder.
const (
	manifestFile  = "recording.json"
	redactionFile = "redaction.json"
	recordsFolder = "records"
)

// The limits of a folder that is read, in bytes.
const (
	maxManifest = 16 << 20
	maxRecords  = 512 << 20 // all files with records together
	maxLine     = 64 << 20
)

// Damage is the error for a folder that is not a usable recording.
type Damage struct {
	File string // the path of the file that is wrong
	Err  error
	Hint string // what to do
}

// Error implements error.
func (d *Damage) Error() string { return d.File + ": " + d.Err.Error() }

// Unwrap returns the cause.
func (d *Damage) Unwrap() error { return d.Err }

// manifest is the content of recording.json.
type manifest struct {
	Schema     string            `json:"schema"`
	Recorded   time.Time         `json:"recorded"`
	By         string            `json:"by"`
	Node       Node              `json:"node"`
	Redacted   bool              `json:"redacted"`
	Limits     Limits            `json:"limits"`
	Values     map[string]string `json:"values,omitempty"`
	Document   file              `json:"document"`
	Operations []operationFile   `json:"operations"`
	Notes      []Note            `json:"notes"`
}

// file is a file of the folder with the digest of its content.
type file struct {
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
}

// operationFile is the entry of an operation in the manifest: its file, and how many records, details, other answers and invalid answers the file has.
type operationFile struct {
	Operation string `json:"operation"`
	file
	Records      int    `json:"records"`
	Details      int    `json:"details"`
	Answers      int    `json:"answers"`
	Invalid      int    `json:"invalid,omitempty"`
	FirstInvalid string `json:"firstInvalid,omitempty"`
}

// line is a line of a file with records: a list, an item, an answer or the header fields of an answer. An item belongs to the last list before it, and may
// have its detail: in Detail if that is JSON, else in Content. An answer is in Answer if it is JSON, else in Content. Path is the key of a list, an answer
// or header fields.
type line struct {
	Path   string          `json:"path,omitempty"`
	List   *listLine       `json:"list,omitempty"`
	Item   json.RawMessage `json:"item,omitempty"`
	Detail json.RawMessage `json:"detail,omitempty"`
	Answer json.RawMessage `json:"answer,omitempty"`
	// Content is an answer or a detail that is not JSON.
	Content *contentLine        `json:"content,omitempty"`
	Header  map[string][]string `json:"header,omitempty"`
}

// contentLine is content that is not JSON: in Text if it is UTF-8, else in Base64.
type contentLine struct {
	Type   string `json:"type"`
	Text   string `json:"text,omitempty"`
	Base64 []byte `json:"base64,omitempty"`
}

func newContentLine(c mockapi.RecordedContent) *contentLine {
	if utf8.Valid(c.Text) {
		return &contentLine{Type: c.Type, Text: string(c.Text)}
	}
	return &contentLine{Type: c.Type, Base64: c.Text}
}

func (l *contentLine) content() mockapi.RecordedContent {
	if len(l.Base64) > 0 {
		return mockapi.RecordedContent{Type: l.Type, Text: l.Base64}
	}
	return mockapi.RecordedContent{Type: l.Type, Text: []byte(l.Text)}
}

// listLine is a [mockapi.RecordedList] without its items.
type listLine struct {
	Member string          `json:"member,omitempty"`
	Rest   json.RawMessage `json:"rest,omitempty"`
	Paging *pagingLine     `json:"paging,omitempty"`
	Cut    bool            `json:"cut,omitempty"`
}

// pagingLine is a [mockapi.RecordedPaging].
type pagingLine struct {
	Size      int      `json:"size,omitempty"`
	Parameter string   `json:"parameter,omitempty"`
	Link      bool     `json:"link,omitempty"`
	Next      []string `json:"next,omitempty"`
	Cursor    bool     `json:"cursor,omitempty"`
	Null      bool     `json:"null,omitempty"`
	Counts    string   `json:"counts,omitempty"`
}

// Write writes a recording to a new folder. The folder appears under its name only when it is complete. redaction may be nil.
func (r *Recording) Write(folder string, redaction *Redactor) (err error) {
	folder = filepath.Clean(folder)
	if err := CheckVacant(folder); err != nil {
		return err
	}
	part, err := os.MkdirTemp(filepath.Dir(folder), "."+filepath.Base(folder)+"-") // 0700
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(part)
		}
	}()
	if err := r.writeFiles(part, redaction); err != nil {
		return err
	}
	if err := os.Remove(folder); err != nil && !errors.Is(err, fs.ErrNotExist) { // an empty folder would be in the way
		return err
	}
	return os.Rename(part, folder)
}

// CheckVacant returns an error if the folder has files, or if it does not exist and cannot be made.
func CheckVacant(folder string) error {
	entries, err := os.ReadDir(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		above, err := os.Stat(filepath.Dir(filepath.Clean(folder)))
		if err == nil && !above.IsDir() {
			err = errors.New("the folder above is a file")
		}
		return err
	case err != nil:
		return err
	case len(entries) > 0:
		return fmt.Errorf("%s: expected a new or an empty folder, got one with %d files", folder, len(entries))
	}
	return nil
}

// writeFiles writes the files into a folder. The manifest comes last, because it holds the digests of the others.
func (r *Recording) writeFiles(folder string, redaction *Redactor) error {
	m := manifest{
		Schema: Schema, Recorded: r.Recorded.UTC().Truncate(time.Second), By: r.By, Node: r.Node, Redacted: r.Redacted, Limits: r.Limits, Values: r.Values,
		Operations: []operationFile{}, Notes: append([]Note{}, r.Notes...),
	}
	name := "document.json"
	if !bytes.HasPrefix(bytes.TrimLeft(r.Document, "\xef\xbb\xbf \t\r\n"), []byte("{")) {
		name = "document.yaml"
	}
	var err error
	if m.Document, err = writeFile(folder, name, r.Document); err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(folder, recordsFolder), 0o700); err != nil {
		return err
	}
	for i, o := range r.Operations {
		text, err := o.lines()
		if err != nil {
			return err
		}
		written, err := writeFile(folder, fmt.Sprintf("%s/%03d-%s.jsonl", recordsFolder, i+1, slug(o.Name)), text)
		if err != nil {
			return err
		}
		m.Operations = append(m.Operations, operationFile{o.Name, written, o.Records(), o.Details(), len(o.Answers), o.Invalid, o.FirstInvalid})
	}
	if redaction != nil {
		if err := writeJSON(folder, redactionFile, redaction.state()); err != nil {
			return err
		}
	}
	return writeJSON(folder, manifestFile, m)
}

func writeJSON(folder, name string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	_, err = writeFile(folder, name, append(text, '\n'))
	return err
}

// writeFile writes a file that only its owner can read, and returns its entry for the manifest.
func writeFile(folder, name string, text []byte) (file, error) {
	digest := sha256.Sum256(text)
	return file{name, hex.EncodeToString(digest[:])}, os.WriteFile(filepath.Join(folder, filepath.FromSlash(name)), text, 0o600)
}

// slug turns the name of an operation into a part of a file name: "GET /owners/{id}/pets" gives "owners-id-pets".
func slug(operation string) string {
	text := regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(strings.TrimPrefix(operation, "GET ")), "-")
	text = strings.Trim(text, "-")
	return text[:min(len(text), 60)]
}

// lines returns the text of the operation's file, with everything in the order of its path, so that equal recordings are equal files.
func (o *Operation) lines() ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	var errs error
	raw := func(value any) json.RawMessage {
		var inner bytes.Buffer
		e := json.NewEncoder(&inner)
		e.SetEscapeHTML(false)
		errs = errors.Join(errs, e.Encode(value))
		return bytes.TrimSpace(inner.Bytes())
	}
	for _, path := range sortedKeys(o.Lists) {
		l := o.Lists[path]
		head := &listLine{Member: l.Member, Cut: l.Cut}
		if len(l.Rest) > 0 {
			head.Rest = raw(l.Rest)
		}
		if p := pagingLine(l.Paging); p.Size > 0 || p.Parameter != "" || p.Link || len(p.Next) > 0 {
			head.Paging = &p
		}
		errs = errors.Join(errs, encoder.Encode(line{Path: path, List: head}))
		for _, item := range l.Items {
			entry := line{Item: raw(item.Value)}
			if c, ok := item.Detail.(mockapi.RecordedContent); ok {
				entry.Content = newContentLine(c)
			} else if item.Detail != nil {
				entry.Detail = raw(item.Detail)
			}
			errs = errors.Join(errs, encoder.Encode(entry))
		}
	}
	for _, path := range sortedKeys(o.Answers) {
		entry := line{Path: path}
		if c, ok := o.Answers[path].(mockapi.RecordedContent); ok {
			entry.Content = newContentLine(c)
		} else {
			entry.Answer = raw(o.Answers[path])
		}
		errs = errors.Join(errs, encoder.Encode(entry))
	}
	for _, path := range sortedKeys(o.Headers) {
		errs = errors.Join(errs, encoder.Encode(line{Path: path, Header: o.Headers[path]}))
	}
	return b.Bytes(), errs
}

// Open reads a recording from its folder. The error is a [*Damage].
func Open(folder string) (*Recording, error) {
	fail := func(name string, err error, hint string) (*Recording, error) {
		return nil, &Damage{filepath.Join(folder, filepath.FromSlash(name)), err, hint}
	}
	text, err := readFile(folder, manifestFile, maxManifest)
	if err != nil {
		return fail(manifestFile, err, "name a folder that rin sandbox record has made")
	}
	var m manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return fail(manifestFile, fmt.Errorf("it is damaged: %w", err), "record the node again")
	}
	if m.Schema != Schema {
		return fail(manifestFile, fmt.Errorf("expected the schema %s, got %.40q", Schema, m.Schema), "record the node again with this version of rin, or use the version that made it")
	}
	r := &Recording{Node: m.Node, Recorded: m.Recorded, By: m.By, Limits: m.Limits, Values: m.Values, Redacted: m.Redacted, Notes: m.Notes}
	if r.Document, err = m.Document.read(folder, mockapi.MaxDocumentSize); err != nil {
		return fail(m.Document.File, err, "record the node again; to serve another document, use rin sandbox --spec")
	}
	bytesLeft := int64(maxRecords)
	for _, written := range m.Operations {
		text, err := written.read(folder, bytesLeft)
		if err != nil {
			return fail(written.File, err, "record the node again")
		}
		bytesLeft -= int64(len(text))
		o := newOperation(written.Operation)
		o.Invalid, o.FirstInvalid = written.Invalid, written.FirstInvalid
		if err := o.read(text); err != nil {
			return fail(written.File, err, "record the node again")
		}
		r.Operations = append(r.Operations, o)
	}
	return r, nil
}

// read reads a file that the manifest names, and compares its digest.
func (f file) read(folder string, limit int64) ([]byte, error) {
	if !filepath.IsLocal(filepath.FromSlash(f.File)) {
		return nil, errors.New("the manifest names a file outside the folder")
	}
	text, err := readFile(folder, f.File, limit)
	if err != nil {
		return nil, err
	}
	if digest := sha256.Sum256(text); hex.EncodeToString(digest[:]) != f.SHA256 {
		return nil, errors.New("it has changed since it was recorded: its digest differs from the one in " + manifestFile)
	}
	return text, nil
}

// readFile reads a regular file of a folder, up to a limit in bytes. It follows no link out of the folder. Its errors do not name the file, because [Damage]
// does.
func readFile(folder, name string, limit int64) ([]byte, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	defer root.Close()
	opened, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		var path *fs.PathError
		if errors.As(err, &path) {
			return nil, path.Err
		}
		return nil, err
	}
	defer opened.Close()
	if info, err := opened.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, errors.New("it is not a regular file"))
	}
	text, err := io.ReadAll(io.LimitReader(opened, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("it has more than %d bytes", limit)
	}
	return text, err
}

// read reads the lines of a file into the operation.
func (o *Operation) read(text []byte) error {
	scanner := bufio.NewScanner(bytes.NewReader(text))
	scanner.Buffer(nil, maxLine)
	var list *mockapi.RecordedList
	for number := 1; scanner.Scan(); number++ {
		var l line
		if err := json.Unmarshal(scanner.Bytes(), &l); err != nil {
			return fmt.Errorf("line %d is damaged: %w", number, err)
		}
		var err error
		switch {
		case l.List != nil:
			list, err = l.List.list()
			o.Lists[l.Path] = list
		case l.Item != nil && list != nil:
			var item mockapi.RecordedItem
			if item.Value, err = mockapi.DecodeJSON(l.Item); err == nil && l.Detail != nil {
				item.Detail, err = mockapi.DecodeJSON(l.Detail)
			} else if l.Content != nil {
				item.Detail = l.Content.content()
			}
			list.Items = append(list.Items, item)
		case l.Answer != nil:
			o.Answers[l.Path], err = mockapi.DecodeJSON(l.Answer)
		case l.Content != nil:
			o.Answers[l.Path] = l.Content.content()
		case l.Header != nil:
			o.Headers[l.Path] = l.Header
		default:
			err = errors.New("expected a list, an item of the list before it, or an answer")
		}
		if err != nil {
			return fmt.Errorf("line %d is damaged: %w", number, err)
		}
	}
	return scanner.Err()
}

// list returns the list without items, which follow in lines of their own.
func (l listLine) list() (*mockapi.RecordedList, error) {
	list := &mockapi.RecordedList{Member: l.Member, Cut: l.Cut, Rest: map[string]any{}}
	if l.Paging != nil {
		list.Paging = mockapi.RecordedPaging(*l.Paging)
	}
	if l.Rest == nil {
		return list, nil
	}
	value, err := mockapi.DecodeJSON(l.Rest)
	if err != nil {
		return nil, err
	}
	rest, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("expected an object as the rest of the list's answer")
	}
	list.Rest = rest
	return list, nil
}
