package probe

import (
	"context"
	"slices"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/target"
)

// row is one request of the table of cases: its name in the evidence, its words in reports, when it is planned, and how it is sent.
// A requirement names the rows that it needs by their labels. No other list of rows exists.
type row struct {
	// Label is the name in the evidence. Its resource may be a role: P, list, detail or op/*.
	Label evidence.Label
	// Words describe the request in reports and follow the name of the operation: "GET /fundings" "with a garbage token". Words that begin
	// with "the" name the whole request. The good request has no words.
	Words string
	// Family is the family that the row belongs to, as one of its kinds; empty for other rows. A run draws some kinds of each family.
	Family evidence.Family
	Plan   timing
	// Send makes the request or says why it is not sent. It decides on facts, never on verdicts.
	Send sender
	// Learn keeps facts from the answer; optional.
	Learn learner
	// Shake makes a TLS handshake in place of a request.
	Shake func(r *run, at evidence.Resource) (recorder.HandshakeRequest, *unsent)
}

type (
	sender  func(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent)
	learner func(r *run, at evidence.Resource, a recorder.Answer)
)

// table lists all rows except those that depend on the parameters of a document, see [filterCases] and [parameterPlan].
func table() []row {
	return slices.Concat(
		registryCases(), tokenCases(), scopeCases(), infoCases(), endpointCases(), bearerCases(), operationCases(), fundingCases(), parallelTokenCases(), otherWayCases(),
		tlsCases(), forgedCases(), expiryCases(), revocationCases(), metadataCases(), hygieneCases(), robustnessCases(), pagingCases(),
		tableCases(), bearerFamilies(), forgedFamilies(), tokenFamilies(), detourFamilies(), roleDetours(), versionCases(), brokenCases(),
	)
}

// Known reports whether the table has a row for a label; its resource may be a role.
func Known(label evidence.Label) bool {
	_, known := find(table(), label)
	return known
}

// Words returns the words of the request of a label, for evidence of older versions, which has no words.
func Words(label evidence.Label) string {
	c, _ := find(table(), label)
	return c.Words
}

func find(rows []row, label evidence.Label) (row, bool) {
	i := slices.IndexFunc(rows, func(c row) bool { return label.Case().Includes(c.Label.Case()) && c.fits(label.Resource()) })
	if i < 0 {
		return row{}, false
	}
	return rows[i], true
}

// Labelled returns a request with its label and its words, for callers that send it outside of a run.
func Labelled(label evidence.Label, q recorder.Request) recorder.Request {
	q.Label, q.Words = label, Words(label)
	return q
}

// WithWords returns the log with the words of all requests. The evidence of older versions has no words.
func WithWords(log *evidence.Log) *evidence.Log {
	rows, complete := table(), *log
	complete.Exchanges, complete.NotSent = slices.Clone(log.Exchanges), slices.Clone(log.NotSent)
	for i, x := range complete.Exchanges {
		if x.Words != "" {
			continue
		}
		if c, known := find(rows, x.Label); known {
			complete.Exchanges[i].Words = c.Words
		}
	}
	for i, n := range complete.NotSent {
		if n.Words != "" {
			continue
		}
		if c, known := find(rows, n.Label); known {
			complete.NotSent[i].Words = c.Words
		}
	}
	return &complete
}

// fits reports whether the row is about the resource, or about a role that the resource may have.
func (c row) fits(r evidence.Resource) bool {
	own := c.Label.Resource()
	switch own {
	case evidence.ProbeTarget:
		return r == own || r == evidence.Info || isOperation(r) || c.Plan.reach != labelOnly && (r == evidence.ListOperation || r == evidence.DetailOperation)
	case evidence.EveryOperation:
		return r == own || r == evidence.ProbeTarget || r == evidence.ListOperation || r == evidence.DetailOperation || isOperation(r)
	case evidence.ListOperation, evidence.DetailOperation:
		return r == own || isOperation(r)
	}
	return r == own
}

// timing says when a request is planned, and what it waits for. Make one with [in].
type timing struct {
	stage Stage
	after []Stage
	// lane joins rows of one stage that are sent one after the other; a row without a name has a lane of its own.
	lane   string
	moment moment
	reach  reach
	when   []func(Node) bool
	// demanded is true for a row that does not count in a plan, see [timing.onDemand].
	demanded bool
}

// in plans a row in a stage, to be sent when other stages have ended.
//
// It is not inlined, like the other helpers of many rows, because the copies would take 0.5 MB of the program.
//
//go:noinline
func in(stage Stage, after ...Stage) timing { return timing{stage: stage, after: after} }

// inLane puts the row into a lane, after the earlier rows of that lane.
func (t timing) inLane(name string) timing { t.lane = name; return t }

// onceKnown plans the row at this moment; without it, the moment follows from the resource of the row.
func (t timing) onceKnown(m moment) timing { t.moment = m; return t }

// alsoOn plans the row for operations, too.
func (t timing) alsoOn(r reach) timing { t.reach = r; return t }

// onlyIf plans the row under a condition.
//
//go:noinline
func (t timing) onlyIf(condition func(Node) bool) timing {
	t.when = append(slices.Clip(t.when), condition)
	return t
}

// onDemand marks a row that most runs do not send: for example, pages that disagree are read again. A plan does not count such rows; they use the budget for
// repeats.
func (t timing) onDemand() timing { t.demanded = true; return t }

// moment says what must be known of the node before a row can be planned.
type moment int

const (
	byResource   moment = iota // the moment follows from the resource, see [row.moment]
	runStarted                 // nothing
	probeTarget                // the resource that the bearer rules are tried on
	documentRead               // the operations
	registryRead               // the entry of the node
	infoRead                   // the endpoints that the info endpoint lists
)

// reach says on which operations a row is sent besides the resource of its label.
type reach int

const (
	labelOnly    reach = iota
	onFunding          // the list and the detail operation
	onGuarded          // the list, the detail, and a sample of all operations
	onOperations       // every operation
	onItems            // the detail operation, and a sample of those with an id in their path
	inOwnPlan          // the operations that another plan chooses, such as [revocationPlan]
)

// moment returns when the row is planned.
func (c row) moment() moment {
	if c.Plan.moment != byResource {
		return c.Plan.moment
	}
	switch c.Label.Resource() {
	case evidence.ProbeTarget:
		return probeTarget
	case evidence.ListOperation, evidence.DetailOperation, evidence.EveryOperation:
		return documentRead
	}
	return runStarted
}

// isRole reports whether the run decides which resource the row is about.
func (c row) isRole() bool {
	switch c.Label.Resource() {
	case evidence.ProbeTarget, evidence.ListOperation, evidence.DetailOperation, evidence.EveryOperation:
		return true
	}
	return false
}

// isFor reports whether the row is planned for the role list or detail. A quick run sends no odd credentials to operations.
func (c row) isFor(role evidence.Resource, t target.Target) bool {
	switch c.Plan.reach {
	case inOwnPlan:
		return false
	case labelOnly, onItems:
		return c.Label.Resource() == role
	case onGuarded:
		return c.Label.Resource() != evidence.ProbeTarget || !t.Quick()
	}
	return true
}

// isDealt reports whether the row is a kind of a family that [Node.deal] distributes over the operations.
func (c row) isDealt() bool { return c.Family != "" && c.Plan.reach == onGuarded }

// rows lists the rows of the table that fit.
func rows(fits func(row) bool) []row {
	return slices.DeleteFunc(table(), func(c row) bool { return !fits(c) })
}

func notQuick(n Node) bool     { return !n.Target.Quick() }
func withDocument(n Node) bool { return wantsDocument(n.Target) }
func withSecond(n Node) bool   { return n.Target.Second != nil }
func withKeys(n Node) bool     { return wantsKeys(n.Target) }

// controlled sends the request that build makes, if the good call of the resource was answered with 2xx: otherwise a refusal would prove nothing.
//
//go:noinline
func controlled(build func(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent)) sender {
	return func(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
		res, reason := r.controlled(at)
		if reason != nil {
			return recorder.Request{}, reason
		}
		return build(ctx, r, res)
	}
}

// withoutToken changes the good request without its token.
func withoutToken(change func(r *run, q *recorder.Request)) sender {
	return controlled(func(_ context.Context, r *run, res Resource) (recorder.Request, *unsent) {
		q := res.Get()
		change(r, &q)
		return q, nil
	})
}

// withToken changes the good request with the token in use.
func withToken(change func(r *run, q *recorder.Request, token string)) sender {
	return controlled(func(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
		token, reason := r.token(ctx)
		q := res.Authorized(token)
		if reason == nil {
			change(r, &q, token)
		}
		return q, reason
	})
}
