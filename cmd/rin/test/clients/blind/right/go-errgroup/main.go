// Reads all pages in parallel with errgroup and a rate limiter, and a shared pause after 429 and 503.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"
)

type node struct {
	limiter *rate.Limiter
	mu      sync.Mutex
	token   string
	expiry  time.Time
	resume  time.Time
}

func (n *node) wait(ctx context.Context) error {
	for {
		n.mu.Lock()
		pause := time.Until(n.resume)
		n.mu.Unlock()
		if pause <= 0 {
			return n.limiter.Wait(ctx)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (n *node) postpone(header http.Header, attempt int) {
	pause := 500 * time.Millisecond << attempt
	if value := header.Get("Retry-After"); value != "" {
		if seconds, err := strconv.Atoi(value); err == nil {
			pause = time.Duration(seconds) * time.Second
		} else if date, err := http.ParseTime(value); err == nil {
			pause = time.Until(date)
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if at := time.Now().Add(pause); at.After(n.resume) {
		n.resume = at
	}
}

func (n *node) send(ctx context.Context, build func() (*http.Request, error)) (int, http.Header, []byte, error) {
	for attempt := 0; ; attempt++ {
		if err := n.wait(ctx); err != nil {
			return 0, nil, nil, err
		}
		request, err := build()
		if err != nil {
			return 0, nil, nil, err
		}
		response, err := http.DefaultClient.Do(request)
		var body []byte
		if err == nil {
			body, err = io.ReadAll(response.Body)
			response.Body.Close()
		}
		busy := err == nil && (response.StatusCode == http.StatusTooManyRequests || response.StatusCode >= 500)
		if err == nil && !busy {
			return response.StatusCode, response.Header, body, nil
		}
		if attempt == 6 {
			return 0, nil, nil, fmt.Errorf("%s failed seven times: %v", request.URL.Path, err)
		}
		header := http.Header{}
		if response != nil {
			header = response.Header
		}
		n.postpone(header, attempt)
	}
}

// bearer returns the current token, or a new one if refused is the current one.
func (n *node) bearer(ctx context.Context, refused string) (string, error) {
	n.mu.Lock()
	token, fresh := n.token, time.Now().Before(n.expiry)
	n.mu.Unlock()
	if token != "" && token != refused && fresh {
		return token, nil
	}
	form := url.Values{
		"grant_type": {"client_credentials"}, "client_id": {os.Getenv("RIN_CLIENT_ID")},
		"client_secret": {os.Getenv("RIN_CLIENT_SECRET")},
	}
	status, _, body, err := n.send(ctx, func() (*http.Request, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, os.Getenv("RIN_TOKEN_URL"), strings.NewReader(form.Encode()))
		if err == nil {
			request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		return request, err
	})
	if err != nil {
		return "", err
	}
	var answer struct {
		AccessToken string `json:"access_token"`
		ExpiresIn   int    `json:"expires_in"`
	}
	if status != http.StatusOK {
		return "", fmt.Errorf("token endpoint: %d", status)
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return "", err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.token, n.expiry = answer.AccessToken, time.Now().Add(time.Duration(answer.ExpiresIn)*time.Second)
	return n.token, nil
}

func (n *node) page(ctx context.Context, renew *sync.Mutex, skip, size int) (records []json.RawMessage, more bool, err error) {
	refused := ""
	for range 3 {
		renew.Lock()
		token, err := n.bearer(ctx, refused)
		renew.Unlock()
		if err != nil {
			return nil, false, err
		}
		query := url.Values{"page[page]": {strconv.Itoa(skip)}, "page[size]": {strconv.Itoa(size)}}
		status, header, body, err := n.send(ctx, func() (*http.Request, error) {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, os.Getenv("RIN_FUNDINGS_URL")+"?"+query.Encode(), nil)
			if err == nil {
				request.Header.Set("Authorization", "Bearer "+token)
			}
			return request, err
		})
		if err != nil {
			return nil, false, err
		}
		if status == http.StatusUnauthorized {
			refused = token
			continue
		}
		if status != http.StatusOK {
			return nil, false, fmt.Errorf("page at %d: %d", skip, status)
		}
		err = json.Unmarshal(body, &records)
		return records, strings.Contains(header.Get("Link"), `rel="next"`), err
	}
	return nil, false, fmt.Errorf("page at %d: fresh tokens are refused", skip)
}

func run() error {
	const size, width = 20, 6
	n := &node{limiter: rate.NewLimiter(50, 10)}
	var renew sync.Mutex
	total := 0
	for start := 0; ; start += size * width {
		group, ctx := errgroup.WithContext(context.Background())
		pages, more := make([][]json.RawMessage, width), make([]bool, width)
		for i := range width {
			group.Go(func() (err error) {
				pages[i], more[i], err = n.page(ctx, &renew, start+i*size, size)
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
		for _, page := range pages {
			total += len(page)
		}
		if !more[width-1] {
			fmt.Println(total, "fundings")
			return nil
		}
	}
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
