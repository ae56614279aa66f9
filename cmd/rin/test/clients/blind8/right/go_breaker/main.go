// Command board keeps a board of fundings up to date: it polls the list a few
// times, with validators, through a circuit breaker.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

// breaker opens for a time after an answer that asks for a pause, or after
// failures; while it is open, nothing is sent.
type breaker struct {
	failures int
	openTill time.Time
}

var errGivenUp = errors.New("the breaker stays open")

func (b *breaker) before() { time.Sleep(time.Until(b.openTill)) }

func (b *breaker) good() { b.failures = 0 }

func (b *breaker) bad(asked time.Duration, known bool) error {
	b.failures++
	if b.failures > 3 {
		return errGivenUp
	}
	cooldown := time.Duration(b.failures) * 800 * time.Millisecond
	if known {
		if asked > 10*time.Minute {
			return errGivenUp
		}
		cooldown = asked + 100*time.Millisecond
	}
	b.openTill = time.Now().Add(cooldown)
	return nil
}

type page struct {
	etag    string
	records []record
	linked  bool
	next    string
}

type record struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Name []struct {
		Lang, Text string
	} `json:"name"`
}

type board struct {
	http    *http.Client
	breaker breaker
	token   string
	expires time.Time
	kept    map[string]*page
	base    *url.URL
}

func samePlace(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && a.Host == b.Host
}

func retryAfter(h http.Header) (time.Duration, bool) {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.Atoi(v); err == nil {
		return time.Duration(s) * time.Second, true
	}
	if t, err := http.ParseTime(v); err == nil {
		from, err := http.ParseTime(h.Get("Date"))
		if err != nil {
			from = time.Now()
		}
		return max(0, t.Sub(from)), true
	}
	return 0, false
}

func (b *board) exchange(make func(addr string) (*http.Request, error), addr string) (*http.Response, []byte, error) {
	for hops := 0; ; {
		b.breaker.before()
		req, err := make(addr)
		if err != nil {
			return nil, nil, err
		}
		resp, err := b.http.Do(req)
		if err == nil {
			var data []byte
			data, err = io.ReadAll(resp.Body)
			resp.Body.Close()
			if err == nil && resp.StatusCode == http.StatusOK && !json.Valid(data) {
				err = errors.New("answer breaks off")
			}
			switch {
			case err != nil:
			case resp.StatusCode == 429 || resp.StatusCode >= 500:
				d, ok := retryAfter(resp.Header)
				if e := b.breaker.bad(d, ok && (resp.StatusCode == 429 || resp.StatusCode == 503)); e != nil {
					return nil, nil, fmt.Errorf("%s: %s: %w", addr, resp.Status, e)
				}
				continue
			case resp.StatusCode > 300 && resp.StatusCode != 304 && resp.StatusCode < 400:
				to, lerr := resp.Location()
				if hops++; lerr != nil || hops > 3 || !samePlace(to, req.URL) {
					return nil, nil, fmt.Errorf("%s: redirect to %s", addr, resp.Header.Get("Location"))
				}
				addr = to.String()
				continue
			default:
				b.breaker.good()
				return resp, data, nil
			}
		}
		if e := b.breaker.bad(0, false); e != nil {
			return nil, nil, fmt.Errorf("%s: %w: %w", addr, err, e)
		}
	}
}

func (b *board) login() error {
	form := url.Values{}
	form.Set("grant_type", "client_credentials")
	form.Set("client_id", os.Getenv("RIN_CLIENT_ID"))
	form.Set("client_secret", os.Getenv("RIN_CLIENT_SECRET"))
	resp, data, err := b.exchange(func(addr string) (*http.Request, error) {
		req, err := http.NewRequest(http.MethodPost, addr, strings.NewReader(form.Encode()))
		if err == nil {
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		return req, err
	}, os.Getenv("RIN_TOKEN_URL"))
	if err != nil {
		return err
	}
	doc := map[string]any{}
	json.Unmarshal(data, &doc)
	token, _ := doc["access_token"].(string)
	if resp.StatusCode != 200 || token == "" {
		return fmt.Errorf("no token: %s", resp.Status)
	}
	life, ok := doc["expires_in"].(float64)
	if !ok {
		life = 1e6
	}
	b.token, b.expires = token, time.Now().Add(time.Duration(life*0.8)*time.Second)
	return nil
}

func (b *board) get(addr, etag string) (*http.Response, []byte, error) {
	for again := true; ; again = false {
		resp, data, err := b.exchange(func(addr string) (*http.Request, error) {
			if b.token == "" || time.Now().After(b.expires) {
				if err := b.login(); err != nil {
					return nil, err
				}
			}
			req, err := http.NewRequest(http.MethodGet, addr, nil)
			if err != nil {
				return nil, err
			}
			req.Header.Set("Authorization", "Bearer "+b.token)
			if etag != "" {
				req.Header.Set("If-None-Match", etag)
			}
			return req, nil
		}, addr)
		if err != nil || resp.StatusCode != 401 || !again {
			return resp, data, err
		}
		if err := b.login(); err != nil {
			return nil, nil, err
		}
	}
}

func (b *board) page(addr string) (*page, error) {
	old := b.kept[addr]
	etag := ""
	if old != nil {
		etag = old.etag
	}
	resp, data, err := b.get(addr, etag)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == 304 && old != nil {
		return old, nil
	}
	if resp.StatusCode != 200 {
		return nil, fmt.Errorf("%s: %s %s", addr, resp.Status, resp.Header.Get("WWW-Authenticate"))
	}
	p := &page{etag: resp.Header.Get("ETag")}
	if err := json.Unmarshal(data, &p.records); err != nil {
		return nil, fmt.Errorf("%s: %w", addr, err)
	}
	for _, l := range resp.Header.Values("Link") {
		p.linked = true
		for _, one := range strings.Split(l, ", <") {
			target, params, _ := strings.Cut(strings.TrimPrefix(one, "<"), ">")
			if strings.Contains(params, `rel="next"`) || strings.Contains(params, "rel=next") {
				to, err := resp.Request.URL.Parse(target)
				if err != nil || !samePlace(to, b.base) {
					return nil, fmt.Errorf("next page at %s", target)
				}
				p.next = to.String()
			}
		}
	}
	delete(b.kept, addr)
	if p.etag != "" && len(p.records) > 0 {
		b.kept[addr] = p
	}
	return p, nil
}

func (b *board) round() (map[string]record, error) {
	all, asked := map[string]record{}, map[string]bool{}
	skip, nothing := 0, 0
	query := func(skip int) string {
		q := url.Values{"page[size]": {"120"}, "page[page]": {strconv.Itoa(skip)}}
		return b.base.String() + "?" + q.Encode()
	}
	for at := query(0); at != ""; {
		if asked[at] || len(asked) > 120 {
			return nil, errors.New("pages without end")
		}
		asked[at] = true
		p, err := b.page(at)
		if err != nil {
			return nil, err
		}
		had := len(all)
		for _, r := range p.records {
			all[r.ID] = r
		}
		nothing++
		if len(all) > had || len(p.records) == 0 {
			nothing = 0
		}
		if nothing > 2 {
			return nil, errors.New("pages repeat")
		}
		skip += len(p.records)
		at = p.next
		if !p.linked && len(p.records) > 0 {
			at = query(skip)
		}
	}
	return all, nil
}

func main() {
	log.SetFlags(0)
	base, err := url.Parse(os.Getenv("RIN_FUNDINGS_URL"))
	if err != nil {
		log.Fatal(err)
	}
	b := &board{kept: map[string]*page{}, base: base, http: &http.Client{
		Timeout:       20 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	for i := range 3 {
		if i > 0 {
			time.Sleep(1500 * time.Millisecond)
		}
		all, err := b.round()
		if err != nil {
			log.Fatalf("board: %v", err)
		}
		kinds := map[string]int{}
		for _, r := range all {
			kinds[r.Type]++
		}
		fmt.Println(time.Now().Format(time.TimeOnly), len(all), kinds)
	}
}
