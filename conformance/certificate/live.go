package certificate

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/target"
)

// StepLive compares the judgements of the run with those of a new one. It comes after the others, if it is asked for.
const StepLive Step = "live"

// liveSample is the number of requirements that a sample asks again.
const liveSample = 12

// Live is a new run at the node of a recorded one.
type Live struct {
	// Target is what the recorded run tested, with the credentials still to be given.
	Target target.Target
	// Sample lists the requirements that are judged again; nil for all. Words say how they were chosen.
	Sample []requirement.ID
	Words  string
	// recorded is the report of the run.
	recorded report.Report
}

// NewLive prepares a new run at the node of a run. Unless all requirements are judged again, it draws a sample by the SHA-256 digest of the certificate's
// digest and a nonce. So those who made the certificate cannot choose the sample, and those who verify it can choose only by naming the nonce.
func NewLive(r Run, envelope []byte, nonce []byte, everything bool) (Live, error) {
	subject := envelope
	if subject == nil {
		subject = r.Files[0].Content
	}
	digest := DigestOf(subject).SHA256
	sum := sha256.Sum256(append([]byte(digest), nonce...))
	seed, err := draw.NewSeed(&fixedReader{sum[:]})
	if err != nil {
		return Live{}, err
	}
	t, err := probe.RecordedTarget(r.Log.Run)
	if err != nil {
		return Live{}, err
	}
	// Secrets, other clients and values of parameters are not in the evidence, so they cannot be sent again.
	t.Second, t.Other, t.Spare, t.Staging, t.ExpiredToken, t.Values = nil, nil, nil, nil, target.Secret{}, nil
	t.Wait, t.Earlier, t.Seed = new(time.Duration(0)), nil, seed
	t.AllowTokenInURL, t.AllowSecretInURL = false, false
	if t.NodeID != "" && t.Registry == "" {
		t.RegistryDocument = slices.Concat([]byte("["), r.Log.Registry, []byte("]"))
	}
	l := Live{Target: t, recorded: r.Report, Words: "all requirements"}
	if everything {
		return l, nil
	}
	var ids []requirement.ID
	for _, q := range r.Report.Requirements {
		if q.Outcome.Settled() && !q.Extra {
			ids = append(ids, q.ID)
		}
	}
	source := seed.Source("live")
	for len(ids) > 0 && len(l.Sample) < liveSample {
		i := source.Below(len(ids))
		l.Sample = append(l.Sample, ids[i])
		ids = slices.Delete(ids, i, i+1)
	}
	slices.Sort(l.Sample)
	for _, id := range l.Sample {
		l.Target.Only = append(l.Target.Only, string(id))
	}
	l.Target.ChosenBy = "rin verify --live"
	l.Words = fmt.Sprintf("%s, drawn by the SHA-256 of the digest %s and the nonce %s", evidence.Count(len(l.Sample), "requirement"), digest, hex.EncodeToString(nonce))
	return l, nil
}

// fixedReader is a reader of given bytes.
type fixedReader struct{ rest []byte }

// Read implements io.Reader.
func (f *fixedReader) Read(p []byte) (int, error) {
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// Compare compares the judgements and the document of the recorded run with those of the new one. Bytes differ from run to run.
func (l Live) Compare(now report.Report) Check {
	compared, expected := 0, 0
	for _, q := range l.recorded.Requirements {
		i := slices.IndexFunc(now.Requirements, func(n report.Requirement) bool { return n.ID == q.ID })
		if !q.Outcome.Settled() || l.Sample != nil && !slices.Contains(l.Sample, q.ID) {
			continue
		}
		if expected++; i < 0 || !now.Requirements[i].Outcome.Settled() {
			continue
		}
		compared++
		if got := now.Requirements[i]; got.Outcome != q.Outcome {
			return broken(StepLive, l.Words, string(q.ID), fmt.Sprintf("the run says %s, the node shows %s now: %s", q.Outcome, got.Outcome, got.Reason))
		}
	}
	if old, later := l.recorded.Operations, now.Operations; old.Documented > 0 && later.Documented > 0 && old.Documented != later.Documented {
		return broken(StepLive, l.Words, "the node's document", fmt.Sprintf("the run saw %s, the node describes %d now", evidence.Count(old.Documented, "operation"), later.Documented))
	}
	if compared*2 < expected {
		return undecided(StepLive, l.Words, "the node", fmt.Sprintf("only %d of %d judgements could be compared: %s", compared, expected, now.Verdict.Headline))
	}
	return holds(StepLive, "%s; %d of %d judged again alike", l.Words, compared, expected)
}
