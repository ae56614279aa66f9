// Searches asks for the running calls of each province in goroutines and prints which calls are
// open in all of them. Token and pauses are shared; the first error cancels the rest.
package main

import (
	"context"
	"encoding/json"
	"fmt"
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

var provinces = []string{"VIENNA", "BURGENLAND", "LOWER_AUSTRIA", "CARINTHIA", "UPPER_AUSTRIA", "SALZBURG", "STYRIA", "TYROL", "VORARLBERG"}

var nextRE = regexp.MustCompile(`(?i)<([^>]*)>[^<]*?;\s*rel\s*=\s*"?(?:[^"<]*\s)?next\b`)

type node struct {
	hc        *http.Client
	list      *url.URL
	loginMu   sync.Mutex
	token     string
	mu        sync.Mutex
	closedTil time.Time
}

func (n *node) closeFor(d time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if t := time.Now().Add(d); t.After(n.closedTil) {
		n.closedTil = t
	}
}

func (n *node) wait(ctx context.Context) error {
	for {
		n.mu.Lock()
		d := time.Until(n.closedTil)
		n.mu.Unlock()
		if d <= 0 {
			return ctx.Err()
		}
		select {
		case <-time.After(d):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func retryAfter(h http.Header, i int) time.Duration {
	v := h.Get("Retry-After")
	if s, err := strconv.ParseUint(v, 10, 31); err == nil {
		return time.Duration(max(1, s))*time.Second + 20*time.Millisecond
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(time.Until(t), time.Second)
	}
	return time.Duration(i+1) * 1500 * time.Millisecond
}

// send decodes a 200 into v; other answers come back with their status.
func (n *node) send(ctx context.Context, method string, u *url.URL, form url.Values, token string, v any) (*http.Response, error) {
	for i := 0; i < 7; i++ {
		if err := n.wait(ctx); err != nil {
			return nil, err
		}
		req, err := http.NewRequestWithContext(ctx, method, u.String(), strings.NewReader(form.Encode()))
		if err != nil {
			return nil, err
		}
		if form != nil {
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		res, err := n.hc.Do(req)
		if err != nil {
			return nil, err
		}
		if res.StatusCode == 429 || res.StatusCode == 503 {
			res.Body.Close()
			n.closeFor(retryAfter(res.Header, i))
			continue
		}
		if res.StatusCode == 200 {
			err = json.NewDecoder(res.Body).Decode(v)
		}
		res.Body.Close()
		if err != nil {
			return nil, fmt.Errorf("unreadable answer: %w", err)
		}
		return res, nil
	}
	return nil, fmt.Errorf("%s stays busy", u.Path)
}

func (n *node) tokenOtherThan(ctx context.Context, refused string) (string, error) {
	n.loginMu.Lock()
	defer n.loginMu.Unlock()
	if n.token != refused {
		return n.token, nil
	}
	u, err := url.Parse(os.Getenv("RIN_TOKEN_URL"))
	if err != nil {
		return "", err
	}
	var t struct {
		Token string `json:"access_token"`
	}
	res, err := n.send(ctx, "POST", u, url.Values{"grant_type": {"client_credentials"},
		"client_id": {os.Getenv("RIN_CLIENT_ID")}, "client_secret": {os.Getenv("RIN_CLIENT_SECRET")}}, "", &t)
	if err != nil {
		return "", err
	}
	if res.StatusCode != 200 || t.Token == "" {
		return "", fmt.Errorf("login: %s", res.Status)
	}
	n.token = t.Token
	return t.Token, nil
}

func (n *node) get(ctx context.Context, u *url.URL, v any) (*http.Response, error) {
	token, err := n.tokenOtherThan(ctx, "")
	if err != nil {
		return nil, err
	}
	renewed := false
	for hops := 0; hops < 6; {
		if u.Host != n.list.Host || u.Scheme != n.list.Scheme {
			return nil, fmt.Errorf("%s is not our node", u.Host)
		}
		res, err := n.send(ctx, "GET", u, nil, token, v)
		switch {
		case err != nil:
			return nil, err
		case res.StatusCode == 200:
			return res, nil
		case res.StatusCode == 401 && !renewed:
			renewed = true
			if token, err = n.tokenOtherThan(ctx, token); err != nil {
				return nil, err
			}
		case res.StatusCode >= 301 && res.StatusCode <= 308 && res.Header.Get("Location") != "":
			hops++
			if u, err = u.Parse(res.Header.Get("Location")); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("%s at %s", res.Status, u)
		}
	}
	return nil, fmt.Errorf("too many redirects")
}

func (n *node) search(ctx context.Context, q url.Values) (map[string]bool, error) {
	page := func(skip int) *url.URL {
		u := *n.list
		p := url.Values{"page[size]": {"50"}}
		if skip > 0 {
			p.Set("page[page]", strconv.Itoa(skip))
		}
		for k := range q {
			p.Set(k, q.Get(k))
		}
		u.RawQuery = p.Encode()
		return &u
	}
	ids, asked, read := map[string]bool{}, map[string]bool{}, 0
	for u := page(0); u != nil; {
		if asked[u.String()] {
			return nil, fmt.Errorf("loop at %s", u)
		}
		asked[u.String()] = true
		var rows []struct{ ID string }
		res, err := n.get(ctx, u, &rows)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			ids[r.ID] = true
		}
		read += len(rows)
		link := strings.Join(res.Header.Values("Link"), ", ")
		if m := nextRE.FindStringSubmatch(link); m != nil {
			if u, err = res.Request.URL.Parse(m[1]); err != nil {
				return nil, err
			}
		} else if link == "" && len(rows) > 0 {
			u = page(read)
		} else {
			u = nil
		}
	}
	return ids, nil
}

func main() {
	list, err := url.Parse(os.Getenv("RIN_FUNDINGS_URL"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	n := &node{list: list, hc: &http.Client{Timeout: 20 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	ctx, cancel := context.WithCancelCause(context.Background())
	work := make(chan string)
	var wg sync.WaitGroup
	var mu sync.Mutex
	open := map[string]int{}
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for p := range work {
				ids, err := n.search(ctx, url.Values{"region": {p}, "runningCalls": {"true"}})
				if err != nil {
					cancel(fmt.Errorf("%s: %w", p, err))
					continue
				}
				mu.Lock()
				for id := range ids {
					open[id]++
				}
				mu.Unlock()
			}
		}()
	}
	for _, p := range provinces {
		if ctx.Err() != nil {
			break
		}
		work <- p
	}
	close(work)
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "incomplete:", err)
		os.Exit(1)
	}
	var everywhere []string
	for id, k := range open {
		if k == len(provinces) {
			everywhere = append(everywhere, id)
		}
	}
	sort.Strings(everywhere)
	fmt.Println(len(open), "open calls,", len(everywhere), "of them everywhere:", strings.Join(everywhere, " "))
}
