// Mirrorcalls copies the calls of all types into one JSON array on standard
// output, type by type, with the filter of the list. The array appears only when
// all types have been read to their ends.
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

const attempts = 5

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

// pause is what Retry-After asks for; without it, the pause that has grown so far.
func pause(h http.Header, grown time.Duration) time.Duration {
	if v := h.Get("Retry-After"); v != "" {
		seconds, _ := strconv.Atoi(v)
		return time.Duration(seconds) * time.Second
	}
	return grown
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
	calls, known := []json.RawMessage{}, map[string]bool{}
	for _, kind := range []string{"CALL", "ONGOING_CALL"} {
		for u := home.String() + "?fundingType=" + kind + "&page%5Bpage%5D=0&page%5Bsize%5D=70"; u != ""; {
			var page []json.RawMessage
			next := get(u, &page)
			if len(page) == 0 && next != "" { // an index that is being built?
				time.Sleep(2 * time.Second)
				next = get(u, &page)
			}
			for _, raw := range page {
				var f struct{ ID string }
				if json.Unmarshal(raw, &f) == nil && !known[f.ID] {
					calls = append(calls, raw)
					known[f.ID] = true
				}
			}
			u = next
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(calls); err != nil {
		log.Fatalln(err)
	}
	fmt.Fprintln(os.Stderr, len(calls), "calls")
}
