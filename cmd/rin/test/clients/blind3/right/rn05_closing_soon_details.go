// Shows the details of a few calls: those ids given on the command line, or the
// six running calls in Vienna that close next. Two workers; one token for both.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

var (
	end = time.Now().Add(18 * time.Second)
	web = &http.Client{
		Timeout:       7 * time.Second,
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
)

type problem struct {
	msg   string
	retry bool
	after time.Duration // -1: nothing asked
	code  int
}

func (p *problem) Error() string { return p.msg }

// call makes one exchange and decodes a 200 into v.
func call(make func() (*http.Request, error), v any) *problem {
	req, err := make()
	if err != nil {
		return &problem{msg: err.Error()}
	}
	var res *http.Response
	for hop := 0; ; hop++ {
		if res, err = web.Do(req); err != nil {
			return &problem{msg: err.Error(), retry: true, after: -1}
		}
		loc, lerr := res.Location()
		if res.StatusCode/100 != 3 || res.StatusCode == 304 || lerr != nil {
			break
		}
		res.Body.Close()
		same := loc.Scheme == req.URL.Scheme && loc.Host == req.URL.Host
		if !same || hop == 3 || (req.Method != "GET" && res.StatusCode < 307) {
			return &problem{msg: fmt.Sprintf("status %d to %s not followed", res.StatusCode, loc.Host), code: res.StatusCode}
		}
		if req, err = make(); err != nil {
			return &problem{msg: err.Error()}
		}
		req.URL = loc
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return &problem{msg: "body: " + err.Error(), retry: true, after: -1}
	}
	if res.StatusCode != 200 {
		p := &problem{msg: fmt.Sprintf("status %d %.160s", res.StatusCode, body), code: res.StatusCode, after: -1}
		p.retry = p.code == 429 || p.code >= 500
		if ra := res.Header.Get("Retry-After"); ra != "" {
			if s, err := strconv.Atoi(ra); err == nil && s >= 0 {
				p.after = time.Duration(s) * time.Second
			} else if t, err := http.ParseTime(ra); err == nil {
				base, err := http.ParseTime(res.Header.Get("Date"))
				if err != nil {
					base = time.Now()
				}
				p.after = max(0, t.Sub(base))
			}
		}
		return p
	}
	if err := json.Unmarshal(body, v); err != nil {
		return &problem{msg: "bad JSON: " + err.Error(), retry: true, after: -1}
	}
	return nil
}

// brake holds back every request until a moment that the node named.
var brake struct {
	sync.Mutex
	until time.Time
}

func hold(d time.Duration) {
	brake.Lock()
	defer brake.Unlock()
	if t := time.Now().Add(d); t.After(brake.until) {
		brake.until = t
	}
}

func ready() {
	for {
		brake.Lock()
		d := time.Until(brake.until)
		brake.Unlock()
		if d <= 0 {
			return
		}
		time.Sleep(d)
	}
}

func patiently(what string, f func() *problem) *problem {
	for n := 1; ; n++ {
		ready()
		p := f()
		if p == nil || !p.retry {
			return p
		}
		d := time.Duration(n*n) * 350 * time.Millisecond
		if p.after >= 0 {
			d = p.after + 100*time.Millisecond
		}
		if n == 5 || time.Now().Add(d).After(end) {
			p.retry = false
			p.msg = fmt.Sprintf("%s, given up after %d tries", p.msg, n)
			return p
		}
		fmt.Fprintf(os.Stderr, "%s: %s; pause %v\n", what, p.msg, d)
		if p.after >= 0 {
			hold(d)
		} else {
			time.Sleep(d)
		}
	}
}

var tok struct {
	sync.Mutex
	value string
	until time.Time
}

// token returns the token in use; bad names one that the node has refused.
func token(bad string) (string, *problem) {
	tok.Lock()
	defer tok.Unlock()
	if tok.value != "" && tok.value != bad && time.Now().Before(tok.until) {
		return tok.value, nil
	}
	var t struct {
		AccessToken string `json:"access_token"`
		ExpiresIn   int    `json:"expires_in"`
	}
	form := url.Values{}
	form.Set("grant_type", "client_credentials")
	form.Set("client_id", os.Getenv("RIN_CLIENT_ID"))
	form.Set("client_secret", os.Getenv("RIN_CLIENT_SECRET"))
	p := patiently("token", func() *problem {
		return call(func() (*http.Request, error) {
			req, err := http.NewRequest("POST", os.Getenv("RIN_TOKEN_URL"), strings.NewReader(form.Encode()))
			if err == nil {
				req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			}
			return req, err
		}, &t)
	})
	if p != nil {
		return "", p
	}
	if t.AccessToken == "" {
		return "", &problem{msg: "no access_token"}
	}
	tok.value, tok.until = t.AccessToken, time.Now().Add(time.Hour)
	if t.ExpiresIn > 0 {
		tok.until = time.Now().Add(time.Duration(t.ExpiresIn) * 900 * time.Millisecond)
	}
	return tok.value, nil
}

func get(u string, v any) *problem {
	bad := ""
	return patiently(u, func() *problem {
		for {
			t, p := token(bad)
			if p != nil {
				return p
			}
			p = call(func() (*http.Request, error) {
				req, err := http.NewRequest("GET", u, nil)
				if err == nil {
					req.Header.Set("Authorization", "Bearer "+t)
					req.Header.Set("Accept", "application/json")
				}
				return req, err
			}, v)
			if p != nil && p.code == 401 && bad == "" {
				bad = t
				continue
			}
			return p
		}
	})
}

type text struct{ Lang, Text string }
type record struct {
	ID         string
	Name       []text
	Website    []string
	CallStages []struct{ CallStageEnd *time.Time }
}

func (r record) closes() (t time.Time) {
	if len(r.CallStages) > 0 && r.CallStages[0].CallStageEnd != nil {
		t = *r.CallStages[0].CallStageEnd
	}
	return
}

func main() {
	list := os.Getenv("RIN_FUNDINGS_URL")
	ids := os.Args[1:]
	if len(ids) == 0 {
		var all []record
		if p := get(list+"?"+url.Values{"runningCalls": {"true"}, "region": {"VIENNA"}}.Encode(), &all); p != nil {
			fmt.Fprintln(os.Stderr, "list:", p)
			os.Exit(1)
		}
		sort.SliceStable(all, func(i, j int) bool {
			a, b := all[i].closes(), all[j].closes()
			if a.IsZero() != b.IsZero() {
				return b.IsZero()
			}
			return a.Before(b)
		})
		for _, r := range all[:min(6, len(all))] {
			ids = append(ids, r.ID)
		}
	}
	out := make([]string, len(ids))
	errs := make([]*problem, len(ids))
	jobs := make(chan int)
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range jobs {
				var r record
				if errs[i] = get(strings.TrimRight(list, "/")+"/"+url.PathEscape(ids[i]), &r); errs[i] == nil {
					name := ""
					for _, n := range r.Name {
						if name == "" || n.Lang == "en" {
							name = n.Text
						}
					}
					when := "open end"
					if !r.closes().IsZero() {
						when = r.closes().Local().Format("2006-01-02 15:04 MST")
					}
					out[i] = fmt.Sprintf("%-12s %-22s %s\n  %s", r.ID, when, name, strings.Join(r.Website, " "))
				}
			}
		}()
	}
	for i := range ids {
		jobs <- i
	}
	close(jobs)
	wg.Wait()
	rc := 0
	for i, s := range out {
		switch p := errs[i]; {
		case p == nil:
			fmt.Println(s)
		case p.code == 404:
			fmt.Printf("%-12s is no longer offered\n", ids[i])
		default:
			fmt.Fprintf(os.Stderr, "%s: %v\n", ids[i], p)
			rc = 1
		}
	}
	os.Exit(rc)
}
