package probe

import (
	"context"
	"slices"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/target"
)

// This file draws the rows of families. A node may be written to pass constant examples. So each run draws some kinds of each family, with new values:
// other kinds for each operation, and other kinds in the next run.

// choice returns the seed of the run and the kinds of earlier runs, by which kinds are drawn.
func (n Node) choice() draw.Choice {
	return draw.Choice{Seed: n.Target.Seed, Earlier: n.Target.Earlier}
}

// source returns the random values for a request.
func (r *run) source(at evidence.Resource, purpose string) draw.Source {
	return r.Target.Seed.Source("request", string(at), purpose)
}

// drawnKinds are the kinds that the run sends, by family and resource.
type drawnKinds map[familyAt][]string

// familyAt is a family at a resource.
type familyAt struct {
	family evidence.Family
	at     evidence.Resource
}

// has reports whether a row is sent to a resource: it has no family, or its kind was drawn. rows must contain all rows of its family.
func (d drawnKinds) has(n Node, at evidence.Resource, c row, rows []row) bool {
	if c.Family == "" {
		return true
	}
	where := familyAt{c.Family, at}
	kinds, known := d[where]
	if !known {
		all := kindsOf(c.Family, slices.DeleteFunc(slices.Clone(rows), func(c row) bool { return !c.holds(n) }))
		kinds = n.deal(c.Family, at, all)
		d[where] = kinds
	}
	return slices.Contains(kinds, string(c.Label.Case()))
}

// maxUnknownKinds limits the drawn kinds of unknown clients, because servers count failed authentications by address, and other rows send unknown clients,
// too.
const maxUnknownKinds = 2

// rarelyFound are the families that found few of the wrong nodes of all rounds of first contact. A standard run sends fewer of them, and more details of
// items: details found many.
func rarelyFound() []evidence.Family {
	return []evidence.Family{evidence.WordBearers, evidence.UnsignedTokens, evidence.PublicSecrets, evidence.ForeignTokens}
}

// kindsAtInfo returns how many of a family's kinds are drawn for info.
func (n Node) kindsAtInfo(f evidence.Family, kinds int) int {
	count := kindCount(n.Target.Effort, evidence.Info, kinds)
	if !n.Target.Quick() && n.Target.Effort != draw.Deep && slices.Contains(rarelyFound(), f) {
		return (count + 1) / 2
	}
	return count
}

// deal draws the kinds of a family for a resource. It distributes the kinds over the resources in turn, so that a guard that all resources share gets as many
// kinds as possible.
func (n Node) deal(f evidence.Family, at evidence.Resource, all []string) []string {
	order := n.choice().Kinds(string(f), "", all, len(all))
	count := kindCount(n.Target.Effort, at, len(all))
	switch {
	case f == evidence.UnknownClients && n.Target.Effort != draw.Deep:
		count = min(count, maxUnknownKinds)
	case at == evidence.Info && !n.Target.Quick():
		count = n.kindsAtInfo(f, len(all))
	case f == evidence.PathDetours && n.Target.Effort != draw.Quick:
		count++ // the family has many kinds
	case f == evidence.BrokenCursors && n.Target.Effort != draw.Quick:
		count = max(count, (2*len(all)+2)/3) // few operations have a cursor, and the code that decodes it may differ
	case f == evidence.BrokenValues && at == evidence.OperationResource(n.List) && n.Target.Effort == draw.Deep:
		count = len(all)
	case f == evidence.BrokenValues && at == evidence.OperationResource(n.List):
		count = max(count, min(max(6, len(n.likely(f, at, all))+1), len(all))) // the code that reads each parameter may differ
	case n.Target.Quick() && f != evidence.RandomBearers && f != evidence.WordBearers && f != evidence.NeighbourTokens:
		count = 0
	}
	start := 0
	if i := slices.Index(n.dealOrder(), at); i >= 0 {
		start = n.kindsAtInfo(f, len(all)) + i*count
	}
	out := n.likely(f, at, all)
	if count == 0 || n.Target.Quick() {
		out = nil
	}
	for i := 0; i < len(order) && len(out) < count; i++ {
		if kind := order[(start+i)%len(order)]; !slices.Contains(out, kind) {
			out = append(out, kind)
		}
	}
	return out
}

// likely returns the kinds of a family that every standard and deep run sends to a resource, because they find the most frequent faults.
func (n Node) likely(f evidence.Family, at evidence.Resource, all []string) []string {
	var kinds []string
	switch {
	case f == evidence.HeaderDetours && at == evidence.Info:
		kinds = []string{"public-uri", "public-url", "routed-url", "address-own", "address-loopback", "user-proxy", "user-application", "user-gateway", "internal"}
	case f == evidence.BrokenValues:
		kinds = []string{"value-late", "value-late-other", "value-early", "value-early-other", "value-date", "value-date-other", "value-huge", "value-huge-other", "value-number",
			"value-apostrophe", "value-apostrophe-second", "value-apostrophe-third", "value-apostrophe-fourth", "value-expression"}
	case f == evidence.PathDetours:
		kinds = []string{"query-document", "case-start", "case-middle", "slashes-middle", "escape-each"}
	case f == evidence.NamedKeys && at == evidence.Info:
		kinds = []string{"embedded-borrowed"}
	case f == evidence.TraitDetours && at == evidence.Info:
		kinds = []string{"condition-seen", "own-page"}
	case f == evidence.RoleDetours && at == evidence.OperationResource(n.List):
		kinds = []string{"roleless-address-own", "roleless-inside", "roleless-public-uri", "roleless-public-url", "roleless-address-loopback", "roleless-path-slash"}
	case f == evidence.RoleDetours:
		kinds = []string{"roleless-path-slash", "roleless-path-upper", "roleless-path-encoded", "roleless-path-double-slash", "roleless-path-extension", "roleless-path-suffix", "roleless-inside"}
	}
	return slices.DeleteFunc(kinds, func(kind string) bool { return !slices.Contains(all, kind) })
}

// dealOrder returns the operations in the order in which [Node.deal] serves them: the list and the detail first.
func (n Node) dealOrder() []evidence.Resource {
	out := []evidence.Resource{evidence.OperationResource(n.List), evidence.OperationResource(n.Detail)}
	for _, o := range n.Executable {
		if r := evidence.OperationResource(o.Key); !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	return out
}

// kindCount returns how many of a family's kinds are drawn for a resource.
func kindCount(effort draw.Effort, at evidence.Resource, kinds int) int {
	operation := isOperation(at)
	switch {
	case at == evidence.SpareClient && effort != draw.Quick:
		return kinds // the client exists for these requests
	case effort == draw.Deep && !operation:
		return kinds
	case effort == draw.Deep:
		return max(6, kinds/2)
	case effort == draw.Quick && operation:
		return 0
	case effort == draw.Quick:
		return 1
	case operation:
		return min(6, max(3, (kinds+7)/8))
	}
	return min(11, max(4, (kinds+1)/2))
}

// holds reports whether the conditions of the row are met.
func (c row) holds(n Node) bool {
	return !slices.ContainsFunc(c.Plan.when, func(holds func(Node) bool) bool { return !holds(n) })
}

// kindsOf lists the kinds of a family among rows.
func kindsOf(f evidence.Family, rows []row) []string {
	var out []string
	for _, c := range rows {
		if kind := string(c.Label.Case()); c.Family == f && !slices.Contains(out, kind) {
			out = append(out, kind)
		}
	}
	return out
}

// families lists the families of the table with their kinds, for the evidence.
func families(t target.Target) []evidence.FamilyKinds {
	var out []evidence.FamilyKinds
	for _, c := range table() {
		if c.Family == "" {
			continue
		}
		i := slices.IndexFunc(out, func(f evidence.FamilyKinds) bool { return f.Family == c.Family })
		if i < 0 {
			i = len(out)
			out = append(out, evidence.FamilyKinds{Family: c.Family})
		}
		if kind := c.Label.Case(); !slices.Contains(out[i].Kinds, kind) {
			out[i].Kinds = append(out[i].Kinds, kind)
		}
	}
	for i, f := range out {
		for _, kind := range t.Earlier[string(f.Family)] {
			if slices.Contains(f.Kinds, evidence.Case(kind)) {
				out[i].Earlier = append(out[i].Earlier, evidence.Case(kind))
			}
		}
	}
	return out
}

// member is one kind of a family of bearer values: its case, its words, and how it is made.
type member struct {
	kind  evidence.Case
	words string
	value func(s draw.Source, good string) string
}

// bearerFamily makes the rows of a family whose members are sent as bearer values in place of the good token. They come after the good call, because many
// members are made from the good token.
func bearerFamily(family evidence.Family, members ...member) []row {
	var out []row
	plan := in(stageOddCredentials, stageAuthorized).alsoOn(onGuarded)
	for _, m := range members {
		out = append(out, row{Label: evidence.ProbeTarget.With(m.kind), Words: m.words, Family: family, Plan: plan, Send: presentMember(m)})
	}
	return out
}

// drawnToken is the name of drawn bearer values in evidence. Values of concealedLength bytes and more are concealed, because they may hold a part of the good
// token; short words stay readable.
const (
	drawnToken      = "drawn_token"
	concealedLength = 16
)

// presentMember sends a drawn bearer value unchanged, also if net/http would change it.
func presentMember(m member) sender {
	return controlled(func(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
		good, reason := r.token(ctx)
		if reason != nil {
			return recorder.Request{}, reason
		}
		value := m.value(r.source(res.Name, string(m.kind)), good)
		if value == good || value == "" {
			return recorder.Request{}, notApplicable("the token has no such variant")
		}
		q := res.GetWith(drawnToken, "Bearer "+value)
		if len(value) >= concealedLength {
			q.Presents = value
		}
		if !isPrintable(value) {
			q.Raw, q.FollowSameOrigin = true, false
		}
		return q, nil
	})
}
