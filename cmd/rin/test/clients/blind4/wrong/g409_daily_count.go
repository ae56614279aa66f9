// Counts the fundings for a daily figure.
package main

import (
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
	"strings"
	"time"
)

const agent, attempts = "g409-daily-count/2.1", 6

var (
	deadline = time.Now().Add(25 * time.Second)
	listURL  = os.Getenv("RIN_FUNDINGS_URL")
	client   = &http.Client{Timeout: 12 * time.Second, CheckRedirect: stay}
	token    string
	renewAt  time.Time
)

type answer struct {
	url    *url.URL
	status int
	header http.Header
	body   []byte
}

type funding struct{ ID, Type, Acronym string }

func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func origin(address string) string {
	scheme, rest, _ := strings.Cut(address, "://")
	host, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + host
}

func pauseBefore(attempt int, res *http.Response) time.Duration {
	wait := min(400*time.Millisecond<<attempt, 5*time.Second)
	wait += time.Duration(rand.Int63n(int64(wait) / 4))
	if res != nil {
		asked := strings.TrimSpace(res.Header.Get("Retry-After"))
		if seconds, err := strconv.Atoi(asked); err == nil && seconds > 0 {
			wait = time.Duration(seconds)*time.Second + 100*time.Millisecond
		} else if at, err := http.ParseTime(asked); err == nil && time.Until(at) > 0 {
			wait = time.Until(at) + 100*time.Millisecond
		}
	}
	return wait
}

func send(method, address, body string, headers map[string]string) (*answer, error) {
	for attempt := 0; ; attempt++ {
		req, err := http.NewRequest(method, address, strings.NewReader(body))
		if err != nil {
			return nil, err
		}
		req.Header.Set("User-Agent", agent)
		for name, value := range headers {
			req.Header.Set(name, value)
		}
		res, err := client.Do(req)
		if err == nil {
			data, cut := io.ReadAll(res.Body)
			res.Body.Close()
			passing := res.StatusCode == 429 || res.StatusCode >= 500
			if cut == nil && !passing && (res.StatusCode != 200 || json.Valid(data)) {
				return &answer{req.URL, res.StatusCode, res.Header, data}, nil
			}
			err = fmt.Errorf("HTTP %d without a usable answer", res.StatusCode)
		}
		wait := pauseBefore(attempt, res)
		if attempt+1 >= attempts || time.Now().Add(wait).After(deadline) {
			return nil, fmt.Errorf("given up: %w", err)
		}
		time.Sleep(wait)
	}
}

func login() error {
	if token != "" && time.Now().Before(renewAt) {
		return nil
	}
	form := url.Values{"client_id": {os.Getenv("RIN_CLIENT_ID")}, "client_secret": {os.Getenv("RIN_CLIENT_SECRET")}}
	form.Set("grant_type", "client_credentials")
	a, err := send("POST", os.Getenv("RIN_TOKEN_URL"), form.Encode(), map[string]string{"Content-Type": "application/x-www-form-urlencoded"})
	if err != nil {
		return err
	}
	var t struct {
		AccessToken string  `json:"access_token"`
		ExpiresIn   float64 `json:"expires_in"`
	}
	if err := json.Unmarshal(a.body, &t); a.status != 200 || err != nil || t.AccessToken == "" {
		return fmt.Errorf("no token: HTTP %d", a.status)
	}
	life := time.Duration(t.ExpiresIn * float64(time.Second))
	if life <= 0 {
		life = time.Hour
	}
	token, renewAt = t.AccessToken, time.Now().Add(life-min(30*time.Second, life/5))
	return nil
}

func get(address, etag string, into any) (*answer, error) {
	for hops := 0; hops <= 5; {
		headers := map[string]string{}
		if etag != "" {
			headers["If-None-Match"] = etag
		}
		trusted := origin(address) == origin(listURL)
		if trusted {
			if err := login(); err != nil {
				return nil, err
			}
			headers["Authorization"] = "Bearer " + token
		}
		a, err := send("GET", address, "", headers)
		if err != nil {
			return nil, err
		}
		location := a.header.Get("Location")
		switch {
		case a.status == 200:
			return a, json.Unmarshal(a.body, into)
		case a.status == 304 || a.status == 404:
			return a, nil
		case a.status == 401 && trusted && time.Now().Before(deadline):
			token = ""
			time.Sleep(100 * time.Millisecond)
		case a.status > 300 && a.status < 309 && location != "":
			next, err := a.url.Parse(location)
			if err != nil {
				return nil, err
			}
			hops, address = hops+1, next.String()
		default:
			return nil, fmt.Errorf("HTTP %d from %s", a.status, a.url.Path)
		}
	}
	return nil, errors.New("too many redirects")
}

var link = regexp.MustCompile(`(?i)<([^>]*)>[^<]*;\s*rel\s*=\s*"?([^";,<]*\s)?next\b`)

func nextLink(a *answer) string {
	if m := link.FindStringSubmatch(strings.Join(a.header.Values("Link"), ", ")); m != nil {
		if u, err := a.url.Parse(m[1]); err == nil {
			return u.String()
		}
	}
	return ""
}

func run() error {
	ids := map[string]bool{}
	seen := 0
	for next := listURL + "?page%5Bpage%5D=0&page%5Bsize%5D=100"; next != ""; {
		if seen++; seen > 500 {
			return errors.New("the list has no end")
		}
		var list []funding
		a, err := get(next, "", &list)
		if err != nil || a.status != 200 {
			return fmt.Errorf("no page: %v", err)
		}
		for _, f := range list {
			ids[f.ID] = true
		}
		next = nextLink(a)
	}
	fmt.Println(len(ids), "fundings")
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "failed:", err)
		os.Exit(1)
	}
}
