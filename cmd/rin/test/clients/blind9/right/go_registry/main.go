// Registry finds the node by its entry in the registry, asks its info resource where the fundings
// are, checks the links that it got with HEAD, and prints one record: the first call for companies.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

type entry struct{ ID, Name, OAuth2, Info string }

var hc = &http.Client{Timeout: 20 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error {
	return http.ErrUseLastResponse
}}

func fail(format string, a ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", a...)
	os.Exit(1)
}

func must[T any](v T, err error) T {
	if err != nil {
		fail("error: %v", err)
	}
	return v
}

func delay(h http.Header, try int) time.Duration {
	v := h.Get("Retry-After")
	if n, err := strconv.Atoi(v); err == nil && n >= 0 {
		return time.Duration(max(1, n))*time.Second + 30*time.Millisecond
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(time.Until(t), time.Second)
	}
	return time.Duration(1<<try) * time.Second
}

func send(method, u, token string, form url.Values) (*http.Response, []byte) {
	for try := 0; ; try++ {
		req := must(http.NewRequest(method, u, strings.NewReader(form.Encode())))
		if form != nil {
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		res := must(hc.Do(req))
		body := must(io.ReadAll(res.Body))
		res.Body.Close()
		if res.StatusCode != 429 && res.StatusCode != 503 || try == 6 {
			return res, body
		}
		time.Sleep(delay(res.Header, try))
	}
}

type session struct {
	node  entry
	home  *url.URL
	token string
}

func (s *session) login() {
	res, body := send("POST", s.node.OAuth2, "", url.Values{"grant_type": {"client_credentials"},
		"client_id": {os.Getenv("RIN_CLIENT_ID")}, "client_secret": {os.Getenv("RIN_CLIENT_SECRET")}})
	var t struct {
		Value string `json:"access_token"`
	}
	if res.StatusCode != 200 || json.Unmarshal(body, &t) != nil || t.Value == "" {
		fail("token endpoint: %s", res.Status)
	}
	s.token = t.Value
}

func (s *session) ask(method, address string) (*http.Response, []byte) {
	renewed := false
	u := must(url.Parse(address))
	for hop := 0; hop < 5; {
		if u.Scheme != s.home.Scheme || u.Host != s.home.Host {
			fail("%s is not part of node %s; it gets no token", u.Host, s.node.ID)
		}
		if s.token == "" {
			s.login()
		}
		res, body := send(method, u.String(), s.token, nil)
		switch {
		case res.StatusCode == 401 && !renewed:
			renewed, s.token = true, ""
		case res.StatusCode >= 301 && res.StatusCode <= 308 && res.StatusCode != 304:
			hop++
			u = must(u.Parse(res.Header.Get("Location")))
		default:
			return res, body
		}
	}
	fail("too many redirects from %s", address)
	return nil, nil
}

func main() {
	res, body := send("GET", os.Getenv("RIN_REGISTRY_URL"), "", nil)
	var registry struct{ Member []entry }
	if res.StatusCode != 200 {
		fail("registry: %s", res.Status)
	}
	if err := json.Unmarshal(body, &registry); err != nil {
		fail("registry: %v", err)
	}
	s := &session{}
	for _, m := range registry.Member {
		if m.ID == os.Getenv("RIN_NODE_ID") {
			s.node = m
		}
	}
	if s.node.Info == "" {
		fail("the registry has no node %q", os.Getenv("RIN_NODE_ID"))
	}
	s.home = must(url.Parse(s.node.Info))

	res, body = s.ask("GET", s.node.Info)
	var info struct {
		Endpoints map[string][]struct{ Name, URL string }
	}
	if res.StatusCode != 200 {
		fail("info: %s", res.Status)
	}
	if err := json.Unmarshal(body, &info); err != nil {
		fail("info: %v", err)
	}
	addr := map[string]string{}
	for _, list := range info.Endpoints {
		for _, e := range list {
			addr[e.Name] = e.URL
		}
	}
	if addr["FUNDINGS"] == "" || addr["FUNDING"] == "" {
		fail("the node offers no fundings")
	}

	// first call for companies; an empty page with a next link is not the end
	u := addr["FUNDINGS"] + "?fundingType=CALL&targetGroup=COMPANY&page%5Bsize%5D=1"
	next := regexp.MustCompile(`(?i)<([^>]*)>[^<]*?;\s*rel\s*=\s*"?(?:[^"<]*\s)?next\b`)
	var rows []map[string]any
	for n := 0; len(rows) == 0; n++ {
		res, body = s.ask("GET", u)
		if res.StatusCode != 200 {
			fail("fundings: %s", res.Status)
		}
		if err := json.Unmarshal(body, &rows); err != nil {
			fail("fundings: %v", err)
		}
		if len(rows) > 0 {
			break
		}
		m := next.FindStringSubmatch(strings.Join(res.Header.Values("Link"), ", "))
		if m == nil || n > 20 {
			fail("there is no call for companies")
		}
		u = must(res.Request.URL.Parse(m[1])).String()
	}
	id := fmt.Sprint(rows[0]["id"])

	bad := 0
	for _, link := range []string{addr["FUNDINGS"] + "?page%5Bsize%5D=1", strings.ReplaceAll(addr["FUNDING"], "{id}", url.PathEscape(id))} {
		res, _ := s.ask("HEAD", link)
		fmt.Println(res.StatusCode, link)
		if res.StatusCode != 200 {
			bad++
		}
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	must(0, enc.Encode(rows[0]))
	os.Stdout.Write(out.Bytes())
	if bad > 0 {
		fail("%d links are dead", bad)
	}
}
