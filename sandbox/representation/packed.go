package representation

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"sync"
)

// Packed is a file in gzip form that is sent as it is, and unpacked on the way for the few callers that do not accept it. Nothing of
// it is read before the first request, and none of it is kept in memory.
type Packed struct {
	mediaType string
	open      func() (fs.File, error)
	tag       func() (string, error)
}

// NewPacked makes a representation of the media type from a gzip file.
func NewPacked(mediaType string, files fs.FS, name string) *Packed {
	p := &Packed{mediaType: mediaType, open: func() (fs.File, error) { return files.Open(name) }}
	p.tag = sync.OnceValues(p.digest)
	return p
}

func (p *Packed) digest() (string, error) {
	file, err := p.open()
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:12]), nil
}

// Serve answers r with the file, as [Body.Serve] does. Its error comes before anything is sent.
func (p *Packed) Serve(w http.ResponseWriter, r *http.Request, headers Headers) error {
	tag, err := p.tag()
	if err != nil {
		return fmt.Errorf("read a packed file: %w", err)
	}
	file, err := p.open()
	if err != nil {
		return fmt.Errorf("open a packed file: %w", err)
	}
	defer file.Close()
	size, err := file.Stat()
	if err != nil {
		return fmt.Errorf("open a packed file: %w", err)
	}
	zipped := AcceptsGzip(r.Header.Values("Accept-Encoding"))
	if prepare(w.Header(), r, headers, tag, zipped) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	w.Header().Set("Content-Type", p.mediaType)
	if zipped {
		w.Header().Set("Content-Length", strconv.FormatInt(size.Size(), 10))
	}
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	var content io.Reader = file
	if !zipped {
		content, err = gzip.NewReader(file)
	}
	if err == nil {
		_, err = io.Copy(w, content)
	}
	abortOn(err)
	return nil
}
