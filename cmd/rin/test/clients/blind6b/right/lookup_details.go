// Lookup_details finds the resource for one funding in the info document of the
// node, takes the ids of a short first page, and reads their details one by one.
// Redirects are not followed but reported.
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
	"strconv"
	"strings"
	"time"
)

var (
	token  string
	end    = time.Now().Add(50 * time.Second)
	client = &http.Client{Timeout: 12 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
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

// send makes one request: with a form that of a token, else one of the API.
func send(address string, form url.Values) (*http.Response, []byte, error) {
	method := http.MethodGet
	if form != nil {
		method = http.MethodPost
	}
	req, err := http.NewRequest(method, address, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if form == nil {
		req.Header = http.Header{"Authorization": {"Bearer " + token}}
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, body, err
}

// read repeats a request until its answer is whole JSON, five times at most.
func read(address string, form url.Values, into any) error {
	renewed := false
	for attempt := 0; ; attempt++ {
		if form == nil && token == "" && login() != nil {
			return errors.New("no token")
		}
		resp, body, err := send(address, form)
		var header http.Header
		if err == nil {
			header = resp.Header
			switch code := resp.StatusCode; {
			case code == 200:
				if err = json.Unmarshal(body, into); err == nil {
					return nil
				}
			case code == 401 && form == nil && !renewed:
				renewed, token = true, ""
				continue
			case code != 429 && code < 500:
				return fmt.Errorf("status %d %s", code, header.Get("WWW-Authenticate"))
			default:
				err = fmt.Errorf("status %d", code)
			}
		}
		wait := pause(header, attempt)
		if attempt == 4 || time.Now().Add(wait).After(end) {
			return fmt.Errorf("gave up after %d attempts: %w", attempt+1, err)
		}
		time.Sleep(wait)
	}
}

func login() error {
	var answer map[string]any
	id, secret := os.Getenv("RIN_CLIENT_ID"), os.Getenv("RIN_CLIENT_SECRET")
	err := read(os.Getenv("RIN_TOKEN_URL"), url.Values{
		"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {secret},
	}, &answer)
	token, _ = answer["access_token"].(string)
	return err
}

func run() error {
	var info struct {
		Endpoints map[string][]struct{ Name, URL string }
	}
	if err := read(os.Getenv("RIN_INFO_URL"), nil, &info); err != nil {
		return err
	}
	list := os.Getenv("RIN_FUNDINGS_URL")
	template := list + "/{id}"
	for _, e := range info.Endpoints["funding"] {
		if e.Name == "FUNDING" {
			template = e.URL
		}
	}
	if !strings.HasPrefix(template, os.Getenv("RIN_BASE_URL")+"/") { // the token stays at this API
		return fmt.Errorf("info names a resource elsewhere: %s", template)
	}
	type record struct{ ID, Acronym, Type string }
	var page []record
	for attempt := 0; len(page) == 0; attempt++ {
		time.Sleep(time.Duration(attempt) * 3 * time.Second)
		if err := read(list+"?page%5Bsize%5D=6", nil, &page); err != nil || attempt == 2 {
			return fmt.Errorf("no records to look up: %v", err)
		}
	}
	looked := map[string]bool{}
	for _, p := range page {
		var r record
		if looked[p.ID] {
			continue
		} else if err := read(strings.ReplaceAll(template, "{id}", url.PathEscape(p.ID)), nil, &r); err != nil {
			return err
		} else if r.ID != p.ID {
			return fmt.Errorf("asked for %s, got %s", p.ID, r.ID)
		}
		looked[p.ID] = true
		fmt.Println(r.ID, r.Type, r.Acronym)
	}
	return nil
}

func main() {
	log.SetFlags(0)
	if err := run(); err != nil {
		log.Fatalln("lookup incomplete:", err)
	}
}
