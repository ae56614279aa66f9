package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/target"
)

func tokenCommand(w environment) *cobra.Command {
	var client credentialFlags
	var tokenURL, caFile string
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Fetch an access token and print it",
		Long: `Token asks a token endpoint for an access token, by form (NET-R9), and prints
the token alone on standard output. Redirects are not followed: they would carry
the secret elsewhere.`,
		Example: `  rin token --token-url https://sso.example/oauth/token \
      --client-id my-client --client-secret env:MY_SECRET

  curl -H "Authorization: Bearer $(rin token ...)" \
      https://api.example/ris/info/v1/oauth/info/`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			credentials, err := client.read(w, "--client-id", "--client-secret", &stdinOnce{from: w.in})
			if err != nil {
				return err
			}
			// A certification has the same rules for token URL and credentials.
			t := target.Target{TokenURL: tokenURL, InfoURL: tokenURL, Credentials: credentials, Profile: "auth"}
			if caFile != "" {
				if t.CACert, err = w.readFile(caFile); err != nil {
					return usage(fmt.Errorf("--cacert: %w", err), "give a readable PEM file")
				}
			}
			if tokenURL == "" {
				return usage(errors.New("--token-url is missing"), "give the token endpoint of the node")
			}
			if err := t.Defaults().Validate(); err != nil {
				return usage(err, "")
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
			defer cancel()
			token, err := fetchToken(ctx, t)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(w.out, token)
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&tokenURL, "token-url", "", "token endpoint")
	f.StringVar(&client.id, "client-id", "", "client id")
	f.StringVar(&client.secret, "client-secret", "", "where the client secret is: env:NAME, file:PATH or - (standard input)")
	f.StringVar(&caFile, "cacert", "", "PEM file of certificate authorities to trust besides the system's")
	f.DurationVar(&timeout, "timeout", target.DefaultTimeout, "time for the request")
	return cmd
}

const maxTokenAnswer = 1 << 20

// fetchToken sends one token request (RFC 6749 §4.4.2).
func fetchToken(ctx context.Context, t target.Target) (string, error) {
	form := url.Values{
		"grant_type":    {"client_credentials"},
		"client_id":     {t.Credentials.ClientID},
		"client_secret": {t.Credentials.ClientSecret.Reveal()},
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.TokenURL, strings.NewReader(form.Encode()))
	if err != nil {
		return "", usage(err, "give the token endpoint as an absolute URL")
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	roots.AppendCertsFromPEM(t.CACert)
	client := &http.Client{
		Transport:     &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	answer, err := client.Do(req)
	if err != nil {
		return "", &exitError{code: exitInconclusive, err: fmt.Errorf("ask for a token: %w", err), hint: "is the token endpoint up, and the URL right?"}
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxTokenAnswer))
	if err != nil {
		return "", &exitError{code: exitInconclusive, err: fmt.Errorf("read the token answer: %w", err), hint: "try again"}
	}
	got, _ := evidence.ParseObject(body)
	token := got.Text("access_token")
	if token == "" {
		return "", refusal(answer, got.Text("error"), got.Text("error_description"))
	}
	return token, nil
}

// refusal describes an answer without a token in words that are safe for a terminal.
func refusal(answer *http.Response, code, description string) error {
	text := fmt.Sprintf("expected a token, got status %d", answer.StatusCode)
	hint := "is this the token endpoint? It answers a form POST with JSON (NET-R9, NET-R11)"
	switch {
	case code != "":
		text += ", error " + report.Plain(code)
		if description != "" {
			text += ": " + report.Plain(description)
		}
		hint = "rin explain TOK-01 says what a token request looks like"
		if code == "invalid_client" {
			hint = "check client id and secret with the operator of the authorization server"
		}
	case answer.StatusCode >= 300 && answer.StatusCode < 400:
		hint = "the token URL redirects; use the URL that answers directly"
	}
	return &exitError{code: exitNotCertified, err: errors.New(text), hint: hint}
}
