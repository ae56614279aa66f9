// Command harvest reads all funding calls with golang.org/x/oauth2/clientcredentials and its defaults.
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
	"regexp"
	"strconv"
	"time"

	"golang.org/x/oauth2/clientcredentials"
)

var next = regexp.MustCompile(`<([^>]*)>;\s*rel="?next"?`)

func main() {
	config := clientcredentials.Config{ClientID: os.Getenv("RIN_CLIENT_ID"), ClientSecret: os.Getenv("RIN_CLIENT_SECRET"), TokenURL: os.Getenv("RIN_TOKEN_URL")}
	client := config.Client(context.Background())
	client.CheckRedirect = func(request *http.Request, via []*http.Request) error {
		if request.URL.Host != via[0].URL.Host {
			return errors.New("redirected to another host")
		}
		return nil
	}
	ids := map[string]bool{}
	for page := os.Getenv("RIN_FUNDINGS_URL") + "?page%5Bpage%5D=0&page%5Bsize%5D=50"; page != ""; {
		items, header, refused, err := read(client, page)
		if refused { // the library keeps a token until it expires
			client = config.Client(context.Background())
			items, header, _, err = read(client, page)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		for _, item := range items {
			ids[item.ID] = true
		}
		base, _ := url.Parse(page)
		page = ""
		if link := next.FindStringSubmatch(header.Get("Link")); link != nil {
			target, err := base.Parse(link[1])
			if err == nil {
				page = target.String()
			}
		}
	}
	fmt.Println(len(ids), "funding calls")
}

type item struct{ ID string }

// read reads one page. If refused is true, the node did not accept the token.
func read(client *http.Client, page string) (items []item, header http.Header, refused bool, err error) {
	for attempt := range 5 {
		answer, callErr := client.Get(page)
		if callErr != nil {
			if err = callErr; attempt == 4 || errors.Is(callErr, context.Canceled) {
				return nil, nil, false, err
			}
			var wrong *url.Error
			if errors.As(callErr, &wrong) && wrong.Err != nil && wrong.Err.Error() == "redirected to another host" {
				return nil, nil, false, callErr
			}
			time.Sleep(300 * time.Millisecond << attempt)
			continue
		}
		body, callErr := io.ReadAll(answer.Body)
		answer.Body.Close()
		switch {
		case answer.StatusCode == http.StatusUnauthorized:
			return nil, nil, true, errors.New("the token was refused")
		case answer.StatusCode == http.StatusTooManyRequests || answer.StatusCode == http.StatusServiceUnavailable:
			time.Sleep(retryAfter(answer.Header) + 200*time.Millisecond)
			err = fmt.Errorf("%s: %s", page, answer.Status)
		case answer.StatusCode >= 500 || callErr != nil:
			time.Sleep(300 * time.Millisecond << attempt)
			err = fmt.Errorf("%s: %s", page, answer.Status)
		case answer.StatusCode != http.StatusOK:
			return nil, nil, false, fmt.Errorf("%s: %s", page, answer.Status)
		default:
			if err = json.Unmarshal(body, &items); err == nil {
				return items, answer.Header, false, nil
			}
			time.Sleep(300 * time.Millisecond << attempt)
		}
	}
	return nil, nil, false, err
}

// retryAfter returns how long the node asks to wait.
func retryAfter(header http.Header) time.Duration {
	if seconds, err := strconv.Atoi(header.Get("Retry-After")); err == nil {
		return time.Duration(seconds) * time.Second
	}
	date, err := http.ParseTime(header.Get("Retry-After"))
	now, dateErr := http.ParseTime(header.Get("Date"))
	if err != nil || dateErr != nil {
		return time.Second
	}
	return max(0, date.Sub(now))
}
