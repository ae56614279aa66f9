// Report by province: goroutines read one region each, page by page, and send records through a channel to one collector.
// context cancels all of them at the first failure.
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
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

type record struct {
	ID   string `json:"id"`
	Type string `json:"type"`
}
type found struct{ region, id string }

type node struct {
	http    http.Client
	list    *url.URL
	mu      sync.Mutex // token
	token   string
	renewed bool
	good    string
	gate    sync.RWMutex // until when nobody asks
	until   time.Time
}

var next = regexp.MustCompile(`<([^>]*)>\s*;\s*rel="?next\b`)

func (n *node) do(ctx context.Context, make func() (*http.Request, error)) (int, http.Header, []byte, error) {
	for try := 0; try < 6; try++ {
		for {
			n.gate.RLock()
			d := time.Until(n.until)
			n.gate.RUnlock()
			if d <= 0 {
				break
			}
			select {
			case <-ctx.Done():
				return 0, nil, nil, ctx.Err()
			case <-time.After(d):
			}
		}
		req, err := make()
		if err != nil {
			return 0, nil, nil, err
		}
		res, err := n.http.Do(req.WithContext(ctx))
		if err != nil {
			return 0, nil, nil, err
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil {
			return 0, nil, nil, err
		}
		if res.StatusCode != 429 && res.StatusCode != 503 {
			return res.StatusCode, res.Header, body, nil
		}
		wait := 2 * time.Second
		if s, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil {
			wait = time.Duration(s) * time.Second
		} else if t, err := http.ParseTime(res.Header.Get("Retry-After")); err == nil {
			from := time.Now()
			if d, err := http.ParseTime(res.Header.Get("Date")); err == nil {
				from = d
			}
			wait = t.Sub(from)
		}
		if wait > 20*time.Second {
			return 0, nil, nil, fmt.Errorf("asked to wait %v", wait)
		}
		n.gate.Lock()
		if u := time.Now().Add(wait + 50*time.Millisecond); u.After(n.until) {
			n.until = u
		}
		n.gate.Unlock()
	}
	return 0, nil, nil, errors.New("busy six times")
}

func (n *node) bearer(ctx context.Context, bad string) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.token != "" && n.token != bad {
		return n.token, nil
	}
	if bad != "" && n.renewed && n.good != bad {
		return "", errors.New("the new token is refused, too")
	}
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {os.Getenv("RIN_CLIENT_ID")}, "client_secret": {os.Getenv("RIN_CLIENT_SECRET")}}
	code, _, body, err := n.do(ctx, func() (*http.Request, error) {
		r, err := http.NewRequest("POST", os.Getenv("RIN_TOKEN_URL"), strings.NewReader(form.Encode()))
		if err == nil {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		return r, err
	})
	if err != nil {
		return "", err
	}
	var t struct {
		AccessToken string `json:"access_token"`
	}
	if code != 200 || json.Unmarshal(body, &t) != nil || t.AccessToken == "" {
		return "", fmt.Errorf("no token: %d", code)
	}
	n.renewed = bad != ""
	n.token = t.AccessToken
	return n.token, nil
}

func (n *node) get(ctx context.Context, u *url.URL) (http.Header, []record, error) {
	if u.Scheme != n.list.Scheme || u.Host != n.list.Host {
		return nil, nil, fmt.Errorf("%s is not my node", u)
	}
	tok, err := n.bearer(ctx, "")
	for try := 0; ; try++ {
		if err != nil {
			return nil, nil, err
		}
		code, h, body, err2 := n.do(ctx, func() (*http.Request, error) {
			r, err := http.NewRequest("GET", u.String(), nil)
			if err == nil {
				r.Header.Set("Authorization", "Bearer "+tok)
			}
			return r, err
		})
		if err2 != nil {
			return nil, nil, err2
		}
		if code == 401 && try == 0 {
			tok, err = n.bearer(ctx, tok)
			continue
		}
		if code != 200 {
			return nil, nil, fmt.Errorf("%d for %s %s", code, u, h.Get("Location"))
		}
		n.mu.Lock()
		n.good = tok
		n.mu.Unlock()
		var rows []record
		err = json.Unmarshal(body, &rows)
		return h, rows, err
	}
}

func (n *node) region(ctx context.Context, name string, out chan<- found) error {
	u := *n.list
	skip, seen := 0, map[string]bool{}
	at := func() *url.URL {
		v := u
		v.RawQuery = url.Values{"region": {name}, "page[size]": {"50"}, "page[page]": {strconv.Itoa(skip)}}.Encode()
		return &v
	}
	for p := at(); p != nil; {
		if seen[p.String()] {
			return errors.New("circle")
		}
		seen[p.String()] = true
		h, rows, err := n.get(ctx, p)
		if err != nil {
			return err
		}
		for _, r := range rows {
			out <- found{name, r.ID}
		}
		if m := next.FindStringSubmatch(h.Get("Link")); m != nil {
			if p, err = p.Parse(m[1]); err != nil {
				return err
			}
		} else if h.Get("Link") == "" && len(rows) > 0 {
			skip += 50
			p = at()
		} else {
			p = nil
		}
	}
	return nil
}

func main() {
	list, err := url.Parse(os.Getenv("RIN_FUNDINGS_URL"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	n := &node{list: list, http: http.Client{Timeout: 30 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	ctx, cancel := context.WithCancelCause(context.Background())
	out := make(chan found)
	var wg sync.WaitGroup
	for _, r := range []string{"VIENNA", "TYROL", "STYRIA"} {
		wg.Add(1)
		go func() {
			defer wg.Done()
			if err := n.region(ctx, r, out); err != nil {
				cancel(fmt.Errorf("%s: %w", r, err))
			}
		}()
	}
	go func() { wg.Wait(); close(out) }()
	sets := map[string]map[string]bool{}
	for f := range out {
		if sets[f.region] == nil {
			sets[f.region] = map[string]bool{}
		}
		sets[f.region][f.id] = true
	}
	if err := context.Cause(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "no report:", err)
		os.Exit(1)
	}
	var names []string
	for r := range sets {
		names = append(names, r)
	}
	sort.Strings(names)
	for _, r := range names {
		fmt.Println(r, len(sets[r]))
	}
}
