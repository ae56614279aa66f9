package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
)

// This file checks the entry of a node that asks for admission, and writes what the registry sends to the node's operator.

// exampleEntry is the form of a registry entry.
const exampleEntry = `{"id": "XA", "acronym": "…", "name": "…", "contact": "…@…", "oauth2": "https://…", "info": "https://…"}`

// EntryError lists the mistakes of an entry that asks for admission. ID is empty if the entry has none that can be read.
type EntryError struct {
	ID     string
	Faults []string
}

// Error implements error.
func (e *EntryError) Error() string {
	if e.ID == "" {
		return strings.Join(e.Faults, "\n")
	}
	return "the entry " + report.Plain(e.ID) + ": " + strings.Join(e.Faults, "; ")
}

// EntryOf reads the registry entry that asks for admission. Its error is an [*EntryError] with all mistakes.
func EntryOf(text []byte) (Entry, error) {
	d, err := ReadDocument([]byte(`[` + string(bytes.TrimSpace(text)) + `]`))
	if err != nil || len(d.Entries) != 1 || !json.Valid(text) {
		return Entry{}, &EntryError{Faults: []string{"expected one registry entry such as " + exampleEntry + " (hint: name a file with the entry alone, or an id of the registry document)"}}
	}
	e := d.Entries[0]
	wrong := &EntryError{ID: e.ID}
	for _, u := range []struct{ member, text string }{{"oauth2", e.TokenURL}, {"info", e.InfoURL}} {
		at, err := url.Parse(u.text)
		switch {
		case err != nil || at.Host == "" || at.User != nil || at.Fragment != "":
			shown, expected := withoutPassword(u.text), "an absolute URL"
			if shown != u.text || at != nil && at.Fragment != "" {
				expected += " without user name, password and fragment"
			}
			wrong.Faults = append(wrong.Faults, fmt.Sprintf("%s: expected %s, got %.200q", u.member, expected, shown))
		case at.Scheme != "https" && !(at.Scheme == "http" && evidence.LoopbackHost(at.Hostname())):
			wrong.Faults = append(wrong.Faults, fmt.Sprintf("%s: expected https, got %.200q", u.member, u.text))
		}
	}
	if len(wrong.Faults) > 0 {
		return e, wrong
	}
	return e, nil
}

// withoutPassword returns a text without user name and password: without all before the last @ except the scheme. It does not parse the URL, because a URL
// with a password that is not escaped cannot be parsed, or has another host.
func withoutPassword(text string) string {
	end := strings.LastIndex(text, "@")
	if end < 0 {
		return text
	}
	start := 0
	if slashes := strings.Index(text[:end], "//"); slashes >= 0 {
		start = slashes + len("//")
	}
	return text[:start] + "…" + text[end:]
}

// Letter returns a text for the node's operator that says what they have to do next.
func (a Admission) Letter(e Entry, operator string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "To the operator of the node %s\n\nYour entry was checked. Please show that you control the node:\n\n", report.Plain(a.ID))
	switch a.Method {
	case ByClient:
		fmt.Fprintf(&b, "1. Create a client at %s:\n     client id  %s\n     role       EXTERNAL_API_CLIENT, with an affiliation ID of your choice\n2. Send its secret to the registry by a way that only we can read.\n\n"+
			"Before this letter your token endpoint refused this client id. When it gives a token for it,\nand info accepts the token, control is proved.\n", report.Plain(e.TokenURL), a.ClientID)
	case ByWellKnown:
		for _, origin := range originsOf(e) {
			fmt.Fprintf(&b, "  %s%s%s\n", report.Plain(origin), wellKnownPath, a.Token)
		}
		fmt.Fprintf(&b, "must answer 200 with this text alone:\n  %s\n", a.Answer)
	case ByDNS:
		for _, origin := range originsOf(e) {
			fmt.Fprintf(&b, "  %s.  TXT  %q\n", dnsName(origin), a.Answer)
		}
	}
	fmt.Fprintf(&b, "\nThen the registry tests the node completely, with about 700 requests, makes four more\nsome minutes later, and sends you the report. The requests look like those of an\nordinary client. By showing control you agree to that.\n\n%s\n", operator)
	return b.String()
}

// EntryLetter returns a text for the operator of a node whose entry was refused.
func EntryLetter(err error, operator string) string {
	var wrong *EntryError
	if !errors.As(err, &wrong) {
		wrong = &EntryError{Faults: []string{err.Error()}}
	}
	return refusal(wrong.ID, "The registry cannot use your entry:", wrong.Faults, "Please correct it, and send it again in this form:\n\n  "+exampleEntry, operator)
}

// ControlLetter returns a text for the operator of a node that answered a request for the proof of control wrongly.
func ControlLetter(id string, err *ControlError, operator string) string {
	return refusal(id, "Your entry was checked. The next step is to show that you control the node, and it failed\nat "+report.Plain(err.Request)+":", []string{err.Fault},
		"Please correct that, and write to us. Then we ask again.", operator)
}

// ReportLetter returns a text for the operator of a node that was tested and not certified.
func ReportLetter(id string, r report.Report, operator string) string {
	var faults []string
	for _, reason := range r.Verdict.Reasons {
		faults = append(faults, reason.String())
	}
	return refusal(id, "Your node was tested completely. "+report.Plain(r.Verdict.Headline)+":", faults,
		"The enclosed report.html says for each of them what was expected, what came, and how to\ncorrect it. rin certify repeats the test. Please write to us when it passes.", operator)
}

// DelayedLetter returns a text for the operator of a node that passed its run and not its delayed check.
func DelayedLetter(id string, err error, operator string) string {
	return refusal(id, "Your node was tested completely, and passed. Some minutes later four requests of the same\nclient showed something else:", strings.Split(err.Error(), "\n"),
		"The enclosed report.html shows what your node answered in the test. Please see to it that it\nanswers alike at all times, and write to us. Then we test it again.", operator)
}

// AdmittedLetter returns a text for the operator of a node that was admitted.
func (o Operator) AdmittedLetter(a *Admission, e Entry, r report.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "To the operator of the node %s\n\nYour node is admitted. It was tested completely on %s and passed for the\nprofile %s; the enclosed report.html shows what it answered.\n\n", report.Plain(a.ID), a.Run.Started.Format(time.DateOnly), r.Profile)
	fmt.Fprintf(&b, "The certificate lasts until %s unless it is renewed. Whether it is valid, this page\nshows, with a badge for your own pages:\n  %s/nodes/%s/\n\n", a.Run.Started.Add(o.Policy.MaxAge).Format(time.DateOnly), o.Policy.Site, FileName(e.ID))
	if a.Method == ByClient {
		fmt.Fprintf(&b, "Please keep the client %s: with it your node is tested every night.\n", a.ClientID)
	} else {
		b.WriteString("From now on your node is tested every night.\n")
	}
	fmt.Fprintf(&b, "After %s the certificate is suspended, until the node passes again.\n\n%s\n", badNights(o.Policy.BadNights), o.Policy.Operator)
	return b.String()
}

// refusal writes what is wrong as a list. A text from the node is made plain.
func refusal(id, what string, faults []string, next, operator string) string {
	var b strings.Builder
	b.WriteString("To the operator of the node")
	if id != "" {
		b.WriteString(" " + report.Plain(id))
	}
	b.WriteString("\n\n" + what + "\n\n")
	for _, fault := range faults {
		fmt.Fprintf(&b, "  - %s\n", report.Plain(clip(fault)))
	}
	fmt.Fprintf(&b, "\n%s\n\n%s\n", next, operator)
	return b.String()
}
