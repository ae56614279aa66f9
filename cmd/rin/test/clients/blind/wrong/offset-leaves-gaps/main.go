// Harvest reads the funding calls of a node.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"
)

const (
	tries = 6
	size  = 50
)

type client struct {
	token  string
	expiry time.Time
}

func pause(response *http.Response, attempt int) time.Duration {
	if response != nil {
		value := response.Header.Get("Retry-After")
		if seconds, err := strconv.Atoi(value); err == nil {
			return time.Duration(seconds) * time.Second
		}
		if date, err := http.ParseTime(value); err == nil {
			return time.Until(date)
		}
	}
	return 500 * time.Millisecond << attempt
}

func send(call func() (*http.Response, error)) (*http.Response, []byte, error) {
	for attempt := range tries {
		response, err := call()
		if err == nil {
			var body []byte
			body, err = io.ReadAll(response.Body)
			response.Body.Close()
			if err == nil && response.StatusCode != http.StatusTooManyRequests && response.StatusCode < 500 {
				return response, body, nil
			}
		}
		time.Sleep(pause(response, attempt))
	}
	return nil, nil, fmt.Errorf("no answer after %d tries", tries)
}

func (c *client) login() error {
	response, body, err := send(func() (*http.Response, error) {
		return http.PostForm(os.Getenv("RIN_TOKEN_URL"), url.Values{
			"grant_type":    {"client_credentials"},
			"client_id":     {os.Getenv("RIN_CLIENT_ID")},
			"client_secret": {os.Getenv("RIN_CLIENT_SECRET")},
		})
	})
	if err != nil {
		return err
	}
	var answer struct {
		AccessToken string `json:"access_token"`
		ExpiresIn   int    `json:"expires_in"`
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("token endpoint: %s", response.Status)
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return err
	}
	c.token = answer.AccessToken
	c.expiry = time.Now().Add(time.Duration(answer.ExpiresIn) * time.Second)
	return nil
}

func (c *client) get(address string) (*http.Response, []byte, error) {
	for range 2 {
		if c.token == "" || time.Now().After(c.expiry) {
			if err := c.login(); err != nil {
				return nil, nil, err
			}
		}
		response, body, err := send(func() (*http.Response, error) {
			request, err := http.NewRequest(http.MethodGet, address, nil)
			if err != nil {
				return nil, err
			}
			request.Header.Set("Authorization", "Bearer "+c.token)
			return http.DefaultClient.Do(request)
		})
		if err != nil {
			return nil, nil, err
		}
		if response.StatusCode == http.StatusOK {
			return response, body, nil
		}
		if response.StatusCode != http.StatusUnauthorized {
			return nil, nil, fmt.Errorf("%s: %s", address, response.Status)
		}
		c.token = ""
	}
	return nil, nil, fmt.Errorf("%s: token refused", address)
}

func (c *client) harvest() (int, error) {
	total := 0
	for from := 0; ; from += size + 1 { // from and to are inclusive
		address := fmt.Sprintf("%s?page%%5Bpage%%5D=%d&page%%5Bsize%%5D=%d", os.Getenv("RIN_FUNDINGS_URL"), from, size)
		_, body, err := c.get(address)
		if err != nil {
			return total, err
		}
		var records []json.RawMessage
		if err := json.Unmarshal(body, &records); err != nil {
			return total, err
		}
		if len(records) == 0 {
			return total, nil
		}
		total += len(records)
	}
}

func main() {
	total, err := new(client).harvest()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(total, "fundings")
}
