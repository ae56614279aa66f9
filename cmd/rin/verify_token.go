package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/certificate"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/registry"
	"github.com/rin-network/rin/conformance/report"
)

// stepValidity is the step that compares the times of a token with now.
const stepValidity certificate.Step = "validity"

// verifyToken verifies a trust mark or a status list. ok is false if the text is neither.
func verifyToken(text []byte, name string, in certificate.Input, now time.Time) (r certificate.Verification, ok bool) {
	typ := certificate.TokenType(string(text))
	if typ != certificate.MarkType && typ != registry.ListType {
		return r, false
	}
	compared := "type " + typ + " and signature"
	if in.Key == nil {
		r.Checks = []certificate.Check{{Step: certificate.StepSignature, State: certificate.Undecided, Compared: compared, Place: name, Why: "no key was given (--key), and without its signature a token says nothing"}}
		return r, true
	}
	var claims map[string]any
	if err := certificate.ReadToken(strings.TrimSpace(string(text)), typ, &claims, in.Key); err != nil {
		r.Checks = []certificate.Check{{Step: certificate.StepSignature, State: certificate.Broken, Compared: compared, Place: name, Why: report.Plain(err.Error())}}
		return r, true
	}
	r.SignedBy = certificate.Fingerprint(in.Key)
	r.Checks = []certificate.Check{{Step: certificate.StepSignature, State: certificate.Holds, Compared: compared}}
	valid := certificate.Check{Step: stepValidity, State: certificate.Holds, Compared: "its times with now"}
	var err error
	if typ == certificate.MarkType {
		var m certificate.Mark
		m, err = certificate.ReadMark(strings.TrimSpace(string(text)), in.Key, now)
		r.StatementText = report.Plain(fmt.Sprintf("a trust mark of %s for %s: %s, valid until %s; certificate: %s", m.Issuer, m.Subject, m.Type, m.Expires.Format(time.RFC3339), m.Ref))
	} else {
		var l registry.List
		l, err = registry.ReadList(string(text), in.Key, now)
		r.StatementText = report.Plain(fmt.Sprintf("a status list of %s: %s after the night of %s, valid until %s", l.Issuer, evidence.Count(len(l.Valid), "valid certificate"), l.Night, time.Unix(l.Expires, 0).UTC().Format(time.RFC3339)))
	}
	if err != nil {
		valid.State, valid.Place, valid.Why = certificate.Broken, name, report.Plain(err.Error())
	}
	r.Checks = append(r.Checks, valid)
	return r, true
}
