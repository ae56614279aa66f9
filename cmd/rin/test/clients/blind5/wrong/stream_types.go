// Streams the whole list through a decoder, so that it never has to be in memory, and writes id and type.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
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
func (a *api) send(method, u, form string, header map[string]string, take func(io.Reader) error) (*answer, error) {
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
			if res.StatusCode == 200 && take != nil {
				err = take(res.Body)
			} else {
				body, err = io.ReadAll(res.Body)
			}
			res.Body.Close()
		}
		if err == nil {
			switch s := res.StatusCode; {
			case s == 408 || s == 429 || s >= 500 && s != 501:
				err, asked = errors.New(res.Status), askedPause(res.Header)
			case s == 200 && take == nil && !json.Valid(body):
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
	res, err := a.send("POST", a.tokenURL, form.Encode(), map[string]string{"Content-Type": "application/x-www-form-urlencoded"}, nil)
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

func (a *api) get(u string, take func(io.Reader) error) (*answer, error) {
	for refused := ""; ; {
		tok, err := a.bearer(refused)
		if err != nil {
			return nil, err
		}
		header := map[string]string{"Accept": "application/json", "Authorization": "Bearer " + tok}
		res, err := a.send("GET", u, "", header, take)
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

func run(a *api) error {
	var rows []string
	res, err := a.get(os.Getenv("RIN_FUNDINGS_URL"), func(r io.Reader) error {
		rows = rows[:0]
		dec := json.NewDecoder(r)
		if start, err := dec.Token(); err != nil || start != json.Delim('[') {
			return errors.New("the answer is not a list")
		}
		for dec.More() {
			var f struct{ ID, Type string }
			if err := dec.Decode(&f); err != nil {
				fmt.Fprintln(os.Stderr, "record", len(rows)+1, err)
				break
			}
			rows = append(rows, f.ID+"\t"+f.Type)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if res.StatusCode != 200 {
		return fmt.Errorf("no list: %d", res.StatusCode)
	}
	fmt.Println(strings.Join(rows, "\n"))
	return nil
}

func main() {
	if err := run(newAPI()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
