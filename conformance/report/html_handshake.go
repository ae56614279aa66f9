package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/requirement"
)

// handshakeViews shows TLS handshakes in the manner of exchanges: what was offered, and what the server agreed to and showed.
func handshakeViews(r Report, log *exchange.Log) []exchangeView {
	cited := citations(r)
	var out []exchangeView
	for i, h := range log.Handshakes {
		v := handshakeOf(h, cited[h.Label])
		v.Anchor = fmt.Sprintf("handshake-%d", i+1)
		out = append(out, v)
	}
	return out
}

func handshakeOf(h exchange.Handshake, by []requirement.ID) exchangeView {
	v := exchangeView{
		Label: h.Label, Method: "TLS", URL: h.Address, CitedBy: by, Status: "refused", Class: "refused",
		Took: h.Duration.Round(time.Millisecond / 10).String(),
		Sent: message{Line: fmt.Sprintf("handshake for %s, offering %s", h.ServerName, strings.Join(h.Offered, ", "))},
	}
	if h.Attempts > 1 {
		v.Took += fmt.Sprintf(", attempt %d", h.Attempts)
	}
	if h.Failure != nil {
		v.Failure = string(h.Failure.Kind) + ": " + h.Failure.Message
	}
	switch {
	case h.Completed():
		v.Status, v.Class = h.Version, "ok"
	case h.Alert == "" && h.Selected == "":
		v.Status, v.Class = "no handshake", "broken"
	}
	if !h.Completed() && len(h.Chain) == 0 {
		return v
	}
	v.Answer = &message{Line: strings.TrimSpace(strings.Join([]string{h.Version, h.Cipher, h.Protocol}, " "))}
	for i, c := range h.Chain {
		v.Answer.Header = append(v.Answer.Header, exchange.Field{Name: fmt.Sprintf("Certificate %d", i+1), Value: certificateText(c)})
	}
	if h.Distrust != "" {
		v.Answer.note(fmt.Sprintf("the chain proves nothing (%s): %s", h.Distrust, cut(h.Message, headerValue)))
		v.Class = "broken"
	}
	return v
}

// certificateText is a certificate in one line.
func certificateText(c exchange.Certificate) string {
	text := fmt.Sprintf("%s, issued by %s, valid %s to %s, %s", c.Subject, c.Issuer, c.NotBefore.UTC().Format(time.DateOnly), c.NotAfter.UTC().Format(time.DateOnly), c.Key)
	if len(c.Names) > 0 {
		text += ", for " + strings.Join(c.Names, ", ")
	}
	return cut(text, headerValue)
}
