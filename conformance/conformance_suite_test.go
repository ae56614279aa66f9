//go:build unix

package conformance_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/suite/worker"
)

// asWorker as the first argument makes the test binary play the child that Certify starts, in the way that the second names.
const asWorker = "play-the-worker"

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == asWorker {
		os.Exit(play(os.Args[2]))
	}
	os.Exit(m.Run())
}

func TestConformance(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "conformance")
}

// play behaves as the child that part names, and returns its exit status.
func play(part string) int {
	if part == "serve" {
		events := os.Stdout
		os.Stdout = os.Stderr
		if err := worker.Serve(context.Background(), os.Stdin, events); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
	line, err := bufio.NewReader(os.Stdin).ReadBytes('\n')
	var job worker.Options
	if err != nil || json.Unmarshal(line, &job) != nil {
		return 1
	}
	fmt.Fprintln(os.Stderr, "fatal: the child knows", job.Target.Credentials.ClientSecret.Reveal())
	if part == "dies-within" {
		if os.WriteFile(job.Evidence, cutOff(), 0o600) != nil {
			return 1
		}
		fmt.Println(`{"kind":"judged","id":"TLS-01","judgement":{"outcome":"warn","reason":"as the child judged it"}}`)
	}
	return 9
}

// cutOff is an evidence file that ends within its third record.
func cutOff() []byte {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var file bytes.Buffer
	j := evidence.NewJournal(evidence.NewWriter(&file, func() time.Time { return at }))
	j.Begin(evidence.Run{Suite: "test", Started: at, Profile: "auth"})
	j.Plan("token.ok")
	whole := file.Len()
	j.Add(evidence.Exchange{Label: "token.ok", Started: at, Failure: &evidence.Failure{Kind: evidence.FailureReset}})
	return file.Bytes()[:(whole+file.Len())/2]
}
