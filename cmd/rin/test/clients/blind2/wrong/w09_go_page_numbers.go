// Reads the list with golang.org/x/oauth2/clientcredentials, page by page.
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
	end  time.Time
}

func (c *client) get(u string, into any) (http.Header, error) {
	renewed := false
	for n := 0; n < 5; n++ {
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
		switch {
		case res.StatusCode == 401 && !renewed:
			renewed, c.src = true, nil
			continue
		case res.StatusCode != 200:
			return nil, fmt.Errorf("%s: %s", u, res.Status)
		}
		if err == nil {
			err = json.Unmarshal(body, into)
		}
		if err == nil {
			return res.Header, nil
		}
		d := wait(n, http.Header{})
		if time.Now().Add(d).After(c.end) {
			return nil, err
		}
		time.Sleep(d)
	}
	return nil, errors.New("too many tries: " + u)
}

func run() error {
	end := time.Now().Add(16 * time.Second)
	ctx, cancel := context.WithDeadline(context.Background(), end.Add(2*time.Second))
	defer cancel()
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.ResponseHeaderTimeout = 8 * time.Second
	hc := &http.Client{Transport: &retrier{base, end}, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	c := &client{ctx: context.WithValue(ctx, oauth2.HTTPClient, hc), http: hc, end: end,
		conf: clientcredentials.Config{ClientID: os.Getenv("RIN_CLIENT_ID"), ClientSecret: os.Getenv("RIN_CLIENT_SECRET"),
			TokenURL: os.Getenv("RIN_TOKEN_URL"), AuthStyle: oauth2.AuthStyleInHeader}}
	at, err := url.Parse(os.Getenv("RIN_FUNDINGS_URL"))
	if err != nil {
		return err
	}
	ids := map[string]bool{}
	for number := 0; ; number++ {
		at.RawQuery = url.Values{"page[page]": {strconv.Itoa(number)}, "page[size]": {"50"}}.Encode()
		var page []struct{ ID string }
		_, err := c.get(at.String(), &page)
		if err != nil {
			return err
		}
		for _, f := range page {
			ids[f.ID] = true
		}
		if len(page) < 50 {
			break
		}
	}
	fmt.Println(len(ids), "fundings")
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "harvest:", err)
		os.Exit(1)
	}
}
