package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/rin-network/rin/sandbox/content"
)

// ExplainRefusals wraps a TCP listener so that net/http's plain-text refusals of unreadable requests become problem bodies (RFC 9457). It cannot
// wrap a TLS listener, because net/http needs to see TLS connections. maxHeaderBytes is the limit of the server, which a refusal names.
func ExplainRefusals(inner net.Listener, maxHeaderBytes int) net.Listener {
	return explainingListener{inner, maxHeaderBytes}
}

// explainingListener is the listener of [ExplainRefusals].
type explainingListener struct {
	net.Listener
	maxHeaderBytes int
}

// Accept implements net.Listener.
func (l explainingListener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if tcp, ok := accepted.(*net.TCPConn); ok && err == nil {
		return &explainingConn{tcp, l.maxHeaderBytes}, nil
	}
	return accepted, err
}

// explainingConn replaces refusals of net/http on a connection.
type explainingConn struct {
	*net.TCPConn
	maxHeaderBytes int
}

// Write implements io.Writer. net/http writes a refusal in a single call.
func (c *explainingConn) Write(p []byte) (int, error) {
	explained, refused := explainRefusal(p, c.maxHeaderBytes)
	if !refused {
		return c.TCPConn.Write(p)
	}
	if _, err := c.TCPConn.Write(explained); err != nil {
		return 0, err
	}
	return len(p), nil
}

// maxRefusal is longer than any refusal of net/http.
const maxRefusal = 512

// refusalHeader is the header of every refusal of net/http after the status line. Answers of handlers also have a Date.
const refusalHeader = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"

// explainRefusal replaces a refusal of net/http with one that has a problem body; refused is false for all other answers.
func explainRefusal(p []byte, maxHeaderBytes int) (explained []byte, refused bool) {
	if len(p) > maxRefusal || !bytes.HasPrefix(p, []byte("HTTP/1.1 ")) {
		return nil, false
	}
	line, _, found := strings.Cut(string(p[len("HTTP/1.1 "):]), refusalHeader)
	if !found || strings.Contains(line, "\r\n") {
		return nil, false
	}
	code, phrase, _ := strings.Cut(line, " ")
	status, err := strconv.Atoi(code)
	if err != nil {
		return nil, false
	}
	_, why, _ := strings.Cut(phrase, ": ")
	problem := refusalProblem(status, why, maxHeaderBytes)
	body, err := json.Marshal(problem)
	if err != nil {
		return nil, false
	}
	return fmt.Appendf(nil, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		status, http.StatusText(status), content.ProblemMediaType, len(body), body), true
}

// refusalProblem says what may be wrong with a request that net/http refused; why may be empty.
func refusalProblem(status int, why string, maxHeaderBytes int) content.Problem {
	p := content.Problem{Type: "about:blank", Title: http.StatusText(status), Status: status}
	switch status {
	case http.StatusRequestHeaderFieldsTooLarge:
		p.Detail = "the header of the request, its URL included, is longer than this server reads"
		p.Hint = "the limit is " + strconv.Itoa(maxHeaderBytes>>10) + " KiB: look for a token, a cookie or a query that is sent more than once or grows"
	case http.StatusHTTPVersionNotSupported:
		p.Detail, p.Hint = "the server does not support this version of HTTP", "send HTTP/1.1"
	case http.StatusNotImplemented:
		p.Detail, p.Hint = "the server does not support this transfer coding", "send the body as it is, with Content-Length, or chunked"
	default:
		p.Detail = "the request can't be read as HTTP/1.1"
		p.Hint = "look at what is sent (curl -v): in the URL each % has two hexadecimal digits after it (% itself is %25) and a blank is %20; " +
			"there is one Host with a name and a port; names of header fields have no blanks; nothing has control characters"
	}
	if why != "" {
		p.Detail += ": " + why
	}
	return p
}
