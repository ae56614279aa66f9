// Details of the twelve calls for companies in Tyrol that are listed first: four workers, one JSON file each.
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
	"path/filepath"
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

// detail reads one funding.
func (a *api) detail(id string) ([]byte, error) {
	refused := ""
	for {
		t, err := a.token(refused)
		if err != nil {
			return nil, err
		}
		req, err := http.NewRequestWithContext(a.ctx, "GET", os.Getenv("RIN_FUNDINGS_URL")+"/"+url.PathEscape(id), nil)
		if err != nil {
			return nil, err
		}
		req.Header.Set("Authorization", "Bearer "+t)
		res, b, err := a.once(req)
		if err != nil {
			return nil, err
		}
		if res.StatusCode == 401 && refused == "" {
			refused = t
			continue
		}
		if res.StatusCode != 200 {
			return nil, fmt.Errorf("status %s", res.Status)
		}
		if !json.Valid(b) {
			return nil, fmt.Errorf("invalid JSON")
		}
		return b, nil
	}
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 18*time.Second)
	defer cancel()
	a := &api{ctx: ctx, hc: &http.Client{
		Timeout:       7 * time.Second,
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	var rows []struct{ ID string }
	q := url.Values{"targetGroup": {"COMPANY"}, "region": {"TYROL"}, "runningCalls": {"true"}}
	if _, err := a.get(os.Getenv("RIN_FUNDINGS_URL")+"?"+q.Encode(), &rows); err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "fundings")
	if err != nil {
		log.Fatal(err)
	}
	ids := make(chan string)
	var wg sync.WaitGroup
	for w := 0; w < 4; w++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for id := range ids {
				b, err := a.detail(id)
				if err != nil {
					log.Printf("skipping %s: %v", id, err)
					continue
				}
				if err := os.WriteFile(filepath.Join(dir, url.PathEscape(id)+".json"), b, 0o644); err != nil {
					log.Fatal(err)
				}
			}
		}()
	}
	for _, r := range rows[:min(12, len(rows))] {
		ids <- r.ID
	}
	close(ids)
	wg.Wait()
	fmt.Println("details in", dir)
}
