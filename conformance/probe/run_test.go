package probe_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/exchange/record"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/target"
)

// begun is when every run of these tests begins.
var begun = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func targetOf(n *node) target.Target {
	return target.Target{
		TokenURL: n.URL + "/oauth/token", InfoURL: n.URL + "/ris/info/v1/oauth/info/",
		SpecURL: n.URL + "/ris/funding/v3/api-docs", BaseURL: n.URL + "/ris",
		Credentials: target.Credentials{ClientID: clientID, ClientSecret: target.NewSecret(clientSecret)},
		Second:      &target.Credentials{ClientID: secondID, ClientSecret: target.NewSecret(secondSecret)},
		Profile:     "funding",
		Politeness:  target.Politeness{Timeout: 5 * time.Second},
	}
}

// guard accepts any JSON object as it is.
func guard(body []byte) exchange.Document {
	var object map[string]any
	if err := json.Unmarshal(body, &object); err != nil {
		return exchange.Document{Refused: "expected a JSON object"}
	}
	return exchange.Document{Reduced: body}
}

// options are good ones for a target, with the evidence written to a buffer.
func options(t target.Target) (probe.Options, *bytes.Buffer) {
	evidence := &bytes.Buffer{}
	journal, redactor := exchange.NewJournal(evidence), exchange.NewRedactor([]byte("salt"))
	clock := func() time.Time { return begun }
	seed := [32]byte{1}
	return probe.Options{
		Target: t, Suite: "test", Journal: journal, Redactor: redactor, Clock: clock,
		Random: rand.NewChaCha8(seed), Guard: guard,
		Recorder: func(t target.Target, budget int) (*record.Recorder, error) {
			return record.New(record.Options{
				Journal: journal, Redactor: redactor, Clock: clock, Budget: budget,
				Sleep:   func(context.Context, time.Duration) error { return nil },
				Timeout: t.Politeness.Timeout, Concurrency: t.Politeness.Concurrency,
				AllowedOrigins: t.Origins(), Loopback: t.Loopback(),
			})
		},
	}, evidence
}

func certify(t target.Target, change ...func(*probe.Options)) *exchange.Log {
	GinkgoHelper()
	o, _ := options(t)
	for _, c := range change {
		c(&o)
	}
	ctx, cancel := context.WithTimeoutCause(context.Background(), time.Minute, errors.New("the test took too long"))
	defer cancel()
	Expect(probe.Run(ctx, o)).To(Succeed())
	return o.Journal.Log()
}

// unended lists the planned labels that were neither asked nor explained.
func unended(log *exchange.Log) []exchange.Label {
	var out []exchange.Label
	for _, l := range log.Planned {
		_, sent := log.Get(l)
		if _, skipped := log.Skipped(l); !sent && !skipped {
			out = append(out, l)
		}
	}
	return out
}

var _ = Describe("A run against a good node", func() {
	It("asks every planned label or explains it", func() {
		n := newNode()
		log := certify(targetOf(n))
		for _, x := range log.Exchanges {
			GinkgoWriter.Println(x.Label, x.Request.Method, x.Request.URL, x.Status(), x.Failure)
		}
		for _, x := range log.NotSent {
			GinkgoWriter.Println(x)
		}
		GinkgoWriter.Println(log.Roles, log.Run.Budget, log.Ended)
		Expect(unended(log)).To(BeEmpty())
		Expect(log.Ended.Complete).To(BeTrue())
	})
})
