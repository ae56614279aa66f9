package recorder

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
)

// result is one attempt: a reply or a failure.
type result struct {
	reply       *reply
	failure     *evidence.Failure
	established bool // the node may have seen the request
}

// errTimeout is the cause when a request exceeds its time.
var errTimeout = errors.New("no complete answer in time")

func transport(o Options) *http.Transport {
	return &http.Transport{
		Proxy:                  nil, // the environment does not decide where credentials go
		DialContext:            (&net.Dialer{KeepAlive: 15 * time.Second}).DialContext,
		TLSClientConfig:        tlsConfig(o),
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // decode decompresses, within bounds
		MaxResponseHeaderBytes: HeaderLimit,
		MaxIdleConnsPerHost:    max(o.Concurrency, limitedBurst), // a burst that has to connect does not arrive at once
		IdleConnTimeout:        o.Timeout,
	}
}

func tlsConfig(o Options) *tls.Config {
	return &tls.Config{RootCAs: o.RootCAs, MinVersion: tls.VersionTLS12, Time: o.Clock}
}

// attempt sends once and reads the whole answer within the time of one request.
func (r *Recorder) attempt(ctx context.Context, p prepared) result {
	timed, cancel := context.WithTimeoutCause(ctx, p.timeout, errTimeout)
	defer cancel()
	var established atomic.Bool
	var resp *reply
	var err error
	if p.request.Raw {
		resp, err = r.rawTrip(timed, p, &established)
	} else {
		resp, err = r.roundTrip(timed, p, &established)
	}
	if err != nil {
		return result{failure: r.classify(ctx, timed, p.timeout, err, established.Load()), established: established.Load()}
	}
	return result{reply: resp, established: true}
}

func (r *Recorder) roundTrip(ctx context.Context, p prepared, established *atomic.Bool) (*reply, error) {
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { established.Store(true) },
	})
	req, err := http.NewRequestWithContext(ctx, p.request.Method, p.request.URL, bytes.NewReader(p.request.Body))
	if err != nil {
		return nil, err
	}
	for _, f := range p.request.Header {
		if http.CanonicalHeaderKey(f.Name) == "Host" {
			req.Host = f.Value
			continue
		}
		req.Header[f.Name] = append(req.Header[f.Name], f.Value)
	}
	resp, err := r.client.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return r.read(ctx, resp, p.limit)
}

var errHeaderLimit = errors.New("header is larger than 64 KiB")

// maxInformational bounds the 1xx answers before the final one.
const maxInformational = 8

// rawTrip writes HTTP/1.1 to the connection byte by byte.
func (r *Recorder) rawTrip(ctx context.Context, p prepared, established *atomic.Bool) (*reply, error) {
	conn, err := r.dial(ctx, p)
	if err != nil {
		return nil, err
	}
	established.Store(true)
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := conn.Write(p.wire()); err != nil {
		return nil, err
	}
	limited := &io.LimitedReader{R: conn, N: HeaderLimit}
	in := bufio.NewReader(limited)
	for range maxInformational {
		resp, err := http.ReadResponse(in, &http.Request{Method: p.request.Method})
		if err != nil {
			if limited.N <= 0 {
				return nil, errHeaderLimit
			}
			return nil, err
		}
		if resp.StatusCode/100 == 1 && resp.StatusCode != http.StatusSwitchingProtocols {
			continue
		}
		limited.N = math.MaxInt64 // the body has a limit of its own
		// Closing the body would read the rest of an endless one; the connection ends it instead.
		a, err := r.read(ctx, resp, p.limit)
		if p.toEnd && err == nil && !a.truncated && !a.broken {
			a.surplus = countSurplus(conn, in)
		}
		return a, err
	}
	return nil, fmt.Errorf("more than %d informational answers", maxInformational)
}

// Bounds of what is read after an answer. Some nodes keep a connection open although they were asked to close it.
const (
	linger     = time.Second
	maxSurplus = 64 << 10
)

// countSurplus counts the bytes until the node closes the connection. It ignores line ends at the start, as servers
// do before a request (RFC 9112 §2.2).
func countSurplus(conn net.Conn, in io.Reader) int64 {
	if err := conn.SetReadDeadline(time.Now().Add(linger)); err != nil {
		return 0
	}
	rest, _ := io.ReadAll(io.LimitReader(in, maxSurplus)) // the reason for the end does not matter
	return int64(len(bytes.TrimLeft(rest, "\r\n")))
}

func (r *Recorder) dial(ctx context.Context, p prepared) (net.Conn, error) {
	port := p.url.Port()
	if port == "" {
		port = p.url.Scheme
	}
	address := net.JoinHostPort(p.url.Hostname(), port)
	if p.url.Scheme == "http" {
		return (&net.Dialer{}).DialContext(ctx, "tcp", address)
	}
	config := tlsConfig(r.options)
	config.NextProtos = []string{"http/1.1"}
	return (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", address)
}

// wire returns the request as bytes. Field values keep their blanks.
func (p prepared) wire() []byte {
	var b strings.Builder
	version := "1.1"
	if p.http10 {
		version = "1.0"
	}
	fmt.Fprintf(&b, "%s %s HTTP/%s\r\nHost: %s\r\n", p.request.Method, p.url.RequestURI(), version, p.url.Host)
	for _, f := range p.request.Header {
		b.WriteString(f.Name + ": " + f.Value + "\r\n")
	}
	if len(p.request.Body) > 0 {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(p.request.Body))
	}
	b.WriteString("\r\n")
	b.Write(p.request.Body)
	return []byte(b.String())
}

// reply is an answer. Its body is as it came until [Recorder.unpack] removes the content codings.
type reply struct {
	proto     string
	status    int
	header    http.Header
	body      []byte
	wire      int       // bytes of the body as it came
	codings   []string  // of the body as it came
	decoded   codedBody // what the whole body was decoded from; zero for a body that is not remembered
	truncated bool
	bodyError string
	broken    bool // the connection ended within the body
	surplus   int64
}

// read reads the whole answer. The error is a timeout or a bad status line; every other fault is part of the reply.
func (r *Recorder) read(ctx context.Context, resp *http.Response, limit int64) (*reply, error) {
	if resp.StatusCode < 100 { // net/http accepts "000" (RFC 9110 §15)
		return nil, fmt.Errorf("malformed HTTP status %03d", resp.StatusCode)
	}
	a := &reply{proto: resp.Proto, status: resp.StatusCode, header: resp.Header}
	if evidence.MediaType(resp.Header.Get("Content-Type")) == "text/event-stream" { // it never ends
		a.truncated = true
		return a, nil
	}
	wire, over, err := r.bodies.readUpTo(resp.Body, limit, resp.ContentLength)
	if ctx.Err() != nil && err != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		a.broken, a.bodyError = true, "connection ended within the body: "+plainCause(err)
	}
	a.body, a.truncated, a.wire = wire, over, len(wire)
	a.codings = evidence.Codings(fields(resp.Header))
	return a, nil
}

// unpack removes the content codings of a body. Afterwards a.codings are the codings that it removed. A large body waits until fewer than [maxLarge] others
// are unpacked and not yet recorded. The caller must call done when it has recorded the answer.
func (r *Recorder) unpack(ctx context.Context, a *reply, limit int64) (done func()) {
	done = func() {}
	known, key, ok := r.decoded.recall(a, limit)
	if ok && (len(a.codings) == 0 || r.bodies.charge(len(known))) {
		a.body = known
		return done
	}
	if n := len(a.codings); n > 0 && decodedLength(a.codings[n-1], a.body) >= largeBody {
		select {
		case r.large <- struct{}{}:
			done = func() { <-r.large }
		case <-ctx.Done():
		}
	}
	body, left, over, err := r.bodies.decode(a.body, a.codings, limit)
	if left == 0 && !over && err == nil && !a.truncated && a.bodyError == "" {
		a.decoded = key
	}
	a.body, a.codings, a.truncated = body, a.codings[left:], a.truncated || over
	if err != nil && a.bodyError == "" && !a.truncated {
		a.bodyError = err.Error()
	}
	return done
}

func (a *reply) response() *evidence.Response {
	return &evidence.Response{
		Proto: a.proto, Status: a.status, Header: fields(a.header), Body: a.body,
		Wire: int64(a.wire), Coding: a.codings, Size: int64(len(a.body)), Truncated: a.truncated, Surplus: a.surplus, BodyError: a.bodyError,
	}
}

// fields lists a header by name, the values of one name in their order.
func fields(h http.Header) []evidence.Field {
	var out []evidence.Field
	for name, values := range h {
		for _, v := range values {
			out = append(out, evidence.Field{Name: name, Value: v})
		}
	}
	slices.SortStableFunc(out, func(a, b evidence.Field) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// maxCodings bounds how many times a body may be compressed.
const maxCodings = 3

// decode undoes the content codings, the last one first (RFC 9110 §8.4), each bounded by limit. If one fails, it returns the
// result so far; left is the number of codings that are still in it.
func (a *allowance) decode(body []byte, codings []string, limit int64) (out []byte, left int, over bool, err error) {
	left = len(codings)
	if left > maxCodings {
		return body, left, false, fmt.Errorf("expected at most %d content codings, got %d", maxCodings, left)
	}
	for ; left > 0 && len(body) > 0; left-- { // an answer to HEAD has no body, for example
		in, err := decoder(codings[left-1], body)
		if err != nil {
			return body, left, over, err
		}
		decoded, more, err := a.readUpTo(in, limit, decodedLength(codings[left-1], body))
		if body, over = decoded, over || more; err != nil {
			return body, left - 1, over, fmt.Errorf("content coding %s: %s", codings[left-1], plainCause(err))
		}
	}
	return body, left, over, nil
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
		// The name means the zlib format, but some servers send bare deflate.
		in := bufio.NewReader(bytes.NewReader(body))
		if z, err := zlib.NewReader(bytes.NewReader(body)); err == nil {
			return z, nil
		}
		return flate.NewReader(in), nil
	}
	return nil, fmt.Errorf("content coding %.40q is not known and was not asked for", coding)
}

// decodedLength returns the length of a body without its content coding, or 0 if the coding does not state it. A gzip file ends with that length (RFC 1952
// §2.3.1), and grows at most by the factor 1,032.
func decodedLength(coding string, body []byte) int64 {
	if !strings.HasSuffix(coding, "gzip") || len(body) < 4 {
		return 0
	}
	return min(int64(binary.LittleEndian.Uint32(body[len(body)-4:])), 1032*int64(len(body)))
}

// plainCause returns an error without addresses, which differ from run to run.
func plainCause(err error) string {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return "unexpected end"
	}
	return boundedMessage(err)
}

// decodedBodies remembers recorded bodies without their content codings. A run gets the same list with many credentials: it is decoded once, and
// all exchanges share its bytes.
type decodedBodies struct {
	mu     sync.Mutex
	seed   maphash.Seed
	bodies map[codedBody][]byte
}

// codedBody identifies a body as it came, by its hash. A node does not know the seed of the hash, so it cannot make two bodies look equal.
type codedBody struct {
	hash    uint64
	length  int
	codings string
}

// Bounds of what is remembered: short bodies are decoded quickly, and a hostile node sends many long ones.
const (
	minDecoded = 128  // bytes, as they come
	maxDecoded = 1000 // bodies
)

func newDecodedBodies() *decodedBodies {
	return &decodedBodies{seed: maphash.MakeSeed(), bodies: map[codedBody][]byte{}}
}

// recall returns the body of an answer without its content codings, if it is remembered and within the limit. key is for keep.
func (d *decodedBodies) recall(a *reply, limit int64) (body []byte, key codedBody, ok bool) {
	if len(a.body) == 0 || len(a.codings) > 1 {
		return nil, codedBody{}, false
	}
	key = codedBody{maphash.Bytes(d.seed, a.body), len(a.body), strings.Join(a.codings, ",")}
	d.mu.Lock()
	defer d.mu.Unlock()
	body, ok = d.bodies[key]
	return body, key, ok && int64(len(body)) <= limit
}

// keep remembers a decoded body. The evidence holds the same bytes.
func (d *decodedBodies) keep(key codedBody, body []byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if key.length > 0 && len(body) >= minDecoded && len(d.bodies) < maxDecoded {
		d.bodies[key] = body
	}
}
