// Pipeline: one goroutine reads pages, another one writes a line for every call that runs.
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
	if res != nil && res.StatusCode == http.StatusTooManyRequests {
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

// get reads a protected resource into v, with repeats.
func (a *api) get(u string, v any) (http.Header, error) {
	refused := ""
	for n := 1; ; {
		t, err := a.token(refused)
		if err != nil {
			return nil, err
		}
		req, err := http.NewRequestWithContext(a.ctx, "GET", u, nil)
		if err != nil {
			return nil, stop{err.Error()}
		}
		req.Header.Set("Authorization", "Bearer "+t)
		req.Header.Set("Accept", "application/json")
		res, b, err := a.once(req)
		why := fmt.Sprint("read: ", err)
		if err == nil {
			why = "read: " + res.Status
			switch c := res.StatusCode; {
			case c == 200:
				if err = json.Unmarshal(b, v); err == nil {
					return res.Header, nil
				}
				why = "read: broken JSON"
			case c == 401 && refused == "":
				refused = t
				continue
			case c != 429 && c < 500:
				return nil, stop{fmt.Sprintf("read: %s %.200s", res.Status, b)}
			}
		}
		if err := a.sleep(n, res, why); err != nil {
			return nil, err
		}
		n++
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

type call struct {
	ID         string
	Acronym    string
	CallStages []struct{ CallStageEnd string }
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 18*time.Second)
	defer cancel()
	a := &api{ctx: ctx, hc: &http.Client{
		Timeout:       7 * time.Second,
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	rows := make(chan call, 100)
	errc := make(chan error, 1)
	go func() {
		defer close(rows)
		u := os.Getenv("RIN_FUNDINGS_URL") + "?" + url.Values{"runningCalls": {"true"}, "page[page]": {"0"}, "page[size]": {"40"}}.Encode()
		for pages := 0; u != ""; pages++ {
			if pages > 500 {
				errc <- stop{"too many pages"}
				return
			}
			var page []call
			h, err := a.get(u, &page)
			if err != nil {
				errc <- err
				return
			}
			for _, r := range page {
				rows <- r
			}
			u = nextLink(h, u)
		}
	}()
	seen := map[string]bool{}
	for r := range rows {
		if seen[r.ID] {
			continue
		}
		seen[r.ID] = true
		end := "open"
		if n := len(r.CallStages); n > 0 && r.CallStages[n-1].CallStageEnd != "" {
			end = r.CallStages[n-1].CallStageEnd
		}
		fmt.Println(r.ID, r.Acronym, end)
	}
	select {
	case err := <-errc:
		log.Fatal(err)
	default:
		log.Printf("%d running calls", len(seen))
	}
}
