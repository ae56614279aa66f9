// Split_harvest reads all fundings by offset and writes one JSON line for each.
// A page that stays broken is read in halves, so that one bad record costs only
// itself; if anything is missing at the end, the exit code says so.
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

const pageSize = 80

var (
	errServer = errors.New("the node cannot write this page")
	client    = &http.Client{
		Timeout:       15 * time.Second,
		Transport:     &http.Transport{},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	token string
)

func login(ctx context.Context) error {
	body := strings.NewReader("grant_type=client_credentials")
	req, err := http.NewRequestWithContext(ctx, "POST", os.Getenv("RIN_TOKEN_URL"), body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth(url.QueryEscape(os.Getenv("RIN_CLIENT_ID")), url.QueryEscape(os.Getenv("RIN_CLIENT_SECRET")))
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	var t struct {
		AccessToken string `json:"access_token"`
	}
	if res.StatusCode != 200 {
		return fmt.Errorf("token: %s", res.Status)
	}
	err = json.NewDecoder(res.Body).Decode(&t)
	token = t.AccessToken
	return err
}

func retryAfter(h http.Header, least time.Duration) time.Duration {
	v := h.Get("Retry-After")
	if n, err := strconv.Atoi(v); err == nil {
		return max(least, time.Duration(n)*time.Second)
	} else if until, err := http.ParseTime(v); err == nil {
		now, _ := http.ParseTime(h.Get("Date"))
		return max(least, until.Sub(now)+time.Second)
	}
	return least
}

// read returns the records of a page, and whether the node knows of a next one.
func read(ctx context.Context, offset, size int) (records []map[string]any, more bool, err error) {
	addr := fmt.Sprintf("%s?page%%5Bpage%%5D=%d&page%%5Bsize%%5D=%d", os.Getenv("RIN_FUNDINGS_URL"), offset, size)
	renewed := 0
	for attempt := 0; attempt < 4; attempt++ {
		req, err1 := http.NewRequestWithContext(ctx, "GET", addr, nil)
		if err1 != nil {
			return nil, false, err1
		}
		req.Header.Set("Authorization", "Bearer "+token)
		pause := time.Duration(attempt+1) * 700 * time.Millisecond
		res, err1 := client.Do(req)
		if err = err1; err == nil {
			body, err1 := io.ReadAll(res.Body)
			err = err1
			res.Body.Close()
			pause = retryAfter(res.Header, pause)
			switch code := res.StatusCode; {
			case code == 200 && err == nil:
				records = nil
				more = strings.Contains(strings.Join(res.Header.Values("Link"), ","), `rel="next"`)
				if err = json.Unmarshal(body, &records); err == nil && (len(records) > 0 || !more || attempt > 1) {
					return records, more, nil
				} else if err == nil {
					err = errors.New("empty page before the end")
				}
			case code == 401 && renewed < 1:
				renewed++
				if err = login(ctx); err != nil {
					return nil, false, err
				}
				err, pause = errors.New("401"), 0
			case code == 307 || code == 308:
				to, _ := req.URL.Parse(res.Header.Get("Location"))
				if to == nil || to.Host != req.URL.Host || to.Scheme != req.URL.Scheme {
					return nil, false, fmt.Errorf("moved to %q", res.Header.Get("Location"))
				}
				addr, err, pause = to.String(), errors.New("moved"), 0
			case code == 429 || code >= 500 && res.Header.Get("Retry-After") != "":
				err = errors.New(res.Status)
			case code >= 500:
				err = fmt.Errorf("%w: %s", errServer, res.Status)
			case code != 200:
				return nil, false, fmt.Errorf("%s: %.200s", res.Status, body)
			}
		}
		fmt.Fprintf(os.Stderr, "offset %d, size %d: %v\n", offset, size, err)
		select {
		case <-ctx.Done():
			return nil, false, ctx.Err()
		case <-time.After(pause):
		}
	}
	if errors.Is(err, errServer) && size > 1 {
		first, _, err := read(ctx, offset, size/2)
		if err != nil {
			return nil, false, err
		}
		second, more, err := read(ctx, offset+size/2, size-size/2)
		return append(first, second...), more, err
	}
	return nil, false, fmt.Errorf("offset %d, size %d: %w", offset, size, err)
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Second)
	defer cancel()
	err := login(ctx)
	seen, out := map[any]bool{}, json.NewEncoder(os.Stdout)
	var records []map[string]any
	for offset, more := 0, true; more && err == nil; offset += pageSize {
		records, more, err = read(ctx, offset, pageSize)
		for _, r := range records {
			if err == nil && !seen[r["id"]] {
				seen[r["id"]] = true
				err = out.Encode(r)
			}
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "incomplete:", err)
		os.Exit(1)
	}
}
