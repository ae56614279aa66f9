package mockapi

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// checkInterval is the minimum time between two checks of the file.
const checkInterval = time.Second

// Live is an API whose document is a file that may change: a valid new version replaces the old one; an invalid one is logged, and the old
// one stays. It is safe for concurrent use. It has no goroutine: Current checks the file.
type Live struct {
	file  string
	fixed bool // the document cannot change
	build func(*Document) (*API, error)
	now   func() time.Time
	log   *slog.Logger

	current atomic.Pointer[API]
	checked atomic.Int64 // when the file was last checked, in nanoseconds
	mu      sync.Mutex   // guards the fields below
	stamp   stamp
	text    []byte
	fault   error
}

// FileError says why the document of a file cannot be served.
type FileError struct {
	File string
	Err  error
}

// Error implements error.
func (e *FileError) Error() string { return e.File + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *FileError) Unwrap() error { return e.Err }

// stamp identifies a version of a file.
type stamp struct {
	changed time.Time
	size    int64
}

// Open reads the document of a file; build makes the API of each version. If the text of the document is given, the file is not read. The error is
// a [*FileError].
func Open(file, text string, build func(*Document) (*API, error), now func() time.Time, log *slog.Logger) (*Live, error) {
	l := &Live{file: file, fixed: text != "", build: build, now: now, log: log}
	if l.fixed {
		d, err := ReadDocument([]byte(text))
		if err != nil {
			return nil, &FileError{file, err}
		}
		api, err := build(d)
		if err != nil {
			return nil, &FileError{file, err}
		}
		l.current.Store(api)
		return l, nil
	}
	var err error
	if l.stamp, err = stampOf(file); err != nil {
		return nil, &FileError{file, err}
	}
	api, err := l.read()
	if err != nil {
		return nil, &FileError{file, err}
	}
	l.current.Store(api)
	l.checked.Store(now().UnixNano())
	return l, nil
}

func stampOf(file string) (stamp, error) {
	info, err := os.Stat(file)
	if err != nil {
		return stamp{}, err
	}
	if !info.Mode().IsRegular() {
		return stamp{}, errors.New("it is not a regular file: only a regular file can be read again when it changes")
	}
	return stamp{info.ModTime(), info.Size()}, nil
}

// read makes the API of the file's present content.
func (l *Live) read() (*API, error) {
	if l.stamp.size > MaxDocumentSize {
		return nil, fmt.Errorf("it has %d bytes; at most %d are read", l.stamp.size, MaxDocumentSize)
	}
	text, err := os.ReadFile(l.file)
	if err != nil {
		return nil, err
	}
	l.text = text
	d, err := ReadDocument(text)
	if err != nil {
		return nil, err
	}
	return l.build(d)
}

// Current returns the API of the newest valid version of the document.
func (l *Live) Current() *API {
	if l.fixed {
		return l.current.Load()
	}
	now, before := l.now().UnixNano(), l.checked.Load()
	// If the clock was set back, the file is checked as well.
	if since := time.Duration(now - before); since >= 0 && since < checkInterval || !l.checked.CompareAndSwap(before, now) {
		return l.current.Load()
	}
	l.reload()
	return l.current.Load()
}

// reload reads the file again if it has changed.
func (l *Live) reload() {
	l.mu.Lock()
	defer l.mu.Unlock()
	latest, err := stampOf(l.file)
	if err == nil && latest == l.stamp {
		return
	}
	l.stamp = latest
	before := l.text
	var api *API
	if err == nil {
		api, err = l.read()
	}
	switch {
	case err != nil && (l.fault == nil || l.fault.Error() != err.Error()):
		l.log.Warn("the new version of the document cannot be served; the previous one is still served", "file", l.file, "reason", err)
	case err == nil && !(bytes.Equal(before, l.text) && l.fault == nil):
		l.current.Store(api)
		l.log.Info("the document has changed and is served", "file", l.file, "operations", api.Operations())
		for _, fault := range api.Omissions() {
			l.log.Warn("an operation of the document is not served", "file", l.file, "reason", fault.String())
		}
	}
	l.fault = err
}

// File returns the name of the document's file.
func (l *Live) File() string { return l.file }

// Fault says why the newest version of the document is not served; nil if it is.
func (l *Live) Fault() error {
	l.Current()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fault
}
