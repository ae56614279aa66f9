package sandbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/rin-network/rin/sandbox/devtls"
	"github.com/rin-network/rin/sandbox/fault"
	"github.com/rin-network/rin/sandbox/journal"
)

// The limits of a served sandbox.
const (
	maxHeaderBytes  = 32 << 10
	headerTimeout   = 5 * time.Second
	readTimeout     = 15 * time.Second
	writeTimeout    = 60 * time.Second
	idleTimeout     = 60 * time.Second
	shutdownTimeout = 5 * time.Second
)

// Served is a [Server] or a [Network].
type Served interface {
	http.Handler
	Prepare()
	listen(inner net.Listener) net.Listener
	logger() *slog.Logger
	requestJournal() *journal.Journal
}

func (s *Server) logger() *slog.Logger { return s.log }

func (s *Server) requestJournal() *journal.Journal { return s.journal }

// HTTPServer returns a server with the limits of a served sandbox, for callers who do not use [Serve].
func HTTPServer(s Served) *http.Server {
	return &http.Server{
		Handler:           s,
		MaxHeaderBytes:    maxHeaderBytes,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		ErrorLog:          slog.NewLogLogger(s.logger().Handler(), slog.LevelDebug),
		ConnContext:       func(ctx context.Context, _ net.Conn) context.Context { return s.requestJournal().Connect(ctx) },
	}
}

// Listen adds TLS to a listener if the sandbox has it, for callers who do not use [Serve].
func Listen(inner net.Listener, s Served) net.Listener { return s.listen(inner) }

// Serve answers requests on listener, over TLS if the node has it, until ctx is done. Then it waits up to five seconds for running requests. It
// closes the listener, and returns nil if all requests finished in time.
func Serve(ctx context.Context, listener net.Listener, s Served) error {
	server := HTTPServer(s)
	idle := &idleConns{connections: map[net.Conn]struct{}{}}
	server.ConnState = idle.track
	go s.Prepare() // in the background, so that the first requests do not wait
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(s.listen(listener)) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve the sandbox: %w", err)
	case <-ctx.Done():
	}
	shutdownCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	idle.close()
	err := server.Shutdown(shutdownCtx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.Join(errors.New("requests were still running after five seconds and were cut"), server.Close())
	}
	<-ended
	if err != nil {
		return fmt.Errorf("stop the sandbox: %w", err)
	}
	return nil
}

// idleConns holds the connections without a request so far; browsers open some in advance. Serve closes them at its end, because Shutdown would wait
// for them.
type idleConns struct {
	mu          sync.Mutex
	ending      bool
	connections map[net.Conn]struct{}
}

// track is a ConnState function of a server. It keeps the new connections until their first request.
func (c *idleConns) track(connection net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case state != http.StateNew:
		delete(c.connections, connection)
	case c.ending:
		_ = connection.Close()
	default:
		c.connections[connection] = struct{}{}
	}
}

// close closes all idle connections, and makes track close those that clients open later.
func (c *idleConns) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ending = true
	for connection := range c.connections {
		_ = connection.Close()
	}
}

// newIdentity makes the certificates of a node with TLS, changed by its deviations of connections; nil without TLS.
func newIdentity(c Config) (*devtls.Identity, error) {
	var settings devtls.Settings
	if c.TLS != nil {
		settings = *c.TLS
	}
	if settings.Clock == nil {
		settings.Clock = c.Clock
	}
	if len(settings.PermittedHosts) == 0 {
		settings.PermittedHosts = settings.Hosts // before a deviation names another host
	}
	for _, name := range c.Deviations {
		d, err := fault.FindDeviation(name)
		if err != nil {
			return nil, err
		}
		if d.Transport == nil {
			continue
		}
		if c.TLS == nil {
			return nil, &NeedsTLSError{Deviation: name}
		}
		d.Transport(&settings)
	}
	if c.TLS == nil {
		return nil, nil
	}
	identity, err := devtls.New(settings, c.Random)
	if err != nil {
		return nil, fmt.Errorf("TLS: %w", err)
	}
	return identity, nil
}

// NeedsTLSError reports a deviation that changes TLS connections, on a node without TLS.
type NeedsTLSError struct{ Deviation string }

// Error implements error.
func (e *NeedsTLSError) Error() string {
	return fmt.Sprintf("deviation %q works on connections and needs TLS, which the node does not offer", e.Deviation)
}

// Authority returns the certificate of the authority that issued the node's certificate, as PEM; nil without TLS.
func (s *Server) Authority() []byte {
	if s.identity == nil {
		return nil
	}
	return s.identity.Authority()
}

// listen adds TLS to a listener if the node has TLS. Otherwise it replaces the refusals of net/http with problem bodies.
func (s *Server) listen(inner net.Listener) net.Listener {
	if s.identity == nil {
		return ExplainRefusals(inner, maxHeaderBytes)
	}
	return s.identity.Listen(inner)
}
