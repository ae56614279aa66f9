package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/mockapi"
)

// Bounds of a download.
const (
	downloadTimeout = 10 * time.Second
	maxRedirects    = 5
	maxReplyHeader  = 64 << 10 // bytes
)

// download reads a URL, at most limit bytes. It follows a few redirects, but never from https to http.
func download(ctx context.Context, place string, limit int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, downloadTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, place, nil)
	if err != nil || req.URL.Host == "" { // err is left out, because it repeats the URL, or a part of its password
		return nil, errors.New("expected a URL such as https://api.example/path")
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxResponseHeaderBytes = maxReplyHeader
	defer transport.CloseIdleConnections()
	client := http.Client{Transport: transport, CheckRedirect: checkRedirect}
	answer, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("expected status 200, got %d", answer.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, limit+1))
	if err == nil && int64(len(text)) > limit {
		return nil, fmt.Errorf("the answer has more than %d bytes", limit)
	}
	return text, err
}

func checkRedirect(next *http.Request, before []*http.Request) error {
	switch scheme := next.URL.Scheme; {
	case len(before) > maxRedirects:
		return fmt.Errorf("more than %d redirects", maxRedirects)
	case scheme != "https" && scheme != before[len(before)-1].URL.Scheme:
		return errors.New("the redirect leads from https to " + scheme)
	}
	return nil
}

// downloadSpecs reads the documents that nodes name by URL.
func downloadSpecs(ctx context.Context, nodes []sandbox.Config) error {
	texts := map[string]string{}
	for i := range nodes {
		api := &nodes[i].API
		if !isURL(api.File) {
			continue
		}
		if texts[api.File] == "" {
			text, err := download(ctx, api.File, mockapi.MaxDocumentSize)
			if err == nil && len(text) == 0 {
				err = errors.New("the answer is empty")
			}
			if err != nil {
				return usage(fmt.Errorf("--spec: %s: %w", withoutPassword(api.File), err), "give the URL of the document itself, or download it and name the file; is its server up?")
			}
			texts[api.File] = string(text)
		}
		api.Text, api.File = texts[api.File], withoutPassword(api.File)
	}
	return nil
}

// withoutPassword hides the password in a URL that is going to be shown. In a URL that cannot be parsed, everything before the last @ may be a part of it.
func withoutPassword(place string) string {
	if u, err := url.Parse(place); err == nil && (u.Host != "" || !isURL(place)) {
		return u.Redacted()
	}
	at := strings.LastIndex(place, "@")
	if !isURL(place) || at < 0 {
		return place
	}
	scheme, _, hasScheme := strings.Cut(place, "://")
	if !hasScheme {
		return "…" + place[at:]
	}
	return scheme + "://…" + place[at:]
}
