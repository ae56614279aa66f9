// Nightly mirrors the list of funding calls as a cron job would: two nights in one run, the second one
// conditionally, page by page. A night that lost many records is not believed. 0: both were complete.
package main

import (
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
	"time"
)

const pageSize, attempts, nights = 80, 5, 2

var (
	nextLink = regexp.MustCompile(`<([^>]*)>\s*;\s*rel="?next"?`)
	end      = time.Now().Add(50 * time.Second)
	client   = &http.Client{Timeout: 12 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	home, _  = url.Parse(os.Getenv("RIN_FUNDINGS_URL"))
	token    string
	pages    = map[string]*page{} // complete answers by URL
)

type page struct {
	etag, next string
	items      []struct{ ID string }
}

// pause waits as Retry-After says, in seconds or as a date, else growing times of its own.
func pause(n int, h http.Header, why error) {
	wait := 500 * time.Millisecond << (n - 1)
	if s, err := strconv.ParseUint(h.Get("Retry-After"), 10, 16); err == nil {
		wait = time.Duration(s) * time.Second
	} else if at, err := http.ParseTime(h.Get("Retry-After")); err == nil {
		if now, err := http.ParseTime(h.Get("Date")); err == nil {
			wait = at.Sub(now)
		}
	}
	if n >= attempts || time.Now().Add(wait).After(end) {
		log.Fatalf("incomplete, nothing is kept: %v (attempt %d, pause %v)", why, n, wait)
	}
	log.Printf("%v; next attempt in %v", why, wait)
	time.Sleep(wait)
}

// ask repeats a request until its answer is neither 429 nor 5xx, was read to its end, and
// use says that it can be used; use ends the program if repeating is no help.
func ask(req *http.Request, use func(*http.Response, []byte) error) {
	for n := 1; ; n++ {
		body, header := []byte(nil), http.Header(nil)
		res, err := client.Do(req)
		if err == nil {
			body, err = io.ReadAll(res.Body)
			res.Body.Close()
		}
		if err == nil && (res.StatusCode == 429 || res.StatusCode >= 500) {
			err, header = fmt.Errorf("%s answered %s", req.URL.Path, res.Status), res.Header
		} else if err == nil {
			err = use(res, body)
		}
		if err == nil {
			return
		}
		pause(n, header, err)
		req.Body, _ = req.GetBody()
	}
}

func login() {
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {os.Getenv("RIN_CLIENT_ID")}, "client_secret": {os.Getenv("RIN_CLIENT_SECRET")}}
	req, _ := http.NewRequest("POST", os.Getenv("RIN_TOKEN_URL"), strings.NewReader(form.Encode()))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	ask(req, func(res *http.Response, body []byte) error {
		answer := map[string]any{}
		if res.StatusCode != 200 {
			log.Fatalf("token endpoint: %s", res.Status)
		} else if json.Unmarshal(body, &answer); answer["access_token"] == nil {
			return fmt.Errorf("token endpoint: no access_token")
		}
		token = answer["access_token"].(string)
		return nil
	})
}

func get(address string) (p *page) {
	for renewed, empties, old := false, 0, pages[address]; p == nil; {
		req, _ := http.NewRequest("GET", address, strings.NewReader(""))
		req.Header.Set("Authorization", "Bearer "+token)
		if old != nil {
			req.Header.Set("If-None-Match", old.etag)
		}
		ask(req, func(res *http.Response, body []byte) error {
			if p = old; p != nil && res.StatusCode == 304 {
				return nil
			} else if p = nil; res.StatusCode == 401 && !renewed {
				renewed = true
				login()
				return nil
			} else if res.StatusCode != 200 || time.Now().After(end) { // a redirect, too: somebody has to enter the new address
				log.Fatalf("%s: %s%s %.150s", res.Status, res.Header.Get("Location"), res.Header.Get("WWW-Authenticate"), body)
			}
			read := &page{etag: res.Header.Get("ETag")}
			err := json.Unmarshal(body, &read.items)
			if m := nextLink.FindStringSubmatch(strings.Join(res.Header.Values("Link"), ", ")); m != nil && err == nil {
				next, _ := home.Parse(m[1])
				if next == nil || next.Host != home.Host || next.Scheme != home.Scheme {
					log.Fatalf("the next page is elsewhere: %q; the token stays here", m[1])
				}
				read.next = next.String()
				if empties++; len(read.items) == 0 && empties < 3 {
					err = fmt.Errorf("an empty page with a next one")
				}
			}
			if err != nil {
				return err
			} else if p = read; len(p.items) == pageSize || p.next == "" {
				pages[address] = p // others are read in full another night
			}
			return nil
		})
	}
	return p
}

func main() {
	login()
	var state map[string]bool
	for n := 1; n <= nights; n++ {
		time.Sleep(time.Duration(n-1) * 6 * time.Second)
		now := map[string]bool{}
		for at := fmt.Sprintf("%s?page%%5Bpage%%5D=0&page%%5Bsize%%5D=%d", home, pageSize); at != ""; {
			p := get(at)
			for _, item := range p.items {
				now[item.ID] = true
			}
			at = p.next
		}
		if len(now)*5 < len(state)*4 {
			log.Fatalf("night %d: only %d of %d came; nothing is deleted", n, len(now), len(state))
		}
		fmt.Printf("night %d: %d records after %d\n", n, len(now), len(state))
		state = now
	}
}
