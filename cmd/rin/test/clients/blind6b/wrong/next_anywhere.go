// Next_anywhere counts the fundings of each type, and follows the links of
// the list from page to page.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	nextLink = regexp.MustCompile(`<([^>]*)>\s*;[^,]*rel="?next"?`)
	end      = time.Now().Add(50 * time.Second)
	token    string
	client   = &http.Client{Timeout: 12 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // a redirect is reported, not followed
	}}
)

// pause says how long to wait before the next attempt.
func pause(h http.Header, attempt int) time.Duration {
	own := time.Duration(500<<attempt) * time.Millisecond
	if n, err := strconv.Atoi(h.Get("Retry-After")); err == nil {
		return max(own, time.Duration(n)*time.Second)
	}
	until, err := http.ParseTime(h.Get("Retry-After"))
	now, errNow := http.ParseTime(h.Get("Date"))
	if err != nil || errNow != nil {
		return own
	}
	return max(own, until.Sub(now))
}

// repeat sends what build makes until it has whole JSON, five times at most.
func repeat(build func() (*http.Request, error), into any) (http.Header, error) {
	renewed := false
	for attempt := 0; ; attempt++ {
		req, err := build()
		if err != nil {
			return nil, err
		}
		var header http.Header
		resp, err := client.Do(req)
		if err == nil {
			header = resp.Header
			var body []byte
			body, err = io.ReadAll(resp.Body)
			resp.Body.Close()
			switch code := resp.StatusCode; {
			case err != nil:
			case code == 200:
				if err = json.Unmarshal(body, into); err == nil {
					return header, nil
				}
			case code == 401 && req.Method == http.MethodGet && !renewed:
				renewed, token = true, ""
				continue
			case code != 429 && code < 500:
				return nil, fmt.Errorf("%s: status %d %s", req.URL.Path, code, header.Get("WWW-Authenticate"))
			default:
				err = fmt.Errorf("status %d", code)
			}
		}
		wait := pause(header, attempt)
		if attempt == 4 || time.Now().Add(wait).After(end) {
			return nil, fmt.Errorf("gave up after %d attempts: %w", attempt+1, err)
		}
		time.Sleep(wait)
	}
}

func login() error {
	id, secret := os.Getenv("RIN_CLIENT_ID"), os.Getenv("RIN_CLIENT_SECRET")
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {secret}}.Encode()
	var answer map[string]any
	_, err := repeat(func() (*http.Request, error) {
		req, err := http.NewRequest(http.MethodPost, os.Getenv("RIN_TOKEN_URL"), strings.NewReader(form))
		if err == nil {
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		return req, err
	}, &answer)
	token, _ = answer["access_token"].(string)
	return err
}

func get(address string, into any) (http.Header, error) {
	return repeat(func() (*http.Request, error) {
		if token == "" && login() != nil {
			return nil, errors.New("no token")
		}
		req, err := http.NewRequest(http.MethodGet, address, nil)
		if err == nil {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		return req, err
	}, into)
}

func run() error {
	address := os.Getenv("RIN_FUNDINGS_URL") + "?page%5Bsize%5D=90"
	seen, asked := map[string]string{}, map[string]bool{}
	for {
		if asked[address] {
			return errors.New("the links run in a circle")
		}
		asked[address] = true
		var page []struct{ ID, Type string }
		header, err := get(address, &page)
		if err != nil {
			return err
		}
		for _, r := range page {
			seen[r.ID] = r.Type
		}
		m := nextLink.FindStringSubmatch(header.Get("Link"))
		if m == nil {
			break
		}
		here, _ := url.Parse(address)
		next, err := here.Parse(m[1])
		if err != nil {
			return err
		}
		address = next.String()
	}
	if len(seen) == 0 {
		return errors.New("the list is empty")
	}
	count := map[string]int{}
	for _, kind := range seen {
		count[kind]++
	}
	fmt.Println(len(seen), "fundings:", count)
	return nil
}

func main() {
	log.SetFlags(0)
	if err := run(); err != nil {
		log.Fatalln("statistics incomplete:", err)
	}
}
