package record

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"github.com/rin-network/rin/conformance/exchange"
)

// result is one attempt: a reply or a failure.
type result struct {
	reply       *reply
	failure     *exchange.Failure
	established bool // a connection came about, so the node may have seen the request
}

// errLate is the cause when one request outlives its own time.
var errLate = errors.New("no complete answer in time")

func transport(o Options) *http.Transport {
	return &http.Transport{
		Proxy:                  nil, // the environment does not decide where credentials go
		DialContext:            (&net.Dialer{KeepAlive: 15 * time.Second}).DialContext,
		TLSClientConfig:        tlsConfig(o),
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // decoding is bounded, see body.go
		MaxResponseHeaderBytes: HeaderLimit,
		MaxIdleConnsPerHost:    o.Concurrency,
		IdleConnTimeout:        o.Timeout,
	}
}

func tlsConfig(o Options) *tls.Config {
	return &tls.Config{RootCAs: o.RootCAs, MinVersion: tls.VersionTLS12, Time: o.Clock}
}

// attempt sends once and reads the whole answer within the time of one request.
func (r *Recorder) attempt(ctx context.Context, p prepared) result {
	timed, cancel := context.WithTimeoutCause(ctx, p.timeout, errLate)
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
