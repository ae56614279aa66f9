package evidence

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// WriteHAR writes the exchanges of a log as an HTTP archive for the network panel of a browser. Each followed redirect is a
// separate entry; a failed exchange has status 0 and its cause in _error. Entries are written one by one, because all of them together may
// not fit into memory. The same log gives the same bytes.
func WriteHAR(w io.Writer, log *Log, version string) error {
	frame, err := json.MarshalIndent(harFile{harLog{Version: "1.2", Creator: harCreator{"rin", version}, Pages: []struct{}{}, Entries: []harEntry{}}}, "", " ")
	if err != nil {
		return fmt.Errorf("write HAR: %w", err)
	}
	end := bytes.LastIndexByte(frame, ']') // of the empty list of entries
	out := bufio.NewWriter(w)
	out.Write(frame[:end])
	separator := "\n   "
	for _, x := range log.Exchanges {
		for _, e := range harEntries(x) {
			text, err := line(e)
			if err != nil {
				return fmt.Errorf("write HAR: %w", err)
			}
			out.WriteString(separator)
			out.Write(bytes.TrimSuffix(text, []byte("\n")))
			separator = ",\n   "
		}
	}
	if len(log.Exchanges) > 0 {
		out.WriteString("\n  ")
	}
	out.Write(frame[end:])
	out.WriteString("\n")
	if err := out.Flush(); err != nil { // keeps the first error of all writes
		return fmt.Errorf("write HAR: %w", err)
	}
	return nil
}

// harEntries returns an entry for each followed redirect, and the last one for the outcome.
func harEntries(x Exchange) []harEntry {
	var out []harEntry
	q := x.Request
	for _, h := range x.Redirects {
		q.URL = h.URL
		out = append(out, harEntryOf(x, q, &Response{Proto: "HTTP/1.1", Status: h.Status, Header: h.Header}, 0))
		q.URL = resolve(h)
	}
	last := harEntryOf(x, q, x.Response, x.Duration)
	if x.Failure != nil {
		last.Error = string(x.Failure.Kind) + ": " + x.Failure.Message
		last.Response.Error = last.Error
	}
	return append(out, last)
}

func harEntryOf(x Exchange, q Request, a *Response, d time.Duration) harEntry {
	ms := float64(d.Microseconds()) / 1000
	return harEntry{
		Started: x.Started.UTC().Format("2006-01-02T15:04:05.000Z07:00"), Time: ms, Timings: harTimings{Wait: ms},
		Request: harRequestOf(q, a), Response: harResponseOf(a), Label: x.Label, Attempts: x.Attempts,
	}
}

func harRequestOf(q Request, a *Response) harRequest {
	out := harRequest{
		Method: q.Method, URL: q.URL, HTTPVersion: "HTTP/1.1", Cookies: []harPair{}, Headers: harHeaders(q.Header),
		Query: harQuery(q.URL), HeadersSize: -1, BodySize: len(q.Body),
	}
	if a != nil {
		out.HTTPVersion = a.Proto
	}
	if len(q.Body) > 0 {
		text, encoding := harText(q.Body)
		out.PostData = &harPost{MimeType: first(q.Header, "Content-Type"), Params: []harPair{}, Text: text, Encoding: encoding}
	}
	return out
}

func harResponseOf(a *Response) harResponse {
	out := harResponse{Cookies: []harPair{}, Headers: []harPair{}, HeadersSize: -1, BodySize: -1}
	if a == nil {
		return out
	}
	out.Status, out.StatusText, out.HTTPVersion = a.Status, http.StatusText(a.Status), a.Proto
	out.Headers, out.RedirectURL = harHeaders(a.Header), first(a.Header, "Location")
	out.Content = harContent{Size: a.Size, MimeType: first(a.Header, "Content-Type")}
	out.Content.Text, out.Content.Encoding = harText(a.Body)
	return out
}

// harText returns a body as text, or binary content in base64.
func harText(body Body) (text, encoding string) {
	if body.binary() {
		return base64.StdEncoding.EncodeToString(body), "base64"
	}
	return string(body), ""
}

func harHeaders(h []Field) []harPair {
	out := make([]harPair, len(h))
	for i, f := range h {
		out[i] = harPair(f)
	}
	return out
}

// harQuery returns the query parameters of a URL in order; a parameter that cannot be decoded stays as it is.
func harQuery(address string) []harPair {
	out := []harPair{}
	_, query, _ := strings.Cut(address, "?")
	query, _, _ = strings.Cut(query, "#")
	for pair := range strings.SplitSeq(query, "&") {
		if pair != "" {
			name, value, _ := strings.Cut(pair, "=")
			out = append(out, harPair{queryUnescape(name), queryUnescape(value)})
		}
	}
	return out
}

func queryUnescape(s string) string {
	if out, err := url.QueryUnescape(s); err == nil {
		return out
	}
	return s
}

// resolve returns the URL that a redirect leads to.
func resolve(h Hop) string {
	base, err := url.Parse(h.URL)
	if err != nil {
		return h.Location
	}
	to, err := base.Parse(h.Location)
	if err != nil {
		return h.Location
	}
	return to.String()
}

// first returns the value of the first header line with that name, or "".
func first(h []Field, name string) string {
	if v := Values(h, name); len(v) > 0 {
		return v[0]
	}
	return ""
}

// The shapes of HAR 1.2 (http://www.softwareishard.com/blog/har-12-spec/). Members with an underscore are rin's own, as the format allows.
type (
	harFile struct {
		Log harLog `json:"log"`
	}
	harLog struct {
		Version string     `json:"version"`
		Creator harCreator `json:"creator"`
		Pages   []struct{} `json:"pages"`
		Entries []harEntry `json:"entries"`
	}
	harCreator struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	}
	harEntry struct {
		Started  string      `json:"startedDateTime"`
		Time     float64     `json:"time"` // ms
		Request  harRequest  `json:"request"`
		Response harResponse `json:"response"`
		Cache    struct{}    `json:"cache"`
		Timings  harTimings  `json:"timings"`
		Label    Label       `json:"_label"`
		Attempts int         `json:"_attempts,omitempty"`
		Error    string      `json:"_error,omitempty"`
	}
	harRequest struct {
		Method      string    `json:"method"`
		URL         string    `json:"url"`
		HTTPVersion string    `json:"httpVersion"`
		Cookies     []harPair `json:"cookies"`
		Headers     []harPair `json:"headers"`
		Query       []harPair `json:"queryString"`
		PostData    *harPost  `json:"postData,omitempty"`
		HeadersSize int       `json:"headersSize"`
		BodySize    int       `json:"bodySize"`
	}
	harPost struct {
		MimeType string    `json:"mimeType"`
		Params   []harPair `json:"params"`
		Text     string    `json:"text"`
		Encoding string    `json:"_encoding,omitempty"`
	}
	harResponse struct {
		Status      int        `json:"status"`
		StatusText  string     `json:"statusText"`
		HTTPVersion string     `json:"httpVersion"`
		Cookies     []harPair  `json:"cookies"`
		Headers     []harPair  `json:"headers"`
		Content     harContent `json:"content"`
		RedirectURL string     `json:"redirectURL"`
		HeadersSize int        `json:"headersSize"`
		BodySize    int        `json:"bodySize"`
		Error       string     `json:"_error,omitempty"` // where browsers look for it
	}
	harContent struct {
		Size     int64  `json:"size"`
		MimeType string `json:"mimeType"`
		Text     string `json:"text,omitempty"`
		Encoding string `json:"encoding,omitempty"`
	}
	harPair struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	harTimings struct {
		Send    float64 `json:"send"`
		Wait    float64 `json:"wait"`
		Receive float64 `json:"receive"`
	}
)
