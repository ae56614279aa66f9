package soak_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// connections is the number of clients that ask side by side.
const connections = 8

// maxFaults bounds the listed faults.
const maxFaults = 10

// load is the result of sending requests for some time.
type load struct {
	took   time.Duration
	waits  []time.Duration // for each answer
	faults []string
}

func (l load) rate() float64 { return float64(len(l.waits)) / l.took.Seconds() }

// String says how long answers took.
func (l load) String() string {
	if len(l.waits) == 0 {
		return "no answers"
	}
	sorted := slices.Sorted(slices.Values(l.waits))
	quantile := func(part float64) time.Duration {
		return sorted[int(part*float64(len(sorted)-1))].Round(10 * time.Microsecond)
	}
	return fmt.Sprintf("%d answers, half within %s, 99 %% within %s, all within %s", len(sorted), quantile(0.5), quantile(0.99), quantile(1))
}

// load sends requests for some time at a rate, or as fast as they are answered if the rate is 0.
func (s process) load(ctx context.Context, length time.Duration, perSecond float64) load {
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	pace := rate.NewLimiter(rate.Inf, 0)
	if perSecond > 0 {
		pace = rate.NewLimiter(rate.Limit(perSecond), max(connections, int(perSecond/10))) // the burst makes up for a pause of the machine
	}
	parts := make([]load, connections)
	started := time.Now()
	var group sync.WaitGroup
	for i := range parts {
		group.Go(func() { parts[i] = s.ask(ctx, pace, i) })
	}
	group.Wait()
	all := load{took: time.Since(started)}
	for _, part := range parts {
		all.waits, all.faults = append(all.waits, part.waits...), append(all.faults, part.faults...)
	}
	return all
}

// ask runs one of the clients. It sends a fixed sequence of requests again and again: mostly details and info, some pages, now and then a token, and
// requests of a careless client.
func (s process) ask(ctx context.Context, pace *rate.Limiter, offset int) load {
	var l load
	token, err := s.token()
	if err != nil {
		return load{faults: []string{err.Error()}}
	}
	for i := offset; pace.Wait(ctx) == nil && len(l.faults) < maxFaults; i++ {
		began := time.Now()
		switch i % 20 {
		case 7:
			token, err = s.token()
		case 3, 11, 17:
			err = s.get("/ris-synergy/funding/v3/fundings?runningCalls=true&page[size]=20", token, http.StatusOK)
		case 13:
			err = s.get("/ris-synergy/funding/v3/fundings", "none", http.StatusUnauthorized)
		case 19:
			err = s.get(fmt.Sprintf("/ris-synergy/try-out/funding/v3/fundings?page[page]=%d&page[size]=20", i%1000), "", http.StatusOK)
		case 1, 5, 9, 15:
			err = s.get("/ris-synergy/info/v1/oauth/info/", token, http.StatusOK)
		default:
			err = s.get(fmt.Sprintf("/ris-synergy/funding/v3/fundings/XF-%08d", i%1000+1), token, http.StatusOK)
		}
		if err != nil {
			l.faults = append(l.faults, err.Error())
			continue
		}
		l.waits = append(l.waits, time.Since(began))
	}
	return l
}

func (s process) token() (string, error) {
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {"demo-client"}, "client_secret": {s.secret}}
	answer, err := s.client.PostForm(s.base+"/oauth/token", form)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	var granted struct {
		Token string `json:"access_token"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&granted); err != nil || granted.Token == "" {
		return "", fmt.Errorf("expected a token, got status %d: %w", answer.StatusCode, err)
	}
	_, err = io.Copy(io.Discard, answer.Body)
	return granted.Token, err
}

// get requests a path as a page in a browser does, and expects this status and JSON.
func (s process) get(path, token string, status int) error {
	request, err := http.NewRequest(http.MethodGet, s.base+path, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Origin", "http://localhost:5173")
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := s.client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if answer.StatusCode != status || !json.Valid(body) || answer.Header.Get("Access-Control-Allow-Origin") != request.Header.Get("Origin") {
		return fmt.Errorf("%s: expected status %d with JSON for the page, got %d %s: %s", path, status, answer.StatusCode, answer.Header.Get("Content-Type"), strings.TrimSpace(string(body[:min(len(body), 200)])))
	}
	return nil
}
