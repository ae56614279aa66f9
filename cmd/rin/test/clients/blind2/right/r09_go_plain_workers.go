// From the registry to the details of some calls, with net/http alone: the info
// resource says where the fundings are, four workers fetch details.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const tries = 5

var end = time.Now().Add(16 * time.Second)

type node struct {
	hc       *http.Client
	tokenURL string
	mu       sync.Mutex // guards the token
	token    string
	expires  time.Time
	gate     sync.Mutex // guards free
	free     time.Time
}

func (n *node) hold(d time.Duration) error {
	n.gate.Lock()
	defer n.gate.Unlock()
	if t := time.Now().Add(d); t.After(n.free) {
		n.free = t
	}
	if n.free.After(end) {
		return errors.New("no time to wait " + d.String())
	}
	return nil
}

func (n *node) pass(ctx context.Context) error {
	for {
		n.gate.Lock()
		d := time.Until(n.free)
		n.gate.Unlock()
		if d <= 0 {
			return ctx.Err()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(d):
		}
	}
}

func pauseFor(i int, res *http.Response) time.Duration {
	if res != nil {
		v := res.Header.Get("Retry-After")
		if s, err := strconv.Atoi(v); err == nil && s >= 0 {
			return time.Duration(s)*time.Second + 50*time.Millisecond
		}
		if t, err := http.ParseTime(v); err == nil {
			return max(time.Until(t), 0) + time.Second
		}
	}
	return time.Duration(400<<i)*time.Millisecond + time.Duration(rand.Intn(200))*time.Millisecond
}

// do sends a request until it is answered; done reports whether the answer is one.
func (n *node) do(ctx context.Context, build func() (*http.Request, error), into any) (*http.Response, error) {
	var last error
	for i := 0; i < tries; i++ {
		if err := n.pass(ctx); err != nil {
			return nil, err
		}
		req, err := build()
		if err != nil {
			return nil, err
		}
		actx, cancel := context.WithTimeout(ctx, 8*time.Second)
		res, err := n.hc.Do(req.WithContext(actx))
		var body []byte
		if err == nil {
			body, err = io.ReadAll(res.Body)
			res.Body.Close()
		}
		cancel()
		switch {
		case err != nil:
			last = err
			err = n.hold(pauseFor(i, nil))
		case res.StatusCode == 429 || res.StatusCode >= 500:
			last = errors.New(res.Status)
			err = n.hold(pauseFor(i, res))
		case res.StatusCode != 200:
			return res, nil
		default:
			if last = json.Unmarshal(body, into); last == nil {
				return res, nil
			}
			err = n.hold(pauseFor(i, nil))
		}
		if err != nil {
			return nil, fmt.Errorf("%w after %v", err, last)
		}
	}
	return nil, fmt.Errorf("too many tries: %w", last)
}

func (n *node) bearer(ctx context.Context, bad string) (string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.token != "" && n.token != bad && time.Now().Before(n.expires) {
		return n.token, nil
	}
	var t struct {
		AccessToken string  `json:"access_token"`
		TokenType   string  `json:"token_type"`
		ExpiresIn   float64 `json:"expires_in"`
	}
	res, err := n.do(ctx, func() (*http.Request, error) {
		form := url.Values{"grant_type": {"client_credentials"}}
		req, err := http.NewRequest("POST", n.tokenURL, strings.NewReader(form.Encode()))
		if err == nil {
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			req.SetBasicAuth(url.QueryEscape(os.Getenv("RIN_CLIENT_ID")), url.QueryEscape(os.Getenv("RIN_CLIENT_SECRET")))
		}
		return req, err
	}, &t)
	if err != nil {
		return "", err
	}
	if res.StatusCode != 200 || t.AccessToken == "" || !strings.EqualFold(t.TokenType, "bearer") {
		return "", errors.New("no bearer token, " + res.Status)
	}
	if t.ExpiresIn == 0 {
		t.ExpiresIn = 60
	}
	n.token, n.expires = t.AccessToken, time.Now().Add(time.Duration(t.ExpiresIn*0.9*float64(time.Second)))
	return n.token, nil
}

func (n *node) get(ctx context.Context, u string, into any) error {
	bad := ""
	for {
		tok, err := n.bearer(ctx, bad)
		if err != nil {
			return err
		}
		res, err := n.do(ctx, func() (*http.Request, error) {
			req, err := http.NewRequest("GET", u, nil)
			if err == nil {
				req.Header.Set("Authorization", "Bearer "+tok)
				req.Header.Set("Accept", "application/json")
			}
			return req, err
		}, into)
		if err != nil {
			return err
		}
		if res.StatusCode == 200 {
			return nil
		}
		if res.StatusCode != 401 || bad != "" {
			return fmt.Errorf("%s: %s", u, res.Status)
		}
		bad = tok
	}
}

func run() error {
	ctx, cancel := context.WithDeadline(context.Background(), end.Add(2*time.Second))
	defer cancel()
	n := &node{hc: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	var reg struct {
		Member []struct{ ID, OAuth2, Info string }
	}
	res, err := n.do(ctx, func() (*http.Request, error) { return http.NewRequest("GET", os.Getenv("RIN_REGISTRY_URL"), nil) }, &reg)
	if err != nil {
		return err
	}
	if res.StatusCode != 200 {
		return errors.New("registry: " + res.Status)
	}
	info := ""
	for _, m := range reg.Member {
		if m.ID == os.Getenv("RIN_NODE_ID") {
			n.tokenURL, info = m.OAuth2, m.Info
		}
	}
	if info == "" {
		return errors.New("the registry does not list the node")
	}
	var eps struct {
		Endpoints map[string][]struct{ Name, URL string }
	}
	if err := n.get(ctx, info, &eps); err != nil {
		return err
	}
	list := ""
	for _, e := range eps.Endpoints["funding"] {
		if e.Name == "FUNDINGS" {
			list = e.URL
		}
	}
	a, _ := url.Parse(info)
	b, err := url.Parse(list)
	if err != nil || list == "" || a.Host != b.Host {
		return errors.New("no list of fundings at this node")
	}
	var page []struct{ ID string }
	q := url.Values{"runningCalls": {"true"}, "page[page]": {"0"}, "page[size]": {"15"}}
	if err := n.get(ctx, list+"?"+q.Encode(), &page); err != nil {
		return err
	}
	jobs, errs := make(chan string), make(chan error, len(page))
	var wg sync.WaitGroup
	wctx, stop := context.WithCancel(ctx)
	defer stop()
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for id := range jobs {
				var d struct{ ID string }
				if wctx.Err() != nil {
					continue
				}
				if err := n.get(wctx, list+"/"+url.PathEscape(id), &d); err != nil {
					errs <- err
					stop()
				}
			}
		}()
	}
	for _, f := range page {
		jobs <- f.ID
	}
	close(jobs)
	wg.Wait()
	close(errs)
	if err := <-errs; err != nil {
		return err
	}
	fmt.Println(len(page), "details")
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
