package registry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/target"
)

// Secrets reads secrets from the places that the policy names.
type Secrets struct {
	Environment func(name string) (value string, set bool)
	// Dir is the directory to which file:PATH is relative, and in which exec:COMMAND runs.
	Dir string
	// Environ is the environment of exec:COMMAND.
	Environ []string
}

// Bounds of a command that prints a secret.
const (
	execTimeout = 30 * time.Second
	maxSecret   = 16 << 10 // bytes
)

// Read reads the secret of a node's client. "{id}" in a place is the node's id, if that is a plain name: an id comes from the registry document, and
// must not become a path or an option.
func (s Secrets) Read(ctx context.Context, id, place string) (target.Secret, error) {
	if strings.Contains(place, "{id}") {
		if !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_]*(-[A-Za-z0-9_]+)*$`).MatchString(id) {
			return target.Secret{}, fmt.Errorf("the id of the node is not a plain name, so that {id} cannot be used (hint: name the place of its secret under nodes)")
		}
		place = strings.ReplaceAll(place, "{id}", id)
	}
	if command, ok := strings.CutPrefix(place, "exec:"); ok {
		return s.run(ctx, command)
	}
	source, err := target.ParseSource("client-secret", place)
	if err != nil {
		return target.Secret{}, err
	}
	return source.Read(target.Reader{Environment: s.Environment, File: func(path string) ([]byte, error) {
		if !filepath.IsAbs(path) {
			path = filepath.Join(s.Dir, path)
		}
		return os.ReadFile(path)
	}})
}

// run runs a command, without a shell, whose output is the secret. The policy has checked that the command is not empty. Errors quote neither output nor
// arguments, because both may be secret.
func (s Secrets) run(ctx context.Context, command string) (target.Secret, error) {
	words := strings.Fields(command)
	ctx, cancel := context.WithTimeout(ctx, execTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = s.Dir, s.Environ, time.Second
	out, err := cmd.Output()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return target.Secret{}, fmt.Errorf("read a secret: the command %s did not end within %s", words[0], evidence.Duration(execTimeout))
	case errors.As(err, &exit):
		return target.Secret{}, fmt.Errorf("read a secret: the command %s ended with the exit code %d", words[0], exit.ExitCode())
	case err != nil:
		return target.Secret{}, fmt.Errorf("read a secret: the command %s could not be run", words[0])
	}
	out = bytes.TrimRight(out, "\r\n")
	if len(out) == 0 || len(out) > maxSecret {
		return target.Secret{}, fmt.Errorf("read a secret: expected the secret alone from the command %s, got %d bytes", words[0], len(out))
	}
	return target.NewSecret(string(out)), nil
}

// client reads a client with its secret; nil if the policy names no client. The error is a *noSecretError if the secret cannot be read.
func (s Secrets) client(ctx context.Context, id string, c Client) (*target.Credentials, error) {
	if c == (Client{}) {
		return nil, nil
	}
	if c.ID == "" || c.Secret == "" {
		return nil, errors.New("a client needs an id and the place of its secret in registry.yaml")
	}
	name := strings.ReplaceAll(c.ID, "{id}", id)
	secret, err := s.Read(ctx, id, c.Secret)
	if err != nil {
		return nil, &noSecretError{secretFault(name, strings.ReplaceAll(c.Secret, "{id}", id), err)}
	}
	return &target.Credentials{ClientID: name, ClientSecret: secret}, nil
}

// noSecretError says that a node has no client, or that the client's secret cannot be read.
type noSecretError struct{ text string }

// Error implements error.
func (e *noSecretError) Error() string { return e.text }

// secretFault says why a secret cannot be read, and what the operator of the registry has to do.
func secretFault(client, place string, err error) string {
	text := err.Error()
	var problem *target.Problem
	if errors.As(err, &problem) { // its hint is for the command line
		text = problem.Message
		if problem.Cause != nil {
			text += ": " + problem.Cause.Error()
		}
	}
	kind, name, _ := strings.Cut(place, ":")
	hint := map[string]string{
		"env":  "export " + name + " where rin registry starts, such as the unit of a timer",
		"file": "write the secret there; a path is relative to the directory of registry.yaml",
		"exec": "run the command in the directory of registry.yaml, as the user that runs rin registry",
	}[kind]
	return fmt.Sprintf("the secret of its client %s cannot be read: %s (hint: %s, or name another place in registry.yaml)", client, text, hint)
}

// target returns the target of a node's run: the entry, the settings of the policy and the clients with their secrets.
func (s Secrets) target(ctx context.Context, p NodePolicy, d Document, e Entry) (target.Target, error) {
	blind := p.Blind != nil && *p.Blind
	t := target.Target{
		RegistryDocument: d.Text, NodeID: e.ID, SpecURL: p.SpecURL, BaseURL: p.BaseURL, Profile: p.Profile,
		ListOperation: p.ListOperation, DetailOperation: p.DetailOperation, AllowOrigins: p.Origins, Values: p.Values,
		Politeness: target.Politeness{Rate: p.Rate, Concurrency: p.Concurrency, Timeout: p.Timeout, Deadline: p.Deadline},
		Polite:     p.Polite, Effort: draw.Effort(p.Effort), Wait: p.Wait, Blind: blind, Consent: blind,
	}
	for _, operation := range slices.Sorted(maps.Keys(p.Gaps)) {
		t.Gaps = append(t.Gaps, evidence.Gap{Operation: operation, Reason: p.Gaps[operation]})
	}
	first, err := s.client(ctx, e.ID, p.Client)
	switch {
	case err != nil:
		return t, err
	case first == nil:
		return t, &noSecretError{fmt.Sprintf("registry.yaml names no client for it (hint: write client-id and client-secret below nodes, for %q, or below defaults)", e.ID)}
	}
	t.Credentials = *first
	for _, c := range []struct {
		from Client
		into **target.Credentials
	}{{p.Second, &t.Second}, {p.Other, &t.Other}, {p.Spare, &t.Spare}} {
		if *c.into, err = s.client(ctx, e.ID, c.from); err != nil {
			return t, err
		}
	}
	if p.StagingURL != "" {
		staging, err := s.client(ctx, e.ID, p.Staging)
		switch {
		case err != nil:
			return t, err
		case staging == nil:
			return t, errors.New("registry.yaml has staging-url without staging-id and staging-secret")
		}
		t.Staging = &target.Staging{TokenURL: p.StagingURL, Credentials: *staging}
	}
	return t, t.Defaults().Validate()
}
