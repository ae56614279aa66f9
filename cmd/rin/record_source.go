package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/evidence/redact"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/openapi/validate"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/sandbox/recording"
)

// recordSource reads a real node with a developer's client, one request after the other, under the rules of a certification: rate, retries, bounds, and
// the origins that may receive the token.
type recordSource struct {
	w        environment
	target   target.Target
	entry    probe.RegistryEntry // empty without a registry
	sender   *recorder.Recorder
	budget   int // requests
	token    probe.Token
	tokens   []string        // all tokens of the run
	document []byte          // the node's document, as served
	node     probe.Node      // set by useDocument
	bases    []operationBase // those that answered with 200
	// partial keeps the answers of interrupted runs; nil if there are none.
	partial *recording.Partial
}

// operationBase is the base URL at which an operation answered. All operations that the document gives the same servers share it.
type operationBase struct {
	operation openapi.Operation
	base      probe.Base
}

// openSource finds the node, gets a token and downloads the node's document. Call useDocument before fetch.
func openSource(ctx context.Context, w environment, t target.Target, limits sourceLimits) (*recordSource, error) {
	s := &recordSource{w: w, target: t, budget: limits.requests}
	if err := s.locate(ctx); err != nil {
		return nil, err
	}
	var err error
	if s.sender, err = s.newSender(limits.requests, limits.bytes); err != nil {
		return nil, err
	}
	if err := s.renewToken(ctx); err != nil {
		return nil, err
	}
	return s, s.readDocument(ctx)
}

// sourceLimits bounds what is read.
type sourceLimits struct {
	requests int
	bytes    int64 // of all bodies
}

// newSender returns a client for the node that keeps the limits, the rate of the target, and the origins that may receive the token. It keeps no evidence.
func (s *recordSource) newSender(requests int, bytes int64) (*recorder.Recorder, error) {
	salt := make([]byte, 16)
	if _, err := io.ReadFull(s.w.random, salt); err != nil {
		return nil, internal(err)
	}
	redactor := redact.New(salt)
	t := s.target
	for _, secret := range probe.Secrets(t) {
		redactor.Secret(secret.Name, secret.Value.Reveal())
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool()
	}
	roots.AppendCertsFromPEM(t.CACert)
	sender, err := recorder.New(recorder.Options{
		Journal: evidence.NewJournal(nil), Redactor: redactor, Clock: s.w.now, Timeout: t.Politeness.Timeout, TotalLimit: bytes, RootCAs: roots,
		Rate: t.Politeness.Rate, Concurrency: 1, Budget: requests, AllowedOrigins: t.Origins(), Loopback: t.Loopback(), UserAgent: "rin-record/" + version(),
		Slowed: func(slow evidence.Slowdown) { fmt.Fprintln(s.w.err, slow.String()) },
	})
	if err != nil {
		return nil, internal(err)
	}
	return sender, nil
}

// registryRequests is the number of requests that reading the registry may take, retries included.
const registryRequests = 4

// locate reads the registry entry, if a registry was named, and fills in the URLs of the node.
func (s *recordSource) locate(ctx context.Context) error {
	document := s.target.RegistryDocument
	if s.target.Registry != "" {
		sender, err := s.newSender(registryRequests, 0)
		if err != nil {
			return err
		}
		defer sender.Close()
		answer := sender.Send(ctx, probe.Resource{URL: s.target.Registry}.Get())
		if !answer.OK() {
			return unreachableError("read the registry", answer)
		}
		document = answer.Body
	}
	if len(document) > 0 {
		var err error
		if s.entry, err = probe.FindEntry(document, s.target.NodeID); err != nil {
			return usage(fmt.Errorf("--registry: %w", err), "name the registry document of the network, and the id of an entry")
		}
	}
	s.target = probe.Complete(s.target, s.entry).Defaults()
	if err := s.target.Validate(); err != nil {
		return usage(err, "see rin sandbox record --help")
	}
	if s.target.SpecURL == "" {
		return usage(errors.New("--spec-url is missing: it does not follow from the info URL"), "give the URL of the node's OpenAPI document")
	}
	return nil
}

// unreachableError returns the error for a failed request whose answer the recording needs. what names the request in the message.
func unreachableError(what string, a recorder.Answer) error {
	if f := a.Failure(); f != nil {
		return &exitError{code: exitInconclusive, err: fmt.Errorf("%s: no answer: %s", what, report.Plain(f.Message)), hint: "is the node up, and the URL right?"}
	}
	return &exitError{code: exitInconclusive, err: fmt.Errorf("%s: expected status 200 with a complete body, got %d", what, a.Status), hint: "compare URLs and credentials with rin tour"}
}

// renewToken fetches an access token.
func (s *recordSource) renewToken(ctx context.Context) error {
	answer := s.sender.Send(ctx, probe.TokenRequest(s.target, probe.ClientSecret, probe.Credentialed(s.target.Credentials)...))
	token, ok := probe.ReadToken(answer, s.w.now())
	if ok {
		s.token, s.tokens = token, append(s.tokens, token.Value)
		return nil
	}
	if answer.Failure() != nil {
		return unreachableError("ask for a token", answer)
	}
	object, _ := evidence.ParseObject(answer.Body)
	return refusal(&http.Response{StatusCode: answer.Status}, object.Text("error"), object.Text("error_description"))
}

// sendAuthorized renews a token in the second half of its lifetime, and sends a request with the token. After 401 it sends the request once more, with a new
// token.
func (s *recordSource) sendAuthorized(ctx context.Context, r probe.Resource) (recorder.Answer, error) {
	isHalfSpent := s.token.Life > 0 && s.w.now().Sub(s.token.Obtained) > s.token.Life/2
	if isHalfSpent {
		if err := s.renewToken(ctx); err != nil {
			return recorder.Answer{}, err
		}
	}
	send := func() recorder.Answer { return s.sender.Send(ctx, dropDefaultAccept(r.Authorized(s.token.Value))) }
	answer := send()
	if answer.Status == http.StatusUnauthorized {
		if err := s.renewToken(ctx); err != nil {
			return answer, err
		}
		answer = send()
	}
	return answer, nil
}

// dropDefaultAccept removes the default Accept field of a request that has another one.
func dropDefaultAccept(q recorder.Request) recorder.Request {
	isAccept := func(f evidence.Field) bool { return f.Name == "Accept" }
	if i := slices.IndexFunc(q.Header, isAccept); i >= 0 && slices.ContainsFunc(q.Header[i+1:], isAccept) {
		q.Header = slices.Delete(q.Header, i, i+1)
	}
	return q
}

// readDocument reads the OpenAPI document of the node, without a token if the node allows that.
func (s *recordSource) readDocument(ctx context.Context) error {
	resource := probe.Resource{URL: s.target.SpecURL}
	answer := s.sender.Send(ctx, resource.Get())
	if probe.Refused(answer.Status) {
		var err error
		if answer, err = s.sendAuthorized(ctx, resource); err != nil {
			return err
		}
	}
	if !answer.OK() {
		return unreachableError("read the document "+s.target.SpecURL, answer)
	}
	s.document = answer.Body
	return nil
}

// useDocument sets the document whose operations fetch can call.
func (s *recordSource) useDocument(document []byte) error {
	parsed, err := parseDocument(document)
	if err != nil {
		return &exitError{code: exitInconclusive, err: fmt.Errorf("the document %s: %s", s.target.SpecURL, report.Plain(err.Error())), hint: "is this the URL of an OpenAPI document?"}
	}
	s.node = probe.NewNode(s.target, parsed)
	return nil
}

// parseDocument parses an OpenAPI document, and refuses one that exceeds the limits.
func parseDocument(document []byte) (*openapi.Document, error) {
	read := validate.Read(document, openapi.DefaultLimits())
	if read.Refused != "" {
		return nil, errors.New(read.Refused)
	}
	return openapi.Parse(read.Reduced)
}

// fetch implements [recording.Fetch]: it follows a link, or calls an operation of the document. It tries the base URLs of an operation in turn, and remembers
// the first that answers with 200.
func (s *recordSource) fetch(ctx context.Context, r recording.Request) (recording.Answer, error) {
	var header []evidence.Field
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		header = append(header, evidence.Field{Name: name, Value: r.Header[name]})
	}
	if r.URL != "" {
		if !slices.Contains(s.target.Origins(), evidence.OriginOf(r.URL)) {
			return recording.Answer{}, fmt.Errorf("%w: %s", recording.ErrOrigin, report.Plain(evidence.OriginOf(r.URL)))
		}
		return s.get(ctx, r.URL, header)
	}
	i := slices.IndexFunc(s.node.Executable, func(o openapi.Operation) bool { return o.Path == r.Template })
	if i < 0 {
		return recording.Answer{}, fmt.Errorf("the document does not describe GET %s in a way that can be called", report.Plain(r.Template))
	}
	operation := s.node.Executable[i]
	known, isKnown := s.knownBase(operation)
	bases := s.node.Bases(operation)
	if isKnown {
		bases = []probe.Base{known}
	}
	if len(bases) == 0 {
		return recording.Answer{}, fmt.Errorf("its servers are on other origins: %w", recording.ErrOrigin)
	}
	var answer recording.Answer
	for _, base := range bases {
		to := requestURL(base, r)
		if to == s.target.SpecURL || to == s.target.InfoURL {
			return answer, recording.ErrServed // a sandbox that replays the recording makes these two itself
		}
		var err error
		if answer, err = s.get(ctx, to, header); err != nil {
			return answer, err
		}
		if answer.Status != http.StatusOK {
			continue
		}
		if !isKnown {
			s.bases = append(s.bases, operationBase{operation, base})
		}
		break
	}
	return answer, nil
}

// knownBase returns the base URL at which the operation, or another one with the same servers, answered before.
func (s *recordSource) knownBase(operation openapi.Operation) (base probe.Base, ok bool) {
	for _, b := range s.bases {
		if s.node.SameServers(b.operation, operation) {
			return b.base, true
		}
	}
	return probe.Base{}, false
}

// requestURL returns the URL of a request below a base.
func requestURL(base probe.Base, r recording.Request) string {
	to := base.URL(r.Path)
	if r.Query != "" {
		to += "?" + r.Query
	}
	return to
}

// identity returns a digest of the node, the client and the document. Only a run with the same one may continue an interrupted run.
func (s *recordSource) identity() string {
	digest := sha256.New()
	for _, part := range []string{s.target.TokenURL, s.target.InfoURL, s.target.SpecURL, s.target.Credentials.ClientID, string(s.document)} {
		fmt.Fprintf(digest, "%d %s\n", len(part), part)
	}
	return hex.EncodeToString(digest.Sum(nil))
}

// get returns the answer to a GET request. It takes the answer from an interrupted run if that run kept one; otherwise it asks the node, and keeps the answer.
func (s *recordSource) get(ctx context.Context, to string, header []evidence.Field) (recording.Answer, error) {
	request := to
	for _, f := range header {
		request += "\n" + f.Name + ": " + f.Value
	}
	if answer, ok := s.partial.Answer(request); ok {
		return answer, ctx.Err()
	}
	answer, err := s.send(ctx, to, header)
	if err == nil {
		if err := s.partial.Keep(request, answer, append(slices.Clone(s.tokens), s.target.Credentials.ClientSecret.Reveal())); err != nil {
			return answer, internal(fmt.Errorf("keep an answer: %w", err))
		}
	}
	return answer, err
}

// send sends a GET request to the node. It returns [recording.ErrBudget] if the budget of requests or bytes is used up.
func (s *recordSource) send(ctx context.Context, to string, header []evidence.Field) (recording.Answer, error) {
	answer, err := s.sendAuthorized(ctx, probe.Resource{URL: to, Header: header})
	if err != nil {
		return recording.Answer{}, err
	}
	response := answer.Exchange.Response
	requestsSpent := response == nil && s.sender.Sent() >= s.budget
	bytesSpent := response != nil && response.Truncated
	switch {
	case ctx.Err() != nil:
		return recording.Answer{}, ctx.Err()
	case requestsSpent, bytesSpent:
		return recording.Answer{}, recording.ErrBudget
	case response == nil:
		return recording.Answer{}, unreachableError("GET "+to, answer)
	case response.BodyError != "":
		return recording.Answer{}, &exitError{code: exitInconclusive, err: fmt.Errorf("GET %s: the body is not complete: %s", to, report.Plain(response.BodyError)), hint: "try again"}
	}
	return recording.Answer{Status: answer.Status, Header: answer.Header, Body: answer.Body, URL: to}, nil
}

// recordedNode describes the node for the recording, with the base URLs that answered.
func (s *recordSource) recordedNode() recording.Node {
	entry, _ := evidence.ParseObject(s.entry.Raw)
	n := recording.Node{
		ID: cmp.Or(s.entry.ID, s.target.NodeID), Name: strings.TrimSpace(entry.Text("name")), Acronym: strings.TrimSpace(entry.Text("acronym")),
		TokenURL: s.target.TokenURL, InfoURL: s.target.InfoURL, SpecURL: s.target.SpecURL,
	}
	for _, found := range s.bases {
		if !slices.Contains(n.Bases, found.base.Prefix) {
			n.Bases = append(n.Bases, found.base.Prefix)
		}
	}
	return n
}
