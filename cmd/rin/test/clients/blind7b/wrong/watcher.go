// Watcher counts the funding calls three times, without transferring again what did not change. 0: it saw all.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const pageSize, tries, rounds = 120, 5, 3

var (
	next     = regexp.MustCompile(`<([^>]*)>\s*;\s*rel="?next"?`)
	end      = time.Now().Add(50 * time.Second)
	client   = &http.Client{Timeout: 12 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	base, _  = url.Parse(os.Getenv("RIN_FUNDINGS_URL"))
	token    string
	etags    = map[string]string{}
	contents = map[string]content{}
)

type content struct {
	items []struct{ ID string }
	next  string
}

func pause(n int, h http.Header, why error) error {
	wait := 500 * time.Millisecond << (n - 1)
	if s, err := strconv.ParseUint(h.Get("Retry-After"), 10, 16); err == nil {
		wait = time.Duration(s) * time.Second
	} else if at, err := http.ParseTime(h.Get("Retry-After")); err == nil {
		if now, err := http.ParseTime(h.Get("Date")); err == nil {
			wait = at.Sub(now)
		}
	}
	if n >= tries || time.Now().Add(wait).After(end) {
		return fmt.Errorf("%w; no more attempts", why)
	}
	log.Printf("%v; waiting %v", why, wait)
	time.Sleep(wait)
	return nil
}

func login() error {
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {os.Getenv("RIN_CLIENT_ID")}, "client_secret": {os.Getenv("RIN_CLIENT_SECRET")}}
	for n := 1; ; n++ {
		answer, header := map[string]any{}, http.Header{}
		res, err := client.PostForm(os.Getenv("RIN_TOKEN_URL"), form)
		if err == nil {
			bad := json.NewDecoder(res.Body).Decode(&answer)
			res.Body.Close()
			if token, _ = answer["access_token"].(string); res.StatusCode == 200 && bad == nil && token != "" {
				return nil
			}
			header, err = res.Header, fmt.Errorf("token endpoint: %s", res.Status)
			if res.StatusCode != 200 && res.StatusCode != 429 && res.StatusCode < 500 {
				return err
			}
		}
		if err := pause(n, header, err); err != nil {
			return err
		}
	}
}

// read answers the page at this address, from memory if the node says that it is the same.
func read(address string) (content, error) {
	renewed, empty := false, 0
	for n := 1; ; {
		req, _ := http.NewRequest("GET", address, nil)
		req.Header.Set("Authorization", "Bearer "+token)
		if etag := etags[address]; etag != "" {
			req.Header.Set("If-None-Match", etag)
		}
		header := http.Header{}
		res, err := client.Do(req)
		if err == nil {
			defer res.Body.Close()
			header = res.Header
			switch code := res.StatusCode; {
			case code == 304:
				return contents[address], nil
			case code == 200:
				c := content{}
				if m := next.FindStringSubmatch(strings.Join(header.Values("Link"), ", ")); m != nil {
					to, _ := base.Parse(m[1])
					if to == nil || to.Host != base.Host || to.Scheme != base.Scheme {
						return c, fmt.Errorf("the next page is elsewhere: %s", m[1])
					}
					c.next = to.String()
				}
				etags[address] = header.Get("ETag")
				err = json.NewDecoder(res.Body).Decode(&c.items)
				if err == nil && c.next != "" && len(c.items) < pageSize {
					delete(etags, address) // not a whole page: ask for all of it the next time
					if empty++; len(c.items) == 0 && empty < 3 {
						err = fmt.Errorf("an empty page before the end")
					}
				}
				contents[address] = c
			case code == 401 && !renewed:
				renewed = true
				if err = login(); err == nil {
					continue
				}
			default:
				err = fmt.Errorf("%s %s%s", res.Status, header.Get("Location"), header.Get("WWW-Authenticate"))
			}
			if err == nil {
				return contents[address], nil
			}
		}
		if res != nil && res.StatusCode != 200 && res.StatusCode != 429 && res.StatusCode < 500 {
			return content{}, err
		}
		if err := pause(n, header, err); err != nil {
			return content{}, err
		}
		n++
	}
}

func main() {
	err := login()
	for round := 1; err == nil && round <= rounds; round++ {
		now := map[string]bool{}
		for at := fmt.Sprintf("%s?page%%5Bpage%%5D=0&page%%5Bsize%%5D=%d", base, pageSize); at != "" && err == nil; {
			var c content
			c, err = read(at)
			for _, item := range c.items {
				now[item.ID] = true
			}
			at = c.next
		}
		if err == nil {
			fmt.Printf("round %d: %d fundings\n", round, len(now))
			time.Sleep(5 * time.Second)
		}
	}
	if err != nil {
		log.Fatalf("incomplete: %v", err)
	}
}
