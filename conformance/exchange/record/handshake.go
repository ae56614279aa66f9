package record

import (
	"context"
	"crypto/tls"

	"fmt"
	"net"
	"net/url"
	"time"

	"github.com/rin-network/rin/conformance/exchange"
)

// HandshakeTimeout bounds one handshake with its connection, unless the recorder's own timeout is shorter.
const HandshakeTimeout = 10 * time.Second

// Greeting is one TLS handshake to make.
type Greeting struct {
	Label exchange.Label
	// URL names the origin, https.
	URL string
	// Oldest and Newest bound the versions that are offered.
	Oldest, Newest uint16
}

// Handshake makes one handshake under the rules of all requests, ends the connection, and records what was agreed on and what the
// certificates say. A bad certificate does not end the handshake: which one it is, is what the evidence is for.
func (r *Recorder) Handshake(ctx context.Context, g Greeting) exchange.Handshake {
	h := exchange.Handshake{Label: g.Label, Offered: offered(g), Started: r.options.Clock()}
	u, err := url.Parse(g.URL)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" {
		h.Failure = &exchange.Failure{Kind: exchange.FailureRefused, Message: "expected an https URL"}
		r.options.Journal.Handshake(h)
		return h
	}
	h.ServerName, h.Address = u.Hostname(), net.JoinHostPort(u.Hostname(), port(u))
	for {
		if because := r.greetOnce(ctx, g, &h); because != nil {
			if h.Attempts == 0 {
				r.options.Journal.Skip(g.Label, exchange.OverBudget, r.options.Redactor.Text(because.Error()))
				h.Failure = unsentFailure(because.Error())
				return h
			}
			break
		}
		if h.Attempts > 1 || !repeatable(g, h) {
			break
		}
		wait := RetryPause
		if r.options.Loopback {
			wait = 0
		}
		if r.options.Sleep(ctx, wait) != nil {
			break
		}
	}
	h = r.options.Redactor.Handshake(h)
	r.options.Journal.Handshake(h)
	return h
}

// greetOnce makes one attempt. The error says why there was none; the handshake is unchanged then.
func (r *Recorder) greetOnce(ctx context.Context, g Greeting, h *exchange.Handshake) error {
	if err := r.gate.enter(ctx); err != nil {
		return fmt.Errorf("the run ended first: %w", err)
	}
	defer r.gate.leave()
	if !r.gate.spend() {
		return errBudget
	}
	made := exchange.Handshake{
		Label: h.Label, Address: h.Address, ServerName: h.ServerName, Offered: h.Offered, Attempts: h.Attempts + 1, Started: r.options.Clock(),
	}
	r.greet(ctx, g, &made)
	made.Duration = r.options.Clock().Sub(made.Started)
	*h = made
	return nil
}

func (r *Recorder) greet(ctx context.Context, g Greeting, h *exchange.Handshake) {
	timeout := r.timeout(HandshakeTimeout)
	timed, cancel := context.WithTimeoutCause(ctx, timeout, errLate)
	defer cancel()
	wire, err := (&net.Dialer{}).DialContext(timed, "tcp", h.Address)
	if err != nil {
		h.Failure = r.classify(ctx, timed, timeout, err, false)
		return
	}
	watched := &witness{Conn: wire}
	defer watched.Close()
	conn := tls.Client(watched, greeting(g, h.ServerName, r.options.Clock))
	err = conn.HandshakeContext(timed)
	state := conn.ConnectionState()
	h.Chain, h.Distrust, h.Message = r.trust(state.PeerCertificates, h.ServerName)
	if err != nil {
		h.Selected, h.Alert = watched.said()
	}
	switch {
	case err == nil:
		h.Version, h.Cipher, h.Protocol = tls.VersionName(state.Version), tls.CipherSuiteName(state.CipherSuite), state.NegotiatedProtocol
		_ = conn.SetDeadline(time.Now().Add(time.Second)) // the goodbye of TLS may not take long
		_ = conn.Close()
	case !watched.wrote():
		h.Failure = &exchange.Failure{Kind: exchange.FailureLocal, Message: boundedMessage(err)}
	default:
		h.Failure = r.classify(ctx, timed, timeout, err, true)
	}
}

// greeting offers the versions with every cipher suite that this library knows, weak ones too: an old server must not look as if it
// refused the version when it only knows old ciphers.
func greeting(g Greeting, name string, clock func() time.Time) *tls.Config {
	config := &tls.Config{
		ServerName: name, MinVersion: g.Oldest, MaxVersion: g.Newest, Time: clock,
		InsecureSkipVerify: true, // no request follows, and the chain is verified beside the handshake, see trust.go
		NextProtos:         []string{"http/1.1"},
	}
	if g.Newest >= tls.VersionTLS12 {
		config.NextProtos = []string{"h2", "http/1.1"}
	}
	for _, suites := range [][]*tls.CipherSuite{tls.CipherSuites(), tls.InsecureCipherSuites()} {
		for _, s := range suites {
			config.CipherSuites = append(config.CipherSuites, s.ID)
		}
	}
	return config
}

func offered(g Greeting) []string {
	var out []string
	for _, v := range []uint16{tls.VersionTLS10, tls.VersionTLS11, tls.VersionTLS12, tls.VersionTLS13} {
		if v >= g.Oldest && v <= g.Newest {
			out = append(out, tls.VersionName(v))
		}
	}
	return out
}

// repeatable reports a network error that may be gone next time. That a server hangs up on an old version is its answer.
func repeatable(g Greeting, h exchange.Handshake) bool {
	if h.Failure == nil {
		return false
	}
	switch h.Failure.Kind {
	case exchange.FailureResolve, exchange.FailureConnect:
		return true
	case exchange.FailureTimeout, exchange.FailureReset:
		return g.Newest >= tls.VersionTLS12
	}
	return false
}

func port(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	return "443"
}
