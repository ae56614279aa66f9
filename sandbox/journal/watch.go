package journal

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Place describes the node that a journal watches.
type Place struct {
	// Node is its member id.
	Node string
	// TokenPath is the path of its token endpoint.
	TokenPath string
	// Now is its clock.
	Now func() time.Time
	// Origin returns the base URL that a request was sent to.
	Origin func(*http.Request) string
	// Classify returns the operation of a path, and whether it is in the try-out space.
	Classify func(path string) (o Operation, tryOut bool)
}

// Watch records each request to next. A nil journal records nothing.
func (j *Journal) Watch(place Place, next http.Handler) http.Handler {
	if j == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		writer := &answerWriter{ResponseWriter: w, request: r, journal: j, now: place.Now}
		note := &writer.note
		note.fingerprinter = j.fingerprinter
		note.entry.Time, note.entry.Node, note.entry.TokenPath, note.entry.Origin = place.Now(), place.Node, place.TokenPath, place.Origin(r)
		note.entry.Earliest = j.earliest(r.Context())
		note.entry.Operation, note.entry.TryOut = place.Classify(r.URL.Path)
		note.read(r)
		returned := false
		// The entry is added even if next panics. net/http then cuts the answer.
		defer func() { writer.finish(returned) }()
		next.ServeHTTP(writer, r.WithContext(context.WithValue(r.Context(), noteKey{}, note)))
		returned = true
	})
}

// read copies the parts of the request that an entry keeps.
func (n *Note) read(r *http.Request) {
	e := &n.entry
	e.Method = truncate(r.Method, 20)
	e.Path = truncate(n.fingerprinter.scrub(r.URL.Path), maxPath)
	e.Query, e.Exposed = n.fingerprinter.scrubQuery(r.URL.RawQuery)
	e.Peer = r.RemoteAddr
	field := func(name string) string { return truncate(n.fingerprinter.scrub(r.Header.Get(name)), maxField) }
	e.Agent, e.Accept, e.ContentType, e.IfNoneMatch = field("User-Agent"), joinAccept(n, r), field("Content-Type"), field("If-None-Match")
	e.IfModifiedSince = field("If-Modified-Since")
	e.Authorization, e.Client = n.fingerprinter.authorization(r.Header["Authorization"])
	e.Client = truncate(n.fingerprinter.scrub(e.Client), maxClient)
	e.Fields = n.fingerprinter.fields(r.Header)
}

// joinAccept joins the Accept fields, which are one list (RFC 9110 §5.3).
func joinAccept(n *Note, r *http.Request) string {
	fields := r.Header["Accept"]
	if len(fields) == 1 {
		return truncate(n.fingerprinter.scrub(fields[0]), maxField)
	}
	return truncate(n.fingerprinter.scrub(strings.Join(fields[:min(len(fields), 8)], ", ")), maxField)
}

// answerWriter passes the answer on without buffering, and records its status and size.
type answerWriter struct {
	http.ResponseWriter
	note    Note
	request *http.Request
	journal *Journal
	now     func() time.Time
	// declared is the value of the answer's Content-Length; -1 without one.
	declared int64
	finished bool
	hijacked bool
}

// WriteHeader implements http.ResponseWriter. A status below 200, except 101, is not recorded, because the final status follows it.
func (a *answerWriter) WriteHeader(status int) {
	if a.note.entry.Status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		a.note.entry.Status = status
		a.readLength()
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write implements io.Writer.
func (a *answerWriter) Write(p []byte) (int, error) {
	if a.note.entry.Status == 0 {
		a.note.entry.Status = http.StatusOK
		a.readLength()
	}
	// A client that has received the last byte may read the journal at once. So the entry is added before the last byte is sent.
	if sent := a.note.entry.Bytes + int64(len(p)); a.declared >= 0 && sent >= a.declared && !a.finished {
		a.note.entry.Bytes = sent
		a.finish(true)
		return a.ResponseWriter.Write(p)
	}
	n, err := a.ResponseWriter.Write(p)
	a.note.entry.Bytes += int64(n)
	return n, err
}

// readLength reads the declared length of the answer.
func (a *answerWriter) readLength() {
	length, err := strconv.ParseInt(a.Header().Get("Content-Length"), 10, 64)
	if err != nil {
		length = -1
	}
	a.declared = length
}

// Hijack implements http.Hijacker. The journal does not see data that is sent on the connection afterwards.
func (a *answerWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffered, err := http.NewResponseController(a.ResponseWriter).Hijack()
	a.hijacked = a.hijacked || err == nil
	return conn, buffered, err
}

// Unwrap lets http.ResponseController reach the connection.
func (a *answerWriter) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// finish completes the entry from the answer and adds it to the journal. Only the first call does so. returned is false if the handler panicked.
func (a *answerWriter) finish(returned bool) {
	if a.finished {
		return
	}
	a.finished = true
	e := &a.note.entry
	e.Ended = a.now()
	if returned && e.Status == 0 && !a.hijacked {
		e.Status = http.StatusOK // net/http sends it for a handler that wrote nothing
	}
	e.Cut = !returned || !a.hijacked && a.request.Context().Err() != nil
	h := a.Header()
	e.ResponseType, e.ETag, e.RetryAfter = truncate(h.Get("Content-Type"), maxField), truncate(h.Get("ETag"), maxField), truncate(h.Get("Retry-After"), 60)
	if location := h.Get("Location"); location != "" {
		before, query, _ := strings.Cut(location, "?")
		e.Location = truncate(a.note.fingerprinter.scrub(before), maxPath)
		if clean, _ := a.note.fingerprinter.scrubQuery(query); clean != "" {
			e.Location += "?" + clean
		}
	}
	a.journal.add(e)
}
