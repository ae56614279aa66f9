// Health_monitor probes a node in three rounds, mostly with HEAD. It repeats
// no probe: every failure is part of its report and of its exit code.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

const rounds, pause = 3, 2 * time.Second

type monitor struct {
	client    *http.Client
	token     string
	notBefore time.Time // what Retry-After asked for
	failures  int
	refused   int // new tokens in a row that were refused
}

func (m *monitor) newToken(ctx context.Context) error {
	form := url.Values{"grant_type": {"client_credentials"}}
	form.Set("client_id", os.Getenv("RIN_CLIENT_ID"))
	form.Set("client_secret", os.Getenv("RIN_CLIENT_SECRET"))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, os.Getenv("RIN_TOKEN_URL"), strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := m.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("token endpoint: %s", res.Status)
	}
	var t struct {
		AccessToken string `json:"access_token"`
	}
	err = json.NewDecoder(res.Body).Decode(&t)
	m.token = t.AccessToken
	return err
}

func (m *monitor) note(res *http.Response) {
	value := res.Header.Get("Retry-After")
	var wait time.Duration
	if n, err := strconv.Atoi(value); err == nil {
		wait = time.Duration(n) * time.Second
	} else if until, err := http.ParseTime(value); err == nil {
		if now, err := http.ParseTime(res.Header.Get("Date")); err == nil {
			wait = until.Sub(now) + time.Second
		}
	}
	if t := time.Now().Add(wait); t.After(m.notBefore) {
		m.notBefore = t
	}
}

// probe asks once. With a token that is refused it asks a second time.
func (m *monitor) probe(ctx context.Context, method, addr string, secured bool) error {
	if wait := time.Until(m.notBefore); wait > 0 {
		if deadline, _ := ctx.Deadline(); m.notBefore.After(deadline) {
			return errors.New("the node asks for a longer pause than there is time")
		}
		time.Sleep(wait)
	}
	for attempt := 0; ; attempt++ {
		req, err := http.NewRequestWithContext(ctx, method, addr, nil)
		if err != nil {
			return err
		}
		if secured {
			req.Header.Set("Authorization", "Bearer "+m.token)
		}
		res, err := m.client.Do(req)
		if err != nil {
			return err
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		m.note(res)
		switch {
		case res.StatusCode == http.StatusUnauthorized && secured && attempt == 0 && m.refused == 0:
			m.refused++
			if err := m.newToken(ctx); err != nil {
				return err
			}
			continue
		case res.StatusCode != http.StatusOK:
			return fmt.Errorf("%s %s", res.Status, res.Header.Get("Location"))
		case err != nil:
			return err
		case method == http.MethodGet && !json.Valid(body):
			return errors.New("the body is not complete JSON")
		}
		if secured {
			m.refused = 0
		}
		return nil
	}
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Second)
	defer cancel()
	m := &monitor{client: &http.Client{
		Timeout:       4 * time.Second,
		Transport:     &http.Transport{Proxy: nil},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	if err := m.newToken(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "down:", err)
		os.Exit(1)
	}
	for round := 1; round <= rounds; round++ {
		for _, p := range []struct{ name, method, addr string }{
			{"document", http.MethodHead, os.Getenv("RIN_SPEC_URL")},
			{"info", http.MethodGet, os.Getenv("RIN_INFO_URL")},
			{"list", http.MethodHead, os.Getenv("RIN_FUNDINGS_URL") + "?page%5Bpage%5D=0&page%5Bsize%5D=1"},
		} {
			start := time.Now()
			err := m.probe(ctx, p.method, p.addr, p.name != "document")
			if err != nil {
				m.failures++
				fmt.Printf("round %d %-8s DOWN %v\n", round, p.name, err)
			} else {
				fmt.Printf("round %d %-8s up %v\n", round, p.name, time.Since(start).Round(time.Millisecond))
			}
		}
		if round < rounds {
			time.Sleep(pause)
		}
	}
	if m.failures > 0 {
		fmt.Fprintf(os.Stderr, "%d probes failed\n", m.failures)
		os.Exit(1)
	}
}
