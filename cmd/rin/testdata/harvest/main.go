// Command harvest is a client for the tests of rin client-test. Its argument says how it behaves.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"
)

func main() {
	switch os.Args[1] {
	case "silent":
		return
	case "hangs":
		fmt.Println("waiting for ever")
		time.Sleep(time.Hour)
	case "stranger":
		visitStrangers()
	case "stays", "stops": // at a redirect
		http.DefaultClient.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	}
	token := fetchToken()
	if name, isPages := strings.CutPrefix(os.Args[1], "pages-"); isPages {
		readPages(token, name)
		return
	}
	for range 3 {
		request, _ := http.NewRequest(http.MethodGet, os.Getenv("RIN_FUNDINGS_URL"), nil)
		request.Header.Set("Authorization", "Bearer "+token)
		if os.Args[1] == "nameless" {
			request.Header.Set("User-Agent", "")
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			panic(err)
		}
		var fundings []any
		err = json.NewDecoder(answer.Body).Decode(&fundings)
		answer.Body.Close()
		switch {
		case answer.StatusCode == http.StatusOK && err == nil:
			fmt.Println(len(fundings), "fundings")
			return
		case os.Args[1] == "stops":
			os.Exit(7)
		case os.Args[1] == "trusting" || os.Args[1] == "stays":
			fmt.Println("nothing new today")
			return
		case os.Args[1] == "crashes":
			fmt.Fprintln(os.Stderr, "unexpected status", answer.StatusCode, "\x1b[31m")
			os.Exit(7)
		case os.Args[1] == "patient":
			seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
			time.Sleep(time.Duration(seconds)*time.Second + 50*time.Millisecond)
		}
	}
	os.Exit(1)
}

func fetchToken() string {
	answer, err := http.PostForm(os.Getenv("RIN_TOKEN_URL"), url.Values{
		"grant_type": {"client_credentials"}, "client_id": {os.Getenv("RIN_CLIENT_ID")}, "client_secret": {os.Getenv("RIN_CLIENT_SECRET")},
	})
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()
	if os.Args[1] == "stays" && answer.StatusCode != http.StatusOK {
		fmt.Println("no token today")
		os.Exit(0)
	}
	var body struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&body); err != nil {
		panic(err)
	}
	return body.AccessToken
}

// readPages reads two pages of the list, the second one up to three times. What it does then is in its name: it ends well, fails, or waits.
func readPages(token, name string) {
	for _, offset := range []string{"0", "100"} {
		for attempt := 0; ; attempt++ {
			request, _ := http.NewRequest(http.MethodGet, os.Getenv("RIN_FUNDINGS_URL")+"?page[size]=100&page[page]="+offset, nil)
			request.Header.Set("Authorization", "Bearer "+token)
			answer, err := http.DefaultClient.Do(request)
			if err != nil {
				panic(err)
			}
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				break
			}
			time.Sleep(150 * time.Millisecond << attempt)
			if attempt < 2 {
				continue
			}
			switch name {
			case "fail":
				os.Exit(7)
			case "wait":
				time.Sleep(time.Hour)
			}
			return
		}
	}
}

// visitStrangers sends the credentials to each token endpoint of the registry.
func visitStrangers() {
	answer, err := http.Get(os.Getenv("RIN_REGISTRY_URL"))
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()
	var registry struct{ Member []struct{ OAuth2 string } }
	if err := json.NewDecoder(answer.Body).Decode(&registry); err != nil {
		panic(err)
	}
	for _, member := range registry.Member {
		answer, err := http.PostForm(member.OAuth2, url.Values{
			"grant_type": {"client_credentials"}, "client_id": {os.Getenv("RIN_CLIENT_ID")}, "client_secret": {os.Getenv("RIN_CLIENT_SECRET")},
		})
		if err != nil {
			panic(err)
		}
		answer.Body.Close()
	}
}
