package hostile_test

import (
	"cmp"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/rin-network/rin/sandbox"
)

// The paths of a node.
const (
	tokenPath    = "/oauth/token"
	infoPath     = "/ris-synergy/info/v1/oauth/info/"
	specPath     = "/ris-synergy/funding/v3/api-docs"
	listPath     = "/ris-synergy/funding/v3/fundings"
	registryPath = "/registry/registry.json"
	metadataPath = "/.well-known/openid-configuration"
)

// node is a good node with an attack before it.
type node struct {
	url     string
	clients []sandbox.Credential
	caFile  string // empty without TLS
	stop    func()
}

// serve starts the node of an attack; files that it needs go into dir.
func serve(a attack, trap, dir string) (node, error) {
	good, err := sandbox.New(sandbox.Config{Calls: 10, Loopback: true, AsOf: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)})
	if err != nil {
		return node{}, err
	}
	n := node{clients: good.Credentials()}
	if a.wire != nil {
		n.url, n.stop, err = a.wire.serve()
		return n, err
	}
	var handler http.Handler = good
	if a.wrap != nil {
		handler = a.wrap(trap)(good)
	}
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	if a.tls == nil {
		server.Start()
	} else {
		server.TLS = a.tls.Clone()
		if a.frames != nil {
			server.TLS.NextProtos = []string{"h2"}
			server.Config.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){"h2": a.frames.serve}
		}
		server.StartTLS()
		n.caFile = filepath.Join(dir, "ca.pem")
		if err := trust(n.caFile, server.TLS.Certificates[0]); err != nil {
			return node{}, err
		}
	}
	n.url, n.stop = server.URL, func() { server.CloseClientConnections(); server.Close() }
	return n, nil
}

// trust writes the certificate into a file for --cacert.
func trust(path string, c tls.Certificate) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate[len(c.Certificate)-1]}), 0o600)
}

// secrets returns the environment variables with the clients' secrets.
func (n node) secrets() []string {
	return []string{"SECRET=" + n.clients[0].Secret, "SECRET2=" + n.clients[1].Secret}
}

// arguments returns the arguments with which rin certifies the node.
func (n node) arguments(a attack, dir string) []string {
	args := []string{
		"certify", "--report-dir", dir, "--format", "html,json,junit,har,markdown", "--deadline", deadline.String(),
		"--client-id", n.clients[0].ClientID, "--client-secret", "env:SECRET",
		"--client-id2", n.clients[1].ClientID, "--client-secret2", "env:SECRET2",
	}
	if a.registered {
		args = append(args, "--registry", n.url+registryPath, "--node", "XA")
	} else {
		args = append(args, "--token-url", n.url+tokenPath, "--info-url", n.url+infoPath, "--spec-url", n.url+specPath, "--profile", cmp.Or(a.profile, "auth"))
	}
	if n.caFile != "" {
		args = append(args, "--cacert", n.caFile)
	}
	return append(args, a.flags...)
}

// trap is a server that nobody has a reason to ask.
type trap struct {
	*httptest.Server
	connections atomic.Int64
}

func newTrap() *trap {
	t := &trap{Server: httptest.NewUnstartedServer(http.NotFoundHandler())}
	t.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			t.connections.Add(1)
		}
	}
	t.Start()
	return t
}

// wire speaks on an accepted connection, in place of HTTP.
type wire func(net.Conn)

// serve accepts connections until it is stopped. The URL is https, because clients speak only TLS to such a port.
func (speak wire) serve() (url string, stop func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("listen: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				go func() { <-ended; conn.Close() }()
				speak(conn)
			}()
		}
	}()
	return "https://" + listener.Addr().String(), func() { close(ended); listener.Close() }, nil
}
