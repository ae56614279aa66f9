// Exports the whole list of a node, as it is, to stdout.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
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

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 18*time.Second)
	defer cancel()
	a := &api{ctx: ctx, hc: &http.Client{
		Timeout:   7 * time.Second,
		Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if len(via) >= 5 {
				return errors.New("stopped after 5 redirects")
			}
			if req.Method != via[0].Method || via[0].Method == http.MethodPost {
				return http.ErrUseLastResponse
			}
			// net/http drops Authorization when the host changes; put it back.
			if h := via[0].Header.Get("Authorization"); h != "" {
				req.Header.Set("Authorization", h)
			}
			return nil
		},
	}}
	var all []json.RawMessage
	if _, err := a.get(os.Getenv("RIN_FUNDINGS_URL"), &all); err != nil {
		log.Fatal(err)
	}
	enc := json.NewEncoder(os.Stdout)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(all); err != nil {
		log.Fatal(err)
	}
	log.Printf("%d fundings", len(all))
}
