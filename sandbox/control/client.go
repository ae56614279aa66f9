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

	"github.com/rin-network/rin/sandbox/problem"
)

// maxAnswer is the number of bytes of an answer that are read.
const maxAnswer = 64 << 20

// Client calls the control listener of a running sandbox.
type Client struct {
	// Context ends its calls.
	Context context.Context
	// Base is the URL of the listener: "http://127.0.0.1:8081".
	Base string
}

// Refused is the answer of a control listener that did not do as it was told.
type Refused struct {
	Status int
	// Detail says why, Hint what to do; Hint may be empty.
	Detail, Hint string
}

// Error implements error.
func (r *Refused) Error() string { return r.Detail }

// call sends one message and reads the answer. A nil message sends no body.
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
	// A listener of its own on loopback: no proxy stands between, and none may be asked.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(r)
	if err != nil {
		return answer, fmt.Errorf("call the control listener: %w", err)
	}
	defer response.Body.Close()
	read, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return answer, fmt.Errorf("read the answer of the control listener: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		var p problem.Problem
		if json.Unmarshal(read, &p) != nil || p.Detail == "" {
			p.Detail = fmt.Sprintf("no control listener is there: expected status 200 with JSON, got %d", response.StatusCode)
		}
		return answer, &Refused{Status: response.StatusCode, Detail: p.Detail, Hint: p.Hint}
	}
	if err := json.Unmarshal(read, &answer); err != nil {
		return answer, fmt.Errorf("read the answer of the control listener: %w", err)
	}
	return answer, nil
}
