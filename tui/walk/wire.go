package walk

import (
	"context"
	"crypto/x509"
	"fmt"

	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/exchange/record"
)

// maxHistory bounds the exchanges that are kept; the oldest go first.
const maxHistory = 500

// maxAnswer bounds a body, in bytes: what a person reads is far smaller.
const maxAnswer = 16 << 20

// send sends one request under the rules of a certification and keeps it in the history.
func (w *Walk) send(ctx context.Context, ask record.Ask) (record.Answer, error) {
	t := w.Target().Defaults()
	var roots *x509.CertPool
	if len(t.CACert) > 0 {
		var err error
		if roots, err = x509.SystemCertPool(); err != nil {
			return record.Answer{}, fmt.Errorf("load the system's certificate authorities: %w", err)
		}
		roots.AppendCertsFromPEM(t.CACert)
	}
	journal := exchange.NewJournal(nil)
	recorder, err := record.New(record.Options{
		Journal: journal, Redactor: w.redactor, Clock: w.options.Clock, Sleep: w.options.Pause,
		Timeout: t.Politeness.Timeout, ReadLimit: maxAnswer, RootCAs: roots,
		AllowedOrigins: t.Origins(), Loopback: t.Loopback(), UserAgent: "rin-tour/" + w.options.Suite,
	})
	if err != nil {
		return record.Answer{}, fmt.Errorf("open the wire: %w", err)
	}
	defer recorder.Close()
	w.mu.Lock()
	for name, value := range ask.Conceal {
		w.conceal(name, value)
	}
	w.mu.Unlock()
	answer := recorder.Send(ctx, ask)
	w.mu.Lock()
	defer w.mu.Unlock()
	if answer.Token != "" {
		w.conceal(ask.Issues, answer.Token)
	}
	w.history = append(w.history, sent{answer.Exchange, journal.Log().Findings})
	if over := len(w.history) - maxHistory; over > 0 {
		w.history, w.since = w.history[over:], max(0, w.since-over)
	}
	return answer, nil
}
