// Prints the first 25 fundings for companies, as the welcome page shows them, and then watches the first three of them:
// HEAD, with the ETag in the second round. The HTTP client is built of layers of http.RoundTripper: login > pause > transport.
package main

import (
	"encoding/json"
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

type patient struct{ next http.RoundTripper }

func (p patient) RoundTrip(r *http.Request) (*http.Response, error) {
	for i := 0; ; i++ {
		if r.GetBody != nil {
			r.Body, _ = r.GetBody()
		}
		res, err := p.next.RoundTrip(r)
		if err != nil || (res.StatusCode != 429 && res.StatusCode != 503) || i == 4 {
			return res, err
		}
		d := 2 * time.Second
		v := res.Header.Get("Retry-After")
		if s, err := strconv.Atoi(v); err == nil {
			d = time.Duration(s) * time.Second
		} else if t, err := http.ParseTime(v); err == nil {
			if now, err := http.ParseTime(res.Header.Get("Date")); err == nil {
				d = t.Sub(now)
			}
		}
		if d > 20*time.Second {
			return res, nil
		}
		io.Copy(io.Discard, res.Body)
		res.Body.Close()
		time.Sleep(d + 50*time.Millisecond)
	}
}

type bearer struct {
	next  http.RoundTripper
	home  *url.URL
	token string
}

func (b *bearer) login() error {
	res, err := (&http.Client{Transport: b.next, CheckRedirect: stay}).PostForm(os.Getenv("RIN_TOKEN_URL"), url.Values{"grant_type": {"client_credentials"},
		"client_id": {os.Getenv("RIN_CLIENT_ID")}, "client_secret": {os.Getenv("RIN_CLIENT_SECRET")}})
	if err != nil {
		return err
	}
	defer res.Body.Close()
	var t struct {
		Token string `json:"access_token"`
	}
	if err := json.NewDecoder(res.Body).Decode(&t); err != nil || res.StatusCode != 200 || t.Token == "" {
		return fmt.Errorf("token: %d %v", res.StatusCode, err)
	}
	b.token = t.Token
	return nil
}

func (b *bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != b.home.Scheme || r.URL.Host != b.home.Host {
		return nil, fmt.Errorf("no request to %s with my token", r.URL.Host)
	}
	for i := 0; ; i++ {
		if b.token == "" || i == 1 {
			if err := b.login(); err != nil {
				return nil, err
			}
		}
		c := r.Clone(r.Context())
		c.Header.Set("Authorization", "Bearer "+b.token)
		res, err := b.next.RoundTrip(c)
		if err != nil || res.StatusCode != 401 || i == 1 {
			return res, err
		}
		io.Copy(io.Discard, res.Body)
		res.Body.Close()
	}
}

func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// same follows redirects on the node itself only; the bearer layer would refuse others anyway.
func same(r *http.Request, via []*http.Request) error {
	if len(via) > 3 || r.URL.Host != via[0].URL.Host {
		return http.ErrUseLastResponse
	}
	return nil
}

var nextLink = regexp.MustCompile(`<([^>]*)>\s*;\s*rel="?next\b`)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	home, err := url.Parse(os.Getenv("RIN_FUNDINGS_URL"))
	if err != nil {
		return err
	}
	c := &http.Client{Timeout: 45 * time.Second, CheckRedirect: same,
		Transport: &bearer{next: patient{http.DefaultTransport}, home: home}}
	type rec struct {
		ID   string `json:"id"`
		Name []struct{ Text string }
	}
	var first []rec
	have, seen := map[string]bool{}, map[string]bool{}
	q := url.Values{"targetGroup": {"COMPANY"}, "page[size]": {"25"}}
	at := *home
	at.RawQuery = q.Encode()
	skip := 0
	for u := &at; u != nil && len(first) < 25; {
		if seen[u.String()] {
			return fmt.Errorf("circle at %s", u)
		}
		seen[u.String()] = true
		res, err := c.Get(u.String())
		if err != nil {
			return err
		}
		var rows []rec
		err = json.NewDecoder(res.Body).Decode(&rows)
		res.Body.Close()
		if res.StatusCode != 200 {
			return fmt.Errorf("%s: %s", u, res.Status)
		}
		if err != nil {
			return err
		}
		for _, r := range rows {
			if !have[r.ID] && len(first) < 25 {
				have[r.ID] = true
				first = append(first, r)
			}
		}
		link := strings.Join(res.Header.Values("Link"), ", ")
		if m := nextLink.FindStringSubmatch(link); m != nil {
			if u, err = u.Parse(m[1]); err != nil {
				return err
			}
		} else if link == "" && len(rows) > 0 {
			skip += 25
			q.Set("page[page]", strconv.Itoa(skip))
			v := *home
			v.RawQuery = q.Encode()
			u = &v
		} else {
			u = nil
		}
	}
	for i, r := range first {
		fmt.Printf("%2d %s %v\n", i+1, r.ID, r.Name)
	}
	etags := map[string]string{}
	for round := 0; round < 2; round++ {
		for _, r := range first[:min(3, len(first))] {
			req, _ := http.NewRequest("HEAD", strings.TrimSuffix(home.String(), "/")+"/"+url.PathEscape(r.ID), nil)
			if e := etags[r.ID]; e != "" {
				req.Header.Set("If-None-Match", e)
			}
			res, err := c.Do(req)
			if err != nil {
				return err
			}
			res.Body.Close()
			if res.StatusCode != 200 && res.StatusCode != 304 {
				return fmt.Errorf("%s: %s", r.ID, res.Status)
			}
			if e := res.Header.Get("ETag"); res.StatusCode == 200 {
				etags[r.ID] = e
			}
		}
		time.Sleep(400 * time.Millisecond)
	}
	return nil
}
