// Package control is the second listener of a sandbox, for the one who runs it: switch deviations, play scenarios, move the time, put
// everything back. It is plain JSON over HTTP on loopback, never exists unless asked for, and refuses whatever a browser sends on behalf of a page.
//
// [New] makes its handler, [Client] speaks to it. A topic has one file with its messages, its routes and its calls.
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

// maxBody is the number of bytes of a message that are read.
const maxBody = 1 << 20

// route is one row of the route table: a method with a path pattern of net/http, and what answers.
type route struct {
	pattern string
	answer  func(r *http.Request) (any, error)
}

// New makes the handler of the control listener of a network.
func New(network *sandbox.Network) http.Handler {
	mux := http.NewServeMux()
	for _, group := range [][]route{
		healthRoutes(), nodeRoutes(network), deviationRoutes(network), scenarioRoutes(network), clockRoutes(network), journalRoutes(network), conductRoutes(network), resetRoutes(network),
		accessRoutes(network), accountRoutes(network), metricsRoutes(network),
	} {
		for _, route := range group {
			mux.HandleFunc(route.pattern, func(w http.ResponseWriter, r *http.Request) { respond(w, r, route.answer) })
		}
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		content.NotFound("the control listener has no such resource", "see rin sandbox --help").Write(w, r)
	})
	return ownOnly(mux)
}

// respond sends what a route answers, or its fault as a problem.
func respond(w http.ResponseWriter, r *http.Request, answer func(*http.Request) (any, error)) {
	value, err := answer(r)
	if err != nil {
		var fault *problemError
		if !errors.As(err, &fault) {
			fault = badRequest(err, "")
		}
		fault.Write(w, r)
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
	// A failed write means that the caller is gone; nobody is left to tell.
	_, _ = w.Write(append(body, '\n'))
}

// problemError is an error with the problem that tells it.
type problemError struct{ content.Problem }

// Error implements error.
func (f *problemError) Error() string { return f.Detail }

func badRequest(err error, hint string) *problemError {
	return &problemError{content.BadRequest(err.Error(), hint)}
}

func notFound(detail, hint string) *problemError {
	return &problemError{content.NotFound(detail, hint)}
}

// read decodes a message, which has no members that are not known.
func read[T any](r *http.Request) (T, error) {
	var message T
	dec := json.NewDecoder(io.LimitReader(r.Body, maxBody))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&message); err != nil {
		return message, badRequest(fmt.Errorf("the message can't be read: %w", err), "send one JSON object")
	}
	return message, nil
}

// ownOnly refuses what did not come from a program of this machine that meant to come here: pages of other origins, which browsers
// let call any address, and names that a foreign name server points to loopback.
func ownOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		ip := net.ParseIP(host)
		site := r.Header.Get("Sec-Fetch-Site")
		switch {
		case host != "localhost" && (ip == nil || !ip.IsLoopback()):
			content.Forbidden("the control listener answers to the names of loopback only", "use 127.0.0.1, [::1] or localhost").Write(w, r)
		case r.Header.Get("Origin") != "" || site != "" && site != "none":
			content.Forbidden("the control listener answers no page", "use rin, curl or another program").Write(w, r)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// metricsRoutes are for Prometheus, or for whoever reads its text format; that is not JSON, so the [Client] has no call for it.
func metricsRoutes(network *sandbox.Network) []route {
	return []route{{"GET /metrics", func(*http.Request) (any, error) {
		var p edge.MetricsPage
		network.Figures(&p)
		p.Process()
		return &p, nil
	}}}
}

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
		var p content.Problem
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
