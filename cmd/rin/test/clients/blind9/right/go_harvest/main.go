// Harvest writes the whole list as one JSON array, page after page, with net/http only.
// A next link that names another host is read for its query alone: the page is asked from our node.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

var list = os.Getenv("RIN_FUNDINGS_URL")

type client struct {
	http  *http.Client
	token string
}

func sameHost(a, b *url.URL) bool { return a.Scheme == b.Scheme && a.Host == b.Host }

func newClient() *client {
	return &client{http: &http.Client{
		Timeout: 20 * time.Second,
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			// net/http would keep the header for another port of the same host
			if len(via) > 5 || r.Method != "GET" || !sameHost(r.URL, via[0].URL) {
				return fmt.Errorf("redirect to %s not followed", r.URL.Host)
			}
			return nil
		},
	}}
}

func pause(h http.Header, attempt int) time.Duration {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.Atoi(v); err == nil {
		return time.Duration(max(1, s))*time.Second + 50*time.Millisecond
	}
	if t, err := http.ParseTime(v); err == nil {
		now, err := http.ParseTime(h.Get("Date"))
		if err != nil {
			now = time.Now()
		}
		return max(time.Second, t.Sub(now))
	}
	return time.Second << attempt
}

// do repeats while the node says that it is busy.
func (c *client) do(ctx context.Context, build func() (*http.Request, error)) (*http.Response, []byte, error) {
	for attempt := 0; ; attempt++ {
		req, err := build()
		if err != nil {
			return nil, nil, err
		}
		res, err := c.http.Do(req.WithContext(ctx))
		if err != nil {
			return nil, nil, err
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil {
			return nil, nil, fmt.Errorf("answer cut: %w", err)
		}
		if res.StatusCode != 429 && res.StatusCode != 503 || attempt == 6 {
			return res, body, nil
		}
		select {
		case <-time.After(pause(res.Header, attempt)):
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}

func (c *client) login(ctx context.Context) error {
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {os.Getenv("RIN_CLIENT_ID")},
		"client_secret": {os.Getenv("RIN_CLIENT_SECRET")}}.Encode()
	res, body, err := c.do(ctx, func() (*http.Request, error) {
		r, err := http.NewRequest("POST", os.Getenv("RIN_TOKEN_URL"), strings.NewReader(form))
		if err == nil {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		return r, err
	})
	if err != nil {
		return err
	}
	var t struct {
		AccessToken string `json:"access_token"`
	}
	if res.StatusCode != 200 || json.Unmarshal(body, &t) != nil || t.AccessToken == "" {
		return fmt.Errorf("token endpoint: %s", res.Status)
	}
	c.token = t.AccessToken
	return nil
}

func (c *client) get(ctx context.Context, u string) (*http.Response, []byte, error) {
	build := func() (*http.Request, error) {
		r, err := http.NewRequest("GET", u, nil)
		if err == nil {
			r.Header.Set("Authorization", "Bearer "+c.token)
			r.Header.Set("Accept", "application/json")
		}
		return r, err
	}
	if c.token == "" {
		if err := c.login(ctx); err != nil {
			return nil, nil, err
		}
	}
	res, body, err := c.do(ctx, build)
	if err == nil && res.StatusCode == 401 {
		if err := c.login(ctx); err != nil {
			return nil, nil, err
		}
		res, body, err = c.do(ctx, build)
	}
	if err != nil {
		return nil, nil, err
	}
	if res.StatusCode != 200 {
		return nil, nil, fmt.Errorf("%s at %s", res.Status, u)
	}
	return res, body, nil
}

func nextLink(h http.Header) string {
	for _, part := range strings.Split(strings.Join(h.Values("Link"), ","), ",") {
		target, params, _ := strings.Cut(part, ";")
		for _, p := range strings.Split(params, ";") {
			k, v, _ := strings.Cut(strings.TrimSpace(p), "=")
			if strings.EqualFold(k, "rel") && strings.EqualFold(strings.Trim(v, `"`), "next") {
				return strings.Trim(strings.TrimSpace(target), "<>")
			}
		}
	}
	return ""
}

func run(ctx context.Context, out io.Writer) (int, error) {
	base, err := url.Parse(list)
	if err != nil {
		return 0, err
	}
	page := func(skip int) *url.URL {
		u := *base
		u.RawQuery = url.Values{"page[page]": {strconv.Itoa(skip)}, "page[size]": {"80"}}.Encode()
		return &u
	}
	c, read, seen, asked := newClient(), 0, map[string]bool{}, map[string]bool{}
	var records []json.RawMessage
	for u := page(0); u != nil; {
		if asked[u.String()] {
			return 0, errors.New("next links in a circle")
		}
		asked[u.String()] = true
		res, body, err := c.get(ctx, u.String())
		if err != nil {
			return 0, err
		}
		var rows []json.RawMessage
		if err := json.Unmarshal(body, &rows); err != nil || rows == nil {
			return 0, fmt.Errorf("no list at %s: %v", u, err)
		}
		for _, row := range rows {
			var f struct{ ID string }
			if err := json.Unmarshal(row, &f); err != nil || f.ID == "" {
				return 0, fmt.Errorf("record without id: %v", err)
			}
			if !seen[f.ID] {
				seen[f.ID] = true
				records = append(records, row)
			}
		}
		read += len(rows)
		switch link := nextLink(res.Header); {
		case link != "":
			next, err := res.Request.URL.Parse(link)
			if err != nil {
				return 0, err
			}
			if !sameHost(next, base) {
				own := *base
				own.RawQuery = next.RawQuery
				next = &own
			}
			u = next
		case len(rows) > 0 && res.Header.Get("Link") == "":
			u = page(read)
		default:
			u = nil
		}
	}
	return len(records), json.NewEncoder(out).Encode(records)
}

func main() {
	n, err := run(context.Background(), os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "harvest:", err)
		os.Exit(1)
	}
	fmt.Fprintln(os.Stderr, n, "fundings")
}
