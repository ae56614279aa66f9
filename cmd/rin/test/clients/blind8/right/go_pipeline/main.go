// Command pipeline streams all fundings of a node as JSON lines: pages are read
// by one goroutine and written by another.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	pageSize = 50
	maxPages = 300
)

var client = &http.Client{
	Timeout:       20 * time.Second,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

type reply struct {
	status int
	header http.Header
	body   []byte
	url    *url.URL
}

func sameOrigin(a, b *url.URL) bool {
	port := func(u *url.URL) string {
		if p := u.Port(); p != "" {
			return p
		}
		return map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func retryAfter(h http.Header) (time.Duration, bool) {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.Atoi(v); err == nil && n >= 0 {
		return time.Duration(n) * time.Second, true
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0, false
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(0, at.Sub(now)), true
}

// persist sends the request that build makes until it has a complete answer.
func persist(ctx context.Context, start string, build func(u string) (*http.Request, error)) (*reply, error) {
	at, err := url.Parse(start)
	if err != nil {
		return nil, err
	}
	failures, waits, hops := 0, 0, 0
	for {
		req, err := build(at.String())
		if err != nil {
			return nil, err
		}
		rep, err := once(req.WithContext(ctx))
		if err == nil {
			switch s := rep.status; {
			case s == 301 || s == 302 || s == 307 || s == 308:
				to, err := at.Parse(rep.header.Get("Location"))
				hops++
				if err != nil || !sameOrigin(at, to) || hops > 4 {
					return nil, fmt.Errorf("%s: redirect to %s", at, rep.header.Get("Location"))
				}
				at = to
				continue
			case s == 429 || s == 503:
				if d, ok := retryAfter(rep.header); ok {
					if waits++; waits > 5 || d > 15*time.Minute {
						return nil, fmt.Errorf("%s: %d, wait %s", at, s, d)
					}
					time.Sleep(d + 50*time.Millisecond)
					continue
				}
				err = fmt.Errorf("status %d", s)
				failures++
				if failures > 3 {
					return nil, err
				}
				time.Sleep(time.Second << failures / 2)
				continue
			case s < 500:
				return rep, nil
			}
			err = fmt.Errorf("status %d", rep.status)
		}
		if failures++; failures > 3 {
			return nil, fmt.Errorf("%s: %w", at, err)
		}
		time.Sleep(time.Second << failures / 2)
	}
}

func once(req *http.Request) (*reply, error) {
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == 200 && !json.Valid(body) {
		return nil, errors.New("the answer is not complete JSON")
	}
	return &reply{resp.StatusCode, resp.Header, body, req.URL}, nil
}

type account struct {
	token string
	until time.Time
}

func (a *account) renew(ctx context.Context) error {
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {os.Getenv("RIN_CLIENT_ID")},
		"client_secret": {os.Getenv("RIN_CLIENT_SECRET")}}.Encode()
	rep, err := persist(ctx, os.Getenv("RIN_TOKEN_URL"), func(u string) (*http.Request, error) {
		req, err := http.NewRequest("POST", u, strings.NewReader(form))
		if err == nil {
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		return req, err
	})
	if err != nil {
		return err
	}
	var doc struct {
		AccessToken string      `json:"access_token"`
		ExpiresIn   json.Number `json:"expires_in"`
	}
	if err := json.Unmarshal(rep.body, &doc); rep.status != 200 || err != nil || doc.AccessToken == "" {
		return fmt.Errorf("no token: status %d", rep.status)
	}
	a.token, a.until = doc.AccessToken, time.Now().Add(1000*time.Hour)
	if s, err := doc.ExpiresIn.Float64(); err == nil && s > 0 {
		a.until = time.Now().Add(time.Duration(s * 0.85 * float64(time.Second)))
	}
	return nil
}

func (a *account) get(ctx context.Context, u string) (*reply, error) {
	for last := false; ; last = true {
		rep, err := persist(ctx, u, func(u string) (*http.Request, error) {
			if a.token == "" || time.Now().After(a.until) {
				if err := a.renew(ctx); err != nil {
					return nil, err
				}
			}
			req, err := http.NewRequest("GET", u, nil)
			if err == nil {
				req.Header.Set("Authorization", "Bearer "+a.token)
				req.Header.Set("Accept", "application/json")
			}
			return req, err
		})
		switch {
		case err != nil:
			return nil, err
		case rep.status == 401 && !last:
			if err := a.renew(ctx); err != nil {
				return nil, err
			}
		case rep.status != 200:
			return nil, fmt.Errorf("%s: status %d %s", u, rep.status, rep.header.Get("WWW-Authenticate"))
		default:
			return rep, nil
		}
	}
}

var nextLink = regexp.MustCompile(`<([^>]*)>\s*;[^<]*rel="?next"?`)

func query(skip int) string {
	v := url.Values{"page[page]": {strconv.Itoa(skip)}, "page[size]": {strconv.Itoa(pageSize)}}
	return os.Getenv("RIN_FUNDINGS_URL") + "?" + v.Encode()
}

func read(ctx context.Context, out chan<- json.RawMessage) error {
	acc, home := &account{}, os.Getenv("RIN_FUNDINGS_URL")
	base, err := url.Parse(home)
	if err != nil {
		return err
	}
	seen, asked := map[string]bool{}, map[string]bool{}
	skip, idle := 0, 0
	for at := query(0); at != ""; {
		if asked[at] || len(asked) >= maxPages {
			return fmt.Errorf("the list does not end after %d pages", len(asked))
		}
		asked[at] = true
		rep, err := acc.get(ctx, at)
		if err != nil {
			return err
		}
		var page []json.RawMessage
		if err := json.Unmarshal(rep.body, &page); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
		before := len(seen)
		for _, raw := range page {
			var f struct {
				ID string `json:"id"`
			}
			if err := json.Unmarshal(raw, &f); err != nil {
				return err
			}
			if !seen[f.ID] {
				seen[f.ID] = true
				out <- raw
			}
		}
		if idle++; len(page) == 0 || len(seen) > before {
			idle = 0
		}
		if idle > 2 {
			return errors.New("the list repeats itself")
		}
		skip += len(page)
		links := strings.Join(rep.header.Values("Link"), ", ")
		m := nextLink.FindStringSubmatch(links)
		switch {
		case m != nil:
			to, err := rep.url.Parse(m[1])
			if err != nil || !sameOrigin(base, to) {
				return fmt.Errorf("the next page is on another host: %s", m[1])
			}
			at = to.String()
		case links == "" && len(page) > 0:
			at = query(skip)
		default:
			at = ""
		}
	}
	return nil
}

func main() {
	records, done := make(chan json.RawMessage, 100), make(chan int)
	go func() {
		w, n := bufio.NewWriter(os.Stdout), 0
		for r := range records {
			w.Write(r)
			w.WriteByte('\n')
			n++
		}
		w.Flush()
		done <- n
	}()
	err := read(context.Background(), records)
	close(records)
	n := <-done
	if err != nil {
		fmt.Fprintf(os.Stderr, "pipeline: %v; %d records written, the list is not complete\n", err, n)
		os.Exit(1)
	}
	fmt.Fprintln(os.Stderr, n, "records")
}
