package control

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/rin-network/rin/sandbox/content"
)

// maxAnswer is the largest size of an answer in bytes.
const maxAnswer = 64 << 20

// Client calls the control listener of a running sandbox.
type Client struct {
	// Context cancels the calls.
	Context context.Context
	// Base is the URL of the listener: "http://127.0.0.1:8081".
	Base string
	// Token is the token of the listener. Without it a caller on loopback may only read.
	Token string
}

// Refusal is an error answer of the control listener.
type Refusal struct {
	Status int
	// Detail gives the reason. Hint says what to do; it may be empty.
	Detail, Hint string
}

// Error implements error.
func (r *Refusal) Error() string { return r.Detail }

// call sends a message and decodes the answer. If message is nil, the request has no body.
func call[T any](c Client, method, path string, message any) (T, error) {
	var answer T
	var body io.Reader
	if message != nil {
		encoded, err := json.Marshal(message)
		if err != nil {
			return answer, fmt.Errorf("encode the message: %w", err)
		}
		body = bytes.NewReader(encoded)
	}
	ctx, cancel := context.WithTimeout(c.Context, 30*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.Base, "/")+path, body)
	if err != nil {
		return answer, fmt.Errorf("call the control listener: %w", err)
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.Token != "" {
		r.Header.Set("Authorization", "Bearer "+c.Token)
	}
	// This transport uses no proxy, because a proxy would see the token.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(r)
	if err != nil {
		return answer, fmt.Errorf("call the control listener: %w", err)
	}
	defer response.Body.Close()
	received, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return answer, fmt.Errorf("read the answer of the control listener: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		var p content.Problem
		if json.Unmarshal(received, &p) != nil || p.Detail == "" {
			p.Detail = fmt.Sprintf("%s is not a control listener: expected status 200 with JSON, got %d", c.Base, response.StatusCode)
		}
		return answer, &Refusal{Status: response.StatusCode, Detail: p.Detail, Hint: p.Hint}
	}
	if err := json.Unmarshal(received, &answer); err != nil {
		return answer, fmt.Errorf("read the answer of the control listener: %w", err)
	}
	return answer, nil
}
