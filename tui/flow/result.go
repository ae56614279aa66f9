package flow

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/requirement"
)

// Result is what one action of a step came to.
type Result struct {
	Step Step
	// Exchanges are what was sent and what came back, in order, with markers in the place of secrets.
	Exchanges []evidence.Exchange
	// Notes are sentences on what it means, for a person.
	Notes []string
	// Verdicts judge the answers by the catalogue.
	Verdicts []Verdict
	// Trouble is nil when the action reached its aim.
	Trouble *Trouble
}

// Verdict is how one requirement judges what was just seen.
type Verdict struct {
	ID      requirement.ID
	Title   string
	Outcome requirement.Outcome
	// Reason, Expected and Got explain every outcome but pass.
	Reason, Expected, Got string
	// Source and Quote are where the rule stands, and its sentence.
	Source, Quote string
	// Fix tells the node's engineer what to change; empty for a pass.
	Fix string
}

// Trouble is an action that did not reach its aim.
type Trouble struct {
	// What happened, in a sentence.
	What string
	// Causes are what usually lies behind it, the likeliest first; Try is what to do, in the same order where both belong together.
	Causes, Try []string
}

// Well reports that the action reached its aim.
func (s Result) OK() bool { return s.Trouble == nil }

// Mend is the step where the usual cause of a trouble is edited: the credentials when they were answered with a refusal, else the node. ok is
// false where neither has to do with it.
func (s Result) EditStep() (to Step, ok bool) {
	if s.OK() || s.Step == TakeAway || s.Step == Certify {
		return 0, false
	}
	if len(s.Exchanges) == 0 {
		return Node, true
	}
	last := s.Exchanges[len(s.Exchanges)-1]
	if last.Response == nil {
		return Node, true
	}
	switch last.Response.Status {
	case http.StatusForbidden:
		return Credentials, true
	case http.StatusUnauthorized, http.StatusBadRequest:
		if strings.HasPrefix(string(last.Label), string(evidence.TokenEndpoint)) { // as either client
			return Credentials, true
		}
	}
	return Node, true
}

// maxClockSkew is how far the node's clock may be off before it is worth a word: tokens live for minutes.
const maxClockSkew = 90 * time.Second

// connectionTrouble explains a request that has no answer; nil when there is one.
func connectionTrouble(a recorder.Answer) *Trouble {
	f := a.Failure()
	if f == nil {
		return nil
	}
	what := func(text string) string { return text + ": " + f.Message }
	switch f.Kind {
	case evidence.FailureResolve:
		return &Trouble{what("the host's name has no address"),
			[]string{"a slip in the URL", "no connection to the network where the name is known (VPN)"},
			[]string{"compare the URL with the registry entry", "connect, then try again"}}
	case evidence.FailureConnect:
		return &Trouble{what("nothing answers at this address"),
			[]string{"the node is down", "the port is another one", "a firewall is between"},
			[]string{"ask the node's operator, or try later", "compare the URL with the registry entry", "try from where its clients run"}}
	case evidence.FailureTLS:
		return &Trouble{what("no secure connection came about"),
			[]string{"the certificate comes from an authority that this machine doesn't know", "the certificate has expired or names another host", "the server speaks TLS before 1.2 only, or no TLS at all"},
			[]string{"start with --cacert FILE, the authority of the node in PEM", "ask the node's operator to renew it", "check that the URL begins with the right one of https and http"}}
	case evidence.FailureTimeout:
		return &Trouble{what("no complete answer came in time"),
			[]string{"the node is busy or hangs", "a proxy swallows the answer"},
			[]string{"try again", "try from another network"}}
	case evidence.FailureReset, evidence.FailureProtocol:
		return &Trouble{what("the connection ended without a proper HTTP answer"),
			[]string{"https is spoken on a port for http, or the other way round", "a proxy cuts the connection"},
			[]string{"check scheme and port of the URL", "try from another network"}}
	case evidence.FailureRefused:
		return &Trouble{what("rin did not send this"),
			[]string{"the URL is on an origin that neither you nor the registry entry named, and a secret goes nowhere else"},
			[]string{"start with --allow-origin if you trust it"}}
	}
	return &Trouble{what("the request was not finished"), []string{"it was cancelled"}, []string{"try again"}}
}

// formatTrouble explains an answer that should have been JSON; nil when it is.
func formatTrouble(a recorder.Answer) *Trouble {
	body := bytes.TrimSpace(a.Body)
	if len(body) > 0 && (body[0] == '{' || body[0] == '[') {
		return nil
	}
	kind := "text"
	switch {
	case len(body) == 0:
		kind = "nothing"
	case body[0] == '<':
		kind = "HTML"
	}
	return &Trouble{
		fmt.Sprintf("status %d brought %s where JSON was expected", a.Status, kind),
		[]string{"the URL leads to a web page (a login, a start page), not to the API", "a gateway or proxy answered in place of the node"},
		[]string{"compare the URL with the registry entry, path by path", "look at the body: it often names who wrote it"},
	}
}

// tokenTrouble explains a token endpoint that issued none; nil when it did.
func tokenTrouble(a recorder.Answer) *Trouble {
	if t := connectionTrouble(a); t != nil {
		return t
	}
	if a.Token != "" {
		return nil
	}
	text := strings.ToLower(string(a.Body))
	switch {
	case a.Status == http.StatusUnauthorized || strings.Contains(text, "invalid_client") || strings.Contains(text, "unauthorized_client"):
		return &Trouble{fmt.Sprintf("status %d: the authorization server does not accept this client", a.Status),
			[]string{"the secret is wrong, or was replaced since", "the client is registered at another node, or in the staging environment only", "ID and secret were swapped, or one has a blank or a line end at its end"},
			[]string{"edit the credentials and send again", "ask the node's operator for the client of this environment", "go back to the credentials: rin checks for these"}}
	case a.Status == http.StatusNotFound, a.Status == http.StatusMethodNotAllowed:
		return &Trouble{fmt.Sprintf("status %d: this URL is no token endpoint", a.Status),
			[]string{"the path is wrong; Keycloak's has /realms/<realm>/protocol/openid-connect/token, older ones with /auth before it"},
			[]string{"compare it with the registry entry"}}
	case a.Status == http.StatusTooManyRequests:
		return &Trouble{"status 429: too many requests", []string{"a limit of the node"}, []string{"wait as long as Retry-After says, then send again"}}
	case a.Status >= 500:
		return &Trouble{fmt.Sprintf("status %d: the authorization server failed", a.Status), []string{"a fault of the node"}, []string{"try again later, and tell its operator"}}
	}
	if t := formatTrouble(a); t != nil {
		return t
	}
	if a.Status/100 == 2 {
		return &Trouble{"the answer holds no access token", []string{"the member is called something else: clients read access_token (NET-R11)"}, []string{"tell the node's operator"}}
	}
	return &Trouble{fmt.Sprintf("status %d: no token was issued", a.Status),
		[]string{"the server asks for something that the network's form does not have"}, []string{"read error and error_description in the body"}}
}

// callTrouble explains a call with a good token that was not answered well; nil when it was.
func (w *Walk) callTrouble(a recorder.Answer) *Trouble {
	if t := connectionTrouble(a); t != nil {
		return t
	}
	switch {
	case a.Status == http.StatusUnauthorized:
		t := &Trouble{"status 401: the API does not accept the token",
			[]string{"the token has expired", "API and authorization server don't belong together: the registry entry mixes two environments", "the API expects another audience or issuer"},
			[]string{"fetch a new token (step 3)", "compare both URLs of the entry", "look at iss and aud of the token (step 4), and tell the node's operator"}}
		if off, known := w.skew(a); known && (off > maxClockSkew || off < -maxClockSkew) {
			t.Causes = append([]string{fmt.Sprintf("the clocks differ by %s: a token may be over, or not yet valid, on one side", off.Abs().Round(time.Second))}, t.Causes...)
			t.Try = append([]string{"set the clock (NTP), on the side that is wrong"}, t.Try...)
		}
		return t
	case a.Status == http.StatusForbidden:
		return &Trouble{"status 403: the token is good, and the account may not do this",
			[]string{"the account lacks the role EXTERNAL_API_CLIENT, or its affiliation ID is missing or wrong (NET-R17)"},
			[]string{"ask the operator of the funding service to grant role and affiliation; the authorization server has nothing to do with it"}}
	case a.Status == http.StatusNotFound:
		return &Trouble{"status 404: there is nothing at this URL",
			[]string{"the path differs: with or without a slash at the end, another version, another prefix"},
			[]string{"compare it with the registry entry and with what the specification says"}}
	case a.Status == http.StatusTooManyRequests:
		return &Trouble{"status 429: too many requests", []string{"a limit of the node"}, []string{"wait as long as Retry-After says, then send again"}}
	case a.Status >= 500:
		return &Trouble{fmt.Sprintf("status %d: the node failed", a.Status), []string{"a fault of the node"}, []string{"try again later, and tell its operator"}}
	case a.Status/100 == 3:
		return &Trouble{fmt.Sprintf("status %d: the node leads elsewhere", a.Status),
			[]string{"a login page stands before the API", "the URL has moved"},
			[]string{"look at Location; a token is never sent there on the node's word", "compare the URL with the registry entry"}}
	case a.Status/100 != 2:
		return &Trouble{fmt.Sprintf("status %d: the node refuses the request", a.Status), []string{"see its body"}, []string{"see its body"}}
	}
	return formatTrouble(a)
}

// skew is how far the node's clock is ahead of this one, by the Date of its answer.
func (w *Walk) skew(a recorder.Answer) (ahead time.Duration, known bool) {
	at, form := evidence.HTTPDate(a.Header.Get("Date"))
	if form == evidence.NoDate || at.IsZero() {
		return 0, false
	}
	return at.Sub(w.Now()), true
}
