// Package control is the second listener of a sandbox, and its client. With it an operator replaces deviations, plays scenarios, moves the time,
// reads the journal and resets the sandbox. It speaks JSON over HTTP on loopback, and refuses requests from web pages.
//
// [New] makes the handler, [Client] calls it. Each topic has one file with its messages, routes and calls.
package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/content"
	"github.com/rin-network/rin/sandbox/edge"
)

// maxBody is the largest size of a message in bytes.
const maxBody = 1 << 20

// route is one row of the route table: a method with a path pattern of net/http, and the function that answers.
type route struct {
	pattern string
	answer  func(r *http.Request) (any, error)
}

// New makes the handler of the control listener of a network.
func New(network *sandbox.Network) http.Handler {
	mux := http.NewServeMux()
	for _, group := range [][]route{
		healthRoutes(), nodeRoutes(network), deviationRoutes(network), scenarioRoutes(network), clockRoutes(network), journalRoutes(network), reportRoutes(network), resetRoutes(network),
		accessRoutes(network), accountRoutes(network), metricsRoutes(network),
	} {
		for _, route := range group {
			mux.HandleFunc(route.pattern, func(w http.ResponseWriter, r *http.Request) { respond(w, r, route.answer) })
		}
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		content.NotFound("the control listener has no such resource", "see rin sandbox --help").Write(w, r)
	})
	return refusePages(mux)
}

// respond sends the answer of a route, or its error as a problem document.
func respond(w http.ResponseWriter, r *http.Request, answer func(*http.Request) (any, error)) {
	value, err := answer(r)
	if err != nil {
		var refusal *problemError
		if !errors.As(err, &refusal) {
			refusal = badRequest(err, "")
		}
		refusal.Write(w, r)
		return
	}
	if p, ok := value.(*edge.MetricsPage); ok {
		w.Header().Set("Content-Type", edge.MetricsMediaType)
		_, _ = w.Write(p.Bytes())
		return
	}
	body, err := json.Marshal(value)
	if err != nil {
		content.Internal().Write(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(append(body, '\n')) // fails only if the caller is gone
}

// problemError is an error that is sent as a problem document.
type problemError struct{ content.Problem }

// Error implements error.
func (e *problemError) Error() string { return e.Detail }

func badRequest(err error, hint string) *problemError {
	return &problemError{content.BadRequest(err.Error(), hint)}
}

func notFound(detail, hint string) *problemError {
	return &problemError{content.NotFound(detail, hint)}
}

// read decodes the body of a request as a message. It refuses unknown members.
func read[T any](r *http.Request) (T, error) {
	var message T
	dec := json.NewDecoder(io.LimitReader(r.Body, maxBody))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&message); err != nil {
		return message, badRequest(fmt.Errorf("the message can't be read: %w", err), "send one JSON object")
	}
	return message, nil
}

// refusePages refuses requests of web pages, because browsers let pages call any address. It also refuses host names other than those of loopback,
// because a foreign name server may resolve its names to loopback (DNS rebinding).
func refusePages(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		ip := net.ParseIP(host)
		site := r.Header.Get("Sec-Fetch-Site")
		switch {
		case host != "localhost" && (ip == nil || !ip.IsLoopback()):
			content.Forbidden("the control listener accepts only the names of loopback", "use 127.0.0.1, [::1] or localhost").Write(w, r)
		case r.Header.Get("Origin") != "" || site != "" && site != "none":
			content.Forbidden("the control listener answers programs, not web pages", "use rin, curl or another program").Write(w, r)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// metricsRoutes serve metrics to Prometheus. The format is not JSON, so [Client] has no call for it.
func metricsRoutes(network *sandbox.Network) []route {
	return []route{{"GET /metrics", func(*http.Request) (any, error) {
		var p edge.MetricsPage
		network.WriteMetrics(&p)
		p.Process()
		return &p, nil
	}}}
}

// maxAnswer is the largest size of an answer in bytes.
const maxAnswer = 64 << 20

// Client calls the control listener of a running sandbox.
type Client struct {
	// Context cancels the calls.
	Context context.Context
	// Base is the URL of the listener: "http://127.0.0.1:8081".
	Base string
}

// Refused is an error answer of the control listener.
type Refused struct {
	Status int
	// Detail says why, and Hint, which may be empty, what to do.
	Detail, Hint string
}

// Error implements error.
func (r *Refused) Error() string { return r.Detail }

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
	// This transport uses no proxy, because the listener is on loopback.
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
		return answer, &Refused{Status: response.StatusCode, Detail: p.Detail, Hint: p.Hint}
	}
	if err := json.Unmarshal(received, &answer); err != nil {
		return answer, fmt.Errorf("read the answer of the control listener: %w", err)
	}
	return answer, nil
}
