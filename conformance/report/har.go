package report

import (
	"io"

	"github.com/rin-network/rin/conformance/exchange"
)

// WriteHAR writes the exchanges as an HTTP Archive 1.2, which the network panel of a browser opens. The suite is the version of rin.
func WriteHAR(w io.Writer, log *exchange.Log, suite string) error {
	return exchange.WriteHAR(w, log, suite)
}
