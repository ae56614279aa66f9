// Monitor is a health check for an operations team: four rounds, each asks the
// list for its headers only (HEAD) and the info resource with If-None-Match.
// A failed probe is repeated later. Exit code 0: all have succeeded in the end.
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

const rounds, between, attempts = 4, 3 * time.Second, 5

var (
	deadline = time.Now().Add(52 * time.Second)
	client   = &http.Client{Timeout: 9 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	etags, places = map[string]string{}, map[string]string{}
	token         string
)

// later is the moment the node names in Retry-After, or after a pause of our own.
func later(res *http.Response, own time.Duration) time.Duration {
	if res == nil {
		return own
	}
	if s, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil {
		return time.Duration(s) * time.Second
	}
	then, err := http.ParseTime(res.Header.Get("Retry-After"))
	if now, err2 := http.ParseTime(res.Header.Get("Date")); err == nil && err2 == nil {
		return max(time.Second, then.Sub(now))
	}
	return own
}

func login(attempt int) error {
	form := url.Values{"grant_type": {"client_credentials"},
		"client_id": {os.Getenv("RIN_CLIENT_ID")}, "client_secret": {os.Getenv("RIN_CLIENT_SECRET")}}
	res, err := client.PostForm(os.Getenv("RIN_TOKEN_URL"), form)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	var answer struct{ Access_token string }
	if res.StatusCode == 200 && json.NewDecoder(res.Body).Decode(&answer) == nil {
		token = answer.Access_token
		return nil
	}
	wait := later(res, time.Second<<attempt)
	if res.StatusCode/100 == 4 && res.StatusCode != 429 || attempt == attempts || time.Now().Add(wait).After(deadline) {
		return errors.New("token endpoint: " + res.Status)
	}
	time.Sleep(wait)
	return login(attempt + 1)
}

// probe asks once. It keeps the validator of an answer only if that is complete.
func probe(method, place string) (*http.Response, error) {
	if moved := places[place]; moved != "" {
		place = moved
	}
	req, err := http.NewRequest(method, place, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if etags[place] != "" {
		req.Header.Set("If-None-Match", etags[place])
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	switch {
	case err != nil:
		return res, err
	case res.StatusCode == 304 && etags[place] != "":
		return res, nil
	case res.StatusCode != 200:
		return res, errors.New(res.Status)
	case !strings.HasPrefix(res.Header.Get("Content-Type"), "application/json"):
		return res, errors.New("not JSON")
	case method == "GET" && !json.Valid(body):
		return res, errors.New("incomplete JSON")
	}
	if method == "GET" {
		etags[place] = res.Header.Get("ETag")
	}
	return res, nil
}

// check probes until it succeeds, and says so; or it gives up.
func check(method, place string) error {
	renewed, moved := false, false
	for i := 1; ; i++ {
		began := time.Now()
		res, err := probe(method, place)
		if err == nil {
			fmt.Printf("%s %s %d in %d ms\n", method, place, res.StatusCode, time.Since(began).Milliseconds())
			return nil
		}
		fmt.Printf("%s %s: %v\n", method, place, err)
		wait := later(res, time.Second<<(i-1))
		if res != nil && res.StatusCode == 401 && !renewed {
			if err := login(1); err != nil {
				return err
			}
			renewed, wait = true, 0
		} else if res != nil && (res.StatusCode == 307 || res.StatusCode == 308) && !moved {
			to, err := res.Location()
			if err != nil || to.Host != res.Request.URL.Host || to.Scheme != res.Request.URL.Scheme {
				return errors.New("the node redirects to another host")
			}
			places[place], moved, wait = to.String(), true, 0
		} else if res != nil && res.StatusCode < 500 && res.StatusCode != 429 && res.StatusCode != 200 {
			return err
		}
		if i == attempts || time.Now().Add(wait).After(deadline) {
			return fmt.Errorf("down: %w", err)
		}
		time.Sleep(wait)
	}
}

func main() {
	err := login(1)
	for i := 0; err == nil && i < rounds; i++ {
		if i > 0 {
			time.Sleep(between)
		}
		if err = check("HEAD", os.Getenv("RIN_FUNDINGS_URL")+"?page%5Bsize%5D=1"); err == nil {
			err = check("GET", os.Getenv("RIN_INFO_URL"))
		}
	}
	if err != nil {
		log.Fatalln("monitor:", err)
	}
}
