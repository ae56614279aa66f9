// Keeps a copy of every page with its validator and looks once more for changes with If-None-Match.
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
func (a *api) send(method, u, form string, header func() map[string]string, note func(*answer)) (*answer, error) {
	for try := 0; ; try++ {
		req, err := http.NewRequest(method, u, strings.NewReader(form))
		if err != nil {
			return nil, err
		}
		for k, v := range header() {
			req.Header.Set(k, v)
		}
		var body []byte
		var asked time.Duration
		res, err := a.Do(req)
		if err == nil {
			if note != nil {
				note(&answer{Response: res})
			}
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
	res, err := a.send("POST", a.tokenURL, form.Encode(), func() map[string]string {
		return map[string]string{"Content-Type": "application/x-www-form-urlencoded"}
	}, nil)
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

func (a *api) get(u string, extra func() map[string]string, note func(*answer)) (*answer, error) {
	for refused := ""; ; {
		tok, err := a.bearer(refused)
		if err != nil {
			return nil, err
		}
		header := func() map[string]string {
			h := map[string]string{"Accept": "application/json", "Authorization": "Bearer " + tok}
			maps.Copy(h, extra())
			return h
		}
		res, err := a.send("GET", u, "", header, note)
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

type page struct {
	etag, next string
	records    []json.RawMessage
}

// pass reads all pages; for a page that has not changed it takes its copy.
func pass(a *api, known map[string]page) (all []json.RawMessage, fresh int, err error) {
	seen := map[string]bool{}
	for u := os.Getenv("RIN_FUNDINGS_URL") + "?page%5Bsize%5D=60"; u != ""; u = known[u].next {
		if seen[u] {
			return nil, 0, errors.New("the pages go in a circle")
		}
		seen[u] = true
		condition := func() map[string]string {
			if tag := known[u].etag; tag != "" {
				return map[string]string{"If-None-Match": tag}
			}
			return nil
		}
		var bad error
		res, err := a.get(u, condition, func(r *answer) {
			if r.StatusCode == 200 {
				k := page{etag: r.Header.Get("ETag")}
				k.next, bad = r.next(u)
				known[u] = k
			}
		})
		if err = errors.Join(err, bad); err != nil {
			return nil, 0, err
		}
		if k, have := known[u]; res.StatusCode == 200 {
			if err := json.Unmarshal(res.body, &k.records); err != nil {
				return nil, 0, err
			}
			known[u] = k
			fresh++
		} else if res.StatusCode == 404 || !have {
			return nil, 0, fmt.Errorf("%s answered %d", u, res.StatusCode)
		}
		all = append(all, known[u].records...)
	}
	return all, fresh, nil
}

func run(a *api) error {
	known := map[string]page{}
	for round := 1; round <= 2; round++ {
		all, fresh, err := pass(a, known)
		if err != nil {
			return err
		}
		fmt.Printf("round %d: %d fundings, %d pages new\n", round, len(all), fresh)
		if round == 1 {
			time.Sleep(2 * time.Second)
		}
	}
	return nil
}

func main() {
	if err := run(newAPI()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
