// From the registry to a table: looks the node up in the registry, asks its info
// resource where the fundings are, reads them page by page and writes CSV to stdout.
package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var errPermanent = errors.New("permanent")

type session struct {
	hc       *http.Client
	tokenURL string
	access   string
	renewAt  time.Time
}

type answer struct {
	*http.Response
	data []byte
}

// attempt is one request without repeats. Redirects stay on the same host.
func (s *session) attempt(ctx context.Context, method, u string, h http.Header, body string) (*answer, error) {
	var rd io.Reader
	if body != "" {
		rd = strings.NewReader(body)
	}
	ctx, cancel := context.WithTimeout(ctx, 7*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, u, rd)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", errPermanent, err)
	}
	for k, v := range h {
		req.Header[k] = v
	}
	res, err := s.hc.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	return &answer{res, data}, err
}

// fetch repeats what may pass, decodes into v and calls auth before each try.
func (s *session) fetch(ctx context.Context, method, u, body string, auth bool, v any) (http.Header, error) {
	var last error
	refused := false
	for try := 0; try < 5; {
		h := http.Header{"Accept": {"application/json"}}
		if body != "" {
			h.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		if auth {
			if err := s.login(ctx); err != nil {
				return nil, err
			}
			h.Set("Authorization", "Bearer "+s.access)
		}
		a, err := s.attempt(ctx, method, u, h, body)
		delay := time.Duration(400<<try) * time.Millisecond
		switch {
		case errors.Is(err, errPermanent):
			return nil, err
		case err != nil:
			last = err
		case a.StatusCode == 200:
			if last = json.Unmarshal(a.data, v); last == nil {
				return a.Header, nil
			}
		case a.StatusCode == 401 && auth && !refused:
			slog.Info("token refused, asking for another one")
			refused, s.access = true, ""
			continue
		case a.StatusCode == 429, a.StatusCode >= 500:
			last = fmt.Errorf("%s: %s", u, a.Status)
			if d, ok := pauseAsked(a.Header); ok {
				delay = d + 60*time.Millisecond
			}
		default:
			return nil, fmt.Errorf("%s: %s %.200s", u, a.Status, a.data)
		}
		try++
		if try == 5 {
			break
		}
		if t, _ := ctx.Deadline(); time.Until(t) < delay {
			return nil, fmt.Errorf("%w; asked to wait %v, too long for this run", last, delay)
		}
		slog.Warn("repeating", "reason", last, "pause", delay)
		time.Sleep(delay)
	}
	return nil, fmt.Errorf("five tries: %w", last)
}

func pauseAsked(h http.Header) (time.Duration, bool) {
	raw := h.Get("Retry-After")
	if n, err := strconv.Atoi(strings.TrimSpace(raw)); err == nil && n >= 0 {
		return time.Duration(n) * time.Second, true
	}
	at, err := http.ParseTime(raw)
	if err != nil {
		return 0, false
	}
	from, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		from = time.Now()
	}
	if d := at.Sub(from); d > 0 {
		return d, true
	}
	return 0, true
}

func (s *session) login(ctx context.Context) error {
	if s.access != "" && time.Now().Before(s.renewAt) {
		return nil
	}
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {os.Getenv("RIN_CLIENT_ID")}, "client_secret": {os.Getenv("RIN_CLIENT_SECRET")}}
	var t struct {
		AccessToken string `json:"access_token"`
		TokenType   string `json:"token_type"`
		ExpiresIn   int64  `json:"expires_in"`
	}
	if _, err := s.fetch(ctx, "POST", s.tokenURL, form.Encode(), false, &t); err != nil {
		return fmt.Errorf("token: %w", err)
	}
	if t.AccessToken == "" || (t.TokenType != "" && !strings.EqualFold(t.TokenType, "bearer")) {
		return errors.New("token: unusable answer")
	}
	s.access = t.AccessToken
	s.renewAt = time.Now().Add(24 * time.Hour)
	if t.ExpiresIn > 0 {
		s.renewAt = time.Now().Add(time.Duration(t.ExpiresIn) * time.Second * 9 / 10)
	}
	return nil
}

var linkRE = regexp.MustCompile(`<([^>]*)>((?:\s*;\s*[^\s=;,]+(?:\s*=\s*(?:"[^"]*"|[^\s;,"]*))?)*)`)
var relRE = regexp.MustCompile(`(?i);\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))`)

func next(h http.Header, base *url.URL) (*url.URL, error) {
	for _, field := range h.Values("Link") {
		for _, m := range linkRE.FindAllStringSubmatch(field, -1) {
			r := relRE.FindStringSubmatch(m[2])
			if r == nil {
				continue
			}
			for _, rel := range strings.Fields(r[1] + r[2]) {
				if strings.EqualFold(rel, "next") {
					return base.Parse(m[1])
				}
			}
		}
	}
	return nil, nil
}

func sameOrigin(a, b *url.URL) bool { return a.Scheme == b.Scheme && a.Host == b.Host }

type funding struct {
	ID, Type, Acronym string
	Name              []struct{ Lang, Text string }
	Funder            []struct{ Funder struct{ ID, Acronym string } }
	Amount            *struct {
		Currency string
		Amount   float64
	}
}

func harvest() error {
	size := flag.Int("size", 80, "records on a page")
	flag.Parse()
	ctx, cancel := context.WithTimeout(context.Background(), 18*time.Second)
	defer cancel()
	s := &session{hc: &http.Client{
		Transport: &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > 3 || !sameOrigin(r.URL, via[0].URL) || r.Method != via[0].Method {
				return fmt.Errorf("%w: redirect to %s", errPermanent, r.URL.Host)
			}
			return nil
		},
	}}

	var reg struct {
		Member []struct{ ID, OAuth2, Info string }
	}
	if _, err := s.fetch(ctx, "GET", os.Getenv("RIN_REGISTRY_URL"), "", false, &reg); err != nil {
		return fmt.Errorf("registry: %w", err)
	}
	want, infoURL := os.Getenv("RIN_NODE_ID"), ""
	for _, m := range reg.Member {
		// Without an id, the entry with the token endpoint that the secret was issued for.
		if m.ID == want || (want == "" && m.OAuth2 == os.Getenv("RIN_TOKEN_URL")) {
			s.tokenURL, infoURL = m.OAuth2, m.Info
			break
		}
	}
	if s.tokenURL == "" || infoURL == "" {
		return fmt.Errorf("no entry %q in the registry", want)
	}

	var info struct {
		Endpoints map[string][]struct {
			Name         string
			MajorVersion int
			URL          string
		}
	}
	if _, err := s.fetch(ctx, "GET", infoURL, "", true, &info); err != nil {
		return fmt.Errorf("info: %w", err)
	}
	var u *url.URL
	for _, e := range info.Endpoints["funding"] {
		if e.Name == "FUNDINGS" && e.MajorVersion == 3 {
			var err error
			if u, err = url.Parse(e.URL); err != nil {
				return err
			}
		}
	}
	if u == nil {
		return errors.New("the node offers no fundings of version 3")
	}
	iu, _ := url.Parse(infoURL)
	if bu, err := url.Parse(os.Getenv("RIN_BASE_URL")); !sameOrigin(u, iu) && (err != nil || !sameOrigin(u, bu)) {
		return fmt.Errorf("fundings on %s, the token is for %s", u.Host, iu.Host)
	}
	origin := u
	q := u.Query()
	q.Set("page[page]", "0")
	q.Set("page[size]", strconv.Itoa(*size))
	u.RawQuery = q.Encode()

	var rows [][]string
	ids, done := map[string]bool{}, map[string]bool{}
	for u != nil {
		if done[u.String()] || !sameOrigin(u, origin) {
			return fmt.Errorf("bad next link %s", u)
		}
		done[u.String()] = true
		var page []funding
		h, err := s.fetch(ctx, "GET", u.String(), "", true, &page)
		if err != nil {
			return err
		}
		for _, f := range page {
			if ids[f.ID] {
				continue
			}
			ids[f.ID] = true
			row := []string{f.ID, f.Type, f.Acronym, "", "", "", "", ""}
			for _, n := range f.Name {
				if n.Lang == "de" {
					row[3] = n.Text
				} else if n.Lang == "en" {
					row[4] = n.Text
				}
			}
			if len(f.Funder) > 0 {
				row[5] = f.Funder[0].Funder.ID
			}
			if f.Amount != nil {
				row[6], row[7] = strconv.FormatFloat(f.Amount.Amount, 'f', -1, 64), f.Amount.Currency
			}
			rows = append(rows, row)
		}
		if u, err = next(h, u); err != nil {
			return err
		}
	}
	w := csv.NewWriter(os.Stdout)
	w.Write([]string{"id", "type", "acronym", "name_de", "name_en", "funder", "amount", "currency"})
	w.WriteAll(rows)
	slog.Info("done", "pages", len(done), "records", len(rows))
	return w.Error()
}

func main() {
	if err := harvest(); err != nil {
		slog.Error("harvest failed", "error", err)
		os.Exit(1)
	}
}
