package registry

import (
	"fmt"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/requirement"
)

// Status says what a certificate is worth now.
type Status string

// The statuses.
const (
	// Uncertified means that the node has not passed yet, or has not proved control where the policy asks for it.
	Uncertified Status = "uncertified"
	// Valid means that the node is certified, and passed when it was last tested.
	Valid Status = "valid"
	// Expiring means valid, with a certificate that reaches its maximum age soon.
	Expiring Status = "expiring"
	// Stale means that the node could not be tested for longer than the policy allows.
	Stale Status = "stale"
	// Suspended means that the node failed in too many nights in a row.
	Suspended Status = "suspended"
	// Withdrawn means that the certificate has ended: by its age, by the operator's word, or because the entry is gone or has moved.
	Withdrawn Status = "withdrawn"
)

// Statuses lists all statuses, the best first.
func Statuses() []Status {
	return []Status{Valid, Expiring, Stale, Suspended, Withdrawn, Uncertified}
}

// IsListed reports whether a node with the status is on the published list of valid certificates, and has a trust mark.
func (s Status) IsListed() bool { return s == Valid || s == Expiring }

// Words describes the status in a sentence.
func (s Status) Words() string {
	switch s {
	case Valid:
		return "The node is certified, and passed when it was last tested."
	case Expiring:
		return "The node is certified; its certificate has to be renewed soon."
	case Stale:
		return "The node is certified, but could not be tested for several nights."
	case Suspended:
		return "The node failed in several nights in a row; its certificate is suspended."
	case Withdrawn:
		return "The certificate of the node has ended."
	}
	return "The node is not certified."
}

// Rules are the part of the policy that decides the status of a node.
type Rules struct {
	// MaxAge is how long a certificate lasts, Notice how long before its end it is expiring.
	MaxAge, Notice time.Duration
	// BadNights in a row suspend the certificate. StaleAfter is how long a certificate stays valid without a test of the node.
	BadNights  int
	StaleAfter time.Duration
	// RequireControl asks for proof of control before a node is certified.
	RequireControl bool
}

// Decide returns the status of a node at a time, and why. It is a pure function of what the nights showed. withdrawn is the operator's reason for
// withdrawing the certificate; "" without one.
func (r Rules) Decide(n Node, at time.Time, withdrawn string) (Status, string) {
	switch age := at.Sub(n.Certified); {
	case n.Certified.IsZero():
		switch {
		case n.Good != "" && r.RequireControl && n.Control.IsZero():
			return Uncertified, "the node passed; proof of control is missing (rin registry admit)"
		case n.Outcome.Why != "":
			return Uncertified, "the node has not passed yet: " + n.Outcome.Why
		}
		return Uncertified, "the node has not passed yet"
	case withdrawn != "":
		return Withdrawn, withdrawn
	case n.Missing != "":
		return Withdrawn, "the registry document lacks the entry since the night of " + string(n.Missing)
	case age > r.MaxAge:
		return Withdrawn, fmt.Sprintf("the certificate of %s is older than %s", n.Certified.Format(time.DateOnly), evidence.Duration(r.MaxAge))
	case n.Bad >= r.BadNights:
		why := fmt.Sprintf("the node failed in %s in a row", evidence.Count(n.Bad, "night"))
		if n.Outcome.Result == Failed && n.Outcome.Why != "" {
			why += ": " + n.Outcome.Why
		}
		return Suspended, why
	case NightOf(at).Start().Sub(n.Tested.Start()) > r.StaleAfter:
		return Stale, fmt.Sprintf("the node could last be tested in the night of %s", n.Tested)
	case age > r.MaxAge-r.Notice:
		return Expiring, fmt.Sprintf("the certificate ends on %s", n.Certified.Add(r.MaxAge).Format(time.DateOnly))
	case n.Bad > 0:
		return Valid, fmt.Sprintf("the node failed in the last night; %s in a row suspend the certificate", evidence.Count(r.BadNights, "bad night"))
	}
	if n.isAdmission(n.GoodAt) {
		return Valid, "the node passed its admission on " + minuteOf(n.GoodAt, n.Good)
	}
	return Valid, "the node passed in the night of " + string(n.Good)
}

// settle sets the status of a node at a time. A new status holds since the given night.
func (r Rules) settle(n *Node, at time.Time, night Night, withdrawn string) {
	before := n.Status
	n.Status, n.Reason = r.Decide(*n, at, withdrawn)
	if n.Status != before {
		n.Since = night
	}
}

// mayIssue reports whether a good night for a profile issues a certificate: the first one of a node, one that replaces a certificate that ends soon and is for
// no higher profile, or one after a certificate that has ended.
func (r Rules) mayIssue(n Node, p requirement.Profile, at time.Time) bool {
	if r.RequireControl && (n.Control.IsZero() || at.Sub(n.Control) > r.MaxAge) {
		return false
	}
	age := at.Sub(n.Certified)
	return n.Certified.IsZero() || age > r.MaxAge || age > r.MaxAge-r.Notice && n.confirmedBy(p)
}
