package record

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

var errHeaderLimit = errors.New("header is larger than 64 KiB")

// maxInformational bounds the 1xx answers before the real one.
const maxInformational = 8

// rawTrip writes HTTP/1.1 to the connection byte by byte as asked for.
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
		// The body is left unclosed: closing it would read the rest of an endless one first. The connection ends it.
		a, err := r.read(ctx, resp, p.limit)
		if p.toEnd && err == nil && !a.truncated && !a.broken {
			a.surplus = beyond(conn, in)
		}
		return a, err
	}
	return nil, fmt.Errorf("more than %d informational answers", maxInformational)
}

// The bounds of what is read beyond an answer. A node that keeps a connection open although it was asked to close it ends it late.
const (
	linger     = time.Second
	maxSurplus = 64 << 10
)

// beyond counts what comes until the node closes the connection. Line ends after a message are tolerated, as servers tolerate them.
func beyond(conn net.Conn, in io.Reader) int64 {
	if err := conn.SetReadDeadline(time.Now().Add(linger)); err != nil {
		return 0
	}
	rest, _ := io.ReadAll(io.LimitReader(in, maxSurplus)) // what ended it does not matter
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

// wire is the request as bytes. Field values keep their blanks.
func (p prepared) wire() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", p.request.Method, p.url.RequestURI(), p.url.Host)
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
