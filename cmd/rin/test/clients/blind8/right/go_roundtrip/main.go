// Command find is a search front end for a node: each argument is a query such
// as region=VIENNA or targetGroup=COMPANY. Patience and tokens are layers of
// http.RoundTripper.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"
)

// patient repeats requests that were put off or broke, and reads bodies completely.
type patient struct{ next http.RoundTripper }

func (p patient) RoundTrip(req *http.Request) (*http.Response, error) {
	broke, told := 0, 0
	for {
		ctx, cancel := context.WithTimeout(req.Context(), 20*time.Second)
		r := req.Clone(ctx)
		if req.GetBody != nil {
			body, err := req.GetBody()
			if err != nil {
				cancel()
				return nil, err
			}
			r.Body = body
		}
		resp, err := p.next.RoundTrip(r)
		if err == nil {
			var data []byte
			data, err = io.ReadAll(resp.Body)
			resp.Body.Close()
			resp.Body = io.NopCloser(bytes.NewReader(data))
			if err == nil && resp.StatusCode == 200 && !json.Valid(data) {
				err = errors.New("JSON breaks off")
			}
		}
		cancel()
		if err == nil {
			wait, ok := time.Duration(0), false
			if resp.StatusCode == 429 || resp.StatusCode == 503 {
				wait, ok = asked(resp.Header)
			}
			switch {
			case ok && wait <= 10*time.Minute && told < 5:
				told++
				time.Sleep(wait + 80*time.Millisecond)
				continue
			case ok:
				return resp, nil
			case resp.StatusCode != 429 && resp.StatusCode < 500:
				return resp, nil
			}
			err = errors.New(resp.Status)
		}
		if broke++; broke > 3 {
			return nil, err
		}
		select {
		case <-time.After(500 * time.Millisecond << (broke - 1)):
		case <-req.Context().Done():
			return nil, req.Context().Err()
		}
	}
}

func asked(h http.Header) (time.Duration, bool) {
	v := h.Get("Retry-After")
	if n, err := strconv.Atoi(v); err == nil {
		return time.Duration(n) * time.Second, n >= 0
	}
	t, err := http.ParseTime(v)
	if err != nil {
		return 0, false
	}
	if d, err := http.ParseTime(h.Get("Date")); err == nil {
		return max(0, t.Sub(d)), true
	}
	return max(0, time.Until(t)), true
}

// bearer adds the token, and renews it once when it is refused.
type bearer struct {
	next  http.RoundTripper
	login *http.Client
	token string
	until time.Time
	site  string
}

func (b *bearer) renew() error {
	req, err := http.NewRequest("POST", os.Getenv("RIN_TOKEN_URL"), strings.NewReader("grant_type=client_credentials"))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth(url.QueryEscape(os.Getenv("RIN_CLIENT_ID")), url.QueryEscape(os.Getenv("RIN_CLIENT_SECRET")))
	resp, err := b.login.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	var doc struct {
		AccessToken string `json:"access_token"`
		ExpiresIn   int64  `json:"expires_in"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&doc); err != nil || resp.StatusCode != 200 || doc.AccessToken == "" {
		return fmt.Errorf("no token: %s", resp.Status)
	}
	b.token, b.until = doc.AccessToken, time.Now().Add(24*time.Hour)
	if doc.ExpiresIn > 0 {
		life := time.Duration(doc.ExpiresIn) * time.Second
		b.until = time.Now().Add(life - min(life/4, 30*time.Second))
	}
	return nil
}

func (b *bearer) RoundTrip(req *http.Request) (*http.Response, error) {
	if site(req.URL) != b.site {
		return nil, fmt.Errorf("%s is not %s: no token for it", req.URL.Host, b.site)
	}
	if b.token == "" || time.Now().After(b.until) {
		if err := b.renew(); err != nil {
			return nil, err
		}
	}
	send := func() (*http.Response, error) {
		r := req.Clone(req.Context())
		r.Header.Set("Authorization", "Bearer "+b.token)
		return b.next.RoundTrip(r)
	}
	resp, err := send()
	if err != nil || resp.StatusCode != http.StatusUnauthorized {
		return resp, err
	}
	if err := b.renew(); err != nil {
		return nil, err
	}
	return send()
}

func site(u *url.URL) string { return u.Scheme + "://" + u.Host }

func onSite(req *http.Request, via []*http.Request) error {
	if site(req.URL) != site(via[0].URL) {
		return fmt.Errorf("redirect to %s", req.URL)
	}
	if len(via) > 3 {
		return errors.New("too many redirects")
	}
	return nil
}

var next = regexp.MustCompile(`<([^<>]+)>(?:\s*;\s*[a-z*]+\s*=\s*(?:"[^"]*"|[^\s",;]+))*?\s*;\s*rel\s*=\s*"?next\b`)

type hit struct {
	ID   string `json:"id"`
	Name []struct {
		Text string `json:"text"`
	} `json:"name"`
}

func search(c *http.Client, base string, filter url.Values) ([]hit, error) {
	const size = 40
	address := func(skip int) string {
		q := url.Values{}
		for k, v := range filter {
			q[k] = v
		}
		q.Set("page[page]", strconv.Itoa(skip))
		q.Set("page[size]", strconv.Itoa(size))
		return base + "?" + q.Encode()
	}
	var hits []hit
	have, asked, skip, idle := map[string]bool{}, map[string]bool{}, 0, 0
	for at := address(0); at != ""; {
		if asked[at] || len(asked) > 120 {
			return nil, errors.New("the pages have no end")
		}
		asked[at] = true
		resp, err := c.Get(at)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode != 200 {
			return nil, fmt.Errorf("%s: %s %s", at, resp.Status, resp.Header.Get("WWW-Authenticate"))
		}
		var page []hit
		if err := json.NewDecoder(resp.Body).Decode(&page); err != nil {
			return nil, fmt.Errorf("%s: %w", at, err)
		}
		n := len(hits)
		for _, h := range page {
			if !have[h.ID] {
				have[h.ID] = true
				hits = append(hits, h)
			}
		}
		if idle++; len(page) == 0 || len(hits) > n {
			idle = 0
		}
		if idle > 2 {
			return nil, errors.New("the pages repeat each other")
		}
		skip += len(page)
		link := strings.Join(resp.Header.Values("Link"), ", ")
		m := next.FindStringSubmatch(link)
		at = ""
		if m != nil {
			u, err := resp.Request.URL.Parse(m[1])
			if err != nil {
				return nil, err
			}
			at = u.String()
		} else if link == "" && len(page) > 0 {
			at = address(skip)
		}
	}
	return hits, nil
}

func main() {
	base, err := url.Parse(os.Getenv("RIN_FUNDINGS_URL"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	layer := patient{http.DefaultTransport}
	api := &http.Client{CheckRedirect: onSite, Transport: &bearer{next: layer, site: site(base),
		login: &http.Client{Transport: layer, CheckRedirect: onSite}}}
	done := map[string][]hit{}
	for _, arg := range os.Args[1:] {
		filter, err := url.ParseQuery(arg)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		key := filter.Encode()
		if _, ok := done[key]; ok {
			continue
		}
		if done[key], err = search(api, base.String(), filter); err != nil {
			fmt.Fprintln(os.Stderr, "find:", err)
			os.Exit(1)
		}
	}
	keys := []string{}
	for k := range done {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for _, k := range keys {
		fmt.Printf("%s: %d\n", k, len(done[k]))
		for _, h := range done[k][:min(3, len(done[k]))] {
			name := ""
			if len(h.Name) > 0 {
				name = h.Name[0].Text
			}
			fmt.Println("  ", h.ID, name)
		}
	}
}
