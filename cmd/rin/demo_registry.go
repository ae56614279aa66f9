package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
)

// registryOf is the registry document of a sandbox with TLS, asked for without a connection.
func registryOf(ctx context.Context, node http.Handler, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, fmt.Errorf("ask the sandbox for its registry: %w", err)
	}
	request.TLS = &tls.ConnectionState{} // the document names URLs as the caller sees them
	var w document
	node.ServeHTTP(&w, request)
	return w.body.Bytes(), nil
}

// document is an answer whose body is all that matters.
type document struct {
	header http.Header
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (d *document) Header() http.Header {
	if d.header == nil {
		d.header = http.Header{}
	}
	return d.header
}

// Write implements http.ResponseWriter.
func (d *document) Write(p []byte) (int, error) { return d.body.Write(p) }

// WriteHeader implements http.ResponseWriter; an error document is one that holds no entries.
func (d *document) WriteHeader(int) {}
