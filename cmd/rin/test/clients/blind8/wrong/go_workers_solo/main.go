// Command workers reads one page of running calls, and the details of each with
// several goroutines that share a token and a pace.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	workers = 5
	want    = 20
)

type gate struct {
	mu   sync.Mutex
	open time.Time
	gap  time.Duration
}

func (g *gate) wait() {
	for {
		g.mu.Lock()
		rest := time.Until(g.open)
		if rest <= 0 {
			g.open = time.Now().Add(g.gap)
			g.mu.Unlock()
			return
		}
		g.mu.Unlock()
		time.Sleep(rest)
	}
}

type harvester struct {
	http http.Client
	gate gate

	mu    sync.Mutex // guards the token, and its renewal
	token string
	until time.Time

	stop sync.Once
	dead chan struct{}
	err  error
}

func (h *harvester) fail(err error) {
	h.stop.Do(func() { h.err = err; close(h.dead) })
}

func (h *harvester) isDead() bool {
	select {
	case <-h.dead:
		return true
	default:
		return false
	}
}

func origin(u *url.URL) string {
	p := u.Port()
	if p == "" {
		p = u.Scheme
	}
	return u.Scheme + "://" + strings.ToLower(u.Hostname()) + ":" + p
}

func pauseOf(resp *http.Response) (time.Duration, bool) {
	v := resp.Header.Get("Retry-After")
	if n, err := strconv.ParseUint(strings.TrimSpace(v), 10, 31); err == nil {
		return time.Duration(n) * time.Second, true
	}
	t, err := http.ParseTime(v)
	if err != nil {
		return 0, false
	}
	if d, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
		return max(t.Sub(d), 0), true
	}
	return max(time.Until(t), 0), true
}

// do returns the last answer, whose status is below 500 and neither 429 nor a redirect.
func (h *harvester) do(method, addr, body string, header http.Header) (*http.Response, []byte, error) {
	broken, waits, hops := 0, 0, 0
	for {
		h.gate.wait()
		if h.isDead() {
			return nil, nil, errors.New("stopped")
		}
		req, err := http.NewRequest(method, addr, strings.NewReader(body))
		if err != nil {
			return nil, nil, err
		}
		req.Header = header.Clone()
		resp, err := h.http.Do(req)
		var data []byte
		if err == nil {
			data, err = io.ReadAll(resp.Body)
			resp.Body.Close()
			if err == nil && resp.StatusCode == 200 && !json.Valid(data) {
				err = errors.New("incomplete JSON")
			}
		}
		if err == nil {
			switch c := resp.StatusCode; {
			case c == 429 || c == 503:
				if d, ok := pauseOf(resp); ok {
					if waits++; waits > 6 || d > 10*time.Minute {
						return nil, nil, fmt.Errorf("%s: %s, %s", addr, resp.Status, d)
					}
					time.Sleep(d + 100*time.Millisecond)
					continue
				}
				err = errors.New(resp.Status)
			case c == 301 || c == 302 || c == 307 || c == 308:
				to, perr := resp.Location()
				if hops++; perr != nil || hops > 3 || origin(to) != origin(req.URL) {
					return nil, nil, fmt.Errorf("%s redirects to %q", addr, resp.Header.Get("Location"))
				}
				addr = to.String()
				continue
			case c >= 500:
				err = errors.New(resp.Status)
			default:
				return resp, data, nil
			}
		}
		if broken++; broken > 3 {
			return nil, nil, fmt.Errorf("%s: %w", addr, err)
		}
		time.Sleep(time.Duration(broken*broken) * 400 * time.Millisecond)
	}
}

// bearer gives the token; refused is one that the node did not accept, or "".
func (h *harvester) bearer(refused string) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.token != "" && h.token != refused && time.Now().Before(h.until) {
		return h.token, nil
	}
	head := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}, "Accept": {"application/json"}}
	probe := http.Request{Header: head}
	probe.SetBasicAuth(url.QueryEscape(os.Getenv("RIN_CLIENT_ID")), url.QueryEscape(os.Getenv("RIN_CLIENT_SECRET")))
	resp, data, err := h.do("POST", os.Getenv("RIN_TOKEN_URL"), "grant_type=client_credentials", head)
	if err != nil {
		return "", err
	}
	var doc struct {
		Token string  `json:"access_token"`
		Life  float64 `json:"expires_in"`
	}
	if err := json.Unmarshal(data, &doc); err != nil || doc.Token == "" {
		return "", fmt.Errorf("no token: %s", resp.Status)
	}
	if doc.Life <= 0 {
		doc.Life = 86400
	}
	h.token, h.until = doc.Token, time.Now().Add(time.Duration(doc.Life*0.9*float64(time.Second)))
	return h.token, nil
}

func (h *harvester) get(addr string, into any) (*http.Response, error) {
	refused := ""
	for {
		token, err := h.bearer(refused)
		if err != nil {
			return nil, err
		}
		resp, data, err := h.do("GET", addr, "", http.Header{"Authorization": {"Bearer " + token}, "Accept": {"application/json"}})
		if err != nil {
			return nil, err
		}
		if resp.StatusCode == 401 && refused == "" {
			refused = token
			continue
		}
		if resp.StatusCode != 200 {
			return nil, fmt.Errorf("%s: %s %s", addr, resp.Status, resp.Header.Get("WWW-Authenticate"))
		}
		return resp, json.Unmarshal(data, into)
	}
}

type funding struct {
	ID     string `json:"id"`
	Type   string `json:"type"`
	Stages []struct {
		End string `json:"callStageEnd"`
	} `json:"callStages"`
}

func next(resp *http.Response) string {
	for _, part := range strings.Split(strings.Join(resp.Header.Values("Link"), ","), ",") {
		target, params, _ := strings.Cut(strings.TrimSpace(part), ">")
		if strings.Contains(strings.ReplaceAll(params, " ", ""), `rel="next"`) {
			return strings.TrimPrefix(target, "<")
		}
	}
	return ""
}

func (h *harvester) ids() ([]string, error) {
	list := os.Getenv("RIN_FUNDINGS_URL")
	base, err := url.Parse(list)
	if err != nil {
		return nil, err
	}
	page := func(skip int) string {
		return list + "?" + url.Values{"runningCalls": {"true"}, "page[page]": {strconv.Itoa(skip)}, "page[size]": {strconv.Itoa(want)}}.Encode()
	}
	var ids []string
	known, skip, at := map[string]bool{}, 0, page(0)
	for n := 0; at != "" && len(ids) < want; n++ {
		if n == 60 {
			return nil, errors.New("the list goes on and on")
		}
		var fs []funding
		resp, err := h.get(at, &fs)
		if err != nil {
			return nil, err
		}
		for _, f := range fs {
			if !known[f.ID] {
				known[f.ID] = true
				ids = append(ids, f.ID)
			}
		}
		skip += len(fs)
		if resp.Header.Get("Link") == "" {
			if at = page(skip); len(fs) == 0 {
				at = ""
			}
			continue
		}
		to := next(resp)
		if to == "" {
			break
		}
		u, err := resp.Request.URL.Parse(to)
		if err != nil || origin(u) != origin(base) {
			return nil, fmt.Errorf("the list goes on at %s", to)
		}
		if u.String() == at {
			return nil, errors.New("a page that names itself as the next")
		}
		at = u.String()
	}
	return ids[:min(want, len(ids))], nil
}

func main() {
	h := &harvester{dead: make(chan struct{})}
	h.gate.gap = 20 * time.Millisecond
	h.http.Timeout = 20 * time.Second
	h.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	ids, err := h.ids()
	if err != nil {
		fmt.Fprintln(os.Stderr, "workers:", err)
		os.Exit(1)
	}
	jobs, found := make(chan string), make([]funding, 0, len(ids))
	var wg sync.WaitGroup
	var mu sync.Mutex
	for range workers {
		wg.Go(func() {
			for id := range jobs {
				var f funding
				if _, err := h.get(strings.TrimSuffix(os.Getenv("RIN_FUNDINGS_URL"), "/")+"/"+url.PathEscape(id), &f); err != nil {
					h.fail(err)
					continue
				}
				mu.Lock()
				found = append(found, f)
				mu.Unlock()
			}
		})
	}
	for _, id := range ids {
		if h.isDead() {
			break
		}
		jobs <- id
	}
	close(jobs)
	wg.Wait()
	if h.isDead() {
		fmt.Fprintln(os.Stderr, "workers:", h.err)
		os.Exit(1)
	}
	for _, f := range found {
		fmt.Println(f.ID, f.Type, len(f.Stages))
	}
}
