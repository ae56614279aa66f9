// Reads the list with golang.org/x/oauth2/clientcredentials, following Link headers.
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
	"regexp"
	"strconv"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// retrier repeats requests that failed for a while.
type retrier struct {
	base http.RoundTripper
	end  time.Time
}

func wait(n int, h http.Header) time.Duration {
	if v := h.Get("Retry-After"); v != "" {
		if s, err := strconv.Atoi(v); err == nil && s >= 0 {
			return time.Duration(s)*time.Second + 100*time.Millisecond
		}
		if t, err := http.ParseTime(v); err == nil {
			return max(time.Until(t), 0) + time.Second
		}
	}
	return time.Duration(500<<n)*time.Millisecond + time.Duration(rand.Intn(300))*time.Millisecond
}

func (r *retrier) RoundTrip(req *http.Request) (*http.Response, error) {
	for n := 0; ; n++ {
		try := req.Clone(req.Context())
		if req.GetBody != nil {
			try.Body, _ = req.GetBody()
		}
		res, err := r.base.RoundTrip(try)
		if err == nil && res.StatusCode != 429 && res.StatusCode < 500 {
			return res, nil
		}
		h := http.Header{}
		if err == nil {
			h = res.Header
		}
		d := wait(n, h)
		if n >= 4 || time.Now().Add(d).After(r.end) {
			return res, err
		}
		if err == nil {
			io.Copy(io.Discard, io.LimitReader(res.Body, 1<<16))
			res.Body.Close()
		}
		select {
		case <-req.Context().Done():
			return nil, req.Context().Err()
		case <-time.After(d):
		}
	}
}

type client struct {
	ctx  context.Context
	conf clientcredentials.Config
	src  oauth2.TokenSource
	http *http.Client
	last http.Header // of the answer that failed
	end  time.Time
}

func (c *client) get(u string, into any) (http.Header, error) {
	c.last = http.Header{}
	for renewed := false; ; renewed = true {
		if c.src == nil {
			c.src = oauth2.ReuseTokenSource(nil, c.conf.TokenSource(c.ctx))
		}
		tok, err := c.src.Token()
		if err != nil {
			return nil, err
		}
		req, err := http.NewRequestWithContext(c.ctx, "GET", u, nil)
		if err != nil {
			return nil, err
		}
		tok.SetAuthHeader(req)
		req.Header.Set("Accept", "application/json")
		res, err := c.http.Do(req)
		if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode == 401 && !renewed {
			c.src = nil
			continue
		}
		if res.StatusCode != 200 {
			c.last = res.Header
			err = fmt.Errorf("%s: %s", u, res.Status)
			if res.StatusCode < 500 && res.StatusCode != 429 {
				err = errors.Join(errFatal, err)
			}
			return nil, err
		}
		if err == nil {
			err = json.Unmarshal(body, into)
		}
		return res.Header, err
	}
}

var errFatal = errors.New("no use to repeat")

var next = regexp.MustCompile(`<([^>]*)>\s*;[^,]*rel="?next"?`)

func run() error {
	end := time.Now().Add(16 * time.Second)
	ctx, cancel := context.WithDeadline(context.Background(), end.Add(2*time.Second))
	defer cancel()
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.ResponseHeaderTimeout = 8 * time.Second
	hc := &http.Client{Transport: &retrier{base, end}, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	plain := &http.Client{Transport: base, CheckRedirect: hc.CheckRedirect}
	c := &client{ctx: context.WithValue(ctx, oauth2.HTTPClient, hc), http: plain, end: end,
		conf: clientcredentials.Config{ClientID: os.Getenv("RIN_CLIENT_ID"), ClientSecret: os.Getenv("RIN_CLIENT_SECRET"),
			TokenURL: os.Getenv("RIN_TOKEN_URL"), AuthStyle: oauth2.AuthStyleInHeader}}
	for n := 0; ; n++ {
		count, err := c.harvest()
		if err == nil {
			fmt.Println(count, "fundings")
			return nil
		}
		d := wait(n, c.last)
		if errors.Is(err, errFatal) || n == 4 || time.Now().Add(d).After(end) {
			return err
		}
		time.Sleep(d) // and from the beginning: the list may have changed
	}
}

func (c *client) harvest() (int, error) {
	at, err := url.Parse(os.Getenv("RIN_FUNDINGS_URL"))
	if err != nil {
		return 0, err
	}
	origin := at.Host
	at.RawQuery = url.Values{"page[page]": {"0"}, "page[size]": {"20"}}.Encode()
	ids, seen := map[string]bool{}, map[string]bool{}
	for {
		if at.Host != origin || seen[at.String()] {
			return 0, errors.New("odd next link " + at.String())
		}
		seen[at.String()] = true
		var page []struct{ ID string }
		h, err := c.get(at.String(), &page)
		if err != nil {
			return 0, err
		}
		for _, f := range page {
			ids[f.ID] = true
		}
		m := next.FindStringSubmatch(h.Get("Link"))
		if m == nil {
			return len(ids), nil
		}
		if at, err = at.Parse(m[1]); err != nil {
			return 0, err
		}
	}
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "harvest:", err)
		os.Exit(1)
	}
}
