// Harvest reads the funding calls of a node.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"time"
)

var next = regexp.MustCompile(`<([^>]+)>; *rel="next"`)

type client struct {
	token  string
	expiry time.Time
}

func send(call func() (*http.Response, error)) (*http.Response, []byte, error) {
	response, err := call()
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response, body, err
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
	address := os.Getenv("RIN_FUNDINGS_URL") + "?page%5Bpage%5D=0&page%5Bsize%5D=50"
	for {
		response, body, err := c.get(address)
		if err != nil {
			return total, err
		}
		var records []json.RawMessage
		if err := json.Unmarshal(body, &records); err != nil {
			return total, err
		}
		total += len(records)
		match := next.FindStringSubmatch(response.Header.Get("Link"))
		if match == nil {
			return total, nil
		}
		target, err := response.Request.URL.Parse(match[1])
		if err != nil || target.Host != response.Request.URL.Host {
			return total, fmt.Errorf("next page %s is on another host", match[1])
		}
		address = target.String()
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
