package sandbox

import (
	"net"
	"net/http"
	"sync"
)

// unasked are connections on which nothing was asked yet: browsers open some in advance. The end of a server would wait for them.
type unasked struct {
	mu          sync.Mutex
	ending      bool
	connections map[net.Conn]struct{}
}

// follow is the ConnState of a server.
func (u *unasked) follow(connection net.Conn, state http.ConnState) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case state != http.StateNew:
		delete(u.connections, connection)
	case u.ending:
		_ = connection.Close()
	default:
		u.connections[connection] = struct{}{}
	}
}

// close closes them, and those that still come.
func (u *unasked) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.ending = true
	for connection := range u.connections {
		_ = connection.Close()
	}
}
