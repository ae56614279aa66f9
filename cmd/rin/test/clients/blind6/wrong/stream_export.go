// Stream_export writes all fundings as JSON lines, record by record as they
// come from the connection, so that it needs little memory.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	client   = &http.Client{Timeout: 20 * time.Second, CheckRedirect: sameHost}
	nextLink = regexp.MustCompile(`<([^>]*)>\s*;\s*rel="next"`)
	token    string
)

func sameHost(req *http.Request, via []*http.Request) error {
	if req.URL.Host != via[0].URL.Host || req.URL.Scheme != via[0].URL.Scheme || len(via) > 3 {
		return fmt.Errorf("redirected to %s: not followed", req.URL.Redacted())
	}
	return nil
}

func login() error {
	form := url.Values{"grant_type": {"client_credentials"}}
	form.Set("client_id", os.Getenv("RIN_CLIENT_ID"))
	form.Set("client_secret", os.Getenv("RIN_CLIENT_SECRET"))
	res, err := client.PostForm(os.Getenv("RIN_TOKEN_URL"), form)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != 200 {
		return fmt.Errorf("token endpoint: %s", res.Status)
	}
	var t struct {
		AccessToken string `json:"access_token"`
	}
	err = json.NewDecoder(res.Body).Decode(&t)
	token = t.AccessToken
	return err
}

func pauseOf(h http.Header, attempt int) time.Duration {
	own := 500 * time.Millisecond << attempt
	value := h.Get("Retry-After")
	if n, err := strconv.Atoi(value); err == nil {
		own = max(own, time.Duration(n)*time.Second)
	} else if until, err := http.ParseTime(value); err == nil {
		now, _ := http.ParseTime(h.Get("Date"))
		own = max(own, until.Sub(now)+time.Second)
	}
	return own
}

// open repeats the request until the node answers it with 200.
func open(ctx context.Context, addr string) (*http.Response, error) {
	var last error
	renewed := 0
	for attempt := range 5 {
		req, err := http.NewRequestWithContext(ctx, "GET", addr, nil)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := client.Do(req)
		if err != nil {
			return nil, err
		}
		if res.StatusCode == http.StatusOK {
			return res, nil
		}
		res.Body.Close()
		last = fmt.Errorf("%s: %s", addr, res.Status)
		fmt.Fprintln(os.Stderr, last)
		if res.StatusCode == 401 && renewed < 1 {
			renewed++
			if err := login(); err != nil {
				return nil, err
			}
			continue
		} else if res.StatusCode != 429 && res.StatusCode < 500 {
			return nil, last
		}
		time.Sleep(pauseOf(res.Header, attempt))
	}
	return nil, last
}

func run(ctx context.Context) error {
	if err := login(); err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	seen := map[string]bool{}
	addr := os.Getenv("RIN_FUNDINGS_URL") + "?page%5Bpage%5D=0&page%5Bsize%5D=80"
	for again, empty := false, true; addr != ""; empty = true {
		res, err := open(ctx, addr)
		if err != nil {
			return err
		}
		dec := json.NewDecoder(res.Body)
		dec.Token() // the opening bracket
		for dec.More() {
			var record json.RawMessage
			var key struct{ ID string }
			if dec.Decode(&record) != nil || json.Unmarshal(record, &key) != nil {
				break
			}
			empty = false
			if !seen[key.ID] {
				seen[key.ID] = true
				fmt.Fprintf(out, "%s\n", record)
			}
		}
		res.Body.Close()
		this, links := addr, strings.Join(res.Header.Values("Link"), ",")
		addr = ""
		if m := nextLink.FindStringSubmatch(links); m != nil {
			next, err := res.Request.URL.Parse(m[1])
			if err != nil || next.Host != res.Request.URL.Host || next.Scheme != res.Request.URL.Scheme {
				return fmt.Errorf("next page not asked for with a token: %q", m[1])
			}
			addr = next.String()
		}
		if again = empty && addr != "" && !again; again { // empty before the end: once more
			time.Sleep(time.Second)
			addr = this
		}
	}
	return nil
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Second)
	defer cancel()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "incomplete:", err)
		os.Exit(1)
	}
}
