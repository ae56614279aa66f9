// Etag_watcher reads the whole list in four rounds, with conditional requests,
// and reports what is new, gone and changed between two rounds.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"
)

const rounds, pause, tries = 4, 2 * time.Second, 5

type watcher struct {
	client      *http.Client
	token, etag string
	refused     int // 401 in a row
	known       map[string][]byte
	end         time.Time
}

func (w *watcher) login() error {
	form := url.Values{"grant_type": {"client_credentials"}}
	form.Set("client_id", os.Getenv("RIN_CLIENT_ID"))
	form.Set("client_secret", os.Getenv("RIN_CLIENT_SECRET"))
	res, err := w.client.PostForm(os.Getenv("RIN_TOKEN_URL"), form)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("token endpoint: %s", res.Status)
	}
	var t map[string]any
	err = json.NewDecoder(res.Body).Decode(&t)
	w.token, _ = t["access_token"].(string)
	return err
}

func asked(h http.Header) time.Duration {
	value := h.Get("Retry-After")
	if n, err := strconv.Atoi(value); err == nil {
		return time.Duration(n) * time.Second
	}
	until, err := http.ParseTime(value)
	if now, err2 := http.ParseTime(h.Get("Date")); err == nil && err2 == nil {
		return until.Sub(now) + time.Second
	}
	return 0
}

// ask requests the list once. It returns what the node wants us to wait, and
// whether a failed request may be repeated.
func (w *watcher) ask() (wait time.Duration, again bool, err error) {
	req, err := http.NewRequest(http.MethodGet, os.Getenv("RIN_FUNDINGS_URL"), nil)
	if err != nil {
		return 0, false, err
	}
	req.Header.Set("Authorization", "Bearer "+w.token)
	if w.etag != "" {
		req.Header.Set("If-None-Match", w.etag)
	}
	res, err := w.client.Do(req)
	if err != nil {
		return 0, true, err
	}
	defer res.Body.Close()
	switch {
	case res.StatusCode == http.StatusNotModified:
		w.refused = 0
		fmt.Printf("unchanged, %d fundings\n", len(w.known))
		return 0, false, nil
	case res.StatusCode == http.StatusUnauthorized:
		w.refused++
		err := w.login()
		return 0, err == nil && w.refused < 2, errors.Join(errors.New(res.Status), err)
	case res.StatusCode == http.StatusTooManyRequests || res.StatusCode >= 500:
		return asked(res.Header), true, errors.New(res.Status)
	case res.StatusCode != http.StatusOK:
		return 0, false, fmt.Errorf("%s %s", res.Status, res.Header.Get("Location"))
	}
	w.refused, w.etag = 0, res.Header.Get("ETag")
	body, err := io.ReadAll(res.Body)
	var records []json.RawMessage
	if err = errors.Join(err, json.Unmarshal(body, &records)); err != nil {
		return 0, true, err
	}
	if len(records) == 0 {
		return 0, true, errors.New("an empty list: not believed")
	}
	return 0, false, w.compare(records)
}

func (w *watcher) compare(records []json.RawMessage) error {
	now, kept := map[string][]byte{}, 0
	for _, r := range records {
		var key struct{ ID string }
		if err := json.Unmarshal(r, &key); err != nil {
			return err
		}
		now[key.ID] = r
		if bytes.Equal(w.known[key.ID], r) {
			kept++
		}
	}
	fmt.Printf("%d fundings, %d new or changed\n", len(now), len(now)-kept)
	w.known = now
	return nil
}

func (w *watcher) round() error {
	var err error
	for attempt := range tries {
		wait, again, failed := w.ask()
		if err = failed; err == nil || !again {
			return err
		}
		fmt.Fprintln(os.Stderr, err)
		wait = max(wait, 500*time.Millisecond<<attempt)
		if time.Now().Add(wait).After(w.end) {
			break
		}
		time.Sleep(wait)
	}
	return err
}

func main() {
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	w := &watcher{end: time.Now().Add(45 * time.Second)}
	w.client = &http.Client{Timeout: 12 * time.Second, CheckRedirect: noRedirect}
	err := w.login()
	for round := 0; round < rounds && err == nil; round++ {
		if round > 0 {
			time.Sleep(pause)
		}
		err = w.round()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "stopped:", err)
		os.Exit(1)
	}
}
