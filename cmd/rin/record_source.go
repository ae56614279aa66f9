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
	entry    probe.RegistryEntry
	sender   *recorder.Recorder
	budget   int
	token    probe.Token
	tokens   []string // all tokens of the run
	document []byte
	node     probe.Node
	bases    []operationBase
	// partial keeps the answers of interrupted runs; nil if there are none.
	partial *recording.Partial
}

// operationBase is the base URL at which an operation answered. It is also that of all operations with the same servers.
type operationBase struct {
	operation openapi.Operation
	base      probe.Base
}

// openSource finds the node, and reads its document.
func openSource(ctx context.Context, w environment, t target.Target, limits sourceLimits) (*recordSource, error) {
	s := &recordSource{w: w, target: t, budget: limits.requests}
	if err := s.locate(ctx); err != nil {
		return nil, err
	}
	var err error
	if s.sender, err = s.newSender(s.target, limits.requests, limits.bytes); err != nil {
		return nil, err
	}
	if err := s.renew(ctx); err != nil {
		return nil, err
	}
	return s, s.readDocument(ctx)
}

// sourceLimits bound what is read.
type sourceLimits struct {
	requests int
	bytes    int64
}

func (s *recordSource) newSender(t target.Target, requests int, bytes int64) (*recorder.Recorder, error) {
	salt := make([]byte, 16)
	if _, err := io.ReadFull(s.w.random, salt); err != nil {
		return nil, internal(err)
	}
	redactor := redact.New(salt)
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

// registryRequests is the number of requests for the registry.
const registryRequests = 4

// locate fills in the URLs of the node.
func (s *recordSource) locate(ctx context.Context) error {
	document := s.target.RegistryDocument
	if s.target.Registry != "" {
		sender, err := s.newSender(s.target, registryRequests, 0)
		if err != nil {
			return err
		}
		defer sender.Close()
		answer := sender.Send(ctx, probe.Resource{URL: s.target.Registry}.Get())
		if !answer.OK() {
			return unreachable("read the registry", answer)
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

// unreachable describes an answer without which nothing can be recorded.
func unreachable(what string, a recorder.Answer) error {
	if f := a.Failure(); f != nil {
		return &exitError{code: exitInconclusive, err: fmt.Errorf("%s: no answer: %s", what, report.Plain(f.Message)), hint: "is the node up, and the URL right?"}
	}
	return &exitError{code: exitInconclusive, err: fmt.Errorf("%s: expected status 200 with a complete body, got %d", what, a.Status), hint: "compare URLs and credentials with rin tour"}
}

// renew fetches an access token.
func (s *recordSource) renew(ctx context.Context) error {
	answer := s.sender.Send(ctx, probe.TokenRequest(s.target, probe.ClientSecret, probe.Credentialed(s.target.Credentials)...))
	token, ok := probe.ReadToken(answer, s.w.now())
	if ok {
		s.token, s.tokens = token, append(s.tokens, token.Value)
		return nil
	}
	if answer.Failure() != nil {
		return unreachable("ask for a token", answer)
	}
	object, _ := evidence.ParseObject(answer.Body)
	return refusal(&http.Response{StatusCode: answer.Status}, object.Text("error"), object.Text("error_description"))
}

// authorized sends a request with the token, and once more with a new token after 401.
func (s *recordSource) authorized(ctx context.Context, r probe.Resource) (recorder.Answer, error) {
	if s.token.Stale(s.w.now()) && s.token.Life > 0 && s.w.now().Sub(s.token.Obtained) > s.token.Life/2 {
		if err := s.renew(ctx); err != nil {
			return recorder.Answer{}, err
		}
	}
	answer := s.sender.Send(ctx, dropDefaultAccept(r.Authorized(s.token.Value)))
	if answer.Status == http.StatusUnauthorized {
		if err := s.renew(ctx); err != nil {
			return answer, err
		}
		answer = s.sender.Send(ctx, dropDefaultAccept(r.Authorized(s.token.Value)))
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
		if answer, err = s.authorized(ctx, resource); err != nil {
			return err
		}
	}
	if !answer.OK() {
		return unreachable("read the document "+s.target.SpecURL, answer)
	}
	s.document = answer.Body
	return nil
}

// useDocument reads the operations of a document and their base URLs.
func (s *recordSource) useDocument(document []byte) error {
	guarded := validate.Read(document, openapi.DefaultLimits())
	err := errors.New(guarded.Refused)
	var parsed *openapi.Document
	if guarded.Refused == "" {
		parsed, err = openapi.Parse(guarded.Reduced)
	}
	if err != nil {
		return &exitError{code: exitInconclusive, err: fmt.Errorf("the document %s: %s", s.target.SpecURL, report.Plain(err.Error())), hint: "is this the URL of an OpenAPI document?"}
	}
	s.node = probe.NewNode(s.target, parsed)
	return nil
}

// fetch implements [recording.Fetch]. It remembers the base URL at which an operation answered.
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
	for _, found := range s.bases {
		if s.node.Together(found.operation, operation) {
			to := requestURL(found.base, r)
			if to == s.target.SpecURL || to == s.target.InfoURL {
				return recording.Answer{}, recording.ErrServed
			}
			return s.get(ctx, to, header)
		}
	}
	bases := s.node.Bases(operation)
	if len(bases) == 0 {
		return recording.Answer{}, fmt.Errorf("its servers are on other origins: %w", recording.ErrOrigin)
	}
	var answer recording.Answer
	for _, base := range bases {
		if to := requestURL(base, r); to == s.target.SpecURL || to == s.target.InfoURL {
			return answer, recording.ErrServed
		}
		var err error
		if answer, err = s.get(ctx, requestURL(base, r), header); err != nil {
			return answer, err
		}
		if answer.Status == http.StatusOK {
			s.bases = append(s.bases, operationBase{operation, base})
			break
		}
	}
	return answer, nil
}

// requestURL returns the URL of a request below a base.
func requestURL(base probe.Base, r recording.Request) string {
	to := base.URL(r.Path)
	if r.Query != "" {
		to += "?" + r.Query
	}
	return to
}

// identity identifies the node, the client and the document.
func (s *recordSource) identity() string {
	digest := sha256.New()
	for _, part := range []string{s.target.TokenURL, s.target.InfoURL, s.target.SpecURL, s.target.Credentials.ClientID, string(s.document)} {
		fmt.Fprintf(digest, "%d %s\n", len(part), part)
	}
	return hex.EncodeToString(digest.Sum(nil))
}

// get sends one GET request, unless a run that was interrupted kept the answer.
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

func (s *recordSource) send(ctx context.Context, to string, header []evidence.Field) (recording.Answer, error) {
	answer, err := s.authorized(ctx, probe.Resource{URL: to, Header: header})
	if err != nil {
		return recording.Answer{}, err
	}
	response := answer.Exchange.Response
	switch {
	case ctx.Err() != nil:
		return recording.Answer{}, ctx.Err()
	case response == nil && s.sender.Sent() >= s.budget, response != nil && response.Truncated:
		return recording.Answer{}, recording.ErrBudget
	case response == nil:
		return recording.Answer{}, unreachable("GET "+to, answer)
	case response.BodyError != "":
		return recording.Answer{}, &exitError{code: exitInconclusive, err: fmt.Errorf("GET %s: the body is not complete: %s", to, report.Plain(response.BodyError)), hint: "try again"}
	}
	return recording.Answer{Status: answer.Status, Header: answer.Header, Body: answer.Body, URL: to}, nil
}

// recordedNode returns the node as the recording describes it.
func (s *recordSource) recordedNode() recording.Node {
	entry, _ := evidence.ParseObject(s.entry.Raw)
	n := recording.Node{
		ID: s.entry.ID, Name: strings.TrimSpace(entry.Text("name")), Acronym: strings.TrimSpace(entry.Text("acronym")),
		TokenURL: s.target.TokenURL, InfoURL: s.target.InfoURL, SpecURL: s.target.SpecURL,
	}
	n.ID = cmp.Or(n.ID, s.target.NodeID)
	for _, found := range s.bases {
		if !slices.Contains(n.Bases, found.base.Prefix) {
			n.Bases = append(n.Bases, found.base.Prefix)
		}
	}
	return n
}
