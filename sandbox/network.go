package sandbox

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/rin-network/rin/sandbox/content"
	"github.com/rin-network/rin/sandbox/journal"
)

// NetworkConfig configures several nodes in one process.
type NetworkConfig struct {
	// Nodes are the nodes, each below its own root. All nodes use the clock and the journal of the network. Random, Ledger and Logger of the network
	// are the defaults of the nodes.
	Nodes []Config
	// Clock returns the time on which the network's clock is based; time.Now when nil.
	Clock func() time.Time
	// Random is the source of secrets and keys; crypto/rand when nil.
	Random io.Reader
	// JournalLimit is the number of requests that the journal of all nodes holds; journal.DefaultLimit when 0, no journal when negative.
	JournalLimit int
	// Ledger is the default Ledger of the nodes, KeySeed their default KeySeed.
	Ledger  Ledger
	KeySeed []byte
	// Logger is the default Logger of the nodes.
	Logger *slog.Logger
	// Origin is the base URL at which clients reach the network, such as "http://127.0.0.1:8080", for display. It may be empty.
	Origin string
	// Control is the base URL of the control listener, for the start page. It may be empty.
	Control string
}

// Network is several nodes on one host. Each node has its own authorization server, clients, data and documents; all share one registry, which lists
// them, and one clock. A Network is an http.Handler, safe for concurrent use.
type Network struct {
	nodes   []*Server
	clock   *Clock
	journal *journal.Journal
	outside http.Handler // serves the paths that belong to no node
	start   Route        // the start page, if no node has the root of the host
	origin  string
	control string // the base URL of the control listener; "" without one
}

// NewNetwork makes a network. An error names the node, the field of its configuration, and the allowed values.
func NewNetwork(config NetworkConfig) (*Network, error) {
	if len(config.Nodes) == 0 {
		return nil, fmt.Errorf("configure the network: it has no nodes, want at least one")
	}
	n := &Network{clock: NewClock(config.Clock), origin: config.Origin, control: config.Control}
	if config.Random != nil {
		config.Random = &lockedReader{source: config.Random}
	}
	if config.JournalLimit >= 0 {
		var err error
		if n.journal, err = journal.New(config.JournalLimit, config.Random); err != nil {
			return nil, fmt.Errorf("configure the network: %w", err)
		}
	}
	for i, c := range config.Nodes {
		c.Clock, c.Journal = n.clock.Now, n.journal
		if c.Random == nil {
			c.Random = config.Random
		}
		if c.Ledger == nil {
			c.Ledger = config.Ledger
		}
		if c.Logger == nil {
			c.Logger = config.Logger
		}
		if c.KeySeed == nil {
			c.KeySeed = config.KeySeed
		}
		node, err := New(c)
		if err != nil {
			return nil, fmt.Errorf("node %d: %w", i+1, err)
		}
		if err := n.add(node); err != nil {
			return nil, fmt.Errorf("node %d: %w", i+1, err)
		}
	}
	for _, node := range n.nodes {
		node.networkNodes, node.control = n.nodes, config.Control
	}
	if err := n.checkOverlap(); err != nil {
		return nil, err
	}
	n.start = n.startPage()
	n.outside = n.journal.Watch(journal.Place{Now: n.clock.Now, Origin: n.nodes[0].places.Origin, Classify: classifyOutside}, http.HandlerFunc(n.serveOutside))
	return n, nil
}

// add adds a node, unless another node has the same root or id.
func (n *Network) add(node *Server) error {
	for _, other := range n.nodes {
		if other.places.Root == node.places.Root {
			return fmt.Errorf("root %q is that of node %q: give each node its own root", node.places.Root, other.member.ID)
		}
		if other.member.ID == node.member.ID {
			return fmt.Errorf("member id %q is taken: give each node its own id", node.member.ID)
		}
	}
	n.nodes = append(n.nodes, node)
	return nil
}

// checkOverlap returns an error if requests to a resource of one node would reach another node, because the root of the other is a longer prefix of
// the resource's path.
func (n *Network) checkOverlap() error {
	for i, node := range n.nodes {
		for _, route := range node.routes {
			shared := route.Path == node.places.Registry() || route.Path == node.places.Health()
			if nearest := n.nodeAt(route.Path); nearest != node && !shared {
				return fmt.Errorf("node %d: %s would be below the root %q of node %q: choose another prefix, realm or root",
					i+1, route.Path, nearest.places.Root, nearest.member.ID)
			}
		}
	}
	return nil
}

// Nodes lists the nodes in the order of their configuration.
func (n *Network) Nodes() []*Server { return slices.Clone(n.nodes) }

// Origin returns the base URL at which clients reach the network; "" if it was not configured.
func (n *Network) Origin() string { return n.origin }

// Clock returns the clock of all nodes.
func (n *Network) Clock() *Clock { return n.clock }

// Prepare builds the indexes of all nodes, see [Server.Prepare].
func (n *Network) Prepare() {
	for _, node := range n.nodes {
		node.Prepare()
	}
}

// Journal returns the journal of the requests to all nodes; nil without one.
func (n *Network) Journal() *journal.Journal { return n.journal }

// Reset restores the start of the network: its time, the configured state of each node, and an empty journal.
func (n *Network) Reset() {
	n.journal.Clear()
	n.clock.Reset()
	for _, node := range n.nodes {
		node.Reset()
	}
}

// ServeHTTP passes a request to the node whose root is the longest prefix of its path.
func (n *Network) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if node := n.nodeAt(r.URL.Path); node != nil {
		node.ServeHTTP(w, r)
		return
	}
	n.outside.ServeHTTP(w, r)
}

// serveOutside answers requests outside all nodes.
func (n *Network) serveOutside(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/" {
		n.start.ServeHTTP(w, r)
		return
	}
	roots := make([]string, len(n.nodes))
	for i, node := range n.nodes {
		roots[i] = node.places.Root + "/"
	}
	content.NotFound("no node is at this path", "the nodes are below "+strings.Join(roots, ", ")+
		"; the registry at "+n.nodes[0].places.Registry()+" lists them").Write(w, r)
}

// nodeAt finds the node of a path. The first node serves the resources of the network. A metadata path ends with
// the path of its issuer (RFC 8414 §3.1), and belongs to the node of that issuer.
func (n *Network) nodeAt(path string) *Server {
	if path == n.nodes[0].places.Registry() || path == n.nodes[0].places.Health() {
		return n.nodes[0]
	}
	if issuer, ok := strings.CutPrefix(path, n.nodes[0].places.Metadata("")); ok {
		path = issuer
	}
	var nearest *Server
	for _, node := range n.nodes {
		root := node.places.Root
		below := root == "" || path == root || strings.HasPrefix(path, root) && path[len(root)] == '/'
		if below && (nearest == nil || len(root) > len(nearest.places.Root)) {
			nearest = node
		}
	}
	return nearest
}

// listen adds TLS to a listener if the first node has TLS. All nodes share its certificate.
func (n *Network) listen(inner net.Listener) net.Listener { return n.nodes[0].listen(inner) }

func (n *Network) logger() *slog.Logger { return n.nodes[0].log }

func (n *Network) requestJournal() *journal.Journal { return n.journal }

// MaxClockOffset is how far a clock may be moved, forward or back.
const MaxClockOffset = 10 * 365 * 24 * time.Hour

// Clock is the clock of a network, by which tokens expire and calls close. It can be moved, and is safe for concurrent use.
type Clock struct {
	base   func() time.Time
	offset atomic.Int64 // nanoseconds
}

// NewClock makes a clock that follows base; time.Now when nil.
func NewClock(base func() time.Time) *Clock {
	if base == nil {
		base = time.Now
	}
	return &Clock{base: base}
}

// Now returns the current time.
func (c *Clock) Now() time.Time { return c.base().Add(c.Offset()) }

// Offset returns how far the clock has been moved.
func (c *Clock) Offset() time.Duration { return time.Duration(c.offset.Load()) }

// Move moves the clock by d, forward or back, up to [MaxClockOffset] in total.
func (c *Clock) Move(d time.Duration) error {
	for {
		from := c.offset.Load()
		to := time.Duration(from) + d
		if d > 2*MaxClockOffset || d < -2*MaxClockOffset || to > MaxClockOffset || to < -MaxClockOffset {
			return fmt.Errorf("move the clock by %s: it would be further than %s from the present", d, MaxClockOffset)
		}
		if c.offset.CompareAndSwap(from, int64(to)) {
			return nil
		}
	}
}

// Reset undoes all moves.
func (c *Clock) Reset() { c.offset.Store(0) }
