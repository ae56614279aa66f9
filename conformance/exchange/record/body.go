package record

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/exchange"
)

// reply is an answer as it came, with its body decoded.
type reply struct {
	proto     string
	status    int
	header    http.Header
	body      []byte
	truncated bool
	bodyError string
	broken    bool // the connection ended within the body
	surplus   int64
}

// read takes the whole answer. The error is that of time or of the status line; every other fault of a body is part of the reply.
func (r *Recorder) read(ctx context.Context, resp *http.Response, limit int64) (*reply, error) {
	if resp.StatusCode < 100 { // net/http lets "000" pass (RFC 9110 §15)
		return nil, fmt.Errorf("malformed HTTP status %03d", resp.StatusCode)
	}
	a := &reply{proto: resp.Proto, status: resp.StatusCode, header: resp.Header}
	wire, over, err := r.bodies.readUpTo(resp.Body, limit)
	if ctx.Err() != nil && err != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		a.broken, a.bodyError = true, "connection ended within the body: "+plainCause(err)
	}
	a.truncated = over
	var decodeErr error
	a.body, over, decodeErr = r.bodies.decode(wire, resp.Header.Values("Content-Encoding"), limit)
	a.truncated = a.truncated || over
	if decodeErr != nil && a.bodyError == "" && !a.truncated {
		a.bodyError = decodeErr.Error()
	}
	return a, nil
}

func (a *reply) response() *exchange.Response {
	return &exchange.Response{
		Proto: a.proto, Status: a.status, Header: fields(a.header), Body: a.body,
		Size: int64(len(a.body)), Truncated: a.truncated, Surplus: a.surplus, BodyError: a.bodyError,
	}
}

// fields lists a header by name, with the values of one name in their order.
func fields(h http.Header) []exchange.Field {
	var out []exchange.Field
	for name, values := range h {
		for _, v := range values {
			out = append(out, exchange.Field{Name: name, Value: v})
		}
	}
	slices.SortStableFunc(out, func(a, b exchange.Field) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// maxCodings bounds how often a body may be compressed over.
const maxCodings = 3

// decode undoes the content codings, the last one first (RFC 9110 §8.4), each bounded by limit. What was decoded before an error
// is kept.
func (a *allowance) decode(body []byte, header []string, limit int64) (out []byte, over bool, err error) {
	var codings []string
	for _, c := range strings.Split(strings.Join(header, ","), ",") {
		if c = strings.ToLower(strings.TrimSpace(c)); c != "" && c != "identity" {
			codings = append(codings, c)
		}
	}
	if len(codings) > maxCodings {
		return body, false, fmt.Errorf("expected at most %d content codings, got %d", maxCodings, len(codings))
	}
	for _, c := range slices.Backward(codings) {
		if len(body) == 0 {
			break // such as the answer to HEAD
		}
		in, err := decoder(c, body)
		if err != nil {
			return body, over, err
		}
		var more bool
		body, more, err = a.readUpTo(in, limit)
		if over = over || more; err != nil {
			return body, over, fmt.Errorf("content coding %s: %s", c, plainCause(err))
		}
	}
	return body, over, nil
}

func decoder(coding string, body []byte) (io.Reader, error) {
	switch coding {
	case "gzip", "x-gzip":
		in, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, fmt.Errorf("content coding gzip: %s", plainCause(err))
		}
		return in, nil
	case "deflate":
		// The name means the zlib format; some servers send bare deflate all the same.
		in := bufio.NewReader(bytes.NewReader(body))
		if z, err := zlib.NewReader(bytes.NewReader(body)); err == nil {
			return z, nil
		}
		return flate.NewReader(in), nil
	}
	return nil, fmt.Errorf("content coding %.40q is not known and was not asked for", coding)
}

// plainCause is an error without addresses, which differ from run to run.
func plainCause(err error) string {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return "unexpected end"
	}
	return boundedMessage(err)
}
