package representation

import (
	"compress/gzip"
	"io"
	"net/http"
)

// Stream answers r with a body that is written piece by piece, for answers too large to be kept. seed identifies
// the content: equal seeds promise equal bytes, so the tag is known before the body is made. write is called once,
// and not at all for HEAD or 304; its error ends the connection, because the status line is already sent.
func Stream(w http.ResponseWriter, r *http.Request, mediaType string, headers Headers, seed []byte, write func(io.Writer) error) {
	zipped := AcceptsGzip(r.Header.Values("Accept-Encoding"))
	h := w.Header()
	if prepare(h, r, headers, fingerprint(seed), zipped) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", mediaType)
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return
	}
	if !zipped {
		abortOn(write(w))
		return
	}
	// The level is a valid constant.
	z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
	abortOn(write(z))
	abortOn(z.Close())
}

// abortOn cuts the connection: a body that ends early must not look complete (RFC 9112 §8).
func abortOn(err error) {
	if err != nil {
		panic(http.ErrAbortHandler)
	}
}
