package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/rin-network/rin/conformance"
	"github.com/rin-network/rin/conformance/certificate"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/target"
)

// liveFlags holds the flags of a verification that tests the node again.
type liveFlags struct {
	scope         string // of --live
	first, second credentialFlags
	caFile        string
}

// The values of --live.
const (
	liveSample = "sample"
	liveAll    = "all"
)

func (l *liveFlags) register(f *pflag.FlagSet) {
	f.StringVar(&l.scope, "live", "", "test the node again, and compare: sample (requirements drawn at random) or all")
	f.Lookup("live").NoOptDefVal = liveSample
	f.StringVar(&l.first.id, "client-id", "", "client for --live (default: the one of the run)")
	f.StringVar(&l.first.secret, "client-secret", "", "where its secret is: env:NAME, file:PATH or - (standard input)")
	f.StringVar(&l.second.id, "client-id2", "", "client without the role, for --live")
	f.StringVar(&l.second.secret, "client-secret2", "", "where its secret is")
	f.StringVar(&l.caFile, "cacert", "", "certificate authorities to trust besides the system's, for --live")
}

// check tests the node again and compares the results with those of a run. An error of the new run leaves the step undecided.
func (l liveFlags) check(ctx context.Context, w environment, in certificate.Input, run certificate.Run) (certificate.Check, error) {
	var zero certificate.Check
	if l.scope != liveSample && l.scope != liveAll {
		return zero, usage(fmt.Errorf("--live: expected sample or all, got %.40q", l.scope), "write --live or --live=all")
	}
	if l.first.secret == "" {
		return zero, usage(fmt.Errorf("--live needs --client-secret"), "say where the secret of the client is: env:NAME, file:PATH or - (standard input)")
	}
	nonce := make([]byte, 16) // chooses the sample, so that nobody can predict it
	if _, err := io.ReadFull(w.random, nonce); err != nil {
		return zero, internal(err)
	}
	live, err := certificate.NewLive(run, in.Envelope.Content, nonce, l.scope == liveAll)
	if err != nil {
		return zero, usage(err, "verify with the version of rin that recorded the run")
	}
	t, err := l.target(w, live.Target)
	if err != nil {
		return zero, err
	}
	process, err := workerCommandLine(w)
	if err != nil {
		return zero, err
	}
	work, err := os.MkdirTemp("", "rin-live-")
	if err != nil {
		return zero, usage(err, "make room in the folder for temporary files")
	}
	defer os.RemoveAll(work)
	fmt.Fprintf(w.err, "testing the %s again: %s\n", t, live.Words)
	result, err := conformance.Certify(ctx, t, conformance.Options{
		Inputs: conformance.Inputs{Suite: version()}, Evidence: filepath.Join(work, evidenceFile), Worker: process,
	})
	if err != nil {
		return certificate.Check{Step: certificate.StepLive, State: certificate.Undecided, Compared: live.Words, Place: "the node", Why: report.Plain(err.Error())}, nil
	}
	return live.Compare(result.Report), nil
}

// target returns the recorded target with the clients and certificate authorities of the flags.
func (l liveFlags) target(w environment, t target.Target) (_ target.Target, err error) {
	if l.first.id == "" {
		l.first.id = t.Credentials.ClientID
	}
	stdin := &stdinOnce{from: w.in}
	if t.Credentials, err = l.first.read(w, "--client-id", "--client-secret", stdin); err != nil {
		return t, err
	}
	if t.Second, err = l.second.readOptional(w, "--client-id2", "--client-secret2", stdin); err != nil {
		return t, err
	}
	if l.caFile != "" {
		if t.CACert, err = w.readFile(l.caFile); err != nil {
			return t, usage(fmt.Errorf("--cacert: %w", err), "give a readable PEM file")
		}
	}
	return t, nil
}
