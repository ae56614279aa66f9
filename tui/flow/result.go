package flow

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/requirement"
)

// Result is the outcome of one action of a step.
type Result struct {
	Step Step
	// Exchanges are in the order in which they were sent, with markers in place of secrets.
	Exchanges []evidence.Exchange
	// Notes explain the answers in sentences.
	Notes []string
	// Verdicts judge the answers by the catalogue.
	Verdicts []Verdict
	// Trouble is nil if the action succeeded.
	Trouble *Trouble
}

// Verdict is the judgement of one requirement.
type Verdict struct {
	ID      requirement.ID
	Title   string
	Outcome requirement.Outcome
	// Reason, Expected and Got explain every outcome but pass.
	Reason, Expected, Got string
	// Source and Quote cite the rule.
	Source, Quote string
	// Fix tells the developers of the node what to change; empty for a pass.
	Fix string
}

// Trouble explains why an action failed.
type Trouble struct {
	// What is a sentence about what happened.
	What string
	// Causes lists usual causes, the most likely first; Try lists remedies, in the same order where they belong together.
	Causes, Try []string
}

// OK reports whether the action succeeded.
func (r Result) OK() bool { return r.Trouble == nil }

// EditStep returns the step where a person can fix the usual cause of the trouble: the credentials if the client was refused, else the node.
// ok is false without trouble, and if neither step helps.
func (r Result) EditStep() (to Step, ok bool) {
	if r.OK() || r.Step == TakeAway || r.Step == Certify {
		return 0, false
	}
	if len(r.Exchanges) == 0 {
		return Node, true
	}
	last := r.Exchanges[len(r.Exchanges)-1]
	if last.Response == nil {
		return Node, true
	}
	switch last.Response.Status {
	case http.StatusForbidden:
		return Credentials, true
	case http.StatusUnauthorized, http.StatusBadRequest:
		if r := last.Label.Resource(); r == evidence.TokenEndpoint || r == evidence.SecondClient {
			return Credentials, true
		}
	}
	return Node, true
}

// exchange sends a request and adds it to the result. explain returns the trouble in the answer, or nil; ok is false if there is trouble.
func (w *Walk) exchange(ctx context.Context, result *Result, request recorder.Request, explain func(recorder.Answer) *Trouble) (answer recorder.Answer, ok bool) {
	answer, err := w.send(ctx, request)
	if err != nil {
		result.Trouble = localTrouble(err)
		return answer, false
	}
	result.Exchanges = append(result.Exchanges, answer.Exchange)
	result.Trouble = explain(answer)
	return answer, result.OK()
}

// maxClockSkew is the largest clock difference that is ignored. It is short, because tokens are valid for minutes only.
const maxClockSkew = 90 * time.Second

// localTrouble explains an error of this machine.
func localTrouble(err error) *Trouble {
	return &Trouble{err.Error(), []string{"a problem on this machine"}, []string{"try again"}}
}

// connectionTrouble explains a request without an answer; it returns nil if there is an answer.
func connectionTrouble(a recorder.Answer) *Trouble {
	f := a.Failure()
	if f == nil {
		return nil
	}
	withMessage := func(text string) string { return text + ": " + f.Message }
	switch f.Kind {
	case evidence.FailureResolve:
		return &Trouble{withMessage("the host name has no address"),
			[]string{"a typing error in the URL", "no connection to the network that knows the name (VPN)"},
			[]string{"compare the URL with the registry entry", "connect to that network, then try again"}}
	case evidence.FailureConnect:
		return &Trouble{withMessage("no server answers at this address"),
			[]string{"the node is down", "the port is wrong", "a firewall blocks the connection"},
			[]string{"ask the node's operator, or try later", "compare the URL with the registry entry", "try from the network that its clients use"}}
	case evidence.FailureTLS:
		return &Trouble{withMessage("the TLS connection failed"),
			[]string{"this machine does not know the authority that issued the certificate", "the certificate has expired or names another host", "the server does not support TLS 1.2 or later, or speaks no TLS at all"},
			[]string{"start with --cacert FILE, with the certificate of the authority in PEM", "ask the node's operator to renew the certificate", "check whether the URL should begin with https or http"}}
	case evidence.FailureTimeout:
		return &Trouble{withMessage("no complete answer came in time"),
			[]string{"the node is busy or hangs", "a proxy drops the answer"},
			[]string{"try again", "try from another network"}}
	case evidence.FailureReset, evidence.FailureProtocol:
		return &Trouble{withMessage("the connection ended without a valid HTTP answer"),
			[]string{"the URL says https and the server speaks http, or the other way round", "a proxy cuts the connection"},
			[]string{"check scheme and port of the URL", "try from another network"}}
	case evidence.FailureRefused:
		return &Trouble{withMessage("rin did not send this request"),
			[]string{"the URL has an origin that neither you nor the registry entry named; rin sends no secret there"},
			[]string{"start with --allow-origin if you trust this origin"}}
	}
	return &Trouble{withMessage("the request was not completed"), []string{"the request was cancelled"}, []string{"try again"}}
}

// formatTrouble explains an answer that is not JSON; it returns nil for JSON.
func formatTrouble(a recorder.Answer) *Trouble {
	body := bytes.TrimSpace(a.Body)
	if len(body) > 0 && (body[0] == '{' || body[0] == '[') {
		return nil
	}
	kind := "text"
	switch {
	case len(body) == 0:
		kind = "an empty body"
	case body[0] == '<':
		kind = "HTML"
	}
	return &Trouble{
		fmt.Sprintf("status %d came with %s where JSON was expected", a.Status, kind),
		[]string{"the URL leads to a web page (a login, a start page), not to the API", "a gateway or proxy answered in place of the node"},
		[]string{"compare the URL with the registry entry, character by character", "look at the body: it often names the software that wrote it"},
	}
}

// tokenTrouble explains an answer without a token; it returns nil if a token was issued.
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
			[]string{"the secret is wrong or was replaced", "the client is registered at another node, or in the staging environment only", "client ID and secret are swapped, or one of them begins or ends with white space"},
			[]string{"edit the credentials and send again", "ask the node's operator for a client of this environment", "go back to the credentials: that step checks for these mistakes"}}
	case a.Status == http.StatusNotFound, a.Status == http.StatusMethodNotAllowed:
		return &Trouble{fmt.Sprintf("status %d: this URL is not a token endpoint", a.Status),
			[]string{"the path is wrong; Keycloak uses /realms/<realm>/protocol/openid-connect/token, with /auth before it in older versions"},
			[]string{"compare the URL with the registry entry"}}
	case a.Status >= 500:
		return &Trouble{fmt.Sprintf("status %d: the authorization server failed", a.Status), []string{"a fault of the node"}, []string{"try again later, and tell its operator"}}
	case a.Status == http.StatusTooManyRequests:
		return throttleTrouble()
	}
	if t := formatTrouble(a); t != nil {
		return t
	}
	if a.Status/100 == 2 {
		return &Trouble{"the answer has no access token", []string{"the member has another name: clients read access_token (NET-R11)"}, []string{"tell the node's operator"}}
	}
	return &Trouble{fmt.Sprintf("status %d: the server issued no token", a.Status),
		[]string{"the server requires a parameter that the network does not define"}, []string{"read error and error_description in the body"}}
}

func throttleTrouble() *Trouble {
	return &Trouble{"status 429: too many requests", []string{"the node limits its rate of requests"}, []string{"wait as long as Retry-After says, then send again"}}
}

// callTrouble explains why a call with a good token failed; it returns nil if it succeeded.
func (w *Walk) callTrouble(a recorder.Answer) *Trouble {
	if t := connectionTrouble(a); t != nil {
		return t
	}
	switch {
	case a.Status == http.StatusUnauthorized:
		t := &Trouble{"status 401: the API does not accept the token",
			[]string{"the token has expired", "API and authorization server do not belong together: the registry entry mixes two environments", "the API expects another audience or issuer"},
			[]string{"fetch a new token (step 3)", "compare both URLs of the entry", "look at iss and aud of the token (step 4), and tell the node's operator"}}
		if skew, known := w.clockSkew(a); known && skew.Abs() > maxClockSkew {
			t.Causes = append([]string{fmt.Sprintf("the clocks differ by %s: for one side the token has expired, or is not valid yet", evidence.Duration(skew.Abs()))}, t.Causes...)
			t.Try = append([]string{"set the wrong clock (NTP)"}, t.Try...)
		}
		return t
	case a.Status == http.StatusForbidden:
		return &Trouble{"status 403: the token is good, but the account has no permission",
			[]string{"the account lacks the role EXTERNAL_API_CLIENT, or its affiliation ID is missing or wrong (NET-R17)"},
			[]string{"ask the operator of the funding service for role and affiliation; the authorization server cannot grant them"}}
	case a.Status == http.StatusNotFound:
		return &Trouble{"status 404: the node has nothing at this URL",
			[]string{"the path differs: a slash at the end, another version, another prefix"},
			[]string{"compare the URL with the registry entry and with the specification"}}
	case a.Status == http.StatusTooManyRequests:
		return throttleTrouble()
	case a.Status >= 500:
		return &Trouble{fmt.Sprintf("status %d: the node failed", a.Status), []string{"a fault of the node"}, []string{"try again later, and tell its operator"}}
	case a.Status/100 == 3:
		return &Trouble{fmt.Sprintf("status %d: the node redirects to another place", a.Status),
			[]string{"the API is behind a login page", "the URL has moved"},
			[]string{"look at Location; rin never sends a token there", "compare the URL with the registry entry"}}
	case a.Status/100 != 2:
		return &Trouble{fmt.Sprintf("status %d: the node refuses the request", a.Status), []string{"the body may say why"}, []string{"read the body"}}
	}
	return formatTrouble(a)
}

// clockSkew returns how far the node's clock is ahead of this machine's, by the Date header of its answer.
func (w *Walk) clockSkew(a recorder.Answer) (ahead time.Duration, known bool) {
	at, form := evidence.HTTPDate(a.Header.Get("Date"))
	if form == evidence.NoDate || at.IsZero() {
		return 0, false
	}
	return at.Sub(w.Now()), true
}
