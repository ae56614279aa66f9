// Network counts the fundings of all nodes of the registry that have an account
// for us, for the yearly report of the network. Nodes that know no such account
// are named and left out; any other failure ends the count with an error.
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

func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

var (
	nextLink = regexp.MustCompile(`<([^>]*)>\s*;\s*rel="?next"?`)
	client   = &http.Client{Timeout: 12 * time.Second, CheckRedirect: stay}
	deadline = time.Now().Add(50 * time.Second)
	token    string
)

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
		} else if i == attempts || time.Now().Add(wait).After(deadline) {
			log.Fatalln("gave up:", err)
		}
		fmt.Fprintln(os.Stderr, err, "- again in", wait)
		time.Sleep(wait)
	}
}

func login(tokenURL string) (known bool) {
	form := url.Values{"grant_type": {"client_credentials"},
		"client_id": {os.Getenv("RIN_CLIENT_ID")}, "client_secret": {os.Getenv("RIN_CLIENT_SECRET")}}
	res, body := send("POST", tokenURL, form.Encode())
	if res.StatusCode == 400 || res.StatusCode == 401 {
		return false
	}
	var t struct{ Access_token string }
	if res.StatusCode != 200 || json.Unmarshal(body, &t) != nil {
		log.Fatalln("no token:", res.Status)
	}
	token = t.Access_token
	return true
}

// get reads u into v and returns the link to the next page, if there is one.
func get(tokenURL, u string, v any) (next string) {
	res, body := send("GET", u, "")
	if res.StatusCode == 401 && login(tokenURL) {
		res, body = send("GET", u, "")
	}
	if res.StatusCode != 200 || json.Unmarshal(body, v) != nil {
		log.Fatalf("%s: %s %.200s", u, res.Status, body)
	}
	if m := nextLink.FindStringSubmatch(res.Header.Get("Link")); m != nil {
		to, err := res.Request.URL.Parse(m[1])
		if err != nil || to.Host != res.Request.URL.Host || to.Scheme != res.Request.URL.Scheme {
			log.Fatalln("the next link leaves the node:", m[1])
		}
		next = to.String()
	}
	return next
}

type member struct{ ID, Oauth2, Info string }

func count(m member) int {
	var info struct {
		Endpoints struct{ Funding []struct{ Name, URL string } }
	}
	get(m.Oauth2, m.Info, &info)
	known, here := map[string]bool{}, m.Info[:strings.Index(m.Info, "/info/")+1]
	for _, e := range info.Endpoints.Funding {
		if e.Name == "FUNDINGS" && !strings.HasPrefix(e.URL, here) {
			log.Fatalln("the list is not at the node:", e.URL)
		}
		for u := e.URL + "?page%5Bpage%5D=0&page%5Bsize%5D=120"; e.Name == "FUNDINGS" && u != ""; {
			var page []struct{ ID string }
			if u = get(m.Oauth2, u, &page); u != "" && len(page) == 0 {
				log.Fatalln("an empty page in the middle of the list")
			}
			for _, f := range page {
				known[f.ID] = true
			}
		}
	}
	return len(known)
}

func main() {
	var registry struct{ Member []member }
	if res, body := send("GET", os.Getenv("RIN_REGISTRY_URL"), ""); json.Unmarshal(body, &registry) != nil {
		log.Fatalln("no registry:", res.Status)
	}
	for _, m := range registry.Member {
		if login(m.Oauth2) {
			fmt.Println(m.ID, count(m), "fundings")
		} else {
			fmt.Println(m.ID, "has no account for us")
		}
		token = ""
	}
}
