package record

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/rin-network/rin/conformance/exchange"
)

// maxMessage bounds the message of a failure in bytes.
const maxMessage = 300

// classify groups the cause of a missing answer. run is the context of the whole run, timed that of this request.
func (r *Recorder) classify(run, timed context.Context, timeout time.Duration, err error, established bool) *exchange.Failure {
	switch {
	case run.Err() != nil:
		return &exchange.Failure{Kind: exchange.FailureCanceled, Message: "the run ended before the answer was complete"}
	case timed.Err() != nil:
		return &exchange.Failure{Kind: exchange.FailureTimeout, Message: fmt.Sprintf("no complete answer within %s", timeout)}
	}
	return &exchange.Failure{Kind: kindOf(err, established), Message: boundedMessage(err)}
}

func kindOf(err error, established bool) exchange.FailureKind {
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.As(err, &dns):
		return exchange.FailureResolve
	case tlsFault(err):
		return exchange.FailureTLS
	case errors.As(err, &op) && op.Op == "dial":
		return exchange.FailureConnect
	case closed(err):
		return exchange.FailureReset
	case !established:
		return exchange.FailureConnect
	case op != nil && op.Timeout():
		return exchange.FailureTimeout
	}
	return exchange.FailureProtocol
}

func tlsFault(err error) bool {
	var verify *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	return errors.As(err, &verify) || errors.As(err, &record) || errors.As(err, &alert) || errors.As(err, &authority) ||
		errors.As(err, &name) || errors.As(err, &invalid) || errors.Is(err, http.ErrSchemeMismatch) ||
		strings.Contains(err.Error(), "tls: ")
}

func closed(err error) bool {
	if errors.Is(err, errHeaderLimit) {
		return false
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) ||
		errors.Is(err, syscall.EPIPE) || errors.Is(err, net.ErrClosed) ||
		strings.Contains(err.Error(), "server closed idle connection") || strings.Contains(err.Error(), "GOAWAY")
}

// boundedMessage is the innermost cause that says enough: without URL, local addresses and name servers.
func boundedMessage(err error) string {
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return clip(fmt.Sprintf("no address for %q: %s", dns.Name, dns.Err))
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	var op *net.OpError
	if errors.As(err, &op) {
		return clip(op.Op + ": " + op.Err.Error())
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "the connection was closed before an answer"
	}
	return clip(err.Error())
}

func clip(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) > maxMessage {
		s = strings.ToValidUTF8(s[:maxMessage], "") + "…"
	}
	return s
}
