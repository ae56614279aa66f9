// Harvests with golang.org/x/oauth2's client credentials over hashicorp's retrying transport.
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
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

var next = regexp.MustCompile(`<([^>]+)>\s*;\s*rel="next"`)

func newClient(ctx context.Context) *http.Client {
	retrying := retryablehttp.NewClient()
	retrying.Logger = nil
	retrying.RetryMax = 5
	retrying.RetryWaitMin = 500 * time.Millisecond
	ctx = context.WithValue(ctx, oauth2.HTTPClient, retrying.StandardClient())
	config := clientcredentials.Config{
		ClientID:     os.Getenv("RIN_CLIENT_ID"),
		ClientSecret: os.Getenv("RIN_CLIENT_SECRET"),
		TokenURL:     os.Getenv("RIN_TOKEN_URL"),
		AuthStyle:    oauth2.AuthStyleInParams,
	}
	return config.Client(ctx)
}

type harvester struct {
	ctx    context.Context
	client *http.Client
}

func (h *harvester) read(address string) (records []json.RawMessage, link string, err error) {
	renewed := false
	for attempt := range 4 {
		response, err := h.client.Get(address)
		if err != nil {
			return nil, "", err
		}
		body, readErr := io.ReadAll(response.Body)
		response.Body.Close()
		switch {
		case response.StatusCode == http.StatusUnauthorized && !renewed:
			renewed = true
			h.client = newClient(h.ctx)
		case response.StatusCode != http.StatusOK:
			return nil, "", fmt.Errorf("%s: %s", address, response.Status)
		case readErr != nil:
			time.Sleep(time.Second << attempt)
		default:
			if err := json.Unmarshal(body, &records); err != nil {
				return nil, "", err
			}
			return records, response.Header.Get("Link"), nil
		}
	}
	return nil, "", errors.New("four answers were cut: " + address)
}

func run() error {
	ctx := context.Background()
	h := &harvester{ctx: ctx, client: newClient(ctx)}
	address := os.Getenv("RIN_FUNDINGS_URL") + "?" + url.Values{"page[page]": {"0"}, "page[size]": {"64"}}.Encode()
	total := 0
	for address != "" {
		records, link, err := h.read(address)
		if err != nil {
			return err
		}
		total += len(records)
		match := next.FindStringSubmatch(link)
		if match == nil {
			break
		}
		base, err := url.Parse(address)
		if err != nil {
			return err
		}
		target, err := base.Parse(match[1])
		if err != nil {
			return err
		}
		if target.Host != base.Host {
			return fmt.Errorf("the next page is on %s", target.Host)
		}
		address = target.String()
	}
	fmt.Println(total, "fundings")
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
