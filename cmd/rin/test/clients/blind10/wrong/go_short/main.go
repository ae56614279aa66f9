// Nightly export: pages of 60, until one has fewer.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"
)

var c = &http.Client{Timeout: 30 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

func fail(v ...any) { fmt.Fprintln(os.Stderr, v...); os.Exit(1) }

func do(get func() (*http.Response, error)) (int, []byte) {
	for i := 0; ; i++ {
		res, err := get()
		if err != nil {
			fail(err)
		}
		b, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil {
			fail(err)
		}
		if (res.StatusCode != 429 && res.StatusCode != 503) || i == 5 {
			return res.StatusCode, b
		}
		w := 2 * time.Second
		if s, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil {
			w = time.Duration(s) * time.Second
		} else if t, err := http.ParseTime(res.Header.Get("Retry-After")); err == nil {
			if d, err := http.ParseTime(res.Header.Get("Date")); err == nil {
				w = t.Sub(d)
			}
		}
		time.Sleep(w + 100*time.Millisecond)
	}
}

func login() string {
	code, b := do(func() (*http.Response, error) {
		return c.PostForm(os.Getenv("RIN_TOKEN_URL"), url.Values{"grant_type": {"client_credentials"},
			"client_id": {os.Getenv("RIN_CLIENT_ID")}, "client_secret": {os.Getenv("RIN_CLIENT_SECRET")}})
	})
	var t struct {
		AccessToken string `json:"access_token"`
	}
	if code != 200 || json.Unmarshal(b, &t) != nil {
		fail("token", code)
	}
	return t.AccessToken
}

func main() {
	const size = 60
	tok := login()
	ids := map[string]bool{}
	for skip := 0; ; skip += size {
		u := os.Getenv("RIN_FUNDINGS_URL") + "?" + url.Values{"page[size]": {strconv.Itoa(size)}, "page[page]": {strconv.Itoa(skip)}}.Encode()
		get := func() (*http.Response, error) {
			req, err := http.NewRequest("GET", u, nil)
			if err != nil {
				return nil, err
			}
			req.Header.Set("Authorization", "Bearer "+tok)
			return c.Do(req)
		}
		code, b := do(get)
		if code == 401 {
			tok = login()
			code, b = do(get)
		}
		if code != 200 {
			fail(code, u)
		}
		var rows []struct{ ID string }
		if err := json.Unmarshal(b, &rows); err != nil {
			fail(err)
		}
		for _, r := range rows {
			ids[r.ID] = true
		}
		if len(rows) < size { // the last page
			break
		}
	}
	fmt.Println(len(ids), "exported")
}
