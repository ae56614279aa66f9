package control

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/metrics"
	"github.com/rin-network/rin/sandbox/problem"
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
		problem.NotFound("the control listener has no such resource", "see rin sandbox --help").Write(w, r)
	})
	return ownOnly(mux)
}

// respond sends what a route answers, or its fault as a problem.
func respond(w http.ResponseWriter, r *http.Request, answer func(*http.Request) (any, error)) {
	value, err := answer(r)
	if err != nil {
		var fault *fault
		if !errors.As(err, &fault) {
			fault = badRequest(err, "")
		}
		fault.Write(w, r)
		return
	}
	if p, ok := value.(*metrics.Page); ok {
		w.Header().Set("Content-Type", metrics.MediaType)
		_, _ = w.Write(p.Bytes())
		return
	}
	body, err := json.Marshal(value)
	if err != nil {
		problem.Internal().Write(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	// A failed write means that the caller is gone; nobody is left to tell.
	_, _ = w.Write(append(body, '\n'))
}

// fault is an error with the problem that tells it.
type fault struct{ problem.Problem }

// Error implements error.
func (f *fault) Error() string { return f.Detail }

func badRequest(err error, hint string) *fault { return &fault{problem.BadRequest(err.Error(), hint)} }

func notFound(detail, hint string) *fault { return &fault{problem.NotFound(detail, hint)} }

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
			problem.Forbidden("the control listener answers to the names of loopback only", "use 127.0.0.1, [::1] or localhost").Write(w, r)
		case r.Header.Get("Origin") != "" || site != "" && site != "none":
			problem.Forbidden("the control listener answers no page", "use rin, curl or another program").Write(w, r)
		default:
			next.ServeHTTP(w, r)
		}
	})
}
