// Finds the node in the registry, its list in the info resource, and prints all ids.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

type api struct {
	http.Client
	tokenURL, token string
	renewAt, end    time.Time
}

type answer struct {
	*http.Response
	body []byte
}

func newAPI() *api {
	a := &api{tokenURL: os.Getenv("RIN_TOKEN_URL"), end: time.Now().Add(100 * time.Second)}
	a.Timeout = 10 * time.Second
	a.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		other := req.URL.Host != via[0].URL.Host || req.URL.Scheme != via[0].URL.Scheme
		if len(via) > 5 || other && via[0].Method == "POST" {
			return http.ErrUseLastResponse
		}
		if other {
			req.Header.Del("Authorization")
		}
		return nil
	}
	return a
}

func askedPause(h http.Header) time.Duration {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if n, err := strconv.Atoi(v); err == nil {
		return time.Duration(n) * time.Second
	}
	if t, err := http.ParseTime(v); err == nil {
		return time.Until(t)
	}
	return 0
}

// send repeats a request that met a passing trouble.
func (a *api) send(method, u, form string, header map[string]string) (*answer, error) {
	for try := 0; ; try++ {
		req, err := http.NewRequest(method, u, strings.NewReader(form))
		if err != nil {
			return nil, err
		}
		for k, v := range header {
			req.Header.Set(k, v)
		}
		var body []byte
		var asked time.Duration
		res, err := a.Do(req)
		if err == nil {
			body, err = io.ReadAll(res.Body)
			res.Body.Close()
		}
		if err == nil {
			switch s := res.StatusCode; {
			case s == 408 || s == 429 || s >= 500 && s != 501:
				err, asked = errors.New(res.Status), askedPause(res.Header)
			case s == 200 && !json.Valid(body):
				err = errors.New("the answer is not JSON")
			default:
				return &answer{res, body}, nil
			}
		}
		wait := time.Duration(float64(500*time.Millisecond<<try) * (0.75 + rand.Float64()/2))
		if asked > 0 {
			wait = max(asked+60*time.Millisecond, wait/2)
		}
		if try >= 5 || time.Now().Add(wait).After(a.end) {
			return nil, fmt.Errorf("%s: %w; gave up", u, err)
		}
		time.Sleep(wait)
	}
}

func (a *api) bearer(refused string) (string, error) {
	if a.token != "" && a.token != refused && time.Now().Before(a.renewAt) {
		return a.token, nil
	}
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {os.Getenv("RIN_CLIENT_ID")}, "client_secret": {os.Getenv("RIN_CLIENT_SECRET")}}
	res, err := a.send("POST", a.tokenURL, form.Encode(), map[string]string{"Content-Type": "application/x-www-form-urlencoded"})
	if err != nil {
		return "", err
	}
	t := struct {
		Token string  `json:"access_token"`
		Life  float64 `json:"expires_in"`
	}{Life: 120}
	if json.Unmarshal(res.body, &t) != nil || res.StatusCode != 200 || t.Token == "" {
		return "", fmt.Errorf("token endpoint answered %d without a token", res.StatusCode)
	}
	a.token = t.Token
	a.renewAt = time.Now().Add(time.Duration((t.Life - min(30, t.Life/5)) * float64(time.Second)))
	return a.token, nil
}

func (a *api) get(u string, extra map[string]string) (*answer, error) {
	for refused := ""; ; {
		tok, err := a.bearer(refused)
		if err != nil {
			return nil, err
		}
		header := map[string]string{"Accept": "application/json", "Authorization": "Bearer " + tok}
		maps.Copy(header, extra)
		res, err := a.send("GET", u, "", header)
		if err != nil {
			return nil, err
		}
		switch s := res.StatusCode; {
		case s == 200 || s == 304 || s == 404:
			return res, nil
		case s == 401 && refused == "" && strings.HasPrefix(u, res.Request.URL.Scheme+"://"+res.Request.URL.Host+"/"):
			refused = tok
		default:
			return nil, fmt.Errorf("%s answered %d", u, s)
		}
	}
}

var nextRE = regexp.MustCompile(`(?i)<([^>]*)>\s*;[^,<]*\brel="?next"?`)

func (r *answer) next(base string) (string, error) {
	m := nextRE.FindStringSubmatch(strings.Join(r.Header.Values("Link"), ", "))
	if m == nil {
		return "", nil
	}
	b, _ := url.Parse(base)
	to, err := b.Parse(m[1])
	if err == nil && (to.Host != b.Host || to.Scheme != b.Scheme) {
		err = errors.New("the next page is on another host")
	}
	if err != nil {
		return "", err
	}
	return to.String(), nil
}

func run(a *api) error {
	res, err := a.send("GET", os.Getenv("RIN_REGISTRY_URL"), "", nil)
	if err != nil {
		return err
	}
	var reg struct {
		Member []struct{ ID, OAuth2, Info string }
	}
	if err := json.Unmarshal(res.body, &reg); err != nil || res.StatusCode != 200 {
		return fmt.Errorf("registry answered %d", res.StatusCode)
	}
	info := ""
	for _, m := range reg.Member {
		if m.ID == os.Getenv("RIN_NODE_ID") {
			a.tokenURL, info = m.OAuth2, m.Info
		}
	}
	if info == "" {
		return errors.New("the registry does not list the node")
	}
	if res, err = a.get(info, nil); err != nil {
		return err
	}
	var about struct {
		Endpoints map[string][]struct{ Name, URL string }
	}
	json.Unmarshal(res.body, &about)
	u := os.Getenv("RIN_FUNDINGS_URL")
	for _, e := range about.Endpoints["funding"] {
		if to, err := url.Parse(e.URL); e.Name == "FUNDINGS" && err == nil && strings.HasPrefix(info, to.Scheme+"://"+to.Host+"/") {
			u = e.URL
		}
	}
	seen := map[string]bool{}
	for u += "?page%5Bsize%5D=75"; u != "" && !seen[u]; {
		seen[u] = true
		if res, err = a.get(u, nil); err != nil {
			return err
		}
		var page []struct{ ID string }
		if err := json.Unmarshal(res.body, &page); err != nil || res.StatusCode != 200 {
			return fmt.Errorf("no list at %s: %d", u, res.StatusCode)
		}
		for _, r := range page {
			if !seen[r.ID] {
				fmt.Println(r.ID)
			}
			seen[r.ID] = true
		}
		if u, err = res.next(u); err != nil {
			return err
		}
	}
	if u != "" {
		return errors.New("the pages go in a circle")
	}
	return nil
}

func main() {
	if err := run(newAPI()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
