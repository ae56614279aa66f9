package recording

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Partial keeps the answers of a recording that is not complete in a file beside its folder, so that the next run continues where the last one was
// interrupted. The answers are not redacted: only the user can read the file, and it is removed when the folder is written.
type Partial struct {
	path    string
	file    *os.File
	answers map[string]Answer
	began   time.Time
}

// PartialPath returns the path of the file beside a folder.
func PartialPath(folder string) string {
	folder = filepath.Clean(folder)
	return filepath.Join(filepath.Dir(folder), "."+filepath.Base(folder)+".partial")
}

// partialHead is the first line of the file.
type partialHead struct {
	Schema string `json:"schema"`
	// Source identifies the node, the client and the document. Answers of another source are not used.
	Source string    `json:"source"`
	Began  time.Time `json:"began"`
}

const partialSchema = "rin.partial/v1"

// partialLine is an answer.
type partialLine struct {
	Request string      `json:"request"`
	Status  int         `json:"status"`
	Header  http.Header `json:"header,omitempty"`
	Body    []byte      `json:"body,omitempty"`
	URL     string      `json:"url"`
}

// OpenPartial opens the file beside a folder, or makes it. A file of another source, and a line that was not written to its end, are dropped.
func OpenPartial(folder, source string, now time.Time) (*Partial, error) {
	path := PartialPath(folder)
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if info, err := root.Lstat(filepath.Base(path)); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: it is not a regular file", path)
	}
	file, err := root.OpenFile(filepath.Base(path), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	p := &Partial{path: path, file: file, answers: map[string]Answer{}, began: now}
	usable, err := p.read(source)
	if err == nil {
		err = file.Truncate(usable)
	}
	if err == nil {
		_, err = file.Seek(usable, io.SeekStart)
	}
	if err == nil && usable == 0 {
		p.answers, p.began = map[string]Answer{}, now
		err = p.write(partialHead{partialSchema, source, now.UTC()})
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return p, nil
}

// read reads the answers, and returns the number of bytes that can be used; 0 if the file is of another source.
func (p *Partial) read(source string) (usable int64, err error) {
	lines := bufio.NewReader(io.LimitReader(p.file, maxRecords))
	for number := 0; ; number++ {
		text, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return usable, nil // what follows the last line break was not written to its end
		}
		if err != nil {
			return 0, err
		}
		if number == 0 {
			var head partialHead
			if json.Unmarshal(text, &head) != nil || head.Schema != partialSchema || head.Source != source {
				return 0, nil
			}
			p.began = head.Began
		} else {
			var l partialLine
			if json.Unmarshal(text, &l) != nil {
				return usable, nil
			}
			p.answers[l.Request] = Answer{l.Status, l.Header, l.Body, l.URL}
		}
		usable += int64(len(text))
	}
}

func (p *Partial) write(value any) error {
	text, err := json.Marshal(value)
	if err == nil {
		_, err = p.file.Write(append(text, '\n'))
	}
	return err
}

// Progress returns the number of answers, and when the first run began.
func (p *Partial) Progress() (answers int, began time.Time) { return len(p.answers), p.began }

// Path returns the path of the file.
func (p *Partial) Path() string { return p.path }

// Answer returns the kept answer to a request. A nil Partial has none.
func (p *Partial) Answer(request string) (Answer, bool) {
	if p == nil {
		return Answer{}, false
	}
	a, ok := p.answers[request]
	return a, ok
}

// Keep keeps an answer, unless it is an error that may be temporary, or has one of the secrets.
func (p *Partial) Keep(request string, a Answer, secrets []string) error {
	isTemporary := a.Status >= http.StatusInternalServerError || slices.Contains([]int{http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests}, a.Status)
	if p == nil || isTemporary {
		return nil
	}
	a.Header = a.Header.Clone()
	a.Header.Del("Set-Cookie")
	header, err := json.Marshal(a.Header)
	if err != nil {
		return err
	}
	for _, secret := range secrets {
		if secret != "" && (bytes.Contains(a.Body, []byte(secret)) || bytes.Contains(header, []byte(secret))) {
			return nil
		}
	}
	p.answers[request] = a
	return p.write(partialLine{request, a.Status, a.Header, a.Body, a.URL})
}

// Close closes the file, and removes it if it has no answers.
func (p *Partial) Close() error {
	err := p.file.Close()
	if len(p.answers) == 0 {
		err = errors.Join(err, os.Remove(p.path))
	}
	return err
}

// Remove closes and removes the file, because the recording is complete.
func (p *Partial) Remove() error {
	p.answers = nil
	return p.Close()
}
