// Details reads the list of fundings in pages and then looks up the first
// twelve ongoing calls one by one, with a breath between them, for a weekly
// mail that shows them in full.
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

const attempts, wanted = 5, 12

var (
	nextLink = regexp.MustCompile(`<([^>]*)>\s*;\s*rel="?next"?`)
	home, _  = url.Parse(os.Getenv("RIN_FUNDINGS_URL"))
	client   = &http.Client{Timeout: 12 * time.Second, CheckRedirect: stayHome}
	deadline = time.Now().Add(50 * time.Second)
	token    string
	errAway  = errors.New("redirected to another host, not followed")
)

func stayHome(r *http.Request, via []*http.Request) (err error) {
	if r.URL.Host != home.Host || r.URL.Scheme != home.Scheme || len(via) > 3 {
		err = errAway
	}
	return err
}

// pause is what Retry-After asks for, or the fallback.
func pause(h http.Header, fallback time.Duration) time.Duration {
	if s, err := strconv.Atoi(h.Get("Retry-After")); err == nil && s >= 0 {
		return time.Duration(s) * time.Second
	}
	t, err := http.ParseTime(h.Get("Retry-After"))
	if now, err2 := http.ParseTime(h.Get("Date")); err == nil && err2 == nil {
		return max(t.Sub(now), time.Second)
	}
	return fallback
}

// send makes a request until its answer is complete and neither 429 nor 5xx.
func send(method, u, form string) (*http.Response, []byte) {
	for i := 1; ; i++ {
		r, err := http.NewRequest(method, u, strings.NewReader(form))
		if err != nil {
			log.Fatalln(err)
		} else if method == "POST" {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		} else if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		var body []byte
		wait := time.Second << (i - 1)
		res, err := client.Do(r)
		if err == nil {
			body, err = io.ReadAll(res.Body)
			res.Body.Close()
			wait = pause(res.Header, wait)
			if res.StatusCode == 429 || res.StatusCode > 499 {
				err = errors.New(res.Status)
			} else if err == nil && res.StatusCode == 200 && !json.Valid(body) {
				err = errors.New("the answer is no complete JSON")
			}
		}
		if err == nil {
			return res, body
		} else if i == attempts || errors.Is(err, errAway) || time.Now().Add(wait).After(deadline) {
			log.Fatalln("gave up:", err)
		}
		fmt.Fprintln(os.Stderr, err, "- again in", wait)
		time.Sleep(wait)
	}
}

func login() {
	form := url.Values{"grant_type": {"client_credentials"},
		"client_id": {os.Getenv("RIN_CLIENT_ID")}, "client_secret": {os.Getenv("RIN_CLIENT_SECRET")}}
	res, body := send("POST", os.Getenv("RIN_TOKEN_URL"), form.Encode())
	var t struct{ Access_token string }
	if res.StatusCode != 200 || json.Unmarshal(body, &t) != nil {
		log.Fatalln("no token:", res.Status)
	}
	token = t.Access_token
}

// get reads u into v and returns the link to the next page, if there is one.
func get(u string, v any) (next string) {
	res, body := send("GET", u, "")
	if res.StatusCode == 401 {
		login()
		res, body = send("GET", u, "")
	}
	if res.StatusCode != 200 || json.Unmarshal(body, v) != nil {
		log.Fatalf("%s: %s %.200s", u, res.Status, body)
	}
	if m := nextLink.FindStringSubmatch(res.Header.Get("Link")); m != nil {
		to, err := home.Parse(m[1])
		if err != nil || to.Host != home.Host || to.Scheme != home.Scheme {
			log.Fatalln("will not follow the link to", m[1])
		}
		next = to.String()
	}
	return next
}

func main() {
	login()
	known, ids := map[string]bool{}, []string{}
	for u := home.String() + "?page%5Bpage%5D=0&page%5Bsize%5D=75"; u != ""; {
		var page []struct{ ID, Type string }
		next := get(u, &page)
		if len(page) == 0 && next != "" { // an index that is being built?
			time.Sleep(2 * time.Second)
			next = get(u, &page)
		}
		for _, f := range page {
			if !known[f.ID] && f.Type == "ONGOING_CALL" && len(ids) < wanted {
				ids = append(ids, f.ID)
			}
			known[f.ID] = true
		}
		u = next
	}
	for _, id := range ids {
		time.Sleep(100 * time.Millisecond)
		var f struct{ ID string }
		if get(home.JoinPath(id).String(), &f); f.ID != id {
			log.Fatalf("asked for %s, got %s", id, f.ID)
		}
	}
	fmt.Printf("%d fundings, %d details\n", len(known), len(ids))
}
