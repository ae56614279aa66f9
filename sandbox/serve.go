package sandbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// The limits of a served sandbox.
const (
	maxHeaderBytes   = 32 << 10
	headerTimeout    = 5 * time.Second
	readTimeout      = 15 * time.Second
	writeTimeout     = 60 * time.Second
	idleTimeout      = 60 * time.Second
	shutdownPatience = 5 * time.Second
)

// Served is a [Server] or a [Network].
type Served interface {
	http.Handler
	Prepare()
	listen(inner net.Listener) net.Listener
	logger() *slog.Logger
}

func (s *Server) logger() *slog.Logger { return s.log }

// HTTPServer is a server with the limits of a served sandbox, for whoever runs it otherwise than by [Serve].
func HTTPServer(s Served) *http.Server {
	return &http.Server{
		Handler:           s,
		MaxHeaderBytes:    maxHeaderBytes,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		ErrorLog:          slog.NewLogLogger(s.logger().Handler(), slog.LevelDebug),
	}
}

// Listen adds TLS to a listener if the sandbox has it, for whoever runs it otherwise than by [Serve].
func Listen(inner net.Listener, s Served) net.Listener { return s.listen(inner) }

// Serve answers requests on listener, over TLS if the node has it, until ctx is done, then lets running requests end for up to five seconds. It
// closes the listener. It returns nil after an orderly end.
func Serve(ctx context.Context, listener net.Listener, s Served) error {
	server := HTTPServer(s)
	unasked := &unasked{connections: map[net.Conn]struct{}{}}
	server.ConnState = unasked.follow
	go s.Prepare() // beside the first requests
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(s.listen(listener)) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve the sandbox: %w", err)
	case <-ctx.Done():
	}
	patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownPatience)
	defer cancel()
	unasked.close()
	err := server.Shutdown(patience)
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.Join(errors.New("requests were still running after five seconds and were cut"), server.Close())
	}
	<-ended
	if err != nil {
		return fmt.Errorf("stop the sandbox: %w", err)
	}
	return nil
}
