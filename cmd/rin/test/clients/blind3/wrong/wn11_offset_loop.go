// Harvest by offsets into a JSON Lines file; fetches a new token whenever the old one is refused.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

type api struct {
	hc    *http.Client
	ctx   context.Context
	tok   string
	until time.Time
	mu    sync.Mutex
}

type stop struct{ msg string }

func (s stop) Error() string { return s.msg }

// once sends a request and reads the whole answer.
func (a *api) once(req *http.Request) (*http.Response, []byte, error) {
	res, err := a.hc.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return res, b, err
}

func (a *api) sleep(n int, res *http.Response, why string) error {
	d := time.Duration(250<<n) * time.Millisecond
	if res != nil {
		v := res.Header.Get("Retry-After")
		if s, err := strconv.Atoi(v); err == nil && s >= 0 {
			d = time.Duration(s)*time.Second + 50*time.Millisecond
		} else if t, err := http.ParseTime(v); err == nil {
			now, err := http.ParseTime(res.Header.Get("Date"))
			if err != nil {
				now = time.Now()
			}
			d = max(t.Sub(now), 0) + 100*time.Millisecond
		}
	}
	if end, _ := a.ctx.Deadline(); n >= 5 || time.Until(end) < d {
		return stop{why + ": given up"}
	}
	log.Printf("%s: pause %v", why, d)
	time.Sleep(d)
	return nil
}

func (a *api) token(refused string) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.tok != "" && a.tok != refused && time.Now().Before(a.until) {
		return a.tok, nil
	}
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {os.Getenv("RIN_CLIENT_ID")}, "client_secret": {os.Getenv("RIN_CLIENT_SECRET")}}.Encode()
	for n := 1; ; n++ {
		req, err := http.NewRequestWithContext(a.ctx, "POST", os.Getenv("RIN_TOKEN_URL"), strings.NewReader(form))
		if err != nil {
			return "", stop{err.Error()}
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		res, b, err := a.once(req)
		why := fmt.Sprint("token: ", err)
		if err == nil {
			why = "token: " + res.Status
			if res.StatusCode == 200 {
				var t struct {
					AccessToken string `json:"access_token"`
					ExpiresIn   int    `json:"expires_in"`
				}
				if err := json.Unmarshal(b, &t); err == nil {
					if t.AccessToken == "" {
						return "", stop{"token: no access_token"}
					}
					a.tok, a.until = t.AccessToken, time.Now().Add(time.Hour)
					if t.ExpiresIn > 0 {
						a.until = time.Now().Add(time.Duration(t.ExpiresIn) * 900 * time.Millisecond)
					}
					return a.tok, nil
				}
				why = "token: broken JSON"
			} else if res.StatusCode != 429 && res.StatusCode < 500 {
				return "", stop{fmt.Sprintf("token: %s %.200s", res.Status, b)}
			}
		}
		if err := a.sleep(n, res, why); err != nil {
			return "", err
		}
	}
}

var linkValue = regexp.MustCompile(`<([^>]*)>([^<]*)`)
var isNext = regexp.MustCompile(`(?i);\s*rel\s*=\s*("([^"]*\s)?next(\s[^"]*)?"|next\s*([;,]|$))`)

func nextLink(h http.Header, base string) string {
	for _, l := range h.Values("Link") {
		for _, m := range linkValue.FindAllStringSubmatch(l, -1) {
			if isNext.MatchString(m[2]) {
				if b, err := url.Parse(base); err == nil {
					if u, err := b.Parse(m[1]); err == nil && u.Host == b.Host && u.Scheme == b.Scheme {
						return u.String()
					}
				}
			}
		}
	}
	return ""
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 18*time.Second)
	defer cancel()
	a := &api{ctx: ctx, hc: &http.Client{
		Timeout:       7 * time.Second,
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	const size = 60
	out, err := os.CreateTemp("", "fundings-*.jsonl")
	if err != nil {
		log.Fatal(err)
	}
	enc := json.NewEncoder(out)
	seen := map[string]bool{}
	refused, refusals, tries, more := "", 0, 0, true
	for off := 0; more; off += size {
		u := os.Getenv("RIN_FUNDINGS_URL") + "?" + url.Values{"page[page]": {strconv.Itoa(off)}, "page[size]": {strconv.Itoa(size)}}.Encode()
		t, err := a.token(refused)
		if err != nil {
			log.Fatal(err)
		}
		req, err := http.NewRequestWithContext(ctx, "GET", u, nil)
		if err != nil {
			log.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+t)
		res, b, err := a.once(req)
		var page []map[string]any
		why := ""
		switch {
		case err != nil:
			why = err.Error()
		case res.StatusCode == 200:
			if json.Unmarshal(b, &page) != nil {
				why = "broken JSON"
			}
		case res.StatusCode == 401:
			if refusals++; refusals > 3 {
				log.Fatal("refused again and again")
			}
			log.Print("token expired, renewing")
			refused = t
			continue
		case res.StatusCode == 429 || res.StatusCode >= 500:
			why = res.Status
		default:
			log.Fatalf("%s %.200s", res.Status, b)
		}
		if why != "" {
			tries++
			if err := a.sleep(tries, res, why); err != nil {
				log.Fatal(err)
			}
			off -= size // the same page again
			continue
		}
		tries, refusals = 0, 0
		for _, r := range page {
			id, _ := r["id"].(string)
			if seen[id] {
				continue
			}
			seen[id] = true
			if err := enc.Encode(r); err != nil {
				log.Fatal(err)
			}
		}
		more = nextLink(res.Header, u) != ""
	}
	if err := out.Close(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(seen), "fundings in", out.Name())
}
